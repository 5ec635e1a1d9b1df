// SPDX-License-Identifier: GPL-3.0-or-later
// labeled.c - demonstrations from reference moves, and LabeledFewShot, which draws some of them
// without any model call (few-shot specification, section 4.1).
#include "optimize/optimize.h"

const struct demo *demo_labeled(const struct puzzle_position *p, struct arena *a)
{
    struct demo_source *source = NEW(a, struct demo_source);
    *source = (struct demo_source){
        .puzzle_id = p->puzzle->id,
        .has_rating = p->puzzle->has_rating,
        .rating = p->puzzle->rating,
        .themes = p->puzzle->themes,
        .position_index = p->index,
        .position_count = p->count,
    };
    struct demo *demo = NEW(a, struct demo);
    *demo = (struct demo){ .inputs = p->inputs, .outputs = &p->reference, .source = source };
    return demo;
}

const struct program *labeled_few_shot(const struct program *p, const struct demo *const *pool,
                                       size_t n, size_t k, struct arena *a)
{
    size_t count = k < n ? k : n;
    size_t *drawn = NEW_ARRAY(a, size_t, count);
    const struct demo **demos = NEW_ARRAY(a, const struct demo *, count);
    struct mt g;
    mt_seed(&g, 0);
    mt_sample(&g, n, count, drawn);
    for (size_t i = 0; i < count; i++)
        demos[i] = pool[drawn[i]];
    return program_with_demos(a, p, demos, count);
}

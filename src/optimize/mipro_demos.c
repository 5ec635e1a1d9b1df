// SPDX-License-Identifier: GPL-3.0-or-later
// mipro_demos.c - phase 1 of MIPROv2: the demonstration sets (few-shot specification 6.2). The
// first is empty, the second labelled, the third bootstrapped in training order, the others
// bootstrapped from shuffled copies, with a drawn number of the model's own answers.
#include "optimize/mipro.h"

static void add_set(struct mipro *m, const struct program *program, str how)
{
    *vec_push(m->arena, &m->demo_sets) = program;
    str reason =
        arena_printf(m->arena, "demonstration set %zu: %.*s", m->demo_sets.n - 1, STR(how));
    opt_note(m->task,
             &(struct opt_event){
                 .what = "candidate", .candidate = -1, .program = program, .reason = reason });
}

static bool bootstrap_set(struct mipro *m, const struct puzzle_positions *train, int64_t size,
                          int64_t max_labeled, struct err *err)
{
    struct bootstrap_opts opts = { .max_bootstrapped = size,
                                   .max_labeled = max_labeled,
                                   .max_rounds = 1,
                                   .max_errors = m->task->config->max_errors };
    struct bootstrap_result r;
    if (!bootstrap_few_shot(m->task, &opts, train, &r, err))
        return err_add(err, "demonstration set %zu", m->demo_sets.n);
    m->out->n_attempts += r.n_attempts;
    m->out->n_bootstrapped += r.n_bootstrapped;
    add_set(m, r.program,
            arena_printf(m->arena, "%lld of %lld wanted answers of the model after %lld attempts",
                         (long long)r.n_bootstrapped, (long long)size, (long long)r.n_attempts));
    return true;
}

static void labeled_set(struct mipro *m, int64_t max_labeled)
{
    const struct demo **pool = NEW_ARRAY(m->arena, const struct demo *, m->train.n);
    for (size_t i = 0; i < m->train.n; i++)
        pool[i] = demo_labeled(&m->train.v[i], m->arena);
    add_set(m, labeled_few_shot(m->start, pool, m->train.n, (size_t)max_labeled, m->arena),
            S("reference moves alone"));
}

static void shuffled_train(struct mipro *m, struct puzzle_positions *out)
{
    size_t *order = NEW_ARRAY(m->arena, size_t, m->train.n);
    for (size_t i = 0; i < m->train.n; i++)
        order[i] = i;
    mt_shuffle(&m->g, order, m->train.n);
    *out = (struct puzzle_positions){ 0 };
    for (size_t i = 0; i < m->train.n; i++)
        *vec_push(m->arena, out) = m->train.v[order[i]];
}

static bool add_next(struct mipro *m, int64_t max_bootstrapped, int64_t max_labeled,
                     struct err *err)
{
    size_t index = m->demo_sets.n;
    if (index == MIPRO_SET_EMPTY) {
        add_set(m, program_with_demos(m->arena, m->start, NULL, 0), S("none"));
        return true;
    }
    if (index == MIPRO_SET_LABELED && max_labeled > 0) {
        labeled_set(m, max_labeled);
        return true;
    }
    if (index == MIPRO_SET_IN_ORDER)
        return bootstrap_set(m, &m->train, max_bootstrapped, max_labeled, err);
    struct puzzle_positions train;
    shuffled_train(m, &train);
    // Without own answers there is no size to draw: the set holds labelled demos of this order.
    int64_t size = max_bootstrapped > 0 ? mt_range(&m->g, 1, max_bootstrapped) : 0;
    return bootstrap_set(m, &train, size, max_labeled, err);
}

bool mipro_make_demo_sets(struct mipro *m, struct err *err)
{
    const struct optimizer_config *c = m->task->config;
    int64_t max_bootstrapped = m->plan.zero_shot ? MIPRO_MATERIAL : c->max_bootstrapped_demos;
    while (m->demo_sets.n < m->plan.n_demo_sets)
        if (!add_next(m, max_bootstrapped, c->max_labeled_demos, err))
            return false;
    return true;
}

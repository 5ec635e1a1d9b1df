// SPDX-License-Identifier: GPL-3.0-or-later
// regret_episode.c - best minus played. The procedure is fixed, because two searches never quite
// agree: the same limits for both, zero for the best move, clamped at zero, and the noise measured
// on the best move itself.
#include <string.h>

#include "episode/episode.h"

enum stage { START, BEST, PLAYED, NOISE };
struct regret_episode {
    struct episode base;
    enum stage stage;
    size_t next; // of the input's moves
    move searched;
    struct regret_record record;
};

static enum step ask(struct regret_episode *ep, enum stage stage, move only, struct ask *out)
{
    const struct regret_input *in = ep->base.job->input;
    ep->stage = stage;
    ep->searched = only;
    *out = (struct ask){ .to = TO_ENGINE,
                         .engine = { .engine = in->engine,
                                     .start = in->at,
                                     .search = &ep->searched,
                                     .n_search = only != MOVE_NONE,
                                     .limit = in->limit,
                                     .need_score = true } };
    return STEP_ASK;
}

static struct regret_search read_search(const struct engine_reply *r)
{
    return (struct regret_search){
        .m = r->best, .score = r->v[0].score, .depth = r->v[0].depth, .nodes = r->nodes
    };
}

static enum step fail(struct regret_episode *ep, const struct engine_reply *r)
{
    ep->base.outcome.status = OUTCOME_FAILED;
    ep->base.outcome.error = arena_str(ep->base.arena, r->error);
    return STEP_DONE;
}

static void note_move(struct regret_episode *ep, struct regret_search search)
{
    const struct regret_search *best = &ep->record.best;
    int64_t cost = engine_score_cp(best->score) - engine_score_cp(search.score);
    ep->record.v[ep->record.n++] =
        (struct regret_move){ .search = search, .cost_cp = cost > 0 ? cost : 0 };
}

// The next move that needs a search of its own; the best one has been searched.
static enum step go_on(struct regret_episode *ep, struct ask *out)
{
    const struct regret_input *in = ep->base.job->input;
    while (ep->next < in->n) {
        move m = in->moves[ep->next++];
        if (m != ep->record.best.m)
            return ask(ep, PLAYED, m, out);
        note_move(ep, ep->record.best);
    }
    if (in->noise && !ep->record.has_noise)
        return ask(ep, NOISE, ep->record.best.m, out);
    ep->base.outcome.status = OUTCOME_SCORED;
    ep->base.outcome.record = &ep->record;
    return STEP_DONE;
}

static void note_noise(struct regret_episode *ep, const struct engine_reply *r)
{
    int64_t off = engine_score_cp(ep->record.best.score) - engine_score_cp(r->v[0].score);
    ep->record.has_noise = true;
    ep->record.noise_cp = off < 0 ? -off : off;
}

static enum step regret_step(struct episode *base, const struct answer *in, struct ask *out)
{
    struct regret_episode *ep = (struct regret_episode *)base;
    const struct regret_input *input = base->job->input;
    if (ep->stage == START) {
        ep->record.v = NEW_ARRAY(base->arena, struct regret_move, input->n + 1);
        return ask(ep, BEST, MOVE_NONE, out);
    }
    if (in->engine.class != ENGINE_OK)
        return fail(ep, &in->engine);
    switch (ep->stage) {
    case BEST: ep->record.best = read_search(&in->engine); break;
    case PLAYED: note_move(ep, read_search(&in->engine)); break;
    case NOISE: note_noise(ep, &in->engine); break;
    case START: BUG("it has been asked");
    }
    return go_on(ep, out);
}

static const void *copy_record(const void *record, struct arena *a)
{
    const struct regret_record *from = record;
    struct regret_record *copy = NEW(a, struct regret_record);
    *copy = *from;
    copy->v = NEW_ARRAY(a, struct regret_move, from->n + 1);
    memcpy(copy->v, from->v, from->n * sizeof *copy->v);
    return copy;
}

const struct episode_kind episode_regret = {
    .name = "regret",
    .size = sizeof(struct regret_episode),
    .step = regret_step,
    .copy_record = copy_record,
};

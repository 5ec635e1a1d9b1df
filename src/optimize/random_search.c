// SPDX-License-Identifier: GPL-3.0-or-later
// random_search.c - BootstrapFewShotWithRandomSearch: candidate programs are built and scored on
// validation one after the other; the first of the best wins (few-shot specification 4.3).
#include "optimize/internal.h"
#include "optimize/race.h"

// The first three candidates by their number there; from 0 on: shuffled.
enum { ZERO_SHOT = -3, LABELED = -2, IN_ORDER = -1 };

struct search {
    const struct opt_task *task;
    struct arena *arena;
    struct opt_result *out;
    double best;
};

// The training positions in the order of a generator of the candidate's own.
static struct puzzle_positions shuffled(const struct search *s, int64_t c)
{
    const struct puzzle_positions *train = s->task->train;
    size_t *order = NEW_ARRAY(s->arena, size_t, train->n + 1);
    struct puzzle_positions copy = { 0 };
    struct mt g;
    for (size_t i = 0; i < train->n; i++)
        order[i] = i;
    mt_seed(&g, (uint64_t)c);
    mt_shuffle(&g, order, train->n);
    for (size_t i = 0; i < train->n; i++)
        *vec_push(s->arena, &copy) = train->v[order[i]];
    return copy;
}

// How many own answers a candidate aims at: drawn by another fresh generator of the same seed.
static int64_t drawn_size(int64_t c, int64_t max)
{
    struct mt g;
    mt_seed(&g, (uint64_t)c);
    return max > 0 ? mt_range(&g, 1, max) : 0;
}

static bool bootstrap(struct search *s, const struct puzzle_positions *train, int64_t size,
                      const struct program **out, struct err *err)
{
    const struct optimizer_config *c = s->task->config;
    struct bootstrap_opts opts = { .max_bootstrapped = size,
                                   .max_labeled = c->max_labeled_demos,
                                   .max_rounds = c->max_rounds,
                                   .max_errors = c->max_errors };
    struct bootstrap_result r;
    if (!bootstrap_few_shot(s->task, &opts, train, &r, err))
        return false;
    s->out->n_attempts += r.n_attempts;
    s->out->n_bootstrapped += r.n_bootstrapped;
    *out = r.program;
    return true;
}

static bool build(struct search *s, int64_t c, const struct program **out, struct err *err)
{
    const struct optimizer_config *config = s->task->config;
    const struct program *start = program_with_demos(s->arena, s->task->seed, NULL, 0);
    const struct puzzle_positions *train = s->task->train;
    if (c == ZERO_SHOT) {
        *out = start;
        return true;
    }
    if (c == LABELED) {
        const struct demo **pool = NEW_ARRAY(s->arena, const struct demo *, train->n + 1);
        for (size_t i = 0; i < train->n; i++)
            pool[i] = demo_labeled(&train->v[i], s->arena);
        *out = labeled_few_shot(start, pool, train->n, (size_t)config->max_labeled_demos, s->arena);
        return true;
    }
    if (c == IN_ORDER)
        return bootstrap(s, train, config->max_bootstrapped_demos, out, err);
    int64_t seed = c + config->brs_seed_offset;
    struct puzzle_positions copy = shuffled(s, seed);
    return bootstrap(s, &copy, drawn_size(seed, config->max_bootstrapped_demos), out, err);
}

static void tell(const struct search *s, int64_t c, const struct opt_candidate *candidate,
                 const char *what, const char *left)
{
    str why = arena_printf(s->arena, "%zu demonstrations%s%s; the best so far has %.2f %%",
                           candidate->program->n_demos, left ? "; " : "", left ? left : "",
                           opt_percent(s->best));
    opt_note(s->task, &(struct opt_event){ .what = what,
                                           .candidate = c - ZERO_SHOT,
                                           .program = candidate->program,
                                           .scored = true,
                                           .score = candidate->score,
                                           .n_positions = candidate->n_positions,
                                           .reason = why });
}

static const struct puzzle_positions *scored_on(const struct opt_task *task)
{
    return task->validation->n > 0 ? task->validation : task->train;
}

static bool try_candidate(struct search *s, int64_t c, struct err *err)
{
    const struct puzzle_positions *on = scored_on(s->task);
    const struct program *program;
    struct opt_score score;
    if (!build(s, c, &program, err) || !opt_score(s->task, program, on, &score, err))
        return err_add(err, "candidate %lld", (long long)(c - ZERO_SHOT));
    if (score.raised)
        return err_set(err, ERR_RUN, "candidate %lld: too many answers could not be read",
                       (long long)(c - ZERO_SHOT));
    struct opt_candidate *kept = vec_push(s->arena, &s->out->candidates);
    *kept = (struct opt_candidate){ .program = program, .score = score.rate, .n_positions = on->n };
    bool better = !s->out->program || score.rate > s->best;
    if (better) {
        s->out->program = program;
        s->best = score.rate;
    }
    tell(s, c, kept, better ? "accepted" : "rejected", NULL);
    return true;
}

// All candidates first, then one race: building them does not depend on scores.
static bool race(struct search *s, enum race_kind kind, struct err *err)
{
    const struct optimizer_config *c = s->task->config;
    size_t n = (size_t)(c->num_candidate_programs - ZERO_SHOT);
    const struct program **v = NEW_ARRAY(s->arena, const struct program *, n);
    struct opt_race ask = {
        .task = s->task, .v = v, .n = n, .on = scored_on(s->task), .kind = kind, .delta = c->racing
    };
    struct opt_race_result result;
    for (size_t i = 0; i < n; i++)
        if (!build(s, (int64_t)i + ZERO_SHOT, &v[i], err))
            return err_add(err, "candidate %zu", i);
    if (!opt_race(&ask, &result, err))
        return false;
    s->out->n_saved += result.n_saved;
    s->out->program = v[result.winner];
    s->best = result.lanes[result.winner].rate;
    for (size_t i = 0; i < n; i++) {
        const struct opt_lane *lane = &result.lanes[i];
        struct opt_candidate *kept = vec_push(s->arena, &s->out->candidates);
        *kept = (struct opt_candidate){ .program = v[i],
                                        .score = lane->rate,
                                        .n_positions = lane->n_positions };
        tell(s, (int64_t)i + ZERO_SHOT, kept, i == result.winner ? "accepted" : "rejected",
             lane->left);
    }
    return true;
}

static bool run(const struct opt_task *task, struct opt_result *out, struct err *err)
{
    const struct optimizer_config *c = task->config;
    struct search s = { .task = task, .arena = task->lab->arena, .out = out };
    enum race_kind kind = opt_race_kind(c);
    *out = (struct opt_result){ 0 };
    if (!bootstrap_check_labeled(task, c->max_labeled_demos, err))
        return false;
    // Stopping at a score asks for the first candidate that has it, not for the best.
    if (kind != RACE_WHOLE && c->brs_stop_at_score <= 0)
        return race(&s, kind, err);
    for (int64_t i = ZERO_SHOT; i < c->num_candidate_programs; i++) {
        if (!try_candidate(&s, i, err))
            return false;
        if (c->brs_stop_at_score > 0 && s.best >= c->brs_stop_at_score) {
            out->finish = "a candidate reached the wanted score";
            break;
        }
    }
    return true;
}

// Every candidate on validation (19 x V in the paper), and the attempts of bootstrapping: at least
// one for each demonstration wanted, at most all positions in all rounds.
static bool plan(const struct opt_task *task, struct opt_plan *out, struct err *err)
{
    (void)err;
    const struct optimizer_config *c = task->config;
    int64_t n_train = (int64_t)task->train->n;
    int64_t n_on = (int64_t)scored_on(task)->n;
    int64_t scored = (c->num_candidate_programs - ZERO_SHOT) * n_on;
    int64_t wanted = c->max_bootstrapped_demos;
    for (int64_t i = 0; i < c->num_candidate_programs; i++)
        wanted += drawn_size(i + c->brs_seed_offset, c->max_bootstrapped_demos);
    int64_t n_sets = c->max_bootstrapped_demos > 0 ? c->num_candidate_programs + 1 : 0;
    bool may_stop = c->brs_stop_at_score > 0 || opt_race_kind(c) != RACE_WHOLE;
    int64_t least = may_stop ? n_on : scored + (n_train > 0 ? wanted : 0);
    *out = (struct opt_plan){ .least_task = least,
                              .most_task = scored + n_sets * n_train * c->max_rounds };
    return true;
}

const struct optimizer optimizer_bootstrap_random_search = {
    .name = T("bootstrap_random_search"),
    .plan = plan,
    .run = run,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// simba.c - SIMBA: several attempts at each position of a minibatch, by programs of a growing pool;
// where they disagree most, a program is changed by a demonstration or a rule (GEPA and SIMBA
// specification, section 3; steps are numbered there). Selects on training positions.
#include <math.h>
#include <stdlib.h>

#include "optimize/race.h"
#include "optimize/simba.h"

static const double TAU = 0.2;                       // of both softmax choices
enum { DROP_WITHOUT_LIMIT = 3, P10 = 10, P90 = 90 }; // m of 3.6 where max_demos is 0

struct member { // of the pool
    const struct program *program;
    double sum; // of its scores
    size_t n;   // none for the baseline, whose average stays 0
};
struct simba {
    const struct opt_task *task;
    const struct optimizer_config *config;
    struct arena *arena;
    struct chance *chance;
    struct opt_result *out;
    struct {
        struct member *v;
        size_t n, cap;
    } pool;
    struct {
        const struct program **v;
        size_t n, cap;
    } winners;
    size_t *order;
    size_t cursor;
    int64_t n_questions, step;
};

static size_t k_of(const struct simba *s)
{
    return (size_t)s->config->num_candidates;
}

static size_t batch_size(const struct simba *s)
{
    return (size_t)s->config->bsize;
}

// ---- arithmetic ----

double simba_percentile(const double *sorted, size_t n, double q)
{
    double at = (double)(n - 1) * q / 100;
    size_t low = (size_t)at;
    return low + 1 < n ? sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low])
                       : sorted[low];
}

size_t simba_finalists(size_t last, size_t k, size_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i <= k; i++) {
        // i * last / k, halves to even, in whole numbers.
        size_t twice = 2 * i * last, whole = twice / (2 * k), rest = twice % (2 * k);
        size_t index = whole + (rest > k || (rest == k && whole % 2 == 1));
        if (n == 0 || out[n - 1] != index)
            out[n++] = index;
    }
    return n;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

// ---- picking programs (3.3) ----

static double average(const struct simba *s, size_t i)
{
    const struct member *m = &s->pool.v[i];
    return m->n > 0 ? m->sum / (double)m->n : 0;
}

// The k best by average, older first; the baseline takes the last place where it is not among them.
static size_t top_plus_baseline(const struct simba *s, size_t *out)
{
    size_t n = 0, k = k_of(s);
    for (size_t i = 0; i < s->pool.n; i++) {
        size_t at = n < k ? n++ : n;
        if (at == k && average(s, out[k - 1]) >= average(s, i))
            continue;
        at = at == k ? k - 1 : at;
        for (; at > 0 && average(s, out[at - 1]) < average(s, i); at--)
            out[at] = out[at - 1];
        out[at] = i;
    }
    for (size_t i = 0; i < n; i++)
        if (out[i] == 0)
            return n;
    out[n - 1] = 0;
    return n;
}

static size_t softmax_pick(const struct simba *s, const char *stream, const size_t *list, size_t n)
{
    double *weights = NEW_ARRAY(s->arena, double, n);
    double most = -HUGE_VAL;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, average(s, list[i]));
    for (size_t i = 0; i < n; i++)
        weights[i] = exp((average(s, list[i]) - most) / TAU);
    return list[s->chance->weighted(s->chance->ctx, stream, weights, n)];
}

// ---- steps 1 to 4: attempts and buckets ----

static void next_batch(struct simba *s, const struct puzzle_position **batch)
{
    size_t n = s->task->train->n, b = batch_size(s);
    if (s->cursor + b > n) {
        s->chance->shuffle(s->chance->ctx, "shuffle", s->order, n);
        s->cursor = 0;
    }
    for (size_t i = 0; i < b; i++)
        batch[i] = &s->task->train->v[s->order[s->cursor + i]];
    s->cursor += b;
}

static bool attempt_all(struct simba *s, const struct puzzle_position *const *batch,
                        struct simba_trajectory *out, struct err *err)
{
    size_t b = batch_size(s), k = k_of(s);
    size_t *top = NEW_ARRAY(s->arena, size_t, k + 1);
    size_t n_top = top_plus_baseline(s, top);
    struct job *jobs = NEW_ARRAY(s->arena, struct job, k * b);
    struct sampling *variants = NEW_ARRAY(s->arena, struct sampling, k);
    const struct outcome *outcomes;
    for (size_t i = 0; i < k * b; i++) {
        size_t variant = i / b;
        variants[variant] = (struct sampling){ .has_temperature = true,
                                               .temperature = 1,
                                               .sample = (int64_t)variant };
        out[i].position = batch[i % b];
        out[i].program = softmax_pick(s, "traj_pick", top, n_top);
        jobs[i] = lab_position_job(s->pool.v[out[i].program].program, batch[i % b], s->task->model,
                                   s->arena);
        jobs[i].sampling = &variants[variant];
    }
    if (!lab_evaluate(s->task->lab, jobs, k * b, &outcomes, err))
        return false;
    s->out->n_attempts += (int64_t)(k * b);
    for (size_t i = 0; i < k * b; i++) {
        out[i].record = outcomes[i].record;
        opt_feedback(s->task, out[i].position, &outcomes[i], &out[i].feedback);
    }
    return true;
}

static struct simba_limits limits_of(const struct simba *s, const struct simba_trajectory *all)
{
    size_t n = k_of(s) * batch_size(s);
    double *scores = NEW_ARRAY(s->arena, double, n);
    for (size_t i = 0; i < n; i++)
        scores[i] = all[i].feedback.score;
    qsort(scores, n, sizeof *scores, ascending);
    return (struct simba_limits){ simba_percentile(scores, n, P10),
                                  simba_percentile(scores, n, P90) };
}

// Takes a position's attempts out of the variant-major list, the best first.
static struct simba_bucket make_bucket(const struct simba *s, const struct simba_trajectory *all,
                                       size_t j)
{
    size_t k = k_of(s), b = batch_size(s);
    struct simba_bucket bucket = { .position = all[j].position,
                                   .v = NEW_ARRAY(s->arena, struct simba_trajectory, k),
                                   .n = k };
    double sum = 0;
    for (size_t m = 0; m < k; m++) {
        struct simba_trajectory t = all[m * b + j];
        size_t at = m;
        for (; at > 0 && bucket.v[at - 1].feedback.score < t.feedback.score; at--)
            bucket.v[at] = bucket.v[at - 1];
        bucket.v[at] = t;
        sum += t.feedback.score;
    }
    bucket.top = bucket.v[0].feedback.score;
    bucket.gap = bucket.top - bucket.v[k - 1].feedback.score;
    bucket.lift = bucket.top - sum / (double)k;
    return bucket;
}

static bool comes_before(const struct simba_bucket *x, const struct simba_bucket *y)
{
    if (x->gap > y->gap || x->gap < y->gap)
        return x->gap > y->gap;
    if (x->top > y->top || x->top < y->top)
        return x->top > y->top;
    return x->lift > y->lift;
}

static struct simba_bucket *sorted_buckets(const struct simba *s,
                                           const struct simba_trajectory *all)
{
    struct simba_bucket *v = NEW_ARRAY(s->arena, struct simba_bucket, batch_size(s));
    for (size_t j = 0; j < batch_size(s); j++) {
        struct simba_bucket bucket = make_bucket(s, all, j);
        size_t at = j;
        for (; at > 0 && comes_before(&bucket, &v[at - 1]); at--)
            v[at] = v[at - 1];
        v[at] = bucket;
    }
    return v;
}

// ---- step 5: new programs ----

// Without some demonstrations (3.6): at least one where the limit is reached, so that a strategy
// can add one.
static const struct program *drop_demos(struct simba *s, const struct program *p)
{
    size_t n = p->n_demos;
    size_t limit = s->config->max_demos > 0 ? (size_t)s->config->max_demos : DROP_WITHOUT_LIMIT;
    int drawn = s->chance->poisson(s->chance->ctx, "poisson", (double)n / (double)limit);
    size_t d = (size_t)drawn > (n >= limit ? 1u : 0u) ? (size_t)drawn : (n >= limit ? 1u : 0u);
    d = d < n ? d : n;
    bool *dropped = NEW_ARRAY(s->arena, bool, n + 1);
    for (size_t i = 0; i < d; i++)
        dropped[s->chance->below(s->chance->ctx, "demo_drop", n)] = true;
    const struct demo **kept = NEW_ARRAY(s->arena, const struct demo *, n + 1);
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!dropped[i])
            kept[n_kept++] = p->demos[i];
    return n_kept == n ? p : program_with_demos(s->arena, p, kept, n_kept);
}

enum strategy { APPEND_DEMO, APPEND_RULE };

static enum strategy draw_strategy(struct simba *s)
{
    if (s->config->max_demos == 0) {
        (void)s->chance->below(s->chance->ctx, "strategy", 1);
        return APPEND_RULE;
    }
    return s->chance->below(s->chance->ctx, "strategy", 2) == 0 ? APPEND_DEMO : APPEND_RULE;
}

static void tell_strategy(const struct simba *s, const struct simba_bucket *b, size_t source,
                          enum strategy strategy, enum simba_outcome outcome)
{
    static const char *const outcomes[] = { "done", "declined: nothing to learn from it",
                                            "the prompt model's answer is of no use" };
    str reason = arena_printf(
        s->arena, "step %lld, %.*s/%d, from program %zu: %s, %s", (long long)s->step + 1,
        STR(b->position->puzzle->id), b->position->index, source,
        strategy == APPEND_DEMO ? "add a demonstration" : "add a rule", outcomes[outcome]);
    opt_note(s->task, &(struct opt_event){ .what = outcome == SIMBA_ERROR ? "skipped" : "candidate",
                                           .candidate = -1,
                                           .reason = reason });
}

struct candidates {
    const struct program **v;
    size_t n, cap;
};

static bool change_one(struct simba *s, const struct simba_bucket *b, const struct simba_limits *l,
                       struct candidates *out, struct err *err)
{
    size_t *top = NEW_ARRAY(s->arena, size_t, k_of(s) + 1);
    size_t n_top = top_plus_baseline(s, top);
    size_t source = softmax_pick(s, "src_pick", top, n_top);
    const struct program *p = drop_demos(s, s->pool.v[source].program);
    enum strategy strategy = draw_strategy(s);
    enum simba_outcome outcome = SIMBA_DECLINED;
    if (strategy == APPEND_DEMO) {
        outcome = simba_append_demo(b, l, s->arena, &p);
    } else {
        struct simba_rule rule = { s->task, b, l, s->n_questions };
        if (!simba_append_rule(&rule, &p, &outcome, err))
            return false;
        s->n_questions += outcome != SIMBA_DECLINED;
        s->out->n_proposals += outcome == SIMBA_APPLIED;
    }
    tell_strategy(s, b, source, strategy, outcome);
    if (outcome != SIMBA_ERROR)
        *vec_push(s->arena, out) = p;
    return true;
}

// ---- steps 6 to 8: scoring ----

static bool score_candidates(struct simba *s, const struct candidates *c,
                             const struct puzzle_position *const *batch, struct err *err)
{
    size_t b = batch_size(s), first = s->pool.n, best = 0;
    const struct outcome *outcomes;
    struct job *jobs = NEW_ARRAY(s->arena, struct job, c->n * b + 1);
    for (size_t i = 0; i < c->n * b; i++)
        jobs[i] = lab_position_job(c->v[i / b], batch[i % b], s->task->model, s->arena);
    if (!lab_evaluate(s->task->lab, jobs, c->n * b, &outcomes, err))
        return false;
    for (size_t i = 0; i < c->n; i++) {
        struct member *m = vec_push(s->arena, &s->pool);
        *m = (struct member){ .program = c->v[i], .n = b };
        for (size_t j = 0; j < b; j++) {
            const struct outcome *o = &outcomes[i * b + j];
            m->sum += o->status == OUTCOME_SCORED ? o->score : 0;
        }
        best = m->sum > s->pool.v[first + best].sum ? i : best;
        opt_note(s->task, &(struct opt_event){ .what = "evaluated",
                                               .candidate = (int64_t)(first + i),
                                               .program = m->program,
                                               .scored = true,
                                               .score = average(s, first + i),
                                               .n_positions = b,
                                               .reason = arena_printf(s->arena,
                                                                      "step %lld, on the minibatch",
                                                                      (long long)s->step + 1) });
    }
    if (c->n > 0)
        *vec_push(s->arena, &s->winners) = c->v[best];
    return true;
}

static bool step(struct simba *s, struct err *err)
{
    size_t b = batch_size(s), k = k_of(s);
    const struct puzzle_position **batch = NEW_ARRAY(s->arena, const struct puzzle_position *, b);
    struct simba_trajectory *all = NEW_ARRAY(s->arena, struct simba_trajectory, k * b);
    struct candidates candidates = { 0 };
    next_batch(s, batch);
    if (!attempt_all(s, batch, all, err))
        return false;
    struct simba_limits limits = limits_of(s, all);
    const struct simba_bucket *buckets = sorted_buckets(s, all);
    for (size_t j = 0; j < b && candidates.n < k + 1; j++)
        if (!change_one(s, &buckets[j], &limits, &candidates, err))
            return false;
    return score_candidates(s, &candidates, batch, err);
}

// ---- the end (3.9) ----

static void tell_finalist(const struct simba *s, size_t i, size_t of_step,
                          const struct opt_lane *lane, bool accepted)
{
    str whose =
        of_step == 0 ? S("the start") : arena_printf(s->arena, "the winner of step %zu", of_step);
    str reason = arena_printf(s->arena, "%.*s, on %s training positions%s%s", STR(whose),
                              lane->left ? "the first" : "all", lane->left ? ": " : "",
                              lane->left ? lane->left : "");
    opt_note(s->task, &(struct opt_event){ .what = accepted ? "accepted" : "rejected",
                                           .candidate = (int64_t)i,
                                           .program = s->winners.v[of_step],
                                           .scored = true,
                                           .score = lane->rate,
                                           .n_positions = lane->n_positions,
                                           .reason = reason });
}

static bool choose(struct simba *s, struct err *err)
{
    const struct optimizer_config *c = s->config;
    size_t *finalists = NEW_ARRAY(s->arena, size_t, k_of(s) + 1);
    size_t n = simba_finalists(s->winners.n - 1, k_of(s), finalists);
    const struct program **v = NEW_ARRAY(s->arena, const struct program *, n);
    struct opt_race race = { .task = s->task,
                             .v = v,
                             .n = n,
                             .on = s->task->train,
                             .kind = opt_race_kind(c),
                             .delta = c->racing };
    struct opt_race_result result;
    for (size_t i = 0; i < n; i++)
        v[i] = s->winners.v[finalists[i]];
    if (!opt_race(&race, &result, err))
        return err_add(err, "finals");
    s->out->n_saved += result.n_saved;
    s->out->program = v[result.winner];
    for (size_t i = 0; i < n; i++) {
        const struct opt_lane *lane = &result.lanes[i];
        *vec_push(s->arena, &s->out->candidates) = (struct opt_candidate){
            .program = v[i], .score = lane->rate, .n_positions = lane->n_positions
        };
        tell_finalist(s, i, finalists[i], lane, i == result.winner);
    }
    return true;
}

static bool run(const struct opt_task *task, struct opt_result *out, struct err *err)
{
    struct simba s = {
        .task = task, .config = task->config, .arena = task->lab->arena, .out = out
    };
    struct chance fallback;
    size_t n = task->train->n;
    *out = (struct opt_result){ 0 };
    if (!optimizer_accepts(&optimizer_simba, task->model, err))
        return false;
    if (n < batch_size(&s))
        return err_set(err, ERR_INPUT,
                       "%zu training positions are fewer than a minibatch (bsize %zu); set bsize "
                       "lower, or train on more",
                       n, batch_size(&s));
    s.chance = opt_chance(task, S("simba"), s.arena, &fallback);
    s.order = NEW_ARRAY(s.arena, size_t, n);
    for (size_t i = 0; i < n; i++)
        s.order[i] = i;
    s.chance->shuffle(s.chance->ctx, "shuffle", s.order, n);
    *vec_push(s.arena, &s.pool) = (struct member){ .program = task->seed };
    *vec_push(s.arena, &s.winners) = task->seed;
    for (; s.step < s.config->max_steps; s.step++)
        if (!step(&s, err))
            return err_add(err, "step %lld", (long long)s.step + 1);
    return choose(&s, err);
}

// Section 6: trajectories S k B, candidates up to S (k + 1) B, finals up to k + 1 times T.
static bool plan(const struct opt_task *task, struct opt_plan *out, struct err *err)
{
    (void)err;
    const struct optimizer_config *c = task->config;
    int64_t n = (int64_t)task->train->n, k = c->num_candidates, steps = c->max_steps;
    size_t *finalists = calloc((size_t)k + 1, sizeof *finalists);
    int64_t n_finals = (int64_t)simba_finalists((size_t)steps, (size_t)k, mem_must(finalists));
    free(finalists);
    int64_t per_step = (c->bsize < k + 1 ? c->bsize : k + 1);
    *out = (struct opt_plan){ .least_task = steps * k * c->bsize + n,
                              .most_task = steps * (k + per_step) * c->bsize + n_finals * n,
                              .most_prompt = steps * c->bsize };
    return true;
}

const struct optimizer optimizer_simba = {
    .name = T("simba"),
    .writes_prompts = true,
    .needs_sampling = T("it learns from the better and the worse of several answers to one "
                        "position, and a decision model has no sampling: it gives the same again"),
    .plan = plan,
    .run = run,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// gepa_run.c - candidates of GEPA on training and validation examples: asking the task model,
// answers that are known already, runs that end when they are decided, scores.
#include <math.h>

#include "optimize/gepa_lab.h"

const struct program *gepa_program(const struct gepa *g, str text)
{
    const struct program *seed = g->task->seed;
    if (text.len == 0) // the reference's rule for a text that came out empty
        text = instruction_default(seed->signature, g->arena);
    return str_eq(text, seed->instruction) ? seed : program_with_instruction(g->arena, seed, text);
}

struct asked { // some positions of a set, and the answers to them
    const struct program *program;
    str prefix; // of the keys under which they are known
    const struct puzzle_position *positions;
    const size_t *at; // indices into the positions
    size_t n;
    const struct outcome **out;
};

static str key_of(const struct gepa *g, const struct asked *q, size_t i)
{
    return arena_printf(g->arena, "%.*s%zu", STR(q->prefix), q->at[i]);
}

// Fills in what is known; returns how many are not, and which.
static size_t recall(const struct gepa *g, const struct asked *q, size_t *missing)
{
    size_t n = 0;
    for (size_t i = 0; i < q->n; i++) {
        const struct map_entry *e = g->reuse ? map_get(&g->known, key_of(g, q, i)) : NULL;
        if (e)
            q->out[i] = e->pointer;
        else
            missing[n++] = i;
    }
    return n;
}

// What never arrived is not remembered: it would be a score for a lost answer.
static void take(struct gepa *g, const struct asked *q, size_t i, const struct outcome *out)
{
    q->out[i] = out;
    if (g->reuse && out->status != OUTCOME_FAILED)
        map_put(&g->known, key_of(g, q, i), NULL)->pointer = (void *)(uintptr_t)out;
}

static bool ask(struct gepa *g, const struct asked *q, int64_t *n_made, struct err *err)
{
    size_t *missing = NEW_ARRAY(g->arena, size_t, q->n + 1);
    size_t n = recall(g, q, missing);
    struct job *jobs = NEW_ARRAY(g->arena, struct job, n + 1);
    const struct outcome *outcomes;
    if (n == 0)
        return true;
    for (size_t k = 0; k < n; k++)
        jobs[k] = lab_position_job(q->program, &q->positions[q->at[missing[k]]], g->task->model,
                                   g->arena);
    if (!lab_evaluate(g->task->lab, jobs, n, &outcomes, err))
        return false;
    for (size_t k = 0; k < n; k++)
        take(g, q, missing[k], &outcomes[k]);
    *n_made += (int64_t)n;
    return true;
}

// ---- running a candidate ----

static size_t example_size(const struct gepa *g, const struct gepa_run *run, size_t i)
{
    if (run->set == GEPA_TRAIN)
        return 1;
    return g->first[run->ids[i] + 1] - g->first[run->ids[i]];
}

// The positions of the run's examples, one after the other.
static void list_positions(const struct gepa *g, const struct gepa_run *run, struct asked *q)
{
    size_t n = 0, next = 0;
    for (size_t i = 0; i < run->n; i++)
        n += example_size(g, run, i);
    size_t *at = NEW_ARRAY(g->arena, size_t, n + 1);
    for (size_t i = 0; i < run->n; i++)
        for (size_t k = 0; k < example_size(g, run, i); k++)
            at[next++] = run->set == GEPA_TRAIN ? run->ids[i] : g->first[run->ids[i]] + k;
    bool train = run->set == GEPA_TRAIN;
    q->program = gepa_program(g, run->texts[0]);
    q->positions = train ? g->task->train->v : g->task->validation->v;
    q->prefix = arena_printf(g->arena, "%.*s %c", STR(program_hash(q->program, g->arena)),
                             train ? 't' : 'v');
    q->at = at;
    q->n = n;
    q->out = NEW_ARRAY(g->arena, const struct outcome *, n + 1);
}

// A filtered or over-long answer counts 0 (decisions 2.2); a puzzle the worst of its positions.
static int64_t score_of(const struct outcome *const *out, size_t n)
{
    double least = 1;
    for (size_t i = 0; i < n; i++) {
        double score = out[i]->status == OUTCOME_SCORED ? out[i]->score : 0;
        least = score < least ? score : least;
    }
    return (int64_t)llround(least * GEPA_ONE);
}

static size_t block_size(const struct gepa_run *run)
{
    enum { BLOCK = 16 }; // asked at once where a long run may end early
    return run->stop == GEPA_STOP_NEVER ? run->n : run->stop == GEPA_STOP_DECIDED ? 1 : BLOCK;
}

static bool is_decided(const struct gepa_run *run, const struct gepa_scores *s)
{
    int64_t most = s->sum + (int64_t)(run->n - s->n) * GEPA_ONE;
    return (run->stop != GEPA_STOP_NEVER && most < run->wanted) ||
           (run->stop == GEPA_STOP_DECIDED && s->sum >= run->wanted);
}

// The next examples of the run: asks their positions, which begin at `from`, and scores them.
static bool run_block(struct gepa *g, const struct gepa_run *run, const struct asked *all,
                      struct gepa_scores *s, struct err *err)
{
    size_t from = 0, end = s->n + block_size(run);
    struct asked q = *all;
    q.n = 0;
    for (size_t i = 0; i < s->n; i++)
        from += example_size(g, run, i);
    end = end < run->n ? end : run->n;
    for (size_t i = s->n; i < end; i++)
        q.n += example_size(g, run, i);
    q.at += from;
    q.out += from;
    if (!ask(g, &q, &s->n_made, err))
        return false;
    for (size_t at = 0; s->n < end; s->n++) {
        size_t n = example_size(g, run, s->n);
        s->v[s->n] = score_of(q.out + at, n);
        s->sum += s->v[s->n];
        at += n;
    }
    return true;
}

bool gepa_run_candidate(void *ctx, const struct gepa_run *run, struct gepa_scores *out,
                        struct err *err)
{
    struct gepa *g = ctx;
    struct asked all;
    list_positions(g, run, &all);
    *out = (struct gepa_scores){ .v = NEW_ARRAY(g->arena, int64_t, run->n + 1),
                                 .n_calls = (int64_t)all.n,
                                 .trace = all.out };
    while (out->n < run->n && !is_decided(run, out))
        if (!run_block(g, run, &all, out, err))
            return false;
    return true;
}

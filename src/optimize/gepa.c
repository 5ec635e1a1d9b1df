// SPDX-License-Identifier: GPL-3.0-or-later
// gepa.c - GEPA on chess puzzles: budgets (GEPA and SIMBA specification, 2.12), options, and the
// optimizer itself.
#include <math.h>

#include "optimize/gepa_lab.h"
#include "optimize/internal.h"

// ---- budgets ----

int64_t gepa_auto_budget(enum auto_budget b, int64_t n_validation, int64_t n_components)
{
    static const int64_t sizes[] = {
        [BUDGET_LIGHT] = 6, [BUDGET_MEDIUM] = 12, [BUDGET_HEAVY] = 18
    };
    int64_t n = sizes[b];
    int64_t trials = (int64_t)fmax(4 * (double)n_components * log2((double)n), 1.5 * (double)n);
    if (trials == 0)
        return n_validation + 5 * n;
    int64_t full = (trials + 1) / 5 + 1 + (trials < 5);
    return n_validation + 5 * n + 35 * trials + full * n_validation;
}

bool gepa_budget(const struct opt_task *task, int64_t *out, struct err *err)
{
    const struct optimizer_config *c = task->config;
    int64_t n_validation = (int64_t)task->validation->n;
    if (c->budget != BUDGET_NONE && c->gepa_max_full_evals > 0)
        return err_set(err, ERR_INPUT,
                       "auto and gepa.max_full_evals are two budgets; set `auto: null` to use the "
                       "second");
    if (c->budget != BUDGET_NONE)
        *out = gepa_auto_budget(c->budget, n_validation, 1);
    else if (c->gepa_max_full_evals > 0)
        *out = c->gepa_max_full_evals * ((int64_t)task->train->n + n_validation);
    else
        *out = task->max_metric_calls;
    return true;
}

// The examples are puzzles where whole puzzles count.
static void set_examples(struct gepa *g)
{
    const struct puzzle_positions *all = g->task->validation;
    bool puzzles = g->task->config->objective == OBJECTIVE_PUZZLE;
    g->first = NEW_ARRAY(g->arena, size_t, all->n + 1);
    for (size_t i = 0; i < all->n; i++)
        if (!puzzles || i == 0 || all->v[i].puzzle != all->v[i - 1].puzzle)
            g->first[g->n_validation++] = i;
    g->first[g->n_validation] = all->n;
}

// ---- a new text ----

static bool propose(void *ctx, const struct gepa_question *q, struct gepa_proposal *out,
                    struct err *err)
{
    struct gepa *g = ctx;
    const struct outcome *const *outcomes = q->scores->trace;
    struct gepa_shown *shown = NEW_ARRAY(g->arena, struct gepa_shown, q->run->n + 1);
    struct gepa_reflection reflection = { .task = g->task,
                                          .program = gepa_program(g, q->texts[q->component]),
                                          .shown = shown,
                                          .n = q->run->n,
                                          .sample = g->n_requests };
    for (size_t i = 0; i < q->run->n; i++)
        shown[i] = (struct gepa_shown){ &g->task->train->v[q->run->ids[i]], outcomes[i] };
    if (!gepa_reflect(&reflection, out, err))
        return false;
    g->n_requests += out->n_requests;
    return true;
}

// ---- the optimizer ----

static void say(const struct gepa *g, const char *what, str text)
{
    opt_note(g->task, &(struct opt_event){ .what = what, .candidate = -1, .reason = text });
}

// Says what the budget pays for, and warns where that is next to nothing.
static void announce(const struct gepa *g, const struct gepa_opts *o)
{
    long long n = (long long)g->task->validation->n, b = (long long)o->minibatch;
    // At the least a proposal costs one run of a minibatch and a validation; without a hard budget
    // the reference's reckoning, two runs.
    long long each = n + (o->hard_budget ? b : 2 * b);
    say(g, "plan",
        arena_printf(g->arena,
                     "a budget of %lld metric calls: scoring the start takes %lld, each accepted "
                     "proposal %lld, each rejected one %lld",
                     (long long)o->budget, n, n + 2 * b, 2 * b));
    if (o->budget < n + 3 * each)
        log_line(LOG_WARN,
                 "gepa: a budget of %lld metric calls is hardly enough for a search: fewer than "
                 "%lld pay for less than three proposals",
                 (long long)o->budget, n + 3 * each);
    if (o->use_merge)
        say(g, "plan", S("merging is impossible: the program has one instruction only"));
}

static struct gepa_opts options_of(const struct optimizer_config *c)
{
    return (struct gepa_opts){
        .minibatch = (size_t)c->reflection_minibatch_size,
        .choosing = { .strategy = c->candidate_selection_strategy,
                      .epsilon = c->gepa_epsilon,
                      .top_k = (size_t)c->gepa_top_k },
        .padding = c->gepa_padding,
        .acceptance = c->gepa_acceptance,
        .skip_perfect = c->skip_perfect_score,
        .skip_known = c->gepa_extract != GEPA_EXTRACT_LENIENT,
        .use_merge = c->use_merge,
        .max_merge = c->gepa_max_merge,
        .hard_budget = c->gepa_hard_budget,
        .max_stalled = c->gepa_max_stalled,
        .max_idle = c->gepa_max_idle,
        .max_pool = c->gepa_max_candidates,
        .max_iterations = c->gepa_max_iterations,
        .stop_score = c->gepa_stop_score,
        .early_stop = c->gepa_save_calls,
    };
}

// Small minibatches are filled up with positions that stand in them twice, as in the reference.
enum { MINIBATCH_MAX = 100 };

static bool check(const struct opt_task *task, const struct gepa_opts *o, struct err *err)
{
    if (task->train->n == 0 || task->validation->n == 0)
        return err_set(err, ERR_INPUT,
                       "gepa needs training and validation positions, there are "
                       "%zu and %zu",
                       task->train->n, task->validation->n);
    if (o->minibatch > MINIBATCH_MAX && o->minibatch > task->train->n)
        return err_set(err, ERR_INPUT,
                       "minibatches of %zu positions do not fit a training set of %zu; set "
                       "reflection_minibatch_size lower",
                       o->minibatch, task->train->n);
    if (o->hard_budget && o->budget < (int64_t)task->validation->n)
        return err_set(err, ERR_INPUT,
                       "a budget of %lld metric calls does not pay for scoring the start on %zu "
                       "validation positions; raise it, or lower validation_size",
                       (long long)o->budget, task->validation->n);
    return true;
}

static void conclude(const struct gepa *g, const struct gepa_result *r)
{
    const struct gepa_candidate *best = &r->pool.v[r->best];
    g->out->program = gepa_program(g, best->texts[0]);
    g->out->finish = gepa_finish_name(r->finish);
    g->out->n_proposals = r->n_proposals;
    say(g, "finished",
        arena_printf(g->arena,
                     "%s: candidate %zu is the best of %zu, %.2f %% against %.2f %% of the start; "
                     "%lld iterations, %lld proposals tried, %lld fully evaluated, %lld questions "
                     "to the prompt model, %lld metric calls (%lld made, %lld saved)",
                     gepa_finish_name(r->finish), r->best, r->pool.n,
                     100 * gepa_mean(&r->pool, r->best), 100 * gepa_mean(&r->pool, 0),
                     (long long)r->n_iterations, (long long)r->n_proposals,
                     (long long)r->pool.n - 1, (long long)r->n_requests, (long long)r->metric_calls,
                     (long long)r->n_made, (long long)(r->metric_calls - r->n_made)));
}

static bool run(const struct opt_task *task, struct opt_result *out, struct err *err)
{
    static const str names[] = { T("instruction") };
    const struct model *m = task->model;
    struct chance chance;
    struct gepa g = { .task = task, .out = out, .arena = task->lab->arena };
    struct gepa_opts opts = options_of(task->config);
    struct gepa_result result;
    g.known.arena = g.arena;
    // At a temperature above 0 equal requests have different answers.
    g.reuse = task->config->gepa_save_calls && m->has_temperature && m->temperature <= 0;
    *out = (struct opt_result){ 0 };
    if (!gepa_budget(task, &opts.budget, err) || !check(task, &opts, err))
        return false;
    set_examples(&g);
    struct gepa_system sys = { .ctx = &g,
                               .n_components = ARRAY_LEN(names),
                               .n_train = task->train->n,
                               .n_validation = g.n_validation,
                               .names = names,
                               .start = &task->seed->instruction,
                               .run = gepa_run_candidate,
                               .propose = propose,
                               .note = gepa_tell };
    struct gepa_tools tools = { .chance = opt_chance(task, S("gepa"), g.arena, &chance),
                                .arena = g.arena };
    announce(&g, &opts);
    if (!gepa_search(&sys, &opts, &tools, &result, err))
        return false;
    conclude(&g, &result);
    return true;
}

// Section 6. What the search decides on its way is not known before: it may stop early, or find
// answers that it knows.
static bool plan(const struct opt_task *task, struct opt_plan *out, struct err *err)
{
    struct gepa_opts o = options_of(task->config);
    int64_t n = (int64_t)task->validation->n, b = (int64_t)o.minibatch;
    if (!gepa_budget(task, &o.budget, err) || !check(task, &o, err))
        return false;
    bool may_stop = o.hard_budget || o.max_stalled > 0 || o.max_idle > 0 || o.max_pool > 0 ||
                    o.max_iterations > 0 || o.stop_score > 0 || o.early_stop;
    int64_t left = o.budget > n ? o.budget - n : 0;
    int64_t least = o.skip_known ? b : 2 * b; // calls of an iteration that asks
    *out = (struct opt_plan){ .least_task = may_stop ? n : n + left,
                              .most_task = o.hard_budget ? o.budget
                                           : left > 0    ? o.budget + 2 * b + n - 1
                                                         : n,
                              .most_prompt = (left + least - 1) / least };
    return true;
}

const struct optimizer optimizer_gepa = {
    .name = { "gepa", sizeof "gepa" - 1 },
    .writes_prompts = true,
    .plan = plan,
    .run = run,
};

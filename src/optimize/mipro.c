// SPDX-License-Identifier: GPL-3.0-or-later
// mipro.c - MIPROv2: demonstration sets by bootstrapping, instructions by a prompt model that was
// shown the task, then a search over pairs of both (few-shot specification, section 6).
#include <math.h>

#include "optimize/mipro.h"

// ---- sizes (6.1) ----

// Of `auto`: n and the cap of the validation set.
static const struct {
    size_t n, validation_max;
} budgets[] = {
    [BUDGET_LIGHT] = { 6, 100 },
    [BUDGET_MEDIUM] = { 12, 300 },
    [BUDGET_HEAVY] = { 18, 1000 },
};
enum { MINIBATCH_ABOVE = 50 }; // `auto` uses minibatches for larger validation sets

static void plan_auto(const struct optimizer_config *c, size_t *n_validation,
                      struct mipro_plan *plan)
{
    size_t n = budgets[c->budget].n;
    double n_variables = plan->zero_shot ? 1 : 2;
    plan->validation_max = budgets[c->budget].validation_max;
    if (*n_validation > plan->validation_max)
        *n_validation = plan->validation_max;
    plan->n_demo_sets = n;
    plan->n_instructions = plan->zero_shot ? n : n / 2;
    plan->n_trials = (size_t)fmax(2 * n_variables * log2((double)n), 1.5 * (double)n);
    // Whatever `minibatch` says: so the reference does, and so the recorded runs were made.
    plan->minibatch_size = *n_validation > MINIBATCH_ABOVE ? (size_t)c->mipro_minibatch_size : 0;
}

bool mipro_plan_make(const struct optimizer_config *c, size_t n_validation, struct mipro_plan *out,
                     struct err *err)
{
    struct mipro_plan plan = {
        .zero_shot = c->max_bootstrapped_demos == 0 && c->max_labeled_demos == 0,
        .n_demo_sets = (size_t)c->num_candidates,
        .n_instructions = (size_t)c->num_candidates,
        .n_trials = (size_t)c->num_trials,
        .minibatch_size = c->minibatch ? (size_t)c->mipro_minibatch_size : 0,
        .full_eval_steps = (size_t)c->mipro_full_eval_steps,
    };
    if (c->budget != BUDGET_NONE)
        plan_auto(c, &n_validation, &plan);
    if (plan.n_demo_sets == 0 || plan.n_trials == 0)
        return err_set(err, ERR_INPUT,
                       "num_candidates and num_trials are both needed with `auto: null`");
    if (c->mipro_force_full_eval)
        plan.minibatch_size = 0;
    if (plan.minibatch_size > n_validation)
        return err_set(err, ERR_INPUT,
                       "minibatches of %zu positions do not fit a validation set of %zu; set "
                       "mipro.minibatch_size lower or validation_size higher",
                       plan.minibatch_size, n_validation);
    *out = plan;
    return true;
}

// ---- data ----

// Without a validation set most of the training set becomes one, from its end.
static void borrow_validation(struct mipro *m)
{
    enum { BORROWED_MAX = 1000 };
    size_t n = m->train.n * 4 / 5;
    n = n < 1 ? 1 : n > BORROWED_MAX ? BORROWED_MAX : n;
    if (m->train.n < 2)
        return;
    m->train.n -= n;
    m->validation = (struct puzzle_positions){ .v = m->train.v + m->train.n, .n = n };
}

// Index where the puzzle after the one at i begins.
static size_t next_puzzle(const struct puzzle_positions *p, size_t i)
{
    const struct puzzle *puzzle = p->v[i].puzzle;
    while (i < p->n && p->v[i].puzzle == puzzle)
        i++;
    return i;
}

static void draw_puzzles(struct mipro *m, const struct puzzle_positions *from, size_t k,
                         struct puzzle_positions *out)
{
    size_t *first = NEW_ARRAY(m->arena, size_t, from->n + 1);
    size_t *order = NEW_ARRAY(m->arena, size_t, from->n + 1);
    size_t n_puzzles = 0;
    for (size_t i = 0; i < from->n; i = next_puzzle(from, i))
        first[n_puzzles++] = i;
    mt_sample(&m->g, n_puzzles, n_puzzles, order);
    for (size_t p = 0; p < n_puzzles && out->n < k; p++)
        for (size_t i = first[order[p]], end = next_puzzle(from, i); i < end; i++)
            *vec_push(m->arena, out) = from->v[i];
}

void mipro_draw_positions(struct mipro *m, const struct puzzle_positions *from, size_t k,
                          struct puzzle_positions *out)
{
    *out = (struct puzzle_positions){ 0 };
    if (m->task->config->objective == OBJECTIVE_PUZZLE) {
        draw_puzzles(m, from, k, out);
        return;
    }
    k = k < from->n ? k : from->n;
    size_t *drawn = NEW_ARRAY(m->arena, size_t, k + 1);
    mt_sample(&m->g, from->n, k, drawn);
    for (size_t i = 0; i < k; i++)
        *vec_push(m->arena, out) = from->v[drawn[i]];
}

static bool set_up(struct mipro *m, struct err *err)
{
    const struct optimizer_config *c = m->task->config;
    if (m->validation.n == 0)
        borrow_validation(m);
    if (m->train.n == 0 || m->validation.n == 0)
        return err_set(err, ERR_INPUT,
                       "%zu training and %zu validation positions: both are needed; give a larger "
                       "training file or another validation_size",
                       m->train.n, m->validation.n);
    if (!bootstrap_check_labeled(m->task, c->max_labeled_demos, err) ||
        !mipro_plan_make(c, m->validation.n, &m->plan, err))
        return false;
    if (m->plan.zero_shot)
        m->start = program_with_demos(m->arena, m->start, NULL, 0);
    mt_seed(&m->g, m->task->run_seed);
    if (m->plan.validation_max > 0) {
        struct puzzle_positions given = m->validation;
        mipro_draw_positions(m, &given, m->plan.validation_max, &m->validation);
    }
    return true;
}

// What was settled, for people.
static void note_plan(const struct mipro *m)
{
    const struct mipro_plan *p = &m->plan;
    str trials = p->minibatch_size > 0
                     ? arena_printf(m->arena, "on %zu positions, every %zu a full evaluation",
                                    p->minibatch_size, p->full_eval_steps)
                     : S("on the whole validation set");
    str reason = arena_printf(
        m->arena,
        "%zu demonstration sets%s, %zu instructions, %zu trials %.*s; %zu validation positions",
        p->n_demo_sets, p->zero_shot ? " as material for the prompt model" : "", p->n_instructions,
        p->n_trials, STR(trials), m->validation.n);
    opt_note(m->task, &(struct opt_event){ .what = "plan", .candidate = -1, .reason = reason });
}

static bool run(const struct opt_task *task, struct opt_result *out, struct err *err)
{
    *out = (struct opt_result){ .program = task->seed };
    struct mipro m = { .task = task,
                       .arena = task->lab->arena,
                       .out = out,
                       .start = task->seed,
                       .train = *task->train,
                       .validation = *task->validation };
    if (!set_up(&m, err))
        return false;
    note_plan(&m);
    return mipro_make_demo_sets(&m, err) && mipro_propose(&m, err) && mipro_search(&m, err);
}

const struct optimizer optimizer_mipro_v2 = {
    .name = { "mipro_v2", sizeof "mipro_v2" - 1 },
    .writes_prompts = true,
    .run = run,
};

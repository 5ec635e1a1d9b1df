// SPDX-License-Identifier: GPL-3.0-or-later
// mipro_plan.c - the sizes of a run of MIPROv2 and the calls that follow from them (few-shot
// specification 6.1).
#include <math.h>

#include "optimize/mipro.h"

// Of `auto`: n and the cap of the validation set.
static const struct {
    size_t n, validation_max;
} budgets[] = {
    [BUDGET_LIGHT] = { 6, 100 },
    [BUDGET_MEDIUM] = { 12, 300 },
    [BUDGET_HEAVY] = { 18, 1000 },
};
enum { MINIBATCH_ABOVE = 50 }; // `auto` uses minibatches for larger validation sets
// Above these a setting is a slip of the keyboard; the sampler reads all trials at each.
enum { CANDIDATES_MAX = 1000, TRIALS_MAX = 10000 };

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

static bool check(const struct mipro_plan *plan, size_t n_validation, struct err *err)
{
    if (plan->n_demo_sets == 0 || plan->n_trials == 0)
        return err_set(err, ERR_INPUT,
                       "num_candidates and num_trials are both needed with `auto: null`");
    if (plan->n_demo_sets > CANDIDATES_MAX || plan->n_trials > TRIALS_MAX)
        return err_set(err, ERR_INPUT,
                       "num_candidates %zu, num_trials %zu: at most %d and %d are possible",
                       plan->n_demo_sets, plan->n_trials, CANDIDATES_MAX, TRIALS_MAX);
    if (plan->minibatch_size > n_validation)
        return err_set(err, ERR_INPUT,
                       "minibatches of %zu positions do not fit a validation set of %zu; set "
                       "mipro.minibatch_size lower or validation_size higher",
                       plan->minibatch_size, n_validation);
    return true;
}

bool mipro_plan_make(const struct optimizer_config *c, size_t n_validation, struct mipro_plan *out,
                     struct err *err)
{
    *out = (struct mipro_plan){
        .zero_shot = c->max_bootstrapped_demos == 0 && c->max_labeled_demos == 0,
        .n_demo_sets = (size_t)c->num_candidates,
        .n_instructions = (size_t)c->num_candidates,
        .n_trials = (size_t)c->num_trials,
        .minibatch_size = c->minibatch ? (size_t)c->mipro_minibatch_size : 0,
        .full_eval_steps = (size_t)c->mipro_full_eval_steps,
    };
    if (c->budget != BUDGET_NONE)
        plan_auto(c, &n_validation, out);
    if (c->mipro_force_full_eval)
        out->minibatch_size = 0;
    return check(out, n_validation, err);
}

// ---- calls ----

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Bootstrapping (6.2): a set takes at least as many calls as it wants answers, at most one call a
// training position.
static void add_bootstrapping(const struct optimizer_config *c, const struct mipro_plan *plan,
                              int64_t n_train, struct opt_plan *out)
{
    int64_t wanted = plan->zero_shot ? MIPRO_MATERIAL : c->max_bootstrapped_demos;
    if (wanted == 0)
        return;
    for (size_t set = MIPRO_SET_LABELED; set < plan->n_demo_sets; set++) {
        if (set == MIPRO_SET_LABELED && c->max_labeled_demos > 0)
            continue;
        out->least_task += set == MIPRO_SET_IN_ORDER ? least_of(wanted, n_train) : 1;
        out->most_task += n_train;
    }
}

// Proposals (6.3). The search for notes on the data may end after its first question.
static void add_proposals(const struct optimizer_config *c, const struct mipro_plan *plan,
                          int64_t n_train, struct opt_plan *out)
{
    int64_t n = least_of((int64_t)plan->n_instructions, (int64_t)plan->n_demo_sets);
    int64_t n_batches = (n_train - 1) / c->mipro_view_data_batch_size + 1;
    n -= c->mipro_first_proposal == MIPRO_FIRST_SKIPPED;
    out->least_prompt = out->most_prompt = n * (c->program_aware_proposer ? 3 : 1);
    if (!c->data_aware_proposer)
        return;
    out->least_prompt += 1;
    out->most_prompt += 1 + least_of(n_batches - 1, MIPRO_MORE_MAX) + 1;
}

// The search (6.4). At least one full evaluation is made in it; others fall away where all pairs
// that were tried have had theirs.
static void add_search(const struct optimizer_config *c, const struct mipro_plan *plan,
                       int64_t n_validation, struct opt_plan *out)
{
    int64_t n_trials = (int64_t)plan->n_trials, steps = (int64_t)plan->full_eval_steps;
    int64_t minibatches = n_trials * (int64_t)plan->minibatch_size;
    int64_t n_full = plan->minibatch_size == 0 ? n_trials : (n_trials + steps - 1) / steps;
    int64_t n_sure = plan->minibatch_size == 0 ? n_trials : 1;
    out->most_task += n_validation * (1 + n_full) + minibatches;
    out->least_task +=
        c->mipro_save_calls ? n_validation : n_validation * (1 + n_sure) + minibatches;
}

// Whole puzzles are drawn: the last one may overshoot the wanted number of positions.
static int64_t longest(const struct puzzle_positions *p)
{
    int64_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n = p->v[i].count > n ? p->v[i].count : n;
    return n;
}

bool mipro_count_calls(const struct opt_task *task, struct opt_plan *out, struct err *err)
{
    const struct optimizer_config *c = task->config;
    struct puzzle_positions train, validation;
    struct mipro_plan plan;
    if (!mipro_split(task, &train, &validation, err) ||
        !mipro_plan_make(c, validation.n, &plan, err))
        return false;
    size_t n_validation = validation.n;
    if (plan.validation_max > 0 && n_validation > plan.validation_max)
        n_validation = plan.validation_max;
    *out = (struct opt_plan){ 0 };
    add_bootstrapping(c, &plan, (int64_t)train.n, out);
    add_proposals(c, &plan, (int64_t)train.n, out);
    add_search(c, &plan, (int64_t)n_validation, out);
    if (c->objective == OBJECTIVE_PUZZLE)
        out->most_task += (int64_t)(plan.n_trials * 2 + 1) * longest(&validation);
    return true;
}

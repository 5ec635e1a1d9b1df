// SPDX-License-Identifier: GPL-3.0-or-later
// bootstrap.c - BootstrapFewShot: the model's own accepted answers become demonstrations, the rest
// is filled up with labelled ones (few-shot specification, section 4.2; steps are numbered there).
#include "optimize/internal.h"

struct bootstrap {
    struct lab *lab;
    const struct opt_task *task;
    const struct bootstrap_opts *opts;
    const struct puzzle_positions *train;
    const struct demo **pool; // the labelled demo of each training position
    const struct program *teacher;
    const struct demo **accepted; // augmented demos in success order
    bool *succeeded;              // by training index
    int64_t n_accepted, n_attempts, n_errors;
};

// The teacher without the labelled demo of the example itself (the same record; other positions of
// its puzzle stay).
static const struct program *teacher_for(const struct bootstrap *b, size_t example)
{
    const struct program *t = b->teacher;
    const struct demo **demos = NEW_ARRAY(b->lab->arena, const struct demo *, t->n_demos);
    size_t n = 0;
    for (size_t i = 0; i < t->n_demos; i++)
        if (t->demos[i] != b->pool[example])
            demos[n++] = t->demos[i];
    return n == t->n_demos ? t : program_with_demos(b->lab->arena, t, demos, n);
}

// The model's own answer, raw, as a demonstration.
static const struct demo *augmented_demo(const struct bootstrap *b, size_t example,
                                         const struct puzzle_record *record)
{
    struct demo *demo = NEW(b->lab->arena, struct demo);
    *demo = (struct demo){ .inputs = b->train->v[example].inputs, .outputs = record->values };
    return demo;
}

static bool is_unreadable(const struct outcome *out)
{
    const struct puzzle_record *record = out->record;
    return record->values == NULL;
}

// Under strict_errors an answer that cannot be read is one, as in the reference.
static bool is_error(const struct bootstrap *b, const struct outcome *out)
{
    return out->status == OUTCOME_FAILED || (b->task->config->strict_errors && is_unreadable(out));
}

// One attempt: a call, judged by the metric. Round 0 asks as configured; a later round samples at
// temperature 1 under its own rollout id.
static bool attempt(struct bootstrap *b, size_t example, int64_t round, struct err *err)
{
    const struct puzzle_position *p = &b->train->v[example];
    struct sampling *sampling = NEW(b->lab->arena, struct sampling);
    if (round > 0)
        *sampling = (struct sampling){ .has_temperature = true, .temperature = 1, .sample = round };
    struct job job = lab_position_job(teacher_for(b, example), p, b->task->model, b->lab->arena);
    job.sampling = sampling;
    const struct outcome *out;
    if (!lab_evaluate(b->lab, &job, 1, &out, err))
        return false;
    b->n_attempts++;
    if (is_error(b, out) && ++b->n_errors >= b->opts->max_errors)
        return err_set(err, ERR_RUN, "%lld calls failed (max_errors %lld): %.*s",
                       (long long)b->n_errors, (long long)b->opts->max_errors, STR(out->error));
    // The reference takes the example out of the teacher's demonstrations for the call, and after
    // an answer that it cannot read forgets to put it back.
    if (b->task->config->forget_teacher_demos && is_unreadable(out))
        b->teacher = teacher_for(b, example);
    if (out->status == OUTCOME_SCORED && out->score > 0) {
        b->accepted[b->n_accepted++] = augmented_demo(b, example, out->record);
        b->succeeded[example] = true;
    }
    return true;
}

// An answer to another position of the puzzle is a demonstration already.
static bool puzzle_is_shown(const struct bootstrap *b, size_t example)
{
    for (size_t i = 0; i < example; i++)
        if (b->succeeded[i] && b->train->v[i].puzzle == b->train->v[example].puzzle)
            return true;
    return false;
}

// Step 3: strictly sequential, in training order, until B examples have succeeded.
static bool bootstrap(struct bootstrap *b, struct err *err)
{
    bool one_a_puzzle = b->task->config->one_demo_per_puzzle;
    for (size_t i = 0; i < b->train->n && b->n_accepted < b->opts->max_bootstrapped; i++)
        for (int64_t round = 0; round < b->opts->max_rounds && !b->succeeded[i] &&
                                !(one_a_puzzle && puzzle_is_shown(b, i));
             round++)
            if (!attempt(b, i, round, err))
                return err_add(err, "bootstrapping, example %zu", i + 1);
    return true;
}

// Steps 4 and 5: labelled demos drawn from what did not succeed, behind the augmented ones.
static const struct program *fill(const struct bootstrap *b)
{
    struct arena *a = b->lab->arena;
    size_t *left = NEW_ARRAY(a, size_t, b->train->n + 1);
    size_t n_left = 0;
    for (size_t i = 0; i < b->train->n; i++)
        if (!b->succeeded[i])
            left[n_left++] = i;
    struct mt g;
    mt_seed(&g, 0);
    mt_shuffle(&g, left, n_left);
    size_t n = (size_t)b->n_accepted;
    size_t wanted = (size_t)b->opts->max_labeled > n ? (size_t)b->opts->max_labeled - n : 0;
    if (wanted > n_left)
        wanted = n_left;
    size_t *drawn = NEW_ARRAY(a, size_t, wanted + 1);
    mt_seed(&g, 0); // a second fresh generator
    mt_sample(&g, n_left, wanted, drawn);
    const struct demo **demos = NEW_ARRAY(a, const struct demo *, n + wanted + 1);
    for (size_t i = 0; i < n; i++)
        demos[i] = b->accepted[i];
    for (size_t i = 0; i < wanted; i++)
        demos[n + i] = b->pool[left[drawn[i]]];
    return program_with_demos(a, b->task->seed, demos, n + wanted);
}

// Half a demonstration would be shown as one with fields missing (1.5): refused instead.
bool bootstrap_check_labeled(const struct opt_task *task, int64_t max_labeled, struct err *err)
{
    if (task->seed->signature->n_outputs > 1 && max_labeled > 0)
        return err_set(err, ERR_INPUT,
                       "labelled demonstrations have only a move, this program also answers with "
                       "other fields: set max_labeled_demos to 0, or use_analysis to false");
    return true;
}

bool bootstrap_few_shot(const struct opt_task *task, const struct bootstrap_opts *opts,
                        const struct puzzle_positions *train, struct bootstrap_result *out,
                        struct err *err)
{
    struct lab *lab = task->lab;
    size_t n = train->n;
    if (!bootstrap_check_labeled(task, opts->max_labeled, err))
        return false;
    struct bootstrap b = {
        .lab = lab,
        .task = task,
        .opts = opts,
        .train = train,
        .pool = NEW_ARRAY(lab->arena, const struct demo *, n + 1),
        .accepted = NEW_ARRAY(lab->arena, const struct demo *, n + 1),
        .succeeded = NEW_ARRAY(lab->arena, bool, n + 1),
    };
    for (size_t i = 0; i < n; i++)
        b.pool[i] = demo_labeled(&train->v[i], lab->arena);
    // Steps 1 and 2: the student starts without demos; the teacher has L labelled ones.
    b.teacher = opts->max_labeled > 0
                    ? labeled_few_shot(task->seed, b.pool, n, (size_t)opts->max_labeled, lab->arena)
                    : task->seed;
    if (!bootstrap(&b, err))
        return false;
    *out = (struct bootstrap_result){ .program = fill(&b),
                                      .n_attempts = b.n_attempts,
                                      .n_bootstrapped = b.n_accepted };
    return true;
}

static bool run(const struct opt_task *task, struct opt_result *out, struct err *err)
{
    const struct optimizer_config *c = task->config;
    struct bootstrap_opts opts = { .max_bootstrapped = c->max_bootstrapped_demos,
                                   .max_labeled = c->max_labeled_demos,
                                   .max_rounds = c->max_rounds,
                                   .max_errors = c->max_errors };
    struct bootstrap_result r;
    if (!bootstrap_few_shot(task, &opts, task->train, &r, err))
        return false;
    *out = (struct opt_result){ .program = r.program,
                                .n_attempts = r.n_attempts,
                                .n_bootstrapped = r.n_bootstrapped };
    return true;
}

const struct optimizer optimizer_bootstrap_few_shot = {
    .name = { "bootstrap_few_shot", sizeof "bootstrap_few_shot" - 1 },
    .run = run,
};

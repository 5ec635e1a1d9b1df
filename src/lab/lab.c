// SPDX-License-Identifier: GPL-3.0-or-later
// lab.c - batches over the pump, with one more try for what did not arrive.
#include "lab/lab.h"

struct batch {
    struct lab *lab;
    const struct job *jobs;
    struct outcome *outcomes;
    const size_t *todo; // indices of the jobs to run in this pass
    size_t n_todo, next;
};

static bool next_job(void *ctx, struct job *job, size_t *index)
{
    struct batch *b = ctx;
    if (b->next == b->n_todo)
        return false;
    *index = b->todo[b->next++];
    *job = b->jobs[*index];
    return true;
}

static void keep_outcome(void *ctx, size_t index, const struct outcome *out)
{
    struct batch *b = ctx;
    struct outcome *kept = &b->outcomes[index];
    struct lab_progress *progress = &b->lab->progress;
    progress->n_done += out->status != OUTCOME_FAILED;
    progress->n_scored += out->status == OUTCOME_SCORED;
    progress->score_sum += out->score;
    *kept = *out;
    kept->error = arena_str(b->lab->arena, out->error);
    if (out->record)
        kept->record = b->jobs[index].kind->copy_record(out->record, b->lab->arena);
}

enum pass { FIRST_PASS, SECOND_PASS, LAST_PASS }; // the last one only where failures are kept

static bool run_pass(struct batch *b, enum pass pass, struct err *err)
{
    bool keeps = b->lab->continue_on_error && pass != FIRST_PASS;
    struct feed feed = { .next = next_job,
                         .done = keep_outcome,
                         .ctx = b,
                         .phase = b->lab->phase,
                         .accept_failures = b->lab->continue_on_error || b->lab->tolerated > 0,
                         .keep_failures = keeps || pass == LAST_PASS };
    b->next = 0;
    return pump_run(b->lab->pump, b->lab->n_batches, &feed, err);
}

enum failed { FAILED_NOW, FAILED_EVER }; // or replayed as failed

// Collects the failed among `n` jobs into todo; returns how many.
static size_t collect_failed(const struct outcome *outcomes, size_t n, enum failed which,
                             size_t *todo)
{
    size_t failed = 0;
    for (size_t i = 0; i < n; i++)
        if (outcomes[i].status == OUTCOME_FAILED && (which == FAILED_EVER || !outcomes[i].replayed))
            todo[failed++] = i;
    return failed;
}

bool lab_evaluate(struct lab *lab, const struct job *jobs, size_t n, const struct outcome **out,
                  struct err *err)
{
    size_t *todo = NEW_ARRAY(lab->arena, size_t, n ? n : 1);
    for (size_t i = 0; i < n; i++)
        todo[i] = i;
    struct batch b = { .lab = lab,
                       .jobs = jobs,
                       .outcomes = NEW_ARRAY(lab->arena, struct outcome, n ? n : 1),
                       .todo = todo,
                       .n_todo = n };
    lab->progress = (struct lab_progress){ .n_jobs = n };
    if (!run_pass(&b, FIRST_PASS, err))
        return false;
    b.n_todo = collect_failed(b.outcomes, n, FAILED_NOW, todo);
    if (b.n_todo > 0) {
        log_line(LOG_WARN, "%zu of %zu answers did not arrive; trying them once more", b.n_todo, n);
        if (!run_pass(&b, SECOND_PASS, err))
            return false;
        b.n_todo = collect_failed(b.outcomes, n, FAILED_NOW, todo);
    }
    bool tolerable =
        collect_failed(b.outcomes, n, FAILED_EVER, NEW_ARRAY(lab->arena, size_t, n + 1)) <=
        (size_t)(lab->tolerated * (double)n);
    if (b.n_todo > 0 && tolerable && !lab->continue_on_error && !run_pass(&b, LAST_PASS, err))
        return false;
    size_t missing = collect_failed(b.outcomes, n, FAILED_EVER, todo);
    if (missing > 0 && !tolerable && !lab->continue_on_error)
        return err_set(err, ERR_RUN,
                       "%zu of %zu answers did not arrive after all tries (first: %.*s); nothing "
                       "of this batch is scored, give the same command again to go on",
                       missing, n, STR(b.outcomes[todo[0]].error));
    for (size_t i = 0; i < n; i++)
        usage_total_add(jobs[i].kind == &episode_prompt ? &lab->used_prompt : &lab->used,
                        &b.outcomes[i].used);
    lab->n_batches++;
    *out = b.outcomes;
    return true;
}

struct job lab_position_job(const struct program *program, const struct puzzle_position *p,
                            const struct model *model, struct arena *a)
{
    return (struct job){
        .kind = &episode_puzzle,
        .program = program,
        .input = p,
        .input_id = arena_printf(a, "%.*s/%d", STR(p->puzzle->id), p->index),
        .model = model,
    };
}

bool lab_evaluate_positions(struct lab *lab, const struct program *program,
                            const struct lab_task *task, const struct outcome **out,
                            struct err *err)
{
    size_t samples = (size_t)task->samples;
    struct job *jobs = NEW_ARRAY(lab->arena, struct job, task->n * samples + 1);
    struct sampling *sampling = NEW_ARRAY(lab->arena, struct sampling, samples);
    for (size_t k = 0; k < samples; k++)
        sampling[k].sample = (int64_t)k;
    for (size_t i = 0; i < task->n; i++) {
        struct job job = lab_position_job(program, &task->v[i], task->model, lab->arena);
        for (size_t k = 0; k < samples; k++) {
            job.sampling = &sampling[k];
            jobs[i * samples + k] = job;
        }
    }
    return lab_evaluate(lab, jobs, task->n * samples, out, err);
}

bool lab_ask(struct lab *lab, const struct lab_question *questions, size_t n,
             const struct prompt_record **out, struct err *err)
{
    struct job *jobs = NEW_ARRAY(lab->arena, struct job, n + 1);
    struct prompt_input *inputs = NEW_ARRAY(lab->arena, struct prompt_input, n + 1);
    struct sampling *sampling = NEW_ARRAY(lab->arena, struct sampling, n + 1);
    const struct outcome *outcomes;
    for (size_t i = 0; i < n; i++) {
        const struct lab_question *q = &questions[i];
        inputs[i] =
            (struct prompt_input){ .values = q->values, .plain = q->plain, .system = q->system };
        sampling[i] = q->sampling;
        jobs[i] = (struct job){ .kind = &episode_prompt,
                                .program = q->ask,
                                .input = &inputs[i],
                                .input_id = q->purpose,
                                .model = q->model,
                                .sampling = &sampling[i] };
    }
    str phase = lab->phase;
    lab->phase = S("proposing");
    bool ok = lab_evaluate(lab, jobs, n, &outcomes, err);
    lab->phase = phase;
    if (!ok)
        return err_add(err, "asking the prompt model");
    for (size_t i = 0; i < n; i++)
        out[i] = outcomes[i].status == OUTCOME_FAILED ? NULL : outcomes[i].record;
    return true;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// score.c - a program's score on a set of positions (few-shot specification 3.3 and 3.4).
#include <math.h>
#include <stdio.h>

#include "optimize/internal.h"

double opt_percent(double rate)
{
    char text[32]; // the correct rounding of the decimal value, as printf does it
    double percent;
    snprintf(text, sizeof text, "%.2f", 100 * rate);
    return str_to_double(str_from(text), &percent) ? percent : 0;
}

// Reads the answers one after the other and stops at the error limit, as the reference does with
// one thread: how many were asked is part of what it does.
static bool evaluate_strictly(const struct opt_task *task, const struct program *program,
                              const struct puzzle_positions *on, struct opt_score *out,
                              struct err *err)
{
    struct outcome *all = NEW_ARRAY(task->lab->arena, struct outcome, on->n + 1);
    int64_t n_errors = 0, limit = task->config->max_errors;
    for (size_t i = 0; i < on->n; i++) {
        struct job job = lab_position_job(program, &on->v[i], task->model, task->lab->arena);
        const struct outcome *one;
        if (!lab_evaluate(task->lab, &job, 1, &one, err))
            return false;
        all[i] = *one;
        const struct puzzle_record *record = one->record;
        n_errors += one->status != OUTCOME_SCORED || record->values == NULL;
        if (n_errors >= (limit > 0 ? limit : 1)) {
            out->raised = true;
            break;
        }
    }
    out->out = all;
    return true;
}

static double puzzle_rate(const struct puzzle_positions *on, const struct outcome *out)
{
    size_t n_puzzles = 0, n_solved = 0;
    for (size_t i = 0; i < on->n;) {
        const struct puzzle *puzzle = on->v[i].puzzle;
        bool solved = true;
        for (; i < on->n && on->v[i].puzzle == puzzle; i++)
            solved &= out[i].status == OUTCOME_SCORED && out[i].score >= 1;
        n_puzzles++;
        n_solved += solved;
    }
    return n_puzzles > 0 ? (double)n_solved / (double)n_puzzles : 0;
}

bool opt_score(const struct opt_task *task, const struct program *program,
               const struct puzzle_positions *on, struct opt_score *out, struct err *err)
{
    struct lab_task positions = { .v = on->v, .n = on->n, .model = task->model, .samples = 1 };
    *out = (struct opt_score){ .n = on->n };
    if (task->config->strict_errors) {
        if (!evaluate_strictly(task, program, on, out, err))
            return false;
    } else if (!lab_evaluate_positions(task->lab, program, &positions, &out->out, err)) {
        return false;
    }
    if (out->raised || on->n == 0)
        return true;
    for (size_t i = 0; i < on->n; i++)
        out->sum += out->out[i].status == OUTCOME_SCORED ? out->out[i].score : 0;
    out->rate = task->config->objective == OBJECTIVE_PUZZLE ? puzzle_rate(on, out->out)
                                                            : out->sum / (double)on->n;
    return true;
}

void opt_note(const struct opt_task *task, const struct opt_event *event)
{
    if (task->watch)
        task->watch->note(task->watch->ctx, event);
}

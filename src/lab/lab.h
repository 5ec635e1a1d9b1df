// SPDX-License-Identifier: GPL-3.0-or-later
// lab.h - what optimizers and evaluations stand on: one run with its seed, memory, budget and
// pump, and "evaluate these jobs".
#pragma once
#include "pump/pump.h"

struct lab_progress { // of the current batch, for whoever watches
    size_t n_jobs, n_done, n_scored;
    double score_sum;
};
struct lab {             // made by the caller; plain values
    struct arena *arena; // of the run: programs, outcomes, records
    struct pump *pump;
    double tolerated;       // share of a batch that may stay without an answer, as failed [0]
    bool continue_on_error; // record what never arrived as failed instead of stopping
    int64_t n_batches;      // evaluated so far; numbers the next one
    str phase;              // what its calls are for: "optimising"; "proposing" in lab_ask
    struct lab_progress progress;
    struct usage_total used;        // by all batches, replayed calls included, but for:
    struct usage_total used_prompt; // asks of a model that writes prompts
};

// Runs n jobs to their outcomes, in `lab->arena`, records copied. Jobs that did not arrive are
// tried once more at the end; if one still is missing, the call fails with ERR_RUN and nothing is
// scored (the same command goes on later), unless continue_on_error, or no more are missing than
// tolerated: these are tried a third time, then recorded as failed. Failures of the pump pass
// through. Outcomes are in job order whatever the order of replies.
MUST_CHECK bool lab_evaluate(struct lab *lab, const struct job *jobs, size_t n,
                             const struct outcome **out, struct err *err);

// ---- puzzle positions ----

struct lab_task { // what one program is evaluated on
    const struct puzzle_position *v;
    size_t n;
    const struct model *model;
    int samples; // answers a position, >= 1; job index = position * samples + sample
};
// Evaluates a program on positions; out[position * samples + sample].
MUST_CHECK bool lab_evaluate_positions(struct lab *lab, const struct program *program,
                                       const struct lab_task *task, const struct outcome **out,
                                       struct err *err);
// A job for one position; id and record texts in `a`.
struct job lab_position_job(const struct program *program, const struct puzzle_position *p,
                            const struct model *model, struct arena *a);

// ---- questions to a model that writes prompts ----

struct lab_question {
    const struct model *model;
    str purpose;               // names the input in the store: "reflect"
    struct sampling sampling;  // its sample tells equal questions apart
    const struct program *ask; // its fields and task, or NULL
    const str *values;         // one per input field of `ask`
    str plain;                 // without `ask`: the whole user message
    str system;                // beside `plain`: the system message; empty: none
};
// Asks n questions at once; out[n] in their order. Records are NULL only where a call failed for
// good and continue_on_error is set; the caller does without the answer. Otherwise as lab_evaluate.
MUST_CHECK bool lab_ask(struct lab *lab, const struct lab_question *questions, size_t n,
                        const struct prompt_record **out, struct err *err);

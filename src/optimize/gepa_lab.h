// SPDX-License-Identifier: GPL-3.0-or-later
// gepa_lab.h - the system that GEPA's search evolves here: a program with one instruction, run on
// puzzle positions through the lab. What its files share.
#pragma once
#include "optimize/gepa.h"

struct gepa {
    const struct opt_task *task;
    struct opt_result *out;
    struct arena *arena;
    // Validation examples: positions, or puzzles under `objective: puzzle`.
    size_t n_validation;
    size_t *first; // of each example, its first position; one more: the end
    bool reuse;
    struct map known;   // by program, set and position: struct outcome
    int64_t n_requests; // to the prompt model
};

// The program with that instruction; the empty text stands for the default sentence, as in the
// reference.
const struct program *gepa_program(const struct gepa *g, str text);
// `run` and `note` of the system; ctx: struct gepa.
bool gepa_run_candidate(void *ctx, const struct gepa_run *run, struct gepa_scores *out,
                        struct err *err);
void gepa_tell(void *ctx, const struct gepa_iteration *it);

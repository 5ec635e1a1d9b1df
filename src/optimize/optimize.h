// SPDX-License-Identifier: GPL-3.0-or-later
// optimize.h - prompt optimizers: sequential code over lab_evaluate. Each is one file and one line
// in optimizers[].
#pragma once
#include "lab/lab.h"

struct opt_task {                              // what an optimizer works on
    const struct program *seed;                // where it starts
    const struct puzzle_positions *train;      // in split order
    const struct puzzle_positions *validation; // empty for methods that do not use it
    const struct model *model;                 // the task model
};
struct bootstrap_opts {       // few-shot specification 4.2
    int64_t max_bootstrapped; // B
    int64_t max_labeled;      // L
    int64_t max_rounds;       // R
    int64_t max_errors;       // failed calls that end the compile; unparsable answers are none
};
struct opt_opts { // one member a family; zero members are not defaults: config resolves them
    struct bootstrap_opts bootstrap;
};
struct opt_result {
    const struct program *program; // in the lab's arena
    int64_t n_attempts;            // task asks of bootstrapping
    int64_t n_bootstrapped;        // accepted demonstrations
};
struct optimizer {
    str name; // as in configurations: "bootstrap_few_shot"
    bool (*run)(struct lab *lab, const struct opt_task *task, const struct opt_opts *opts,
                struct opt_result *out, struct err *err);
};
extern const struct optimizer *const optimizers[]; // NULL-terminated
const struct optimizer *optimizer_find(str name);  // NULL: none of that name

// The demonstration of a position with its reference move and its source (in `a`).
const struct demo *demo_labeled(const struct puzzle_position *p, struct arena *a);
// LabeledFewShot (4.1): a program with min(k, n) demos drawn by a fresh generator of seed 0 from
// `pool` (labelled demos in training order), in drawn order.
const struct program *labeled_few_shot(const struct program *p, const struct demo *const *pool,
                                       size_t n, size_t k, struct arena *a);

// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - the optimizers by name, and what they share.
#pragma once
#include "optimize/optimize.h"

extern const struct optimizer optimizer_bootstrap_few_shot, optimizer_gepa;
extern const struct optimizer optimizer_bootstrap_random_search, optimizer_copro, optimizer_simba;
extern const struct optimizer optimizer_mipro_v2;

// ---- scoring a program ----

struct opt_score {
    const struct outcome *out; // one a position, in order
    size_t n;
    double sum;  // of scores, the unit being the objective's: see `rate`
    double rate; // 0..1 of positions, or of whole puzzles under `objective: puzzle`
    bool raised; // strict_errors: the error limit was hit; rate is 0
};
// Runs a program on every position at the task model's own settings and scores it. Filtered and
// over-long answers count 0 (decisions 2.2). `max_errors`: of specification 3.4, used only under
// strict_errors, where positions are asked one by one and an unreadable answer is an error.
MUST_CHECK bool opt_score(const struct opt_task *task, const struct program *program,
                          const struct puzzle_positions *on, struct opt_score *out,
                          struct err *err);
// The rate in percent, rounded to two decimals, as the reference prints and compares it (3.4).
double opt_percent(double rate);

// ---- the best of several programs ----

// ---- bootstrapping (few-shot specification 4.2) ----

struct bootstrap_opts {
    int64_t max_bootstrapped; // B
    int64_t max_labeled;      // L
    int64_t max_rounds;       // R
    int64_t max_errors;       // failed calls that end the compile; unparsable answers are none
};
struct bootstrap_result {
    const struct program *program;
    int64_t n_attempts, n_bootstrapped;
};
// BootstrapFewShot on `train` in its order, for all who build demonstration sets so.
MUST_CHECK bool bootstrap_few_shot(const struct opt_task *task, const struct bootstrap_opts *opts,
                                   const struct puzzle_positions *train,
                                   struct bootstrap_result *out, struct err *err);
// Refuses labelled demonstrations for a program that answers with more than a move.
MUST_CHECK bool bootstrap_check_labeled(const struct opt_task *task, int64_t max_labeled,
                                        struct err *err);

// ---- telling ----

// Tells the watcher, if there is one.
void opt_note(const struct opt_task *task, const struct opt_event *event);
// The task's own chance, or that of its seed in `fallback`.
struct chance *opt_chance(const struct opt_task *task, str optimizer, struct arena *a,
                          struct chance *fallback);

// SPDX-License-Identifier: GPL-3.0-or-later
// race.h - the best of several programs for fewer calls than whole evaluations of all (GEPA and
// SIMBA specification, section 8).
#pragma once
#include "optimize/optimize.h"

enum race_kind {
    RACE_WHOLE,  // each program on all positions, one program after the other
    RACE_BOUNDS, // together, block by block; who cannot become the best any more is left: the same
                 // winner for fewer calls
    RACE_BETS,   // also who lost a bet against the leader (8.3): another winner with a chance of
                 // at most delta for each pair
};
struct opt_race {
    const struct opt_task *task;
    const struct program *const *v; // of equal scores the first wins
    size_t n;
    const struct puzzle_positions *on;
    enum race_kind kind;
    double delta; // of RACE_BETS, 0 < delta < 1
};
struct opt_lane { // how far a program came
    double sum;   // of the objective's units: positions or whole puzzles
    size_t n_units, n_positions;
    double rate;      // sum / n_units
    const char *left; // why it was left; NULL: it went through all
    size_t same_as;   // an earlier lane whose answers it shared; its own number: none
};
struct opt_race_result {
    struct opt_lane *lanes; // one a program
    size_t winner;
    int64_t n_saved; // task asks
};
// Equal programs share one lane's answers where the model's temperature is 0, but for RACE_WHOLE.
MUST_CHECK bool opt_race(const struct opt_race *race, struct opt_race_result *out, struct err *err);
// The kind that the options ask for. strict_errors counts errors in order: all or nothing.
enum race_kind opt_race_kind(const struct optimizer_config *c);

// SPDX-License-Identifier: GPL-3.0-or-later
// engine_tables.h - tables over runs that an engine has judged.
#pragma once
#include "report/report.h"

struct report_regret { // regret.json of one run directory
    str name, model, method;
    str procedure; // identity of the engine, and the limit
    bool simulated;
    int64_t n;                 // answers with a cost
    double positions, puzzles; // shares right, solved
    double median_cp, mean_cp;
};
struct report_regrets {
    struct report_regret *v;
    size_t n, cap;
};
// Keeps `dir`. Missing or broken: ERR_INPUT.
MUST_CHECK bool report_regret_load(str dir, struct arena *a, struct report_regret *out,
                                   struct err *err);
// A row a run, with its ranks by accuracy and by regret (the paper's Table 7).
void report_regret(const struct report_regrets *runs, struct arena *a, struct report_grid *out);

struct report_rollout {     // rollout.json of one run directory
    str model, method, run; // run: its key
    str procedure;          // both engines with their limits, and the number of moves
    bool simulated;
    int64_t n; // rollouts
    size_t n_seeds, n_means, n_costs;
    double *means_cp;                        // of the seeds whose moves were searched
    int64_t *costs_cp;                       // of all accepted moves
    struct report_count illegal, unparsable; // of the answers
    struct report_count lost;                // of the scored rollouts
};
struct report_rollouts {
    struct report_rollout *v;
    size_t n, cap;
};
// Missing or broken: ERR_INPUT.
MUST_CHECK bool report_rollout_load(str dir, struct arena *a, struct report_rollout *out,
                                    struct err *err);
// A row a model and method, over all their runs (the paper's Table 4). ERR_INPUT: one run twice.
MUST_CHECK bool report_rollout(const struct report_rollouts *runs, struct arena *a,
                               struct report_grid *out, struct err *err);

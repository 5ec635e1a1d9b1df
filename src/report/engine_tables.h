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

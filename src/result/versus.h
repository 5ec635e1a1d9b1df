// SPDX-License-Identifier: GPL-3.0-or-later
// versus.h - rollouts against an engine put together (the paper's Table 4).
#pragma once
#include "result/result.h"

struct versus_case { // one rollout
    const struct opening *opening;
    int seed;
    const struct outcome *out; // of episode_versus
    const int64_t *costs_cp;   // of its accepted moves, -1: not known; NULL: not searched
};
struct versus_seed { // of one repetition, all openings
    int64_t n_costs;
    double mean_cp;  // of its moves' costs
    double accepted; // moves a rollout, mean
};
struct versus_summary {
    int64_t n, n_scored; // rollouts
    int64_t stops[VERSUS_STOPS];
    int64_t n_attempts, n_accepted; // of the scored ones, as all below
    struct versus_seed *seeds;
    size_t n_seeds;
    int64_t *costs_cp; // of all accepted moves, sorted
    size_t n_costs;
    double median_cp;                   // pooled
    struct stats_sample mean_cp, moves; // over seeds
};
// Cases in any order; `out` in `a`.
void versus_summarise(const struct versus_case *cases, size_t n, int n_seeds, struct arena *a,
                      struct versus_summary *out);

struct versus_facts { // who played whom
    const struct engine *judge, *opponent;
    struct engine_limit judge_limit, reply_limit;
    int max_moves;
    const struct run_facts *run;
    const struct usage_total *used;
};
// Files as texts in `a`: a line a rollout, and one object of all.
str versus_jsonl(const struct versus_case *cases, size_t n, struct arena *a);
str versus_json(const struct versus_summary *s, const struct versus_facts *facts, struct arena *a);

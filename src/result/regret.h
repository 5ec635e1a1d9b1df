// SPDX-License-Identifier: GPL-3.0-or-later
// regret.h - what moves cost in centipawns: one answer, many answers, and their file forms.
#pragma once
#include "result/result.h"

enum { REGRET_NO_MOVE_CP = 200000 }; // an illegal or unparsable answer (paper-files, section 3)

struct regret_case { // one answer to one position
    const struct puzzle_position *position;
    int sample;
    const struct outcome *answer;       // of episode_puzzle
    const struct regret_record *search; // of the position; NULL: no legal move was played
    const struct regret_move *played;   // among search->v; NULL likewise
    bool failed;                        // an engine was at fault
};
// Whether the answer has a cost, `*cp`: not where none arrived, it is unscored, an engine failed.
bool regret_case_cost(const struct regret_case *c, int64_t *cp);

enum { REGRET_BINS = 9 };
struct regret_summary {
    int64_t n, n_costed;                 // answers; those with a cost
    int64_t n_zero, n_no_move, n_failed; // engine faults
    int64_t n_mates;                     // a mate missed or walked into: 99,000 and more
    int64_t bins[REGRET_BINS];
    double median_cp, mean_cp; // of all with a cost
    double quartiles_cp[2];    // lower, upper
    int64_t n_legal;           // moves
    double legal_median_cp, legal_mean_cp;
    int64_t n_noise; // positions on which it was measured
    double noise_mean_cp;
    int64_t noise_max_cp;
    int64_t n_searches;              // with a depth: of positions and of played moves
    int depth_min, played_depth_min; // reached; -1: no search
    double depth_mean, played_depth_mean;
    int64_t n_short; // searches that a mate ended early
};
void regret_summarise(const struct regret_case *cases, size_t n, struct engine_limit limit,
                      struct arena *a, struct regret_summary *out);
str regret_bin_name(size_t bin); // "0", "1-10", ... "illegal"

struct regret_facts { // what was asked of whom
    const struct engine *engine;
    struct engine_limit limit;
    const struct tally *tally;
    const struct run_facts *run;
};
// Files as texts in `a`: one JSON object a case, and one of all.
str regret_jsonl(const struct regret_case *cases, size_t n, const struct regret_facts *facts,
                 struct arena *a);
str regret_json(const struct regret_summary *s, const struct regret_facts *facts, struct arena *a);
// The settings as they were given: "Threads=1;Hash=128".
str regret_settings(const struct engine *e, struct arena *a);
// Writes who the engine is and what it was held to, as members of the open object.
void regret_put_engine(struct json_out *o, const struct engine *e, struct engine_limit limit);

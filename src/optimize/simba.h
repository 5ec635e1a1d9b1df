// SPDX-License-Identifier: GPL-3.0-or-later
// simba.h - what the files of SIMBA share: trajectories, buckets, strategies. Within the module
// only.
#pragma once
#include "optimize/internal.h"

struct simba_trajectory { // one attempt at one position
    size_t program;       // of the pool
    const struct puzzle_position *position;
    const struct puzzle_record *record;
    struct feedback feedback; // with its score
};
struct simba_bucket { // the attempts at one position, the best first, equal ones by variant
    const struct puzzle_position *position;
    struct simba_trajectory *v;
    size_t n;
    double gap, top, lift; // max - min, max, max - mean
};
struct simba_limits { // percentiles of all scores of a step
    double p10, p90;
};
enum simba_outcome {
    SIMBA_APPLIED,
    SIMBA_DECLINED, // the program stays as it is, and is a candidate all the same
    SIMBA_ERROR,    // the prompt model gave nothing usable: no candidate of this bucket
};

// Adds the best attempt as a demonstration (3.7).
enum simba_outcome simba_append_demo(const struct simba_bucket *b, const struct simba_limits *l,
                                     struct arena *a, const struct program **program);
// Asks the prompt model for advice that makes the worst attempt more like the best, and adds it to
// the instruction (3.8). False: the run cannot go on.
struct simba_rule {
    const struct opt_task *task;
    const struct simba_bucket *bucket;
    const struct simba_limits *limits;
    int64_t number; // of the question in the run
};
MUST_CHECK bool simba_append_rule(const struct simba_rule *r, const struct program **program,
                                  enum simba_outcome *out, struct err *err);

// Percentile q (0..100) of n sorted values, by linear interpolation (3.5).
double simba_percentile(const double *sorted, size_t n, double q);
// Which of the winners 0..last are finalists: round(i * last / k) for i = 0..k, halves to even,
// each once (3.9). Returns how many; out[k + 1].
size_t simba_finalists(size_t last, size_t k, size_t *out);

// SPDX-License-Identifier: GPL-3.0-or-later
// stats.h - intervals and tests. Pure.
#pragma once
#include "base/base.h"

struct interval {
    double low, high; // 0..1 for rates
};
// Wilson score interval of k successes in n trials at 95 % (Wilson 1927); n = 0: [0, 1].
struct interval stats_wilson(int64_t k, int64_t n);
// The same for an observed rate of n trials that need not be a whole number of them.
struct interval stats_wilson_rate(double rate, int64_t n);
// Half-width-free comparison of two programs on the same items: exact two-sided McNemar test.
// b: only the first right, c: only the second right. 1 when b + c = 0.
double stats_mcnemar_exact(int64_t b, int64_t c);
// The two-sided 95 % interval of the paired difference of proportions (second minus first), by
// Newcombe's score method for paired data (Newcombe 1998, method 10).
// both: both right; b, c as above; none: neither right.
struct interval stats_paired_difference(int64_t both, int64_t b, int64_t c, int64_t none);

// ---- repeated runs ----

struct stats_sample { // of repeated measurements
    size_t n;
    double mean;
    double sd; // sample standard deviation (n - 1); 0 for n < 2
};
struct stats_sample stats_sample(const double *values, size_t n);
// One-sided p of Welch's unequal-variances t test (Welch 1947) that the mean of `x` is greater than
// that of `base`. NAN where it is not defined: under two values on a side, or both variances zero.
double stats_welch_greater(const struct stats_sample *x, const struct stats_sample *base);
// Holm's step-down adjustment (Holm 1979) of n p-values in place; NANs stay and do not count.
void stats_holm(double *p, size_t n);
// 95 % percentile bootstrap interval of the mean of n values that are independent of each other
// (differences of whole puzzles, say): `rounds` resamples drawn from `g`. n = 0: [NAN, NAN].
struct interval stats_bootstrap_mean(const double *values, size_t n, size_t rounds, struct rng *g,
                                     struct arena *a);

void stats_sort(int64_t *v, size_t n); // ascending
// The value at a share of 0..1 of n sorted ones, between two of them by interpolation; 0 of none.
double stats_quantile(const int64_t *sorted, size_t n, double share);

// ---- planning ----

struct stats_power_plan { // a paired comparison of two programs on the same puzzles
    double base;          // rate of the first, 0..1
    double difference;    // that is to be found, 0..1
    double agreement;     // correlation of the two answers to one puzzle, 0..1
    double alpha, power;  // two-sided level, chance of finding it
};
// How many puzzles an exact McNemar test needs (normal approximation of Connor 1987); 0: impossible
// (the rates leave 0..1).
int64_t stats_power_puzzles(const struct stats_power_plan *plan);

// ---- curves ----

struct stats_logistic { // log odds of success = intercept + slope * x, by maximum likelihood
    bool ok;            // false: under two different x, or x separates the outcomes (no maximum)
    double intercept, slope;
    double var_intercept, var_slope, covariance; // of the estimates, from the information matrix
};
// n outcomes at x[i]; weights[i] trials with successes[i] among them (NULL: single trials).
struct stats_logistic stats_logistic(const double *x, const double *successes,
                                     const double *weights, size_t n);
struct stats_correlation {
    double r, p; // two-sided p of r = 0, from the t distribution; NAN below three pairs
};
// Pearson's r, or with ranks (ties: their mean rank) Spearman's.
struct stats_correlation stats_pearson(const double *x, const double *y, size_t n);
struct stats_correlation stats_spearman(const double *x, const double *y, size_t n);

#include "stats/pool.h"
#include "stats/rating.h"

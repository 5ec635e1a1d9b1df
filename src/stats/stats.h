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

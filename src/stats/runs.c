// SPDX-License-Identifier: GPL-3.0-or-later
// runs.c - what repeated runs and paired puzzles say about a difference.
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "stats/stats.h"

struct stats_sample stats_sample(const double *values, size_t n)
{
    struct stats_sample s = { .n = n };
    for (size_t i = 0; i < n; i++)
        s.mean += values[i] / (double)n;
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - s.mean) * (values[i] - s.mean);
    // What rounding leaves of equal values is no variance.
    double least = 1e-24 * s.mean * s.mean * (double)n;
    if (n > 1 && squares > least)
        s.sd = sqrt(squares / (double)(n - 1));
    return s;
}

double stats_welch_greater(const struct stats_sample *x, const struct stats_sample *base)
{
    if (x->n < 2 || base->n < 2 || (x->sd <= 0 && base->sd <= 0))
        return (double)NAN;
    double vx = x->sd * x->sd / (double)x->n;
    double vb = base->sd * base->sd / (double)base->n;
    double t = (x->mean - base->mean) / sqrt(vx + vb);
    double freedom =
        (vx + vb) * (vx + vb) / (vx * vx / (double)(x->n - 1) + vb * vb / (double)(base->n - 1));
    return gsl_cdf_tdist_Q(t, freedom);
}

// The smallest p above (or equal and later than) the last one taken, or n.
static size_t next_smallest(const double *p, size_t n, const bool *taken)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (!taken[i] && !isnan(p[i]) && (best == n || p[i] < p[best]))
            best = i;
    return best;
}

void stats_holm(double *p, size_t n)
{
    struct arena scratch = { 0 };
    bool *taken = NEW_ARRAY(&scratch, bool, n + 1);
    double *adjusted = NEW_ARRAY(&scratch, double, n + 1);
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        adjusted[i] = p[i];
        left += isnan(p[i]) ? 0 : 1;
    }
    double least = 0;
    for (; left > 0; left--) {
        size_t i = next_smallest(p, n, taken);
        taken[i] = true;
        least = fmax(least, fmin(1, p[i] * (double)left));
        adjusted[i] = least;
    }
    for (size_t i = 0; i < n; i++)
        p[i] = adjusted[i];
    arena_free(&scratch);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

struct interval stats_bootstrap_mean(const double *values, size_t n, size_t rounds, struct rng *g,
                                     struct arena *a)
{
    if (n == 0 || rounds == 0)
        return (struct interval){ (double)NAN, (double)NAN };
    double *means = NEW_ARRAY(a, double, rounds);
    for (size_t r = 0; r < rounds; r++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += values[rng_below(g, n)];
        means[r] = sum / (double)n;
    }
    qsort(means, rounds, sizeof *means, ascending);
    size_t tail = (size_t)(0.025 * (double)rounds);
    return (struct interval){ means[tail], means[rounds - 1 - tail] };
}

// Discordant shares: with correlation r the covariance is r sqrt(p1 q1 p2 q2).
int64_t stats_power_puzzles(const struct stats_power_plan *plan)
{
    double p1 = plan->base;
    double p2 = plan->base + plan->difference;
    if (p1 <= 0 || p1 >= 1 || p2 <= 0 || p2 >= 1 || plan->difference == 0)
        return 0;
    double both = p1 * p2 + plan->agreement * sqrt(p1 * (1 - p1) * p2 * (1 - p2));
    double only_first = p1 - both;
    double only_second = p2 - both;
    if (only_first < 0 || only_second < 0) // more agreement than such rates allow
    {
        both = fmin(p1, p2);
        only_first = p1 - both;
        only_second = p2 - both;
    }
    double discordant = only_first + only_second;
    double d = only_second - only_first;
    double za = gsl_cdf_ugaussian_Qinv(plan->alpha / 2);
    double zb = gsl_cdf_ugaussian_Qinv(1 - plan->power);
    double root = za * sqrt(discordant) + zb * sqrt(fmax(0, discordant - d * d));
    return (int64_t)ceil(root * root / (d * d));
}

// ---- quantiles ----

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void stats_sort(int64_t *v, size_t n)
{
    if (n > 0)
        qsort(v, n, sizeof *v, by_value);
}

double stats_quantile(const int64_t *sorted, size_t n, double share)
{
    if (n == 0)
        return 0;
    double at = share * (double)(n - 1);
    size_t i = (size_t)at;
    size_t next = i + 1 < n ? i + 1 : i;
    return (double)sorted[i] + (at - (double)i) * (double)(sorted[next] - sorted[i]);
}

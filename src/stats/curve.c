// SPDX-License-Identifier: GPL-3.0-or-later
// curve.c - how success depends on a number: logistic regression of one variable (Newton's method
// on the likelihood) and correlations.
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "stats/stats.h"

enum { NEWTON_STEPS = 100 };
static const double CONVERGED = 1e-10;
static const double STEEPEST = 500; // of the standardised slope: the outcomes are separated

struct standard { // x standardised, so that Newton's steps are well scaled
    double mean, sd;
};

static struct standard standardise(const double *x, const double *weights, size_t n)
{
    struct standard s = { 0 };
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        double w = weights ? weights[i] : 1;
        s.mean += w * x[i];
        total += w;
    }
    s.mean = total > 0 ? s.mean / total : 0;
    for (size_t i = 0; i < n; i++)
        s.sd += (weights ? weights[i] : 1) * (x[i] - s.mean) * (x[i] - s.mean);
    s.sd = total > 0 ? sqrt(s.sd / total) : 0;
    return s;
}

struct trials { // the data of a fit
    const double *x, *successes, *weights;
    size_t n;
    struct standard scale;
};
struct newton { // gradient and information at one point
    double g0, g1, h00, h01, h11;
};

static struct newton newton_at(const struct trials *t, double intercept, double slope)
{
    struct newton s = { 0 };
    for (size_t i = 0; i < t->n; i++) {
        double z = (t->x[i] - t->scale.mean) / t->scale.sd;
        double w = t->weights ? t->weights[i] : 1;
        double p = 1 / (1 + exp(-(intercept + slope * z)));
        double residual = t->successes[i] - w * p;
        double information = w * p * (1 - p);
        s.g0 += residual;
        s.g1 += residual * z;
        s.h00 += information;
        s.h01 += information * z;
        s.h11 += information * z * z;
    }
    return s;
}

// Back to the scale of x.
static struct stats_logistic unscale(const struct trials *t, double intercept, double slope)
{
    struct newton s = newton_at(t, intercept, slope);
    double det = s.h00 * s.h11 - s.h01 * s.h01;
    double v0 = s.h11 / det, v1 = s.h00 / det, c = -s.h01 / det;
    double sd = t->scale.sd, ratio = t->scale.mean / sd;
    return (struct stats_logistic){ .ok = true,
                                    .intercept = intercept - slope * ratio,
                                    .slope = slope / sd,
                                    .var_intercept = v0 - 2 * ratio * c + ratio * ratio * v1,
                                    .var_slope = v1 / (sd * sd),
                                    .covariance = (c - ratio * v1) / sd };
}

struct stats_logistic stats_logistic(const double *x, const double *successes,
                                     const double *weights, size_t n)
{
    struct trials t = { x, successes, weights, n, standardise(x, weights, n) };
    double intercept = 0, slope = 0;
    for (int step = 0; n >= 2 && t.scale.sd > 0 && step < NEWTON_STEPS; step++) {
        struct newton s = newton_at(&t, intercept, slope);
        double det = s.h00 * s.h11 - s.h01 * s.h01;
        if (!(det > 1e-12) || fabs(slope) > STEEPEST)
            break;
        double d0 = (s.h11 * s.g0 - s.h01 * s.g1) / det;
        double d1 = (s.h00 * s.g1 - s.h01 * s.g0) / det;
        intercept += d0;
        slope += d1;
        if (fabs(d0) + fabs(d1) < CONVERGED)
            return unscale(&t, intercept, slope);
    }
    return (struct stats_logistic){ 0 };
}

struct stats_correlation stats_pearson(const double *x, const double *y, size_t n)
{
    struct stats_correlation c = { (double)NAN, (double)NAN };
    struct standard sx = standardise(x, NULL, n), sy = standardise(y, NULL, n);
    if (n < 3 || sx.sd <= 0 || sy.sd <= 0)
        return c;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - sx.mean) * (y[i] - sy.mean);
    c.r = fmax(-1, fmin(1, sum / ((double)n * sx.sd * sy.sd)));
    double freedom = (double)n - 2;
    double t = fabs(c.r) * sqrt(freedom / fmax(1 - c.r * c.r, 1e-300));
    c.p = 2 * gsl_cdf_tdist_Q(t, freedom);
    return c;
}

static double *ranks(const double *x, size_t n, struct arena *a)
{
    double *rank = NEW_ARRAY(a, double, n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t below = 0, equal = 0;
        for (size_t k = 0; k < n; k++) {
            below += x[k] < x[i];
            equal += k != i && x[k] <= x[i] && x[k] >= x[i];
        }
        rank[i] = 1 + (double)below + (double)equal / 2;
    }
    return rank;
}

struct stats_correlation stats_spearman(const double *x, const double *y, size_t n)
{
    struct arena scratch = { 0 };
    struct stats_correlation c = stats_pearson(ranks(x, n, &scratch), ranks(y, n, &scratch), n);
    arena_free(&scratch);
    return c;
}

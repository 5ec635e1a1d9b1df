// SPDX-License-Identifier: GPL-3.0-or-later
// proportions.c - intervals and tests for rates of right answers.
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "stats/stats.h"

static const double Z95 = 1.959963984540054; // the 97.5 % point of the normal distribution

struct interval stats_wilson_rate(double rate, int64_t n)
{
    if (n <= 0)
        return (struct interval){ 0, 1 };
    double z2n = Z95 * Z95 / (double)n;
    double centre = (rate + z2n / 2) / (1 + z2n);
    double half = Z95 * sqrt(rate * (1 - rate) / (double)n + z2n / (4 * (double)n)) / (1 + z2n);
    // At the ends the formula gives 0 and 1 exactly, but for rounding.
    return (struct interval){ rate <= 0 ? 0 : centre - half, rate >= 1 ? 1 : centre + half };
}

struct interval stats_wilson(int64_t k, int64_t n)
{
    return stats_wilson_rate(n > 0 ? (double)k / (double)n : 0, n);
}

double stats_mcnemar_exact(int64_t b, int64_t c)
{
    int64_t n = b + c;
    if (n == 0)
        return 1;
    int64_t less = b < c ? b : c;
    double tail = gsl_cdf_binomial_P((unsigned)less, 0.5, (unsigned)n);
    return fmin(1, 2 * tail);
}

// The correlation of the two margins, with Newcombe's continuity correction of its numerator.
static double phi(double both, double b, double c, double none)
{
    double n = both + b + c + none;
    double product = (both + b) * (c + none) * (both + c) * (b + none);
    if (product <= 0)
        return 0;
    double cross = both * none - b * c;
    double corrected = cross > n / 2 ? cross - n / 2 : cross >= 0 ? 0 : cross;
    return corrected / sqrt(product);
}

struct interval stats_paired_difference(int64_t both, int64_t b, int64_t c, int64_t none)
{
    int64_t n = both + b + c + none;
    if (n == 0)
        return (struct interval){ -1, 1 };
    double p1 = (double)(both + c) / (double)n; // second
    double p2 = (double)(both + b) / (double)n; // first
    struct interval w1 = stats_wilson(both + c, n);
    struct interval w2 = stats_wilson(both + b, n);
    double r = phi((double)both, (double)b, (double)c, (double)none);
    double dl1 = p1 - w1.low;
    double du1 = w1.high - p1;
    double dl2 = p2 - w2.low;
    double du2 = w2.high - p2;
    double d = p1 - p2;
    return (struct interval){ d - sqrt(fmax(0, dl1 * dl1 - 2 * r * dl1 * du2 + du2 * du2)),
                              d + sqrt(fmax(0, du1 * du1 - 2 * r * du1 * dl2 + dl2 * dl2)) };
}

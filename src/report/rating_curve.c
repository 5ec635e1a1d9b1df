// SPDX-License-Identifier: GPL-3.0-or-later
// rating_curve.c - how the odds of solving a puzzle fall with its rating: a logistic fit, as of
// Elo, the rating at which half are solved, and correlations over rating bins.
#include <math.h>

#include "report/report.h"

enum { BIN = 100 };
static const double STEP = 200; // rating points of the odds ratio
static const double Z95 = 1.959963984540054;

struct curve_data {
    double *rating, *solved; // of each rated puzzle
    size_t n;
    double *bin_rating, *bin_share; // of each bin that has puzzles
    size_t n_bins;
};

static void add_bins(struct curve_data *d, struct arena *a)
{
    enum { BINS = 64 };
    int64_t k[BINS] = { 0 }, n[BINS] = { 0 };
    for (size_t i = 0; i < d->n; i++) {
        size_t bin = (size_t)fmin(d->rating[i] / BIN, BINS - 1);
        n[bin]++;
        k[bin] += d->solved[i] > 0;
    }
    d->bin_rating = NEW_ARRAY(a, double, BINS);
    d->bin_share = NEW_ARRAY(a, double, BINS);
    for (size_t i = 0; i < BINS; i++)
        if (n[i] > 0) {
            d->bin_rating[d->n_bins] = (double)i * BIN + BIN / 2.0;
            d->bin_share[d->n_bins++] = (double)k[i] / (double)n[i];
        }
}

// Whole, rated puzzles; positions of a puzzle stand together.
static struct curve_data read_puzzles(const struct report_positions *p, struct arena *a)
{
    struct curve_data d = { .rating = NEW_ARRAY(a, double, p->n + 1),
                            .solved = NEW_ARRAY(a, double, p->n + 1) };
    for (size_t i = 0; i < p->n;) {
        size_t from = i;
        bool solved = true;
        for (; i < p->n && str_eq(p->v[i].id, p->v[from].id); i++)
            solved &= p->v[i].correct;
        if (p->v[from].rating < 0 || (int)(i - from) < p->v[from].length)
            continue;
        d.rating[d.n] = p->v[from].rating;
        d.solved[d.n++] = solved;
    }
    add_bins(&d, a);
    return d;
}

static void add_fit(const struct curve_data *d, struct arena *a, struct report_grid *out)
{
    struct stats_logistic fit = stats_logistic(d->rating, d->solved, NULL, d->n);
    if (!fit.ok) {
        for (int i = 0; i < 2; i++)
            report_grid_add(out, S("not defined"), a);
        return;
    }
    double half = Z95 * STEP * sqrt(fit.var_slope);
    report_grid_add(out,
                    arena_printf(a, "%.3f [%.3f, %.3f]", exp(STEP * fit.slope),
                                 exp(STEP * fit.slope - half), exp(STEP * fit.slope + half)),
                    a);
    // The delta method for -intercept / slope.
    double anchor = -fit.intercept / fit.slope;
    double variance =
        (fit.var_intercept + anchor * anchor * fit.var_slope + 2 * anchor * fit.covariance) /
        (fit.slope * fit.slope);
    report_grid_add(out,
                    arena_printf(a, "%.0f \xC2\xB1%.0f", anchor, Z95 * sqrt(fmax(variance, 0))), a);
}

static void add_correlation(struct stats_correlation c, struct arena *a, struct report_grid *out)
{
    report_grid_add(out,
                    isnan(c.r) ? S("not defined") : arena_printf(a, "%+.3f (p %.3g)", c.r, c.p), a);
}

void report_curve_start(struct arena *a, struct report_grid *out)
{
    static const char *const headings[] = { "run",
                                            "puzzles",
                                            "odds ratio per 200 points",
                                            "rating at 50 %",
                                            "Pearson over bins",
                                            "Spearman over bins" };
    *out = (struct report_grid){ .n_columns = ARRAY_LEN(headings) };
    for (size_t i = 0; i < ARRAY_LEN(headings); i++)
        report_grid_add(out, str_from(headings[i]), a);
    out->note =
        S("logistic fit of solved on rating over whole rated puzzles; \xC2\xB1 and brackets: "
          "95 %; bins of 100 points");
}

void report_curve_add(str name, const struct report_positions *p, struct arena *a,
                      struct report_grid *out)
{
    struct curve_data d = read_puzzles(p, a);
    report_grid_add(out, name, a);
    report_grid_add(out, arena_printf(a, "%zu", d.n), a);
    add_fit(&d, a, out);
    add_correlation(stats_pearson(d.bin_rating, d.bin_share, d.n_bins), a, out);
    add_correlation(stats_spearman(d.bin_rating, d.bin_share, d.n_bins), a, out);
}

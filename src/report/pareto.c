// SPDX-License-Identifier: GPL-3.0-or-later
// pareto.c - what accuracy costs: which runs no other beats in both.
#include "report/report.h"

static double price_of_calls(const struct report_run_dir *d)
{
    const double calls = 1000;
    return d->evaluation.n_calls > 0
               ? calls * d->evaluation.cost_usd / (double)d->evaluation.n_calls
               : 0;
}

static double solved(const struct report_run_dir *d)
{
    return (double)d->run.correct / (double)d->run.n;
}

// Another run is at least as good in both, and better in one.
static bool is_beaten(const struct report_run_dirs *runs, size_t i)
{
    const struct report_run_dir *d = &runs->v[i];
    for (size_t k = 0; k < runs->n; k++) {
        const struct report_run_dir *other = &runs->v[k];
        if (!other->evaluation.cost_known)
            continue;
        bool as_good = solved(other) >= solved(d) && price_of_calls(other) <= price_of_calls(d);
        if (as_good && (solved(other) > solved(d) || price_of_calls(other) < price_of_calls(d)))
            return true;
    }
    return false;
}

void report_pareto(const struct report_run_dirs *runs, struct arena *a, struct report_grid *out)
{
    static const char *const headings[] = { "model", "method", "seed", "US$ per 1000 calls",
                                            "puzzles %" };
    *out = (struct report_grid){ .n_columns = ARRAY_LEN(headings) };
    for (size_t i = 0; i < ARRAY_LEN(headings); i++)
        report_grid_add(out, str_from(headings[i]), a);
    for (size_t i = 0; i < runs->n; i++) {
        const struct report_run_dir *d = &runs->v[i];
        struct interval at = stats_wilson(d->run.correct, d->run.n);
        report_grid_add(out, d->run.model, a);
        report_grid_add(out, d->run.method, a);
        report_grid_add(out, arena_printf(a, "%lld", (long long)d->run.seed), a);
        report_grid_add(out,
                        d->evaluation.cost_known ? arena_printf(a, "%.4f", price_of_calls(d))
                                                 : S("unknown"),
                        a);
        report_grid_add(
            out, arena_printf(a, "%.2f [%.2f, %.2f]", 100 * solved(d), 100 * at.low, 100 * at.high),
            a);
        out->entries.v[out->entries.n - 1].best = d->evaluation.cost_known && !is_beaten(runs, i);
    }
    out->note = S("^ no other run is as cheap and as good; runs of unknown cost are not compared");
}

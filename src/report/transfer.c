// SPDX-License-Identifier: GPL-3.0-or-later
// transfer.c - prompts that one model's optimisation found, on the other models: the difference to
// each model's own baseline.
#include <math.h>

#include "report/report.h"

static const double STAR_LEVEL = 0.05;

static struct stats_sample sample_of(const struct report_run_dirs *dirs, str model, str method)
{
    struct arena scratch = { 0 };
    double *percent = NEW_ARRAY(&scratch, double, dirs->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < dirs->n; i++) {
        const struct report_run *run = &dirs->v[i].run;
        if (str_eq(run->model, model) && str_eq(run->method, method))
            percent[n++] = 100 * (double)run->correct / (double)run->n;
    }
    struct stats_sample s = stats_sample(percent, n);
    arena_free(&scratch);
    return s;
}

// "+3.21 ±0.40*": the standard error of a difference of two means.
static str difference_text(const struct stats_sample *x, const struct stats_sample *base,
                           struct arena *a)
{
    if (x->n == 0 || base->n == 0)
        return S("-");
    double se = sqrt(x->sd * x->sd / (double)x->n + base->sd * base->sd / (double)base->n);
    bool star = stats_welch_greater(x, base) < STAR_LEVEL; // false where it is not defined
    return arena_printf(a, "%+.2f \xC2\xB1%.2f%s", x->mean - base->mean, se, star ? "*" : "");
}

void report_transfer(const struct report_run_dirs *dirs, const struct report_names *models,
                     struct arena *a, struct report_grid *out)
{
    *out = (struct report_grid){ .n_columns = models->n + 2 };
    report_grid_add(out, S("prompt of"), a);
    for (size_t t = 0; t < models->n; t++)
        report_grid_add(out, arena_printf(a, "on %.*s", STR(models->v[t])), a);
    report_grid_add(out, S("mean of the others"), a);
    for (size_t i = 0; i < models->n; i++) {
        str method = arena_printf(a, REPORT_TRANSFER "%.*s", STR(models->v[i]));
        double sum = 0;
        size_t n = 0;
        report_grid_add(out, models->v[i], a);
        for (size_t t = 0; t < models->n; t++) {
            struct stats_sample base = sample_of(dirs, models->v[t], S("baseline"));
            struct stats_sample x = sample_of(dirs, models->v[t], method);
            report_grid_add(out, difference_text(&x, &base, a), a);
            if (t != i && x.n > 0 && base.n > 0) {
                sum += x.mean - base.mean;
                n++;
            }
        }
        report_grid_add(out, n > 0 ? arena_printf(a, "%+.2f", sum / (double)n) : S("-"), a);
    }
    out->note =
        S("points of puzzles solved against the model's own baseline, \xC2\xB1 the standard "
          "error of the difference;\n* better, one-sided Welch p < 0.05, unadjusted; - no "
          "run, or no prompt that was changed");
}

// SPDX-License-Identifier: GPL-3.0-or-later
// regret.c - regret of several runs beside their accuracies, with the rank of each run by each
// measure (the paper's Table 7): does the better solver also lose less where it errs?
#include "report/report.h"

enum { FILE_MAX_BYTES = 16 << 20 };
enum measure { BY_POSITIONS, BY_PUZZLES, BY_MEDIAN, BY_MEAN, MEASURES };

static double share(const json_t *count)
{
    double n = json_number_value(json_object_get(count, "n"));
    return n > 0 ? json_number_value(json_object_get(count, "k")) / n : 0;
}

bool report_regret_load(str dir, struct arena *a, struct report_regret *out, struct err *err)
{
    str text, path = path_join(dir, S("regret.json"), a);
    if (!file_read(path, FILE_MAX_BYTES, a, &text, err))
        return false;
    json_t *in = json_read_strict(text, err);
    if (!in)
        return err_add(err, "%.*s", STR(path));
    const json_t *cp = json_object_get(in, "regret_cp"), *engine = json_object_get(in, "engine");
    *out = (struct report_regret){
        .name = dir,
        .model = arena_str(a, json_get_str(in, "model")),
        .method = arena_str(a, json_get_str(in, "method")),
        .procedure = arena_printf(a, "%.*s %.*s", STR(json_get_str(engine, "identity")),
                                  STR(json_get_str(engine, "limit"))),
        .simulated = json_is_true(json_object_get(in, "simulated")),
        .n = json_get_int(in, "answers_with_cost", 0),
        .positions = share(json_object_get(in, "positions_right")),
        .puzzles = share(json_object_get(in, "puzzles_solved")),
        .median_cp = json_number_value(json_object_get(cp, "median")),
        .mean_cp = json_number_value(json_object_get(cp, "mean")),
    };
    bool ok = json_is_object(cp) ||
              err_set(err, ERR_INPUT, "%.*s: no regret_cp in it; is it a file of rookery regret?",
                      STR(path));
    json_decref(in);
    return ok;
}

// Larger is better.
static double merit(const struct report_regret *r, enum measure by)
{
    switch (by) {
    case BY_POSITIONS: return r->positions;
    case BY_PUZZLES: return r->puzzles;
    case BY_MEDIAN: return -r->median_cp;
    case BY_MEAN: return -r->mean_cp;
    case MEASURES: break;
    }
    BUG("no such measure");
}

// 1 for the best; equal ones share the mean of their places.
static double rank(const struct report_regrets *runs, size_t i, enum measure by)
{
    double above = 0, equal = 0, mine = merit(&runs->v[i], by);
    for (size_t k = 0; k < runs->n; k++) {
        above += merit(&runs->v[k], by) > mine;
        equal += k != i && merit(&runs->v[k], by) == mine;
    }
    return 1 + above + equal / 2;
}

static void add_row(const struct report_regrets *runs, size_t i, struct arena *a,
                    struct report_grid *out)
{
    const struct report_regret *r = &runs->v[i];
    const str cells[] = {
        r->name,
        arena_printf(a, "%.*s%s", STR(r->model), r->simulated ? " (SIMULATED)" : ""),
        r->method,
        arena_printf(a, "%lld", (long long)r->n),
        arena_printf(a, "%.2f", 100 * r->positions),
        arena_printf(a, "%.2f", 100 * r->puzzles),
        arena_printf(a, "%.1f", r->median_cp),
        arena_printf(a, "%.1f", r->mean_cp),
    };
    for (size_t k = 0; k < ARRAY_LEN(cells); k++)
        report_grid_add(out, cells[k], a);
    for (int m = 0; m < MEASURES; m++)
        report_grid_add(out, arena_printf(a, "%g", rank(runs, i, (enum measure)m)), a);
}

// Rank correlation of the median regret with an accuracy.
static str agreement(const struct report_regrets *runs, enum measure by, struct arena *a)
{
    double *x = NEW_ARRAY(a, double, runs->n + 1), *y = NEW_ARRAY(a, double, runs->n + 1);
    for (size_t i = 0; i < runs->n; i++) {
        x[i] = rank(runs, i, by);
        y[i] = rank(runs, i, BY_MEDIAN);
    }
    struct stats_correlation c = stats_spearman(x, y, runs->n);
    return runs->n < 3 ? S("n/a") : arena_printf(a, "%.3f (p %.3g)", c.r, c.p);
}

void report_regret(const struct report_regrets *runs, struct arena *a, struct report_grid *out)
{
    static const str head[] = { T("run"),       T("model"),       T("method"),
                                T("answers"),   T("positions %"), T("puzzles %"),
                                T("median cp"), T("mean cp"),     T("rank: positions"),
                                T("puzzles"),   T("median"),      T("mean") };
    bool mixed = false;
    *out = (struct report_grid){ .n_columns = ARRAY_LEN(head) };
    for (size_t i = 0; i < ARRAY_LEN(head); i++)
        report_grid_add(out, head[i], a);
    for (size_t i = 0; i < runs->n; i++) {
        add_row(runs, i, a, out);
        mixed |= !str_eq(runs->v[i].procedure, runs->v[0].procedure);
    }
    out->note =
        arena_printf(a,
                     "Spearman's rho of the ranks by median regret with those by "
                     "positions: %.*s; by puzzles: %.*s%s",
                     STR(agreement(runs, BY_POSITIONS, a)), STR(agreement(runs, BY_PUZZLES, a)),
                     mixed ? "\nNOT COMPARABLE: engines, settings or limits differ" : "");
}

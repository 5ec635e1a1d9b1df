// SPDX-License-Identifier: GPL-3.0-or-later
// table.c - runs become cells: mean and spread, what counts as a gain, which cell is best.
#include <math.h>

#include "report/report.h"

static const double STAR_LEVEL = 0.05;
// The methods as the paper names its columns, with the names of the configurations.
static const struct {
    const char *label, *key;
} known_methods[] = {
    { "Baseline", "baseline" },
    { "BFS", "bootstrap_few_shot" },
    { "BRS", "bootstrap_random_search" },
    { "COPRO", "copro" },
    { "MIPROv2", "mipro_v2" },
    { "GEPA", "gepa" },
    { "SIMBA", "simba" },
};

static str method_label(str name)
{
    for (size_t i = 0; i < ARRAY_LEN(known_methods); i++)
        if (str_eq_nocase(name, str_from(known_methods[i].key)) ||
            str_eq_nocase(name, str_from(known_methods[i].label)))
            return str_from(known_methods[i].label);
    return name;
}

struct names {
    str *v;
    size_t n, cap;
};

static size_t name_index(const struct names *list, str name)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i], name))
            return i;
    return list->n;
}

static void add_name(struct names *list, str name, struct arena *a)
{
    if (name_index(list, name) == list->n)
        *vec_push(a, list) = name;
}

static void collect_methods(const struct report_runs *runs, struct names *out, struct arena *a)
{
    struct names seen = { 0 };
    for (size_t i = 0; i < runs->n; i++)
        add_name(&seen, method_label(runs->v[i].method), a);
    for (size_t i = 0; i < ARRAY_LEN(known_methods); i++)
        if (name_index(&seen, str_from(known_methods[i].label)) < seen.n)
            add_name(out, str_from(known_methods[i].label), a);
    for (size_t i = 0; i < seen.n; i++)
        add_name(out, seen.v[i], a);
}

static void fill_cell(const struct report_runs *runs, str model, str method,
                      struct report_cell *out)
{
    struct arena scratch = { 0 };
    double *percent = NEW_ARRAY(&scratch, double, runs->n + 1);
    size_t n = 0, n_unchanged = 0;
    for (size_t i = 0; i < runs->n; i++) {
        const struct report_run *run = &runs->v[i];
        if (!str_eq(run->model, model) || !str_eq(method_label(run->method), method))
            continue;
        percent[n++] = 100 * (double)run->correct / (double)run->n;
        n_unchanged += run->unchanged;
    }
    *out = (struct report_cell){ .percent = stats_sample(percent, n),
                                 .unchanged = n > 0 && n_unchanged == n };
    arena_free(&scratch);
}

static struct report_cell *row_of(const struct report_table *t, size_t model)
{
    return t->cells + model * t->n_methods;
}

static void judge_row(const struct report_table *t, struct report_cell *row)
{
    bool has_baseline = t->n_methods > 0 && str_eq(t->methods[0], S("Baseline"));
    double best = -HUGE_VAL;
    for (size_t m = 0; m < t->n_methods; m++) {
        struct report_cell *c = &row[m];
        c->p = (double)NAN;
        if (has_baseline && m > 0 && c->percent.n > 0 && !c->unchanged)
            c->p = stats_welch_greater(&c->percent, &row[0].percent);
        c->star = c->p < STAR_LEVEL;
        if (c->percent.n > 0 && !c->unchanged)
            best = fmax(best, c->percent.mean);
    }
    for (size_t m = 0; m < t->n_methods; m++)
        row[m].best = row[m].percent.n > 0 && !row[m].unchanged && row[m].percent.mean >= best;
}

struct report_table report_table_new(const struct report_runs *runs, struct arena *a)
{
    struct names models = { 0 }, methods = { 0 };
    for (size_t i = 0; i < runs->n; i++)
        add_name(&models, runs->v[i].model, a);
    collect_methods(runs, &methods, a);
    struct report_table t = { models.v, methods.v, models.n, methods.n, NULL };
    size_t n = t.n_models * t.n_methods;
    t.cells = NEW_ARRAY(a, struct report_cell, n + 1);
    double *p = NEW_ARRAY(a, double, n + 1);
    for (size_t i = 0; i < t.n_models; i++) {
        for (size_t m = 0; m < t.n_methods; m++)
            fill_cell(runs, t.models[i], t.methods[m], &row_of(&t, i)[m]);
        judge_row(&t, row_of(&t, i));
    }
    for (size_t i = 0; i < n; i++)
        p[i] = t.cells[i].p;
    stats_holm(p, n);
    for (size_t i = 0; i < n; i++)
        t.cells[i].p_holm = p[i];
    return t;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// study_plan.c - from a study's file to its cells: every configuration is checked before the first
// call is paid for.
#include "cli/study.h"
#include "optimize/optimize.h"

str study_slug(str label, struct arena *a)
{
    str copy = arena_str(a, label);
    char *text = arena_alloc(a, copy.len + 1);
    for (size_t i = 0; i <= copy.len; i++) {
        char c = copy.data[i]; // NUL at the end
        bool plain = ascii_is_alnum(c) || c == '-' || c == '_' || c == '.' || c == '\0';
        text[i] = plain && !(i == 0 && c == '.') ? c : '-';
    }
    return (str){ text, copy.len };
}

str cell_name(const struct study_cell *c, struct arena *a)
{
    str method = method_name(c->method);
    if (c->program.len > 0)
        return arena_printf(a, "prompt of %.*s on %.*s, repetition %lld", STR(c->source),
                            STR(c->model->label), (long long)c->repeat);
    if (c->repeat > 1 || c->method == METHOD_BASELINE)
        return arena_printf(a, "%.*s, %.*s, repetition %lld", STR(c->model->label), STR(method),
                            (long long)c->repeat);
    return arena_printf(a, "%.*s, %.*s, seed %lld", STR(c->model->label), STR(method),
                        (long long)c->seed);
}

// Why the two cannot work together; empty: they can (paper-files, section 1). Models are opened by
// the runs themselves: here the name tells.
static str not_applicable(const struct study_cell *c)
{
    const struct optimizer *o = optimizer_find(method_name(c->method));
    bool chooses = str_starts(c->model->config.name, S("typesafe/jev-"));
    return o && chooses ? o->needs_sampling : (str){ 0 };
}

static bool check_and_write(struct study *s, struct study_cell *c)
{
    struct run_config run;
    struct study_run of = { c->model, c->method, c->seed };
    bool ok = study_run_config(&s->config, &of, &run, s->err);
    if (!ok)
        err_add(s->err, "%.*s", STR(cell_name(c, s->arena)));
    run.output_dir = c->dir;
    if (ok && !opt_flag(s->args, "dry-run"))
        ok = dir_make(c->dir, s->err) &&
             file_save(c->config_path, study_run_file(&s->config, &run, s->arena), s->err);
    config_free(&run);
    return ok;
}

static bool add_cell(struct study *s, struct study_cell cell)
{
    struct study_cell *c = vec_push(s->arena, &s->cells);
    *c = cell;
    c->holder = s->cells.n - 1;
    bool baseline = c->method == METHOD_BASELINE;
    str run = baseline ? arena_printf(s->arena, "baseline-r%lld", (long long)c->repeat)
                       : arena_printf(s->arena, "%.*s-s%lld", STR(method_name(c->method)),
                                      (long long)c->seed);
    c->dir = path_join(path_join(s->out, study_slug(c->model->label, s->arena), s->arena), run,
                       s->arena);
    c->config_path = path_join(c->dir, S("config.yaml"), s->arena);
    c->why = not_applicable(c);
    if (c->why.len > 0) {
        c->state = CELL_NOT_APPLICABLE;
        return true;
    }
    return check_and_write(s, c);
}

// Two labels that become one directory would write over each other.
static bool labels_differ(struct study *s)
{
    const struct study_models *m = &s->config.models;
    for (size_t i = 0; i < m->n; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(study_slug(m->v[i].label, s->arena), study_slug(m->v[k].label, s->arena)))
                return err_set(s->err, ERR_INPUT,
                               "%.*s: the labels \"%.*s\" and \"%.*s\" name the same directory; "
                               "change one",
                               STR(s->config.base.source), STR(m->v[k].label), STR(m->v[i].label));
    return true;
}

// The runs of one model by one method: repetitions of the baseline, else one a seed.
static bool add_cells(struct study *s, struct study_cell cell)
{
    const struct study_config *c = &s->config;
    bool baseline = cell.method == METHOD_BASELINE;
    size_t n = baseline ? (size_t)c->baseline_repeats : c->n_seeds;
    for (size_t i = 0; i < n; i++) {
        cell.seed = c->seeds[baseline ? 0 : i];
        cell.repeat = baseline ? (int64_t)i + 1 : 1;
        if (!add_cell(s, cell))
            return false;
    }
    return true;
}

bool study_plan(struct study *s)
{
    const struct study_config *c = &s->config;
    if (!labels_differ(s))
        return false;
    for (size_t i = 0; i < c->models.n; i++)
        for (size_t m = 0; m < c->n_methods; m++)
            if (!add_cells(
                    s, (struct study_cell){ .model = &c->models.v[i], .method = c->methods[m] }))
                return false;
    return true;
}

void study_find_done(struct study *s)
{
    for (size_t i = 0; i < s->cells.n; i++) {
        struct study_cell *c = &s->cells.v[i];
        bool done = c->state == CELL_WAITING &&
                    file_exists(path_join(c->dir, S("summary.json"), s->arena)) &&
                    file_exists(path_join(c->dir, S("results.json"), s->arena));
        c->state = done ? CELL_DONE : c->state;
    }
}

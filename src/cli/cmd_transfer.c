// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_transfer.c - the best prompt of each model of a study, scored on every model of it.
#include "cli/study.h"
#include "report/report.h"

enum { REPEATS = 3 }; // as baselines have

struct sources { // the best run of each model, in the study's order; NULL: none
    const struct study_cell **v;
    size_t n;
};

// The run with most puzzles solved; equal: the earliest. Unchanged prompts have nothing to pass on.
static bool find_sources(struct study *s, struct sources *out)
{
    struct report_run_dirs dirs = { 0 };
    int64_t *most = NEW_ARRAY(s->arena, int64_t, s->config.models.n);
    out->n = s->config.models.n;
    out->v = NEW_ARRAY(s->arena, const struct study_cell *, out->n);
    study_find_done(s);
    if (!study_load_done(s, &dirs))
        return false;
    for (size_t i = 0, d = 0; i < s->cells.n; i++) {
        const struct study_cell *c = &s->cells.v[i];
        if (c->state != CELL_DONE)
            continue;
        const struct report_run *run = &dirs.v[d++].run;
        size_t model = (size_t)(c->model - s->config.models.v);
        if (c->method == METHOD_BASELINE || run->unchanged ||
            (out->v[model] && run->correct <= most[model]))
            continue;
        out->v[model] = c;
        most[model] = run->correct;
    }
    for (size_t i = 0; i < out->n; i++)
        if (out->v[i])
            return true;
    return err_set(s->err, ERR_INPUT,
                   "%.*s: no finished run of this study changed its prompt; give `rookery study` "
                   "first (with the same --out)",
                   STR(s->out));
}

// The baseline's own configuration with another program; its directory must be there.
static bool add_cells(struct study *s, const struct study_cell *source,
                      const struct study_model *target, struct study_cells *out)
{
    str on = path_join(s->out, study_slug(target->label, s->arena), s->arena);
    str config = path_join(path_join(on, S("baseline-r1"), s->arena), S("config.yaml"), s->arena);
    if (!file_exists(config))
        return err_set(s->err, ERR_INPUT, "%.*s has no baseline; give `rookery study` first",
                       STR(target->label));
    for (int64_t repeat = 1; repeat <= REPEATS; repeat++) {
        str dir = arena_printf(s->arena, "transfer/%.*s-on-%.*s-r%lld",
                               STR(study_slug(source->model->label, s->arena)),
                               STR(study_slug(target->label, s->arena)), (long long)repeat);
        struct study_cell *c = vec_push(s->arena, out);
        *c = (struct study_cell){ .model = target,
                                  .method = METHOD_BASELINE,
                                  .seed = source->seed,
                                  .repeat = repeat,
                                  .dir = path_join(s->out, dir, s->arena),
                                  .config_path = config,
                                  .program = path_join(source->dir, S("compiled.json"), s->arena),
                                  .source = source->model->label,
                                  .holder = out->n - 1 };
        if (!opt_flag(s->args, "dry-run") && !dir_make(c->dir, s->err))
            return false;
    }
    return true;
}

// ---- the table ----

static bool load_all(struct study *s, struct study_cells *grid, struct report_run_dirs *out)
{
    struct study_cells transfers = s->cells;
    s->cells = *grid;
    bool ok = study_load_done(s, out);
    s->cells = transfers;
    size_t first = out->n;
    ok = ok && study_load_done(s, out);
    for (size_t i = 0, d = first; ok && i < transfers.n; i++)
        if (transfers.v[i].state == CELL_DONE)
            out->v[d++].run.method =
                arena_printf(s->arena, REPORT_TRANSFER "%.*s", STR(transfers.v[i].source));
    return ok;
}

static bool show(struct study *s, struct study_cells *grid, const struct sources *sources)
{
    struct report_run_dirs dirs = { 0 };
    struct report_grid g;
    if (!load_all(s, grid, &dirs))
        return false;
    struct report_names names = { 0 };
    for (size_t i = 0; i < s->config.models.n; i++)
        *vec_push(s->arena, &names) = s->config.models.v[i].label;
    report_transfer(&dirs, &names, s->arena, &g);
    struct buf b = { .arena = s->arena };
    for (size_t i = 0; i < sources->n; i++)
        if (sources->v[i])
            buf_addf(&b, "prompt of %.*s: %.*s\n", STR(sources->v[i]->model->label),
                     STR(cell_name(sources->v[i], s->arena)));
    buf_add_char(&b, '\n');
    report_grid_write(&g, REPORT_TEXT, &b);
    return study_save_grid(s, "transfer", &g) && print_str(buf_str(&b), s->err);
}

// The directories of the study tell the best prompts; the cells become their runs on every model.
static bool plan(struct study *s, struct study_cells *grid, struct sources *sources)
{
    struct study_cells cells = { 0 };
    if (!study_open(s) || !find_sources(s, sources))
        return false;
    for (size_t i = 0; i < sources->n; i++)
        for (size_t t = 0; sources->v[i] && t < s->config.models.n; t++)
            if (!add_cells(s, sources->v[i], &s->config.models.v[t], &cells))
                return false;
    *grid = s->cells;
    s->cells = cells;
    return true;
}

static bool print_plan(struct study *s)
{
    struct buf b = { .arena = s->arena };
    buf_addf(&b, "%zu runs (nothing is called)\n", s->cells.n);
    for (size_t i = 0; i < s->cells.n; i++)
        buf_addf(&b, "  %.*s\n", STR(cell_name(&s->cells.v[i], s->arena)));
    return print_str(buf_str(&b), s->err);
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct study *s = NEW(a, struct study);
    struct study_cells grid = { 0 };
    struct sources sources = { 0 };
    *s = (struct study){ .args = args, .arena = a, .err = err };
    bool ok = plan(s, &grid, &sources);
    if (ok)
        ok = opt_flag(args, "dry-run") ? print_plan(s) : study_work(s) && show(s, &grid, &sources);
    study_free(&s->config);
    return ok;
}

const struct command command_transfer = {
    .name = "transfer",
    .summary = "the best prompt of each model of a study on every model",
    .usage = "STUDY.yaml [OPTIONS]",
    .about =
        "Takes the run of each model that solved most (unchanged prompts are left out), scores\n"
        "its prompt three times on every model of the study, and shows the differences to\n"
        "their baselines. Give `rookery study` first, with the same file and --out.\n"
        "Example: rookery transfer study.yaml",
    .opts = { opts_study },
    .max_positionals = 1,
    .run = run,
};

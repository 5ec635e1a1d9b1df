// SPDX-License-Identifier: GPL-3.0-or-later
// study_tables.c - the tables of a study, over the runs that are finished: printed, and written
// into OUT/tables in every format.
#include "cli/study.h"
#include "report/report.h"

bool study_load_done(struct study *s, struct report_run_dirs *out)
{
    for (size_t i = 0; i < s->cells.n; i++) {
        const struct study_cell *c = &s->cells.v[i];
        if (c->state != CELL_DONE)
            continue;
        struct report_run_dir *d = vec_push(s->arena, out);
        if (!report_run_dir_load(c->dir, s->arena, d, s->err))
            return false;
        d->run.model = c->model->label;
        d->run.seed = c->seed * 1000 + c->repeat - 1; // tells repeats of one seed apart
    }
    return true;
}

static bool save_as(struct study *s, const char *name, const char *ending, str text)
{
    str file = arena_printf(s->arena, "%s.%s", name, ending);
    return file_save(path_join(path_join(s->out, S("tables"), s->arena), file, s->arena), text,
                     s->err);
}

static const struct {
    enum report_format format;
    const char *ending;
} forms[] = { { REPORT_TEXT, "txt" },
              { REPORT_CSV, "csv" },
              { REPORT_MARKDOWN, "md" },
              { REPORT_LATEX, "tex" },
              { REPORT_JSON, "json" } };

bool study_save_grid(struct study *s, const char *name, const struct report_grid *g)
{
    if (!dir_make(path_join(s->out, S("tables"), s->arena), s->err))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct buf b = { .arena = s->arena };
        report_grid_write(g, forms[i].format, &b);
        if (!save_as(s, name, forms[i].ending, buf_str(&b)))
            return false;
    }
    return true;
}

static bool save_accuracy(struct study *s, const struct report_run_dirs *dirs, struct buf *shown)
{
    struct report_runs runs = { 0 };
    for (size_t i = 0; i < dirs->n; i++)
        *vec_push(s->arena, &runs) = dirs->v[i].run;
    struct report_table t = report_table_new(&runs, s->arena);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct buf b = { .arena = s->arena };
        report_table_write(&t, forms[i].format, &b);
        if (!save_as(s, "accuracy", forms[i].ending, buf_str(&b)))
            return false;
    }
    report_table_write(&t, REPORT_TEXT, shown);
    return true;
}

static void show(const struct report_grid *g, const char *title, struct buf *out)
{
    buf_addf(out, "\n%s\n\n", title);
    report_grid_write(g, REPORT_TEXT, out);
}

bool study_tables(struct study *s)
{
    struct report_run_dirs dirs = { 0 };
    struct report_grid models, sizes, settings, paired;
    struct buf out = { .arena = s->arena };
    if (!study_load_done(s, &dirs))
        return false;
    if (dirs.n == 0)
        return true;
    report_characteristics(&dirs, s->arena, &models);
    report_prompt_sizes(&dirs, s->arena, &sizes);
    report_settings(&dirs, s->arena, &settings);
    report_paired(&dirs, s->arena, &paired);
    bool simulated = false;
    for (size_t i = 0; i < dirs.n; i++)
        simulated |= dirs.v[i].simulated;
    buf_addf(&out, "study %.*s, %zu of %zu runs%s\n\n", STR(s->config.name), dirs.n, s->cells.n,
             simulated ? " (SIMULATED models took part)" : "");
    if (!dir_make(path_join(s->out, S("tables"), s->arena), s->err) ||
        !save_accuracy(s, &dirs, &out) || !study_save_grid(s, "models", &models) ||
        !study_save_grid(s, "prompts", &sizes) || !study_save_grid(s, "settings", &settings) ||
        !study_save_grid(s, "paired", &paired))
        return false;
    show(&models, "models", &out);
    show(&paired, "methods against the baseline", &out);
    show(&sizes, "prompts", &out);
    buf_addf(&out, "\nall tables in every format: %.*s/tables\n", STR(s->out));
    return print_str(buf_str(&out), s->err);
}

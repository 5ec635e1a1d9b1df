// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_study.c - models x methods x seeds from one file, within a budget; then the tables.
#include <unistd.h>

#include "cli/run.h"
#include "cli/study.h"
#include "store/store.h"

// What earlier invocations of this study spent: the budget counts all of it.
static bool spent_before(struct study *s, int64_t *nusd)
{
    struct store *db = NULL;
    struct store_runs runs = { 0 };
    *nusd = 0;
    if (!file_exists(s->store))
        return true;
    if (!store_open(s->store, &(struct store_opts){ .read_only = true }, &db, s->err))
        return false;
    bool ok = store_runs(db, s->arena, &runs, s->err);
    store_close(db);
    for (size_t i = 0; i < runs.n; i++)
        if (str_eq(runs.v[i].name, s->config.name))
            *nusd += runs.v[i].spent_nusd;
    return ok;
}

static bool print_plan(struct study *s)
{
    struct buf b = { .arena = s->arena };
    buf_addf(&b, "study %.*s: %zu runs (nothing is called)\n", STR(s->config.name), s->cells.n);
    for (size_t i = 0; i < s->cells.n; i++) {
        const struct study_cell *c = &s->cells.v[i];
        buf_addf(&b, "  %.*s%s%.*s\n", STR(cell_name(c, s->arena)),
                 c->state == CELL_NOT_APPLICABLE ? ": left out, " : "", STR(c->why));
    }
    return print_str(buf_str(&b), s->err);
}

bool study_work(struct study *s)
{
    int64_t before;
    double cap = opt_real(s->args, "max-cost", s->config.base.rookery.max_cost_usd);
    if (!spent_before(s, &before))
        return false;
    struct gates_opts limits = { .rpm = opt_int(s->args, "rpm", 0),
                                 .tpm = opt_int(s->args, "tpm", 0) };
    s->purse = purse_new((int64_t)(cap * 1e9), before, s->cells.n, s->err);
    s->gates = s->purse ? gates_new(&limits, s->cells.n, s->err) : NULL;
    bool ok = s->gates && study_run(s);
    gates_free(s->gates);
    purse_free(s->purse);
    s->gates = NULL;
    s->purse = NULL;
    return ok;
}

bool study_open(struct study *s)
{
    const struct args *args = s->args;
    if (args->n_positionals == 0)
        return err_set(s->err, ERR_USAGE, "name the study's file: rookery %s STUDY.yaml",
                       args->command->name);
    if (!study_load(args->positionals[0], s->arena, &s->config, s->err))
        return false;
    str default_out = s->config.base.output_dir.len > 0
                          ? s->config.base.output_dir
                          : arena_printf(s->arena, "runs/%.*s", STR(s->config.name));
    s->out = opt_text(args, "out", default_out);
    s->store = opt_text(args, "store", path_join(s->out, S("rookery.db"), s->arena));
    if (!cli_prices(args, s->arena, &s->prices, s->err))
        return false;
    s->n_jobs = (size_t)opt_int(args, "jobs", sysconf(_SC_NPROCESSORS_ONLN));
    return study_plan(s);
}

// What is finished is shown whatever ended the rest.
static bool work_and_show(struct study *s)
{
    struct err tables = { 0 }, *kept = s->err;
    if (study_work(s))
        return study_tables(s);
    s->err = &tables;
    if (!study_tables(s))
        log_line(LOG_WARN, "%s", tables.text);
    s->err = kept;
    return false;
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct study *s = NEW(a, struct study);
    *s = (struct study){ .args = args, .arena = a, .err = err };
    bool ok = study_open(s) && (opt_flag(args, "dry-run") ? print_plan(s) : work_and_show(s));
    study_free(&s->config);
    return ok;
}

const struct opt opts_study[] = {
    { "jobs", OPT_INT, "N", "runs at once on each endpoint [the cores]", 1, 1024 },
    { "max-cost", OPT_REAL, "USD", "most the whole study may ever spend [no cap]", 1e-6, 1e6 },
    { "prices", OPT_TEXT, "FILE", "dollars per million tokens, before the built-in ones", 0, 0 },
    { "max-cost-per-day", OPT_REAL, "USD",
      "most that runs in the store may spend in a day, UTC [no cap]", 1e-6, 1e6 },
    { "rpm", OPT_INT, "N", "at most N requests a minute to each endpoint, of all runs", 1, 1e9 },
    { "tpm", OPT_INT, "N", "at most N tokens a minute to each endpoint, of all runs", 1, 1e12 },
    { "store", OPT_TEXT, "FILE", "where every reply is kept [OUT/rookery.db]", 0, 0 },
    { "out", OPT_TEXT, "DIR", "a directory a run, and the tables [runs/NAME]", 0, 0 },
    { "deterministic", OPT_FLAG, NULL, "write no times into the result files", 0, 0 },
    { "continue-on-error", OPT_FLAG, NULL, "record calls that never succeed as failed", 0, 0 },
    { "allow-http", OPT_FLAG, NULL, "send a key over plain http to another host", 0, 0 },
    { "dry-run", OPT_FLAG, NULL, "list the runs, call nothing", 0, 0 },
    { 0 },
};

const struct command command_study = {
    .name = "study",
    .summary = "models x methods x seeds from one file, then the tables",
    .usage = "STUDY.yaml [OPTIONS]",
    .about = "Runs every method on every model and seed, baselines three times, as processes on\n"
             "one store, within one budget; one run that fails does not stop the others. To go\n"
             "on after a crash, Ctrl-C or a spent budget, give the same command again.\n"
             "STUDY.yaml: the keys of a run configuration, and study, models, methods, seeds,\n"
             "baseline_repeats; optimizer maps methods to their settings.\n"
             "Example: rookery study study.yaml --max-cost 20",
    .opts = { opts_study },
    .max_positionals = 1,
    .run = run,
};

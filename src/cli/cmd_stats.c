// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_stats.c - tables over finished runs, and how many puzzles a comparison needs.
#include "cli/cli.h"
#include "report/report.h"

static bool table(const struct args *args, struct arena *a, struct err *err)
{
    struct report_runs runs = { 0 };
    enum report_format format = REPORT_TEXT;
    str name = opt_text(args, "format", S("text"));
    if (!opt_get(args, "runs")->set)
        return err_set(err, ERR_USAGE, "name the table of runs: --runs FILE.csv");
    if (opt_flag(args, "json"))
        format = REPORT_JSON;
    else if (!report_format_parse(name, &format))
        return err_set(err, ERR_USAGE,
                       "--format must be text, csv, markdown, latex or json, got \"%.*s\"",
                       STR(name));
    if (!report_runs_load(opt_text(args, "runs", S("")), a, &runs, err))
        return false;
    struct report_table t = report_table_new(&runs, a);
    struct buf out = { .arena = a };
    report_table_write(&t, format, &out);
    return print_str(buf_str(&out), err);
}

static const struct opt table_opts[] = {
    { "runs", OPT_TEXT, "FILE", "CSV: model, method, seed, correct, puzzles, prompt_unchanged", 0,
      0 },
    { "format", OPT_TEXT, "NAME", "text, csv, markdown, latex or json [text]", 0, 0 },
    { "json", OPT_FLAG, NULL, "as --format json", 0, 0 },
    { 0 },
};

const struct command command_stats_table = {
    .name = "stats table",
    .summary = "models x methods: mean, spread, stars",
    .usage = "--runs FILE.csv [--format NAME]",
    .about = "Puzzles solved in percent, mean and sample standard deviation over the runs of a\n"
             "cell. A star: better than the model's baseline by a one-sided Welch test, p < 0.05,\n"
             "unadjusted; csv and json give p, and p adjusted after Holm over the whole table.\n"
             "N.U.: no run updated the prompt. N.A.: no runs.\n"
             "Example: rookery stats table --runs runs.csv --format latex",
    .opts = { table_opts },
    .run = table,
};

// ---- power ----

static bool power(const struct args *args, struct arena *a, struct err *err)
{
    struct stats_power_plan plan = {
        .base = opt_real(args, "base", 30) / 100,
        .difference = opt_real(args, "difference", 5) / 100,
        .agreement = opt_real(args, "agreement", 0.5),
        .alpha = opt_real(args, "alpha", 0.05),
        .power = opt_real(args, "power", 0.8),
    };
    int64_t n = stats_power_puzzles(&plan);
    if (n == 0)
        return err_set(err, ERR_USAGE,
                       "--base %g and --difference %g do not leave two different rates between 0 "
                       "and 100 %%",
                       100 * plan.base, 100 * plan.difference);
    if (opt_flag(args, "json"))
        return print_str(arena_printf(a, "{\"puzzles\":%lld}\n", (long long)n), err);
    return print_str(
        arena_printf(a,
                     "%lld puzzles: to find %+g points over %g %% in %g of 100 comparisons, both "
                     "prompts on the same puzzles,\ntwo-sided McNemar test at %g, answers "
                     "correlated by %g\n",
                     (long long)n, 100 * plan.difference, 100 * plan.base, 100 * plan.power,
                     plan.alpha, plan.agreement),
        err);
}

static const struct opt power_opts[] = {
    { "base", OPT_REAL, "PERCENT", "rate of the first prompt [30]", 0, 100 },
    { "difference", OPT_REAL, "POINTS", "difference that is to be found [5]", -100, 100 },
    { "agreement", OPT_REAL, "R", "correlation of two answers to one puzzle, 0 to 1 [0.5]", 0, 1 },
    { "alpha", OPT_REAL, "P", "two-sided level [0.05]", 1e-9, 0.5 },
    { "power", OPT_REAL, "P", "chance of finding it [0.8]", 0.01, 0.999999 },
    { "json", OPT_FLAG, NULL, "print an object", 0, 0 },
    { 0 },
};

const struct command command_power = {
    .name = "power",
    .summary = "how many puzzles a comparison of two prompts needs",
    .usage = "[--base PERCENT] [--difference POINTS]",
    .about = "For two prompts on the same puzzles, by the normal approximation of the McNemar\n"
             "test (Connor 1987).\n"
             "Example: rookery power --base 26 --difference 3",
    .opts = { power_opts },
    .run = power,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_stats_runs.c - analyses of run directories: breakdown, rating curve, cost against accuracy,
// what the prompts are made of.
#include "cli/run.h"
#include "report/report.h"

static bool print_grid(const struct args *args, const struct report_grid *g, struct arena *a,
                       struct err *err)
{
    enum report_format format = REPORT_TEXT;
    str name = opt_text(args, "format", S("text"));
    struct buf out = { .arena = a };
    if (!report_format_parse(name, &format))
        return err_set(err, ERR_USAGE,
                       "--format must be text, csv, markdown, latex or json, got \"%.*s\"",
                       STR(name));
    report_grid_write(g, format, &out);
    return print_str(buf_str(&out), err);
}

static bool need_runs(const struct args *args, struct err *err)
{
    return args->n_positionals > 0 ||
           err_set(err, ERR_USAGE, "name a run directory (the --out of eval or optimize)");
}

static const struct opt format_opts[] = {
    { "format", OPT_TEXT, "NAME", "text, csv, markdown, latex or json [text]", 0, 0 },
    { 0 },
};

// ---- breakdown ----

static bool breakdown(const struct args *args, struct arena *a, struct err *err)
{
    struct report_positions sides[2] = { 0 };
    struct report_grid grid;
    if (!need_runs(args, err))
        return false;
    for (size_t i = 0; i < args->n_positionals; i++)
        if (!report_positions_load(args->positionals[i], a, &sides[i], err))
            return false;
    report_breakdown(&sides[0], args->n_positionals > 1 ? &sides[1] : NULL, a, &grid);
    return print_grid(args, &grid, a, err);
}

const struct command command_stats_breakdown = {
    .name = "stats breakdown",
    .summary = "accuracy by rating, theme, puzzle length, move",
    .usage = "RUN_DIR [RUN_DIR_AFTER]",
    .about = "Of one run, or of one before and one after.\n"
             "Example: rookery stats breakdown runs/base runs/gepa",
    .opts = { format_opts },
    .max_positionals = 2,
    .run = breakdown,
};

// ---- curve ----

static bool curve(const struct args *args, struct arena *a, struct err *err)
{
    struct report_grid grid;
    if (!need_runs(args, err))
        return false;
    report_curve_start(a, &grid);
    for (size_t i = 0; i < args->n_positionals; i++) {
        struct report_positions p = { 0 };
        if (!report_positions_load(args->positionals[i], a, &p, err))
            return false;
        report_curve_add(args->positionals[i], &p, a, &grid);
    }
    return print_grid(args, &grid, a, err);
}

const struct command command_stats_curve = {
    .name = "stats curve",
    .summary = "how the odds of solving fall with the rating",
    .usage = "RUN_DIR...",
    .about = "A logistic fit over whole rated puzzles: odds ratio per 200 points, the rating at\n"
             "which half are solved, correlations over rating bins.\n"
             "Example: rookery stats curve runs/base runs/gepa",
    .opts = { format_opts },
    .max_positionals = POSITIONALS_MAX,
    .run = curve,
};

// ---- pareto ----

static bool pareto(const struct args *args, struct arena *a, struct err *err)
{
    struct report_run_dirs runs = { 0 };
    struct report_grid grid;
    if (!need_runs(args, err))
        return false;
    for (size_t i = 0; i < args->n_positionals; i++)
        if (!report_run_dir_load(args->positionals[i], a, vec_push(a, &runs), err))
            return false;
    report_pareto(&runs, a, &grid);
    return print_grid(args, &grid, a, err);
}

const struct command command_stats_pareto = {
    .name = "stats pareto",
    .summary = "cost against accuracy: which runs no other beats",
    .usage = "RUN_DIR...",
    .about = "Cost of 1,000 test calls and puzzles solved.\n"
             "Example: rookery stats pareto runs/*/",
    .opts = { format_opts },
    .max_positionals = POSITIONALS_MAX,
    .run = pareto,
};

// ---- regret ----

static bool regret(const struct args *args, struct arena *a, struct err *err)
{
    struct report_regrets runs = { 0 };
    struct report_grid grid;
    if (!need_runs(args, err))
        return false;
    for (size_t i = 0; i < args->n_positionals; i++)
        if (!report_regret_load(args->positionals[i], a, vec_push(a, &runs), err))
            return false;
    report_regret(&runs, a, &grid);
    return print_grid(args, &grid, a, err);
}

const struct command command_stats_regret = {
    .name = "stats regret",
    .summary = "regret beside accuracy, and the ranks by each",
    .usage = "RUN_DIR...",
    .about = "Of run directories of rookery regret.\n"
             "Example: rookery stats regret runs/*/",
    .opts = { format_opts },
    .max_positionals = POSITIONALS_MAX,
    .run = regret,
};

// ---- rollout ----

static bool rollout(const struct args *args, struct arena *a, struct err *err)
{
    struct report_rollouts runs = { 0 };
    struct report_grid grid;
    if (!need_runs(args, err))
        return false;
    for (size_t i = 0; i < args->n_positionals; i++)
        if (!report_rollout_load(args->positionals[i], a, vec_push(a, &runs), err))
            return false;
    return report_rollout(&runs, a, &grid, err) && print_grid(args, &grid, a, err);
}

const struct command command_stats_rollout = {
    .name = "stats rollout",
    .summary = "rollouts of several runs: regret, illegal attempts, checkmate losses",
    .usage = "RUN_DIR...",
    .about = "A row a model and method, over the run directories of rookery rollout given.\n"
             "Example: rookery stats rollout runs/*/ --format latex",
    .opts = { format_opts },
    .max_positionals = POSITIONALS_MAX,
    .run = rollout,
};

// ---- prompt ----

static const struct field label_inputs[] = {
    { T("sentences"), T("The numbered sentences of an instruction given to a chess model") }
};
static const struct field label_outputs[] = {
    { T("labels"), T("One label per sentence, in order, separated by commas: format, chess, "
                     "examples, persona or other") }
};
static const struct signature label_signature = { label_inputs, label_outputs, 1, 1 };

// One question for the whole instruction; a model that answers with other labels or another
// number of them has not answered.
static bool read_labels(str text, struct prompt_sentences *s, struct err *err)
{
    for (size_t i = 0; i < s->n; i++) {
        str label = str_trim_set(str_cut(&text, ','), S(" .\"'[]\n"));
        if (!prompt_part_parse(label, &s->v[i].part))
            return err_set(err, ERR_RUN,
                           "the model's label %zu of %zu is \"%.*s\", not format, chess, "
                           "examples, persona or other; leave --model out for the rules' labels",
                           i + 1, s->n, STR(str_sub(label, 0, 40)));
    }
    return true;
}

static bool ask_labels(struct lab *lab, const struct model *m, struct prompt_sentences *s,
                       struct err *err)
{
    struct buf list = { .arena = lab->arena };
    for (size_t i = 0; i < s->n; i++)
        buf_addf(&list, "%zu. %.*s\n", i + 1, STR(s->v[i].text));
    str values[] = { buf_str(&list) };
    struct lab_question q = {
        .model = m,
        .purpose = S("label_sentences"),
        .values = values,
        .ask = program_new(lab->arena, &label_signature,
                           S("Say what each sentence is about. format: how the answer is to be "
                             "written. chess: how to find a good move. examples: a worked "
                             "example. persona: who the model should be. other: anything else.")),
    };
    const struct prompt_record *record;
    if (!lab_ask(lab, &q, 1, &record, err))
        return false;
    if (!record->usable)
        return err_set(err, ERR_RUN, "the model gave no labels: %.*s", STR(record->error));
    return read_labels(record->values[0], s, err);
}

// Asks through the store, so that the same command costs nothing the second time.
static bool label_by_model(const struct args *args, const struct program *p, struct arena *a,
                           struct prompt_sentences *s, struct err *err)
{
    struct model m;
    struct store *db = NULL;
    str name = opt_text(args, "model", S(""));
    struct model_opts opts = { .base_url = opt_text(args, "base-url", S("")),
                               .has_temperature = true };
    if (!cli_model_open(name, &opts, a, &m, err) ||
        !store_open(opt_text(args, "store", S(":memory:")), &(struct store_opts){ 0 }, &db, err))
        return false;
    str key = sha256_of(arena_printf(a, "stats prompt/1\n%.*s\n%.*s\n%.*s", STR(name),
                                     STR(m.base_url), STR(program_hash(p, a))),
                        a);
    struct store_run run = { .key = key,
                             .command = S("stats prompt"),
                             .model = name,
                             .config = S("{}"),
                             .simulated = m.simulated };
    bool ok =
        store_run_begin(db, &(struct store_begin){ .now_unix_ms = clock_unix_ms() }, a, &run, err);
    struct lab lab = { .arena = a };
    if (ok)
        lab.pump = pump_new(&(struct pump_opts){ .run = run.id }, db, err);
    ok = ok && lab.pump && ask_labels(&lab, &m, s, err);
    pump_free(lab.pump);
    store_close(db);
    return ok;
}

static bool prompt(const struct args *args, struct arena *a, struct err *err)
{
    static const char *const headings[] = { "program",    "characters", "format %", "chess %",
                                            "examples %", "persona %",  "other %" };
    struct report_grid grid = { .n_columns = ARRAY_LEN(headings) };
    if (args->n_positionals == 0)
        return err_set(err, ERR_USAGE, "name a program: compiled.json or a plain text");
    for (size_t i = 0; i < ARRAY_LEN(headings); i++)
        report_grid_add(&grid, str_from(headings[i]), a);
    for (size_t i = 0; i < args->n_positionals; i++) {
        const struct program *p;
        struct prompt_sentences s = { 0 };
        double share[PROMPT_PARTS];
        if (!cli_program_load(args->positionals[i], a, &p, err))
            return false;
        prompt_split(p->instruction, a, &s);
        if (opt_get(args, "model")->set && s.n > 0 && !label_by_model(args, p, a, &s, err))
            return false;
        prompt_composition(&s, p, share);
        report_grid_add(&grid, args->positionals[i], a);
        report_grid_add(&grid, arena_printf(a, "%zu", program_size(p)), a);
        for (int k = 0; k < PROMPT_PARTS; k++)
            report_grid_add(&grid, arena_printf(a, "%.1f", 100 * share[k]), a);
    }
    grid.note =
        opt_get(args, "model")->set
            ? arena_printf(a, "sentences labelled by %.*s", STR(opt_text(args, "model", S(""))))
            : S("sentences labelled by the words in them; --model asks a model instead");
    return print_grid(args, &grid, a, err);
}

static const struct opt prompt_opts[] = {
    { "model", OPT_TEXT, "NAME", "let this model label the sentences [rules]", 0, 0 },
    { "base-url", OPT_TEXT, "URL", "endpoint of the model", 0, 0 },
    { "store", OPT_TEXT, "FILE", "where its replies are kept [nowhere]", 0, 0 },
    { 0 },
};

const struct command command_stats_prompt = {
    .name = "stats prompt",
    .summary = "what prompts are made of: format, chess, examples, persona",
    .usage = "PROGRAM...",
    .about = "Shares of a program's characters. PROGRAM: compiled.json or a plain text.\n"
             "Example: rookery stats prompt runs/gepa/compiled.json",
    .opts = { prompt_opts, format_opts },
    .max_positionals = POSITIONALS_MAX,
    .run = prompt,
};

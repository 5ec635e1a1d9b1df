// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_eval.c - score one program of one model on a puzzle file, or answers made elsewhere.
#include "cli/run.h"

static bool eval(struct run *r)
{
    if (!run_configure(r, METHOD_BASELINE))
        return false;
    if (opt_get(r->args, "puzzles")->set)
        r->config.test_path = opt_text(r->args, "puzzles", S(""));
    str predictions = opt_text(r->args, "predictions", S(""));
    if (predictions.len > 0)
        return run_read_predictions(r, predictions) && run_begin(r) && run_finish(r);
    if (!run_open_model(r) || !run_load(r))
        return false;
    if (opt_flag(r->args, "dry-run"))
        return run_print_plan(r);
    return run_begin(r) && run_evaluate(r) && run_finish(r);
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    return run_command(args, a, eval, err);
}

static const struct opt opts[] = {
    { "puzzles", OPT_TEXT, "FILE", "puzzles to score on, the same as --test [builtin:test]", 0, 0 },
    { "samples", OPT_INT, "K", "answers a position; adds right-in-any and majority [1]", 1, 1000 },
    { "predictions", OPT_TEXT, "FILE", "score answers made elsewhere (JSON Lines or results.json)",
      0, 0 },
    { 0 },
};

const struct command command_eval = {
    .name = "eval",
    .summary = "score one program (prompt) of one model on puzzles",
    .usage = "[CONFIG.yaml] [OPTIONS]",
    .about = "Asks the model for a move in every position and compares it with the reference.\n"
             "To go on after a crash, Ctrl-C or a spent budget, give the same command again.\n"
             "Example: rookery eval --model sim/responsive --puzzles builtin:test --limit 100\n"
             "         rookery eval --model openai/gpt-4o-mini --puzzles my.csv --max-cost 1",
    .opts = { opts, opts_model, opts_puzzles, opts_run },
    .max_positionals = 1,
    .run = run,
};

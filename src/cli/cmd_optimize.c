// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_optimize.c - split, run one optimizer, save the compiled program, score it on held-out
// puzzles.
#include "cli/run.h"

static bool optimize(struct run *r)
{
    if (!run_configure(r, METHOD_BOOTSTRAP_FEW_SHOT) || !run_open_model(r) || !run_load(r))
        return false;
    if (opt_flag(r->args, "dry-run"))
        return run_print_plan(r);
    return run_begin(r) && run_optimize(r) && run_evaluate(r) && run_finish(r);
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    return run_command(args, a, optimize, err);
}

static const struct opt opts[] = {
    { "method", OPT_TEXT, "NAME", "which optimizer: --help lists them [bootstrap_few_shot]", 0, 0 },
    { "set", OPT_TEXT, "KEY=VALUE", "settings of the method, separated by commas: breadth=5", 0,
      0 },
    { "prompt-model", OPT_TEXT, "NAME", "the model that writes prompts [the task model]", 0, 0 },
    { "prompt-base-url", OPT_TEXT, "URL", "endpoint of the prompt model", 0, 0 },
    { "prompt-format", OPT_TEXT, "MODE", "answer format of the prompt model [as --format]", 0, 0 },
    { "explain", OPT_FLAG, NULL, "say why each candidate was taken or left", 0, 0 },
    { "watch", OPT_FLAG, NULL, "show each candidate's score, the best so far and the spend", 0, 0 },
    { "train", OPT_TEXT, "FILE", "training puzzles: CSV, .zst, JSONL or builtin:train", 0, 0 },
    { "validation", OPT_INT, "N", "training puzzles kept for validation [140]", 1, 1e9 },
    { "train-limit", OPT_INT, "N", "only the first N training puzzles of the split [all]", 0, 1e9 },
    { 0 },
};

const struct command command_optimize = {
    .name = "optimize",
    .summary = "optimise a prompt on training puzzles, score it on held-out ones",
    .usage = "[CONFIG.yaml] [OPTIONS]",
    .about = "Runs one prompt optimizer, saves compiled.json and scores it on the test puzzles.\n"
             "CONFIG.yaml is a configuration of the paper's tool, unchanged; options override it.\n"
             "To go on after a crash, Ctrl-C or a spent budget, give the same command again.\n"
             "Example: rookery optimize --model sim/responsive --method bootstrap_few_shot",
    .opts = { opts, opts_model, opts_puzzles, opts_run },
    .max_positionals = 1,
    .run = run,
};

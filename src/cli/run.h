// SPDX-License-Identifier: GPL-3.0-or-later
// run.h - what eval, optimize and prompt share: configuration from file and flags, models, data,
// the store and pump of a run, its files and its report.
#pragma once
#include "cli/cli.h"
#include "config/config.h"
#include "lab/lab.h"
#include "optimize/optimize.h"
#include "result/result.h"

// Options of every command that asks a model.
#define OPTS_MODEL                                                                                   \
    { "model", OPT_TEXT, "NAME", "task model, provider/model: openai/gpt-4o-mini, sim/responsive",   \
      0,       0 },                                                                                  \
        { "base-url", OPT_TEXT, "URL", "endpoint of the task model (any OpenAI-compatible)", 0, 0 }, \
        { "temperature", OPT_REAL, "T", "sampling temperature [0]", 0, 100 },                        \
        { "max-tokens", OPT_INT, "N", "most tokens of an answer [1024]", 1, 10000000 },              \
        { "retries", OPT_INT, "N", "attempts after the first [3]", 0, 100 },                         \
        { "timeout", OPT_REAL, "S", "seconds an attempt may take [120]", 0.001, 86400 },             \
        { "format", OPT_TEXT, "MODE", "none, json_object or schema [json_object]", 0, 0 },           \
    {                                                                                                \
        "allow-http", OPT_FLAG, NULL, "send a key over plain http to another host", 0, 0             \
    }
// Options of every command that makes a run.
#define OPTS_RUN                                                                                       \
    {                                                                                                  \
        "meta-model",                                                                                  \
        OPT_TEXT,                                                                                      \
        "NAME",                                                                                        \
        "model that proposes prompts [a copy of the task model]",                                      \
        0,                                                                                             \
        0                                                                                              \
    },                                                                                                 \
        { "test", OPT_TEXT, "FILE", "held-out puzzles: CSV, .zst, JSONL or builtin:test", 0, 0 },      \
        { "program", OPT_TEXT, "FILE", "program to start from: compiled.json or a plain text", 0, 0 }, \
        { "limit", OPT_INT, "N", "only the first N test positions [all]", 0, 1e15 },                   \
        { "theme", OPT_TEXT, "NAME", "only test puzzles with this theme", 0, 0 },                      \
        { "min-rating", OPT_INT, "N", "only test puzzles rated N or more", 0, 10000 },                 \
        { "max-rating", OPT_INT, "N", "only test puzzles rated N or less", 0, 10000 },                 \
        { "solver-moves", OPT_INT, "N", "only test puzzles with exactly N solver moves", 0, 100 },     \
        { "strict", OPT_FLAG, NULL, "a bad puzzle row ends the run instead of being skipped", 0, 0 },  \
        { "seed", OPT_INT, "N", "decides every draw [42]", 0, 0 },                                     \
        { "concurrency", OPT_INT, "N", "calls in flight [64]", 1, 4096 },                              \
        { "max-cost", OPT_REAL, "USD", "most this run may ever spend [no cap]", 0, 1e6 },              \
        { "preset", OPT_TEXT, "NAME", "paper or improved [paper]", 0, 0 },                             \
        { "store", OPT_TEXT, "FILE", "where every reply is kept [rookery.db]", 0, 0 },                 \
        { "out", OPT_TEXT, "DIR", "run directory [runs/...]", 0, 0 },                                  \
        { "run-name", OPT_TEXT, "NAME", "tells apart runs that are otherwise the same", 0, 0 },        \
        { "again", OPT_FLAG, NULL, "start a new run even if this one is finished", 0, 0 },             \
        { "reuse", OPT_FLAG, NULL, "take good replies that other runs got", 0, 0 },                    \
        { "continue-on-error", OPT_FLAG, NULL, "record calls that never succeed as failed", 0, 0 },    \
        { "deterministic", OPT_FLAG, NULL, "write no times into the result files", 0, 0 },             \
        { "dry-run", OPT_FLAG, NULL, "show the plan and its cost, call nothing", 0, 0 },               \
    {                                                                                                  \
        "json", OPT_FLAG, NULL, "print summary.json instead of the report", 0, 0                       \
    }

struct run {
    const struct args *args;
    struct arena *arena; // of the process
    struct err *err;
    struct run_config config;
    struct model task_model;
    const struct program *program; // what is evaluated: the start, later the compiled one
    struct puzzles train_file, test_file;
    struct puzzle_positions train, validation, test;
    int samples;
    bool has_out; // the person named an output directory
    str key;      // run id of decisions 1.4
    struct store *store;
    struct store_run row;
    struct lab lab;
    struct opt_result compiled;
    struct run_facts facts;
    const struct outcome *outcomes; // samples a test position
    struct tally tally;
    int64_t started_us, reported_us;
    const char *phase; // for the progress line
};

// Configuration file (first positional, if any), then flags, then checks between them.
MUST_CHECK bool run_configure(struct run *r, enum method method);
MUST_CHECK bool run_open_model(struct run *r);
// Test file, for optimizers also the split training file; the program to start from.
MUST_CHECK bool run_load(struct run *r);
// Plan and cost on standard output.
MUST_CHECK bool run_print_plan(struct run *r);
// Store, run row, pump.
MUST_CHECK bool run_begin(struct run *r);
MUST_CHECK bool run_optimize(struct run *r);
MUST_CHECK bool run_evaluate(struct run *r);
// Files of the run directory, the row's summary, the report.
MUST_CHECK bool run_finish(struct run *r);
// Scores the answers in a file instead of asking a model: no store, files only with --out.
MUST_CHECK bool run_score_predictions(struct run *r, str path);
// The files of the run directory; then the report (or summary.json with --json).
MUST_CHECK bool run_save(struct run *r, str summary);
MUST_CHECK bool run_print(struct run *r, str summary);
void run_end(struct run *r); // releases store and pump; always

// Opens a model with the providers and environment of the process.
MUST_CHECK bool cli_model_open(str name, const struct model_opts *opts, struct arena *a,
                               struct model *out, struct err *err);
MUST_CHECK bool cli_program_load(str path, struct arena *a, const struct program **out,
                                 struct err *err);
MUST_CHECK bool format_parse(str name, enum reply_format *out);
// One line of progress on standard error: a bar on a terminal, else a line every ten seconds.
void progress_show(void *run, const struct pump_stats *stats);
void progress_clear(void);
// The table of a tally, and of the difference of two runs on the same positions, as text.
void report_tally(const struct run *r, struct buf *out);

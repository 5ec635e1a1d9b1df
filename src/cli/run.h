// SPDX-License-Identifier: GPL-3.0-or-later
// run.h - what eval and optimize share: configuration from file and flags, models, data,
// the store and pump of a run, its files and its report.
#pragma once
#include "cli/cli.h"
#include "config/config.h"
#include "lab/lab.h"
#include "optimize/optimize.h"
#include "result/result.h"

// Options of eval and optimize: of their model, of the puzzles, and of the run.
extern const struct opt opts_model[], opts_puzzles[], opts_run[];

struct run {
    const struct args *args;
    struct arena *arena; // of the process
    struct err *err;
    struct run_config config;
    struct prices prices;                  // of models
    struct model task_model, prompt_model; // the second only with an optimizer
    const struct program *program;         // what is evaluated: the start, later the compiled one
    struct puzzles train_file, test_file;
    struct puzzle_positions train, validation, test;
    int samples;
    bool has_out;            // the person named an output directory
    str key;                 // run id of decisions 1.4
    str key_extra;           // what else tells the run apart: engine and limits; empty: nothing
    int n_engines;           // processes at once; 0: as the pump likes
    str answers_sha256;      // of recorded answers that are scored; empty: a model is asked
    struct sandbox *sandbox; // where candidates run; NULL: none are asked
    double tolerated;        // see struct lab
    struct store *store;
    struct store_run row;
    struct lab lab;
    struct opt_result compiled;
    struct run_facts facts;
    const struct outcome *outcomes; // samples a test position
    struct tally tally;
    bool replayed; // the run was finished before
    int64_t started_us, reported_us;
    const char *phase;   // for the progress line
    bool no_rate;        // the phase has none to show
    FILE *explain;       // NULL: not open
    double watched_best; // of the candidates seen so far, on `watched_n` positions
    size_t watched_n;
};

// Sets up a run of `command`, calls `steps`, and releases what it holds whatever comes of it. What
// was reached before a spent budget or Ctrl-C is printed.
typedef bool run_steps(struct run *r);
MUST_CHECK bool run_command(const struct args *args, struct arena *a, run_steps *steps,
                            struct err *err);
MUST_CHECK bool run_open_sandbox(struct run *r);
void run_close_sandbox(struct run *r); // after its pump
// Configuration file (first positional, if any), then flags, then checks between them. `method` is
// used where neither names another; a command without --method knows only that one.
MUST_CHECK bool run_configure(struct run *r, enum method method);
MUST_CHECK bool run_open_model(struct run *r);
// Test file, for optimizers also the split training file; the program to start from.
MUST_CHECK bool run_load(struct run *r);
// Of these the program alone, where no puzzles are asked.
MUST_CHECK bool run_load_program(struct run *r);
// Plan and cost on standard output.
MUST_CHECK bool run_print_plan(struct run *r);
// Store, run row, pump.
MUST_CHECK bool run_begin(struct run *r);
MUST_CHECK bool run_optimize(struct run *r);
MUST_CHECK bool run_evaluate(struct run *r);
// run_config.json and the row's summary, of a run without puzzles.
MUST_CHECK bool run_close(struct run *r, str summary);
// Files of the run directory and the row's summary; then also the report.
MUST_CHECK bool run_keep(struct run *r);
MUST_CHECK bool run_finish(struct run *r);
// Loads the test file and scores the answers in a file: then a run like any other, but for the
// calls.
MUST_CHECK bool run_read_predictions(struct run *r, str path);
// The store that --store names, which must be there; only cmd_store.c and runs rm write to it.
enum store_use { STORE_READ, STORE_WRITE };
MUST_CHECK bool cli_store_open(const struct args *args, enum store_use use, struct store **out,
                               struct err *err);
// The files of the run directory; then the report (or summary.json with --json).
MUST_CHECK bool run_save(struct run *r, str summary);
// Opens a model with the providers and environment of the process.
// The built-in prices, with those of --prices before them; in `a`.
MUST_CHECK bool cli_prices(const struct args *args, struct arena *a, struct prices *out,
                           struct err *err);
MUST_CHECK bool cli_model_open(str name, const struct model_opts *opts, struct arena *a,
                               struct model *out, struct err *err);
MUST_CHECK bool cli_program_load(str path, struct arena *a, const struct program **out,
                                 struct err *err);
str format_name(enum reply_format format); // as --format names it
MUST_CHECK bool format_parse(str name, enum reply_format *out);
// One line of progress on standard error: a bar on a terminal, else a line every ten seconds.
void progress_show(void *run, const struct pump_stats *stats);
void progress_clear(void);
// explain.jsonl in the run directory: what the optimizer decided and why, one candidate a line;
// with --explain or --watch also on standard error, for people. The second is the note of struct
// opt_watch.
MUST_CHECK bool explain_open(struct run *r);
void explain_event(void *run, const struct opt_event *event);
void explain_close(struct run *r);
// The table of a tally as text.
void report_tally(const struct run *r, struct buf *out);
// What `rookery runs ...` needs to find this run's store again: empty for the default one.
str run_store_option(const struct run *r);

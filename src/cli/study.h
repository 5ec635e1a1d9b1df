// SPDX-License-Identifier: GPL-3.0-or-later
// study.h - a grid of runs: the cells of a study, the processes that run them, and what a child
// shares with its parent.
#pragma once
#include <stdatomic.h>
#include <sys/types.h>

#include "cli/cli.h"
#include "config/config.h"
#include "pump/pump.h"

// ---- cells ----

enum cell_state {
    CELL_WAITING,
    CELL_RUNNING,
    CELL_DONE,
    CELL_FAILED,
    CELL_NOT_APPLICABLE, // the method cannot work on this model: N.A. in tables
};
struct study_cell { // one run
    const struct study_model *model;
    enum method method;
    int64_t seed, repeat; // repeat: 1 and more; only baselines have more than one
    str dir;              // its run directory
    str config_path;      // the configuration the child reads
    str program;          // transfer: the prompt that is scored, instead of an optimizer's run
    str source;           // transfer: whose prompt it is
    enum cell_state state;
    int exit_code;
    str why; // failed, or not applicable
    pid_t pid;
    size_t holder; // its account and progress
};
struct study_cells {
    struct study_cell *v;
    size_t n, cap;
};

// ---- what is shared with the children ----

struct study_progress { // of one child, written by it alone
    atomic_llong n_done, n_jobs, n_calls;
};
struct study_child { // of struct args, in a child
    struct purse *purse;
    struct gates *gates;
    size_t holder; // in both
    struct study_progress *progress;
    int64_t max_day_nusd; // 0: no cap
    struct prices prices;
};
// Lets a run that a study started draw on the shared budget and tell its parent how far it is.
struct run;
void study_child_opts(struct run *r, struct pump_opts *opts);

extern const struct opt opts_study[]; // of `study` and `transfer`

// ---- a study at work ----

struct study {
    const struct args *args;
    struct arena *arena;
    struct err *err;
    struct study_config config;
    struct prices prices;
    str out, store;
    struct study_cells cells;
    struct purse *purse;
    struct gates *gates;
    struct study_progress *progress; // shared; one a cell
    size_t n_jobs;                   // children at once
    int64_t reported_ms;
};
// The cells in the order of models, methods, seeds; configurations checked and written.
MUST_CHECK bool study_plan(struct study *s);
// Runs all cells as child processes. False: interrupted, out of money, or a cell failed; the others
// have run all the same.
MUST_CHECK bool study_run(struct study *s);
// Marks the cells whose run directory is complete as done, without running anything.
void study_find_done(struct study *s);
// Reads the directories of the cells that are done; their model is the cell's label.
struct report_run_dirs;
MUST_CHECK bool study_load_done(struct study *s, struct report_run_dirs *out);
// Writes a grid into OUT/tables in every format.
struct report_grid;
MUST_CHECK bool study_save_grid(struct study *s, const char *name, const struct report_grid *g);
// Store, budget and permits, then study_run.
MUST_CHECK bool study_work(struct study *s);
// From the command line to a planned study: file, output, store, jobs.
MUST_CHECK bool study_open(struct study *s);
// Prints the tables of what is finished, and writes them into OUT/tables.
MUST_CHECK bool study_tables(struct study *s);
str cell_name(const struct study_cell *c, struct arena *a); // "LABEL, METHOD, seed 42"
str study_slug(str label, struct arena *a);                 // a label as a directory's name

// SPDX-License-Identifier: GPL-3.0-or-later
// cli.h - the command table, option reading, and what several commands share. The only module
// that prints, reads the environment and decides exit codes.
#pragma once
#include <signal.h>
#include <stdio.h>

#include "base/base.h"
#include "chess/chess.h"

enum opt_kind { OPT_FLAG, OPT_TEXT, OPT_INT, OPT_REAL };
struct opt { // one long option; a table of them ends with a NULL name
    const char *name;
    enum opt_kind kind;
    const char *value; // how --help calls its value: "FILE"; NULL for flags
    const char *help;
    double min, max; // OPT_INT and OPT_REAL: allowed range when max > min
};
struct opt_value {
    bool set;
    str text;
    int64_t integer;
    double real; // also of OPT_INT
};
enum { OPTS_MAX = 96, OPT_TABLES_MAX = 5, POSITIONALS_MAX = 16 };
struct args {
    const struct command *command;
    struct opt_value values[OPTS_MAX]; // in the order of command->opts, table by table
    str positionals[POSITIONALS_MAX];
    size_t n_positionals;
    const struct study_child *child; // of a run that a study started; NULL: of a person's command
};
// One line of JSON Lines: `in` is an object, the answer is written into `out`.
typedef bool jsonl_fn(const json_t *in, struct arena *a, struct json_out *out, struct err *err);

struct command {
    const char *name;                       // "eval", "puzzles verify"
    const char *summary;                    // one line for the list
    const char *usage;                      // what follows the name: "[CONFIG.yaml] [OPTIONS]"
    const char *about;                      // a paragraph for --help, with an example
    const struct opt *opts[OPT_TABLES_MAX]; // NULL behind the last
    size_t max_positionals;
    // Does the work, prints the result on standard output. False: `err` says why, and its code
    // becomes the exit code. Memory of the process arena `a` lives until exit.
    bool (*run)(const struct args *args, struct arena *a, struct err *err);
    jsonl_fn *each; // instead of run: JSON Lines from standard input, see jsonl_run
};
extern const struct command *const commands[]; // NULL-terminated, in the order of the list

// The value of an option of this command; naming one it does not have is a bug.
const struct opt_value *opt_get(const struct args *args, const char *name);
str opt_text(const struct args *args, const char *name, str fallback);
int64_t opt_int(const struct args *args, const char *name, int64_t fallback);
double opt_real(const struct args *args, const char *name, double fallback);
bool opt_flag(const struct args *args, const char *name);
// Reads argv (without program and command name) by the command's table: --name VALUE,
// --name=VALUE, -- ends options. ERR_USAGE names the nearest option.
MUST_CHECK bool args_parse(const struct command *command, int argc, char **argv, struct args *out,
                           struct err *err);
// Option number i over all tables of a command; a NULL name behind the last.
const struct opt *opt_at(const struct command *command, size_t i);
bool has_option(const struct args *args, const char *name);
// The text of --help.
void help_write(const struct command *command, struct buf *out);

// Foreign text fit for a terminal: what it would obey instead of showing becomes an escape.
str text_for_terminal(str text, struct arena *a);
// The sink of log lines: warnings to standard error, all into the run's log once there is one.
log_sink log_print;
// Appends from now on to `path` (NUL-terminated) and locks it; ERR_RUN when another program has it.
MUST_CHECK bool log_open(str path, struct err *err);

// Standard output, checked at the end: a full disk or closed pipe is an error, not a silent loss.
MUST_CHECK bool print_str(str text, struct err *err);

// Output of many lines, in pieces: prints what has gathered where it is much, or at the end.
enum print_when { PRINT_MUCH, PRINT_ALL };
MUST_CHECK bool print_gathered(struct buf *b, enum print_when when, struct err *err);

// JSON Lines: for each line of `in` (at most 4 MiB) parses an object, calls `each`, prints one
// record; a failure of `each` or of parsing becomes {"error": ...} and the next line is read.
MUST_CHECK bool jsonl_run(FILE *in, jsonl_fn *each, struct err *err);
// The same for what needs more than the line: `ctx` is given to each call.
typedef bool jsonl_each_fn(void *ctx, const json_t *in, struct arena *a, struct json_out *out,
                           struct err *err);
MUST_CHECK bool jsonl_run_each(FILE *in, jsonl_each_fn *each, void *ctx, struct err *err);

// A position as commands take it: a FEN of the named variant (empty: standard; unknown ones are
// refused by name), and what was mended in it (set of enum position_repair).
MUST_CHECK bool position_read(const json_t *in, struct position *out, unsigned *repairs,
                              struct err *err);
// The member "variant" alone.
MUST_CHECK bool variant_member(const json_t *in, enum variant *out, struct err *err);
// Adds "repairs": [TEXT...] where something was mended.
void json_key_repairs(struct json_out *out, unsigned repairs);
// The value of --variant; unknown ones are ERR_USAGE.
MUST_CHECK bool variant_option(const struct args *args, enum variant *out, struct err *err);

// Set by SIGINT and SIGTERM once signals_install has run.
void signals_install(void);
extern volatile sig_atomic_t signals_seen;

// The commands, one a file (runs and puzzles: several).
extern const struct command command_cost;
extern const struct command command_decode;
extern const struct command command_doctor;
extern const struct command command_eval;
extern const struct command command_export;
extern const struct command command_games;
extern const struct command command_harness_check;
extern const struct command command_harness_env;
extern const struct command command_harness_export;
extern const struct command command_harness_parse;
extern const struct command command_optimize;
extern const struct command command_perft;
extern const struct command command_pgn;
extern const struct command command_play;
extern const struct command command_position;
extern const struct command command_power;
extern const struct command command_presets;
extern const struct command command_prompt;
extern const struct command command_puzzles_sample;
extern const struct command command_puzzles_stats;
extern const struct command command_puzzles_verify;
extern const struct command command_regret;
extern const struct command command_resolve;
extern const struct command command_rollout;
extern const struct command command_runs_diff;
extern const struct command command_runs_list;
extern const struct command command_runs_rm;
extern const struct command command_runs_show;
extern const struct command command_simulate;
extern const struct command command_stats_breakdown;
extern const struct command command_stats_curve;
extern const struct command command_stats_pareto;
extern const struct command command_stats_prompt;
extern const struct command command_stats_ratings;
extern const struct command command_stats_regret;
extern const struct command command_stats_rollout;
extern const struct command command_stats_table;
extern const struct command command_store_compact;
extern const struct command command_store_export;
extern const struct command command_store_merge;
extern const struct command command_store_verify;
extern const struct command command_study;
extern const struct command command_tournament;
extern const struct command command_transfer;

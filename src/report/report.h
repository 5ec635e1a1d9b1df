// SPDX-License-Identifier: GPL-3.0-or-later
// report.h - tables over many runs, in the forms people paste: text, CSV, Markdown, LaTeX, JSON.
// Reads the files of finished runs; rows in, text out.
#pragma once
#include "base/base.h"
#include "prompt/prompt.h"
#include "stats/stats.h"

// ---- grids ----

enum report_format { // what a table is written as
    REPORT_TEXT,
    REPORT_CSV,
    REPORT_MARKDOWN,
    REPORT_LATEX,
    REPORT_JSON,
};
MUST_CHECK bool report_format_parse(str name, enum report_format *out); // "text", "csv", ...
struct report_grid { // a table as it is read: the first row holds the headings
    size_t n_columns;
    struct report_entries {
        struct report_entry {
            str text;
            bool best; // marked as the format can
        } * v;         // row by row
        size_t n, cap;
    } entries;
    str note; // below it in the text form
};
void report_grid_add(struct report_grid *g, str text, struct arena *a);
// Writes a grid; REPORT_JSON: a list of objects, all values texts.
void report_grid_write(const struct report_grid *g, enum report_format format, struct buf *out);

// ---- runs ----

struct report_run { // one finished run of a study
    str model, method;
    int64_t seed;
    int64_t correct, n; // puzzles solved, of how many
    bool unchanged;     // its program is the one it started from
};
struct report_runs {
    struct report_run *v;
    size_t n, cap;
};

// Reads a CSV file (plain or zstd) with the columns model, method, seed, correct, puzzles and
// prompt_unchanged (0 or 1); other columns are left alone. Faults are ERR_INPUT with FILE:LINE.
MUST_CHECK bool report_runs_load(str path, struct arena *a, struct report_runs *out,
                                 struct err *err);

// ---- the model x method table (the paper's Table 3; rules: decisions 5.6) ----

struct report_cell {
    struct stats_sample percent; // of solved puzzles, over the runs; n 0: no runs (N.A.)
    bool unchanged;              // every run is: N.U.
    double p;      // one-sided Welch, better than the baseline, unadjusted; NAN: not defined
    double p_holm; // adjusted over all cells of the table
    bool star;     // p < 0.05
    bool best;     // highest mean of the row, N.U. cells left out
};
struct report_table {
    str *models, *methods; // rows and columns
    size_t n_models, n_methods;
    struct report_cell *cells; // model by model
};
// Rows in the order of their first run; columns: baseline, BFS, BRS, COPRO, MIPROv2, GEPA, SIMBA
// as far as there are runs of them, then others in order of appearance. In `a`.
struct report_table report_table_new(const struct report_runs *runs, struct arena *a);

// "33.87 ±1.03*", "N.U.", "N.A.". As CSV and JSON: a cell a row, with its numbers.
void report_table_write(const struct report_table *t, enum report_format format, struct buf *out);

// ---- run directories ----

struct report_count { // k of n
    int64_t k, n;
};
struct report_usage { // of some calls together
    int64_t n_calls, input_tok, output_tok;
    bool cost_known;
    double cost_usd;
};
struct report_run_dir {                                 // what the files of a finished run tell
    struct report_run run;                              // its method as in configurations
    struct report_count positions, illegal, unparsable; // of the test positions
    struct report_usage evaluation, compile_task, compile_prompt;
    double latency_s; // median of the test calls
    bool simulated;
    const struct program *program; // the compiled one, or the base program
    str settings;                  // of the optimizer
    struct report_puzzles {
        struct report_puzzle { // in test order
            str id;
            int rating, length, n_positions;
            bool solved;
        } * v;
        size_t n, cap;
    } puzzles;
};
struct report_run_dirs {
    struct report_run_dir *v;
    size_t n, cap;
};
// Reads a run directory; texts in `a`. A missing or broken file is ERR_INPUT.
MUST_CHECK bool report_run_dir_load(str dir, struct arena *a, struct report_run_dir *out,
                                    struct err *err);

// Models by their baseline runs: accuracy, illegal and unparsable answers, tokens, cost, latency
// (the paper's Table 2).
void report_characteristics(const struct report_run_dirs *runs, struct arena *a,
                            struct report_grid *out);
// Sizes of the compiled prompts, mean over runs (Table 8), in code points and demonstrations.
void report_prompt_sizes(const struct report_run_dirs *runs, struct arena *a,
                         struct report_grid *out);
// Settings of each method (Table 11).
void report_settings(const struct report_run_dirs *runs, struct arena *a, struct report_grid *out);
// Each method against the model's baseline, puzzle by puzzle: difference of the mean solved shares
// with its 95 % bootstrap interval over puzzles, exact McNemar of run i against baseline run i
// (counts added), and Holm over all rows.
void report_paired(const struct report_run_dirs *runs, struct arena *a, struct report_grid *out);

struct report_names { // labels of models
    str *v;
    size_t n, cap;
};
#define REPORT_TRANSFER "prompt of " // the method of a run with another model's prompt: and whose
// Each model's prompt on every model (rows: sources), as differences to the baselines among `dirs`.
void report_transfer(const struct report_run_dirs *dirs, const struct report_names *models,
                     struct arena *a, struct report_grid *out);

// ---- analyses of single runs ----

struct report_position { // one test position of a run, its first sample
    str id;
    int index, length; // of the puzzle's solver moves
    int rating;        // -1: none
    str themes;        // separated by blanks
    bool correct;
};
struct report_positions {
    struct report_position *v;
    size_t n, cap;
};
// Reads predictions.jsonl of a run directory, or results.json where there is only that.
MUST_CHECK bool report_positions_load(str dir, struct arena *a, struct report_positions *out,
                                      struct err *err);
enum report_axis { // what positions are grouped by
    REPORT_BY_RATING,
    REPORT_BY_LENGTH,
    REPORT_BY_MOVE_INDEX,
    REPORT_BY_THEME,
};
// Accuracy in groups along every axis; `after` (may be NULL) beside it.
void report_breakdown(const struct report_positions *before, const struct report_positions *after,
                      struct arena *a, struct report_grid *out);
// How the odds of solving a puzzle depend on its rating: headings, then a row a run.
void report_curve_start(struct arena *a, struct report_grid *out);
void report_curve_add(str name, const struct report_positions *p, struct arena *a,
                      struct report_grid *out);
// Cost of 1,000 test calls against puzzles solved, a row a run; the runs that no other beats in
// both are marked.
void report_pareto(const struct report_run_dirs *runs, struct arena *a, struct report_grid *out);

// ---- what a prompt is made of ----

enum prompt_part { // of an instruction's sentences; demonstrations are examples
    PART_FORMAT,
    PART_CHESS,
    PART_EXAMPLES,
    PART_PERSONA,
    PART_OTHER,
};
enum { PROMPT_PARTS = PART_OTHER + 1 };
str prompt_part_name(enum prompt_part p); // "format", ...
MUST_CHECK bool prompt_part_parse(str name, enum prompt_part *out);
struct prompt_sentences {
    struct prompt_sentence {
        str text;
        enum prompt_part part;
    } * v;
    size_t n, cap;
};
// Splits an instruction at line ends and behind . ! ?, and labels each sentence by the words in it.
void prompt_split(str instruction, struct arena *a, struct prompt_sentences *out);
// Shares of the prompt's code points by part, demonstrations included; sums to 1.
void prompt_composition(const struct prompt_sentences *s, const struct program *p,
                        double share[PROMPT_PARTS]);

#include "report/engine_tables.h"

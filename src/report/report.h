// SPDX-License-Identifier: GPL-3.0-or-later
// report.h - tables over many runs, in the forms people paste: text, CSV, Markdown, LaTeX, JSON.
// Pure: rows in, text out.
#pragma once
#include "base/base.h"
#include "stats/stats.h"

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

enum report_format { // what a table is written as
    REPORT_TEXT,
    REPORT_CSV,
    REPORT_MARKDOWN,
    REPORT_LATEX,
    REPORT_JSON,
};
MUST_CHECK bool report_format_parse(str name, enum report_format *out); // "text", "csv", ...
// "33.87 ±1.03*", "N.U.", "N.A."; the best of a row is marked as the format can.
void report_table_write(const struct report_table *t, enum report_format format, struct buf *out);

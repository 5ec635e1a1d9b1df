// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - what the files of module puzzle share: records made of rows, puzzles of records.
#pragma once
#include "input/input.h"
#include "puzzle/puzzle.h"

// ---- jsonl.c: lines of JSON ----

// One row as text, whatever the file's format; views valid until the next row.
struct record {
    str id, fen, line, rating, themes; // an empty rating: none
    size_t row, lineno;
    enum variant variant;
};
// Reads the next line that is not blank as one JSON object. Joined lists and printed numbers in
// `scratch`. ROW_BAD as csv_next.
enum row_read jsonl_next(struct window *w, struct arena *scratch, struct record *out,
                         struct err *err);

// ---- columns.c: which field of a CSV row is which ----

enum column { COLUMN_ID, COLUMN_FEN, COLUMN_MOVES, COLUMN_RATING, COLUMN_THEMES, COLUMNS };
struct columns {
    int at[COLUMNS]; // index of the field, -1: not there
    bool headerless; // the first row is a puzzle already
};
// Decides by the first row. False: neither a header with the needed columns nor a puzzle.
MUST_CHECK bool columns_find(const struct csv_row *first, struct columns *out, struct err *err);

// ---- check.c: a record becomes a puzzle by playing it ----

enum { PUZZLE_ID_MAX_BYTES = 64, PUZZLE_MOVES_MAX = 256, PUZZLE_THEMES_MAX_BYTES = 1024 };
// Texts of `out` are those of the record, its moves lie in `moves` (PUZZLE_MOVES_MAX of them). The
// error begins with the id where there is one.
MUST_CHECK bool record_check(const struct record *in, move *moves, struct puzzle *out,
                             struct err *err);
// Copies the texts and moves that `p` points to into `a`, and lets it point to the copies.
void puzzle_keep(struct puzzle *p, struct arena *a);

// ---- the embedded files, generated from data/ ----

extern const unsigned char builtin_train_data[], builtin_test_data[];
extern const size_t builtin_train_size, builtin_test_size;

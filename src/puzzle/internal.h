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
// Everything of `out` but its moves: texts and rating checked, the position read. Texts are those
// of the record. The error begins with the id where there is one.
MUST_CHECK bool record_begin(const struct record *in, struct puzzle *out, struct err *err);
// Plays the line of a puzzle that record_begin has made, into `moves` (PUZZLE_MOVES_MAX of them).
MUST_CHECK bool puzzle_play(struct puzzle *p, move *moves, struct err *err);
// Copies the texts and moves that `p` points to into `a`, and lets it point to the copies.
void puzzle_keep(struct puzzle *p, struct arena *a);

// ---- rows.c: rows as text, read ahead ----

struct rows; // opaque
struct row {
    enum puzzle_read verdict; // PUZZLE_ROW: the puzzle is yet to be played
    struct puzzle puzzle;     // as record_begin leaves it
    const struct err *err;    // NULL: none
    str text;                 // of CSV: as it was
};
// `text`: the bytes, or NULL: the file `path` has them.
MUST_CHECK bool rows_open(str path, const str *text, struct rows **out, struct err *err);
void rows_free(struct rows *r); // NULL is fine
void rows_variant(struct rows *r, enum variant variant);
// The next row, valid until the next call; not to be called after PUZZLE_END or PUZZLE_FAIL. NULL:
// it cannot begin.
const struct row *rows_next(struct rows *r, struct err *err);
str rows_path(const struct rows *r);
str rows_head(const struct rows *r);              // as it was; empty: the file has none
str rows_sha256(struct rows *r, struct arena *a); // after PUZZLE_END

// ---- the embedded files, generated from data/ ----

extern const unsigned char builtin_train_data[], builtin_test_data[];
extern const size_t builtin_train_size, builtin_test_size;

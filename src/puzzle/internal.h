// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - what the files of module puzzle share: bytes, rows, records, each layer over the
// one before.
#pragma once
#include "puzzle/puzzle.h"

// ---- source.c: the bytes of a file, decompressed, in blocks ----

struct source; // opaque
// Opens a file (plain or zstd by its magic).
MUST_CHECK bool source_open(str path, struct source **out, struct err *err);
// Opens bytes in memory as if they were the file `path`; keeps both.
MUST_CHECK bool source_open_text(str path, str text, struct source **out, struct err *err);
void source_free(struct source *s); // NULL is fine
// The next block in `*block`, valid until the next call; empty at the end. Errors name the file.
MUST_CHECK bool source_next(struct source *s, str *block, struct err *err);
// SHA-256 of the stored bytes, known after the empty block.
str source_sha256(struct source *s, struct arena *a);

// ---- window.c: a sliding view of the text, from the start of a row ----

enum { ROW_MAX_BYTES = 4 << 20 };
struct window {
    struct source *source;
    char *data; // malloc'ed; the row in work begins at `begin`, `end` is what has been read
    size_t cap, begin, end;
    size_t line; // 1-based line number at `begin`
    bool at_end; // the source has no more
};
enum window_more { WINDOW_MORE, WINDOW_END, WINDOW_FULL, WINDOW_FAIL };
void window_free(struct window *w);
// Reads more text behind `end`. Offsets from `begin` stay valid, pointers do not. WINDOW_FULL: the
// row in work is over ROW_MAX_BYTES. WINDOW_FAIL sets `err`.
enum window_more window_more(struct window *w, struct err *err);
// Drops everything up to and with the next line feed.
MUST_CHECK bool window_skip_line(struct window *w, struct err *err);

// ---- csv.c: RFC 4180 rows; jsonl.c: lines of JSON ----

enum row_read { ROW_GOOD, ROW_BAD, ROW_END, ROW_FAIL };
enum { CSV_COLUMNS_MAX = 64, CSV_FIELD_MAX_BYTES = 1 << 20 };
struct csv_row {
    str fields[CSV_COLUMNS_MAX]; // unquoted views into the window, valid until the next row
    size_t n;
    size_t lineno; // of its first line
};
// Reads the next row that is not an empty line. ROW_BAD: `err` says what is wrong, `out->lineno`
// where the row begins; reading goes on behind the damage.
enum row_read csv_next(struct window *w, struct csv_row *out, struct err *err);

// One row as text, whatever the file's format; views valid until the next row.
struct record {
    str id, fen, line, rating, themes; // an empty rating: none
    size_t row, lineno;
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
// Texts and moves of `out` in `a`. The error begins with the id where there is one.
MUST_CHECK bool record_check(const struct record *in, struct arena *a, struct puzzle *out,
                             struct err *err);
// Copies the texts and moves that `p` points to into `a`, and lets it point to the copies.
void puzzle_keep(struct puzzle *p, struct arena *a);

// ---- the embedded files, generated from data/ ----

extern const unsigned char builtin_train_data[], builtin_test_data[];
extern const size_t builtin_train_size, builtin_test_size;

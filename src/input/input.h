// SPDX-License-Identifier: GPL-3.0-or-later
// input.h - big files as a stream: the bytes (decompressed where they are packed), a sliding view
// of the text, rows of CSV; each layer over the one before. Memory does not grow with the file.
#pragma once
#include "base/base.h"

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

// ---- csv.c: RFC 4180 rows ----

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

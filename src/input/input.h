// SPDX-License-Identifier: GPL-3.0-or-later
// input.h - big files as a stream: the bytes (decompressed where they are packed), a sliding view
// of the text, rows of CSV; each layer over the one before. Memory does not grow with the file.
#pragma once
#include "base/base.h"

// ---- ring.c: one thread that works ahead of its owner ----

struct ring; // opaque
struct ring_work {
    void *context;
    bool (*fill)(void *context, size_t slot); // false: the slot is empty and nothing follows
    size_t slots, n_filled;                   // how many there are, are full at the start
};
// Starts a thread that fills slots in order. What `fill` touches belongs to it until ring_take has
// said that nothing follows, or ring_stop.
MUST_CHECK bool ring_start(struct ring_work work, struct ring **out, struct err *err);
// Gives back the slot taken last and waits for the next, in order; false: nothing follows.
bool ring_take(struct ring *r, size_t *slot);
void ring_stop(struct ring *r); // ends the thread and frees the ring; NULL is fine

// ---- source.c: the bytes of a file, decompressed, in blocks ----

struct source; // opaque
// Opens a file (plain or zstd by its magic).
MUST_CHECK bool source_open(str path, struct source **out, struct err *err);
// Opens bytes in memory as if they were the file `path`; keeps both.
MUST_CHECK bool source_open_text(str path, str text, struct source **out, struct err *err);
void source_free(struct source *s); // NULL is fine
// The next block in `*block`, valid until the next call; empty at the end. Errors name the file.
MUST_CHECK bool source_next(struct source *s, str *block, struct err *err);
// Whether it is more than one block, and decompressed by a thread that works ahead.
bool source_is_long(const struct source *s);
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
    str fields[CSV_COLUMNS_MAX]; // unquoted
    str text;                    // the row as it is, with its line end where it has one
    size_t n;
    size_t lineno; // of its first line
};
// Reads the next row that is not an empty line. ROW_BAD: `err` says what is wrong, `out->lineno`
// where the row begins; reading goes on behind the damage. Texts are views into the window, valid
// until the next row; fields in which quotes were doubled lie in `a`.
enum row_read csv_next(struct window *w, struct arena *a, struct csv_row *out, struct err *err);

// SPDX-License-Identifier: GPL-3.0-or-later
// rows.c - the rows of a puzzle file, whatever it is: CSV with or without a header, JSON Lines,
// compressed or not; cut into fields, their texts checked, the FEN read.
//
// That is about half the work of reading a dump; playing the lines is the other. So in a long file
// a thread does it ahead, batch by batch. Memory is flat: a batch ends after some rows or bytes.
#include <stdlib.h>
#include <string.h>

#include "puzzle/internal.h"
#include "base/base.h"

enum { BATCHES = 4, BATCH_ROWS = 1024, BATCH_BYTES = 512 << 10 };

struct batch {
    struct arena arena; // texts and errors of its rows
    struct row *v;      // BATCH_ROWS
    size_t n;
};
struct rows {
    struct arena arena; // as long as the stream
    str path;
    // Of whoever fills batches: the ring's thread, or in a short file the caller.
    struct source *source;
    struct window window;
    bool is_jsonl;
    struct columns columns;
    struct csv_row csv;
    bool pending; // the first row, read to find the columns, is a puzzle not yet handed out
    bool ended;   // the last row, or a failure, has been put into a batch
    size_t n_rows;
    struct err err; // of the row in work; cleared by its code alone, its text is long
    // Set before the first batch is filled.
    enum variant variant;
    str head; // the header; empty: the file has none
    // Of the caller.
    struct ring *ring; // NULL: there is no thread
    struct batch batches[BATCHES];
    const struct batch *batch; // NULL: none yet
    size_t next;               // row of it
};

// ---- opening ----

// Looks at the first text: drops a byte-order mark, tells CSV from JSON Lines.
static bool look_at_start(struct rows *r, struct err *err)
{
    struct window *w = &r->window;
    str rest = { 0 };
    enum window_more got = WINDOW_MORE;
    while (rest.len == 0 && got == WINDOW_MORE) {
        got = window_more(w, err);
        str text = { w->data + w->begin, w->end - w->begin };
        w->begin += text.len - str_without_bom(text).len;
        rest = str_trim((str){ w->data + w->begin, w->end - w->begin });
    }
    if (got == WINDOW_FAIL)
        return false;
    if (got == WINDOW_END)
        return err_set(err, ERR_INPUT, "%.*s: is empty; name a file with puzzles", STR(r->path));
    r->is_jsonl = str_starts(rest, S("{"));
    return true;
}

static bool read_header(struct rows *r, struct err *err)
{
    switch (csv_next(&r->window, &r->arena, &r->csv, err)) {
    case ROW_GOOD: break;
    case ROW_END:
        return err_set(err, ERR_INPUT, "%.*s: is empty; name a file with puzzles", STR(r->path));
    case ROW_BAD: return err_add(err, "%.*s:%zu", STR(r->path), r->csv.lineno);
    case ROW_FAIL: return false;
    }
    if (!columns_find(&r->csv, &r->columns, err))
        return err_add(err, "%.*s:%zu", STR(r->path), r->csv.lineno);
    r->pending = r->columns.headerless;
    if (r->pending)
        return true;
    r->head = arena_str(&r->arena, r->csv.text);
    return true;
}

bool rows_open(str path, const str *text, struct rows **out, struct err *err)
{
    struct rows *r = mem_must(calloc(1, sizeof *r));
    r->path = arena_str(&r->arena, path);
    bool ok = text ? source_open_text(r->path, *text, &r->source, err)
                   : source_open(r->path, &r->source, err);
    r->window = (struct window){ .source = r->source, .line = 1 };
    if (!ok || !look_at_start(r, err) || (!r->is_jsonl && !read_header(r, err))) {
        rows_free(r);
        return false;
    }
    for (size_t i = 0; i < BATCHES; i++)
        r->batches[i].v = NEW_ARRAY(&r->arena, struct row, BATCH_ROWS);
    *out = r;
    return true;
}

void rows_free(struct rows *r)
{
    if (!r)
        return;
    ring_stop(r->ring);
    source_free(r->source);
    window_free(&r->window);
    for (size_t i = 0; i < BATCHES; i++)
        arena_free(&r->batches[i].arena);
    arena_free(&r->arena);
    free(r);
}

str rows_head(const struct rows *r)
{
    return r->head;
}

str rows_path(const struct rows *r)
{
    return r->path;
}

void rows_variant(struct rows *r, enum variant variant)
{
    r->variant = variant;
}

str rows_sha256(struct rows *r, struct arena *a)
{
    return source_sha256(r->source, a);
}

// ---- filling a batch ----

// The field of the row in work, or of its copy where it is a view of that.
static str field(const struct rows *r, str copy, enum column c)
{
    int at = r->columns.at[c];
    if (at < 0 || (size_t)at >= r->csv.n)
        return S("");
    str f = r->csv.fields[at];
    const char *row = r->csv.text.data;
    bool inside = f.data >= row && f.data <= row + r->csv.text.len;
    return inside ? (str){ copy.data + (f.data - row), f.len } : f;
}

// The next CSV row as a record.
static enum row_read csv_record(struct rows *r, struct arena *a, struct row *row,
                                struct record *out, struct err *err)
{
    enum row_read got = ROW_GOOD;
    if (!r->pending)
        got = csv_next(&r->window, a, &r->csv, err);
    r->pending = false;
    *out = (struct record){ .lineno = r->csv.lineno };
    if (got != ROW_GOOD)
        return got;
    str copy = row->text = arena_str(a, r->csv.text);
    out->id = field(r, copy, COLUMN_ID);
    size_t needed = (size_t)(r->columns.at[COLUMN_FEN] > r->columns.at[COLUMN_MOVES]
                                 ? r->columns.at[COLUMN_FEN]
                                 : r->columns.at[COLUMN_MOVES]);
    if (r->csv.n <= needed) {
        err_set(err, ERR_INPUT, "%zu fields, at least %zu are needed; fix or remove the row",
                r->csv.n, needed + 1);
        return ROW_BAD;
    }
    out->fen = field(r, copy, COLUMN_FEN);
    out->line = field(r, copy, COLUMN_MOVES);
    out->rating = field(r, copy, COLUMN_RATING);
    out->themes = field(r, copy, COLUMN_THEMES);
    return ROW_GOOD;
}

static enum row_read next_record(struct rows *r, struct arena *a, struct row *row,
                                 struct record *out, struct err *err)
{
    enum row_read got =
        r->is_jsonl ? jsonl_next(&r->window, a, out, err) : csv_record(r, a, row, out, err);
    if (got == ROW_BAD && out->id.len > 0)
        err_add(err, "%s", str_show(out->id, SHOWN_MAX_BYTES).text);
    if (got == ROW_FAIL || got == ROW_END)
        return got;
    out->row = r->n_rows++;
    out->variant = r->variant;
    bool unnamed = out->id.len == 0 && (r->is_jsonl || r->columns.at[COLUMN_ID] < 0);
    if (unnamed)
        out->id = arena_printf(a, "row-%zu", out->row);
    return got;
}

static void read_row(struct rows *r, struct arena *a, struct row *out)
{
    struct record record;
    struct err *err = &r->err;
    err->code = ERR_NONE;
    out->verdict = PUZZLE_BAD; // not all of it is cleared: it is long, and so are the files
    out->text = S("");
    out->err = NULL;
    out->puzzle.fault = PUZZLE_FAULT_NONE;
    enum row_read got = next_record(r, a, out, &record, err);
    if (got == ROW_BAD)
        out->puzzle.fault = PUZZLE_FAULT_ROW;
    else if (got == ROW_END)
        out->verdict = PUZZLE_END;
    else if (got == ROW_FAIL)
        out->verdict = PUZZLE_FAIL;
    else if (record_begin(&record, &out->puzzle, err))
        out->verdict = PUZZLE_ROW;
    if (out->verdict == PUZZLE_BAD)
        err_add(err, "%.*s:%zu", STR(r->path), record.lineno);
    if (err->code != ERR_NONE) {
        struct err *kept = NEW(a, struct err);
        *kept = *err;
        out->err = kept;
    }
}

static bool fill_batch(void *context, size_t slot)
{
    struct rows *r = context;
    struct batch *b = &r->batches[slot];
    arena_reset(&b->arena);
    for (b->n = 0; !r->ended && b->n < BATCH_ROWS && arena_used(&b->arena) < BATCH_BYTES;) {
        struct row *row = &b->v[b->n++];
        read_row(r, &b->arena, row);
        r->ended = row->verdict == PUZZLE_END || row->verdict == PUZZLE_FAIL;
    }
    return b->n > 0;
}

// ---- handing out ----

static bool next_batch(struct rows *r, struct err *err)
{
    size_t slot = 0;
    if (!r->batch && source_is_long(r->source)) {
        struct ring_work work = { .context = r, .fill = fill_batch, .slots = BATCHES };
        if (!ring_start(work, &r->ring, err))
            return err_add(err, "%.*s", STR(r->path));
    }
    if (!(r->ring ? ring_take(r->ring, &slot) : fill_batch(r, slot)))
        BUG("read on behind the end");
    r->batch = &r->batches[slot];
    r->next = 0;
    return true;
}

const struct row *rows_next(struct rows *r, struct err *err)
{
    if ((!r->batch || r->next == r->batch->n) && !next_batch(r, err))
        return NULL;
    return &r->batch->v[r->next++];
}

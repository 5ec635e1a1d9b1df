// SPDX-License-Identifier: GPL-3.0-or-later
// reader.c - one stream of checked puzzles, whatever the file is: CSV with or without a header,
// JSON Lines, compressed or not, or one of the two embedded files.
//
// Memory is flat: one window of text, one ring of blocks, and what the caller's arena takes for
// the row just read. A bad row is reported with its line and reading goes on behind it.
#include <stdlib.h>

#include "puzzle/internal.h"
#include "base/base.h"

struct puzzle_reader {
    struct arena arena;   // as long as the reader
    struct arena scratch; // one row
    str path;
    struct source *source;
    struct window window;
    bool is_jsonl;
    struct columns columns;
    struct csv_row csv;
    enum variant variant;
    str *head; // the header's fields; NULL: the file has none
    size_t n_head;
    bool pending; // the first row, read to find the columns, is a puzzle not yet handed out
    bool ended;
    size_t n_rows;                // data rows so far
    move moves[PUZZLE_MOVES_MAX]; // of the row just read
};

// ---- opening ----

// Looks at the first text: drops a byte-order mark, tells CSV from JSON Lines.
static bool look_at_start(struct puzzle_reader *r, struct err *err)
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

static bool read_header(struct puzzle_reader *r, struct err *err)
{
    switch (csv_next(&r->window, &r->csv, err)) {
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
    r->n_head = r->csv.n;
    r->head = NEW_ARRAY(&r->arena, str, r->n_head);
    for (size_t i = 0; i < r->n_head; i++)
        r->head[i] = arena_str(&r->arena, r->csv.fields[i]);
    return true;
}

static bool open_reader(str path, const str *text, struct puzzle_reader **out, struct err *err)
{
    struct puzzle_reader *r = mem_must(calloc(1, sizeof *r));
    r->path = arena_str(&r->arena, path);
    bool ok = text ? source_open_text(r->path, *text, &r->source, err)
                   : source_open(r->path, &r->source, err);
    r->window = (struct window){ .source = r->source, .line = 1 };
    if (!ok || !look_at_start(r, err) || (!r->is_jsonl && !read_header(r, err))) {
        puzzle_reader_free(r);
        return false;
    }
    *out = r;
    return true;
}

bool puzzle_reader_open_text(str name, str text, struct puzzle_reader **out, struct err *err)
{
    return open_reader(name, &text, out, err);
}

bool puzzle_reader_open(str path, struct puzzle_reader **out, struct err *err)
{
    if (!str_starts(path, S("builtin:")))
        return open_reader(path, NULL, out, err);
    str train = { (const char *)builtin_train_data, builtin_train_size };
    str test = { (const char *)builtin_test_data, builtin_test_size };
    if (str_eq(path, S("builtin:train")))
        return open_reader(path, &train, out, err);
    if (str_eq(path, S("builtin:test")))
        return open_reader(path, &test, out, err);
    return err_set(err, ERR_INPUT,
                   "%.*s: no such built-in file; there are builtin:train and "
                   "builtin:test",
                   STR(path));
}

void puzzle_reader_variant(struct puzzle_reader *r, enum variant variant)
{
    r->variant = variant;
}

void puzzle_reader_free(struct puzzle_reader *r)
{
    if (!r)
        return;
    source_free(r->source);
    window_free(&r->window);
    arena_free(&r->scratch);
    arena_free(&r->arena);
    free(r);
}

// ---- rows ----

static str field(const struct puzzle_reader *r, enum column c)
{
    int at = r->columns.at[c];
    return at >= 0 && (size_t)at < r->csv.n ? r->csv.fields[at] : S("");
}

// The next CSV row as a record.
static enum row_read csv_record(struct puzzle_reader *r, struct record *out, struct err *err)
{
    enum row_read got = ROW_GOOD;
    if (!r->pending)
        got = csv_next(&r->window, &r->csv, err);
    r->pending = false;
    *out = (struct record){ .lineno = r->csv.lineno };
    if (got != ROW_GOOD)
        return got;
    out->id = field(r, COLUMN_ID);
    size_t needed = (size_t)(r->columns.at[COLUMN_FEN] > r->columns.at[COLUMN_MOVES]
                                 ? r->columns.at[COLUMN_FEN]
                                 : r->columns.at[COLUMN_MOVES]);
    if (r->csv.n <= needed) {
        err_set(err, ERR_INPUT, "%zu fields, at least %zu are needed; fix or remove the row",
                r->csv.n, needed + 1);
        return ROW_BAD;
    }
    out->fen = field(r, COLUMN_FEN);
    out->line = field(r, COLUMN_MOVES);
    out->rating = field(r, COLUMN_RATING);
    out->themes = field(r, COLUMN_THEMES);
    return ROW_GOOD;
}

static enum row_read next_record(struct puzzle_reader *r, struct record *out, struct err *err)
{
    arena_reset(&r->scratch);
    enum row_read got =
        r->is_jsonl ? jsonl_next(&r->window, &r->scratch, out, err) : csv_record(r, out, err);
    if (got == ROW_BAD && out->id.len > 0)
        err_add(err, "%s", str_show(out->id, SHOWN_MAX_BYTES).text);
    if (got == ROW_FAIL || got == ROW_END)
        return got;
    out->row = r->n_rows++;
    bool unnamed = out->id.len == 0 && (r->is_jsonl || r->columns.at[COLUMN_ID] < 0);
    if (unnamed)
        out->id = arena_printf(&r->scratch, "row-%zu", out->row);
    return got;
}

enum puzzle_read puzzle_reader_next(struct puzzle_reader *r, struct arena *a, struct puzzle *out,
                                    struct err *err)
{
    if (r->ended)
        return PUZZLE_END;
    struct record record;
    enum row_read got = next_record(r, &record, err);
    switch (got) {
    case ROW_GOOD:
        record.variant = r->variant;
        if (!record_check(&record, r->moves, out, err))
            break;
        if (a)
            puzzle_keep(out, a);
        return PUZZLE_ROW;
    case ROW_BAD: out->fault = PUZZLE_FAULT_ROW; break;
    case ROW_END: r->ended = true; return PUZZLE_END;
    case ROW_FAIL: return PUZZLE_FAIL;
    }
    err_add(err, "%.*s:%zu", STR(r->path), record.lineno);
    return PUZZLE_BAD;
}

// ---- rows as they were ----

static void put_field(str text, struct buf *out)
{
    bool quote = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        quote |= c == ',' || c == '"' || c == '\r' || c == '\n';
    }
    if (!quote) {
        buf_add(out, text);
        return;
    }
    buf_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"')
            buf_add_char(out, '"');
        buf_add_char(out, text.data[i]);
    }
    buf_add_char(out, '"');
}

static void put_fields(const str *fields, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        put_field(fields[i], out);
    }
    buf_add_char(out, '\n');
}

// A file without a header, or without columns, gets the five that we know.
void puzzle_reader_row(const struct puzzle_reader *r, const struct puzzle *p, struct buf *out)
{
    if (r->head) {
        put_fields(r->csv.fields, r->csv.n, out);
        return;
    }
    str rating = p->has_rating ? arena_printf(out->arena, "%d", p->rating) : S("");
    const str fields[COLUMNS] = { p->id, p->fen, p->line, rating, p->themes };
    put_fields(fields, COLUMNS, out);
}

void puzzle_reader_head(const struct puzzle_reader *r, struct buf *out)
{
    static const str ours[COLUMNS] = { T("PuzzleId"), T("FEN"), T("Moves"), T("Rating"),
                                       T("Themes") };
    if (r->head)
        put_fields(r->head, r->n_head, out);
    else
        put_fields(ours, COLUMNS, out);
}

str puzzle_reader_sha256(struct puzzle_reader *r, struct arena *a)
{
    return r->ended ? source_sha256(r->source, a) : S("");
}

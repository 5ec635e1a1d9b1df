// SPDX-License-Identifier: GPL-3.0-or-later
// reader.c - one stream of checked puzzles: the rows of a file or of one of the two embedded ones,
// each line played. A bad row is reported with its line and reading goes on behind it.
#include <stdlib.h>

#include "puzzle/internal.h"
#include "base/base.h"

struct puzzle_reader {
    struct rows *rows;
    const struct row *row; // the one just read
    bool ended;
    move moves[PUZZLE_MOVES_MAX]; // of the row just read
};

static bool open_reader(str path, const str *text, struct puzzle_reader **out, struct err *err)
{
    struct rows *rows;
    if (!rows_open(path, text, &rows, err))
        return false;
    *out = mem_must(calloc(1, sizeof **out));
    (*out)->rows = rows;
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
    rows_variant(r->rows, variant);
}

void puzzle_reader_free(struct puzzle_reader *r)
{
    if (!r)
        return;
    rows_free(r->rows);
    free(r);
}

enum puzzle_read puzzle_reader_next(struct puzzle_reader *r, struct arena *a, struct puzzle *out,
                                    struct err *err)
{
    if (r->ended)
        return PUZZLE_END;
    r->row = rows_next(r->rows, err);
    enum puzzle_read got = r->row ? r->row->verdict : PUZZLE_FAIL;
    r->ended = got == PUZZLE_END || got == PUZZLE_FAIL;
    if (r->ended || got == PUZZLE_BAD) {
        if (r->row && r->row->err && err)
            *err = *r->row->err;
        out->fault = r->row ? r->row->puzzle.fault : PUZZLE_FAULT_NONE;
        return got;
    }
    *out = r->row->puzzle;
    if (!puzzle_play(out, r->moves, err)) {
        err_add(err, "%.*s:%zu", STR(rows_path(r->rows)), out->lineno);
        return PUZZLE_BAD;
    }
    if (a)
        puzzle_keep(out, a);
    return PUZZLE_ROW;
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

static void put_fields(const str fields[COLUMNS], struct buf *out)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        put_field(fields[i], out);
    }
    buf_add_char(out, '\n');
}

// A row or header of the file, but for its line end, which may be missing or CRLF.
static void put_line(str text, struct buf *out)
{
    while (text.len > 0 && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == '\r'))
        text.len--;
    buf_add(out, text);
    buf_add_char(out, '\n');
}

// A file without a header, or without columns, gets the five that we know.
void puzzle_reader_row(const struct puzzle_reader *r, const struct puzzle *p, struct buf *out)
{
    if (rows_head(r->rows).len > 0) {
        put_line(r->row->text, out);
        return;
    }
    str rating = p->has_rating ? arena_printf(out->arena, "%d", p->rating) : S("");
    put_fields((const str[COLUMNS]){ p->id, p->fen, p->line, rating, p->themes }, out);
}

void puzzle_reader_head(const struct puzzle_reader *r, struct buf *out)
{
    static const str ours[COLUMNS] = { T("PuzzleId"), T("FEN"), T("Moves"), T("Rating"),
                                       T("Themes") };
    if (rows_head(r->rows).len > 0)
        put_line(rows_head(r->rows), out);
    else
        put_fields(ours, out);
}

str puzzle_reader_sha256(struct puzzle_reader *r, struct arena *a)
{
    return r->ended ? rows_sha256(r->rows, a) : S("");
}

// SPDX-License-Identifier: GPL-3.0-or-later
// jsonl.c - puzzles as JSON Lines: an object a line, under the names of the Lichess dumps
// (PuzzleId, FEN, Moves) or of its database (id, fen, line).
#include <string.h>

#include "puzzle/internal.h"
#include "base/base.h"

// Takes the first line of the window, if a whole one is there; `seen` bytes hold no line feed.
static bool take_line(struct window *w, size_t seen, str *out)
{
    const char *from = w->data + w->begin;
    size_t n = w->end - w->begin;
    const char *lf = n > seen ? memchr(from + seen, '\n', n - seen) : NULL;
    if (!lf && (!w->at_end || n == 0))
        return false;
    size_t len = lf ? (size_t)(lf - from) : n;
    *out = (str){ from, len };
    w->begin += len + (lf != NULL);
    w->line++;
    return true;
}

// The next line in `*out`, without its line feed; ROW_BAD: longer than a row may be.
static enum row_read next_line(struct window *w, str *out, size_t *lineno, struct err *err)
{
    *lineno = w->line;
    for (size_t seen = 0; !take_line(w, seen, out);) {
        seen = w->end - w->begin;
        enum window_more state = window_more(w, err);
        if (state == WINDOW_FAIL)
            return ROW_FAIL;
        if (w->at_end && seen == 0 && w->end == w->begin)
            return ROW_END;
        if (state != WINDOW_FULL)
            continue;
        if (!window_skip_line(w, err))
            return ROW_FAIL;
        err_set(err, ERR_LIMIT, "the line is over %d MiB; remove it", ROW_MAX_BYTES >> 20);
        return ROW_BAD;
    }
    return ROW_GOOD;
}

// The first of several names that the object has.
static const json_t *member(const json_t *object, const char *const *names)
{
    for (; *names; names++) {
        const json_t *value = json_object_get(object, *names);
        if (value && !json_is_null(value))
            return value;
    }
    return NULL;
}

// A text, or a list of texts joined by blanks; anything else is an error that names the member.
static bool words(const json_t *value, const char *name, struct arena *scratch, str *out,
                  struct err *err)
{
    struct buf b = { .arena = scratch, .max = ROW_MAX_BYTES };
    size_t n = json_is_array(value) ? json_array_size(value) : 1;
    for (size_t i = 0; value && i < n; i++) {
        const json_t *word = json_is_array(value) ? json_array_get(value, i) : value;
        if (!json_is_string(word))
            return err_set(err, ERR_INPUT, "\"%s\" is neither a text nor a list of texts", name);
        if (i > 0)
            buf_add_char(&b, ' ');
        buf_add(&b, json_view(word));
    }
    *out = buf_str(&b);
    return true;
}

// A number rounded to an integer, as text; a text stays as it is.
static bool rating(const json_t *value, struct arena *scratch, str *out, struct err *err)
{
    if (!value || json_is_string(value)) {
        *out = arena_str(scratch, json_view(value));
        return true;
    }
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= 0 && number < 1e6))
        return err_set(err, ERR_INPUT,
                       "\"rating\" is not a number from 0 to 9999; fix it or leave it out");
    *out = arena_printf(scratch, "%d", (int)(number + 0.5));
    return true;
}

static bool read_object(const json_t *object, struct arena *scratch, struct record *out,
                        struct err *err)
{
    static const char *const ids[] = { "id", "PuzzleId", NULL };
    static const char *const fens[] = { "fen", "FEN", NULL };
    static const char *const lines[] = { "moves", "Moves", "line", NULL };
    static const char *const ratings[] = { "rating", "Rating", NULL };
    static const char *const themes[] = { "themes", "Themes", NULL };
    const json_t *id = member(object, ids), *fen = member(object, fens);
    const json_t *moves = member(object, lines);
    if (!json_is_object(object))
        return err_set(err, ERR_INPUT, "not a JSON object; write one object a line");
    if (id)
        out->id = json_is_integer(id)
                      ? arena_printf(scratch, "%" JSON_INTEGER_FORMAT, json_integer_value(id))
                      : arena_str(scratch, json_view(id));
    if (!json_is_string(fen) || !moves)
        return err_set(err, ERR_INPUT, "no \"%s\" in the object; add it or remove the line",
                       json_is_string(fen) ? "moves" : "fen");
    out->fen = arena_str(scratch, json_view(fen));
    return words(moves, "moves", scratch, &out->line, err) &&
           words(member(object, themes), "themes", scratch, &out->themes, err) &&
           rating(member(object, ratings), scratch, &out->rating, err);
}

enum row_read jsonl_next(struct window *w, struct arena *scratch, struct record *out,
                         struct err *err)
{
    str line;
    *out = (struct record){ 0 };
    do {
        enum row_read got = next_line(w, &line, &out->lineno, err);
        if (got != ROW_GOOD)
            return got;
        line = str_trim(line);
    } while (line.len == 0);
    json_t *object = json_read_strict(line, err);
    if (!object)
        return ROW_BAD;
    bool ok = read_object(object, scratch, out, err);
    json_decref(object);
    return ok ? ROW_GOOD : ROW_BAD;
}

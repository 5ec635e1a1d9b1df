// SPDX-License-Identifier: GPL-3.0-or-later
// read.c - the stream of games: one window of text, game after game cut off its front.
#include <stdlib.h>
#include <string.h>

#include "pgn/internal.h"

struct pgn_reader {
    struct source *source;
    struct window window;
    size_t line;     // at the front of the window, from 1
    uint64_t offset; // likewise, in the unpacked text
};

static void start(struct source *source, struct pgn_reader **out)
{
    struct pgn_reader *r = mem_must(calloc(1, sizeof *r));
    r->source = source;
    r->window.source = source;
    r->line = 1;
    *out = r;
}

bool pgn_open(str path, struct pgn_reader **out, struct err *err)
{
    struct source *source;
    if (!source_open(path, &source, err))
        return false;
    start(source, out);
    return true;
}

bool pgn_open_text(str path, str text, struct pgn_reader **out, struct err *err)
{
    struct source *source;
    if (!source_open_text(path, text, &source, err))
        return false;
    start(source, out);
    return true;
}

void pgn_close(struct pgn_reader *r)
{
    if (!r)
        return;
    window_free(&r->window);
    source_free(r->source);
    free(r);
}

static size_t count_lines(const char *p, size_t n)
{
    size_t lines = 0;
    for (size_t i = 0; i < n; i++)
        lines += p[i] == '\n';
    return lines;
}

static void drop(struct pgn_reader *r, size_t n)
{
    struct window *w = &r->window;
    r->line += count_lines(w->data + w->begin, n);
    r->offset += n;
    w->begin += n;
}

// From positions in the text to positions in the file.
static void locate(const struct pgn_reader *r, struct pgn_game *game)
{
    const char *text = r->window.data + r->window.begin;
    game->line = r->line + count_lines(text, (size_t)game->offset);
    game->offset += r->offset;
    if (!game->fault.code)
        return;
    game->fault_line = r->line + count_lines(text, (size_t)game->fault_offset);
    game->fault_offset += r->offset;
}

// A game without end: drops it up to the next line that begins a game.
static bool skip_giant(struct pgn_reader *r, struct err *err)
{
    static const str next = T("\n[Event ");
    struct window *w = &r->window;
    for (;;) {
        str text = { w->data + w->begin, w->end - w->begin };
        ptrdiff_t found = str_find(text, next);
        if (found >= 0) {
            drop(r, (size_t)found + 1);
            return true;
        }
        drop(r, text.len >= next.len ? text.len - (next.len - 1) : 0);
        switch (window_more(w, err)) {
        case WINDOW_MORE: continue;
        case WINDOW_END: drop(r, w->end - w->begin); return true;
        case WINDOW_FULL: BUG("a window with half a word is full");
        case WINDOW_FAIL: return false;
        }
    }
}

static enum pgn_read refuse_giant(struct pgn_reader *r, struct pgn_game *out, struct err *err)
{
    *out = (struct pgn_game){ .start = position_start() };
    out->end.now = out->start;
    err_set(&out->fault, ERR_LIMIT, "the game is longer than %d bytes", PGN_GAME_MAX_BYTES);
    locate(r, out);
    return skip_giant(r, err) ? PGN_BROKEN : PGN_FAIL;
}

enum pgn_read pgn_next(struct pgn_reader *r, struct arena *a, struct pgn_game *out, struct err *err)
{
    struct window *w = &r->window;
    for (;;) {
        str text = { w->data ? w->data + w->begin : "", w->end - w->begin };
        size_t used = pgn_parse_game(text, w->at_end, a, out);
        if (used > 0) {
            locate(r, out);
            drop(r, used);
            return out->fault.code ? PGN_BROKEN : PGN_GOOD;
        }
        if (w->at_end)
            return PGN_END;
        switch (window_more(w, err)) {
        case WINDOW_MORE:
        case WINDOW_END: continue;
        case WINDOW_FULL: return refuse_giant(r, out, err);
        case WINDOW_FAIL: return PGN_FAIL;
        }
    }
}

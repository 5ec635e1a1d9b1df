// SPDX-License-Identifier: GPL-3.0-or-later
// write.c - a game in PGN's export format.
#include "pgn/internal.h"

enum { LINE_MAX_COLUMNS = 79 };

struct writer {
    struct buf *out;
    size_t column;
    struct pgn_line lines[PGN_DEPTH_MAX + 1];
    size_t depth;
    bool numbered; // the next move of Black needs no number
    bool glued;    // the next token follows without a blank
};

// ---- tags ----

static const struct {
    str name, unknown;
} roster[] = {
    { T("Event"), T("?") }, { T("Site"), T("?") },  { T("Date"), T("????.??.??") },
    { T("Round"), T("?") }, { T("White"), T("?") }, { T("Black"), T("?") },
};

static void put_tag(struct buf *out, str name, str value)
{
    buf_addf(out, "[%.*s \"", STR(name));
    for (size_t i = 0; i < value.len; i++) {
        if (value.data[i] == '"' || value.data[i] == '\\')
            buf_add_char(out, '\\');
        buf_add_char(out, value.data[i]);
    }
    buf_add(out, S("\"]\n"));
}

static bool in_roster(str name)
{
    for (size_t i = 0; i < ARRAY_LEN(roster); i++) {
        if (str_eq(name, roster[i].name))
            return true;
    }
    return str_eq(name, S("Result"));
}

// How the game ended: the movetext's word, or else the tag's.
static str result_of(const struct pgn_game *game)
{
    str tag = pgn_result(pgn_tag(game, S("Result")));
    if (game->result.len > 0)
        return game->result;
    return tag.len > 0 ? tag : S("*");
}

static void put_tags(const struct pgn_game *game, struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(roster); i++) {
        str value = pgn_tag(game, roster[i].name);
        put_tag(out, roster[i].name, value.len > 0 ? value : roster[i].unknown);
    }
    str result = pgn_tag(game, S("Result"));
    put_tag(out, S("Result"), result.len > 0 ? result : result_of(game));
    for (size_t i = 0; i < game->tags.n; i++) {
        if (!in_roster(game->tags.v[i].name))
            put_tag(out, game->tags.v[i].name, game->tags.v[i].value);
    }
    buf_add_char(out, '\n');
}

// ---- movetext ----

static void put_token(struct writer *w, str token)
{
    size_t blank = w->column > 0 && !w->glued;
    if (w->column > 0 && w->column + blank + token.len > LINE_MAX_COLUMNS) {
        buf_add_char(w->out, '\n');
        w->column = 0;
    } else if (blank) {
        buf_add_char(w->out, ' ');
        w->column++;
    }
    buf_add(w->out, token);
    w->column += token.len;
    w->glued = false;
}

static void put_move(struct writer *w, move m)
{
    struct pgn_line *line = &w->lines[w->depth];
    char number[16];
    bool white = line->now.turn == WHITE;
    if (white || !w->numbered) {
        int len = snprintf(number, sizeof number, "%d%s", line->now.fullmove, white ? "." : "...");
        put_token(w, (str){ number, (size_t)len });
    }
    w->numbered = white;
    line->before = line->now;
    if (m == MOVE_NONE) {
        put_token(w, S("--"));
        if (!position_pass(&line->before, &line->now))
            BUG("a null move in check");
        return;
    }
    struct move_text san = san_format(&line->before, m);
    put_token(w, str_from(san.data));
    line->now = position_after(&line->before, m);
}

// Braces cannot be escaped in a comment: a closing one of a ";" comment becomes a parenthesis.
static void put_comment(struct writer *w, str text)
{
    put_token(w, S("{ "));
    for (size_t i = 0; i < text.len; i++) {
        buf_add_char(w->out, text.data[i] == '}' ? ')' : text.data[i]);
        w->column = text.data[i] == '\n' ? 0 : w->column + 1;
    }
    buf_add(w->out, S(" }"));
    w->column += 2;
    w->numbered = false;
}

static void put_nag(struct writer *w, int nag)
{
    char text[8];
    int len = snprintf(text, sizeof text, "$%d", nag);
    put_token(w, (str){ text, (size_t)len });
}

static void put_note(struct writer *w, const struct pgn_note *note)
{
    switch (note->kind) {
    case PGN_COMMENT: put_comment(w, note->text); return;
    case PGN_NAG: put_nag(w, note->nag); return;
    case PGN_SIDE_MOVE: put_move(w, note->side); return;
    case PGN_OPEN:
        put_token(w, S("("));
        w->lines[w->depth + 1].now = w->lines[w->depth].before;
        w->depth++;
        w->glued = true;
        break;
    case PGN_CLOSE:
        w->glued = true;
        put_token(w, S(")"));
        w->depth--;
        break;
    }
    w->numbered = false;
}

void pgn_write(const struct pgn_game *game, struct buf *out)
{
    struct writer w = { .out = out };
    size_t note = 0;
    w.lines[0].now = game->start;
    put_tags(game, out);
    for (size_t ply = 0; ply <= game->moves.n; ply++) {
        for (; note < game->notes.n && game->notes.v[note].ply == ply; note++)
            put_note(&w, &game->notes.v[note]);
        if (ply < game->moves.n)
            put_move(&w, game->moves.v[ply]);
    }
    put_token(&w, result_of(game));
    buf_add(out, S("\n\n"));
}

// SPDX-License-Identifier: GPL-3.0-or-later
// move.c - the words of the movetext: moves in all the ways in which files write them, results,
// and words that mean nothing to the rules.
#include <string.h>

#include "pgn/internal.h"

static const struct {
    str word, result;
} results[] = {
    { T("1-0"), T("1-0") },
    { T("0-1"), T("0-1") },
    { T("1/2-1/2"), T("1/2-1/2") },
    { T("1/2"), T("1/2-1/2") },
    { T("*"), T("*") },
    { T("\xC2\xBD-\xC2\xBD"), T("1/2-1/2") }, // one half as one character,
    { T("\xC2\xBD"), T("1/2-1/2") },
    { T("1\xE2\x80\x93"
        "0"),
      T("1-0") }, // and an en dash
    { T("0\xE2\x80\x93"
        "1"),
      T("0-1") },
    { T("1/2\xE2\x80\x93"
        "1/2"),
      T("1/2-1/2") },
    { T("\xC2\xBD\xE2\x80\x93\xC2\xBD"), T("1/2-1/2") },
};

// Null moves, in the spellings of ChessBase, Lichess, python-chess and others.
static const str nulls[] = { T("--"), T("Z0"), T("0000"), T("@@@@"), T("null"), T("pass") };

// Words of annotators: novelty, diagram, en passant, check, mate.
static const str idle[] = { T("N"), T("D"), T("e.p."), T("ep"), T("ch"), T("mate") };

str pgn_result(str word)
{
    for (size_t i = 0; i < ARRAY_LEN(results); i++) {
        if (str_eq(word, results[i].word))
            return results[i].result;
    }
    return (str){ 0 };
}

// Signs such as "+-", "=", "+/=" and their typographic forms have neither letter nor digit.
static bool is_sign(str word)
{
    for (size_t i = 0; i < word.len; i++) {
        if (ascii_is_alnum(word.data[i]))
            return false;
    }
    return true;
}

static str without_marks(str word)
{
    while (word.len > 0 && strchr("+#.", word.data[word.len - 1]))
        word.len--;
    if (word.len > 4 && str_ends(word, S("e.p"))) // its last dot is gone
        word.len -= 3;
    else if (word.len > 4 && str_ends(word, S("ep")))
        word.len -= 2;
    return word;
}

enum { CASTLING_MAX_BYTES = 5 };

// "0-0", "o-o" and longer with the letters that SAN has; other words as they are.
static str with_letters(str word, char out[CASTLING_MAX_BYTES])
{
    if (word.len < 3 || word.len > CASTLING_MAX_BYTES || !strchr("0oO", word.data[0]))
        return word;
    for (size_t i = 0; i < word.len; i++)
        out[i] = word.data[i] == '0' || word.data[i] == 'o' ? 'O' : word.data[i];
    return (str){ out, word.len };
}

// Advances the line in work; the main line is a `struct game`, which remembers keys.
static void play(struct pgn_parse *x, move m, const struct position *passed)
{
    struct pgn_line *line = &x->lines[x->depth];
    struct pgn_game *game = x->game;
    line->before = line->now;
    line->moved = true;
    if (x->depth > 0) {
        *vec_push(x->a, &game->notes) =
            (struct pgn_note){ .kind = PGN_SIDE_MOVE, .ply = game->moves.n, .side = m };
        line->now = passed ? *passed : position_after(&line->now, m);
        return;
    }
    *vec_push(x->a, &game->moves) = m;
    if (passed) {
        game->end.now = *passed;
        game->end.keys.n = 0; // a pass makes no position comparable to those before it
    } else {
        game_play(&game->end, m, x->a);
    }
    line->now = game->end.now;
}

static const char *verdict_text(enum san_verdict verdict)
{
    switch (verdict) {
    case SAN_AMBIGUOUS: return "is ambiguous";
    case SAN_INVALID: return "is no move";
    case SAN_ILLEGAL: return "is not legal";
    case SAN_LEGAL: break;
    }
    BUG("a legal move is no fault");
}

static void refuse(struct pgn_parse *x, str word, enum san_verdict verdict)
{
    const struct position *now = &x->lines[x->depth].now;
    if (x->depth > 0) {
        x->lines[x->depth].dead = true;
        x->game->bad_variations++;
        return;
    }
    struct buf fen = { .arena = x->a };
    position_format(now, &fen);
    pgn_fault(x, word.data, "move %d%s \"%s\" %s in %.*s", now->fullmove,
              now->turn == WHITE ? "." : "...", str_show(word, 20).text, verdict_text(verdict),
              STR(buf_str(&fen)));
}

static void read_null(struct pgn_parse *x, str word)
{
    struct position passed;
    if (position_pass(&x->lines[x->depth].now, &passed))
        play(x, MOVE_NONE, &passed);
    else
        refuse(x, word, SAN_ILLEGAL);
}

void pgn_read_word(struct pgn_parse *x, str word)
{
    char letters[CASTLING_MAX_BYTES];
    move m = MOVE_NONE;
    str text = with_letters(without_marks(word), letters);
    enum san_verdict verdict = san_parse(&x->lines[x->depth].now, text, &m);
    if (verdict == SAN_LEGAL)
        play(x, m, NULL);
    else if (str_among(word, nulls, ARRAY_LEN(nulls), NULL))
        read_null(x, word);
    else if (!is_sign(word) && !str_among(word, idle, ARRAY_LEN(idle), NULL))
        refuse(x, word, verdict);
}

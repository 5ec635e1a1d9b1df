// SPDX-License-Identifier: GPL-3.0-or-later
// check.c - a record becomes a puzzle: its FEN is legal and every move of its line can be played.
//
// The rule of few-shot specification 3.1: at least two moves; an odd number is allowed, its last
// move is the opponent's and nothing is asked after it.
#include <string.h>

#include "puzzle/internal.h"
#include "base/base.h"

enum { RATING_MAX = 9999 };

struct shown show(str s)
{
    struct shown out;
    size_t n = 0;
    size_t room = sizeof out.text - 4; // "..." and the end
    while (s.len > 0 && n + 4 < room) {
        uint32_t code;
        bool valid;
        size_t used = utf8_decode(s, &code, &valid);
        bool plain = valid && code >= 0x20 && code != 0x7F && !(code >= 0x80 && code < 0xA0);
        if (plain)
            memcpy(out.text + n, s.data, used);
        else
            out.text[n] = '?';
        n += plain ? used : 1;
        s = str_sub(s, used, s.len);
    }
    memcpy(out.text + n, s.len > 0 ? "..." : "", s.len > 0 ? 4 : 1);
    return out;
}

static bool is_clean(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.data[i] < 0x20 || s.data[i] == 0x7F)
            return false;
    return utf8_valid(s);
}

static bool check_texts(const struct record *in, struct err *err)
{
    if (in->id.len == 0)
        return err_set(err, ERR_INPUT, "the id is empty; give the row one or remove it");
    if (in->id.len > PUZZLE_ID_MAX_BYTES || !is_clean(in->id))
        return err_set(err, ERR_INPUT,
                       "the id is over %d bytes, has control characters or is not UTF-8; fix or "
                       "remove the row",
                       PUZZLE_ID_MAX_BYTES);
    if (in->themes.len > PUZZLE_THEMES_MAX_BYTES || !is_clean(in->themes))
        return err_set(err, ERR_INPUT,
                       "the themes are over %d bytes, have control characters or are not UTF-8; "
                       "fix or remove the row",
                       PUZZLE_THEMES_MAX_BYTES);
    return true;
}

static bool check_rating(str text, struct puzzle *out, struct err *err)
{
    text = str_trim(text);
    double value;
    out->has_rating = text.len > 0;
    if (!out->has_rating)
        return true;
    if (!str_to_double(text, &value) || value < 0 || value > RATING_MAX)
        return err_set(err, ERR_INPUT,
                       "rating '%s' is not a number from 0 to %d; fix or empty the field",
                       show(text).text, RATING_MAX);
    out->rating = (int)(value + 0.5);
    return true;
}

// The next word of a line whose words are separated by any number of blanks.
static str next_word(str *line)
{
    *line = str_trim(*line);
    return str_cut(line, ' ');
}

static bool play(const struct record *in, struct arena *a, struct puzzle *out, struct err *err)
{
    move moves[PUZZLE_MOVES_MAX];
    struct position pos = out->start;
    size_t n = 0;
    for (str rest = in->line, word; (word = next_word(&rest)).len > 0;) {
        if (n == PUZZLE_MOVES_MAX)
            return err_set(err, ERR_LIMIT, "more than %d moves; fix or remove the row",
                           PUZZLE_MOVES_MAX);
        if (!uci_parse(&pos, word, &moves[n]))
            return err_set(err, ERR_INPUT,
                           "move %zu '%s' is not legal in the line '%s' of FEN '%s'; fix or remove "
                           "the row",
                           n + 1, show(word).text, show(in->line).text, show(in->fen).text);
        pos = position_after(&pos, moves[n++]);
    }
    if (n < 2)
        return err_set(err, ERR_INPUT,
                       "%zu moves, at least two are needed: the opponent's and the solution; fix "
                       "or remove the row",
                       n);
    move *copy = NEW_ARRAY(a, move, n);
    memcpy(copy, moves, n * sizeof *copy);
    out->moves = copy;
    out->n_moves = n;
    return true;
}

static bool check(const struct record *in, struct arena *a, struct puzzle *out, struct err *err)
{
    *out = (struct puzzle){ .row = in->row, .lineno = in->lineno };
    if (!check_texts(in, err) || !check_rating(in->rating, out, err))
        return false;
    str fen = str_trim(in->fen);
    struct err why = { 0 };
    if (position_parse(fen, &out->start, &why) != FAULT_NONE)
        return err_set(err, ERR_INPUT, "%.300s, in '%s'; fix or remove the row", why.text,
                       show(fen).text);
    if (!play(in, a, out, err))
        return false;
    out->id = arena_str(a, in->id);
    out->fen = arena_str(a, fen);
    out->line = arena_str(a, str_trim(in->line));
    out->themes = arena_str(a, str_trim(in->themes));
    return true;
}

bool record_check(const struct record *in, struct arena *a, struct puzzle *out, struct err *err)
{
    if (check(in, a, out, err))
        return true;
    return in->id.len > 0 ? err_add(err, "%s", show(in->id).text) : false;
}

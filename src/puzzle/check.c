// SPDX-License-Identifier: GPL-3.0-or-later
// check.c - a record becomes a puzzle: its FEN is legal and every move of its line can be played.
//
// The rule of few-shot specification 3.1: at least two moves; an odd number is allowed, its last
// move is the opponent's and nothing is asked after it.
#include <string.h>

#include "puzzle/internal.h"
#include "base/base.h"

enum { RATING_MAX = 9999 };

// No controls, valid UTF-8. Nearly all texts are printable ASCII: eight bytes are looked at
// together, and only where one of them may be something else, all are looked at again.
static bool is_clean(str s)
{
    const uint64_t ones = 0x0101010101010101U, tops = ones << 7;
    uint64_t word, other = 0;
    size_t i = 0;
    for (; i + sizeof word <= s.len; i += sizeof word) {
        memcpy(&word, s.data + i, sizeof word);
        // a top bit where a byte is over 0x7E (adding one carries into it) or below 0x20
        other |= word | (word + ones) | (word - ones * 0x20);
    }
    bool controls = false;
    for (size_t from = other & tops ? 0 : i; from < s.len; from++) {
        unsigned char c = (unsigned char)s.data[from];
        controls |= c < 0x20 || c == 0x7F;
        other |= c;
    }
    return !controls && (!(other & tops) || utf8_valid(s));
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

// The usual form of a rating: one to four digits. -1: another form.
static int digits(str s)
{
    int value = 0;
    if (s.len == 0 || s.len > 4)
        return -1;
    for (size_t i = 0; i < s.len; i++) {
        if (!ascii_is_digit(s.data[i]))
            return -1;
        value = value * 10 + (s.data[i] - '0');
    }
    return value;
}

static bool check_rating(str text, struct puzzle *out, struct err *err)
{
    double value;
    out->has_rating = true;
    out->rating = digits(text);
    if (out->rating >= 0)
        return true;
    text = str_trim(text);
    out->has_rating = text.len > 0;
    out->rating = 0;
    if (!out->has_rating)
        return true;
    if (!str_to_double(text, &value) || value < 0 || value > RATING_MAX)
        return err_set(err, ERR_INPUT,
                       "rating '%s' is not a number from 0 to %d; fix or empty the field",
                       str_show(text, SHOWN_MAX_BYTES).text, RATING_MAX);
    out->rating = (int)(value + 0.5);
    return true;
}

void puzzle_keep(struct puzzle *p, struct arena *a)
{
    str *texts[] = { &p->id, &p->fen, &p->line, &p->themes };
    size_t size = 0;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        size += texts[i]->len + 1;
    char *to = arena_alloc(a, size);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (texts[i]->len > 0)
            memcpy(to, texts[i]->data, texts[i]->len);
        texts[i]->data = to;
        to += texts[i]->len + 1; // each ends with a NUL, as arena_str has it
    }
    move *moves = NEW_ARRAY(a, move, p->n_moves);
    memcpy(moves, p->moves, p->n_moves * sizeof *moves);
    p->moves = moves;
}

static bool begin(const struct record *in, struct puzzle *out, struct err *err)
{
    *out = (struct puzzle){ .row = in->row, .lineno = in->lineno };
    out->fault = PUZZLE_FAULT_ID_OR_THEMES;
    if (!check_texts(in, err))
        return false;
    out->fault = PUZZLE_FAULT_RATING;
    if (!check_rating(in->rating, out, err))
        return false;
    out->fault = PUZZLE_FAULT_FEN;
    str fen = str_trim(in->fen);
    struct err
        why; // filled where there is a fault, and not cleared before each of millions of rows
    if (position_parse_as(fen, in->variant, &out->start, NULL, &why) != FAULT_NONE)
        return err_set(err, ERR_INPUT, "%.300s, in '%s'; fix or remove the row", why.text,
                       str_show(fen, SHOWN_MAX_BYTES).text);
    out->id = in->id;
    out->fen = fen;
    out->line = str_trim(in->line);
    out->themes = str_trim(in->themes);
    out->fault = PUZZLE_FAULT_NONE;
    return true;
}

bool record_begin(const struct record *in, struct puzzle *out, struct err *err)
{
    if (begin(in, out, err))
        return true;
    return in->id.len > 0 ? err_add(err, "%s", str_show(in->id, SHOWN_MAX_BYTES).text) : false;
}

static bool is_playable(const struct puzzle *p, const struct line *line, enum line_verdict verdict,
                        struct err *err)
{
    switch (verdict) {
    case LINE_GOOD: break;
    case LINE_TOO_LONG:
        return err_set(err, ERR_LIMIT, "more than %d moves; fix or remove the row",
                       PUZZLE_MOVES_MAX);
    case LINE_ILLEGAL:
        return err_set(
            err, ERR_INPUT,
            "move %zu '%s' is not legal in the line '%s' of FEN '%s'; fix or remove "
            "the row",
            line->n + 1, str_show((str){ line->bad, line->bad_len }, SHOWN_MAX_BYTES).text,
            str_show(p->line, SHOWN_MAX_BYTES).text, str_show(p->fen, SHOWN_MAX_BYTES).text);
    }
    return line->n >= 2 ||
           err_set(err, ERR_INPUT,
                   "%zu moves, at least two are needed: the opponent's and the solution; fix "
                   "or remove the row",
                   line->n);
}

bool puzzle_play(struct puzzle *p, move *moves, struct err *err)
{
    struct line line;
    enum line_verdict verdict = uci_line_parse(&p->start, p->line, moves, PUZZLE_MOVES_MAX, &line);
    if (!is_playable(p, &line, verdict, err)) {
        p->fault = PUZZLE_FAULT_MOVES;
        return err_add(err, "%s", str_show(p->id, SHOWN_MAX_BYTES).text);
    }
    p->moves = moves;
    p->n_moves = line.n;
    if (line.n % 2 == 0) // else the opponent moved last, who was not mated
        p->mates = position_is_checkmate(&line.last);
    return true;
}

str puzzle_fault_name(enum puzzle_fault fault)
{
    static const str names[PUZZLE_FAULTS] = {
        [PUZZLE_FAULT_NONE] = T(""),
        [PUZZLE_FAULT_ROW] = T("row"),
        [PUZZLE_FAULT_ID_OR_THEMES] = T("id_or_themes"),
        [PUZZLE_FAULT_RATING] = T("rating"),
        [PUZZLE_FAULT_FEN] = T("fen"),
        [PUZZLE_FAULT_MOVES] = T("moves"),
    };
    return names[fault];
}

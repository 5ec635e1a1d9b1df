// SPDX-License-Identifier: GPL-3.0-or-later
// dialog_read.c - what a reply asks for, as the profiles compat and v0 read it, and which move the
// text behind make_move is (LLM Chess specification 1.6). Profile robust: dialog_robust.c.
#include "episode/internal.h"

// "make_move", exactly one space, then a greedy run of four to five letters and digits; the first
// place where all of it stands.
static bool find_move(str text, str *out)
{
    static const str name = T("make_move ");
    enum { SHORTEST = 4, LONGEST = 5 };
    for (ptrdiff_t at; (at = str_find(text, name)) >= 0;) {
        text = str_sub(text, (size_t)at + name.len, text.len);
        size_t n = 0;
        while (n < LONGEST && n < text.len && ascii_is_alnum(text.data[n]))
            n++;
        if (n >= SHORTEST) {
            *out = str_sub(text, 0, n);
            return true;
        }
    }
    return false;
}

static str last_word(str text)
{
    size_t at = text.len;
    while (at > 0 && !ascii_is_blank(text.data[at - 1]))
        at--;
    return str_sub(text, at, text.len);
}

static void set_move(struct dialog_reading *out, str text)
{
    out->action = ACTION_MOVE;
    out->move = text;
}

void dialog_read_compat(const struct dialog_rules *r, bool after_reflection, str text,
                        struct arena *a, struct dialog_reading *out)
{
    str word;
    text = str_trim(arena_lower(a, text));
    out->action = ACTION_NONE;
    if (text.len == 0)
        out->why = S("empty");
    else if (str_find(text, S("get_current_board")) >= 0)
        out->action = ACTION_BOARD;
    else if (str_find(text, S("get_legal_moves")) >= 0)
        out->action = ACTION_LIST;
    else if (r->profile == DIALOG_V0) {
        if (str_starts(text, S("make_move")))
            set_move(out, last_word(text));
    } else if (after_reflection && r->options & DIALOG_SWALLOW)
        out->action = ACTION_FOLLOW_UP;
    else if (str_find(text, S("do_reflection")) >= 0)
        out->action = ACTION_REFLECT;
    else if (find_move(text, &word))
        set_move(out, word);
}

static enum dialog_think think_of(const struct dialog_rules *r)
{
    if (r->think != THINK_BY_PROFILE)
        return r->think;
    return r->profile == DIALOG_ROBUST ? THINK_ALL : THINK_KEEP;
}

void dialog_read(const struct dialog_rules *r, const struct dialog_said *said, struct arena *a,
                 struct dialog_reading *out)
{
    bool open;
    *out = (struct dialog_reading){ .action = ACTION_NONE };
    out->kept = dialog_without_reasoning(think_of(r), said->text, &open, a);
    // Without a text the name of the called function is the text; compat drops its arguments.
    str text = str_trim(said->text).len == 0 ? said->tool : out->kept;
    if (open)
        out->why = S("unterminated_reasoning");
    else if (r->profile == DIALOG_ROBUST)
        dialog_read_robust(r, said, text, a, out);
    else
        dialog_read_compat(r, said->after_reflection, text, a, out);
    // What is not offered is a wrong action.
    if (out->action <= ACTION_MOVE && !dialog_offers(r, out->action))
        out->action = ACTION_NONE;
    if (out->action == ACTION_NONE && out->why.len == 0)
        out->why = S("no_action");
}

// ---- the move ----

// Four or five characters: two squares, and perhaps the letter of a piece.
static bool is_uci_shape(str text)
{
    square from, to;
    return (text.len == 4 || text.len == 5) && square_parse(str_sub(text, 0, 2), &from) &&
           square_parse(str_sub(text, 2, 2), &to) && from != to &&
           (text.len == 4 || str_find_char(S("pnbrqk"), text.data[4]) >= 0);
}

// The castling move that "king takes its own rook" means; MOVE_NONE: none.
static move castling_by_rook(const struct position *pos, str text)
{
    square from, to;
    if (text.len != 4 || !square_parse(str_sub(text, 0, 2), &from) ||
        !square_parse(str_sub(text, 2, 2), &to) || position_piece_at(pos, to) != ROOK)
        return MOVE_NONE;
    struct move_list list;
    moves_legal(pos, &list);
    for (size_t i = 0; i < list.n; i++) {
        move m = list.v[i];
        bool king_side = to > from;
        if (move_kind(m) == MOVE_CASTLING && move_from(m) == from &&
            king_side == (move_to(m) > from) && position_color_at(pos, to) == pos->turn &&
            pos->castling >> to & 1)
            return m;
    }
    return MOVE_NONE;
}

move dialog_uci_move(const struct dialog_rules *r, const struct position *pos, str text)
{
    move m;
    if (uci_parse(pos, text, &m))
        return m;
    if (r->options & DIALOG_AUTO_QUEEN && text.len == 4) {
        char queen[6] = { text.data[0], text.data[1], text.data[2], text.data[3], 'q' };
        if (uci_parse(pos, str_from(queen), &m))
            return m;
    }
    return castling_by_rook(pos, text);
}

str dialog_refusal(const struct dialog_rules *r, const struct position *pos, struct buf *b)
{
    if (!(r->options & DIALOG_NO_FEN)) {
        buf_add(b, S(" in "));
        position_format(pos, b);
    }
    return buf_str(b);
}

struct dialog_try dialog_move(const struct dialog_rules *r, const struct position *pos, str text,
                              struct arena *a)
{
    if (r->profile == DIALOG_ROBUST)
        return dialog_move_robust(r, pos, text, a);
    struct dialog_try out = { .m = dialog_uci_move(r, pos, text) };
    if (out.m != MOVE_NONE)
        return out;
    struct buf b = { .arena = a };
    // The null move has no right shape, but is one that the rules refuse (D3).
    bool shaped = is_uci_shape(text) || str_eq(text, S("0000"));
    buf_addf(&b, "%s uci: '%.*s'", shaped ? "illegal" : "invalid", STR(text));
    out.reason = shaped ? dialog_refusal(r, pos, &b) : buf_str(&b);
    return out;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// dialog_text.c - what the dialog shows: the kick-off, the board, the legal moves (LLM Chess
// specification 1.2 to 1.5).
#include "episode/dialog.h"

enum { FULL_MOVES_A_LINE = 5 };

static bool has(const struct dialog_rules *r, enum dialog_option o)
{
    return r->options & (unsigned)o;
}

static const struct prompt_set *set_of(const struct dialog_rules *r)
{
    return r->prompts ? r->prompts : &prompt_sets[0];
}

bool dialog_offers(const struct dialog_rules *r, enum dialog_action a)
{
    switch (a) {
    case ACTION_BOARD: return !has(r, DIALOG_SHOW_BOARD);
    case ACTION_LIST: return !has(r, DIALOG_SHOW_LIST) && !has(r, DIALOG_NO_LIST);
    case ACTION_REFLECT: return has(r, DIALOG_REFLECTION);
    case ACTION_MOVE: return true;
    case ACTION_FOLLOW_UP:
    case ACTION_NONE: return false;
    }
    BUG("no such action");
}

// ---- names ----

static const str profiles[] = { T("compat"), T("robust"), T("v0") };
static const str thinks[] = { T("profile"), T("none"), T("pair"), T("leading"), T("robust") };
static const str boards[] = { T("unicode"), T("fen"), T("ascii"), T("unicode+pgn") };

str dialog_profile_name(enum dialog_profile p)
{
    return profiles[p];
}

bool dialog_profile_parse(str name, enum dialog_profile *out)
{
    size_t i = 0;
    bool ok = str_among(name, profiles, ARRAY_LEN(profiles), &i);
    *out = ok ? (enum dialog_profile)i : DIALOG_COMPAT;
    return ok;
}

str dialog_think_name(enum dialog_think t)
{
    return thinks[t];
}

bool dialog_think_parse(str name, enum dialog_think *out)
{
    size_t i = 0;
    bool ok = str_among(name, thinks, ARRAY_LEN(thinks), &i);
    *out = ok ? (enum dialog_think)i : THINK_BY_PROFILE;
    return ok;
}

str dialog_board_name(enum dialog_board b)
{
    return boards[b];
}

bool dialog_board_parse(str name, enum dialog_board *out)
{
    size_t i = 0;
    bool ok = str_among(name, boards, ARRAY_LEN(boards), &i);
    *out = ok ? (enum dialog_board)i : BOARD_UNICODE;
    return ok;
}

str dialog_action_name(enum dialog_action a)
{
    static const str names[] = { T("get_current_board"), T("get_legal_moves"), T("do_reflection"),
                                 T("make_move") };
    return a < ARRAY_LEN(names) ? names[a] : S("");
}

// ---- boards ----

static str glyph(const struct position *pos, square s, bool unicode)
{
    // White K Q R B N P are U+2654 to U+2659, black ones U+265A to U+265F; empty is U+2B58.
    static const str white[] = { T("♙"), T("♘"), T("♗"), T("♖"), T("♕"), T("♔"), T("⭘") };
    static const str black[] = { T("♟"), T("♞"), T("♝"), T("♜"), T("♛"), T("♚") };
    static const char letters[] = "PNBRQK.pnbrqk";
    enum piece p = position_piece_at(pos, s);
    bool is_black = p != PIECE_NONE && position_color_at(pos, s) == BLACK;
    if (unicode)
        return is_black ? black[p] : white[p];
    return (str){ &letters[p + (is_black ? 7 : 0)], 1 };
}

static void add_grid(const struct dialog_rules *r, const struct position *pos, struct buf *b)
{
    bool unicode = r->board != BOARD_ASCII;
    bool turned = r->view == VIEW_BLACK || (r->view == VIEW_MOVER && pos->turn == BLACK);
    for (int i = 0; i < 64; i++) {
        int row = turned ? i / 8 : 7 - i / 8, column = turned ? 7 - i % 8 : i % 8;
        if (i > 0 && i % 8 == 0)
            buf_add_char(b, '\n');
        else if (i > 0 && unicode)
            buf_add_char(b, ' ');
        buf_add(b, glyph(pos, (square)(8 * row + column), unicode));
    }
}

void dialog_movetext(const struct dialog_scene *s, struct buf *out)
{
    struct position pos = s->start;
    unsigned first = pos.fullmove;
    for (size_t i = 0; i < s->n_moves; i++) {
        if (pos.turn == WHITE)
            buf_addf(out, "%u. ", (unsigned)pos.fullmove);
        else if (i == 0)
            buf_addf(out, "%u... ", (unsigned)pos.fullmove);
        buf_addf(out, "%s ", san_format(&pos, s->moves[i]).data);
        if (pos.turn == BLACK && (pos.fullmove - first + 1) % FULL_MOVES_A_LINE == 0)
            buf_add_char(out, '\n');
        pos = position_after(&pos, s->moves[i]);
    }
}

static void add_pgn(const struct dialog_scene *s, struct buf *b)
{
    buf_add(b, S("\n\nPGN:\n[Event \"Chess Game\"]\n[Date \"????.??.??\"]\n[White \"Player "
                 "White\"]\n[Black \"Player Black\"]\n[Result \"*\"]\n\n"));
    dialog_movetext(s, b);
}

str dialog_board_text(const struct dialog_rules *r, const struct dialog_scene *s, struct arena *a)
{
    struct buf b = { .arena = a };
    switch (r->board) {
    case BOARD_FEN: position_format(&s->game->now, &b); break;
    case BOARD_UNICODE:
    case BOARD_ASCII: add_grid(r, &s->game->now, &b); break;
    case BOARD_UNICODE_PGN:
        add_grid(r, &s->game->now, &b);
        add_pgn(s, &b);
        break;
    }
    return buf_str(&b);
}

str dialog_list_text(const struct position *pos, struct arena *a)
{
    struct buf b = { .arena = a };
    struct move_list list;
    moves_ordered(pos, &list);
    for (size_t i = 0; i < list.n; i++)
        buf_addf(&b, "%s%s", i ? "," : "", uci_format(list.v[i]).data);
    return buf_str(&b);
}

// ---- prompts ----

// `text` with {side} and {n} replaced.
static void add_filled(struct buf *b, str text, enum color side, int n)
{
    while (text.len > 0) {
        if (str_starts(text, S("{side}"))) {
            buf_add(b, side == WHITE ? S("white") : S("black"));
            text = str_sub(text, 6, text.len);
        } else if (str_starts(text, S("{n}"))) {
            buf_addf(b, "%d", n);
            text = str_sub(text, 3, text.len);
        } else {
            buf_add_char(b, text.data[0]);
            text = str_sub(text, 1, text.len);
        }
    }
}

// "1. e2e3 g8f6, 2. ..." under its heading.
static void add_previous(const struct dialog_scene *s, struct buf *b)
{
    buf_add(b, S("Previous moves (UCI):\n"));
    bool black_first = s->start.turn == BLACK;
    for (size_t i = 0; i < s->n_moves; i++) {
        size_t ply = i + black_first;
        if (ply % 2 == 0)
            buf_addf(b, "%s%zu. ", i ? ", " : "", ply / 2 + 1);
        else
            buf_add(b, i ? S(" ") : S("1... "));
        buf_add(b, str_from(uci_format(s->moves[i]).data));
    }
    buf_add(b, S("\n\n"));
}

str dialog_kickoff(const struct dialog_rules *r, const struct dialog_scene *s, struct arena *a)
{
    const struct prompt_set *set = set_of(r);
    bool reflects = has(r, DIALOG_REFLECTION);
    struct buf b = { .arena = a };
    if (has(r, DIALOG_SHOW_PREVIOUS) && s->n_moves > 0)
        add_previous(s, &b);
    // The published text counts three actions whether or not reflection makes four of them.
    int n = dialog_offers(r, ACTION_BOARD) + dialog_offers(r, ACTION_LIST) + 1;
    add_filled(&b, reflects ? set->intro_reflection : set->intro, (enum color)s->game->now.turn, n);
    for (int i = ACTION_BOARD; i <= ACTION_MOVE; i++) {
        if (!dialog_offers(r, (enum dialog_action)i))
            continue;
        buf_add(&b, reflects ? set->indent_reflection : set->indent);
        buf_add(&b, set->actions[i]);
    }
    buf_add(&b, reflects ? set->closing_reflection : set->closing);
    if (has(r, DIALOG_SHOW_BOARD))
        buf_addf(&b, "\nCurrent board:\n%.*s\n", STR(dialog_board_text(r, s, a)));
    if (has(r, DIALOG_SHOW_LIST))
        buf_addf(&b, "\nLegal moves (UCI):\n%.*s\n", STR(dialog_list_text(&s->game->now, a)));
    return buf_str(&b);
}

str dialog_invalid_text(const struct dialog_rules *r, struct arena *a)
{
    struct buf b = { .arena = a };
    buf_add(&b, set_of(r)->invalid);
    for (int i = ACTION_BOARD; i <= ACTION_MOVE; i++) {
        if (!dialog_offers(r, (enum dialog_action)i))
            continue;
        buf_add(&b, dialog_action_name((enum dialog_action)i));
        buf_add(&b, i == ACTION_MOVE ? S(" <UCI formatted move>") : S(", "));
    }
    return buf_str(&b);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// game_person.c - a person at the terminal as a player: what is shown, and what typed lines mean. A
// slip of the keyboard is no mistake in the sense of the protocol: it is told and asked again.
#include "episode/game_internal.h"
#include "episode/internal.h"

static const char HELP[] =
    "Type a move as e4, Nf3, O-O, e8=Q or e2e4, e1g1, e7e8q. Other words: board, moves (the legal\n"
    "ones), fen, resign, help. Ctrl-C or Ctrl-D breaks off: the same command goes on later.\n";

static void add_board(const struct game_episode *ep, struct buf *b)
{
    static const str glyphs[2][7] = {
        { T("♙"), T("♘"), T("♗"), T("♖"), T("♕"), T("♔"), T("·") },
        { T("♟"), T("♞"), T("♝"), T("♜"), T("♛"), T("♚"), T("·") },
    };
    const struct position *pos = &ep->now.now;
    bool turned = pos->turn == BLACK;
    for (int i = 0; i < 64; i++) {
        int row = turned ? i / 8 : 7 - i / 8, column = turned ? 7 - i % 8 : i % 8;
        square s = (square)(8 * row + column);
        enum piece p = position_piece_at(pos, s);
        bool black = p != PIECE_NONE && position_color_at(pos, s) == BLACK;
        if (i % 8 == 0)
            buf_addf(b, "%s%d ", i ? "\n" : "", row + 1);
        buf_addf(b, " %.*s", STR(glyphs[black][p]));
    }
    buf_add(b, turned ? S("\n   h g f e d c b a\n") : S("\n   a b c d e f g h\n"));
}

// The other side's last move.
static void add_last_move(const struct game_episode *ep, struct buf *b)
{
    size_t n = ep->record.moves.n;
    struct position pos = ep->record.start;
    if (n == 0)
        return;
    for (size_t i = 0; i + 1 < n; i++)
        pos = position_after(&pos, ep->record.moves.v[i]);
    buf_addf(b, "%s played %s\n", pos.turn == WHITE ? "White" : "Black",
             san_format(&pos, ep->record.moves.v[n - 1]).data);
}

enum step person_ask(struct game_episode *ep, str note, struct ask *out)
{
    struct buf b = { .arena = ep->base.arena };
    if (note.len > 0) {
        buf_add(&b, note);
    } else {
        buf_add_char(&b, '\n');
        add_last_move(ep, &b);
        add_board(ep, &b);
    }
    buf_addf(&b, "%s to move (help): ", game_ep_turn(ep) == WHITE ? "White" : "Black");
    *out = (struct ask){ .to = TO_PERSON, .person = buf_str(&b) };
    return STEP_ASK;
}

static str moves_text(const struct position *pos, struct arena *a)
{
    struct buf b = { .arena = a };
    struct move_list list;
    moves_sorted(pos, &list);
    for (size_t i = 0; i < list.n; i++)
        buf_addf(&b, "%s%s", i ? " " : "", san_format(pos, list.v[i]).data);
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

// What a word that is no move asks for; empty: it is none of them.
static str word_text(const struct game_episode *ep, str word)
{
    struct buf b = { .arena = ep->base.arena };
    if (word.len == 0 || str_eq(word, S("help")) || str_eq(word, S("?")))
        return str_from(HELP);
    if (str_eq(word, S("moves")))
        return moves_text(&ep->now.now, ep->base.arena);
    if (str_eq(word, S("board"))) {
        add_board(ep, &b);
    } else if (str_eq(word, S("fen"))) {
        position_format(&ep->now.now, &b);
        buf_add_char(&b, '\n');
    }
    return buf_str(&b);
}

bool person_take(struct game_episode *ep, const struct person_answer *in, struct ask *out)
{
    static const struct dialog_rules rules = { .profile = DIALOG_ROBUST, .options = DIALOG_NO_FEN };
    struct arena *a = ep->base.arena;
    str text = str_strip(in->line), word = arena_lower(a, text);
    game_ep_side(ep)->reply_ms += in->latency_ms;
    if (str_eq(word, S("resign"))) {
        game_ep_end(ep, REASON_RESIGNATION, CLASS_CHESS, !game_ep_turn(ep));
        return false;
    }
    str note = word_text(ep, word);
    if (note.len == 0) {
        struct dialog_try tried = dialog_move_robust(&rules, &ep->now.now, text, a);
        if (tried.m != MOVE_NONE) {
            game_ep_side(ep)->moves++;
            game_ep_play(ep, tried.m);
            game_ep_end_ply(ep, PLY_MOVED);
            return false;
        }
        note = arena_printf(a, "%.*s; \"moves\" lists the legal ones\n", STR(tried.reason));
    }
    (void)person_ask(ep, note, out);
    return true;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// observation.c - what the policy sees of a position: the raw observation (1.6). Its bytes are part
// of published results: nothing here may change without raising the version of rollouts.
#include "harness/harness.h"

static void add_board(const struct position *at, struct buf *out)
{
    static const char letters[] = "PNBRQK";
    buf_add(out, S("Board:\n"));
    for (int rank = 7; rank >= 0; rank--) {
        buf_add_char(out, (char)('1' + rank));
        for (int file = 0; file < 8; file++) {
            square s = (square)(8 * rank + file);
            enum piece p = position_piece_at(at, s);
            char c = p == PIECE_NONE ? '.' : letters[p];
            if (p != PIECE_NONE && position_color_at(at, s) == BLACK)
                c = ascii_lower(c);
            buf_add_char(out, ' ');
            buf_add_char(out, c);
        }
        buf_add_char(out, '\n');
    }
    buf_add(out, S("  a b c d e f g h\n"));
}

static void add_history(const struct observed *o, struct buf *out)
{
    if (o->last_reply.len > 0)
        buf_addf(out, "Last opponent reply: %.*s\n", STR(o->last_reply));
    for (size_t i = 0; i < o->n_accepted; i++) {
        buf_add(out, i == 0 ? S("Your accepted moves so far: ") : S(", "));
        buf_add(out, o->accepted[i]);
    }
    if (o->n_accepted > 0)
        buf_add_char(out, '\n');
    buf_addf(out, "Puzzle move number: %zu\n", o->n_accepted + 1);
}

str harness_observation(const struct observed *o, struct arena *a)
{
    struct buf b = { .arena = a };
    struct move_list legal;
    moves_sorted(o->at, &legal);
    buf_addf(&b, "Task: solve the chess puzzle one move at a time.\nSide to move: %s\nFEN: ",
             o->at->turn == WHITE ? "White" : "Black");
    position_format(o->at, &b);
    buf_add_char(&b, '\n');
    add_board(o->at, &b);
    add_history(o, &b);
    buf_add(&b, S("Legal moves:"));
    for (size_t i = 0; i < legal.n; i++)
        buf_addf(&b, "\n- [%s] SAN=%s", uci_format(legal.v[i]).data,
                 san_format(o->at, legal.v[i]).data);
    return buf_str(&b);
}

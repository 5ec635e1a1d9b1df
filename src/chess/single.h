// SPDX-License-Identifier: GPL-3.0-or-later
// single.h - one named move at a time: can the piece go there, and does its king stand safe with
// the board as it will be? No list of moves is made. For readers of millions of moves.
#pragma once
#include "chess/internal.h"

// All ones where `b` has the square, else zero.
static ALWAYS_INLINE bitboard if_on(bitboard b, square s)
{
    return 0 - (b >> s & 1);
}

// Whether a piece that is no pawn can go there, safe or not. Which piece it is is not to be
// guessed, so that is not asked by branches.
static inline bool piece_goes(const struct position *pos, square from, square to)
{
    bitboard reach =
        (if_on(pos->piece[KNIGHT], from) & chess_tables.knight[from]) |
        (if_on(pos->piece[KING], from) & chess_tables.king[from]) |
        (if_on(pos->piece[BISHOP] | pos->piece[QUEEN], from) & chess_tables.diagonals[from]) |
        (if_on(pos->piece[ROOK] | pos->piece[QUEEN], from) & chess_tables.straights[from]);
    return (reach & bit(to)) && !(chess_tables.between[from][to] & occupied_by_all(pos));
}

// The kind of a pawn's move but for promotions; false: it cannot go there. En passant is left to
// the slow way.
static inline bool pawn_goes(const struct position *pos, square from, square to,
                             enum move_kind *kind)
{
    enum color us = (enum color)pos->turn;
    int up = us == WHITE ? 8 : -8;
    bitboard occupied = occupied_by_all(pos);
    *kind = MOVE_PLAIN;
    if (chess_tables.pawn[us][from] & bit(to))
        return pos->side[other(us)] & bit(to);
    if (to == from + up)
        return !(occupied & bit(to));
    *kind = MOVE_DOUBLE_PUSH;
    bool starts = forward(us, back_rank(us)) & bit(from);
    return starts && to == from + 2 * up && !(occupied & (bit(to) | bit((square)(from + up))));
}

// The king's safety on the board after the move, which is no castling and not en passant.
static inline bool stands_safe(const struct position *pos, square from, square to)
{
    enum color us = (enum color)pos->turn, them = other(us);
    bitboard after = (occupied_by_all(pos) & ~bit(from)) | bit(to);
    square home = king_of(pos, us), king = home == from ? to : home;
    bitboard attackers = steppers_at(pos, king, them) | sliders_seeing(pos, king, them, after) |
                         (chess_tables.king[king] & pos->piece[KING] & pos->side[them]);
    return !(attackers & ~bit(to));
}

// SPDX-License-Identifier: GPL-3.0-or-later
// safety.h - what the safety of a king asks: checkers, pins, attacked squares. Inline, as part of
// the generator.
#pragma once
#include "chess/internal.h"

struct masks { // what the king's safety asks of everybody else
    square king;
    bitboard checkers;
    bitboard pinned;  // own pieces that may only move along their line through the king
    bitboard targets; // squares that capture or block a single checker; own pieces excluded
};

// Checkers and pins: every enemy slider that would see the king on an empty board either gives
// check, or pins the one piece between, or does neither.
static ALWAYS_INLINE struct masks find_masks(const struct position *pos, enum color us)
{
    enum color them = other(us);
    bitboard own = pos->side[us], occupied = own | pos->side[them];
    struct masks m = { .king = king_of(pos, us) };
    m.checkers = steppers_at(pos, m.king, them);
    bitboard snipers = sliders_in_line(pos, m.king, them);
    while (snipers) {
        square s = pop_lowest(&snipers);
        bitboard blockers = chess_tables.between[m.king][s] & occupied;
        if (!blockers)
            m.checkers |= bit(s);
        else if (!has_many(blockers))
            m.pinned |= blockers & own;
    }
    m.targets = ~own;
    if (m.checkers)
        m.targets &= chess_tables.between[m.king][lowest(m.checkers)] | m.checkers;
    return m;
}

// All squares that `them` attack when exactly `occupied` is occupied.
static ALWAYS_INLINE bitboard attacked_by(const struct position *pos, enum color them,
                                          bitboard occupied)
{
    bitboard b = pawn_captures(them, pos->piece[PAWN] & pos->side[them]) |
                 chess_tables.king[king_of(pos, them)];
    for (bitboard k = pos->piece[KNIGHT] & pos->side[them]; k;)
        b |= chess_tables.knight[pop_lowest(&k)];
    for (bitboard d = diagonal_sliders(pos, them); d;)
        b |= bishop_attacks(pop_lowest(&d), occupied);
    for (bitboard r = straight_sliders(pos, them); r;)
        b |= rook_attacks(pop_lowest(&r), occupied);
    return b;
}

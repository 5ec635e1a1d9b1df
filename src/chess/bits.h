// SPDX-License-Identifier: GPL-3.0-or-later
// bits.h - sets of squares as 64 bits: the lines of the board, and taking sets apart.
#pragma once
#include "chess/chess.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

static const bitboard FILE_A = 0x0101010101010101u;
static const bitboard FILE_H = 0x8080808080808080u;
static const bitboard RANK_1 = 0xFFu;
static const bitboard RANK_8 = 0xFF00000000000000u;
static const bitboard DARK_SQUARES = 0xAA55AA55AA55AA55u; // a1 is dark

static ALWAYS_INLINE bitboard bit(square s)
{
    return (bitboard)1 << s;
}

static ALWAYS_INLINE square lowest(bitboard b) // b is not empty
{
    return (square)__builtin_ctzll(b);
}

static ALWAYS_INLINE square highest(bitboard b) // b is not empty
{
    return (square)(63 - __builtin_clzll(b));
}

static ALWAYS_INLINE square pop_lowest(bitboard *b)
{
    square s = lowest(*b);
    *b &= *b - 1;
    return s;
}

// Written out: a machine without an instruction for it is asked for, and the library's function
// looks into a table for each byte (Knuth 7.1.3).
static ALWAYS_INLINE unsigned count(bitboard b)
{
    b -= b >> 1 & 0x5555555555555555u;
    b = (b & 0x3333333333333333u) + (b >> 2 & 0x3333333333333333u);
    b = (b + (b >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (unsigned)(b * 0x0101010101010101u >> 56);
}

static ALWAYS_INLINE bool has_many(bitboard b)
{
    return (b & (b - 1)) != 0;
}

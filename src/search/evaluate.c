// SPDX-License-Identifier: GPL-3.0-or-later
// evaluate.c - what a position is worth without looking ahead: material, and where it stands.
//
// The tables are our own and deliberately plain. They fold the board at its middle file (a = h,
// d = e), so a piece has 8 ranks of 4 numbers, seen by its owner: the first row is the home rank.
// The king has two tables: behind its pawns while there are queens, in the centre afterwards.
#include "search/internal.h"

enum { RANKS = 8, FOLDED_FILES = 4 };
typedef int8_t square_table[RANKS][FOLDED_FILES];

static const int piece_value[PIECE_NONE + 1] = { 100, 310, 330, 500, 940, 0, 0 };

// clang-format off
static const square_table tables[] = {
    [PAWN] = {
        {  0,  0,  0,  0 }, {  4,  6,  4,-12 }, {  4,  2,  2,  4 }, {  0,  2,  8, 22 },
        {  6,  8, 14, 28 }, { 20, 24, 30, 36 }, { 60, 60, 60, 60 }, {  0,  0,  0,  0 },
    },
    [KNIGHT] = {
        {-45,-30,-22,-20 }, {-30,-12,  0,  4 }, {-20,  4, 14, 16 }, {-16,  8, 18, 24 },
        {-14, 10, 22, 30 }, {-18,  8, 24, 28 }, {-30,-14,  6,  8 }, {-50,-32,-24,-20 },
    },
    [BISHOP] = {
        {-16, -8,-12, -8 }, { -4, 14,  2,  6 }, {  0,  8, 10, 10 }, { -2,  4, 12, 16 },
        { -2,  8, 12, 18 }, { -4,  4, 12, 14 }, {-10, -2,  0,  2 }, {-16,-10, -8, -8 },
    },
    [ROOK] = {
        { -4, -2,  4, 10 }, { -8, -2,  0,  4 }, { -6,  0,  0,  2 }, { -4,  0,  0,  2 },
        { -2,  2,  2,  4 }, {  0,  4,  4,  6 }, { 16, 20, 20, 20 }, {  8, 10, 10, 12 },
    },
    [QUEEN] = {
        {-14, -8, -4,  0 }, { -8, -2,  4,  4 }, { -4,  4,  4,  4 }, { -2,  2,  4,  6 },
        { -2,  2,  6,  8 }, { -2,  4,  8,  8 }, { -6, -4,  4,  4 }, { -8, -2,  0,  2 },
    },
    [KING] = {
        { 24, 34, 14, -8 }, { 14, 14, -8,-16 }, {-14,-20,-26,-32 }, {-26,-32,-38,-46 },
        {-34,-40,-46,-56 }, {-40,-46,-52,-60 }, {-46,-52,-56,-62 }, {-50,-56,-60,-66 },
    },
};
static const square_table king_without_queens = {
        {-46,-32,-22,-18 }, {-28,-14, -4,  0 }, {-16,  0, 16, 22 }, {-12,  6, 24, 32 },
        {-10,  8, 26, 34 }, {-12,  6, 20, 26 }, {-24, -8,  2,  8 }, {-44,-28,-20,-16 },
};
// clang-format on

int piece_value_cp(enum piece p)
{
    return piece_value[p];
}

static int place_value(const square_table *table, square s, enum color owner)
{
    unsigned rank = owner == WHITE ? s / 8U : 7U - s / 8U;
    unsigned file = s % 8U;
    return (*table)[rank][file < FOLDED_FILES ? file : 7U - file];
}

static int side_value(const struct position *pos, enum color owner)
{
    int sum = 0;
    for (int p = PAWN; p <= KING; p++) {
        const square_table *table = &tables[p];
        if (p == KING && pos->piece[QUEEN] == 0)
            table = &king_without_queens;
        for (bitboard left = pos->piece[p] & pos->side[owner]; left; left &= left - 1)
            sum += piece_value[p] + place_value(table, (square)__builtin_ctzll(left), owner);
    }
    return sum;
}

int evaluate_cp(const struct position *pos)
{
    int white = side_value(pos, WHITE) - side_value(pos, BLACK);
    return pos->turn == WHITE ? white : -white;
}

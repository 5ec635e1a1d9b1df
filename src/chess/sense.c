// SPDX-License-Identifier: GPL-3.0-or-later
// sense.c - is what a FEN describes a position that chess can reach by its own rules?
//
// Accepts and refuses what python-chess's Board.is_valid() does, except that bad castling rights
// and unusable en-passant squares are mended, as most data needs.
#include "chess/internal.h"

enum { SQUARES_NAMED_MAX = 4, NAMES_MAX_BYTES = sizeof " (a1, b1, c1, d1)" };

static const char *color_name(enum color c)
{
    return c == WHITE ? "white" : "black";
}

// Says what is wrong with a colour, and which squares show it.
static void refuse(struct err *err, enum color c, const char *what, bitboard where)
{
    char squares[NAMES_MAX_BYTES] = "";
    size_t n = 0;
    for (int i = 0; where && i < SQUARES_NAMED_MAX; i++) {
        square s = pop_lowest(&where);
        squares[n++] = i ? ',' : ' ';
        squares[n++] = i ? ' ' : '(';
        squares[n++] = (char)('a' + (s & 7));
        squares[n++] = (char)('1' + (s >> 3));
    }
    if (n)
        squares[n] = ')';
    err_set(err, ERR_INPUT, "bad FEN: %s %s%s", color_name(c), what, squares);
}

static enum position_fault check_side(const struct position *pos, enum color c, struct err *err)
{
    bitboard own = pos->side[c], kings = pos->piece[KING] & own;
    bitboard stuck = pos->piece[PAWN] & own & (RANK_1 | RANK_8);
    enum position_fault fault = FAULT_NONE;
    if (!kings) {
        fault = FAULT_NO_KING;
        refuse(err, c, "has no king, must have one", 0);
    } else if (has_many(kings)) {
        fault = FAULT_TOO_MANY_KINGS;
        refuse(err, c, "has more than one king", kings);
    } else if (count(pos->piece[PAWN] & own) > 8) {
        fault = FAULT_TOO_MANY_PAWNS;
        refuse(err, c, "has more than 8 pawns", 0);
    } else if (count(own) > 16) {
        fault = FAULT_TOO_MANY_PIECES;
        refuse(err, c, "has more than 16 pieces", 0);
    } else if (stuck) {
        fault = FAULT_PAWN_ON_BACK_RANK;
        refuse(err, c, "has a pawn on rank 1 or 8", stuck);
    }
    return fault;
}

// The rights of one side: the king on its back rank, one rook on either side of it at most, the
// outer one where two are named; in standard chess all of them at home.
static bitboard castling_of(const struct position *pos, enum color c)
{
    bitboard rooks = pos->castling & pos->piece[ROOK] & pos->side[c] & back_rank(c);
    bitboard king = pos->piece[KING] & pos->side[c] & back_rank(c);
    if (pos->variant == VARIANT_STANDARD) {
        rooks &= FILE_A | FILE_H;
        king &= FILE_A << 4;
    }
    bitboard a_side = rooks & (king - 1) & -(rooks & (king - 1)); // king is one bit
    bitboard h_side = rooks & ~(king - 1);
    if (!king)
        return 0;
    return a_side | (h_side ? bit(highest(h_side)) : 0);
}

bool castling_clean(struct position *pos)
{
    bitboard before = pos->castling;
    pos->castling = castling_of(pos, WHITE) | castling_of(pos, BLACK);
    return pos->castling != before;
}

// Can a double step have left this en-passant square? The pawn must stand before it, and the
// squares it came over must be empty.
static bool en_passant_is_possible(const struct position *pos)
{
    enum color them = other((enum color)pos->turn);
    square s = pos->en_passant;
    if (s >> 3 != (them == WHITE ? 2 : 5))
        return false;
    bitboard came_over = bit(s) | bit((square)(them == WHITE ? s - 8 : s + 8));
    bitboard pawns = pos->piece[PAWN] & pos->side[them];
    return (pawns & bit(en_passant_victim(s))) && !(occupied_by_all(pos) & came_over);
}

// Could any last move have given these checks? After a double step: only the pawn itself, or a
// line opened by it. Else at most two, of which one is uncovered: so not two knights or pawns, and
// not two sliders on one line through the king.
static bool checks_are_possible(const struct position *pos, bitboard checkers)
{
    enum color us = (enum color)pos->turn, them = other(us);
    square king = king_of(pos, us);
    if (pos->en_passant != SQUARE_NONE) {
        bitboard pawn = bit(en_passant_victim(pos->en_passant));
        bitboard home = bit((square)(pos->en_passant + (them == WHITE ? -8 : 8)));
        bitboard before = (occupied_by_all(pos) & ~pawn) | home;
        return !has_many(checkers) &&
               (checkers == pawn ||
                (!(steppers_at(pos, king, them) & ~pawn) && !sliders_at(pos, king, them, before)));
    }
    if (count(checkers) > 2)
        return false;
    if (!has_many(checkers))
        return true;
    square a = lowest(checkers), b = lowest(checkers & (checkers - 1));
    bool aligned = chess_tables.line[a][b] & bit(king);
    return !aligned && !has_many(checkers & (pos->piece[PAWN] | pos->piece[KNIGHT]));
}

enum position_fault position_check(struct position *pos, unsigned *repairs, struct err *err)
{
    enum position_fault fault = check_side(pos, WHITE, err);
    if (!fault)
        fault = check_side(pos, BLACK, err);
    if (fault)
        return fault;
    enum color us = (enum color)pos->turn;
    bitboard attackers =
        checkers_of(pos, us) | (chess_tables.king[king_of(pos, other(us))] & pos->piece[KING]);
    if (attackers) {
        refuse(err, other(us), "is in check but not to move; from", attackers);
        return FAULT_OPPOSITE_CHECK;
    }
    if (castling_clean(pos))
        *repairs |= REPAIR_CASTLING;
    if (pos->en_passant != SQUARE_NONE && !en_passant_is_possible(pos)) {
        pos->en_passant = SQUARE_NONE;
        *repairs |= REPAIR_EN_PASSANT;
    }
    bitboard checkers = checkers_of(pos, other(us));
    if (checkers && !checks_are_possible(pos, checkers)) {
        refuse(err, us, "is in a check that no move can have given; from", checkers);
        return FAULT_IMPOSSIBLE_CHECK;
    }
    en_passant_normalize(pos);
    return FAULT_NONE;
}

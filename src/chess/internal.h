// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - bitboards, attacks and the bare making of moves, shared by the files of this module.
//
// Everything here is on the hot path of move generation and therefore inline; the generator itself
// is in generate.h. No run-time initialisation: the tables are constants made by tables_gen.c.
#pragma once
#include "chess/bits.h"

struct magic { // see tables_gen.c
    bitboard mask;
    uint64_t factor;
    uint32_t offset, shift;
};

struct chess_tables {
    bitboard knight[64], king[64];
    bitboard pawn[2][64];                  // captures, by colour
    bitboard diagonals[64], straights[64]; // what bishop and rook attack on an empty board
    bitboard between[64][64];              // strictly between two squares of one line, else empty
    bitboard line[64][64];                 // the whole line through two squares, else empty
    struct magic bishop[64], rook[64];
    uint64_t zobrist_piece[2][6][64];
    uint64_t zobrist_castling[64]; // by rook square
    uint64_t zobrist_en_passant[8];
    uint64_t zobrist_turn; // in the key when black is to move
    bitboard slides[107648];
};
extern const struct chess_tables chess_tables;

static ALWAYS_INLINE bitboard slide(const struct magic *m, bitboard occupied)
{
    return chess_tables.slides[m->offset + ((occupied & m->mask) * m->factor >> m->shift)];
}

static ALWAYS_INLINE bitboard bishop_attacks(square s, bitboard occupied)
{
    return slide(&chess_tables.bishop[s], occupied);
}

static ALWAYS_INLINE bitboard rook_attacks(square s, bitboard occupied)
{
    return slide(&chess_tables.rook[s], occupied);
}

// One rank forward, as `us` sees it.
static ALWAYS_INLINE bitboard forward(enum color us, bitboard b)
{
    return us == WHITE ? b << 8 : b >> 8;
}

static ALWAYS_INLINE bitboard pawn_captures(enum color us, bitboard pawns)
{
    bitboard ahead = forward(us, pawns);
    return (ahead & ~FILE_A) >> 1 | (ahead & ~FILE_H) << 1;
}

static ALWAYS_INLINE bitboard back_rank(enum color us)
{
    return us == WHITE ? RANK_1 : RANK_8;
}

static ALWAYS_INLINE bitboard occupied_by_all(const struct position *pos)
{
    return pos->side[WHITE] | pos->side[BLACK];
}

static ALWAYS_INLINE square king_of(const struct position *pos, enum color us)
{
    return lowest(pos->piece[KING] & pos->side[us]);
}

static ALWAYS_INLINE enum color other(enum color c)
{
    return c == WHITE ? BLACK : WHITE;
}

static ALWAYS_INLINE bitboard diagonal_sliders(const struct position *pos, enum color c)
{
    return (pos->piece[BISHOP] | pos->piece[QUEEN]) & pos->side[c];
}

static ALWAYS_INLINE bitboard straight_sliders(const struct position *pos, enum color c)
{
    return (pos->piece[ROOK] | pos->piece[QUEEN]) & pos->side[c];
}

// Sliders of `them` that attack `s` when exactly `occupied` is occupied.
static ALWAYS_INLINE bitboard sliders_at(const struct position *pos, square s, enum color them,
                                         bitboard occupied)
{
    return (bishop_attacks(s, occupied) & diagonal_sliders(pos, them)) |
           (rook_attacks(s, occupied) & straight_sliders(pos, them));
}

// The same on an empty board.
static ALWAYS_INLINE bitboard sliders_in_line(const struct position *pos, square s, enum color them)
{
    return (chess_tables.diagonals[s] & diagonal_sliders(pos, them)) |
           (chess_tables.straights[s] & straight_sliders(pos, them));
}

// Knights and pawns of `them` that attack `s`.
static ALWAYS_INLINE bitboard steppers_at(const struct position *pos, square s, enum color them)
{
    return ((chess_tables.knight[s] & pos->piece[KNIGHT]) |
            (chess_tables.pawn[other(them)][s] & pos->piece[PAWN])) &
           pos->side[them];
}

// The same, found from the empty board: the few sliders in line, and whether something stands
// between. Slower when all tables are in the cache, and much faster where they are not: it touches
// one entry a square instead of all. For readers of positions, of which no two are alike.
static ALWAYS_INLINE bitboard sliders_seeing(const struct position *pos, square s, enum color them,
                                             bitboard occupied)
{
    bitboard seeing = 0;
    for (bitboard b = sliders_in_line(pos, s, them); b;) {
        square from = pop_lowest(&b);
        if (!(chess_tables.between[s][from] & occupied))
            seeing |= bit(from);
    }
    return seeing;
}

// All pieces of `them` that attack the king of the other side.
static ALWAYS_INLINE bitboard checkers_of(const struct position *pos, enum color them)
{
    square king = king_of(pos, other(them));
    return steppers_at(pos, king, them) | sliders_seeing(pos, king, them, occupied_by_all(pos));
}

static ALWAYS_INLINE move move_new(square from, square to, enum move_kind kind)
{
    return (move)((unsigned)from | (unsigned)to << 6 | (unsigned)kind << 12);
}

static ALWAYS_INLINE square raw_to(move m) // of castling: the rook's square
{
    return m >> 6 & 63;
}

// Set in a castling move of chess960: it is written as king takes rook.
enum { MOVE_WRITTEN_RAW = 1 << 15 };

// Where king and rook of a castling move arrive.
static ALWAYS_INLINE square castling_king_to(square king, square rook)
{
    return (square)((king & 56) + (rook > king ? 6 : 2));
}

static ALWAYS_INLINE square castling_rook_to(square king, square rook)
{
    return (square)((king & 56) + (rook > king ? 5 : 3));
}

// Where the move ends as UCI writes it.
static ALWAYS_INLINE square written_to(move m)
{
    return m & MOVE_WRITTEN_RAW ? raw_to(m) : move_to(m);
}

// The pawn that an en-passant capture on `target` takes: one rank behind it.
static ALWAYS_INLINE square en_passant_victim(square target)
{
    return target ^ 8;
}

// May the pawn on `from` capture en passant? Looked at on the board after the capture, because two
// pawns leave a rank at once, which no pin mask sees.
bool en_passant_is_legal(const struct position *pos, square from);

// Makes `m` on the board alone: pieces, turn, castling, and an en-passant square whenever an enemy
// pawn stands beside the double step, legal or not. Leaves counters and key stale (perft needs
// neither); position_after does the rest.
void board_apply(struct position *pos, move m);

// Whether a byte names a file or a rank.
static inline bool is_file(char c)
{
    return c >= 'a' && c <= 'h';
}

static inline bool is_rank(char c)
{
    return c >= '1' && c <= '8';
}

// Drops castling rights without king and rook in place; returns whether any was dropped.
bool castling_clean(struct position *pos);
// Whether the position makes sense, FAULT_NO_KING and on; castling rights and en-passant squares
// that make none are dropped and noted in `repairs`.
enum position_fault position_check(struct position *pos, unsigned *repairs, struct err *err);
// The key of `after`, which board_apply has made of `before` by `m`.
uint64_t key_after(const struct position *before, const struct position *after, move m);
// The key computed from nothing.
uint64_t position_key(const struct position *pos);
// Drops an en-passant square that no legal move can use.
void en_passant_normalize(struct position *pos);
// Whether the side to move has any legal move.
bool has_legal_move(const struct position *pos);

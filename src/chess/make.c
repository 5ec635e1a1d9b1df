// SPDX-License-Identifier: GPL-3.0-or-later
// make.c - what a move does to a position: the board, the counters, the Zobrist key.
#include "chess/internal.h"

bool en_passant_is_legal(const struct position *pos, square from)
{
    enum color us = (enum color)pos->turn, them = other(us);
    square king = king_of(pos, us), victim = en_passant_victim(pos->en_passant);
    bitboard after = (occupied_by_all(pos) ^ bit(from) ^ bit(victim)) | bit(pos->en_passant);
    return !(steppers_at(pos, king, them) & ~bit(victim)) && !sliders_at(pos, king, them, after);
}

void en_passant_normalize(struct position *pos)
{
    if (pos->en_passant == SQUARE_NONE)
        return;
    enum color us = (enum color)pos->turn;
    bitboard pawns = pos->piece[PAWN] & pos->side[us];
    for (bitboard b = pawns & chess_tables.pawn[other(us)][pos->en_passant]; b;) {
        if (en_passant_is_legal(pos, pop_lowest(&b)))
            return;
    }
    pos->en_passant = SQUARE_NONE;
}

static void apply_castling(struct position *pos, square king, square rook)
{
    bitboard king_to = bit(castling_king_to(king, rook));
    bitboard rook_to = bit(castling_rook_to(king, rook));
    bitboard *own = &pos->side[pos->turn];
    pos->piece[KING] = (pos->piece[KING] ^ bit(king)) | king_to;
    pos->piece[ROOK] = (pos->piece[ROOK] ^ bit(rook)) | rook_to;
    *own = (*own & ~(bit(king) | bit(rook))) | king_to | rook_to;
    pos->castling &= ~back_rank((enum color)pos->turn);
}

// Everything but castling. All six piece boards are treated alike, without asking which piece
// moves: no mailbox to keep, and no branch to guess wrong.
static void apply_step(struct position *pos, square from, square to, enum move_kind kind)
{
    enum color us = (enum color)pos->turn;
    bitboard gone = bit(from) | bit(to);
    if (kind == MOVE_EN_PASSANT)
        gone |= bit(en_passant_victim(to));
    for (int p = PAWN; p <= KING; p++) {
        bitboard arrives = (pos->piece[p] >> from & 1) << to;
        pos->piece[p] = (pos->piece[p] & ~gone) | arrives;
    }
    pos->side[us] = (pos->side[us] & ~gone) | bit(to);
    pos->side[other(us)] &= ~gone;
    if (kind >= MOVE_PROMOTE_KNIGHT) {
        pos->piece[PAWN] ^= bit(to);
        pos->piece[KNIGHT + (kind - MOVE_PROMOTE_KNIGHT)] ^= bit(to);
    }
    pos->castling &= ~gone;
    if (pos->piece[KING] & bit(to))
        pos->castling &= ~back_rank(us);
}

void board_apply(struct position *pos, move m)
{
    square from = move_from(m), to = raw_to(m);
    enum move_kind kind = move_kind(m);
    if (kind == MOVE_CASTLING)
        apply_castling(pos, from, to);
    else
        apply_step(pos, from, to, kind);
    pos->en_passant = SQUARE_NONE;
    if (kind == MOVE_DOUBLE_PUSH) {
        square middle = (square)((from + to) / 2);
        bitboard hunters = pos->piece[PAWN] & pos->side[other((enum color)pos->turn)];
        if (chess_tables.pawn[pos->turn][middle] & hunters)
            pos->en_passant = middle;
    }
    pos->turn ^= 1;
}

// The part of the key that is not pieces.
static uint64_t state_key(const struct position *pos)
{
    uint64_t key = pos->turn == BLACK ? chess_tables.zobrist_turn : 0;
    for (bitboard b = pos->castling; b;)
        key ^= chess_tables.zobrist_castling[pop_lowest(&b)];
    if (pos->en_passant != SQUARE_NONE)
        key ^= chess_tables.zobrist_en_passant[pos->en_passant & 7];
    return key;
}

static uint64_t piece_key(const struct position *pos, square s)
{
    enum piece p = position_piece_at(pos, s);
    return p == PIECE_NONE ? 0 : chess_tables.zobrist_piece[position_color_at(pos, s)][p][s];
}

uint64_t position_key(const struct position *pos)
{
    uint64_t key = state_key(pos);
    for (int p = PAWN; p <= KING; p++)
        for (bitboard b = pos->piece[p]; b;) {
            square s = pop_lowest(&b);
            key ^= chess_tables.zobrist_piece[pos->side[BLACK] >> s & 1][p][s];
        }
    return key;
}

// Every square that `m` can change.
static bitboard touched(move m)
{
    square from = move_from(m), to = raw_to(m);
    bitboard b = bit(from) | bit(to);
    if (move_kind(m) == MOVE_EN_PASSANT)
        b |= bit(en_passant_victim(to));
    if (move_kind(m) == MOVE_CASTLING)
        b |= bit(castling_king_to(from, to)) | bit(castling_rook_to(from, to));
    return b;
}

uint64_t key_after(const struct position *before, const struct position *after, move m)
{
    uint64_t key = before->key ^ state_key(before) ^ state_key(after);
    for (bitboard b = touched(m); b;) {
        square s = pop_lowest(&b);
        key ^= piece_key(before, s) ^ piece_key(after, s);
    }
    return key;
}

struct position position_after(const struct position *pos, move m)
{
    struct position next = *pos;
    board_apply(&next, m);
    en_passant_normalize(&next);
    bool pawn = pos->piece[PAWN] & bit(move_from(m));
    bool resets = pawn || move_is_capture(pos, m);
    // Saturating: a game that long is no game, but its FEN must stay one.
    next.halfmove = resets ? 0 : (uint16_t)(pos->halfmove + (pos->halfmove < UINT16_MAX));
    if (pos->turn == BLACK && pos->fullmove < UINT16_MAX)
        next.fullmove++;
    next.key = key_after(pos, &next, m);
    return next;
}

bool position_pass(const struct position *pos, struct position *out)
{
    if (position_in_check(pos))
        return false;
    struct position next = *pos;
    next.turn ^= 1;
    next.en_passant = SQUARE_NONE;
    next.halfmove = (uint16_t)(pos->halfmove + (pos->halfmove < UINT16_MAX));
    if (pos->turn == BLACK && pos->fullmove < UINT16_MAX)
        next.fullmove++;
    next.key = pos->key ^ state_key(pos) ^ state_key(&next);
    *out = next;
    return true;
}

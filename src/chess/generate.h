// SPDX-License-Identifier: GPL-3.0-or-later
// generate.h - the legal move generator, as inline functions.
//
// One text serves two uses: with a list it writes the moves, without one it only counts them (perft
// leaves, "is there a move at all"); the compiler makes separate code of each, and for each colour.
// Nothing is made and taken back: pins and checks become masks that targets are cut with.
#pragma once
#include "chess/safety.h"

struct sink { // where moves go
    move *v;  // NULL: count only
    size_t n;
};

static ALWAYS_INLINE void put_targets(struct sink *out, square from, bitboard targets)
{
    if (!out->v) {
        out->n += count(targets);
        return;
    }
    while (targets)
        out->v[out->n++] = move_new(from, pop_lowest(&targets), MOVE_PLAIN);
}

static ALWAYS_INLINE void put_move(struct sink *out, square from, square to, enum move_kind kind)
{
    if (out->v)
        out->v[out->n] = move_new(from, to, kind);
    out->n++;
}

// Pawn moves whose origin lies `back` squares from each target.
static ALWAYS_INLINE void put_pawns(struct sink *out, bitboard targets, int back,
                                    enum move_kind kind)
{
    bitboard promoting = targets & (RANK_1 | RANK_8);
    if (!out->v) {
        out->n += count(targets) + 3 * count(promoting);
        return;
    }
    for (bitboard b = targets ^ promoting; b;) {
        square to = pop_lowest(&b);
        out->v[out->n++] = move_new((square)(to + back), to, kind);
    }
    while (promoting) {
        square to = pop_lowest(&promoting), from = (square)(to + back);
        for (int k = MOVE_PROMOTE_KNIGHT; k <= MOVE_PROMOTE_QUEEN; k++)
            out->v[out->n++] = move_new(from, to, (enum move_kind)k);
    }
}

static ALWAYS_INLINE void put_castling(struct sink *out, const struct position *pos, enum color us,
                                       square king, bitboard danger)
{
    bitboard occupied = occupied_by_all(pos);
    for (bitboard rooks = pos->castling & pos->side[us]; rooks;) {
        square rook = pop_lowest(&rooks);
        square king_to = castling_king_to(king, rook), rook_to = castling_rook_to(king, rook);
        bitboard king_path = chess_tables.between[king][king_to] | bit(king_to);
        bitboard rook_path = chess_tables.between[rook][rook_to] | bit(rook_to);
        bitboard others = occupied & ~(bit(king) | bit(rook));
        if ((king_path & danger) || ((king_path | rook_path) & others))
            continue;
        // The rook that leaves may uncover the king.
        if (sliders_at(pos, king_to, other(us), others | bit(rook_to)))
            continue;
        put_move(out, king, rook, MOVE_CASTLING);
        if (out->v && pos->variant == VARIANT_CHESS960)
            out->v[out->n - 1] |= MOVE_WRITTEN_RAW;
    }
}

static ALWAYS_INLINE void put_king(struct sink *out, const struct position *pos, enum color us,
                                   const struct masks *m)
{
    bitboard targets = chess_tables.king[m->king] & ~pos->side[us];
    bitboard castling = m->checkers ? 0 : pos->castling & pos->side[us];
    if (!(targets | castling))
        return; // walled in: no need to look where the enemy attacks
    bitboard occupied = occupied_by_all(pos) ^ bit(m->king); // no hiding behind oneself
    bitboard danger = attacked_by(pos, other(us), occupied);
    put_targets(out, m->king, targets & ~danger);
    if (castling)
        put_castling(out, pos, us, m->king, danger);
}

static ALWAYS_INLINE void put_pieces(struct sink *out, const struct position *pos, enum color us,
                                     const struct masks *m)
{
    bitboard occupied = occupied_by_all(pos), own = pos->side[us];
    for (bitboard b = pos->piece[KNIGHT] & own & ~m->pinned; b;) {
        square s = pop_lowest(&b);
        put_targets(out, s, chess_tables.knight[s] & m->targets);
    }
    bitboard diagonal = diagonal_sliders(pos, us), straight = straight_sliders(pos, us);
    for (bitboard b = diagonal & ~m->pinned; b;) {
        square s = pop_lowest(&b);
        put_targets(out, s, bishop_attacks(s, occupied) & m->targets);
    }
    for (bitboard b = straight & ~m->pinned; b;) {
        square s = pop_lowest(&b);
        put_targets(out, s, rook_attacks(s, occupied) & m->targets);
    }
    for (bitboard b = diagonal & m->pinned; b;) {
        square s = pop_lowest(&b);
        bitboard along = chess_tables.line[m->king][s] & m->targets;
        put_targets(out, s, bishop_attacks(s, occupied) & along);
    }
    for (bitboard b = straight & m->pinned; b;) {
        square s = pop_lowest(&b);
        bitboard along = chess_tables.line[m->king][s] & m->targets;
        put_targets(out, s, rook_attacks(s, occupied) & along);
    }
}

// Pushes and captures of all `pawns`, cut with `targets`.
static ALWAYS_INLINE void put_pawn_set(struct sink *out, const struct position *pos, enum color us,
                                       bitboard pawns, bitboard targets)
{
    const int up = us == WHITE ? 8 : -8;
    bitboard empty = ~occupied_by_all(pos);
    bitboard once = forward(us, pawns) & empty;
    bitboard twice = forward(us, once & forward(us, forward(us, back_rank(us)))) & empty;
    bitboard ahead = forward(us, pawns), prey = pos->side[other(us)] & targets;
    put_pawns(out, once & targets, -up, MOVE_PLAIN);
    put_pawns(out, twice & targets, -2 * up, MOVE_DOUBLE_PUSH);
    put_pawns(out, (ahead & ~FILE_A) >> 1 & prey, 1 - up, MOVE_PLAIN);
    put_pawns(out, (ahead & ~FILE_H) << 1 & prey, -1 - up, MOVE_PLAIN);
}

static ALWAYS_INLINE void put_all_pawns(struct sink *out, const struct position *pos, enum color us,
                                        const struct masks *m)
{
    bitboard pawns = pos->piece[PAWN] & pos->side[us];
    put_pawn_set(out, pos, us, pawns & ~m->pinned, m->targets);
    for (bitboard b = pawns & m->pinned; b;) {
        square s = pop_lowest(&b);
        put_pawn_set(out, pos, us, bit(s), m->targets & chess_tables.line[m->king][s]);
    }
    if (pos->en_passant == SQUARE_NONE)
        return;
    for (bitboard b = pawns & chess_tables.pawn[other(us)][pos->en_passant]; b;) {
        square s = pop_lowest(&b);
        if (en_passant_is_legal(pos, s))
            put_move(out, s, pos->en_passant, MOVE_EN_PASSANT);
    }
}

static ALWAYS_INLINE void put_all(struct sink *out, const struct position *pos, enum color us)
{
    struct masks m = find_masks(pos, us);
    put_king(out, pos, us, &m);
    if (has_many(m.checkers))
        return; // double check: only the king moves
    put_pieces(out, pos, us, &m);
    put_all_pawns(out, pos, us, &m);
}

// Writes the legal moves to `v`, which has room for MAX_LEGAL_MOVES, or with NULL only counts them.
static ALWAYS_INLINE size_t generate(const struct position *pos, move *v)
{
    struct sink out = { 0 };
    out.v = v;
    if (pos->turn == WHITE)
        put_all(&out, pos, WHITE);
    else
        put_all(&out, pos, BLACK);
    return out.n;
}

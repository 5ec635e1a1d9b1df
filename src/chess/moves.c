// SPDX-License-Identifier: GPL-3.0-or-later
// moves.c - taking moves apart, and the three lists of legal moves.
//
// Both orders are sort keys over the same generated list, so the generator may produce moves as is
// fastest, and the order that published prompts depend on stands in one place.
#include "chess/generate.h"

square move_from(move m)
{
    return m & 63;
}

square move_to(move m)
{
    return move_kind(m) == MOVE_CASTLING ? castling_king_to(move_from(m), raw_to(m)) : raw_to(m);
}

enum move_kind move_kind(move m)
{
    return (enum move_kind)(m >> 12 & 7);
}

enum piece move_promotion(move m)
{
    enum move_kind kind = move_kind(m);
    return kind < MOVE_PROMOTE_KNIGHT ? PIECE_NONE
                                      : (enum piece)(KNIGHT + (kind - MOVE_PROMOTE_KNIGHT));
}

bool move_is_capture(const struct position *pos, move m)
{
    enum move_kind kind = move_kind(m);
    return kind == MOVE_EN_PASSANT ||
           (kind != MOVE_CASTLING && (occupied_by_all(pos) & bit(raw_to(m))));
}

bool move_gives_check(const struct position *pos, move m)
{
    struct position next = *pos;
    board_apply(&next, m);
    return position_in_check(&next);
}

bool move_gives_mate(const struct position *pos, move m)
{
    struct position next = *pos;
    board_apply(&next, m);
    return position_is_checkmate(&next);
}

void moves_legal(const struct position *pos, struct move_list *out)
{
    out->n = generate(pos, out->v);
}

// ---- orders ----

typedef uint32_t order_key(const struct position *pos, move m);

// Sorts ascending by key. Insertion: lists are short (35 moves on average) and half in order.
static void sort_moves(const struct position *pos, struct move_list *list, order_key *key_of)
{
    uint32_t keys[MAX_LEGAL_MOVES];
    for (size_t i = 0; i < list->n; i++) {
        move m = list->v[i];
        uint32_t key = key_of(pos, m);
        size_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--) {
            keys[j] = keys[j - 1];
            list->v[j] = list->v[j - 1];
        }
        keys[j] = key;
        list->v[j] = m;
    }
}

// The steps of rule 1 in few-shot specification 1.8, with the king's moves of rule 2 before them.
enum order_group {
    GROUP_EVASION,
    GROUP_PIECE,
    GROUP_CASTLING,
    GROUP_PAWN_CAPTURE,
    GROUP_PUSH,
    GROUP_DOUBLE_PUSH,
    GROUP_EN_PASSANT,
};

static enum order_group group_of(const struct position *pos, move m)
{
    switch (move_kind(m)) {
    case MOVE_CASTLING: return GROUP_CASTLING;
    case MOVE_DOUBLE_PUSH: return GROUP_DOUBLE_PUSH;
    case MOVE_EN_PASSANT: return GROUP_EN_PASSANT;
    case MOVE_PLAIN:
    case MOVE_PROMOTE_KNIGHT:
    case MOVE_PROMOTE_BISHOP:
    case MOVE_PROMOTE_ROOK:
    case MOVE_PROMOTE_QUEEN: break;
    }
    if (!(pos->piece[PAWN] & bit(move_from(m))))
        return GROUP_PIECE;
    return move_is_capture(pos, m) ? GROUP_PAWN_CAPTURE : GROUP_PUSH;
}

// Group, then descending from (pushes: to), then descending to, then q r b n.
static uint32_t generation_key(const struct position *pos, move m)
{
    enum order_group group = group_of(pos, m);
    square from = move_from(m), to = raw_to(m); // castling by rook square: king side first
    if (group == GROUP_PUSH || group == GROUP_DOUBLE_PUSH)
        from = to;
    return (uint32_t)group << 16 | (63u - from) << 10 | (63u - to) << 4 |
           (uint32_t)(MOVE_PROMOTE_QUEEN - move_kind(m));
}

static uint32_t evasion_key(const struct position *pos, move m)
{
    uint32_t key = generation_key(pos, m);
    bool king = pos->piece[KING] & bit(move_from(m));
    return king ? (uint32_t)GROUP_EVASION << 16 | (key & 0xFFFF) : key;
}

void moves_ordered(const struct position *pos, struct move_list *out)
{
    moves_legal(pos, out);
    sort_moves(pos, out, position_in_check(pos) ? evasion_key : generation_key);
}

// A square as its text sorts: file before rank.
static uint32_t text_rank(square s)
{
    return (uint32_t)(s & 7) << 3 | s >> 3;
}

// b < n < q < r; one byte of text stands for several pieces only in a promotion.
static uint32_t promotion_rank(move m)
{
    static const uint8_t ranks[] = { [KNIGHT] = 2, [BISHOP] = 1, [ROOK] = 4, [QUEEN] = 3 };
    enum piece p = move_promotion(m);
    return p == PIECE_NONE ? 0 : ranks[p];
}

static uint32_t text_key(const struct position *pos, move m)
{
    (void)pos;
    return text_rank(move_from(m)) << 9 | text_rank(written_to(m)) << 3 | promotion_rank(m);
}

void moves_sorted(const struct position *pos, struct move_list *out)
{
    moves_legal(pos, out);
    sort_moves(pos, out, text_key);
}

bool move_is_legal(const struct position *pos, move m)
{
    struct move_list legal;
    moves_legal(pos, &legal);
    for (size_t i = 0; i < legal.n; i++)
        if (legal.v[i] == m)
            return true;
    return false;
}

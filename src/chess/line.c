// SPDX-License-Identifier: GPL-3.0-or-later
// line.c - plays a line of UCI moves. Only the named move is looked at: whether the piece can go
// there, and whether its king stands safe with the board as it will be. No list of moves is made,
// and neither key nor counters are kept.
#include "chess/single.h"

static enum piece promotion_of(char c)
{
    switch (c) {
    case 'n': return KNIGHT;
    case 'b': return BISHOP;
    case 'r': return ROOK;
    case 'q': return QUEEN;
    default: return PIECE_NONE;
    }
}

static bool read_pawn(const struct position *pos, str w, square from, square to, move *out)
{
    enum move_kind kind;
    bool promotes = bit(to) & (RANK_1 | RANK_8);
    enum piece p = w.len == 5 ? promotion_of(w.data[4]) : PIECE_NONE;
    if (to == pos->en_passant)
        return uci_parse(pos, w, out);
    if (promotes != (w.len == 5) || (promotes && p == PIECE_NONE) ||
        !pawn_goes(pos, from, to, &kind))
        return false;
    if (promotes)
        kind = (enum move_kind)(MOVE_PROMOTE_KNIGHT + (p - KNIGHT));
    *out = move_new(from, to, kind);
    return true;
}

// A king's move to a square that is no neighbour, or holds an own rook, may be castling.
static bool read_piece(const struct position *pos, str w, square from, square to, move *out)
{
    bitboard own = pos->side[pos->turn];
    bool king = pos->piece[KING] & bit(from);
    if (king && !(chess_tables.king[from] & bit(to) & ~own))
        return uci_parse(pos, w, out);
    *out = move_new(from, to, MOVE_PLAIN);
    return w.len == 4 && !(own & bit(to)) && piece_goes(pos, from, to);
}

static bool read_move(const struct position *pos, str w, move *out)
{
    if ((w.len != 4 && w.len != 5) || !is_file(w.data[0]) || !is_rank(w.data[1]) ||
        !is_file(w.data[2]) || !is_rank(w.data[3]))
        return false;
    square from = (square)(8 * (w.data[1] - '1') + (w.data[0] - 'a'));
    square to = (square)(8 * (w.data[3] - '1') + (w.data[2] - 'a'));
    if (!(pos->side[pos->turn] & bit(from)))
        return false;
    bool reads = pos->piece[PAWN] & bit(from) ? read_pawn(pos, w, from, to, out)
                                              : read_piece(pos, w, from, to, out);
    enum move_kind kind = reads ? move_kind(*out) : MOVE_PLAIN;
    return reads && (kind == MOVE_CASTLING || kind == MOVE_EN_PASSANT || // those are legal already
                     stands_safe(pos, from, to));
}

enum line_verdict uci_line_parse(const struct position *start, str text, move *moves, size_t max,
                                 struct line *out)
{
    const char *p = text.data, *end = text.data + text.len;
    out->last = *start;
    out->n = 0;
    for (;;) {
        while (p < end && *p == ' ')
            p++;
        if (p == end)
            return LINE_GOOD;
        const char *word = p;
        while (p < end && *p != ' ')
            p++;
        if (out->n == max)
            return LINE_TOO_LONG;
        out->bad = word;
        out->bad_len = (size_t)(p - word);
        if (!read_move(&out->last, (str){ word, out->bad_len }, &moves[out->n]))
            return LINE_ILLEGAL;
        board_apply(&out->last, moves[out->n++]);
        en_passant_normalize(&out->last);
    }
}

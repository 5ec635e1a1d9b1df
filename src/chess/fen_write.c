// SPDX-License-Identifier: GPL-3.0-or-later
// fen_write.c - writes positions as FEN: X-FEN, which for standard chess is plain FEN, or
// Shredder-FEN.
#include "chess/internal.h"

static char letter_of(enum color c, char lower)
{
    return c == WHITE ? ascii_upper(lower) : lower;
}

static void format_rank(const struct position *pos, int rank, struct buf *out)
{
    int empty = 0;
    for (int file = 0; file < 8; file++) {
        square s = (square)(8 * rank + file);
        enum piece p = position_piece_at(pos, s);
        if (p == PIECE_NONE) {
            empty++;
            continue;
        }
        if (empty)
            buf_add_char(out, (char)('0' + empty));
        empty = 0;
        buf_add_char(out, letter_of(position_color_at(pos, s), "pnbrqk"[p]));
    }
    if (empty)
        buf_add_char(out, (char)('0' + empty));
}

typedef char castling_letter(const struct position *pos, enum color c, square rook);

static char shredder_letter(const struct position *pos, enum color c, square rook)
{
    (void)pos;
    (void)c;
    return (char)('a' + (rook & 7));
}

// k or q, or the file where that would mean another rook, further out.
static char xfen_letter(const struct position *pos, enum color c, square rook)
{
    bool king_side = rook > king_of(pos, c);
    bitboard rooks = pos->piece[ROOK] & pos->side[c] & back_rank(c);
    if (rook != (king_side ? highest(rooks) : lowest(rooks)))
        return shredder_letter(pos, c, rook);
    return king_side ? 'k' : 'q';
}

// White before black, the h-side before the a-side.
static void format_castling(const struct position *pos, castling_letter *letter, struct buf *out)
{
    if (!pos->castling)
        buf_add_char(out, '-');
    for (int c = WHITE; c <= BLACK; c++) {
        for (bitboard rooks = pos->castling & pos->side[c]; rooks;) {
            square rook = highest(rooks);
            rooks ^= bit(rook);
            buf_add_char(out, letter_of((enum color)c, letter(pos, (enum color)c, rook)));
        }
    }
}

static void format_fen(const struct position *pos, castling_letter *letter, struct buf *out)
{
    for (int rank = 7; rank >= 0; rank--) {
        format_rank(pos, rank, out);
        if (rank > 0)
            buf_add_char(out, '/');
    }
    buf_add(out, pos->turn == WHITE ? S(" w ") : S(" b "));
    format_castling(pos, letter, out);
    if (pos->en_passant == SQUARE_NONE)
        buf_add(out, S(" -"));
    else
        buf_addf(out, " %c%c", 'a' + (pos->en_passant & 7), '1' + (pos->en_passant >> 3));
    buf_addf(out, " %d %d", pos->halfmove, pos->fullmove);
}

void position_format(const struct position *pos, struct buf *out)
{
    format_fen(pos, xfen_letter, out);
}

void position_format_shredder(const struct position *pos, struct buf *out)
{
    format_fen(pos, shredder_letter, out);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// position.c - questions about a position, and the one everybody begins with.
#include "chess/generate.h"

struct position position_start(void)
{
    struct position pos;
    if (position_parse(S("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), &pos, NULL) !=
        FAULT_NONE)
        BUG("the initial position is refused");
    return pos;
}

// Without a branch: which piece stands somewhere is not to be guessed.
enum piece position_piece_at(const struct position *pos, square s)
{
    unsigned p = PIECE_NONE;
    for (unsigned i = PAWN; i <= KING; i++)
        p -= (unsigned)(pos->piece[i] >> s & 1) * (PIECE_NONE - i);
    return (enum piece)p;
}

enum color position_color_at(const struct position *pos, square s)
{
    return pos->side[BLACK] & bit(s) ? BLACK : WHITE;
}

bitboard position_checkers(const struct position *pos)
{
    return checkers_of(pos, other((enum color)pos->turn));
}

bool position_in_check(const struct position *pos)
{
    return position_checkers(pos) != 0;
}

// Whether `us` is out of moves. Asked kind by kind: mostly the king has one.
static ALWAYS_INLINE bool is_stuck(const struct position *pos, enum color us, const struct masks *m)
{
    struct sink out = { 0 };
    put_king(&out, pos, us, m);
    if (out.n > 0 || has_many(m->checkers))
        return out.n == 0;
    put_pieces(&out, pos, us, m);
    if (out.n > 0)
        return false;
    put_all_pawns(&out, pos, us, m);
    return out.n == 0;
}

bool has_legal_move(const struct position *pos)
{
    struct masks m = find_masks(pos, (enum color)pos->turn);
    return !is_stuck(pos, (enum color)pos->turn, &m);
}

bool position_is_checkmate(const struct position *pos)
{
    return position_in_check(pos) && !has_legal_move(pos);
}

bool position_is_stalemate(const struct position *pos)
{
    return !position_in_check(pos) && !has_legal_move(pos);
}

bool position_is_insufficient(const struct position *pos)
{
    if (pos->piece[PAWN] | pos->piece[ROOK] | pos->piece[QUEEN])
        return false;
    bitboard bishops = pos->piece[BISHOP];
    if (pos->piece[KNIGHT])
        return !bishops && !has_many(pos->piece[KNIGHT]);
    return !(bishops & DARK_SQUARES) || !(bishops & ~DARK_SQUARES);
}

// Spellings of PGN's Variant tag and of programs, in small letters.
static const struct {
    str name;
    enum variant variant;
} variant_names[] = {
    { T("standard"), VARIANT_STANDARD },       { T("chess960"), VARIANT_CHESS960 },
    { T("chess"), VARIANT_STANDARD },          { T("from position"), VARIANT_STANDARD },
    { T("chess 960"), VARIANT_CHESS960 },      { T("fischerandom"), VARIANT_CHESS960 },
    { T("fischerrandom"), VARIANT_CHESS960 },  { T("fischer random"), VARIANT_CHESS960 },
    { T("fischer-random"), VARIANT_CHESS960 }, { T("freestyle chess"), VARIANT_CHESS960 },
    { T("normal"), VARIANT_STANDARD },         { T("classical"), VARIANT_STANDARD },
};

bool variant_parse(str name, enum variant *out)
{
    for (size_t i = 0; i < ARRAY_LEN(variant_names); i++) {
        if (str_eq_nocase(name, variant_names[i].name)) {
            *out = variant_names[i].variant;
            return true;
        }
    }
    return false;
}

const char *variant_name(enum variant variant)
{
    return variant == VARIANT_CHESS960 ? "chess960" : "standard";
}

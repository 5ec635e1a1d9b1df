// SPDX-License-Identifier: GPL-3.0-or-later
// san.c - moves in Standard Algebraic Notation.
//
// Reading is lenient where python-chess is (few-shot specification 2.3 b): marks of capture, check
// and mate may be wrong or absent, "=" may be missing. It never guesses between two moves.
#include <string.h>

#include "chess/internal.h"

static const char piece_letters[] = "PNBRQK";

// ---- writing ----

static void add(struct move_text *text, char c)
{
    text->data[strlen(text->data)] = c; // the rest is zero
}

static void add_square(struct move_text *text, square s)
{
    add(text, (char)('a' + (s & 7)));
    add(text, (char)('1' + (s >> 3)));
}

// Squares from which pieces of kind `p` could reach `to`, pins aside.
static bitboard origins(const struct position *pos, enum piece p, square to)
{
    bitboard occupied = occupied_by_all(pos), b = 0;
    if (p == KNIGHT)
        b = chess_tables.knight[to];
    if (p == BISHOP || p == QUEEN)
        b |= bishop_attacks(to, occupied);
    if (p == ROOK || p == QUEEN)
        b |= rook_attacks(to, occupied);
    return b & pos->piece[p] & pos->side[pos->turn];
}

// Where else a piece of the same kind could legally come from to the same square.
static bitboard rivals(const struct position *pos, enum piece p, move m)
{
    bitboard candidates = origins(pos, p, raw_to(m)) & ~bit(move_from(m)), legal = 0;
    if (!candidates)
        return 0; // nearly always: saves generating the moves
    struct move_list list;
    moves_legal(pos, &list);
    for (size_t i = 0; i < list.n; i++) {
        if (raw_to(list.v[i]) == raw_to(m))
            legal |= bit(move_from(list.v[i]));
    }
    return candidates & legal;
}

static void add_piece_move(const struct position *pos, enum piece p, move m, struct move_text *out)
{
    square from = move_from(m);
    bitboard others = rivals(pos, p, m);
    bitboard same_rank = RANK_1 << (from & 56), same_file = FILE_A << (from & 7);
    add(out, piece_letters[p]);
    if (others && (!(others & same_file) || (others & same_rank)))
        add(out, (char)('a' + (from & 7)));
    if (others & same_file)
        add(out, (char)('1' + (from >> 3)));
    if (move_is_capture(pos, m))
        add(out, 'x');
    add_square(out, move_to(m));
}

static void add_pawn_move(const struct position *pos, move m, struct move_text *out)
{
    if (move_is_capture(pos, m)) {
        add(out, (char)('a' + (move_from(m) & 7)));
        add(out, 'x');
    }
    add_square(out, move_to(m));
    if (move_promotion(m) != PIECE_NONE) {
        add(out, '=');
        add(out, piece_letters[move_promotion(m)]);
    }
}

struct move_text san_format(const struct position *pos, move m)
{
    struct move_text text = { 0 };
    enum piece p = position_piece_at(pos, move_from(m));
    if (move_kind(m) == MOVE_CASTLING)
        memcpy(text.data, "O-O-O", raw_to(m) > move_from(m) ? 3 : 5);
    else if (p == PAWN)
        add_pawn_move(pos, m, &text);
    else
        add_piece_move(pos, p, m, &text);
    struct position next = *pos;
    board_apply(&next, m);
    if (position_in_check(&next))
        add(&text, has_legal_move(&next) ? '+' : '#');
    return text;
}

// ---- reading ----

enum { ANY = -1 };

struct shape { // what the text says
    bool castling, king_side;
    enum piece piece; // PIECE_NONE: no letter
    int file, rank;   // of the origin, or ANY
    square to;
    enum piece promotion;
};

static char last(str s)
{
    return s.len ? s.data[s.len - 1] : '\0';
}

static void drop_last(str *s)
{
    s->len--;
}

static enum piece piece_of(char upper)
{
    const char *found = upper ? strchr(piece_letters, upper) : NULL;
    return found ? (enum piece)(found - piece_letters) : PIECE_NONE;
}

// Takes a promotion off the end: a piece letter of either case, "=" before it optional.
static enum piece cut_promotion(str *text)
{
    char c = last(*text);
    enum piece p = piece_of(ascii_upper(c));
    if (p == PIECE_NONE || p == PAWN)
        return PIECE_NONE;
    drop_last(text);
    if (last(*text) == '=')
        drop_last(text);
    return p;
}

// Takes the target square off the end.
static bool cut_target(str *text, square *to)
{
    if (text->len < 2 || !square_parse(str_sub(*text, text->len - 2, 2), to))
        return false;
    text->len -= 2;
    return true;
}

// Reads from the end, where every part is recognised by its last character.
static bool shape_parse(str text, struct shape *out)
{
    *out = (struct shape){ .piece = PIECE_NONE, .file = ANY, .rank = ANY };
    if (last(text) == '+' || last(text) == '#')
        drop_last(&text);
    out->king_side = str_eq(text, S("O-O"));
    out->castling = out->king_side || str_eq(text, S("O-O-O"));
    if (out->castling)
        return true;
    out->promotion = cut_promotion(&text);
    if (!cut_target(&text, &out->to))
        return false;
    if (last(text) == 'x' || last(text) == '-')
        drop_last(&text);
    if (is_rank(last(text))) {
        out->rank = last(text) - '1';
        drop_last(&text);
    }
    if (is_file(last(text))) {
        out->file = last(text) - 'a';
        drop_last(&text);
    }
    if (text.len == 0)
        return true;
    out->piece = piece_of(last(text));
    return text.len == 1 && out->piece != PIECE_NONE && out->piece != PAWN;
}

static bool shape_fits(const struct shape *shape, const struct position *pos, move m)
{
    square from = move_from(m);
    if (shape->castling)
        return move_kind(m) == MOVE_CASTLING && (raw_to(m) > from) == shape->king_side;
    if (written_to(m) != shape->to || move_promotion(m) != shape->promotion ||
        (shape->file != ANY && shape->file != (from & 7)) ||
        (shape->rank != ANY && shape->rank != from >> 3))
        return false;
    if (shape->piece != PIECE_NONE) // a castling move is no king move: "Kg1" does not castle
        return (pos->piece[shape->piece] & bit(from)) && move_kind(m) != MOVE_CASTLING;
    if (shape->file != ANY && shape->rank != ANY)
        return true; // both squares in full: any piece, castling too
    return (pos->piece[PAWN] & bit(from)) && (shape->file != ANY || (from & 7) == (shape->to & 7));
}

enum san_verdict san_parse(const struct position *pos, str text, move *out)
{
    struct shape shape;
    if (!shape_parse(text, &shape))
        return SAN_INVALID;
    struct move_list list;
    moves_legal(pos, &list);
    move found = MOVE_NONE;
    for (size_t i = 0; i < list.n; i++) {
        if (!shape_fits(&shape, pos, list.v[i]))
            continue;
        if (found != MOVE_NONE)
            return SAN_AMBIGUOUS;
        found = list.v[i];
    }
    if (found == MOVE_NONE)
        return SAN_ILLEGAL;
    *out = found;
    return SAN_LEGAL;
}

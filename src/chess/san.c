// SPDX-License-Identifier: GPL-3.0-or-later
// san.c - moves in Standard Algebraic Notation.
//
// Reading is lenient where python-chess is (few-shot specification 2.3 b): marks of capture, check
// and mate may be wrong or absent, "=" may be missing. It never guesses between two moves.
#include <string.h>

#include "chess/single.h"

static const char piece_letters[] = "PNBRQK";

// ---- writing ----

// Where the next character goes; the text is zeroed and long enough for any SAN.
struct cursor {
    char *at;
};

static void add(struct cursor *out, char c)
{
    *out->at++ = c;
}

static void add_square(struct cursor *out, square s)
{
    add(out, (char)('a' + (s & 7)));
    add(out, (char)('1' + (s >> 3)));
}

// Squares from which own pieces of kind `p`, no pawns, could reach `to`, safe or not.
static bitboard origins(const struct position *pos, enum piece p, square to)
{
    bitboard own = pos->piece[p] & pos->side[pos->turn], occupied = occupied_by_all(pos), b = 0;
    if (p == KNIGHT)
        return own & chess_tables.knight[to];
    if (p == KING)
        return own & chess_tables.king[to];
    if (p == BISHOP || p == QUEEN)
        b |= chess_tables.diagonals[to];
    if (p == ROOK || p == QUEEN)
        b |= chess_tables.straights[to];
    bitboard free = 0;
    for (b &= own; b;) {
        square from = pop_lowest(&b);
        if (!(chess_tables.between[from][to] & occupied))
            free |= bit(from);
    }
    return free;
}

// Of these origins the ones whose piece may leave without exposing its king.
static bitboard safe_of(const struct position *pos, bitboard from, square to)
{
    bitboard safe = 0;
    while (from) {
        square s = pop_lowest(&from);
        if (stands_safe(pos, s, to))
            safe |= bit(s);
    }
    return safe;
}

static void add_piece_move(const struct position *pos, enum piece p, move m, struct cursor *out)
{
    square from = move_from(m);
    bitboard rivals = origins(pos, p, raw_to(m)) & ~bit(from);
    if (rivals)
        rivals = safe_of(pos, rivals, raw_to(m));
    bitboard same_rank = RANK_1 << (from & 56), same_file = FILE_A << (from & 7);
    add(out, piece_letters[p]);
    if (rivals && (!(rivals & same_file) || (rivals & same_rank)))
        add(out, (char)('a' + (from & 7)));
    if (rivals & same_file)
        add(out, (char)('1' + (from >> 3)));
    if (move_is_capture(pos, m))
        add(out, 'x');
    add_square(out, move_to(m));
}

static void add_pawn_move(const struct position *pos, move m, struct cursor *out)
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
    struct cursor out = { text.data };
    enum piece p = position_piece_at(pos, move_from(m));
    if (move_kind(m) == MOVE_CASTLING) {
        size_t len = raw_to(m) > move_from(m) ? 3 : 5;
        memcpy(text.data, "O-O-O", len);
        out.at += len;
    } else if (p == PAWN) {
        add_pawn_move(pos, m, &out);
    } else {
        add_piece_move(pos, p, m, &out);
    }
    struct position next = *pos;
    board_apply(&next, m);
    if (position_in_check(&next))
        add(&out, has_legal_move(&next) ? '+' : '#');
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

// Every legal move is looked at: castling, en passant, and both squares in full.
static enum san_verdict find_in_list(const struct position *pos, const struct shape *shape,
                                     move *out)
{
    struct move_list list;
    moves_legal(pos, &list);
    move found = MOVE_NONE;
    for (size_t i = 0; i < list.n; i++) {
        if (!shape_fits(shape, pos, list.v[i]))
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

// The squares that the text allows as origin.
static bitboard named_origins(const struct shape *shape)
{
    bitboard b = ~(bitboard)0;
    if (shape->file != ANY)
        b &= FILE_A << shape->file;
    if (shape->rank != ANY)
        b &= RANK_1 << 8 * shape->rank;
    return b;
}

static enum san_verdict find_piece(const struct position *pos, const struct shape *shape, move *out)
{
    if (shape->promotion != PIECE_NONE || (pos->side[pos->turn] & bit(shape->to)))
        return SAN_ILLEGAL;
    bitboard from = origins(pos, shape->piece, shape->to) & named_origins(shape);
    from = safe_of(pos, from, shape->to);
    if (!from)
        return SAN_ILLEGAL;
    if (has_many(from))
        return SAN_AMBIGUOUS;
    *out = move_new(lowest(from), shape->to, MOVE_PLAIN);
    return SAN_LEGAL;
}

// Own pawns of one file; on a file at most one can move to a square, but for doubled pawns, of
// which the front one is in the way of the other.
static enum san_verdict find_pawn(const struct position *pos, const struct shape *shape, move *out)
{
    bool promotes = bit(shape->to) & (RANK_1 | RANK_8);
    if (promotes != (shape->promotion != PIECE_NONE) || shape->promotion == KING)
        return SAN_ILLEGAL;
    int file = shape->file != ANY ? shape->file : shape->to & 7;
    bitboard pawns = pos->piece[PAWN] & pos->side[pos->turn] & (FILE_A << file);
    enum move_kind kind;
    for (pawns &= named_origins(shape); pawns;) {
        square from = pop_lowest(&pawns);
        if (!pawn_goes(pos, from, shape->to, &kind) || !stands_safe(pos, from, shape->to))
            continue;
        if (promotes)
            kind = (enum move_kind)(MOVE_PROMOTE_KNIGHT + (shape->promotion - KNIGHT));
        *out = move_new(from, shape->to, kind);
        return SAN_LEGAL;
    }
    return SAN_ILLEGAL;
}

enum san_verdict san_parse(const struct position *pos, str text, move *out)
{
    struct shape shape;
    if (!shape_parse(text, &shape))
        return SAN_INVALID;
    if (shape.castling)
        return find_in_list(pos, &shape, out);
    if (shape.piece != PIECE_NONE)
        return find_piece(pos, &shape, out);
    if ((shape.file != ANY && shape.rank != ANY) || shape.to == pos->en_passant)
        return find_in_list(pos, &shape, out);
    return find_pawn(pos, &shape, out);
}

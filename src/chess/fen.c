// SPDX-License-Identifier: GPL-3.0-or-later
// fen.c - positions from and to Forsyth-Edwards Notation.
//
// The one door through which positions come in: what passes here is legal enough for every other
// function of the module to trust. Accepts and refuses what python-chess's Board.is_valid() does,
// except that bad castling rights and unusable en-passant squares are mended, as most data needs.
#include <string.h>

#include "chess/internal.h"

enum {
    FEN_FIELDS = 6,
    FEN_MAX_BYTES = 256,     // the longest legal FEN has under 100
    COUNTER_MAX = UINT16_MAX // the struct's; a FEN printed by position_format is always read back
};

static const char piece_letters[] = "pnbrqk";

// A field as it may stand in a message.
static struct shown show(str field)
{
    return str_show(field, 16);
}

static const char *color_name(enum color c)
{
    return c == WHITE ? "white" : "black";
}

// ---- fields ----

// Cuts `fen` at blanks; returns the number of fields, of which the first six are stored.
static size_t split(str fen, str fields[FEN_FIELDS])
{
    size_t n = 0;
    for (size_t i = 0; i < fen.len;) {
        size_t start = i;
        while (i < fen.len && !ascii_is_blank(fen.data[i]))
            i++;
        if (i > start) {
            if (n < FEN_FIELDS)
                fields[n] = str_sub(fen, start, i - start);
            n++;
        }
        i += i < fen.len;
    }
    return n;
}

static void put_piece(struct position *pos, square s, char letter)
{
    bool black = letter >= 'a';
    const char *found = strchr(piece_letters, black ? letter : letter + ('a' - 'A'));
    pos->piece[found - piece_letters] |= bit(s);
    pos->side[black ? BLACK : WHITE] |= bit(s);
}

static bool parse_rank(str text, int rank, struct position *pos, struct err *err)
{
    static const str letters = T("pnbrqkPNBRQK");
    int file = 0;
    char before = '\0';
    for (size_t i = 0; i < text.len; before = text.data[i++]) {
        char c = text.data[i];
        if (is_rank(c)) {
            if (is_rank(before))
                return err_set(err, ERR_INPUT, "bad FEN: two digits side by side on rank %d",
                               rank + 1);
            file += c - '0';
        } else if (str_find_char(letters, c) >= 0) {
            if (file < 8)
                put_piece(pos, (square)(8 * rank + file), c);
            file++;
        } else if (c != '~' || str_find_char(letters, before) < 0) { // "~": a promoted piece
            return err_set(err, ERR_INPUT, "bad FEN: \"%s\" on rank %d is neither piece nor 1-8",
                           show(str_sub(text, i, 1)).text, rank + 1);
        }
    }
    if (file != 8)
        return err_set(err, ERR_INPUT, "bad FEN: %d files on rank %d, must be 8", file, rank + 1);
    return true;
}

static enum position_fault parse_placement(str field, struct position *pos, struct err *err)
{
    int ranks = 1;
    for (size_t i = 0; i < field.len; i++)
        ranks += field.data[i] == '/';
    if (ranks != 8) {
        err_set(err, ERR_INPUT, "bad FEN: %d ranks in the piece placement \"%s\", must be 8", ranks,
                show(field).text);
        return FAULT_PLACEMENT;
    }
    for (int rank = 7; rank >= 0; rank--) {
        if (!parse_rank(str_cut(&field, '/'), rank, pos, err))
            return FAULT_PLACEMENT;
    }
    return FAULT_NONE;
}

static enum position_fault parse_turn(str field, struct position *pos, struct err *err)
{
    if (str_eq(field, S("w")))
        pos->turn = WHITE;
    else if (str_eq(field, S("b")))
        pos->turn = BLACK;
    else {
        err_set(err, ERR_INPUT, "bad FEN: side to move is \"%s\", must be w or b",
                show(field).text);
        return FAULT_TURN;
    }
    return FAULT_NONE;
}

// The home square of the rook that a letter names: K and Q, or the rook's file, as Shredder-FEN
// does; SQUARE_NONE for a file where no rook starts in standard chess.
static square rook_home(char upper, enum color c)
{
    int file = upper == 'K' ? 7 : upper == 'Q' ? 0 : upper - 'A';
    return file == 0 || file == 7 ? (square)(file + (c == WHITE ? 0 : 56)) : SQUARE_NONE;
}

// Keeps a right only where king and rook stand at home.
static void add_castling(char upper, enum color c, struct position *pos)
{
    square rook = rook_home(upper, c), king = c == WHITE ? 4 : 60;
    if (rook != SQUARE_NONE && (pos->piece[ROOK] & pos->side[c] & bit(rook)) &&
        (pos->piece[KING] & pos->side[c] & bit(king)))
        pos->castling |= bit(rook);
}

// "-", or at most two letters of white and then at most two of black.
static enum position_fault parse_castling(str field, struct position *pos, struct err *err)
{
    if (str_eq(field, S("-")))
        return FAULT_NONE;
    int seen[2] = { 0, 0 };
    for (size_t i = 0; i < field.len; i++) {
        bool black = field.data[i] >= 'a';
        char upper = (char)(black ? field.data[i] - ('a' - 'A') : field.data[i]);
        bool known = upper == 'K' || upper == 'Q' || (upper >= 'A' && upper <= 'H');
        if (!known || ++seen[black] > 2 || (!black && seen[BLACK])) {
            err_set(err, ERR_INPUT, "bad FEN: castling rights \"%s\", must be - or letters of KQkq",
                    show(field).text);
            return FAULT_CASTLING;
        }
        add_castling(upper, black ? BLACK : WHITE, pos);
    }
    return FAULT_NONE;
}

static enum position_fault parse_en_passant(str field, struct position *pos, struct err *err)
{
    pos->en_passant = SQUARE_NONE;
    if (str_eq(field, S("-")))
        return FAULT_NONE;
    if (!square_parse(field, &pos->en_passant)) {
        err_set(err, ERR_INPUT, "bad FEN: en-passant square \"%s\", must be - or a square",
                show(field).text);
        return FAULT_EN_PASSANT;
    }
    return FAULT_NONE;
}

static enum position_fault parse_counter(str field, const char *name, uint16_t *out,
                                         struct err *err)
{
    int64_t value;
    if (!str_to_int(field, 0, COUNTER_MAX, &value)) {
        err_set(err, ERR_INPUT, "bad FEN: %s \"%s\", must be a number from 0 to %d", name,
                show(field).text, COUNTER_MAX);
        return FAULT_COUNTERS;
    }
    *out = (uint16_t)value;
    return FAULT_NONE;
}

static enum position_fault parse_fields(str fen, struct position *pos, struct err *err)
{
    // What is left out is filled in as python-chess does.
    str fields[FEN_FIELDS] = { [1] = S("w"), S("-"), S("-"), S("0"), S("1") };
    size_t n = fen.len > FEN_MAX_BYTES ? 0 : split(fen, fields);
    if (n < 1 || n > FEN_FIELDS) {
        if (fen.len > FEN_MAX_BYTES)
            err_set(err, ERR_INPUT, "bad FEN: %zu bytes, at most %d are read", fen.len,
                    FEN_MAX_BYTES);
        else
            err_set(err, ERR_INPUT, "bad FEN: %zu fields in \"%s\", must be 6", n, show(fen).text);
        return FAULT_FIELDS;
    }
    enum position_fault fault = parse_placement(fields[0], pos, err);
    if (!fault)
        fault = parse_turn(fields[1], pos, err);
    if (!fault)
        fault = parse_castling(fields[2], pos, err);
    if (!fault)
        fault = parse_en_passant(fields[3], pos, err);
    if (!fault)
        fault = parse_counter(fields[4], "halfmove clock", &pos->halfmove, err);
    if (!fault)
        fault = parse_counter(fields[5], "fullmove number", &pos->fullmove, err);
    if (pos->fullmove == 0)
        pos->fullmove = 1; // some programs count from 0
    return fault;
}

// ---- sense ----

static enum position_fault refuse(enum position_fault fault, enum color c, const char *what,
                                  struct err *err)
{
    err_set(err, ERR_INPUT, "bad FEN: %s %s", color_name(c), what);
    return fault;
}

static enum position_fault check_side(const struct position *pos, enum color c, struct err *err)
{
    bitboard own = pos->side[c];
    if (!(pos->piece[KING] & own))
        return refuse(FAULT_NO_KING, c, "has no king", err);
    if (has_many(pos->piece[KING] & own))
        return refuse(FAULT_TOO_MANY_KINGS, c, "has more than one king", err);
    if (count(pos->piece[PAWN] & own) > 8)
        return refuse(FAULT_TOO_MANY_PAWNS, c, "has more than 8 pawns", err);
    if (count(own) > 16)
        return refuse(FAULT_TOO_MANY_PIECES, c, "has more than 16 pieces", err);
    if (pos->piece[PAWN] & own & (RANK_1 | RANK_8))
        return refuse(FAULT_PAWN_ON_BACK_RANK, c, "has a pawn on rank 1 or 8", err);
    return FAULT_NONE;
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

static enum position_fault check_sense(struct position *pos, struct err *err)
{
    enum position_fault fault = check_side(pos, WHITE, err);
    if (!fault)
        fault = check_side(pos, BLACK, err);
    if (fault)
        return fault;
    enum color us = (enum color)pos->turn;
    if (checkers_of(pos, us) || (chess_tables.king[king_of(pos, us)] & pos->piece[KING]))
        return refuse(FAULT_OPPOSITE_CHECK, other(us), "is in check but not to move", err);
    if (!en_passant_is_possible(pos))
        pos->en_passant = SQUARE_NONE;
    bitboard checkers = checkers_of(pos, other(us));
    if (checkers && !checks_are_possible(pos, checkers))
        return refuse(FAULT_IMPOSSIBLE_CHECK, us, "is in a check that no move can have given", err);
    en_passant_normalize(pos);
    return FAULT_NONE;
}

enum position_fault position_parse(str fen, struct position *out, struct err *err)
{
    struct position pos = { 0 };
    enum position_fault fault = parse_fields(fen, &pos, err);
    if (!fault)
        fault = check_sense(&pos, err);
    if (fault)
        return fault;
    pos.key = position_key(&pos);
    *out = pos;
    return FAULT_NONE;
}

// ---- writing ----

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
        char lower = piece_letters[p];
        buf_add_char(out, position_color_at(pos, s) == WHITE ? (char)(lower - ('a' - 'A')) : lower);
    }
    if (empty)
        buf_add_char(out, (char)('0' + empty));
}

static void format_castling(const struct position *pos, struct buf *out)
{
    static const struct {
        square rook;
        char letter;
    } rights[] = { { 7, 'K' }, { 0, 'Q' }, { 63, 'k' }, { 56, 'q' } };
    if (!pos->castling)
        buf_add_char(out, '-');
    for (size_t i = 0; i < ARRAY_LEN(rights); i++) {
        if (pos->castling & bit(rights[i].rook))
            buf_add_char(out, rights[i].letter);
    }
}

void position_format(const struct position *pos, struct buf *out)
{
    for (int rank = 7; rank >= 0; rank--) {
        format_rank(pos, rank, out);
        if (rank > 0)
            buf_add_char(out, '/');
    }
    buf_add(out, pos->turn == WHITE ? S(" w ") : S(" b "));
    format_castling(pos, out);
    if (pos->en_passant == SQUARE_NONE)
        buf_add(out, S(" -"));
    else
        buf_addf(out, " %c%c", 'a' + (pos->en_passant & 7), '1' + (pos->en_passant >> 3));
    buf_addf(out, " %d %d", pos->halfmove, pos->fullmove);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// fen.c - reads positions in Forsyth-Edwards Notation, X-FEN and Shredder-FEN.
//
// The one door through which positions come in: what passes here is legal enough for every other
// function of the module to trust. This file knows the syntax; what the position must be besides
// is in sense.c. Every message ends with the column, from 1, of what is wrong.
#include <string.h>

#include "chess/internal.h"

enum {
    FEN_FIELDS = 6,
    COUNTER_PLAIN_DIGITS = 4, // read without asking for more
    FEN_MAX_BYTES = 256,      // the longest legal FEN has under 100
    COUNTER_MAX = UINT16_MAX  // the struct's; a FEN printed by position_format is always read back
};

// Letters of pieces, from 1: black pawn to king, then white; 0: none. Millions of FENs are read.
static const uint8_t piece_of_letter[256] = {
    ['p'] = 1, ['n'] = 2, ['b'] = 3, ['r'] = 4,  ['q'] = 5,  ['k'] = 6,
    ['P'] = 7, ['N'] = 8, ['B'] = 9, ['R'] = 10, ['Q'] = 11, ['K'] = 12,
};

struct reader { // one FEN being read
    str fen;
    struct position pos;
    unsigned repairs;
    struct err *err;
};

// A field as it may stand in a message.
static struct shown show(str field)
{
    return str_show(field, 16);
}

// The column of a part of the FEN; a part that was filled in has that of the end.
static int column(const struct reader *r, str part)
{
    bool inside = part.data >= r->fen.data && part.data <= r->fen.data + r->fen.len;
    return 1 + (int)(inside ? (size_t)(part.data - r->fen.data) : r->fen.len);
}

// ---- fields ----

// Cuts `text` at blanks; returns the number of fields, of which at most `max` are stored.
static size_t split(str text, str *fields, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len;) {
        size_t start = i;
        while (i < text.len && !ascii_is_blank(text.data[i]))
            i++;
        if (i > start) {
            if (n < max)
                fields[n] = (str){ text.data + start, i - start };
            n++;
        }
        i += i < text.len;
    }
    return n;
}

static void put_piece(struct position *pos, square s, size_t letter)
{
    pos->piece[letter % 6] |= bit(s);
    pos->side[letter < 6 ? BLACK : WHITE] |= bit(s);
}

static bool parse_rank(struct reader *r, str text, int rank)
{
    int file = 0;
    char before = '\0';
    for (size_t i = 0; i < text.len; before = text.data[i++]) {
        str here = str_sub(text, i, 1);
        char c = *here.data;
        size_t letter = piece_of_letter[(unsigned char)c];
        if (is_rank(c)) {
            if (is_rank(before))
                return err_set(r->err, ERR_INPUT,
                               "bad FEN: two digits side by side on rank %d, must be one (column "
                               "%d)",
                               rank + 1, column(r, here));
            file += c - '0';
        } else if (letter > 0) {
            if (file < 8)
                put_piece(&r->pos, (square)(8 * rank + file), letter - 1);
            file++;
        } else if (c == '~' && piece_of_letter[(unsigned char)before]) {
            r->repairs |= REPAIR_PROMOTED;
        } else {
            return err_set(r->err, ERR_INPUT,
                           "bad FEN: \"%s\" on rank %d is neither piece nor 1-8 (column %d)",
                           show(here).text, rank + 1, column(r, here));
        }
    }
    if (file != 8)
        return err_set(r->err, ERR_INPUT, "bad FEN: %d files on rank %d, must be 8 (column %d)",
                       file, rank + 1, column(r, text));
    return true;
}

// What a character of the placement does, so that no branch is needed: what it puts into a mailbox
// of eight ranks of 16 files (low four bits), and how many of its files it takes (high). Black's
// pieces are 1-6, white's 9-14, empty squares 0; a slash leaves a mark behind the eighth file.
enum { STEP_SLASH = 15, STEP_CODE = 15, STEP_FILES_SHIFT = 4 };
#define STEP(code, files) ((code) | (files) << STEP_FILES_SHIFT)
static const uint8_t steps[256] = {
    ['p'] = STEP(1, 1),          ['n'] = STEP(2, 1),  ['b'] = STEP(3, 1),  ['r'] = STEP(4, 1),
    ['q'] = STEP(5, 1),          ['k'] = STEP(6, 1),  ['P'] = STEP(9, 1),  ['N'] = STEP(10, 1),
    ['B'] = STEP(11, 1),         ['R'] = STEP(12, 1), ['Q'] = STEP(13, 1), ['K'] = STEP(14, 1),
    ['1'] = STEP(0, 1),          ['2'] = STEP(0, 2),  ['3'] = STEP(0, 3),  ['4'] = STEP(0, 4),
    ['5'] = STEP(0, 5),          ['6'] = STEP(0, 6),  ['7'] = STEP(0, 7),  ['8'] = STEP(0, 8),
    ['/'] = STEP(STEP_SLASH, 8),
};

// The bytes of a mailbox: half a rank of it, its first file lowest.
static uint64_t mailbox_half(const unsigned char *files)
{
    uint64_t word;
    memcpy(&word, files, sizeof word);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
}

// One bit of each of eight bytes, brought together by a multiplication.
static ALWAYS_INLINE bitboard gather(uint64_t bytes, int bit_of_each)
{
    return ((bytes >> bit_of_each & 0x0101010101010101U) * 0x0102040810204080U) >> 56;
}

// False: a mark is not where it belongs, or something else is there.
static bool put_mailbox(struct position *pos, const unsigned char mailbox[128])
{
    bitboard b0 = 0, b1 = 0, b2 = 0, white = 0;
    uint64_t wrong = 0;
    for (int rank = 0; rank < 8; rank++) {
        const unsigned char *files = mailbox + (7 - rank) * 16;
        uint64_t squares = mailbox_half(files);
        wrong |= mailbox_half(files + 8) ^ (rank > 0 ? STEP_SLASH : 0);
        b0 |= gather(squares, 0) << 8 * rank;
        b1 |= gather(squares, 1) << 8 * rank;
        b2 |= gather(squares, 2) << 8 * rank;
        white |= gather(squares, 3) << 8 * rank;
    }
    if (wrong || (b0 & b1 & b2))
        return false;
    pos->piece[PAWN] = b0 & ~b1 & ~b2;
    pos->piece[KNIGHT] = ~b0 & b1 & ~b2;
    pos->piece[BISHOP] = b0 & b1;
    pos->piece[ROOK] = ~b0 & ~b1 & b2;
    pos->piece[QUEEN] = b0 & b2;
    pos->piece[KING] = b1 & b2;
    pos->side[WHITE] = white;
    pos->side[BLACK] = (b0 | b1 | b2) & ~white;
    return true;
}

// Reads a placement without any fault or mark at the start, in one pass; returns its length, or 0:
// something is odd, and the slow way finds out what. Millions of FENs are read, and which character
// comes next cannot be guessed: so there is no branch on it. A number writes an empty square.
static size_t place_plainly(struct position *pos, str fen)
{
    unsigned char mailbox[128] = { 0 };
    unsigned at = 0, step; // from a8, rank by rank
    uint64_t numbers = 0;  // which of the last 64 characters were
    size_t i = 0;
    for (; i < fen.len && (step = steps[(unsigned char)fen.data[i]]) != 0; i++) {
        mailbox[at % 128] = step & STEP_CODE;
        numbers = numbers << 1 | !(step & STEP_CODE);
        at += step >> STEP_FILES_SHIFT;
    }
    bool whole = at == 8 * 8 + 7 * 8 && i <= 64 && !(numbers & numbers >> 1);
    return whole && put_mailbox(pos, mailbox) ? i : 0;
}

static enum position_fault parse_placement(struct reader *r, str field)
{
    int ranks = 1;
    for (size_t i = 0; i < field.len; i++)
        ranks += field.data[i] == '/';
    if (ranks != 8) {
        err_set(r->err, ERR_INPUT,
                "bad FEN: %d ranks in the piece placement \"%s\", must be 8 (column %d)", ranks,
                show(field).text, column(r, field));
        return FAULT_PLACEMENT;
    }
    for (int rank = 7; rank >= 0; rank--) {
        if (!parse_rank(r, str_cut(&field, '/'), rank))
            return FAULT_PLACEMENT;
    }
    return FAULT_NONE;
}

static enum position_fault parse_turn(struct reader *r, str field)
{
    if (!str_eq(field, S("w")) && !str_eq(field, S("b"))) {
        err_set(r->err, ERR_INPUT, "bad FEN: side to move is \"%s\", must be w or b (column %d)",
                show(field).text, column(r, field));
        return FAULT_TURN;
    }
    r->pos.turn = *field.data == 'w' ? WHITE : BLACK;
    return FAULT_NONE;
}

// The square of the rook that a letter names: a file as in Shredder-FEN, or K and Q: the rook in
// the corner, in chess960 the outermost one on that side of the king. SQUARE_NONE: there is none.
static square named_rook(const struct position *pos, char upper, enum color c)
{
    bitboard rooks = pos->piece[ROOK] & pos->side[c] & back_rank(c);
    bitboard king = pos->piece[KING] & pos->side[c] & back_rank(c);
    bool corner = pos->variant == VARIANT_STANDARD;
    if (upper == 'K')
        rooks &= corner ? FILE_H : ~(king - 1);
    else if (upper == 'Q')
        rooks &= corner ? FILE_A : king - 1;
    else
        rooks &= FILE_A << (upper - 'A');
    if (!rooks || !king)
        return SQUARE_NONE;
    return upper == 'K' ? highest(rooks) : lowest(rooks);
}

// "-", or at most two letters of white and then at most two of black.
static enum position_fault parse_castling(struct reader *r, str field)
{
    if (str_eq(field, S("-")))
        return FAULT_NONE;
    int seen[2] = { 0, 0 };
    for (size_t i = 0; i < field.len; i++) {
        bool black = field.data[i] >= 'a';
        char upper = (char)(black ? field.data[i] - ('a' - 'A') : field.data[i]);
        bool known = upper == 'K' || upper == 'Q' || (upper >= 'A' && upper <= 'H');
        if (!known || ++seen[black] > 2 || (!black && seen[BLACK])) {
            err_set(r->err, ERR_INPUT,
                    "bad FEN: castling rights \"%s\", must be - or at most two of KQ or files A-H "
                    "for white, then the like in small letters for black (column %d)",
                    show(field).text, column(r, str_sub(field, i, 1)));
            return FAULT_CASTLING;
        }
        square rook = named_rook(&r->pos, upper, black ? BLACK : WHITE);
        if (rook != SQUARE_NONE)
            r->pos.castling |= bit(rook);
        else
            r->repairs |= REPAIR_CASTLING;
    }
    return FAULT_NONE;
}

static enum position_fault parse_en_passant(struct reader *r, str field)
{
    r->pos.en_passant = SQUARE_NONE;
    if (str_eq(field, S("-")) || square_parse(field, &r->pos.en_passant))
        return FAULT_NONE;
    err_set(r->err, ERR_INPUT,
            "bad FEN: en-passant square \"%s\", must be - or a square (column %d)",
            show(field).text, column(r, field));
    return FAULT_EN_PASSANT;
}

static enum position_fault parse_counter(struct reader *r, str field, const char *name,
                                         uint16_t *out)
{
    int64_t value = 0;
    size_t i = 0;
    while (i < field.len && i < COUNTER_PLAIN_DIGITS && ascii_is_digit(field.data[i]))
        value = 10 * value + (field.data[i++] - '0');
    bool plain = i > 0 && i == field.len;
    if (!plain && !str_to_int(field, 0, COUNTER_MAX, &value)) {
        err_set(r->err, ERR_INPUT, "bad FEN: %s \"%s\", must be a number from 0 to %d (column %d)",
                name, show(field).text, COUNTER_MAX, column(r, field));
        return FAULT_COUNTERS;
    }
    *out = (uint16_t)value;
    return FAULT_NONE;
}

static enum position_fault parse_fields(struct reader *r)
{
    // What is left out is filled in as python-chess does.
    str fields[FEN_FIELDS] = { [1] = S("w"), S("-"), S("-"), S("0"), S("1") };
    if (r->fen.len > FEN_MAX_BYTES) {
        err_set(r->err, ERR_INPUT, "bad FEN: %zu bytes, at most %d are read", r->fen.len,
                FEN_MAX_BYTES);
        return FAULT_FIELDS;
    }
    size_t placed = place_plainly(&r->pos, r->fen);
    bool plain = placed > 0 && (placed == r->fen.len || ascii_is_blank(r->fen.data[placed]));
    str rest = str_sub(r->fen, plain ? placed : 0, r->fen.len);
    size_t n = plain + split(rest, fields + plain, FEN_FIELDS - plain);
    if (n < 1 || n > FEN_FIELDS) {
        err_set(r->err, ERR_INPUT, "bad FEN: %zu fields in \"%s\", must be 6", n,
                show(r->fen).text);
        return FAULT_FIELDS;
    }
    if (n < FEN_FIELDS)
        r->repairs |= REPAIR_FIELDS;
    if (placed > 0 && !plain)
        r->pos = (struct position){ .variant = r->pos.variant }; // read again, to say what is wrong
    enum position_fault fault = plain ? FAULT_NONE : parse_placement(r, fields[0]);
    if (!fault)
        fault = parse_turn(r, fields[1]);
    if (!fault)
        fault = parse_castling(r, fields[2]);
    if (!fault)
        fault = parse_en_passant(r, fields[3]);
    if (!fault)
        fault = parse_counter(r, fields[4], "halfmove clock", &r->pos.halfmove);
    if (!fault)
        fault = parse_counter(r, fields[5], "fullmove number", &r->pos.fullmove);
    if (!fault && r->pos.fullmove == 0) { // some programs count from 0
        r->pos.fullmove = 1;
        r->repairs |= REPAIR_FULLMOVE;
    }
    return fault;
}

enum position_fault position_parse_as(str fen, enum variant variant, struct position *out,
                                      unsigned *repairs, struct err *err)
{
    struct reader r = { .fen = fen, .pos = { .variant = (uint8_t)variant }, .err = err };
    enum position_fault fault = parse_fields(&r);
    if (!fault)
        fault = position_check(&r.pos, &r.repairs, err);
    if (fault)
        return fault;
    r.pos.key = position_key(&r.pos);
    *out = r.pos;
    if (repairs)
        *repairs = r.repairs;
    return FAULT_NONE;
}

enum position_fault position_parse(str fen, struct position *out, struct err *err)
{
    return position_parse_as(fen, VARIANT_STANDARD, out, NULL, err);
}

const char *position_repair_text(enum position_repair repair)
{
    switch (repair) {
    case REPAIR_FIELDS: return "missing fields filled in with those of w - - 0 1";
    case REPAIR_PROMOTED: return "marks of promoted pieces left out";
    case REPAIR_CASTLING: return "castling rights without king or rook in place dropped";
    case REPAIR_EN_PASSANT: return "en-passant square that no double step can have left dropped";
    case REPAIR_FULLMOVE: return "fullmove number 0 made 1";
    }
    BUG("no such repair");
}

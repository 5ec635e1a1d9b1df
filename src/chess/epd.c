// SPDX-License-Identifier: GPL-3.0-or-later
// epd.c - lines of Extended Position Description: a position and what somebody says of it.
//
// Read as the suites in circulation are written: after the four fields of the standard (PGN
// standard 16.2) the two counters of a FEN may follow, the last semicolon may be missing,
// operations may begin with one (";D1 20 ;D2 400"), operands may be parted by commas.
#include "chess/chess.h"

enum { EPD_LINE_MAX = 1 << 16 };

static bool ends_word(char c)
{
    return ascii_is_blank(c) || c == ';';
}

// Where the word at or after `at` ends; `*start` gets where it begins.
static size_t word_end(str line, size_t at, size_t *start)
{
    while (at < line.len && ascii_is_blank(line.data[at]))
        at++;
    *start = at;
    while (at < line.len && !ends_word(line.data[at]))
        at++;
    return at;
}

static bool is_number(str word)
{
    int64_t n;
    return str_to_int(word, 0, INT64_MAX, &n);
}

// How much of the line is the FEN: four words, and two more where both are numbers.
static size_t fen_length(str line)
{
    size_t end = 0, start, start2;
    for (int i = 0; i < 4; i++)
        end = word_end(line, end, &start);
    size_t one = word_end(line, end, &start), two = word_end(line, one, &start2);
    bool counters = is_number(str_sub(line, start, one - start)) &&
                    is_number(str_sub(line, start2, two - start2));
    return counters ? two : end;
}

// Cuts off what stands before the next semicolon that is not quoted. Returns the quote that does
// not end, or NULL.
static const char *cut_operation(str *rest, str *out)
{
    const char *quote = NULL;
    size_t i = 0;
    for (; i < rest->len && (quote || rest->data[i] != ';'); i++) {
        if (rest->data[i] == '"')
            quote = quote ? NULL : &rest->data[i];
    }
    *out = str_trim(str_sub(*rest, 0, i));
    *rest = str_sub(*rest, i + 1, rest->len);
    return quote;
}

static bool add_operation(struct epd *epd, str line, str text, struct err *err)
{
    while (str_starts(text, S("-"))) // as if there were a fifth field
        text = str_trim(str_sub(text, 1, text.len));
    if (text.len == 0)
        return true;
    int column = 1 + (int)(text.data - line.data);
    if (epd->n == EPD_OPERATIONS_MAX)
        return err_set(err, ERR_LIMIT, "bad EPD: more than %d operations (column %d)",
                       EPD_OPERATIONS_MAX, column);
    size_t start, end = word_end(text, 0, &start);
    if (!ascii_is_lower(ascii_lower(*text.data)))
        return err_set(err, ERR_INPUT,
                       "bad EPD: operation \"%s\", must begin with a letter (column %d)",
                       str_show(text, 16).text, column);
    epd->v[epd->n++] = (struct epd_operation){ .opcode = str_sub(text, 0, end),
                                               .operands = str_trim(str_sub(text, end, text.len)) };
    return true;
}

bool epd_parse(str line, enum variant variant, struct epd *out, struct err *err)
{
    struct epd epd = { .n = 0 };
    if (line.len > EPD_LINE_MAX)
        return err_set(err, ERR_LIMIT, "bad EPD: %zu bytes, at most %d are read", line.len,
                       EPD_LINE_MAX);
    size_t n = fen_length(line);
    unsigned repairs;
    if (position_parse_as(str_sub(line, 0, n), variant, &epd.at, &repairs, err) != FAULT_NONE)
        return false;
    epd.repairs = repairs & ~(unsigned)REPAIR_FIELDS; // an EPD has no counters
    for (str rest = str_sub(line, n, line.len), text; rest.len > 0;) {
        const char *quote = cut_operation(&rest, &text);
        if (quote)
            return err_set(err, ERR_INPUT,
                           "bad EPD: a quoted text does not end, \" is missing (column %d)",
                           1 + (int)(quote - line.data));
        if (!add_operation(&epd, line, text, err))
            return false;
    }
    *out = epd;
    return true;
}

const struct epd_operation *epd_find(const struct epd *epd, str opcode)
{
    for (size_t i = 0; i < epd->n; i++) {
        if (str_eq(epd->v[i].opcode, opcode))
            return &epd->v[i];
    }
    return NULL;
}

bool epd_operand(str *rest, str *out)
{
    static const str between = T(" \t\r\n\v\f,");
    size_t i = 0, start = 0;
    while (i < rest->len && str_find_char(between, rest->data[i]) >= 0)
        i++;
    if (i == rest->len)
        return false;
    bool quoted = rest->data[i] == '"';
    start = i += quoted;
    while (i < rest->len &&
           (quoted ? rest->data[i] != '"' : str_find_char(between, rest->data[i]) < 0))
        i++;
    *out = str_sub(*rest, start, i - start);
    *rest = str_sub(*rest, i + quoted, rest->len);
    return true;
}

enum san_verdict epd_move(const struct epd *epd, str operand, move *out)
{
    while (str_ends(operand, S("!")) || str_ends(operand, S("?")))
        operand.len--;
    if (uci_parse(&epd->at, operand, out))
        return SAN_LEGAL;
    return san_parse(&epd->at, operand, out);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// scan.c - finding move-shaped tokens and words in a model's prose. Hand-written instead of
// regular expressions: the shapes are small, the work is linear, and Unicode behaves as in the
// reference (Python's re): white space and word boundaries are Unicode, move shapes are ASCII.
#include "episode/internal.h"

static char at_or_nul(str s, size_t i)
{
    return i < s.len ? s.data[i] : '\0';
}

static bool is_file(char c)
{
    return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'h';
}

static bool is_rank(char c)
{
    return c >= '1' && c <= '8';
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && str_find_char(str_from(set), c) >= 0;
}

bool scan_inside_token(str text, size_t at)
{
    return at > 0 && ascii_is_alnum(text.data[at - 1]);
}

size_t scan_uci_shape(str text, size_t at)
{
    if (!is_file(at_or_nul(text, at)) || !is_rank(at_or_nul(text, at + 1)) ||
        !is_file(at_or_nul(text, at + 2)) || !is_rank(at_or_nul(text, at + 3)))
        return 0;
    if (is_one_of(at_or_nul(text, at + 4), "qrbnQRBN") && !ascii_is_alnum(at_or_nul(text, at + 5)))
        return 5;
    return ascii_is_alnum(at_or_nul(text, at + 4)) ? 0 : 4;
}

// An optional + or #, then the boundary: the end of a SAN shape whose body ends at `end`; 0: none.
static size_t san_end(str text, size_t end)
{
    if (is_one_of(at_or_nul(text, end), "+#") && !ascii_is_alnum(at_or_nul(text, end + 1)))
        return end + 1;
    return ascii_is_alnum(at_or_nul(text, end)) ? 0 : end;
}

static size_t castling_shape(str text, size_t at)
{
    static const char *const forms[] = { "O-O-O", "O-O", "0-0-0", "0-0" };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        str form = str_from(forms[i]);
        size_t end = at + form.len;
        if (str_eq_nocase(str_sub(text, at, form.len), form) && san_end(text, end))
            return san_end(text, end) - at;
    }
    return 0;
}

// The four optional parts before the target square, in order; a bit of `left_out` leaves one out.
// Moves `*at` behind them; false where one that is not left out does not stand there.
static bool san_prefix(str text, unsigned left_out, size_t *at)
{
    bool piece = left_out & 8 || is_one_of(at_or_nul(text, (*at)++), "KQRBNkqrbn");
    bool file = piece && (left_out & 4 || is_file(at_or_nul(text, (*at)++)));
    bool rank = file && (left_out & 2 || is_rank(at_or_nul(text, (*at)++)));
    return rank && (left_out & 1 || is_one_of(at_or_nul(text, (*at)++), "xX"));
}

// The end of a SAN shape whose target square ends at `at`, with its promotion if one fits; 0: none.
static size_t san_tail(str text, size_t at)
{
    if (at_or_nul(text, at) == '=' && is_one_of(at_or_nul(text, at + 1), "QRBNqrbn") &&
        san_end(text, at + 2))
        return san_end(text, at + 2);
    return san_end(text, at);
}

size_t scan_san_shape(str text, size_t at)
{
    size_t castling = castling_shape(text, at);
    if (castling)
        return castling;
    // Optional parts are greedy with backtracking: all sixteen choices, the greediest first.
    for (unsigned left_out = 0; left_out < 16; left_out++) {
        size_t i = at;
        if (!san_prefix(text, left_out, &i) || !is_file(at_or_nul(text, i)) ||
            !is_rank(at_or_nul(text, i + 1)))
            continue;
        if (san_tail(text, i + 2))
            return san_tail(text, i + 2) - at;
    }
    return 0;
}

static size_t decode_at(str text, size_t at, uint32_t *code)
{
    bool valid;
    return utf8_decode(str_sub(text, at, text.len), code, &valid);
}

size_t scan_space(str text, size_t at)
{
    return utf8_blank(str_sub(text, at, text.len));
}

// Start of the character that ends before `end` (end > 0).
static size_t previous(str text, size_t end)
{
    size_t i = end - 1;
    while (i > 0 && end - i < 4 && ((unsigned char)text.data[i] & 0xC0) == 0x80)
        i--;
    return i;
}

// The lower-case ASCII letter that re.IGNORECASE takes `c` for; other characters stay.
static uint32_t fold(uint32_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 'a';
    switch (c) {
    case 0x130: // dotted capital I
    case 0x131: // dotless small i
        return 'i';
    case 0x17F: // long s
        return 's';
    case 0x212A: // Kelvin sign
        return 'k';
    default: return c;
    }
}

size_t scan_word(str text, size_t at, str word)
{
    size_t i = at;
    for (size_t k = 0; k < word.len; k++) {
        uint32_t code;
        if (i >= text.len)
            return 0;
        size_t n = decode_at(text, i, &code);
        if (fold(code) != (unsigned char)word.data[k])
            return 0;
        i += n;
    }
    return i - at;
}

bool scan_boundary(str text, size_t at)
{
    uint32_t code;
    bool before = false;
    bool after = false;
    if (at > 0) {
        decode_at(text, previous(text, at), &code);
        before = utf8_is_word(code);
    }
    if (at < text.len) {
        decode_at(text, at, &code);
        after = utf8_is_word(code);
    }
    return before != after;
}

bool scan_has_guard_word(str text)
{
    static const char *const words[] = { "square",  "control", "controls", "target",
                                         "targets", "weak",    "strong" };
    for (size_t at = 0; at < text.len; at++)
        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
            size_t n = scan_word(text, at, str_from(words[i]));
            if (n && scan_boundary(text, at) && scan_boundary(text, at + n))
                return true;
        }
    return false;
}

static size_t skip_spaces(str text, size_t at)
{
    for (size_t n; (n = scan_space(text, at)) > 0;)
        at += n;
    return at;
}

// After the announcing word: blanks, `:` or "is", blanks, a backtick or `[`, then a move.
static bool move_follows(str text, size_t at)
{
    at = skip_spaces(text, at);
    if (at_or_nul(text, at) == ':')
        at = skip_spaces(text, at + 1);
    else if (scan_word(text, at, S("is")))
        at = skip_spaces(text, at + scan_word(text, at, S("is")));
    if (is_one_of(at_or_nul(text, at), "`["))
        at++;
    return scan_uci_shape(text, at) || scan_san_shape(text, at);
}

bool scan_announces_move(str text)
{
    static const char *const verbs[] = { "move", "play", "choose", "answer", "prediction" };
    for (size_t at = 0; at < text.len; at++)
        for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
            size_t n = scan_word(text, at, str_from(verbs[i]));
            if (n && scan_boundary(text, at) && move_follows(text, at + n))
                return true;
        }
    return false;
}

static size_t skip_blanks(str line, size_t at)
{
    while (is_one_of(at_or_nul(line, at), " \t"))
        at++;
    return at;
}

// blanks "final" blanks+ "move" blanks ":" PAYLOAD
static bool final_move_line(str line, str *payload)
{
    size_t at = skip_blanks(line, 0);
    size_t n = scan_word(line, at, S("final"));
    if (n == 0)
        return false;
    size_t word = skip_blanks(line, at + n);
    if (word == at + n)
        return false;
    n = scan_word(line, word, S("move"));
    if (n == 0)
        return false;
    at = skip_spaces(line, word + n);
    if (at_or_nul(line, at) != ':')
        return false;
    *payload = str_strip(str_sub(line, at + 1, line.len));
    return true;
}

bool scan_final_move(str text, str *payload)
{
    bool found = false;
    while (text.len > 0)
        found |= final_move_line(str_cut(&text, '\n'), payload);
    return found;
}

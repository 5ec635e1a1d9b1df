// SPDX-License-Identifier: GPL-3.0-or-later
// str.c - views of text. Numbers are read here without the locale, so that a comma as decimal
// separator in the environment never changes data.
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "base/ascii.h"
#include "base/str.h"

str str_from(const char *c)
{
    return (str){ c, c ? strlen(c) : 0 };
}

bool str_eq(str a, str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool str_eq_nocase(str a, str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (ascii_lower(a.data[i]) != ascii_lower(b.data[i]))
            return false;
    return true;
}

int str_cmp(str a, str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.data, b.data, n) : 0;
    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool str_starts(str s, str prefix)
{
    return s.len >= prefix.len && str_eq(str_sub(s, 0, prefix.len), prefix);
}

bool str_ends(str s, str suffix)
{
    return s.len >= suffix.len && str_eq(str_sub(s, s.len - suffix.len, suffix.len), suffix);
}

str str_sub(str s, size_t from, size_t len)
{
    if (from >= s.len)
        return (str){ 0 };
    size_t left = s.len - from;
    return (str){ s.data + from, len < left ? len : left };
}

ptrdiff_t str_find(str s, str needle)
{
    if (needle.len == 0)
        return 0;
    if (s.len < needle.len)
        return -1;
    const char *hit = memmem(s.data, s.len, needle.data, needle.len);
    return hit ? hit - s.data : -1;
}

ptrdiff_t str_find_char(str s, char c)
{
    const char *hit = s.len ? memchr(s.data, c, s.len) : NULL;
    return hit ? hit - s.data : -1;
}

str str_cut(str *rest, char sep)
{
    str whole = *rest;
    ptrdiff_t at = str_find_char(whole, sep);
    if (at < 0) {
        *rest = (str){ 0 };
        return whole;
    }
    *rest = str_sub(whole, (size_t)at + 1, whole.len);
    return (str){ whole.data, (size_t)at };
}

str str_cut_line(str *rest)
{
    str line = str_cut(rest, '\n');
    if (line.len > 0 && line.data[line.len - 1] == '\r')
        line.len--;
    return line;
}

str str_cut_break(str *rest)
{
    size_t at = 0;
    while (at < rest->len && rest->data[at] != '\n' && rest->data[at] != '\r')
        at++;
    str line = str_sub(*rest, 0, at);
    at += str_starts(str_sub(*rest, at, 2), S("\r\n")) ? 2 : 1;
    *rest = str_sub(*rest, at, rest->len);
    return line;
}

bool str_among(str s, const str *list, size_t n, size_t *which)
{
    for (size_t i = 0; i < n; i++) {
        if (!str_eq(s, list[i]))
            continue;
        if (which)
            *which = i;
        return true;
    }
    return false;
}

str str_trim(str s)
{
    return str_trim_set(s, S(" \t\n\v\f\r"));
}

str str_trim_set(str s, str set)
{
    while (s.len > 0 && str_find_char(set, s.data[0]) >= 0)
        s = (str){ s.data + 1, s.len - 1 };
    while (s.len > 0 && str_find_char(set, s.data[s.len - 1]) >= 0)
        s.len--;
    return s;
}

bool str_to_int(str s, int64_t min, int64_t max, int64_t *out)
{
    char text[24];
    if (s.len == 0 || s.len >= sizeof text)
        return false;
    size_t first = s.data[0] == '-';
    if (s.len == first)
        return false;
    for (size_t i = first; i < s.len; i++)
        if (!ascii_is_digit(s.data[i]))
            return false;
    memcpy(text, s.data, s.len);
    text[s.len] = '\0';
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno != 0 || value < min || value > max)
        return false;
    *out = value;
    return true;
}

// strtod of the C locale, whatever setlocale() says.
static double strtod_c(const char *text, char **end)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0)
        BUG("no C locale");
    double value = strtod_l(text, end, c);
    freelocale(c);
    return value;
}

bool str_to_double(str s, double *out)
{
    char text[64];
    if (s.len == 0 || s.len >= sizeof text)
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (str_find_char(S("0123456789+-.eE"), s.data[i]) < 0)
            return false;
    memcpy(text, s.data, s.len);
    text[s.len] = '\0';
    char *end;
    double value = strtod_c(text, &end);
    if (end != text + s.len || !isfinite(value))
        return false;
    *out = value;
    return true;
}

size_t str_distance(str a, str b)
{
    enum { MAX = 63 };
    a = str_sub(a, 0, MAX);
    b = str_sub(b, 0, MAX);
    size_t row[MAX + 1];
    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t above = row[j];
            size_t best = diagonal + (a.data[i - 1] != b.data[j - 1]);
            if (above + 1 < best)
                best = above + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = above;
            row[j] = best;
        }
    }
    return row[b.len];
}

void nearest_offer(struct nearest *n, str name)
{
    enum { SLIP_MAX = 3 }; // more different letters are another word
    size_t distance = str_distance(n->word, name);
    if (distance > SLIP_MAX || distance >= n->word.len)
        return;
    if (n->name.len == 0 || distance < n->distance_) {
        n->name = name;
        n->distance_ = distance;
    }
}

size_t str_line(str text, size_t offset)
{
    size_t line = 1;
    for (size_t i = 0; i < offset && i < text.len; i++)
        line += text.data[i] == '\n';
    return line;
}

str str_without_bom(str s)
{
    str bom = S("\xEF\xBB\xBF");
    return str_starts(s, bom) ? str_sub(s, bom.len, s.len) : s;
}

// Length that a lead byte announces, and the smallest code point of that length; 0: no lead byte.
static size_t utf8_lead(unsigned char c, uint32_t *bits, uint32_t *least)
{
    if (c < 0x80) {
        *bits = c;
        *least = 0;
        return 1;
    }
    if (c >= 0xC2 && c < 0xE0) {
        *bits = c & 0x1FU;
        *least = 0x80;
        return 2;
    }
    if (c >= 0xE0 && c < 0xF0) {
        *bits = c & 0x0FU;
        *least = 0x800;
        return 3;
    }
    if (c >= 0xF0 && c < 0xF5) {
        *bits = c & 0x07U;
        *least = 0x10000;
        return 4;
    }
    return 0;
}

size_t utf8_decode(str s, uint32_t *code, bool *valid)
{
    uint32_t bits = 0;
    uint32_t least = 0;
    size_t n = utf8_lead((unsigned char)s.data[0], &bits, &least);
    *code = 0xFFFD;
    *valid = false;
    if (n == 0)
        return 1;
    for (size_t i = 1; i < n; i++) {
        unsigned char c = i < s.len ? (unsigned char)s.data[i] : 0;
        uint32_t next = bits << 6 | (c & 0x3FU);
        // The second byte already shows overlong forms, surrogates and values beyond the range.
        uint32_t low = next << 6 * (n - 1 - i);
        uint32_t high = low | ((1U << 6 * (n - 1 - i)) - 1);
        if ((c & 0xC0) != 0x80 || high < least || low > 0x10FFFF ||
            (low >= 0xD800 && high <= 0xDFFF))
            return i;
        bits = next;
    }
    *code = bits;
    *valid = true;
    return n;
}

size_t utf8_encode(uint32_t code, char out[4])
{
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        code = 0xFFFD;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    static const unsigned lead[5] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    out[0] = (char)(lead[n] | code);
    return n;
}

bool utf8_is_obeyed(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

size_t ascii_run(str s)
{
    size_t i = 0;
    uint64_t word;
    for (; i + sizeof word <= s.len; i += sizeof word) {
        memcpy(&word, s.data + i, sizeof word);
        if (word & 0x8080808080808080U)
            break;
    }
    while (i < s.len && (unsigned char)s.data[i] < 0x80)
        i++;
    return i;
}

bool utf8_is_word(uint32_t code)
{
    switch ((int)utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return true;
    default: return code == '_';
    }
}

bool utf8_valid(str s)
{
    if (s.len == 0)
        return true; // perhaps no text at all: NULL bears no arithmetic
    for (;;) {
        uint32_t code;
        bool valid;
        size_t plain = ascii_run(s);
        s = (str){ s.data + plain, s.len - plain };
        if (s.len == 0)
            return true;
        size_t n = utf8_decode(s, &code, &valid);
        if (!valid)
            return false;
        s = (str){ s.data + n, s.len - n };
    }
}

size_t utf8_length(str s)
{
    size_t count = 0;
    while (s.len > 0) {
        if ((unsigned char)s.data[0] < 0x80) {
            s = (str){ s.data + 1, s.len - 1 };
            count++;
            continue;
        }
        uint32_t code;
        bool valid;
        size_t n = utf8_decode(s, &code, &valid);
        s = (str){ s.data + n, s.len - n };
        count++;
    }
    return count;
}

// White space beyond ASCII: U+0085 and the categories Zs, Zl, Zp.
static bool is_wide_blank(uint32_t code)
{
    static const uint16_t blanks[] = { 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000 };
    for (size_t i = 0; i < ARRAY_LEN(blanks); i++)
        if (code == blanks[i])
            return true;
    return code >= 0x2000 && code <= 0x200A;
}

size_t utf8_blank(str s)
{
    if (s.len == 0)
        return 0;
    unsigned char c = (unsigned char)s.data[0];
    if (c < 0x80)
        return ascii_is_blank((char)c) || (c >= 0x1C && c <= 0x1F);
    uint32_t code;
    bool valid;
    size_t n = utf8_decode(s, &code, &valid);
    return valid && is_wide_blank(code) ? n : 0;
}

// Bytes of the white-space character at the end of `s`; none is longer than three.
static size_t blank_at_end(str s)
{
    for (size_t n = 1; n <= 3 && n <= s.len; n++)
        if (utf8_blank(str_sub(s, s.len - n, n)) == n)
            return n;
    return 0;
}

str str_strip_start(str s)
{
    for (size_t n = utf8_blank(s); n > 0; n = utf8_blank(s))
        s = str_sub(s, n, s.len);
    return s;
}

str str_strip(str s)
{
    s = str_strip_start(s);
    for (size_t n = blank_at_end(s); n > 0; n = blank_at_end(s))
        s.len -= n;
    return s;
}

struct shown str_show(str s, size_t max)
{
    struct shown out;
    size_t n = 0;
    if (max > SHOWN_MAX_BYTES)
        max = SHOWN_MAX_BYTES;
    while (s.len > 0) {
        uint32_t code;
        bool valid;
        size_t used = utf8_decode(s, &code, &valid);
        bool plain = valid && code >= 0x20 && code != 0x7F && !(code >= 0x80 && code < 0xA0);
        size_t wide = plain ? used : 1;
        if (n + wide > max)
            break;
        memcpy(out.text + n, plain ? s.data : "?", wide);
        n += wide;
        s = str_sub(s, used, s.len);
    }
    memcpy(out.text + n, s.len > 0 ? "..." : "", s.len > 0 ? sizeof "..." : 1);
    return out;
}

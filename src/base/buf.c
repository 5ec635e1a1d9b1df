// SPDX-License-Identifier: GPL-3.0-or-later
// buf.c - growing text. Also the program's one writer of JSON strings and of floating numbers.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#include "base/ascii.h"

// Makes room for n more bytes and the NUL; false (and over) where the maximum forbids it.
static bool reserve(struct buf *b, size_t n)
{
    size_t max = b->max ? b->max : BUF_MAX_DEFAULT;
    if (b->over || n > max - b->len) {
        b->over = true;
        return false;
    }
    size_t want = b->len + n + 1;
    if (want > b->cap) {
        size_t cap = b->cap ? b->cap : 64;
        while (cap < want)
            cap *= 2;
        b->data = arena_grow(b->arena, b->data, b->cap, cap);
        b->cap = cap;
    }
    return true;
}

void buf_add(struct buf *b, str s)
{
    if (s.len == 0 || !reserve(b, s.len))
        return;
    memcpy(b->data + b->len, s.data, s.len);
    b->len += s.len;
}

void buf_add_char(struct buf *b, char c)
{
    if (reserve(b, 1))
        b->data[b->len++] = c;
}

void buf_add_all(struct buf *b, const str *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_add(b, parts[i]);
}

// Formats into what room there is; only a text that does not fit is formatted again.
void buf_addf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    size_t room = reserve(b, 0) ? b->cap - b->len : 0;
    int n = vsnprintf(room > 0 ? b->data + b->len : NULL, room, format, args);
    va_end(args);
    if (n < 0)
        BUG("bad format");
    bool fits = reserve(b, (size_t)n);
    if (fits && (size_t)n >= room)
        vsnprintf(b->data + b->len, (size_t)n + 1, format, again);
    if (fits)
        b->len += (size_t)n;
    va_end(again);
}

void buf_add_int(struct buf *b, int64_t value)
{
    char text[21];
    size_t i = sizeof text;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        text[--i] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        text[--i] = '-';
    buf_add(b, (str){ text + i, sizeof text - i });
}

// The escape of a character below 0x20, of a quote or a backslash.
static const char *json_escape(unsigned char c, char room[8])
{
    switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    case '\b': return "\\b";
    case '\f': return "\\f";
    default: break;
    }
    snprintf(room, 8, "\\u%04x", c);
    return room;
}

void buf_add_utf8(struct buf *b, str s)
{
    size_t start = 0;
    for (size_t i = 0; (i += ascii_run(str_sub(s, i, s.len))) < s.len;) {
        uint32_t code;
        bool valid;
        size_t n = utf8_decode(str_sub(s, i, s.len), &code, &valid);
        if (!valid) {
            buf_add(b, str_sub(s, start, i - start));
            buf_add(b, S("\xEF\xBF\xBD"));
            start = i + n;
        }
        i += n;
    }
    buf_add(b, str_sub(s, start, s.len));
}

// One character that is not itself in a JSON string; returns its bytes.
static size_t add_special(struct buf *b, str s)
{
    char room[8];
    uint32_t code;
    bool valid;
    unsigned char c = (unsigned char)s.data[0];
    if (c < 0x80) {
        buf_add(b, str_from(json_escape(c, room)));
        return 1;
    }
    size_t n = utf8_decode(s, &code, &valid);
    buf_add(b, valid ? str_sub(s, 0, n) : S("\xEF\xBF\xBD"));
    return n;
}

// The bytes at the start that stand for themselves in a JSON string: printable ASCII but for quote
// and backslash. Eight are looked at together: a top bit is set where a byte is over 0x7F, below
// 0x20, a quote or a backslash (or perhaps only follows such a one: the loop behind tells).
static size_t plain_run(str s)
{
    const uint64_t ones = 0x0101010101010101U, tops = ones << 7;
    size_t i = 0;
    for (uint64_t w; i + sizeof w <= s.len; i += sizeof w) {
        memcpy(&w, s.data + i, sizeof w);
        uint64_t quote = w ^ ones * '"', backslash = w ^ ones * '\\';
        if ((w | (w - ones * 0x20) | (quote - ones) | (backslash - ones)) & tops)
            break;
    }
    for (; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
            break;
    }
    return i;
}

void buf_add_json(struct buf *b, str s)
{
    buf_add_char(b, '"');
    while (s.len > 0 && !b->over) {
        size_t n = plain_run(s);
        buf_add(b, str_sub(s, 0, n));
        s = str_sub(s, n, s.len);
        if (s.len > 0) {
            n = add_special(b, s);
            s = str_sub(s, n, s.len);
        }
    }
    buf_add_char(b, '"');
}

// A number as its shortest digits and decimal exponent: 0.025 is "25", -2.
struct digits {
    char text[24];
    size_t n;
    int exponent;
};

// The decimal exponent behind the 'e' of "%e".
static int exponent_of(str text)
{
    int64_t e = 0;
    if (text.len > 0 && text.data[0] == '+')
        text = str_sub(text, 1, text.len);
    if (!str_to_int(text, -400, 400, &e))
        BUG("no exponent in %e");
    return (int)e;
}

// The fewest digits that read back the same; value is finite and positive.
static struct digits shortest(double value)
{
    char text[40] = "";
    struct digits d = { .n = 0 };
    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, value);
        // The C library writes the locale's decimal separator: it is always the second byte.
        if (precision > 0)
            text[1] = '.';
        double back = 0;
        if (str_to_double(str_from(text), &back) && back == value)
            break;
    }
    str rest = str_from(text);
    str mantissa = str_cut(&rest, 'e');
    for (size_t i = 0; i < mantissa.len; i++)
        if (ascii_is_digit(mantissa.data[i]))
            d.text[d.n++] = mantissa.data[i];
    d.exponent = exponent_of(rest);
    return d;
}

static void add_scientific(struct buf *b, const struct digits *d)
{
    buf_add_char(b, d->text[0]);
    if (d->n > 1) {
        buf_add_char(b, '.');
        buf_add(b, (str){ d->text + 1, d->n - 1 });
    }
    buf_addf(b, "e%c%02d", d->exponent < 0 ? '-' : '+', abs(d->exponent));
}

// With a point, and zeros where there are no digits.
static void add_plain(struct buf *b, const struct digits *d)
{
    if (d->exponent < 0) {
        buf_add(b, S("0."));
        for (int i = -1; i > d->exponent; i--)
            buf_add_char(b, '0');
        buf_add(b, (str){ d->text, d->n });
        return;
    }
    size_t whole = (size_t)d->exponent + 1;
    for (size_t i = 0; i < whole; i++)
        buf_add_char(b, i < d->n ? d->text[i] : '0');
    buf_add_char(b, '.');
    buf_add(b, d->n > whole ? (str){ d->text + whole, d->n - whole } : S("0"));
}

void buf_add_double(struct buf *b, double value)
{
    if (!isfinite(value))
        BUG("a number that is not finite");
    if (signbit(value))
        buf_add_char(b, '-');
    if (value == 0) {
        buf_add(b, S("0.0"));
        return;
    }
    struct digits d = shortest(fabs(value));
    if (d.exponent < -4 || d.exponent >= 16) // as repr() of CPython
        add_scientific(b, &d);
    else
        add_plain(b, &d);
}

str buf_str(struct buf *b)
{
    if (!b->data && !reserve(b, 0))
        return (str){ 0 };
    if (b->data)
        b->data[b->len] = '\0';
    return (str){ b->data, b->len };
}

// SPDX-License-Identifier: GPL-3.0-or-later
// csv.c - one streaming tokenizer of RFC 4180 rows: quoted fields with line breaks and doubled
// quotes, CRLF or LF, a last line without a line feed.
//
// First the borders of all fields are found as offsets, reading more text where the row goes on;
// only when the row is complete are views made and doubled quotes halved. A quote that
// is never closed would swallow the file: the row is refused, and reading goes on at the line
// after the one where the quote stands.
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "input/input.h"
#include "base/base.h"

struct extent { // of a field, from the start of the row, without its quotes
    size_t from, to;
    bool doubled; // has doubled quotes
};
enum trouble {
    TROUBLE_NONE,
    TROUBLE_OPEN_QUOTE,
    TROUBLE_BEHIND_QUOTE, // the row can be delimited all the same
    TROUBLE_LONG_FIELD,
    TROUBLE_LONG_ROW,
    TROUBLE_SOURCE,
};
struct scan {
    struct window *w;
    struct err *err;
    size_t i;                    // offset from w->begin
    size_t line;                 // at i
    size_t quote_at, quote_line; // of the quoted field in work
    bool in_quotes;
    bool quoted; // the field was
    enum trouble trouble;
};

static char at(const struct scan *s)
{
    return s->w->data[s->w->begin + s->i];
}

// Makes the byte at i available; false at the end of the text and in trouble.
static bool have(struct scan *s)
{
    if (s->w->begin + s->i < s->w->end)
        return true;
    switch (window_more(s->w, s->err)) {
    case WINDOW_MORE: return true;
    case WINDOW_END: return false;
    case WINDOW_FULL: s->trouble = TROUBLE_LONG_ROW; return false;
    case WINDOW_FAIL: s->trouble = TROUBLE_SOURCE; return false;
    }
    BUG("no such answer");
}

// Moves to the next comma or line feed.
static void skip_plain(struct scan *s)
{
    do {
        const char *p = s->w->data + s->w->begin + s->i;
        const char *end = s->w->data + s->w->end;
        const char *start = p;
        while (p < end && *p != ',' && *p != '\n')
            p++;
        s->i += (size_t)(p - start);
        if (p < end)
            return;
    } while (have(s));
}

// Moves to the next quote, counting lines; false: there is none.
static bool skip_to_quote(struct scan *s)
{
    do {
        const char *p = s->w->data + s->w->begin + s->i;
        const char *end = s->w->data + s->w->end;
        const char *start = p;
        while (p < end && *p != '"')
            s->line += *p++ == '\n';
        s->i += (size_t)(p - start);
        if (p < end)
            return true;
        if (s->i - s->quote_at > CSV_FIELD_MAX_BYTES) {
            s->trouble = TROUBLE_LONG_FIELD;
            return false;
        }
    } while (have(s));
    return false;
}

// A CR that ends the line is not part of the field.
static size_t without_cr(const struct scan *s, size_t from)
{
    bool line_ends = s->w->begin + s->i == s->w->end || at(s) == '\n';
    bool cr = line_ends && s->i > from && s->w->data[s->w->begin + s->i - 1] == '\r';
    return s->i - cr;
}

static void scan_quoted(struct scan *s, struct extent *out)
{
    s->quote_at = s->i++;
    s->quote_line = s->line;
    s->in_quotes = true;
    out->from = s->i;
    for (;;) {
        if (!skip_to_quote(s)) {
            if (s->trouble == TROUBLE_NONE)
                s->trouble = TROUBLE_OPEN_QUOTE;
            return;
        }
        out->to = s->i++;
        if (!have(s) || at(s) != '"')
            break;
        out->doubled = true;
        s->i++;
    }
    s->in_quotes = false;
    size_t behind = s->i;
    skip_plain(s);
    if (s->trouble == TROUBLE_NONE && without_cr(s, behind) > behind)
        s->trouble = TROUBLE_BEHIND_QUOTE;
}

// Finds one field and leaves i at the comma, the line feed or the end behind it.
static void scan_field(struct scan *s, struct extent *out)
{
    *out = (struct extent){ .from = s->i };
    s->quoted = have(s) && at(s) == '"';
    if (s->quoted) {
        scan_quoted(s, out);
    } else {
        skip_plain(s);
        out->to = without_cr(s, out->from);
    }
    if (s->trouble == TROUBLE_NONE && out->to - out->from > CSV_FIELD_MAX_BYTES)
        s->trouble = TROUBLE_LONG_FIELD;
}

static bool is_fatal(enum trouble t)
{
    return t != TROUBLE_NONE && t != TROUBLE_BEHIND_QUOTE;
}

// Finds the fields of the row at w->begin; false when its end was not found.
static bool scan_row(struct scan *s, struct extent *fields, size_t *n)
{
    for (*n = 0;; s->i++) {
        struct extent spare;
        enum trouble before = s->trouble;
        s->trouble = TROUBLE_NONE;
        scan_field(s, *n < CSV_COLUMNS_MAX ? &fields[*n] : &spare);
        if (is_fatal(s->trouble))
            return false;
        if (before != TROUBLE_NONE)
            s->trouble = before;
        ++*n;
        bool ended = s->w->begin + s->i == s->w->end;
        if (ended)
            return true;
        if (at(s) == '\n') {
            s->i++;
            s->line++;
            return true;
        }
    }
}

static str unquoted(const char *base, struct extent f, struct arena *a)
{
    const char *from = base + f.from;
    if (!f.doubled)
        return (str){ from, f.to - f.from };
    char *start = arena_alloc(a, f.to - f.from), *to = start;
    for (const char *p = from; p < base + f.to; p++) {
        *to++ = *p;
        p += *p == '"';
    }
    return (str){ start, (size_t)(to - start) };
}

static void explain(const struct scan *s, size_t n, struct err *err)
{
    switch (s->trouble) {
    case TROUBLE_NONE:
    case TROUBLE_SOURCE: break;
    case TROUBLE_OPEN_QUOTE:
        err_set(err, ERR_INPUT, "unterminated quote starting at line %zu; close or remove it",
                s->quote_line);
        break;
    case TROUBLE_BEHIND_QUOTE:
        err_set(err, ERR_INPUT, "text behind a closing quote; double the quotes inside the field");
        break;
    case TROUBLE_LONG_FIELD:
    case TROUBLE_LONG_ROW:
        err_set(err, ERR_LIMIT, "%s %zu is over %d MiB%s; remove the row",
                s->trouble == TROUBLE_LONG_FIELD ? "field" : "the row in field", n + 1,
                (s->trouble == TROUBLE_LONG_FIELD ? CSV_FIELD_MAX_BYTES : ROW_MAX_BYTES) >> 20,
                s->in_quotes ? ", perhaps for an unterminated quote" : "");
        break;
    }
}

// Goes on behind a row whose end was not found.
static enum row_read give_up_row(struct scan *s)
{
    if (s->trouble == TROUBLE_SOURCE)
        return ROW_FAIL;
    s->w->begin += s->in_quotes ? s->quote_at : s->i;
    s->w->line = s->in_quotes ? s->quote_line : s->line;
    struct err why = { 0 };
    if (s->err)
        why = *s->err;
    if (!window_skip_line(s->w, s->err))
        return ROW_FAIL;
    if (s->err)
        *s->err = why;
    return ROW_BAD;
}

enum { CHUNK = 64 }; // bytes looked at together

// Which of them separate fields or may: commas, line feeds, quotes; a bit each, the first lowest.
static uint64_t separators(const char *p)
{
    uint64_t found = 0;
#ifdef __SSE2__
    for (unsigned i = 0; i < CHUNK; i += sizeof(__m128i)) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        __m128i some = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(',')),
                                    _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')),
                                                 _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'))));
        found |= (uint64_t)(unsigned)_mm_movemask_epi8(some) << i;
    }
#else
    for (unsigned i = 0; i < CHUNK; i++)
        found |= (uint64_t)(p[i] == ',' || p[i] == '\n' || p[i] == '"') << i;
#endif
    return found;
}

// Takes the usual row, which lies in the window and has neither quotes nor too many fields; false:
// it is another one, and nothing is changed but `out`.
static bool take_plain_row(struct window *w, struct csv_row *out)
{
    const char *p = w->data + w->begin, *end = w->data + w->end;
    const char *start = p, *from = p;
    out->n = 0;
    out->lineno = w->line;
    for (; end - p >= CHUNK; p += CHUNK) {
        for (uint64_t hits = separators(p); hits; hits &= hits - 1) {
            const char *at = p + __builtin_ctzll(hits);
            if (*at == '"' || out->n == CSV_COLUMNS_MAX)
                return false;
            bool ends = *at == '\n';
            size_t cr = ends && at > from && at[-1] == '\r';
            out->fields[out->n++] = (str){ from, (size_t)(at - from) - cr };
            from = at + 1;
            if (ends) {
                out->text = (str){ start, (size_t)(from - start) };
                w->begin = (size_t)(from - w->data);
                w->line++;
                return true;
            }
        }
    }
    return false;
}

enum row_read csv_next(struct window *w, struct arena *a, struct csv_row *out, struct err *err)
{
    bool empty = w->begin == w->end || w->data[w->begin] == '\n' || w->data[w->begin] == '\r';
    if (!empty && take_plain_row(w, out))
        return ROW_GOOD;
    struct extent fields[CSV_COLUMNS_MAX];
    struct scan s;
    bool blank = true;
    do {
        s = (struct scan){ .w = w, .err = err, .line = w->line };
        out->n = 0;
        out->lineno = w->line;
        if (!have(&s))
            return s.trouble == TROUBLE_NONE ? ROW_END : ROW_FAIL;
        if (!scan_row(&s, fields, &out->n)) {
            explain(&s, out->n, err);
            return give_up_row(&s);
        }
        blank = out->n == 1 && !s.quoted && fields[0].from == fields[0].to;
        if (blank) {
            w->begin += s.i;
            w->line = s.line;
        }
    } while (blank);
    size_t n = out->n < CSV_COLUMNS_MAX ? out->n : CSV_COLUMNS_MAX;
    for (size_t i = 0; i < n; i++)
        out->fields[i] = unquoted(w->data + w->begin, fields[i], a);
    out->text = (str){ w->data + w->begin, s.i };
    w->begin += s.i;
    w->line = s.line;
    explain(&s, out->n, err);
    if (out->n > CSV_COLUMNS_MAX) {
        err_set(err, ERR_LIMIT, "%zu columns, at most %d are read; remove the row", out->n,
                CSV_COLUMNS_MAX);
        return ROW_BAD;
    }
    return s.trouble == TROUBLE_NONE ? ROW_GOOD : ROW_BAD;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// tags.c - tag pairs: [Name "value"], and the start position they describe.
//
// Real values hold quotes that nobody escaped, and backslashes that escape nothing. So a quote
// closes only where a bracket follows it.
#include <string.h>

#include "pgn/internal.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && is_blank(*p))
        p++;
    return p;
}

// Behind the bracket that follows the quote at `p`, or NULL.
static const char *closes(const char *p, const char *end)
{
    p = skip_blanks(p + 1, end);
    return p < end && *p == ']' ? p + 1 : NULL;
}

// The quote that ends the value beginning at `p`, or NULL. A backslash before it is a backslash.
static const char *closing_quote(const char *p, const char *end)
{
    for (; p < end; p++) {
        if (*p == '"' && closes(p, end))
            return p;
        bool escapes = *p == '\\' && p + 1 < end && (p[1] == '"' || p[1] == '\\');
        if (escapes && !(p[1] == '"' && closes(p + 1, end)))
            p++;
    }
    return NULL;
}

static str unescape(struct pgn_parse *x, str value)
{
    if (str_find_char(value, '\\') < 0)
        return value;
    struct buf b = { .arena = x->a, .max = value.len + 1 };
    for (size_t i = 0; i < value.len; i++) {
        char c = value.data[i];
        if (c == '\\' && i + 1 < value.len && (value.data[i + 1] == '"' || value.data[i + 1] == c))
            c = value.data[++i];
        buf_add_char(&b, c);
    }
    return buf_str(&b);
}

str pgn_utf8(struct pgn_parse *x, str text)
{
    if (utf8_valid(text))
        return text;
    struct buf b = { .arena = x->a, .max = 2 * text.len + 1 };
    for (size_t i = 0; i < text.len; i++) {
        char code[4];
        unsigned char c = (unsigned char)text.data[i];
        x->game->latin1_bytes += c >= 0x80;
        buf_add(&b, (str){ code, utf8_encode(c, code) });
    }
    return buf_str(&b);
}

static void keep(struct pgn_parse *x, const char *at, str name, str value)
{
    struct pgn_tags *tags = &x->game->tags;
    for (size_t i = 0; i < tags->n; i++) {
        if (str_eq(tags->v[i].name, name)) {
            tags->v[i].value = value;
            return;
        }
    }
    if (tags->n == PGN_TAGS_MAX)
        pgn_fault(x, at, "more than %d tags; the rest is left out", PGN_TAGS_MAX);
    else
        *vec_push(x->a, tags) = (struct pgn_tag){ name, value };
}

// Letters, digits, and the few signs that programs use in names.
static bool is_name(str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (!ascii_is_alnum(name.data[i]) && !memchr("_+#=:-", name.data[i], 6))
            return false;
    }
    return name.len > 0;
}

// Without the pair the moves can still be read, unless it says where they begin.
static void refuse(struct pgn_parse *x, str tag, str line)
{
    x->game->bad_tags++;
    if (str_eq(tag, S("FEN")) || str_eq(tag, S("Variant")))
        pgn_fault(x, line.data, "no tag pair: \"%s\"; write [Name \"value\"]",
                  str_show(line, 60).text);
}

void pgn_read_tag(struct pgn_parse *x)
{
    const char *at = x->p;
    const char *end = memchr(at, '\n', (size_t)(x->end - at));
    end = end ? end : x->end;
    const char *name = skip_blanks(at + 1, end), *p = name;
    while (p < end && !is_blank(*p) && *p != '"' && *p != ']')
        p++;
    str tag = { name, (size_t)(p - name) };
    p = skip_blanks(p, end);
    const char *quote = p < end && *p == '"' ? closing_quote(p + 1, end) : NULL;
    if (!quote || !is_name(tag)) {
        refuse(x, tag, (str){ at, (size_t)(end - at) });
        x->p = end;
        return;
    }
    x->p = closes(quote, end);
    str value = unescape(x, (str){ p + 1, (size_t)(quote - p - 1) });
    keep(x, at, tag, pgn_utf8(x, value));
}

str pgn_tag(const struct pgn_game *game, str name)
{
    for (size_t i = 0; i < game->tags.n; i++) {
        if (str_eq(game->tags.v[i].name, name))
            return game->tags.v[i].value;
    }
    return (str){ 0 };
}

bool pgn_set_up(struct pgn_parse *x, const char *at)
{
    str name = pgn_tag(x->game, S("Variant")), fen = pgn_tag(x->game, S("FEN"));
    enum variant variant = VARIANT_STANDARD;
    struct err err = { 0 };
    unsigned repairs = 0;
    if (name.len > 0 && !variant_parse(name, &variant)) {
        pgn_fault(x, at, "the variant \"%s\" is not read: standard chess and chess960 are",
                  str_show(name, 40).text);
        return false;
    }
    if (fen.len == 0) {
        x->game->start = position_start();
        x->game->start.variant = (uint8_t)variant;
        return true;
    }
    if (position_parse_as(fen, variant, &x->game->start, &repairs, &err) == FAULT_NONE)
        return true;
    pgn_fault(x, at, "tag FEN: %s", err.text);
    return false;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// token.c - moves in UCI found in text: the built-in parser and the normalisation of what a
// candidate's parser returns (2.4). Hand-written instead of regular expressions, so that hostile
// text costs linear time; words and white space are Unicode as Python's re sees them, the move
// itself is ASCII.
#include <string.h>
#include <utf8proc.h>

#include "harness/harness.h"

struct found { // the distinct moves of one tier
    char first[6];
    bool any, several;
};

static bool is_square(str s, size_t i)
{
    if (i + 2 > s.len)
        return false;
    char file = ascii_lower(s.data[i]);
    return file >= 'a' && file <= 'h' && s.data[i + 1] >= '1' && s.data[i + 1] <= '8';
}

static bool is_promotion(str s, size_t i)
{
    return i < s.len && memchr("qrbnQRBN", s.data[i], 8);
}

// Bytes of a move at `i`, as long as possible: 5, 4 or 0.
static size_t move_length(str s, size_t i)
{
    if (!is_square(s, i) || !is_square(s, i + 2))
        return 0;
    return is_promotion(s, i + 4) ? 5 : 4;
}

bool harness_is_uci(str action)
{
    for (size_t i = 0; i < action.len; i++)
        if (ascii_is_upper(action.data[i]))
            return false;
    return action.len >= 4 && move_length(action, 0) == action.len;
}

static void note(struct found *f, str token)
{
    char lowered[6] = { 0 };
    for (size_t i = 0; i < token.len; i++)
        lowered[i] = ascii_lower(token.data[i]);
    if (!f->any)
        memcpy(f->first, lowered, sizeof lowered);
    else if (strcmp(f->first, lowered) != 0)
        f->several = true;
    f->any = true;
}

static size_t skip_blanks(str s, size_t i)
{
    for (size_t n; i < s.len && (n = utf8_blank(str_sub(s, i, s.len))) > 0;)
        i += n;
    return i;
}

// Moves between two marks, with nothing but white space beside them.
static struct found find_between(str s, str open, str close)
{
    struct found f = { 0 };
    for (size_t i = 0; i + open.len <= s.len; i++) {
        if (!str_eq_nocase(str_sub(s, i, open.len), open))
            continue;
        size_t at = skip_blanks(s, i + open.len);
        size_t len = move_length(s, at);
        size_t end = len > 0 ? skip_blanks(s, at + len) : s.len;
        if (len > 0 && str_eq_nocase(str_sub(s, end, close.len), close))
            note(&f, str_sub(s, at, len));
    }
    return f;
}

static bool ends_word(str s, size_t i)
{
    uint32_t c;
    bool valid;
    if (i >= s.len)
        return true;
    utf8_decode(str_sub(s, i, s.len), &c, &valid);
    return !utf8_is_word(c);
}

// Moves that stand as words of their own.
static struct found find_bare(str s)
{
    struct found f = { 0 };
    bool after_word = false;
    for (size_t i = 0, n; i < s.len; i += n) {
        uint32_t c;
        bool valid;
        size_t len = after_word ? 0 : move_length(s, i);
        if (len > 0 && ends_word(s, i + len))
            note(&f, str_sub(s, i, len));
        n = utf8_decode(str_sub(s, i, s.len), &c, &valid);
        after_word = utf8_is_word(c);
    }
    return f;
}

static struct found find_move(str s, enum harness_tier *tier)
{
    struct found f = find_between(s, S("<move>"), S("</move>"));
    *tier = TIER_TAG;
    if (!f.any) {
        f = find_between(s, S("["), S("]"));
        *tier = TIER_BRACKET;
    }
    if (!f.any) {
        f = find_bare(s);
        *tier = f.any ? TIER_BARE : TIER_NONE;
    }
    return f;
}

str harness_parse(str response, struct arena *a)
{
    enum harness_tier tier;
    struct found f = find_move(response, &tier);
    if (!f.any)
        return S(HARNESS_NO_MOVE);
    return f.several ? S(HARNESS_AMBIGUOUS) : arena_str(a, str_from(f.first));
}

enum harness_tier harness_parse_tier(str response)
{
    enum harness_tier tier;
    find_move(response, &tier);
    return tier;
}

static str lower(str s, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < s.len;) {
        uint32_t c;
        bool valid;
        char bytes[4];
        i += utf8_decode(str_sub(s, i, s.len), &c, &valid);
        c = (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
        buf_add(&b, (str){ bytes, utf8_encode(c, bytes) });
    }
    return buf_str(&b);
}

str harness_normalise(str result, bool reference, struct arena *a)
{
    str text = str_strip(lower(result, a));
    struct found f = find_bare(text);
    if (f.several && !reference)
        return S(HARNESS_AMBIGUOUS);
    return f.any ? arena_str(a, str_from(f.first)) : text;
}

bool harness_goes_somewhere(str action)
{
    return harness_is_uci(action) && !str_eq(str_sub(action, 0, 2), str_sub(action, 2, 2));
}

str harness_action(const struct harness_call *call, const struct harness_result *r, struct arena *a)
{
    bool usable = r->ok && r->type == RESULT_STR && r->text.len <= HARNESS_ACTION_MAX_BYTES;
    return usable ? harness_normalise(r->text, call->as_text, a) : harness_parse(call->text, a);
}

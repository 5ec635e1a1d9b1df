// SPDX-License-Identifier: GPL-3.0-or-later
// redact.c - takes secrets out of texts (endpoint specification, section 16; field case F-065): the
// key by value (key_forms.c), and by shape whatever looks like somebody's key, since a proxy may
// echo another one than ours.
#include "llm/internal.h"

// ---- by shape ----

static bool is_token_char(char c)
{
    return ascii_is_alnum(c) || str_find_char(S("-._~+/=%*"), c) >= 0;
}

static size_t token_length(str s)
{
    size_t n = 0;
    while (n < s.len && is_token_char(s.data[n]))
        n++;
    return n;
}

// Prose after "Bearer" is a word of small letters; a token has other characters or is long.
static bool looks_random(str token)
{
    for (size_t i = 0; i < token.len; i++)
        if (!ascii_is_lower(token.data[i]))
            return true;
    return token.len >= 20;
}

static const struct shape {
    str prefix;
    size_t least;      // bytes of the token behind it
    bool keep_prefix;  // it is not part of the secret
    bool must_be_word; // nothing that belongs to a word may stand before it
    str mask;
} shapes[] = {
    { T("sk-"), 8, false, true, T(KEY_MASK) },     { T("AIza"), 16, false, true, T(KEY_MASK) },
    { T("Bearer "), 8, true, true, T(KEY_MASK) },  { T("key="), 4, true, false, T(KEY_MASK) },
    { T("org-"), 8, false, true, T("[account]") }, { T("user_"), 8, false, true, T("[account]") },
};

// Length of a shape at the begin of `rest`, 0: none is there. `word` tells that a word begins here.
static size_t shape_length(str rest, bool word, const struct shape **which)
{
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        const struct shape *s = &shapes[i];
        if ((s->must_be_word && !word) ||
            !str_eq_nocase(str_sub(rest, 0, s->prefix.len), s->prefix))
            continue;
        str tail = str_sub(rest, s->prefix.len, rest.len);
        size_t n = token_length(tail);
        if (n < s->least || !looks_random(str_sub(tail, 0, n)))
            continue;
        *which = s;
        return s->prefix.len + n;
    }
    return 0;
}

// "name@host.tld" at the begin of `rest`: its length, else 0.
static size_t email_length(str rest)
{
    size_t at = 0;
    while (at < rest.len &&
           (ascii_is_alnum(rest.data[at]) || str_find_char(S("._%+-"), rest.data[at]) >= 0))
        at++;
    if (at == 0 || at >= rest.len || rest.data[at] != '@')
        return 0;
    size_t end = at + 1;
    while (end < rest.len &&
           (ascii_is_alnum(rest.data[end]) || str_find_char(S(".-"), rest.data[end]) >= 0))
        end++;
    str host = str_trim_set(str_sub(rest, at + 1, end - at - 1), S(".-"));
    return str_find_char(host, '.') > 0 ? at + 1 + host.len : 0;
}

// "://user:password@" at the begin of `rest`: its length, else 0.
static size_t userinfo_length(str rest)
{
    if (!str_starts(rest, S("://")))
        return 0;
    for (size_t i = 3; i < rest.len && i < 512; i++) {
        if (rest.data[i] == '@')
            return i + 1;
        if (str_find_char(S("/?# \t\r\n\"'<>"), rest.data[i]) >= 0)
            return 0;
    }
    return 0;
}

// Writes the mask of what stands at the begin of `rest` and returns its length; 0: nothing secret.
static size_t mask_here(struct buf *b, str rest, bool word, const struct key_forms *forms)
{
    size_t n = key_length(forms, rest);
    if (n > 0) {
        buf_add(b, S(KEY_MASK));
        return n;
    }
    const struct shape *shape = NULL;
    n = shape_length(rest, word, &shape);
    if (n > 0) {
        if (shape->keep_prefix)
            buf_add(b, str_sub(rest, 0, shape->prefix.len));
        buf_add(b, shape->mask);
        return n;
    }
    n = userinfo_length(rest);
    if (n > 0) {
        buf_add(b, S("://" KEY_MASK "@"));
        return n;
    }
    n = word ? email_length(rest) : 0;
    if (n > 0)
        buf_add(b, S("[account]"));
    return n;
}

// Whether a word may begin at `i`.
static bool word_begins(str text, size_t i)
{
    return i == 0 || !ascii_is_alnum(text.data[i - 1]);
}

bool text_has_key_shape(str text)
{
    const struct shape *shape = NULL;
    for (size_t i = 0; i < text.len; i++)
        if (shape_length(str_sub(text, i, text.len), word_begins(text, i), &shape) > 0 &&
            shape->must_be_word && str_eq(shape->mask, S(KEY_MASK)))
            return true;
    return false;
}

str secrets_redact(str text, str key, struct arena *a)
{
    struct arena scratch = { 0 };
    struct key_forms forms;
    key_forms_of(key, &scratch, &forms);
    struct buf b = { .arena = a, .max = SIZE_MAX / 4 };
    for (size_t i = 0; i < text.len;) {
        size_t n = mask_here(&b, str_sub(text, i, text.len), word_begins(text, i), &forms);
        if (n == 0)
            buf_add_char(&b, text.data[i++]);
        i += n;
    }
    arena_free(&scratch);
    return buf_str(&b);
}

str text_cut(str text, size_t max)
{
    if (text.len <= max)
        return text;
    text.len = max;
    while (text.len > 0 && str_find_char(S(" \t\r\n"), text.data[text.len - 1]) < 0)
        text.len--;
    return text;
}

str error_text(str text, str key, struct arena *a)
{
    enum { READ_MAX = 8192, SHOWN_MAX = 600 };
    str safe = secrets_redact(text_cut(text, READ_MAX), key, a);
    struct buf b = { .arena = a };
    for (size_t i = 0; i < safe.len && b.len < SHOWN_MAX;) {
        uint32_t code;
        bool valid;
        size_t n = utf8_decode(str_sub(safe, i, safe.len), &code, &valid);
        if (code < 0x20 || (code >= 0x7f && code < 0xa0))
            buf_add_char(&b, ' '); // no line breaks, no terminal sequences
        else
            buf_add_utf8(&b, str_sub(safe, i, n));
        i += n;
    }
    if (b.len >= SHOWN_MAX)
        buf_add(&b, S("..."));
    return buf_str(&b);
}

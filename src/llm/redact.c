// SPDX-License-Identifier: GPL-3.0-or-later
// redact.c - takes secrets out of texts (endpoint specification, section 16; field case F-065): the
// key by value in every form in which an echo may carry it, and by shape whatever looks like
// somebody's key, since a proxy may echo another one than ours.
#include <string.h>

#include "llm/internal.h"

enum { KEY_MIN = 4, FORMS_MAX = 16, BASE64_STABLE_MIN = 8 };

static const str masked = T("[key]");

struct forms {
    str v[FORMS_MAX];
    size_t n;
};

static void form_add(struct forms *f, str form)
{
    for (size_t i = 0; i < f->n; i++)
        if (str_eq(f->v[i], form))
            return;
    if (f->n == FORMS_MAX)
        BUG("more forms of a key than places");
    f->v[f->n++] = form;
}

static str json_form(str key, struct arena *a)
{
    struct buf b = { .arena = a };
    buf_add_json(&b, key);
    str quoted = buf_str(&b);
    return str_sub(quoted, 1, quoted.len - 2);
}

// JSON writers that escape the slash are legal and common.
static str slash_form(str json, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < json.len; i++) {
        if (json.data[i] == '/')
            buf_add_char(&b, '\\');
        buf_add_char(&b, json.data[i]);
    }
    return buf_str(&b);
}

static str percent_form(str key, const char *digits, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < key.len; i++) {
        unsigned char c = (unsigned char)key.data[i];
        if (ascii_is_alnum(key.data[i]) || str_find_char(S("-._~"), key.data[i]) >= 0) {
            buf_add_char(&b, key.data[i]);
            continue;
        }
        buf_add_char(&b, '%');
        buf_add_char(&b, digits[c >> 4]);
        buf_add_char(&b, digits[c & 15]);
    }
    return buf_str(&b);
}

// The base64 digits that depend on the key alone when `before` bytes (0 to 2) of something else
// stand in front of it, as in base64("user:" + key). Empty: too few to tell.
static str base64_form(str key, size_t before, const char *alphabet, struct arena *a)
{
    size_t first = (before * 8 + 5) / 6;
    size_t last = (before + key.len) * 8 / 6;
    struct buf b = { .arena = a };
    for (size_t i = first; i < last; i++) {
        size_t bit = i * 6 - before * 8; // of the key
        unsigned hi = (unsigned char)key.data[bit / 8];
        unsigned lo = bit / 8 + 1 < key.len ? (unsigned char)key.data[bit / 8 + 1] : 0;
        buf_add_char(&b, alphabet[(hi << 8 | lo) >> (10 - bit % 8) & 63]);
    }
    return b.len < BASE64_STABLE_MIN ? (str){ 0 } : buf_str(&b);
}

static void forms_of(str key, struct arena *a, struct forms *out)
{
    static const char *const base64[] = {
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    };
    if (key.len < KEY_MIN)
        return;
    form_add(out, key);
    str json = json_form(key, a);
    form_add(out, json);
    form_add(out, slash_form(json, a));
    form_add(out, percent_form(key, "0123456789ABCDEF", a));
    form_add(out, percent_form(key, "0123456789abcdef", a));
    for (size_t i = 0; i < ARRAY_LEN(base64); i++) {
        for (size_t before = 0; before < 3; before++) {
            str form = base64_form(key, before, base64[i], a);
            if (form.len > 0)
                form_add(out, form);
        }
    }
}

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
    { T("sk-"), 8, false, true, T("[key]") },      { T("AIza"), 16, false, true, T("[key]") },
    { T("Bearer "), 8, true, true, T("[key]") },   { T("key="), 4, true, false, T("[key]") },
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
static size_t mask_here(struct buf *b, str rest, bool word, const struct forms *forms)
{
    size_t longest = 0;
    for (size_t i = 0; i < forms->n; i++)
        if (forms->v[i].len > longest && str_starts(rest, forms->v[i]))
            longest = forms->v[i].len;
    if (longest > 0) {
        buf_add(b, masked);
        return longest;
    }
    const struct shape *shape = NULL;
    size_t n = shape_length(rest, word, &shape);
    if (n > 0) {
        if (shape->keep_prefix)
            buf_add(b, str_sub(rest, 0, shape->prefix.len));
        buf_add(b, shape->mask);
        return n;
    }
    n = userinfo_length(rest);
    if (n > 0) {
        buf_add(b, S("://[key]@"));
        return n;
    }
    n = word ? email_length(rest) : 0;
    if (n > 0)
        buf_add(b, S("[account]"));
    return n;
}

str secrets_redact(str text, str key, struct arena *a)
{
    struct arena scratch = { 0 };
    struct forms forms = { 0 };
    forms_of(key, &scratch, &forms);
    struct buf b = { .arena = a, .max = SIZE_MAX / 4 };
    for (size_t i = 0; i < text.len;) {
        bool word = i == 0 || !ascii_is_alnum(text.data[i - 1]);
        size_t n = mask_here(&b, str_sub(text, i, text.len), word, &forms);
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

// SPDX-License-Identifier: GPL-3.0-or-later
// key_forms.c - finds a key by value, whatever an echo has made of it (endpoint specification,
// section 16; field case F-065). Writers of JSON and of URLs are free in what they escape, so the
// text is decoded and compared character by character instead of listing its spellings; only
// base64, which mixes characters, has forms of its own. Replies are long and keys are rare in them:
// at most places two table look-ups tell that no form begins there.
#include "llm/internal.h"

enum { KEY_MIN = 4, BASE64_STABLE_MIN = 8, SECRET_MIN = 8, WORD_MAX = 15 };

// ---- what to look for ----

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

// What begins an escape, and so may stand for any character.
static bool is_mark(char c)
{
    return c == '\\' || c == '%';
}

static void form_add(struct key_forms *f, str form)
{
    for (size_t i = 0; i < f->n; i++)
        if (str_eq(f->v[i], form))
            return;
    if (f->n == KEY_FORMS_MAX)
        BUG("more forms of a key than places");
    unsigned char bit = (unsigned char)(1u << f->n);
    f->first[(unsigned char)form.data[0]] |= bit;
    f->second[(unsigned char)form.data[1]] |= bit;
    f->v[f->n++] = form;
}

// Any character may be escaped: a mark may stand first, before what makes an escape of it, and
// second behind any first one.
static void admit_escapes(struct key_forms *f)
{
    enum { ESCAPED = 1 << KEY_FORMS_MAX, ANY = 2 * ESCAPED - 1 };
    static const str inside = T("u0123456789abcdefABCDEF");
    for (size_t i = 0; i < inside.len; i++)
        f->second[(unsigned char)inside.data[i]] |= ESCAPED;
    for (size_t i = 0; i < f->n; i++)
        f->second[(unsigned char)f->v[i].data[0]] |= ESCAPED;
    f->second['\\'] = f->second['%'] = ANY;
    f->first['\\'] |= ESCAPED;
    f->first['%'] |= ESCAPED;
}

void key_forms_of(str key, struct arena *a, struct key_forms *out)
{
    static const char *const base64[] = {
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    };
    *out = (struct key_forms){ 0 };
    if (key.len < KEY_MIN)
        return;
    form_add(out, key);
    for (size_t i = 0; i < ARRAY_LEN(base64); i++) {
        for (size_t before = 0; before < 3; before++) {
            str form = base64_form(key, before, base64[i], a);
            if (form.len > 0)
                form_add(out, form);
        }
    }
    admit_escapes(out);
}

bool key_is_secret(str key)
{
    size_t lower = 0;
    size_t upper = 0;
    for (size_t i = 0; i < key.len; i++) {
        lower += ascii_is_lower(key.data[i]);
        upper += ascii_is_upper(key.data[i]);
    }
    bool is_word = key.len <= WORD_MAX && (lower == key.len || upper == key.len);
    return key.len >= SECRET_MIN && !is_word;
}

// ---- one character of a coded text ----

// How a text may be coded: layers from the outermost in, 'j' a JSON text, 'p' a percent-encoded
// one. An error that a proxy passes on is a JSON text in a JSON text.
static const char *const codings[] = { "j", "jj", "jjj", "p", "pp", "jp", "pj" };

static size_t read_char(str s, const char *layers, char *c);

static int hex_value(char c)
{
    ptrdiff_t at = str_find_char(S("0123456789abcdef"), ascii_lower(c));
    return (int)at;
}

// The number of `digits` hexadecimal digits from `at`. Where they are not there, the mark in front
// of them stands for itself; what is no ASCII character is read as NUL, which no key has.
static size_t read_hex(str s, size_t at, int digits, const char *layers, char *c)
{
    size_t end = at;
    int value = 0;
    for (int i = 0; i < digits; i++) {
        char digit;
        size_t n = read_char(str_sub(s, end, s.len), layers, &digit);
        int v = n > 0 ? hex_value(digit) : -1;
        if (v < 0)
            return at;
        value = value * 16 + v;
        end += n;
    }
    *c = value < 0x80 ? (char)value : '\0';
    return end;
}

// What stands behind a backslash: \uXXXX, or a character that stands for itself. The short escapes
// of control characters are read as letters, which is as wrong as can be: no key has controls.
static size_t read_escape(str s, size_t at, const char *layers, char *c)
{
    size_t n = read_char(str_sub(s, at, s.len), layers, c);
    if (n == 0)
        return 0;
    if (*c == 'u')
        return read_hex(s, at + n, 4, layers, c);
    if (str_find_char(S("bfnrt"), *c) >= 0)
        *c = '\0';
    return at + n;
}

// Decodes one character through all layers; returns the bytes it takes, 0: there is none.
static size_t read_char(str s, const char *layers, char *c)
{
    if (*layers == '\0') {
        if (s.len > 0)
            *c = s.data[0];
        return s.len > 0;
    }
    size_t n = read_char(s, layers + 1, c);
    if (n > 0 && *layers == 'j' && *c == '\\')
        return read_escape(s, n, layers + 1, c);
    if (n > 0 && *layers == 'p' && *c == '%')
        return read_hex(s, n, 2, layers + 1, c);
    return n;
}

// ---- comparing ----

static size_t coded_length(str rest, str form, const char *layers)
{
    size_t at = 0;
    for (size_t i = 0; i < form.len; i++) {
        char c;
        size_t n = read_char(str_sub(rest, at, rest.len), layers, &c);
        if (n == 0 || c != form.data[i])
            return 0;
        at += n;
    }
    return at;
}

// Characters other than the two marks are themselves in every coding: where one of them differs
// before any mark, nothing else needs to be tried.
static size_t form_length(str rest, str form)
{
    bool coded = false;
    size_t i = 0;
    for (; i < form.len && i < rest.len; i++) {
        coded = coded || is_mark(rest.data[i]);
        if (rest.data[i] != form.data[i])
            break;
    }
    if (i == form.len)
        return i;
    size_t longest = 0;
    for (size_t k = 0; coded && k < ARRAY_LEN(codings); k++) {
        size_t n = coded_length(rest, form, codings[k]);
        longest = n > longest ? n : longest;
    }
    return longest;
}

// Whether a form may begin with these two bytes; false for most of a normal text.
static bool may_begin(const struct key_forms *f, char one, char two)
{
    return (f->first[(unsigned char)one] & f->second[(unsigned char)two]) != 0;
}

size_t key_length(const struct key_forms *f, str rest)
{
    size_t longest = 0;
    if (rest.len < KEY_MIN || !may_begin(f, rest.data[0], rest.data[1]))
        return 0;
    for (size_t i = 0; i < f->n; i++) {
        size_t n = form_length(rest, f->v[i]);
        longest = n > longest ? n : longest;
    }
    return longest;
}

str key_mask(str text, const struct key_forms *f, struct arena *a)
{
    struct buf b = { .arena = a, .max = SIZE_MAX / 4 };
    size_t done = 0;
    for (size_t i = 0; i + KEY_MIN <= text.len;) {
        bool maybe = may_begin(f, text.data[i], text.data[i + 1]); // called for each byte: not more
        size_t n = maybe ? key_length(f, str_sub(text, i, text.len)) : 0;
        if (n == 0) {
            i++;
            continue;
        }
        buf_add(&b, str_sub(text, done, i - done));
        buf_add(&b, S(KEY_MASK));
        done = i += n;
    }
    if (done == 0)
        return text;
    buf_add(&b, str_sub(text, done, text.len));
    return buf_str(&b);
}

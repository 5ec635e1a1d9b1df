// SPDX-License-Identifier: GPL-3.0-or-later
// relax.c - JSON that is not quite JSON. One recursive-descent transcoder turns it into compact
// strict JSON, in two modes: envelopes of providers (strict grammar; odd escapes, numbers and bytes
// are mended, jansson reads the result) and answers of models (the lenient grammar of the few-shot
// specification 1.10; the members of the top object are cut out of the result).
//
// Its input is hostile: nesting is limited, and the time is linear in the bytes looked at. The
// look-ahead of a quote passes only blanks, which no other quote looks at; a bare value is looked
// at twice at most.
#include <string.h>

#include "base/ascii.h"
#include "base/json.h"
#include "base/map.h"
#include "base/vec.h"

enum { NESTING_MAX = 128 }; // endpoint specification, section 2

enum mode { ENVELOPE, ANSWER };

struct span { // one member in the output: "key":value
    size_t key, value, end;
};

struct reader {
    enum mode mode;
    str text;
    size_t at;
    int depth;
    const char *why;    // what was wrong, once something was
    struct arena arena; // of all below
    struct buf out;     // compact strict JSON
    struct buf word;    // the string or key read last, decoded
    struct {
        struct span *v;
        size_t n, cap;
    } spans; // members of all open objects, the innermost object's last
};

// ---- white space ----

str json_trim(str s)
{
    return str_strip(str_without_bom(str_strip(s)));
}

// ---- the text, character by character ----

static bool fail(struct reader *r, const char *why)
{
    r->why = why;
    return false;
}

static str rest(const struct reader *r)
{
    return str_sub(r->text, r->at, r->text.len);
}

static bool ended(const struct reader *r)
{
    return r->at >= r->text.len;
}

// The next byte; NUL at the end of the text, where no grammar rule wants one.
static char peek(const struct reader *r)
{
    return ended(r) ? '\0' : r->text.data[r->at];
}

static bool take(struct reader *r, char c)
{
    if (ended(r) || peek(r) != c)
        return false;
    r->at++;
    return true;
}

static size_t blank(const struct reader *r, str s)
{
    if (r->mode == ANSWER)
        return utf8_blank(s);
    return s.len > 0 && str_find_char(S(" \t\n\r"), s.data[0]) >= 0;
}

// Passes white space, in answers also comments.
static void skip_blank(struct reader *r)
{
    for (;;) {
        size_t n = blank(r, rest(r));
        if (n == 0) {
            bool comment = peek(r) == '#' || str_starts(rest(r), S("//"));
            if (r->mode == ENVELOPE || !comment)
                return;
            ptrdiff_t line = str_find_char(rest(r), '\n');
            n = line < 0 ? rest(r).len : (size_t)line;
        }
        r->at += n;
    }
}

// ---- strings ----

// Value of up to four hex digits from `at`; returns how many there are.
static size_t hex_digits(str text, size_t at, uint32_t *value)
{
    size_t n = 0;
    *value = 0;
    for (; n < 4 && at + n < text.len; n++) {
        char c = text.data[at + n];
        char lower = ascii_lower(c);
        if (ascii_is_digit(c))
            *value = *value << 4 | (uint32_t)(c - '0');
        else if (lower >= 'a' && lower <= 'f')
            *value = *value << 4 | (uint32_t)(lower - 'a' + 10);
        else
            break;
    }
    return n;
}

// Reads from the `u` of \uXXXX. Pairs of surrogates are joined; a lone one and U+0000 become
// U+FFFD. With too few digits nothing is special about it, unless the text was cut right there.
static void read_unicode(struct reader *r)
{
    uint32_t code;
    uint32_t low;
    size_t n = hex_digits(r->text, r->at + 1, &code);
    if (n < 4) {
        if (r->at + 1 + n == r->text.len)
            r->at = r->text.len;
        else
            buf_add_char(&r->word, '\\');
        return;
    }
    r->at += 5;
    if (code >= 0xD800 && code < 0xDC00 && str_starts(rest(r), S("\\u")) &&
        hex_digits(r->text, r->at + 2, &low) == 4 && low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        r->at += 6;
    }
    char bytes[4];
    size_t length = utf8_encode(code ? code : 0xFFFD, bytes);
    buf_add(&r->word, (str){ bytes, length });
}

// Reads from a backslash. One that begins no escape stays as it is (models write TeX); one that is
// the last byte of the text is what a cut has left of an escape.
static void read_escape(struct reader *r)
{
    static const char meant[] = "\"\\/\b\f\n\r\t'";
    r->at++;
    if (ended(r))
        return;
    if (peek(r) == 'u') {
        read_unicode(r);
        return;
    }
    ptrdiff_t i = str_find_char(S("\"\\/bfnrt'"), peek(r));
    if (i < 0) {
        buf_add_char(&r->word, '\\');
        return;
    }
    buf_add_char(&r->word, meant[i]);
    r->at++;
}

// Whether the quote at r->at ends its string. In an answer it does so only before something that
// may follow a string: quotes inside are often not escaped.
static bool quote_closes(const struct reader *r)
{
    if (r->mode == ENVELOPE)
        return true;
    str next = str_strip_start(str_sub(r->text, r->at + 1, r->text.len));
    return next.len == 0 || str_find_char(S(",}]:/#"), next.data[0]) >= 0;
}

static bool at_string(const struct reader *r)
{
    return peek(r) == '"' || (peek(r) == '\'' && r->mode == ANSWER);
}

// Reads a string from its quote into r->word.
static bool read_string(struct reader *r)
{
    char quote = peek(r);
    r->at++;
    r->word.len = 0;
    while (!ended(r)) {
        if (peek(r) == quote && quote_closes(r)) {
            r->at++;
            return true;
        }
        if (peek(r) == '\\') {
            read_escape(r);
            continue;
        }
        size_t start = r->at++; // plain text, the first byte being perhaps a quote that stays open
        while (!ended(r) && peek(r) != quote && peek(r) != '\\' && peek(r) != '\0')
            r->at++;
        if (r->text.data[start] == '\0') { // jansson holds none
            buf_add(&r->word, S("\xEF\xBF\xBD"));
            start++;
        }
        buf_add_utf8(&r->word, str_sub(r->text, start, r->at - start));
    }
    return r->mode == ANSWER || fail(r, "a string has no end");
}

// ---- words and numbers ----

struct word_form { // a bare word that is a value
    str text, json;
};
static const struct word_form envelope_words[] = {
    { T("true"), T("true") }, { T("false"), T("false") },   { T("null"), T("null") },
    { T("NaN"), T("null") },  { T("Infinity"), T("null") }, { T("-Infinity"), T("null") },
};
static const struct word_form answer_words[] = {
    { T("true"), T("true") },   { T("false"), T("false") }, { T("null"), T("null") },
    { T("True"), T("true") },   { T("False"), T("false") }, { T("None"), T("null") },
    { T("NaN"), T("\"NaN\"") },
};

static size_t digits(str s, size_t at)
{
    size_t n = 0;
    while (at + n < s.len && ascii_is_digit(s.data[at + n]))
        n++;
    return n;
}

// Length of the JSON number at the start of `s`, 0: there is none.
static size_t number_length(str s)
{
    size_t at = str_starts(s, S("-"));
    size_t n = digits(s, at);
    if (n == 0)
        return 0;
    at += s.data[at] == '0' ? 1 : n;
    if (str_starts(str_sub(s, at, s.len), S(".")) && (n = digits(s, at + 1)) > 0)
        at += 1 + n;
    if (at < s.len && (s.data[at] | 0x20) == 'e') {
        size_t sign = at + 1 < s.len && (s.data[at + 1] == '+' || s.data[at + 1] == '-');
        n = digits(s, at + 1 + sign);
        at += n > 0 ? 1 + sign + n : 0;
    }
    return at;
}

// The word or number at r->at as JSON; returns its length in the text, 0: it is neither.
static size_t token(const struct reader *r, str *json)
{
    const struct word_form *words = r->mode == ANSWER ? answer_words : envelope_words;
    size_t n = r->mode == ANSWER ? ARRAY_LEN(answer_words) : ARRAY_LEN(envelope_words);
    for (size_t i = 0; i < n; i++)
        if (str_starts(rest(r), words[i].text)) {
            *json = words[i].json;
            return words[i].text.len;
        }
    *json = str_sub(rest(r), 0, number_length(rest(r)));
    return json->len;
}

// Whether jansson can hold a number: it knows 64-bit integers and finite doubles.
static bool number_fits(str number)
{
    if (number.len <= 18 && digits(number, 0) == number.len)
        return true;
    json_t *value = json_loadb(number.data, number.len, JSON_DECODE_ANY, NULL);
    json_decref(value);
    return value != NULL;
}

static bool read_envelope_token(struct reader *r)
{
    str json;
    size_t n = token(r, &json);
    if (n == 0)
        return fail(r, ended(r) ? "the text ends too early" : "no value where one must be");
    bool number = json.data == r->text.data + r->at;
    r->at += n;
    if (number && !number_fits(json))
        buf_add_json(&r->out, json);
    else
        buf_add(&r->out, json);
    return true;
}

// A word or number that stands alone, else all up to a comma, a closing bracket or the line's end.
static bool read_answer_run(struct reader *r, char closer)
{
    size_t start = r->at;
    str json;
    size_t n = token(r, &json);
    if (n > 0) {
        r->at += n;
        skip_blank(r);
        if (ended(r) || peek(r) == ',' || peek(r) == closer) {
            buf_add(&r->out, json);
            return true;
        }
        r->at = start;
    }
    while (!ended(r) && str_find_char(S(",}\n"), peek(r)) < 0 && peek(r) != closer)
        r->at++;
    str run = json_trim(str_sub(r->text, start, r->at - start));
    if (run.len == 0 && closer == ']')
        return fail(r, "an empty element in an array");
    buf_add_json(&r->out, run);
    return true;
}

// ---- arrays and objects ----

static bool read_list(struct reader *r, char closer, bool (*item)(struct reader *r));
static bool read_object(struct reader *r);
static bool read_element(struct reader *r);

// Reads a value of any kind from its first character; `closer` ends the array or object around it.
static bool read_value(struct reader *r, char closer)
{
    size_t base = r->spans.n;
    if (at_string(r)) {
        if (!read_string(r))
            return false;
        buf_add_json(&r->out, buf_str(&r->word));
        return true;
    }
    if (peek(r) == '{') {
        bool ok = read_object(r);
        r->spans.n = base;
        return ok;
    }
    if (peek(r) == '[') {
        buf_add_char(&r->out, '[');
        bool ok = read_list(r, ']', read_element);
        buf_add_char(&r->out, ']');
        return ok;
    }
    return r->mode == ANSWER ? read_answer_run(r, closer) : read_envelope_token(r);
}

// Writes the comma before every member or element but the first.
static void separate(struct reader *r)
{
    char last = r->out.data[r->out.len - 1];
    if (last != '[' && last != '{')
        buf_add_char(&r->out, ',');
}

static bool read_element(struct reader *r)
{
    separate(r);
    return read_value(r, ']');
}

static bool is_word_byte(char c)
{
    return ascii_is_alnum(c) || str_find_char(S("_-$."), c) >= 0 || (unsigned char)c >= 0x80;
}

// Reads a key into r->word.
static bool read_key(struct reader *r)
{
    if (at_string(r))
        return read_string(r);
    size_t start = r->at;
    while (r->mode == ANSWER && is_word_byte(peek(r)) && utf8_blank(rest(r)) == 0)
        r->at++;
    if (r->at == start)
        return fail(r, "no key where one must be");
    r->word.len = 0;
    buf_add_utf8(&r->word, str_sub(r->text, start, r->at - start));
    return true;
}

static bool read_member(struct reader *r)
{
    if (!read_key(r))
        return false;
    skip_blank(r);
    if (ended(r) && r->mode == ANSWER)
        return true; // cut off before its value: dropped
    if (!take(r, ':'))
        return fail(r, "no colon behind a key");
    skip_blank(r);
    if (ended(r) && r->mode == ANSWER)
        return true;
    separate(r);
    struct span s = { .key = r->out.len };
    buf_add_json(&r->out, buf_str(&r->word));
    buf_add_char(&r->out, ':');
    s.value = r->out.len;
    if (!read_value(r, '}'))
        return false;
    s.end = r->out.len;
    *vec_push(&r->arena, &r->spans) = s;
    return true;
}

// Whether the array or object ends here: its bracket, which is taken, or in an answer the end of
// the text.
static bool closed(struct reader *r, char closer)
{
    skip_blank(r);
    return take(r, closer) || (ended(r) && r->mode == ANSWER);
}

// Reads from the opening bracket over the closing one.
static bool read_list(struct reader *r, char closer, bool (*item)(struct reader *r))
{
    if (r->depth == NESTING_MAX)
        return fail(r, "nested too deep (the limit is 128)");
    r->depth++;
    r->at++;
    bool done = closed(r, closer);
    while (!done) {
        if (!item(r))
            return false;
        done = closed(r, closer);
        if (done)
            break;
        if (!take(r, ','))
            return fail(r, ended(r) ? "the text ends too early" : "no comma between two values");
        skip_blank(r);
        done = r->mode == ANSWER && closed(r, closer); // behind a trailing comma
    }
    r->depth--;
    return true;
}

// Writes the object that begins at `start` of the output once more, with these members only.
static void rewrite(struct reader *r, size_t start, struct span *v, size_t n)
{
    struct arena scratch = { 0 };
    struct buf b = { .arena = &scratch, .max = r->out.max };
    buf_add_char(&b, '{');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_add_char(&b, ',');
        size_t key = start + b.len;
        buf_add(&b, str_sub(buf_str(&r->out), v[i].key, v[i].end - v[i].key));
        v[i] = (struct span){ key, key + v[i].value - v[i].key, start + b.len };
    }
    buf_add_char(&b, '}');
    r->out.len = start;
    buf_add(&r->out, buf_str(&b));
    arena_free(&scratch);
}

// Of members with the same key the last one wins, at the place of the first. The object begins at
// `start` of the output; its members are the spans from `base` on.
static void merge_duplicates(struct reader *r, size_t start, size_t base)
{
    struct arena scratch = { 0 };
    struct map seen = { .arena = &scratch };
    struct span *v = r->spans.v + base;
    size_t n = r->spans.n - base;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool fresh;
        str key = str_sub(buf_str(&r->out), v[i].key, v[i].value - v[i].key);
        struct map_entry *entry = map_put(&seen, key, &fresh);
        if (fresh)
            entry->number = (int64_t)kept++;
        v[entry->number] = v[i];
    }
    if (kept < n)
        rewrite(r, start, v, kept);
    r->spans.n = base + kept;
    arena_free(&scratch);
}

// Leaves the members on r->spans.
static bool read_object(struct reader *r)
{
    size_t start = r->out.len;
    size_t base = r->spans.n;
    buf_add_char(&r->out, '{');
    if (!read_list(r, '}', read_member))
        return false;
    buf_add_char(&r->out, '}');
    if (r->mode == ANSWER && r->spans.n - base > 1) // jansson does it for envelopes
        merge_duplicates(r, start, base);
    return true;
}

// Starts a reader that must not be moved afterwards. A control character of one byte becomes an
// escape of six, so the output has a bound.
static void reader_start(struct reader *r, enum mode mode, str text)
{
    *r = (struct reader){ .mode = mode, .text = text };
    r->out = r->word = (struct buf){ .arena = &r->arena, .max = 8 * text.len + 64 };
}

// ---- answers ----

// A string of our own output, decoded in `a`.
static str decode(str json, struct arena *a)
{
    struct reader r = { .mode = ENVELOPE, .text = json };
    r.word = (struct buf){ .arena = a, .max = json.len + 1 };
    if (!read_string(&r))
        BUG("our own string is not closed");
    return buf_str(&r.word);
}

static str member_text(str json, struct arena *a)
{
    switch (json.data[0]) {
    case '"': return decode(json, a);
    case 't': return S("True");
    case 'f': return S("False");
    case 'n': return S("None");
    default: return arena_str(a, json);
    }
}

// Reads the first element of an array that is an object.
static bool read_first_object(struct reader *r)
{
    r->at = 1;
    r->depth = 1;
    for (;;) {
        skip_blank(r);
        if (peek(r) == '{')
            return read_object(r);
        if (!read_value(r, ']'))
            return false;
        r->out.len = 0;
        skip_blank(r);
        if (!take(r, ','))
            return fail(r, "no object in the array");
    }
}

bool json_read_lenient(str text, struct arena *a, struct json_members *out, size_t *used)
{
    struct reader r;
    reader_start(&r, ANSWER, text);
    *out = (struct json_members){ 0 };
    bool ok = str_starts(text, S("[")) ? read_first_object(&r) : read_object(&r);
    *used = r.at > 0 ? r.at : 1;
    str json = buf_str(&r.out);
    for (size_t i = 0; ok && i < r.spans.n; i++) {
        struct span s = r.spans.v[i];
        *vec_push(a, out) = (struct json_member){
            .key = decode(str_sub(json, s.key, s.value - 1 - s.key), a),
            .text = member_text(str_sub(json, s.value, s.end - s.value), a),
        };
    }
    arena_free(&r.arena);
    return ok;
}

// ---- envelopes ----

// Whether lists and objects are nested over `left` levels: jansson's own limit is 2048.
static bool too_deep(const json_t *value, int left)
{
    const char *key;
    json_t *member;
    if (left == 0)
        return json_is_object(value) || json_is_array(value);
    if (json_is_object(value))
        json_object_foreach (json_iterable(value), key, member)
            if (too_deep(member, left - 1))
                return true;
    for (size_t i = 0; i < json_array_size(value); i++)
        if (too_deep(json_array_get(value, i), left - 1))
            return true;
    return false;
}

// Reads one value and nothing behind it.
static bool read_document(struct reader *r)
{
    skip_blank(r);
    if (!read_value(r, '\0'))
        return false;
    skip_blank(r);
    return ended(r) || fail(r, "there is text behind the value");
}

static json_t *read_mended(str text, struct err *err)
{
    struct reader r;
    reader_start(&r, ENVELOPE, str_without_bom(text));
    json_t *value = NULL;
    if (read_document(&r)) {
        str json = buf_str(&r.out);
        json_error_t why;
        value = json_loadb(json.data, json.len, JSON_DECODE_ANY, &why);
        if (!value)
            err_set(err, ERR_INPUT, "not valid JSON: %s", why.text);
    } else {
        err_set(err, ERR_INPUT, "line %zu: not valid JSON: %s", str_line(r.text, r.at), r.why);
    }
    arena_free(&r.arena);
    return value;
}

json_t *json_read_envelope(str text, bool *relaxed, struct err *err)
{
    json_t *value = json_loadb(text.data ? text.data : "", text.len, JSON_DECODE_ANY, NULL);
    if (relaxed)
        *relaxed = !value;
    if (!value)
        return read_mended(text, err);
    if (!too_deep(value, NESTING_MAX))
        return value;
    json_decref(value);
    err_set(err, ERR_INPUT, "not valid JSON: nested too deep (the limit is %d)", NESTING_MAX);
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// json.h - JSON in (jansson, and a lenient reader where it refuses) and out (one small writer).
#pragma once
#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"

// ---- reading ----

// Parses exactly one strict JSON document of our own files: duplicates are an error. NULL with
// "line L: reason" in `err` (ERR_INPUT). The caller owns the result (json_decref).
MUST_CHECK json_t *json_read_strict(str text, struct err *err);

// Parses a provider's envelope: jansson first; where it refuses, the lenient reader in envelope
// mode: odd escapes (lone surrogates, \u0000: U+FFFD), numbers jansson cannot hold (kept as
// strings; NaN and Infinity: null), invalid UTF-8 (U+FFFD), a BOM. Never accepts unterminated
// input, trailing text or nesting over 128. `*relaxed` (may be NULL) tells that something was
// mended. NULL and ERR_INPUT when it is no JSON. The caller owns the result.
MUST_CHECK json_t *json_read_envelope(str text, bool *relaxed, struct err *err);

// One member of an object as the lenient reader saw it. `text`: a string decoded; a number's
// source text; true, false, null as "True", "False", "None"; NaN as "NaN"; an array or object
// as compact JSON.
struct json_member {
    str key;
    str text;
};
struct json_members {
    struct json_member *v; // duplicates removed: the last one wins, at the place of the first
    size_t n, cap;
};

// The lenient object grammar of the few-shot specification 1.10 step 2: `text` begins with `{`,
// or, being a strict array, with `[`: then its first element that is an object is read. True when
// an object was read. `*used` is its length in bytes from the start of `text`; where there is none,
// how many bytes were looked at (at least 1), so that callers can bound their work. End of text
// closes what is open; a key cut off by the end of text is dropped. Nesting over 128 is refused.
bool json_read_lenient(str text, struct arena *a, struct json_members *out, size_t *used);

// str_strip, and without a byte order mark in front.
str json_trim(str s);

// Members of jansson objects as views that live as long as the object; absent, null or of another
// type: the empty text / the fallback.
str json_get_str(const json_t *object, const char *key);
int64_t json_get_int(const json_t *object, const char *key, int64_t fallback);
// The same object for json_object_foreach, which asks for a pointer that is not const; never write
// through it.
json_t *json_iterable(const json_t *object);
// The view of a JSON string value (any other value: empty).
str json_view(const json_t *value);

// ---- writing ----

// Writes into `b` with commas and (indent > 0) line breaks as Python's json.dumps(indent=N,
// ensure_ascii=False) does; indent 0 writes compact JSON without blanks.
struct json_out {
    struct buf *b;
    int indent;
    int depth_;
    bool started_; // a member has been written at this depth
    bool keyed_;   // a key waits for its value
};

void json_open(struct json_out *o, char bracket);  // '{' or '['
void json_close(struct json_out *o, char bracket); // '}' or ']'
void json_key(struct json_out *o, str key);
void json_put_str(struct json_out *o, str value);
void json_put_int(struct json_out *o, int64_t value);
void json_put_double(struct json_out *o, double value); // finite; as buf_add_double
void json_put_bool(struct json_out *o, bool value);
void json_put_null(struct json_out *o);
// A key and its value in one; `maybe`: null for the empty text; `open`: json_open after the key.
void json_key_str(struct json_out *o, str key, str value);
void json_key_maybe(struct json_out *o, str key, str value);
void json_key_int(struct json_out *o, str key, int64_t value);
void json_key_double(struct json_out *o, str key, double value);
void json_key_bool(struct json_out *o, str key, bool value);
void json_key_null(struct json_out *o, str key);
void json_key_open(struct json_out *o, str key, char bracket);
// Writes a jansson value; integers, reals, order and strings as the functions above.
void json_put_value(struct json_out *o, const json_t *value);
// Puts text that already is one JSON value.
void json_put_raw(struct json_out *o, str value);

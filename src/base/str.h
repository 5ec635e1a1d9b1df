// SPDX-License-Identifier: GPL-3.0-or-later
// str.h - a view of text: pointer and length, owned by nobody, not terminated.
//
// A zero str is the empty text. Bytes are not interpreted except where a function says UTF-8.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

typedef struct str { // the view
    const char *data;
    size_t len;
} str;

// The view of a string literal; the arguments of "%.*s".
#define S(literal) ((str){ "" literal, sizeof(literal) - 1 })
// The same as the initialiser of static data, which must be constant: T("text").
#define T(literal)                                                                                 \
    {                                                                                              \
        "" literal, sizeof(literal) - 1                                                            \
    }
#define STR(s) (int)(s).len, (s).data // for "%.*s"; texts longer than INT_MAX are never printed

// The view of a C string; NULL gives the empty text.
str str_from(const char *c);
bool str_eq(str a, str b);
bool str_eq_nocase(str a, str b); // ASCII letters only
// Byte order, shorter first on a tie: <0, 0, >0.
int str_cmp(str a, str b);
bool str_starts(str s, str prefix);
bool str_ends(str s, str suffix);
// The part from `from` (clamped to the length) of at most `len` bytes.
str str_sub(str s, size_t from, size_t len);
// Index of the first `needle`, or -1.
ptrdiff_t str_find(str s, str needle);
ptrdiff_t str_find_char(str s, char c);
// Cuts off and returns what stands before the first `sep` (all, when there is none); `*rest` then
// begins after the separator. On an empty `*rest` it returns the empty text.
str str_cut(str *rest, char sep);
// Like str_cut at LF, and drops one CR before it.
str str_cut_line(str *rest);
// Like str_cut at LF, CR LF or CR, whichever comes first.
str str_cut_break(str *rest);
// Whether `s` is one of `n` texts; `*which` (may be NULL) is then its place.
bool str_among(str s, const str *list, size_t n, size_t *which);
// Without ASCII white space (space, \t \n \v \f \r) at either end.
str str_trim(str s);
// Without bytes of `set` at either end.
str str_trim_set(str s, str set);
// Whole text as a decimal integer in [min, max]: false on anything else, also on blanks.
MUST_CHECK bool str_to_int(str s, int64_t min, int64_t max, int64_t *out);
// Whole text as a finite decimal number, independent of the locale; no hex, inf or nan.
MUST_CHECK bool str_to_double(str s, double *out);
// Edit distance (Levenshtein), for "did you mean"; texts are cut at 63 bytes.
size_t str_distance(str a, str b);
// "Did you mean": which of the offered names was probably meant by a mistyped word.
struct nearest {
    str word; // set by the caller
    str name; // the nearest one; empty: none is near enough for a slip
    size_t distance_;
};
void nearest_offer(struct nearest *n, str name);
// The line, from 1, in which the byte at `offset` stands.
size_t str_line(str text, size_t offset);
// Without the UTF-8 byte order mark in front, if there is one.
str str_without_bom(str s);
// Foreign text fit for a message: at most `max` bytes and "..." where it is longer; control
// characters and broken UTF-8 replaced by "?".
enum { SHOWN_MAX_BYTES = 100 };
struct shown {
    char text[SHOWN_MAX_BYTES + sizeof "..."];
};
struct shown str_show(str s, size_t max);

// Decodes the UTF-8 character at `s.data` (s.len > 0). Returns its bytes (1..4) and the code point;
// an invalid sequence gives U+FFFD and the length of its maximal valid prefix, at least 1.
size_t utf8_decode(str s, uint32_t *code, bool *valid);
// Writes `code` as UTF-8 into out[4], returns the bytes; surrogates and > 0x10FFFF become U+FFFD.
size_t utf8_encode(uint32_t code, char out[4]);
// Whether a terminal obeys this character instead of showing it: controls (also LF and TAB), and
// the marks that turn the direction of writing.
bool utf8_is_obeyed(uint32_t code);
// \w of Python's re: letters, numbers of every kind, and the underscore.
bool utf8_is_word(uint32_t code);
bool utf8_valid(str s);
size_t ascii_run(str s); // bytes from the start that are ASCII
// Number of code points; every invalid piece counts as one.
size_t utf8_length(str s);
// Bytes of the white-space character at the start of `s`, 0: there is none. Unicode, as Python's
// str.isspace judges.
size_t utf8_blank(str s);
// Without white space of that kind at either end, as Python's str.strip; at the start only.
str str_strip(str s);
str str_strip_start(str s);

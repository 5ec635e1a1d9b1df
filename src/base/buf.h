// SPDX-License-Identifier: GPL-3.0-or-later
// buf.h - growing text in an arena, with a maximum. Overflow is remembered, so that one check of
// `over` at the end is enough.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct buf {
    struct arena *arena; // set by the owner, with max
    size_t max;          // bytes; 0: BUF_MAX_DEFAULT
    char *data;
    size_t len, cap;
    bool over; // something did not fit and was left out
};

enum { BUF_MAX_DEFAULT = 64 << 20 };

// These four add to the end, all or nothing.
void buf_add(struct buf *b, str s);
void buf_add_char(struct buf *b, char c);
void buf_add_all(struct buf *b, const str *parts, size_t n); // one after the other
void buf_addf(struct buf *b, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_add_int(struct buf *b, int64_t value);
// Adds `s` as a JSON string with its quotes: only `"`, `\` and controls below 0x20 are escaped
// (\n \r \t \b \f, else \u00xx); other characters raw, as Python's ensure_ascii=False writes.
// Invalid UTF-8 becomes U+FFFD.
void buf_add_json(struct buf *b, str s);
// Adds `s` with every invalid UTF-8 sequence replaced by U+FFFD.
void buf_add_utf8(struct buf *b, str s);
// Adds `value` with the fewest digits that read back the same, in JSON's form, as Python's repr
// writes floats (1.0, 0.1, 1e-07, 1e+16).
void buf_add_double(struct buf *b, double value);
// A view of what has been added; stable until the next addition. NUL-terminated behind its end.
str buf_str(struct buf *b);

// SPDX-License-Identifier: GPL-3.0-or-later
// test.h - cmocka with what it needs, and the few helpers that many tests share.
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

// Both texts are equal, or the test fails showing both.
#define assert_str(actual, expected)                                                               \
    do {                                                                                           \
        str actual_ = (actual);                                                                    \
        str expected_ = (expected);                                                                \
        if (!str_eq(actual_, expected_))                                                           \
            fail_msg("got  \"%.*s\"\nwant \"%.*s\"", STR(actual_), STR(expected_));                \
    } while (0)

// The path of a file of the shared data pack in `a`; skips the running test, with a message,
// where it is absent.
static inline str shared_path(str name, struct arena *a)
{
    const char *root = getenv("ROOKERY_SHARED");
    str path = arena_printf(a, "%s/%.*s", root ? root : "../shared", STR(name));
    if (!file_exists(path)) {
        print_message("skipped: %.*s is not here\n", STR(path));
        arena_free(a);
        skip();
    }
    return path;
}

// The path of a file of the project's own tree in `a`.
static inline str source_path(str name, struct arena *a)
{
    const char *root = getenv("ROOKERY_SOURCE");
    return arena_printf(a, "%s/%.*s", root ? root : ".", STR(name));
}

// The unpacked text of a .gz file in `a`.
static inline str read_gz(str path, struct arena *a)
{
    FILE *pipe = popen(arena_printf(a, "gzip -dc '%.*s'", STR(path)).data, "r");
    assert_non_null(pipe);
    struct buf b = { .arena = a, .max = (size_t)1 << 30 };
    char part[65536];
    for (size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;)
        buf_add(&b, (str){ part, n });
    assert_int_equal(pclose(pipe), 0);
    return buf_str(&b);
}

// Cuts the next line off JSON Lines and reads it; the caller releases it. NULL at the end.
static inline json_t *next_row(str *lines)
{
    if (lines->len == 0)
        return NULL;
    struct err err = { 0 };
    json_t *row = json_read_envelope(str_cut_line(lines), NULL, &err);
    if (!row)
        fail_msg("%s", err.text);
    return row;
}

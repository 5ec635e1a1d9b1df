// SPDX-License-Identifier: GPL-3.0-or-later
// source.c - what is checked of a source before any child parses it: size, encoding and lines. All
// else needs the tree and is judged by the checker in a child of its own.
#include <string.h>

#include "harness/harness.h"

enum { FAULTS_MAX = 20 }; // ten megabytes need no list of thousands

static void add(struct violations *out, struct arena *a, struct violation v)
{
    *vec_push(a, out) = v;
}

static void check_encoding(str source, struct arena *a, struct violations *out)
{
    const char *nul = source.len > 0 ? memchr(source.data, 0, source.len) : NULL;
    if (str_starts(source, S("\xef\xbb\xbf")))
        add(out, a,
            (struct violation){ S("S02"), 1, 1, S("byte order mark: save as plain UTF-8"),
                                LEVEL_REJECT });
    if (!utf8_valid(source))
        add(out, a,
            (struct violation){ S("S02"), 1, 1, S("not UTF-8: save as plain UTF-8"),
                                LEVEL_REJECT });
    if (nul)
        add(out, a,
            (struct violation){ S("S02"), (int64_t)str_line(source, (size_t)(nul - source.data)), 1,
                                S("NUL byte: sources are plain text"), LEVEL_REJECT });
}

// Lines end as Python ends them.
static void check_lines(str source, struct arena *a, struct violations *out)
{
    int64_t n = 0;
    for (str rest = source; rest.len > 0;) {
        str line = str_cut_break(&rest);
        n++;
        if (out->n < FAULTS_MAX && utf8_length(line) > HARNESS_LINE_MAX_CHARS)
            add(out, a,
                (struct violation){
                    S("S04"), n, 1,
                    arena_printf(a, "line of more than %d characters", HARNESS_LINE_MAX_CHARS),
                    LEVEL_REJECT });
    }
    if (n > HARNESS_SOURCE_MAX_LINES)
        add(out, a,
            (struct violation){
                S("S04"), HARNESS_SOURCE_MAX_LINES + 1, 1,
                arena_printf(a, "%lld lines, at most %d", (long long)n, HARNESS_SOURCE_MAX_LINES),
                LEVEL_REJECT });
}

bool harness_source_check(str source, struct arena *a, struct violations *out)
{
    *out = (struct violations){ 0 };
    if (source.len > HARNESS_SOURCE_MAX_BYTES)
        add(out, a,
            (struct violation){
                S("S01"), 1, 1,
                arena_printf(a, "%zu bytes, at most %d", source.len, HARNESS_SOURCE_MAX_BYTES),
                LEVEL_REJECT });
    check_encoding(source, a, out);
    check_lines(source, a, out);
    return out->n == 0;
}

str level_name(enum level l)
{
    static const str names[] = { T("reject"), T("quarantine"), T("warn") };
    return names[l];
}

bool violations_have(const struct violations *list, str rule)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i].rule, rule))
            return true;
    return false;
}

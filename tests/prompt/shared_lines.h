// SPDX-License-Identifier: GPL-3.0-or-later
// shared_lines.h - gzip'd JSON Lines of the shared data pack, one object at a time, through gzip's
// own program.
#pragma once
#include "test.h"

struct shared_lines {
    FILE *pipe;
    char *line;
    size_t cap;
};

static inline struct shared_lines *shared_lines_open(str path)
{
    struct arena a = { 0 };
    assert_true(str_find_char(path, '\'') < 0);
    str command = arena_printf(&a, "gzip -dc '%.*s'", STR(path));
    struct shared_lines *lines = calloc(1, sizeof *lines);
    assert_non_null(lines);
    lines->pipe = popen(command.data, "r");
    assert_non_null(lines->pipe);
    arena_free(&a);
    return lines;
}

// The next object, the caller's to release; NULL at the end.
static inline json_t *shared_lines_next(struct shared_lines *lines)
{
    ssize_t n = getline(&lines->line, &lines->cap, lines->pipe);
    if (n < 0)
        return NULL;
    struct err err = { 0 };
    json_t *row = json_read_envelope((str){ lines->line, (size_t)n }, NULL, &err);
    if (!row)
        fail_msg("%s", err.text);
    return row;
}

static inline void shared_lines_close(struct shared_lines *lines)
{
    assert_int_equal(pclose(lines->pipe), 0);
    free(lines->line);
    free(lines);
}

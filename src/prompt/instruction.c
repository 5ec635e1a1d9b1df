// SPDX-License-Identifier: GPL-3.0-or-later
// instruction.c - how an instruction is cleaned when it is stored: the docstring rules that the
// published programs went through (few-shot specification 1.3), so that equal texts stay equal.
// Columns and margins count code points; white space is Unicode's.
#include "prompt/prompt.h"

enum { TAB_STOP = 8 };

struct lines {
    str *v;
    size_t n, cap;
};

// Valid UTF-8 with tabs expanded; a line feed or carriage return starts a new line of columns.
static str expand_tabs(str text, struct arena *a)
{
    struct buf valid = { .arena = a, .max = SIZE_MAX };
    buf_add_utf8(&valid, text);
    str in = buf_str(&valid);
    struct buf b = { .arena = a, .max = SIZE_MAX };
    size_t column = 0;
    for (size_t at = 0, n = 0; at < in.len; at += n) {
        uint32_t code;
        bool ok;
        n = utf8_decode(str_sub(in, at, in.len), &code, &ok);
        if (code != '\t') {
            buf_add(&b, str_sub(in, at, n));
            column = code == '\n' || code == '\r' ? 0 : column + 1;
            continue;
        }
        do
            buf_add_char(&b, ' ');
        while (++column % TAB_STOP != 0);
    }
    return buf_str(&b);
}

// Bytes of the first `most` white-space characters of `line`; `*count` is how many there are.
static size_t indent(str line, size_t most, size_t *count)
{
    size_t at = 0;
    *count = 0;
    while (*count < most) {
        size_t n = utf8_blank(str_sub(line, at, line.len));
        if (n == 0)
            break;
        at += n;
        (*count)++;
    }
    return at;
}

// The indent that all lines but the first have in common; blank lines have no say.
static size_t common_margin(const struct lines *lines)
{
    size_t margin = SIZE_MAX;
    for (size_t i = 1; i < lines->n; i++) {
        size_t count;
        size_t bytes = indent(lines->v[i], SIZE_MAX, &count);
        if (bytes < lines->v[i].len && count < margin)
            margin = count;
    }
    return margin;
}

// Cuts up to `most` white-space characters off the front.
static void unindent(str *line, size_t most)
{
    size_t count;
    size_t bytes = indent(*line, most, &count);
    *line = str_sub(*line, bytes, line->len);
}

str instruction_normalise(str text, struct arena *a)
{
    struct arena scratch = { 0 };
    str rest = expand_tabs(text, &scratch);
    struct lines lines = { 0 };
    while (rest.len > 0)
        *vec_push(&scratch, &lines) = str_cut(&rest, '\n');

    size_t margin = common_margin(&lines);
    if (lines.n > 0)
        unindent(&lines.v[0], SIZE_MAX);
    for (size_t i = 1; i < lines.n && margin != SIZE_MAX; i++)
        unindent(&lines.v[i], margin);

    while (lines.n > 0 && lines.v[lines.n - 1].len == 0)
        lines.n--;
    size_t first = 0;
    while (first < lines.n && lines.v[first].len == 0)
        first++;

    struct buf b = { .arena = a, .max = SIZE_MAX };
    for (size_t i = first; i < lines.n; i++) {
        if (i > first)
            buf_add_char(&b, '\n');
        buf_add(&b, lines.v[i]);
    }
    arena_free(&scratch);
    return buf_str(&b);
}

static void add_names(const struct field *fields, size_t n, struct buf *b)
{
    for (size_t i = 0; i < n; i++)
        buf_addf(b, "%s`%.*s`", i ? ", " : "", STR(fields[i].name));
}

str instruction_default(const struct signature *s, struct arena *a)
{
    struct buf b = { .arena = a };
    buf_add(&b, S("Given the fields "));
    add_names(s->inputs, s->n_inputs, &b);
    buf_add(&b, S(", produce the fields "));
    add_names(s->outputs, s->n_outputs, &b);
    buf_add_char(&b, '.');
    return buf_str(&b);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// jsonl.c - JSON Lines in, JSON Lines out: one record a line, order kept, an error is a record.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { LINE_MAX_BYTES = 4 << 20 };

// Reads one line into *line; longer ones are cut and *over set. False: end of input.
static bool read_line(FILE *in, char *line, size_t *len, bool *over)
{
    int c;
    *len = 0;
    *over = false;
    while ((c = getc_unlocked(in)) != EOF && c != '\n') {
        if (*len < LINE_MAX_BYTES)
            line[(*len)++] = (char)c;
        else
            *over = true;
    }
    return c != EOF || *len > 0;
}

struct reader {
    jsonl_each_fn *each;
    void *ctx;
};

static void answer_line(str line, bool over, const struct reader *r, struct arena *a,
                        struct buf *out)
{
    struct err err = { 0 };
    if (over) {
        err_set(&err, ERR_LIMIT, "line longer than %d bytes", LINE_MAX_BYTES);
    } else {
        json_t *in = json_read_strict(line, &err);
        if (in && !json_is_object(in))
            err_set(&err, ERR_INPUT, "not a JSON object");
        struct json_out o = { .b = out };
        bool ok = json_is_object(in) && r->each(r->ctx, in, a, &o, &err);
        json_decref(in);
        if (ok)
            return;
    }
    out->len = 0;
    struct json_out o = { .b = out };
    json_open(&o, '{');
    json_key_str(&o, S("error"), str_from(err.text));
    json_close(&o, '}');
}

bool jsonl_run_each(FILE *in, jsonl_each_fn *each, void *ctx, struct err *err)
{
    const struct reader r = { each, ctx };
    char *line = mem_must(malloc(LINE_MAX_BYTES));
    struct arena a = { 0 };
    bool ok = true;
    size_t len;
    bool over;
    while (ok && read_line(in, line, &len, &over)) {
        str text = str_trim((str){ line, len });
        if (text.len == 0)
            continue;
        arena_reset(&a);
        struct buf b = { .arena = &a };
        answer_line(text, over, &r, &a, &b);
        buf_add_char(&b, '\n');
        str record = buf_str(&b);
        if (fwrite(record.data, 1, record.len, stdout) != record.len)
            ok = err_set(err, ERR_RUN, "standard output: %s", strerror(errno));
    }
    if (ok && ferror(in))
        ok = err_set(err, ERR_INPUT, "standard input: %s", strerror(errno));
    if (ok && fflush(stdout) != 0)
        ok = err_set(err, ERR_RUN, "standard output: %s", strerror(errno));
    arena_free(&a);
    free(line);
    return ok;
}

struct plain {
    jsonl_fn *each;
};

static bool call_plain(void *ctx, const json_t *in, struct arena *a, struct json_out *out,
                       struct err *err)
{
    const struct plain *p = ctx;
    return p->each(in, a, out, err);
}

bool jsonl_run(FILE *in, jsonl_fn *each, struct err *err)
{
    struct plain p = { each };
    return jsonl_run_each(in, call_plain, &p, err);
}

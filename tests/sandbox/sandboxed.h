// SPDX-License-Identifier: GPL-3.0-or-later
// sandboxed.h - one template for all tests of a file, and candidates made from a few lines.
#pragma once
#include "test.h"

#include "sandbox/sandbox.h"

#define REQUIRED                                                                                   \
    "def propose_action(board):\n    return ''\n"                                                  \
    "def is_legal_action(board, action):\n    return '[' + action + ']' in board\n"

static struct sandbox *box; // of the test program

static inline void open_box(bool raw)
{
    struct err err = { 0 };
    if (!sandbox_new(&(struct sandbox_opts){ .raw = raw }, &box, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
}

// The examination of a source, in `a`.
static inline struct examination examined(str source, struct arena *a)
{
    struct examination e;
    struct err err = { 0 };
    if (!sandbox_examine(box, source, a, &e, &err))
        fail_msg("%s", err.text);
    return e;
}

static inline str findings_text(const struct examination *e, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < e->findings.n; i++)
        buf_addf(&b, "%.*s %lld:%lld %.*s; ", STR(e->findings.v[i].rule),
                 (long long)e->findings.v[i].line, (long long)e->findings.v[i].col,
                 STR(e->findings.v[i].message));
    return buf_str(&b);
}

// A cell that has loaded the source without a check.
static inline struct cell *loaded(str source, struct arena *a)
{
    struct cell *c;
    struct err err = { 0 };
    if (!sandbox_load(box, source, a, &c, &err))
        fail_msg("%s", err.text);
    return c;
}

// parse_action of a cell.
static inline enum cell_state parse_with(struct cell *c, str response, struct arena *a,
                                         struct harness_result *r)
{
    struct harness_call call = { .function = HARNESS_PARSE, .text = response };
    cell_call(c, &call);
    return cell_wait(c, a, r);
}

// An innocent candidate works in a fresh cell: whatever happened before had no effect.
static inline void assert_all_is_well(void)
{
    struct arena a = { 0 };
    struct harness_result r;
    struct cell *c =
        loaded(S(REQUIRED "def parse_action(response):\n    return response.strip()\n"), &a);
    assert_int_equal(parse_with(c, S(" e2e4 "), &a, &r), CELL_ANSWERED);
    assert_true(r.ok && r.type == RESULT_STR);
    assert_str(r.text, S("e2e4"));
    cell_free(c);
    arena_free(&a);
}

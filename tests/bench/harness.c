// SPDX-License-Identifier: GPL-3.0-or-later
// harness.c - what the sandbox costs, for tools/bench.py, which measures the CPU time of all
// processes from outside and subtracts a run with N = 0.
//
// usage: bench_harness starts|loads|calls|together N [FILE]
//
// Children started; started and a candidate loaded; turns (format, where the
// candidate does anything there, then parse and legality) of one cell; of 16, all at work at once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/sandbox.h"

static noreturn void fail(const char *why)
{
    fprintf(stderr, "bench_harness: %s\n", why);
    exit(1);
}

static void start(struct sandbox *s, int64_t n)
{
    struct err err = { 0 };
    for (int64_t i = 0; i < n; i++) {
        struct cell *c;
        if (!cell_new(s, &c, &err))
            fail(err.text);
        cell_free(c);
    }
}

static void load(struct sandbox *s, str path, int64_t n)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct examination e;
    struct harness_result r;
    str source;
    if (!candidate_read(path, &a, &source, &err) || !sandbox_examine(s, source, &a, &e, &err))
        fail(err.text);
    for (int64_t i = 0; i < n; i++) {
        struct cell *c;
        struct arena scratch = { 0 };
        if (!cell_new(s, &c, &err))
            fail(err.text);
        cell_send(c, frame_load(cell_next_id(c), source, e.contract.code, &scratch), LOAD_CPU_MS);
        if (cell_wait(c, &scratch, &r) != CELL_ANSWERED || !r.ok)
            fail("not loaded");
        cell_free(c);
        arena_free(&scratch);
    }
    arena_free(&a);
}

enum { AT_ONCE = 16 };
struct turn { // of one cell
    struct harness_call format, parse;
    bool formats;
    struct cell *cell;
};

static void take(struct turn *t, const struct harness_call *call, struct arena *a)
{
    struct harness_result r;
    if (cell_wait(t->cell, a, &r) != CELL_ANSWERED || !r.ok ||
        (call->judges && !(r.legality && r.legality->truth)))
        fail("a call failed");
}

// A turn of each cell, all at work together; the last one is waited for first: then the rest are
// done.
static void turn_all(struct turn *turns, size_t n, struct arena *a)
{
    for (size_t i = 0; i < n && turns[i].formats; i++)
        cell_call(turns[i].cell, &turns[i].format);
    for (size_t i = n; i-- > 0 && turns[i].formats;)
        take(&turns[i], &turns[i].format, a);
    for (size_t i = 0; i < n; i++)
        cell_call(turns[i].cell, &turns[i].parse);
    for (size_t i = n; i-- > 0;)
        take(&turns[i], &turns[i].parse, a);
}

static void call(struct sandbox *s, str path, int64_t n, size_t at_once)
{
    struct arena a = { 0 }, scratch = { 0 };
    struct err err = { 0 };
    struct turn turns[AT_ONCE];
    struct examination e;
    str source;
    struct position start_position = position_start();
    if (!candidate_read(path, &a, &source, &err) || !sandbox_examine(s, source, &a, &e, &err))
        fail(err.text);
    str board = harness_observation(&(struct observed){ .at = &start_position }, &a);
    for (size_t i = 0; i < at_once; i++) {
        turns[i].formats = e.contract.formats;
        turns[i].format = (struct harness_call){
            .function = HARNESS_FORMAT, .text = board, .side_to_move = S("white"), .max_turns = 9
        };
        turns[i].parse = (struct harness_call){ .function = HARNESS_PARSE, .judges = true };
        turns[i].parse.text = S("I play <move>e2e4</move>, for the centre.");
        turns[i].parse.board = board;
        if (!sandbox_load(s, source, &a, &turns[i].cell, &err))
            fail(err.text);
    }
    for (int64_t i = 0; i < n; i += (int64_t)at_once) {
        arena_reset(&scratch);
        turn_all(turns, at_once, &scratch);
    }
    for (size_t i = 0; i < at_once; i++)
        cell_free(turns[i].cell);
    arena_free(&scratch);
    arena_free(&a);
}

int main(int argc, char **argv)
{
    sandbox_become_template(argc, argv);
    struct sandbox *s;
    struct err err = { 0 };
    int64_t n;
    if (argc < 3 || !str_to_int(str_from(argv[2]), 0, 100000000, &n))
        fail("usage: bench_harness starts|loads|calls|together N [FILE]");
    if (!sandbox_new(&(struct sandbox_opts){ 0 }, &s, &err))
        fail(err.text);
    if (strcmp(argv[1], "starts") == 0)
        start(s, n);
    else if (strcmp(argv[1], "loads") == 0)
        load(s, argc > 3 ? str_from(argv[3]) : S("builtin:h0"), n);
    else
        call(s, argc > 3 ? str_from(argv[3]) : S("builtin:h0"), n,
             strcmp(argv[1], "calls") == 0 ? 1 : AT_ONCE);
    sandbox_free(s);
    return 0;
}

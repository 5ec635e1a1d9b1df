// SPDX-License-Identifier: GPL-3.0-or-later
// harness.c - what the sandbox costs, for tools/bench.py, which measures the CPU time of all
// processes from outside and subtracts a run with N = 0.
//
// usage: bench_harness starts|calls N    children started; format, parse and legality called
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

static void call_once(struct cell *c, const struct harness_call *call, struct arena *a)
{
    struct harness_result r;
    cell_send(c, frame_call(cell_next_id(c), call, a), CALL_CPU_MS);
    if (cell_wait(c, a, &r) != CELL_ANSWERED || !r.ok)
        fail("a call failed");
}

static void call(struct sandbox *s, int64_t n)
{
    struct arena a = { 0 }, turn = { 0 };
    struct err err = { 0 };
    struct cell *c;
    str source;
    struct position start_position = position_start();
    if (!candidate_read(S("builtin:h0"), &a, &source, &err) ||
        !sandbox_load(s, source, &a, &c, &err))
        fail(err.text);
    str board = harness_observation(&(struct observed){ .at = &start_position }, &a);
    const struct harness_call calls[] = {
        { .function = HARNESS_FORMAT, .text = board, .side_to_move = S("white"), .max_turns = 9 },
        { .function = HARNESS_PARSE, .text = S("I play <move>e2e4</move>, for the centre.") },
        { .function = HARNESS_LEGAL, .text = board, .action = S("e2e4") },
    };
    for (int64_t i = 0; i < n; i++) {
        arena_reset(&turn);
        for (size_t k = 0; k < ARRAY_LEN(calls); k++)
            call_once(c, &calls[k], &turn);
    }
    cell_free(c);
    arena_free(&turn);
    arena_free(&a);
}

int main(int argc, char **argv)
{
    sandbox_become_template(argc, argv);
    struct sandbox *s;
    struct err err = { 0 };
    int64_t n;
    if (argc != 3 || !str_to_int(str_from(argv[2]), 0, 100000000, &n))
        fail("usage: bench_harness starts|calls N");
    if (!sandbox_new(&(struct sandbox_opts){ 0 }, &s, &err))
        fail(err.text);
    if (strcmp(argv[1], "starts") == 0)
        start(s, n);
    else
        call(s, n);
    sandbox_free(s);
    return 0;
}

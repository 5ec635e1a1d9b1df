// SPDX-License-Identifier: GPL-3.0-or-later
// corner.h - what the tests of this module share: small puzzles, reading a text to its end.
#pragma once
#include "test.h"

#include "puzzle/puzzle.h"

#define HEADER "PuzzleId,FEN,Moves,Rating,Themes\n"
// The first puzzle of the Lichess dump (field case F-038) and a small endgame.
#define FEN_A "r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24"
#define LINE_A "f2g3 e6e7 b2b1 b3c1 b1c1 h6c1"
#define FEN_B "8/8/8/4k3/8/8/4K2R/8 w - - 0 1"
#define LINE_B "e2e1 e5e6"
#define ROW_A "a," FEN_A "," LINE_A ",1807,crushing hangingPiece long middlegame\n"
#define ROW_B "b," FEN_B "," LINE_B ",,\n"

struct reading { // a text read to its end: good rows, messages of bad ones
    struct puzzles good;
    struct {
        str *v;
        size_t n, cap;
    } bad;
    str sha256;
};

static inline str error_text(const struct err *err, struct arena *a)
{
    return arena_str(a, str_from(err->text));
}

// Reads all rows; a stream that breaks fails the test.
static inline struct reading read_all(struct puzzle_reader *r, struct arena *a)
{
    struct reading out = { 0 };
    for (;;) {
        struct puzzle p;
        struct err err = { 0 };
        switch (puzzle_reader_next(r, a, &p, &err)) {
        case PUZZLE_ROW: *vec_push(a, &out.good) = p; break;
        case PUZZLE_BAD:
            assert_true(err.code == ERR_INPUT || err.code == ERR_LIMIT);
            *vec_push(a, &out.bad) = error_text(&err, a);
            break;
        case PUZZLE_END:
            out.sha256 = puzzle_reader_sha256(r, a);
            puzzle_reader_free(r);
            return out;
        case PUZZLE_FAIL: fail_msg("%s", err.text);
        }
    }
}

static inline struct reading read_text(str text, struct arena *a)
{
    struct puzzle_reader *r = NULL;
    struct err err = { 0 };
    if (!puzzle_reader_open_text(S("t.csv"), text, &r, &err))
        fail_msg("%s", err.text);
    return read_all(r, a);
}

static inline struct reading read_path(str path, struct arena *a)
{
    struct puzzle_reader *r = NULL;
    struct err err = { 0 };
    if (!puzzle_reader_open(path, &r, &err))
        fail_msg("%s", err.text);
    return read_all(r, a);
}

static inline void assert_contains(str text, str part)
{
    if (str_find(text, part) < 0)
        fail_msg("\"%.*s\"\ndoes not contain \"%.*s\"", STR(text), STR(part));
}

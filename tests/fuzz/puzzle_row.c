// SPDX-License-Identifier: GPL-3.0-or-later
// puzzle_row.c - fuzzes puzzle files (CSV, JSONL or zstd by their first bytes). Every puzzle that
// is accepted has moves, every refusal has a sentence, and the file ends.
#include "fuzz.h"

#include "puzzle/puzzle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct puzzle_reader *r = NULL;
    struct err err = { 0 };
    if (!puzzle_reader_open_text(S("fuzz.csv"), fuzz_text(data, size), &r, &err)) {
        assert(err.code != ERR_NONE && err.text[0]);
        return 0;
    }
    struct arena a = { 0 };
    struct puzzle p;
    for (size_t rows = 0;; rows++) {
        err = (struct err){ 0 };
        enum puzzle_read got = puzzle_reader_next(r, &a, &p, &err);
        if (got == PUZZLE_END)
            break;
        assert(got == PUZZLE_ROW ? p.n_moves >= 2 : err.text[0] != 0);
        if (got == PUZZLE_FAIL)
            break;
        arena_reset(&a);
    }
    puzzle_reader_free(r);
    arena_free(&a);
    return 0;
}

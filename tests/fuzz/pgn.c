// SPDX-License-Identifier: GPL-3.0-or-later
// pgn.c - fuzzes the reader of games: it ends, faults have a place, and a good game is written and
// read again with the same moves.
#include "fuzz.h"

#include "pgn/pgn.h"

static void check_again(const struct pgn_game *game, struct arena *a)
{
    struct buf b = { .arena = a };
    struct pgn_game again;
    struct pgn_reader *r = NULL;
    struct err err = { 0 };
    pgn_write(game, &b);
    bool opened = pgn_open_text(S("again"), buf_str(&b), &r, &err);
    assert(opened);
    enum pgn_read got = pgn_next(r, a, &again, &err);
    assert(got == PGN_GOOD && again.moves.n == game->moves.n);
    for (size_t i = 0; i < game->moves.n; i++)
        assert(again.moves.v[i] == game->moves.v[i]);
    assert(again.notes.n == game->notes.n && again.end.now.key == game->end.now.key);
    pgn_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = fuzz_text(data, size);
    struct arena a = { 0 };
    struct pgn_reader *r = NULL;
    struct pgn_game game;
    struct err err = { 0 };
    if (!pgn_open_text(S("fuzz"), text, &r, &err))
        return 0; // packed in a way that is not read
    enum pgn_read got;
    uint64_t last = 0;
    while ((got = pgn_next(r, &a, &game, &err)) == PGN_GOOD || got == PGN_BROKEN) {
        assert(game.offset >= last && (game.offset < size || text.data[0] == '\x28')); // zstd
        assert((got == PGN_BROKEN) == (game.fault.code != ERR_NONE));
        assert(!game.fault.code || (game.fault.text[0] && game.fault_offset >= game.offset));
        if (got == PGN_GOOD)
            check_again(&game, &a);
        last = game.offset;
        arena_reset(&a);
    }
    assert(got == PGN_END || err.text[0]); // packed text may be broken
    pgn_close(r);
    arena_free(&a);
    return 0;
}

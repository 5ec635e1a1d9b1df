// SPDX-License-Identifier: GPL-3.0-or-later
// helpers.h - games from a text, and their moves as one text.
#pragma once
#include "test.h"

#include "pgn/pgn.h"

// The moves as UCI separated by blanks, "0000" for a null move.
static inline str moves_text(const struct pgn_game *game, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < game->moves.n; i++) {
        move m = game->moves.v[i];
        buf_addf(&b, "%s%s", i ? " " : "", m == MOVE_NONE ? "0000" : uci_format(m).data);
    }
    return buf_str(&b);
}

// The next game; fails the test when the file cannot be read.
static inline enum pgn_read next_game(struct pgn_reader *r, struct arena *a, struct pgn_game *out)
{
    struct err err = { 0 };
    enum pgn_read got = pgn_next(r, a, out, &err);
    if (got == PGN_FAIL)
        fail_msg("%s", err.text);
    return got;
}

static inline struct pgn_reader *open_text(str text)
{
    struct pgn_reader *r = NULL;
    assert_true(pgn_open_text(S("test.pgn"), text, &r, NULL));
    return r;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// game.c - a game remembers the keys of its positions, so that repetition can be told.
#include "chess/internal.h"

enum { // FIDE Laws 9.2, 9.3, 9.6
    PLIES_FIFTY_MOVES = 100,
    PLIES_SEVENTYFIVE_MOVES = 150,
    CLAIMABLE_REPETITIONS = 3,
    AUTOMATIC_REPETITIONS = 5,
};

void game_play(struct game *g, move m, struct arena *a)
{
    uint64_t key = g->now.key;
    g->now = position_after(&g->now, m);
    if (g->now.halfmove == 0)
        g->keys.n = 0; // what came before a capture or pawn move never comes back
    else
        *vec_push(a, &g->keys) = key;
}

int game_repetitions(const struct game *g)
{
    int n = 1;
    for (size_t i = 0; i < g->keys.n; i++)
        n += g->keys.v[i] == g->now.key;
    return n;
}

// The order is that of LLM Chess specification 2: a mate counts before any draw.
enum game_end game_end(const struct game *g)
{
    const struct position *now = &g->now;
    if (!has_legal_move(now))
        return position_in_check(now) ? GAME_CHECKMATE : GAME_STALEMATE;
    if (position_is_insufficient(now))
        return GAME_INSUFFICIENT_MATERIAL;
    if (now->halfmove >= PLIES_SEVENTYFIVE_MOVES)
        return GAME_SEVENTYFIVE_MOVES;
    if (game_repetitions(g) >= AUTOMATIC_REPETITIONS)
        return GAME_FIVEFOLD_REPETITION;
    return GAME_ONGOING;
}

enum game_end game_claim(const struct game *g)
{
    enum game_end end = game_end(g);
    if (end != GAME_ONGOING)
        return end;
    if (g->now.halfmove >= PLIES_FIFTY_MOVES)
        return GAME_FIFTY_MOVES;
    if (game_repetitions(g) >= CLAIMABLE_REPETITIONS)
        return GAME_THREEFOLD_REPETITION;
    return GAME_ONGOING;
}

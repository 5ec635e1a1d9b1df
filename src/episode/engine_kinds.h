// SPDX-License-Identifier: GPL-3.0-or-later
// engine_kinds.h - episodes that ask engines.
#pragma once
#include "episode/episode.h"

// What moves in one position cost against the best one: one search of the position, then one of
// each move by itself (searchmoves) under the same limits. The best move costs nothing by
// definition, no move less than nothing. Input: struct regret_input. An engine at fault: failed.
extern const struct episode_kind episode_regret;
struct regret_input {
    struct position at;
    const struct engine *engine;
    struct engine_limit limit;
    const move *moves; // different legal ones
    size_t n;
    bool noise; // also search the best move by itself
};
struct regret_record { // outcome.record; NULL only where an engine was at fault
    struct regret_search {
        move m;
        struct engine_score score; // for the side to move in `at`
        int depth;                 // reached, of that score
        int64_t nodes;             // -1: not told
    } best;
    struct regret_move {
        struct regret_search search; // of the best move: `best` again
        int64_t cost_cp;
    } * v;
    size_t n;
    bool has_noise;
    int64_t noise_cp; // how far the best move's own search is off its score
};

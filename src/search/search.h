// SPDX-License-Identifier: GPL-3.0-or-later
// search.h - our small engine: a deterministic alpha-beta search with a node limit. It plays for
// simulated models; it is no rival of real engines.
#pragma once
#include "chess/chess.h"

enum { SEARCH_MATE_CP = 100000 };
struct search_limits {
    int depth;      // plies, >= 1
    uint64_t nodes; // hard limit, >= 1
};
struct scored_move {
    move m;
    int score_cp; // for the side to move; mate in n plies is SEARCH_MATE_CP - n
};
struct search_result {
    size_t n; // all legal moves, best first; ties in the order of moves_ordered
    struct scored_move v[MAX_LEGAL_MOVES];
    uint64_t nodes;
};
// Scores every legal move of a position that has one. Pure and deterministic.
void search_moves(const struct position *pos, const struct search_limits *limits,
                  struct search_result *out);

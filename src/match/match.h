// SPDX-License-Identifier: GPL-3.0-or-later
// match.h - whole games: how they end, what is counted of them, and games of two random players.
// Rules and names: the LLM Chess specification, sections 2 and 4.3.
#pragma once
#include "chess/chess.h"

enum { MATCH_PLIES_DEFAULT = 200 }; // where a game is broken off

enum match_end { // of random games; the order of the tests after each ply; names are those of the
                 // logs
    MATCH_ONGOING,
    MATCH_CHECKMATE,
    MATCH_STALEMATE,
    MATCH_INSUFFICIENT_MATERIAL,
    MATCH_SEVENTYFIVE_MOVES,
    MATCH_FIVEFOLD_REPETITION,
    MATCH_MAX_MOVES,
};
enum { MATCH_ENDS = MATCH_MAX_MOVES + 1 };
str match_end_name(enum match_end e); // "Checkmate", "Max moves reached", ...

struct match_game { // what is counted of one game
    enum match_end end;
    int winner; // enum color; -1: nobody
    int plies;
    int material[2];  // at the end: pawn 1, knight and bishop 3, rook 5, queen 9
    uint64_t n_legal; // legal moves over all plies, for the mean
};
// Plays random moves, uniformly among the legal ones, for both sides: each from a stream of its own
// ("play/GAME/white", "play/GAME/black") of `seed`.
void match_random_game(uint64_t seed, uint64_t game, int max_plies, struct match_game *out);

// Sums for a mean and a sample deviation.
struct match_sum {
    double sum, squares;
};
struct match_totals { // of many games
    int64_t n, wins[2], draws;
    int64_t plies, n_legal;
    int64_t ends[MATCH_ENDS];
    enum match_end order[MATCH_ENDS]; // ends as they occurred first
    size_t n_order;
    struct match_sum length, material[2], difference, mates; // mates: plies of games with one
};
void match_count(struct match_totals *t, const struct match_game *g);
double match_mean(const struct match_sum *s, int64_t n);
double match_deviation(const struct match_sum *s, int64_t n); // n - 1; 0 for fewer than two games
struct match_names {
    str white, black;             // as logs name the players
    str white_model, black_model; // empty: no language model
};
// The aggregate object of section 4.3, and behind it the member "rookery" with what the format has
// no place for: rates with Wilson intervals, the mean number of legal moves, the mean ply of mates.
str match_totals_json(const struct match_totals *t, const struct match_names *names,
                      struct arena *a);

#include "match/log.h"
#include "match/refined.h"
#include "match/schedule.h"
#include "match/standings.h"

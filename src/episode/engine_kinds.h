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

// ---- ten moves against an engine ----

enum { OPENING_MOVES_MAX = 32, OPENINGS_MAX = 1000 };
struct opening { // a starting condition
    str name, eco;
    enum color model;              // whom the model plays
    move moves[OPENING_MOVES_MAX]; // from the initial position
    size_t n;
};
struct openings {
    struct opening *v;
    size_t n, cap;
    str sha256; // of the text
};
// Reads [{"name", "eco", "model": "white" or "black", "moves": UCI}...]; ERR_INPUT. An empty text
// stands for the built-in ten.
MUST_CHECK bool openings_load(str text, struct arena *a, struct openings *out, struct err *err);

// A game of at most so many moves of the model, each asked for by itself as a puzzle position is;
// the engine answers each. Input: struct versus_input. The score is the share of the moves that
// were made. A call that never arrived, an engine at fault: failed. Filtered, too long: unscored.
extern const struct episode_kind episode_versus; // its name is "rollout"
struct versus_input {
    const struct opening *opening;
    const struct engine *engine; // the opponent
    struct engine_limit limit;   // of each of its searches
    int max_moves;               // of the model
};
enum versus_stop { // why it ended
    VERSUS_MOVE_LIMIT,
    VERSUS_WON,  // the model gave mate
    VERSUS_LOST, // the engine did
    VERSUS_STALEMATE,
    VERSUS_DRAW,       // by the other rules that end a game by themselves
    VERSUS_ILLEGAL,    // a move, but no legal one
    VERSUS_UNPARSABLE, // no move, several, no JSON, nothing, cut off
    VERSUS_REFUSED,
    VERSUS_UNSCORED,  // filtered, too long for the model
    VERSUS_TIMEOUT,   // of the call
    VERSUS_NO_ANSWER, // any other failure of the call
    VERSUS_ENGINE,    // the engine's fault
};
enum { VERSUS_STOPS = VERSUS_ENGINE + 1 };
str versus_stop_name(enum versus_stop s); // "move_limit", "won", ...
struct versus_record {                    // outcome.record; never NULL once done
    enum versus_stop stop;
    move *moves; // of the game, the opening's first
    size_t n, n_opening;
    int n_attempts, n_accepted; // answers of the model that were judged; moves it made
    str answer;                 // its last answer
    str error;                  // of what failed
};

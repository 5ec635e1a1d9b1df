// SPDX-License-Identifier: GPL-3.0-or-later
// gepa_world.h - a world for tests of GEPA from end to end: puzzles of real positions as many as
// the paper has, a task model that is right as often as the tag "skill=N" of its instruction says,
// and a prompt model that says what the test wants.
#pragma once
#include "test.h"

#include "optimize/optimize.h"

enum { PUZZLES = 559, POSITIONS = 1439 };

struct world {
    struct arena *arena;
    struct puzzles all;
    struct puzzle_positions train, validation;
    struct map by_fen; // struct puzzle_position
    struct optimizer_config config;
    int64_t max_metric_calls;
    bool show_solution, continue_on_error;
    int slots;
    double temperature;
    struct store *db; // kept from run to run
    // The models. `said` is what the prompt model answers; NULL: a fenced "skill=N", N drawn from
    // the request.
    bool all_right, all_wrong, unreadable, refuses, lost;
    const char *said;
    size_t said_len; // 0: strlen
    enum reply_class said_class;
    int64_t dies_at; // task or prompt call that ends the run as a kill does; 0: none
    int64_t n_task, n_prompt;
    str requests;          // the last one to the prompt model
    int64_t max_tokens[4]; // of the first requests
    struct buf log;        // of all events
};

// All of the puzzles, split under seed 42; no `auto` budget, max_metric_calls 200.
struct world *world_new(struct arena *a, const char *preset);
// The same with 40 training and 20 validation positions.
struct world *world_small(struct arena *a, const char *preset);
// Splits the puzzles anew.
void world_split(struct world *w, uint64_t seed);
// Runs GEPA over the world's store; counts and log begin anew.
bool world_run(struct world *w, struct opt_result *out, struct err *err);
// The same; a failure fails the test.
struct opt_result world_done(struct world *w);
// Forgets all replies, so that the next run asks again.
void world_forget(struct world *w);
void world_close(struct world *w, struct arena *a);
// How often a part stands in a text; in the log of the last run.
size_t count(str text, str part);
size_t logged(struct world *w, const char *part);

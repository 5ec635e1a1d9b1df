// SPDX-License-Identifier: GPL-3.0-or-later
// evolve.h - candidate harnesses scored on puzzles, and the loop that asks a proposer for better
// ones (Meta-Harness specification, sections 4.4, 5, 6; numbers in comments are its).
#pragma once
#include "lab/lab.h"
#include "sandbox/sandbox.h"
#include "stats/stats.h"

// ---- what is evaluated on ----

struct eval_puzzle { // one of a set, called so in the store
    str id;
    struct rollout_puzzle puzzle;
};
struct eval_set { // the puzzles that one seed chooses (1.4); immutable
    uint64_t seed;
    const struct eval_puzzle *v;
    size_t n;
    struct rollout_opts opts; // with the seed
};
struct eval_setup {           // a profile under a model; immutable
    str profile, model_short; // parts of paths
    const struct model *model;
    const struct eval_set *sets; // one a seed
    size_t n_sets;
    int repeats;                 // rollouts of each puzzle
    size_t limit;                // asked for, a set
    struct rollout_opts rollout; // but for the seed
    str dataset_id, weights_id;  // hash of the puzzle file; of the model's weights, or empty
};
// The first `limit` puzzles (0: all) of the file in the order of the seed; in `a`.
struct eval_set eval_set_make(const struct puzzles *all, uint64_t seed, size_t limit,
                              const struct rollout_opts *opts, struct arena *a);
// SHA-256 over all that can change the result of this harness on that set (5.5).
str eval_identity(const struct eval_setup *s, const struct eval_set *set, const struct candidate *c,
                  struct arena *a);

// ---- results ----

enum failure { // of a rollout that was not solved, first match (5.9)
    FAILURE_INFRA,
    FAILURE_HARNESS,
    FAILURE_TRUNCATED,
    FAILURE_TOKENS,
    FAILURE_CALLS,
    FAILURE_AMBIGUOUS,
    FAILURE_MALFORMED,
    FAILURE_ILLEGAL,
    FAILURE_MATE, // another mate than the stored move
    FAILURE_FIRST_MOVE,
    FAILURE_LATER_MOVE,
    FAILURE_CONTEXT,
    FAILURES,
};
str failure_name(enum failure f);
enum failure failure_of(const struct rollout_record *r); // not of a solved one
enum { STOPS = STOPPED_CANCELLED + 1 };

struct eval_counts { // of one set, or of several together
    int64_t n, n_scored, n_solved, n_strict, n_lichess;
    int64_t calls, tokens;
    int64_t failures[FAILURES], stops[STOPS];
    struct usage_total used;
};
struct eval_result { // of one harness
    struct eval_set_result {
        const struct outcome *out; // puzzle * repeats + repeat
        size_t n_puzzles;          // fewer than the set's where a race was lost
        struct eval_counts counts;
    } * sets;
    size_t n_sets;
    int repeats;
    struct eval_counts all;
    double success, calls, tokens; // means over the sets' means
};
struct evaluation { // one harness to be evaluated
    str name;
    const struct candidate *candidate;
    int first_sample; // of its repeats: fresh ones for a confirmation
    struct eval_result result;
    bool dropped; // a race was lost
};
struct eval_batch { // harnesses that are evaluated together
    struct evaluation *v;
    size_t n;
    // A race (6.2): after each block of puzzles, who is surely worse than the incumbent is dropped.
    const struct eval_result *incumbent; // NULL: no race
    size_t block;
};
// Runs all harnesses over all puzzles. False as lab_evaluate.
MUST_CHECK bool evaluate_all(struct lab *lab, const struct eval_setup *s, struct eval_batch *batch,
                             struct err *err);
// Share of the repeats that solved a puzzle of a set.
double eval_rate(const struct eval_result *r, size_t set, size_t puzzle);
struct paired { // of two harnesses, puzzle by puzzle: rollout k against rollout k
    int64_t both, lost, gained, neither;
    double p_better; // one-sided exact McNemar (6.1)
};
struct paired eval_compare(const struct eval_result *from, const struct eval_result *to);

// ---- the audit of rollouts (4.4) ----

struct live_audit {
    enum verdict verdict; // reject: the score is void
    int64_t n_vetoes, n_suppressed, n_foreign, n_errors, n_responses;
    str reason; // empty: nothing was found
};
struct live_audit live_audit(const struct eval_setup *s, const struct eval_result *r,
                             struct arena *a);

// ---- files (5.3); texts in `a` ----

enum eval_status { EVAL_COMPLETE, EVAL_INCOMPLETE, EVAL_VOIDED }; // voided by the live audit
str eval_status_name(enum eval_status s);                         // as in val.json
struct eval_file {                                                // which result is written
    const struct eval_setup *setup;
    const struct evaluation *evaluation;
    size_t set;
    enum eval_status status;
};
str eval_val_json(const struct eval_file *f, struct arena *a);
str eval_trajectories(const struct eval_file *f, struct arena *a);
str eval_trace(const struct eval_file *f, struct arena *a);
// failures.json of one harness: classes with examples, and what moved them (5.9).
str eval_failures(const struct eval_setup *s, const struct evaluation *e, struct arena *a);
// "<profile>/<harness>/<model>[_seed<S>]"
str eval_directory(const struct eval_file *f, struct arena *a);
// The three files below `logs`.
MUST_CHECK bool eval_save(str logs, const struct eval_file *f, struct arena *a, struct err *err);

// ---- rollouts again ----

struct rollout_walk { // over the responses of a rollout, with the board that each was given to
    const struct rollout_record *record;
    const struct rollout_puzzle *puzzle;
    struct position at;
    size_t ply, next; // of the hidden line; event
};
// The next response and, where it was judged, the judgement; false: no more.
bool rollout_walk_next(struct rollout_walk *w, const struct rollout_event **response,
                       const struct rollout_event **judgement);

#include "evolve/loop.h" // the search

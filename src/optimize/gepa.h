// SPDX-License-Identifier: GPL-3.0-or-later
// gepa.h - the search of GEPA, for its files and their tests (GEPA and SIMBA specification, section
// 2). It asks a `gepa_system` to run candidates and to propose new texts, and knows no model: a
// program with one instruction is a system of one component.
#pragma once
#include "optimize/gepa_pool.h"

// ---- reading a new text out of a reply (2.8) ----

// The instruction in the reply, a trimmed view. NULL: there is one (GEPA_EXTRACT_LENIENT: it may be
// empty); else why there is none.
const char *gepa_extract(str reply, enum gepa_extract how, str *out);

// ---- asking for a new text (2.7, 2.8) ----

struct gepa_proposal {
    bool found;
    str text;           // empty where none was found
    const char *why;    // none was found; NULL otherwise
    int64_t n_requests; // made for it
};
struct gepa_shown { // one answer of the parent
    const struct puzzle_position *position;
    const struct outcome *out;
};
struct gepa_reflection {
    const struct opt_task *task;
    const struct program *program; // whose instruction is rewritten
    const struct gepa_shown *shown;
    size_t n;
    int64_t sample; // of the first request; tells equal requests apart
};
// Shows the prompt model what the program answered and what the metric says of it, and reads the
// new instruction, normalised, out of its reply. At most two requests.
MUST_CHECK bool gepa_reflect(const struct gepa_reflection *q, struct gepa_proposal *out,
                             struct err *err);

// ---- the search (2.2) ----

enum gepa_set { GEPA_TRAIN, GEPA_VALIDATION };
enum gepa_stop { GEPA_STOP_NEVER, GEPA_STOP_HOPELESS, GEPA_STOP_DECIDED };
struct gepa_run { // a candidate on some examples
    const str *texts;
    enum gepa_set set;
    const size_t *ids; // indices into the set
    size_t n;
    // It may end early: once its sum cannot reach `wanted`, or also once it has.
    enum gepa_stop stop;
    int64_t wanted;
};
struct gepa_scores {
    int64_t *v;        // one per example, in order
    size_t n;          // how many of them: fewer where it ended early
    int64_t sum;       // of them
    int64_t n_calls;   // metric calls as if nothing were known or left out
    int64_t n_made;    // metric calls made
    const void *trace; // the system's own, for its `propose`
};
struct gepa_question { // for a new text of one component
    const str *texts;
    size_t component;
    const struct gepa_run *run; // of the parent
    const struct gepa_scores *scores;
};
struct gepa_iteration;
struct gepa_system { // what is evolved
    void *ctx;
    size_t n_components, n_train, n_validation; // examples
    const str *names;                           // of the components
    const str *start;                           // their texts
    bool (*run)(void *ctx, const struct gepa_run *run, struct gepa_scores *out, struct err *err);
    bool (*propose)(void *ctx, const struct gepa_question *q, struct gepa_proposal *out,
                    struct err *err);
    // Told after the start was scored (number -1) and after each iteration.
    void (*note)(void *ctx, const struct gepa_iteration *it);
};

struct gepa_opts {
    size_t minibatch;
    struct gepa_choosing choosing;
    enum gepa_padding padding;
    enum gepa_acceptance acceptance;
    bool all_components; // every component is edited at once; else one after the other
    bool skip_perfect;   // no reflection on a minibatch that is all right
    bool skip_known;     // a text that a candidate already has is not run
    bool use_merge;
    int64_t max_merge;   // accepted merges
    int64_t budget;      // metric calls
    bool hard_budget;    // an iteration begins only where its worst case fits
    int64_t max_stalled; // iterations without an evaluated proposal; this and the next: 0: no limit
    int64_t max_idle;    // iterations without a better best candidate
    int64_t max_pool;    // candidates
    int64_t max_iterations;
    double stop_score; // mean of the best, 0..1; 0: none
    bool early_stop;   // runs end when their decision is certain
};

enum gepa_decision { GEPA_START, GEPA_ACCEPTED, GEPA_REJECTED, GEPA_SKIPPED };
struct gepa_iteration { // what one iteration did (2.18)
    int64_t number;     // from 0; -1: scoring the start
    enum gepa_decision decision;
    const char *reason; // of a skip, a rejection, an acceptance
    size_t parents[GEPA_PARENTS_MAX];
    size_t n_parents;
    const double *weights;        // per candidate at the time, NULL for merges
    struct gepa_run run;          // of the parent (mutation) or of the merge
    struct gepa_scores parent;    // a merge: `v` NULL, the better parent's sum
    struct gepa_scores child;     // `v` NULL: was not run
    const bool *edited;           // per component; NULL: none
    const str *texts;             // of the child; NULL: there is none
    int64_t n_requests;           // to the prompt model
    const struct gepa_pool *pool; // afterwards
    size_t candidate;             // accepted: its index
    int64_t metric_calls, n_made; // afterwards
};

enum gepa_finish {
    GEPA_BUDGET,
    GEPA_TARGET,
    GEPA_PERFECT_START,
    GEPA_STALLED,
    GEPA_IDLE,
    GEPA_POOL_FULL,
    GEPA_ITERATIONS,
};
const char *gepa_finish_name(enum gepa_finish f); // "budget", ...
struct gepa_result {
    struct gepa_pool pool;
    size_t best;
    enum gepa_finish finish;
    int64_t metric_calls; // nominal: what the budget counts
    int64_t n_made;       // without what was known or left out
    int64_t full_evals, n_iterations, n_proposals, n_requests, n_merges;
};
// Searches until a limit is reached; what it makes lies in the arena of the tools.
struct gepa_tools {
    struct chance *chance;
    struct arena *arena;
};
MUST_CHECK bool gepa_search(const struct gepa_system *sys, const struct gepa_opts *opts,
                            struct gepa_tools *t, struct gepa_result *out, struct err *err);

// ---- budgets (2.12) ----

// Metric calls of `auto` for V validation positions and that many components.
int64_t gepa_auto_budget(enum auto_budget b, int64_t n_validation, int64_t n_components);
// The budget of a configuration: auto, max_full_evals or max_metric_calls. Two at once: ERR_INPUT.
MUST_CHECK bool gepa_budget(const struct opt_task *task, int64_t *out, struct err *err);

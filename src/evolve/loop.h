// SPDX-License-Identifier: GPL-3.0-or-later
// loop.h - part of evolve.h: proposals, acceptance, and the loop (5.2 to 5.8).
#pragma once
#include "evolve/evolve.h"

// ---- proposals ----

struct proposal {
    str name; // a slot: "h4"
    str axis, hypothesis, changes, parent;
    str source;
};
struct proposals {
    struct proposal *v;
    size_t n, cap;
    str pending;   // pending_eval.json as it was written; empty: made from the proposals
    str log;       // what else there is to keep of how they came about
    int64_t calls; // of the proposer
};
enum { SLOTS_MAX = 32 };
struct proposal_request {
    int64_t iteration;
    str accepted, accepted_source;
    const str *slots;
    size_t n_slots;
    str skill, task; // for any proposer
    str context;     // beside them for one that reads no files: scores, failures, traces
    str repair;      // what is wrong with the slots' files; empty: a first try
};
struct proposer {
    str kind;     // "command", "single-call", "manual", "scripted"
    bool repairs; // can be asked again for files that were rejected
    void *ctx;
    // Fills in what it proposes; nothing is no error. Texts live as long as the lab's arena.
    bool (*propose)(void *ctx, const struct proposal_request *q, struct proposals *out,
                    struct err *err);
};
// The metadata of pending_eval.json; sources are left to the caller, but for members "source".
// False: it is no such file. Texts in `a`.
MUST_CHECK bool proposals_read(str json, struct arena *a, struct proposals *out, struct err *err);
// A reply of a proposer model: such an object, or fenced blocks (5.7 b).
void proposals_from_reply(str text, struct arena *a, struct proposals *out);
struct single_call { // ctx of proposer_single_call
    struct lab *lab;
    const struct model *model;
};
bool single_call_propose(void *ctx, const struct proposal_request *q, struct proposals *out,
                         struct err *err);
str evolve_skill(void); // the text that tells a proposer what a harness is

// ---- the loop ----

struct evolve_opts {
    str dir; // run directory
    str run_id, version;
    str config; // JSON for run.json
    struct lab *lab;
    struct sandbox *sandbox;
    const struct eval_setup *setup;
    const struct audit_index *index;
    const struct proposer *proposer;
    str start; // source of h0
    int64_t iterations;
    int64_t candidates; // an iteration
    int64_t repair_rounds;
    bool reference_accept; // else guarded
    bool prompt_only;
    double alpha, min_gain;      // of guarded acceptance
    int64_t confirm;             // repeats of a confirmation, 0: none
    double stop_at;              // success of a proposed harness that ends the search; 0: none does
    int64_t patience, min_iters; // 0: no patience rule
    size_t race_block;           // puzzles; 0: no race
    int64_t max_calls, max_prompt_tok, max_completion_tok, max_proposals; // 0: no limit
    // Why to stop before the next step: a person or the clock wants it; NULL: go on.
    const char *(*stop)(void *ctx);
    void *stop_ctx;
};
struct evolve_result {
    str accepted, stop_reason;
    int64_t iterations; // done
    double success, start_success;
};
// Runs or replays the search, and writes the run directory. False: it stopped early, in a state
// that the same command goes on from.
MUST_CHECK bool evolve_run(const struct evolve_opts *opts, struct evolve_result *out,
                           struct err *err);

// ---- rules, for the loop and its tests ----

struct point { // a harness on the frontier
    double success, calls;
    bool on_reference, on_strict; // results
};
// Marks the points that belong to the frontier: as the reference does, and by true non-dominance.
void frontier_mark(struct point *v, size_t n);
struct patience { // set the limits; best is h0's at first
    int64_t patience, min_iters;
    double best;
    int64_t best_iteration;
};
// Notes the best of an iteration; true: stop after it.
bool patience_spent(struct patience *p, int64_t iteration, double best);

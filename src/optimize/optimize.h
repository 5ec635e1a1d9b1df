// SPDX-License-Identifier: GPL-3.0-or-later
// optimize.h - prompt optimizers: sequential code over lab_evaluate. Each is one file and one line
// in optimizers[]. Their settings are struct optimizer_config.
#pragma once
#include "config/config.h"
#include "lab/lab.h"

// ---- chance ----

// The random draws of an optimizer that no published result depends on: named substreams of the
// run's seed. Tests put the recorded draws of a reference run in their place.
struct chance {
    void *ctx;
    double (*uniform)(void *ctx, const char *stream);         // [0, 1)
    size_t (*below)(void *ctx, const char *stream, size_t n); // [0, n), n >= 1
    void (*shuffle)(void *ctx, const char *stream, size_t *v, size_t n);
    // Proportional to the weights: the first index whose running sum exceeds u x total; all zero:
    // uniform.
    size_t (*weighted)(void *ctx, const char *stream, const double *weights, size_t n);
    int (*poisson)(void *ctx, const char *stream, double rate); // Knuth's product method
};
// The substreams "OPTIMIZER/STREAM" of `seed`, made in `a` at their first use.
struct chance chance_new(uint64_t seed, str optimizer, struct arena *a);

// ---- the task ----

// Something decided about a candidate, for people who watch (--explain, --watch).
struct opt_event {
    const char *what;  // "plan", "candidate", "evaluated", "accepted", "rejected", "skipped"
    int64_t candidate; // its number in the run, 0: the start; -1: about none
    const struct program *program; // NULL: not shown
    bool scored;
    double score;       // 0..1
    size_t n_positions; // it was scored on
    str reason;         // a sentence
    str details;        // a JSON object with the method's own figures, for programs; or empty
};
struct opt_watch {
    void (*note)(void *ctx, const struct opt_event *event);
    void *ctx;
};
struct opt_task {                              // what an optimizer works on
    struct lab *lab;                           // where it asks
    const struct program *seed;                // where it starts
    const struct puzzle_positions *train;      // in split order
    const struct puzzle_positions *validation; // empty for methods that do not use it
    const struct model *model;                 // the task model
    const struct model *prompt_model;          // writes prompts; NULL for methods without
    uint64_t run_seed;
    bool show_solution; // include_ground_truth_feedback
    int64_t max_metric_calls;
    const struct optimizer_config *config;
    struct chance *chance;         // NULL: chance_new of the seed
    const struct opt_watch *watch; // NULL: nobody
};
struct opt_candidate { // one program that was scored
    const struct program *program;
    double score;       // 0..1, of the set that the optimizer selects on
    size_t n_positions; // scored on; fewer than the set: a minibatch only
    bool failed;        // its evaluation hit the error limit
};
struct opt_candidates {
    struct opt_candidate *v; // in the order in which they were made
    size_t n, cap;
};
struct opt_result {
    const struct program *program;    // in the lab's arena
    struct opt_candidates candidates; // none for methods that do not score
    const char *finish;               // why it ended; NULL: it ran its course
    int64_t n_attempts;               // task asks of bootstrapping
    int64_t n_bootstrapped;           // accepted demonstrations
    int64_t n_proposals;              // usable texts of the prompt model
    int64_t n_saved;                  // task asks that known scores made needless
};
struct opt_plan { // how many calls a run will make
    int64_t least_task, most_task;
    int64_t least_prompt, most_prompt; // of the prompt model, where none has to be repeated
};
struct optimizer {
    str name;            // as in configurations: "bootstrap_few_shot"
    bool writes_prompts; // asks the prompt model; others leave it unopened
    str needs_sampling;  // why a model that only chooses cannot serve; empty: it can
    // Counts the calls of a run without making any; uses data, config and max_metric_calls of the
    // task alone. NULL: the method cannot tell.
    bool (*plan)(const struct opt_task *task, struct opt_plan *out, struct err *err);
    bool (*run)(const struct opt_task *task, struct opt_result *out, struct err *err);
};
extern const struct optimizer *const optimizers[]; // NULL-terminated
const struct optimizer *optimizer_find(str name);  // NULL: none of that name
// Whether the method can work on this task model; ERR_USAGE with the reason.
MUST_CHECK bool optimizer_accepts(const struct optimizer *o, const struct model *m,
                                  struct err *err);

// ---- parts of several optimizers ----

// The demonstration of a position with its reference move and its source (in `a`).
const struct demo *demo_labeled(const struct puzzle_position *p, struct arena *a);
// LabeledFewShot (4.1): a program with min(k, n) demos drawn by a fresh generator of seed 0 from
// `pool` (labelled demos in training order), in drawn order.
const struct program *labeled_few_shot(const struct program *p, const struct demo *const *pool,
                                       size_t n, size_t k, struct arena *a);

// ---- the sampler of MIPROv2 (6.5) ----

enum { TPE_STARTUP = 10, TPE_CANDIDATES = 24 }; // records before it models; pairs drawn then
struct tpe_pair {
    size_t x, y; // which instruction, which demo set
};
struct tpe_records {
    struct tpe_record {
        struct tpe_pair at;
        double value; // the more the better
    } * v;            // in the order of their numbers
    size_t n, cap;
};
struct tpe { // the search so far
    struct tpe_records seen;
    size_t n_x, n_y; // choices of each dimension, >= 1
};
// The pair to try next. Draws from the stream "tpe", as tpe.c documents.
struct tpe_pair tpe_next(const struct tpe *t, struct chance *c);
// How many of n records count as good.
size_t tpe_n_good(size_t n);
// The good records and the others, each in the order of their numbers; equal values: the older ones
// are better. In `a`.
void tpe_divide(const struct tpe_records *all, struct arena *a, struct tpe_records *good,
                struct tpe_records *bad);
// The weight of record i of n, from the oldest, before normalisation; the prior's is 1.
double tpe_weight(size_t i, size_t n);
// The density at a pair of the mixture made from some records; sums to 1 over all pairs.
double tpe_density(const struct tpe *t, const struct tpe_records *s, struct tpe_pair at);

// ---- what the metric says of an answer (GEPA and SIMBA specification, 1.2) ----

enum feedback_kind {
    FEEDBACK_OK,
    FEEDBACK_PARSE_FAIL, // nothing that could be a move, or no readable answer at all
    FEEDBACK_ILLEGAL_OR_AMBIGUOUS,
    FEEDBACK_WRONG_LEGAL,
};
enum feedback_kind feedback_kind(enum answer_kind k);
struct feedback {
    double score; // 0 where the answer was not scored
    enum feedback_kind kind;
    str text; // a sentence or two for the prompt model
};
// Judges the answer to a position. Under the option `feedback: scalar` the text states the score
// instead of a critique. With `show_solution` that of a failed one ends with the reference move.
void opt_feedback(const struct opt_task *task, const struct puzzle_position *p,
                  const struct outcome *out, struct feedback *to);

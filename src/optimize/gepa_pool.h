// SPDX-License-Identifier: GPL-3.0-or-later
// gepa_pool.h - the candidates of GEPA, and the draws that are made from them: a parent, a
// minibatch, a merge (GEPA and SIMBA specification, section 2). A candidate is a list of named
// texts, its components.
#pragma once
#include "optimize/optimize.h"

// ---- the pool of candidates (2.1, 2.3) ----

// Scores are whole numbers of 1e-9, so that equality and sums are exact.
enum { GEPA_ONE = 1000000000, GEPA_PARENTS_MAX = 2 };
enum { GEPA_NONE = -1 }; // no candidate

struct gepa_candidate {
    const str *texts; // one per component, as stored
    size_t parents[GEPA_PARENTS_MAX];
    size_t n_parents;      // 0: the start; 1: a mutation; 2: a merge
    const int64_t *scores; // one per validation example
    int64_t sum;           // of them
    size_t next_component; // edited when it is chosen next
    int64_t discovered_at; // metric calls before its validation
};
struct gepa_pool { // set arena and sizes; candidates are never changed or removed
    struct arena *arena;
    size_t n_components, n_validation;
    struct gepa_candidate *v;
    size_t n, cap;
    int64_t *best; // per validation example; a candidate is on the example's front where it has it
};
// Adds a candidate: texts and scores are kept, its sum and next component set here. Returns its
// index.
size_t gepa_pool_add(struct gepa_pool *p, const struct gepa_candidate *c);
// The first candidate of the highest mean.
size_t gepa_best(const struct gepa_pool *p);
// The mean score, 0..1.
double gepa_mean(const struct gepa_pool *p, size_t candidate);
bool gepa_on_front(const struct gepa_pool *p, size_t candidate, size_t example);

// ---- choosing a parent (2.4) ----

// Which candidates survive the pruning of redundant ones (survives[n]); how many.
size_t gepa_prune(const struct gepa_pool *p, bool *survives);
struct gepa_choosing {
    enum gepa_selection strategy;
    double epsilon; // of epsilon_greedy
    size_t top_k;   // of top_k_pareto
};
// Draws a parent from stream "select". `weights` (n of the pool) is filled with the number of
// fronts each could be drawn for; all 0 where the strategy draws without weights.
size_t gepa_select(const struct gepa_pool *p, const struct gepa_choosing *how, struct chance *c,
                   double *weights);

// ---- minibatches (2.5) ----

struct gepa_sampler { // zero but for arena, size and padding
    struct arena *arena;
    size_t size; // examples in a minibatch, >= 1
    enum gepa_padding padding;
    size_t n_train; // at the last shuffle; 0: there was none
    int64_t epoch;
    size_t *ids; // shuffled and padded to whole minibatches
    size_t n;
};
// The minibatch of an iteration: `size` training indices, valid until the next call. Shuffles with
// stream "sampler". n_train >= 1.
const size_t *gepa_sample(struct gepa_sampler *s, struct chance *c, int64_t iteration,
                          size_t n_train);

// ---- merging two candidates (2.11) ----

enum { GEPA_MERGE_EXAMPLES = 5 }; // validation examples a merge is tried on
struct gepa_merge_key {
    size_t i, j;
    size_t ancestor;      // of a tried triple
    const size_t *choice; // of a tried composition
};
struct gepa_merge_keys {
    struct gepa_merge_key *v;
    size_t n, cap;
};
struct gepa_merges { // what was tried; set the arena
    struct arena *arena;
    struct gepa_merge_keys triples, compositions;
};
struct gepa_merge {
    size_t i, j, ancestor; // i < j
    const str *texts;      // per component
    const size_t *choice;  // per component: the parent whose text it has
};
// Looks for two candidates whose differing edits can be joined, and remembers the try. False: none
// was found. Draws from stream "merge".
bool gepa_merge_find(struct gepa_merges *m, const struct gepa_pool *p, struct chance *c,
                     struct gepa_merge *out);
// Draws the validation examples that the merge is tried on.
void gepa_merge_examples(const struct gepa_pool *p, const struct gepa_merge *m, struct chance *c,
                         size_t out[GEPA_MERGE_EXAMPLES]);

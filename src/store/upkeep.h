// SPDX-License-Identifier: GPL-3.0-or-later
// upkeep.h - a store as a whole: what its calls cost, whether it is sound, making it smaller, and
// taking in another one.
#pragma once
#include "store/store.h"

// ---- money ----

struct store_costs { // calls that have the same of all that is named here
    struct store_cost {
        str model, method, phase, source; // phase: of the run, or its command where it has none
        bool simulated;                   // a simulated model took part in the run
        int64_t n_calls, input_tok, output_tok, cost_nusd;
    } * v;
    size_t n, cap;
};
// Of all runs, or of one (0: all), in order of model, method, phase, source. What a run spent
// beside its stored calls (attempts without a reply to keep) has the source "possible".
MUST_CHECK bool store_costs(struct store *s, int64_t run, struct arena *a, struct store_costs *out,
                            struct err *err);

// ---- soundness ----

struct store_faults {
    str *v; // sentences
    size_t n, cap;
};
struct store_check {
    int64_t n_runs, n_calls, n_programs;
    struct store_faults faults; // the first hundred
};
// Reads all of the file: SQLite's own check of its pages and indexes, then what must hold between
// rows: calls of runs that exist, counts and money of runs, programs that calls name, reusable ones
// that are good. What replies and programs say is the caller's to read.
MUST_CHECK bool store_check(struct store *s, struct arena *a, struct store_check *out,
                            struct err *err);
// Shows each program, in order of hash, as store_calls does.
typedef bool store_program_fn(void *ctx, str hash, str json, struct err *err);
MUST_CHECK bool store_programs(struct store *s, store_program_fn *each, void *ctx, struct err *err);

// ---- size ----

// Removes programs that no call names, and writes the file anew without its gaps. Needs as much
// free space as the file has, and no other writer; nothing is lost where it fails.
MUST_CHECK bool store_compact(struct store *s, int64_t *n_programs, struct err *err);

// ---- joining ----

struct store_merged {
    int64_t n_added;  // runs that were not here
    int64_t n_filled; // runs that were, and got calls or their end
    int64_t n_known;  // runs that have nothing new
    int64_t n_moved;  // among the added: their ordinal has another run here, so they got the next
    int64_t n_calls;  // copied
};
// Takes in all runs of another store, in one transaction: all or nothing. Runs are the same where
// key and ordinal are and no reply contradicts another. The other store stays as it is; one of an
// older version is refused.
MUST_CHECK bool store_merge(struct store *s, str other, struct store_merged *out, struct err *err);

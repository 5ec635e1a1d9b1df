// SPDX-License-Identifier: GPL-3.0-or-later
// store.h - the SQLite file that remembers runs and every reply. Calls are found again by their
// place in the run (replay) or by what was asked (reuse).
#pragma once
#include "base/base.h"

struct store;               // opaque; one connection
enum { STORE_VERSION = 3 }; // PRAGMA user_version

struct store_opts {
    bool read_only;           // also from a place where nothing may be written
    int64_t busy_ms;          // how long to wait for another program's write [10000]
    int64_t fs_magic;         // the type of the file system, for tests [what statfs says]
    int64_t (*unix_ms)(void); // for tests [clock_unix_ms]
};
// Opens or makes the file; ":memory:" keeps all in memory. A store of a newer version, a read-only
// place, a file that is no store: a sentence that names the path. On a network file system, and
// where the first write to a write-ahead log fails, a warning is logged and a rollback journal is
// used, by one program at a time. Free with store_close. Never share one across fork().
MUST_CHECK bool store_open(str path, const struct store_opts *opts, struct store **out,
                           struct err *err);
void store_close(struct store *s); // commits (a failure is logged); NULL is fine
// Whether statfs's f_type is a file system without memory shared between machines.
bool store_is_network_fs(int64_t magic);

// ---- runs ----

struct store_run {
    int64_t id;                       // row
    str key;                          // hash of configuration, data, program, seed, run name
    int64_t ordinal;                  // 0, and one more for each --again
    str command, name, model, method; // for people
    str config;                       // JSON
    str summary;                      // JSON, empty until finished
    bool finished;
    bool simulated;
    int64_t started_unix_ms, finished_unix_ms;
    int64_t n_calls, spent_nusd;
};
struct store_runs {
    struct store_run *v;
    size_t n, cap;
};
struct store_begin {
    bool again;          // leave a finished run alone and begin the next ordinal
    int64_t repeat;      // >= 1: the run of ordinal repeat - 1 and no other, begun where missing
    int64_t now_unix_ms; // stored as the start
};
// Finds the newest run of key, or starts one. `run` gives key, command, name, model, method,
// config, simulated; the rest is filled in. `now_unix_ms` is stored as the start.
MUST_CHECK bool store_run_begin(struct store *s, const struct store_begin *how, struct arena *a,
                                struct store_run *run, struct err *err);
// Marks run->id as finished with run->summary and run->simulated.
MUST_CHECK bool store_run_finish(struct store *s, const struct store_run *run, int64_t now_unix_ms,
                                 struct err *err);
// Counts money that went with attempts which brought no reply, inside the open transaction.
MUST_CHECK bool store_run_spend(struct store *s, int64_t run, int64_t cost_nusd, struct err *err);
// What all runs in this file have spent since midnight UTC, uncommitted money of ours included.
MUST_CHECK bool store_day_spent(struct store *s, int64_t *nusd, struct err *err);
MUST_CHECK bool store_runs(struct store *s, struct arena *a, struct store_runs *out,
                           struct err *err); // oldest first
// By id, or by the first characters of the key. ERR_INPUT when there is none or several, also of
// one key.
MUST_CHECK bool store_run_find(struct store *s, str which, struct arena *a, struct store_run *out,
                               struct err *err);
// Removes a run and its calls; ERR_INPUT when there is none. Programs stay.
MUST_CHECK bool store_run_remove(struct store *s, int64_t run, struct err *err);

// ---- calls ----

enum { STORE_REPLY_MAX = 64 << 20 };

struct call_place { // the replay key of decisions 1.1
    int64_t run;
    int64_t batch, job, ask;
};
struct stored_call {
    bool found; // set by the two functions that look for one; the rest is zero where it is false
    str request_hash; // must be the same at replay
    str reuse_key;
    str program_hash, input_id; // what was asked, by name
    str model;
    str class; // reply class name
    str phase; // of the run: "optimising"; empty: it has none
    // Where the cost is from: reported, priced, estimated, unknown; reused: from another run; none:
    // nobody was paid. Empty: stored before it was recorded, see the reply.
    str cost_source;
    int64_t cost_nusd, input_tok, output_tok, latency_ms;
    str reply;     // JSON
    bool reusable; // class ok
    bool failed;   // nothing arrived: a later reply at this place may replace it
};
// The reply at a place; out->found tells whether there is one.
MUST_CHECK bool store_call_get(struct store *s, const struct call_place *at, struct arena *a,
                               struct stored_call *out, struct err *err);
// Any reusable call with this key, the oldest.
MUST_CHECK bool store_call_reuse(struct store *s, str reuse_key, struct arena *a,
                                 struct stored_call *out, struct err *err);
// Adds a reply of at most STORE_REPLY_MAX bytes inside the open transaction (begun here when none
// is). Disk full, read-only, a place that has a reply which did not fail (the same run goes on
// elsewhere): ERR_RUN.
MUST_CHECK bool store_call_put(struct store *s, const struct call_place *at,
                               const struct stored_call *call, struct err *err);
// Shows each call of a run in order of batch, job, ask; its texts live during the call of `each`,
// which ends the listing by returning false.
typedef bool store_call_fn(void *ctx, const struct call_place *at, const struct stored_call *call,
                           struct err *err);
MUST_CHECK bool store_calls(struct store *s, int64_t run, store_call_fn *each, void *ctx,
                            struct err *err);
// Remembers a program's JSON under its hash, once.
MUST_CHECK bool store_program_put(struct store *s, str hash, str json, struct err *err);
// The JSON of a program; empty when there is none of this hash.
MUST_CHECK bool store_program_get(struct store *s, str hash, struct arena *a, str *json,
                                  struct err *err);
// Commits what is open. The pump calls it before it sleeps and at least every 50 ms while it has
// uncommitted calls; once a second (now_ms) it also makes a durable checkpoint.
MUST_CHECK bool store_flush(struct store *s, int64_t now_ms, struct err *err);
bool store_dirty(const struct store *s); // something is not committed

#include "store/upkeep.h" // sums over a store; checking, shrinking, joining stores

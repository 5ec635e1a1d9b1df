// SPDX-License-Identifier: GPL-3.0-or-later
// pump.h - drives many episodes at once; the only place in the program that waits.
#pragma once
#include <signal.h>

#include "episode/episode.h"
#include "pump/gate.h"
#include "store/store.h"

struct pump; // opaque: slots, transfers, engine processes
struct sandbox;

// ---- a budget that several processes share ----

struct purse; // opaque; made before fork(), used by the parent and its children
enum purse_answer {
    PURSE_GRANTED,
    PURSE_LATER, // others hold reservations that may turn out cheaper
    PURSE_EMPTY, // nothing is in flight anywhere, and it would not fit
};
// n accounts under one cap (0: none); `before_nusd` was spent earlier. NULL and ERR_RUN: no memory.
struct purse *purse_new(int64_t cap_nusd, int64_t before_nusd, size_t n, struct err *err);
void purse_free(struct purse *p); // NULL is fine
enum purse_answer purse_reserve(struct purse *p, size_t holder, int64_t nusd);
// Ends reservations of so much, and counts what was really spent.
void purse_settle(struct purse *p, size_t holder, int64_t reserved_nusd, int64_t spent_nusd);
void purse_forfeit(struct purse *p, size_t holder); // its process died: what it held is spent
int64_t purse_spent_nusd(struct purse *p);
int64_t purse_reserved_nusd(struct purse *p);

// ---- the pump ----

struct pump_stats {          // since pump_new, except spent
    int64_t n_calls;         // replies that arrived now
    int64_t n_replayed;      // replies found at their place in the run
    int64_t n_reused;        // replies of other runs taken over
    int64_t n_retries;       // attempts that brought no reply to keep
    int64_t n_searches;      // answers of engines that arrived now
    int64_t n_engine_faults; // crashes, stalls, impossible answers; each is retried
    int64_t engine_ms;       // that engine processes were at work, added up
    int engines;             // processes at work at once, at most
    int64_t n_in_flight;
    int64_t limit;      // of the endpoint asked last: calls it bears at once
    int64_t parked_ms;  // how long it is still left alone; 0: it is not
    int64_t spent_nusd; // by the run, ever: what the cap counts
    int64_t saved_nusd; // what reused replies had cost
};
struct pump_person { // who answers asks to a person
    int fd;          // lines are read from it; its end ends the run as an interruption does
    void (*show)(void *ctx, str text);
    void *ctx;
};
struct pump_opts {                            // zero means the default in brackets
    int64_t run;                              // store row of the run
    int64_t spent_nusd;                       // what the run has already spent
    int64_t max_cost_nusd;                    // cap on the run's spending [none]
    int64_t max_day_nusd;                     // cap on what all runs spend in a day (UTC) [none]
    struct purse *purse;                      // budget beside the run's own cap [NULL: none]
    size_t purse_holder;                      // the account there, and at the gates
    struct gates *gates;                      // permits shared with others [NULL: its own]
    struct gates_opts limits;                 // of its own gates; limit [slots]
    int slots;                                // episodes alive at once [64]
    int engines;                              // engine processes at work at once [cores]
    const struct pump_person *person;         // kept; [NULL: none is asked]
    struct sandbox *sandbox;                  // where candidates run [NULL: none are asked]
    str ca_file;                              // certificates to trust [the system's]
    bool reuse;                               // take good replies of other runs
    uint64_t jitter_seed;                     // of the back-off; no result depends on it
    const volatile sig_atomic_t *interrupted; // how often the person asked to stop [NULL: never]
    // Called at most every 100 ms while pump_run works.
    void (*progress)(void *context, const struct pump_stats *stats);
    void *progress_context;
};
struct feed {                                                // where jobs come from and outcomes go
    bool (*next)(void *ctx, struct job *job, size_t *index); // false: no more jobs
    void (*done)(void *ctx, size_t index, const struct outcome *out); // valid during the call
    void *ctx;
    str phase;            // of the run, noted with each call: "optimising"
    bool accept_failures; // replay what is stored as failed instead of asking again
    bool keep_failures;   // store what never arrived
};

// Makes a pump that records its calls in `db` and keeps it. NULL and ERR_RUN where the system has
// no descriptors left; slots are cut to what it allows.
struct pump *pump_new(const struct pump_opts *opts, struct store *db, struct err *err);
void pump_free(struct pump *p); // aborts what is in flight; NULL is fine
const struct pump_stats *pump_stats(const struct pump *p);

// Runs every job of `feed` to its outcome; jobs are pulled as slots get free. `batch` and the
// job's index name its calls in the run: stored ones are answered without a call, and a stored
// request that differs from the one asked now is an error ("replay diverged"). done() comes in
// any order. False, nothing further scored: ERR_ENDPOINT (refused, unreachable), ERR_BUDGET,
// ERR_INTERRUPTED, ERR_RUN (store). What arrived stays stored.
MUST_CHECK bool pump_run(struct pump *p, int64_t batch, const struct feed *feed, struct err *err);

// ---- engines ----

// Starts an engine once, checks that its settings fit and that it can search (field case F-053),
// and fills in what it tells of itself, texts in `a`. ERR_USAGE: the settings; ERR_ENDPOINT: it is
// no engine, stalls or ends. The pump starts it again when a job first asks it.
MUST_CHECK bool pump_meet_engine(struct engine *engine, struct arena *a, struct err *err);

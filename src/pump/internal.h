// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - the parts of the pump: transfers over libcurl and engine processes, in one epoll
// set.
#pragma once
#include <curl/curl.h>

#include "pump/person.h"
#include "pump/pump.h"
#include "sandbox/sandbox.h"

// One HTTP exchange. Its owner keeps the memory (zeroed at first) at one address.
struct transfer {
    CURL *easy;              // reused from exchange to exchange; NULL before the first
    struct curl_slist *list; // request headers of the current exchange
    struct arena arena;      // of the request's options and the response, until the next send
    struct buf body;
    struct http_response response;
    char error[CURL_ERROR_SIZE];
    CURLcode result;
    long request_bytes; // sent; 0: the endpoint saw nothing
    bool flying;
    int64_t sent_us;
};

struct http; // opaque: the multi handle
// Watches its sockets there, each as its own number. ca_file: as in struct pump_opts.
struct http *http_new(int epoll, str ca_file);
void http_free(struct http *h);
// Starts an exchange; texts of `q` must live until it is done. False: the system has no room.
bool http_send(struct http *h, struct transfer *t, const struct http_request *q, int64_t timeout_ms,
               struct err *err);
void http_event(struct http *h, int socket, uint32_t events); // of the epoll set
// When libcurl wants to be called; -1: never. And calling it: false where it was not yet time.
int64_t http_due_ms(const struct http *h);
bool http_timer(struct http *h, int64_t now);
// The next finished exchange, its result and response filled in; NULL: none.
struct transfer *http_finished(struct http *h);
void http_abort(struct http *h, struct transfer *t); // nothing happens when it is not flying
void transfer_free(struct transfer *t);
// The exchange failed before any byte could be sent: no such host, nobody listens, no TLS.
bool transfer_is_unreachable(const struct transfer *t);
// What failed, in words for people.
str transfer_error(const struct transfer *t, struct arena *a);

// ---- engine processes ----

struct process { // a child with three streams of ours; pid 0: none
    pid_t pid;
    int in, out, err;
};
struct process_command {
    str path;
    const str *args;
    size_t n_args;
};
// Starts a child in a process group of its own, without the secrets of the environment; it ends
// when we end. ERR_RUN: the system has no room.
MUST_CHECK bool process_start(const struct process_command *command, struct process *out,
                              struct err *err);
// Waits so long for it to end by itself, else kills its group; reaps it, closes the streams, and
// tells how it ended, in `a`: "exit code 1".
str process_end(struct process *p, int64_t patience_ms, struct arena *a);

struct crew; // opaque: at most so many searching processes, of any engines
#define CREW_EVENT ((uint64_t)1 << 63) // set in the epoll data of its descriptors
struct crew *crew_new(int epoll, size_t max_busy);
void crew_free(struct crew *c); // ends its processes; NULL is fine
// Gives a question to a process. It and `a`, where the reply will lie, are kept until the answer is
// taken. False: all processes are at work.
bool crew_ask(struct crew *c, const struct engine_query *q, size_t slot, struct arena *a);
void crew_event(struct crew *c, uint64_t data, uint32_t events);
int64_t crew_due_ms(const struct crew *c); // of the nearest time-out; -1: none
void crew_timer(struct crew *c, int64_t now);
// An answer or a fault; its process has ended after a fault. `talk` (may be NULL) gets the
// conversation, valid until the next call. False: none is there.
bool crew_take(struct crew *c, size_t *slot, struct engine_reply *out, const struct talk **talk);
void crew_abort(struct crew *c, size_t slot); // ends the process that works for it, if any

// ---- slots ----

enum slot_state {
    SLOT_FREE,
    SLOT_WAITING, // its ask is to be sent when due
    SLOT_FLYING,
    SLOT_QUEUED, // its ask waits for an engine process
    SLOT_SEARCHING,
    SLOT_COMPUTING, // a candidate's child works for it
    SLOT_ASKED,     // a person has been asked
};
struct slot { // one living episode and its outstanding ask
    enum slot_state state;
    struct arena arena; // of the episode, its asks and answers; reset between jobs
    struct job job;
    size_t index; // of the job in its batch
    struct episode *episode;
    struct ask ask;
    int64_t n_asks;     // asked before the current one
    int64_t n_replayed; // of those, answered from the store
    str request_hash;
    struct http_request http;
    struct transfer transfer;
    struct position at;    // of an ask to an engine: where it searches
    struct cell *child;    // of the job's candidate; NULL: none is alive
    bool loading;          // it is being given its source
    int attempts;          // of the current ask
    int64_t asked_ms;      // when the current ask came up
    int64_t due_ms;        // of the next attempt
    int64_t reserved_nusd; // what the attempt in flight may cost
    size_t gate;           // of the current ask's endpoint
    int64_t tok;           // the most an attempt may take, where tokens are paced
    int64_t held_ms;       // since when the gate has held it up; 0: it has not
};

enum pump_stop { STOP_NOT, STOP_BUDGET, STOP_DAY, STOP_REFUSED, STOP_INTERRUPTED, STOP_LEFT };

struct pump {
    struct pump_opts opts;
    struct store *db;
    int epoll;
    struct http *http;
    struct crew *crew;
    int faults; // of engines since the last good answer of any
    struct slot *slots;
    size_t n_slots;
    struct rng jitter;
    struct gates *gates;
    const struct model *gated; // the model whose gate is known
    size_t gate;
    struct pump_stats stats;
    int64_t reserved_nusd; // of all attempts in flight
    int64_t flushed_ms, reported_ms;
    int64_t answered;            // HTTP responses of any kind; 0: the endpoint was never reached
    struct arena arena;          // of the pump
    const struct program *named; // the program whose hash is known
    str named_hash;
    enum pump_stop stop; // once set, nothing more is sent
    int64_t stop_ms;     // when the person asked for it
    struct err refusal;  // of STOP_REFUSED
    struct typed person;
    // of the current pump_run
    bool more; // jobs are left that have not been pulled
    int64_t batch;
    const struct feed *feed;
};

// Carries the slot's episode on with `in` until it waits for the endpoint or ends.
bool slot_advance(struct pump *p, struct slot *s, const struct answer *in, struct err *err);
// Starts the next attempt of a waiting slot when gate and money allow; it stays waiting otherwise,
// and `*at_ms` is when to try again (INT64_MAX: when something else has ended).
bool slot_send(struct pump *p, struct slot *s, int64_t *at_ms, struct err *err);
// Frees the slot; what was in flight is given up, and counted as perhaps billed.
bool slot_abort(struct pump *p, struct slot *s, struct err *err);
// Takes in a finished transfer: the answer, another attempt, or the end of the run.
bool slot_receive(struct pump *p, struct slot *s, struct err *err);

// ---- asks, whoever they are to ----

struct call_place slot_place(const struct pump *p, const struct slot *s);
// The stored call of the current ask: at its place in the run, or (with reuse) another run's good
// one under `reuse_key`. A stored ask that differs from this one is an error.
struct found_call {
    struct stored_call call; // call.found: there is one
    bool elsewhere;          // it is another run's: to be noted at its place in this one
};
bool slot_find_stored(struct pump *p, struct slot *s, str reuse_key, struct found_call *out,
                      struct err *err);
// Answers a new ask to an engine from the store, or queues it.
bool slot_open_search(struct pump *p, struct slot *s, struct engine_reply *out, bool *answered,
                      struct err *err);
void slot_search(struct pump *p, struct slot *s); // starts a queued one when a process is free
// Takes in all that engines have answered.
bool slots_receive_searches(struct pump *p, struct err *err);

// ---- candidates' children ----

#define CELL_EVENT ((uint64_t)1 << 62) // the epoll data of their sockets
// Answers a new ask to a candidate with its stored fault, or sets its child to work.
bool slot_open_call(struct pump *p, struct slot *s, struct harness_answer *out, bool *answered,
                    struct err *err);
bool slots_receive_calls(struct pump *p, struct err *err); // takes in all that they have answered
int64_t slots_calls_due_ms(const struct pump *p);          // of the nearest time-out; -1: none
void slot_end_child(struct slot *s);                       // at the end of the job

// ---- retry policy (endpoint specification, section 13) ----

// The server asks for a longer wait than a run sits through.
bool retry_is_far(const struct reply *r);

// Milliseconds to wait before attempt number `attempts` + 1 after `r`; -1: give up.
int64_t retry_delay_ms(const struct slot *s, const struct reply *r, int64_t elapsed_ms,
                       struct rng *jitter);

// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - the parts of the pump: transfers over libcurl and one epoll set.
#pragma once
#include <curl/curl.h>

#include "pump/pump.h"

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

struct http;                            // opaque: the multi handle and the epoll set
struct http *http_new(struct err *err); // NULL and ERR_RUN: no descriptor left
void http_free(struct http *h);
// Starts an exchange; texts of `q` must live until it is done. False: the system has no room.
bool http_send(struct http *h, struct transfer *t, const struct http_request *q, int64_t timeout_ms,
               struct err *err);
// Waits at most timeout_ms for anything to happen, or less when a signal arrives. False: nothing
// happened.
bool http_wait(struct http *h, int64_t timeout_ms);
// The next finished exchange, its result and response filled in; NULL: none.
struct transfer *http_finished(struct http *h);
void http_abort(struct http *h, struct transfer *t); // nothing happens when it is not flying
void transfer_free(struct transfer *t);
// The exchange failed before any byte could be sent: no such host, nobody listens, no TLS.
bool transfer_is_unreachable(const struct transfer *t);
// What failed, in words for people.
str transfer_error(const struct transfer *t, struct arena *a);

// ---- slots ----

enum slot_state {
    SLOT_FREE,
    SLOT_WAITING, // its ask is to be sent when due
    SLOT_FLYING,
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
    int attempts;          // of the current ask
    int64_t asked_ms;      // when the current ask came up
    int64_t due_ms;        // of the next attempt
    int64_t reserved_nusd; // what the attempt in flight may cost
};

enum pump_stop { STOP_NOT, STOP_BUDGET, STOP_REFUSED, STOP_INTERRUPTED };

struct pump {
    struct pump_opts opts;
    struct store *db;
    struct http *http;
    struct slot *slots;
    size_t n_slots;
    struct rng jitter;
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
    // of the current pump_run
    int64_t batch;
    const struct feed *feed;
};

// Carries the slot's episode on with `in` until it waits for the endpoint or ends.
bool slot_advance(struct pump *p, struct slot *s, const struct answer *in, struct err *err);
// Starts the next attempt of a waiting slot when money allows; it stays waiting otherwise.
bool slot_send(struct pump *p, struct slot *s, struct err *err);
// Frees the slot; what was in flight is given up, and counted as perhaps billed.
bool slot_abort(struct pump *p, struct slot *s, struct err *err);
// Takes in a finished transfer: the answer, another attempt, or the end of the run.
bool slot_receive(struct pump *p, struct slot *s, struct err *err);

// ---- retry policy (endpoint specification, section 13) ----

// The server asks for a longer wait than a run sits through.
bool retry_is_far(const struct reply *r);

// Milliseconds to wait before attempt number `attempts` + 1 after `r`; -1: give up.
int64_t retry_delay_ms(const struct slot *s, const struct reply *r, int64_t elapsed_ms,
                       struct rng *jitter);

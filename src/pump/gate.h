// SPDX-License-Identifier: GPL-3.0-or-later
// gate.h - how many calls an endpoint bears at once: permits that grow with success and shrink when
// it is overloaded, the pauses it asks for, pacing, and a breaker for one that is down. Endpoint
// specification, section 13. The memory may be shared by processes; the clock is the caller's.
#pragma once
#include "base/base.h"

struct gates; // opaque; made before fork(), used by the parent and its children

enum { GATES_MAX = 64 };
struct gates_opts {     // zero means the default in brackets
    int limit;          // most calls at once, for each endpoint and model [64]
    bool fixed;         // begin there, not at 4; an overload cuts it all the same
    int64_t rpm, tpm;   // requests and tokens a minute [no pacing]
    int64_t breaker_ms; // how long a breaker first stays open [30000]
};
// For n holders: processes, whose permits can be taken back. NULL and ERR_RUN: no memory.
struct gates *gates_new(const struct gates_opts *opts, size_t n, struct err *err);
void gates_free(struct gates *g); // NULL is fine
// The gate of an endpoint and model, made where it is new. All beyond GATES_MAX share the last one.
size_t gates_find(struct gates *g, str endpoint, str model);
void gates_forfeit(struct gates *g, size_t holder); // its process died: its permits are free

struct gate_ask { // of one attempt
    size_t gate, holder;
    int64_t now_ms;
    int64_t tok;   // the most it may take
    bool deferred; // a retry that may wait: refused where retries are over a fifth of all requests
};
enum gate_answer {
    GATE_OPEN,  // go; gate_leave must follow
    GATE_LATER, // not before *at_ms (INT64_MAX: when an attempt in flight has ended)
    GATE_DOWN,  // nothing has worked for a quarter of an hour
};
enum gate_answer gate_enter(struct gates *g, const struct gate_ask *ask, int64_t *at_ms);

enum gate_result {
    GATE_GOOD,       // an answer, good or bad: the endpoint works
    GATE_RATE_LIMIT, // too many requests
    GATE_OVERLOAD,   // it says that it is overloaded
    GATE_BROKEN,     // it failed: 5xx, cut off, timed out
    GATE_NO_CONNECTION,
    GATE_UNUSED, // not sent after all
};
struct gate_exit {
    size_t gate, holder;
    int64_t now_ms, sent_ms;
    enum gate_result result;
    bool retry;            // it was not the first attempt
    int64_t pause_ms;      // the endpoint has no room left for so long; 0: it has
    int64_t tok, used_tok; // as asked for, and what it took (0: unknown)
    double jitter;         // in [0, 1), spreads the breakers of programs started together
};
struct gate_state {
    double limit;
    int flying;
    int64_t open_ms; // how long its breaker is still open
    int64_t
        opened_ms; // of gate_leave: how long the breaker that this attempt opened stays so; or 0
};
// Ends an attempt, and tells how the gate is after it.
struct gate_state gate_leave(struct gates *g, const struct gate_exit *e);
struct gate_state gate_look(struct gates *g, size_t gate, int64_t now_ms);

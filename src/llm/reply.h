// SPDX-License-Identifier: GPL-3.0-or-later
// reply.h - what came back from a model, with its class, usage and cost.
#pragma once
#include "base/base.h"

// ---- a reply ----

enum reply_class { // endpoint specification section 12; the order is stored nowhere, names are
    REPLY_OK,
    REPLY_TRUNCATED, // scored, as all up to REPLY_EMPTY
    REPLY_REFUSED,
    REPLY_EMPTY,            // scored
    REPLY_FILTERED,         // unscored, shown
    REPLY_CONTEXT_OVERFLOW, // unscored, shown
    REPLY_CONFIG,           // our request or settings are wrong: stops the run
    REPLY_ACCOUNT,          // key, permission, money: stops the run
    REPLY_RATE_LIMIT,       // from here on: retried
    REPLY_OVERLOAD,
    REPLY_UPSTREAM,
    REPLY_PROTOCOL,
    REPLY_TRANSPORT,
    REPLY_TIMEOUT,
    REPLY_CANCELLED, // unscored
};
bool reply_is_scored(enum reply_class c);
bool reply_is_retried(enum reply_class c);
str reply_class_name(enum reply_class c); // "ok", "truncated", ... "cancelled"
MUST_CHECK bool reply_class_parse(str name, enum reply_class *out);

enum finish {
    FINISH_UNKNOWN, // also: absent
    FINISH_STOP,
    FINISH_LENGTH,
    FINISH_FILTERED,
    FINISH_REFUSED,
    FINISH_TOOL,
    FINISH_ERROR
};
enum known { KNOWN_NOT, KNOWN_REPORTED, KNOWN_PRICED, KNOWN_ESTIMATED }; // where a figure is from
str known_name(enum known k); // "unknown", "reported", "priced", "estimated"
struct usage {
    enum known source; // reported or estimated
    int64_t input_tok, cached_tok, cache_write_tok, output_tok, reasoning_tok;
};
struct reply {
    enum reply_class class;
    str text, reasoning; // the answer, and thoughts kept apart (think tags stripped)
    str details;         // JSON of an answer that says more than its text: the shares of a decision
    enum finish finish;
    str native_finish, served_model, served_provider, request_id, fingerprint;
    struct usage usage;
    int64_t cost_nusd; // of this attempt
    enum known cost_source;
    int http_status, attempts; // status of the last attempt, 0: none or in process
    int64_t latency_ms;        // of the last attempt
    int64_t waited_ms;         // before it: failed attempts, and the pauses behind them
    int64_t retry_after_ms;    // the server's hint, -1: none
    bool no_retry, simulated;  // x-should-retry: false; no real model spoke
    str error;                 // a sentence without secrets, for classes that are not ok
    str note;                  // what was odd and was mended: a lone surrogate, impossible counts
};
bool reply_may_retry(const struct reply *r); // the class is retried and the server allows it
// A reply as JSON, and back (texts in `a`): absent members are zero, unknown ones ERR_INPUT.
str reply_to_json(const struct reply *r, struct arena *a);
MUST_CHECK bool reply_from_json(str text, struct arena *a, struct reply *out, struct err *err);

// SPDX-License-Identifier: GPL-3.0-or-later
// calls.h - calls to a candidate and what comes of them, in memory that the program and the child
// share: a call costs then two switches of process and little else. The child may write there
// whatever it likes, at any time: results are copied first, and nothing in them is believed.
#pragma once
#include <stdatomic.h>

#include "harness/harness.h"

enum call_bell { BELL_NONE, BELL_FUTEX, BELL_SOCKET }; // how the program wants to be woken
enum said_kind { SAID_TEXT, SAID_SAME, SAID_TRUE, SAID_FALSE, SAID_JSON }; // JSON: frame_read's
enum { CALL_SAID_MAX = 2 }; // results of one request: of a parser, and the legality behind it
struct call_area {
    _Atomic uint32_t asked;    // number of the latest request; a child sleeps until it changes
    _Atomic uint32_t answered; // number of the latest one that is done
    _Atomic uint32_t bell;     // enum call_bell
    _Atomic uint32_t n_said;   // results that are there, even if the child dies before the rest
    uint32_t on_socket;        // the request is a frame on the socket
    uint32_t request_len;
    struct {
        _Atomic uint32_t kind, len; // loaded once each: the child may change them meanwhile
    } said[CALL_SAID_MAX];
    char request[HARNESS_REQUEST_MAX_BYTES];
    char reply[CALL_SAID_MAX][HARNESS_REPLY_MAX_BYTES];
};

// Writes a call as a request. False: it is over HARNESS_REQUEST_MAX_BYTES.
MUST_CHECK bool call_write(const struct harness_call *call, char *room, size_t max, uint32_t *len);
// The same in `a`, for a hash; of whatever size.
str call_bytes(const struct harness_call *call, struct arena *a);
// Reads it; texts are views of the request. False: it is none.
MUST_CHECK bool call_read(str request, struct harness_call *out);
// What is said about `call` under this number so far; `out->told` is false where nothing is. False:
// the child broke the protocol. `whole`: it claims to be done, so all that belongs there must be.
MUST_CHECK bool call_results_read(const struct call_area *area, const struct harness_call *call,
                                  bool whole, struct arena *a, struct harness_result *out);

// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - what the files of module simulate share: faults, and the OpenAI wire format seen
// from the endpoint.
#pragma once
#include "simulate/simulate.h"

// ---- faults.c ----

enum fault {
    FAULT_NONE_DRAWN,
    FAULT_429,
    FAULT_429RA,
    FAULT_500,
    FAULT_503,
    FAULT_BODY502,
    FAULT_CUT,
    FAULT_RESET,
    FAULT_STALL,
    FAULT_SLOW,
    FAULT_HTML,
    FAULT_EMPTY,
    FAULT_BADUTF8,
    FAULT_GZIP,
    FAULT_KINDS,
};
struct fault_plan {
    double chance[FAULT_KINDS];
    uint64_t seed;
};
extern const char *const fault_names[FAULT_KINDS]; // "429", ...; the first is "ok"

MUST_CHECK bool fault_plan_parse(str spec, struct fault_plan *out, struct err *err);
// What happens to the request of this number, and `detail`, a number for whatever the fault leaves
// open. The same plan and number always give the same.
enum fault fault_draw(const struct fault_plan *plan, uint64_t number, uint64_t *detail);
// Turns the true reply into what the fault makes of it.
void fault_apply(enum fault f, uint64_t detail, struct arena *a, struct serve_reply *out);

// ---- wire.c ----

// One chat completion asked for. False: `out` is the error reply.
struct completion {
    str model;
    const struct persona *persona;
    struct model_request request;
    int64_t n; // choices
};
MUST_CHECK bool wire_parse(str body, struct arena *a, struct completion *q,
                           struct serve_reply *out);
void wire_reply(const struct completion *q, const struct reply *choices, struct arena *a,
                struct serve_reply *out);
void wire_models(struct arena *a, struct serve_reply *out);
// An error object as OpenAI writes it.
struct wire_error {
    int status;
    str message, type, param, code; // param and code: empty for null
};
void wire_error(const struct wire_error *e, struct arena *a, struct serve_reply *out);

// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - what the files of module simulate share: faults, and the OpenAI wire format seen
// from the endpoint.
#pragma once
#include "simulate/simulate.h"

// ---- faults.c ----

enum fault {
    SIM_FAULT_NONE,
    SIM_FAULT_429,
    SIM_FAULT_429RA,
    SIM_FAULT_500,
    SIM_FAULT_503,
    SIM_FAULT_BODY502,
    SIM_FAULT_CUT,
    SIM_FAULT_RESET,
    SIM_FAULT_STALL,
    SIM_FAULT_SLOW,
    SIM_FAULT_HTML,
    SIM_FAULT_EMPTY,
    SIM_FAULT_BADUTF8,
    SIM_FAULT_GZIP,
    SIM_FAULT_KINDS,
};
struct fault_plan {
    double chance[SIM_FAULT_KINDS];
    uint64_t seed;
};
extern const char *const fault_names[SIM_FAULT_KINDS]; // "429", ...; the first is "ok"

MUST_CHECK bool fault_plan_parse(str spec, struct fault_plan *out, struct err *err);
// What happens to the request of this number, and `detail`, a number for whatever the fault leaves
// open. The same plan and number always give the same.
enum fault fault_draw(const struct fault_plan *plan, uint64_t number, uint64_t *detail);
// Turns the true reply into what the fault makes of it.
void fault_apply(enum fault f, uint64_t detail, struct arena *a, struct serve_reply *out);

// ---- wire.c ----

// One chat completion asked for. False: `out` is the error reply.
struct completion {
    const struct sim_data *data; // set by the caller
    str model;
    const struct persona *persona;
    struct model_request request;
    int64_t n; // choices
};
MUST_CHECK bool wire_parse(str body, struct arena *a, struct completion *q,
                           struct serve_reply *out);
void wire_reply(const struct completion *q, const struct reply *choices, struct arena *a,
                struct serve_reply *out);
void wire_models(const struct sim_data *data, struct arena *a, struct serve_reply *out);
// An error object as OpenAI writes it.
struct wire_error {
    int status;
    str message, type, param, code; // param and code: empty for null
};
void wire_error(const struct wire_error *e, struct arena *a, struct serve_reply *out);

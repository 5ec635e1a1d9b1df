// SPDX-License-Identifier: GPL-3.0-or-later
// simulate.h - an endpoint of simulated models: the wire formats of OpenAI, Azure, Anthropic,
// Gemini, Ollama and the decision endpoint over `sim`, with faults on request. The handler of a
// server (decisions section 6).
#pragma once
#include "serve/serve.h"
#include "sim/sim.h"

struct simulator; // opaque
struct simulate_opts {
    str faults;         // "429:0.1,reset:0.02,seed=7"; empty: none
    int64_t latency_ms; // -1: as the persona models it; else this
    str require_key;    // empty: any or none; else 401 on any other
};
// Unknown kinds, probabilities outside 0..1 or above 1 together: ERR_USAGE with the known kinds.
MUST_CHECK bool simulator_new(const struct simulate_opts *opts, struct simulator **out,
                              struct err *err);
void simulator_free(struct simulator *s);
// For serve_opts.handler; context is the simulator. Paths: those of the formats (wire.c),
// /v1/models, /stats.
void simulator_handle(void *context, const struct serve_request *in, struct arena *a,
                      struct serve_reply *out);

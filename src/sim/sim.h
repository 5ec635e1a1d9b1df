// SPDX-License-Identifier: GPL-3.0-or-later
// sim.h - simulated models (design section 4): they see only the messages, and play better or
// worse by features of the prompt. Deterministic: same request and sample, same reply.
#pragma once
#include "llm/llm.h"

extern const struct provider provider_sim; // models "sim/NAME", in process

struct persona; // opaque
struct personas {
    const struct persona *const *v;
    size_t n;
};
struct personas sim_personas(void);
const struct persona *sim_persona(str name); // "responsive"; NULL: none
str sim_persona_name(const struct persona *p);
str sim_persona_summary(const struct persona *p); // one line for people

// The answer of a persona to a chat; latency is modelled in out->latency_ms, tokens in out->usage.
void sim_answer(const struct persona *p, const struct model_request *q, struct arena *a,
                struct reply *out);
// What a persona sees in a program, for `simulate --explain`: a text for people with each feature
// found and the expected accuracy.
str sim_explain(const struct persona *p, const struct program *program, struct arena *a);

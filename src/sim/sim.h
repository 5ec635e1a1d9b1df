// SPDX-License-Identifier: GPL-3.0-or-later
// sim.h - simulated models (design section 4): they see only the messages, and play better or
// worse by features of the prompt. Deterministic: same request and sample, same reply.
#pragma once
#include "llm/llm.h"

// Models "sim/NAME", and "sim/FILE.json:NAME" for personas of a file, in process.
extern const struct provider provider_sim;

struct sim_data; // a file of personas; opaque, as each of them
struct persona;
enum { SIM_DATA_MAX_BYTES = 1 << 20 };
// The personas that the program carries (data/personas.json), in `a`.
const struct sim_data *sim_data_builtin(struct arena *a);
// Reads another such file; faults are ERR_INPUT and begin with `name`.
MUST_CHECK bool sim_data_parse(str name, str text, struct arena *a, const struct sim_data **out,
                               struct err *err);
size_t sim_persona_count(const struct sim_data *data);
const struct persona *sim_persona_at(const struct sim_data *data, size_t i);
const struct persona *sim_persona(const struct sim_data *data, str name); // NULL: none
str sim_persona_name(const struct persona *p);
str sim_persona_summary(const struct persona *p); // one line for people

// The answer of a persona to a chat; latency is modelled in out->latency_ms, tokens in out->usage.
void sim_answer(const struct persona *p, const struct model_request *q, struct arena *a,
                struct reply *out);
// What a persona sees in a program, for `simulate --explain`: a text for people with each feature
// found and the expected accuracy.
str sim_explain(const struct persona *p, const struct program *program, struct arena *a);
// The expected accuracy, 0..1, that sim_explain prints.
double sim_expected(const struct persona *p, const struct program *program);
// The best program known without demonstrations: the base instruction with sentences of the file's
// advice, taken greedily by expected accuracy. In `a`.
const struct program *sim_best_program(const struct persona *p, struct arena *a);
// The sentences that sim/meta may advise to this persona.
size_t sim_advice_count(const struct persona *p);
str sim_advice(const struct persona *p, size_t i);

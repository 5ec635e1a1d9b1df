// SPDX-License-Identifier: GPL-3.0-or-later
// audit_run.h - the running part of the audit: probes, and calls of one candidate in cells.
#pragma once
#include "sandbox/internal.h"

struct audit_probe {
    struct position at;
    str raw; // observation
    struct audit_rows rows;
    str last_reply;
    int64_t turn_count;
};
size_t audit_probe_count(void);
struct audit_probe audit_probe(size_t i, struct arena *a); // texts in `a`

struct audit_run { // one candidate
    struct sandbox *sandbox;
    str source;
    const struct harness_contract *contract;
    struct arena *a;
    struct violations *out;
    struct cell *cell; // NULL: to be loaded
    bool by_san;       // its parser resolves SAN
    int64_t faults;
    str shape, frame; // digests of the text, see struct examination
};
// Calls a function in the run's cell. False: it raised, died or was too slow.
bool audit_call(struct audit_run *run, const struct harness_call *call, struct harness_result *r);
// format_observation of the probe, or of a variant of it; without one, or where it fails: the text.
str audit_format(struct audit_run *run, const struct audit_probe *p, str observation);
// What the candidate makes of a response, normalised; `*said` is the text itself.
str audit_parse(struct audit_run *run, str response, str *said);
void audit_run_find(struct audit_run *run, const char *rule, enum level level, str message);
// R02 to R05: the parser. The rest of the rules: the other functions.
void audit_parser(struct audit_run *run, const struct audit_probe *probes, size_t n);

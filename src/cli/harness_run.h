// SPDX-License-Identifier: GPL-3.0-or-later
// harness_run.h - what the commands that roll harnesses out share: options, puzzles, candidates.
#pragma once
#include "cli/run.h"
#include "evolve/evolve.h"

extern const struct opt opts_rollout[];

struct harness_run { // of one command, beside its run
    struct run *run;
    struct eval_setup setup;
    struct audit_index index; // of the puzzle file, for the audit
};
// Configuration, model, puzzles, sandbox: all before the run begins. `role`: what the puzzles are
// for; a test set needs --final, and a search may not have one at all.
enum puzzles_role { PUZZLES_FOR_SCORE, PUZZLES_FOR_SEARCH };
MUST_CHECK bool harness_run_setup(struct harness_run *h, enum puzzles_role role);
// Hashes of what the puzzle file holds, for the audit.
void harness_index(struct harness_run *h);
// All that changes results beside model and data, for the run's key.
str harness_run_key(const struct harness_run *h);
// Examined and audited; `parent` empty: none. False: the sandbox failed.
MUST_CHECK bool harness_judge(struct harness_run *h, str source, str parent,
                              struct examination *out);
// The candidate of a source that was let pass, in the run's arena.
struct candidate *harness_candidate(struct harness_run *h, str source, const struct examination *e);
// One line on what is wrong: "S60 1: missing function".
str harness_fault_line(const struct examination *e, struct arena *a);
// "h3" of "run/harnesses/h3/harness.py", "mine" of "mine.py".
str harness_name_of(str path, struct arena *a);
// A table line: success with its interval, calls, tokens.
void harness_report_line(str name, const struct eval_result *r, struct buf *out);

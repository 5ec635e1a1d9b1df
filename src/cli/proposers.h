// SPDX-License-Identifier: GPL-3.0-or-later
// proposers.h - the kinds of proposers that need files or other programs (5.7 of the Meta-Harness
// specification). What they propose is stored, so that a replay asks nobody.
#pragma once
#include "cli/harness_run.h"

struct proposers { // ctx of all of them
    struct run *run;
    str directory;        // scripted: hN.py or hN/harness.py, and hN.json beside it
    str command;          // command: program and arguments, separated by blanks
    int64_t timeout_s;    // of the command
    int64_t retry_wait_s; // after a failure that may pass
    str env;              // names of variables it may see, separated by commas
    bool eval_only;       // manual: does not wait
};
// The three kinds, as struct proposer wants them.
bool scripted_propose(void *ctx, const struct proposal_request *q, struct proposals *out,
                      struct err *err);
bool command_propose(void *ctx, const struct proposal_request *q, struct proposals *out,
                     struct err *err);
bool manual_propose(void *ctx, const struct proposal_request *q, struct proposals *out,
                    struct err *err);
// SHA-256 over the files that a scripted proposer may take, for the run's key.
str scripted_hash(const struct proposers *p);

// Runs the command, whatever is stored.
MUST_CHECK bool command_propose_now(const struct proposers *p, const struct proposal_request *q,
                                    struct proposals *out, struct err *err);
// The slot files and pending_eval.json below `dir`; what is no regular file is an empty candidate.
void take_files(const struct proposers *p, const struct proposal_request *q, str dir,
                struct proposals *out);
// The proposal for a slot, made (axis "recovered") where it is missing.
struct proposal *proposals_entry(struct proposals *p, str slot, struct arena *a);

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
bool scripted_propose(void *ctx, const struct proposal_request *q, struct proposals *out,
                      struct err *err);
// SHA-256 over the files that a scripted proposer may take, for the run's key.
str scripted_hash(const struct proposers *p);

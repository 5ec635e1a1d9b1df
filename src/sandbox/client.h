// SPDX-License-Identifier: GPL-3.0-or-later
// client.h - what a cell asks of its sandbox.
#pragma once
#include "sandbox/internal.h"

struct fork {  // a child as its sandbox hands it over
    pid_t pid; // not reaped before sandbox_reap, so the number stays its own
    int socket, pidfd;
    struct call_area *area; // mapped here
};
// Has the template fork a child.
MUST_CHECK bool sandbox_fork(struct sandbox *s, struct fork *out, struct err *err);
// Waits for the end of a child that has been killed or has closed its socket; the status of
// waitpid.
int sandbox_reap(struct sandbox *s, pid_t pid);

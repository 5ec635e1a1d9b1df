// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - the two sides of the template's control socket, and the parts of a child.
#pragma once
#include <stdnoreturn.h>
#include <sys/types.h>

#include "sandbox/sandbox.h"

#define TEMPLATE_WORD "sandbox-template" // argv[1] of a template
#define RAW_WORD "raw"                   // argv[2] of one that loads without protection
enum { CONTROL_FD = 3, CHILD_FD = 3 };

enum order_kind { ORDER_FORK, ORDER_REAP };
struct order { // to the template, one datagram
    enum order_kind kind;
    pid_t pid; // ORDER_REAP
};
// Of ORDER_FORK with these descriptors; the last is the memory of its calls (harness/calls.h).
enum { REPORT_SOCKET, REPORT_PIDFD, REPORT_AREA, REPORT_FDS };
struct report { // from the template
    pid_t pid;
    int status; // of ORDER_REAP, as waitpid gives it
    int error;  // errno, 0: done
};
struct hello { // the template's first datagram
    struct sandbox_layers layers;
    char failure[200]; // empty: it is ready
    char python[16];
};

// The verdict that the findings make; sorts them.
void examination_judge(struct examination *e);

// ---- in the template ----

extern const unsigned char sandbox_check_data[], sandbox_audit_data[], sandbox_run_data[],
    sandbox_h0_data[];
extern const size_t sandbox_check_size, sandbox_audit_size, sandbox_run_size, sandbox_h0_size;

// Starts Python and warms it up. False: `failure` says why.
bool python_start(bool raw, unsigned long hash_seed, char *failure, size_t size);
const char *python_version_text(void);
pid_t python_fork(void); // fork(), with what Python needs around it
// One request to its reply (malloc, the caller's), behind room for a head. False: the candidate
// ended itself.
bool python_handle(const char *request, size_t len, char **reply, size_t *reply_len);
// The call that lies in `area`, and the one behind it where it judges. False: likewise, or the
// request is none.
bool python_call(struct call_area *area);

// What is made once, so that locking a child is a handful of system calls.
bool lock_prepare(struct sandbox_layers *layers, char *failure, size_t size);
// Locks this child for good; its socket becomes CHILD_FD. Ends it where a layer cannot be had.
void lock_child(int socket, pid_t template);
enum { EXIT_NOT_LOCKED = 71, EXIT_CANDIDATE = 72, EXIT_STREAM = 73, EXIT_MEMORY = 74 };

noreturn void template_run(int control, const struct hello *hello);
noreturn void child_run(int socket, pid_t template, struct call_area *area);

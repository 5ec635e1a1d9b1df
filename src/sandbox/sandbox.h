// SPDX-License-Identifier: GPL-3.0-or-later
// sandbox.h - candidate harness.py files run here: one template process, exec'ed from our own
// program, in which Python is warm; cells forked from it, each for one candidate and one rollout.
// A cell can compute, and talk to us over one socket; nothing else (Meta-Harness specification 3).
#pragma once
#include "harness/harness.h"

// To be called first in main(): where this process is to be a template, it never returns.
void sandbox_become_template(int argc, char **argv);

struct sandbox_opts { // zero: all defaults
    bool raw;         // tests only: a request may load a source without the inner layers
    int hash_seed;    // of Python's hashes [0]
};
struct sandbox_layers { // what holds beside the limits and seccomp, without which there is no cell
    int landlock_abi;   // 0: the kernel has none
    bool namespaces;    // own, empty network and IPC
    bool other_user;    // the program runs as root, cells do not
};
struct sandbox; // opaque: the template, and its control socket
// Starts a template. ERR_RUN says what the system lacks.
MUST_CHECK bool sandbox_new(const struct sandbox_opts *opts, struct sandbox **out, struct err *err);
void sandbox_free(struct sandbox *s); // after its cells; NULL is fine
const struct sandbox_layers *sandbox_layers(const struct sandbox *s);
str sandbox_python(const struct sandbox *s); // "3.11.2"

enum cell_state {
    CELL_IDLE,     // waits for a request
    CELL_BUSY,     // works
    CELL_ANSWERED, // only from cell_step: the result is there, the cell is idle again
    CELL_FAULT,    // it is gone: see cell_end
};
enum cell_end {
    CELL_ENDED_NOT,
    CELL_EXIT,
    CELL_SIGNAL,   // SIGSYS: a forbidden system call; SIGXCPU: its life's CPU time
    CELL_DEADLINE, // CPU time of one request
    CELL_WALL,     // the backstop: the machine was too busy to tell; never the candidate's fault
    CELL_PROTOCOL,
};
enum { CALL_CPU_MS = 500, LOAD_CPU_MS = 2000, CELL_WALL_MS = 10000, CELL_CPU_S = 10 };

struct cell; // opaque: a child
// A fresh child, idle. ERR_RUN: the system has no room, or the template died.
MUST_CHECK bool cell_new(struct sandbox *s, struct cell **out, struct err *err);
void cell_free(struct cell *c); // ends it; NULL is fine
// Its socket, for an epoll set; -1 once it is gone.
int cell_fd(const struct cell *c);
int64_t cell_next_id(struct cell *c); // for the next request
// Begins a request (a frame with that id, kept until it is answered) that may take so much CPU
// time.
void cell_send(struct cell *c, str frame, int64_t cpu_ms);
// Begins a call; its texts are kept until it is answered. Where it judges and the child dies over
// the legality, cell_step still fills the result of the parser (`told`).
void cell_call(struct cell *c, const struct harness_call *call);
// Carries a busy cell on, without waiting; to be called on events and when due.
enum cell_state cell_step(struct cell *c, struct arena *a, struct harness_result *out);
// When to call it at the latest, monotonic; -1: not busy. To be asked before sleeping on cell_fd,
// which only then becomes readable when a call is answered.
int64_t cell_due_ms(struct cell *c);
// The same, waiting.
enum cell_state cell_wait(struct cell *c, struct arena *a, struct harness_result *out);
enum cell_end cell_end(const struct cell *c);
// How it ended, for logs: "exit:71", "signal:31", "deadline", "wall", "protocol".
str cell_end_text(const struct cell *c, struct arena *a);

// ---- candidates ----

// The source of a candidate, in `a`: a file (links are not followed), or "builtin:h0", the
// baseline.
MUST_CHECK bool candidate_read(str path, struct arena *a, str *out, struct err *err);

enum verdict { VERDICT_PASS, VERDICT_QUARANTINE, VERDICT_REJECT };
struct examination { // of a candidate's source
    enum verdict verdict;
    struct violations findings;       // warnings too; sorted by line, column, rule
    struct harness_contract contract; // where it was loaded
    bool unscored;                    // the machine was too busy to tell (CELL_WALL)
    // From the audit: digests of the source's tree without docstrings and positions, and of the
    // same without the two prompts. Empty: it was not audited.
    str shape, frame;
};
// Checks a source in one cell and loads it in another. False: the sandbox itself failed.
MUST_CHECK bool sandbox_examine(struct sandbox *s, str source, struct arena *a,
                                struct examination *out, struct err *err);
struct audit_opts {
    str source;                      // of the candidate
    str parent;                      // of the one it was made from [none]
    const struct audit_index *index; // of the data set [NULL: none]
};
// Audits what sandbox_examine has let pass, its text and its behaviour; adds to the findings and
// sets the verdict anew. False: the sandbox itself failed.
MUST_CHECK bool sandbox_audit(struct sandbox *s, const struct audit_opts *opts, struct arena *a,
                              struct examination *io, struct err *err);
// A cell with the source loaded. False: ERR_RUN, or ERR_INPUT where loading failed.
MUST_CHECK bool sandbox_load(struct sandbox *s, str source, struct arena *a, struct cell **out,
                             struct err *err);

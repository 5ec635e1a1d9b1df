// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - an episode of an environment. All of it happens on the server's one thread.
#pragma once
#include "env/env.h"

enum seat_state {
    SEAT_FREE,
    SEAT_WORKING, // its child works; a request waits for the outcome
    SEAT_POLICY,  // whoever trains is to answer
    SEAT_DONE,    // told; closed by the next who asks, or by the next who needs the place
};
struct seat { // a place for one episode
    struct env *env;
    enum seat_state state;
    uint64_t serial; // of the episodes that sat here, so that an old name finds nothing
    struct arena arena;
    struct job job;
    struct model model; // none: the job must name one
    struct rollout_input input;
    struct episode *episode;
    struct cell *cell; // NULL: to be started
    bool loading;
    struct ask ask;
    struct rollout_event verdict; // the latest one
    bool failed;                  // nothing was judged: the sandbox or the machine
    struct exchange *ticket;      // who waits; NULL: the answer is given at once
    int64_t used_ms;
};
struct env {
    struct env_opts opts;
    struct seat *seats;
    size_t n_open, n_working, next; // next: puzzle of a reset that names none
    uint64_t n_resets, n_steps;
    int epoll;
    int64_t swept_ms;
};

// ---- turn.c ----

// Begins an episode of puzzle `index`.
void seat_begin(struct seat *s, size_t index);
// Goes on, with the policy's reply or (NULL) at the start, until the policy is to answer, the
// episode is done, or its child works.
void seat_step(struct seat *s, const struct reply *reply);
void seat_look(struct seat *s); // at a child at work
void seat_clear(struct seat *s);

// ---- wire.c ----

str seat_name(const struct seat *s, struct arena *a);
struct seat *seat_find(struct env *e, str name); // NULL: no such episode
// What a reset or a step has come to.
void seat_reply(const struct seat *s, struct arena *a, struct serve_reply *out);
void refuse(int status, str why, struct arena *a, struct serve_reply *out);
// The reply in a step's body; its texts live as long as the body. False: `why` tells.
bool read_policy(const json_t *in, struct reply *out, str *why);

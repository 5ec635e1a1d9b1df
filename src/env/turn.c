// SPDX-License-Identifier: GPL-3.0-or-later
// turn.c - one episode between two requests: what it asks of the candidate goes to its own locked
// child and is awaited through the env's epoll set; what it asks of the policy goes out.
#include <sys/epoll.h>

#include "env/internal.h"

void seat_clear(struct seat *s)
{
    cell_free(s->cell);
    arena_free(&s->arena);
    s->env->n_working -= s->state == SEAT_WORKING;
    s->env->n_open -= s->state != SEAT_FREE;
    *s = (struct seat){ .env = s->env, .serial = s->serial };
}

void seat_begin(struct seat *s, size_t index)
{
    const struct env_opts *o = &s->env->opts;
    s->serial++;
    s->env->n_open++;
    s->state = SEAT_POLICY;
    s->input = (struct rollout_input){ o->rollout, o->candidate,
                                       rollout_puzzle(&o->puzzles[index], &s->arena), index };
    s->job = (struct job){ .kind = &episode_rollout,
                           .input = &s->input,
                           .input_id = o->puzzles[index].id,
                           .model = &s->model };
    s->episode = episode_new(&s->job, &s->arena);
    seat_step(s, NULL);
}

static void fail(struct seat *s)
{
    cell_free(s->cell);
    s->cell = NULL;
    s->failed = true;
    s->state = SEAT_DONE;
}

// ---- the candidate ----

static bool start_child(struct seat *s)
{
    const struct candidate *c = s->ask.harness.candidate;
    struct epoll_event watch = { .events = EPOLLIN | EPOLLET, .data.ptr = s };
    if (!cell_new(s->env->opts.sandbox, &s->cell, NULL) ||
        epoll_ctl(s->env->epoll, EPOLL_CTL_ADD, cell_fd(s->cell), &watch) != 0)
        return false;
    s->loading = true;
    str frame = frame_load(cell_next_id(s->cell), c->source, c->contract.code, &s->arena);
    cell_send(s->cell, frame, LOAD_CPU_MS);
    return true;
}

static void ask_child(struct seat *s)
{
    if (s->cell)
        cell_call(s->cell, &s->ask.harness.call);
    else if (!start_child(s))
        fail(s);
}

// ---- going on ----

static void note_verdict(struct seat *s, const struct rollout_record *r)
{
    for (size_t i = r->events.n; i-- > 0;)
        if (r->events.v[i].actor == ACTOR_VERIFIER) {
            s->verdict = r->events.v[i];
            return;
        }
}

static void go_on(struct seat *s, const struct answer *in)
{
    enum step step = s->job.kind->step(s->episode, in, &s->ask);
    note_verdict(s, rollout_so_far(s->episode));
    if (step == STEP_DONE) {
        s->state = SEAT_DONE;
        s->failed = s->episode->outcome.status == OUTCOME_FAILED;
        cell_free(s->cell);
        s->cell = NULL;
    } else if (s->ask.to == TO_HARNESS) {
        s->state = SEAT_WORKING;
        ask_child(s);
    } else {
        s->state = SEAT_POLICY;
    }
}

// Counts who works, whatever a step comes to.
static void go_on_counted(struct seat *s, const struct answer *in)
{
    s->env->n_working -= s->state == SEAT_WORKING;
    go_on(s, in);
    s->env->n_working += s->state == SEAT_WORKING;
}

void seat_step(struct seat *s, const struct reply *reply)
{
    struct answer in = { 0 };
    if (reply)
        in.model = *reply;
    go_on_counted(s, reply ? &in : NULL);
}

void seat_look(struct seat *s)
{
    struct answer in = { .harness.ending = HARNESS_ANSWERED };
    switch (cell_step(s->cell, &s->arena, &in.harness.result)) {
    case CELL_IDLE:
    case CELL_BUSY: return;
    case CELL_ANSWERED:
        if (s->loading && in.harness.result.ok) {
            s->loading = false;
            ask_child(s);
            return;
        }
        break;
    case CELL_FAULT:
        in.harness.ending = cell_end(s->cell) == CELL_WALL ? HARNESS_BUSY : HARNESS_DIED;
        in.harness.how = cell_end_text(s->cell, &s->arena);
        cell_free(s->cell);
        s->cell = NULL;
        break;
    }
    if (s->loading && s->cell) { // it had been loaded once, and cannot be again
        s->env->n_working--;
        fail(s);
        return;
    }
    s->loading = false;
    go_on_counted(s, &in);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// cell.c - one child and its requests. Time is measured from outside: one C call inside Python (a
// huge power, a regular expression) cannot be interrupted from within. The verdict goes by the
// child's CPU time, so that a busy machine does not decide; wall time is only a backstop.
//
// Sources travel as frames on the socket, calls through shared memory: then the socket only wakes
// us, or tells of the child's end. Reading a child's clock is a system call, dear beside a call, so
// in a series of short calls their wall time stands in for it, which is never less.
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/client.h"

struct cell {
    struct sandbox *owner;
    struct fork child;
    clockid_t clock; // of its CPU time
    enum cell_state state;
    enum cell_end end;
    int status;
    int64_t id; // of the latest request
    str frame;  // what of the request is still to be sent
    int64_t cpu_limit_ms, due_ms, wall_ms;
    bool calls;               // the request is `call`, number `number` in the area
    struct harness_call call; // texts of who asks
    uint32_t number;
    int64_t begun_us, seen_ms, since_us; // its CPU time as last read; wall time of calls since
    char *in;                            // the reply so far
    size_t n_in, cap_in;
};

bool cell_new(struct sandbox *s, struct cell **out, struct err *err)
{
    struct fork child;
    *out = NULL;
    if (!sandbox_fork(s, &child, err))
        return false;
    struct cell *c = mem_must(calloc(1, sizeof *c));
    c->owner = s;
    c->child = child;
    if (clock_getcpuclockid(child.pid, &c->clock) != 0) {
        cell_free(c);
        return err_set(err, ERR_RUN, "sandbox: the CPU time of a child cannot be read");
    }
    *out = c;
    return true;
}

static int64_t cpu_ms(const struct cell *c)
{
    struct timespec t;
    if (clock_gettime(c->clock, &t) != 0)
        return 0; // it has just ended; its socket tells
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static enum cell_state finish(struct cell *c, enum cell_end why)
{
    pidfd_send_signal(c->child.pidfd, SIGKILL, NULL, 0);
    close(c->child.socket);
    munmap(c->child.area, sizeof *c->child.area);
    c->status = sandbox_reap(c->owner, c->child.pid);
    close(c->child.pidfd);
    c->child = (struct fork){ .socket = -1, .pidfd = -1 };
    c->end = why;
    return c->state = CELL_FAULT;
}

// It closed its socket: how did it end? A child that lives on without one is killed, and has broken
// the protocol.
static enum cell_state hung_up(struct cell *c)
{
    struct pollfd end = { .fd = c->child.pidfd, .events = POLLIN };
    bool over = poll(&end, 1, 200) == 1;
    finish(c, CELL_PROTOCOL);
    if (over)
        c->end = WIFSIGNALED(c->status) ? CELL_SIGNAL : CELL_EXIT;
    return c->state;
}

void cell_free(struct cell *c)
{
    if (!c)
        return;
    if (c->state != CELL_FAULT)
        finish(c, CELL_ENDED_NOT);
    free(c->in);
    free(c);
}

int cell_fd(const struct cell *c)
{
    return c->child.socket;
}

int64_t cell_next_id(struct cell *c)
{
    return ++c->id;
}

static void set_due(struct cell *c, int64_t now, int64_t left)
{
    c->due_ms = now + (left > 1 ? left : 1);
    if (c->due_ms > c->wall_ms)
        c->due_ms = c->wall_ms;
}

// False: the socket is broken.
static bool push(struct cell *c)
{
    while (c->frame.len > 0) {
        ssize_t n = send(c->child.socket, c->frame.data, c->frame.len, MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        c->frame = str_sub(c->frame, (size_t)n, c->frame.len);
    }
    return true;
}

// The child looks up from its sleep.
static void wake(struct cell *c, bool on_socket)
{
    struct call_area *area = c->child.area;
    area->on_socket = on_socket;
    atomic_store(&area->n_said, 0);
    atomic_store(&area->bell, BELL_NONE);
    atomic_store(&area->asked, ++c->number);
    syscall(SYS_futex, &area->asked, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void begin(struct cell *c, int64_t now_ms, int64_t cpu_now_ms, int64_t limit_ms)
{
    c->state = CELL_BUSY;
    c->wall_ms = now_ms + CELL_WALL_MS;
    c->cpu_limit_ms = cpu_now_ms + limit_ms;
    set_due(c, now_ms, limit_ms);
}

void cell_send(struct cell *c, str frame, int64_t limit_ms)
{
    if (c->state == CELL_FAULT)
        return;
    c->calls = false;
    c->frame = frame;
    c->n_in = 0;
    begin(c, clock_mono_ms(), cpu_ms(c), limit_ms);
    wake(c, true);
    push(c); // what is wrong with the socket, cell_step tells
}

void cell_call(struct cell *c, const struct harness_call *call)
{
    enum { GUESSED_MAX_US = 5000 };
    struct call_area *area = c->child.area;
    if (c->state == CELL_FAULT)
        return;
    c->begun_us = clock_mono_us();
    if (c->since_us > GUESSED_MAX_US || c->seen_ms == 0) {
        c->seen_ms = cpu_ms(c) + 1; // 0: not read yet
        c->since_us = 0;
    }
    c->calls = true;
    c->call = *call;
    c->frame = (str){ 0 };
    begin(c, c->begun_us / 1000, c->seen_ms + c->since_us / 1000, CALL_CPU_MS);
    if (call_write(call, area->request, sizeof area->request, &area->request_len))
        wake(c, false);
    else
        finish(c, CELL_PROTOCOL);
}

static bool has_answered(const struct cell *c)
{
    return atomic_load(&c->child.area->answered) == c->number;
}

// Has the child ring when it is done. False: it is.
static bool ask_for(struct cell *c, enum call_bell bell)
{
    atomic_store(&c->child.area->bell, bell);
    return !has_answered(c);
}

int64_t cell_due_ms(struct cell *c)
{
    if (c->state != CELL_BUSY)
        return -1;
    if (c->calls && !ask_for(c, BELL_SOCKET))
        return 0;
    return c->frame.len > 0 ? 0 : c->due_ms; // a request that is still being sent is due at once
}

enum { PULL_MORE, PULL_WHOLE, PULL_BROKEN, PULL_END };
static const size_t reply_room = FRAME_HEAD_BYTES + HARNESS_REPLY_MAX_BYTES;

// What has come so far: exactly one frame, and not a byte behind it.
static int judge_bytes(const struct cell *c)
{
    if (c->n_in < FRAME_HEAD_BYTES)
        return PULL_MORE;
    size_t n = frame_length((const unsigned char *)c->in);
    if (n > HARNESS_REPLY_MAX_BYTES || c->n_in > FRAME_HEAD_BYTES + n)
        return PULL_BROKEN;
    return c->n_in == FRAME_HEAD_BYTES + n ? PULL_WHOLE : PULL_MORE;
}

static void make_room(struct cell *c)
{
    size_t wanted = c->n_in < 4096 ? 8192 : reply_room + 1;
    if (c->cap_in < wanted) {
        c->in = mem_must(realloc(c->in, wanted));
        c->cap_in = wanted;
    }
}

static int pull(struct cell *c)
{
    for (;;) {
        make_room(c);
        ssize_t n = recv(c->child.socket, c->in + c->n_in, c->cap_in - c->n_in, 0);
        if (n == 0)
            return PULL_END;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? judge_bytes(c) : PULL_END;
        c->n_in += (size_t)n;
        int state = judge_bytes(c);
        if (state != PULL_MORE)
            return state; // what comes behind a whole reply spoils the next one: its id is wrong
    }
}

// Whether the request has had its time, and which.
static enum cell_end time_is_up(struct cell *c)
{
    int64_t now = clock_mono_ms();
    if (now < c->due_ms)
        return CELL_ENDED_NOT;
    int64_t left = c->cpu_limit_ms - cpu_ms(c);
    if (left <= 0)
        return CELL_DEADLINE;
    if (now >= c->wall_ms)
        return CELL_WALL;
    set_due(c, now, left);
    return CELL_ENDED_NOT;
}

// What the socket says while a call runs: nothing, the bell, or the end.
static int listen_to(struct cell *c)
{
    char bytes[8];
    for (;;) {
        ssize_t n = recv(c->child.socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return PULL_END;
        if (n < 0 && errno == EAGAIN)
            return PULL_MORE;
        for (ssize_t i = 0; i < n; i++)
            if (bytes[i] != '!')
                return PULL_BROKEN;
    }
}

// What it had said before it ended is kept.
static enum cell_state call_ends(struct cell *c, bool hangs_up, enum cell_end why, struct arena *a,
                                 struct harness_result *out)
{
    if (!call_results_read(c->child.area, &c->call, false, a, out))
        *out = (struct harness_result){ 0 };
    return hangs_up ? hung_up(c) : finish(c, why);
}

static enum cell_state call_answered(struct cell *c, struct arena *a, struct harness_result *out)
{
    if (!call_results_read(c->child.area, &c->call, true, a, out)) {
        *out = (struct harness_result){ 0 };
        return finish(c, CELL_PROTOCOL);
    }
    c->since_us += clock_mono_us() - c->begun_us;
    c->state = CELL_IDLE;
    return CELL_ANSWERED;
}

static enum cell_state call_step(struct cell *c, struct arena *a, struct harness_result *out)
{
    if (has_answered(c))
        return call_answered(c, a, out);
    int heard = listen_to(c);
    if (has_answered(c))
        return call_answered(c, a, out);
    if (heard != PULL_MORE)
        return call_ends(c, heard == PULL_END, CELL_PROTOCOL, a, out);
    enum cell_end why = time_is_up(c);
    return why == CELL_ENDED_NOT ? CELL_BUSY : call_ends(c, false, why, a, out);
}

enum cell_state cell_step(struct cell *c, struct arena *a, struct harness_result *out)
{
    if (c->state != CELL_BUSY)
        return c->state;
    if (c->calls)
        return call_step(c, a, out);
    if (!push(c))
        return hung_up(c);
    enum cell_end why;
    switch (pull(c)) {
    case PULL_END: return hung_up(c);
    case PULL_BROKEN: return finish(c, CELL_PROTOCOL);
    case PULL_MORE: why = time_is_up(c); return why == CELL_ENDED_NOT ? CELL_BUSY : finish(c, why);
    default: break;
    }
    str json = { c->in + FRAME_HEAD_BYTES, c->n_in - FRAME_HEAD_BYTES };
    if (c->frame.len > 0 || !frame_read(json, c->id, a, out, NULL))
        return finish(c, CELL_PROTOCOL);
    c->state = CELL_IDLE;
    return CELL_ANSWERED;
}

// Most calls are over in microseconds; the end of a child is seen on its socket alone, so this
// sleep is short. True: it has answered.
static bool nap(struct cell *c)
{
    static const struct timespec short_time = { .tv_nsec = 2000000 };
    struct call_area *area = c->child.area;
    uint32_t before = atomic_load(&area->answered);
    if (before != c->number && ask_for(c, BELL_FUTEX))
        syscall(SYS_futex, &area->answered, FUTEX_WAIT, before, &short_time, NULL, 0);
    return has_answered(c);
}

enum cell_state cell_wait(struct cell *c, struct arena *a, struct harness_result *out)
{
    if (c->state == CELL_BUSY && c->calls && nap(c))
        return cell_step(c, a, out);
    enum cell_state state = c->state;
    while (state == CELL_BUSY) {
        short wanted = (short)(POLLIN | (c->frame.len > 0 ? POLLOUT : 0));
        struct pollfd p = { .fd = c->child.socket, .events = wanted };
        int64_t left = cell_due_ms(c) - clock_mono_ms();
        poll(&p, 1, left > 0 ? (int)left : 0);
        state = cell_step(c, a, out);
    }
    return state;
}

enum cell_end cell_end(const struct cell *c)
{
    return c->end;
}

str cell_end_text(const struct cell *c, struct arena *a)
{
    switch (c->end) {
    case CELL_ENDED_NOT: return S("");
    case CELL_EXIT: return arena_printf(a, "exit:%d", WEXITSTATUS(c->status));
    case CELL_SIGNAL: return arena_printf(a, "signal:%d", WTERMSIG(c->status));
    case CELL_DEADLINE: return S("deadline");
    case CELL_WALL: return S("wall");
    case CELL_PROTOCOL: return S("protocol");
    }
    BUG("no such end");
}

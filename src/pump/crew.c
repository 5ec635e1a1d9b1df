// SPDX-License-Identifier: GPL-3.0-or-later
// crew.c - engine processes at work: bytes in and out, time-outs, and the end of those that fail.
// What is said and meant is the business of talk.h. A process is kept from question to question;
// one that was at fault is ended, and the next question starts another.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pump/internal.h"

enum {
    HELLO_DEFAULT_MS = 10000, // field case F-052
    TIMEOUT_DEFAULT_MS = 300000,
    STOP_MS = 2000,       // between `stop` and its bestmove
    TIME_GRACE_MS = 5000, // beyond the time an engine was given
    END_MS = 200,         // for the exit code after the output has ended
    QUIT_MS = 300,
    LINE_MAX_BYTES = 1 << 16,
    SAID_MAX_BYTES = 1024, // kept of standard error
    WORKERS_MAX = 1024,
};

enum stream { STREAM_IN, STREAM_OUT, STREAM_ERR };
struct worker { // a place for one process
    struct process process;
    struct arena arena; // of the process
    const struct engine *engine;
    struct talk talk;
    bool busy, done; // has a question; and its answer
    bool writing;    // its input is full: epoll tells when it is not
    bool skipping;   // the rest of a line that was too long
    int64_t due_ms;  // of the time-out, while busy
    enum talk_state due_state;
    size_t slot;
    const struct engine_query *query;
    struct arena *reply_arena;
    size_t n_line, n_said;
    char line[LINE_MAX_BYTES];
    char said[SAID_MAX_BYTES];
};

struct crew {
    int epoll;
    size_t max_busy, n_busy, n;
    struct worker *workers[WORKERS_MAX];
};

struct crew *crew_new(int epoll, size_t max_busy)
{
    struct crew *c = mem_must(calloc(1, sizeof *c));
    c->epoll = epoll;
    c->max_busy = max_busy;
    return c;
}

// ---- watching ----

static void watch(struct crew *c, size_t i, enum stream stream, int op)
{
    struct worker *w = c->workers[i];
    int fd = stream == STREAM_IN    ? w->process.in
             : stream == STREAM_OUT ? w->process.out
                                    : w->process.err;
    struct epoll_event e = { .events = stream == STREAM_IN ? EPOLLOUT : EPOLLIN,
                             .data.u64 = CREW_EVENT | (uint64_t)i << 2 | (uint64_t)stream };
    if (epoll_ctl(c->epoll, op, fd, &e) != 0 && op == EPOLL_CTL_ADD)
        log_line(LOG_WARN, "the system cannot watch another pipe; an engine will time out");
}

// Keeps the end of it. A stream that ends is no longer watched: the output tells of the process.
// True: there may be more.
static bool read_errors(struct crew *c, size_t i)
{
    struct worker *w = c->workers[i];
    char part[SAID_MAX_BYTES / 2];
    ssize_t n = read(w->process.err, part, sizeof part);
    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            watch(c, i, STREAM_ERR, EPOLL_CTL_DEL);
        return false;
    }
    size_t over =
        w->n_said + (size_t)n > sizeof w->said ? w->n_said + (size_t)n - sizeof w->said : 0;
    memmove(w->said, w->said + over, w->n_said - over);
    w->n_said -= over;
    memcpy(w->said + w->n_said, part, (size_t)n);
    w->n_said += (size_t)n;
    return true;
}

// ---- the end of a process ----

// The end of what it wrote to standard error, for a message.
static str last_words(const struct worker *w, struct arena *a)
{
    struct buf b = { .arena = a };
    str rest = { w->said, w->n_said };
    if (w->talk.errors.len > 0)
        buf_addf(&b, "; it said: %.*s", STR(w->talk.errors));
    while (rest.len > 0) {
        str line = str_trim(str_cut_line(&rest));
        if (line.len > 0 && rest.len < 300)
            buf_addf(&b, "; on standard error: %s", str_show(line, SHOWN_MAX_BYTES).text);
    }
    return buf_str(&b);
}

static void end_process(struct worker *w, int64_t patience_ms, struct arena *a, str *how)
{
    *how = process_end(&w->process, patience_ms, a);
    arena_free(&w->arena);
    w->talk = (struct talk){ 0 };
    w->engine = NULL;
    w->n_line = w->n_said = 0;
    w->writing = w->skipping = false;
}

// The answer is that there is none. `words` say what happened; the process is ended.
static void fail(struct crew *c, size_t i, enum engine_class class, str words)
{
    struct worker *w = c->workers[i];
    for (int parts = 0; parts < 64 && read_errors(c, i); parts++) // what it said before it died
        ;
    struct arena *a = w->busy ? w->reply_arena : &w->arena;
    struct engine_reply reply = { .class = class, .nodes = -1 };
    str path = w->engine->path, last = last_words(w, a), how;
    struct err refusal = w->talk.refusal;
    end_process(w, class == ENGINE_CRASHED ? END_MS : 0, a, &how);
    if (!w->busy || w->done)
        return;
    if (class != ENGINE_CRASHED)
        how = words;
    reply.error = arena_printf(a, "%.*s %s: %.*s%.*s", STR(path),
                               class == ENGINE_CRASHED ? "ended" : "failed", STR(how), STR(last));
    w->talk.reply = reply;
    w->talk.refusal = refusal;
    w->done = true;
}

void crew_free(struct crew *c)
{
    struct arena scratch = { 0 };
    str how;
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++) {
        struct worker *w = c->workers[i];
        bool idle = w->process.pid && w->talk.state == TALK_IDLE;
        if (idle && send(w->process.in, "quit\n", 5, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            idle = false;
        if (w->process.pid)
            end_process(w, idle ? QUIT_MS : 0, &scratch, &how);
        arena_free(&w->arena);
        free(w);
    }
    arena_free(&scratch);
    free(c);
}

// ---- bytes ----

// Sends what the conversation wants sent, as far as the pipe takes it.
static void flush(struct crew *c, size_t i)
{
    struct worker *w = c->workers[i];
    struct buf *out = &w->talk.out;
    ssize_t n = 0;
    size_t sent = 0;
    while (sent < out->len && (n = send(w->process.in, out->data + sent, out->len - sent,
                                        MSG_NOSIGNAL | MSG_DONTWAIT)) > 0)
        sent += (size_t)n;
    if (sent > 0)
        memmove(out->data, out->data + sent, out->len - sent);
    out->len -= sent;
    bool full = out->len > 0 && n < 0 && errno == EAGAIN;
    if (full != w->writing)
        watch(c, i, STREAM_IN, full ? EPOLL_CTL_ADD : EPOLL_CTL_DEL);
    w->writing = full;
}

static int64_t patience_ms(const struct worker *w)
{
    const struct engine *e = w->engine;
    switch (w->talk.state) {
    case TALK_HELLO:
    case TALK_READY:
    case TALK_PREPARE:
    case TALK_COMPARE: return e->hello_ms ? e->hello_ms : HELLO_DEFAULT_MS;
    case TALK_SEARCH:
        if (w->query->limit.by == ENGINE_BY_TIME)
            return w->query->limit.n + TIME_GRACE_MS;
        return e->timeout_ms ? e->timeout_ms : TIMEOUT_DEFAULT_MS;
    case TALK_STOP: return STOP_MS;
    case TALK_IDLE: break;
    }
    BUG("nothing to wait for");
}

// After anything that may have moved the conversation on: the question when it may be asked, bytes,
// and the clock. uciok and readyok share one time-out.
static void go_on(struct crew *c, size_t i)
{
    struct worker *w = c->workers[i];
    if (w->talk.refusal.code != ERR_NONE) {
        fail(c, i, ENGINE_PROTOCOL, arena_printf(w->reply_arena, "%s", w->talk.refusal.text));
        return;
    }
    if (w->talk.state == TALK_IDLE && w->busy && !w->done)
        talk_ask(&w->talk, w->query, w->reply_arena);
    flush(c, i);
    enum talk_state state = w->talk.state == TALK_READY ? TALK_HELLO : w->talk.state;
    if (state != TALK_IDLE && state != w->due_state)
        w->due_ms = clock_mono_ms() + patience_ms(w);
    w->due_state = state;
}

// A line of its output is complete.
static void take_line(struct worker *w, str line)
{
    if (!talk_line(&w->talk, line))
        return;
    w->done = true;
    w->talk.reply.n_noise += w->skipping;
}

// Cuts what was read into lines; one that does not fit is dropped whole.
static void cut_lines(struct worker *w)
{
    str rest = { w->line, w->n_line };
    ptrdiff_t end;
    while ((end = str_find_char(rest, '\n')) >= 0) {
        str line = str_cut_line(&rest);
        if (!w->skipping)
            take_line(w, line);
        w->skipping = false;
    }
    if (rest.len == LINE_MAX_BYTES) {
        w->skipping = true;
        rest.len = 0;
    }
    if (rest.len > 0)
        memmove(w->line, rest.data, rest.len);
    w->n_line = rest.len;
}

static void read_output(struct crew *c, size_t i)
{
    struct worker *w = c->workers[i];
    ssize_t n = read(w->process.out, w->line + w->n_line, LINE_MAX_BYTES - w->n_line);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        fail(c, i, ENGINE_CRASHED, (str){ 0 });
        return;
    }
    w->n_line += (size_t)n;
    cut_lines(w);
    if (w->done && w->talk.reply.class != ENGINE_OK) { // an impossible answer: start afresh
        struct engine_reply reply = w->talk.reply;
        str how;
        reply.error = arena_printf(w->reply_arena, "%.*s failed: %.*s", STR(w->engine->path),
                                   STR(reply.error));
        end_process(w, 0, w->reply_arena, &how);
        w->talk.reply = reply;
        return;
    }
    go_on(c, i);
}

void crew_event(struct crew *c, uint64_t data, uint32_t events)
{
    (void)events; // reading and writing tell what is the matter
    size_t i = (size_t)((data & ~CREW_EVENT) >> 2);
    if (i >= c->n || c->workers[i]->process.pid == 0)
        return; // ended by an earlier event of the same wait
    switch ((enum stream)(data & 3)) {
    case STREAM_IN: flush(c, i); return;
    case STREAM_OUT: read_output(c, i); return;
    case STREAM_ERR: (void)read_errors(c, i); return;
    }
    BUG("no such stream");
}

// ---- work ----

static bool start(struct crew *c, size_t i, const struct engine *engine)
{
    struct worker *w = c->workers[i];
    struct err err = { 0 };
    struct process_command command = { engine->path, engine->args, engine->n_args };
    w->engine = engine;
    w->due_state = TALK_IDLE;
    if (!process_start(&command, &w->process, &err)) {
        w->talk = (struct talk){ 0 };
        w->talk.reply =
            (struct engine_reply){ .class = ENGINE_CRASHED,
                                   .nodes = -1,
                                   .error = arena_printf(w->reply_arena, "%s", err.text) };
        w->engine = NULL;
        w->done = true;
        return false;
    }
    watch(c, i, STREAM_OUT, EPOLL_CTL_ADD);
    watch(c, i, STREAM_ERR, EPOLL_CTL_ADD);
    talk_start(&w->talk, engine, &w->arena);
    return true;
}

// The best place for a question: a process of this engine that is free, else an empty place, else
// one whose process another engine left idle. c->n: none yet, and there is room.
static size_t find_place(const struct crew *c, const struct engine *engine)
{
    size_t empty = c->n, other = c->n;
    for (size_t i = 0; i < c->n; i++) {
        const struct worker *w = c->workers[i];
        if (w->busy)
            continue;
        if (w->engine == engine)
            return i;
        if (w->process.pid == 0)
            empty = i;
        else
            other = i;
    }
    if (empty == c->n && c->n >= 2 * c->max_busy)
        return other;
    return empty;
}

bool crew_ask(struct crew *c, const struct engine_query *q, size_t slot, struct arena *a)
{
    if (c->n_busy >= c->max_busy)
        return false;
    size_t i = find_place(c, q->engine);
    if (i == c->n)
        c->workers[c->n++] = mem_must(calloc(1, sizeof **c->workers));
    struct worker *w = c->workers[i];
    w->slot = slot;
    w->query = q;
    w->reply_arena = a;
    w->busy = true;
    w->done = false;
    c->n_busy++;
    str how;
    if (w->process.pid && w->engine != q->engine)
        end_process(w, 0, a, &how);
    if (w->process.pid || start(c, i, q->engine))
        go_on(c, i);
    return true;
}

int64_t crew_due_ms(const struct crew *c)
{
    int64_t due = -1;
    for (size_t i = 0; i < c->n; i++) {
        const struct worker *w = c->workers[i];
        if (w->busy && !w->done && (due < 0 || w->due_ms < due))
            due = w->due_ms;
        if (w->done)
            due = 0; // to be taken now
    }
    return due;
}

void crew_timer(struct crew *c, int64_t now)
{
    for (size_t i = 0; i < c->n; i++) {
        struct worker *w = c->workers[i];
        if (!w->busy || w->done || now < w->due_ms)
            continue;
        if (w->talk.state == TALK_SEARCH) {
            talk_stop(&w->talk);
            go_on(c, i);
            continue;
        }
        fail(c, i, ENGINE_STALLED,
             arena_printf(w->reply_arena, "it stalled: no %s within %lld ms",
                          talk_waits_for(&w->talk), (long long)patience_ms(w)));
    }
}

static void release(struct crew *c, struct worker *w)
{
    w->busy = w->done = false;
    w->query = NULL;
    c->n_busy--;
}

bool crew_take(struct crew *c, size_t *slot, struct engine_reply *out, const struct talk **talk)
{
    for (size_t i = 0; i < c->n; i++) {
        struct worker *w = c->workers[i];
        if (!w->done)
            continue;
        *slot = w->slot;
        *out = w->talk.reply;
        if (talk)
            *talk = &w->talk;
        release(c, w);
        return true;
    }
    return false;
}

void crew_abort(struct crew *c, size_t slot)
{
    str how;
    for (size_t i = 0; i < c->n; i++) {
        struct worker *w = c->workers[i];
        if (!w->busy || w->slot != slot)
            continue;
        if (w->process.pid)
            end_process(w, 0, w->reply_arena, &how);
        release(c, w);
    }
}

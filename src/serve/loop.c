// SPDX-License-Identifier: GPL-3.0-or-later
// loop.c - the server's thread: one epoll set over the library's own set, the stop signal, and the
// sockets of clients that are being stalled.
//
// The library could run this thread itself, but then replies that wait would need a second one to
// resume them, and locks. So the loop is ours and the library is asked to run when it has work.
#include <errno.h>
#include <sys/epoll.h>

#include "serve/internal.h"

enum { LOOP_EVENTS = 64, LOOP_WAIT_MAX_MS = 60 * 1000 };

void loop_hold(struct exchange *x, int64_t delay_ms)
{
    struct server *s = x->server;
    x->state = EXCHANGE_WAITING;
    x->due_ms = clock_mono_ms() + delay_ms;
    x->prev = NULL;
    x->next = s->waiting;
    if (s->waiting)
        s->waiting->prev = x;
    s->waiting = x;
    MHD_suspend_connection(x->connection);
    if (x->reply.end != SERVE_STALL)
        return;
    struct epoll_event gone = { .events = EPOLLRDHUP, .data.ptr = x };
    // Where the set is full the client is merely held until the wait ends by itself.
    (void)epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, exchange_socket(x), &gone);
}

void loop_release(struct server *s, struct exchange *x)
{
    if (x->prev)
        x->prev->next = x->next;
    else
        s->waiting = x->next;
    if (x->next)
        x->next->prev = x->prev;
    x->prev = x->next = NULL;
    x->state = EXCHANGE_LEAVING;
    if (x->reply.end == SERVE_STALL)
        (void)epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, exchange_socket(x), NULL);
    MHD_resume_connection(x->connection);
}

// Milliseconds until the library or a waiting reply has something to do.
static int loop_wait_ms(const struct server *s)
{
    int64_t wait = LOOP_WAIT_MAX_MS;
    MHD_UNSIGNED_LONG_LONG library = 0;
    if (MHD_get_timeout(s->daemon, &library) == MHD_YES && library < (uint64_t)wait)
        wait = (int64_t)library;
    int64_t now = clock_mono_ms();
    int64_t due = s->opts.watch.ready ? s->opts.watch.due_ms(s->opts.context) : -1;
    if (due >= 0 && due - now < wait)
        wait = due > now ? due - now : 0;
    // A list is enough: there are no more of them than connections.
    for (const struct exchange *x = s->waiting; x; x = x->next)
        if (x->due_ms - now < wait)
            wait = x->due_ms > now ? x->due_ms - now : 0;
    return (int)wait;
}

static void loop_release_due(struct server *s)
{
    if (!s->waiting)
        return;
    int64_t now = clock_mono_ms();
    for (struct exchange *x = s->waiting, *next; x; x = next) {
        next = x->next;
        if (x->due_ms <= now)
            loop_release(s, x);
    }
}

// Handles what has happened; false: stop.
static bool loop_turn(struct server *s, const struct epoll_event *events, int n)
{
    const struct serve_watch *watch = &s->opts.watch;
    bool ready = false;
    for (int i = 0; i < n; i++) {
        void *who = events[i].data.ptr;
        if (who == &s->stop_fd)
            return false;
        ready |= who == watch;
        if (who != s->daemon && who != watch)
            loop_release(s, who); // a stalled client went away
    }
    if (watch->ready) {
        int64_t due = ready ? 0 : watch->due_ms(s->opts.context);
        if (due >= 0 && due <= clock_mono_ms())
            watch->ready(s->opts.context);
    }
    loop_release_due(s);
    return MHD_run(s->daemon) == MHD_YES;
}

void *loop_run(void *server)
{
    struct server *s = server;
    struct epoll_event events[LOOP_EVENTS];
    int n;
    do {
        n = epoll_wait(s->epoll_fd, events, LOOP_EVENTS, loop_wait_ms(s));
        if (n < 0 && errno == EINTR)
            n = 0;
    } while (n >= 0 && loop_turn(s, events, n));
    while (s->waiting)
        loop_release(s, s->waiting);
    (void)MHD_run(s->daemon); // resumed exchanges break their connections in here
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// server.c - starting and stopping: the listening socket is made here, because the library would
// say only that it failed, and would listen on all addresses if it were not told otherwise.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/internal.h"

enum {
    MAX_BODY_DEFAULT = 16 << 20,
    BACKLOG = 1024,
    CONNECTIONS_MAX = 2000,
    FDS_RESERVED = 32,            // for everything that is not a connection
    IDLE_TIMEOUT_S = 30,          // a connection on which nothing happens is closed
    CONNECTION_MEMORY = 64 << 10, // request line and headers; more is answered 413, 414 or 431
};

struct address {
    int family;
    socklen_t size;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    };
};

static bool address_parse(const struct serve_opts *opts, struct address *out, struct err *err)
{
    if (opts->port < 0 || opts->port > UINT16_MAX)
        return err_set(err, ERR_RUN, "port %d is not between 0 and 65535", opts->port);
    char host[INET6_ADDRSTRLEN + 1] = { 0 };
    if (opts->host.len < sizeof host)
        memcpy(host, opts->host.data, opts->host.len);
    in_port_t port = htons((uint16_t)opts->port);
    out->family = AF_INET6;
    out->size = sizeof out->v6;
    out->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = port };
    if (inet_pton(AF_INET6, host, &out->v6.sin6_addr) == 1)
        return true;
    out->family = AF_INET;
    out->size = sizeof out->v4;
    out->v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = port };
    if (inet_pton(AF_INET, host, &out->v4.sin_addr) == 1)
        return true;
    return err_set(err, ERR_RUN, "\"%.*s\" is no numeric address; use one like 127.0.0.1",
                   STR(opts->host));
}

static bool listen_on(struct server *s, struct address *a, struct err *err)
{
    int on = 1;
    s->listen_fd = socket(a->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->listen_fd < 0 ||
        setsockopt(s->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(s->listen_fd, &a->any, a->size) != 0 || listen(s->listen_fd, BACKLOG) != 0 ||
        getsockname(s->listen_fd, &a->any, &a->size) != 0)
        return err_set(err, ERR_RUN, "cannot listen on %.*s port %d: %s; choose another port",
                       STR(s->opts.host), s->opts.port, strerror(errno));
    return true;
}

static int address_port(const struct address *a)
{
    return ntohs(a->family == AF_INET ? a->v4.sin_port : a->v6.sin6_port);
}

// As many as the process may open descriptors for, so that accepting never starts to fail.
static unsigned connections_max(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur > CONNECTIONS_MAX + FDS_RESERVED)
        return CONNECTIONS_MAX;
    return files.rlim_cur > 2UL * FDS_RESERVED ? (unsigned)files.rlim_cur - FDS_RESERVED
                                               : FDS_RESERVED;
}

static bool daemon_start(struct server *s, struct err *err)
{
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, exchange_continue, s,
        MHD_OPTION_LISTEN_SOCKET, s->listen_fd, MHD_OPTION_CONNECTION_LIMIT, connections_max(),
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED,
        exchange_complete, s, MHD_OPTION_END);
    if (!s->daemon)
        return err_set(err, ERR_RUN, "the HTTP library does not start: %s", strerror(errno));
    s->listen_fd = -1; // the library closes it
    return true;
}

static bool watch(struct server *s, int fd, void *who)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = who };
    return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool loop_start(struct server *s, struct err *err)
{
    int library_fd = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->epoll_fd < 0 || s->stop_fd < 0 || !watch(s, library_fd, s->daemon) ||
        !watch(s, s->stop_fd, &s->stop_fd) ||
        (s->opts.watch.ready && !watch(s, s->opts.watch.fd, &s->opts.watch)))
        return err_set(err, ERR_RUN, "cannot watch sockets: %s", strerror(errno));
    // Signals are for the main thread: it knows how to end.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&s->thread, NULL, loop_run, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? err_set(err, ERR_RUN, "cannot start the server's thread: %s", strerror(failed))
                  : true;
}

static void server_free(struct server *s)
{
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    exchanges_free_spare(s);
    int fds[] = { s->listen_fd, s->epoll_fd, s->stop_fd };
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    struct arena arena = s->arena; // holds s itself
    arena_free(&arena);
}

bool server_start(const struct serve_opts *opts, struct server **out, int *port, struct err *err)
{
    struct arena arena = { 0 };
    struct server *s = NEW(&arena, struct server);
    *s = (struct server){ .opts = *opts, .listen_fd = -1, .epoll_fd = -1, .stop_fd = -1 };
    s->opts.host = opts->host.len ? arena_str(&arena, opts->host) : S("127.0.0.1");
    s->opts.max_body = opts->max_body ? opts->max_body : MAX_BODY_DEFAULT;
    s->arena = arena;
    struct address address;
    if (!address_parse(&s->opts, &address, err) || !listen_on(s, &address, err) ||
        !daemon_start(s, err) || !loop_start(s, err)) {
        server_free(s);
        return false;
    }
    *port = address_port(&address);
    *out = s;
    return true;
}

void server_stop(struct server *s)
{
    if (!s)
        return;
    uint64_t one = 1;
    if (write(s->stop_fd, &one, sizeof one) != (ssize_t)sizeof one)
        BUG("the stop signal of a server cannot be lost");
    pthread_join(s->thread, NULL);
    server_free(s);
}

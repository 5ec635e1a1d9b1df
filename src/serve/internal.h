// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - what the files of module serve share: a request from its first header line to the
// last byte of its reply, and the loop that keeps some of them waiting.
//
// Everything but server_start and server_stop happens on the server's one thread: nothing is
// locked.
#pragma once
#include <microhttpd.h>
#include <pthread.h>

#include "serve/serve.h"

enum exchange_state {
    EXCHANGE_RECEIVING,
    EXCHANGE_WAITING, // the reply is made, and its time has not come
    EXCHANGE_LEAVING, // the reply goes to the library, or the connection breaks
};
struct exchange { // lives in its own arena
    struct server *server;
    struct MHD_Connection *connection;
    struct arena arena;
    struct buf body;
    uint64_t n_received; // bytes of the body, kept or not
    enum exchange_state state;
    struct serve_reply reply;
    int64_t due_ms;               // while waiting
    struct exchange *prev, *next; // among those waiting; `next` also among the spare ones
};

struct server {
    struct arena arena; // the server itself lies in it
    struct serve_opts opts;
    struct MHD_Daemon *daemon;
    int listen_fd, epoll_fd, stop_fd;
    pthread_t thread;
    struct exchange *waiting;
    struct exchange *spare; // finished ones with small arenas, for reuse
    size_t n_spare;
};

// ---- exchange.c: called by the library ----

enum MHD_Result exchange_continue(void *server, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **exchange);
void exchange_complete(void *server, struct MHD_Connection *connection, void **exchange,
                       enum MHD_RequestTerminationCode how);
int exchange_socket(const struct exchange *x);
void exchanges_free_spare(struct server *s);

// ---- loop.c ----

// Suspends the exchange for delay_ms. A client that is being stalled and goes away ends the wait.
void loop_hold(struct exchange *x, int64_t delay_ms);
void loop_release(struct server *s, struct exchange *x); // at once
// The thread: runs until stop_fd is written to, then lets go of every exchange that waits.
void *loop_run(void *server);

// SPDX-License-Identifier: GPL-3.0-or-later
// serve.h - a small HTTP server on loopback (libmicrohttpd), shared by every command that serves.
#pragma once
#include "base/base.h"

struct exchange; // opaque: a request that waits for its reply
struct serve_request {
    struct exchange *ticket; // for serve_answer
    str method, path;        // path without query
    str body;                // whole; larger than max_body is answered 413 before the handler
    str authorization, content_type;
    str api_key; // of the first of the headers x-api-key, x-goog-api-key, api-key
};
enum serve_end { // how the reply leaves
    SERVE_WHOLE,
    SERVE_CUT,   // Content-Length announces all, half is sent, then the connection closes
    SERVE_RESET, // TCP reset without a byte
    SERVE_STALL, // nothing is sent until the client gives up
};
enum { SERVE_HEADERS_MAX = 8 };
struct serve_reply { // texts in the arena the handler was given
    int status;
    str content_type, body;
    struct serve_header {
        str name, value;
    } headers[SERVE_HEADERS_MAX];
    size_t n_headers;
    int64_t delay_ms; // before the first byte
    bool later;       // serve_answer will give the reply, within ten minutes
    enum serve_end end;
};
// Called on the server's one thread; may not block.
typedef void serve_handler(void *context, const struct serve_request *in, struct arena *a,
                           struct serve_reply *out);
struct serve_watch { // what else the server's thread looks after; zero: nothing
    int fd;          // readable: ready() is called; may be an epoll set
    void (*ready)(void *context);
    int64_t (*due_ms)(void *context); // monotonic, when to call it at the latest; -1: never
};
struct serve_opts {
    struct serve_watch watch; // of the context
    str host;                 // ["127.0.0.1"]; numeric
    int port;                 // 0: any free one
    size_t max_body;          // [16 MiB]
    serve_handler *handler;
    void *context;
};
struct server; // opaque
// Starts serving; `*port` is the port in use. A busy port or bad host is ERR_RUN.
MUST_CHECK bool server_start(const struct serve_opts *opts, struct server **out, int *port,
                             struct err *err);
void server_stop(struct server *s); // NULL is fine
// Gives the reply to a request whose handler has put it off; on the server's thread, from ready()
// or from the handler of another request. Copies the texts.
void serve_answer(struct exchange *ticket, const struct serve_reply *reply);

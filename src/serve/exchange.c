// SPDX-License-Identifier: GPL-3.0-or-later
// exchange.c - one request and its reply: collects the body within its limit, asks the handler,
// and lets the reply leave as the handler wants it: whole, late, cut, reset or never.
//
// The library calls exchange_continue once when the head of a request is there, once for every
// piece of body, once at its end, and again after a suspended exchange was resumed.
#include <string.h>
#include <sys/socket.h>

#include "serve/internal.h"

enum {
    SPARE_MAX = 64,                // exchanges kept for reuse
    SPARE_BYTES_MAX = 128 << 10,   // a larger arena is given back
    STALL_MAX_MS = 10 * 60 * 1000, // a client that waits longer than this is reset
    // Times the body limit: what is read and dropped so that a client that first sends and then
    // listens gets its 413. Who sends more is cut off.
    OVERSHOOT_FACTOR = 2,
};

// ---- life and death ----

static struct exchange *exchange_new(struct server *s, struct MHD_Connection *connection)
{
    struct arena arena = { 0 };
    struct exchange *spare = s->spare;
    if (spare) {
        s->spare = spare->next;
        s->n_spare--;
        arena = spare->arena;
        arena_reset(&arena); // `spare` is gone from here on
    }
    struct exchange *x = NEW(&arena, struct exchange);
    *x = (struct exchange){ .server = s, .connection = connection, .arena = arena };
    x->body = (struct buf){ .arena = &x->arena, .max = s->opts.max_body };
    return x;
}

static void exchange_free(struct exchange *x)
{
    struct arena arena = x->arena; // holds x itself
    arena_free(&arena);
}

void exchange_complete(void *server, struct MHD_Connection *connection, void **exchange,
                       enum MHD_RequestTerminationCode how)
{
    (void)connection, (void)how;
    struct server *s = server;
    struct exchange *x = *exchange;
    *exchange = NULL;
    if (!x)
        return;
    if (s->n_spare >= SPARE_MAX || arena_used(&x->arena) > SPARE_BYTES_MAX) {
        exchange_free(x);
        return;
    }
    x->next = s->spare;
    s->spare = x;
    s->n_spare++;
}

void exchanges_free_spare(struct server *s)
{
    while (s->spare) {
        struct exchange *x = s->spare;
        s->spare = x->next;
        exchange_free(x);
    }
    s->n_spare = 0;
}

int exchange_socket(const struct exchange *x)
{
    return MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

// ---- the reply ----

// Ends the connection with a TCP reset. A plain close would send an orderly FIN first, so the
// socket is dissolved before the library gets to close it.
static enum MHD_Result break_connection(const struct exchange *x)
{
    int fd = exchange_socket(x);
    struct linger none = { .l_onoff = 1, .l_linger = 0 };
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    struct sockaddr dissolve = { .sa_family = AF_UNSPEC };
    (void)connect(fd, &dissolve, sizeof dissolve);
    return MHD_NO;
}

// Gives the first half of the body, then fails, which closes the connection.
static ssize_t read_half(void *exchange, uint64_t from, char *out, size_t max)
{
    const struct exchange *x = exchange;
    size_t half = x->reply.body.len / 2;
    if (from >= half)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    str piece = str_sub((str){ x->reply.body.data, half }, (size_t)from, max);
    memcpy(out, piece.data, piece.len);
    return (ssize_t)piece.len;
}

enum { CUT_BLOCK_BYTES = 4096 };

static struct MHD_Response *response_new(struct exchange *x)
{
    str body = x->reply.body;
    if (x->reply.end == SERVE_CUT)
        return MHD_create_response_from_callback(body.len, CUT_BLOCK_BYTES, read_half, x, NULL);
    // The library takes no const memory; the copy lives as long as the exchange, so it needs no
    // own.
    char *copy = arena_alloc(&x->arena, body.len + 1);
    if (body.len > 0)
        memcpy(copy, body.data, body.len);
    return MHD_create_response_from_buffer(body.len, copy, MHD_RESPMEM_PERSISTENT);
}

static bool add_header(struct exchange *x, struct MHD_Response *r, str name, str value)
{
    return MHD_add_response_header(r, arena_str(&x->arena, name).data,
                                   arena_str(&x->arena, value).data) == MHD_YES;
}

static bool add_headers(struct exchange *x, struct MHD_Response *r)
{
    const struct serve_reply *reply = &x->reply;
    if (reply->content_type.len && !add_header(x, r, S("Content-Type"), reply->content_type))
        return false;
    for (size_t i = 0; i < reply->n_headers; i++)
        if (!add_header(x, r, reply->headers[i].name, reply->headers[i].value))
            return false;
    return true;
}

static enum MHD_Result leave(struct exchange *x)
{
    x->state = EXCHANGE_LEAVING;
    if (x->reply.later) // nobody has answered
        x->reply = (struct serve_reply){ .status = MHD_HTTP_SERVICE_UNAVAILABLE };
    if (x->reply.end == SERVE_RESET || x->reply.end == SERVE_STALL)
        return break_connection(x);
    struct MHD_Response *r = response_new(x);
    if (!r)
        return MHD_NO;
    enum MHD_Result result = MHD_NO;
    if (add_headers(x, r))
        result = MHD_queue_response(x->connection, (unsigned)x->reply.status, r);
    else
        log_line(LOG_WARN, "a reply was dropped: a header of it cannot be sent");
    MHD_destroy_response(r);
    return result;
}

void serve_answer(struct exchange *x, const struct serve_reply *reply)
{
    x->reply = *reply;
    x->reply.later = false;
    x->reply.body = arena_str(&x->arena, reply->body);
    x->reply.content_type = arena_str(&x->arena, reply->content_type);
    for (size_t i = 0; i < reply->n_headers; i++) {
        x->reply.headers[i].name = arena_str(&x->arena, reply->headers[i].name);
        x->reply.headers[i].value = arena_str(&x->arena, reply->headers[i].value);
    }
    loop_release(x->server, x);
}

static enum MHD_Result refuse_body(struct exchange *x)
{
    x->reply = (struct serve_reply){
        .status = MHD_HTTP_CONTENT_TOO_LARGE,
        .content_type = S("text/plain"),
        .body = arena_printf(&x->arena, "The body of a request may have %zu bytes.\n",
                             x->server->opts.max_body),
    };
    return leave(x);
}

// ---- the request ----

static str header_of(const struct exchange *x, const char *name)
{
    return str_from(MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name));
}

static str api_key_of(const struct exchange *x)
{
    static const char *const names[] = { "x-api-key", "x-goog-api-key", "api-key" };
    str key = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(names) && key.len == 0; i++)
        key = header_of(x, names[i]);
    return key;
}

// The head is there. A body announced as far too large is refused unread.
static enum MHD_Result begin(struct exchange *x)
{
    int64_t announced = 0;
    str length = header_of(x, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (length.len > 0 && (!str_to_int(length, 0, INT64_MAX, &announced) ||
                           (uint64_t)announced / OVERSHOOT_FACTOR > x->server->opts.max_body))
        return refuse_body(x);
    return MHD_YES;
}

static enum MHD_Result receive(struct exchange *x, str piece)
{
    x->n_received += piece.len;
    if (x->n_received / OVERSHOOT_FACTOR > x->server->opts.max_body)
        return MHD_NO;
    if (!x->body.over)
        buf_add(&x->body, piece);
    return MHD_YES;
}

static enum MHD_Result answer(struct exchange *x, const char *method, const char *url)
{
    if (x->body.over)
        return refuse_body(x);
    struct serve_request in = {
        .ticket = x,
        .method = str_from(method),
        .path = str_from(url),
        .body = buf_str(&x->body),
        .authorization = header_of(x, MHD_HTTP_HEADER_AUTHORIZATION),
        .content_type = header_of(x, MHD_HTTP_HEADER_CONTENT_TYPE),
        .api_key = api_key_of(x),
    };
    x->server->opts.handler(x->server->opts.context, &in, &x->arena, &x->reply);
    bool waits = x->reply.later || x->reply.end == SERVE_STALL;
    int64_t delay_ms = waits ? STALL_MAX_MS : x->reply.delay_ms;
    if (delay_ms <= 0)
        return leave(x);
    loop_hold(x, delay_ms);
    return MHD_YES;
}

// NOLINTNEXTLINE(readability-function-size): the signature is the library's
enum MHD_Result exchange_continue(void *server, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **exchange)
{
    (void)version;
    struct exchange *x = *exchange;
    if (!x) {
        *exchange = x = exchange_new(server, connection);
        return begin(x);
    }
    if (x->state != EXCHANGE_RECEIVING)
        return leave(x);
    if (*upload_size == 0)
        return answer(x, method, url);
    str piece = { upload, *upload_size };
    *upload_size = 0;
    return receive(x, piece);
}

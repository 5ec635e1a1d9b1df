// SPDX-License-Identifier: GPL-3.0-or-later
// http.c - libcurl's multi interface over the pump's epoll set. curl_multi_socket_action instead of
// curl_multi_poll: with hundreds of slow replies in flight it costs a third of the CPU.
#include <stdlib.h>
#include <sys/epoll.h>

#include "pump/internal.h"

enum {
    CONNECT_TIMEOUT_MS = 10000,
    IDLE_CONNECTION_S = 15, // older pooled connections are not reused
    SILENCE_MAX_S = 120,    // of a stream, before its first byte and between two (section 2)
    CONNECTIONS_MAX = 1024,
    KEPT_MAX_BYTES = 1 << 20, // of a slot's response memory, from exchange to exchange
};

struct http {
    CURLM *multi;
    int epoll;            // the pump's
    int64_t timer_due_ms; // when libcurl wants to be called; -1: never
    str ca_file;          // certificates trusted instead of the system's; empty: those
};

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
    (void)easy;
    struct http *h = context;
    struct epoll_event e = { .data.u64 = (uint64_t)fd };
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(h->epoll, EPOLL_CTL_DEL, fd, &e); // fails only when it is closed already
        return 0;
    }
    if (what & CURL_POLL_IN)
        e.events |= EPOLLIN;
    if (what & CURL_POLL_OUT)
        e.events |= EPOLLOUT;
    if (epoll_ctl(h->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e) != 0 &&
        epoll_ctl(h->epoll, known ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &e) != 0)
        return -1; // the system is out of watches: libcurl ends all transfers
    curl_multi_assign(h->multi, fd, h);
    return 0;
}

static int set_timer(CURLM *multi, long timeout_ms, void *context)
{
    (void)multi;
    struct http *h = context;
    h->timer_due_ms = timeout_ms < 0 ? -1 : clock_mono_ms() + timeout_ms;
    return 0;
}

struct http *http_new(int epoll, str ca_file)
{
    struct http *h = mem_must(calloc(1, sizeof *h));
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        BUG("libcurl does not start");
    h->multi = mem_must(curl_multi_init());
    h->epoll = epoll;
    h->ca_file = ca_file;
    h->timer_due_ms = -1;
    curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
    curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
    curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_MAX);
    return h;
}

void http_free(struct http *h)
{
    if (!h)
        return;
    curl_multi_cleanup(h->multi);
    free(h);
    curl_global_cleanup();
}

static size_t take_body(char *data, size_t size, size_t n, void *context)
{
    struct transfer *t = context;
    buf_add(&t->body, (str){ data, size * n });
    return t->body.over ? 0 : size * n; // too big: libcurl ends the transfer with a write error
}

static size_t take_header(char *data, size_t size, size_t n, void *context)
{
    struct transfer *t = context;
    str value = { data, size * n };
    if (str_starts(value, S("HTTP/"))) { // a new response begins (after 100 Continue)
        t->response.headers = (struct http_response_headers){ 0 };
        return size * n;
    }
    str name = str_cut(&value, ':');
    const struct {
        str name;
        str *where;
    } wanted[] = {
        { S("retry-after"), &t->response.headers.retry_after },
        { S("retry-after-ms"), &t->response.headers.retry_after_ms },
        { S("x-should-retry"), &t->response.headers.should_retry },
        { S("date"), &t->response.headers.date },
        { S("x-request-id"), &t->response.headers.request_id },
        { S("request-id"), &t->response.headers.request_id },
        { S("x-ratelimit-reset"), &t->response.headers.ratelimit_reset },
        { S("x-ratelimit-remaining-requests"), &t->response.headers.remaining_requests },
        { S("x-ratelimit-remaining-tokens"), &t->response.headers.remaining_tokens },
        { S("x-ratelimit-reset-requests"), &t->response.headers.reset_requests },
        { S("x-ratelimit-reset-tokens"), &t->response.headers.reset_tokens },
        { S("anthropic-ratelimit-requests-remaining"), &t->response.headers.remaining_requests },
        { S("anthropic-ratelimit-tokens-remaining"), &t->response.headers.remaining_tokens },
        { S("anthropic-ratelimit-requests-reset"), &t->response.headers.reset_requests },
        { S("anthropic-ratelimit-tokens-reset"), &t->response.headers.reset_tokens },
    };
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        if (str_eq_nocase(name, wanted[i].name))
            *wanted[i].where = arena_str(&t->arena, str_sub(str_trim(value), 0, 256));
    return size * n;
}

static void set_headers(struct transfer *t, const struct http_request *q)
{
    t->list = curl_slist_append(NULL, "Expect:"); // no waiting for 100 Continue
    for (size_t i = 0; i < q->n_headers; i++) {
        str line = arena_printf(&t->arena, "%.*s: %.*s", STR(q->headers[i].name),
                                STR(q->headers[i].value));
        t->list = curl_slist_append(t->list, line.data);
    }
    curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->list);
}

static void set_options(const struct http *h, struct transfer *t, const struct http_request *q,
                        int64_t timeout_ms)
{
    CURL *c = t->easy;
    curl_easy_setopt(c, CURLOPT_URL, arena_str(&t->arena, q->url).data);
    curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body.len);
    curl_easy_setopt(c, CURLOPT_POSTFIELDS, q->body.data); // not copied: the slot keeps it
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->error);
    curl_easy_setopt(c, CURLOPT_PRIVATE, t);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L); // credentials never travel to another host
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_ACCEPT_ENCODING, ""); // all that this libcurl can decode
    // Many calls over one connection where TLS agrees on HTTP/2; a first burst waits for that
    // answer.
    curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(c, CURLOPT_PIPEWAIT, str_starts(q->url, S("https:")) ? 1L : 0L);
    if (h->ca_file.len > 0)
        curl_easy_setopt(c, CURLOPT_CAINFO, arena_str(&t->arena, h->ca_file).data);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    if (q->streamed) { // under a byte a second for so long
        curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)SILENCE_MAX_S);
    }
    curl_easy_setopt(c, CURLOPT_MAXAGE_CONN, (long)IDLE_CONNECTION_S);
    curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
    if (url_is_loopback(q->url)) // proxy variables are for the world outside
        curl_easy_setopt(c, CURLOPT_PROXY, "");
}

bool http_send(struct http *h, struct transfer *t, const struct http_request *q, int64_t timeout_ms,
               struct err *err)
{
    if (!t->easy)
        t->easy = mem_must(curl_easy_init());
    curl_easy_reset(t->easy); // keeps live connections
    if (arena_used(&t->arena) > KEPT_MAX_BYTES)
        arena_free(&t->arena); // one huge response is no measure for the next
    arena_reset(&t->arena);
    t->body = (struct buf){ .arena = &t->arena, .max = RESPONSE_MAX_BYTES };
    t->response = (struct http_response){ 0 };
    t->error[0] = '\0';
    set_options(h, t, q, timeout_ms);
    set_headers(t, q);
    CURLMcode code = curl_multi_add_handle(h->multi, t->easy);
    if (code != CURLM_OK) {
        curl_slist_free_all(t->list);
        t->list = NULL;
        return err_set(err, ERR_RUN,
                       "cannot send: %s; raise the limits of this system or lower "
                       "--concurrency",
                       curl_multi_strerror(code));
    }
    t->flying = true;
    t->sent_us = clock_mono_us();
    return true;
}

void http_event(struct http *h, int socket, uint32_t events)
{
    int mask = 0, running;
    if (events & EPOLLIN)
        mask |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        mask |= CURL_CSELECT_OUT;
    if (events & (EPOLLERR | EPOLLHUP))
        mask |= CURL_CSELECT_ERR;
    curl_multi_socket_action(h->multi, socket, mask, &running);
}

int64_t http_due_ms(const struct http *h)
{
    return h->timer_due_ms;
}

bool http_timer(struct http *h, int64_t now)
{
    int running;
    if (h->timer_due_ms < 0 || now < h->timer_due_ms)
        return false;
    h->timer_due_ms = -1;
    curl_multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    return true;
}

static void take_off(struct http *h, struct transfer *t)
{
    curl_multi_remove_handle(h->multi, t->easy);
    curl_slist_free_all(t->list);
    t->list = NULL;
    t->flying = false;
}

struct transfer *http_finished(struct http *h)
{
    int left;
    const CURLMsg *m;
    while ((m = curl_multi_info_read(h->multi, &left)) != NULL) {
        if (m->msg != CURLMSG_DONE)
            continue;
        struct transfer *t = NULL;
        CURL *easy = m->easy_handle;
        CURLcode result = m->data.result;
        long status = 0;
        const char *type = NULL;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &t);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
        curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &t->request_bytes);
        t->result = result;
        t->response.status = (int)status;
        t->response.complete = result == CURLE_OK;
        t->response.content_type = arena_str(&t->arena, str_sub(str_from(type), 0, 256));
        t->response.body = buf_str(&t->body);
        take_off(h, t);
        return t;
    }
    return NULL;
}

void http_abort(struct http *h, struct transfer *t)
{
    if (!t->flying)
        return;
    curl_easy_getinfo(t->easy, CURLINFO_REQUEST_SIZE, &t->request_bytes);
    t->result = CURLE_ABORTED_BY_CALLBACK;
    take_off(h, t);
}

void transfer_free(struct transfer *t)
{
    arena_free(&t->arena);
    curl_easy_cleanup(t->easy);
    t->easy = NULL;
}

bool transfer_is_unreachable(const struct transfer *t)
{
    return t->result != CURLE_OK && t->request_bytes == 0;
}

str transfer_error(const struct transfer *t, struct arena *a)
{
    const char *what = curl_easy_strerror(t->result);
    if (t->error[0] == '\0')
        return arena_printf(a, "%s", what);
    return arena_printf(a, "%s (%s)", what, t->error);
}

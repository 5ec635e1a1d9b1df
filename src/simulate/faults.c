// SPDX-License-Identifier: GPL-3.0-or-later
// faults.c - what goes wrong between a client and an endpoint, on request: which fault meets which
// request, and what it makes of the reply. One row of the table a kind.
#include "simulate/internal.h"

enum { SLOW_MS = 300, RETRY_AFTER_CHOICES = 2 };

const char *const fault_names[SIM_FAULT_KINDS] = {
    [SIM_FAULT_NONE] = "ok",
    [SIM_FAULT_429] = "429",
    [SIM_FAULT_429RA] = "429ra",
    [SIM_FAULT_500] = "500",
    [SIM_FAULT_503] = "503",
    [SIM_FAULT_BODY502] = "body502",
    [SIM_FAULT_CUT] = "cut",
    [SIM_FAULT_RESET] = "reset",
    [SIM_FAULT_STALL] = "stall",
    [SIM_FAULT_SLOW] = "slow",
    [SIM_FAULT_HTML] = "html",
    [SIM_FAULT_EMPTY] = "empty",
    [SIM_FAULT_BADUTF8] = "badutf8",
    [SIM_FAULT_GZIP] = "gzip",
    [SIM_FAULT_SSE_COMMENTS] = "sse-comments",
};

// ---- the plan ----

static bool unknown_kind(str kind, struct err *err)
{
    struct arena scratch = { 0 };
    struct buf b = { .arena = &scratch };
    for (int f = SIM_FAULT_NONE + 1; f < SIM_FAULT_KINDS; f++)
        buf_addf(&b, "%s%s", b.len ? ", " : "", fault_names[f]);
    str known = buf_str(&b);
    err_set(err, ERR_USAGE, "no fault is called \"%.*s\"; there are %.*s", STR(kind), STR(known));
    arena_free(&scratch);
    return false;
}

static bool parse_chance(str item, struct fault_plan *out, struct err *err)
{
    str value = item;
    str kind = str_trim(str_cut(&value, ':'));
    int f = SIM_FAULT_NONE + 1;
    while (f < SIM_FAULT_KINDS && !str_eq(kind, str_from(fault_names[f])))
        f++;
    if (f == SIM_FAULT_KINDS)
        return unknown_kind(kind, err);
    double chance;
    if (!str_to_double(str_trim(value), &chance) || chance < 0 || chance > 1)
        return err_set(err, ERR_USAGE, "\"%.*s\": write %s:PROBABILITY with a number from 0 to 1",
                       STR(item), fault_names[f]);
    if (out->chance[f] > 0)
        return err_set(err, ERR_USAGE, "the fault %s is given twice", fault_names[f]);
    out->chance[f] = chance;
    return true;
}

static bool parse_item(str item, struct fault_plan *out, struct err *err)
{
    if (!str_starts(item, S("seed=")))
        return parse_chance(item, out, err);
    int64_t seed;
    if (!str_to_int(str_sub(item, 5, item.len), 0, INT64_MAX, &seed))
        return err_set(err, ERR_USAGE, "\"%.*s\": the seed is a whole number from 0 on", STR(item));
    out->seed = (uint64_t)seed;
    return true;
}

bool fault_plan_parse(str spec, struct fault_plan *out, struct err *err)
{
    const double sum_max = 1 + 1e-9; // 0.7 + 0.2 + 0.1 is a little more than 1
    double sum = 0;
    *out = (struct fault_plan){ 0 };
    while (spec.len > 0)
        if (!parse_item(str_trim(str_cut(&spec, ',')), out, err))
            return false;
    for (int f = 0; f < SIM_FAULT_KINDS; f++)
        sum += out->chance[f];
    if (sum > sum_max)
        return err_set(err, ERR_USAGE, "the probabilities of the faults sum to %g, more than 1",
                       sum);
    return true;
}

enum fault fault_draw(const struct fault_plan *plan, uint64_t number, uint64_t *detail)
{
    struct rng g;
    rng_seed(&g, plan->seed ^ number * 0x9E3779B97F4A7C15U, S("fault"));
    double left = rng_double(&g);
    *detail = rng_u64(&g);
    for (int f = SIM_FAULT_NONE + 1; f < SIM_FAULT_KINDS; f++) {
        left -= plan->chance[f];
        if (left < 0)
            return (enum fault)f;
    }
    return SIM_FAULT_NONE;
}

// ---- the replies ----

static void add_header(struct serve_reply *out, str name, str value)
{
    if (out->n_headers < SERVE_HEADERS_MAX)
        out->headers[out->n_headers++] = (struct serve_header){ name, value };
}

static void rate_limit(const struct wire *w, struct arena *a, struct serve_reply *out)
{
    w->error(&(struct wire_error){ .status = 429,
                                   .message = S("Rate limit reached (simulated fault)."),
                                   .type = S("requests"),
                                   .code = S("rate_limit_exceeded") },
             a, out);
}

static void server_error(const struct wire *w, int status, struct arena *a, struct serve_reply *out)
{
    str message = status == 503 ? S("The engine is overloaded (simulated fault).")
                                : S("The server had an error (simulated fault).");
    w->error(
        &(struct wire_error){ .status = status, .message = message, .type = S("server_error") }, a,
        out);
}

static void body502(const struct wire *w, struct arena *a, struct serve_reply *out)
{
    w->error(&(struct wire_error){ .status = 502,
                                   .message = S("Provider returned error (simulated fault)"),
                                   .code = S("502") },
             a, out);
    out->status = 200;
}

static void html(struct serve_reply *out)
{
    out->status = 200;
    out->content_type = S("text/html; charset=utf-8");
    out->body = S("<!DOCTYPE html>\n<html><head><title>Please wait</title></head><body>"
                  "<h1>Checking your browser (simulated fault)</h1></body></html>\n");
}

// Two bytes that no UTF-8 text holds, at the head of the answer.
static void bad_utf8(const struct wire *w, struct arena *a, struct serve_reply *out)
{
    str mark = str_from(w->text_mark);
    ptrdiff_t at = str_find(out->body, mark);
    size_t cut = at < 0 ? 0 : (size_t)at + mark.len;
    struct buf b = { .arena = a };
    buf_add(&b, str_sub(out->body, 0, cut));
    buf_add(&b, S("\xFF\xC3"));
    buf_add(&b, str_sub(out->body, cut, out->body.len));
    out->body = buf_str(&b);
}

// Comments between the events of a stream, and other ends of lines: all of it legal. A reply that
// comes whole stays as it is.
static void sse_comments(struct arena *a, struct serve_reply *out)
{
    struct buf b = { .arena = a };
    if (!str_eq(out->content_type, S("text/event-stream")))
        return;
    for (str rest = out->body; rest.len > 0;) {
        str line = str_cut_line(&rest);
        if (str_starts(line, S("data:")))
            buf_add(&b, S(": SIMULATED PROCESSING\n"));
        buf_add(&b, line);
        buf_add(&b, S("\r\n"));
    }
    out->body = buf_str(&b);
}

// ---- gzip: members of stored blocks need no compressor (RFC 1951 3.2.4, RFC 1952) ----

static uint32_t crc32_of(str s)
{
    uint32_t crc = 0xFFFFFFFFU;
    for (size_t i = 0; i < s.len; i++) {
        crc ^= (unsigned char)s.data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320U : crc >> 1;
    }
    return ~crc;
}

static void add_little_endian(struct buf *b, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_add_char(b, (char)(value >> 8 * i & 0xFF));
}

static void gzip(struct arena *a, struct serve_reply *out)
{
    enum { BLOCK_MAX = 0xFFFF };
    struct buf b = { .arena = a };
    buf_add(&b, S("\x1F\x8B\x08\0\0\0\0\0\0\xFF"));
    str rest = out->body;
    do {
        str block = str_sub(rest, 0, BLOCK_MAX);
        rest = str_sub(rest, block.len, rest.len);
        buf_add_char(&b, rest.len == 0); // the last block says so
        add_little_endian(&b, (uint32_t)block.len, 2);
        add_little_endian(&b, ~(uint32_t)block.len & BLOCK_MAX, 2);
        buf_add(&b, block);
    } while (rest.len > 0);
    add_little_endian(&b, crc32_of(out->body), 4);
    add_little_endian(&b, (uint32_t)out->body.len, 4);
    out->body = buf_str(&b);
    add_header(out, S("Content-Encoding"), S("gzip"));
}

void fault_apply(const struct fault_case *f, struct arena *a, struct serve_reply *out)
{
    switch (f->fault) {
    case SIM_FAULT_NONE:
    case SIM_FAULT_KINDS: return;
    case SIM_FAULT_429: rate_limit(f->wire, a, out); return;
    case SIM_FAULT_429RA:
        rate_limit(f->wire, a, out);
        add_header(out, S("Retry-After"), f->detail % RETRY_AFTER_CHOICES ? S("1") : S("0"));
        return;
    case SIM_FAULT_500: server_error(f->wire, 500, a, out); return;
    case SIM_FAULT_503: server_error(f->wire, 503, a, out); return;
    case SIM_FAULT_BODY502: body502(f->wire, a, out); return;
    case SIM_FAULT_CUT: out->end = SERVE_CUT; return;
    case SIM_FAULT_RESET: out->end = SERVE_RESET; return;
    case SIM_FAULT_STALL: out->end = SERVE_STALL; return;
    case SIM_FAULT_SLOW: out->delay_ms += SLOW_MS; return;
    case SIM_FAULT_HTML: html(out); return;
    case SIM_FAULT_EMPTY: out->body = (str){ 0 }; return;
    case SIM_FAULT_BADUTF8: bad_utf8(f->wire, a, out); return;
    case SIM_FAULT_GZIP: gzip(a, out); return;
    case SIM_FAULT_SSE_COMMENTS: sse_comments(a, out); return;
    }
}

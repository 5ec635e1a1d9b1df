// SPDX-License-Identifier: GPL-3.0-or-later
// reading.c - reads a reply of any endpoint (endpoint specification, section 12). The order is
// fixed: did it arrive, is it JSON, does it hold an error, then the content, which the dialect of
// the endpoint reads. Every path ends in a class; unknown, absent and null members are normal.
#include "llm/internal.h"

// ---- failures ----

static str limit_advice(const struct reading *r, const struct failure *f)
{
    bool newer = str_find(f->message, S("max_completion_tokens")) >= 0;
    if (!newer && !str_eq(f->param, S("max_tokens")))
        return (str){ 0 };
    int64_t limit = r->q->max_tokens > 0 ? r->q->max_tokens : 1024;
    return arena_printf(r->a, "set extra: {max_completion_tokens: %lld} and max_tokens: null",
                        (long long)limit);
}

static str config_advice(const struct reading *r, const struct failure *f)
{
    str own = r->dialect->advise ? r->dialect->advise(r, f) : (str){ 0 };
    if (own.len > 0)
        return own;
    str limit = limit_advice(r, f);
    if (limit.len > 0)
        return limit;
    if (str_eq(f->param, S("temperature")) || str_find(f->message, S("'temperature'")) >= 0)
        return S("this model does not take this temperature: set the one it allows (usually 1)");
    if (f->status == 404)
        return arena_printf(r->a, "check the model name and the base URL %.*s",
                            STR(url_without_query(r->m->base_url)));
    if (f->status >= 300 && f->status < 400)
        return S("redirects are not followed: set the base URL to where this one leads");
    return S("the request or the model's settings are wrong; it would fail again");
}

static str account_advice(const struct reading *r, const struct failure *f)
{
    if (f->status == 401 || failure_has_code(f, S("API_KEY_INVALID")))
        return arena_printf(r->a, "check the key in %.*s", STR(r->m->provider->key_env));
    if (f->status == 403)
        return S("the key lacks the permission, or the region is refused");
    return S("this is the account, not the speed: add credit or raise its limit, then give the "
             "same command again");
}

static str advice(const struct reading *r, const struct failure *f, enum reply_class class)
{
    if (class == REPLY_CONFIG)
        return config_advice(r, f);
    if (class == REPLY_ACCOUNT)
        return account_advice(r, f);
    if (class == REPLY_CONTEXT_OVERFLOW)
        return S("the prompt does not fit into the model's window");
    return (str){ 0 };
}

// A sentence that goes on: its full stop would stand before our own punctuation.
static str without_stop(str s)
{
    s = str_trim(s);
    return str_ends(s, S(".")) && !str_ends(s, S("..")) ? str_sub(s, 0, s.len - 1) : s;
}

// "HTTP 429 insufficient_quota: You exceeded ... (figures); what to do next"
static str sentence(const struct reading *r, const struct failure *f, enum reply_class class)
{
    struct buf b = { .arena = r->a };
    if (f->status != 0)
        buf_addf(&b, "HTTP %d", f->status);
    else
        buf_add(&b, S("error in the reply"));
    if (r->dialect->errors_are_private) {
        str next = advice(r, f, class);
        buf_addf(&b, " (%.*s)%s%.*s", STR(reply_class_name(class)), next.len > 0 ? "; " : "",
                 STR(next));
        return buf_str(&b);
    }
    if (f->codes.n > 0)
        buf_addf(&b, " %.*s", STR(f->codes.v[0]));
    if (f->message.len > 0)
        buf_addf(&b, ": %.*s", STR(without_stop(f->message)));
    if (f->inner_message.len > 0)
        buf_addf(&b, ": %.*s", STR(without_stop(f->inner_message)));
    if (f->figures.len > 0)
        buf_addf(&b, " (%.*s)", STR(f->figures));
    str what = error_text(buf_str(&b), r->m->key, r->a); // before the advice: this may be cut
    str next = advice(r, f, class);
    return next.len == 0 ? what : arena_printf(r->a, "%.*s; %.*s", STR(what), STR(next));
}

void reply_fail(const struct reading *r, enum reply_class class, str error)
{
    r->out->class = class;
    r->out->error = error;
}

// x-should-retry is obeyed, but a code knows better than the header.
static enum reply_class obey_should_retry(const struct reading *r, const struct failure *f,
                                          enum reply_class class)
{
    str wish = str_trim(r->in->headers.should_retry);
    if (str_eq_nocase(wish, S("false")))
        r->out->no_retry = true;
    if (str_eq_nocase(wish, S("true")) && f->by_status && !reply_is_retried(class))
        return REPLY_UPSTREAM;
    return class;
}

static void take_failure(const struct reading *r, struct failure *f)
{
    if (f->status == 0 && r->in->status >= 300)
        f->status = r->in->status;
    struct http_response_headers headers = r->in->headers;
    if (headers.ratelimit_reset.len == 0)
        headers.ratelimit_reset = f->limit_reset;
    r->out->retry_after_ms = retry_hint_ms(&headers);
    if (f->retry_delay_ms > r->out->retry_after_ms)
        r->out->retry_after_ms = f->retry_delay_ms;
    f->retry_after_ms = r->out->retry_after_ms;
    enum reply_class class = obey_should_retry(r, f, classify_failure(f, r->dialect));
    r->out->finish = FINISH_ERROR;
    reply_fail(r, class, sentence(r, f, class));
}

// ---- what content has in common ----

// Thoughts that a server left in the content: <think>...</think> at its begin. Without an end all
// of it is thought: the limit cut it.
str think_split(str content, struct buf *reasoning)
{
    static const str open = T("<think>");
    static const str close = T("</think>");
    for (;;) {
        str rest = str_strip_start(content);
        if (!str_starts(rest, open))
            return content;
        rest = str_sub(rest, open.len, rest.len);
        ptrdiff_t end = str_find(rest, close);
        if (reasoning->len > 0)
            buf_add_char(reasoning, '\n');
        buf_add(reasoning, end < 0 ? rest : str_sub(rest, 0, (size_t)end));
        if (end < 0)
            return (str){ 0 };
        content = str_strip_start(str_sub(rest, (size_t)end + close.len, rest.len));
    }
}

enum finish finish_find(const struct finish_row *rows, size_t n, str native)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq_nocase(native, str_from(rows[i].native)))
            return rows[i].finish;
    return FINISH_UNKNOWN;
}

// A native reason that means the model itself came to an end; none at all counts as such.
static bool is_natural_end(const struct reading *r, str native)
{
    enum finish finish = r->dialect->finish(native);
    return native.len == 0 || finish == FINISH_STOP || finish == FINISH_LENGTH;
}

// Nothing was said: by the model (scored), or because the route broke (field case F-011).
static void take_empty(const struct reading *r, bool has_usage)
{
    struct reply *out = r->out;
    bool no_tokens = has_usage && out->usage.output_tok == 0;
    if ((!has_usage || no_tokens) && !is_natural_end(r, out->native_finish)) {
        reply_fail(r, REPLY_UPSTREAM,
                   error_text(arena_printf(r->a, "no text, no tokens, ended by \"%.*s\"",
                                           STR(out->native_finish)),
                              r->m->key, r->a));
        return;
    }
    if (no_tokens && r->dialect->zero_tokens_fail) {
        reply_fail(r, REPLY_UPSTREAM,
                   S("no text and no tokens: the route ended before the model began"));
        return;
    }
    reply_fail(r, REPLY_EMPTY, S("the model answered with nothing"));
}

// Refusal, filter and limit go before emptiness.
void reply_settle_class(const struct reading *r, str refusal)
{
    struct reply *out = r->out;
    if (refusal.len > 0 || out->finish == FINISH_REFUSED) {
        out->finish = FINISH_REFUSED;
        reply_fail(r, REPLY_REFUSED,
                   error_text(arena_printf(r->a, "the model refused: %.*s", STR(refusal)),
                              r->m->key, r->a));
    } else if (out->finish == FINISH_ERROR) {
        reply_fail(r, REPLY_UPSTREAM, S("the generation ended with an error"));
    } else if (out->finish == FINISH_FILTERED) {
        reply_fail(r, REPLY_FILTERED, S("the answer was cut by a content filter"));
    } else if (out->finish == FINISH_LENGTH) {
        reply_fail(r, REPLY_TRUNCATED, S("the answer reached the token limit"));
    } else if (str_trim(out->text).len == 0) {
        take_empty(r, out->usage.source == KNOWN_REPORTED);
    } else {
        out->class = REPLY_OK;
    }
}

str member_text(const struct reading *r, const json_t *object, const char *name)
{
    return arena_str(r->a, json_get_str(object, name));
}

static str first_text(const struct reading *r, const json_t *root, const char *name,
                      const char *other)
{
    str text = member_text(r, root, name);
    return text.len > 0 ? text : member_text(r, root, other);
}

// ---- bodies ----

static void take_root(const struct reading *r, const json_t *root)
{
    struct reply *out = r->out;
    struct failure f;
    out->simulated = json_is_true(json_object_get(root, "simulated"));
    out->served_model = first_text(r, root, "model", "modelVersion");
    out->served_provider = member_text(r, root, "provider");
    out->fingerprint = member_text(r, root, "system_fingerprint");
    if (out->request_id.len == 0)
        out->request_id = first_text(r, root, "id", "responseId");
    if (failure_read(root, r->a, &f) || r->in->status >= 300) {
        // What failed in mid-generation is billed all the same where the body says so.
        if (r->dialect->usage && json_is_object(json_object_get(root, r->dialect->usage)))
            usage_settle(r, root);
        take_failure(r, &f);
    } else {
        r->dialect->content(r, root);
    }
}

// A body that is not JSON: the status decides, else it is against the protocol.
static void take_unreadable(const struct reading *r, str body, bool is_page)
{
    struct failure f = { .retry_after_ms = -1, .retry_delay_ms = -1 };
    f.message =
        is_page ? S("the endpoint answered with a page, not with JSON") : text_cut(body, 2000);
    if (r->in->status >= 300) {
        take_failure(r, &f);
        return;
    }
    str what =
        is_page ? S("a page, not JSON; check the base URL") : S("something that is not JSON");
    if (body.len == 0)
        what = S("an empty body");
    reply_fail(r, REPLY_PROTOCOL,
               arena_printf(r->a, "HTTP %d with %.*s", r->in->status, STR(what)));
}

static void take_stream(const struct reading *r)
{
    json_t *root = stream_fold(r);
    if (root)
        take_root(r, root);
    json_decref(root);
}

static void take_body(const struct reading *r)
{
    if (r->dialect->stream_add && stream_is(r->in)) {
        take_stream(r);
        return;
    }
    str body = json_trim(r->in->body);
    bool is_page = str_starts(body, S("<")); // whatever the content type says
    bool relaxed = false;
    json_t *root = is_page ? NULL : json_read_envelope(body, &relaxed, NULL);
    if (!json_is_object(root) && !json_is_array(root)) {
        take_unreadable(r, body, is_page);
    } else {
        if (relaxed)
            reply_add_note(r->out, S("the body was not strict JSON and was mended"), r->a);
        take_root(r, root);
    }
    json_decref(root);
}

static void take_response(const struct reading *r)
{
    const struct http_response *in = r->in;
    if (in->status == 0)
        reply_fail(r, REPLY_TRANSPORT, S("no response arrived"));
    else if (!in->complete)
        reply_fail(r, REPLY_TRANSPORT, S("the response broke off before its end"));
    else if (in->body.len > RESPONSE_MAX_BYTES)
        reply_fail(
            r, REPLY_PROTOCOL,
            arena_printf(r->a, "the response is larger than %d MiB", RESPONSE_MAX_BYTES >> 20));
    else if (in->status < 200)
        reply_fail(r, REPLY_PROTOCOL, S("an informational response where an answer was due"));
    else
        take_body(r);
}

// After the key was taken out: half a key would not be found any more.
static void cut_names(struct reply *out)
{
    enum { NAME_MAX_BYTES = 256 };
    str *const names[] = { &out->native_finish, &out->served_model, &out->served_provider,
                           &out->request_id, &out->fingerprint };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        *names[i] = str_sub(*names[i], 0, NAME_MAX_BYTES);
}

void reply_read(const struct reading *r)
{
    *r->out = (struct reply){ .http_status = r->in->status,
                              .retry_after_ms = -1,
                              .request_id = arena_str(r->a, r->in->headers.request_id) };
    take_response(r);
    reply_mask_key(r->out, r->m->key, r->a);
    cut_names(r->out);
}

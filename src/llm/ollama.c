// SPDX-License-Identifier: GPL-3.0-or-later
// ollama.c - Ollama's own route, /api/chat (endpoint specification, section 11). Unlike its OpenAI
// route it takes the size of the window, which is therefore always sent: left to the server, long
// prompts are cut without a word (field case F-022). One that cannot fit is told from the request,
// since the server tells nothing.
#include <string.h>

#include "llm/internal.h"

enum { WINDOW_TOK = 8192 };

static int64_t window_of(const struct model *m)
{
    return json_get_int(json_object_get(m->extra, "options"), "num_ctx", WINDOW_TOK);
}

// ---- requests ----

static void put_options(struct json_out *o, const struct model *m, const struct model_request *q)
{
    const char *key;
    json_t *value;
    json_key_open(o, S("options"), '{');
    json_key_int(o, S("num_ctx"), window_of(m));
    if (q->max_tokens > 0) {
        json_key_int(o, S("num_predict"), q->max_tokens);
    }
    if (q->has_temperature) {
        json_key_double(o, S("temperature"), q->temperature);
    }
    json_object_foreach (json_iterable(json_object_get(m->extra, "options")), key, value) {
        if (strcmp(key, "num_ctx") == 0)
            continue;
        json_key(o, str_from(key));
        json_put_value(o, value);
    }
    json_close(o, '}');
}

static void put_format(struct json_out *o, const struct model_request *q, struct arena *a)
{
    if (q->format == FORMAT_NONE)
        return;
    json_key(o, S("format"));
    if (q->format == FORMAT_SCHEMA && q->signature && q->signature->n_outputs > 0)
        schema_write(o, q->signature, S("answer"), a);
    else
        json_put_str(o, S("json"));
}

// The base may hold the /v1 of the other route, as people are used to write it.
static str ollama_url(const struct model *m, struct arena *a)
{
    str front = url_without_query(m->base_url);
    str query = str_sub(m->base_url, front.len, m->base_url.len);
    if (str_ends(front, S("/api/chat")))
        return m->base_url;
    if (str_ends(front, S("/v1")))
        front.len -= 3;
    else if (str_ends(front, S("/api")))
        front.len -= 4;
    return arena_printf(a, "%.*s/api/chat%.*s", STR(front), STR(query));
}

static bool ollama_build(const struct model *m, const struct model_request *q, struct arena *a,
                         struct http_request *out, struct err *err)
{
    struct buf b = { .arena = a, .max = REQUEST_MAX_BYTES };
    struct json_out o = { .b = &b };
    json_t *rest = extra_sent(m->extra);
    json_object_del(rest, "options");
    json_open(&o, '{');
    json_key_str(&o, S("model"), m->id);
    json_key_bool(&o, S("stream"), false); // the default here is true
    json_key(&o, S("messages"));
    messages_write(&q->messages, &o);
    put_format(&o, q, a);
    put_options(&o, m, q);
    extra_write(&o, rest);
    json_close(&o, '}');
    json_decref(rest);
    *out = (struct http_request){ .url = ollama_url(m, a) };
    if (!request_make(m, &b, out, err))
        return false;
    if (m->key.len > 0) // of a proxy in front; the server itself knows none
        request_header(out, S("Authorization"), arena_printf(a, "Bearer %.*s", STR(m->key)));
    return true;
}

// ---- replies ----

static enum finish ollama_finish(str native)
{
    static const struct finish_row rows[] = {
        { "stop", FINISH_STOP },
        { "length", FINISH_LENGTH },
        { "load", FINISH_ERROR }, // the model was loaded, and nothing more
    };
    return finish_find(rows, ARRAY_LEN(rows), native);
}

static int64_t sent_tokens(const struct model_request *q)
{
    int64_t tok = 0;
    for (size_t i = 0; i < q->messages.n; i++)
        tok += tokens_estimate(q->messages.v[i].text);
    return tok;
}

static void ollama_content(const struct reading *r, const json_t *root)
{
    const json_t *message = json_object_get(root, "message");
    struct buf thoughts = { .arena = r->a };
    if (!json_is_object(message)) {
        reply_fail(r, REPLY_PROTOCOL, S("the reply has no message"));
        return;
    }
    if (!json_is_true(json_object_get(root, "done"))) {
        reply_fail(r, REPLY_TRANSPORT, S("the reply ended before it was done"));
        return;
    }
    buf_add(&thoughts, json_get_str(message, "thinking"));
    r->out->text = think_split(member_text(r, message, "content"), &thoughts);
    r->out->reasoning = buf_str(&thoughts);
    r->out->native_finish = member_text(r, root, "done_reason");
    r->out->finish = ollama_finish(r->out->native_finish);
    usage_settle(r, root);
    // The estimate is low for chess notation: what passes the window by it was cut for certain.
    int64_t sent = sent_tokens(r->q);
    int64_t window = window_of(r->m);
    if (sent > window)
        reply_fail(r, REPLY_CONTEXT_OVERFLOW,
                   arena_printf(r->a,
                                "the server cut the prompt: about %lld tokens were sent and its "
                                "window is %lld; set extra: {options: {num_ctx: N}}",
                                (long long)sent, (long long)window));
    else
        reply_settle_class(r, (str){ 0 });
}

static void ollama_counts(const json_t *root, struct counts *out)
{
    out->input = count_of(root, "prompt_eval_count"); // absent where the prompt was cached
    out->output = count_of(root, "eval_count");
}

// A full queue answers 503.
static bool ollama_first(const struct failure *f, enum reply_class *out)
{
    *out = REPLY_RATE_LIMIT;
    return f->status == 503;
}

static str ollama_advice(const struct reading *r, const struct failure *f)
{
    return f->status == 404
               ? arena_printf(r->a, "pull the model first: ollama pull %.*s", STR(r->m->id))
               : (str){ 0 };
}

static const struct dialect dialect = {
    .content = ollama_content,
    .finish = ollama_finish,
    .counts = ollama_counts,
    .first = ollama_first,
    .advise = ollama_advice,
};

// ---- a stream, where a server in between turned it on: a JSON object a line (F-012) ----

// The pieces as one reply: texts joined, an error as it is, the rest from the last line. Empty:
// this is no such stream.
static str joined(str body, struct arena *a)
{
    struct buf text = { .arena = a }, thoughts = { .arena = a }, out = { .arena = a };
    json_t *last = NULL;
    while (body.len > 0) {
        str line = str_trim(str_cut_line(&body));
        if (line.len == 0)
            continue;
        json_decref(last);
        last = json_read_envelope(line, NULL, NULL);
        const json_t *message = json_object_get(last, "message");
        buf_add(&text, json_get_str(message, "content"));
        buf_add(&thoughts, json_get_str(message, "thinking"));
        if (!json_is_object(last) || json_object_get(last, "error"))
            break;
    }
    json_t *message = json_object_get(last, "message");
    if (json_is_object(message)) {
        json_object_set_new(message, "content",
                            json_stringn_nocheck(buf_str(&text).data, text.len));
        json_object_set_new(message, "thinking",
                            json_stringn_nocheck(buf_str(&thoughts).data, thoughts.len));
    }
    if (json_is_object(last))
        json_put_value(&(struct json_out){ .b = &out }, last);
    json_decref(last);
    return buf_str(&out);
}

static bool is_lines(str body)
{
    str first = str_cut_line(&body);
    return str_starts(first, S("{")) && str_ends(str_trim(first), S("}")) &&
           str_starts(str_strip_start(body), S("{"));
}

static void ollama_parse(const struct model *m, const struct model_request *q,
                         const struct http_response *in, struct arena *a, struct reply *out)
{
    struct http_response whole = *in;
    if (in->complete && in->body.len <= RESPONSE_MAX_BYTES && is_lines(in->body))
        whole.body = joined(in->body, a);
    reply_read(&(struct reading){ m, q, &whole, a, &dialect, out });
}

// ---- settings ----

static bool options_check(const struct model *m, struct err *err)
{
    const json_t *options = json_object_get(m->extra, "options");
    const struct refused rows[] = {
        { "temperature", "set the model's temperature instead" },
        { "num_predict", "set the model's max_tokens instead" },
    };
    if (options && !json_is_object(options))
        return err_set(err, ERR_USAGE, "%.*s: options must be a mapping", STR(m->name));
    struct model inside = *m;
    inside.extra = options;
    if (window_of(m) < 1)
        return err_set(err, ERR_USAGE, "%.*s: num_ctx must be a whole number from 1", STR(m->name));
    return extra_check(&inside, rows, ARRAY_LEN(rows), err);
}

static bool ollama_open(struct model *m, struct arena *a, struct err *err)
{
    (void)a;
    static const char *const known[] = { "options", "think", "keep_alive" };
    json_t *rest = extra_sent(m->extra);
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        json_object_del(rest, known[i]);
    const char *stray = json_object_iter_key(json_object_iter(rest));
    bool ok = !stray || err_set(err, ERR_USAGE,
                                "%.*s: extra may not hold %s: it takes think, keep_alive and "
                                "options, which holds num_ctx, seed, top_k, top_p, stop and so on",
                                STR(m->name), str_show(str_from(stray), 60).text);
    json_decref(rest);
    return ok && options_check(m, err);
}

const struct provider provider_ollama = {
    .name = T("ollama"),
    .default_base_url = T("http://localhost:11434"),
    .key_env = T("OLLAMA_API_KEY"),
    .key_optional = true,
    .version = 1,
    .build = ollama_build,
    .parse = ollama_parse,
    .open = ollama_open,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// anthropic.c - Anthropic's messages (endpoint specification, section 7). The system text stands
// apart, a limit is required, and there is no JSON mode without a schema: a plain request is made
// where the re-ask of a schema model wants one. Thinking restricts the sampling, so a temperature
// that would have to be dropped is refused instead.
#include "llm/internal.h"

enum { THINKING_MIN_TOK = 1024 };
static const char version[] = "2023-06-01";

// ---- requests ----

static const json_t *thinking_of(const struct model *m)
{
    const json_t *thinking = json_object_get(m->extra, "thinking");
    str type = json_get_str(thinking, "type");
    return type.len > 0 && !str_eq(type, S("disabled")) ? thinking : NULL;
}

// What the endpoint allows: 0 to 1, and with thinking only its default, which is then not sent.
static bool temperature_check(const struct model *m, double temperature, struct err *err)
{
    if (thinking_of(m) && temperature != 1)
        return err_set(err, ERR_USAGE,
                       "%.*s: a temperature cannot be set together with thinking; set it to 1",
                       STR(m->name));
    return temperature <= 1 ||
           err_set(err, ERR_USAGE, "%.*s: this endpoint takes temperatures from 0 to 1",
                   STR(m->name));
}

static void put_text(struct json_out *o, str text, const json_t *mark)
{
    json_open(o, '{');
    json_key_str(o, S("type"), S("text"));
    json_key_str(o, S("text"), text);
    if (mark) {
        json_key(o, S("cache_control"));
        json_put_value(o, mark);
    }
    json_close(o, '}');
}

// The marks end what all positions of a program share: its instruction and its demonstrations.
static void put_system(struct json_out *o, const struct messages *m, const json_t *mark)
{
    if (m->n == 0 || m->v[0].role != ROLE_SYSTEM || str_trim(m->v[0].text).len == 0)
        return; // empty texts are refused; none says the same
    json_key_open(o, S("system"), '[');
    put_text(o, m->v[0].text, mark);
    json_close(o, ']');
}

static void put_turns(struct json_out *o, const struct messages *m, const json_t *mark)
{
    json_key_open(o, S("messages"), '[');
    for (size_t i = m->n > 0 && m->v[0].role == ROLE_SYSTEM; i < m->n; i++) {
        bool ends_demos = i + 2 == m->n && m->v[i].role == ROLE_ASSISTANT;
        json_open(o, '{');
        json_key_str(o, S("role"), role_name(m->v[i].role));
        json_key_open(o, S("content"), '[');
        put_text(o, m->v[i].text, ends_demos ? mark : NULL);
        json_close(o, ']');
        json_close(o, '}');
    }
    json_close(o, ']');
}

static void put_output(struct json_out *o, const struct model *m, const struct model_request *q,
                       struct arena *a)
{
    const json_t *given = json_object_get(m->extra, "output_config");
    bool schema = q->format == FORMAT_SCHEMA && q->signature && q->signature->n_outputs > 0;
    if (!schema && !given)
        return;
    const char *key;
    json_t *value;
    json_key_open(o, S("output_config"), '{');
    json_object_foreach (json_iterable(given), key, value) {
        json_key(o, str_from(key));
        json_put_value(o, value);
    }
    if (schema) {
        json_key_open(o, S("format"), '{');
        json_key_str(o, S("type"), S("json_schema"));
        json_key(o, S("schema"));
        schema_write(o, q->signature, S("answer"), a);
        json_close(o, '}');
    }
    json_close(o, '}');
}

static void put_others(struct json_out *o, const struct model *m)
{
    json_t *rest = extra_sent(m->extra);
    json_object_del(rest, "cache_control");
    json_object_del(rest, "output_config");
    extra_write(o, rest);
    json_decref(rest);
}

// What the endpoint would refuse anyway, said before it is paid for.
static bool turns_check(const struct model *m, const struct messages *t, struct err *err)
{
    size_t first = t->n > 0 && t->v[0].role == ROLE_SYSTEM;
    if (first == t->n || t->v[first].role != ROLE_USER)
        return err_set(err, ERR_INPUT, "%.*s: a chat must begin with the user's turn here",
                       STR(m->name));
    for (size_t i = first; i < t->n; i++)
        if (str_trim(t->v[i].text).len == 0 || t->v[i].role == ROLE_SYSTEM)
            return err_set(err, ERR_INPUT,
                           "%.*s: message %zu is empty or a second system text, which this "
                           "endpoint refuses",
                           STR(m->name), i + 1);
    return true;
}

static bool anthropic_build(const struct model *m, const struct model_request *q, struct arena *a,
                            struct http_request *out, struct err *err)
{
    if (!turns_check(m, &q->messages, err) ||
        (q->has_temperature && !temperature_check(m, q->temperature, err)))
        return false;
    const json_t *mark = json_object_get(m->extra, "cache_control");
    struct buf b = { .arena = a, .max = REQUEST_MAX_BYTES };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("model"), m->id);
    json_key_int(&o, S("max_tokens"), q->max_tokens);
    if (q->has_temperature && !thinking_of(m)) {
        json_key_double(&o, S("temperature"), q->temperature);
    }
    put_system(&o, &q->messages, mark);
    put_turns(&o, &q->messages, mark);
    put_output(&o, m, q, a);
    put_others(&o, m);
    if (model_streams(m)) {
        json_key_bool(&o, S("stream"), true);
    }
    json_close(&o, '}');
    *out = (struct http_request){ .url = url_join(m->base_url, S("/v1"), S("/messages"), a),
                                  .streamed = model_streams(m) };
    if (!request_make(m, &b, out, err))
        return false;
    request_header(out, S("anthropic-version"), str_from(version));
    if (m->key.len > 0)
        request_header(out, S("x-api-key"), m->key);
    return true;
}

// ---- replies ----

static enum finish anthropic_finish(str native)
{
    static const struct finish_row rows[] = {
        { "end_turn", FINISH_STOP },     { "stop_sequence", FINISH_STOP },
        { "max_tokens", FINISH_LENGTH }, { "model_context_window_exceeded", FINISH_LENGTH },
        { "refusal", FINISH_REFUSED },   { "tool_use", FINISH_TOOL },
        { "pause_turn", FINISH_TOOL },
    };
    return finish_find(rows, ARRAY_LEN(rows), native);
}

static void anthropic_content(const struct reading *r, const json_t *root)
{
    const json_t *content = json_object_get(root, "content");
    struct buf answer = { .arena = r->a };
    struct buf thoughts = { .arena = r->a };
    if (!json_is_array(content)) {
        reply_fail(r, REPLY_PROTOCOL, S("the reply has no content"));
        return;
    }
    for (size_t i = 0; i < json_array_size(content); i++) {
        const json_t *block = json_array_get(content, i);
        str type = json_get_str(block, "type");
        if (str_eq(type, S("text")))
            buf_add(&answer, json_get_str(block, "text"));
        else if (str_eq(type, S("thinking")))
            buf_add(&thoughts, json_get_str(block, "thinking"));
    }
    r->out->text = think_split(buf_str(&answer), &thoughts);
    r->out->reasoning = buf_str(&thoughts);
    r->out->native_finish = member_text(r, root, "stop_reason");
    r->out->finish = anthropic_finish(r->out->native_finish);
    usage_settle(r, root);
    reply_settle_class(r, (str){ 0 });
}

// ---- streams ----

static void add_usage(struct pieces *p, const json_t *usage)
{
    json_t *all = json_object_get(p->whole, "usage");
    if (!json_is_object(usage))
        return;
    if (!all)
        json_object_set_new(p->whole, "usage", all = mem_must(json_object()));
    json_object_update(all, json_iterable(usage)); // counts are cumulative
}

// message_start tells the input, deltas the text, message_delta the reason and the output; unknown
// events pass.
static void anthropic_stream_add(struct pieces *p, const json_t *event)
{
    static const char *const pieces[] = { "content_block", "delta" };
    str type = json_get_str(event, "type");
    if (str_eq(type, S("message_start"))) {
        const json_t *message = json_object_get(event, "message");
        static const char *const kept[] = { "id", "model", "usage", "simulated" };
        for (size_t i = 0; i < ARRAY_LEN(kept); i++)
            pieces_keep(p, message, kept[i]);
    } else if (str_eq(type, S("message_delta"))) {
        pieces_keep(p, json_object_get(event, "delta"), "stop_reason");
        add_usage(p, json_object_get(event, "usage"));
    } else if (str_eq(type, S("message_stop"))) {
        p->ended = true;
    }
    for (size_t i = 0; i < ARRAY_LEN(pieces) && str_starts(type, S("content_block")); i++) {
        const json_t *piece = json_object_get(event, pieces[i]);
        buf_add(&p->texts.answer, json_get_str(piece, "text"));
        buf_add(&p->texts.reasoning, json_get_str(piece, "thinking"));
    }
}

static void anthropic_stream_end(struct pieces *p)
{
    json_t *content = json_pack("[{s:s,s:o},{s:s,s:o}]", "type", "thinking", "thinking",
                                text_new(&p->texts.reasoning), "type", "text", "text",
                                text_new(&p->texts.answer));
    json_object_set_new(p->whole, "content", mem_must(content));
}

static int64_t or_0(int64_t count)
{
    return count < 0 ? 0 : count;
}

// The two counts of the cache stand beside input_tokens, not inside.
static void anthropic_counts(const json_t *usage, struct counts *out)
{
    int64_t fresh = count_of(usage, "input_tokens");
    out->cached = count_of(usage, "cache_read_input_tokens");
    out->cache_write = count_of(usage, "cache_creation_input_tokens");
    out->input = fresh < 0 ? -1 : fresh + or_0(out->cached) + or_0(out->cache_write);
    out->output = count_of(usage, "output_tokens");
}

static bool anthropic_first(const struct failure *f, enum reply_class *out)
{
    static const char *const money[] = { "credit balance", "spend limit", "spending limit" };
    bool spent = false;
    if (failure_has_code(f, S("rate_limit_error")))
        spent = failure_has_code(f, S("enforced_spend_limit_reached")) && f->retry_after_ms < 0;
    else if (failure_has_code(f, S("invalid_request_error")))
        for (size_t i = 0; i < ARRAY_LEN(money); i++)
            spent = spent || text_contains(f->message, str_from(money[i]));
    *out = REPLY_ACCOUNT;
    return spent;
}

static const struct dialect dialect = {
    .content = anthropic_content,
    .finish = anthropic_finish,
    .usage = "usage",
    .counts = anthropic_counts,
    .first = anthropic_first,
    .stream_add = anthropic_stream_add,
    .stream_end = anthropic_stream_end,
};

static void anthropic_parse(const struct model *m, const struct model_request *q,
                            const struct http_response *in, struct arena *a, struct reply *out)
{
    reply_read(&(struct reading){ m, q, in, a, &dialect, out });
}

// ---- settings ----

static bool thinking_check(struct model *m, struct err *err)
{
    const json_t *thinking = thinking_of(m);
    int64_t budget = json_get_int(thinking, "budget_tokens", 0);
    if (m->max_tokens == 0) // required here; thinking counts against it
        m->max_tokens = LOCAL_OUTPUT_TOK + budget;
    if (!thinking)
        return true;
    if (str_eq(json_get_str(thinking, "type"), S("enabled")) &&
        (budget < THINKING_MIN_TOK || budget >= m->max_tokens))
        return err_set(err, ERR_USAGE,
                       "%.*s: thinking.budget_tokens must be at least %d and below max_tokens "
                       "(%lld)",
                       STR(m->name), THINKING_MIN_TOK, (long long)m->max_tokens);
    static const struct refused rows[] = {
        { "top_k", "it cannot be set together with thinking" },
        { "top_p", "it cannot be set together with thinking" },
    };
    return extra_check(m, rows, ARRAY_LEN(rows), err);
}

static bool stops_check(const struct model *m, struct err *err)
{
    const json_t *stops = json_object_get(m->extra, "stop_sequences");
    for (size_t i = 0; i < json_array_size(stops); i++)
        if (str_trim(json_view(json_array_get(stops, i))).len == 0)
            return err_set(err, ERR_USAGE,
                           "%.*s: stop_sequences may not hold a text of white space alone",
                           STR(m->name));
    return true;
}

static bool anthropic_open(struct model *m, struct arena *a, struct err *err)
{
    (void)a;
    static const struct refused rows[] = {
        { "model", "name the model instead" },
        { "messages", "the program makes the messages" },
        { "system", "the program makes the system text" },
        { "temperature", "set the model's temperature instead" },
        { "max_tokens", "set the model's max_tokens instead" },
        { "max_completion_tokens", "set the model's max_tokens instead" },
        { "response_format", "set the model's answer format instead" },
        { "n", "repeats are separate calls" },
        { "seed", "this endpoint has no seed" },
        { "logprobs", "this endpoint has none" },
        { "stop", "it is called stop_sequences here" },
        { "reasoning_effort", "use thinking or output_config.effort" },
    };
    if (json_object_get(json_object_get(m->extra, "output_config"), "format"))
        return err_set(err, ERR_USAGE,
                       "%.*s: extra may not hold output_config.format: set the model's answer "
                       "format instead",
                       STR(m->name));
    return extra_check(m, rows, ARRAY_LEN(rows), err) && stops_check(m, err) &&
           thinking_check(m, err) &&
           (!m->has_temperature || temperature_check(m, m->temperature, err));
}

const struct provider provider_anthropic = {
    .name = T("anthropic"),
    .default_base_url = T("https://api.anthropic.com/v1"),
    .key_env = T("ANTHROPIC_API_KEY"),
    .no_json_mode = true,
    .streams = true,
    .version = 1,
    .build = anthropic_build,
    .parse = anthropic_parse,
    .open = anthropic_open,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// wire_anthropic.c - Anthropic's messages from the endpoint's side (endpoint specification, section
// 7). What the real endpoint refuses is refused here too.
#include "simulate/internal.h"

static void anthropic_error(const struct wire_error *e, struct arena *a, struct serve_reply *out)
{
    static const struct {
        int status;
        const char *type;
    } types[] = { { 400, "invalid_request_error" },
                  { 401, "authentication_error" },
                  { 404, "not_found_error" },
                  { 429, "rate_limit_error" },
                  { 503, "overloaded_error" } };
    str type = S("api_error");
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (types[i].status == e->status)
            type = str_from(types[i].type);
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("type"), S("error"));
    json_key_open(&o, S("error"), '{');
    json_key_str(&o, S("type"), type);
    json_key_str(&o, S("message"), e->message);
    json_close(&o, '}');
    json_key_str(&o, S("request_id"), S("req_simulated"));
    json_close(&o, '}');
    wire_send(e->status, &b, out);
}

static bool read_system(const struct reader *r, const json_t *system)
{
    str text;
    if (!system)
        return true;
    if (!wire_read_content(system, r->a, &text))
        return wire_refuse(r, S("system"), S("system must be a string or an array of text blocks"));
    wire_add_message(r, ROLE_SYSTEM, text);
    return true;
}

// Turns of user and assistant, the user's first, none of them empty.
static bool check_turns(const struct reader *r, size_t first)
{
    const struct messages *m = &r->q->request.messages;
    for (size_t i = first; i < m->n; i++)
        if (m->v[i].role == ROLE_SYSTEM || str_trim(m->v[i].text).len == 0)
            return wire_refuse(r, S("messages"), S("text content blocks must be non-empty"));
    return m->v[first].role == ROLE_USER ||
           wire_refuse(r, S("messages"), S("the first message must use the user role"));
}

static bool anthropic_read(const struct reader *r, const json_t *body)
{
    struct completion *q = r->q;
    if (!wire_read_model(r, json_get_str(body, "model")))
        return false;
    if (!json_is_integer(json_object_get(body, "max_tokens")))
        return wire_refuse(r, S("max_tokens"), S("max_tokens: Field required"));
    const json_t *thinking = json_object_get(body, "thinking");
    const json_t *temperature = json_object_get(body, "temperature");
    if (str_eq(json_get_str(thinking, "type"), S("enabled")) && temperature &&
        json_number_value(temperature) < 1)
        return wire_refuse(r, S("temperature"),
                           S("temperature may only be set to 1 when thinking is enabled"));
    q->stream = json_is_true(json_object_get(body, "stream"));
    if (!read_system(r, json_object_get(body, "system")))
        return false;
    size_t first = q->request.messages.n;
    return wire_read_messages(r, json_object_get(body, "messages")) && check_turns(r, first) &&
           wire_read_temperature(r, temperature, 1) &&
           wire_read_int(r, body, "max_tokens", 1, &q->request.max_tokens);
}

static void anthropic_reply(const struct completion *q, const struct reply *answers,
                            struct arena *a, struct serve_reply *out)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("id"), arena_printf(a, "msg_%.*s", STR(answers[0].request_id)));
    json_key_str(&o, S("type"), S("message"));
    json_key_str(&o, S("role"), S("assistant"));
    json_key_str(&o, S("model"), q->model);
    json_key_bool(&o, S("simulated"), true);
    json_key_open(&o, S("content"), '[');
    json_open(&o, '{');
    json_key_str(&o, S("type"), S("text"));
    json_key_str(&o, S("text"), answers[0].text);
    json_close(&o, '}');
    json_close(&o, ']');
    json_key_str(&o, S("stop_reason"),
                 answers[0].finish == FINISH_LENGTH ? S("max_tokens") : S("end_turn"));
    json_key_null(&o, S("stop_sequence"));
    json_key_open(&o, S("usage"), '{');
    json_key_int(&o, S("input_tokens"), answers[0].usage.input_tok);
    json_key_int(&o, S("output_tokens"), answers[0].usage.output_tok);
    json_key_int(&o, S("cache_creation_input_tokens"), 0);
    json_key_int(&o, S("cache_read_input_tokens"), 0);
    json_close(&o, '}');
    json_close(&o, '}');
    wire_send(200, &b, out);
}

// ---- the reply in pieces ----

static void put_start(struct json_out *o, const struct completion *q, const struct reply *r)
{
    json_open(o, '{');
    json_key_str(o, S("type"), S("message_start"));
    json_key_open(o, S("message"), '{');
    json_key_str(o, S("id"), arena_printf(o->b->arena, "msg_%.*s", STR(r->request_id)));
    json_key_str(o, S("model"), q->model);
    json_key_bool(o, S("simulated"), true);
    json_key_open(o, S("usage"), '{');
    json_key_int(o, S("input_tokens"), r->usage.input_tok);
    json_key_int(o, S("output_tokens"), 1);
    json_close(o, '}');
    json_close(o, '}');
    json_close(o, '}');
}

static void put_delta(struct json_out *o, str text)
{
    json_open(o, '{');
    json_key_str(o, S("type"), S("content_block_delta"));
    json_key_int(o, S("index"), 0);
    json_key_open(o, S("delta"), '{');
    json_key_str(o, S("type"), S("text_delta"));
    json_key_str(o, S("text"), text);
    json_close(o, '}');
    json_close(o, '}');
}

static void put_end(struct json_out *o, const struct reply *r)
{
    json_open(o, '{');
    json_key_str(o, S("type"), S("message_delta"));
    json_key_open(o, S("delta"), '{');
    json_key_str(o, S("stop_reason"), r->finish == FINISH_LENGTH ? S("max_tokens") : S("end_turn"));
    json_close(o, '}');
    json_key_open(o, S("usage"), '{');
    json_key_int(o, S("output_tokens"), r->usage.output_tok);
    json_close(o, '}');
    json_close(o, '}');
}

static void anthropic_stream(const struct completion *q, const struct reply *answer,
                             struct arena *a, struct serve_reply *out)
{
    struct buf b = { .arena = a };
    struct buf json = { .arena = a };
    put_start(&(struct json_out){ .b = &json }, q, answer);
    wire_event(&b, "message_start", &json);
    buf_add(&b, S("event: ping\ndata: {\"type\":\"ping\"}\n\n"));
    for (str rest = answer->text; rest.len > 0;) {
        put_delta(&(struct json_out){ .b = &json }, wire_piece(&rest));
        wire_event(&b, "content_block_delta", &json);
    }
    put_end(&(struct json_out){ .b = &json }, answer);
    wire_event(&b, "message_delta", &json);
    buf_add(&b, S("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
    wire_send_stream(&b, out);
}

const struct wire wire_anthropic = {
    .read = anthropic_read,
    .reply = anthropic_reply,
    .stream = anthropic_stream,
    .error = anthropic_error,
    .has_own_key = true,
    .text_mark = "\"text\":\"",
};

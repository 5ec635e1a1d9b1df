// SPDX-License-Identifier: GPL-3.0-or-later
// wire.c - OpenAI chat completions from the endpoint's side (endpoint specification, section 3):
// reads requests, writes replies and errors.
//
// The JSON must be right and the members we use must have their types; members that we do not know
// are let pass, as real endpoints do. What we know and cannot do (streams, tools) is refused.
#include "simulate/internal.h"

enum { CHOICES_MAX = 16, MESSAGES_MAX = 4096, TOKENS_MAX = 1 << 20, TEMPERATURE_MAX = 2 };
#define MODEL_PREFIX "sim-"

// ---- errors ----

void wire_error(const struct wire_error *e, struct arena *a, struct serve_reply *out)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_open(&o, S("error"), '{');
    json_key_maybe(&o, S("message"), e->message);
    json_key_maybe(&o, S("type"), e->type);
    json_key_maybe(&o, S("param"), e->param);
    json_key_maybe(&o, S("code"), e->code);
    json_close(&o, '}');
    json_close(&o, '}');
    out->status = e->status;
    out->content_type = S("application/json");
    out->body = buf_str(&b);
}

struct reader { // of one request: where it goes and what was wrong with it
    struct arena *a;
    struct completion *q;
    struct serve_reply *out;
};

static bool refuse(const struct reader *r, str param, str message)
{
    wire_error(
        &(struct wire_error){
            .status = 400, .message = message, .type = S("invalid_request_error"), .param = param },
        r->a, r->out);
    return false;
}

// ---- the request ----

static bool read_role(str name, enum role *out)
{
    static const struct {
        const char *name;
        enum role role;
    } roles[] = { { "system", ROLE_SYSTEM },
                  { "developer", ROLE_SYSTEM },
                  { "user", ROLE_USER },
                  { "assistant", ROLE_ASSISTANT } };
    for (size_t i = 0; i < ARRAY_LEN(roles); i++)
        if (str_eq(name, str_from(roles[i].name))) {
            *out = roles[i].role;
            return true;
        }
    return false;
}

// A content is a text, or text parts in an array.
static bool read_content(const json_t *content, struct arena *a, str *out)
{
    if (json_is_string(content)) {
        *out = arena_str(a, json_view(content));
        return true;
    }
    if (!json_is_array(content))
        return false;
    struct buf b = { .arena = a };
    for (size_t i = 0; i < json_array_size(content); i++) {
        const json_t *part = json_array_get(content, i);
        if (!str_eq(json_get_str(part, "type"), S("text")) ||
            !json_is_string(json_object_get(part, "text")))
            return false;
        buf_add(&b, json_get_str(part, "text"));
    }
    *out = buf_str(&b);
    return true;
}

static bool read_messages(const struct reader *r, const json_t *list)
{
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n == 0 || n > MESSAGES_MAX)
        return refuse(r, S("messages"), S("messages must be an array of 1 to 4096 messages"));
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        struct message m;
        if (!read_role(json_get_str(item, "role"), &m.role))
            return refuse(r, arena_printf(r->a, "messages[%zu].role", i),
                          S("the role must be system, developer, user or assistant"));
        if (!read_content(json_object_get(item, "content"), r->a, &m.text))
            return refuse(r, arena_printf(r->a, "messages[%zu].content", i),
                          S("the content must be a string or an array of text parts"));
        *vec_push(r->a, &r->q->request.messages) = m;
    }
    return true;
}

static bool read_temperature(const struct reader *r, const json_t *value)
{
    r->q->request.has_temperature = value && !json_is_null(value);
    if (!r->q->request.has_temperature)
        return true;
    double t = json_number_value(value);
    if (!json_is_number(value) || !(t >= 0 && t <= TEMPERATURE_MAX))
        return refuse(r, S("temperature"), S("temperature must be a number from 0 to 2"));
    r->q->request.temperature = t;
    return true;
}

// An integer member in [min, max]; absent or null leaves `*out` alone.
struct range {
    int64_t min, max;
};
static bool read_int(const struct reader *r, const json_t *body, const char *key,
                     struct range range, int64_t *out)
{
    const json_t *value = json_object_get(body, key);
    if (!value || json_is_null(value))
        return true;
    int64_t v = json_integer_value(value);
    if (!json_is_integer(value) || v < range.min || v > range.max)
        return refuse(r, str_from(key),
                      arena_printf(r->a, "%s must be a whole number from %lld to %lld", key,
                                   (long long)range.min, (long long)range.max));
    *out = v;
    return true;
}

// What would change the reply in a way that we cannot give.
static bool read_refused(const struct reader *r, const json_t *body)
{
    if (json_is_true(json_object_get(body, "stream")))
        return refuse(r, S("stream"), S("simulated models do not stream; leave stream out"));
    if (json_array_size(json_object_get(body, "tools")) > 0)
        return refuse(r, S("tools"), S("simulated models have no tools; leave tools out"));
    return true;
}

static bool read_model(const struct reader *r, const json_t *body)
{
    if (!json_is_string(json_object_get(body, "model")))
        return refuse(r, S("model"), S("model must be a string"));
    str name = arena_str(r->a, json_get_str(body, "model"));
    str prefix = S(MODEL_PREFIX);
    r->q->model = name;
    if (str_starts(name, prefix))
        r->q->persona = sim_persona(r->q->data, str_sub(name, prefix.len, name.len));
    if (r->q->persona)
        return true;
    wire_error(&(struct wire_error){ .status = 404,
                                     .message = arena_printf(
                                         r->a, "The model `%.*s` does not exist; see /v1/models.",
                                         STR(name)),
                                     .type = S("invalid_request_error"),
                                     .code = S("model_not_found") },
               r->a, r->out);
    return false;
}

static bool read_body(const struct reader *r, const json_t *body)
{
    struct completion *q = r->q;
    const struct range tokens = { 1, TOKENS_MAX };
    q->n = 1;
    return read_model(r, body) && read_messages(r, json_object_get(body, "messages")) &&
           read_temperature(r, json_object_get(body, "temperature")) &&
           read_int(r, body, "max_tokens", tokens, &q->request.max_tokens) &&
           read_int(r, body, "max_completion_tokens", tokens, &q->request.max_tokens) &&
           read_int(r, body, "n", (struct range){ 1, CHOICES_MAX }, &q->n) &&
           read_int(r, body, "seed", (struct range){ INT64_MIN / 2, INT64_MAX / 2 },
                    &q->request.sample) &&
           read_refused(r, body);
}

bool wire_parse(str text, struct arena *a, struct completion *q, struct serve_reply *out)
{
    struct reader r = { a, q, out };
    struct err err = { 0 };
    *q = (struct completion){ .data = q->data };
    json_t *body = json_read_strict(text, &err);
    bool ok = json_is_object(body)
                  ? read_body(&r, body)
                  : refuse(&r, (str){ 0 },
                           arena_printf(a, "The body must be one JSON object. %s", err.text));
    json_decref(body);
    return ok;
}

// ---- the reply ----

static void put_choice(struct json_out *o, int64_t index, const struct reply *r)
{
    json_open(o, '{');
    json_key_int(o, S("index"), index);
    json_key_open(o, S("message"), '{');
    json_key_str(o, S("role"), S("assistant"));
    json_key_str(o, S("content"), r->text);
    json_key_null(o, S("refusal"));
    json_close(o, '}');
    json_key_null(o, S("logprobs"));
    json_key_str(o, S("finish_reason"), r->native_finish);
    json_close(o, '}');
}

static void put_usage(struct json_out *o, int64_t input_tok, int64_t output_tok)
{
    json_key_open(o, S("usage"), '{');
    json_key_int(o, S("prompt_tokens"), input_tok);
    json_key_int(o, S("completion_tokens"), output_tok);
    json_key_int(o, S("total_tokens"), input_tok + output_tok);
    json_close(o, '}');
}

void wire_reply(const struct completion *q, const struct reply *choices, struct arena *a,
                struct serve_reply *out)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    int64_t output_tok = 0;
    json_open(&o, '{');
    json_key_str(&o, S("id"), arena_printf(a, "chatcmpl-%.*s", STR(choices[0].request_id)));
    json_key_str(&o, S("object"), S("chat.completion"));
    json_key_int(&o, S("created"), 1); // the same request has the same reply, whenever it comes
    json_key_str(&o, S("model"), q->model);
    json_key_bool(&o, S("simulated"), true);
    json_key_open(&o, S("choices"), '[');
    for (int64_t i = 0; i < q->n; i++) {
        put_choice(&o, i, &choices[i]);
        output_tok += choices[i].usage.output_tok;
    }
    json_close(&o, ']');
    put_usage(&o, choices[0].usage.input_tok, output_tok);
    json_close(&o, '}');
    *out = (struct serve_reply){ .status = 200,
                                 .content_type = S("application/json"),
                                 .body = buf_str(&b) };
}

void wire_models(const struct sim_data *data, struct arena *a, struct serve_reply *out)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("object"), S("list"));
    json_key_open(&o, S("data"), '[');
    for (size_t i = 0; i < sim_persona_count(data); i++) {
        const struct persona *p = sim_persona_at(data, i);
        str name = sim_persona_name(p);
        json_open(&o, '{');
        json_key_str(&o, S("id"), arena_printf(a, MODEL_PREFIX "%.*s", STR(name)));
        json_key_str(&o, S("object"), S("model"));
        json_key_int(&o, S("created"), 1);
        json_key_str(&o, S("owned_by"), S("rookery"));
        json_key_str(&o, S("description"), sim_persona_summary(p));
        json_key_bool(&o, S("simulated"), true);
        json_close(&o, '}');
    }
    json_close(&o, ']');
    json_close(&o, '}');
    *out = (struct serve_reply){ .status = 200,
                                 .content_type = S("application/json"),
                                 .body = buf_str(&b) };
}

// SPDX-License-Identifier: GPL-3.0-or-later
// wire.c - requests for an answer, whatever their format: which path speaks which, and the parts
// that readers share.
//
// The JSON must be right and the members we use must have their types; members that we do not know
// are let pass, as real endpoints do. What we know and cannot do (streams, tools) is refused.
#include "simulate/internal.h"

enum { MESSAGES_MAX = 4096, TOKENS_MAX = 1 << 20 };
#define MODEL_PREFIX "sim-"

// A path, or what stands before and behind the model's name in it.
static const struct {
    const char *before, *after;
    const struct wire *wire;
} paths[] = {
    { "/v1/chat/completions", NULL, &wire_openai },
    { "/openai/v1/chat/completions", NULL, &wire_openai },         // Azure, the newer route
    { "/openai/deployments/", "/chat/completions", &wire_openai }, // Azure, the older one
    { "/v1/messages", NULL, &wire_anthropic },
    { "/v1beta/models/", ":generateContent", &wire_gemini },
    { "/v1/models/", ":generateContent", &wire_gemini },
    { "/v1beta/models/", ":streamGenerateContent", &wire_gemini_stream },
    { "/api/alpha/decisions", NULL, &wire_decision },
    { "/api/chat", NULL, &wire_ollama },
};

const struct wire *wire_find(str path, str *model)
{
    *model = (str){ 0 };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        str before = str_from(paths[i].before);
        str after = str_from(paths[i].after);
        if (!paths[i].after && str_eq(path, before))
            return paths[i].wire;
        if (paths[i].after && str_starts(path, before) && str_ends(path, after) &&
            path.len > before.len + after.len) {
            *model = str_sub(path, before.len, path.len - before.len - after.len);
            return paths[i].wire;
        }
    }
    return NULL;
}

bool wire_refuse(const struct reader *r, str param, str message)
{
    r->wire->error(
        &(struct wire_error){
            .status = 400, .message = message, .type = S("invalid_request_error"), .param = param },
        r->a, r->out);
    return false;
}

void wire_add_message(const struct reader *r, enum role role, str text)
{
    *vec_push(r->a, &r->q->request.messages) = (struct message){ role, text };
}

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

bool wire_read_content(const json_t *content, struct arena *a, str *out)
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

bool wire_read_messages(const struct reader *r, const json_t *list)
{
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n == 0 || n > MESSAGES_MAX)
        return wire_refuse(r, S("messages"), S("messages must be an array of 1 to 4096 messages"));
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        enum role role;
        str text;
        if (!read_role(json_get_str(item, "role"), &role))
            return wire_refuse(r, arena_printf(r->a, "messages[%zu].role", i),
                               S("the role must be system, developer, user or assistant"));
        if (!wire_read_content(json_object_get(item, "content"), r->a, &text))
            return wire_refuse(r, arena_printf(r->a, "messages[%zu].content", i),
                               S("the content must be a string or an array of text parts"));
        wire_add_message(r, role, text);
    }
    return true;
}

bool wire_read_temperature(const struct reader *r, const json_t *value, double max)
{
    r->q->request.has_temperature = value && !json_is_null(value);
    if (!r->q->request.has_temperature)
        return true;
    double t = json_number_value(value);
    if (!json_is_number(value) || !(t >= 0 && t <= max))
        return wire_refuse(r, S("temperature"),
                           arena_printf(r->a, "temperature must be a number from 0 to %g", max));
    r->q->request.temperature = t;
    return true;
}

bool wire_read_int(const struct reader *r, const json_t *body, const char *key, int64_t min,
                   int64_t *out)
{
    const json_t *value = json_object_get(body, key);
    if (!value || json_is_null(value))
        return true;
    int64_t v = json_integer_value(value);
    if (!json_is_integer(value) || v < min || (min > 0 && v > TOKENS_MAX))
        return wire_refuse(
            r, str_from(key),
            arena_printf(r->a, "%s must be a whole number from %lld on", key, (long long)min));
    *out = v;
    return true;
}

bool wire_read_model(const struct reader *r, str name)
{
    str prefix = S(MODEL_PREFIX);
    r->q->model = arena_str(r->a, name);
    ptrdiff_t at = str_find(name, prefix); // a decision model's name goes on before it
    if (at == 0 || (at > 0 && r->wire == &wire_decision))
        r->q->persona =
            sim_persona(r->q->data, str_sub(r->q->model, (size_t)at + prefix.len, r->q->model.len));
    if (r->q->persona)
        return true;
    r->wire->error(
        &(struct wire_error){
            .status = 404,
            .message =
                arena_printf(r->a, "The model `%.*s` does not exist; see /v1/models.", STR(name)),
            .type = S("invalid_request_error"),
            .code = S("model_not_found") },
        r->a, r->out);
    return false;
}

bool wire_parse(const struct wire *w, str text, struct arena *a, struct completion *q,
                struct serve_reply *out)
{
    struct reader r = { w, a, q, out };
    struct err err = { 0 };
    *q = (struct completion){ .data = q->data, .model = q->model, .n = 1 };
    json_t *body = json_read_strict(text, &err);
    bool ok = json_is_object(body)
                  ? w->read(&r, body)
                  : wire_refuse(&r, (str){ 0 },
                                arena_printf(a, "The body must be one JSON object. %s", err.text));
    json_decref(body);
    return ok;
}

void wire_send(int status, struct buf *body, struct serve_reply *out)
{
    *out = (struct serve_reply){ .status = status,
                                 .content_type = S("application/json"),
                                 .body = buf_str(body) };
}

str wire_piece(str *rest)
{
    enum { PIECE_BYTES = 7 };
    size_t len = 0;
    while (len < rest->len && len < PIECE_BYTES) {
        uint32_t code;
        bool valid;
        len += utf8_decode(str_sub(*rest, len, rest->len), &code, &valid);
    }
    str piece = str_sub(*rest, 0, len);
    *rest = str_sub(*rest, len, rest->len);
    return piece;
}

void wire_event(struct buf *stream, const char *name, struct buf *json)
{
    if (name)
        buf_addf(stream, "event: %s\n", name);
    buf_add(stream, S("data: "));
    buf_add(stream, buf_str(json));
    buf_add(stream, S("\n\n"));
    json->len = 0;
}

void wire_send_stream(struct buf *stream, struct serve_reply *out)
{
    *out = (struct serve_reply){ .status = 200,
                                 .content_type = S("text/event-stream"),
                                 .body = buf_str(stream) };
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

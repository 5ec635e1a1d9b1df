// SPDX-License-Identifier: GPL-3.0-or-later
// wire_gemini.c - Gemini's generateContent from the endpoint's side (endpoint specification,
// section 8). The model's name stands in the path.
#include "simulate/internal.h"

enum { TEMPERATURE_MAX = 2 };

// A wrong key is a 400 with a reason, as the real endpoint has it.
static void gemini_error(const struct wire_error *e, struct arena *a, struct serve_reply *out)
{
    static const struct {
        int status;
        const char *name;
    } names[] = { { 400, "INVALID_ARGUMENT" },   { 404, "NOT_FOUND" },
                  { 429, "RESOURCE_EXHAUSTED" }, { 500, "INTERNAL" },
                  { 502, "UNAVAILABLE" },        { 503, "UNAVAILABLE" } };
    int status = e->status == 401 ? 400 : e->status;
    str name = S("UNKNOWN");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].status == status)
            name = str_from(names[i].name);
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_open(&o, S("error"), '{');
    json_key_int(&o, S("code"), status);
    json_key_str(&o, S("message"), e->message);
    json_key_str(&o, S("status"), name);
    if (e->status == 401) {
        json_key_open(&o, S("details"), '[');
        json_open(&o, '{');
        json_key_str(&o, S("reason"), S("API_KEY_INVALID"));
        json_close(&o, '}');
        json_close(&o, ']');
    }
    json_close(&o, '}');
    json_close(&o, '}');
    wire_send(status, &b, out);
}

// The texts of {"parts":[{"text":..}]}, joined.
static bool read_parts(const struct reader *r, const json_t *content, enum role role)
{
    const json_t *parts = json_object_get(content, "parts");
    struct buf b = { .arena = r->a };
    if (json_array_size(parts) == 0)
        return wire_refuse(r, S("contents"), S("parts must be an array of one part or more"));
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *text = json_object_get(json_array_get(parts, i), "text");
        if (!json_is_string(text))
            return wire_refuse(r, S("contents"), S("a part must hold a text"));
        buf_add(&b, json_view(text));
    }
    wire_add_message(r, role, buf_str(&b));
    return true;
}

static bool read_contents(const struct reader *r, const json_t *contents)
{
    if (json_array_size(contents) == 0)
        return wire_refuse(r, S("contents"), S("contents is not specified"));
    for (size_t i = 0; i < json_array_size(contents); i++) {
        const json_t *turn = json_array_get(contents, i);
        str role = json_get_str(turn, "role");
        if (!str_eq(role, S("user")) && !str_eq(role, S("model")))
            return wire_refuse(r, S("contents"), S("the role must be user or model"));
        if (!read_parts(r, turn, str_eq(role, S("user")) ? ROLE_USER : ROLE_ASSISTANT))
            return false;
    }
    return true;
}

static bool gemini_read(const struct reader *r, const json_t *body)
{
    const json_t *system = json_object_get(body, "systemInstruction");
    const json_t *config = json_object_get(body, "generationConfig");
    const json_t *thinking = json_object_get(config, "thinkingConfig");
    if (json_object_get(thinking, "thinkingBudget") && json_object_get(thinking, "thinkingLevel"))
        return wire_refuse(r, S("thinkingConfig"),
                           S("thinkingBudget and thinkingLevel cannot both be set"));
    return wire_read_model(r, r->q->model) && (!system || read_parts(r, system, ROLE_SYSTEM)) &&
           read_contents(r, json_object_get(body, "contents")) &&
           wire_read_temperature(r, json_object_get(config, "temperature"), TEMPERATURE_MAX) &&
           wire_read_int(r, config, "maxOutputTokens", 1, &r->q->request.max_tokens) &&
           wire_read_int(r, config, "seed", INT32_MIN, &r->q->request.sample);
}

// `ends`: with the reason why.
static void put_candidate(struct json_out *o, const struct reply *r, str text, bool ends)
{
    json_key_open(o, S("candidates"), '[');
    json_open(o, '{');
    json_key_open(o, S("content"), '{');
    json_key_str(o, S("role"), S("model"));
    json_key_open(o, S("parts"), '[');
    json_open(o, '{');
    json_key_str(o, S("text"), text);
    json_close(o, '}');
    json_close(o, ']');
    json_close(o, '}');
    if (ends)
        json_key_str(o, S("finishReason"),
                     r->finish == FINISH_LENGTH ? S("MAX_TOKENS") : S("STOP"));
    json_key_int(o, S("index"), 0);
    json_close(o, '}');
    json_close(o, ']');
}

static void put_reply(struct buf *b, const struct completion *q, const struct reply *r, str text,
                      bool ends)
{
    const struct usage *u = &r->usage;
    struct json_out o = { .b = b };
    json_open(&o, '{');
    put_candidate(&o, r, text, ends);
    if (ends) {
        json_key_open(&o, S("usageMetadata"), '{');
        json_key_int(&o, S("promptTokenCount"), u->input_tok);
        json_key_int(&o, S("candidatesTokenCount"), u->output_tok);
        json_key_int(&o, S("totalTokenCount"), u->input_tok + u->output_tok);
        json_close(&o, '}');
    }
    json_key_str(&o, S("modelVersion"), q->model);
    json_key_str(&o, S("responseId"), r->request_id);
    json_key_bool(&o, S("simulated"), true);
    json_close(&o, '}');
}

static void gemini_reply(const struct completion *q, const struct reply *answers, struct arena *a,
                         struct serve_reply *out)
{
    struct buf b = { .arena = a };
    put_reply(&b, q, &answers[0], answers[0].text, true);
    wire_send(200, &b, out);
}

// Every event is a reply; the last one ends it.
static void gemini_stream(const struct completion *q, const struct reply *answers, struct arena *a,
                          struct serve_reply *out)
{
    struct buf b = { .arena = a };
    struct buf json = { .arena = a };
    str rest = answers[0].text;
    do {
        str piece = wire_piece(&rest);
        put_reply(&json, q, &answers[0], piece, rest.len == 0);
        wire_event(&b, NULL, &json);
    } while (rest.len > 0);
    wire_send_stream(&b, out);
}

const struct wire wire_gemini = {
    .read = gemini_read,
    .reply = gemini_reply,
    .error = gemini_error,
    .has_own_key = true,
    .text_mark = "\"text\":\"",
};
const struct wire wire_gemini_stream = {
    // at a path of its own
    .read = gemini_read, .reply = gemini_stream,     .error = gemini_error,
    .has_own_key = true, .text_mark = "\"text\":\"",
};

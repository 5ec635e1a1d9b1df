// SPDX-License-Identifier: GPL-3.0-or-later
// wire_ollama.c - Ollama's own route from the endpoint's side (endpoint specification, section 11).
#include "simulate/internal.h"

enum { TEMPERATURE_MAX = 2 };

static void ollama_error(const struct wire_error *e, struct arena *a, struct serve_reply *out)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("error"), e->message);
    json_close(&o, '}');
    wire_send(e->status, &b, out);
}

static bool ollama_read(const struct reader *r, const json_t *body)
{
    const json_t *options = json_object_get(body, "options");
    const json_t *stream = json_object_get(body, "stream");
    if (!json_is_false(stream)) // absent means true there
        return wire_refuse(r, S("stream"), S("simulated models do not stream; set stream: false"));
    return wire_read_model(r, json_get_str(body, "model")) &&
           wire_read_messages(r, json_object_get(body, "messages")) &&
           wire_read_temperature(r, json_object_get(options, "temperature"), TEMPERATURE_MAX) &&
           wire_read_int(r, options, "num_predict", 1, &r->q->request.max_tokens) &&
           wire_read_int(r, options, "seed", INT64_MIN / 2, &r->q->request.sample);
}

static void ollama_reply(const struct completion *q, const struct reply *answers, struct arena *a,
                         struct serve_reply *out)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("model"), q->model);
    json_key_str(&o, S("created_at"), S("1970-01-01T00:00:01Z")); // the same bytes, whenever asked
    json_key_open(&o, S("message"), '{');
    json_key_str(&o, S("role"), S("assistant"));
    json_key_str(&o, S("content"), answers[0].text);
    json_close(&o, '}');
    json_key_bool(&o, S("done"), true);
    json_key_str(&o, S("done_reason"), answers[0].native_finish);
    json_key_int(&o, S("prompt_eval_count"), answers[0].usage.input_tok);
    json_key_int(&o, S("eval_count"), answers[0].usage.output_tok);
    json_key_bool(&o, S("simulated"), true);
    json_close(&o, '}');
    wire_send(200, &b, out);
}

const struct wire wire_ollama = {
    .read = ollama_read,
    .reply = ollama_reply,
    .error = ollama_error,
    .text_mark = "\"content\":\"",
};

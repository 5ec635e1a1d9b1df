// SPDX-License-Identifier: GPL-3.0-or-later
// wire_openai.c - OpenAI chat completions from the endpoint's side (endpoint specification, section
// 3), and Azure's, which are the same at other paths.
#include "simulate/internal.h"

enum { CHOICES_MAX = 16, TEMPERATURE_MAX = 2 };

static void openai_error(const struct wire_error *e, struct arena *a, struct serve_reply *out)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    int64_t number;
    json_open(&o, '{');
    json_key_open(&o, S("error"), '{');
    json_key_maybe(&o, S("message"), e->message);
    json_key_maybe(&o, S("type"), e->type);
    json_key_maybe(&o, S("param"), e->param);
    if (str_to_int(e->code, 0, 999, &number)) // as OpenRouter writes a status
        json_key_int(&o, S("code"), number);
    else
        json_key_maybe(&o, S("code"), e->code);
    json_close(&o, '}');
    json_close(&o, '}');
    wire_send(e->status, &b, out);
}

static bool read_stream(const struct reader *r, const json_t *body)
{
    struct completion *q = r->q;
    const json_t *options = json_object_get(body, "stream_options");
    q->stream = json_is_true(json_object_get(body, "stream"));
    q->stream_usage = json_is_true(json_object_get(options, "include_usage"));
    if (q->stream && q->n > 1)
        return wire_refuse(r, S("n"), S("simulated models stream one choice"));
    return json_array_size(json_object_get(body, "tools")) == 0 ||
           wire_refuse(r, S("tools"), S("simulated models have no tools; leave tools out"));
}

static bool openai_read(const struct reader *r, const json_t *body)
{
    struct completion *q = r->q;
    const json_t *model = json_object_get(body, "model");
    str name = q->model.len > 0 ? q->model : json_view(model); // Azure: the deployment decides
    if (q->model.len == 0 && !json_is_string(model))
        return wire_refuse(r, S("model"), S("model must be a string"));
    if (!wire_read_model(r, name) || !wire_read_messages(r, json_object_get(body, "messages")) ||
        !wire_read_temperature(r, json_object_get(body, "temperature"), TEMPERATURE_MAX) ||
        !wire_read_int(r, body, "max_tokens", 1, &q->request.max_tokens) ||
        !wire_read_int(r, body, "max_completion_tokens", 1, &q->request.max_tokens) ||
        !wire_read_int(r, body, "n", 1, &q->n) ||
        !wire_read_int(r, body, "seed", INT64_MIN / 2, &q->request.sample))
        return false;
    if (q->n > CHOICES_MAX)
        return wire_refuse(r, S("n"), S("n must be a whole number from 1 to 16"));
    return read_stream(r, body);
}

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

static void openai_reply(const struct completion *q, const struct reply *choices, struct arena *a,
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
    wire_send(200, &b, out);
}

// ---- the reply in pieces ----

// A chunk; `text` empty and no `finish`: the counts alone, with no choice.
static void put_chunk(struct buf *json, const struct completion *q, const struct reply *r,
                      const str *text, bool finish)
{
    struct json_out o = { .b = json };
    json_open(&o, '{');
    json_key_str(&o, S("id"), arena_printf(json->arena, "chatcmpl-%.*s", STR(r->request_id)));
    json_key_str(&o, S("object"), S("chat.completion.chunk"));
    json_key_str(&o, S("model"), q->model);
    json_key_bool(&o, S("simulated"), true);
    json_key_open(&o, S("choices"), '[');
    if (text) {
        json_open(&o, '{');
        json_key_int(&o, S("index"), 0);
        json_key_open(&o, S("delta"), '{');
        if (text->len > 0)
            json_key_str(&o, S("content"), *text);
        json_close(&o, '}');
        json_key_maybe(&o, S("finish_reason"), finish ? r->native_finish : (str){ 0 });
        json_close(&o, '}');
    }
    json_close(&o, ']');
    if (!text)
        put_usage(&o, r->usage.input_tok, r->usage.output_tok);
    json_close(&o, '}');
}

static void openai_stream(const struct completion *q, const struct reply *answer, struct arena *a,
                          struct serve_reply *out)
{
    struct buf b = { .arena = a };
    struct buf json = { .arena = a };
    for (str rest = answer->text; rest.len > 0;) {
        str piece = wire_piece(&rest);
        put_chunk(&json, q, answer, &piece, false);
        wire_event(&b, NULL, &json);
    }
    put_chunk(&json, q, answer, &(str){ 0 }, true);
    wire_event(&b, NULL, &json);
    if (q->stream_usage) {
        put_chunk(&json, q, answer, NULL, false);
        wire_event(&b, NULL, &json);
    }
    buf_add(&b, S("data: [DONE]\n\n"));
    wire_send_stream(&b, out);
}

const struct wire wire_openai = {
    .read = openai_read,
    .reply = openai_reply,
    .stream = openai_stream,
    .error = openai_error,
    .text_mark = "\"content\":\"",
};

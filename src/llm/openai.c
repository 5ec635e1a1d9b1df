// SPDX-License-Identifier: GPL-3.0-or-later
// openai.c - builds OpenAI chat completion requests (endpoint specification, section 3; few-shot
// specification 1.9), for OpenAI and for the servers that speak its format. What the request does
// not fix is left out, so that the server's default is the server's.
#include "llm/internal.h"

// The limit's newer name: where `extra` gives it, the older one is not sent (field case F-018).
static const char newer_limit[] = "max_completion_tokens";

int64_t request_output_limit(const struct model *m, const struct model_request *q)
{
    return json_get_int(m->extra, newer_limit, q->max_tokens);
}

static void put_format(struct json_out *o, const struct model_request *q, struct arena *a)
{
    if (q->format == FORMAT_NONE)
        return;
    static const str name = T("answer");
    json_key_open(o, S("response_format"), '{');
    // Without a signature there is no schema to build: json_object, as 1.9 says.
    if (q->format == FORMAT_SCHEMA && q->signature && q->signature->n_outputs > 0) {
        json_key_str(o, S("type"), S("json_schema"));
        json_key_open(o, S("json_schema"), '{');
        json_key_str(o, S("name"), name);
        json_key_bool(o, S("strict"), true);
        json_key(o, S("schema"));
        schema_write(o, q->signature, name, a);
        json_close(o, '}');
    } else {
        json_key_str(o, S("type"), S("json_object"));
    }
    json_close(o, '}');
}

static void put_stream(struct json_out *o, const json_t *extra)
{
    json_key_bool(o, S("stream"), true);
    if (json_object_get(extra, "stream_options"))
        return;
    json_key_open(o, S("stream_options"), '{');
    json_key_bool(o, S("include_usage"), true);
    json_close(o, '}');
}

static void put_body(struct json_out *o, const struct model *m, const struct model_request *q,
                     struct arena *a)
{
    json_open(o, '{');
    json_key_str(o, S("model"), m->id);
    json_key(o, S("messages"));
    messages_write(&q->messages, o);
    if (q->max_tokens > 0 && !json_object_get(m->extra, newer_limit)) {
        json_key_int(o, S("max_tokens"), q->max_tokens);
    }
    if (q->has_temperature) {
        json_key_double(o, S("temperature"), q->temperature);
    }
    put_format(o, q, a);
    extra_write(o, m->extra);
    if (model_streams(m))
        put_stream(o, m->extra);
    json_close(o, '}');
}

bool openai_build_at(const struct model *m, const struct model_request *q, struct arena *a,
                     struct http_request *out, struct err *err)
{
    struct buf b = { .arena = a, .max = REQUEST_MAX_BYTES };
    put_body(&(struct json_out){ .b = &b }, m, q, a);
    out->streamed = model_streams(m);
    return request_make(m, &b, out, err);
}

bool openai_build(const struct model *m, const struct model_request *q, struct arena *a,
                  struct http_request *out, struct err *err)
{
    *out =
        (struct http_request){ .url = url_join(m->base_url, S("/v1"), S("/chat/completions"), a) };
    if (!openai_build_at(m, q, a, out, err))
        return false;
    if (m->key.len > 0)
        request_header(out, S("Authorization"), arena_printf(a, "Bearer %.*s", STR(m->key)));
    return true;
}

// Members that have a place of their own: twice in one object, servers would choose for us.
bool openai_open(struct model *m, struct arena *a, struct err *err)
{
    (void)a;
    static const struct refused rows[] = {
        { "model", "name the model instead" },
        { "messages", "the program makes the messages" },
        { "temperature", "set the model's temperature instead" },
        { "max_tokens", "set the model's max_tokens instead" },
        { "response_format", "set the model's answer format instead" },
        { "n", "repeats are separate calls" },
    };
    const json_t *limit = json_object_get(m->extra, newer_limit);
    if (limit && (!json_is_integer(limit) || json_integer_value(limit) < 1))
        return err_set(err, ERR_USAGE, "%.*s: %s must be a whole number from 1", STR(m->name),
                       newer_limit);
    return extra_check(m, rows, ARRAY_LEN(rows), err);
}

// What these servers ignore without a word would be a setting that only seems to be made (field
// cases F-020 and F-022).
static bool vllm_open(struct model *m, struct arena *a, struct err *err)
{
    static const struct refused rows[] = {
        { "guided_json", "current servers ignore it; use structured_outputs" },
        { "guided_regex", "current servers ignore it; use structured_outputs" },
        { "guided_choice", "current servers ignore it; use structured_outputs" },
        { "guided_grammar", "current servers ignore it; use structured_outputs" },
    };
    return extra_check(m, rows, ARRAY_LEN(rows), err) && openai_open(m, a, err);
}

static bool ollama_v1_open(struct model *m, struct arena *a, struct err *err)
{
    static const struct refused rows[] = {
        { "num_ctx", "this route ignores it and cuts prompts; take ollama/, the server's own "
                     "route, or set it in the model (Modelfile)" },
        { "options", "this route ignores them; take ollama/, the server's own route, or set them "
                     "in the model (Modelfile)" },
        { "logit_bias", "this server does not know it" },
        { "tool_choice", "this server does not know it" },
    };
    return extra_check(m, rows, ARRAY_LEN(rows), err) && openai_open(m, a, err);
}

const struct provider provider_openai = {
    .name = T("openai"),
    .default_base_url = T("https://api.openai.com/v1"),
    .key_env = T("OPENAI_API_KEY"),
    .streams = true,
    .version = OPENAI_VERSION,
    .build = openai_build,
    .parse = openai_parse,
    .open = openai_open,
};

// Servers of one's own that speak the same format (sections 9 to 11).
const struct provider provider_vllm = {
    .name = T("vllm"),
    .default_base_url = T("http://localhost:8000/v1"),
    .key_env = T("VLLM_API_KEY"),
    .key_optional = true,
    .streams = true,
    .version = OPENAI_VERSION,
    .build = openai_build,
    .parse = openai_parse,
    .open = vllm_open,
};
const struct provider provider_llamacpp = {
    .name = T("llamacpp"),
    .default_base_url = T("http://localhost:8080/v1"),
    .key_env = T("LLAMACPP_API_KEY"),
    .key_optional = true,
    .streams = true,
    .version = OPENAI_VERSION,
    .build = openai_build,
    .parse = openai_parse,
    .open = openai_open,
};
const struct provider provider_ollama_v1 = {
    .name = T("ollama_v1"),
    .default_base_url = T("http://localhost:11434/v1"),
    .key_env = T("OLLAMA_API_KEY"),
    .key_optional = true,
    .streams = true,
    .version = OPENAI_VERSION,
    .build = openai_build,
    .parse = openai_parse,
    .open = ollama_v1_open,
};

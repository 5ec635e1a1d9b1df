// SPDX-License-Identifier: GPL-3.0-or-later
// openrouter.c - OpenRouter (endpoint specification, section 4): the OpenAI format with its own
// meaning of 402 and 403, and routes that end without a token.
#include "llm/internal.h"

static bool openrouter_first(const struct failure *f, enum reply_class *out)
{
    if (f->status == 402) {
        // Money that other calls in flight may still give back, as against money that is gone.
        bool in_flight = str_eq(f->limit_source, S("openrouter_in_flight_budget"));
        *out = in_flight && f->retry_after_ms >= 0 ? REPLY_RATE_LIMIT : REPLY_ACCOUNT;
        return true;
    }
    if (f->status == 403) {
        bool filtered = f->moderated || str_find(f->message, S("moderation")) >= 0;
        *out = f->limit_source.len == 0 && filtered ? REPLY_FILTERED : REPLY_ACCOUNT;
        return true;
    }
    return false;
}

static const struct dialect dialect = { OPENAI_DIALECT, .first = openrouter_first,
                                        .zero_tokens_fail = true };

static void openrouter_parse(const struct model *m, const struct model_request *q,
                             const struct http_response *in, struct arena *a, struct reply *out)
{
    reply_read(&(struct reading){ m, q, in, a, &dialect, out });
}

static bool openrouter_open(struct model *m, struct arena *a, struct err *err)
{
    const json_t *reasoning = json_object_get(m->extra, "reasoning");
    if (json_object_get(reasoning, "effort") && json_object_get(reasoning, "max_tokens"))
        return err_set(err, ERR_USAGE, "%.*s: reasoning takes effort or max_tokens, not both",
                       STR(m->name));
    return openai_open(m, a, err);
}

const struct provider provider_openrouter = {
    .name = T("openrouter"),
    .default_base_url = T("https://openrouter.ai/api/v1"),
    .key_env = T("OPENROUTER_API_KEY"),
    .streams = true,
    .version = OPENAI_VERSION,
    .build = openai_build,
    .parse = openrouter_parse,
    .open = openrouter_open,
};

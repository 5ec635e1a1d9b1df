// SPDX-License-Identifier: GPL-3.0-or-later
// gemini.c - Google Gemini's generateContent (endpoint specification, section 8). A member at the
// wrong place is ignored there without a word, so each has one place in a fixed template, and
// members of `extra` that have none are refused.
#include <string.h>

#include "llm/internal.h"

// ---- requests ----

static const struct place {
    const char *key;
    bool on_top; // else inside generationConfig
} places[] = {
    { "topP", false },
    { "topK", false },
    { "seed", false },
    { "stopSequences", false },
    { "thinkingConfig", false },
    { "presencePenalty", false },
    { "frequencyPenalty", false },
    { "safetySettings", true },
};

static void put_extra(struct json_out *o, const struct model *m, bool on_top)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const json_t *value = json_object_get(m->extra, places[i].key);
        if (!value || places[i].on_top != on_top)
            continue;
        json_key(o, str_from(places[i].key));
        json_put_value(o, value);
    }
}

static void put_parts(struct json_out *o, str text)
{
    json_key_open(o, S("parts"), '[');
    json_open(o, '{');
    json_key_str(o, S("text"), text);
    json_close(o, '}');
    json_close(o, ']');
}

static void put_contents(struct json_out *o, const struct messages *m)
{
    size_t first = m->n > 0 && m->v[0].role == ROLE_SYSTEM;
    if (first) {
        json_key_open(o, S("systemInstruction"), '{');
        put_parts(o, m->v[0].text);
        json_close(o, '}');
    }
    json_key_open(o, S("contents"), '[');
    for (size_t i = first; i < m->n; i++) {
        json_open(o, '{');
        json_key_str(o, S("role"), m->v[i].role == ROLE_ASSISTANT ? S("model") : S("user"));
        put_parts(o, m->v[i].text);
        json_close(o, '}');
    }
    json_close(o, ']');
}

static void put_names(struct json_out *o, str key, const struct signature *s)
{
    json_key_open(o, key, '[');
    for (size_t i = 0; i < s->n_outputs; i++)
        json_put_str(o, s->outputs[i].name);
    json_close(o, ']');
}

// Its own dialect of schemas; properties would be written in the order of the alphabet.
static void put_schema(struct json_out *o, const struct signature *s)
{
    json_key_open(o, S("responseSchema"), '{');
    json_key_str(o, S("type"), S("OBJECT"));
    json_key_open(o, S("properties"), '{');
    for (size_t i = 0; i < s->n_outputs; i++) {
        json_key_open(o, s->outputs[i].name, '{');
        json_key_str(o, S("type"), S("STRING"));
        json_close(o, '}');
    }
    json_close(o, '}');
    put_names(o, S("required"), s);
    if (s->n_outputs > 1)
        put_names(o, S("propertyOrdering"), s);
    json_close(o, '}');
}

static void put_config(struct json_out *o, const struct model *m, const struct model_request *q)
{
    json_key_open(o, S("generationConfig"), '{');
    if (q->has_temperature) {
        json_key_double(o, S("temperature"), q->temperature);
    }
    if (q->max_tokens > 0) {
        json_key_int(o, S("maxOutputTokens"), q->max_tokens);
    }
    if (q->format != FORMAT_NONE)
        json_key_str(o, S("responseMimeType"), S("application/json"));
    if (q->format == FORMAT_SCHEMA && q->signature && q->signature->n_outputs > 0)
        put_schema(o, q->signature);
    put_extra(o, m, false);
    json_close(o, '}');
}

static bool gemini_build(const struct model *m, const struct model_request *q, struct arena *a,
                         struct http_request *out, struct err *err)
{
    struct buf b = { .arena = a, .max = REQUEST_MAX_BYTES };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    put_contents(&o, &q->messages);
    put_config(&o, m, q);
    put_extra(&o, m, true);
    json_close(&o, '}');
    const char *method = model_streams(m) ? "streamGenerateContent" : "generateContent";
    str path = arena_printf(a, "/models/%.*s:%s", STR(m->id), method);
    str url = url_join(m->base_url, S("/v1beta"), path, a);
    if (model_streams(m)) // without it the stream is one array in pieces
        url = arena_printf(a, "%.*s%salt=sse", STR(url), str_find_char(url, '?') < 0 ? "?" : "&");
    *out = (struct http_request){ .url = url, .streamed = model_streams(m) };
    if (!request_make(m, &b, out, err))
        return false;
    if (m->key.len > 0)
        request_header(out, S("x-goog-api-key"), m->key);
    return true;
}

// ---- replies ----

static enum finish gemini_finish(str native)
{
    static const struct finish_row rows[] = {
        { "STOP", FINISH_STOP },          { "MAX_TOKENS", FINISH_LENGTH },
        { "SAFETY", FINISH_FILTERED },    { "RECITATION", FINISH_FILTERED },
        { "BLOCKLIST", FINISH_FILTERED }, { "PROHIBITED_CONTENT", FINISH_FILTERED },
        { "SPII", FINISH_FILTERED },      { "LANGUAGE", FINISH_FILTERED },
        { "OTHER", FINISH_ERROR },
    };
    return str_starts(native, S("MALFORMED_")) ? FINISH_ERROR
                                               : finish_find(rows, ARRAY_LEN(rows), native);
}

// A prompt that was blocked has no candidate; anything else without one is no answer.
static void take_blocked(const struct reading *r, const json_t *root)
{
    str reason = member_text(r, json_object_get(root, "promptFeedback"), "blockReason");
    if (reason.len == 0) {
        reply_fail(r, REPLY_PROTOCOL, S("the reply has no candidate"));
        return;
    }
    r->out->finish = FINISH_FILTERED;
    r->out->native_finish = reason;
    usage_settle(r, root);
    reply_fail(r, REPLY_FILTERED,
               error_text(arena_printf(r->a, "the prompt was blocked: %.*s", STR(reason)),
                          r->m->key, r->a));
}

// Parts without a text, such as signatures, pass.
static void add_parts(struct texts *t, const json_t *candidate)
{
    const json_t *parts = json_object_get(json_object_get(candidate, "content"), "parts");
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);
        bool thought = json_is_true(json_object_get(part, "thought"));
        buf_add(thought ? &t->reasoning : &t->answer, json_get_str(part, "text"));
    }
}

static void gemini_content(const struct reading *r, const json_t *root)
{
    const json_t *candidate = json_array_get(json_object_get(root, "candidates"), 0);
    struct texts t = { { .arena = r->a }, { .arena = r->a }, { .arena = r->a } };
    if (!json_is_object(candidate)) {
        take_blocked(r, root);
        return;
    }
    add_parts(&t, candidate);
    r->out->text = think_split(buf_str(&t.answer), &t.reasoning);
    r->out->reasoning = buf_str(&t.reasoning);
    r->out->native_finish = member_text(r, candidate, "finishReason");
    r->out->finish = gemini_finish(r->out->native_finish);
    usage_settle(r, root);
    reply_settle_class(r, (str){ 0 });
}

// Every event is a reply with some more parts.
static void gemini_stream_add(struct pieces *p, const json_t *event)
{
    static const char *const kept[] = { "modelVersion", "responseId", "usageMetadata",
                                        "promptFeedback", "simulated" };
    const json_t *candidate = json_array_get(json_object_get(event, "candidates"), 0);
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        pieces_keep(p, event, kept[i]);
    pieces_keep(p, candidate, "finishReason");
    add_parts(&p->texts, candidate);
    p->ended = p->ended || json_object_get(p->whole, "finishReason") ||
               json_object_get(p->whole, "promptFeedback");
}

static void gemini_stream_end(struct pieces *p)
{
    json_t *reason = json_object_get(p->whole, "finishReason");
    if (!reason) // blocked: no candidate
        return;
    json_t *candidate = json_pack("{s:{s:[{s:o,s:b},{s:o}]},s:O}", "content", "parts", "text",
                                  text_new(&p->texts.reasoning), "thought", 1, "text",
                                  text_new(&p->texts.answer), "finishReason", reason);
    json_object_set_new(p->whole, "candidates", mem_must(json_pack("[o]", mem_must(candidate))));
}

// Thoughts are counted beside the candidates; what was blocked has neither count.
static void gemini_counts(const json_t *usage, struct counts *out)
{
    int64_t answer = count_of(usage, "candidatesTokenCount");
    int64_t thoughts = count_of(usage, "thoughtsTokenCount");
    int64_t total = count_of(usage, "totalTokenCount");
    out->input = count_of(usage, "promptTokenCount");
    out->cached = count_of(usage, "cachedContentTokenCount");
    out->reasoning = thoughts;
    if (answer >= 0 || thoughts >= 0)
        out->output = (answer > 0 ? answer : 0) + (thoughts > 0 ? thoughts : 0);
    else if (total >= 0 && out->input >= 0 && total >= out->input)
        out->output = total - out->input;
}

// A wrong key is a 400 here; the words "quota" and "billing" of a 429 do not make it final.
static bool gemini_first(const struct failure *f, enum reply_class *out)
{
    if (failure_has_code(f, S("API_KEY_INVALID"))) {
        *out = REPLY_ACCOUNT;
        return true;
    }
    *out = REPLY_RATE_LIMIT;
    return f->status == 429 || failure_has_code(f, S("RESOURCE_EXHAUSTED"));
}

static const struct dialect dialect = {
    .content = gemini_content,
    .finish = gemini_finish,
    .usage = "usageMetadata",
    .counts = gemini_counts,
    .first = gemini_first,
    .stream_add = gemini_stream_add,
    .stream_end = gemini_stream_end,
};

static void gemini_parse(const struct model *m, const struct model_request *q,
                         const struct http_response *in, struct arena *a, struct reply *out)
{
    reply_read(&(struct reading){ m, q, in, a, &dialect, out });
}

// ---- settings ----

static bool has_place(const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (strcmp(places[i].key, key) == 0)
            return true;
    return false;
}

static bool places_check(const struct model *m, struct err *err)
{
    json_t *sent = extra_sent(m->extra);
    const char *key, *stray = NULL;
    json_t *value;
    json_object_foreach (sent, key, value)
        if (!stray && !has_place(key))
            stray = key;
    bool ok = !stray || err_set(err, ERR_USAGE,
                                "%.*s: extra may not hold %s: the endpoint would ignore it without "
                                "a word; it takes topP, topK, seed, stopSequences, thinkingConfig, "
                                "presencePenalty, frequencyPenalty and safetySettings",
                                STR(m->name), str_show(str_from(stray), 60).text);
    json_decref(sent);
    return ok;
}

static bool thinking_check(const struct model *m, struct err *err)
{
    static const char *const known[] = { "thinkingBudget", "thinkingLevel", "includeThoughts" };
    const json_t *thinking = json_object_get(m->extra, "thinkingConfig");
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        n += json_object_get(thinking, known[i]) != NULL;
    if (thinking && n != json_object_size(thinking))
        return err_set(err, ERR_USAGE,
                       "%.*s: thinkingConfig takes thinkingBudget or thinkingLevel, and "
                       "includeThoughts",
                       STR(m->name));
    if (json_object_get(thinking, "thinkingBudget") && json_object_get(thinking, "thinkingLevel"))
        return err_set(err, ERR_USAGE,
                       "%.*s: thinkingConfig takes thinkingBudget (2.5 models) or thinkingLevel (3 "
                       "models), not both",
                       STR(m->name));
    return true;
}

static bool gemini_open(struct model *m, struct arena *a, struct err *err)
{
    (void)a;
    const json_t *seed = json_object_get(m->extra, "seed");
    if (seed && (!json_is_integer(seed) || json_integer_value(seed) < INT32_MIN ||
                 json_integer_value(seed) > INT32_MAX))
        return err_set(err, ERR_USAGE, "%.*s: seed must be a whole number of 32 bits",
                       STR(m->name));
    return url_id_check(m, err) && places_check(m, err) && thinking_check(m, err);
}

const struct provider provider_gemini = {
    .name = T("gemini"),
    .default_base_url = T("https://generativelanguage.googleapis.com/v1beta"),
    .key_env = T("GEMINI_API_KEY"),
    .streams = true,
    .version = 1,
    .build = gemini_build,
    .parse = gemini_parse,
    .open = gemini_open,
};

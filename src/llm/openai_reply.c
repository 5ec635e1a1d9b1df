// SPDX-License-Identifier: GPL-3.0-or-later
// openai_reply.c - the content of chat completion replies (endpoint specification, sections 3, 4).
#include "llm/internal.h"

enum finish openai_finish(str native)
{
    static const struct finish_row rows[] = {
        { "stop", FINISH_STOP },
        { "length", FINISH_LENGTH },
        { "content_filter", FINISH_FILTERED },
        { "tool_calls", FINISH_TOOL },
        { "function_call", FINISH_TOOL },
        { "error", FINISH_ERROR },
        // Words of servers that pass their own through:
        { "eos", FINISH_STOP },
        { "end_turn", FINISH_STOP },
        { "stop_sequence", FINISH_STOP },
        { "max_tokens", FINISH_LENGTH },
        { "refusal", FINISH_REFUSED },
    };
    return finish_find(rows, ARRAY_LEN(rows), native);
}

// Thoughts of a part: a text, or again parts (field case F-016).
static void add_thinking(struct buf *b, const json_t *thinking)
{
    buf_add(b, json_view(thinking));
    for (size_t i = 0; i < json_array_size(thinking); i++)
        buf_add(b, json_get_str(json_array_get(thinking, i), "text"));
}

static void add_part(struct texts *t, const json_t *part)
{
    if (json_is_string(part)) {
        buf_add(&t->answer, json_view(part));
        return;
    }
    str type = json_get_str(part, "type");
    if (type.len == 0 || str_eq(type, S("text")) || str_eq(type, S("output_text"))) {
        buf_add(&t->answer, json_get_str(part, "text"));
    } else if (str_eq(type, S("thinking")) || str_eq(type, S("reasoning"))) {
        add_thinking(&t->reasoning, json_object_get(part, "thinking"));
        add_thinking(&t->reasoning, json_object_get(part, "text"));
    } else if (str_eq(type, S("refusal"))) {
        buf_add(&t->refusal, json_get_str(part, "refusal"));
    }
}

// The thoughts that servers give beside the content, under the first name that is there.
static void add_reasoning(struct buf *b, const json_t *message)
{
    static const char *const names[] = { "reasoning_content", "reasoning" };
    for (size_t i = 0; i < ARRAY_LEN(names) && b->len == 0; i++)
        buf_add(b, json_get_str(message, names[i]));
    const json_t *details = json_object_get(message, "reasoning_details");
    if (b->len > 0)
        return;
    for (size_t i = 0; i < json_array_size(details); i++) {
        const json_t *part = json_array_get(details, i);
        buf_add(b, json_get_str(part, "text"));
        buf_add(b, json_get_str(part, "summary"));
    }
}

// False: the content has a type that no server sends.
static bool take_texts(const struct reading *r, const json_t *message, str *refusal)
{
    struct texts t = { { .arena = r->a }, { .arena = r->a }, { .arena = r->a } };
    const json_t *content = json_object_get(message, "content");
    add_reasoning(&t.reasoning, message);
    buf_add(&t.refusal, json_get_str(message, "refusal"));
    if (json_is_array(content)) {
        for (size_t i = 0; i < json_array_size(content); i++)
            add_part(&t, json_array_get(content, i));
    } else if (json_is_string(content)) {
        buf_add(&t.answer, json_view(content));
    } else if (content && !json_is_null(content)) {
        return false;
    }
    r->out->text = think_split(buf_str(&t.answer), &t.reasoning);
    r->out->reasoning = buf_str(&t.reasoning);
    *refusal = buf_str(&t.refusal);
    return true;
}

void openai_content(const struct reading *r, const json_t *root)
{
    const json_t *choice = json_array_get(json_object_get(root, "choices"), 0);
    const json_t *message = json_object_get(choice, "message");
    str refusal;
    if (!json_is_object(message)) {
        reply_fail(r, REPLY_PROTOCOL, S("the reply has no message (choices[0].message)"));
        return;
    }
    if (!take_texts(r, message, &refusal)) {
        reply_fail(r, REPLY_PROTOCOL, S("the content of the reply is neither text nor parts"));
        return;
    }
    str finish = member_text(r, choice, "finish_reason");
    str native = member_text(r, choice, "native_finish_reason");
    r->out->finish = openai_finish(finish);
    r->out->native_finish = native.len > 0 ? native : finish;
    usage_settle(r, root);
    reply_settle_class(r, refusal);
}

// ---- streams: choices[].delta; usage on any chunk, the last one counts (F-008) ----

void openai_stream_add(struct pieces *p, const json_t *event)
{
    static const char *const kept[] = { "id",    "model",    "provider", "system_fingerprint",
                                        "usage", "simulated" };
    const json_t *choice = json_array_get(json_object_get(event, "choices"), 0);
    const json_t *delta = json_object_get(choice, "delta");
    const json_t *content = json_object_get(delta, "content");
    struct buf thoughts = { .arena = p->texts.reasoning.arena };
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        pieces_keep(p, event, kept[i]);
    pieces_keep(p, choice, "finish_reason");
    pieces_keep(p, choice, "native_finish_reason");
    p->ended = p->ended || json_object_get(p->whole, "finish_reason");
    if (json_is_string(content))
        buf_add(&p->texts.answer, json_view(content));
    for (size_t i = 0; i < json_array_size(content); i++)
        add_part(&p->texts, json_array_get(content, i));
    add_reasoning(&thoughts, delta);
    buf_add(&p->texts.reasoning, buf_str(&thoughts));
    buf_add(&p->texts.refusal, json_get_str(delta, "refusal"));
}

void openai_stream_end(struct pieces *p)
{
    json_t *message =
        json_pack("{s:o,s:o,s:o}", "content", text_new(&p->texts.answer), "reasoning_content",
                  text_new(&p->texts.reasoning), "refusal", text_new(&p->texts.refusal));
    json_t *choice = json_pack("{s:o,s:O*,s:O*}", "message", mem_must(message), "finish_reason",
                               json_object_get(p->whole, "finish_reason"), "native_finish_reason",
                               json_object_get(p->whole, "native_finish_reason"));
    json_object_set_new(p->whole, "choices", mem_must(json_pack("[o]", mem_must(choice))));
}

void openai_counts(const json_t *usage, struct counts *out)
{
    const json_t *prompt = json_object_get(usage, "prompt_tokens_details");
    out->input = count_of(usage, "prompt_tokens");
    out->output = count_of(usage, "completion_tokens");
    out->cached = count_of(prompt, "cached_tokens");
    out->cache_write = count_of(prompt, "cache_write_tokens");
    out->reasoning =
        count_of(json_object_get(usage, "completion_tokens_details"), "reasoning_tokens");
}

static const struct dialect dialect = { OPENAI_DIALECT };

void openai_parse(const struct model *m, const struct model_request *q,
                  const struct http_response *in, struct arena *a, struct reply *out)
{
    reply_read(&(struct reading){ m, q, in, a, &dialect, out });
}

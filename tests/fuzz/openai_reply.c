// SPDX-License-Identifier: GPL-3.0-or-later
// openai_reply.c - fuzzes reading a provider's HTTP reply: the first byte chooses the status and
// whether the body came whole, the rest is the body. The reply must survive the store's JSON and
// must not hold the key.
#include "fuzz.h"

#include "llm/llm.h"

static const int statuses[] = {
    200, 200, 200, 400, 401, 402, 403, 404, 408, 413, 429, 500, 503, 0
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct arena a = { 0 };
    const str key = S("sk-canary-0123456789"); // a seed echoes it
    struct model m = {
        .name = S("openai/fuzz"), .id = S("fuzz"), .provider = &provider_openai, .key = key
    };
    struct message question = { ROLE_USER, S("Which move?") };
    struct model_request q = { .messages = { &question, 1, 1 } };
    struct http_response in = { .status = statuses[data[0] % ARRAY_LEN(statuses)],
                                .complete = !(data[0] & 0x80),
                                .content_type = S("application/json"),
                                .body = fuzz_text(data + 1, size - 1) };
    struct reply reply = { 0 }, again = { 0 };
    provider_openai.parse(&m, &q, &in, &a, &reply);
    assert(reply_class_name(reply.class).len > 0);
    struct err err = { 0 };
    str stored = reply_to_json(&reply, &a);
    assert(str_find(stored, key) < 0);
    bool read = reply_from_json(stored, &a, &again, &err);
    assert(read && again.class == reply.class && str_eq(again.text, reply.text));
    arena_free(&a);
    return 0;
}

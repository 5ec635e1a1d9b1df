// SPDX-License-Identifier: GPL-3.0-or-later
// reply.h - fuzzes reading a provider's HTTP reply: the first byte chooses the status and whether
// the body came whole, the rest is the body. The reply must survive the store's JSON and must not
// hold the key.
#pragma once
#include <string.h>

#include "fuzz.h"

#include "llm/llm.h"

static const int fuzz_statuses[] = { 200, 200, 200, 400, 401, 402, 403,
                                     404, 408, 413, 429, 500, 503, 0 };

static inline const char *fuzz_key(const char *name)
{
    return strstr(name, "_KEY") ? "sk-canary-0123456789" : NULL; // a seed echoes it
}

static inline int fuzz_reply(str model, str base_url, const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct arena a = { 0 };
    struct model m;
    struct err err = { 0 };
    const struct model_source from = { llm_providers, fuzz_key };
    const struct model_opts opts = { .from = &from, .base_url = base_url };
    bool opened = model_open(model, &opts, &a, &m, &err);
    assert(opened);
    struct message question = { ROLE_USER, S("Which move?") };
    const struct program *program = program_new(&a, &signature_choose_move, S("Play."));
    const str inputs[] = { S("8/8/8/8/8/8/8/K1k5 w - - 0 1"), S("white"), S("a1a2, a1b2") };
    struct model_request q = { .messages = { &question, 1, 1 },
                               .program = program,
                               .inputs = inputs };
    struct http_response in = { .status = fuzz_statuses[data[0] % ARRAY_LEN(fuzz_statuses)],
                                .complete = !(data[0] & 0x80),
                                .content_type = S("application/json"),
                                .body = fuzz_text(data + 1, size - 1) };
    struct reply reply = { 0 }, again = { 0 };
    m.provider->parse(&m, &q, &in, &a, &reply);
    assert(reply_class_name(reply.class).len > 0);
    if (m.provider->chooses && reply.class == REPLY_OK)
        assert(str_eq(reply.text, S("{\"move\":\"a1a2\"}")) ||
               str_eq(reply.text, S("{\"move\":\"a1b2\"}")));
    str stored = reply_to_json(&reply, &a);
    assert(str_find(stored, m.key) < 0);
    bool read = reply_from_json(stored, &a, &again, &err);
    assert(read && again.class == reply.class && str_eq(again.text, reply.text));
    arena_free(&a);
    return 0;
}

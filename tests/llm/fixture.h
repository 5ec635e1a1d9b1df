// SPDX-License-Identifier: GPL-3.0-or-later
// fixture.h - one question to one model, and what its provider makes of a response.
#pragma once
#include "test.h"

#include "llm/llm.h"

static struct arena arena;

static const struct field fixture_outputs[] = { { { "move", 4 }, { "", 0 } } };
static const struct signature fixture_signature = { .outputs = fixture_outputs, .n_outputs = 1 };
static struct message fixture_texts[] = {
    { ROLE_SYSTEM, { "Play.", 5 } },
    { ROLE_USER, { "position_fen: 8/8/8/8/8/8/8/8 w - - 0 1", 39 } },
};

static inline struct messages fixture_messages(void)
{
    return (struct messages){ fixture_texts, 2, 2 };
}

static inline const char *fixture_getenv(const char *name)
{
    static const char *const set[][2] = {
        { "OPENAI_API_KEY", "sk-canary-0123456789" },
        { "OPENROUTER_API_KEY", "sk-or-v1-canary-0123456789" },
        { "AZURE_OPENAI_API_KEY", "azure-canary-0123456789" },
        { "ANTHROPIC_API_KEY", "sk-ant-canary-0123456789" },
        { "GEMINI_API_KEY", "AIza-canary-0123456789" },
    };
    for (size_t i = 0; i < ARRAY_LEN(set); i++)
        if (strcmp(set[i][0], name) == 0)
            return set[i][1];
    return NULL;
}

static inline struct model fixture_model(str name, const struct model_opts *opts)
{
    struct model m;
    struct err err = { 0 };
    const struct model_source from = { llm_providers, fixture_getenv };
    struct model_opts all = *opts;
    all.from = &from;
    if (!model_open(name, &all, &arena, &m, &err))
        fail_msg("model_open: %s", err.text);
    return m;
}

static inline struct reply fixture_parse_of(const struct model *m, const struct http_response *in)
{
    const struct messages messages = fixture_messages();
    const struct model_request q = model_request_new(m, NULL, &messages, &fixture_signature);
    struct reply r;
    memset(&r, 0x55, sizeof r); // parse must set every member
    m->provider->parse(m, &q, in, &arena, &r);
    return r;
}

static inline struct reply fixture_parse(str name, const struct http_response *in)
{
    const struct model m = fixture_model(name, &(struct model_opts){ .max_tokens = 512 });
    return fixture_parse_of(&m, in);
}

// What is asked of a model for a position, over the wire.
static inline struct http_request fixture_build(str name, const struct model_opts *opts,
                                                const struct sampling *override)
{
    struct http_request out = { 0 };
    struct err err = { 0 };
    const struct model m = fixture_model(name, opts);
    const struct messages messages = fixture_messages();
    const struct model_request q = model_request_new(&m, override, &messages, &fixture_signature);
    if (!m.provider->build(&m, &q, &arena, &out, &err))
        fail_msg("build: %s", err.text);
    return out;
}

// The value of a header of a request; empty: it is not sent.
static inline str fixture_header(const struct http_request *r, const char *name)
{
    for (size_t i = 0; i < r->n_headers; i++)
        if (str_eq(r->headers[i].name, str_from(name)))
            return r->headers[i].value;
    return (str){ 0 };
}

// A model that may not be opened, and words of the reason.
static inline void fixture_refused(str name, const struct model_opts *opts, const char *words)
{
    struct model m;
    struct err err = { 0 };
    const struct model_source from = { llm_providers, fixture_getenv };
    struct model_opts all = *opts;
    all.from = &from;
    assert_false(model_open(name, &all, &arena, &m, &err));
    assert_int_equal(err.code, ERR_USAGE);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" is not in \"%s\"", words, err.text);
}

static inline json_t *fixture_json(const char *text)
{
    struct err err = { 0 };
    json_t *value = json_read_strict(str_from(text), &err);
    if (!value)
        fail_msg("test data: %s", err.text);
    return value;
}

// A whole response of the provider "openai".
static inline struct reply reply_of(int status, str body)
{
    return fixture_parse(
        S("openai/gpt-4o-mini"),
        &(struct http_response){ .status = status, .complete = true, .body = body });
}

static inline struct reply router_reply_of(int status, str body)
{
    return fixture_parse(
        S("openrouter/x/y"),
        &(struct http_response){ .status = status, .complete = true, .body = body });
}

#define assert_class(reply_, class_) assert_str(reply_class_name((reply_).class), S(class_))
#define assert_has(text_, part_)                                                                   \
    do {                                                                                           \
        str in_ = (text_);                                                                         \
        if (str_find(in_, S(part_)) < 0)                                                           \
            fail_msg("\"%s\" is not in \"%.*s\"", part_, STR(in_));                                \
    } while (0)
#define assert_lacks(text_, part_) assert_true(str_find((text_), S(part_)) < 0)

static inline int teardown(void **s)
{
    (void)s;
    arena_free(&arena);
    return 0;
}

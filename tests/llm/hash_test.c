// SPDX-License-Identifier: GPL-3.0-or-later
// Names of requests: they never change by themselves (stored runs hold them), and change with
// everything that changes the answer (field case F-060).
#include "fixture.h"

struct varied { // a request and what it is sent to
    struct model model;
    struct model_request request;
    struct message texts[2];
    json_t *extra;
};

static void base_request(struct varied *v)
{
    struct err err = { 0 };
    v->extra = json_read_strict(S("{\"top_p\":0.95,\"drop_params\":true,\"seed\":7}"), &err);
    v->model = fixture_model(S("openai/gpt-4o-mini"), &(struct model_opts){ .has_temperature = true,
                                                                            .temperature = 0.7,
                                                                            .max_tokens = 512,
                                                                            .has_format = true,
                                                                            .format = FORMAT_SCHEMA,
                                                                            .extra = v->extra });
    memcpy(v->texts, fixture_texts, sizeof v->texts);
    const struct messages messages = { v->texts, 2, 2 };
    v->request = model_request_new(&v->model, NULL, &messages, &fixture_signature);
}

static str request_hash(const struct varied *v)
{
    return model_request_hash(&v->model, &v->request, &arena);
}

static str reuse_key(const struct varied *v)
{
    return model_reuse_key(&v->model, request_hash(v), &arena);
}

// SHA-256 of the canonical text written by hand:
// {"extra":{"seed":7,"top_p":0.95},"format":"schema","outputs":["move"],"max_tokens":512,"messages":
// [{"role":"system","content":"Play."},{"role":"user","content":"position_fen: 8/8/8/8/8/8/8/8 w -
// - 0 1"}],"model":"openai/gpt-4o-mini","sample":0,"temperature":0.7}
static void hashes_stay_what_stored_runs_hold(void **s)
{
    (void)s;
    struct varied v;
    base_request(&v);
    assert_str(request_hash(&v),
               S("93f17dad1f37c9eef7af7d6e543d501ad89330277ed66378a9daa636256f1be0"));
    // {"base_url":"https://api.openai.com/v1","identity":"","provider":"openai","request":...,
    // "version":1}
    assert_str(reuse_key(&v),
               S("45ae73f5444a76acabbea55a109cf8b62e21d704677986bd8085c467ad39de13"));
    json_decref(v.extra);
}

static struct model_opts opts_with(const json_t *extra)
{
    return (struct model_opts){ .has_temperature = true,
                                .temperature = 0.7,
                                .max_tokens = 512,
                                .has_format = true,
                                .format = FORMAT_SCHEMA,
                                .extra = extra };
}

// The reuse key with other members in `extra`.
static str key_with_extra(const char *extra, str *hash)
{
    struct err err = { 0 };
    json_t *value = json_read_strict(str_from(extra), &err);
    assert_non_null(value);
    const struct model_opts opts = opts_with(value);
    struct model m = fixture_model(S("openai/gpt-4o-mini"), &opts);
    const struct messages messages = fixture_messages();
    struct model_request q = model_request_new(&m, NULL, &messages, &fixture_signature);
    *hash = model_request_hash(&m, &q, &arena);
    str key = model_reuse_key(&m, *hash, &arena);
    json_decref(value);
    return key;
}

static void everything_that_changes_the_answer_changes_the_hash(void **s)
{
    (void)s;
    static const struct field other_outputs[] = { { { "analysis", 8 }, { "", 0 } } };
    static const struct signature other = { .outputs = other_outputs, .n_outputs = 1 };
    struct varied v;
    str hashes[32];
    size_t n = 0;
    base_request(&v);
    hashes[n++] = request_hash(&v);
    json_decref(v.extra);
#define VARY(change_)                                                                              \
    do {                                                                                           \
        base_request(&v);                                                                          \
        change_;                                                                                   \
        hashes[n++] = request_hash(&v);                                                            \
        json_decref(v.extra);                                                                      \
    } while (0)
    VARY(v.model.name = S("openai/gpt-4o"));
    VARY(v.request.temperature = 0.8);
    VARY(v.request.has_temperature = false);
    VARY(v.request.max_tokens = 513);
    VARY(v.request.sample = 1);
    VARY(v.request.format = FORMAT_JSON_OBJECT);
    VARY(v.request.format = FORMAT_NONE);
    VARY(v.request.signature = &other);
    VARY(v.texts[0].text = S("Play!"));
    VARY(v.texts[1].role = ROLE_ASSISTANT);
    VARY(v.request.messages.n = 1);
#undef VARY
    static const char *const extras[] = {
        "{\"top_p\":0.9,\"seed\":7}",
        "{\"top_p\":0.95,\"seed\":8}",
        "{\"top_p\":0.95,\"seed\":7,\"stop\":[\"END\"]}",
        "{\"top_p\":0.95,\"seed\":7,\"reasoning_effort\":\"low\"}",
        "{\"top_p\":0.95,\"seed\":7,\"reasoning_effort\":\"high\"}",
        "{\"top_p\":0.95,\"seed\":7,\"provider\":{\"only\":[\"a\"]}}",
        "{\"top_p\":0.95,\"seed\":7,\"num_ctx\":8192}",
        "{}",
    };
    for (size_t i = 0; i < ARRAY_LEN(extras); i++)
        key_with_extra(extras[i], &hashes[n++]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (str_eq(hashes[i], hashes[j]))
                fail_msg("requests %zu and %zu have one hash", j, i);
}

static void where_it_is_sent_changes_the_reuse_key_alone(void **s)
{
    (void)s;
    struct varied v;
    base_request(&v);
    str hash = request_hash(&v);
    str key = reuse_key(&v);
    struct provider newer = *v.model.provider;
    newer.version++;
    const struct provider *plain = v.model.provider;
    v.model.base_url = S("https://example.org/v1");
    assert_str(request_hash(&v), hash);
    assert_false(str_eq(reuse_key(&v), key));
    v.model.base_url = S("https://api.openai.com/v1");
    assert_str(reuse_key(&v), key);
    v.model.provider = &newer;
    assert_str(request_hash(&v), hash);
    assert_false(str_eq(reuse_key(&v), key));
    v.model.provider = plain;
    v.model.identity = S("other");
    assert_false(str_eq(reuse_key(&v), key));
    json_decref(v.extra);
}

static void what_changes_no_answer_changes_no_hash(void **s)
{
    (void)s;
    struct varied v;
    base_request(&v);
    str hash = request_hash(&v);
    str key = reuse_key(&v);
    v.model.key = S("another key");
    v.model.timeout_ms = 1;
    v.model.retries = 99;
    assert_str(request_hash(&v), hash);
    assert_str(reuse_key(&v), key);
    json_decref(v.extra);
    str other;
    assert_str(key_with_extra("{\"seed\":7,\"top_p\":0.95}", &other),
               key); // sorted, no drop_params
    assert_str(other, hash);
    assert_str(key_with_extra("{\"seed\":7.0,\"top_p\":9.5e-1}", &other), key); // shortest numbers
}

// F-061
static void five_samples_are_five_requests(void **s)
{
    (void)s;
    struct varied v;
    str keys[5];
    base_request(&v);
    for (int64_t i = 0; i < 5; i++) {
        v.request.sample = i;
        keys[i] = reuse_key(&v);
        for (int64_t j = 0; j < i; j++)
            assert_false(str_eq(keys[i], keys[j]));
    }
    v.request.sample = 3;
    assert_str(reuse_key(&v), keys[3]); // and again the same
    json_decref(v.extra);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_stay_what_stored_runs_hold),
        cmocka_unit_test(everything_that_changes_the_answer_changes_the_hash),
        cmocka_unit_test(where_it_is_sent_changes_the_reuse_key_alone),
        cmocka_unit_test(what_changes_no_answer_changes_no_hash),
        cmocka_unit_test(five_samples_are_five_requests),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

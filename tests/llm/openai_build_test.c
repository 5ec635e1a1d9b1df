// SPDX-License-Identifier: GPL-3.0-or-later
// Requests byte for byte, written by hand from section 3 of the endpoint specification and 1.9 of
// the few-shot specification.
#include <locale.h>

#include "fixture.h"

#define MESSAGES                                                                                   \
    "\"messages\":[{\"role\":\"system\",\"content\":\"Play.\"},{\"role\":\"user\",\"content\":"    \
    "\"position_fen: 8/8/8/8/8/8/8/8 w - - 0 1\"}]"

static void a_bare_request_holds_model_and_messages(void **s)
{
    (void)s;
    struct http_request r = fixture_build(S("openai/gpt-4o-mini"), &(struct model_opts){ 0 }, NULL);
    assert_str(r.body, S("{\"model\":\"gpt-4o-mini\"," MESSAGES "}"));
    assert_str(r.url, S("https://api.openai.com/v1/chat/completions"));
    assert_int_equal(r.n_headers, 2);
    assert_str(r.headers[0].name, S("Content-Type"));
    assert_str(r.headers[0].value, S("application/json"));
    assert_str(r.headers[1].name, S("Authorization"));
    assert_str(r.headers[1].value, S("Bearer sk-canary-0123456789"));
}

static void a_configured_request_holds_its_settings(void **s)
{
    (void)s;
    json_t *extra =
        fixture_json("{\"drop_params\":true,\"reasoning_effort\":\"low\",\"top_p\":0.95,"
                     "\"seed\":7,\"provider\":{\"only\":[\"a\"],\"allow_fallbacks\":false}}");
    const struct model_opts opts = { .has_temperature = true,
                                     .max_tokens = 1024,
                                     .has_format = true,
                                     .format = FORMAT_JSON_OBJECT,
                                     .extra = extra };
    struct http_request r = fixture_build(S("openrouter/openai/gpt-4o-mini"), &opts, NULL);
    assert_str(r.body,
               S("{\"model\":\"openai/gpt-4o-mini\"," MESSAGES ",\"max_tokens\":1024,"
                 "\"temperature\":0.0,\"response_format\":{\"type\":\"json_object\"},"
                 "\"reasoning_effort\":\"low\",\"top_p\":0.95,\"seed\":7,\"provider\":{\"only\":["
                 "\"a\"],\"allow_fallbacks\":false}}"));
    assert_str(r.url, S("https://openrouter.ai/api/v1/chat/completions"));
    json_decref(extra);
}

// F-019: closed, every property required, no keyword that strict modes refuse.
static void a_schema_is_strict_and_closed(void **s)
{
    (void)s;
    const struct model_opts opts = { .has_format = true, .format = FORMAT_SCHEMA };
    assert_str(
        fixture_build(S("openai/m"), &opts, NULL).body,
        S("{\"model\":\"m\"," MESSAGES ",\"response_format\":{\"type\":\"json_schema\","
          "\"json_schema\":{\"name\":\"answer\",\"strict\":true,\"schema\":{\"type\":"
          "\"object\",\"properties\":{\"move\":{\"title\":\"Move\",\"type\":\"string\"}},"
          "\"required\":[\"move\"],\"additionalProperties\":false,\"title\":\"answer\"}}}}"));
}

static void every_output_field_is_in_the_schema_in_order(void **s)
{
    (void)s;
    static const struct field outputs[] = { { { "best_line", 9 }, { "", 0 } },
                                            { { "move", 4 }, { "", 0 } } };
    static const struct signature two = { .outputs = outputs, .n_outputs = 2 };
    const struct model m = fixture_model(
        S("openai/m"), &(struct model_opts){ .has_format = true, .format = FORMAT_SCHEMA });
    const struct messages messages = fixture_messages();
    struct model_request q = model_request_new(&m, NULL, &messages, &two);
    struct http_request out;
    assert_true(m.provider->build(&m, &q, &arena, &out, NULL));
    assert_has(out.body,
               "\"properties\":{\"best_line\":{\"title\":\"Best Line\",\"type\":\"string\"},"
               "\"move\":{\"title\":\"Move\",\"type\":\"string\"}},\"required\":["
               "\"best_line\",\"move\"],\"additionalProperties\":false");
    // What cannot be a schema is asked for as an object.
    q.signature = NULL;
    assert_true(m.provider->build(&m, &q, &arena, &out, NULL));
    assert_has(out.body, "\"response_format\":{\"type\":\"json_object\"}");
}

static void free_text_asks_for_no_format(void **s)
{
    (void)s;
    const struct model m = fixture_model(
        S("openai/m"), &(struct model_opts){ .has_format = true, .format = FORMAT_SCHEMA });
    const struct messages messages = fixture_messages();
    const struct model_request q = model_request_new(&m, NULL, &messages, NULL);
    struct http_request out;
    assert_true(m.provider->build(&m, &q, &arena, &out, NULL));
    assert_lacks(out.body, "response_format");
}

// F-018
static void the_newer_limit_replaces_the_older(void **s)
{
    (void)s;
    json_t *extra = fixture_json("{\"max_completion_tokens\":2000}");
    const struct model_opts opts = { .max_tokens = 1024, .extra = extra };
    assert_str(fixture_build(S("openai/m"), &opts, NULL).body,
               S("{\"model\":\"m\"," MESSAGES ",\"max_completion_tokens\":2000}"));
    json_decref(extra);
}

// F-061: the sample tells calls apart, but is not sent; a temperature of a call wins.
static void overrides_win_and_samples_are_not_sent(void **s)
{
    (void)s;
    const struct model_opts opts = { .has_temperature = true, .temperature = 0.9 };
    const struct sampling override = { .has_temperature = true, .temperature = 0, .sample = 4 };
    assert_str(fixture_build(S("openai/m"), &opts, &override).body,
               S("{\"model\":\"m\"," MESSAGES ",\"temperature\":0.0}"));
    assert_str(fixture_build(S("openai/m"), &opts, &(struct sampling){ .sample = 3 }).body,
               S("{\"model\":\"m\"," MESSAGES ",\"temperature\":0.9}"));
}

// F-068
static void numbers_are_written_with_a_point_in_any_locale(void **s)
{
    (void)s;
    json_t *extra = fixture_json("{\"top_p\":0.5}");
    const struct model_opts opts = { .has_temperature = true, .temperature = 0.16, .extra = extra };
    setlocale(LC_ALL, "de_DE.UTF-8"); // where it is not installed the C locale stays: no harm
    str body = fixture_build(S("openai/m"), &opts, NULL).body;
    setlocale(LC_ALL, "C");
    assert_str(body, S("{\"model\":\"m\"," MESSAGES ",\"temperature\":0.16,\"top_p\":0.5}"));
    json_decref(extra);
}

// F-067: whatever stands in a prompt, the request is valid UTF-8 JSON.
static void broken_text_in_a_prompt_is_mended(void **s)
{
    (void)s;
    const struct model m = fixture_model(S("openai/m"), &(struct model_opts){ 0 });
    struct message text = { ROLE_USER, S("a\xED\xA0\xBD\x01\"\\\n\xE2\x82") };
    const struct messages messages = { &text, 1, 1 };
    const struct model_request q = model_request_new(&m, NULL, &messages, NULL);
    struct http_request out;
    assert_true(m.provider->build(&m, &q, &arena, &out, NULL));
    assert_true(utf8_valid(out.body));
    struct err err = { 0 };
    json_t *back = json_read_strict(out.body, &err);
    assert_non_null(back);
    assert_has(json_get_str(json_array_get(json_object_get(back, "messages"), 0), "content"),
               "\x01\"\\\n");
    json_decref(back);
}

static void a_request_that_is_too_large_is_refused(void **s)
{
    (void)s;
    const struct model m = fixture_model(S("openai/m"), &(struct model_opts){ 0 });
    size_t size = (size_t)33 << 20;
    char *huge = malloc(size);
    assert_non_null(huge);
    memset(huge, 'a', size);
    struct message text = { ROLE_USER, { huge, size } };
    const struct messages messages = { &text, 1, 1 };
    const struct model_request q = model_request_new(&m, NULL, &messages, NULL);
    struct http_request out;
    struct err err = { 0 };
    assert_false(m.provider->build(&m, &q, &arena, &out, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    free(huge);
}

static void a_local_server_gets_a_limit_and_no_key(void **s)
{
    (void)s;
    struct http_request r = fixture_build(S("llamacpp/m"), &(struct model_opts){ 0 }, NULL);
    assert_str(r.body, S("{\"model\":\"m\"," MESSAGES ",\"max_tokens\":4096}"));
    assert_str(r.url, S("http://localhost:8080/v1/chat/completions"));
    assert_int_equal(r.n_headers, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bare_request_holds_model_and_messages),
        cmocka_unit_test(a_configured_request_holds_its_settings),
        cmocka_unit_test(a_schema_is_strict_and_closed),
        cmocka_unit_test(every_output_field_is_in_the_schema_in_order),
        cmocka_unit_test(free_text_asks_for_no_format),
        cmocka_unit_test(the_newer_limit_replaces_the_older),
        cmocka_unit_test(overrides_win_and_samples_are_not_sent),
        cmocka_unit_test(numbers_are_written_with_a_point_in_any_locale),
        cmocka_unit_test(broken_text_in_a_prompt_is_mended),
        cmocka_unit_test(a_request_that_is_too_large_is_refused),
        cmocka_unit_test(a_local_server_gets_a_limit_and_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

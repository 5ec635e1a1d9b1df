// SPDX-License-Identifier: GPL-3.0-or-later
// Anthropic messages, from section 7 of the endpoint specification: requests byte for byte, texts
// and thoughts, stop reasons, usage with the cache, each error of its table.
#include "fixture.h"

#define NAME S("anthropic/claude-haiku-4-5")
#define SYSTEM "\"system\":[{\"type\":\"text\",\"text\":\"Play.\"}]"
#define MESSAGES                                                                                   \
    "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"                   \
    "\"position_fen: 8/8/8/8/8/8/8/8 w - - 0 1\"}]}]"

static struct http_request with(const char *extra, struct model_opts opts)
{
    json_t *object = extra ? fixture_json(extra) : NULL;
    opts.extra = object;
    struct http_request r = fixture_build(NAME, &opts, NULL);
    json_decref(object);
    return r;
}

static void refused(const char *extra, struct model_opts opts, const char *words)
{
    json_t *object = fixture_json(extra);
    opts.extra = object;
    fixture_refused(NAME, &opts, words);
    json_decref(object);
}

static struct reply reply(int status, str body)
{
    return fixture_parse(
        NAME, &(struct http_response){ .status = status, .complete = true, .body = body });
}

static void the_system_text_stands_apart_and_a_limit_is_always_sent(void **s)
{
    (void)s;
    struct http_request r = with(NULL, (struct model_opts){ .has_temperature = true });
    assert_str(r.body,
               S("{\"model\":\"claude-haiku-4-5\",\"max_tokens\":4096,\"temperature\":0.0," SYSTEM
                 "," MESSAGES "}"));
    assert_str(r.url, S("https://api.anthropic.com/v1/messages"));
    assert_str(fixture_header(&r, "x-api-key"), S("sk-ant-canary-0123456789"));
    assert_str(fixture_header(&r, "anthropic-version"), S("2023-06-01"));
    assert_str(fixture_header(&r, "Authorization"), S(""));
    r = with(NULL, (struct model_opts){ .max_tokens = 77,
                                        .base_url = S("https://proxy.example/anthropic") });
    assert_has(r.body, "\"max_tokens\":77,");
    assert_str(r.url, S("https://proxy.example/anthropic/v1/messages"));
}

static void thinking_leaves_the_temperature_out_and_widens_the_limit(void **s)
{
    (void)s;
    const char *thinking = "{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2048}}";
    struct http_request r =
        with(thinking, (struct model_opts){ .has_temperature = true, .temperature = 1 });
    assert_str(r.body, S("{\"model\":\"claude-haiku-4-5\",\"max_tokens\":6144," SYSTEM "," MESSAGES
                         ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2048}}"));
    refused(thinking, (struct model_opts){ .has_temperature = true }, "thinking");
    refused(thinking, (struct model_opts){ .max_tokens = 2048 }, "budget_tokens");
    refused("{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1023}}",
            (struct model_opts){ 0 }, "at least 1024");
    refused("{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024},\"top_k\":5}",
            (struct model_opts){ 0 }, "top_k");
    with("{\"thinking\":{\"type\":\"disabled\"},\"top_k\":5}",
         (struct model_opts){ .has_temperature = true, .temperature = 0.5 });
}

static void a_cache_mark_ends_what_all_positions_share(void **s)
{
    (void)s;
    json_t *extra = fixture_json("{\"cache_control\":{\"type\":\"ephemeral\"}}");
    const struct model m =
        fixture_model(NAME, &(struct model_opts){ .extra = extra, .max_tokens = 9 });
    struct message texts[] = { { ROLE_SYSTEM, S("Play.") },
                               { ROLE_USER, S("q1") },
                               { ROLE_ASSISTANT, S("a1") },
                               { ROLE_USER, S("q2") } };
    const struct messages messages = { texts, 4, 4 };
    const struct model_request q = model_request_new(&m, NULL, &messages, NULL);
    struct http_request r;
    struct err err;
    assert_true(m.provider->build(&m, &q, &arena, &r, &err));
    assert_str(r.body,
               S("{\"model\":\"claude-haiku-4-5\",\"max_tokens\":9,\"system\":[{\"type\":\"text\","
                 "\"text\":\"Play.\",\"cache_control\":{\"type\":\"ephemeral\"}}],\"messages\":["
                 "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q1\"}]},"
                 "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"a1\","
                 "\"cache_control\":{\"type\":\"ephemeral\"}}]},"
                 "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q2\"}]}]}"));
    json_decref(extra);
    assert_lacks(with(NULL, (struct model_opts){ 0 }).body, "cache_control"); // only by option
}

static void a_schema_goes_under_output_config_and_json_mode_does_not_exist(void **s)
{
    (void)s;
    struct model_opts opts = { .has_format = true, .format = FORMAT_SCHEMA, .max_tokens = 9 };
    assert_str(with("{\"output_config\":{\"effort\":\"low\"}}", opts).body,
               S("{\"model\":\"claude-haiku-4-5\",\"max_tokens\":9," SYSTEM "," MESSAGES
                 ",\"output_config\":{\"effort\":\"low\",\"format\":{\"type\":\"json_schema\","
                 "\"schema\":{\"type\":\"object\",\"properties\":{\"move\":{\"title\":\"Move\","
                 "\"type\":\"string\"}},\"required\":[\"move\"],\"additionalProperties\":false,"
                 "\"title\":\"answer\"}}}}"));
    opts.format = FORMAT_JSON_OBJECT;
    fixture_refused(NAME, &opts, "JSON mode");
    opts.format_if_known = true;
    assert_int_equal(fixture_model(NAME, &opts).format, FORMAT_NONE);
    // The re-ask of a schema model is a plain question.
    opts.format = FORMAT_SCHEMA;
    const struct model m = fixture_model(NAME, &opts);
    const struct messages messages = fixture_messages();
    struct model_request q = model_request_new(&m, NULL, &messages, &fixture_signature);
    q.format = FORMAT_JSON_OBJECT;
    struct http_request r;
    struct err err;
    assert_true(m.provider->build(&m, &q, &arena, &r, &err));
    assert_lacks(r.body, "format");
}

static void what_the_endpoint_would_refuse_is_refused_before(void **s)
{
    (void)s;
    static const char *const rows[][2] = {
        { "{\"seed\":7}", "no seed" },
        { "{\"n\":2}", "separate calls" },
        { "{\"system\":\"x\"}", "system" },
        { "{\"max_tokens\":5}", "max_tokens" },
        { "{\"stop_sequences\":[\"END\",\" \\n\"]}", "white space" },
        { "{\"output_config\":{\"format\":{}}}", "format" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        refused(rows[i][0], (struct model_opts){ 0 }, rows[i][1]);
    fixture_refused(NAME, &(struct model_opts){ .has_temperature = true, .temperature = 1.2 },
                    "0 to 1");
    const struct model m = fixture_model(NAME, &(struct model_opts){ 0 });
    struct message texts[] = { { ROLE_SYSTEM, S("Play.") }, { ROLE_USER, S(" \n") } };
    struct messages messages = { texts, 2, 2 };
    struct model_request q = model_request_new(&m, NULL, &messages, NULL);
    struct http_request r;
    struct err err;
    assert_false(m.provider->build(&m, &q, &arena, &r, &err));
    assert_int_equal(err.code, ERR_INPUT);
    texts[1] = (struct message){ ROLE_ASSISTANT, S("e2e4") };
    assert_false(m.provider->build(&m, &q, &arena, &r, &err));
    texts[1] = (struct message){ ROLE_USER, S("q") };
    q.has_temperature = true;
    q.temperature = 1.4; // an override of the job
    assert_false(m.provider->build(&m, &q, &arena, &r, &err));
    assert_int_equal(err.code, ERR_USAGE);
}

static void thoughts_are_kept_apart_and_text_blocks_joined(void **s)
{
    (void)s;
    struct reply r = reply(
        200, S("{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":"
               "\"claude-haiku-4-5-20251001\",\"content\":[{\"type\":\"thinking\",\"thinking\":"
               "\"Rook lift?\",\"signature\":\"x\"},{\"type\":\"redacted_thinking\",\"data\":"
               "\"y\"},{\"type\":\"text\",\"text\":\"{\\\"move\\\":\"},{\"type\":\"text\",\"text\":"
               "\"\\\"Nf3\\\"}\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null,\"usage\":{"
               "\"input_tokens\":50,\"output_tokens\":30,\"cache_creation_input_tokens\":100,"
               "\"cache_read_input_tokens\":1000}}"));
    assert_class(r, "ok");
    assert_str(r.text, S("{\"move\":\"Nf3\"}"));
    assert_str(r.reasoning, S("Rook lift?"));
    assert_str(r.served_model, S("claude-haiku-4-5-20251001"));
    assert_str(r.request_id, S("msg_1"));
    assert_int_equal(r.finish, FINISH_STOP);
    // Section 14: the cached and the written part are added to the input, not inside it.
    assert_int_equal(r.usage.source, KNOWN_REPORTED);
    assert_int_equal(r.usage.input_tok, 1150);
    assert_int_equal(r.usage.cached_tok, 1000);
    assert_int_equal(r.usage.cache_write_tok, 100);
    assert_int_equal(r.usage.output_tok, 30);
    // 50 x 1 + 1000 x 0.1 + 100 x 1.25 + 30 x 5 dollars per million
    assert_int_equal(r.cost_nusd, 50000 + 100000 + 125000 + 150000);
    assert_int_equal(r.cost_source, KNOWN_PRICED);
}

static void stop_reasons_have_their_classes(void **s)
{
    (void)s;
    static const struct {
        const char *reason, *text, *class;
        enum finish finish;
    } rows[] = {
        { "end_turn", "e2e4", "ok", FINISH_STOP },
        { "stop_sequence", "e2e4", "ok", FINISH_STOP },
        { "max_tokens", "e2", "truncated", FINISH_LENGTH },
        { "max_tokens", "", "truncated", FINISH_LENGTH },
        { "model_context_window_exceeded", "e2", "truncated", FINISH_LENGTH },
        { "refusal", "", "refused", FINISH_REFUSED },
        { "tool_use", "e2e4", "ok", FINISH_TOOL },
        { "end_turn", "", "empty", FINISH_STOP },
        { "a_new_reason", "e2e4", "ok", FINISH_UNKNOWN },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        str body = arena_printf(&arena,
                                "{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],"
                                "\"stop_reason\":\"%s\",\"usage\":{\"input_tokens\":1,"
                                "\"output_tokens\":1}}",
                                rows[i].text, rows[i].reason);
        struct reply r = reply(200, body);
        assert_str(reply_class_name(r.class), str_from(rows[i].class));
        assert_int_equal(r.finish, rows[i].finish);
        assert_str(r.native_finish, str_from(rows[i].reason));
    }
    assert_class(reply(200, S("{\"content\":[],\"stop_reason\":\"end_turn\",\"usage\":{"
                              "\"input_tokens\":1,\"output_tokens\":2}}")),
                 "empty");
    assert_class(reply(200, S("{\"type\":\"message\"}")), "protocol");
}

static void errors_mean_what_the_table_of_section_7_says(void **s)
{
    (void)s;
    static const struct {
        int status;
        const char *type, *more, *class;
    } rows[] = {
        { 400, "invalid_request_error", "\"message\":\"max_tokens: required\"", "config" },
        { 400, "invalid_request_error",
          "\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"",
          "context_overflow" },
        { 400, "invalid_request_error",
          "\"message\":\"Your credit balance is too low to access the API.\"", "account" },
        { 401, "authentication_error", "\"message\":\"invalid x-api-key\"", "account" },
        { 402, "billing_error", "\"message\":\"m\"", "account" },
        { 403, "permission_error", "\"message\":\"m\"", "account" },
        { 404, "not_found_error", "\"message\":\"model: x\"", "config" },
        { 413, "request_too_large", "\"message\":\"m\"", "config" },
        { 429, "rate_limit_error", "\"message\":\"m\"", "rate_limit" },
        { 429, "rate_limit_error",
          "\"message\":\"m\",\"details\":{\"error_code\":\"enforced_spend_limit_reached\"}",
          "account" },
        { 500, "api_error", "\"message\":\"m\"", "upstream" },
        { 504, "timeout_error", "\"message\":\"m\"", "upstream" },
        { 529, "overloaded_error", "\"message\":\"m\"", "overload" },
        { 200, "overloaded_error", "\"message\":\"m\"", "overload" },
        { 200, "api_error", "\"message\":\"m\"", "upstream" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        str body = arena_printf(&arena,
                                "{\"type\":\"error\",\"error\":{\"type\":\"%s\",%s},"
                                "\"request_id\":\"req_1\"}",
                                rows[i].type, rows[i].more);
        assert_str(reply_class_name(reply(rows[i].status, body).class), str_from(rows[i].class));
    }
    // With a wait the spend limit is one that comes back.
    struct http_response in = {
        .status = 429,
        .complete = true,
        .headers = { .retry_after = S("30") },
        .body = S("{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"m\","
                  "\"details\":{\"error_code\":\"enforced_spend_limit_reached\"}}}"),
    };
    struct reply r = fixture_parse(NAME, &in);
    assert_class(r, "rate_limit");
    assert_int_equal(r.retry_after_ms, 30000);
}

static void a_reset_is_a_date_here(void **s)
{
    (void)s;
    struct http_response in = {
        .status = 429,
        .complete = true,
        .headers = { .date = S("Wed, 21 Oct 2026 07:28:00 GMT"),
                     .remaining_requests = S("0"),
                     .reset_requests = S("2026-10-21T07:28:12Z"),
                     .remaining_tokens = S("500"),
                     .reset_tokens = S("2026-10-21T09:00:00Z") },
        .body = S("{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}"),
    };
    assert_int_equal(fixture_parse(NAME, &in).retry_after_ms, 12000);
    in.headers.reset_requests = S("soon");
    assert_int_equal(fixture_parse(NAME, &in).retry_after_ms, -1);
}

static void what_did_not_arrive_whole_is_never_an_answer(void **s)
{
    (void)s;
    struct http_response in = { .status = 200, .body = S("{\"content\":[{\"type\":\"text\"") };
    assert_class(fixture_parse(NAME, &in), "transport");
    in.complete = true;
    assert_class(fixture_parse(NAME, &in), "protocol");
    in.body = S("<html>");
    assert_class(fixture_parse(NAME, &in), "protocol");
    in = (struct http_response){ 0 };
    assert_class(fixture_parse(NAME, &in), "transport");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_system_text_stands_apart_and_a_limit_is_always_sent),
        cmocka_unit_test(thinking_leaves_the_temperature_out_and_widens_the_limit),
        cmocka_unit_test(a_cache_mark_ends_what_all_positions_share),
        cmocka_unit_test(a_schema_goes_under_output_config_and_json_mode_does_not_exist),
        cmocka_unit_test(what_the_endpoint_would_refuse_is_refused_before),
        cmocka_unit_test(thoughts_are_kept_apart_and_text_blocks_joined),
        cmocka_unit_test(stop_reasons_have_their_classes),
        cmocka_unit_test(errors_mean_what_the_table_of_section_7_says),
        cmocka_unit_test(a_reset_is_a_date_here),
        cmocka_unit_test(what_did_not_arrive_whole_is_never_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Classes of failures: every row of the tables in sections 3, 4 and 12 of the endpoint
// specification, and the field cases about errors.
#include "fixture.h"

#define ERROR(code_) S("{\"error\":{\"message\":\"m\",\"type\":null,\"code\":" code_ "}}")

static void the_status_decides_where_no_code_does(void **s)
{
    (void)s;
    static const struct {
        int status;
        const char *class;
    } rows[] = {
        { 400, "config" },   { 401, "account" },  { 402, "account" },    { 403, "account" },
        { 404, "config" },   { 405, "config" },   { 408, "upstream" },   { 409, "upstream" },
        { 413, "config" },   { 422, "config" },   { 429, "rate_limit" }, { 500, "upstream" },
        { 502, "upstream" }, { 503, "overload" }, { 504, "upstream" },   { 520, "upstream" },
        { 521, "upstream" }, { 522, "upstream" }, { 523, "upstream" },   { 524, "upstream" },
        { 529, "overload" }, { 301, "config" },   { 418, "config" },     { 599, "upstream" },
        { 425, "upstream" }, { 407, "account" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_str(reply_class_name(reply_of(rows[i].status, ERROR("null")).class),
                   str_from(rows[i].class));
        // The same for a body that is no JSON, for a page, and for nothing.
        assert_str(reply_class_name(reply_of(rows[i].status, S("oops")).class),
                   str_from(rows[i].class));
        assert_str(reply_class_name(reply_of(rows[i].status, S("<html>")).class),
                   str_from(rows[i].class));
        assert_str(reply_class_name(reply_of(rows[i].status, S("")).class),
                   str_from(rows[i].class));
    }
}

static void codes_decide_before_the_status(void **s)
{
    (void)s;
    assert_class(reply_of(400, ERROR("\"context_length_exceeded\"")), "context_overflow");
    assert_class(reply_of(400, ERROR("\"content_policy_violation\"")), "filtered");
    assert_class(reply_of(400, ERROR("\"content_filter\"")), "filtered");
    assert_class(reply_of(404, ERROR("\"model_not_found\"")), "config");
    assert_class(reply_of(429, ERROR("\"rate_limit_exceeded\"")), "rate_limit");
    assert_class(reply_of(429, ERROR("\"insufficient_quota\"")), "account");
    assert_class(reply_of(429, ERROR("\"billing_hard_limit_reached\"")), "account");
    assert_class(reply_of(429, ERROR("\"usage_limit_reached\"")), "account");
    assert_class(reply_of(429, ERROR("\"credit_balance_exhausted\"")), "account");
    assert_class(reply_of(503, ERROR("\"model_not_found\"")), "config");
}

// F-001
static void an_error_object_under_200_is_a_failure(void **s)
{
    (void)s;
    struct reply r = reply_of(
        200, S("{\"error\":{\"message\":\"Provider returned error\",\"code\":502,\"metadata\":{"
               "\"provider_name\":\"X\"}},\"user_id\":\"u_1\"}"));
    assert_class(r, "upstream");
    assert_false(reply_is_scored(r.class));
    assert_true(reply_may_retry(&r));
    assert_has(r.error, "502");
    assert_lacks(r.error, "u_1");
    // A choice beside it does not help.
    assert_class(reply_of(200, S("{\"error\":{\"code\":429,\"message\":\"slow\"},\"choices\":[{"
                                 "\"message\":{\"content\":\"e4\"}}]}")),
                 "rate_limit"); // F-059: never ok, so never reused
}

static void errors_are_found_in_every_shape(void **s)
{
    (void)s;
    assert_class(reply_of(200, S("{\"error\":\"model runner stopped\"}")), "upstream");
    assert_class(reply_of(404, S("{\"error\":\"model not found, try pulling it\"}")), "config");
    assert_class(reply_of(200, S("{\"object\":\"error\",\"message\":\"m\",\"code\":400}")),
                 "config");
    assert_class(reply_of(200, S("{\"statusCode\":401,\"message\":\"m\"}")), "account");
    assert_class(reply_of(200, S("[{\"error\":{\"code\":503,\"message\":\"m\"}}]")), "overload");
    assert_class(reply_of(200, S("{\"error\":{\"code\":\"429\",\"message\":\"m\"}}")),
                 "rate_limit");
    assert_class(reply_of(200, S("{\"choices\":[{\"error\":{\"code\":502,\"message\":\"m\"},"
                                 "\"message\":{\"content\":\"x\"},\"finish_reason\":\"error\"}]}")),
                 "upstream");
    assert_class(
        reply_of(200, S("{\"choices\":[],\"error\":{\"code\":502,\"message\":\"limit\"}}")),
        "upstream"); // F-010, as one body
    assert_class(reply_of(200, S("{\"error\":{\"type\":\"overloaded_error\",\"message\":\"m\"}}")),
                 "overload");
    assert_class(reply_of(200, S("{\"error\":{\"type\":\"rate_limit_error\",\"message\":\"m\"}}")),
                 "rate_limit");
    assert_class(reply_of(200, S("{\"error\":{\"type\":\"invalid_request_error\"}}")), "config");
    assert_class(reply_of(200, S("{\"error\":{}}")), "upstream");
    assert_class(reply_of(422, S("{\"detail\":\"field required\"}")), "config");
    // General types do not outvote the status.
    assert_class(reply_of(500, S("{\"error\":{\"type\":\"invalid_request_error\"}}")), "upstream");
}

static void no_error_is_no_error(void **s)
{
    (void)s;
    static const str kinds[] = { { "null", 4 }, { "false", 5 }, { "\"\"", 2 }, { "[]", 2 } };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        assert_class(reply_of(200, arena_printf(&arena,
                                                "{\"error\":%.*s,\"choices\":[{\"message\":{"
                                                "\"content\":\"e4\"}}]}",
                                                STR(kinds[i]))),
                     "ok");
}

// F-017
static void an_azure_filter_is_filtered_and_not_retried(void **s)
{
    (void)s;
    struct reply r = reply_of(
        400, S("{\"error\":{\"message\":\"The response was filtered ...\",\"type\":null,\"param\":"
               "\"prompt\",\"code\":\"content_filter\",\"status\":400,\"innererror\":{\"code\":"
               "\"ResponsibleAIPolicyViolation\",\"content_filter_result\":{\"jailbreak\":{"
               "\"filtered\":true,\"detected\":true}}}}}"));
    assert_class(r, "filtered");
    assert_false(reply_may_retry(&r));
    assert_false(reply_is_scored(r.class));
    assert_class(reply_of(400, S("{\"error\":{\"code\":null,\"innererror\":{\"code\":"
                                 "\"ResponsibleAIPolicyViolation\"}}}")),
                 "filtered");
}

// F-018
static void a_refused_limit_name_tells_what_to_set(void **s)
{
    (void)s;
    struct reply r = reply_of(
        400, S("{\"error\":{\"message\":\"Unsupported parameter: 'max_tokens' is not supported "
               "with this model. Use 'max_completion_tokens' instead.\",\"type\":"
               "\"invalid_request_error\",\"param\":\"max_tokens\",\"code\":"
               "\"unsupported_parameter\"}}"));
    assert_class(r, "config");
    assert_has(r.error, "set extra: {max_completion_tokens: 512} and max_tokens: null");
}

static void a_refused_temperature_tells_what_to_set(void **s)
{
    (void)s;
    struct reply r = reply_of(
        400, S("{\"error\":{\"message\":\"Unsupported value: 'temperature' does not support 0.16 "
               "with this model. Only the default (1) value is supported.\",\"type\":"
               "\"invalid_request_error\",\"param\":\"temperature\",\"code\":"
               "\"unsupported_value\"}}"));
    assert_class(r, "config");
    assert_false(reply_may_retry(&r));
    assert_has(r.error, "set the one it allows");
}

// F-021
static void a_prompt_that_cannot_fit_is_context_overflow(void **s)
{
    (void)s;
    struct reply r = reply_of(500, S("{\"error\":{\"code\":500,\"message\":\"Context size has been "
                                     "exceeded.\",\"type\":\"server_error\"}}"));
    assert_class(r, "context_overflow");
    assert_false(reply_may_retry(&r));
    r = reply_of(400, S("{\"error\":{\"code\":400,\"message\":\"request (4390 tokens) exceeds the "
                        "available context size (4096 tokens), try increasing it\",\"type\":"
                        "\"exceed_context_size_error\",\"n_prompt_tokens\":4390,\"n_ctx\":4096}}"));
    assert_class(r, "context_overflow");
    assert_has(r.error, "prompt tokens 4390, window 4096");
    r = reply_of(400,
                 S("{\"object\":\"error\",\"message\":\"This model's maximum context length is "
                   "4096 tokens.\",\"type\":\"BadRequestError\",\"code\":400}"));
    assert_class(r, "context_overflow");
    // Under a 200 too.
    assert_class(reply_of(200, S("{\"error\":{\"code\":500,\"message\":\"Context size has been "
                                 "exceeded.\"}}")),
                 "context_overflow");
}

// F-056
static void an_empty_account_is_not_a_rate_limit(void **s)
{
    (void)s;
    struct reply r = reply_of(
        429, S("{\"error\":{\"message\":\"You exceeded your current quota, please check your plan "
               "and billing details.\",\"type\":\"insufficient_quota\",\"param\":null,\"code\":"
               "\"insufficient_quota\"}}"));
    assert_class(r, "account");
    assert_false(reply_may_retry(&r));
    assert_has(r.error, "the account, not the speed");
    // In `type` alone, and against another code.
    assert_class(reply_of(429, S("{\"error\":{\"type\":\"insufficient_quota\",\"code\":null}}")),
                 "account");
    assert_class(reply_of(429, S("{\"error\":{\"type\":\"insufficient_quota\",\"code\":"
                                 "\"rate_limit_exceeded\"}}")),
                 "account");
    // Words about billing alone do not make it final.
    assert_class(reply_of(429, S("{\"error\":{\"message\":\"check your billing details\"}}")),
                 "rate_limit");
}

static void bodies_that_are_no_json_are_protocol_errors(void **s)
{
    (void)s;
    assert_class(reply_of(200, S("<!DOCTYPE html><html>")), "protocol");
    assert_class(reply_of(200, S("  \n\xEF\xBB\xBF <a>")), "protocol");
    assert_class(reply_of(200, S("")), "protocol");
    assert_class(reply_of(200, S("upstream connect error")), "protocol");
    assert_class(reply_of(200, S("{\"choices\":[{\"message\":{\"content\":\"e4\"}}]} x")),
                 "protocol");
    assert_class(reply_of(200, S("{\"choices\":[{\"message\":{\"content\":\"e4\"}}]")), "protocol");
    assert_class(reply_of(200, S("42")), "protocol");
    assert_class(reply_of(200, S("{}")), "protocol");
    assert_class(reply_of(200, S("[]")), "protocol");
    assert_class(reply_of(200, S("{\"choices\":[]}")), "protocol");
    assert_class(reply_of(200, S("{\"choices\":[{}]}")), "protocol");
    assert_class(reply_of(200, S("{\"choices\":[{\"message\":{\"content\":7}}]}")), "protocol");
    assert_has(reply_of(200, S("<html>")).error, "base URL");
}

// F-003, and what the transport alone tells.
static void a_cut_body_is_never_read(void **s)
{
    (void)s;
    const struct http_response cut = {
        .status = 200,
        .body = S("{\"choices\":[{\"message\":{\"content\":\"e4\"},\"finish_reason\":\"stop\"}]}"),
    };
    struct reply r = fixture_parse(S("openai/gpt-4o-mini"), &cut);
    assert_class(r, "transport");
    assert_int_equal(r.text.len, 0);
    r = fixture_parse(S("openai/gpt-4o-mini"), &(struct http_response){ .complete = true });
    assert_class(r, "transport");
}

static void the_header_about_retrying_is_obeyed(void **s)
{
    (void)s;
    struct http_response in = { .status = 500, .complete = true, .body = ERROR("null") };
    in.headers.should_retry = S("false");
    struct reply r = fixture_parse(S("openai/gpt-4o-mini"), &in);
    assert_class(r, "upstream");
    assert_false(reply_may_retry(&r));
    in.headers.should_retry = S("true");
    in.status = 400;
    r = fixture_parse(S("openai/gpt-4o-mini"), &in);
    assert_true(reply_may_retry(&r));
    // But a code knows better.
    in.status = 429;
    in.body = ERROR("\"insufficient_quota\"");
    r = fixture_parse(S("openai/gpt-4o-mini"), &in);
    assert_class(r, "account");
}

static void the_servers_hint_is_read(void **s)
{
    (void)s;
    struct http_response in = { .status = 429, .complete = true, .body = ERROR("null") };
    assert_int_equal(fixture_parse(S("openai/gpt-4o-mini"), &in).retry_after_ms, -1);
    in.headers.retry_after = S("7");
    assert_int_equal(fixture_parse(S("openai/gpt-4o-mini"), &in).retry_after_ms, 7000);
}

static void error_sentences_hold_no_secret_and_one_line(void **s)
{
    (void)s;
    struct reply r = reply_of(
        401, S("{\"error\":{\"message\":\"Incorrect key sk-canary-0123456789\\n\\u001b[31m for "
               "org-AbCdEf123456 of bob@example.com\",\"code\":\"invalid_api_key\"}}"));
    assert_class(r, "account");
    assert_has(r.error, "OPENAI_API_KEY");
    assert_has(r.error, "[key]");
    assert_lacks(r.error, "canary");
    assert_lacks(r.error, "AbCdEf");
    assert_lacks(r.error, "bob@");
    assert_lacks(r.error, "\n");
    assert_lacks(r.error, "\x1b");
    r = reply_of(500, arena_printf(&arena, "%0*d", 5000, 7));
    assert_true(r.error.len < 800);
    r = reply_of(500, S("caf\xE9"));
    assert_true(utf8_valid(r.error));
}

static void no_full_stop_stands_before_what_to_do(void **s)
{
    (void)s;
    struct reply r = reply_of(401, S("{\"error\":{\"message\":\"Incorrect API key provided.\","
                                     "\"code\":\"invalid_api_key\"}}"));
    assert_has(r.error, "provided; check the key");
    r = reply_of(400,
                 S("{\"error\":{\"message\":\"Too long ...\",\"n_ctx\":4096,\"code\":\"x\"}}"));
    assert_has(r.error, "Too long ... (window 4096)");
}

// A secret that a cut would halve is left out whole: no half can be known any more. The masks are
// shorter than the keys, so that the place of the cut comes into sight.
static void no_cut_leaves_half_a_secret(void **s)
{
    (void)s;
    for (int before = 0; before < 25; before++) {
        struct buf b = { .arena = &arena };
        buf_addf(&b, "%0*d", before + 1, 7);
        for (int i = 0; i < 99; i++)
            buf_add(&b, S(" sk-canary-0123456789"));
        str keys = buf_str(&b);
        assert_lacks(reply_of(500, keys).error, "sk-");
        str json = arena_printf(&arena, "{\"error\":{\"message\":\"%.*s\"}}", STR(keys));
        assert_lacks(reply_of(500, json).error, "sk-");
    }
}

// ---- section 4 ----

static void openrouter_money_is_told_from_money_in_flight(void **s)
{
    (void)s;
    struct http_response in = {
        .status = 402,
        .complete = true,
        .body = S("{\"error\":{\"code\":402,\"message\":\"m\",\"metadata\":{\"limit_source\":"
                  "\"openrouter_in_flight_budget\"}}}"),
    };
    in.headers.retry_after = S("3");
    struct reply r = fixture_parse(S("openrouter/x/y"), &in);
    assert_class(r, "rate_limit");
    assert_int_equal(r.retry_after_ms, 3000);
    in.headers.retry_after = S("");
    assert_class(fixture_parse(S("openrouter/x/y"), &in), "account");
    assert_class(router_reply_of(402, S("{\"error\":{\"code\":402,\"message\":\"m\",\"metadata\":{"
                                        "\"limit_source\":\"openrouter_credits\"}}}")),
                 "account");
    assert_class(router_reply_of(402, S("{\"error\":{\"code\":402,\"message\":\"m\",\"metadata\":{"
                                        "\"limit_source\":\"openrouter_key_limit\"}}}")),
                 "account");
    assert_class(router_reply_of(402, S("{\"error\":{\"code\":402,\"message\":\"m\"}}")),
                 "account");
}

static void openrouter_403_is_a_budget_or_a_filter(void **s)
{
    (void)s;
    struct reply r = router_reply_of(
        403, S("{\"error\":{\"code\":403,\"message\":\"over\",\"metadata\":{\"limit_source\":"
               "\"key\",\"limit_usd\":10,\"spend_usd\":10.5,\"resets_at\":\"2026-12-02\"}}}"));
    assert_class(r, "account");
    assert_has(r.error, "limit USD 10, spent USD 10.5, resets at 2026-12-02");
    r = router_reply_of(403, S("{\"error\":{\"code\":403,\"message\":\"flagged\",\"metadata\":{"
                               "\"reasons\":[\"violence\"],\"flagged_input\":\"Qxf7\"}}}"));
    assert_class(r, "filtered");
    assert_class(router_reply_of(403, S("{\"error\":{\"code\":403,\"message\":\"m\"}}")),
                 "account");
}

static void openrouter_statuses_have_their_classes(void **s)
{
    (void)s;
    static const struct {
        int status;
        const char *class;
    } rows[] = {
        { 400, "config" },   { 401, "account" },    { 404, "config" },   { 422, "config" },
        { 408, "upstream" }, { 502, "upstream" },   { 503, "overload" }, { 504, "upstream" },
        { 529, "overload" }, { 429, "rate_limit" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        str body =
            arena_printf(&arena, "{\"error\":{\"code\":%d,\"message\":\"m\"}}", rows[i].status);
        assert_str(reply_class_name(router_reply_of(rows[i].status, body).class),
                   str_from(rows[i].class));
        assert_str(reply_class_name(router_reply_of(200, body).class), str_from(rows[i].class));
    }
    struct reply r = router_reply_of(
        404, S("{\"error\":{\"code\":404,\"message\":\"No endpoints found that match\"}}"));
    assert_class(r, "config"); // F-024: a pin that nobody satisfies
}

static void openrouter_passes_inner_codes_on(void **s)
{
    (void)s;
    assert_class(
        router_reply_of(400, S("{\"error\":{\"code\":400,\"message\":\"Provider returned error\","
                               "\"metadata\":{\"raw\":\"{\\\"error\\\":{\\\"code\\\":"
                               "\\\"context_length_exceeded\\\",\\\"message\\\":\\\"m\\\"}}\"}}}")),
        "context_overflow");
    assert_class(router_reply_of(
                     400, S("{\"error\":{\"code\":400,\"message\":\"Provider returned error\","
                            "\"metadata\":{\"raw\":{\"error\":{\"code\":\"content_filter\"}}}}}")),
                 "filtered");
    struct reply r = router_reply_of(
        429, S("{\"error\":{\"code\":429,\"message\":\"Provider returned error\",\"metadata\":{"
               "\"raw\":\"{\\\"error\\\":{\\\"code\\\":\\\"insufficient_quota\\\"}}\"}}}"));
    assert_class(r, "rate_limit"); // the account of the host behind the router, not ours
    r = router_reply_of(400, S("{\"error\":{\"code\":400,\"message\":\"m\",\"metadata\":{\"raw\":"
                               "\"the maximum context length is 8192\"}}}"));
    assert_class(r, "context_overflow");
}

static void openrouter_tells_when_the_free_day_ends(void **s)
{
    (void)s;
    struct http_response in = {
        .status = 429,
        .complete = true,
        .body =
            S("{\"error\":{\"code\":429,\"message\":\"Rate limit exceeded: free-models-per-day\","
              "\"metadata\":{\"headers\":{\"X-RateLimit-Reset\":\"1000000060000\"}}}}"),
    };
    in.headers.date = S("Sun, 09 Sep 2001 01:46:40 GMT"); // 1,000,000,000 s
    struct reply r = fixture_parse(S("openrouter/x/y"), &in);
    assert_class(r, "rate_limit");
    assert_int_equal(r.retry_after_ms, 60000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_status_decides_where_no_code_does),
        cmocka_unit_test(codes_decide_before_the_status),
        cmocka_unit_test(an_error_object_under_200_is_a_failure),
        cmocka_unit_test(errors_are_found_in_every_shape),
        cmocka_unit_test(no_error_is_no_error),
        cmocka_unit_test(an_azure_filter_is_filtered_and_not_retried),
        cmocka_unit_test(a_refused_limit_name_tells_what_to_set),
        cmocka_unit_test(a_refused_temperature_tells_what_to_set),
        cmocka_unit_test(a_prompt_that_cannot_fit_is_context_overflow),
        cmocka_unit_test(an_empty_account_is_not_a_rate_limit),
        cmocka_unit_test(bodies_that_are_no_json_are_protocol_errors),
        cmocka_unit_test(a_cut_body_is_never_read),
        cmocka_unit_test(the_header_about_retrying_is_obeyed),
        cmocka_unit_test(the_servers_hint_is_read),
        cmocka_unit_test(error_sentences_hold_no_secret_and_one_line),
        cmocka_unit_test(no_full_stop_stands_before_what_to_do),
        cmocka_unit_test(no_cut_leaves_half_a_secret),
        cmocka_unit_test(openrouter_money_is_told_from_money_in_flight),
        cmocka_unit_test(openrouter_403_is_a_budget_or_a_filter),
        cmocka_unit_test(openrouter_statuses_have_their_classes),
        cmocka_unit_test(openrouter_passes_inner_codes_on),
        cmocka_unit_test(openrouter_tells_when_the_free_day_ends),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

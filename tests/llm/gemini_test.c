// SPDX-License-Identifier: GPL-3.0-or-later
// Gemini's generateContent, from section 8 of the endpoint specification and the field cases F-014
// and F-015.
#include "fixture.h"

#define NAME S("gemini/gemini-2.5-flash")
#define CONTENTS                                                                                   \
    "\"systemInstruction\":{\"parts\":[{\"text\":\"Play.\"}]},\"contents\":[{\"role\":\"user\","   \
    "\"parts\":[{\"text\":\"position_fen: 8/8/8/8/8/8/8/8 w - - 0 1\"}]}]"

static struct http_request with(const char *extra, struct model_opts opts)
{
    json_t *object = extra ? fixture_json(extra) : NULL;
    opts.extra = object;
    struct http_request r = fixture_build(NAME, &opts, NULL);
    json_decref(object);
    return r;
}

static struct reply reply(int status, str body)
{
    return fixture_parse(
        NAME, &(struct http_response){ .status = status, .complete = true, .body = body });
}

static void a_request_fills_the_template(void **s)
{
    (void)s;
    struct http_request r = with(NULL, (struct model_opts){ 0 });
    assert_str(r.body, S("{" CONTENTS ",\"generationConfig\":{}}"));
    assert_str(r.url, S("https://generativelanguage.googleapis.com/v1beta/models/"
                        "gemini-2.5-flash:generateContent"));
    assert_str(fixture_header(&r, "x-goog-api-key"), S("AIza-canary-0123456789"));
    const struct model_opts all = { .has_temperature = true,
                                    .max_tokens = 4096,
                                    .has_format = true,
                                    .format = FORMAT_JSON_OBJECT,
                                    .base_url = S("https://proxy.example") };
    r = with("{\"safetySettings\":[],\"stopSequences\":[\"END\"],\"seed\":7,\"topP\":1,"
             "\"thinkingConfig\":{\"thinkingBudget\":1024,\"includeThoughts\":false}}",
             all);
    assert_str(r.body,
               S("{" CONTENTS ",\"generationConfig\":{\"temperature\":0.0,\"maxOutputTokens\":4096,"
                 "\"responseMimeType\":\"application/json\",\"topP\":1,\"seed\":7,"
                 "\"stopSequences\":[\"END\"],\"thinkingConfig\":{\"thinkingBudget\":1024,"
                 "\"includeThoughts\":false}},\"safetySettings\":[]}"));
    assert_str(r.url, S("https://proxy.example/v1beta/models/gemini-2.5-flash:generateContent"));
}

static void demonstrations_are_turns_of_the_model(void **s)
{
    (void)s;
    const struct model m = fixture_model(NAME, &(struct model_opts){ 0 });
    struct message texts[] = { { ROLE_USER, S("q1") },
                               { ROLE_ASSISTANT, S("a1") },
                               { ROLE_USER, S("q2") } };
    const struct messages messages = { texts, 3, 3 };
    const struct model_request q = model_request_new(&m, NULL, &messages, NULL);
    struct http_request r;
    struct err err;
    assert_true(m.provider->build(&m, &q, &arena, &r, &err));
    assert_str(r.body, S("{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"q1\"}]},"
                         "{\"role\":\"model\",\"parts\":[{\"text\":\"a1\"}]},{\"role\":\"user\","
                         "\"parts\":[{\"text\":\"q2\"}]}],\"generationConfig\":{}}"));
}

static void a_schema_is_in_its_own_dialect(void **s)
{
    (void)s;
    const struct model_opts opts = { .has_format = true, .format = FORMAT_SCHEMA };
    assert_str(with(NULL, opts).body,
               S("{" CONTENTS ",\"generationConfig\":{\"responseMimeType\":\"application/json\","
                 "\"responseSchema\":{\"type\":\"OBJECT\",\"properties\":{\"move\":{\"type\":"
                 "\"STRING\"}},\"required\":[\"move\"]}}}"));
}

static void members_without_a_place_are_refused(void **s)
{
    (void)s;
    static const char *const rows[][2] = {
        { "{\"top_p\":1}", "top_p" },
        { "{\"maxOutputTokens\":5}", "maxOutputTokens" },
        { "{\"thinkingBudget\":5}", "thinkingBudget" },
        { "{\"thinkingConfig\":{\"thinkingBudget\":1,\"thinkingLevel\":\"low\"}}", "not both" },
        { "{\"thinkingConfig\":{\"budget\":1}}", "thinkingBudget" },
        { "{\"seed\":4294967296}", "32 bits" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *extra = fixture_json(rows[i][0]);
        fixture_refused(NAME, &(struct model_opts){ .extra = extra }, rows[i][1]);
        json_decref(extra);
    }
    fixture_refused(S("gemini/a?key=b"), &(struct model_opts){ 0 }, "letters");
}

static void the_answer_is_what_is_no_thought(void **s)
{
    (void)s;
    struct reply r = reply( // F-015
        200, S("{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":"
               "\"Consider Bxh7+\",\"thought\":true},{\"text\":\"Rxd8\"},{\"functionCall\":{}},"
               "{\"text\":\"#\"}]},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{"
               "\"promptTokenCount\":50,\"cachedContentTokenCount\":20,\"candidatesTokenCount\":5,"
               "\"thoughtsTokenCount\":100,\"totalTokenCount\":155},\"modelVersion\":\"M-001\","
               "\"responseId\":\"r1\"}"));
    assert_class(r, "ok");
    assert_str(r.text, S("Rxd8#"));
    assert_str(r.reasoning, S("Consider Bxh7+"));
    assert_str(r.served_model, S("M-001"));
    assert_str(r.request_id, S("r1"));
    assert_int_equal(r.usage.input_tok, 50);
    assert_int_equal(r.usage.cached_tok, 20);
    assert_int_equal(r.usage.output_tok, 105); // billable: candidates and thoughts
    assert_int_equal(r.usage.reasoning_tok, 100);
}

static void a_limit_reached_while_thinking_is_no_block(void **s)
{
    (void)s;
    struct reply r = reply( // F-014
        200, S("{\"candidates\":[{\"content\":{\"role\":\"model\"},\"finishReason\":\"MAX_TOKENS\","
               "\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":120,\"thoughtsTokenCount\":"
               "253,\"totalTokenCount\":373},\"modelVersion\":\"g\"}"));
    assert_class(r, "truncated");
    assert_int_equal(r.usage.input_tok, 120);
    assert_int_equal(r.usage.output_tok, 253);
}

static void finish_reasons_have_their_classes(void **s)
{
    (void)s;
    static const char *const rows[][2] = {
        { "STOP", "ok" },
        { "MAX_TOKENS", "truncated" },
        { "SAFETY", "filtered" },
        { "RECITATION", "filtered" },
        { "BLOCKLIST", "filtered" },
        { "PROHIBITED_CONTENT", "filtered" },
        { "SPII", "filtered" },
        { "LANGUAGE", "filtered" },
        { "OTHER", "upstream" },
        { "MALFORMED_FUNCTION_CALL", "upstream" },
        { "SOMETHING_NEW", "ok" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        str body = arena_printf(&arena,
                                "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"e2e4\"}]},"
                                "\"finishReason\":\"%s\"}],\"usageMetadata\":{\"promptTokenCount\":"
                                "3,\"candidatesTokenCount\":2}}",
                                rows[i][0]);
        assert_str(reply_class_name(reply(200, body).class), str_from(rows[i][1]));
    }
    struct reply r = reply(200, S("{\"promptFeedback\":{\"blockReason\":\"SAFETY\"},"
                                  "\"usageMetadata\":{\"promptTokenCount\":8,"
                                  "\"totalTokenCount\":8}}"));
    assert_class(r, "filtered");
    assert_str(r.native_finish, S("SAFETY"));
    assert_int_equal(r.usage.input_tok, 8);
    assert_int_equal(r.usage.output_tok, 0);
    assert_class(reply(200, S("{\"candidates\":[]}")), "protocol");
}

static void errors_mean_what_section_8_says(void **s)
{
    (void)s;
    static const struct {
        int status;
        const char *body, *class;
    } rows[] = {
        { 400,
          "{\"error\":{\"code\":400,\"message\":\"API key not valid.\",\"status\":"
          "\"INVALID_ARGUMENT\",\"details\":[{\"@type\":\"t\",\"reason\":\"API_KEY_INVALID\"}]}}",
          "account" },
        { 400, "{\"error\":{\"code\":400,\"message\":\"m\",\"status\":\"INVALID_ARGUMENT\"}}",
          "config" },
        { 400,
          "[{\"error\":{\"code\":400,\"message\":\"The input token count (9) exceeds the maximum "
          "number of tokens allowed (8).\",\"status\":\"INVALID_ARGUMENT\"}}]",
          "context_overflow" },
        { 403, "{\"error\":{\"code\":403,\"status\":\"PERMISSION_DENIED\"}}", "account" },
        { 404, "{\"error\":{\"code\":404,\"status\":\"NOT_FOUND\"}}", "config" },
        { 429,
          "{\"error\":{\"code\":429,\"message\":\"You exceeded your current quota, please check "
          "your plan and billing details.\",\"status\":\"RESOURCE_EXHAUSTED\"}}",
          "rate_limit" },
        { 200, "[{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\"}}]", "rate_limit" },
        { 500, "{\"error\":{\"code\":500,\"status\":\"INTERNAL\"}}", "upstream" },
        { 503, "{\"error\":{\"code\":503,\"status\":\"UNAVAILABLE\"}}", "overload" },
        { 504, "{\"error\":{\"code\":504,\"status\":\"DEADLINE_EXCEEDED\"}}", "upstream" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_str(reply_class_name(reply(rows[i].status, str_from(rows[i].body)).class),
                   str_from(rows[i].class));
    assert_has(reply(400, str_from(rows[0].body)).error, "GEMINI_API_KEY");
}

static void the_wait_stands_in_the_body_and_a_daily_quota_parks(void **s)
{
    (void)s;
#define EXHAUSTED(quota)                                                                           \
    S("{\"error\":{\"code\":429,\"message\":\"m\",\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[" \
      "{\"@type\":\"QuotaFailure\",\"violations\":[{\"quotaId\":\"" quota "\"}]},"                 \
      "{\"@type\":\"RetryInfo\",\"retryDelay\":\"17.4s\"}]}}")
    struct reply r = reply(429, EXHAUSTED("GenerateRequestsPerMinutePerProject"));
    assert_class(r, "rate_limit");
    assert_int_equal(r.retry_after_ms, 17400);
    r = reply(429, EXHAUSTED("GenerateRequestsPerDayPerProjectPerModel-FreeTier"));
    assert_class(r, "rate_limit");
    assert_int_equal(r.retry_after_ms, 3600000);
}

static void what_did_not_arrive_whole_is_never_an_answer(void **s)
{
    (void)s;
    struct http_response in = { .status = 200, .body = S("{\"candidates\":[") };
    assert_class(fixture_parse(NAME, &in), "transport");
    in.complete = true;
    assert_class(fixture_parse(NAME, &in), "protocol");
    assert_class(reply(200, S("[]")), "protocol");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_fills_the_template),
        cmocka_unit_test(demonstrations_are_turns_of_the_model),
        cmocka_unit_test(a_schema_is_in_its_own_dialect),
        cmocka_unit_test(members_without_a_place_are_refused),
        cmocka_unit_test(the_answer_is_what_is_no_thought),
        cmocka_unit_test(a_limit_reached_while_thinking_is_no_block),
        cmocka_unit_test(finish_reasons_have_their_classes),
        cmocka_unit_test(errors_mean_what_section_8_says),
        cmocka_unit_test(the_wait_stands_in_the_body_and_a_daily_quota_parks),
        cmocka_unit_test(what_did_not_arrive_whole_is_never_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

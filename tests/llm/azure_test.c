// SPDX-License-Identifier: GPL-3.0-or-later
// Azure OpenAI: both routes, both kinds of key, and what its errors mean (section 6 of the endpoint
// specification; field case F-017).
#include "fixture.h"

#define NAME S("azure/gpt-4o-mini")

static struct http_request at(const char *base)
{
    return fixture_build(NAME, &(struct model_opts){ .base_url = str_from(base) }, NULL);
}

static struct reply reply_at(int status, const struct http_response_headers *headers, str body)
{
    const struct model m =
        fixture_model(NAME, &(struct model_opts){ .base_url = S("https://r.openai.azure.com") });
    struct http_response in = { .status = status, .complete = true, .body = body };
    if (headers)
        in.headers = *headers;
    return fixture_parse_of(&m, &in);
}

static void an_api_version_chooses_the_route_of_deployments(void **s)
{
    (void)s;
    const str url = S("https://r.openai.azure.com/openai/deployments/gpt-4o-mini/chat/completions"
                      "?api-version=2024-10-21");
    static const char *const bases[] = {
        "https://r.openai.azure.com?api-version=2024-10-21",
        "https://r.openai.azure.com/?api-version=2024-10-21",
        "https://r.openai.azure.com/openai/?api-version=2024-10-21",
        "https://r.openai.azure.com/openai/deployments/gpt-4o-mini?api-version=2024-10-21",
        "https://r.openai.azure.com/openai/deployments/gpt-4o-mini/chat/completions"
        "?api-version=2024-10-21",
    };
    for (size_t i = 0; i < ARRAY_LEN(bases); i++)
        assert_str(at(bases[i]).url, url);
}

static void without_one_the_newer_route_is_taken(void **s)
{
    (void)s;
    const str url = S("https://r.openai.azure.com/openai/v1/chat/completions");
    static const char *const bases[] = {
        "https://r.openai.azure.com",
        "https://r.openai.azure.com/openai",
        "https://r.openai.azure.com/openai/v1/",
        "https://r.openai.azure.com/openai/v1/chat/completions",
    };
    for (size_t i = 0; i < ARRAY_LEN(bases); i++)
        assert_str(at(bases[i]).url, url);
    assert_str(at("https://r.openai.azure.com/openai/v1?api-version=preview").url,
               S("https://r.openai.azure.com/openai/v1/chat/completions?api-version=preview"));
}

static void the_body_is_that_of_openai_with_the_deployment_as_model(void **s)
{
    (void)s;
    assert_str(at("https://r.openai.azure.com").body,
               S("{\"model\":\"gpt-4o-mini\",\"messages\":[{\"role\":\"system\",\"content\":"
                 "\"Play.\"},{\"role\":\"user\",\"content\":\"position_fen: 8/8/8/8/8/8/8/8 w - - "
                 "0 1\"}]}"));
}

static void a_key_has_a_header_of_its_own_and_a_token_is_a_bearer(void **s)
{
    (void)s;
    struct http_request r = at("https://r.openai.azure.com");
    assert_str(fixture_header(&r, "api-key"), S("azure-canary-0123456789"));
    assert_str(fixture_header(&r, "Authorization"), S(""));
    struct model m =
        fixture_model(NAME, &(struct model_opts){ .base_url = S("https://r.openai.azure.com") });
    m.key = S("eyJhbGciOi.eyJhdWQiOi.c2ln");
    const struct messages messages = fixture_messages();
    const struct model_request q = model_request_new(&m, NULL, &messages, NULL);
    struct err err;
    assert_true(m.provider->build(&m, &q, &arena, &r, &err));
    assert_str(fixture_header(&r, "Authorization"), S("Bearer eyJhbGciOi.eyJhdWQiOi.c2ln"));
    assert_str(fixture_header(&r, "api-key"), S(""));
}

static void what_cannot_be_a_resource_is_refused_before_the_first_call(void **s)
{
    (void)s;
    fixture_refused(NAME, &(struct model_opts){ 0 }, "ROOKERY_AZURE_BASE_URL");
    static const char *const bad[][2] = {
        { "https://r.openai.azure.com/openai/deployments/gpt-4o-mini", "api-version" },
        { "https://r.openai.azure.com/openai/deployments/x?api-version=1", "another deployment" },
        { "https://r.openai.azure.com?api-version=1&key=canary", "secret" },
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        fixture_refused(NAME, &(struct model_opts){ .base_url = str_from(bad[i][0]) }, bad[i][1]);
    fixture_refused(S("azure/a/b"),
                    &(struct model_opts){ .base_url = S("https://r.openai.azure.com") }, "URL");
}

static void prices_are_those_of_the_model_behind_the_deployment(void **s)
{
    (void)s;
    json_t *extra = fixture_json("{\"priced_as\":\"openai/gpt-4o-mini\"}");
    struct model_opts opts = { .base_url = S("https://r.openai.azure.com"), .extra = extra };
    const struct model m = fixture_model(S("azure/mine"), &opts);
    assert_true(m.price.known && m.price.input == 0.15);
    assert_lacks(fixture_build(S("azure/mine"), &opts, NULL).body, "priced_as");
    opts.extra = NULL;
    assert_false(fixture_model(S("azure/mine"), &opts).price.known);
    json_decref(extra);
    opts.extra = extra = fixture_json("{\"priced_as\":\"openai/nothing\"}");
    fixture_refused(S("azure/mine"), &opts, "priced_as");
    json_decref(extra);
}

static void an_answer_has_filter_results_beside_it(void **s)
{
    (void)s;
    struct reply r = reply_at(
        200, NULL,
        S("{\"id\":\"c1\",\"model\":\"gpt-4o-mini-2024-07-18\",\"prompt_filter_results\":[{"
          "\"prompt_index\":0,\"content_filter_results\":{\"hate\":{\"filtered\":false}}}],"
          "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
          "\"{\\\"move\\\":\\\"e2e4\\\"}\"},\"content_filter_results\":{},\"finish_reason\":"
          "\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":7}}"));
    assert_class(r, "ok");
    assert_str(r.text, S("{\"move\":\"e2e4\"}"));
    assert_int_equal(r.usage.input_tok, 9);
    r = reply_at(200, NULL,
                 S("{\"choices\":[{\"message\":{\"content\":\"{\\\"mo\"},\"finish_reason\":"
                   "\"content_filter\"}],\"usage\":{\"prompt_tokens\":9,"
                   "\"completion_tokens\":2}}"));
    assert_class(r, "filtered");
}

static void errors_mean_what_section_6_says(void **s)
{
    (void)s;
    static const struct {
        int status;
        const char *body, *retry_after, *class;
    } rows[] = {
        { 400,
          "{\"error\":{\"message\":\"The response was filtered ...\",\"type\":null,\"param\":"
          "\"prompt\",\"code\":\"content_filter\",\"status\":400,\"innererror\":{\"code\":"
          "\"ResponsibleAIPolicyViolation\",\"content_filter_result\":{\"jailbreak\":{\"filtered\":"
          "true,\"detected\":true}}}}}",
          "", "filtered" }, // F-017
        { 404, "{\"error\":{\"code\":\"404\",\"message\":\"Resource not found\"}}", "", "config" },
        { 404, "{\"error\":{\"code\":\"DeploymentNotFound\",\"message\":\"no\"}}", "", "config" },
        { 429, "{\"error\":{\"code\":\"429\",\"message\":\"slow\"}}", "7", "rate_limit" },
        { 429, "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"m\"}}", "20",
          "rate_limit" },
        { 429, "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"m\"}}", "", "account" },
        { 429, "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"m\"}}", "86400",
          "account" },
        { 401, "{\"statusCode\":401,\"message\":\"Access denied\"}", "", "account" },
        { 200, "{\"statusCode\":401,\"message\":\"Access denied\"}", "", "account" },
        { 500, "{\"error\":{\"code\":\"500\",\"message\":\"m\"}}", "", "upstream" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct http_response_headers h = { .retry_after = str_from(rows[i].retry_after) };
        struct reply r = reply_at(rows[i].status, &h, str_from(rows[i].body));
        assert_str(reply_class_name(r.class), str_from(rows[i].class));
    }
    assert_has(reply_at(404, NULL, S("{\"error\":{\"code\":\"404\",\"message\":\"no\"}}")).error,
               "deployment");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_api_version_chooses_the_route_of_deployments),
        cmocka_unit_test(without_one_the_newer_route_is_taken),
        cmocka_unit_test(the_body_is_that_of_openai_with_the_deployment_as_model),
        cmocka_unit_test(a_key_has_a_header_of_its_own_and_a_token_is_a_bearer),
        cmocka_unit_test(what_cannot_be_a_resource_is_refused_before_the_first_call),
        cmocka_unit_test(prices_are_those_of_the_model_behind_the_deployment),
        cmocka_unit_test(an_answer_has_filter_results_beside_it),
        cmocka_unit_test(errors_mean_what_section_6_says),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// From names, settings and environment to models: URLs, keys, and every refusal before a call.
#include <math.h>

#include "fixture.h"

static const char *variables[4][2]; // what the environment holds in a test

static const char *test_getenv(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        if (variables[i][0] && strcmp(variables[i][0], name) == 0)
            return variables[i][1];
    return NULL;
}

static int reset(void **s)
{
    (void)s;
    memset(variables, 0, sizeof variables);
    variables[0][0] = "OPENAI_API_KEY";
    variables[0][1] = "sk-canary-0123456789";
    return 0;
}

static bool opened(const char *name, const struct model_opts *opts, struct model *m,
                   struct err *err)
{
    const struct model_source from = { llm_providers, test_getenv };
    *err = (struct err){ 0 };
    struct model_opts all = *opts;
    all.from = &from;
    return model_open(str_from(name), &all, &arena, m, err);
}

// Opening fails with this class, a sentence with this part, and no key in it.
static void refused(const char *name, const struct model_opts *opts, enum err_code code,
                    const char *part)
{
    struct model m;
    struct err err;
    if (opened(name, opts, &m, &err))
        fail_msg("opened: %s", name);
    assert_int_equal(err.code, code);
    if (!strstr(err.text, part))
        fail_msg("\"%s\" is not in \"%s\"", part, err.text);
    assert_null(strstr(err.text, "canary"));
}

static void names_are_provider_and_model(void **s)
{
    (void)s;
    struct model m;
    struct err err;
    assert_true(opened("openai/gpt-4o-mini", &(struct model_opts){ 0 }, &m, &err));
    assert_str(m.name, S("openai/gpt-4o-mini"));
    assert_str(m.id, S("gpt-4o-mini"));
    assert_str(m.provider->name, S("openai"));
    assert_str(m.key, S("sk-canary-0123456789"));
    assert_str(m.base_url, S("https://api.openai.com/v1"));
    assert_true(m.price.known);
    assert_int_equal(m.format, FORMAT_NONE);
    assert_int_equal(m.retries, 5);
    assert_false(m.has_temperature || m.simulated);
    variables[1][0] = "OPENROUTER_API_KEY";
    variables[1][1] = "sk-or-v1-canary";
    assert_true(opened("openrouter/openai/gpt-4o-mini", &(struct model_opts){ 0 }, &m, &err));
    assert_str(m.id, S("openai/gpt-4o-mini"));
}

static void wrong_names_are_explained(void **s)
{
    (void)s;
    const struct model_opts none = { 0 };
    refused("opnai/gpt-4o", &none, ERR_USAGE, "did you mean openai?");
    refused("llama.cpp/x", &none, ERR_USAGE, "did you mean llamacpp?");
    refused("pi/x", &none, ERR_USAGE, "unknown provider \"pi\" (known: openai, "); // no slip
    refused("somebody/x", &none, ERR_USAGE, "known: openai, openrouter");
    refused("gpt-4o-mini", &none, ERR_USAGE, "write provider/model");
    refused("openai/", &none, ERR_USAGE, "write provider/model");
    refused("/x", &none, ERR_USAGE, "write provider/model");
    refused("", &none, ERR_USAGE, "write provider/model");
    refused("openai/a\nb", &none, ERR_USAGE, "control characters");
    refused("openai/\xFF", &none, ERR_USAGE, "UTF-8");
}

static void a_key_is_needed_unless_the_server_is_local(void **s)
{
    (void)s;
    struct model m;
    struct err err;
    variables[0][1] = NULL;
    refused("openai/m", &(struct model_opts){ 0 }, ERR_ENDPOINT, "OPENAI_API_KEY");
    assert_true(opened("openai/m", &(struct model_opts){ .no_key = true }, &m, &err));
    variables[0][1] = "";
    refused("openai/m", &(struct model_opts){ 0 }, ERR_ENDPOINT, "OPENAI_API_KEY");
    refused("openrouter/m", &(struct model_opts){ 0 }, ERR_ENDPOINT, "OPENROUTER_API_KEY");
    assert_true(opened("openai/m", &(struct model_opts){ .base_url = S("http://127.0.0.1:9/v1") },
                       &m, &err));
    assert_int_equal(m.key.len, 0);
    static const char *const local[] = { "vllm/m", "llamacpp/m", "ollama/m" };
    for (size_t i = 0; i < ARRAY_LEN(local); i++) {
        assert_true(opened(local[i], &(struct model_opts){ 0 }, &m, &err));
        assert_true(m.price.known && m.price.output == 0);
    }
    variables[1][0] = "VLLM_API_KEY";
    variables[1][1] = "token-1";
    assert_true(opened("vllm/m", &(struct model_opts){ 0 }, &m, &err));
    assert_str(m.key, S("token-1"));
}

static void a_key_with_a_line_break_is_refused_and_not_shown(void **s)
{
    (void)s;
    struct model m;
    struct err err;
    variables[0][1] = "canary\r\nX-Evil: 1";
    refused("openai/m", &(struct model_opts){ 0 }, ERR_ENDPOINT, "OPENAI_API_KEY");
    variables[0][1] = "canary\xC3\xA9";
    refused("openai/m", &(struct model_opts){ 0 }, ERR_ENDPOINT, "OPENAI_API_KEY");
    variables[0][1] = " sk-canary\n"; // blanks around it come from shells and files
    assert_true(opened("openai/m", &(struct model_opts){ 0 }, &m, &err));
    assert_str(m.key, S("sk-canary"));
}

static str url_of(str base)
{
    struct model m;
    struct err err;
    struct http_request out;
    if (!opened("openai/m", &(struct model_opts){ .base_url = base }, &m, &err))
        fail_msg("%.*s: %s", STR(base), err.text);
    const struct messages messages = fixture_messages();
    const struct model_request q = model_request_new(&m, NULL, &messages, NULL);
    assert_true(m.provider->build(&m, &q, &arena, &out, &err));
    return out.url;
}

static void base_urls_are_joined_with_one_separator(void **s)
{
    (void)s;
    const str want = S("https://h.example/v1/chat/completions");
    assert_str(url_of(S("https://h.example")), want);
    assert_str(url_of(S("https://h.example/")), want);
    assert_str(url_of(S("https://h.example/v1")), want);
    assert_str(url_of(S("https://h.example/v1/")), want);
    assert_str(url_of(S("https://h.example/v1//")), want);
    assert_str(url_of(S(" HTTPS://H.example/v1\n")), want);
    assert_str(url_of(S("https://h.example/v1/chat/completions")), want);
    assert_str(url_of(S("https://h.example:8443/api/v1")),
               S("https://h.example:8443/api/v1/chat/completions"));
    assert_str(url_of(S("https://h.example/api")), S("https://h.example/api/v1/chat/completions"));
    assert_str(url_of(S("https://h.example/v1?a=b")),
               S("https://h.example/v1/chat/completions?a=b"));
    assert_str(url_of(S("https://h.example/?a=b")), S("https://h.example/v1/chat/completions?a=b"));
    assert_str(url_of(S("https://r.openai.azure.com/openai/deployments/D?api-version=2024-10-21")),
               S("https://r.openai.azure.com/openai/deployments/D/chat/completions"
                 "?api-version=2024-10-21"));
    assert_str(url_of(S("https://h.example/v1beta/openai")),
               S("https://h.example/v1beta/openai/chat/completions"));
    assert_str(url_of(S("https://h.example/paas/v4")),
               S("https://h.example/paas/v4/chat/completions"));
    assert_str(url_of(S("http://[::1]:8080")), S("http://[::1]:8080/v1/chat/completions"));
}

static void bad_base_urls_are_refused(void **s)
{
    (void)s;
    static const char *const bad[] = {
        "h.example/v1",       "ftp://h.example",        "https://",
        "https:///v1",        "https://h:0/v1",         "https://h:99999/",
        "https://h:x/",       "https://h.example/#a",   "https://h.exa mple/",
        "https://h\\@e/",     "https://[::1/",          "https://[x]/",
        "file:///etc/passwd", "https://h.example/\x01", "https://h%2eexample/",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        refused("openai/m", &(struct model_opts){ .base_url = str_from(bad[i]) }, ERR_USAGE,
                "base URL");
}

static void secrets_in_base_urls_are_refused_and_not_shown(void **s)
{
    (void)s;
    static const char *const bad[] = {
        "https://bob:canary@h.example/v1", "https://canary@h.example",
        "https://h.example/v1?key=canary", "https://h.example/v1?a=b&API_KEY=canary",
        "https://h.example/?token=canary",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        refused("openai/m", &(struct model_opts){ .base_url = str_from(bad[i]) }, ERR_USAGE,
                "base URL");
}

static void keys_travel_encrypted_or_on_this_machine(void **s)
{
    (void)s;
    struct model m;
    struct err err;
    static const char *const far[] = { "http://h.example/v1",
                                       "http://127.0.0.1.evil.example",
                                       "http://localhost.evil.example",
                                       "http://127.evil.example",
                                       "http://10.0.0.1",
                                       "http://1270.0.0.1",
                                       "http://127.0.0.256" };
    for (size_t i = 0; i < ARRAY_LEN(far); i++) {
        struct model_opts opts = { .base_url = str_from(far[i]) };
        refused("openai/m", &opts, ERR_USAGE, "unencrypted");
        opts.allow_plain_http = true;
        assert_true(opened("openai/m", &opts, &m, &err));
    }
    static const char *const near[] = {
        "http://127.0.0.1:8000",    "http://localhost:1", "http://[::1]",
        "http://127.1.2.3/v1",      "http://LOCALHOST",   "https://h.example",
        "http://sim.localhost:9/v1"
    };
    for (size_t i = 0; i < ARRAY_LEN(near); i++)
        assert_true(
            opened("openai/m", &(struct model_opts){ .base_url = str_from(near[i]) }, &m, &err));
    // Without a key nothing secret travels.
    assert_true(
        opened("vllm/m", &(struct model_opts){ .base_url = S("http://10.0.0.1:8000") }, &m, &err));
}

static void the_environment_redirects_and_the_flag_goes_first(void **s)
{
    (void)s;
    struct model m;
    struct err err;
    variables[1][0] = "ROOKERY_OPENAI_BASE_URL";
    variables[1][1] = "https://proxy.example/v1/";
    assert_true(opened("openai/m", &(struct model_opts){ 0 }, &m, &err));
    assert_str(m.base_url, S("https://proxy.example/v1"));
    assert_true(opened("openai/m", &(struct model_opts){ .base_url = S("https://flag.example") },
                       &m, &err));
    assert_str(m.base_url, S("https://flag.example"));
    variables[1][1] = "";
    assert_true(opened("openai/m", &(struct model_opts){ 0 }, &m, &err));
    assert_str(m.base_url, S("https://api.openai.com/v1"));
    variables[1][0] = "ROOKERY_LLAMACPP_BASE_URL";
    variables[1][1] = "http://127.0.0.1:9999";
    assert_true(opened("llamacpp/m", &(struct model_opts){ 0 }, &m, &err));
    assert_str(m.base_url, S("http://127.0.0.1:9999"));
    refused("script/x", &(struct model_opts){ .base_url = S("https://flag.example") }, ERR_USAGE,
            "does not apply");
}

static void settings_are_checked_before_the_first_call(void **s)
{
    (void)s;
    refused("openai/m", &(struct model_opts){ .has_temperature = true, .temperature = -0.1 },
            ERR_USAGE, "temperature");
    refused("openai/m", &(struct model_opts){ .has_temperature = true, .temperature = (double)NAN },
            ERR_USAGE, "temperature");
    refused("openai/m", &(struct model_opts){ .max_tokens = -1 }, ERR_USAGE, "max_tokens");
    refused("openai/m", &(struct model_opts){ .has_retries = true, .retries = -1 }, ERR_USAGE,
            "retries");
    static const char *const extras[] = {
        "{\"model\":\"x\"}",
        "{\"messages\":[]}",
        "{\"temperature\":1}",
        "{\"max_tokens\":5}",
        "{\"stream\":\"yes\"}",
        "{\"n\":2}",
        "{\"response_format\":1}",
        "{\"max_completion_tokens\":0}",
        "{\"max_completion_tokens\":\"9\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(extras); i++) {
        struct err err;
        json_t *extra = json_read_strict(str_from(extras[i]), &err);
        refused("openai/m", &(struct model_opts){ .extra = extra }, ERR_USAGE, "openai/m");
        json_decref(extra);
    }
    static const char *const local[][3] = {
        { "vllm/m", "{\"guided_choice\":[\"e2e4\"]}", "structured_outputs" }, // F-020
        { "ollama_v1/m", "{\"num_ctx\":8192}", "Modelfile" },                 // F-022
        { "openrouter/m", "{\"reasoning\":{\"effort\":\"low\",\"max_tokens\":9}}", "not both" },
    };
    variables[1][0] = "OPENROUTER_API_KEY";
    variables[1][1] = "sk-or-v1-canary";
    for (size_t i = 0; i < ARRAY_LEN(local); i++) {
        struct err err;
        json_t *extra = json_read_strict(str_from(local[i][1]), &err);
        refused(local[i][0], &(struct model_opts){ .extra = extra }, ERR_USAGE, local[i][2]);
        json_decref(extra);
    }
    json_t *list = json_array();
    refused("openai/m", &(struct model_opts){ .extra = list }, ERR_USAGE, "mapping");
    json_decref(list);
}

static void settings_reach_the_request(void **s)
{
    (void)s;
    struct model m;
    struct err err;
    const struct model_opts opts = { .has_temperature = true,
                                     .temperature = 0.5,
                                     .max_tokens = 77,
                                     .has_retries = true,
                                     .retries = 0,
                                     .timeout_ms = 30000,
                                     .has_format = true,
                                     .format = FORMAT_SCHEMA };
    assert_true(opened("openai/m", &opts, &m, &err));
    assert_int_equal(m.retries, 0);
    assert_int_equal(m.timeout_ms, 30000);
    const struct messages messages = fixture_messages();
    struct model_request q = model_request_new(&m, NULL, &messages, &fixture_signature);
    assert_true(q.has_temperature && q.temperature == 0.5);
    assert_int_equal(q.max_tokens, 77);
    assert_int_equal(q.format, FORMAT_SCHEMA);
    assert_int_equal(q.sample, 0);
    q = model_request_new(&m, &(struct sampling){ .sample = 3 }, &messages, NULL);
    assert_true(q.temperature == 0.5);
    assert_int_equal(q.sample, 3);
    assert_int_equal(q.format, FORMAT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(names_are_provider_and_model, reset),
        cmocka_unit_test_setup(wrong_names_are_explained, reset),
        cmocka_unit_test_setup(a_key_is_needed_unless_the_server_is_local, reset),
        cmocka_unit_test_setup(a_key_with_a_line_break_is_refused_and_not_shown, reset),
        cmocka_unit_test_setup(base_urls_are_joined_with_one_separator, reset),
        cmocka_unit_test_setup(bad_base_urls_are_refused, reset),
        cmocka_unit_test_setup(secrets_in_base_urls_are_refused_and_not_shown, reset),
        cmocka_unit_test_setup(keys_travel_encrypted_or_on_this_machine, reset),
        cmocka_unit_test_setup(the_environment_redirects_and_the_flag_goes_first, reset),
        cmocka_unit_test_setup(settings_are_checked_before_the_first_call, reset),
        cmocka_unit_test_setup(settings_reach_the_request, reset),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

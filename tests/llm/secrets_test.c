// SPDX-License-Identifier: GPL-3.0-or-later
// A planted key is nowhere in what becomes of a reply, and none is taken from a configuration
// (endpoint specification, section 16; field case F-065). Encoded forms were made with Python.
#include "fixture.h"

#define KEY "sk-canary-0123456789" // of fixture_getenv

// KEY as an echo may spell it, ready to stand inside a JSON string.
static const char *const spellings[] = {
    "sk-canary-0123456789",
    "sk\\u002dcanary\\u002D0123456789",             // an escape of the body itself
    "sk\\\\u002dcanary\\\\u002D012345678\\\\u0039", // JSON in the content
    "\\\\u0073k-canary-0123456789",
    "sk\\\\\\\\u002dcanary-0123456789", // JSON in JSON in the content
    "sk%2Dcanary%2d0123456789",
    "sk%252Dcanary-0123456789",
    "c2stY2FuYXJ5LTAxMjM0NTY3ODk=",     // alone
    "OnNrLWNhbmFyeS0wMTIzNDU2Nzg5",     // behind ":"
    "dTpzay1jYW5hcnktMDEyMzQ1Njc4OQ==", // behind "u:"
};

// Nothing that a person could read the key from.
static void assert_clean(str text)
{
    static const char *const traces[] = { "canary",     "\\u002d",  "%2D",     "%2d",
                                          "0123456789", "Y2FuYXJ5", "jYW5hcn", "NhbmFye" };
    for (size_t i = 0; i < ARRAY_LEN(traces); i++)
        if (str_find(text, str_from(traces[i])) >= 0)
            fail_msg("\"%s\" is in %.*s", traces[i], STR(text));
}

static struct reply parsed(int status, str body, str request_id)
{
    return fixture_parse(S("openai/m"),
                         &(struct http_response){ .status = status,
                                                  .complete = true,
                                                  .body = body,
                                                  .headers = { .request_id = request_id } });
}

static void an_echo_in_any_text_of_a_reply_is_masked(void **s)
{
    (void)s;
    static const struct {
        int status;
        const char *body;
    } bodies[] = {
        { 200, "{\"choices\":[{\"message\":{\"content\":\"@\"},\"finish_reason\":\"stop\"}]}" },
        { 200, "{\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a \"},"
               "{\"text\":\"@\"}]}}]}" },
        { 200, "{\"choices\":[{\"message\":{\"content\":\"<think>@</think>x\"}}]}" },
        { 200, "{\"choices\":[{\"message\":{\"content\":\"x\",\"reasoning_content\":\"@\"}}]}" },
        { 200, "{\"choices\":[{\"message\":{\"content\":\"x\",\"reasoning_details\":"
               "[{\"text\":\"@\"}]}}]}" },
        { 200, "{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"@\"}]}" },
        { 200, "{\"choices\":[{\"message\":{\"content\":\"x\"},\"native_finish_reason\":\"@\"}]}" },
        { 200, "{\"model\":\"@\",\"choices\":[{\"message\":{\"content\":\"x\"}}]}" },
        { 200, "{\"provider\":\"@\",\"choices\":[{\"message\":{\"content\":\"x\"}}]}" },
        { 200, "{\"id\":\"@\",\"choices\":[{\"message\":{\"content\":\"x\"}}]}" },
        { 200, "{\"system_fingerprint\":\"@\",\"choices\":[{\"message\":{\"content\":\"x\"}}]}" },
        { 200, "{'model':'@','choices':[{'message':{'content':'x'}}],}" }, // not JSON
        { 200, "{\"choices\":[{\"message\":{\"content\":\"\",\"refusal\":\"@\"}}]}" },
        { 200, "{\"choices\":[{\"message\":{\"content\":\"\"},\"finish_reason\":\"@\"}]}" },
        { 401, "{\"model\":\"@\",\"error\":{\"message\":\"bad key @\",\"code\":\"@\"}}" },
        { 400, "{\"error\":{\"message\":\"x\",\"metadata\":{\"raw\":\"@\"}}}" },
        { 500, "bad key @" },
    };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        for (size_t k = 0; k < ARRAY_LEN(spellings); k++) {
            struct buf b = { .arena = &arena };
            for (const char *c = bodies[i].body; *c; c++)
                buf_add(&b, *c == '@' ? str_from(spellings[k]) : (str){ c, 1 });
            struct reply r = parsed(bodies[i].status, buf_str(&b), (str){ 0 });
            assert_clean(reply_to_json(&r, &arena));
        }
    }
}

static void an_echoing_header_is_masked(void **s)
{
    (void)s;
    struct reply r = parsed(200, S("{\"choices\":[{\"message\":{\"content\":\"x\"}}]}"), S(KEY));
    assert_str(r.request_id, S("[key]"));
    assert_has(r.note, "the key");
    r = parsed(500, S("{}"), S("id " KEY));
    assert_str(r.request_id, S("id [key]"));
}

static void the_note_tells_and_the_rest_of_the_text_stays(void **s)
{
    (void)s;
    struct reply r = parsed(200,
                            S("{\"choices\":[{\"message\":{\"content\":\"a " KEY " \\\\n 50% " KEY
                              "\"},\"finish_reason\":\"stop\"}]}"),
                            (str){ 0 });
    assert_class(r, "ok");
    assert_str(r.text, S("a [key] \\n 50% [key]"));
    assert_has(r.note, "held the key; it was taken out");
}

// A name is cut at 256 bytes; a key that lies across would leave its begin.
static void a_key_across_the_cut_of_a_name_leaves_nothing(void **s)
{
    (void)s;
    for (size_t before = 230; before < 260; before++) {
        struct buf b = { .arena = &arena };
        buf_add(&b, S("{\"choices\":[{\"message\":{\"content\":\"x\"}}],\"model\":\""));
        for (size_t i = 0; i < before; i++)
            buf_add_char(&b, 'm');
        buf_add(&b, S(KEY "\"}"));
        struct reply r = parsed(200, buf_str(&b), (str){ 0 });
        assert_true(r.served_model.len > 0 && r.served_model.len <= 256);
        assert_lacks(r.served_model, "sk-");
    }
}

// All providers that send a key; each has its own.
static void no_provider_lets_its_key_through(void **s)
{
    (void)s;
    size_t n = 0;
    for (size_t i = 0; llm_providers[i]; i++) {
        if (!llm_providers[i]->parse)
            continue;
        struct model m = { .name = S("x/y"),
                           .id = S("y"),
                           .provider = llm_providers[i],
                           .key = S("Canary_9876543210") };
        const struct messages messages = fixture_messages();
        const struct model_request q = model_request_new(&m, NULL, &messages, NULL);
        const struct http_response in = {
            .status = 200,
            .complete = true,
            // one body that all formats find their answer in
            .body = S("{\"model\":\"Canary\\u005f9876543210\",\"choices\":[{\"message\":"
                      "{\"content\":\"Canary_9876543210\"}}],"
                      "\"content\":[{\"type\":\"text\",\"text\":\"Canary_9876543210\"}],"
                      "\"modelVersion\":\"Canary\\u005f9876543210\",\"candidates\":[{\"content\":"
                      "{\"parts\":[{\"text\":\"Canary_9876543210\"}]}}],"
                      "\"message\":{\"content\":\"Canary_9876543210\"},\"done\":true}"),
        };
        struct reply r = { 0 };
        m.provider->parse(&m, &q, &in, &arena, &r);
        if (m.provider->chooses) // its text is an option of ours, and this body has no choice
            assert_str(r.text, S(""));
        else
            assert_str(r.text, S("[key]"));
        assert_str(r.served_model, S("[key]"));
        n++;
    }
    assert_true(n >= 8);
}

static str json_with_key(str key, str body)
{
    struct model m = {
        .name = S("openai/m"), .id = S("m"), .provider = &provider_openai, .key = key
    };
    const struct messages messages = fixture_messages();
    const struct model_request q = model_request_new(&m, NULL, &messages, NULL);
    const struct http_response in = { .status = 200, .complete = true, .body = body };
    struct reply r = { 0 };
    m.provider->parse(&m, &q, &in, &arena, &r);
    return reply_to_json(&r, &arena);
}

// Also what has a key's shape or an account's: only errors are redacted by shape.
static void an_honest_reply_is_the_same_byte_for_byte(void **s)
{
    (void)s;
    static const char *const contents[] = {
        "{\\\"move\\\": \\\"e2e4\\\"}",
        "sk-foreign-0123456789, AIzaFAKE-FAKE-FAKE-FAKE-FAKE, Bearer abc.DEF-123, key=Zz9Zz9",
        "org-AbCd1234EfGh user_AbCd1234 bob@mail.example.com http://a:b@c/",
        "\\\\u002d \\\\frac{1}{2} 100% %2D c2st sk-canary sk-canary-012345678",
        "\\u00e9\\ud83d\\ude00 \\u0000 \\ud83d",
        "<think>Nf3 [key]</think> \\n Nf3",
    };
    for (size_t i = 0; i < ARRAY_LEN(contents); i++) {
        str body = arena_printf(&arena,
                                "{\"id\":\"user_AbCd1234\",\"model\":\"sk-a-b-c-d-e\",\"choices\":"
                                "[{\"message\":{\"content\":\"%s\"},\"finish_reason\":\"stop\"}]}",
                                contents[i]);
        assert_str(json_with_key(S(KEY), body), json_with_key((str){ 0 }, body));
        assert_lacks(json_with_key(S(KEY), body), "taken out");
    }
}

// What people give to servers that want no key is found in honest texts.
static void a_placeholder_is_no_secret(void **s)
{
    (void)s;
    const str body = S("{\"model\":\"ollama/x\",\"choices\":[{\"message\":{\"content\":"
                       "\"EMPTY none anything PLACEHOLDER e2e4\"}}]}");
    static const char *const keys[] = {
        "EMPTY", "none", "anything", "ollama", "PLACEHOLDER", "e2e4"
    };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        assert_str(json_with_key(str_from(keys[i]), body), json_with_key((str){ 0 }, body));
    // What is no word, or a long one, is a secret.
    static const char *const secret[] = { "anything1", "abcdefghijklmnop", "MixedCaseKey" };
    for (size_t i = 0; i < ARRAY_LEN(secret); i++) {
        str echo = arena_printf(&arena, "{\"choices\":[{\"message\":{\"content\":\"a %s b\"}}]}",
                                secret[i]);
        assert_has(json_with_key(str_from(secret[i]), echo), "\"a [key] b\"");
    }
}

// ---- configuration ----

static bool opened(str extra, struct err *err)
{
    const struct model_source from = { llm_providers, fixture_getenv };
    struct err why = { 0 };
    json_t *value = json_read_strict(extra, &why);
    if (!value)
        fail_msg("%.*s: %s", STR(extra), why.text);
    struct model m;
    *err = (struct err){ 0 };
    bool ok = model_open(S("openai/m"), &(struct model_opts){ .from = &from, .extra = value },
                         &arena, &m, err);
    json_decref(value);
    return ok;
}

static void extra_with_a_secret_is_refused_and_not_shown(void **s)
{
    (void)s;
    static const char *const extras[] = {
        "{\"api_key\":\"canary\"}",
        "{\"apikey\":\"canary\"}",
        "{\"API-Key\":\"canary\"}",
        "{\"apiKey\":1}",
        "{\"openai_api_key\":\"canary\"}",
        "{\"x-goog-api-key\":\"canary\"}",
        "{\"Authorization\":\"canary\"}",
        "{\"proxy_authorization\":\"canary\"}",
        "{\"headers\":{\"X-Any\":\"canary\"}}",
        "{\"extra_headers\":{}}",
        "{\"extraHeaders\":[]}",
        "{\"password\":\"canary\"}",
        "{\"Secret\":\"canary\"}",
        "{\"client_secret\":\"canary\"}",
        "{\"access_token\":\"canary\"}",
        "{\"ACCESS-TOKEN\":\"canary\"}",
        "{\"token\":\"canary\"}",
        "{\"bearer\":\"canary\"}",
        "{\"Cookie\":\"canary\"}",
        "{\"extra_body\":{\"a\":[1,{\"b\":{\"Token\":\"canary\"}}]}}",
        "{\"user\":\"sk-canary-abcdef\"}",
        "{\"user\":\"AIzaCANARY-canary-canary-canary-canary1\"}",
        "{\"note\":[\"x\",\"Bearer canary.canary-1\"]}",
        "{\"note\":{\"a\":\"the key is sk-or-v1-canary0123\"}}",
        "{\"sk-canary-abcdef\":true}",
        "{\"note\":\"" KEY "\"}",
        "{\"note\":\"c2stY2FuYXJ5LTAxMjM0NTY3ODk=\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(extras); i++) {
        struct err err;
        if (opened(str_from(extras[i]), &err))
            fail_msg("opened: %s", extras[i]);
        assert_int_equal(err.code, ERR_USAGE);
        str text = str_from(err.text);
        assert_has(text, "openai/m: in extra, ");
        assert_has(text, "keys come from environment variables only");
        assert_has(text, "written to files");
        assert_lacks(text, "canary");
        assert_lacks(text, "CANARY");
        assert_lacks(text, "c2st");
    }
}

static void extra_without_a_secret_is_taken(void **s)
{
    (void)s;
    static const char *const extras[] = {
        "{}",
        "{\"max_completion_tokens\":5,\"logit_bias\":{\"50256\":-100},\"logprobs\":true}",
        "{\"top_p\":0.9,\"stop\":[\"\\n\"],\"stop_token_ids\":[1],\"skip_special_tokens\":true}",
        "{\"chat_template_kwargs\":{\"pad_token\":\"x\",\"eos_token\":\"y\",\"bad_token\":1}}",
        "{\"user\":\"user_AbCd1234\",\"prompt_cache_key\":\"chess-1\",\"safety_identifier\":\"b\"}",
        "{\"reasoning\":{\"max_tokens\":100},\"metadata\":{\"key\":\"value\",\"tokens\":\"9\"}}",
        "{\"structured_outputs\":{\"regex\":\"[a-h][1-8]key=abcd\"}}",
        "{\"provider\":{\"order\":[\"task-oriented-provider\"],\"data_collection\":\"deny\"}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(extras); i++) {
        struct err err;
        if (!opened(str_from(extras[i]), &err))
            fail_msg("%s: %s", extras[i], err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_echo_in_any_text_of_a_reply_is_masked),
        cmocka_unit_test(an_echoing_header_is_masked),
        cmocka_unit_test(the_note_tells_and_the_rest_of_the_text_stays),
        cmocka_unit_test(a_key_across_the_cut_of_a_name_leaves_nothing),
        cmocka_unit_test(no_provider_lets_its_key_through),
        cmocka_unit_test(an_honest_reply_is_the_same_byte_for_byte),
        cmocka_unit_test(a_placeholder_is_no_secret),
        cmocka_unit_test(extra_with_a_secret_is_refused_and_not_shown),
        cmocka_unit_test(extra_without_a_secret_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

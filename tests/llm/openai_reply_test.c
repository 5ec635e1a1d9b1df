// SPDX-License-Identifier: GPL-3.0-or-later
// Contents of chat completion replies: texts, thoughts, finish reasons, tokens and money.
#include <locale.h>

#include "fixture.h"

// A reply with this message and finish reason.
#define REPLY(message_, finish_)                                                                   \
    S("{\"choices\":[{\"index\":0,\"message\":" message_ ",\"finish_reason\":" finish_             \
      "}],\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":20}}")

// The example of section 3.
static void a_full_reply_is_read(void **s)
{
    (void)s;
    struct reply r = reply_of(
        200, S("{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1,\"model\":"
               "\"M-2026-01-01\",\"system_fingerprint\":\"fp_1\",\"choices\":[{\"index\":0,"
               "\"message\":{\"role\":\"assistant\",\"content\":\"{\\\"move\\\":\\\"Nf3\\\"}\","
               "\"refusal\":null},\"logprobs\":{\"content\":[{\"token\":\"N\",\"logprob\":-0.01,"
               "\"bytes\":[78],\"top_logprobs\":[]}]},\"finish_reason\":\"stop\"}],\"usage\":{"
               "\"prompt_tokens\":50,\"completion_tokens\":20,\"total_tokens\":70,"
               "\"prompt_tokens_details\":{\"cached_tokens\":10},\"completion_tokens_details\":{"
               "\"reasoning_tokens\":12}}}"));
    assert_class(r, "ok");
    assert_str(r.text, S("{\"move\":\"Nf3\"}"));
    assert_int_equal(r.finish, FINISH_STOP);
    assert_str(r.native_finish, S("stop"));
    assert_str(r.served_model, S("M-2026-01-01"));
    assert_str(r.fingerprint, S("fp_1"));
    assert_str(r.request_id, S("chatcmpl-1"));
    assert_int_equal(r.usage.source, KNOWN_REPORTED);
    assert_int_equal(r.usage.input_tok, 50);
    assert_int_equal(r.usage.cached_tok, 10);
    assert_int_equal(r.usage.output_tok, 20);
    assert_int_equal(r.usage.reasoning_tok, 12);
    assert_int_equal(r.cost_source, KNOWN_PRICED); // 40 x 0.15 + 10 x 0.075 + 20 x 0.6, per million
    assert_int_equal(r.cost_nusd, 18750);
    assert_int_equal(r.http_status, 200);
    assert_int_equal(r.retry_after_ms, -1);
    assert_int_equal(r.error.len + r.note.len, 0);
}

static void the_header_names_the_request_before_the_body_does(void **s)
{
    (void)s;
    struct http_response in = { .status = 200,
                                .complete = true,
                                .body = REPLY("{\"content\":\"e4\"}", "\"stop\"") };
    in.headers.request_id = S("req_7");
    assert_str(fixture_parse(S("openai/gpt-4o-mini"), &in).request_id, S("req_7"));
}

static void a_simulated_reply_is_known(void **s)
{
    (void)s;
    const str body = S("{\"simulated\":true,\"choices\":[{\"message\":{\"content\":\"e4\"},"
                       "\"finish_reason\":\"stop\"}]}");
    assert_true(reply_of(200, body).simulated);
    assert_false(reply_of(200, REPLY("{\"content\":\"e4\"}", "\"stop\"")).simulated);
}

static void finish_reasons_have_their_class(void **s)
{
    (void)s;
    struct reply r = reply_of(200, REPLY("{\"content\":\"e4\"}", "\"length\""));
    assert_class(r, "truncated");
    assert_str(r.text, S("e4"));
    assert_class(reply_of(200, REPLY("{\"content\":\"e\"}", "\"content_filter\"")), "filtered");
    r = reply_of(200, REPLY("{\"content\":null,\"tool_calls\":[]}", "\"tool_calls\""));
    assert_int_equal(r.finish, FINISH_TOOL);
    assert_class(r, "empty");
    assert_int_equal(reply_of(200, REPLY("{\"content\":\"e4\"}", "\"function_call\"")).finish,
                     FINISH_TOOL);
    assert_class(reply_of(200, REPLY("{\"content\":\"e4\"}", "\"error\"")), "upstream");
    // Null, absent and empty mean the same.
    assert_class(reply_of(200, REPLY("{\"content\":\"e4\"}", "null")), "ok");
    assert_class(reply_of(200, REPLY("{\"content\":\"e4\"}", "\"\"")), "ok");
    assert_int_equal(reply_of(200, REPLY("{\"content\":\"e4\"}", "null")).finish, FINISH_UNKNOWN);
}

static void refusals_are_scored_as_refused(void **s)
{
    (void)s;
    struct reply r =
        reply_of(200, REPLY("{\"content\":null,\"refusal\":\"I cannot\"}", "\"stop\""));
    assert_class(r, "refused");
    assert_int_equal(r.finish, FINISH_REFUSED);
    assert_true(reply_is_scored(r.class));
    assert_has(r.error, "I cannot");
    assert_class(reply_of(200, REPLY("{\"content\":\"e4\",\"refusal\":\"\"}", "\"stop\"")), "ok");
    assert_class(reply_of(200, REPLY("{\"content\":[{\"type\":\"refusal\",\"refusal\":\"no\"}]}",
                                     "\"stop\"")),
                 "refused");
}

static void nothing_said_is_empty(void **s)
{
    (void)s;
    assert_class(reply_of(200, REPLY("{\"content\":\"\"}", "\"stop\"")), "empty");
    assert_class(reply_of(200, REPLY("{\"content\":null}", "\"stop\"")), "empty");
    assert_class(reply_of(200, REPLY("{}", "\"stop\"")), "empty");
    assert_class(reply_of(200, REPLY("{\"content\":\" \\n\"}", "\"stop\"")), "empty");
    assert_class(reply_of(200, REPLY("{\"content\":[]}", "\"stop\"")), "empty");
    assert_class(reply_of(200, S("{\"choices\":[{\"message\":{\"content\":\"\"},\"finish_reason\":"
                                 "\"stop\"}]}")),
                 "empty");
    assert_true(reply_is_scored(REPLY_EMPTY));
}

// F-011
static void an_upstream_failure_in_disguise_is_seen(void **s)
{
    (void)s;
    const str body =
        S("{\"choices\":[{\"index\":0,\"message\":{\"content\":\"\"},\"finish_reason\":"
          "\"stop\",\"native_finish_reason\":\"network_error\"}]}");
    struct reply r = router_reply_of(200, body);
    assert_class(r, "upstream");
    assert_str(r.native_finish, S("network_error"));
    assert_has(r.error, "network_error");
    assert_true(reply_may_retry(&r));
    assert_class(reply_of(200, body), "upstream");
    // The model's own end is no failure.
    assert_class(router_reply_of(200, S("{\"choices\":[{\"message\":{\"content\":\"\"},"
                                        "\"finish_reason\":\"stop\",\"native_finish_reason\":"
                                        "\"end_turn\"}]}")),
                 "empty");
    // Neither is one that cost tokens.
    assert_class(router_reply_of(200, S("{\"choices\":[{\"message\":{\"content\":\"\"},"
                                        "\"native_finish_reason\":\"odd\"}],\"usage\":{"
                                        "\"prompt_tokens\":5,\"completion_tokens\":3}}")),
                 "empty");
    // Section 4: zero tokens with empty text is not an answer.
    assert_class(router_reply_of(200, S("{\"choices\":[{\"message\":{\"content\":\"\"},"
                                        "\"finish_reason\":\"stop\"}],\"usage\":{"
                                        "\"prompt_tokens\":5,\"completion_tokens\":0}}")),
                 "upstream");
}

// F-013
static void thoughts_that_used_the_budget_are_truncated(void **s)
{
    (void)s;
    struct reply r = reply_of(
        200, S("{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":null,"
               "\"reasoning_content\":\"Let me look at Qxf7 ...\",\"tool_calls\":null,"
               "\"function_call\":null,\"audio\":null,\"annotations\":null},\"finish_reason\":"
               "\"length\"}],\"usage\":{\"prompt_tokens\":300,\"completion_tokens\":512}}"));
    assert_class(r, "truncated");
    assert_str(r.text, S(""));
    assert_str(r.reasoning, S("Let me look at Qxf7 ..."));
    assert_false(reply_may_retry(&r));
    assert_true(reply_is_scored(r.class));
    assert_int_equal(r.usage.output_tok, 512);
    assert_true(r.cost_nusd > 0);
}

// F-016
static void parts_are_joined_and_thoughts_kept_apart(void **s)
{
    (void)s;
    struct reply r = reply_of(
        200, REPLY("{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":[{"
                   "\"type\":\"text\",\"text\":\"Nf6+ wins the queen\"}]},{\"type\":\"text\","
                   "\"text\":\"Nf6\"},{\"type\":\"reference\",\"reference_ids\":[1]},{\"type\":"
                   "\"text\",\"text\":\"+\"}]}",
                   "\"stop\""));
    assert_class(r, "ok");
    assert_str(r.text, S("Nf6+"));
    assert_str(r.reasoning, S("Nf6+ wins the queen"));
    r = reply_of(200, REPLY("{\"content\":[{\"type\":\"thinking\",\"thinking\":\"so\"},\"d4\"]}",
                            "\"stop\""));
    assert_str(r.text, S("d4"));
    assert_str(r.reasoning, S("so"));
}

static void reasoning_is_found_under_its_names(void **s)
{
    (void)s;
    assert_str(
        reply_of(200, REPLY("{\"content\":\"a\",\"reasoning\":\"r\"}", "\"stop\"")).reasoning,
        S("r"));
    assert_str(
        reply_of(200, REPLY("{\"content\":\"a\",\"reasoning\":\"same\",\"reasoning_content\":"
                            "\"same\"}",
                            "\"stop\""))
            .reasoning,
        S("same"));
    assert_str(reply_of(200, REPLY("{\"content\":\"a\",\"reasoning\":null,\"reasoning_details\":[{"
                                   "\"type\":\"reasoning.text\",\"text\":\"x\"},{\"type\":"
                                   "\"reasoning.summary\",\"summary\":\"y\"}]}",
                                   "\"stop\""))
                   .reasoning,
               S("xy"));
}

static void think_tags_are_stripped_at_the_begin_only(void **s)
{
    (void)s;
    struct reply r =
        reply_of(200, REPLY("{\"content\":\"\\n<think>\\nhm</think>\\n\\n e4\"}", "\"stop\""));
    assert_str(r.text, S("e4"));
    assert_str(r.reasoning, S("\nhm"));
    r = reply_of(200, REPLY("{\"content\":\"<think>a</think><think>b</think>c\"}", "\"stop\""));
    assert_str(r.text, S("c"));
    assert_str(r.reasoning, S("a\nb"));
    r = reply_of(200, REPLY("{\"content\":\"<think>cut\"}", "\"length\""));
    assert_class(r, "truncated");
    assert_str(r.text, S(""));
    assert_str(r.reasoning, S("cut"));
    r = reply_of(200, REPLY("{\"content\":\"<think>all</think>\"}", "\"stop\""));
    assert_class(r, "empty");
    r = reply_of(200, REPLY("{\"content\":\"say <think>x</think>\"}", "\"stop\""));
    assert_str(r.text, S("say <think>x</think>"));
    r = reply_of(200, REPLY("{\"content\":\"  e4 \"}", "\"stop\""));
    assert_str(r.text, S("  e4 ")); // nothing else is trimmed
}

// F-008, in one body: duplicate members, the last wins.
static void of_two_usages_the_last_counts(void **s)
{
    (void)s;
    struct reply r = reply_of(
        200, S("{\"choices\":[{\"message\":{\"content\":\"Rd1\"},\"finish_reason\":\"stop\"}],"
               "\"usage\":null,\"usage\":{\"prompt_tokens\":611,\"completion_tokens\":13,"
               "\"total_tokens\":624}}"));
    assert_class(r, "ok");
    assert_int_equal(r.usage.input_tok, 611);
    assert_int_equal(r.usage.output_tok, 13);
}

// F-064: the question is "Play." (2 tokens) and 39 characters in 7 words (10 tokens).
static void missing_usage_is_estimated(void **s)
{
    (void)s;
    static const char *const usages[] = {
        "",
        ",\"usage\":null",
        ",\"usage\":{\"prompt_tokens\":12}",
        ",\"usage\":{\"prompt_tokens\":-3,\"completion_tokens\":2}",
        ",\"usage\":[1]",
    };
    static const int64_t inputs[] = { 12, 12, 12, 12, 12 };
    static const int64_t outputs[] = { 3, 3, 3, 2, 3 };
    for (size_t i = 0; i < ARRAY_LEN(usages); i++) {
        struct reply r = reply_of(200, arena_printf(&arena,
                                                    "{\"choices\":[{\"message\":{\"content\":"
                                                    "\"e2e4 e7e5\"}}]%s}",
                                                    usages[i]));
        assert_class(r, "ok");
        assert_int_equal(r.usage.source, KNOWN_ESTIMATED);
        assert_int_equal(r.usage.input_tok, inputs[i]);
        assert_int_equal(r.usage.output_tok, outputs[i]);
        assert_int_equal(r.cost_source, KNOWN_ESTIMATED);
        assert_int_equal(r.cost_nusd, inputs[i] * 150 + outputs[i] * 600);
    }
}

static void more_cached_than_sent_is_noted(void **s)
{
    (void)s;
    struct reply r = reply_of(
        200, S("{\"choices\":[{\"message\":{\"content\":\"e4\"}}],\"usage\":{\"prompt_tokens\":10,"
               "\"completion_tokens\":0,\"prompt_tokens_details\":{\"cached_tokens\":20}}}"));
    assert_has(r.note, "more cached");
    assert_int_equal(r.cost_nusd, 20 * 75); // the uncached part is 0, not -10
}

static struct reply charged(const char *usage)
{
    return router_reply_of(200, arena_printf(&arena,
                                             "{\"provider\":\"Host\",\"choices\":[{\"message\":{"
                                             "\"content\":\"e4\"}}],\"usage\":{\"prompt_tokens\":9,"
                                             "\"completion_tokens\":9,%s}}",
                                             usage));
}

// F-063
static void own_keys_are_not_free_and_others_not_charged_twice(void **s)
{
    (void)s;
    struct reply r = charged("\"cost\":0,\"is_byok\":true,\"cost_details\":{"
                             "\"upstream_inference_cost\":0.0360795}");
    assert_int_equal(r.cost_nusd, 36079500);
    assert_int_equal(r.cost_source, KNOWN_REPORTED);
    assert_str(r.served_provider, S("Host"));
    r = charged("\"cost\":0.00000285,\"is_byok\":false,\"cost_details\":{"
                "\"upstream_inference_cost\":0.00000285}");
    assert_int_equal(r.cost_nusd, 2850);
    assert_int_equal(r.cost_source, KNOWN_REPORTED);
    r = charged("\"cost\":0");
    assert_int_equal(r.cost_source, KNOWN_NOT);
    r = charged("\"cost\":\"0.5\"");
    assert_int_equal(r.cost_nusd, 500000000);
    assert_int_equal(charged("\"cost\":-1").cost_source, KNOWN_NOT);
    assert_int_equal(charged("\"cost\":1e300").cost_source, KNOWN_NOT);
    assert_int_equal(charged("\"x\":1").cost_source, KNOWN_NOT); // no price is known either
}

static void a_free_model_reports_its_zero(void **s)
{
    (void)s;
    const struct http_response in = {
        .status = 200,
        .complete = true,
        .body =
            S("{\"choices\":[{\"message\":{\"content\":\"e4\"}}],\"usage\":{\"prompt_tokens\":9,"
              "\"completion_tokens\":9,\"cost\":0}}"),
    };
    struct reply r = fixture_parse(S("openrouter/x/y:free"), &in);
    assert_int_equal(r.cost_source, KNOWN_REPORTED);
    r = fixture_parse(S("llamacpp/any"), &in);
    assert_int_equal(r.cost_source, KNOWN_REPORTED);
    assert_int_equal(r.cost_nusd, 0);
}

static void what_failed_midway_keeps_its_reported_cost(void **s)
{
    (void)s;
    struct reply r = router_reply_of(
        200, S("{\"error\":{\"code\":502,\"message\":\"m\"},\"usage\":{\"prompt_tokens\":9,"
               "\"completion_tokens\":9,\"cost\":0.001}}"));
    assert_class(r, "upstream");
    assert_int_equal(r.cost_nusd, 1000000);
    assert_int_equal(reply_of(500, S("{\"error\":{\"message\":\"m\"}}")).usage.source, KNOWN_NOT);
}

// F-067
static void lone_surrogates_are_mended_and_noted(void **s)
{
    (void)s;
    struct reply r = reply_of(200, REPLY("{\"content\":\"ok \\ud83d end \\udc00\"}", "\"stop\""));
    assert_class(r, "ok");
    assert_str(r.text, S("ok \xEF\xBF\xBD end \xEF\xBF\xBD"));
    assert_has(r.note, "mended");
    assert_true(utf8_valid(reply_to_json(&r, &arena)));
}

static void odd_but_legal_bodies_are_read(void **s)
{
    (void)s;
    struct reply r = reply_of(200, S("\xEF\xBB\xBF\r\n {\"choices\":[{\"message\":{\"content\":"
                                     "\"\\u00e9\\uD83D\\uDE00\"},\"x\":{\"y\":[null]}}]}\n"));
    assert_class(r, "ok");
    assert_str(r.text, S("\xC3\xA9\xF0\x9F\x98\x80"));
    r = reply_of(200,
                 S("{\"choices\":[{\"message\":{\"content\":\"e4\"},\"logprobs\":{\"content\":[{"
                   "\"logprob\":-Infinity}]}}],\"created\":99999999999999999999}"));
    assert_class(r, "ok");
}

// F-068
static void numbers_do_not_follow_the_locale(void **s)
{
    (void)s;
    setlocale(LC_ALL, "de_DE.UTF-8"); // where it is not installed the C locale stays: no harm
    struct reply r = charged("\"cost\":0.5");
    setlocale(LC_ALL, "C");
    assert_int_equal(r.cost_nusd, 500000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_reply_is_read),
        cmocka_unit_test(the_header_names_the_request_before_the_body_does),
        cmocka_unit_test(a_simulated_reply_is_known),
        cmocka_unit_test(finish_reasons_have_their_class),
        cmocka_unit_test(refusals_are_scored_as_refused),
        cmocka_unit_test(nothing_said_is_empty),
        cmocka_unit_test(an_upstream_failure_in_disguise_is_seen),
        cmocka_unit_test(thoughts_that_used_the_budget_are_truncated),
        cmocka_unit_test(parts_are_joined_and_thoughts_kept_apart),
        cmocka_unit_test(reasoning_is_found_under_its_names),
        cmocka_unit_test(think_tags_are_stripped_at_the_begin_only),
        cmocka_unit_test(of_two_usages_the_last_counts),
        cmocka_unit_test(missing_usage_is_estimated),
        cmocka_unit_test(more_cached_than_sent_is_noted),
        cmocka_unit_test(own_keys_are_not_free_and_others_not_charged_twice),
        cmocka_unit_test(a_free_model_reports_its_zero),
        cmocka_unit_test(what_failed_midway_keeps_its_reported_cost),
        cmocka_unit_test(lone_surrogates_are_mended_and_noted),
        cmocka_unit_test(odd_but_legal_bodies_are_read),
        cmocka_unit_test(numbers_do_not_follow_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

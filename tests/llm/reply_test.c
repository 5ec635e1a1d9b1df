// SPDX-License-Identifier: GPL-3.0-or-later
// Classes, and replies as the store keeps them.
#include "fixture.h"

// Section 12: what is scored, what is retried.
static void classes_follow_the_table(void **s)
{
    (void)s;
    static const struct {
        enum reply_class class;
        const char *name;
        bool scored, retried;
    } rows[] = {
        { REPLY_OK, "ok", true, false },
        { REPLY_TRUNCATED, "truncated", true, false },
        { REPLY_REFUSED, "refused", true, false },
        { REPLY_EMPTY, "empty", true, false },
        { REPLY_FILTERED, "filtered", false, false },
        { REPLY_CONTEXT_OVERFLOW, "context_overflow", false, false },
        { REPLY_CONFIG, "config", false, false },
        { REPLY_ACCOUNT, "account", false, false },
        { REPLY_RATE_LIMIT, "rate_limit", false, true },
        { REPLY_OVERLOAD, "overload", false, true },
        { REPLY_UPSTREAM, "upstream", false, true },
        { REPLY_PROTOCOL, "protocol", false, true },
        { REPLY_TRANSPORT, "transport", false, true },
        { REPLY_TIMEOUT, "timeout", false, true },
        { REPLY_CANCELLED, "cancelled", false, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum reply_class back = REPLY_OK;
        assert_str(reply_class_name(rows[i].class), str_from(rows[i].name));
        assert_true(reply_class_parse(str_from(rows[i].name), &back) && back == rows[i].class);
        assert_int_equal(reply_is_scored(rows[i].class), rows[i].scored);
        assert_int_equal(reply_is_retried(rows[i].class), rows[i].retried);
        const struct reply r = { .class = rows[i].class, .no_retry = true };
        assert_false(reply_may_retry(&r));
    }
    enum reply_class none;
    assert_false(reply_class_parse(S("OK"), &none));
    assert_false(reply_class_parse(S(""), &none));
}

static void a_reply_survives_the_store(void **s)
{
    (void)s;
    const struct reply r = {
        .class = REPLY_TRUNCATED,
        .text = S("e4 \"\\\n\x01 \xC3\xA9"),
        .reasoning = S("r"),
        .finish = FINISH_LENGTH,
        .native_finish = S("max_tokens"),
        .served_model = S("m"),
        .served_provider = S("p"),
        .request_id = S("q"),
        .fingerprint = S("f"),
        .usage = { KNOWN_ESTIMATED, 1, 2, 3, 4, 5 },
        .cost_nusd = INT64_C(9007199254740993),
        .cost_source = KNOWN_PRICED,
        .http_status = 200,
        .attempts = 2,
        .latency_ms = 77,
        .waited_ms = 78,
        .retry_after_ms = 0,
        .no_retry = true,
        .simulated = true,
        .error = S("e"),
        .note = S("n"),
    };
    str text = reply_to_json(&r, &arena);
    assert_str(
        text,
        S("{\"class\":\"truncated\",\"text\":\"e4 \\\"\\\\\\n\\u0001 \xC3\xA9\",\"reasoning\":"
          "\"r\",\"finish\":\"length\",\"native_finish\":\"max_tokens\",\"served_model\":\"m\","
          "\"served_provider\":\"p\",\"request_id\":\"q\",\"fingerprint\":\"f\","
          "\"usage_source\":\"estimated\",\"input_tok\":1,\"cached_tok\":2,"
          "\"cache_write_tok\":3,\"output_tok\":4,\"reasoning_tok\":5,\"cost_nusd\":"
          "9007199254740993,\"cost_source\":\"priced\",\"http_status\":200,\"attempts\":2,"
          "\"latency_ms\":77,\"waited_ms\":78,\"no_retry\":true,\"simulated\":true,\"error\":\"e\","
          "\"note\":\"n\","
          "\"retry_after_ms\":0}"));
    struct reply back;
    struct err err = { 0 };
    assert_true(reply_from_json(text, &arena, &back, &err));
    assert_str(reply_to_json(&back, &arena), text);
    assert_str(back.text, r.text);
    assert_int_equal(back.cost_nusd, r.cost_nusd);
    assert_int_equal(back.finish, FINISH_LENGTH);
    assert_true(back.no_retry);
    assert_true(back.simulated);
}

static void what_says_nothing_is_left_out(void **s)
{
    (void)s;
    const struct reply r = { .retry_after_ms = -1 };
    assert_str(reply_to_json(&r, &arena), S("{\"class\":\"ok\"}"));
    struct reply back;
    assert_true(reply_from_json(S("{}"), &arena, &back, NULL));
    assert_int_equal(back.retry_after_ms, -1);
    assert_int_equal(back.class, REPLY_OK);
}

static void other_json_is_refused(void **s)
{
    (void)s;
    static const char *const bad[] = {
        "",
        "[]",
        "{",
        "{\"class\":\"great\"}",
        "{\"class\":1}",
        "{\"text\":1}",
        "{\"txt\":\"e4\"}",
        "{\"finish\":\"STOP\"}",
        "{\"usage_source\":\"guessed\"}",
        "{\"input_tok\":-1}",
        "{\"input_tok\":1.5}",
        "{\"attempts\":99999999999}",
        "{\"no_retry\":1}",
        "{\"retry_after_ms\":\"7\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct reply r;
        struct err err = { 0 };
        if (reply_from_json(str_from(bad[i]), &arena, &r, &err))
            fail_msg("accepted: %s", bad[i]);
        assert_int_equal(err.code, ERR_INPUT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_follow_the_table),
        cmocka_unit_test(a_reply_survives_the_store),
        cmocka_unit_test(what_says_nothing_is_left_out),
        cmocka_unit_test(other_json_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Scripted models: the first line that matches answers, and nothing depends on order or count.
#include <unistd.h>

#include "fixture.h"

static str path;

static bool script_open_text(const char *text, struct model *m, struct err *err)
{
    const struct model_source from = { llm_providers, fixture_getenv };
    const struct model_opts opts = { .from = &from, .has_format = true, .format = FORMAT_SCHEMA };
    assert_true(file_save(path, str_from(text), err));
    return model_open(arena_printf(&arena, "script/%.*s", STR(path)), &opts, &arena, m, err);
}

static bool asked(const struct model *m, const char *question, int64_t sample, struct reply *out,
                  struct err *err)
{
    struct message texts[] = { { ROLE_USER, S("an earlier FEN-9") },
                               { ROLE_ASSISTANT, S("old") },
                               { ROLE_USER, str_from(question) } };
    const struct messages messages = { texts, 3, 3 };
    const struct model_request q =
        model_request_new(m, &(struct sampling){ .sample = sample }, &messages, &fixture_signature);
    return m->provider->answer(m, &q, &arena, out, err);
}

static str answer_of(const struct model *m, const char *question, int64_t sample)
{
    struct reply r;
    struct err err = { 0 };
    if (!asked(m, question, sample, &r, &err))
        fail_msg("no answer: %s", err.text);
    return r.text;
}

static const char script[] = "{\"match\":{\"input\":\"FEN-1\",\"sample\":1},\"text\":\"d4\"}\n"
                             "\n"
                             "{\"match\":{\"input\":\"FEN-1\"},\"text\":\"e4\"}\r\n"
                             "{\"match\":{\"input\":\"FEN-9\"},\"text\":\"wrong\"}\n"
                             "{\"match\":{\"input\":\"*\",\"sample\":7},\"reply\":{\"class\":"
                             "\"refused\",\"text\":\"no\",\"usage_source\":\"reported\","
                             "\"input_tok\":5,\"cost_nusd\":9,\"cost_source\":\"reported\"}}";

static void the_first_matching_line_answers(void **s)
{
    (void)s;
    struct model m;
    struct err err = { 0 };
    if (!script_open_text(script, &m, &err))
        fail_msg("%s", err.text);
    assert_str(answer_of(&m, "position: FEN-1 w", 0), S("e4"));
    assert_str(answer_of(&m, "position: FEN-1 w", 1), S("d4"));
    assert_str(answer_of(&m, "position: FEN-1 w", 0), S("e4")); // again the same
    assert_str(answer_of(&m, "FEN-2", 7), S("no"));
    assert_true(m.simulated);
    assert_true(m.price.known);
    assert_int_equal(m.base_url.len, 0);
}

static void texts_are_estimated_and_replies_taken_as_they_are(void **s)
{
    (void)s;
    struct model m;
    struct err err = { 0 };
    struct reply r;
    assert_true(script_open_text(script, &m, &err));
    assert_true(asked(&m, "FEN-1", 0, &r, &err));
    assert_class(r, "ok");
    assert_int_equal(r.finish, FINISH_STOP);
    assert_int_equal(r.usage.source, KNOWN_ESTIMATED);
    assert_true(r.usage.input_tok > 0 && r.usage.output_tok > 0);
    assert_int_equal(r.cost_nusd, 0);
    assert_int_equal(r.attempts, 1);
    assert_int_equal(r.retry_after_ms, -1);
    assert_true(asked(&m, "FEN-2", 7, &r, &err));
    assert_class(r, "refused");
    assert_int_equal(r.usage.input_tok, 5);
    assert_int_equal(r.cost_nusd, 9);
}

static void no_matching_line_is_an_error(void **s)
{
    (void)s;
    struct model m;
    struct err err = { 0 };
    struct reply r;
    assert_true(script_open_text(script, &m, &err));
    // Only the last user message counts: FEN-9 stands in an earlier one.
    assert_false(asked(&m, "FEN-2", 0, &r, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_non_null(strstr(err.text, "FEN-2"));
    assert_non_null(strstr(err.text, "sample 0"));
}

static void a_call_is_the_number_of_the_re_ask(void **s)
{
    (void)s;
    struct model m;
    struct err err = { 0 };
    struct reply r;
    assert_true(script_open_text("{\"match\":{\"call\":1},\"text\":\"second\"}\n"
                                 "{\"match\":{\"call\":0},\"text\":\"first\"}\n",
                                 &m, &err));
    const struct messages messages = fixture_messages();
    struct model_request q = model_request_new(&m, NULL, &messages, &fixture_signature);
    assert_true(m.provider->answer(&m, &q, &arena, &r, &err));
    assert_str(r.text, S("first"));
    q.format = FORMAT_JSON_OBJECT;
    assert_true(m.provider->answer(&m, &q, &arena, &r, &err));
    assert_str(r.text, S("second"));
    m.format = FORMAT_JSON_OBJECT; // the model's own format is no re-ask
    assert_true(m.provider->answer(&m, &q, &arena, &r, &err));
    assert_str(r.text, S("first"));
}

static void an_empty_text_is_an_empty_reply(void **s)
{
    (void)s;
    struct model m;
    struct err err = { 0 };
    struct reply r;
    assert_true(script_open_text("{\"text\":\"\"}", &m, &err));
    assert_true(asked(&m, "x", 0, &r, &err));
    assert_class(r, "empty");
}

static void bad_lines_are_refused_with_file_and_line(void **s)
{
    (void)s;
    static const char *const bad[] = {
        "{\"text\":1}",
        "{\"text\":\"a\",\"reply\":{}}",
        "{\"match\":{}}",
        "{\"text\":\"a\",\"match\":{\"fen\":\"x\"}}",
        "{\"text\":\"a\",\"answer\":\"b\"}",
        "{\"text\":\"a\",\"match\":{\"call\":2}}",
        "{\"text\":\"a\",\"match\":{\"call\":-1}}",
        "{\"text\":\"a\",\"match\":{\"sample\":\"1\"}}",
        "{\"text\":\"a\",\"match\":{\"input\":\"\"}}",
        "{\"text\":\"a\",\"match\":[]}",
        "{\"reply\":{\"class\":\"nice\"}}",
        "{\"text\":\"a\"",
        "[]",
        "{\"text\":\"a\",\"text\":\"b\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct model m;
        struct err err = { 0 };
        str text = arena_printf(&arena, "{\"text\":\"good\"}\n%s\n", bad[i]);
        if (script_open_text(text.data, &m, &err))
            fail_msg("accepted: %s", bad[i]);
        assert_int_equal(err.code, ERR_INPUT);
        assert_non_null(strstr(err.text, arena_printf(&arena, "%.*s:2", STR(path)).data));
    }
}

static void an_empty_or_missing_file_is_refused(void **s)
{
    (void)s;
    struct model m;
    struct err err = { 0 };
    assert_false(script_open_text("\n\n", &m, &err));
    assert_int_equal(err.code, ERR_INPUT);
    unlink(path.data);
    const struct model_source from = { llm_providers, fixture_getenv };
    assert_false(model_open(arena_printf(&arena, "script/%.*s", STR(path)),
                            &(struct model_opts){ .from = &from }, &arena, &m, &err));
    assert_int_equal(err.code, ERR_INPUT);
}

static void another_content_is_another_endpoint(void **s)
{
    (void)s;
    struct model one;
    struct model two;
    struct err err = { 0 };
    assert_true(script_open_text("{\"text\":\"a\"}", &one, &err));
    assert_true(script_open_text("{\"text\":\"b\"}", &two, &err));
    const struct messages messages = fixture_messages();
    const struct model_request q = model_request_new(&one, NULL, &messages, NULL);
    assert_str(model_request_hash(&one, &q, &arena), model_request_hash(&two, &q, &arena));
    str hash = model_request_hash(&one, &q, &arena);
    assert_false(str_eq(model_reuse_key(&one, hash, &arena), model_reuse_key(&two, hash, &arena)));
}

static int setup(void **s)
{
    (void)s;
    const char *dir = getenv("TMPDIR");
    path = arena_printf(&arena, "%s/script-test-%ld.jsonl", dir ? dir : "/tmp", (long)getpid());
    return 0;
}

static int cleanup(void **s)
{
    unlink(path.data);
    return teardown(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_matching_line_answers),
        cmocka_unit_test(texts_are_estimated_and_replies_taken_as_they_are),
        cmocka_unit_test(no_matching_line_is_an_error),
        cmocka_unit_test(a_call_is_the_number_of_the_re_ask),
        cmocka_unit_test(an_empty_text_is_an_empty_reply),
        cmocka_unit_test(bad_lines_are_refused_with_file_and_line),
        cmocka_unit_test(an_empty_or_missing_file_is_refused),
        cmocka_unit_test(another_content_is_another_endpoint),
    };
    return cmocka_run_group_tests(tests, setup, cleanup);
}

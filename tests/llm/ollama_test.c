// SPDX-License-Identifier: GPL-3.0-or-later
// Ollama's own route, from section 11 of the endpoint specification and field cases F-012, F-022.
#include "fixture.h"

#define NAME S("ollama/m")
#define MESSAGES                                                                                   \
    "\"messages\":[{\"role\":\"system\",\"content\":\"Play.\"},{\"role\":\"user\",\"content\":"    \
    "\"position_fen: 8/8/8/8/8/8/8/8 w - - 0 1\"}]"

static struct reply reply(int status, str body)
{
    return fixture_parse(
        NAME, &(struct http_response){ .status = status, .complete = true, .body = body });
}

static void the_size_of_the_window_is_always_sent(void **s)
{
    (void)s;
    struct http_request r = fixture_build(NAME, &(struct model_opts){ 0 }, NULL);
    assert_str(r.body, S("{\"model\":\"m\",\"stream\":false," MESSAGES
                         ",\"options\":{\"num_ctx\":8192,\"num_predict\":4096}}"));
    assert_str(r.url, S("http://localhost:11434/api/chat"));
    assert_str(fixture_header(&r, "Authorization"), S(""));
    json_t *extra = fixture_json("{\"think\":false,\"keep_alive\":\"30m\",\"options\":{\"seed\":7,"
                                 "\"num_ctx\":2048,\"stop\":[\"END\"]}}");
    r = fixture_build(NAME,
                      &(struct model_opts){ .extra = extra,
                                            .max_tokens = 512,
                                            .has_temperature = true,
                                            .has_format = true,
                                            .format = FORMAT_SCHEMA },
                      NULL);
    assert_str(r.body,
               S("{\"model\":\"m\",\"stream\":false," MESSAGES ",\"format\":{\"type\":\"object\","
                 "\"properties\":{\"move\":{\"title\":\"Move\",\"type\":\"string\"}},\"required\":["
                 "\"move\"],\"additionalProperties\":false,\"title\":\"answer\"},\"options\":{"
                 "\"num_ctx\":2048,\"num_predict\":512,\"temperature\":0.0,\"seed\":7,\"stop\":["
                 "\"END\"]},\"think\":false,\"keep_alive\":\"30m\"}"));
    json_decref(extra);
    assert_has(
        fixture_build(
            NAME, &(struct model_opts){ .has_format = true, .format = FORMAT_JSON_OBJECT }, NULL)
            .body,
        "\"format\":\"json\"");
}

static void the_base_url_may_be_that_of_the_other_route(void **s)
{
    (void)s;
    static const char *const bases[] = { "http://127.0.0.1:9", "http://127.0.0.1:9/v1/",
                                         "http://127.0.0.1:9/api", "http://127.0.0.1:9/api/chat" };
    for (size_t i = 0; i < ARRAY_LEN(bases); i++)
        assert_str(
            fixture_build(NAME, &(struct model_opts){ .base_url = str_from(bases[i]) }, NULL).url,
            S("http://127.0.0.1:9/api/chat"));
}

static void settings_have_one_place(void **s)
{
    (void)s;
    static const char *const rows[][2] = {
        { "{\"num_ctx\":4096}", "options" },
        { "{\"top_p\":1}", "options" },
        { "{\"options\":{\"temperature\":1}}", "temperature" },
        { "{\"options\":{\"num_predict\":1}}", "max_tokens" },
        { "{\"options\":{\"num_ctx\":0}}", "num_ctx" },
        { "{\"options\":5}", "mapping" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *extra = fixture_json(rows[i][0]);
        fixture_refused(NAME, &(struct model_opts){ .extra = extra }, rows[i][1]);
        json_decref(extra);
    }
}

static void an_answer_costs_nothing_and_its_thoughts_are_apart(void **s)
{
    (void)s;
    struct reply r =
        reply(200, S("{\"model\":\"m\",\"created_at\":\"t\",\"message\":{\"role\":\"assistant\","
                     "\"content\":\"<think>more</think>Nf3\",\"thinking\":\"hm\"},\"done\":true,"
                     "\"done_reason\":\"stop\",\"total_duration\":1,\"load_duration\":1,"
                     "\"prompt_eval_count\":50,\"eval_count\":5}"));
    assert_class(r, "ok");
    assert_str(r.text, S("Nf3"));
    assert_str(r.reasoning, S("hm\nmore"));
    assert_int_equal(r.usage.input_tok, 50);
    assert_int_equal(r.usage.output_tok, 5);
    assert_int_equal(r.usage.source, KNOWN_REPORTED);
    assert_int_equal(r.cost_nusd, 0);
    assert_int_equal(r.cost_source, KNOWN_PRICED);
    r = reply(200, S("{\"message\":{\"content\":\"Nf\"},\"done\":true,\"done_reason\":\"length\","
                     "\"eval_count\":2}")); // the prompt was cached: no count of it
    assert_class(r, "truncated");
    assert_int_equal(r.usage.source, KNOWN_ESTIMATED);
    assert_class(reply(200, S("{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":"
                              "\"load\"}")),
                 "upstream");
    assert_class(reply(200, S("{\"message\":{\"content\":\"N\"},\"done\":false}")), "transport");
    assert_class(reply(200, S("{\"done\":true}")), "protocol");
}

static void lines_are_joined_and_an_error_line_is_a_failure(void **s)
{
    (void)s;
#define PIECE(text_) "{\"model\":\"m\",\"message\":{\"content\":\"" text_ "\"},\"done\":false}\n"
    struct reply r = reply(
        200, S(PIECE("e") PIECE("4") "{\"model\":\"m\",\"message\":{\"content\":"
                                     "\"\"},\"done\":true,\"done_reason\":\"stop\","
                                     "\"prompt_eval_count\":9,\"eval_count\":2}")); // no newline
    assert_class(r, "ok");
    assert_str(r.text, S("e4"));
    assert_int_equal(r.usage.output_tok, 2);
    r = reply(200, S(PIECE("e") PIECE("4") // F-012
                     "{\"error\":\"an error was encountered while running the model\"}\n"));
    assert_class(r, "upstream");
    assert_str(r.text, S(""));
    assert_class(reply(200, S(PIECE("e") PIECE("4"))), "transport"); // never done
    assert_class(reply(200, S(PIECE("e") "{\"model\":\"m\",\"mess")), "protocol");
}

static void a_prompt_that_cannot_fit_was_cut(void **s)
{
    (void)s;
    json_t *extra = fixture_json("{\"options\":{\"num_ctx\":10}}");
    const struct model m = fixture_model(NAME, &(struct model_opts){ .extra = extra });
    struct reply r = fixture_parse_of( // F-022
        &m, &(struct http_response){ .status = 200,
                                     .complete = true,
                                     .body = S("{\"message\":{\"content\":\"e4\"},\"done\":true,"
                                               "\"done_reason\":\"stop\"}") });
    assert_class(r, "context_overflow");
    assert_has(r.error, "num_ctx");
    json_decref(extra);
}

static void errors_mean_what_section_11_says(void **s)
{
    (void)s;
    static const struct {
        int status;
        const char *body, *class;
    } rows[] = {
        { 404, "{\"error\":\"model 'm' not found\"}", "config" },
        { 400, "{\"error\":\"invalid options\"}", "config" },
        { 500, "{\"error\":\"llama runner process has terminated\"}", "upstream" },
        { 503, "{\"error\":\"server busy, please try again\"}", "rate_limit" },
        { 200, "{\"error\":\"an error was encountered\"}", "upstream" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_str(reply_class_name(reply(rows[i].status, str_from(rows[i].body)).class),
                   str_from(rows[i].class));
    assert_has(reply(404, str_from(rows[0].body)).error, "ollama pull m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_size_of_the_window_is_always_sent),
        cmocka_unit_test(the_base_url_may_be_that_of_the_other_route),
        cmocka_unit_test(settings_have_one_place),
        cmocka_unit_test(an_answer_costs_nothing_and_its_thoughts_are_apart),
        cmocka_unit_test(lines_are_joined_and_an_error_line_is_a_failure),
        cmocka_unit_test(a_prompt_that_cannot_fit_was_cut),
        cmocka_unit_test(errors_mean_what_section_11_says),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

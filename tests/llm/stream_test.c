// SPDX-License-Identifier: GPL-3.0-or-later
// Replies in pieces (endpoint specification, section 2; field cases F-007 to F-011): framing,
// adding up in each format, and that a stream says the same as the reply that comes whole.
#include "fixture.h"

static struct reply streamed(str name, str body)
{
    return fixture_parse(name, &(struct http_response){ .status = 200,
                                                        .complete = true,
                                                        .content_type = S("text/event-stream"),
                                                        .body = body });
}

static struct reply openai(const char *body)
{
    return streamed(S("openai/gpt-4o-mini"), str_from(body));
}

static void comments_are_no_events(void **s)
{
    (void)s;
    struct reply r = openai( // F-007
        ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\ndata: {\"choices\":[{\"index\":0,"
        "\"delta\":{\"content\":\"Nf3\"},\"finish_reason\":\"stop\"}]}\n\n: x\ndata: [DONE]\n\n");
    assert_class(r, "ok");
    assert_str(r.text, S("Nf3"));
}

static void lines_end_in_any_way_and_data_may_take_several(void **s)
{
    (void)s;
    static const char *const bodies[] = {
        "data: "
        "{\"choices\":[{\"delta\":{\"content\":\"e\"}}]}\r\n\r\ndata:{\"choices\":[{\"delta\":"
        "{\"content\":\"4\"},\"finish_reason\":\"stop\"}]}\r\n\r\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"e\"}}]}\r\rdata:{\"choices\":[{\"delta\":"
        "{\"content\":\"4\"},\"finish_reason\":\"stop\"}]}", // the end of file ends it
        "\xEF\xBB\xBF"
        "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"e4\"},\n"
        "data: \"finish_reason\":\"stop\"}]}\n\nid: 7\nretry: 5\ndatab: x\ndata\n\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct reply r = openai(bodies[i]);
        assert_class(r, "ok");
        assert_str(r.text, S("e4"));
    }
}

static void usage_counts_once_wherever_it_comes(void **s)
{
    (void)s;
    struct reply r = openai( // F-008
        "data: {\"id\":\"c1\",\"model\":\"M\",\"choices\":[{\"index\":0,\"delta\":{\"content\":"
        "\"Rd1\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{"
        "\"prompt_tokens\":611,\"completion_tokens\":13,\"total_tokens\":624}}\n\ndata: {"
        "\"object\":\"chat.completion.chunk\",\"usage\":{\"prompt_tokens\":611,"
        "\"completion_tokens\":13,\"total_tokens\":624}}\n\ndata: [DONE]\n\n");
    assert_class(r, "ok");
    assert_str(r.text, S("Rd1"));
    assert_str(r.served_model, S("M"));
    assert_int_equal(r.usage.input_tok, 611);
    assert_int_equal(r.usage.output_tok, 13);
    assert_int_equal(r.usage.source, KNOWN_REPORTED);
}

static void characters_are_whole_whatever_the_pieces(void **s)
{
    (void)s;
    struct reply r =
        openai("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xE5\xA5\xBD\""
               "},\"finish_reason\":null}]}\n\ndata: [DONE]\n\n"); // F-009
    assert_str(r.text, S("\xE5\xA5\xBD"));
}

static void an_error_in_a_stream_discards_what_came_before(void **s)
{
    (void)s;
    struct reply r = streamed( // F-010
        S("openrouter/x/y"),
        S("data: {\"choices\":[{\"delta\":{\"content\":\"e4\"}}]}\n\ndata: {\"id\":\"gen-1\","
          "\"choices\":[],\"error\":{\"code\":502,\"message\":\"Worker local total request limit "
          "reached\"}}\n\n"));
    assert_class(r, "upstream");
    assert_str(r.text, S(""));
    assert_has(r.error, "502");
    r = streamed(S("anthropic/m"), S("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":"
                                     "\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"));
    assert_class(r, "overload");
}

static void a_native_reason_survives_the_stream(void **s)
{
    (void)s;
    struct reply r = streamed( // F-011
        S("openrouter/x/y"),
        S("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":"
          "\"stop\",\"native_finish_reason\":\"network_error\"}]}\n\ndata: [DONE]\n\n"));
    assert_class(r, "upstream");
    assert_str(r.native_finish, S("network_error"));
}

static void a_stream_without_its_end_is_no_answer(void **s)
{
    (void)s;
    assert_class(openai("data: {\"choices\":[{\"delta\":{\"content\":\"e4\"}}]}\n\n"), "transport");
    assert_class(openai(": only\n\n"), "transport");
    assert_class(openai("data: {\"choices\":[{\"delta\":{\"content\":\"e4\"}}]}\n\ndata: {\"cho"),
                 "protocol");
    assert_class(
        streamed(S("anthropic/m"), S("data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":"
                                     "\"text_delta\",\"text\":\"e4\"}}\n\n")),
        "transport");
    assert_class(streamed(S("gemini/m"), S("data: {\"candidates\":[{\"content\":{\"parts\":[{"
                                           "\"text\":\"e4\"}]}}]}\n\n")),
                 "transport");
    // A line over 1 MiB is against the protocol.
    size_t size = (1 << 20) + 64;
    char *line = calloc(1, size);
    memset(line, 'x', size - 1);
    memcpy(line, "data: ", 6);
    assert_class(openai(line), "protocol");
    free(line);
}

static void openai_thoughts_and_parts_add_up(void **s)
{
    (void)s;
    struct reply r = openai(
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"reasoning_content\":\"Look \"}}]}"
        "\n\ndata: {\"choices\":[{\"delta\":{\"reasoning_content\":\"twice\"}}]}\n\ndata: {"
        "\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":\".\"},{"
        "\"type\":"
        "\"text\",\"text\":\"Nf\"}]}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"3\"},"
        "\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n");
    assert_class(r, "truncated");
    assert_str(r.text, S("Nf3"));
    assert_str(r.reasoning, S("Look twice."));
    r = openai("data: {\"choices\":[{\"delta\":{\"refusal\":\"I \"}}]}\n\ndata: {\"choices\":[{"
               "\"delta\":{\"refusal\":\"will not.\"},\"finish_reason\":\"stop\"}]}\n\n");
    assert_class(r, "refused");
    assert_has(r.error, "I will not.");
}

static void anthropic_events_add_up(void **s)
{
    (void)s;
    struct reply r = streamed(
        S("anthropic/m"),
        S("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\","
          "\"model\":\"M\",\"content\":[],\"usage\":{\"input_tokens\":50,\"output_tokens\":1,"
          "\"cache_read_input_tokens\":7}}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\ndata: {"
          "\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\","
          "\"thinking\":\"\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{"
          "\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\ndata: {\"type\":"
          "\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\","
          "\"signature\":\"s\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{"
          "\"type\":\"text_delta\",\"text\":\"Nf\"}}\n\ndata: {\"type\":\"content_block_delta\","
          "\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"3\"}}\n\ndata: {\"type\":"
          "\"a_new_event\"}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
          "\"end_turn\"},\"usage\":{\"output_tokens\":30}}\n\ndata: {\"type\":\"message_stop\"}"
          "\n\n"));
    assert_class(r, "ok");
    assert_str(r.text, S("Nf3"));
    assert_str(r.reasoning, S("hm"));
    assert_str(r.request_id, S("msg_1"));
    assert_str(r.native_finish, S("end_turn"));
    assert_int_equal(r.usage.input_tok, 57);
    assert_int_equal(r.usage.output_tok, 30);
}

static void gemini_events_add_up(void **s)
{
    (void)s;
    struct reply r = streamed(
        S("gemini/m"),
        S("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hm\",\"thought\":true},{"
          "\"text\":\"Nf\"}]}}],\"modelVersion\":\"M\",\"responseId\":\"r1\"}\r\n\r\ndata: {"
          "\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"3\"}]},\"finishReason\":\"STOP\"}],"
          "\"usageMetadata\":{\"promptTokenCount\":5,\"candidatesTokenCount\":2,"
          "\"thoughtsTokenCount\":3}}\r\n\r\n"));
    assert_class(r, "ok");
    assert_str(r.text, S("Nf3"));
    assert_str(r.reasoning, S("hm"));
    assert_str(r.served_model, S("M"));
    assert_int_equal(r.usage.output_tok, 5);
    assert_class(
        streamed(S("gemini/m"), S("data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n")),
        "filtered");
}

static void streams_are_asked_for_by_option_only(void **s)
{
    (void)s;
    static const struct {
        const char *name, *body, *url;
    } rows[] = {
        { "openai/m", "\"stream\":true,\"stream_options\":{\"include_usage\":true}}",
          "/v1/chat/completions" },
        { "anthropic/m", "\"stream\":true}", "/v1/messages" },
        { "gemini/m", "{", "/v1beta/models/m:streamGenerateContent?alt=sse" },
    };
    json_t *yes = fixture_json("{\"stream\":true}");
    json_t *no = fixture_json("{\"stream\":false}");
    const struct messages messages = fixture_messages();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        str name = str_from(rows[i].name);
        struct http_request r = fixture_build(name, &(struct model_opts){ .extra = yes }, NULL);
        assert_true(r.streamed);
        assert_true(str_find(r.body, str_from(rows[i].body)) >= 0);
        assert_true(str_find(r.url, str_from(rows[i].url)) >= 0);
        assert_false(fixture_build(name, &(struct model_opts){ .extra = no }, NULL).streamed);
        assert_lacks(fixture_build(name, &(struct model_opts){ .extra = no }, NULL).body, "stream");
        // How a reply travels tells no requests apart.
        const struct model a = fixture_model(name, &(struct model_opts){ .extra = yes });
        const struct model b = fixture_model(name, &(struct model_opts){ 0 });
        const struct model_request q = model_request_new(&a, NULL, &messages, NULL);
        assert_str(model_request_hash(&a, &q, &arena), model_request_hash(&b, &q, &arena));
    }
    static const char *const whole[] = { "ollama/m", "typesafe/jev-1" };
    for (size_t i = 0; i < ARRAY_LEN(whole); i++)
        fixture_refused(str_from(whole[i]), &(struct model_opts){ .extra = yes }, "whole");
    json_decref(yes);
    json_decref(no);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_are_no_events),
        cmocka_unit_test(lines_end_in_any_way_and_data_may_take_several),
        cmocka_unit_test(usage_counts_once_wherever_it_comes),
        cmocka_unit_test(characters_are_whole_whatever_the_pieces),
        cmocka_unit_test(an_error_in_a_stream_discards_what_came_before),
        cmocka_unit_test(a_native_reason_survives_the_stream),
        cmocka_unit_test(a_stream_without_its_end_is_no_answer),
        cmocka_unit_test(openai_thoughts_and_parts_add_up),
        cmocka_unit_test(anthropic_events_add_up),
        cmocka_unit_test(gemini_events_add_up),
        cmocka_unit_test(streams_are_asked_for_by_option_only),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

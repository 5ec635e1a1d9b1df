// SPDX-License-Identifier: GPL-3.0-or-later
// The decision endpoint, from section 5 of the endpoint specification and field case F-025.
#include "fixture.h"

#define NAME S("typesafe/jev-1.13-20260917")
#define MODEL "\"model\":\"typesafe/jev-1.13-20260917\""

static const struct field fields[] = {
    { { "position_fen", 12 }, { "the position", 12 } },
    { { "side_to_move", 12 }, { "", 0 } },
    { { "legal_moves_uci", 15 }, { "", 0 } },
    { { "move", 4 }, { "one move", 8 } },
};
static const struct signature signature = {
    .inputs = fields, .n_inputs = 3, .outputs = fields + 3, .n_outputs = 1
};
static const str inputs[] = { { "1r5k/6p1/3p3p/8/8/4bQ2/2R3PP/2KRq3 w - - 6 44", 45 },
                              { "white", 5 },
                              { "f3e3, c2d2", 10 } };
static const str demo_inputs[] = { { "8/8/8/8/8/8/8/K1k5 w - - 0 1", 28 },
                                   { "white", 5 },
                                   { "a1a2", 4 } };
static const str demo_outputs[] = { { "a1a2", 4 } };
static const struct demo demo = { .inputs = demo_inputs, .outputs = demo_outputs };
static const struct demo *const demos[] = { &demo };

static struct model_request question(const struct program *p, const str *with)
{
    return (struct model_request){
        .messages = fixture_messages(), .signature = &signature, .program = p, .inputs = with
    };
}

static bool build(const struct program *p, const str *with, const struct sampling *sampling,
                  struct http_request *out, struct err *err)
{
    const struct model m =
        fixture_model(NAME, &(struct model_opts){ .has_temperature = true, .no_key = true });
    struct model_request q = question(p, with);
    if (sampling) {
        q.sample = sampling->sample;
        q.has_temperature = sampling->has_temperature;
        q.temperature = sampling->temperature;
    }
    return m.provider->build(&m, &q, &arena, out, err);
}

static const struct program *program(void)
{
    const struct program *p = program_new(&arena, &signature, S("Find the best move."));
    return program_with_demos(&arena, p, demos, 1);
}

static struct reply reply_to(str legal, int status, str body)
{
    const struct model m = fixture_model(NAME, &(struct model_opts){ 0 });
    const str with[] = { inputs[0], inputs[1], legal };
    const struct model_request q = question(program(), with);
    const struct http_response in = { .status = status, .complete = true, .body = body };
    struct reply r;
    memset(&r, 0x55, sizeof r);
    m.provider->parse(&m, &q, &in, &arena, &r);
    return r;
}

static struct reply reply(str body)
{
    return reply_to(inputs[2], 200, body);
}

static void a_request_offers_the_legal_moves(void **s)
{
    (void)s;
    struct http_request r = { 0 };
    struct err err = { 0 };
    assert_true(build(program(), inputs, NULL, &r, &err));
    assert_str(
        r.body,
        S("{" MODEL ",\"state\":{\"position_fen\":\"1r5k/6p1/3p3p/8/8/4bQ2/2R3PP/2KRq3 w - - 6 "
          "44\",\"side_to_move\":\"white\",\"legal_moves_uci\":\"f3e3, c2d2\"},\"questions\":{"
          "\"move\":{\"type\":\"choice\",\"instructions\":\"Find the best move.\\n\\nField guide: "
          "position_fen (Position Fen): the position; side_to_move (Side To Move); legal_moves_uci "
          "(Legal Moves Uci); move (Move): one move;\\n\\nExample 1: {\\\"position_fen\\\":"
          "\\\"8/8/8/8/8/8/8/K1k5 w - - 0 1\\\",\\\"side_to_move\\\":\\\"white\\\","
          "\\\"legal_moves_uci\\\":\\\"a1a2\\\",\\\"move\\\":\\\"a1a2\\\"}\\n\\nChoose the one "
          "option, a move in UCI notation, that answers the current state.\",\"criteria\":{"
          "\"f3e3\":null,\"c2d2\":null}}}}"));
    assert_str(r.url, S("https://openrouter.ai/api/alpha/decisions"));
    assert_str(fixture_header(&r, "Authorization"), S("Bearer sk-or-v1-canary-0123456789"));
}

static void the_base_url_may_stop_anywhere(void **s)
{
    (void)s;
    static const char *const bases[] = { "https://h.example", "https://h.example/api/alpha/",
                                         "https://h.example/api/alpha/decisions" };
    for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
        const struct model m =
            fixture_model(NAME, &(struct model_opts){ .base_url = str_from(bases[i]) });
        const struct model_request q = question(program(), inputs);
        struct http_request r = { 0 };
        struct err err = { 0 };
        assert_true(m.provider->build(&m, &q, &arena, &r, &err));
        assert_str(r.url, S("https://h.example/api/alpha/decisions"));
    }
}

static void what_it_cannot_do_is_refused(void **s)
{
    (void)s;
    fixture_refused(NAME, &(struct model_opts){ .has_temperature = true, .temperature = 0.1 },
                    "temperature");
    fixture_refused(NAME, &(struct model_opts){ .max_tokens = 9 }, "max_tokens");
    fixture_refused(NAME, &(struct model_opts){ .has_format = true, .format = FORMAT_SCHEMA },
                    "none");
    json_t *extra = fixture_json("{\"top_p\":1}");
    fixture_refused(NAME, &(struct model_opts){ .extra = extra }, "provider");
    json_decref(extra);
    extra = fixture_json("{\"provider\":{\"only\":[\"a\"]}}"); // the routing of section 4
    (void)fixture_model(NAME, &(struct model_opts){ .extra = extra });
    json_decref(extra);
    assert_int_equal(fixture_model(NAME, &(struct model_opts){ 0 }).timeout_ms, 30000);
    struct http_request r;
    struct err err;
    assert_false(build(program(), inputs, &(struct sampling){ .sample = 1 }, &r, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_false(build(program(), inputs,
                       &(struct sampling){ .has_temperature = true, .temperature = 0.7 }, &r,
                       &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_false(build(NULL, NULL, NULL, &r, &err)); // a free question
    assert_int_equal(err.code, ERR_USAGE);
    const struct program *analysis =
        program_new(&arena, &signature_choose_move_analysis, S("Think."));
    assert_false(build(analysis, inputs, NULL, &r, &err));
    assert_int_equal(err.code, ERR_USAGE);
}

// "m0, m1, ..." and their shares.
static str options(size_t n)
{
    struct buf b = { .arena = &arena };
    for (size_t i = 0; i < n; i++)
        buf_addf(&b, "%sm%zu", i > 0 ? ", " : "", i);
    return buf_str(&b);
}

static void from_2_to_255_moves_can_be_offered(void **s)
{
    (void)s;
    static const struct {
        size_t n;
        bool good;
    } rows[] = { { 0, false },  { 1, false },  { 2, true },
                 { 218, true }, { 255, true }, { 256, false } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const str with[] = { inputs[0], inputs[1], options(rows[i].n) };
        struct http_request r = { 0 };
        struct err err = { 0 };
        assert_int_equal(build(program(), with, NULL, &r, &err), rows[i].good);
    }
}

static void a_choice_is_the_answer_and_its_shares_are_kept_as_told(void **s)
{
    (void)s;
    struct reply r = reply(S("{\"id\":\"gen-2\"," MODEL ",\"answers\":{\"move\":{\"type\":"
                             "\"choice\",\"choice\":\"c2d2\",\"confidence\":0.71,"
                             "\"probabilities\":{\"c2d2\":0.71,\"f3e3\":0.29}}},\"usage\":{"
                             "\"cost\":0.00001}}"));
    assert_class(r, "ok");
    assert_str(r.text, S("{\"move\":\"c2d2\"}"));
    assert_str(r.details, S("{\"type\":\"choice\",\"choice\":\"c2d2\",\"confidence\":0.71,"
                            "\"probabilities\":{\"c2d2\":0.71,\"f3e3\":0.29}}"));
    assert_str(r.request_id, S("gen-2"));
    assert_int_equal(r.cost_nusd, 10000);
    assert_int_equal(r.cost_source, KNOWN_REPORTED);
    assert_int_equal(r.usage.source, KNOWN_ESTIMATED);
    struct reply again;
    struct err err;
    assert_true(reply_from_json(reply_to_json(&r, &arena), &arena, &again, &err));
    assert_str(again.details, r.details);
}

// One share of `first`, the others of `rest`.
static struct reply shares(size_t n, const char *first, const char *rest)
{
    struct buf b = { .arena = &arena };
    buf_addf(&b,
             "{" MODEL ",\"answers\":{\"move\":{\"type\":\"choice\",\"choice\":\"m0\","
             "\"probabilities\":{\"m0\":%s",
             first);
    for (size_t i = 1; i < n; i++)
        buf_addf(&b, ",\"m%zu\":%s", i, rest);
    buf_add(&b, S("}}}}"));
    return reply_to(options(n), 200, buf_str(&b));
}

static void rounded_shares_may_miss_1_by_half_a_hundredth_each(void **s)
{
    (void)s;
    assert_class(shares(35, "0.60", "0.01"), "ok"); // F-025: they add up to 0.94
    assert_class(shares(218, "0.40", "0"), "ok");
    assert_class(shares(2, "0.5", "0.48"), "ok"); // just inside 0.02
    assert_class(shares(2, "0.5", "0.47"), "protocol");
    assert_class(shares(2, "0.52", "0.51"), "protocol");
    assert_class(shares(35, "0.60", "0.005"), "protocol");
    assert_has(shares(2, "0.5", "0.1").error, "add up");
}

static void every_other_answer_is_against_the_protocol(void **s)
{
    (void)s;
#define ANSWER(model_, answers_) "{\"model\":\"" model_ "\",\"answers\":" answers_ "}"
#define JEV "typesafe/jev-1.13-20260917"
#define CHOICE(choice_, more_)                                                                     \
    "{\"move\":{\"type\":\"choice\",\"choice\":\"" choice_ "\",\"probabilities\":{" more_ "}}}"
#define GOOD "\"c2d2\":0.71,\"f3e3\":0.29"
    static const char *const bad[] = {
        "[]",
        "{}",
        ANSWER("typesafe/jev-1.13", CHOICE("c2d2", GOOD)),
        ANSWER("typesafe/jev-1.14-20270101", CHOICE("c2d2", GOOD)),
        ANSWER(JEV, "{}"),
        ANSWER(JEV, "[]"),
        ANSWER(JEV, "{\"best\":{\"type\":\"choice\"}}"),
        ANSWER(JEV, "{\"other\":1,\"move\":{\"type\":\"choice\",\"choice\":\"c2d2\","
                    "\"probabilities\":{" GOOD "}}}"),
        ANSWER(JEV,
               "{\"move\":{\"type\":\"noul\",\"choice\":\"c2d2\",\"probabilities\":{" GOOD "}}}"),
        ANSWER(JEV, "{\"move\":{\"type\":\"choice\",\"choice\":\"c2d2\"}}"),
        ANSWER(JEV, "{\"move\":{\"type\":\"choice\",\"choice\":\"c2d2\",\"confidence\":true,"
                    "\"probabilities\":{" GOOD "}}}"),
        ANSWER(JEV, CHOICE("a1a2", GOOD)),
        ANSWER(JEV, CHOICE("C2D2", GOOD)),
        ANSWER(JEV, CHOICE("", GOOD)),
        ANSWER(JEV, CHOICE("c2d2", "\"c2d2\":1")),
        ANSWER(JEV, CHOICE("c2d2", GOOD ",\"a1a2\":0")),
        ANSWER(JEV, CHOICE("c2d2", "\"c2d2\":0.71,\"a1a2\":0.29")),
        ANSWER(JEV, CHOICE("c2d2", "\"c2d2\":1.29,\"f3e3\":-0.29")),
        ANSWER(JEV, CHOICE("c2d2", "\"c2d2\":true,\"f3e3\":0")),
        ANSWER(JEV, CHOICE("c2d2", "\"c2d2\":NaN,\"f3e3\":0.29")),
        ANSWER(JEV, CHOICE("c2d2", "\"c2d2\":1e999,\"f3e3\":0.29")),
        ANSWER(JEV, CHOICE("c2d2", "\"c2d2\":\"0.71\",\"f3e3\":0.29")),
        ANSWER(JEV, CHOICE("c2d2", "\"c2d2\":null,\"f3e3\":0.29")),
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct reply r = reply(str_from(bad[i]));
        if (r.class != REPLY_PROTOCOL)
            fail_msg("%s: %.*s", bad[i], STR(reply_class_name(r.class)));
        assert_true(reply_may_retry(&r) && r.text.len == 0);
    }
    assert_class(reply(str_from(ANSWER(JEV, CHOICE("c2d2", GOOD)))), "ok");
}

static void of_errors_only_status_and_class_are_kept(void **s)
{
    (void)s;
    static const struct {
        int status;
        const char *class;
    } rows[] = {
        { 400, "config" },     { 401, "account" },  { 402, "account" },  { 404, "config" },
        { 429, "rate_limit" }, { 500, "upstream" }, { 503, "overload" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct reply r = reply_to(inputs[2], rows[i].status,
                                  S("{\"error\":{\"message\":\"got header authorization: Bearer "
                                    "canary\",\"code\":\"weird_canary\"}}"));
        assert_str(reply_class_name(r.class), str_from(rows[i].class));
        assert_has(r.error, "HTTP ");
        assert_lacks(reply_to_json(&r, &arena), "canary");
    }
    struct reply r = reply_to(inputs[2], 500, S("authorization: Bearer canary"));
    assert_lacks(reply_to_json(&r, &arena), "canary");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_offers_the_legal_moves),
        cmocka_unit_test(the_base_url_may_stop_anywhere),
        cmocka_unit_test(what_it_cannot_do_is_refused),
        cmocka_unit_test(from_2_to_255_moves_can_be_offered),
        cmocka_unit_test(a_choice_is_the_answer_and_its_shares_are_kept_as_told),
        cmocka_unit_test(rounded_shares_may_miss_1_by_half_a_hundredth_each),
        cmocka_unit_test(every_other_answer_is_against_the_protocol),
        cmocka_unit_test(of_errors_only_status_and_class_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Tokens and money (endpoint specification, section 14).
#include "fixture.h"

#define PRICE_FILE(rows) T("{\"date\": \"2026-11-30\", \"models\": {" rows "}}")

static void a_price_file_goes_before_the_built_in_one(void **s)
{
    (void)s;
    struct prices p = { 0 };
    struct err err = { 0 };
    static const str text = PRICE_FILE(
        "\"openai/gpt-4o\": {\"input\": 7, \"output\": 8},"
        "\"openrouter/openai/o3\": {\"input\": 1, \"output\": 2, \"cached_input\": 0.5}");
    assert_true(prices_read(text, &arena, &p, &err));
    prices_builtin(&arena, &p);
    struct price own = price_of(&p, S("openai/gpt-4o-2024-08-06"));
    assert_true(own.input == 7 && own.cached == 7 && own.cache_write == 7 && own.output == 8);
    assert_str(own.date, S("2026-11-30"));
    assert_true(price_of(&p, S("openrouter/openai/o3")).cached == 0.5); // the router's own
    assert_true(price_of(&p, S("openai/o3")).output == 8);              // not the router's
    assert_true(price_of(&p, S("openai/gpt-4o-mini")).input == 0.15);
}

static void a_price_file_with_a_mistake_is_refused(void **s)
{
    (void)s;
    static const struct {
        str text;
        const char *says;
    } rows[] = {
        { T("{"), "line 1" },
        { T("{\"models\": {}}"), "date" },
        { T("{\"date\": \"30.11.2026\", \"models\": {}}"), "date" },
        { T("{\"date\": \"2026-11-30\", \"models\": []}"), "models" },
        { PRICE_FILE("\"a/b\": 3"), "a/b" },
        { PRICE_FILE("\"a/b\": {\"input\": 3}"), "a/b: \"input\" and \"output\"" },
        { PRICE_FILE("\"a/b\": {\"input\": \"3\", \"output\": 1}"), "a/b: \"input\" must be" },
        { PRICE_FILE("\"a/b\": {\"input\": 3, \"output\": -1}"), "a/b: \"output\" must be" },
        { PRICE_FILE("\"a/b\": {\"input\": 3, \"output\": 1e9}"), "a/b: \"output\" must be" },
        { PRICE_FILE("\"a/b\": {\"input\": 3, \"output\": 1, \"in\": 1}"), "\"in\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct prices p = { 0 };
        struct err err = { 0 };
        assert_false(prices_read(rows[i].text, &arena, &p, &err));
        assert_int_equal(err.code, ERR_INPUT);
        if (!strstr(err.text, rows[i].says))
            fail_msg("row %zu: %s", i, err.text);
    }
}

// F-062: 0.18492 USD, to the nano-dollar 0.184918125.
static void cached_tokens_are_charged_once(void **s)
{
    (void)s;
    const struct price p = { .known = true, .input = 1.25, .cached = 0.625, .output = 10 };
    struct usage u = { .input_tok = 262960, .cached_tok = 257955, .output_tok = 1744 };
    assert_int_equal(price_cost_nusd(&p, &u), 184918125);
    u.cached_tok = 262961; // more than all: the uncached part is 0
    assert_int_equal(price_cost_nusd(&p, &u), 262961 * INT64_C(625) + 1744 * INT64_C(10000));
}

static void every_term_counts_and_none_is_negative(void **s)
{
    (void)s;
    const struct price p = {
        .known = true, .input = 3, .cached = 0.3, .cache_write = 3.75, .output = 15
    };
    assert_int_equal(price_cost_nusd(&p, &(struct usage){ .input_tok = 100,
                                                          .cached_tok = 20,
                                                          .cache_write_tok = 30,
                                                          .output_tok = 10 }),
                     50 * 3000 + 20 * 300 + 30 * 3750 + 10 * 15000);
    assert_int_equal(price_cost_nusd(&p, &(struct usage){ .input_tok = -5, .output_tok = -5 }), 0);
    assert_int_equal(price_cost_nusd(&p, &(struct usage){ 0 }), 0);
    const struct price high = {
        .known = true, .input = 1e9, .cached = 1e9, .cache_write = 1e9, .output = 1e9
    };
    assert_true(price_cost_nusd(&high, &(struct usage){ .output_tok = INT64_MAX }) > 0);
}

static void the_table_knows_names_with_date_and_router(void **s)
{
    (void)s;
    struct prices builtin = { 0 };
    prices_builtin(&arena, &builtin);
    assert_str(price_of(&builtin, S("openai/gpt-4o-mini")).date, S("2026-08-09"));
    assert_true(price_of(&builtin, S("openai/gpt-4o-mini")).known);
    assert_true(price_of(&builtin, S("openai/gpt-4o-mini")).input == 0.15);
    assert_true(price_of(&builtin, S("openai/gpt-4o-mini")).cached == 0.075);
    assert_true(price_of(&builtin, S("openai/gpt-4o-mini")).output == 0.6);
    assert_true(price_of(&builtin, S("openai/gpt-4o-mini-2024-07-18")).output == 0.6);
    assert_true(price_of(&builtin, S("openrouter/openai/gpt-4o-mini")).output == 0.6);
    assert_true(price_of(&builtin, S("openrouter/x/y:free")).known);
    assert_false(price_of(&builtin, S("openai/gpt-4o-mini-2024-07-1x")).known);
    assert_false(price_of(&builtin, S("openai/unheard-of")).known);
    assert_false(price_of(&builtin, S("")).known);
}

static void tokens_are_estimated_by_characters_or_words(void **s)
{
    (void)s;
    assert_int_equal(tokens_estimate(S("")), 0);
    assert_int_equal(tokens_estimate(S("abcdefgh")), 2);
    assert_int_equal(tokens_estimate(S("abcdefghi")), 3);
    assert_int_equal(tokens_estimate(S("a b c d e f g h i j")), 13); // 10 words x 1.3
    assert_int_equal(tokens_estimate(S("\xE5\xA5\xBD\xE5\xA5\xBD\xE5\xA5\xBD\xE5\xA5\xBD")), 2);
    assert_int_equal(tokens_estimate(S("  \n ")), 1);
}

static int64_t worst(str name, const struct model_opts *opts)
{
    const struct model m = fixture_model(name, opts);
    const struct messages messages = fixture_messages();
    const struct model_request q = model_request_new(&m, NULL, &messages, NULL);
    return model_request_worst_nusd(&m, &q);
}

// 44 bytes of text and 16 tokens a message and for the whole are 92 tokens at most.
static void the_worst_cost_is_never_exceeded(void **s)
{
    (void)s;
    assert_int_equal(worst(S("openai/gpt-4o-mini"), &(struct model_opts){ .max_tokens = 1000 }),
                     92 * 150 + 1000 * 600);
    assert_int_equal(worst(S("openai/gpt-4o-mini"), &(struct model_opts){ 0 }),
                     92 * 150 + 32768 * 600);
    struct err err = { 0 };
    json_t *extra = json_read_strict(S("{\"max_completion_tokens\":50}"), &err);
    assert_int_equal(
        worst(S("openai/gpt-4o-mini"), &(struct model_opts){ .max_tokens = 1000, .extra = extra }),
        92 * 150 + 50 * 600);
    json_decref(extra);
    assert_int_equal(worst(S("openai/unheard-of"), &(struct model_opts){ .max_tokens = 9 }), 0);
    assert_int_equal(worst(S("vllm/any"), &(struct model_opts){ .max_tokens = 9 }), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_price_file_goes_before_the_built_in_one),
        cmocka_unit_test(a_price_file_with_a_mistake_is_refused),
        cmocka_unit_test(cached_tokens_are_charged_once),
        cmocka_unit_test(every_term_counts_and_none_is_negative),
        cmocka_unit_test(the_table_knows_names_with_date_and_router),
        cmocka_unit_test(tokens_are_estimated_by_characters_or_words),
        cmocka_unit_test(the_worst_cost_is_never_exceeded),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

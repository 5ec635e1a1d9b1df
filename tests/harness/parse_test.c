// SPDX-License-Identifier: GPL-3.0-or-later
// The parser of answers: every row of Meta-Harness specification 7.1.
#include "test.h"

#include "answers.h"

static void every_row_of_the_table_is_read(void **s)
{
    (void)s;
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(answer_rows); i++) {
        str got = harness_parse(str_from(answer_rows[i].response), &a);
        if (!str_eq(got, str_from(answer_rows[i].want)))
            fail_msg("\"%s\": got %.*s, want %s", answer_rows[i].response, STR(got),
                     answer_rows[i].want);
    }
    arena_free(&a);
}

static str repeated(str what, size_t times, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < times; i++)
        buf_add(&b, what);
    return buf_str(&b);
}

static void long_hostile_text_takes_linear_time(void **s)
{
    (void)s;
    struct arena a = { 0 };
    int64_t begun = clock_mono_ms();
    struct buf b = { .arena = &a };
    buf_add(&b, repeated(S("a"), 1 << 20, &a));
    buf_add(&b, S(" e2e4"));
    assert_str(harness_parse(buf_str(&b), &a), S("e2e4"));
    assert_str(harness_parse(repeated(S("<move>"), 100000, &a), &a), S(NONE));
    assert_str(harness_parse(repeated(S("[ "), 500000, &a), &a), S(NONE));
    assert_true(clock_mono_ms() - begun < 5000); // quadratic would be hours
    arena_free(&a);
}

static void results_of_harness_parsers_are_normalised(void **s)
{
    (void)s;
    struct arena a = { 0 };
    assert_str(harness_normalise(S(" E2E4 "), false, &a), S("e2e4"));
    assert_str(harness_normalise(S("move: e2e4"), false, &a), S("e2e4"));
    assert_str(harness_normalise(S("e2e4 d2d4"), false, &a), S(AMB));
    assert_str(harness_normalise(S("e2e4 d2d4"), true, &a), S("e2e4"));
    assert_str(harness_normalise(S(NONE), false, &a), S(NONE));
    assert_str(harness_normalise(S("Hello"), false, &a), S("hello"));
    arena_free(&a);
}

static void an_action_is_two_squares_and_perhaps_a_piece(void **s)
{
    (void)s;
    static const char *const good[] = { "e2e4", "e7e8q", "e2e2" };
    static const char *const bad[] = { "", "e2e", "e7e8k", "E2E4", "e2e4 ", "e2e4qq", NONE };
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(harness_is_uci(str_from(good[i])));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(harness_is_uci(str_from(bad[i])));
}

static void the_tier_that_decided_is_known(void **s)
{
    (void)s;
    assert_int_equal(harness_parse_tier(S("<move>e2e4</move> [d2d4]")), TIER_TAG);
    assert_int_equal(harness_parse_tier(S("[e2e4] d2d4")), TIER_BRACKET);
    assert_int_equal(harness_parse_tier(S("d2d4")), TIER_BARE);
    assert_int_equal(harness_parse_tier(S("no")), TIER_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_table_is_read),
        cmocka_unit_test(long_hostile_text_takes_linear_time),
        cmocka_unit_test(results_of_harness_parsers_are_normalised),
        cmocka_unit_test(an_action_is_two_squares_and_perhaps_a_piece),
        cmocka_unit_test(the_tier_that_decided_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

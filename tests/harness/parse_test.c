// SPDX-License-Identifier: GPL-3.0-or-later
// The parser of answers: every row of Meta-Harness specification 7.1.
#include "test.h"

#include "harness/harness.h"

#define NONE HARNESS_NO_MOVE
#define AMB HARNESS_AMBIGUOUS

static const struct row {
    const char *response, *want;
} rows[] = {
    { "<move>e2e4</move>", "e2e4" },
    { "<move> E2E4 </move>", "e2e4" },
    { "<move>\ne7e8Q\n</move>", "e7e8q" },
    { "<MOVE>e2e4</MOVE>", "e2e4" },
    { "I play [g1f3].", "g1f3" },
    { "[ e2e4 ]", "e2e4" },
    { "- [e2e4] SAN=e4", "e2e4" },
    { "{\"move\":\"e2e4\"}", "e2e4" },
    { "http://x/e2e4", "e2e4" },
    { "e2e4 e2e4 E2E4", "e2e4" },
    { "e2e4", "e2e4" },
    { "e2e4.", "e2e4" },
    { "**e2e4**", "e2e4" },
    { "(e2e4)", "e2e4" },
    { "e2e4+", "e2e4" },
    { "e2e4#", "e2e4" },
    { "1.e2e4", "e2e4" },
    { "move=e2e4;", "e2e4" },
    { "```\ne2e4\n```", "e2e4" },
    { "e2e4 or d2d4", AMB },
    { "e2e4,d7d5", AMB },
    { "bestmove e2e4 ponder e7e5", AMB },
    { "<move>e2e4</move> not <move>d2d4</move>", AMB },
    { "<move>e2e4</move> because d2d4 fails", "e2e4" },
    { "[e2e4] [d2d4]", AMB },
    { "[e2e4], but d2d4 is also fine", "e2e4" },
    { "<move>d2d4</move> [e2e4] g1f3", "d2d4" },
    { "<think>maybe <move>d2d4</move></think><move>e2e4</move>", AMB },
    { "<think>d2d4?</think><move>e2e4</move>", "e2e4" },
    { "<move>e2e4", "e2e4" },
    { "<move>e2e4<move>", "e2e4" },
    { "< move>e2e4</move>", "e2e4" },
    { "<move>e2e4</ move>", "e2e4" },
    { "<move>\u00a0e2e4\u00a0</move> d2d4", "e2e4" },
    { "", NONE },
    { "  \n ", NONE },
    { "resign", NONE },
    { "Nf3", NONE },
    { "O-O", NONE },
    { "0000", NONE },
    { "i9e4", NONE },
    { "e2-e4", NONE },
    { "e2 e4", NONE },
    { "e2xe4", NONE },
    { "e7e8=Q", "e7e8" },
    { "<move>e7e8=Q</move>", "e7e8" },
    { "e7e8q", "e7e8q" },
    { "E7e8Q", "e7e8q" },
    { "[e7e8q]", "e7e8q" },
    { "e7e8k", NONE },
    { "e2e4e5", NONE },
    { "e2e4_", NONE },
    { "_e2e4", NONE },
    { "xe2e4", NONE },
    { "\u00e9a2a4", NONE },
    { "a2a4\u00e9", NONE },
    { "\u8d70e2e4", NONE },
    { "\uff45"
      "2e4",
      NONE },
    { "e2\u200b"
      "e4",
      NONE },
    { NONE, NONE },
    { AMB, NONE },
    { "e2e2", "e2e2" },
    { "a1a1q", "a1a1q" },
    { "\xff"
      "e2e4",
      "e2e4" },
};

static void every_row_of_the_table_is_read(void **s)
{
    (void)s;
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        str got = harness_parse(str_from(rows[i].response), &a);
        if (!str_eq(got, str_from(rows[i].want)))
            fail_msg("\"%s\": got %.*s, want %s", rows[i].response, STR(got), rows[i].want);
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

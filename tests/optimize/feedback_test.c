// SPDX-License-Identifier: GPL-3.0-or-later
// What the metric says of an answer: kinds, fixed texts, and when the solution is told.
#include "test.h"

#include "optimize/optimize.h"

static struct feedback judged(enum answer_kind kind, enum metric_feedback how, bool show)
{
    static struct arena a; // of all tests; never freed
    struct lab lab = { .arena = &a };
    struct optimizer_config config = { .feedback = how };
    struct opt_task task = { .lab = &lab, .config = &config, .show_solution = show };
    struct puzzle_position p = { .reference = S("e2e4") };
    struct puzzle_record record = { .kind = kind };
    struct outcome out = { .record = &record, .score = kind == ANSWER_CORRECT };
    struct feedback f;
    opt_feedback(&task, &p, &out, &f);
    return f;
}

static void every_kind_of_answer_has_its_kind_of_feedback(void **s)
{
    (void)s;
    static const enum feedback_kind want[ANSWER_KINDS] = {
        [ANSWER_CORRECT] = FEEDBACK_OK,
        [ANSWER_WRONG] = FEEDBACK_WRONG_LEGAL,
        [ANSWER_ILLEGAL] = FEEDBACK_ILLEGAL_OR_AMBIGUOUS,
        [ANSWER_AMBIGUOUS] = FEEDBACK_ILLEGAL_OR_AMBIGUOUS,
        [ANSWER_NO_MOVE] = FEEDBACK_PARSE_FAIL,
        [ANSWER_UNPARSABLE] = FEEDBACK_PARSE_FAIL,
        [ANSWER_TRUNCATED] = FEEDBACK_PARSE_FAIL,
        [ANSWER_EMPTY] = FEEDBACK_PARSE_FAIL,
        [ANSWER_REFUSED] = FEEDBACK_PARSE_FAIL,
        [ANSWER_FILTERED] = FEEDBACK_PARSE_FAIL,
        [ANSWER_CONTEXT_OVERFLOW] = FEEDBACK_PARSE_FAIL,
        [ANSWER_FAILED] = FEEDBACK_PARSE_FAIL,
    };
    for (int k = 0; k < ANSWER_KINDS; k++) {
        struct feedback f = judged((enum answer_kind)k, FEEDBACK_TEXTUAL, false);
        assert_int_equal(f.kind, want[k]);
        assert_true(f.score == (k == ANSWER_CORRECT ? 1 : 0));
    }
}

static void the_texts_of_the_kinds_differ(void **s)
{
    (void)s;
    static const enum answer_kind kinds[] = { ANSWER_CORRECT, ANSWER_WRONG, ANSWER_ILLEGAL,
                                              ANSWER_NO_MOVE };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        for (size_t k = 0; k < i; k++)
            assert_false(str_eq(judged(kinds[i], FEEDBACK_TEXTUAL, false).text,
                                judged(kinds[k], FEEDBACK_TEXTUAL, false).text));
}

static void the_solution_is_told_only_when_wanted_and_the_answer_failed(void **s)
{
    (void)s;
    for (int how = FEEDBACK_TEXTUAL; how <= FEEDBACK_SCALAR; how++)
        for (int k = 0; k < ANSWER_KINDS; k++)
            for (int show = 0; show <= 1; show++) {
                struct feedback f =
                    judged((enum answer_kind)k, (enum metric_feedback)how, show == 1);
                assert_int_equal(str_find(f.text, S("e2e4")) >= 0, show && k != ANSWER_CORRECT);
            }
}

static void scalar_feedback_is_the_score_alone(void **s)
{
    (void)s;
    assert_str(judged(ANSWER_CORRECT, FEEDBACK_SCALAR, false).text, S("Score: 1 of 1."));
    assert_str(judged(ANSWER_ILLEGAL, FEEDBACK_SCALAR, false).text, S("Score: 0 of 1."));
    assert_str(judged(ANSWER_NO_MOVE, FEEDBACK_SCALAR, false).text, S("Score: 0 of 1."));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_answer_has_its_kind_of_feedback),
        cmocka_unit_test(the_texts_of_the_kinds_differ),
        cmocka_unit_test(the_solution_is_told_only_when_wanted_and_the_answer_failed),
        cmocka_unit_test(scalar_feedback_is_the_score_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

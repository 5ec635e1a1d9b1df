// SPDX-License-Identifier: GPL-3.0-or-later
// The shipped baseline: accepted without a word, and equal to the built-in parser on every row.
#include "sandboxed.h"

#include "harness/answers.h"
#include "harness/fixtures.h"

static str h0(struct arena *a)
{
    str source;
    struct err err = { 0 };
    if (!candidate_read(S("builtin:h0"), a, &source, &err))
        fail_msg("%s", err.text);
    return source;
}

static void the_baseline_passes_without_a_finding(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct examination e = examined(h0(&a), &a);
    assert_int_equal(e.verdict, VERDICT_PASS);
    assert_int_equal(e.findings.n, 0);
    assert_true(!e.contract.formats && e.contract.parses); // its views are the observations
    assert_int_equal(e.contract.max_turns, 9);
    arena_free(&a);
}

static void its_parser_agrees_with_the_built_in_one(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct harness_result r;
    struct cell *c = loaded(h0(&a), &a);
    for (size_t i = 0; i < ARRAY_LEN(answer_rows); i++) {
        assert_int_equal(parse_with(c, str_from(answer_rows[i].response), &a, &r), CELL_ANSWERED);
        if (!r.ok || !str_eq(r.text, str_from(answer_rows[i].want)))
            fail_msg("\"%s\": got %.*s, want %s", answer_rows[i].response, STR(r.text),
                     answer_rows[i].want);
    }
    cell_free(c);
    arena_free(&a);
}

static void its_test_of_legality_follows_the_table(void **s)
{
    (void)s;
    static const struct {
        const char *action;
        bool legal;
    } rows[] = {
        { "f5e5", true },       { "F5E5", true },    { " f5e5 ", true }, { "e5e6", false },
        { "f5f3", true },       { "f5a5", false },   { "h4h3", true },   { "h4h3q", false },
        { "Re5", false },       { "Re5+", false },   { "", false },      { HARNESS_NO_MOVE, false },
        { "f5e5 f5f3", false }, { "[f5e5]", false }, { "e2f1", false },
    };
    struct arena a = { 0 };
    struct harness_result r;
    struct cell *c = loaded(h0(&a), &a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct harness_call call = { .function = HARNESS_LEGAL,
                                     .text = S(OBS_A),
                                     .action = str_from(rows[i].action) };
        cell_call(c, &call);
        assert_int_equal(cell_wait(c, &a, &r), CELL_ANSWERED);
        assert_true(r.ok && r.type == RESULT_BOOL);
        if (r.truth != rows[i].legal)
            fail_msg("%s", rows[i].action);
    }
    cell_free(c);
    arena_free(&a);
}

int main(int argc, char **argv)
{
    sandbox_become_template(argc, argv);
    open_box(false);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_baseline_passes_without_a_finding),
        cmocka_unit_test(its_parser_agrees_with_the_built_in_one),
        cmocka_unit_test(its_test_of_legality_follows_the_table),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sandbox_free(box);
    return failed;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// The sixty hostile snippets: each is rejected by the rules that the specification names, and held
// by the process alone where the check is switched off.
#include "sandboxed.h"

#include "hostile.h"

static void every_snippet_breaks_the_named_rules(void **s)
{
    (void)s;
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(hostile); i++) {
        str source = arena_printf(&a, "%s%s\n", REQUIRED, hostile[i].snippet);
        struct examination e = examined(source, &a);
        if (e.verdict != VERDICT_REJECT)
            fail_msg("%s passes", hostile[i].id);
        str rules = str_from(hostile[i].rules);
        while (rules.len > 0) {
            str rule = str_cut(&rules, ' ');
            if (!violations_have(&e.findings, rule))
                fail_msg("%s: no %.*s in %.*s", hostile[i].id, STR(rule),
                         STR(findings_text(&e, &a)));
        }
    }
    arena_free(&a);
}

// Without the check: an error inside the child, its end, or nothing to find; and no effect outside.
static void every_snippet_is_held_without_the_check(void **s)
{
    (void)s;
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(hostile); i++) {
        struct cell *c;
        struct err err = { 0 };
        struct harness_result r;
        str source = arena_printf(&a, "%s%s\n", REQUIRED, hostile[i].snippet);
        if (!sandbox_load(box, source, &a, &c, &err)) {
            assert_int_equal(err.code, ERR_INPUT);
            continue;
        }
        enum cell_state state = parse_with(c, S("e2e4"), &a, &r);
        assert_true(state == CELL_FAULT || state == CELL_ANSWERED);
        cell_free(c);
    }
    assert_all_is_well();
    arena_free(&a);
}

int main(int argc, char **argv)
{
    sandbox_become_template(argc, argv);
    open_box(false);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_snippet_breaks_the_named_rules),
        cmocka_unit_test(every_snippet_is_held_without_the_check),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sandbox_free(box);
    return failed;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Cells: calls and their results, what counts as a fault, and that nothing leaks.
#include <dirent.h>
#include <unistd.h>

#include "sandboxed.h"

static void functions_are_called_with_their_arguments(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct harness_result r;
    struct cell *c = loaded(S(REQUIRED "def format_observation(observation, **kwargs):\n"
                                       "    return observation + repr(sorted(kwargs.items()))\n"),
                            &a);
    struct harness_call call = { .function = HARNESS_FORMAT,
                                 .text = S("B\xc3\xa9\""),
                                 .side_to_move = S("white"),
                                 .max_turns = 9 };
    cell_call(c, &call);
    assert_int_equal(cell_wait(c, &a, &r), CELL_ANSWERED);
    assert_str(r.text, S("B\xc3\xa9\"[('last_opponent_move', None), ('max_turns', 9), "
                         "('side_to_move', 'white'), ('turn_count', 0)]"));
    call = (struct harness_call){ .function = HARNESS_LEGAL,
                                  .text = S("- [e2e4]"),
                                  .action = S("e2e4") };
    cell_call(c, &call);
    assert_int_equal(cell_wait(c, &a, &r), CELL_ANSWERED);
    assert_true(r.ok && r.type == RESULT_BOOL && r.truth);
    cell_free(c);
    arena_free(&a);
}

static const struct harness_call judging = { .function = HARNESS_PARSE,
                                             .text = T("I play E2E4"),
                                             .judges = true,
                                             .board = T("- [e2e4] SAN=e4") };

static void one_call_parses_and_judges(void **s)
{
    (void)s;
    static const struct {
        const char *parser, *action;
        bool ok, judged;
    } rows[] = {
        { "response[-4:]", "e2e4", true, true },
        { "'__no_move__'", "__no_move__", true, false },
        { "'e2e2'", "e2e2", true, false }, // goes nowhere
        { "1 // 0", "e2e4", false, true }, // the built-in parser stands in
        { "None", "e2e4", true, true },
        { "response", "e2e4", true, true }, // its argument itself
    };
    struct arena a = { 0 };
    struct harness_result r;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cell *c = loaded(arena_printf(&a, "%sdef parse_action(response):\n    return %s\n",
                                             REQUIRED, rows[i].parser),
                                &a);
        cell_call(c, &judging);
        assert_int_equal(cell_wait(c, &a, &r), CELL_ANSWERED);
        assert_true(r.told);
        assert_int_equal(r.ok, rows[i].ok);
        assert_str(r.action, str_from(rows[i].action));
        assert_int_equal(r.legality != NULL, rows[i].judged);
        assert_true(!r.legality || (r.legality->ok && r.legality->truth));
        cell_free(c);
    }
    arena_free(&a);
}

static void what_was_said_survives_the_child(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct harness_result r;
    struct cell *c = loaded(S("def propose_action(board):\n    return ''\n"
                              "def is_legal_action(board, action):\n    while True: pass\n"
                              "def parse_action(response):\n    return 'e2e4'\n"),
                            &a);
    cell_call(c, &judging);
    assert_int_equal(cell_wait(c, &a, &r), CELL_FAULT);
    assert_int_equal(cell_end(c), CELL_DEADLINE);
    assert_true(r.told && r.ok);
    assert_str(r.action, S("e2e4"));
    assert_null(r.legality);
    cell_free(c);
    arena_free(&a);
}

static void exceptions_come_with_class_and_line(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct harness_result r;
    struct cell *c =
        loaded(S(REQUIRED "def parse_action(response):\n    return {}['no\\x1b']\n"), &a);
    assert_int_equal(parse_with(c, S("x"), &a, &r), CELL_ANSWERED);
    assert_false(r.ok);
    assert_str(r.error_class, S("KeyError"));
    assert_int_equal(r.error_line, 6);
    assert_int_equal(parse_with(c, S("x"), &a, &r), CELL_ANSWERED); // it lives on
    cell_free(c);
    arena_free(&a);
}

static void odd_results_are_told_apart(void **s)
{
    (void)s;
    static const struct {
        const char *value;
        enum harness_type type;
    } rows[] = {
        { "None", RESULT_NONE },  { "5", RESULT_INT },           { "True", RESULT_BOOL },
        { "5.0", RESULT_OTHER },  { "('e2e4',)", RESULT_OTHER }, { "10**30", RESULT_OTHER },
        { "chr(0)", RESULT_STR }, { "chr(0xd800)", RESULT_STR },
    };
    struct arena a = { 0 };
    struct harness_result r;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cell *c = loaded(
            arena_printf(&a, "%sdef parse_action(r):\n    return %s\n", REQUIRED, rows[i].value),
            &a);
        assert_int_equal(parse_with(c, S("x"), &a, &r), CELL_ANSWERED);
        assert_true(r.ok);
        assert_int_equal(r.type, rows[i].type);
        cell_free(c);
    }
    assert_str(r.text, S("\xef\xbf\xbd")); // the lone surrogate
    arena_free(&a);
}

static void random_numbers_follow_the_seed(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct harness_result r;
    str first = { 0 };
    for (int i = 0; i < 3; i++) {
        struct cell *c =
            loaded(S(REQUIRED "def parse_action(r):\n"
                              "    return repr([random.random(), random.Random().random()])\n"),
                   &a);
        struct harness_call call = { .function = HARNESS_PARSE, .seed = i == 2 ? 8 : 7 };
        cell_call(c, &call);
        assert_int_equal(cell_wait(c, &a, &r), CELL_ANSWERED);
        if (i == 0)
            first = r.text;
        assert_true(str_eq(r.text, first) == (i < 2));
        cell_free(c);
    }
    arena_free(&a);
}

static size_t open_descriptors(void)
{
    size_t n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void many_cells_leave_nothing_behind(void **s)
{
    (void)s;
    struct cell *cells[64];
    size_t before = open_descriptors();
    struct err err = { 0 };
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < ARRAY_LEN(cells); i++)
            if (!cell_new(box, &cells[i], &err))
                fail_msg("%s", err.text);
        for (size_t i = 0; i < ARRAY_LEN(cells); i++)
            cell_free(cells[i]);
    }
    assert_int_equal(open_descriptors(), before);
    assert_all_is_well();
}

static void a_new_template_can_follow_an_old_one(void **s)
{
    (void)s;
    sandbox_free(box);
    open_box(false);
    assert_all_is_well();
}

int main(int argc, char **argv)
{
    sandbox_become_template(argc, argv);
    open_box(false);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_called_with_their_arguments),
        cmocka_unit_test(one_call_parses_and_judges),
        cmocka_unit_test(what_was_said_survives_the_child),
        cmocka_unit_test(exceptions_come_with_class_and_line),
        cmocka_unit_test(odd_results_are_told_apart),
        cmocka_unit_test(random_numbers_follow_the_seed),
        cmocka_unit_test(many_cells_leave_nothing_behind),
        cmocka_unit_test(a_new_template_can_follow_an_old_one),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sandbox_free(box);
    return failed;
}

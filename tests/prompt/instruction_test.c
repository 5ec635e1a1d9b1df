// SPDX-License-Identifier: GPL-3.0-or-later
// Cleaning instructions: the examples of few-shot specification 1.3 and texts whose outcome was
// computed with CPython's inspect.cleandoc.
#include "test.h"

#include "prompt/prompt.h"

static struct arena arena;

static str clean(str text)
{
    return instruction_normalise(text, &arena);
}

static void the_examples_of_the_specification_hold(void **s)
{
    (void)s;
    assert_str(clean(S("  Hello\n    world\n  there\n\n")), S("Hello\n  world\nthere"));
    assert_str(clean(S("\n\nA\nB\n")), S("A\nB"));
}

static void tabs_become_blanks_up_to_the_next_stop(void **s)
{
    (void)s;
    assert_str(clean(S("ab\tc")), S("ab      c"));
    assert_str(clean(S("12345678\tc")), S("12345678        c"));
    assert_str(clean(S("\xC3\xA9\tx\n\t\xC3\xA9")), S("\xC3\xA9       x\n\xC3\xA9"));
    assert_str(clean(S("A\n\tB\n        C\n\n\n")), S("A\nB\nC"));
    assert_str(clean(S("A\n  \tB\n      C")), S("A\n  B\nC"));
    assert_str(clean(S("A\r\tB")), S("A\r        B"));
}

static void the_margin_of_later_lines_is_removed(void **s)
{
    (void)s;
    assert_str(clean(S("\tA\n\tB\n\t\tC")), S("A\nB\n        C"));
    assert_str(clean(S("A\n B\n\n   C\n     ")), S("A\nB\n\n  C\n    "));
    assert_str(clean(S("A\n    \n  B\n")), S("A\n  \nB")); // a blank line has no say, and is cut
    assert_str(clean(S("A\n   ")), S("A\n   "));           // no line has a margin
    assert_str(clean(S("  \n  \nA")), S("  \nA"));         // blank is not empty
}

static void white_space_is_that_of_unicode(void **s)
{
    (void)s;
    assert_str(clean(S("ab\n\xC2\xA0\xE2\x80\x83x\n\xC2\xA0\xE2\x80\x83y")), S("ab\nx\ny"));
    assert_str(clean(S("\xE3\x80\x80"
                       "A\n\xE3\x80\x80\xE3\x80\x80"
                       "B\n\xE3\x80\x80"
                       "C")),
               S("A\n\xE3\x80\x80"
                 "B\nC"));
    assert_str(clean(S("\x1C"
                       "A\n\x1F B\n\x1F"
                       "C")),
               S("A\n B\nC"));
}

static void carriage_returns_stay(void **s)
{
    (void)s;
    assert_str(clean(S("A\r\n  B\r\n    C\r\n")), S("A\r\nB\r\n  C\r"));
}

static void an_empty_text_stays_empty(void **s)
{
    (void)s;
    assert_str(clean(S("")), S(""));
    assert_str(clean(S(" \t ")), S(""));
    assert_str(clean(S("\n\n")), S(""));
}

static void invalid_utf8_is_replaced(void **s)
{
    (void)s;
    assert_str(clean(S("a\xFF\tb")), S("a\xEF\xBF\xBD      b"));
}

static void cleaning_twice_changes_nothing(void **s)
{
    (void)s;
    static const char *const texts[] = { "  Hello\n    world\n  there\n\n", "A\n    \n  B\n",
                                         "\tA\n\tB\n\t\tC", "A\r\n  B\r\n    C\r\n" };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        str once = clean(str_from(texts[i]));
        assert_str(clean(once), once);
    }
}

static int teardown(void **s)
{
    (void)s;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_the_specification_hold),
        cmocka_unit_test(tabs_become_blanks_up_to_the_next_stop),
        cmocka_unit_test(the_margin_of_later_lines_is_removed),
        cmocka_unit_test(white_space_is_that_of_unicode),
        cmocka_unit_test(carriage_returns_stay),
        cmocka_unit_test(an_empty_text_stays_empty),
        cmocka_unit_test(invalid_utf8_is_replaced),
        cmocka_unit_test(cleaning_twice_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Reading the new instruction out of a prompt model's reply: the table of the GEPA and SIMBA
// specification, 7.6, and what models really send.
#include "test.h"

#include "optimize/gepa.h"

#define F "```"

static void expect(const char *reply, enum gepa_extract how, const char *want)
{
    str out;
    const char *why = gepa_extract(str_from(reply), how, &out);
    if (!want) {
        assert_non_null(why);
        return;
    }
    if (why)
        fail_msg("no text in \"%s\": %s", reply, why);
    assert_str(out, str_from(want));
}

// NULL: no proposal.
static const struct {
    const char *reply, *lenient, *strict, *complete;
} cases[] = {
    { "Here it is.\n" F "\nX y\n" F "\nDone.", "X y", "X y", "X y" },
    { F "markdown\nX\n" F, "X", "X", "X" },
    { F "plaintext\r\nX y\r\n" F, "X y", "X y", "X y" },
    { F "\nA\n" F "\nand\n" F "\nB\n" F, "A\n" F "\nand\n" F "\nB", "A\n" F "\nand\n" F "\nB",
      "B" },
    { "abc", "abc", NULL, "abc" },
    { "  abc def \n", "abc def", NULL, "abc def" },
    { F "\nfirst\nand more", "first\nand more", NULL, NULL },
    { F "markdown\nfirst\nand more", "first\nand more", NULL, NULL },
    { "Sure:\n" F "\nfirst", "Sure:\n" F "\nfirst", NULL, NULL },
    { "before\n" F, "before", NULL, "before" },
    { F "\n" F, "", NULL, NULL },
    { F F, "", NULL, NULL },
    { "", "", NULL, NULL },
    { " \n\t ", "", NULL, NULL },
    { F, "", NULL, NULL },
    // A prompt with an example in it.
    { F "\nAnswer so:\n" F "json\n{\"move\": \"e2e4\"}\n" F "\nNothing else.\n" F,
      "Answer so:\n" F "json\n{\"move\": \"e2e4\"}\n" F "\nNothing else.",
      "Answer so:\n" F "json\n{\"move\": \"e2e4\"}\n" F "\nNothing else.",
      "Answer so:\n" F "json\n{\"move\": \"e2e4\"}\n" F "\nNothing else." },
    // Four backticks: the rule of the reference knows only three.
    { "````\nAnswer so:\n" F "\ne2e4\n" F "\n````", "Answer so:\n" F "\ne2e4\n" F "\n`",
      "Answer so:\n" F "\ne2e4\n" F "\n`", "Answer so:\n" F "\ne2e4\n" F },
    // Unfinished thoughts.
    { "<think>The instructions should mention forks. Let me",
      "<think>The instructions should mention forks. Let me", NULL, NULL },
    { "<think>Forks.</think>\n" F "\nX\n" F, "X", "X", "X" },
    { "<think>Forks.</think>\nX", "<think>Forks.</think>\nX", NULL, "X" },
    { "Use " F "one move" F " only.", "one move", "one move", "one move" },
};

static void every_reply_of_the_table_gives_its_text(void **s)
{
    (void)s;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        expect(cases[i].reply, GEPA_EXTRACT_LENIENT, cases[i].lenient);
        expect(cases[i].reply, GEPA_EXTRACT_STRICT, cases[i].strict);
        expect(cases[i].reply, GEPA_EXTRACT_COMPLETE, cases[i].complete);
    }
}

static void deep_nesting_does_no_harm(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct buf b = { .arena = &a };
    str out;
    for (int i = 0; i < 1000; i++)
        buf_add(&b, S(F "x\n"));
    for (int i = 0; i < 1000; i++)
        buf_add(&b, S(F "\n"));
    for (int how = GEPA_EXTRACT_LENIENT; how <= GEPA_EXTRACT_COMPLETE; how++)
        gepa_extract(buf_str(&b), (enum gepa_extract)how, &out);
    arena_free(&a);
}

// Every cut of a reply gives a text or a reason, and never reads beyond it.
static void a_reply_cut_anywhere_is_read_without_harm(void **s)
{
    (void)s;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t n = 0; n <= strlen(cases[i].reply); n++)
            for (int how = GEPA_EXTRACT_LENIENT; how <= GEPA_EXTRACT_COMPLETE; how++) {
                char *copy = malloc(n ? n : 1); // no NUL behind it
                str out;
                memcpy(copy, cases[i].reply, n);
                const char *why = gepa_extract((str){ copy, n }, (enum gepa_extract)how, &out);
                assert_true(out.len <= n);
                assert_true(how != GEPA_EXTRACT_LENIENT || !why);
                free(copy);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reply_of_the_table_gives_its_text),
        cmocka_unit_test(deep_nesting_does_no_harm),
        cmocka_unit_test(a_reply_cut_anywhere_is_read_without_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

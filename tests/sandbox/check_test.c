// SPDX-License-Identifier: GPL-3.0-or-later
// The static check: what must be accepted, what single rules say, and how integers of the contract
// are read (Meta-Harness specification 2.1, 2.2, 3.2, 3.6).
#include "sandboxed.h"

static void innocent_sources_are_accepted(void **s)
{
    (void)s;
    static const char *const good[] = {
        "def f(x):\n    if (n := len(x)) > 3:\n        return n\n    return 0",
        "def f(x):\n    def g(y):\n        return y + 1\n    return g(x)",
        "X = sorted([3, 1], key=lambda v: -v)",
        "X = '%s' % 3",
        "X = '{} {x:>3}'.format(1, x=2)",
        "X = 'never call .format here'",
        "X = 'text with __class__ and import os'",
        "_UCI = re.compile('[a-h][1-8]')\ndef _helper(x):\n    return _UCI.findall(x)",
        "import re as _re\nX = _re.escape('.')",
        "list = [1, 2]\nX = list[0]",
        "try:\n    X = int('x')\nexcept (TypeError, ValueError) as exc:\n    X = 0",
        "def f(a: str, b: 'int' = 3) -> Optional[str]:\n    return a\nx: Dict[str, re.Match] = {}",
        "from __future__ import annotations",
        "from collections import Counter, deque\nfrom itertools import chain, islice\n"
        "X = list(islice(chain([1], [2]), 1)) + Counter('aab').most_common(1)",
        "X = [1, 2, 3][::-1][1:]\nY = 1 if X else 2",
        "'''A docstring.'''\ndef f():\n    '''Another.'''\n    assert True, 'why'\n    return None",
        "import statistics\nX = statistics.mean([1, 2])",
        "def f(*args, **kwargs):\n    return [*args, {**kwargs}]",
        "X = random.choice([1, 2])",
        "for i in range(3):\n    pass\nelse:\n    X = i\ndel i",
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct examination e = examined(arena_printf(&a, "%s\n%s", good[i], REQUIRED), &a);
        if (e.verdict != VERDICT_PASS)
            fail_msg("%s\n%.*s", good[i], STR(findings_text(&e, &a)));
    }
    arena_free(&a);
}

static void assert_rule(const char *source, const char *rule)
{
    struct arena a = { 0 };
    struct examination e = examined(str_from(source), &a);
    if (!violations_have(&e.findings, str_from(rule)))
        fail_msg("%s\nno %s in: %.*s", source, rule, STR(findings_text(&e, &a)));
    assert_int_equal(e.verdict, rule[0] == 'W' ? VERDICT_PASS : VERDICT_REJECT);
    arena_free(&a);
}

static void rules_name_what_is_wrong(void **s)
{
    (void)s;
    assert_rule("", "S60");
    assert_rule("propose_action = lambda b: ''\n"
                "def is_legal_action(b, a):\n    return True\n",
                "S60");
    assert_rule("def propose_action():\n    return ''\n"
                "def is_legal_action(b, a):\n    return True\n",
                "S61");
    assert_rule("def propose_action(b):\n    return ''\n"
                "def is_legal_action(b, a, *, c):\n    return True\n",
                "S61");
    assert_rule(REQUIRED "def format_observation(observation):\n    return observation\n", "S61");
    assert_rule(REQUIRED "def format_observation(observation, turn_count, side_to_move, "
                         "last_opponent_move, max_turns):\n    return observation\n",
                "W-kwargs");
    assert_rule("# coding: raw_unicode_escape\n" REQUIRED, "S02");
    assert_rule(REQUIRED "x = (\n", "S03");
    assert_rule(REQUIRED "x = 9223372036854775808\n", "S05");
    assert_rule(REQUIRED "x = 1j\n", "S05");
    assert_rule(REQUIRED "x = undefined_name\n", "S31");
    assert_rule(REQUIRED "import typing\n", "S20");
    assert_rule(REQUIRED "x = 'a' @ 'b'\n", "S10");
    assert_rule(REQUIRED "x = '{:99999}'.format(1)\n", "S50");
    assert_rule(REQUIRED "MAX_TURNS = 1e999\n", "S70");
    assert_rule(REQUIRED "MAX_TURNS = '12'\n", "W-int-type");
    assert_rule(REQUIRED "USER_PROMPT = 'no place'\n", "W-no-observation");
    assert_rule(REQUIRED "x = 'a\u202eb'\n", "W-bidi");
    assert_rule(REQUIRED "x = 1 // 0\n", "load_error");
    assert_rule(REQUIRED "while True:\n    pass\n", "load_timeout");
}

static void faults_are_sorted_and_name_their_place(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct examination e = examined(S(REQUIRED "import os\nx = eval\n"), &a);
    assert_int_equal(e.findings.n, 2);
    assert_str(e.findings.v[0].rule, S("S20"));
    assert_int_equal(e.findings.v[0].line, 5);
    assert_str(e.findings.v[1].rule, S("S30"));
    assert_int_equal(e.findings.v[1].line, 6);
    assert_int_equal(e.findings.v[1].col, 5);
    arena_free(&a);
}

static void integers_are_read_as_the_table_says(void **s)
{
    (void)s;
    static const struct {
        const char *value;
        int64_t turns; // as requested, at least 1; the cap belongs to the rollout
    } turns[] = {
        { "9", 9 },   { "0", 1 },    { "-3", 1 },    { "18", 18 }, { "19", 19 },  { "99", 99 },
        { "7.9", 7 }, { "True", 1 }, { "'12'", 12 }, { "'x'", 9 }, { "None", 9 },
    };
    static const struct {
        const char *value;
        int64_t retries;
    } retries[] = { { "-1", 0 },  { "0", 0 },   { "3", 3 }, { "10", 10 },
                    { "11", 10 }, { "'2'", 2 }, { "[]", 1 } };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(turns); i++) {
        str source = arena_printf(&a, "%sMAX_TURNS = %s\n", REQUIRED, turns[i].value);
        assert_int_equal(examined(source, &a).contract.max_turns, turns[i].turns);
    }
    for (size_t i = 0; i < ARRAY_LEN(retries); i++) {
        str source = arena_printf(&a, "%sFORMAT_RETRY_BUDGET = %s\n", REQUIRED, retries[i].value);
        assert_int_equal(examined(source, &a).contract.format_retries, retries[i].retries);
    }
    arena_free(&a);
}

static void the_contract_tells_prompts_and_functions(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct harness_contract c = examined(S(REQUIRED "SYSTEM_PROMPT = 'SYS'\nUSER_PROMPT = 5\n"
                                                    "parse_action = lambda r: r\n"),
                                         &a)
                                    .contract;
    assert_str(c.system, S("SYS"));
    assert_str(c.user, harness_default_user);
    assert_true(c.parses && !c.formats && !c.has_turns);
    assert_int_equal(c.format_retries, 1);
    assert_int_equal(c.illegal_retries, 1);
    arena_free(&a);
}

// Bytes of a good source replaced, removed, doubled: whatever comes out is judged, and nothing
// crashes that should not.
static void mutated_sources_are_judged(void **s)
{
    (void)s;
    static const char alphabet[] = "()[]{}:,.=+-*/%@!'\"\\\n\t #_abcdefx0123456789\xc3\xa9";
    struct arena a = { 0 };
    struct err err = { 0 };
    struct rng g;
    str base;
    assert_true(candidate_read(S("builtin:h0"), &a, &base, &err));
    rng_seed(&g, 11, S("mutations"));
    for (int i = 0; i < 1000; i++) {
        struct arena scratch = { 0 };
        struct buf b = { .arena = &scratch };
        size_t from = rng_below(&g, base.len), cut = rng_below(&g, 12);
        buf_add(&b, str_sub(base, 0, from));
        for (uint64_t n = rng_below(&g, 6); n > 0; n--)
            buf_add_char(&b, alphabet[rng_below(&g, sizeof alphabet - 1)]);
        buf_add(&b, str_sub(base, from + cut, base.len));
        struct examination e = examined(buf_str(&b), &scratch);
        assert_true(e.verdict == VERDICT_PASS || e.findings.n > 0);
        assert_false(violations_have(&e.findings, S("load_fault")));
        arena_free(&scratch);
    }
    assert_all_is_well();
    arena_free(&a);
}

// A formatter that returns what it is given needs no call.
static void a_formatter_that_changes_nothing_is_known(void **s)
{
    (void)s;
    static const struct {
        const char *source;
        bool formats;
    } rows[] = {
        { "def format_observation(o, **k):\n    return o\n", false },
        { "def format_observation(o, **k):\n    \"\"\"As it is.\"\"\"\n    return o\n", false },
        { "def format_observation(o, **k):\n    return o + ''\n", true },
        { "def format_observation(o, **k):\n    return k\n", true },
        { "def format_observation(o, p='', **k):\n    return o\n", true },
        { "def format_observation(o, turn_count=0, side_to_move=0, last_opponent_move=0, "
          "max_turns=0):\n    return o\n",
          true },
        { "def format_observation(o, **k):\n    return o\nformat_observation = str.upper\n", true },
        { "def format_observation(o, **k):\n    return o\n"
          "for format_observation in [str.upper]:\n    pass\n",
          true },
        { "def format_observation(o, **k):\n    return o\n"
          "def format_observation(o, **k):\n    return o + ' '\n",
          true },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct examination e = examined(arena_printf(&a, "%s%s", REQUIRED, rows[i].source), &a);
        if (e.verdict != VERDICT_PASS || e.contract.formats != rows[i].formats)
            fail_msg("%s: %.*s", rows[i].source, STR(findings_text(&e, &a)));
    }
    arena_free(&a);
}

int main(int argc, char **argv)
{
    sandbox_become_template(argc, argv);
    open_box(false);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(innocent_sources_are_accepted),
        cmocka_unit_test(rules_name_what_is_wrong),
        cmocka_unit_test(faults_are_sorted_and_name_their_place),
        cmocka_unit_test(integers_are_read_as_the_table_says),
        cmocka_unit_test(the_contract_tells_prompts_and_functions),
        cmocka_unit_test(mutated_sources_are_judged),
        cmocka_unit_test(a_formatter_that_changes_nothing_is_known),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sandbox_free(box);
    return failed;
}

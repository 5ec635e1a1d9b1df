// SPDX-License-Identifier: GPL-3.0-or-later
// The twenty resource bombs of the specification: accepted by the check, held by the process. Each
// ends as a fault or as an ordinary exception, in time, and nothing else notices.
#include "sandboxed.h"

enum wanted { DEADLINE = 1, ERROR = 2, DIES = 4, VALUE = 8 };
struct bomb {
    const char *id, *body;
    unsigned wanted;
    const char *says; // exception or value; NULL: any
};

static const struct bomb bombs[] = {
    { "B01", "while True: pass", DEADLINE, NULL },
    { "B02", "return str(len(repr(pow(7, 10**8))))", DEADLINE, NULL },
    { "B03", "x = 1 << 10**11", ERROR | DIES, "MemoryError" },
    { "B04", "return 'a' * 10**11", ERROR, "MemoryError" },
    { "B05", "x = [0] * 10**10", ERROR, "MemoryError" },
    { "B06", "return f'{1:>{10**10}}'", ERROR, NULL },
    { "B07", "re.fullmatch('(a+)+b', 'a' * 40)", DEADLINE, NULL },
    { "B08", "x = list(itertools.product(range(1000), repeat=4))", ERROR | DIES | DEADLINE, NULL },
    { "B09", "return str(sum(range(10**10)))", DEADLINE, NULL },
    { "B10", "return str(10**200000)", ERROR, "ValueError" },
    { "B11", "(lambda f: f(f))(lambda f: f(f))", ERROR, "RecursionError" },
    { "B12", "x = iter([1])\n    for i in range(200000): x = map(str, x)\n    return next(x)",
      DIES | ERROR | DEADLINE, NULL },
    { "B13",
      "x = iter([1])\n    for i in range(500000): x = itertools.chain(x)\n    return str(next(x))",
      DIES | ERROR | DEADLINE, NULL },
    { "B14", "return 'a' * 300000000", ERROR | DIES, NULL },
    { "B14b", "return 'a' * 100000000", ERROR | DIES, NULL },
    { "B15", "for i in range(1000000): print('{\"v\":1,\"id\":7,\"ok\":true}')\n    return 'e2e4'",
      VALUE, "e2e4" },
    { "B16", "return '\\x1b[2J\\x1b]0;x\\x07__no_move__'", VALUE, "[2J]0;x__no_move__" },
};

// Under the address sanitizer there is no limit of memory, and its own allocator ends the process
// where Python would raise MemoryError: any end then does.
#ifdef __SANITIZE_ADDRESS__
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

static bool is_wanted(const struct bomb *b, const struct cell *c, enum cell_state state,
                      const struct harness_result *r)
{
    if (IS_SANITIZED && state == CELL_FAULT)
        return cell_end(c) != CELL_WALL;
    if (state == CELL_FAULT)
        return (b->wanted & DEADLINE && cell_end(c) == CELL_DEADLINE) ||
               (b->wanted & DIES && cell_end(c) != CELL_DEADLINE && cell_end(c) != CELL_WALL);
    if (!r->ok)
        return b->wanted & ERROR && (!b->says || str_eq(r->error_class, str_from(b->says)));
    return b->wanted & VALUE && str_eq(r->text, str_from(b->says));
}

static void every_bomb_is_held(void **s)
{
    (void)s;
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(bombs); i++) {
        const struct bomb *b = &bombs[i];
        struct harness_result r = { 0 };
        str source = arena_printf(&a, "import itertools\n%sdef parse_action(response):\n    %s\n",
                                  REQUIRED, b->body);
        struct examination e = examined(source, &a);
        if (e.verdict != VERDICT_PASS)
            fail_msg("%s is not accepted: %.*s", b->id, STR(findings_text(&e, &a)));
        struct cell *c = loaded(source, &a);
        int64_t begun = clock_mono_ms();
        enum cell_state state = parse_with(c, S("e2e4"), &a, &r);
        if (!is_wanted(b, c, state, &r))
            fail_msg("%s: %.*s %.*s \"%.*s\"", b->id, STR(cell_end_text(c, &a)), STR(r.error_class),
                     STR(str_sub(r.text, 0, 100)));
        assert_true(clock_mono_ms() - begun < CELL_WALL_MS);
        cell_free(c);
    }
    assert_all_is_well();
    arena_free(&a);
}

static void nothing_outlives_a_cell(void **s) // B17
{
    (void)s;
    struct arena a = { 0 };
    struct harness_result r;
    for (int rollout = 0; rollout < 2; rollout++) {
        struct cell *c = loaded(S("d = {}\n" REQUIRED "def parse_action(response):\n"
                                  "    n = len(d.setdefault('n', []))\n    d['n'].append(1)\n"
                                  "    return str(n)\n"),
                                &a);
        assert_int_equal(parse_with(c, S(""), &a, &r), CELL_ANSWERED);
        assert_str(r.text, S("0"));
        assert_int_equal(parse_with(c, S(""), &a, &r), CELL_ANSWERED);
        assert_str(r.text, S("1")); // within a rollout state is kept
        cell_free(c);
    }
    arena_free(&a);
}

static str repeated(str head, str what, size_t times, struct arena *a)
{
    struct buf b = { .arena = a };
    buf_add(&b, head);
    for (size_t i = 0; i < times; i++)
        buf_add(&b, what);
    return buf_str(&b);
}

static void assert_rejected(str source, const char *one, const char *other, struct arena *a)
{
    struct examination e = examined(source, a);
    assert_int_equal(e.verdict, VERDICT_REJECT);
    if (!violations_have(&e.findings, str_from(one)) &&
        !violations_have(&e.findings, str_from(other)))
        fail_msg("%.*s", STR(findings_text(&e, a)));
}

static void hostile_sources_are_rejected_without_a_crash(void **s) // B18, B19
{
    (void)s;
    struct arena a = { 0 };
    str parens = repeated(S("x = "), S("("), 5000, &a);
    assert_rejected(repeated(parens, S(")"), 5000, &a), "S03", "S04", &a);
    assert_rejected(repeated(S("x = "), S("-"), 200000, &a), "S03", "S04", &a);
    assert_rejected(repeated(S("x = 1"), S("+1"), 200000, &a), "S03", "S04", &a);
    // The same within the limits of size and line: then it is the parser that has to bear it.
    assert_rejected(repeated(S("x = (\n"), S("-\n"), 1900, &a), "S03", "S04", &a);
    assert_rejected(repeated(S("x = (1\n"), S("+1+1+1+1+1+1+1+1+1+1\n"), 1900, &a), "S03", "S04",
                    &a);
    assert_rejected(repeated(S("x = "), S("(\n"), 1900, &a), "S03", "S04", &a);
    assert_rejected(repeated(S("x = "), S("[[[[[[[[[[[[[[[[[[[[\n"), 1900, &a), "S03", "S04", &a);
    assert_rejected(repeated(S("#"), S("x\n"), 35000, &a), "S01", "S01", &a);
    assert_rejected(repeated(S("#"), S("x"), 5000, &a), "S04", "S04", &a);
    struct buf ifs = { .arena = &a };
    for (int i = 0; i < 99; i++)
        buf_addf(&ifs, "%*sif 1:\n", i, "");
    buf_addf(&ifs, "%*spass\n", 99, "");
    assert_rejected(buf_str(&ifs), "S04", "S04", &a);
    assert_all_is_well();
    arena_free(&a);
}

static void a_life_has_ten_seconds(void **s) // B20
{
    (void)s;
    struct arena a = { 0 };
    struct harness_result r;
    struct cell *c = loaded(S(REQUIRED "def parse_action(response):\n"
                                       "    return str(sum(1 for _ in range(4 * 10**6)))\n"),
                            &a);
    int calls = 0;
    enum cell_state state;
    // Each call below its own limit, were it not for the sum.
    while ((state = parse_with(c, S(""), &a, &r)) == CELL_ANSWERED && calls < 1000)
        calls++;
    assert_int_equal(state, CELL_FAULT);
    assert_true(cell_end(c) == CELL_SIGNAL || cell_end(c) == CELL_DEADLINE);
    cell_free(c);
    arena_free(&a);
}

int main(int argc, char **argv)
{
    sandbox_become_template(argc, argv);
    open_box(false);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bomb_is_held),
        cmocka_unit_test(nothing_outlives_a_cell),
        cmocka_unit_test(hostile_sources_are_rejected_without_a_crash),
        cmocka_unit_test(a_life_has_ten_seconds),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sandbox_free(box);
    return failed;
}

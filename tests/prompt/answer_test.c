// SPDX-License-Identifier: GPL-3.0-or-later
// Reading answers: every row of the table of few-shot specification 1.10, then each sentence of its
// algorithm, hostile texts, and answers that models really wrote.
#include <time.h>

#include "test.h"

#include "prompt/prompt.h"

static struct arena arena;

// The move of an answer, or the error in brackets.
static str move_of(str text)
{
    str move;
    enum read_error e = answer_read(&signature_choose_move, text, &arena, &move);
    return e == READ_OK ? move : arena_printf(&arena, "(%.*s)", STR(read_error_text(e)));
}

struct row {
    const char *text, *outcome;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        str got = move_of(str_from(rows[i].text));
        if (!str_eq(got, str_from(rows[i].outcome)))
            fail_msg("%s\n  gives \"%.*s\", not \"%s\"", rows[i].text, STR(got), rows[i].outcome);
    }
}

#define NOT_AN_OBJECT "(not a JSON object)"
#define MISSING "(missing field)"
#define EMPTY "(empty)"

static void every_row_of_the_table_holds(void **s)
{
    (void)s;
    static const struct row rows[] = {
        { "{\"move\": \"h5f7\"}", "h5f7" },
        { "{\n  \"move\": \"h5f7\"\n}\n", "h5f7" },
        { "```json\n{\"move\": \"h5f7\"}\n```", "h5f7" },
        { "```\n{\n  \"move\": \"h5f7\"\n}\n```\n", "h5f7" },
        { "Here is my answer: {\"move\": \"h5f7\"} hope it helps", "h5f7" },
        { "{move: h5f7}", "h5f7" },
        { "{'move': 'h5f7'}", "h5f7" },
        { "{\"move\": h5f7}", "h5f7" },
        { "{\"move\": \"h5f7\"", "h5f7" },
        { "{\"move\": \"h5f7", "h5f7" },
        { "{\"move\": \"Qxf7#\", }", "Qxf7#" },
        { "{\"move\":\"h5f7\",\"analysis\":\"x\"}", "h5f7" },
        { "{\"move\": \"a\", \"move\": \"b\"}", "b" },
        { "[{\"move\":\"a\"},{\"move\":\"b\"}]", "a" },
        { "{\"move\": \"h5f7\"} {\"note\": \"x\"}", "h5f7" },
        { "text {a} then {\"move\": \"h5f7\"}", "h5f7" },
        { "// c\n{\"move\": \"h5f7\"}", "h5f7" },
        { "{\"move\":\"\\u0051xf7#\"}", "Qxf7#" },
        { "{\"move\": \"x\", \"reason\": \"he said \"ok\"\"}", "x" },
        { "{\"move\": 5}", "5" },
        { "{\"move\": true}", "True" },
        { "{\"move\": null}", "None" },
        { "{\"move\": [\"h5f7\",\"c4f7\"]}", "[\"h5f7\",\"c4f7\"]" },
        { "{\"move\": \"\"}", "" },
        { "{\"Move\": \"h5f7\"}", MISSING },
        { "{}", MISSING },
        { "{\"analysis\":\"x\"}", MISSING },
        { "{\"properties\": {\"move\": \"h5f7\"}}", MISSING },
        { "h5f7", NOT_AN_OBJECT },
        { "\"h5f7\"", NOT_AN_OBJECT },
        { "[\"h5f7\"]", NOT_AN_OBJECT },
        { "move: h5f7", NOT_AN_OBJECT },
        { "The move is **h5f7**", NOT_AN_OBJECT },
        { "", EMPTY },
        { " \n\t ", EMPTY },
        { "{\"move\": \"a\"}{\"move\": \"b\"}", "a" },
        { "<think>{\"x\":1}</think>{\"move\":\"h5f7\"}", "h5f7" },
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void white_space_and_a_byte_order_mark_are_trimmed(void **s)
{
    (void)s;
    static const struct row rows[] = {
        { "\xEF\xBB\xBF{\"move\": \"h5f7\"}", "h5f7" },
        { "\xC2\xA0\xE3\x80\x80 {\"move\": \"h5f7\"}\xE2\x80\xA8", "h5f7" },
        { "\xC2\xA0\xE3\x80\x80", EMPTY },
        { "\xEF\xBB\xBF", EMPTY },
        { "\xEF\xBB\xBF[{\"move\":\"a\"}]\xC2\xA0", "a" },
        { "{\xC2\xA0move\xC2\xA0:\xC2\xA0h5f7\xC2\xA0}", "h5f7" },
        { "{\"move\": \" h5f7 \"}", " h5f7 " },
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void a_strict_value_that_is_no_object_is_not_searched(void **s)
{
    (void)s;
    static const struct row rows[] = {
        { "\"{\\\"move\\\": \\\"h5f7\\\"}\"", NOT_AN_OBJECT },
        { "[\"{move: h5f7}\"]", NOT_AN_OBJECT },
        { "[[{\"move\": \"h5f7\"}]]", NOT_AN_OBJECT },
        { "[]", NOT_AN_OBJECT },
        { "5", NOT_AN_OBJECT },
        { "null", NOT_AN_OBJECT },
        { "NaN", NOT_AN_OBJECT },
        { "[[{\"move\": \"a\"}], 7, {\"move\": 1e2}, {\"move\": \"c\"}]", "1e2" },
        { "[{\"x\": 1}, {\"move\": \"a\"}]", MISSING }, // the first object decides
        { "[{\"x\": 1}, {\"move\": \"a\"},]", "a" },    // not strict: the scan
        { "\"\" {\"move\": \"h5f7\"}", "h5f7" },
        { "[1] {\"move\": \"h5f7\"}", "h5f7" },
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void values_are_texts(void **s)
{
    (void)s;
    static const struct row rows[] = {
        { "{\"move\": NaN}", "NaN" },
        { "{\"move\": False}", "False" },
        { "{\"move\": -1.50e+3}", "-1.50e+3" },
        { "{\"move\": 99999999999999999999999}", "99999999999999999999999" },
        { "{\"move\": {\"uci\": \"h5f7\", \"n\": 1.0}}", "{\"uci\":\"h5f7\",\"n\":1.0}" },
        { "{\"move\": [ ]}", "[]" },
        { "{\"move\": \"\\ud83d\"}", "\xEF\xBF\xBD" },
        { "{\"move\": \"h5\xFF\"}", "h5\xEF\xBF\xBD" },
        { "{\"move\": \"Final move: h5f7\"}", "Final move: h5f7" },
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void the_first_object_with_all_fields_is_taken(void **s)
{
    (void)s;
    static const struct row rows[] = {
        { "{\"a\": 1} {\"b\": 2}", MISSING },
        { "{a} {b}", NOT_AN_OBJECT },
        { "{a} {\"b\": 2} {c}", MISSING },
        { "{\"x\": {\"move\": \"a\"}} {\"move\": \"b\"}", "b" }, // not inside an accepted one
        { "{plan: {\"move\": \"a\"} is best}", "a" },            // inside a refused one
        { "{I think: {\"move\": \"a\"} is best}", "a" },
        { "See [1] and {the plan}: {\"move\":\"Nf3\",\"note\":\"a } inside\"} Refs: [2].", "Nf3" },
        { "\\frac{a}{b} so {\"move\": \"h5f7\"}", "h5f7" },
        { "{\"mov", MISSING },
        { "{\"move\":", MISSING },
        { "{{\"move\": \"h5f7\"}}", "h5f7" },
        { "{\"move\": \"h5f7\" and more", "h5f7\" and more" },
        { "{\"move\": \"h5f7\"} {\"move\": \"c4", "h5f7" },
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void several_fields_are_all_needed(void **s)
{
    (void)s;
    str v[2];
    const struct signature *both = &signature_choose_move_analysis;
    assert_int_equal(
        answer_read(both, S("{\"move\": \"h5f7\", \"analysis\": \"a fork\"}"), &arena, v), READ_OK);
    assert_str(v[0], S("a fork"));
    assert_str(v[1], S("h5f7"));
    assert_int_equal(answer_read(both, S("{\"move\": \"h5f7\"}"), &arena, v), READ_MISSING_FIELD);
    assert_int_equal(answer_read(both, S("{\"analysis\": \"long\", \"mov"), &arena, v),
                     READ_MISSING_FIELD);
    assert_int_equal(
        answer_read(both, S("{\"move\": \"a\"} {\"analysis\": \"\", \"move\": \"b\"}"), &arena, v),
        READ_OK);
    assert_str(v[1], S("b"));
}

static void texts_outlive_the_answer(void **s)
{
    (void)s;
    char text[] = "{\"move\": \"h5f7\"}";
    str move;
    assert_int_equal(answer_read(&signature_choose_move, str_from(text), &arena, &move), READ_OK);
    memset(text, 'x', sizeof text);
    assert_str(move, S("h5f7"));
}

static str repeated(str start, str piece, str end)
{
    struct buf b = { .arena = &arena };
    buf_add(&b, start);
    while (b.len < 1 << 20)
        buf_add(&b, piece);
    buf_add(&b, end);
    return buf_str(&b);
}

// In the last ones every `{` is an attempt that fails only at the end of the text.
static void hostile_answers_cost_bounded_time(void **s)
{
    (void)s;
    static const struct {
        const char *start, *piece, *end;
    } texts[] = {
        { "", "{", "" },
        { "", "{a", "" },
        { "", "{\"", "" },
        { "", "\"", "" },
        { "", "{\"a\":", "" },
        { "", "{\"a\":[", "" },
        { "", "[", "" },
        { "", "[{", "" },
        { "[", "{\"a\":1},", "1]" },
        { "", "{ ", "" },
        { "", "{//", "" },
        { "", "{\"a\":1}", "" },
        { "", "{k:\"", "\":" },
        { "", "{k:\"x\",", "" },
        { "", "{a:1\n", "" },
        { "{a:b", "{a:b", ",a:1,!" },
        { "{a:", "{a:b{a:b,a:1,a:1,a:1", ",!" },
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        str text =
            repeated(str_from(texts[i].start), str_from(texts[i].piece), str_from(texts[i].end));
        clock_t begun = clock();
        str move;
        (void)answer_read(&signature_choose_move, text, &arena, &move);
        double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
        if (seconds > 10)
            fail_msg("%s... took %.1f s", texts[i].piece, seconds);
        arena_reset(&arena);
    }
}

static void an_honest_answer_is_found_behind_much_tex(void **s)
{
    (void)s;
    str text = repeated(S("So "), S("\\frac{a:b}{\\sqrt{\"c\"}} "), S("\n{\"move\": \"h5f7\"}"));
    assert_str(move_of(text), S("h5f7"));
}

// ---- what models wrote ----

struct tally {
    int n, of[READ_MISSING_FIELD + 1];
};

// Reads one real text: sane means that a value is valid UTF-8 no longer than the text and its
// replacement characters, and that an object was seen exactly where there is a brace.
static void read_one(const json_t *row, const char *member, struct tally *t)
{
    str text = json_get_str(row, member);
    str move = { 0 };
    enum read_error e = answer_read(&signature_choose_move, text, &arena, &move);
    t->n++;
    t->of[e]++;
    assert_int_equal(e == READ_EMPTY, json_trim(text).len == 0);
    if (e == READ_OK || e == READ_MISSING_FIELD)
        assert_true(str_find_char(text, '{') >= 0);
    if (e == READ_OK)
        assert_true(utf8_valid(move) && move.len <= 3 * text.len);
    arena_reset(&arena);
}

static struct tally read_file(const char *name, const char *member)
{
    struct tally t = { 0 };
    struct arena text = { 0 };
    str lines = read_gz(shared_path(str_from(name), &text), &text);
    json_t *row;
    while ((row = next_row(&lines))) {
        read_one(row, member, &t);
        json_decref(row);
    }
    arena_free(&text);
    print_message("%s: %d texts, %d with a move, %d objects without, %d empty\n", name, t.n,
                  t.of[READ_OK], t.of[READ_MISSING_FIELD], t.of[READ_EMPTY]);
    return t;
}

static void real_answers_are_read(void **s)
{
    (void)s;
    assert_int_equal(read_file("data/llm/raw_answers.jsonl.gz", "raw").n, 3310);
}

static void real_prose_is_read(void **s)
{
    (void)s;
    assert_int_equal(read_file("data/llm/prose_answers_no_fen.jsonl.gz", "raw").n, 288);
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
        cmocka_unit_test(every_row_of_the_table_holds),
        cmocka_unit_test(white_space_and_a_byte_order_mark_are_trimmed),
        cmocka_unit_test(a_strict_value_that_is_no_object_is_not_searched),
        cmocka_unit_test(values_are_texts),
        cmocka_unit_test(the_first_object_with_all_fields_is_taken),
        cmocka_unit_test(several_fields_are_all_needed),
        cmocka_unit_test(texts_outlive_the_answer),
        cmocka_unit_test(hostile_answers_cost_bounded_time),
        cmocka_unit_test(an_honest_answer_is_found_behind_much_tex),
        cmocka_unit_test(real_answers_are_read),
        cmocka_unit_test(real_prose_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

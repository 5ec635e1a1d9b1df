// SPDX-License-Identifier: GPL-3.0-or-later
// Texts, numbers and JSON writing of module base.
#include <locale.h>

#include "test.h"

static struct arena arena;

static str number(double value)
{
    struct buf b = { .arena = &arena };
    buf_add_double(&b, value);
    return buf_str(&b);
}

static void numbers_are_written_as_python_does(void **s)
{
    (void)s;
    assert_str(number(0.1), S("0.1"));
    assert_str(number(1), S("1.0"));
    assert_str(number(-2.5), S("-2.5"));
    assert_str(number(0), S("0.0"));
    assert_str(number(1e16), S("1e+16"));
    assert_str(number(1e15), S("1000000000000000.0"));
    assert_str(number(0.0001), S("0.0001"));
    assert_str(number(0.00001), S("1e-05"));
    assert_str(number(2.0 / 3), S("0.6666666666666666"));
    assert_str(number(123456.789), S("123456.789"));
    assert_str(number(5e-324), S("5e-324"));
}

static void numbers_do_not_follow_the_locale(void **s)
{
    (void)s;
    double back = 0;
    setlocale(LC_ALL, "de_DE.UTF-8"); // where it is not installed the C locale stays: no harm
    assert_true(str_to_double(S("2.5e-3"), &back) && back == 0.0025);
    assert_str(number(0.7), S("0.7"));
    assert_false(str_to_double(S("0,5"), &back));
    setlocale(LC_ALL, "C");
}

static void integers_are_whole_and_in_range(void **s)
{
    (void)s;
    int64_t v = 7;
    assert_true(str_to_int(S("-12"), -20, 20, &v) && v == -12);
    assert_false(str_to_int(S("12 "), 0, 20, &v));
    assert_false(str_to_int(S("21"), 0, 20, &v));
    assert_false(str_to_int(S(""), 0, 20, &v));
    assert_false(str_to_int(S("-"), 0, 20, &v));
    assert_false(str_to_int(S("99999999999999999999"), 0, INT64_MAX, &v));
}

static void invalid_utf8_is_found_and_replaced(void **s)
{
    (void)s;
    assert_true(utf8_valid(S("h\xC3\xA9 \xF0\x9F\x98\x80")));
    assert_false(utf8_valid(S("\xC0\xAF")));         // overlong
    assert_false(utf8_valid(S("\xED\xA0\x80")));     // surrogate
    assert_false(utf8_valid(S("\xF4\x90\x80\x80"))); // beyond U+10FFFF
    assert_false(utf8_valid(S("\xE2\x82")));         // cut
    assert_int_equal(utf8_length(S("a\xC3\xA9z")), 3);
    struct buf b = { .arena = &arena };
    buf_add_json(&b, S("a\xE1z\n\"\x01"));
    assert_str(buf_str(&b), S("\"a\xEF\xBF\xBDz\\n\\\"\\u0001\""));
}

static void json_is_laid_out_as_python_does(void **s)
{
    (void)s;
    struct buf b = { .arena = &arena };
    struct json_out o = { .b = &b, .indent = 2 };
    json_open(&o, '{');
    json_key(&o, S("a"));
    json_open(&o, '[');
    json_put_int(&o, 1);
    json_put_null(&o);
    json_close(&o, ']');
    json_key(&o, S("e"));
    json_open(&o, '{');
    json_close(&o, '}');
    json_close(&o, '}');
    assert_str(buf_str(&b), S("{\n  \"a\": [\n    1,\n    null\n  ],\n  \"e\": {}\n}"));
}

static void a_buffer_remembers_its_overflow(void **s)
{
    (void)s;
    struct buf b = { .arena = &arena, .max = 4 };
    buf_add(&b, S("abc"));
    buf_add(&b, S("de"));
    buf_add(&b, S("f"));
    assert_true(b.over);
    assert_str(buf_str(&b), S("abc"));
}

static void a_map_keeps_insertion_order(void **s)
{
    (void)s;
    struct map m = { .arena = &arena };
    for (int i = 0; i < 100; i++)
        map_put(&m, arena_printf(&arena, "k%d", i * 7 % 100), NULL)->number = i;
    assert_int_equal(m.n, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(m.v[i].number, i);
    assert_null(map_get(&m, S("k100")));
    assert_int_equal(map_get(&m, S("k7"))->number, 1);
}

static void sha256_is_the_standard_one(void **s)
{
    (void)s;
    assert_str(sha256_of(S("abc"), &arena),
               S("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
}

static void only_a_slip_is_guessed(void **s)
{
    (void)s;
    static const struct {
        const char *word, *name;
    } rows[] = {
        { "prset", "preset" },
        { "preset", "preset" },
        { "consurency", "concurrency" },
        { "copro", "" },
        { "xyz", "" },
        { "sed", "seed" },
        { "se", "" }, // as many letters are missing as it has
        { "", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct nearest n = { .word = str_from(rows[i].word) };
        nearest_offer(&n, S("preset"));
        nearest_offer(&n, S("concurrency"));
        nearest_offer(&n, S("seed"));
        assert_str(n.name, str_from(rows[i].name));
    }
}

static void foreign_text_is_shown_short_and_plain(void **s)
{
    (void)s;
    static const struct {
        const char *text;
        size_t max;
        const char *shown;
    } rows[] = {
        { "e2e4", 16, "e2e4" },
        { "e2e4", 4, "e2e4" },
        { "e2e4", 3, "e2e..." },
        { "a\x1b[31m\x7f\n", 16, "a?[31m??" },
        { "caf\xC3\xA9", 16, "caf\xC3\xA9" },
        { "caf\xC3\xA9", 4, "caf..." },
        { "\xFF\xFE", 16, "??" },
        { "\xC2\x85", 16, "?" },
        { "", 16, "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(str_show(str_from(rows[i].text), rows[i].max).text, rows[i].shown);
    char text[300];
    memset(text, 'x', sizeof text);
    assert_int_equal(strlen(str_show((str){ text, sizeof text }, sizeof text).text),
                     SHOWN_MAX_BYTES + 3);
}

static void a_byte_order_mark_is_dropped_once(void **s)
{
    (void)s;
    assert_str(str_without_bom(S("\xEF\xBB\xBFx")), S("x"));
    assert_str(str_without_bom(S("\xEF\xBB\xBF\xEF\xBB\xBF")), S("\xEF\xBB\xBF"));
    assert_str(str_without_bom(S("\xEF\xBBx")), S("\xEF\xBBx"));
    assert_str(str_strip_start(S(" \t\xC2\xA0x ")), S("x "));
    assert_int_equal(str_line(S("a\nb\nc"), 0), 1);
    assert_int_equal(str_line(S("a\nb\nc"), 2), 2);
    assert_int_equal(str_line(S("a\nb\nc"), 99), 3);
}

static void keys_are_written_with_their_values(void **s)
{
    (void)s;
    struct buf b = { .arena = &arena };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("a"), S("x"));
    json_key_str(&o, S("b"), S(""));
    json_key_maybe(&o, S("c"), S(""));
    json_key_maybe(&o, S("d"), S("y"));
    json_key_int(&o, S("e"), -3);
    json_key_double(&o, S("f"), 1);
    json_key_bool(&o, S("g"), false);
    json_key_open(&o, S("h"), '[');
    json_close(&o, ']');
    json_close(&o, '}');
    assert_str(buf_str(&b), S("{\"a\":\"x\",\"b\":\"\",\"c\":null,\"d\":\"y\",\"e\":-3,\"f\":1.0,"
                              "\"g\":false,\"h\":[]}"));
}

static void a_directory_is_no_file(void **s)
{
    (void)s;
    struct err err = { 0 };
    str text;
    assert_false(file_read(S("/tmp"), 100, &arena, &text, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_non_null(strstr(err.text, "directory"));
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
        cmocka_unit_test(numbers_are_written_as_python_does),
        cmocka_unit_test(numbers_do_not_follow_the_locale),
        cmocka_unit_test(integers_are_whole_and_in_range),
        cmocka_unit_test(invalid_utf8_is_found_and_replaced),
        cmocka_unit_test(json_is_laid_out_as_python_does),
        cmocka_unit_test(a_buffer_remembers_its_overflow),
        cmocka_unit_test(a_map_keeps_insertion_order),
        cmocka_unit_test(sha256_is_the_standard_one),
        cmocka_unit_test(only_a_slip_is_guessed),
        cmocka_unit_test(foreign_text_is_shown_short_and_plain),
        cmocka_unit_test(a_byte_order_mark_is_dropped_once),
        cmocka_unit_test(keys_are_written_with_their_values),
        cmocka_unit_test(a_directory_is_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

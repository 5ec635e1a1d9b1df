// SPDX-License-Identifier: GPL-3.0-or-later
// YAML as the safe loader reads it: types of scalars, merge keys, tags, and the refusals.
#include <math.h>

#include "test.h"
#include "config/config.h"

static struct arena arena;

static struct yaml_node parsed(str text)
{
    struct yaml_node root = { 0 };
    struct err err = { 0 };
    if (!yaml_parse(S("f.yaml"), text, &arena, &root, &err))
        fail_msg("%.*s\n%s", STR(text), err.text);
    return root;
}

static void refused(str text, str message)
{
    struct yaml_node root = { 0 };
    struct err err = { 0 };
    assert_false(yaml_parse(S("f.yaml"), text, &arena, &root, &err));
    assert_str(str_from(err.text), message);
    assert_int_equal(err.code, ERR_INPUT);
}

// The document as compact JSON.
static str json_of(str text)
{
    struct yaml_node root = parsed(text);
    struct err err = { 0 };
    json_t *json;
    struct buf b = { .arena = &arena };
    struct json_out o = { .b = &b };
    if (!yaml_to_json(&root, S("f.yaml"), &json, &err))
        return arena_str(&arena, str_from(err.text));
    json_put_value(&o, json);
    json_decref(json);
    return buf_str(&b);
}

// What PyYAML 6.0.3's safe_load gives for each text.
static const struct {
    const char *text;
    enum yaml_kind kind;
    bool boolean;
    int64_t integer;
    double real;
} scalars[] = {
    { .text = "yes", .kind = YAML_BOOL, .boolean = true },
    { .text = "Yes", .kind = YAML_BOOL, .boolean = true },
    { .text = "YES", .kind = YAML_BOOL, .boolean = true },
    { .text = "yEs", .kind = YAML_STR },
    { .text = "no", .kind = YAML_BOOL, .boolean = false },
    { .text = "No", .kind = YAML_BOOL, .boolean = false },
    { .text = "NO", .kind = YAML_BOOL, .boolean = false },
    { .text = "nO", .kind = YAML_STR },
    { .text = "on", .kind = YAML_BOOL, .boolean = true },
    { .text = "On", .kind = YAML_BOOL, .boolean = true },
    { .text = "ON", .kind = YAML_BOOL, .boolean = true },
    { .text = "oN", .kind = YAML_STR },
    { .text = "off", .kind = YAML_BOOL, .boolean = false },
    { .text = "Off", .kind = YAML_BOOL, .boolean = false },
    { .text = "OFF", .kind = YAML_BOOL, .boolean = false },
    { .text = "y", .kind = YAML_STR },
    { .text = "Y", .kind = YAML_STR },
    { .text = "n", .kind = YAML_STR },
    { .text = "N", .kind = YAML_STR },
    { .text = "true", .kind = YAML_BOOL, .boolean = true },
    { .text = "True", .kind = YAML_BOOL, .boolean = true },
    { .text = "TRUE", .kind = YAML_BOOL, .boolean = true },
    { .text = "tRUE", .kind = YAML_STR },
    { .text = "false", .kind = YAML_BOOL, .boolean = false },
    { .text = "False", .kind = YAML_BOOL, .boolean = false },
    { .text = "FALSE", .kind = YAML_BOOL, .boolean = false },
    { .text = "null", .kind = YAML_NULL },
    { .text = "Null", .kind = YAML_NULL },
    { .text = "NULL", .kind = YAML_NULL },
    { .text = "nULL", .kind = YAML_STR },
    { .text = "~", .kind = YAML_NULL },
    { .text = "0", .kind = YAML_INT, .integer = 0 },
    { .text = "00", .kind = YAML_INT, .integer = 0 },
    { .text = "007", .kind = YAML_INT, .integer = 7 },
    { .text = "08", .kind = YAML_STR },
    { .text = "0_7", .kind = YAML_INT, .integer = 7 },
    { .text = "010", .kind = YAML_INT, .integer = 8 },
    { .text = "+0", .kind = YAML_INT, .integer = 0 },
    { .text = "-0", .kind = YAML_INT, .integer = 0 },
    { .text = "1", .kind = YAML_INT, .integer = 1 },
    { .text = "+12", .kind = YAML_INT, .integer = 12 },
    { .text = "-12", .kind = YAML_INT, .integer = -12 },
    { .text = "1_000", .kind = YAML_INT, .integer = 1000 },
    { .text = "1_", .kind = YAML_INT, .integer = 1 },
    { .text = "_1", .kind = YAML_STR },
    { .text = "0b101", .kind = YAML_INT, .integer = 5 },
    { .text = "0b_1", .kind = YAML_INT, .integer = 1 },
    { .text = "-0b11", .kind = YAML_INT, .integer = -3 },
    { .text = "0b2", .kind = YAML_STR },
    { .text = "0x1F", .kind = YAML_INT, .integer = 31 },
    { .text = "0xff", .kind = YAML_INT, .integer = 255 },
    { .text = "-0x_a", .kind = YAML_INT, .integer = -10 },
    { .text = "0xg", .kind = YAML_STR },
    { .text = "0o7", .kind = YAML_STR },
    { .text = "1:30", .kind = YAML_INT, .integer = 90 },
    { .text = "-1:30", .kind = YAML_INT, .integer = -90 },
    { .text = "1:60", .kind = YAML_STR },
    { .text = "1:5:7", .kind = YAML_INT, .integer = 3907 },
    { .text = "190:20:30", .kind = YAML_INT, .integer = 685230 },
    { .text = "9223372036854775807", .kind = YAML_INT, .integer = 9223372036854775807 },
    { .text = "-9223372036854775808", .kind = YAML_INT, .integer = INT64_MIN },
    { .text = "1.", .kind = YAML_FLOAT, .real = 1.0 },
    { .text = "1.5", .kind = YAML_FLOAT, .real = 1.5 },
    { .text = "-1.5", .kind = YAML_FLOAT, .real = -1.5 },
    { .text = "+1.5", .kind = YAML_FLOAT, .real = 1.5 },
    { .text = "01.5", .kind = YAML_FLOAT, .real = 1.5 },
    { .text = "1_0.5", .kind = YAML_FLOAT, .real = 10.5 },
    { .text = "1._5", .kind = YAML_FLOAT, .real = 1.5 },
    { .text = ".5", .kind = YAML_FLOAT, .real = 0.5 },
    { .text = "-.5", .kind = YAML_STR },
    { .text = "+.5", .kind = YAML_STR },
    { .text = "._5", .kind = YAML_STR },
    { .text = ".5_", .kind = YAML_FLOAT, .real = 0.5 },
    { .text = "1e3", .kind = YAML_STR },
    { .text = "1E3", .kind = YAML_STR },
    { .text = "1.0e3", .kind = YAML_STR },
    { .text = "1.0e+3", .kind = YAML_FLOAT, .real = 1000.0 },
    { .text = "1.e-3", .kind = YAML_FLOAT, .real = 0.001 },
    { .text = "1.5E+2", .kind = YAML_FLOAT, .real = 150.0 },
    { .text = ".5e-1", .kind = YAML_FLOAT, .real = 0.05 },
    { .text = ".5e1", .kind = YAML_STR },
    { .text = "-1.0e-3", .kind = YAML_FLOAT, .real = -0.001 },
    { .text = "190:20:30.15", .kind = YAML_FLOAT, .real = 685230.15 },
    { .text = "1:30.", .kind = YAML_FLOAT, .real = 90.0 },
    { .text = "-1:30.5", .kind = YAML_FLOAT, .real = -90.5 },
    { .text = "1:60.5", .kind = YAML_STR },
    { .text = "1:5.", .kind = YAML_FLOAT, .real = 65.0 },
    { .text = ".inf", .kind = YAML_FLOAT, .real = HUGE_VAL },
    { .text = ".Inf", .kind = YAML_FLOAT, .real = HUGE_VAL },
    { .text = ".INF", .kind = YAML_FLOAT, .real = HUGE_VAL },
    { .text = "-.inf", .kind = YAML_FLOAT, .real = -HUGE_VAL },
    { .text = "+.INF", .kind = YAML_FLOAT, .real = HUGE_VAL },
    { .text = ".iNF", .kind = YAML_STR },
    { .text = ".nan", .kind = YAML_FLOAT, .real = (double)NAN },
    { .text = ".NaN", .kind = YAML_FLOAT, .real = (double)NAN },
    { .text = ".NAN", .kind = YAML_FLOAT, .real = (double)NAN },
    { .text = "-.nan", .kind = YAML_STR },
    { .text = "inf", .kind = YAML_STR },
    { .text = "nan", .kind = YAML_STR },
    { .text = "2001-01-01", .kind = YAML_TIMESTAMP },
    { .text = "2001-1-1", .kind = YAML_STR },
    { .text = "2001-01-1", .kind = YAML_STR },
    { .text = "2001-01-01T01:02:03", .kind = YAML_TIMESTAMP },
    { .text = "2001-1-1t1:02:03Z", .kind = YAML_TIMESTAMP },
    { .text = "2001-12-14T21:59:43.10-05:00", .kind = YAML_TIMESTAMP },
    { .text = "2001-12-14T21:59:43.+5", .kind = YAML_TIMESTAMP },
    { .text = "2001-12-14T2:5:4", .kind = YAML_STR },
    { .text = "2001-12-14T21:59", .kind = YAML_STR },
    { .text = "12001-01-01", .kind = YAML_STR },
    { .text = "1.2.3", .kind = YAML_STR },
    { .text = "0.5.1", .kind = YAML_STR },
    { .text = "--", .kind = YAML_STR },
    { .text = "+-", .kind = YAML_STR },
    { .text = ".", .kind = YAML_STR },
    { .text = "..", .kind = YAML_STR },
    { .text = "1,5", .kind = YAML_STR },
    { .text = "1e+3", .kind = YAML_STR },
    { .text = "12e03", .kind = YAML_STR },
    { .text = "0.0", .kind = YAML_FLOAT, .real = 0.0 },
    { .text = "00.0", .kind = YAML_FLOAT, .real = 0.0 },
    { .text = "-0.0", .kind = YAML_FLOAT, .real = -0.0 },
    { .text = "1-2", .kind = YAML_STR },
    { .text = "a1", .kind = YAML_STR },
    { .text = "<>", .kind = YAML_STR },
    { .text = "2001-12-14 21:59:43", .kind = YAML_TIMESTAMP },
    { .text = "2001-12-14  21:59:43 Z", .kind = YAML_TIMESTAMP },
    { .text = "1 2", .kind = YAML_STR },
};

static bool same_real(double a, double b)
{
    return isnan(b) ? isnan(a) : a == b && signbit(a) == signbit(b);
}

static void plain_scalars_have_the_types_of_the_safe_loader(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(scalars); i++) {
        struct yaml_node n = parsed(str_from(scalars[i].text));
        if (n.kind != scalars[i].kind || n.boolean != scalars[i].boolean ||
            n.integer != scalars[i].integer ||
            (n.kind == YAML_FLOAT && !same_real(n.real, scalars[i].real)))
            fail_msg("%s: kind %d, integer %lld, real %.17g", scalars[i].text, (int)n.kind,
                     (long long)n.integer, n.real);
        assert_str(n.text, str_from(scalars[i].text));
    }
}

static void an_integer_is_a_real_too(void **state)
{
    (void)state;
    assert_true(parsed(S("0x10")).real == 16);
}

static void empty_values_are_null(void **state)
{
    (void)state;
    assert_int_equal(parsed(S("---\n...\n")).kind, YAML_NULL);
    assert_str(json_of(S("a:\nb: \nc: ''\n")), S("{\"a\":null,\"b\":null,\"c\":\"\"}"));
}

static void quoted_and_block_scalars_are_texts(void **state)
{
    (void)state;
    assert_str(json_of(S("['1', \"yes\", 'null', \"2001-01-01\", '<<', '=']")),
               S("[\"1\",\"yes\",\"null\",\"2001-01-01\",\"<<\",\"=\"]"));
    assert_str(json_of(S("a: |\n  12\nb: >-\n  x\n  y\n")), S("{\"a\":\"12\\n\",\"b\":\"x y\"}"));
    assert_str(json_of(S("\"\\u00e9\\x41\"")), S("\"\xC3\xA9"
                                                 "A\""));
}

static void explicit_tags_of_the_safe_loader_hold(void **state)
{
    (void)state;
    assert_str(json_of(S("[!!str 12, !!int '12', !!int 0x1f, !!float 3, !!float 1e3, !!bool yEs,"
                         " !!null x, ! '12', !!str , !!seq [1], !!map {a: 1}]")),
               S("[\"12\",12,31,3.0,1000.0,true,null,12,\"\",[1],{\"a\":1}]"));
    assert_int_equal(parsed(S("!!timestamp 2001-01-01")).kind, YAML_TIMESTAMP);
}

static void other_tags_are_refused_with_their_line(void **state)
{
    (void)state;
    refused(S("a: 1\nb: !!python/object:os.system x\n"),
            S("f.yaml:2: the tag !!python/object:os.system has no value here: remove it"));
    refused(S("a: !mine 1"), S("f.yaml:1: the tag !mine is not allowed: remove it"));
    refused(S("a: !<tag:example.com,2000:x> 1"),
            S("f.yaml:1: the tag tag:example.com,2000:x is not allowed: remove it"));
    refused(S("%TAG !! tag:example.com,2000:\n---\n!!int 1"),
            S("f.yaml:3: the tag tag:example.com,2000:int is not allowed: remove it"));
    refused(S("!!binary aGk="), S("f.yaml:1: the tag !!binary has no value here: remove it"));
    refused(S("!!set {a, b}"), S("f.yaml:1: the tag !!set cannot stand here: remove it"));
    refused(S("!!omap [a: 1]"), S("f.yaml:1: the tag !!omap cannot stand here: remove it"));
    refused(S("!!map [1]"), S("f.yaml:1: the tag !!map cannot stand here: remove it"));
    refused(S("!!str [1]"), S("f.yaml:1: the tag !!str cannot stand here: remove it"));
    refused(S("!!seq x"), S("f.yaml:1: the tag !!seq has no value here: remove it"));
    refused(S("!!int abc"), S("f.yaml:1: \"abc\" is no value of the tag !!int"));
    refused(S("!!int 08"), S("f.yaml:1: \"08\" is no value of the tag !!int"));
    refused(S("!!bool maybe"), S("f.yaml:1: \"maybe\" is no value of the tag !!bool"));
    refused(S("!!float 0x1"), S("f.yaml:1: \"0x1\" is no value of the tag !!float"));
    refused(S("!!float abc"), S("f.yaml:1: \"abc\" is no value of the tag !!float"));
}

static void numbers_beyond_64_bits_are_refused(void **state)
{
    (void)state;
    refused(S("\n- 9223372036854775808"),
            S("f.yaml:2: the integer 9223372036854775808 does not fit in 64 bits"));
    refused(S("-0x8000000000000001"),
            S("f.yaml:1: the integer -0x8000000000000001 does not fit in 64 bits"));
    refused(S("0b_"), S("f.yaml:1: the integer 0b_ does not fit in 64 bits"));
    assert_true(isinf(parsed(S("1.0e+999")).real));
    refused(S("0.1111111111111111111111111111111111111111111111111111111111111111111"),
            S("f.yaml:1: a number of more than 63 characters"));
}

static void merge_keys_work_as_in_the_safe_loader(void **state)
{
    (void)state;
    str base = S("- &a {x: 1, y: 2}\n- &b {y: 3, z: 4}\n");
    static const struct {
        const char *entry, *want;
    } rows[] = {
        { "- {<<: *a, y: 9}", "{\"x\":1,\"y\":9}" },
        { "- {y: 9, <<: *a}", "{\"x\":1,\"y\":9}" }, // merged keys come first, own ones win
        { "- {<<: [*a, *b]}", "{\"y\":2,\"z\":4,\"x\":1}" },
        { "- {<<: *a, <<: *b}", "{\"x\":1,\"y\":3,\"z\":4}" },
        { "- {'<<': 1}", "{\"<<\":1}" },
        { "- {<<: {<<: *a, w: 0}, k: 1}", "{\"x\":1,\"y\":2,\"w\":0,\"k\":1}" },
        { "- {=: 1}", "{\"=\":1}" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        str text = arena_printf(&arena, "%.*s%s\n", STR(base), rows[i].entry);
        assert_str(json_of(text),
                   arena_printf(&arena, "[{\"x\":1,\"y\":2},{\"y\":3,\"z\":4},%s]", rows[i].want));
    }
    refused(S("a:\n  <<: 1\n"),
            S("f.yaml:2: << takes a mapping or a list of mappings, got an integer"));
    refused(S("a:\n  <<: [{b: 1}, x]\n"), S("f.yaml:2: << takes mappings, got a text"));
    refused(S("a: <<"), S("f.yaml:1: << alone is no value: put it in quotes"));
    refused(S("- ="), S("f.yaml:1: = alone is no value: put it in quotes"));
}

static void duplicate_keys_are_refused_with_both_lines(void **state)
{
    (void)state;
    refused(S("seed: 1\nmethod: gepa\nseed: 2\n"),
            S("f.yaml:3: the key 'seed' stands twice, first on line 1"));
    refused(S("a: {b: 1, 'b': 2}"), S("f.yaml:1: the key 'b' stands twice, first on line 1"));
}

static void keys_must_be_texts(void **state)
{
    (void)state;
    refused(S("a: 1\non: 2\n"),
            S("f.yaml:2: the key on is a boolean in YAML 1.1: put it in quotes"));
    refused(S("12: 2"), S("f.yaml:1: the key 12 is an integer in YAML 1.1: put it in quotes"));
    refused(S("? [a]\n: 1\n"), S("f.yaml:1: a key must be a text, got a list"));
    refused(S("? {a: 1}\n: 1\n"), S("f.yaml:1: a key must be a text, got a mapping"));
    assert_str(json_of(S("{'on': 1, y: 2}")), S("{\"on\":1,\"y\":2}"));
}

static void aliases_share_and_know_their_lines(void **state)
{
    (void)state;
    struct yaml_node root = parsed(S("a: &x [1, 2]\n\nb: *x\nc: &y k\n*y : 1\n"));
    assert_int_equal(yaml_get(&root, S("b"))->line, 3);
    assert_int_equal(yaml_get(&root, S("b"))->items[1].integer, 2);
    assert_int_equal(yaml_get(&root, S("k"))->integer, 1);
    assert_null(yaml_get(&root, S("none")));
    refused(S("a: *nobody"), S("f.yaml:1: there is no anchor &nobody before this alias"));
    refused(S("a: &x\n  b: *x\n"), S("f.yaml:2: the alias *x stands inside what it names"));
    refused(S("- &x [*x]"), S("f.yaml:1: the alias *x stands inside what it names"));
    refused(S("- &x 1\n- &x 2\n"), S("f.yaml:2: the anchor &x is there twice, first on line 1"));
}

static void a_billion_laughs_are_refused(void **state)
{
    (void)state;
    struct buf b = { .arena = &arena };
    buf_add(&b, S("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"));
    for (int i = 1; i < 10; i++) {
        buf_addf(&b, "a%d: &a%d [", i, i);
        for (int j = 0; j < 10; j++)
            buf_addf(&b, "%s*a%d", j ? ", " : "", i - 1);
        buf_add(&b, S("]\n"));
    }
    refused(buf_str(&b), S("f.yaml:5: more than 100000 values, aliases followed: write them out, "
                           "fewer"));
    struct buf merge = { .arena = &arena };
    buf_add(&merge, S("a0: &a0 {k: 1}\n"));
    for (int i = 1; i < 30; i++)
        buf_addf(&merge, "a%d: &a%d {<<: [*a%d, *a%d], k%d: 1}\n", i, i, i - 1, i - 1, i);
    struct yaml_node root = { 0 };
    struct err err = { 0 };
    assert_false(yaml_parse(S("m.yaml"), buf_str(&merge), &arena, &root, &err));
    assert_non_null(strstr(err.text, "more than 100000 values"));
}

static str nested(int depth, const char *open, const char *close)
{
    struct buf b = { .arena = &arena };
    for (int i = 0; i < depth; i++)
        buf_addf(&b, "%s", open);
    for (int i = 0; i < depth; i++)
        buf_addf(&b, "%s", close);
    return buf_str(&b);
}

static void nesting_is_limited(void **state)
{
    (void)state;
    assert_int_equal(parsed(nested(32, "[", "]")).kind, YAML_LIST);
    refused(nested(33, "[", "]"), S("f.yaml:1: nested more than 32 deep"));
    refused(nested(33, "{a: ", "}"), S("f.yaml:1: nested more than 32 deep"));
    refused(nested(50000, "[", ""), S("f.yaml:1: nested more than 32 deep"));
    refused(nested(20000, "- ", ""), S("f.yaml:1: nested more than 32 deep"));
}

static void a_file_over_1_mib_is_refused(void **state)
{
    (void)state;
    char *data = arena_alloc(&arena, YAML_MAX_BYTES + 1);
    memset(data, '#', YAML_MAX_BYTES + 1);
    struct yaml_node root = { 0 };
    struct err err = { 0 };
    str text = { data, YAML_MAX_BYTES + 1 };
    assert_false(yaml_parse(S("f.yaml"), text, &arena, &root, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_string_equal(err.text, "f.yaml: larger than the 1048576 bytes allowed here");
}

static void odd_files_are_read_or_refused_in_words(void **state)
{
    (void)state;
    assert_str(json_of(S("\xEF\xBB\xBF"
                         "a: 1\n")),
               S("{\"a\":1}"));
    assert_str(json_of(S("a: 1\r\nb:\r\n- x\r\n")), S("{\"a\":1,\"b\":[\"x\"]}"));
    assert_str(json_of(S("a: 1 # comment\n")), S("{\"a\":1}"));
    assert_str(json_of(S("%YAML 1.1\n---\na: 1\n...\n")), S("{\"a\":1}"));
    refused((str){ 0 }, S("f.yaml: there is nothing in this file"));
    refused(S(""), S("f.yaml: there is nothing in this file"));
    refused(S("# only a comment\n"), S("f.yaml: there is nothing in this file"));
    refused(S("a: 1\n---\nb: 2\n"),
            S("f.yaml:2: a second document begins here: keep one in a file"));
    refused(S("a:\n\tb: 1\n"), S("f.yaml:2: the line begins with a tab: indent with blanks"));
    refused(S("a: 1\nb: \xE9\n"),
            S("f.yaml:2: the byte 0xe9 is not UTF-8: save the file as UTF-8"));
    refused(S("\xFF\xFE"
              "a\0:\0"),
            S("f.yaml:1: the byte 0xff is not UTF-8: save the file as UTF-8"));
    refused(S("a: 1\nb: x\0y\n"), S("f.yaml:2: bad YAML: control characters are not allowed"));
    refused(S("a: [1, 2\nb: 3\n"), S("f.yaml:2: bad YAML: while parsing a flow sequence: did not "
                                     "find expected ',' or ']'"));
    refused(S("a: b: c\n"),
            S("f.yaml:1: bad YAML: mapping values are not allowed in this context"));
    refused(S("a: 'x"),
            S("f.yaml:1: bad YAML: while scanning a quoted scalar: found unexpected end "
              "of stream"));
    refused(S("a: 1\n b: 2\n"),
            S("f.yaml:2: bad YAML: mapping values are not allowed in this context"));
}

static void lines_are_counted_from_one(void **state)
{
    (void)state;
    struct yaml_node root = parsed(S("# c\na: 1\nb:\n  - x\n  - y\n"));
    assert_int_equal(root.line, 2);
    assert_int_equal(root.pairs[1].key_line, 3);
    assert_int_equal(root.pairs[1].value.items[1].line, 5);
}

static void json_refuses_what_it_does_not_have(void **state)
{
    (void)state;
    assert_str(json_of(S("a:\n- 1\n- .inf\n")),
               S("f.yaml:3: .inf is not a finite number, which JSON does not have: put it in "
                 "quotes"));
    assert_str(json_of(S("a: .nan")),
               S("f.yaml:1: .nan is not a finite number, which JSON does not "
                 "have: put it in quotes"));
    assert_str(json_of(S("a: 2026-12-01")), S("f.yaml:1: 2026-12-01 is a date in YAML 1.1, which "
                                              "JSON does not have: put it in quotes"));
    assert_str(json_of(S("[1, 1.0, -2.5e-7, true, ~, \"\\0\", {}, []]")),
               S("[1,1.0,-2.5e-07,true,null,\"\\u0000\",{},[]]"));
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_scalars_have_the_types_of_the_safe_loader),
        cmocka_unit_test(an_integer_is_a_real_too),
        cmocka_unit_test(empty_values_are_null),
        cmocka_unit_test(quoted_and_block_scalars_are_texts),
        cmocka_unit_test(explicit_tags_of_the_safe_loader_hold),
        cmocka_unit_test(other_tags_are_refused_with_their_line),
        cmocka_unit_test(numbers_beyond_64_bits_are_refused),
        cmocka_unit_test(merge_keys_work_as_in_the_safe_loader),
        cmocka_unit_test(duplicate_keys_are_refused_with_both_lines),
        cmocka_unit_test(keys_must_be_texts),
        cmocka_unit_test(aliases_share_and_know_their_lines),
        cmocka_unit_test(a_billion_laughs_are_refused),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(a_file_over_1_mib_is_refused),
        cmocka_unit_test(odd_files_are_read_or_refused_in_words),
        cmocka_unit_test(lines_are_counted_from_one),
        cmocka_unit_test(json_refuses_what_it_does_not_have),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

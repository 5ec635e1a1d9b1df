// SPDX-License-Identifier: GPL-3.0-or-later
// The lenient JSON reader: its grammar for answers sentence by sentence, and what is mended in
// envelopes. Vectors are written from the few-shot specification 1.10 and the endpoint
// specification section 2.
#include <time.h>

#include "test.h"

static struct arena arena;

// ---- answers ----

// The members as "key=text|key=text", or "refused".
static str read_part(str text, size_t *used)
{
    struct json_members m;
    if (!json_read_lenient(text, &arena, &m, used))
        return S("refused");
    struct buf b = { .arena = &arena };
    for (size_t i = 0; i < m.n; i++)
        buf_addf(&b, "%s%.*s=%.*s", i ? "|" : "", STR(m.v[i].key), STR(m.v[i].text));
    return buf_str(&b);
}

static str read_all(str text)
{
    size_t used;
    str members = read_part(text, &used);
    assert_true(used >= 1 && used <= (text.len ? text.len : 1));
    return members;
}

static void keys_may_be_quoted_either_way_or_bare(void **s)
{
    (void)s;
    assert_str(read_all(S("{\"a\": \"x\"}")), S("a=x"));
    assert_str(read_all(S("{'a': 'x'}")), S("a=x"));
    assert_str(read_all(S("{a: \"x\", b-1_c.d: 'y', $e: 'z', caf\xC3\xA9: 1}")),
               S("a=x|b-1_c.d=y|$e=z|caf\xC3\xA9=1"));
    assert_str(read_all(S("{a b: 1}")), S("refused"));
    assert_str(read_all(S("{a}")), S("refused"));
    assert_str(read_all(S("{*a*: 1}")), S("refused"));
    assert_str(read_all(S("{\"\": 1}")), S("=1"));
}

static void bare_values_run_to_a_comma_a_brace_or_the_line_end(void **s)
{
    (void)s;
    assert_str(read_all(S("{a: h5f7}")), S("a=h5f7"));
    assert_str(read_all(S("{a: Qxf7#, b: two words }")), S("a=Qxf7#|b=two words"));
    assert_str(read_all(S("{a: h5f7\n}")), S("a=h5f7"));
    assert_str(read_all(S("{a: h5f7\r\n, b: 1}")), S("a=h5f7|b=1"));
    assert_str(read_all(S("{a: h5f7\nb: 1}")), S("refused")); // a comma is still wanted
    assert_str(read_all(S("{a: \\boxed{h5f7}}")), S("a=\\boxed{h5f7"));
    assert_str(read_all(S("{a: [h5f7, c4f7]}")), S("a=[\"h5f7\",\"c4f7\"]"));
    assert_str(read_all(S("{a: x]}")), S("a=x]"));
    assert_str(read_all(S("{a: }")), S("a="));
    assert_str(read_all(S("{a: , b: 1}")), S("a=|b=1"));
}

static void words_and_numbers_keep_their_text(void **s)
{
    (void)s;
    assert_str(read_all(S("{a: true, b: false, c: null, d: True, e: False, f: None, g: NaN}")),
               S("a=True|b=False|c=None|d=True|e=False|f=None|g=NaN"));
    assert_str(
        read_all(S("{a: 5, b: -0.50, c: 1e2, d: 1E+400, e: 123456789012345678901234567890}")),
        S("a=5|b=-0.50|c=1e2|d=1E+400|e=123456789012345678901234567890"));
    assert_str(read_all(S("{a: 5 // five\n}")), S("a=5"));
    assert_str(read_all(S("{a: 05, b: +5, c: .5, d: 5., e: trueish, f: 1.e4, g: nULL}")),
               S("a=05|b=+5|c=.5|d=5.|e=trueish|f=1.e4|g=nULL"));
    assert_str(read_all(S("{a: 5 moves}")), S("a=5 moves"));
}

static void nested_values_become_compact_json(void **s)
{
    (void)s;
    assert_str(
        read_all(S("{\"a\": [ \"h5f7\" , 'c4f7', ], \"b\": { c : [1.50, None, True, NaN] } }")),
        S("a=[\"h5f7\",\"c4f7\"]|b={\"c\":[1.50,null,true,\"NaN\"]}"));
    assert_str(read_all(S("{a: {}, b: [], c: [[], {}]}")), S("a={}|b=[]|c=[[],{}]"));
    assert_str(read_all(S("{a: ['\"\\n\x01']}")), S("a=[\"\\\"\\n\\u0001\"]"));
    assert_str(read_all(S("{a: [1,,2]}")), S("refused"));
    assert_str(read_all(S("{a: [1}")), S("refused"));
}

static void trailing_commas_and_comments_are_passed(void **s)
{
    (void)s;
    assert_str(read_all(S("{a: 1, }")), S("a=1"));
    assert_str(read_all(S("{a: 1,, b: 2}")), S("refused"));
    assert_str(read_all(S("{, a: 1}")), S("refused"));
    assert_str(read_all(S("{ // one\n a # two\n : // three\n 'x' // four\n , # five\n}")),
               S("a=x"));
    assert_str(read_all(S("{a: 'x' / 'y'}")), S("refused"));
    assert_str(read_all(S("{a: 'http://x', b: '# no'}")), S("a=http://x|b=# no"));
    assert_str(read_all(S("{a: 'x' # to the end")), S("a=x"));
}

static void a_quote_closes_only_before_what_may_follow(void **s)
{
    (void)s;
    assert_str(read_all(S("{\"a\": \"he said \"ok\"\"}")), S("a=he said \"ok\""));
    assert_str(read_all(S("{'a': 'it's mate', 'b': 1}")), S("a=it's mate|b=1"));
    assert_str(read_all(S("{\"a\": \"x\"  \n }")), S("a=x"));
    assert_str(read_all(S("{\"a\": \"x\" # note\n}")), S("a=x"));
    assert_str(read_all(S("{\"a\": \"x\" // note\n}")), S("a=x"));
    assert_str(read_all(S("{\"a\": [\"x\" ]}")), S("a=[\"x\"]"));
    assert_str(read_all(S("{\"a\": \"x\"\xC2\xA0}")), S("a=x")); // blanks are Unicode's
    assert_str(read_all(S("{\"a\": \"x\";\"}")), S("a=x\";"));
    assert_str(read_all(S("{\"a\": \"say \"a\", then\"}")), S("refused"));
}

static void strings_may_hold_raw_lines_and_escapes(void **s)
{
    (void)s;
    assert_str(read_all(S("{\"a\": \"one\ntwo\tthree\"}")), S("a=one\ntwo\tthree"));
    assert_str(read_all(S("{\"a\": \"\\\"\\\\\\/\\n\\t\\r\\b\\f\\'\"}")), S("a=\"\\/\n\t\r\b\f'"));
    assert_str(read_all(S("{\"a\": \"\\u0051xf7\\u0023\"}")), S("a=Qxf7#"));
    assert_str(read_all(S("{\"a\": \"\\ud83d\\ude00\"}")), S("a=\xF0\x9F\x98\x80"));
    assert_str(read_all(S("{\"a\": \"\\ud83d \\ude00 \\ud83d\\u0041\"}")),
               S("a=\xEF\xBF\xBD \xEF\xBF\xBD \xEF\xBF\xBD"
                 "A"));
    assert_str(read_all(S("{\"a\": \"\\u0000\"}")), S("a=\xEF\xBF\xBD"));
    assert_str(read_all(S("{\"a\": \"\\(x\\) \\u12 \\uzz\"}")), S("a=\\(x\\) \\u12 \\uzz"));
    assert_str(read_all(S("{\"a\": \"b\xFFz\", \xE2\x82: 1}")),
               S("a=b\xEF\xBF\xBDz|\xEF\xBF\xBD=1"));
}

static void the_end_of_the_text_closes_what_is_open(void **s)
{
    (void)s;
    assert_str(read_all(S("{\"a\": \"h5f7\"")), S("a=h5f7"));
    assert_str(read_all(S("{\"a\": \"h5f7")), S("a=h5f7"));
    assert_str(read_all(S("{\"a\": 'x\\")), S("a=x"));
    assert_str(read_all(S("{\"a\": 'x\\u00")), S("a=x"));
    assert_str(read_all(S("{\"a\": h5f")), S("a=h5f"));
    assert_str(read_all(S("{\"a\": [1, [2, {\"b\": 3")), S("a=[1,[2,{\"b\":3}]]"));
    assert_str(read_all(S("{\"a\": 1,")), S("a=1"));
    assert_str(read_all(S("{")), S(""));
}

static void a_key_cut_off_is_dropped(void **s)
{
    (void)s;
    assert_str(read_all(S("{\"a\": 1, \"b")), S("a=1"));
    assert_str(read_all(S("{\"a\": 1, \"b\"")), S("a=1"));
    assert_str(read_all(S("{\"a\": 1, b")), S("a=1"));
    assert_str(read_all(S("{\"a\": 1, \"b\": ")), S("a=1"));
    assert_str(read_all(S("{\"a\": {\"b\": 1, \"c")), S("a={\"b\":1}"));
    assert_str(read_all(S("{\"a\": {\"b")), S("a={}"));
}

static void the_last_of_duplicate_keys_wins_at_the_place_of_the_first(void **s)
{
    (void)s;
    assert_str(read_all(S("{a: 1, b: 2, \"a\": 3}")), S("a=3|b=2"));
    assert_str(read_all(S("{a: {x: 1, x: [2], y: 3, 'x': 4}, b: 5, a: {z: 1, z: 2}}")),
               S("a={\"z\":2}|b=5"));
    assert_str(read_all(S("{a: [{x: 1, y: {q: 1, q: 2}, x: 3}]}")),
               S("a=[{\"x\":3,\"y\":{\"q\":2}}]"));
    assert_str(read_all(S("{\"A\": 1, \"a\": 2}")), S("A=1|a=2"));
}

static void only_the_object_is_used(void **s)
{
    (void)s;
    size_t used = 0;
    assert_str(read_part(S("{a: 1} tail {b: 2}"), &used), S("a=1"));
    assert_int_equal(used, 6);
    assert_str(read_part(S("{\"a\": \"x\" y"), &used), S("a=x\" y"));
    assert_int_equal(used, 11);
    assert_str(read_part(S("{a: 'x', {"), &used), S("refused"));
    assert_true(used >= 9);
}

static void of_an_array_the_first_object_is_read(void **s)
{
    (void)s;
    assert_str(read_all(S("[1, \"{b: 1}\", [{\"c\": 1}], {\"a\": 1e2}, {\"d\": 1}]")), S("a=1e2"));
    assert_str(read_all(S("[]")), S("refused"));
    assert_str(read_all(S("[1, 2]")), S("refused"));
}

static str repeated(str piece, size_t n, str end)
{
    struct buf b = { .arena = &arena };
    for (size_t i = 0; i < n; i++)
        buf_add(&b, piece);
    buf_add(&b, end);
    return buf_str(&b);
}

static void nesting_over_128_is_refused(void **s)
{
    (void)s;
    assert_str(str_sub(read_all(repeated(S("{a:"), 128, S("1"))), 0, 7), S("a={\"a\":"));
    assert_str(read_all(repeated(S("{a:"), 129, S("1"))), S("refused"));
    assert_str(read_all(repeated(S("[{a:"), 65, S("1"))), S("refused"));
    assert_str(
        str_sub(read_all(arena_printf(&arena, "{a:%.*s", STR(repeated(S("["), 127, S("1"))))), 0,
                5),
        S("a=[[["));
    assert_str(read_all(arena_printf(&arena, "{a:%.*s", STR(repeated(S("["), 128, S("1"))))),
               S("refused"));
}

// Hostile texts of a MiB: what matters is that each ends within seconds, under sanitizers too.
static void hostile_text_costs_linear_time(void **s)
{
    (void)s;
    static const struct {
        str start, piece;
    } texts[] = {
        { { "{a:", 3 }, { "[", 1 } },
        { { "{a:\"", 4 }, { "\"", 1 } },
        { { "{a:\"", 4 }, { "\" ", 2 } },
        { { "{a:\"", 4 }, { "\\", 1 } },
        { { "{a:\"", 4 }, { "\"            ", 13 } },
        { { "{a:1", 4 }, { ",a:1", 4 } },
        { { "{a:1", 4 }, { " #\n", 3 } },
        { { "{a:[1", 5 }, { ",{b:1,b:2}", 10 } },
        { { "{a:\"", 4 }, { "\xE2\x80\x83", 3 } },
        { { "{a:", 3 }, { "true ", 5 } },
        { { "{a:'", 4 }, { "\x01", 1 } },
        { { "{'", 2 }, { "','", 3 } },
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct buf b = { .arena = &arena };
        buf_add(&b, texts[i].start);
        while (b.len < 1 << 20)
            buf_add(&b, texts[i].piece);
        clock_t begun = clock();
        size_t used;
        struct json_members m;
        (void)json_read_lenient(buf_str(&b), &arena, &m, &used);
        assert_true(clock() - begun < 5 * CLOCKS_PER_SEC);
        arena_reset(&arena);
    }
}

// ---- white space ----

static void blanks_are_those_of_python(void **s)
{
    (void)s;
    // Every code point of which str.isspace() is true.
    static const uint32_t blanks[] = { 9,      10,     11,     12,     13,     28,
                                       29,     30,     31,     32,     0x85,   0xA0,
                                       0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004,
                                       0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200A,
                                       0x2028, 0x2029, 0x202F, 0x205F, 0x3000 };
    size_t next = 0;
    for (uint32_t code = 0; code < 0x110000; code++) {
        if (code >= 0xD800 && code < 0xE000)
            continue;
        char c[4];
        size_t n = utf8_encode(code, c);
        bool listed = next < ARRAY_LEN(blanks) && blanks[next] == code;
        next += listed;
        assert_int_equal(utf8_blank((str){ c, n }), listed ? n : 0);
    }
    assert_int_equal(next, ARRAY_LEN(blanks));
    assert_int_equal(utf8_blank(S("")), 0);
    assert_int_equal(utf8_blank(S("\x85")), 0); // a stray byte
    assert_str(json_trim(S("\n\xE2\x80\x83\xEF\xBB\xBF x y\xE3\x80\x80\x1F\xC2\xA0")), S("x y"));
    assert_str(json_trim(S(" \t\n")), S(""));
    assert_str(json_trim(S("\xA0x\xA0")), S("\xA0x\xA0"));
}

// ---- envelopes ----

// The envelope in compact form; "~" in front where something was mended, "!" and the sentence where
// it was refused.
static str envelope(str text)
{
    bool relaxed = false;
    struct err err = { 0 };
    json_t *value = json_read_envelope(text, &relaxed, &err);
    struct buf b = { .arena = &arena };
    if (value) {
        buf_add(&b, relaxed ? S("~") : S(""));
        json_put_value(&(struct json_out){ .b = &b }, value);
    } else {
        assert_int_equal(err.code, ERR_INPUT);
        buf_addf(&b, "!%s", err.text);
    }
    json_decref(value);
    return buf_str(&b);
}

#define assert_refused(text, reason)                                                               \
    do {                                                                                           \
        str got_ = envelope(text);                                                                 \
        if (got_.len == 0 || got_.data[0] != '!' || str_find(got_, reason) < 0)                    \
            fail_msg("got \"%.*s\"", STR(got_));                                                   \
    } while (0)

static void good_envelopes_are_not_mended(void **s)
{
    (void)s;
    assert_str(envelope(S(" {\"a\": [1, 2.5, \"x\", null, true]}\n")),
               S("{\"a\":[1,2.5,\"x\",null,true]}"));
    assert_str(envelope(S("{\"a\": 9007199254740993, \"a\": 2}")), S("{\"a\":2}"));
    assert_str(envelope(S("\"x\"")), S("\"x\""));
    assert_true(json_read_envelope(S("{"), NULL, NULL) == NULL);
}

static void odd_escapes_are_mended(void **s)
{
    (void)s;
    assert_str(envelope(S("{\"a\": \"ok \\ud83d end \\udc00\"}")),
               S("~{\"a\":\"ok \xEF\xBF\xBD end \xEF\xBF\xBD\"}"));
    assert_str(envelope(S("[\"\\ud83d\\ude00 \\ude00\"]")),
               S("~[\"\xF0\x9F\x98\x80 \xEF\xBF\xBD\"]"));
    assert_str(envelope(S("{\"\\u0000\": \"a\\u0000b\"}")), S("~{\"\xEF\xBF\xBD\":\"a\xEF\xBF\xBD"
                                                              "b\"}"));
    assert_str(envelope(S("[\"\\(x\\)\"]")), S("~[\"\\\\(x\\\\)\"]"));
}

static void numbers_that_do_not_fit_become_texts(void **s)
{
    (void)s;
    assert_str(envelope(S("[18446744073709551616, 1, 1e999, -9223372036854775809, 1.5]")),
               S("~[\"18446744073709551616\",1,\"1e999\",\"-9223372036854775809\",1.5]"));
    assert_str(envelope(S("[NaN, Infinity, -Infinity, 2]")), S("~[null,null,null,2]"));
}

static void bad_bytes_are_mended(void **s)
{
    (void)s;
    assert_str(envelope(S("{\"a\": \"x\xC3(\xED\xA0\x80\"}")),
               S("~{\"a\":\"x\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"}"));
    assert_str(envelope(S("[\"one\ntwo\x01\"]")), S("~[\"one\\ntwo\\u0001\"]"));
    assert_str(envelope(S("\xEF\xBB\xBF{\"a\": 1}")), S("~{\"a\":1}"));
    assert_str(envelope(S("[\"a\0b\0\"]")), S("~[\"a\xEF\xBF\xBD"
                                              "b\xEF\xBF\xBD\"]"));
}

static void nothing_else_is_mended(void **s)
{
    (void)s;
    assert_refused(S(""), S("ends too early"));
    assert_refused(S(" \n"), S("line 2"));
    assert_refused(S("{\"a\": \"x"), S("no end"));
    assert_refused(S("{\"a\": \"x\""), S("ends too early"));
    assert_refused(S("{\"a\": 1, \"b"), S("no end"));
    assert_refused(S("{\"a\""), S("colon"));
    assert_refused(S("[1, 2"), S("ends too early"));
    assert_refused(S("[1,\n2,\n"), S("line 3"));
    assert_refused(S("{\"a\": 1} x"), S("text behind"));
    assert_refused(S("{\"a\": 1}{\"a\": 1}"), S("text behind"));
    assert_refused(S("{\"a\": 1,}"), S("key"));
    assert_refused(S("[1,]"), S("no value"));
    assert_refused(S("{'a': 1}"), S("key"));
    assert_refused(S("{a: 1}"), S("key"));
    assert_refused(S("{\"a\": 'x'}"), S("no value"));
    assert_refused(S("{\"a\": x}"), S("no value"));
    assert_refused(S("[01]"), S("comma"));
    assert_refused(S("[1 2]"), S("comma"));
    assert_refused(S("[True]"), S("no value"));
    assert_refused(S("// c\n[1]"), S("no value"));
    assert_refused(S("\xC2\xA0[1]"), S("no value"));
    assert_refused(S("<html>"), S("no value"));
    assert_refused(S("[\"a\" \"b\"]"), S("comma"));
}

static void deep_envelopes_are_refused_whoever_reads_them(void **s)
{
    (void)s;
    str ok = arena_printf(&arena, "%.*s%.*s", STR(repeated(S("["), 128, S(""))),
                          STR(repeated(S("]"), 128, S(""))));
    assert_str(str_sub(envelope(ok), 0, 3), S("[[["));
    str deep = arena_printf(&arena, "[%.*s]", STR(ok));
    assert_refused(deep, S("nested too deep"));
    str bad = arena_printf(&arena, "[NaN,%.*s]", STR(ok));
    assert_refused(bad, S("nested too deep"));
    assert_str(str_sub(envelope(S("[\"[[[\\\"[[\"]")), 0, 2), S("[\""));
    assert_refused(repeated(S("["), 1 << 20, S("")), S("nested too deep"));
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
        cmocka_unit_test(keys_may_be_quoted_either_way_or_bare),
        cmocka_unit_test(bare_values_run_to_a_comma_a_brace_or_the_line_end),
        cmocka_unit_test(words_and_numbers_keep_their_text),
        cmocka_unit_test(nested_values_become_compact_json),
        cmocka_unit_test(trailing_commas_and_comments_are_passed),
        cmocka_unit_test(a_quote_closes_only_before_what_may_follow),
        cmocka_unit_test(strings_may_hold_raw_lines_and_escapes),
        cmocka_unit_test(the_end_of_the_text_closes_what_is_open),
        cmocka_unit_test(a_key_cut_off_is_dropped),
        cmocka_unit_test(the_last_of_duplicate_keys_wins_at_the_place_of_the_first),
        cmocka_unit_test(only_the_object_is_used),
        cmocka_unit_test(of_an_array_the_first_object_is_read),
        cmocka_unit_test(nesting_over_128_is_refused),
        cmocka_unit_test(hostile_text_costs_linear_time),
        cmocka_unit_test(blanks_are_those_of_python),
        cmocka_unit_test(good_envelopes_are_not_mended),
        cmocka_unit_test(odd_escapes_are_mended),
        cmocka_unit_test(numbers_that_do_not_fit_become_texts),
        cmocka_unit_test(bad_bytes_are_mended),
        cmocka_unit_test(nothing_else_is_mended),
        cmocka_unit_test(deep_envelopes_are_refused_whoever_reads_them),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Frames: what is asked of a child, and that no reply is believed that is not exactly right.
#include "test.h"

#include "harness/harness.h"

static void a_frame_is_a_length_and_json(void **s)
{
    (void)s;
    struct arena a = { 0 };
    str frame = frame_globals(7, &a);
    assert_int_equal(frame_length((const unsigned char *)frame.data), frame.len - 4);
    assert_str(str_sub(frame, 4, frame.len), S("{\"v\":1,\"id\":7,\"op\":\"globals\"}"));
    arena_free(&a);
}

static void a_source_travels_as_it_is(void **s)
{
    (void)s;
    struct arena a = { 0 };
    assert_str(str_sub(frame_source(1, S("load"), S("x = '\\n'\n"), &a), 4, 99),
               S("{\"v\":1,\"id\":1,\"op\":\"load\",\"source\":\"x = '\\\\n'\\n\"}"));
    arena_free(&a);
}

static void seeds_belong_to_a_place(void **s)
{
    (void)s;
    uint64_t seed = harness_call_seed(42, 1, 2, HARNESS_PARSE);
    assert_true(seed == harness_call_seed(42, 1, 2, HARNESS_PARSE));
    assert_true(seed != harness_call_seed(42, 1, 2, HARNESS_LEGAL));
    assert_true(seed != harness_call_seed(42, 12, 2, HARNESS_PARSE));
    assert_true(seed < (uint64_t)1 << 53);
}

static bool read_back(const char *json, struct harness_result *out)
{
    static struct arena a;
    arena_reset(&a);
    return frame_read(str_from(json), 7, &a, out, NULL);
}

static void good_replies_are_read(void **s)
{
    (void)s;
    struct harness_result r;
    assert_true(
        read_back("{\"v\":1,\"id\":7,\"ok\":true,\"type\":\"str\",\"value\":\"e2e4\"}", &r));
    assert_true(r.ok && r.type == RESULT_STR);
    assert_str(r.text, S("e2e4"));
    assert_true(read_back("{\"v\":1,\"id\":7,\"ok\":true,\"type\":\"none\",\"value\":null}", &r));
    assert_int_equal(r.type, RESULT_NONE);
    assert_true(read_back("{\"v\":1,\"id\":7,\"ok\":true,\"type\":\"bool\",\"value\":true}", &r));
    assert_true(r.truth);
    assert_true(read_back("{\"v\":1,\"id\":7,\"ok\":false,\"error\":{\"class\":\"ValueError\","
                          "\"message\":\"no\",\"line\":3}}",
                          &r));
    assert_false(r.ok);
    assert_int_equal(r.error_line, 3);
}

static void controls_in_replies_are_taken_out(void **s)
{
    (void)s;
    struct harness_result r;
    assert_true(read_back("{\"v\":1,\"id\":7,\"ok\":true,\"type\":\"str\",\"value\":"
                          "\"\\u001b[2J\\u001b]0;x\\u0007__no_move__\\n\\t\"}",
                          &r));
    assert_str(r.text, S("[2J]0;x__no_move__\n\t"));
}

static void anything_else_is_a_broken_protocol(void **s)
{
    (void)s;
    static const char *const bad[] = {
        "",
        "{",
        "null",
        "[]",
        "{\"v\":1,\"id\":8,\"ok\":true,\"type\":\"str\",\"value\":\"e2e4\"}",         // id
        "{\"v\":2,\"id\":7,\"ok\":true,\"type\":\"str\",\"value\":\"e2e4\"}",         // version
        "{\"v\":1,\"id\":\"7\",\"ok\":true,\"type\":\"str\",\"value\":\"e2e4\"}",     // id's type
        "{\"v\":1,\"id\":7,\"ok\":true,\"type\":\"str\"}",                            // missing
        "{\"v\":1,\"id\":7,\"ok\":true,\"type\":\"str\",\"value\":\"\",\"x\":1}",     // extra
        "{\"v\":1,\"id\":7,\"ok\":true,\"type\":\"str\",\"value\":1}",                // type
        "{\"v\":1,\"id\":7,\"ok\":true,\"type\":\"date\",\"value\":\"x\"}",           // type
        "{\"v\":1,\"id\":7,\"ok\":true,\"ok\":true,\"type\":\"str\",\"value\":\"\"}", // twice
        "{\"v\":1,\"id\":7,\"ok\":true,\"type\":\"str\",\"value\":\"\xff\"}",         // UTF-8
        "{\"v\":1,\"id\":7,\"ok\":true,\"type\":\"other\",\"value\":[[[[1]]]]}",      // depth
        "{\"v\":1,\"id\":7,\"ok\":true,\"type\":\"none\",\"value\":null} ,",          // more
        "{\"v\":1,\"id\":7,\"ok\":false,\"error\":{\"class\":\"E\",\"message\":\"\"}}",
        "{\"v\":1,\"id\":7,\"ok\":false,\"error\":null}",
    };
    struct harness_result r;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (read_back(bad[i], &r))
            fail_msg("believed: %s", bad[i]);
}

static void deep_and_long_replies_are_refused(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct harness_result r;
    struct buf deep = { .arena = &a };
    buf_add(&deep, S("{\"v\":1,\"id\":7,\"ok\":true,\"type\":\"other\",\"value\":"));
    for (int i = 0; i < 10000; i++)
        buf_add_char(&deep, '[');
    for (int i = 0; i < 10000; i++)
        buf_add_char(&deep, ']');
    buf_add_char(&deep, '}');
    assert_false(frame_read(buf_str(&deep), 7, &a, &r, NULL));
    char *blanks = arena_alloc(&a, HARNESS_REPLY_MAX_BYTES + 1);
    memset(blanks, ' ', HARNESS_REPLY_MAX_BYTES + 1);
    assert_false(frame_read((str){ blanks, HARNESS_REPLY_MAX_BYTES + 1 }, 7, &a, &r, NULL));
    arena_free(&a);
}

static void a_contract_is_clamped(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct harness_contract c;
    struct violations faults;
    assert_true(harness_contract_read(
        S("{\"faults\":[],\"system\":null,\"user\":\"U\",\"formats\":true,\"parses\":false,"
          "\"format_retries\":11,\"illegal_retries\":-1,\"max_turns\":0}"),
        &a, &c, &faults, NULL));
    assert_str(c.system, harness_default_system);
    assert_str(c.user, S("U"));
    assert_int_equal(c.format_retries, 10);
    assert_int_equal(c.illegal_retries, 0);
    assert_int_equal(c.max_turns, 1);
    assert_true(c.has_turns && c.formats && !c.parses);
    assert_false(harness_contract_read(S("{}"), &a, &c, &faults, NULL));
    assert_false(harness_contract_read(S("{\"faults\":[1]}"), &a, &c, &faults, NULL));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_is_a_length_and_json),
        cmocka_unit_test(a_source_travels_as_it_is),
        cmocka_unit_test(seeds_belong_to_a_place),
        cmocka_unit_test(good_replies_are_read),
        cmocka_unit_test(controls_in_replies_are_taken_out),
        cmocka_unit_test(anything_else_is_a_broken_protocol),
        cmocka_unit_test(deep_and_long_replies_are_refused),
        cmocka_unit_test(a_contract_is_clamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

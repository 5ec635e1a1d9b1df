// SPDX-License-Identifier: GPL-3.0-or-later
// Programs as chats: the worked example of few-shot specification 1.7 byte for byte, the rules of
// 1.4-1.6 for other signatures, and sizes as the paper counts them.
#include "test.h"

#include "prompt/prompt.h"

static struct arena arena;

#define SYSTEM_OF_THE_SPECIFICATION                                                                \
    "Your input fields are:\n"                                                                     \
    "1. `position_fen` (str): Current position in FEN\n"                                           \
    "2. `side_to_move` (str): white or black\n"                                                    \
    "3. `legal_moves_uci` (str): Comma-separated legal UCI moves\n"                                \
    "Your output fields are:\n"                                                                    \
    "1. `move` (str): Exactly one legal SAN or UCI move, without reasoning or labels\n"            \
    "All interactions will be structured in the following way, with the appropriate values "       \
    "filled in.\n"                                                                                 \
    "\n"                                                                                           \
    "Inputs will have the following structure:\n"                                                  \
    "\n"                                                                                           \
    "[[ ## position_fen ## ]]\n"                                                                   \
    "{position_fen}\n"                                                                             \
    "\n"                                                                                           \
    "[[ ## side_to_move ## ]]\n"                                                                   \
    "{side_to_move}\n"                                                                             \
    "\n"                                                                                           \
    "[[ ## legal_moves_uci ## ]]\n"                                                                \
    "{legal_moves_uci}\n"                                                                          \
    "\n"                                                                                           \
    "Outputs will be a JSON object with the following fields.\n"                                   \
    "\n"                                                                                           \
    "{\n"                                                                                          \
    "  \"move\": \"{move}\"\n"                                                                     \
    "}\n"                                                                                          \
    "In adhering to this structure, your objective is: \n"                                         \
    "        Solve the chess puzzle by finding the single best move."

static const str demo_inputs[] = {
    { "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", 33 },
    { "white", 5 },
    { "d1d8, d1d7, d1d6, d1d5, d1d4, d1d3, d1d2, d1h1, d1g1, d1f1, d1e1, d1c1, d1b1, a1b2, a1a2, "
      "a1b1",
      94 },
};
static const str demo_outputs[] = { { "d1d8", 4 } };
static const struct demo demo = { demo_inputs, demo_outputs, NULL };
static const struct demo_source source = { { "x", 1 }, true, 1500, { "fork", 4 }, 0, 1 };
static const struct demo twin = { demo_inputs, demo_outputs, &source };

#define QUERY_MOVES                                                                                \
    "h5h7, h5f7, h5h6, h5g6, h5g5, h5f5, h5e5, h5h4, h5g4, h5h3, h5f3, h5e2, h5d1, c4f7, c4e6, "   \
    "c4a6, c4d5, c4b5, c4d3, c4b3, c4e2, c4f1, g1h3, g1f3, g1e2, e1e2, e1f1, e1d1, b1c3, b1a3, "   \
    "h2h3, g2g3, f2f3, d2d3, c2c3, b2b3, a2a3, h2h4, g2g4, f2f4, d2d4, b2b4, a2a4"
static const str query[] = {
    { "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", 67 },
    { "white", 5 },
    { QUERY_MOVES, sizeof(QUERY_MOVES) - 1 },
};

static const struct program *base_with(const struct demo *const *demos, size_t n)
{
    const struct program *p = program_new(&arena, &signature_choose_move, instruction_base);
    return program_with_demos(&arena, p, demos, n);
}

static struct messages chat(const struct program *p)
{
    struct messages m;
    program_render(p, query, &arena, &m);
    return m;
}

static str system_of(const struct program *p)
{
    return chat(p).v[0].text;
}

static void the_worked_example_is_rendered_byte_for_byte(void **s)
{
    (void)s;
    struct messages m = chat(base_with((const struct demo *const[]){ &demo }, 1));
    assert_int_equal(m.n, 4);
    assert_int_equal(m.v[0].role, ROLE_SYSTEM);
    assert_str(m.v[0].text, S(SYSTEM_OF_THE_SPECIFICATION));
    assert_int_equal(utf8_length(m.v[0].text), 741);
    assert_int_equal(m.v[1].role, ROLE_USER);
    assert_str(m.v[1].text, S("[[ ## position_fen ## ]]\n"
                              "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1\n"
                              "\n"
                              "[[ ## side_to_move ## ]]\n"
                              "white\n"
                              "\n"
                              "[[ ## legal_moves_uci ## ]]\n"
                              "d1d8, d1d7, d1d6, d1d5, d1d4, d1d3, d1d2, d1h1, d1g1, d1f1, d1e1, "
                              "d1c1, d1b1, a1b2, a1a2, a1b1"));
    assert_int_equal(m.v[2].role, ROLE_ASSISTANT);
    assert_str(m.v[2].text, S("{\n  \"move\": \"d1d8\"\n}"));
    assert_int_equal(m.v[3].role, ROLE_USER);
    assert_str(m.v[3].text,
               S("[[ ## position_fen ## ]]\n"
                 "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4\n"
                 "\n"
                 "[[ ## side_to_move ## ]]\n"
                 "white\n"
                 "\n"
                 "[[ ## legal_moves_uci ## ]]\n" QUERY_MOVES "\n"
                 "\n"
                 "Respond with a JSON object in the following order of fields: `move`."));
}

static void without_demos_there_are_two_messages(void **s)
{
    (void)s;
    struct messages m = chat(program_new(&arena, &signature_choose_move, instruction_base));
    assert_int_equal(m.n, 2);
    assert_int_equal(m.v[1].role, ROLE_USER);
}

static void every_instruction_line_is_indented(void **s)
{
    (void)s;
    const struct program *p =
        program_new(&arena, &signature_choose_move, S("One\n\nTwo\r\nThree\rFour\n  Five\n"));
    str text = system_of(p);
    assert_true(str_ends(text, S("your objective is: \n"
                                 "        One\n"
                                 "        \n"
                                 "        Two\n"
                                 "        Three\n"
                                 "        Four\n"
                                 "          Five")));
    str cut = system_of(program_new(&arena, &signature_choose_move, S("One\r\n")));
    assert_true(str_ends(cut, S("is: \n        One")));
}

static const struct field odd_inputs[] = { { { "a", 1 }, { "first", 5 } }, { { "b", 1 }, { 0 } } };
static const struct field odd_outputs[] = { { { "x", 1 }, { 0 } },
                                            { { "y", 1 }, { "why", 3 } },
                                            { { "z", 1 }, { 0 } } };
static const struct signature odd = { odd_inputs, odd_outputs, 2, 3 };

static void any_signature_has_the_same_layout(void **s)
{
    (void)s;
    const str in[] = { S("one"), S("two\nlines") };
    const str out[] = { S("ex"), S("a \"b\" \\ \n\x01\xC3\xA9"), S("") };
    const struct demo d = { in, out, NULL };
    const struct program *p = program_new(&arena, &odd, S("Do it."));
    p = program_with_demos(&arena, p, (const struct demo *const[]){ &d }, 1);
    struct messages m;
    program_render(p, in, &arena, &m);
    assert_str(m.v[0].text,
               S("Your input fields are:\n"
                 "1. `a` (str): first\n"
                 "2. `b` (str):\n" // an empty last description loses its blank
                 "Your output fields are:\n"
                 "1. `x` (str): \n"
                 "2. `y` (str): why\n"
                 "3. `z` (str):\n"
                 "All interactions will be structured in the following way, with the appropriate "
                 "values filled in.\n\n"
                 "Inputs will have the following structure:\n\n"
                 "[[ ## a ## ]]\n{a}\n\n[[ ## b ## ]]\n{b}\n\n"
                 "Outputs will be a JSON object with the following fields.\n\n"
                 "{\n  \"x\": \"{x}\",\n  \"y\": \"{y}\",\n  \"z\": \"{z}\"\n}\n"
                 "In adhering to this structure, your objective is: \n        Do it."));
    assert_str(m.v[2].text,
               S("{\n  \"x\": \"ex\",\n  \"y\": \"a \\\"b\\\" \\\\ \\n\\u0001\xC3\xA9\","
                 "\n  \"z\": \"\"\n}"));
    assert_true(str_ends(m.v[3].text, S("[[ ## b ## ]]\ntwo\nlines\n\nRespond with a JSON object "
                                        "in the following order of fields: `x`, then `y`, then "
                                        "`z`.")));
}

static void the_analysis_variant_asks_for_analysis_first(void **s)
{
    (void)s;
    struct messages m =
        chat(program_new(&arena, &signature_choose_move_analysis, instruction_base));
    assert_true(str_find(m.v[0].text, S("\nYour output fields are:\n1. `analysis` (str): ")) > 0);
    assert_true(str_find(m.v[0].text, S("\n2. `move` (str): Exactly one legal SAN or UCI move, "
                                        "without reasoning or labels\n")) > 0);
    assert_true(str_find(m.v[0].text, S("{\n  \"analysis\": \"{analysis}\",\n  \"move\": "
                                        "\"{move}\"\n}\n")) > 0);
    assert_true(str_ends(m.v[1].text, S("fields: `analysis`, then `move`.")));
}

static void messages_are_written_as_compact_json(void **s)
{
    (void)s;
    struct message v[] = { { ROLE_SYSTEM, S("a\n\"b\"") }, { ROLE_ASSISTANT, S("\xC3\xA9\x1f/") } };
    struct buf b = { .arena = &arena };
    messages_write(&(struct messages){ .v = v, .n = 2 }, &(struct json_out){ .b = &b });
    assert_str(buf_str(&b), S("[{\"role\":\"system\",\"content\":\"a\\n\\\"b\\\"\"},"
                              "{\"role\":\"assistant\",\"content\":\"\xC3\xA9\\u001f/\"}]"));
}

static void sizes_are_counted_in_code_points(void **s)
{
    (void)s;
    assert_int_equal(program_size(base_with(NULL, 0)), 55);
    // "position_fen: " 14 + 33, "side_to_move: " 14 + 5, "legal_moves_uci: " 17 + 94, "move: " 6 +
    // 4; three line breaks between, two before.
    assert_int_equal(program_size(base_with((const struct demo *const[]){ &demo }, 1)),
                     55 + 2 + 47 + 19 + 111 + 10 + 3);
    const struct program *p =
        program_new(&arena, &signature_choose_move, S("\xC3\xA9\xE2\x82\xAC"));
    assert_int_equal(program_size(p), 2);
}

static void programs_are_changed_by_making_new_ones(void **s)
{
    (void)s;
    const struct program *p = base_with((const struct demo *const[]){ &demo }, 1);
    const struct program *q = program_with_instruction(&arena, p, S("  Play.\n"));
    assert_str(q->instruction, S("Play."));
    assert_str(p->instruction, instruction_base);
    assert_int_equal(q->n_demos, 1);
    assert_ptr_equal(q->demos[0], &demo);
    const struct demo *list[] = { &twin };
    const struct program *r = program_with_demos(&arena, q, list, 1);
    list[0] = NULL;
    assert_ptr_equal(r->demos[0], &twin);
    assert_str(r->instruction, S("Play."));
    assert_ptr_equal(q->demos[0], &demo);
}

static void equal_prompts_have_equal_names(void **s)
{
    (void)s;
    const struct program *p = base_with((const struct demo *const[]){ &demo }, 1);
    const struct program *same = base_with((const struct demo *const[]){ &twin }, 1);
    assert_int_equal(program_hash(p, &arena).len, 64);
    assert_str(program_hash(p, &arena), program_hash(same, &arena));
    const struct program *others[] = {
        base_with(NULL, 0),
        base_with((const struct demo *const[]){ &demo, &demo }, 2),
        program_with_instruction(&arena, p, S("Play.")),
        program_new(&arena, &signature_choose_move_analysis, instruction_base),
    };
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        for (size_t k = 0; k < i; k++)
            assert_false(str_eq(program_hash(others[i], &arena), program_hash(others[k], &arena)));
    assert_false(str_eq(program_hash(p, &arena), program_hash(others[1], &arena)));
}

static void roles_have_names(void **s)
{
    (void)s;
    assert_str(role_name(ROLE_SYSTEM), S("system"));
    assert_str(role_name(ROLE_USER), S("user"));
    assert_str(role_name(ROLE_ASSISTANT), S("assistant"));
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
        cmocka_unit_test(the_worked_example_is_rendered_byte_for_byte),
        cmocka_unit_test(without_demos_there_are_two_messages),
        cmocka_unit_test(every_instruction_line_is_indented),
        cmocka_unit_test(any_signature_has_the_same_layout),
        cmocka_unit_test(the_analysis_variant_asks_for_analysis_first),
        cmocka_unit_test(messages_are_written_as_compact_json),
        cmocka_unit_test(sizes_are_counted_in_code_points),
        cmocka_unit_test(programs_are_changed_by_making_new_ones),
        cmocka_unit_test(equal_prompts_have_equal_names),
        cmocka_unit_test(roles_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// compiled.json both ways, in the layout of the paper-files specification section 2, and what is
// said about files that are no programs.
#include "test.h"

#include "prompt/prompt.h"

static struct arena arena;

#define SIGNATURE_TEXT                                                                             \
    "    \"signature\": {\n"                                                                       \
    "      \"instructions\": \"Solve the chess puzzle by finding the single best move.\",\n"       \
    "      \"fields\": [\n"                                                                        \
    "        {\n"                                                                                  \
    "          \"prefix\": \"Position Fen:\",\n"                                                   \
    "          \"description\": \"Current position in FEN\"\n"                                     \
    "        },\n"                                                                                 \
    "        {\n"                                                                                  \
    "          \"prefix\": \"Side To Move:\",\n"                                                   \
    "          \"description\": \"white or black\"\n"                                              \
    "        },\n"                                                                                 \
    "        {\n"                                                                                  \
    "          \"prefix\": \"Legal Moves Uci:\",\n"                                                \
    "          \"description\": \"Comma-separated legal UCI moves\"\n"                             \
    "        },\n"                                                                                 \
    "        {\n"                                                                                  \
    "          \"prefix\": \"Move:\",\n"                                                           \
    "          \"description\": \"Exactly one legal SAN or UCI move, without reasoning or "        \
    "labels\"\n"                                                                                   \
    "        }\n"                                                                                  \
    "      ]\n"                                                                                    \
    "    },\n"
#define DEMOS_TEXT                                                                                 \
    "    \"demos\": [\n"                                                                           \
    "      {\n"                                                                                    \
    "        \"augmented\": true,\n"                                                               \
    "        \"position_fen\": \"6k1/8/8/8/8/8/8/K2R4 w - - 0 1\",\n"                              \
    "        \"side_to_move\": \"white\",\n"                                                       \
    "        \"legal_moves_uci\": \"d1d8, d1d7\",\n"                                               \
    "        \"move\": \"Rd8\xE2\x99\x9A \\\"#\\\"\"\n"                                            \
    "      },\n"                                                                                   \
    "      {\n"                                                                                    \
    "        \"position_fen\": \"k7/8/8/8/8/8/8/K2R4 b - - 0 1\",\n"                               \
    "        \"side_to_move\": \"black\",\n"                                                       \
    "        \"legal_moves_uci\": \"a8a7\",\n"                                                     \
    "        \"move\": \"a8a7\",\n"                                                                \
    "        \"puzzle_id\": \"00sHx\",\n"                                                          \
    "        \"rating\": 1760,\n"                                                                  \
    "        \"themes\": [\n"                                                                      \
    "          \"mate\",\n"                                                                        \
    "          \"mateIn2\"\n"                                                                      \
    "        ],\n"                                                                                 \
    "        \"position_index\": 1,\n"                                                             \
    "        \"position_count\": 2\n"                                                              \
    "      }\n"                                                                                    \
    "    ],\n"
#define HEAD_TEXT                                                                                  \
    "{\n"                                                                                          \
    "  \"choose_move\": {\n"                                                                       \
    "    \"traces\": [],\n"                                                                        \
    "    \"train\": [],\n"
#define METADATA_TEXT                                                                              \
    "  \"metadata\": {\n"                                                                          \
    "    \"dependency_versions\": {}\n"                                                            \
    "  }"
#define WHOLE_TEXT                                                                                 \
    HEAD_TEXT DEMOS_TEXT SIGNATURE_TEXT "    \"lm\": null\n"                                       \
                                        "  },\n" METADATA_TEXT "\n}"

static const struct program *load(str text)
{
    const struct program *p = NULL;
    struct err err = { 0 };
    if (!program_from_text(text, &arena, &p, &err))
        fail_msg("%s", err.text);
    return p;
}

// The sentence about a file that is refused.
static str refusal(str text)
{
    const struct program *p;
    struct err err = { 0 };
    if (program_from_text(text, &arena, &p, &err))
        fail_msg("accepted: %.*s", STR(text));
    bool large = text.len > (str_starts(text, S("{")) ? 4 << 20 : 1 << 16);
    assert_int_equal(err.code, large ? ERR_LIMIT : ERR_INPUT);
    return arena_printf(&arena, "%s", err.text);
}

#define assert_says(text, what)                                                                    \
    do {                                                                                           \
        str said_ = refusal(text);                                                                 \
        if (str_find(said_, what) < 0)                                                             \
            fail_msg("says \"%.*s\"", STR(said_));                                                 \
    } while (0)

static void a_program_is_read_member_by_member(void **s)
{
    (void)s;
    const struct program *p = load(S(WHOLE_TEXT));
    assert_ptr_equal(p->signature, &signature_choose_move);
    assert_str(p->instruction, instruction_base);
    assert_int_equal(p->n_demos, 2);
    assert_null(p->demos[0]->source);
    assert_str(p->demos[0]->inputs[0], S("6k1/8/8/8/8/8/8/K2R4 w - - 0 1"));
    assert_str(p->demos[0]->inputs[1], S("white"));
    assert_str(p->demos[0]->inputs[2], S("d1d8, d1d7"));
    assert_str(p->demos[0]->outputs[0], S("Rd8\xE2\x99\x9A \"#\""));
    const struct demo_source *source = p->demos[1]->source;
    assert_non_null(source);
    assert_str(source->puzzle_id, S("00sHx"));
    assert_true(source->has_rating);
    assert_int_equal(source->rating, 1760);
    assert_str(source->themes, S("mate mateIn2"));
    assert_int_equal(source->position_index, 1);
    assert_int_equal(source->position_count, 2);
}

static void a_program_is_written_as_it_was_read(void **s)
{
    (void)s;
    assert_str(program_to_json(load(S(WHOLE_TEXT)), S(""), &arena), S(WHOLE_TEXT));
}

static void a_program_without_demos_has_an_empty_list(void **s)
{
    (void)s;
    const struct program *p = program_new(&arena, &signature_choose_move, instruction_base);
    assert_str(program_to_json(p, S(""), &arena),
               S(HEAD_TEXT "    \"demos\": [],\n" SIGNATURE_TEXT "    \"lm\": null\n"
                           "  },\n" METADATA_TEXT "\n}"));
}

static void our_own_member_stands_at_the_end(void **s)
{
    (void)s;
    str text =
        program_to_json(load(S(WHOLE_TEXT)), S("{\"preset\":\"paper\",\"n\":[1,2.5]}"), &arena);
    assert_true(str_ends(text, S("    \"dependency_versions\": {}\n"
                                 "  },\n"
                                 "  \"rookery\": {\n"
                                 "    \"preset\": \"paper\",\n"
                                 "    \"n\": [\n"
                                 "      1,\n"
                                 "      2.5\n"
                                 "    ]\n"
                                 "  }\n"
                                 "}")));
    assert_int_equal(load(text)->n_demos, 2);
}

static void the_chat_is_the_same_after_saving_and_loading(void **s)
{
    (void)s;
    const struct program *p = load(S(WHOLE_TEXT));
    p = program_with_instruction(&arena, p,
                                 S("Look for \"checks\".\n\n  Then: \\ captures\t\x01!"));
    const struct program *q = load(program_to_json(p, S(""), &arena));
    assert_str(program_hash(q, &arena), program_hash(p, &arena));
    assert_str(q->instruction, p->instruction);
}

static void an_instruction_is_loaded_as_it_was_normalised(void **s)
{
    (void)s;
    static const char *const texts[] = { "\n\nA\n    B\n", " \r\n \ty\r\n z\n", "\n   A\n B",
                                         "  \n  \nA",      "A\n B\n   C\n",     "\tA\n\tB" };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const struct program *p = program_new(&arena, &signature_choose_move, str_from(texts[i]));
        assert_str(load(program_to_json(p, S(""), &arena))->instruction, p->instruction);
    }
    assert_str(
        load(S("{\"choose_move\":{\"signature\":{\"instructions\":\"\\n  Play\\n\\tit.\\n\"}}}"))
            ->instruction,
        S("Play\n      it."));
}

static void the_analysis_variant_is_known_by_its_fields(void **s)
{
    (void)s;
    const str in[] = { S("f"), S("white"), S("a1a2") };
    const str out[] = { S("quiet"), S("a1a2") };
    const struct demo d = { in, out, NULL };
    const struct program *p =
        program_new(&arena, &signature_choose_move_analysis, instruction_base);
    p = program_with_demos(&arena, p, (const struct demo *const[]){ &d }, 1);
    str text = program_to_json(p, S(""), &arena);
    assert_true(str_find(text, S("\"prefix\": \"Analysis:\"")) > 0);
    assert_true(str_find(text, S("\"analysis\": \"quiet\",\n        \"move\": \"a1a2\"\n")) > 0);
    const struct program *q = load(text);
    assert_ptr_equal(q->signature, &signature_choose_move_analysis);
    assert_str(program_hash(q, &arena), program_hash(p, &arena));
}

#define WITH_DEMO(demo_)                                                                           \
    S("{\"choose_move\":{\"demos\":[" demo_ "],\"signature\":{\"instructions\":\"Play.\"}}}")
#define FOUR "\"position_fen\":\"f\",\"side_to_move\":\"white\",\"legal_moves_uci\":\"a1a2\""

static void unknown_members_and_missing_metadata_are_fine(void **s)
{
    (void)s;
    const struct program *p = load(
        WITH_DEMO("{" FOUR ",\"move\":\"a1a2\",\"rationale\":{\"x\":[1]},\"augmented\":null}"));
    assert_int_equal(p->n_demos, 1);
    assert_non_null(p->demos[0]->source);
    assert_false(p->demos[0]->source->has_rating);
    p = load(WITH_DEMO("{" FOUR ",\"move\":\"a1a2\",\"rating\":null,\"themes\":\"fork pin\"}"));
    assert_str(p->demos[0]->source->themes, S("fork pin"));
    assert_int_equal(load(S("{\"choose_move\":{\"signature\":{\"instructions\":\" Play.\\n\"},"
                            "\"lm\":{\"model\":\"m\"}},\"other\":1}"))
                         ->n_demos,
                     0);
    assert_int_equal(load(WITH_DEMO("{\"augmented\":true," FOUR ",\"move\":\"\"}"))->n_demos, 1);
}

static void what_is_no_program_is_refused_with_a_sentence(void **s)
{
    (void)s;
    assert_says(S(""), S("empty"));
    assert_says(S(" \n\xEF\xBB\xBF"), S("empty"));
    assert_says(S("{"), S("line 1: not valid JSON"));
    assert_says(S("{\n\"choose_move\": 1,\n\"choose_move\": 2}"), S("line 3"));
    assert_says(S("{Solve} the puzzle"), S("begins with {"));
    assert_says(S("{}"), S("\"choose_move\""));
    assert_says(S("{\"choose_move\":[]}"), S("\"choose_move\""));
    assert_says(S("{\"choose_move\":{}}"), S("\"signature\""));
    assert_says(S("{\"choose_move\":{\"signature\":\"x\"}}"), S("\"signature\""));
    assert_says(S("{\"choose_move\":{\"signature\":{}}}"), S("\"instructions\""));
    assert_says(S("{\"choose_move\":{\"signature\":{\"instructions\":1}}}"), S("\"instructions\""));
    assert_says(S("{\"choose_move\":{\"signature\":{\"instructions\":\" \"}}}"), S("empty"));
    assert_says(S("{\"choose_move\":{\"signature\":{\"instructions\":\"x\",\"fields\":1}}}"),
                S("\"fields\""));
    assert_says(S("{\"choose_move\":{\"signature\":{\"instructions\":\"x\",\"fields\":[]}}}"),
                S("must have the fields"));
    assert_says(S("{\"choose_move\":{\"signature\":{\"instructions\":\"x\"},\"demos\":{}}}"),
                S("\"demos\""));
    assert_says(S("abc\0def"), S("UTF-8"));
    assert_says(S("abc\xFF"), S("UTF-8"));
}

static void incomplete_demos_are_refused_by_number(void **s)
{
    (void)s;
    assert_says(WITH_DEMO("{" FOUR ",\"move\":\"x\"},{" FOUR "}"),
                S("demo 2: \"move\" is missing"));
    assert_says(WITH_DEMO("{" FOUR ",\"move\":null}"), S("demo 1: \"move\" is missing"));
    assert_says(WITH_DEMO("{\"move\":\"x\"}"), S("demo 1: \"position_fen\" is missing"));
    assert_says(WITH_DEMO("{" FOUR ",\"move\":5}"), S("demo 1: \"move\" must be a text"));
    assert_says(WITH_DEMO("7"), S("demo 1: not an object"));
    assert_says(WITH_DEMO("{\"augmented\":1," FOUR ",\"move\":\"x\"}"), S("\"augmented\""));
    assert_says(WITH_DEMO("{\"rating\":\"high\"," FOUR ",\"move\":\"x\"}"), S("\"rating\""));
    assert_says(WITH_DEMO("{\"rating\":9999999999," FOUR ",\"move\":\"x\"}"), S("\"rating\""));
    assert_says(WITH_DEMO("{\"themes\":[1]," FOUR ",\"move\":\"x\"}"), S("\"themes\""));
    assert_says(WITH_DEMO("{\"themes\":1," FOUR ",\"move\":\"x\"}"), S("\"themes\""));
    assert_says(WITH_DEMO("{\"puzzle_id\":1," FOUR ",\"move\":\"x\"}"), S("\"puzzle_id\""));
    assert_says(WITH_DEMO("{\"position_index\":1.5," FOUR ",\"move\":\"x\"}"),
                S("\"position_index\""));
}

static void a_plain_text_is_an_instruction(void **s)
{
    (void)s;
    const struct program *p = load(S("\xEF\xBB\xBF  Find the best move.\r\n    Be bold.\r\n\r\n"));
    assert_str(p->instruction, S("Find the best move.\nBe bold."));
    assert_ptr_equal(p->signature, &signature_choose_move);
    assert_int_equal(p->n_demos, 0);
    assert_str(load(S("[\"not a list\"]"))->instruction, S("[\"not a list\"]"));
}

static void a_file_over_4_mib_is_refused(void **s)
{
    (void)s;
    char *text = arena_alloc(&arena, (4 << 20) + 1);
    memset(text, ' ', (4 << 20) + 1);
    text[0] = '{';
    assert_says(((str){ text, (4 << 20) + 1 }), S("limit is 4 MiB"));
    assert_says(((str){ text, 4 << 20 }), S("not valid JSON")); // read, and found to be cut
}

// Whole chats, tables and binary files are given by mistake.
static void a_plain_text_that_is_no_instruction_is_refused(void **s)
{
    (void)s;
    enum { MOST = 65536 };
    char *text = arena_alloc(&arena, MOST + 1);
    memset(text, 'x', MOST + 1);
    assert_says(((str){ text, MOST + 1 }), S("too long for an instruction"));
    assert_int_equal(load((str){ text, MOST })->instruction.len, MOST);
    assert_says(S("Play\0well."), S("is this a prompt?"));
}

static int warnings;

static void count_warning(enum log_level level, str line)
{
    warnings += level == LOG_WARN && str_find(line, S("move")) >= 0;
}

static void another_description_is_told(void **s)
{
    (void)s;
    const struct program *p = program_new(&arena, &signature_choose_move, instruction_base);
    str text = program_to_json(p, S(""), &arena);
    ptrdiff_t at = str_find(text, S("Exactly one legal"));
    assert_true(at > 0);
    struct buf b = { .arena = &arena };
    buf_addf(&b, "%.*sAt most%s", (int)at, text.data, text.data + at + 7);
    log_to(count_warning);
    warnings = 0;
    assert_str(program_hash(load(buf_str(&b)), &arena), program_hash(p, &arena));
    assert_int_equal(warnings, 1);
    load(text);
    assert_int_equal(warnings, 1);
    log_to(NULL);
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
        cmocka_unit_test(a_program_is_read_member_by_member),
        cmocka_unit_test(a_program_is_written_as_it_was_read),
        cmocka_unit_test(a_program_without_demos_has_an_empty_list),
        cmocka_unit_test(our_own_member_stands_at_the_end),
        cmocka_unit_test(the_chat_is_the_same_after_saving_and_loading),
        cmocka_unit_test(an_instruction_is_loaded_as_it_was_normalised),
        cmocka_unit_test(the_analysis_variant_is_known_by_its_fields),
        cmocka_unit_test(unknown_members_and_missing_metadata_are_fine),
        cmocka_unit_test(what_is_no_program_is_refused_with_a_sentence),
        cmocka_unit_test(incomplete_demos_are_refused_by_number),
        cmocka_unit_test(a_plain_text_is_an_instruction),
        cmocka_unit_test(a_file_over_4_mib_is_refused),
        cmocka_unit_test(a_plain_text_that_is_no_instruction_is_refused),
        cmocka_unit_test(another_description_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// The simulated model that writes prompts, and the file of personas: what may be loaded, what is
// refused, and that most advice helps nobody.
#include "test.h"

#include "sim/sim.h"

static struct arena arena;
static const struct sim_data *data;

static const struct field in_fields[] = { { T("current_instruction"), T("what is used now") },
                                          { T("critiques"), T("what went wrong") } };
static const struct field out_fields[] = { { T("remark"), T("") },
                                           { T("new_instruction"), T("a better one") } };
static const struct signature asks = { in_fields, out_fields, 2, 2 };

static str reply_to(const struct messages *m, double temperature, int64_t sample)
{
    struct model_request q = {
        .messages = *m, .has_temperature = true, .temperature = temperature, .sample = sample
    };
    struct reply r;
    sim_answer(sim_persona(data, S("meta")), &q, &arena, &r);
    assert_true(r.simulated);
    return r.text;
}

static struct messages question(str current, str critiques)
{
    str values[] = { current, critiques };
    struct messages m = { 0 };
    program_render(program_new(&arena, &asks, S("Improve the instruction.")), values, &arena, &m);
    return m;
}

static str proposed(str current, str critiques, int64_t sample)
{
    struct messages m = question(current, critiques);
    str values[2];
    assert_int_equal(answer_read(&asks, reply_to(&m, 1, sample), &arena, values), READ_OK);
    assert_true(values[0].len > 0);
    return values[1];
}

static void the_asked_fields_come_back_and_samples_differ(void **s)
{
    (void)s;
    str first = proposed(instruction_base, S("none"), 0);
    assert_str(proposed(instruction_base, S("none"), 0), first);
    int other = 0;
    for (int k = 1; k < 20; k++)
        other += !str_eq(proposed(instruction_base, S("none"), k), first);
    assert_true(other >= 15);
    assert_true(str_starts(first, instruction_base));
}

static void a_free_question_is_answered_in_a_fence(void **s)
{
    (void)s;
    struct message one = { ROLE_USER, S("Write a better instruction than this one.\n```\nSolve "
                                        "it.\n```\n") };
    struct messages m = { &one, 1, 1 };
    str text = reply_to(&m, 1, 0);
    assert_true(str_find(text, S("```\n")) > 0);
    assert_true(str_ends(text, S("\n```")));
}

static void it_builds_on_the_last_instruction_it_is_shown(void **s)
{
    (void)s;
    int kept = 0;
    for (int k = 0; k < 40; k++)
        kept += str_find(proposed(S("Look ahead until the position is quiet. Give exactly one "
                                    "move, in UCI notation, with no explanation."),
                                  S("none"), k),
                         S("Look ahead until the position is quiet.")) >= 0;
    assert_in_range(kept, 25, 39); // sometimes it starts afresh, drops or exchanges it
}

static void critiques_lead_it(void **s)
{
    (void)s;
    str wrong = S("The move was legal but wrong: examine checks, captures and threats.");
    int with = 0, without = 0;
    str advice = S("Examine all checks first, then captures, then threats.");
    for (int k = 0; k < 60; k++) {
        with += str_find(proposed(instruction_base, wrong, k), advice) >= 0;
        without += str_find(proposed(instruction_base, S("none"), k), advice) >= 0;
    }
    assert_true(with > without);
}

// Each sentence alone, on the persona that follows guidance most: seven in ten do not help.
static void most_advice_is_decoy_or_harm(void **s)
{
    (void)s;
    str text;
    struct err err = { 0 };
    if (!file_read(source_path(S("data/personas.json"), &arena), 1 << 20, &arena, &text, &err))
        fail_msg("%s", err.text);
    json_t *root = json_read_strict(text, &err);
    const json_t *advice = json_object_get(root, "advice");
    const struct persona *p = sim_persona(data, S("responsive"));
    const struct program *base = program_new(&arena, &signature_choose_move, instruction_base);
    double start = sim_expected(p, base);
    size_t helpful = 0, harmful = 0;
    for (size_t i = 0; i < json_array_size(advice); i++) {
        str with = arena_printf(&arena, "%.*s %.*s", STR(instruction_base),
                                STR(json_view(json_array_get(advice, i))));
        double there = sim_expected(p, program_with_instruction(&arena, base, with));
        helpful += there > start;
        harmful += there < start;
    }
    assert_true(10 * helpful <= 3 * json_array_size(advice));
    assert_true(helpful >= 10);
    assert_true(harmful >= 5);
    assert_true(sim_expected(p, sim_best_program(p, &arena)) > start + 0.15);
    const struct persona *stubborn = sim_persona(data, S("stubborn"));
    assert_true(sim_expected(stubborn, sim_best_program(stubborn, &arena)) ==
                sim_expected(stubborn, base));
    json_decref(root);
}

static void refused(const char *text, const char *message)
{
    const struct sim_data *out;
    struct err err = { 0 };
    assert_false(sim_data_parse(S("mine.json"), str_from(text), &arena, &out, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_str(str_from(err.text), str_from(message));
}

#define PLAYER                                                                                     \
    "{\"name\":\"x\",\"summary\":\"y\",\"best\":{\"base\":1},\"malformed\":{\"base\":-9},"         \
    "\"illegal\":{\"base\":-9}}"

static void files_of_outsiders_are_read_and_faults_are_named(void **s)
{
    (void)s;
    const struct sim_data *out;
    struct err err = { 0 };
    assert_true(sim_data_parse(
        S("mine.json"), S("{\"phrases\":{\"mate\":[\"to mate\"]},\"personas\":[" PLAYER "]}"),
        &arena, &out, &err));
    assert_non_null(sim_persona(out, S("x")));
    assert_null(sim_persona(out, S("responsive")));
    refused("{}", "mine.json: personas: there must be a list of at least one");
    refused("{\"phrases\":{\"tempo\":[]},\"personas\":[" PLAYER "]}",
            "mine.json: phrases.tempo: no such feature of a text");
    refused("{\"phrases\":{\"mate\":[\"To  mate\"]},\"personas\":[" PLAYER "]}",
            "mine.json: phrases.mate: a phrase is lower-case words separated by single blanks");
    refused("{\"personas\":[{\"name\":\"x\",\"summary\":\"y\"}]}",
            "mine.json: personas.best: must be an object with base and weights");
    refused("{\"personas\":[{\"name\":\"x\",\"summary\":\"y\",\"writes\":true}]}",
            "mine.json: advice: a persona that writes needs sentences to choose from");
}

static int set_up(void **s)
{
    (void)s;
    data = sim_data_builtin(&arena);
    return 0;
}

static int tear_down(void **s)
{
    (void)s;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_asked_fields_come_back_and_samples_differ),
        cmocka_unit_test(a_free_question_is_answered_in_a_fence),
        cmocka_unit_test(it_builds_on_the_last_instruction_it_is_shown),
        cmocka_unit_test(critiques_lead_it),
        cmocka_unit_test(most_advice_is_decoy_or_harm),
        cmocka_unit_test(files_of_outsiders_are_read_and_faults_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

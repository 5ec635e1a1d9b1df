// SPDX-License-Identifier: GPL-3.0-or-later
// What GEPA shows its prompt model, and prompt models that misbehave.
#include "gepa_world.h"

// ---- what the prompt model sees ----

// The request without the parts in which the solution may stand: legal moves and answers.
static str without_moves(struct arena *a, str request)
{
    struct buf b = { .arena = a };
    while (request.len > 0) {
        str line = str_cut_line(&request);
        if (str_eq(line, S("### legal_moves_uci")) || str_eq(line, S("### move")))
            str_cut_line(&request);
        else
            buf_addf(&b, "%.*s\n", STR(line));
    }
    return buf_str(&b);
}

static void the_solution_is_shown_only_where_it_is_wanted(void **s)
{
    (void)s;
    for (int show = 0; show <= 1; show++) {
        struct arena a = { 0 };
        struct world *w = world_small(&a, "paper");
        w->all_wrong = true;
        w->show_solution = show == 1;
        world_done(w);
        assert_int_equal(count(w->requests, S("# Example ")), 3);
        str rest = without_moves(&a, w->requests);
        size_t n = 0;
        for (size_t i = 0; i < w->train.n; i++)
            n += str_find(w->requests, w->train.v[i].inputs[0]) >= 0 &&
                 str_find(rest, w->train.v[i].reference) >= 0;
        assert_true(show ? n >= 3 : n == 0);
        world_close(w, &a);
    }
}

static void the_request_holds_inputs_answers_and_critiques(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = world_small(&a, "paper");
    w->all_wrong = true;
    world_done(w);
    for (size_t i = 1; i <= 3; i++)
        assert_true(str_find(w->requests, arena_printf(&a, "# Example %zu\n", i)) > 0);
    assert_int_equal(count(w->requests, S("### position_fen\n")), 3);
    assert_int_equal(count(w->requests, S("### side_to_move\n")), 3);
    assert_int_equal(count(w->requests, S("### legal_moves_uci\n")), 3);
    assert_int_equal(count(w->requests, S("### move\n")), 3);
    assert_int_equal(count(w->requests, S("is legal but does not solve")), 3);
    assert_int_equal(count(w->requests, instruction_base), 1);
    world_close(w, &a);
}

static void unreadable_answers_are_dropped_or_shown(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = world_small(&a, "paper");
    w->unreadable = true;
    struct opt_result out = world_done(w);
    assert_int_equal(w->n_prompt, 0); // nothing is left to show
    assert_int_equal(logged(w, "\nskipped "), 60);
    assert_str(out.program->instruction, instruction_base);
    assert_int_equal(w->n_task, 200);

    w->config.gepa_format_failures = FORMAT_FAILURES_SHOW;
    world_forget(w);
    world_done(w);
    assert_int_equal(count(w->requests, S("I play my best move.")), 3);
    assert_int_equal(count(w->requests, S("one JSON object with \"move\"")), 3);
    world_close(w, &a);
}

// ---- prompt models that misbehave ----

static char huge[50000];

struct misbehaviour {
    const char *said;
    size_t len;
    enum reply_class class;
    // Whether a proposal is tried: with lenient, strict and complete extraction.
    bool tried[3];
    int requests[3]; // an iteration
};
static const struct misbehaviour bad[] = {
    { "", 0, REPLY_EMPTY, { true, false, false }, { 1, 1, 2 } },
    { " \n\t \n", 0, REPLY_OK, { true, false, false }, { 1, 1, 2 } },
    { "I cannot help with that.", 0, REPLY_REFUSED, { false, false, false }, { 2, 2, 2 } },
    { "", 0, REPLY_FILTERED, { false, false, false }, { 2, 2, 2 } },
    { "", 0, REPLY_CONTEXT_OVERFLOW, { false, false, false }, { 2, 2, 2 } },
    // The prompt comes back.
    { "```\nSolve the chess puzzle by finding the single best move.\n```",
      0,
      REPLY_OK,
      { true, false, false },
      { 1, 1, 1 } },
    { huge, sizeof huge, REPLY_OK, { true, false, false }, { 1, 1, 2 } },
    { "```\n\xff\xfe skill=400 \xc3\n```", 0, REPLY_OK, { true, true, true }, { 1, 1, 1 } },
    { "```\nThe instructions should mention for",
      0,
      REPLY_TRUNCATED,
      { true, false, false },
      { 1, 1, 2 } },
    { "```\n[[ ## move ## ]]\n```", 0, REPLY_OK, { true, false, false }, { 1, 1, 2 } },
};

static void prompt_models_that_misbehave_end_no_run(void **s)
{
    (void)s;
    memset(huge, 'x', sizeof huge);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        for (int how = GEPA_EXTRACT_LENIENT; how <= GEPA_EXTRACT_COMPLETE; how++) {
            struct arena a = { 0 };
            struct world *w = world_small(&a, "paper");
            w->all_wrong = true; // so that nothing is accepted
            w->config.gepa_extract = (enum gepa_extract)how;
            w->config.gepa_max_iterations = 3;
            w->said = bad[i].said;
            w->said_len = bad[i].len;
            w->said_class = bad[i].class;
            struct opt_result out = world_done(w);
            bool tried = bad[i].tried[how - 1];
            // The second try of the same text is known only where it was accepted.
            assert_int_equal(out.n_proposals, tried ? 3 : 0);
            assert_int_equal(w->n_prompt, 3 * bad[i].requests[how - 1]);
            assert_int_equal(w->n_task, 20 + 3 * (tried ? 6 : 3));
            assert_int_equal(
                logged(w, tried ? "\nrejected " : "\nskipped -1 0.000000 of 0: iteration"), 3);
            assert_str(out.program->instruction, instruction_base);
            world_close(w, &a);
        }
}

static void a_reply_that_was_cut_off_gets_twice_the_room(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = world_small(&a, "improved");
    w->all_wrong = true;
    w->config.gepa_max_iterations = 1;
    w->said = "<think>The instructions should mention forks. Let me";
    w->said_class = REPLY_TRUNCATED;
    world_done(w);
    assert_int_equal(w->n_prompt, 2);
    assert_int_equal(w->max_tokens[0], 1000);
    assert_int_equal(w->max_tokens[1], 2000);
    world_close(w, &a);
}

// Asked twice by us, each time with the retries of whatever sends it.
static void a_prompt_model_that_never_answers_ends_the_run_or_costs_an_iteration(void **s)
{
    (void)s;
    for (int go_on = 0; go_on <= 1; go_on++) {
        struct arena a = { 0 };
        struct err err = { 0 };
        struct opt_result out;
        struct world *w = world_small(&a, "paper");
        w->all_wrong = true;
        w->continue_on_error = go_on == 1;
        w->config.gepa_max_iterations = 2;
        w->said = "";
        w->said_class = REPLY_TIMEOUT;
        assert_int_equal(world_run(w, &out, &err), go_on);
        if (go_on) {
            assert_int_equal(logged(w, "reply: the request failed"), 4);
            assert_int_equal(logged(w, "asked again "), 2);
            assert_int_equal(w->n_task, 20 + 2 * 3);
        }
        world_close(w, &a);
    }
}

static void answers_that_never_arrive_are_not_shown(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = world_small(&a, "improved");
    w->lost = true;
    w->continue_on_error = true;
    w->config.gepa_max_iterations = 2;
    struct opt_result out = world_done(w);
    assert_int_equal(w->n_prompt, 0);
    assert_int_equal(logged(w, "no answer of the minibatch could be read"), 2);
    assert_str(out.program->instruction, instruction_base);
    world_close(w, &a);
}

static void an_empty_text_is_run_as_the_default_sentence(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = world_small(&a, "paper");
    w->all_wrong = true;
    w->config.gepa_acceptance = GEPA_ACCEPT_EQUAL;
    w->config.gepa_max_iterations = 1;
    w->said = "```\n```";
    struct opt_result out = world_done(w);
    assert_int_equal(out.candidates.n, 2);
    assert_str(out.candidates.v[1].program->instruction,
               S("Given the fields `position_fen`, `side_to_move`, `legal_moves_uci`, produce the "
                 "fields `move`."));
    world_close(w, &a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_solution_is_shown_only_where_it_is_wanted),
        cmocka_unit_test(the_request_holds_inputs_answers_and_critiques),
        cmocka_unit_test(unreadable_answers_are_dropped_or_shown),
        cmocka_unit_test(prompt_models_that_misbehave_end_no_run),
        cmocka_unit_test(a_reply_that_was_cut_off_gets_twice_the_room),
        cmocka_unit_test(a_prompt_model_that_never_answers_ends_the_run_or_costs_an_iteration),
        cmocka_unit_test(answers_that_never_arrive_are_not_shown),
        cmocka_unit_test(an_empty_text_is_run_as_the_default_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

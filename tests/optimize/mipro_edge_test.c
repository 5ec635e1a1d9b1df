// SPDX-License-Identifier: GPL-3.0-or-later
// MIPROv2 where something is amiss or at an edge: what a prompt model does badly, labels round its
// texts, data of no size, zero-shot mode, switches off.
#include "mipro_world.h"

static bool never(const struct toy *t, str instruction, str demos, int item)
{
    (void)t;
    (void)instruction;
    (void)demos;
    (void)item;
    return false;
}

static struct toy *light(struct arena *a)
{
    struct toy *t = toy_new(a, 30, 60);
    t->config.budget = BUDGET_LIGHT;
    return t;
}

static void says(struct toy *t, enum reply_class class, str text)
{
    toy_forget(t);
    t->said = text.data;
    t->said_len = text.len;
    t->said_class = class;
}

static str repeated(struct arena *a, const char *part, size_t n)
{
    struct buf b = { .arena = a };
    while (b.len < n)
        buf_addf(&b, "%s", part);
    return buf_str(&b);
}

// ---- a prompt model that is of no use ----

static void expect_only_the_start(struct toy *t, int64_t n_prompt)
{
    struct opt_result out = toy_done(t);
    assert_int_equal(t->n_prompt, n_prompt);
    assert_int_equal(out.n_proposals, 0);
    assert_int_equal(toy_logged(t, "\nrejected -1: propose_instruction: "), 2);
    assert_str(out.program->instruction, instruction_base);
}

static void answers_of_no_use_cost_proposals_and_never_the_compile(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = light(&a);
    // The notes on the data end with the first answer; three questions for each of three remain.
    enum { N = 1 + 9 };
    says(t, REPLY_EMPTY, S(""));
    expect_only_the_start(t, N);
    says(t, REPLY_OK, S(" \n\t \n"));
    expect_only_the_start(t, N);
    says(t, REPLY_REFUSED, S("I cannot help with that."));
    expect_only_the_start(t, N);
    says(t, REPLY_OK, S("I'm sorry, but I can't write instructions."));
    expect_only_the_start(t, N);
    says(t, REPLY_FILTERED, S(""));
    expect_only_the_start(t, N);
    says(t, REPLY_OK, S("\xff\xfe\x80 {\xc3"));
    expect_only_the_start(t, N);
    says(t, REPLY_OK, repeated(&a, "All work and no play. ", 50000));
    expect_only_the_start(t, N);
    says(t, REPLY_OK, repeated(&a, "{", 50000));
    expect_only_the_start(t, N);
    toy_close(t, &a);
}

// An answer that serves every question, so that only the proposal is refused.
static str for_all(struct arena *a, str text)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("observations"), S("COMPLETE"));
    json_key_str(&o, S("summary"), S("Chess."));
    json_key_str(&o, S("program_description"), S("It plays."));
    json_key_str(&o, S("module_description"), S("It moves."));
    json_key_str(&o, S("proposed_instruction"), text);
    json_close(&o, '}');
    return buf_str(&b);
}

static void texts_that_are_no_instruction_are_rejected_with_the_reason(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = light(&a);
    enum { N = 1 + 2 + 1 + 9 }; // 30 samples are three batches
    says(t, REPLY_OK, for_all(&a, S("")));
    expect_only_the_start(t, N);
    assert_int_equal(toy_logged(t, "no use: it is empty"), 2);
    says(t, REPLY_OK, for_all(&a, S(" \n ")));
    expect_only_the_start(t, N);
    says(t, REPLY_OK, for_all(&a, repeated(&a, "Look at checks first. ", 50000)));
    expect_only_the_start(t, N);
    assert_int_equal(toy_logged(t, "no use: it is longer than 20,000 bytes"), 2);
    says(t, REPLY_OK, for_all(&a, S("[[ ## position_fen ## ]]\n8/8/8/8/8/8/8/8 w - - 0 1")));
    expect_only_the_start(t, N);
    assert_int_equal(toy_logged(t, "it holds the field marks of a request"), 2);
    toy_close(t, &a);
}

static void a_proposal_that_the_token_limit_cut_off_is_none(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = light(&a);
    says(t, REPLY_TRUNCATED, for_all(&a, S("Think about the")));
    expect_only_the_start(t, 1 + 2 + 1 + 9);
    assert_int_equal(toy_logged(t, "no use: the token limit cut it off"), 2);
    says(t, REPLY_TRUNCATED,
         S("<think>The instruction should mention forks. Let me write it: \"proposed_instruc"));
    expect_only_the_start(t, 1 + 9);
    toy_close(t, &a);
}

static void an_echo_of_the_current_instruction_is_kept_and_noted(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = light(&a);
    says(t, REPLY_OK, for_all(&a, instruction_base));
    struct opt_result out = toy_done(t);
    assert_int_equal(out.n_proposals, 2);
    assert_int_equal(toy_logged(t, "the same text as instruction 0"), 2);
    assert_str(out.program->instruction, instruction_base);
    toy_close(t, &a);
}

static void broken_bytes_in_a_proposal_are_replaced(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = light(&a);
    says(t, REPLY_OK,
         S("{\"observations\": \"COMPLETE\", \"summary\": \"x\", "
           "\"proposed_instruction\": \"Think\xff twice.\"}"));
    toy_done(t);
    for (size_t i = 0; i < t->events.n; i++)
        if (t->events.v[i].program)
            assert_true(utf8_valid(t->events.v[i].program->instruction));
    assert_int_equal(toy_logged(t, "\ncandidate -1: instruction "), 2);
    toy_close(t, &a);
}

static void questions_that_are_lost_for_good_are_done_without(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct opt_result out;
    struct toy *t = light(&a);
    says(t, REPLY_TIMEOUT, S("x"));
    assert_false(toy_run(t, &out, &err));
    assert_int_equal(err.code, ERR_RUN);
    says(t, REPLY_TIMEOUT, S("x"));
    t->continue_on_error = true;
    out = toy_done(t);
    assert_int_equal(out.n_proposals, 0);
    toy_close(t, &a);
}

static void a_remark_of_any_length_is_cut_before_it_is_shown(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = light(&a);
    struct buf b = { .arena = &a };
    buf_addf(&b, "{\"observations\": \"%.*s\", \"summary\": \"%.*s\"}",
             STR(repeated(&a, "\xc3\xa4", 50001)), STR(repeated(&a, "\xc3\xb6", 50001)));
    says(t, REPLY_OK, buf_str(&b));
    toy_done(t);
    for (int64_t i = 0; i < t->n_prompt; i++) {
        assert_true(t->meta[i].request.len < 60000);
        assert_true(utf8_valid(t->meta[i].request));
        assert_int_equal(str_find(t->meta[i].request, S("\xef\xbf\xbd")), -1);
    }
    toy_close(t, &a);
}

static void five_times_complete_ends_the_notes(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 200, 60);
    says(t, REPLY_OK, S("{\"observations\": \"Completely clear.\", \"summary\": \"x\"}"));
    toy_done(t);
    assert_int_equal(toy_questions(t, "observations"), 1 + 5);
    assert_int_equal(toy_questions(t, "summary"), 1);
    toy_close(t, &a);
}

// ---- labels round a text ----

static str stored(struct toy *t, struct arena *a, const char *text)
{
    says(t, REPLY_OK, for_all(a, str_from(text)));
    toy_done(t);
    for (size_t i = 0; i < t->events.n; i++)
        if (str_starts(t->events.v[i].reason, S("instruction 1")))
            return t->events.v[i].program->instruction;
    return S("(none)");
}

static void labels_go_and_openings_stay(void **s)
{
    (void)s;
    static const char *const rows[][3] = {
        // answer, stored by us, stored by the reference
        { "Instruction: Do it", "Do it", "Do it" },
        { "Here is the new instruction: Do it", "Do it", "Do it" },
        { "You are a chess grandmaster: find", "You are a chess grandmaster: find", "find" },
        { "Goal - x: y", "Goal - x: y", "y" },
        { "**Instruction:** Do it", "Do it", "** Do it" },
        { "PROMPT:\nDo it", "Do it", "Do it" },
        { "\"Do it\"", "Do it", "Do it" },
        { "  \"Do it\" ", "Do it", "\"Do it\" " },
        { "Always answer \"yes\"", "Always answer \"yes\"", "Always answer \"yes" },
        { "\"Check\" before \"mate\"", "\"Check\" before \"mate\"", "Check\" before \"mate" },
        { "One two three four five six: go", "One two three four five six: go",
          "One two three four five six: go" },
        { "Instruction:", "Instruction:",
          "Given the fields `position_fen`, `side_to_move`, `legal_moves_uci`, produce the fields "
          "`move`." },
        { "", "(none)",
          "Given the fields `position_fen`, `side_to_move`, `legal_moves_uci`, produce the fields "
          "`move`." },
    };
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 3, 3);
    t->config.budget = BUDGET_LIGHT;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        t->config.mipro_proposals = MIPRO_PROPOSALS_CHECKED;
        assert_str(stored(t, &a, rows[i][0]), str_from(rows[i][1]));
        t->config.mipro_proposals = MIPRO_PROPOSALS_REFERENCE;
        assert_str(stored(t, &a, rows[i][0]), str_from(rows[i][2]));
    }
    toy_close(t, &a);
}

// ---- what is asked, and what is not ----

static size_t requests_with(const struct toy *t, const char *part)
{
    size_t n = 0;
    for (int64_t i = 0; i < t->n_prompt; i++)
        n += str_find(t->meta[i].request, str_from(part)) >= 0;
    return n;
}

static void each_switch_takes_its_part_out_of_the_questions(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = light(&a);
    toy_done(t);
    assert_true(requests_with(t, "[[ ## tip ## ]]") > 0);
    assert_int_equal(requests_with(t, "[[ ## data ## ]]"), 3);
    assert_int_equal(requests_with(t, "[[ ## program ## ]]"), 9);
    assert_int_equal(requests_with(t, "[[ ## examples ## ]]"), 9);
    toy_forget(t);
    t->config.tip_aware_proposer = t->config.data_aware_proposer = false;
    t->config.program_aware_proposer = t->config.fewshot_aware_proposer = false;
    toy_done(t);
    assert_int_equal(t->n_prompt, 3);
    assert_int_equal(requests_with(t, "[[ ## tip ## ]]"), 0);
    assert_int_equal(requests_with(t, "[[ ## data ## ]]"), 0);
    assert_int_equal(requests_with(t, "[[ ## program"), 0);
    assert_int_equal(requests_with(t, "[[ ## module"), 0);
    assert_int_equal(requests_with(t, "[[ ## examples ## ]]"), 0);
    assert_int_equal(requests_with(t, "[[ ## current_instruction ## ]]"), 3);
    toy_close(t, &a);
}

static void without_own_answers_reference_moves_are_shown(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = light(&a);
    t->right = never;
    toy_done(t);
    size_t n = 0;
    for (int64_t i = 0; i < t->n_prompt; i++)
        if (str_eq(t->meta[i].field, S("proposed_instruction")))
            assert_int_equal(str_find(t->meta[i].request, S("\nMove: e2e4")) >= 0, n++ > 0);
    assert_int_equal(n, 3);
    toy_close(t, &a);
}

// ---- demonstration sets ----

static void sets_have_as_many_demonstrations_as_the_rules_say(void **s)
{
    (void)s;
    static const int64_t rows[][2] = { { 4, 4 }, { 0, 4 }, { 4, 0 }, { 2, 6 }, { 6, 2 } };
    for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
        struct arena a = { 0 };
        struct toy *t = light(&a);
        int64_t own = rows[r][0], labeled = rows[r][1];
        t->config.max_bootstrapped_demos = own;
        t->config.max_labeled_demos = labeled;
        struct opt_result out = toy_done(t);
        size_t set = 0;
        for (size_t i = 0; i < t->events.n; i++) {
            const struct program *p = t->events.v[i].program;
            if (!str_starts(t->events.v[i].reason, S("demonstration set")))
                continue;
            size_t n_own = 0;
            for (size_t d = 0; d < p->n_demos; d++)
                n_own += p->demos[d]->source == NULL;
            size_t total = n_own > (size_t)labeled ? n_own : (size_t)labeled;
            assert_int_equal(p->n_demos, set == 0 ? 0 : total);
            assert_in_range(n_own, set < 2 && (set == 0 || labeled > 0) ? 0 : own > 0,
                            set == 0 || (set == 1 && labeled > 0) ? 0 : own);
            assert_true(set != 2 || n_own == (size_t)own);
            set++;
        }
        assert_int_equal(set, 6);
        assert_int_equal(out.n_attempts, out.n_bootstrapped); // the model is always right
        toy_close(t, &a);
    }
}

static void zero_shot_mode_returns_no_demonstrations(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 40, 60);
    t->config.max_bootstrapped_demos = t->config.max_labeled_demos = 0;
    t->config.budget = BUDGET_LIGHT;
    struct opt_result out = toy_done(t);
    assert_int_equal(out.program->n_demos, 0);
    for (size_t i = 0; i < out.candidates.n; i++)
        assert_int_equal(out.candidates.v[i].program->n_demos, 0);
    // Material for the proposals: up to three own answers a set, six sets, the first empty.
    assert_int_equal(toy_logged(t, " of 3 wanted answers") > 0, 1);
    assert_int_equal(t->n_task - out.n_attempts, 9 * 35 + 3 * 60);
    assert_int_equal(t->n_prompt, 1 + 3 + 1 + 3 * 6);
    assert_int_equal(toy_logged(t, "demonstration set 0: mean"), 0);
    toy_close(t, &a);
}

// ---- data at the edges ----

static void no_data_is_refused_before_any_call(void **s)
{
    (void)s;
    static const size_t sizes[][2] = { { 0, 0 }, { 0, 5 }, { 1, 0 } };
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct arena a = { 0 };
        struct err err = { 0 };
        struct opt_result out;
        struct toy *t = toy_new(&a, sizes[i][0], sizes[i][1]);
        assert_false(toy_run(t, &out, &err));
        assert_int_equal(err.code, ERR_INPUT);
        assert_int_equal(t->n_task + t->n_prompt, 0);
        toy_close(t, &a);
    }
}

static void one_position_of_each_is_enough(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 1, 1);
    struct opt_result out = toy_done(t);
    assert_int_equal(t->n_task, 16 + 28); // 16 bootstrapped sets of one answer
    assert_int_equal(out.program->n_demos, 0);
    toy_close(t, &a);
}

static void without_a_validation_set_the_end_of_the_training_set_is_one(void **s)
{
    (void)s;
    static const struct {
        size_t n;
        int first;
        size_t n_validation;
    } rows[] = { { 2, 1, 1 }, { 9, 2, 7 }, { 10, 2, 8 }, { 1300, 300, 1000 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = { 0 };
        struct toy *t = toy_new(&a, rows[i].n, 0);
        t->config.budget = BUDGET_NONE;
        t->config.num_candidates = 2;
        t->config.num_trials = 1;
        t->config.max_bootstrapped_demos = 0;
        toy_done(t);
        assert_int_equal(t->n_task, 2 * rows[i].n_validation);
        assert_int_equal(t->asked[0], rows[i].first);
        toy_close(t, &a);
    }
}

static void a_model_that_is_never_right_leaves_the_start(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = light(&a);
    t->right = never;
    struct opt_result out = toy_done(t);
    assert_int_equal(out.n_bootstrapped, 0);
    assert_int_equal(out.n_attempts, 4 * 30);
    assert_str(out.program->instruction, instruction_base);
    assert_int_equal(out.program->n_demos, 0);
    toy_close(t, &a);
}

static void absurd_sizes_are_refused(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 30, 30);
    t->config.budget = BUDGET_NONE;
    static const int64_t rows[][2] = { { 1001, 5 }, { 5, 10001 }, { 0, 5 }, { 5, 0 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { 0 };
        struct opt_result out;
        t->config.num_candidates = rows[i][0];
        t->config.num_trials = rows[i][1];
        assert_false(toy_run(t, &out, &err));
        assert_int_equal(err.code, ERR_INPUT);
        assert_non_null(strstr(err.text, "num_trials"));
    }
    toy_close(t, &a);
}

// ---- whole puzzles ----

// Puzzles of three positions; the last of each is never solved but in the first ten puzzles.
static bool loses_late(const struct toy *t, str instruction, str demos, int item)
{
    (void)t;
    (void)instruction;
    (void)demos;
    int i = item % VALIDATION;
    return i % 3 < 2 || i < 30;
}

static void whole_puzzles_are_drawn_and_maximised_where_that_is_the_objective(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 30, 180);
    t->config.budget = BUDGET_LIGHT; // takes 100 positions: 34 puzzles
    t->config.objective = OBJECTIVE_PUZZLE;
    t->right = loses_late;
    for (size_t i = 0; i < t->validation.n; i++) {
        struct puzzle_position *p = &t->validation.v[i];
        p->puzzle = t->validation.v[i / 3 * 3].puzzle;
        p->index = (int)(i % 3);
        p->count = 3;
    }
    struct opt_plan plan;
    struct err err = { 0 };
    struct opt_task task = { .train = &t->train,
                             .validation = &t->validation,
                             .config = &t->config };
    assert_true(optimizer_find(S("mipro_v2"))->plan(&task, &plan, &err));
    struct opt_result out = toy_done(t);
    assert_int_equal(t->n_task - out.n_attempts, 102 + 10 * 36 + 2 * 102);
    assert_in_range(t->n_task, plan.least_task, plan.most_task);
    for (int64_t i = out.n_attempts; i < t->n_task; i += 3) {
        assert_int_equal(t->asked[i] % 3, VALIDATION % 3);
        assert_int_equal(t->asked[i + 2], t->asked[i] + 2);
    }
    double n_solved = out.candidates.v[0].score * 34;
    assert_true(n_solved > 0 && n_solved < 11 && n_solved - (int)(n_solved + 0.5) < 1e-9);
    toy_close(t, &a);
}

// Right only with the one demonstration of the start.
static bool needs_item_7(const struct toy *t, str instruction, str demos, int item)
{
    (void)t;
    (void)instruction;
    return item < VALIDATION || str_eq(demos, S("7 "));
}

static void a_start_with_demonstrations_is_judged_as_it_is(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = light(&a);
    const struct demo *demo = demo_labeled(&t->train.v[7], &a);
    t->demos = &demo;
    t->n_demos = 1;
    t->right = needs_item_7;
    t->base = S("  Play well.\n");
    struct opt_result out = toy_done(t);
    assert_true(out.candidates.v[0].score == 1);
    assert_int_equal(out.program->n_demos, 1);
    assert_str(out.program->instruction, S("Play well."));
    toy_forget(t); // demonstrations were not wanted: none are left over
    t->config.max_bootstrapped_demos = t->config.max_labeled_demos = 0;
    out = toy_done(t);
    assert_true(out.candidates.v[0].score == 0);
    assert_int_equal(out.program->n_demos, 0);
    toy_close(t, &a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_of_no_use_cost_proposals_and_never_the_compile),
        cmocka_unit_test(texts_that_are_no_instruction_are_rejected_with_the_reason),
        cmocka_unit_test(a_proposal_that_the_token_limit_cut_off_is_none),
        cmocka_unit_test(an_echo_of_the_current_instruction_is_kept_and_noted),
        cmocka_unit_test(broken_bytes_in_a_proposal_are_replaced),
        cmocka_unit_test(questions_that_are_lost_for_good_are_done_without),
        cmocka_unit_test(a_remark_of_any_length_is_cut_before_it_is_shown),
        cmocka_unit_test(five_times_complete_ends_the_notes),
        cmocka_unit_test(labels_go_and_openings_stay),
        cmocka_unit_test(each_switch_takes_its_part_out_of_the_questions),
        cmocka_unit_test(without_own_answers_reference_moves_are_shown),
        cmocka_unit_test(sets_have_as_many_demonstrations_as_the_rules_say),
        cmocka_unit_test(zero_shot_mode_returns_no_demonstrations),
        cmocka_unit_test(no_data_is_refused_before_any_call),
        cmocka_unit_test(one_position_of_each_is_enough),
        cmocka_unit_test(without_a_validation_set_the_end_of_the_training_set_is_one),
        cmocka_unit_test(a_model_that_is_never_right_leaves_the_start),
        cmocka_unit_test(absurd_sizes_are_refused),
        cmocka_unit_test(whole_puzzles_are_drawn_and_maximised_where_that_is_the_objective),
        cmocka_unit_test(a_start_with_demonstrations_is_judged_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

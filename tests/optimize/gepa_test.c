// SPDX-License-Identifier: GPL-3.0-or-later
// GEPA from end to end, on real positions with scripted models: call counts at the size of the
// paper, data at the edges, replay after a kill, saved calls.
#include "gepa_world.h"

// ---- call counts ----

static void calls_at_paper_size_are_those_of_the_formulas(void **s)
{
    (void)s;
    for (uint64_t seed = 42; seed <= 44; seed++) {
        struct arena a = { 0 };
        struct world *w = world_new(&a, "paper");
        world_split(w, seed);
        w->config.budget = BUDGET_HEAVY;
        struct opt_result out = world_done(w);
        int64_t v = (int64_t)w->validation.n, budget = 7 * v + 1035;
        int64_t n_accepted = (int64_t)logged(w, "\naccepted "),
                n_perfect = (int64_t)logged(w, "\nskipped ");
        int64_t n_rejected = (int64_t)logged(w, "\nrejected ");
        assert_int_equal(w->n_task,
                         v * (1 + n_accepted) + 6 * (n_accepted + n_rejected) + 3 * n_perfect);
        assert_in_range(w->n_task, budget, budget + 6 + v - 1);
        assert_int_equal(w->n_prompt, n_accepted + n_rejected);
        assert_int_equal(out.n_proposals, w->n_prompt);
        assert_true(n_accepted <= (budget - v + v + 5) / (v + 6));
        assert_string_equal(out.finish, "budget");
        world_close(w, &a);
    }
}

// What a run would do, from data and options alone.
static struct opt_plan planned(const struct world *w)
{
    struct err err = { 0 };
    struct opt_plan plan;
    struct opt_task task = { .train = &w->train,
                             .validation = &w->validation,
                             .max_metric_calls = w->max_metric_calls,
                             .config = &w->config };
    if (!optimizer_find(S("gepa"))->plan(&task, &plan, &err))
        fail_msg("%s", err.text);
    return plan;
}

static void the_plan_bounds_what_the_run_does(void **s)
{
    (void)s;
    static const int64_t budgets[] = { 1, 20, 21, 60, 200, 555 };
    for (size_t i = 0; i < ARRAY_LEN(budgets); i++)
        for (int improved = 0; improved <= 1; improved++) {
            struct arena a = { 0 };
            struct world *w = world_small(&a, improved ? "improved" : "paper");
            w->max_metric_calls = budgets[i];
            if (improved && budgets[i] < 20)
                w->max_metric_calls = 20;
            struct opt_plan plan = planned(w);
            world_done(w);
            assert_in_range(w->n_task, plan.least_task, plan.most_task);
            assert_in_range(w->n_prompt, plan.least_prompt, plan.most_prompt);
            world_close(w, &a);
        }
}

static void the_plan_at_paper_size_is_that_of_the_specification(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = world_new(&a, "paper");
    w->config.budget = BUDGET_HEAVY;
    w->validation.n = 338;
    struct opt_plan plan = planned(w);
    assert_int_equal(plan.least_task, 3401);
    assert_int_equal(plan.most_task, 3744);
    assert_int_equal(plan.most_prompt, 511);
    world_close(w, &a);
}

static char warned[500];

static void keep_warning(enum log_level level, str line)
{
    if (level == LOG_WARN)
        snprintf(warned, sizeof warned, "%.*s", STR(line));
}

// Six positions, minibatches of three: three proposals take 33 calls at the least, 42 by the
// reckoning of the reference.
static void a_budget_for_fewer_than_three_proposals_is_warned_of(void **s)
{
    (void)s;
    static const struct {
        const char *preset;
        int64_t budget;
        bool warns;
    } cases[] = { { "paper", 8, true },    { "paper", 41, true },    { "paper", 42, false },
                  { "improved", 8, true }, { "improved", 32, true }, { "improved", 33, false } };
    log_to(keep_warning);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        struct world *w = world_small(&a, cases[i].preset);
        w->validation.n = 6;
        w->max_metric_calls = cases[i].budget;
        warned[0] = '\0';
        struct opt_result out = world_done(w);
        assert_int_equal(strstr(warned, "hardly enough") != NULL, cases[i].warns);
        if (i == 3) { // and then the budget holds, and nothing was tried
            assert_int_equal(w->n_task, 6);
            assert_int_equal(logged(w, "0 fully evaluated"), 1);
            assert_string_equal(out.finish, "budget");
        }
        world_close(w, &a);
    }
    log_to(NULL);
}

static void a_budget_in_full_evaluations_counts_all_positions(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = world_small(&a, "paper");
    w->config.gepa_max_full_evals = 4;
    world_done(w);
    assert_in_range(w->n_task, 4 * 60, 4 * 60 + 25);
    world_close(w, &a);
}

static void two_budgets_at_once_are_refused(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct opt_result out;
    struct world *w = world_small(&a, "paper");
    w->config.budget = BUDGET_LIGHT;
    w->config.gepa_max_full_evals = 4;
    assert_false(world_run(w, &out, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_non_null(strstr(err.text, "auto"));
    world_close(w, &a);
}

static void a_hard_budget_is_not_exceeded(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct opt_result out;
    struct world *w = world_small(&a, "improved");
    world_done(w);
    assert_true(w->n_task <= 200);
    w->max_metric_calls = 19; // less than the validation set
    assert_false(world_run(w, &out, &err));
    assert_int_equal(err.code, ERR_INPUT);
    world_close(w, &a);
}

// ---- data at the edges ----

static void all_wrong_and_all_right_leave_the_start(void **s)
{
    (void)s;
    for (int right = 0; right <= 1; right++)
        for (int improved = 0; improved <= 1; improved++) {
            struct arena a = { 0 };
            struct world *w = world_small(&a, improved ? "improved" : "paper");
            w->all_right = right == 1;
            w->all_wrong = right == 0;
            struct opt_result out = world_done(w);
            assert_str(out.program->instruction, instruction_base);
            assert_int_equal(w->n_prompt > 0, right == 0);
            assert_string_equal(out.finish, right && improved ? "perfect_baseline" : "budget");
            world_close(w, &a);
        }
}

static void a_prompt_model_without_ideas_ends_as_stalled(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = world_small(&a, "improved");
    w->all_wrong = true;
    w->said = "";
    struct opt_result out = world_done(w);
    assert_string_equal(out.finish, "stalled");
    assert_int_equal(logged(w, ": iteration "), 20);
    world_close(w, &a);
}

static void one_position_of_each_set_is_enough(void **s)
{
    (void)s;
    for (int improved = 0; improved <= 1; improved++) {
        struct arena a = { 0 };
        struct world *w = world_small(&a, improved ? "improved" : "paper");
        w->train.n = w->validation.n = 1;
        world_done(w);
        assert_in_range(w->n_task, 1, 200 + 6);
        world_close(w, &a);
    }
}

static void minibatches_beyond_all_data_are_refused(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct opt_result out;
    struct world *w = world_small(&a, "paper");
    w->config.reflection_minibatch_size = 2000000000;
    assert_false(world_run(w, &out, &err));
    assert_int_equal(err.code, ERR_INPUT);
    w->config.reflection_minibatch_size = 100; // as the reference fills them
    assert_true(world_run(w, &out, &err));
    world_close(w, &a);
}

static void without_data_it_is_refused(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct opt_result out;
    struct world *w = world_small(&a, "paper");
    w->validation.n = 0;
    assert_false(world_run(w, &out, &err));
    assert_int_equal(err.code, ERR_INPUT);
    world_close(w, &a);
}

static void refused_positions_score_nothing_and_end_nothing(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = world_small(&a, "improved");
    w->refuses = true;
    world_done(w);
    assert_true(str_find(w->requests, S("# Example 3")) >= 0);
    world_close(w, &a);
}

// ---- whole puzzles ----

static void whole_puzzles_are_the_examples_where_they_count(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = world_small(&a, "paper");
    w->config.objective = OBJECTIVE_PUZZLE;
    w->config.gepa_max_iterations = 1;
    w->all_right = true;
    struct opt_result out = world_done(w);
    assert_true(out.candidates.v[0].score == 1);
    w->all_right = false;
    world_forget(w);
    out = world_done(w);
    // By hand: a puzzle counts where all its positions (in the set) are right.
    size_t n = 0, solved = 0;
    for (size_t i = 0; i < w->validation.n; n++) {
        const struct puzzle *puzzle = w->validation.v[i].puzzle;
        bool all = true;
        for (; i < w->validation.n && w->validation.v[i].puzzle == puzzle; i++)
            all &=
                hash64(arena_printf(&a, " %.*s", STR(w->validation.v[i].inputs[0]))) % 1000 < 350;
        solved += all;
    }
    assert_true(n < w->validation.n);
    assert_true(out.candidates.v[0].score == (double)solved / (double)n);
    world_close(w, &a);
}

// ---- replay, order, saving ----

static str story(struct world *w, struct opt_result *out)
{
    *out = world_done(w);
    return arena_str(w->arena, buf_str(&w->log));
}

static void a_killed_run_repeated_ends_as_if_it_had_not_been(void **s)
{
    (void)s;
    for (int improved = 0; improved <= 1; improved++) {
        struct arena a = { 0 };
        struct world *w = world_small(&a, improved ? "improved" : "paper");
        struct opt_result out, again;
        struct err err = { 0 };
        str want = story(w, &out);
        int64_t n_task = w->n_task, n_prompt = w->n_prompt;
        for (int64_t at = 1; at < n_task + n_prompt; at += 17) {
            world_forget(w);
            w->dies_at = at;
            assert_false(world_run(w, &again, &err));
            int64_t made = w->n_task + w->n_prompt;
            w->dies_at = 0;
            assert_str(story(w, &again), want);
            assert_int_equal(made + w->n_task + w->n_prompt, n_task + n_prompt);
            assert_str(again.program->instruction, out.program->instruction);
        }
        assert_str(story(w, &again), want); // and a finished one asks nothing
        assert_int_equal(w->n_task + w->n_prompt, 0);
        world_close(w, &a);
    }
}

static void the_number_of_slots_changes_nothing(void **s)
{
    (void)s;
    static const int slots[] = { 1, 4, 16 };
    struct arena a = { 0 };
    str want = S("");
    for (size_t i = 0; i < ARRAY_LEN(slots); i++) {
        struct world *w = world_small(&a, "paper");
        struct opt_result out;
        w->slots = slots[i];
        str got = story(w, &out);
        if (i > 0)
            assert_str(got, want);
        want = got;
        store_close(w->db);
    }
    arena_free(&a);
}

static void saved_calls_change_no_decision(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct opt_result out[2];
    int64_t n_task[2];
    for (int save = 0; save <= 1; save++) {
        struct world *w = world_small(&a, "paper");
        w->train.n = 12; // so that minibatches come again
        w->max_metric_calls = 600;
        w->config.gepa_save_calls = save == 1;
        out[save] = world_done(w);
        n_task[save] = w->n_task;
        assert_int_equal(logged(w, save ? " 0 saved" : "(0 saved"), 0);
        store_close(w->db);
    }
    assert_true(n_task[1] < n_task[0]);
    assert_str(out[1].program->instruction, out[0].program->instruction);
    assert_int_equal(out[0].candidates.n, out[1].candidates.n);
    for (size_t i = 0; i + 1 < out[0].candidates.n; i++) {
        assert_str(out[1].candidates.v[i].program->instruction,
                   out[0].candidates.v[i].program->instruction);
        if (out[0].candidates.v[i].n_positions == 20)
            assert_true(out[0].candidates.v[i].score == out[1].candidates.v[i].score);
    }
    arena_free(&a);
}

static void nothing_is_remembered_at_a_temperature(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = world_small(&a, "paper");
    w->temperature = 0.7;
    w->config.gepa_save_calls = true;
    w->all_wrong = true;
    w->config.gepa_max_iterations = 14; // beyond an epoch
    world_done(w);
    // 14 iterations run all 3 of the parent; the child loses at once only with all of them run.
    assert_int_equal(w->n_task, 20 + 14 * 6);
    world_close(w, &a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_at_paper_size_are_those_of_the_formulas),
        cmocka_unit_test(the_plan_bounds_what_the_run_does),
        cmocka_unit_test(the_plan_at_paper_size_is_that_of_the_specification),
        cmocka_unit_test(a_budget_for_fewer_than_three_proposals_is_warned_of),
        cmocka_unit_test(a_budget_in_full_evaluations_counts_all_positions),
        cmocka_unit_test(two_budgets_at_once_are_refused),
        cmocka_unit_test(a_hard_budget_is_not_exceeded),
        cmocka_unit_test(all_wrong_and_all_right_leave_the_start),
        cmocka_unit_test(a_prompt_model_without_ideas_ends_as_stalled),
        cmocka_unit_test(one_position_of_each_set_is_enough),
        cmocka_unit_test(minibatches_beyond_all_data_are_refused),
        cmocka_unit_test(without_data_it_is_refused),
        cmocka_unit_test(refused_positions_score_nothing_and_end_nothing),
        cmocka_unit_test(whole_puzzles_are_the_examples_where_they_count),
        cmocka_unit_test(a_killed_run_repeated_ends_as_if_it_had_not_been),
        cmocka_unit_test(the_number_of_slots_changes_nothing),
        cmocka_unit_test(saved_calls_change_no_decision),
        cmocka_unit_test(nothing_is_remembered_at_a_temperature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

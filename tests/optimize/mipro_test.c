// SPDX-License-Identifier: GPL-3.0-or-later
// MIPROv2 from end to end with scripted models: the counts and draws of the few-shot specification
// (6.1 and 8.4), full evaluations, saved calls, replay.
#include "mipro_world.h"

static bool never(const struct toy *t, str instruction, str demos, int item)
{
    (void)t;
    (void)instruction;
    (void)demos;
    (void)item;
    return false;
}

// ---- call counts ----

static void calls_are_those_of_the_table(void **s)
{
    (void)s;
    static const struct {
        enum auto_budget budget;
        size_t n_validation;
        int64_t n_evaluation, n_prompt;
    } rows[] = {
        { BUDGET_LIGHT, 338, 650, 20 },    { BUDGET_MEDIUM, 338, 2130, 29 },
        { BUDGET_HEAVY, 338, 3311, 38 },   { BUDGET_HEAVY, 60, 1365, 38 },
        { BUDGET_LIGHT, 60, 530, 20 },     { BUDGET_MEDIUM, 60, 930, 29 },
        { BUDGET_LIGHT, 50, 11 * 50, 20 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = { 0 };
        struct toy *t = toy_new(&a, 120, rows[i].n_validation);
        t->config.budget = rows[i].budget;
        struct opt_result out = toy_done(t);
        assert_int_equal(t->n_task - out.n_attempts, rows[i].n_evaluation);
        assert_int_equal(t->n_prompt, rows[i].n_prompt);
        toy_close(t, &a);
    }
}

static void the_questions_of_heavy_are_1_9_1_and_three_for_each_instruction(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 120, 60);
    struct opt_result out = toy_done(t);
    assert_int_equal(t->n_task, 1365 + 36);
    assert_int_equal(toy_questions(t, "observations"), 1 + 9);
    assert_int_equal(toy_questions(t, "summary"), 1);
    assert_int_equal(toy_questions(t, "program_description"), 9);
    assert_int_equal(toy_questions(t, "module_description"), 9);
    assert_int_equal(toy_questions(t, "proposed_instruction"), 9);
    assert_int_equal(out.n_proposals, 8);
    // The model is always right: the start wins all ties.
    assert_str(out.program->instruction, instruction_base);
    assert_int_equal(out.program->n_demos, 0);
    toy_close(t, &a);
}

// 559 puzzles as the paper has them, in an order of no meaning, split under a seed; 1,439
// positions.
static void make_paper_data(struct toy *t, uint64_t seed)
{
    static const size_t n_of_length[] = { 0, 159, 160, 80, 80, 80 };
    size_t made[6] = { 0 };
    struct puzzles all = { 0 };
    struct puzzle_split split;
    struct err err = { 0 };
    for (size_t i = 0; all.n < 559; i++) {
        size_t length = 1 + i * 7 % 5;
        if (made[length]++ < n_of_length[length]) {
            struct puzzle *p = vec_push(t->arena, &all);
            *p = (struct puzzle){ .id = arena_printf(t->arena, "q%zu", all.n),
                                  .n_moves = 2 * length };
        }
    }
    struct puzzle_split_opts how = { .seed = seed, .validation_size = 140 };
    assert_true(puzzles_split(&all, &how, t->arena, &split, &err));
    struct puzzles *sets[] = { &split.train, &split.validation };
    struct puzzle_positions *to[] = { &t->train, &t->validation };
    struct puzzle_position like = t->train.v[0];
    for (int set = 0; set < 2; set++) {
        size_t n = 0;
        *to[set] = (struct puzzle_positions){ 0 };
        for (size_t i = 0; i < sets[set]->n; i++)
            for (size_t k = 0; k < sets[set]->v[i].n_moves / 2; k++) {
                struct puzzle_position *p = vec_push(t->arena, to[set]);
                *p = like;
                p->puzzle = &sets[set]->v[i];
                p->index = (int)k;
                p->count = (int)sets[set]->v[i].n_moves / 2;
                p->inputs[0] = arena_printf(t->arena, "%zu", n++ + (set ? VALIDATION : 0));
            }
    }
    assert_int_equal(t->train.n + t->validation.n, 1439);
}

static void calls_at_paper_size_are_those_of_the_formulas(void **s)
{
    (void)s;
    for (uint64_t seed = 42; seed <= 44; seed++) {
        struct arena a = { 0 };
        struct toy *t = toy_new(&a, 1, 1);
        make_paper_data(t, seed);
        t->seed = seed;
        struct opt_result out = toy_done(t);
        assert_int_equal(t->n_task, 27 * 35 + 7 * (int64_t)t->validation.n + out.n_attempts);
        assert_int_equal(t->n_prompt, 11 + 3 * 9);
        toy_close(t, &a);
    }
}

static struct opt_plan planned(const struct toy *t)
{
    struct err err = { 0 };
    struct opt_plan plan;
    struct opt_task task = { .train = &t->train,
                             .validation = &t->validation,
                             .config = &t->config };
    if (!optimizer_find(S("mipro_v2"))->plan(&task, &plan, &err))
        fail_msg("%s", err.text);
    return plan;
}

static void the_plan_bounds_what_the_run_does(void **s)
{
    (void)s;
    static const enum auto_budget budgets[] = { BUDGET_NONE, BUDGET_LIGHT, BUDGET_MEDIUM,
                                                BUDGET_HEAVY };
    static const size_t sizes[][2] = { { 1, 1 }, { 7, 0 }, { 30, 20 }, { 120, 60 } };
    for (size_t i = 0; i < 4 * 4 * 8; i++) {
        struct arena a = { 0 };
        struct toy *t = toy_new(&a, sizes[i / 4 % 4][0], sizes[i / 4 % 4][1]);
        if (i & 16)
            optimizer_defaults(&t->config, METHOD_MIPRO_V2, S("improved"));
        t->config.budget = budgets[i % 4];
        t->config.num_candidates = t->config.num_trials = budgets[i % 4] ? 0 : 5;
        if (i & 32)
            t->config.max_labeled_demos = 0;
        if (i & 64)
            t->config.max_bootstrapped_demos = 0;
        t->right = i & 4 ? never : NULL;
        struct opt_plan plan = planned(t);
        toy_done(t);
        assert_in_range(t->n_task, plan.least_task, plan.most_task);
        assert_in_range(t->n_prompt, plan.least_prompt, plan.most_prompt);
        toy_close(t, &a);
    }
}

static void the_plan_at_paper_size_is_that_of_the_specification(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 1101, 338);
    struct opt_plan plan = planned(t);
    assert_int_equal(plan.most_task, 3311 + 16 * 1101);
    assert_int_equal(plan.least_task, 27 * 35 + 2 * 338 + 4 + 15);
    assert_int_equal(plan.most_prompt, 38);
    t->config.mipro_force_full_eval = true;
    assert_int_equal(planned(t).most_task, 28 * 338 + 16 * 1101);
    toy_close(t, &a);
}

// ---- draws ----

static const struct {
    uint64_t seed;
    size_t n_train, n_validation;
    int permutation[5];
    int sizes[15];
    int tips[9];
} draws[] = {
    { 42,
      1101,
      338,
      { 327, 57, 12, 140, 125 },
      { 1, 3, 3, 1, 4, 2, 2, 3, 3, 3, 2, 1, 2, 1, 2 },
      { 3, 5, 1, 0, 4, 5, 2, 5, 4 } },
    { 43,
      1075,
      364,
      { 19, 146, 356, 73, 236 },
      { 2, 1, 2, 3, 2, 2, 1, 3, 4, 3, 1, 3, 2, 2, 1 },
      { 0, 3, 0, 5, 3, 0, 4, 1, 5 } },
    { 44,
      1102,
      337,
      { 209, 266, 277, 59, 90 },
      { 3, 3, 2, 4, 4, 4, 4, 1, 2, 1, 3, 4, 3, 2, 2 },
      { 1, 4, 4, 3, 4, 1, 5, 5, 1 } },
};

static str tip_of(str request)
{
    str mark = S("[[ ## tip ## ]]\n");
    ptrdiff_t at = str_find(request, mark);
    if (at < 0)
        return S("");
    str rest = str_sub(request, (size_t)at + mark.len, request.len);
    return str_cut_line(&rest);
}

// Equal numbers have equal texts, different ones different texts, 0 none.
static void expect_tips(const struct toy *t, const int *want)
{
    str texts[6] = { 0 };
    size_t n = 0;
    for (int64_t i = 0; i < t->n_prompt; i++) {
        if (!str_eq(t->meta[i].field, S("proposed_instruction")))
            continue;
        str tip = tip_of(t->meta[i].request);
        int number = want[n++];
        assert_int_equal(tip.len == 0, number == 0);
        if (texts[number].len > 0)
            assert_str(tip, texts[number]);
        texts[number] = tip;
    }
    assert_int_equal(n, 9);
    for (int x = 1; x < 6; x++)
        for (int y = 1; y < x; y++)
            assert_true(texts[x].len == 0 || !str_eq(texts[x], texts[y]));
}

static void all_draws_are_those_of_the_reference(void **s)
{
    (void)s;
    for (size_t i = 0; i < ARRAY_LEN(draws); i++) {
        struct arena a = { 0 };
        struct toy *t = toy_new(&a, draws[i].n_train, draws[i].n_validation);
        t->seed = draws[i].seed;
        struct opt_result out = toy_done(t);
        size_t at = 4; // the set in order: four calls, the model being always right
        static const int first_42[] = { 677, 1036, 807, 654, 151 };
        for (size_t set = 0; set < 15; set++) {
            if (draws[i].seed == 42 && set < 5)
                assert_int_equal(t->asked[at], first_42[set]);
            at += (size_t)draws[i].sizes[set];
        }
        assert_int_equal(out.n_attempts, at);
        for (size_t k = 0; k < 5; k++)
            assert_int_equal(t->asked[at + k], VALIDATION + draws[i].permutation[k]);
        expect_tips(t, draws[i].tips);
        toy_close(t, &a);
    }
}

static void the_first_rollout_and_minibatch_of_seed_42_are_those_of_the_reference(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 1101, 338);
    struct opt_result out = toy_done(t);
    static const int batch[] = { 203, 68, 197, 53, 150 }; // places in the drawn order
    const int *validation = t->asked + out.n_attempts;
    for (size_t i = 0; i < ARRAY_LEN(batch); i++)
        assert_int_equal(validation[338 + i], validation[batch[i]]);
    assert_int_equal(t->meta[11].sample, 664078159);
    for (int64_t i = 0; i < t->n_prompt; i++)
        assert_true(t->meta[i].temperature == 1.0);
    toy_close(t, &a);
}

static void skipping_the_first_proposal_leaves_the_others_as_they_are(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 120, 60);
    toy_done(t);
    struct meta *asked = NEW_ARRAY(&a, struct meta, META_MAX);
    memcpy(asked, t->meta, sizeof t->meta);
    toy_forget(t);
    t->config.mipro_first_proposal = MIPRO_FIRST_SKIPPED;
    toy_done(t);
    assert_int_equal(t->n_prompt, 38 - 3);
    for (int64_t i = 11; i < t->n_prompt; i++) {
        assert_int_equal(t->meta[i].sample, asked[i + 3].sample);
        assert_str(tip_of(t->meta[i].request), tip_of(asked[i + 3].request));
    }
    toy_close(t, &a);
}

// ---- the search ----

static void full_evaluations_are_rows_7_13_19_25_31_34_of_heavy(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 120, 60);
    t->right = never;
    toy_done(t);
    size_t row = 0;
    static const size_t full[] = { 1, 7, 13, 19, 25, 31, 34 };
    size_t n_full = 0;
    for (size_t i = 0; i < t->events.n; i++) {
        const struct opt_event *e = &t->events.v[i];
        if (!e->scored)
            continue;
        row++;
        assert_int_equal(e->n_positions == 60, n_full < 7 && row == full[n_full]);
        n_full += e->n_positions == 60;
        assert_true(str_starts(e->reason, arena_printf(&a, "record %zu, ", row - 1)));
    }
    assert_int_equal(row, 34);
    toy_close(t, &a);
}

// Pairs A = (1, 0), A again, B = (2, 0).
static size_t chosen_below(void *ctx, const char *stream, size_t n)
{
    static const size_t picks[] = { 1, 0, 1, 0, 2, 0 };
    assert_string_equal(stream, "tpe");
    size_t pick = picks[(*(size_t *)ctx)++];
    assert_in_range(pick, 0, n - 1);
    return pick;
}

struct luck {
    size_t n_a, n_b;
};

// A: 9 of 10 in its first minibatch, 5 of 10 in its second, 55 of 100 then; B: 8 of 10, 62 of 100.
static bool as_case_073_says(const struct toy *t, str instruction, str demos, int item)
{
    struct luck *luck = t->ctx;
    (void)demos;
    if (str_find(instruction, S("Variant 17.")) >= 0) {
        size_t i = luck->n_a++;
        return i < 10 ? i < 9 : i < 20 ? i < 15 : i < 75;
    }
    if (str_find(instruction, S("Variant 20.")) >= 0) {
        size_t i = luck->n_b++;
        return i < 10 ? i < 8 : i < 72;
    }
    return item < VALIDATION + 60; // the start: 60 of 100
}

static void promotion_goes_by_the_mean_and_the_winner_by_full_evaluations(void **s)
{
    (void)s;
    struct arena a = { 0 };
    size_t n_drawn = 0;
    struct luck luck = { 0 };
    struct chance chance = { .ctx = &n_drawn, .below = chosen_below };
    struct toy *t = toy_new(&a, 120, 100);
    t->chance = &chance;
    t->right = as_case_073_says;
    t->ctx = &luck;
    t->config.budget = BUDGET_NONE;
    t->config.num_candidates = t->config.num_trials = 3;
    t->config.minibatch = true;
    t->config.mipro_minibatch_size = 10;
    struct opt_result out = toy_done(t);
    assert_int_equal(luck.n_a, 20); // never fully evaluated
    assert_int_equal(luck.n_b, 110);
    assert_int_equal(toy_logged(t, "mean of its minibatches so far (2): 70.00 %"), 1);
    assert_int_equal(toy_logged(t, "\naccepted 2 62.00 of 100"), 1);
    assert_str(out.program->instruction, S("Variant 20."));
    assert_int_equal(out.candidates.n, 3);
    assert_true(out.candidates.v[0].n_positions == 100 && out.candidates.v[0].score == 0.6);
    assert_true(out.candidates.v[1].n_positions == 10);
    assert_true(out.candidates.v[2].n_positions == 100 && out.candidates.v[2].score == 0.62);
    toy_close(t, &a);
}

static void pairs_that_all_have_been_evaluated_skip_the_full_evaluation(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 20, 60);
    t->config.budget = BUDGET_NONE;
    t->config.num_candidates = 1; // one pair: the start
    t->config.num_trials = 12;
    t->config.minibatch = true;
    struct opt_result out = toy_done(t);
    assert_int_equal(toy_logged(t, "\nskipped -1: a full evaluation"), 2);
    assert_int_equal(t->n_task, 60 + 12 * 35 + 60);
    assert_str(out.program->instruction, instruction_base);
    toy_close(t, &a);
}

static void a_minibatch_as_large_as_the_set_is_the_set_in_its_order(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 20, 15);
    t->config.budget = BUDGET_NONE;
    t->config.num_candidates = 3;
    t->config.num_trials = 5;
    t->config.minibatch = true;
    t->config.mipro_minibatch_size = 15;
    struct opt_result out = toy_done(t);
    assert_int_equal(t->n_task - out.n_attempts, 15 + 5 * 15 + 15);
    for (int64_t i = out.n_attempts; i < t->n_task; i++)
        assert_int_equal(t->asked[i], VALIDATION + (i - out.n_attempts) % 15);
    toy_close(t, &a);
}

static void minibatches_larger_than_the_set_are_refused(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct opt_result out;
    struct toy *t = toy_new(&a, 20, 60);
    t->config.mipro_minibatch_size = 61;
    assert_false(toy_run(t, &out, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_non_null(strstr(err.text, "mipro.minibatch_size"));
    assert_int_equal(t->n_task, 0);
    t->config.mipro_force_full_eval = true;
    toy_done(t);
    toy_close(t, &a);
}

static void force_full_eval_overrides_the_rule_of_auto(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 120, 60);
    t->config.mipro_force_full_eval = true;
    struct opt_result out = toy_done(t);
    assert_int_equal(t->n_task - out.n_attempts, 28 * 60);
    toy_close(t, &a);
}

// ---- saved calls ----

// Reads its items honestly: equal requests, equal answers.
static bool by_hash(const struct toy *t, str instruction, str demos, int item)
{
    return toy_noise(arena_printf(t->arena, "%.*s|%.*s|%d", STR(instruction), STR(demos), item)) <
           0.5;
}

static void saving_calls_reaches_the_same_program_with_fewer(void **s)
{
    (void)s;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct arena a = { 0 };
        struct toy *t = toy_new(&a, 120, 40); // no minibatches
        t->right = by_hash;
        t->seed = seed;
        struct opt_result paper = toy_done(t);
        int64_t n_paper = t->n_task;
        toy_forget(t);
        t->config.mipro_save_calls = true;
        struct opt_result saved = toy_done(t);
        assert_int_equal(paper.n_saved, 0);
        assert_true(saved.n_saved > 0 && saved.n_saved % 40 == 0);
        assert_int_equal(t->n_task + saved.n_saved, n_paper);
        assert_str(program_hash(saved.program, &a), program_hash(paper.program, &a));
        toy_close(t, &a);
    }
}

static void a_model_that_samples_is_asked_again(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 120, 40);
    t->right = by_hash;
    t->temperature = 0.7;
    t->config.mipro_save_calls = true;
    struct opt_result out = toy_done(t);
    assert_int_equal(out.n_saved, 0);
    assert_int_equal(t->n_task - out.n_attempts, 28 * 40);
    toy_close(t, &a);
}

static void saving_calls_never_evaluates_the_start_twice(void **s)
{
    (void)s;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct arena a = { 0 };
        struct toy *t = toy_new(&a, 120, 60);
        t->right = by_hash;
        t->seed = seed;
        t->config.mipro_save_calls = true;
        toy_done(t);
        assert_int_equal(toy_logged(t, "\nevaluated 0 ") - 1,
                         toy_logged(t, "instruction 0, demonstration set 0: mean"));
        assert_int_equal(toy_logged(t, "\naccepted 0 ") + toy_logged(t, "\nrejected 0 "), 0);
        toy_close(t, &a);
    }
}

static void a_perfect_score_ends_the_search_where_calls_are_saved(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 120, 60);
    t->config.mipro_save_calls = true;
    struct opt_result out = toy_done(t);
    assert_int_equal(t->n_task, 36 + 60);
    assert_string_equal(out.finish, "perfect");
    assert_str(out.program->instruction, instruction_base);
    toy_close(t, &a);
}

// ---- replay ----

static void a_killed_run_repeated_ends_as_if_it_had_not_been(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 30, 60);
    t->right = by_hash;
    t->config.budget = BUDGET_LIGHT;
    struct opt_result whole = toy_done(t);
    str log = arena_str(&a, buf_str(&t->log)), hash = program_hash(whole.program, &a);
    int64_t n = t->n_task + t->n_prompt;
    static const int64_t deaths[] = { 1, 3, 17, 40, 60, 100, 333, 570 };
    for (size_t i = 0; i < ARRAY_LEN(deaths); i++) {
        struct err err = { 0 };
        struct opt_result out;
        toy_forget(t);
        t->dies_at = deaths[i];
        assert_false(toy_run(t, &out, &err));
        int64_t made = t->n_task + t->n_prompt;
        t->dies_at = 0;
        out = toy_done(t);
        assert_in_range(made + t->n_task + t->n_prompt, n, n + 1); // what was in flight
        assert_str(buf_str(&t->log), log);
        assert_str(program_hash(out.program, &a), hash);
    }
    toy_close(t, &a);
}

static void how_many_are_asked_at_once_changes_nothing(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = toy_new(&a, 30, 60);
    t->right = by_hash;
    t->config.budget = BUDGET_LIGHT;
    t->slots = 1;
    toy_done(t);
    str log = arena_str(&a, buf_str(&t->log));
    toy_forget(t);
    t->slots = 16;
    toy_done(t);
    assert_str(buf_str(&t->log), log);
    toy_close(t, &a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_those_of_the_table),
        cmocka_unit_test(the_questions_of_heavy_are_1_9_1_and_three_for_each_instruction),
        cmocka_unit_test(calls_at_paper_size_are_those_of_the_formulas),
        cmocka_unit_test(the_plan_bounds_what_the_run_does),
        cmocka_unit_test(the_plan_at_paper_size_is_that_of_the_specification),
        cmocka_unit_test(all_draws_are_those_of_the_reference),
        cmocka_unit_test(the_first_rollout_and_minibatch_of_seed_42_are_those_of_the_reference),
        cmocka_unit_test(skipping_the_first_proposal_leaves_the_others_as_they_are),
        cmocka_unit_test(full_evaluations_are_rows_7_13_19_25_31_34_of_heavy),
        cmocka_unit_test(promotion_goes_by_the_mean_and_the_winner_by_full_evaluations),
        cmocka_unit_test(pairs_that_all_have_been_evaluated_skip_the_full_evaluation),
        cmocka_unit_test(a_minibatch_as_large_as_the_set_is_the_set_in_its_order),
        cmocka_unit_test(minibatches_larger_than_the_set_are_refused),
        cmocka_unit_test(force_full_eval_overrides_the_rule_of_auto),
        cmocka_unit_test(saving_calls_reaches_the_same_program_with_fewer),
        cmocka_unit_test(a_model_that_samples_is_asked_again),
        cmocka_unit_test(saving_calls_never_evaluates_the_start_twice),
        cmocka_unit_test(a_perfect_score_ends_the_search_where_calls_are_saved),
        cmocka_unit_test(a_killed_run_repeated_ends_as_if_it_had_not_been),
        cmocka_unit_test(how_many_are_asked_at_once_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

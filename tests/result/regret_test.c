// SPDX-License-Identifier: GPL-3.0-or-later
// Costs put together: which answers have one, and the figures over them.
#include "test.h"

#include "result/result.h"

enum { N = 7 };
struct bench {
    struct arena arena;
    struct outcome answers[N];
    struct regret_record searches[N];
    struct regret_move moves[N];
    struct regret_case cases[N];
    struct regret_summary s;
};

static void legal(struct bench *b, int i, int64_t cost_cp)
{
    b->moves[i] = (struct regret_move){ .search = { .depth = 20 }, .cost_cp = cost_cp };
    b->searches[i] = (struct regret_record){ .best = { .depth = 21 }, .v = &b->moves[i], .n = 1 };
    b->cases[i] = (struct regret_case){ .answer = &b->answers[i],
                                        .search = &b->searches[i],
                                        .played = &b->moves[i] };
}

// Costs 0, 0, 40, 99700; an illegal answer; one that did not arrive; an engine at fault.
static void bench_new(struct bench *b)
{
    static const int64_t costs[] = { 0, 0, 40, 99700 };
    *b = (struct bench){ 0 };
    for (int i = 0; i < 4; i++)
        legal(b, i, costs[i]);
    for (int i = 4; i < N; i++)
        b->cases[i].answer = &b->answers[i];
    b->answers[5].status = OUTCOME_FAILED;
    b->cases[6].failed = true;
    struct engine_limit limit = { ENGINE_BY_DEPTH, 20 };
    b->searches[2].has_noise = b->searches[3].has_noise = true;
    b->searches[2].noise_cp = 4;
    b->searches[3].noise_cp = 20;
    regret_summarise(b->cases, N, limit, &b->arena, &b->s);
}

static void only_judged_answers_have_a_cost(void **s)
{
    (void)s;
    struct bench b;
    int64_t cp;
    bench_new(&b);
    assert_true(regret_case_cost(&b.cases[3], &cp));
    assert_int_equal(cp, 99700);
    assert_true(regret_case_cost(&b.cases[4], &cp)); // illegal
    assert_int_equal(cp, 200000);
    assert_false(regret_case_cost(&b.cases[5], &cp)); // did not arrive
    assert_false(regret_case_cost(&b.cases[6], &cp)); // the engine's fault, not the model's
    assert_int_equal(b.s.n, 7);
    assert_int_equal(b.s.n_costed, 5);
    assert_int_equal(b.s.n_failed, 1);
    arena_free(&b.arena);
}

static void figures_are_those_of_the_costs(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b);
    assert_true(b.s.median_cp == 40);
    assert_true(b.s.mean_cp == (40 + 99700 + 200000) / 5.0);
    assert_true(b.s.quartiles_cp[0] == 0 && b.s.quartiles_cp[1] == 99700);
    assert_true(b.s.legal_median_cp == 20);
    assert_int_equal(b.s.n_zero, 2);
    assert_int_equal(b.s.n_mates, 1);
    assert_int_equal(b.s.n_no_move, 1);
    assert_int_equal(b.s.bins[0], 2);
    assert_int_equal(b.s.bins[3], 1); // 26-50
    assert_int_equal(b.s.bins[7], 1);
    assert_int_equal(b.s.bins[8], 1);
    assert_int_equal(b.s.n_noise, 2);
    assert_true(b.s.noise_mean_cp == 12);
    assert_int_equal(b.s.noise_max_cp, 20);
    assert_int_equal(b.s.depth_min, 21);
    assert_int_equal(b.s.played_depth_min, 20);
    arena_free(&b.arena);
}

static void of_nothing_there_is_nothing(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct regret_summary sum;
    regret_summarise(NULL, 0, (struct engine_limit){ ENGINE_BY_DEPTH, 20 }, &a, &sum);
    assert_int_equal(sum.n_costed, 0);
    assert_true(sum.median_cp == 0 && sum.mean_cp == 0);
    assert_int_equal(sum.depth_min, -1);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_judged_answers_have_a_cost),
        cmocka_unit_test(figures_are_those_of_the_costs),
        cmocka_unit_test(of_nothing_there_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

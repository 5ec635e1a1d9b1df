// SPDX-License-Identifier: GPL-3.0-or-later
// Figures over rollouts: means over seeds, the pooled median, rates, and what counts nowhere.
#include "test.h"

#include "result/result.h"

enum { N = 5 };

// Seed 0: costs 10, 30 and a mate met; an illegal answer after 50. Seed 1: 100; a time-out after a
// move; a move whose search was an engine's fault, beside a cost of 200.
static void rollouts_are_put_together_by_seed(void **s)
{
    (void)s;
    static const int64_t costs[N][2] = { { 10, 30 }, { 50 }, { 100 }, { 7 }, { -1, 200 } };
    struct versus_record records[N] = {
        { .stop = VERSUS_LOST, .n_attempts = 2, .n_accepted = 2 },
        { .stop = VERSUS_ILLEGAL, .n_attempts = 2, .n_accepted = 1 },
        { .stop = VERSUS_UNPARSABLE, .n_attempts = 2, .n_accepted = 1 },
        { .stop = VERSUS_TIMEOUT, .n_attempts = 1, .n_accepted = 1 },
        { .stop = VERSUS_MOVE_LIMIT, .n_attempts = 2, .n_accepted = 2 },
    };
    struct outcome outs[N];
    struct versus_case cases[N];
    struct arena a = { 0 };
    struct versus_summary sum;
    for (int i = 0; i < N; i++) {
        outs[i] = (struct outcome){ .record = &records[i],
                                    .status = i == 3 ? OUTCOME_FAILED : OUTCOME_SCORED };
        cases[i] = (struct versus_case){ .seed = i >= 2, .out = &outs[i], .costs_cp = costs[i] };
    }
    versus_summarise(cases, N, 2, &a, &sum);
    assert_int_equal(sum.n, 5);
    assert_int_equal(sum.n_scored, 4);
    assert_int_equal(sum.stops[VERSUS_TIMEOUT], 1);
    assert_int_equal(sum.stops[VERSUS_ILLEGAL], 1);
    assert_int_equal(sum.n_attempts, 8); // not those of the rollout that timed out
    assert_int_equal(sum.n_accepted, 6);
    assert_true(sum.seeds[0].mean_cp == 30);  // (10 + 30 + 50) / 3
    assert_true(sum.seeds[1].mean_cp == 150); // (100 + 200) / 2
    assert_true(sum.mean_cp.mean == 90);
    assert_int_equal(sum.n_costs, 5);
    assert_true(sum.median_cp == 50); // of 10 30 50 100 200
    assert_true(sum.seeds[0].accepted == 1.5);
    assert_true(sum.moves.mean == 1.5);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rollouts_are_put_together_by_seed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

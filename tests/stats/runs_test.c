// SPDX-License-Identifier: GPL-3.0-or-later
// Repeated runs: Welch's test, Holm's adjustment, the bootstrap, and planning, against published
// examples and values worked out by hand.
#include <math.h>

#include "test.h"

#include "stats/stats.h"

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("got %.6f, want %.6f", got, want);
}

static void mean_and_sample_deviation(void **s)
{
    (void)s;
    const double v[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
    struct stats_sample x = stats_sample(v, 8);
    near(x.mean, 5, 0);
    near(x.sd, 2.13809, 1e-5); // sqrt(32 / 7)
    const double same[] = { 0.1, 0.1, 0.1 };
    near(stats_sample(same, 3).sd, 0, 0);
    near(stats_sample(v, 1).sd, 0, 0);
}

// The textbook example with unequal variances: t = -2.46, 25 degrees of freedom, two-sided 0.021.
static void welch_agrees_with_the_textbook(void **s)
{
    (void)s;
    const double a[] = { 27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
                         21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4 };
    const double b[] = { 27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
                         24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4 };
    struct stats_sample x = stats_sample(a, 15), y = stats_sample(b, 15);
    near(x.mean, 20.82, 5e-3);
    near(y.mean, 22.9867, 5e-4);
    near(stats_welch_greater(&y, &x), 0.021 / 2, 5e-4);
    near(stats_welch_greater(&x, &y), 1 - 0.021 / 2, 5e-4);
}

static void welch_is_undefined_without_variance_or_repetition(void **s)
{
    (void)s;
    const double flat[] = { 1, 1, 1 }, other[] = { 2, 2, 2 }, one[] = { 3 }, spread[] = { 1, 2 };
    struct stats_sample x = stats_sample(other, 3), base = stats_sample(flat, 3);
    struct stats_sample single = stats_sample(one, 1), two = stats_sample(spread, 2);
    assert_true(isnan(stats_welch_greater(&x, &base)));
    assert_true(isnan(stats_welch_greater(&single, &two)));
    assert_true(stats_welch_greater(&two, &base) > 0);
}

// By hand: 0.005 x 4, 0.01 x 3, then 0.03 x 2 and the running maximum.
static void holm_steps_down(void **s)
{
    (void)s;
    double p[] = { 0.01, 0.04, (double)NAN, 0.03, 0.005 };
    stats_holm(p, 5);
    near(p[0], 0.03, 1e-12);
    near(p[1], 0.06, 1e-12);
    assert_true(isnan(p[2]));
    near(p[3], 0.06, 1e-12);
    near(p[4], 0.02, 1e-12);
    double high[] = { 0.6, 0.9 };
    stats_holm(high, 2);
    near(high[0], 1, 0);
    near(high[1], 1, 0);
}

// The mean of 400 zeros and ones: the percentile interval is close to the normal one.
static void the_bootstrap_interval_covers_what_it_should(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct rng g;
    double v[400];
    for (int i = 0; i < 400; i++)
        v[i] = i % 4 == 0;
    rng_seed(&g, 1, S("bootstrap"));
    struct interval i = stats_bootstrap_mean(v, 400, 2000, &g, &a);
    near(i.low, 0.25 - 1.96 * 0.02165, 0.006);
    near(i.high, 0.25 + 1.96 * 0.02165, 0.006);
    i = stats_bootstrap_mean(v, 0, 2000, &g, &a);
    assert_true(isnan(i.low));
    arena_free(&a);
}

// By hand: discordant shares 0.2 and 0.3, (1.95996 sqrt 0.5 + 0.84162 sqrt 0.49)^2 / 0.01.
static void puzzles_for_a_wanted_difference(void **s)
{
    (void)s;
    struct stats_power_plan plan = { .base = 0.5, .difference = 0.1, .alpha = 0.05, .power = 0.8 };
    assert_int_equal(stats_power_puzzles(&plan), 391);
    plan.difference = -0.1;
    assert_int_equal(stats_power_puzzles(&plan), 391);
    plan.agreement = 0.6; // the more alike the answers, the fewer puzzles
    assert_in_range(stats_power_puzzles(&plan), 120, 200);
    plan.difference = 0.6;
    assert_int_equal(stats_power_puzzles(&plan), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_and_sample_deviation),
        cmocka_unit_test(welch_agrees_with_the_textbook),
        cmocka_unit_test(welch_is_undefined_without_variance_or_repetition),
        cmocka_unit_test(holm_steps_down),
        cmocka_unit_test(the_bootstrap_interval_covers_what_it_should),
        cmocka_unit_test(puzzles_for_a_wanted_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Ratings of pools. Two players have a closed form: with a games not lost and b not won by the
// first (prior draws in both), no colour and draw parameter e, the derivative of the log posterior
// is zero where b x^2 + t (b - a) x - a = 0, x = 10^(difference/400), t = 10^(e/400); the variance
// of the difference is (400/ln 10)^2 / (a u (1-u) + b v (1-v)), u = s(d - e), v = s(-d - e). The
// other figures come from an independent program that maximises the plain product of probabilities
// by ternary search along one unknown after another, and takes the Hessian by finite differences.
#include <math.h>

#include "test.h"

#include "stats/stats.h"

static struct arena arena;

static void near_to(double got, double want, double by)
{
    if (!(fabs(got - want) <= by))
        fail_msg("got %.6f, want %.6f", got, want);
}

static const struct stats_pair two[] = { { 0, 1, 12, 5, 3 }, { 1, 0, 4, 6, 10 } };

static void two_players_have_the_ratings_of_the_closed_form(void **state)
{
    (void)state;
    struct stats_bayes fit;
    struct stats_bayes_opts opts = { .is_fixed = true, .draw = 97 };
    assert_true(stats_bayes_fit(&(struct stats_pool){ two, 2, 2 }, &opts, &arena, &fit));
    double a = 12 + 10 + 5 + 6 + 2, b = 3 + 4 + 5 + 6 + 2, t = pow(10, 97 / 400.0);
    double x = (t * (a - b) + sqrt(t * t * (a - b) * (a - b) + 4 * a * b)) / (2 * b);
    double d = 400 * log10(x), u = 1 / (1 + t / x), v = 1 / (1 + t * x);
    double sd = 400 / log(10) / sqrt(a * u * (1 - u) + b * v * (1 - v));
    near_to(fit.ratings[0], d / 2, 1e-6);
    near_to(fit.ratings[1], -d / 2, 1e-6);
    near_to(fit.half_widths[0], 1.96 * sd / 2, 1e-6);
    near_to(fit.ratings[0], 65.748632, 1e-5);
    near_to(fit.half_widths[0], 49.1435, 1e-3);
}

static void colour_and_draws_are_fitted(void **state)
{
    (void)state;
    struct stats_bayes fit;
    struct stats_bayes_opts opts = { 0 };
    assert_true(stats_bayes_fit(&(struct stats_pool){ two, 2, 2 }, &opts, &arena, &fit));
    near_to(fit.ratings[0], 73.546870, 1e-4);
    near_to(fit.colour, 25.463814, 1e-4);
    near_to(fit.draw, 128.741496, 1e-4);
    near_to(fit.half_widths[0], 52.4871, 1e-3);
    near_to(fit.colour_half_width, 89.3990, 1e-3);
}

static void three_players_agree_with_an_independent_program(void **state)
{
    (void)state;
    static const struct stats_pair pairs[] = { { 0, 1, 7, 2, 1 }, { 1, 0, 3, 3, 4 },
                                               { 1, 2, 6, 2, 2 }, { 2, 1, 2, 1, 7 },
                                               { 0, 2, 9, 1, 0 }, { 2, 0, 0, 2, 8 } };
    static const double ratings[] = { 169.802312, 18.518286, -188.320598 };
    static const double widths[] = { 79.5568, 70.0911, 83.3569 };
    struct stats_bayes fit;
    struct stats_bayes_opts opts = { 0 };
    assert_true(stats_bayes_fit(&(struct stats_pool){ pairs, 6, 3 }, &opts, &arena, &fit));
    for (size_t i = 0; i < 3; i++) {
        near_to(fit.ratings[i], ratings[i], 1e-4);
        near_to(fit.half_widths[i], widths[i], 1e-3);
    }
    near_to(fit.colour, 34.942250, 1e-4);
    near_to(fit.draw, 119.018168, 1e-4);
    assert_int_equal(fit.n_groups, 1);
}

// D4, field case F-082: the prior keeps a rating where one side won everything.
static void all_wins_have_a_rating_and_no_infinity(void **state)
{
    (void)state;
    static const struct stats_pair won[] = { { 0, 1, 10, 0, 0 }, { 1, 0, 0, 0, 10 } };
    struct stats_bayes fit;
    struct stats_bayes_opts opts = { 0 };
    assert_true(stats_bayes_fit(&(struct stats_pool){ won, 2, 2 }, &opts, &arena, &fit));
    near_to(fit.ratings[0], 276.859365, 1e-4);
    near_to(fit.half_widths[0], 144.9971, 1e-3);
    near_to(fit.ratings[0] + fit.ratings[1], 0, 1e-6);
}

static void colours_and_numbers_of_players_are_only_names(void **state)
{
    (void)state;
    static const struct stats_pair mirrored[] = { { 1, 0, 12, 5, 3 }, { 0, 1, 4, 6, 10 } };
    struct stats_bayes one, other;
    struct stats_bayes_opts opts = { 0 };
    assert_true(stats_bayes_fit(&(struct stats_pool){ two, 2, 2 }, &opts, &arena, &one));
    assert_true(stats_bayes_fit(&(struct stats_pool){ mirrored, 2, 2 }, &opts, &arena, &other));
    near_to(one.ratings[0], other.ratings[1], 1e-6);
    near_to(one.colour, other.colour, 1e-6);
}

static void groups_that_never_met_are_told(void **state)
{
    (void)state;
    static const struct stats_pair pairs[] = { { 0, 1, 3, 1, 2 }, { 3, 2, 1, 1, 1 } };
    struct stats_bayes fit;
    struct stats_bayes_opts opts = { 0 };
    assert_true(stats_bayes_fit(&(struct stats_pool){ pairs, 2, 5 }, &opts, &arena, &fit));
    assert_int_equal(fit.n_groups, 3);
    assert_int_equal(fit.groups[0], fit.groups[1]);
    assert_int_equal(fit.groups[2], fit.groups[3]);
    assert_true(fit.groups[0] != fit.groups[2]);
    assert_true(isnan(fit.half_widths[4])); // has not played
    near_to(fit.ratings[4], 0, 0);
    assert_true(stats_bayes_fit(&(struct stats_pool){ NULL, 0, 2 }, &opts, &arena, &fit));
    near_to(fit.ratings[0], 0, 0);
    assert_false(stats_bayes_fit(&(struct stats_pool){ NULL, 0, POOL_PLAYERS_MAX + 1 }, &opts,
                                 &arena, &fit));
}

// Glickman's example (2012), with its three opponents as players of the pool; and that all are
// rated against what the others were before the period.
static void a_period_of_glicko_rates_all_at_once(void **state)
{
    (void)state;
    struct stats_glicko p[] = {
        { 1500, 200, 0.06 }, { 1400, 30, 0.06 }, { 1550, 100, 0.06 }, { 1700, 300, 0.06 }
    };
    static const struct stats_pair pairs[] = { { 0, 1, 1, 0, 0 },
                                               { 2, 0, 1, 0, 0 },
                                               { 0, 3, 0, 0, 1 } };
    stats_glicko_period(p, &(struct stats_pool){ pairs, 3, 4 }, 0.5, &arena);
    near_to(p[0].rating, 1464.06, 0.01);
    near_to(p[0].deviation, 151.52, 0.01);
    near_to(p[0].volatility, 0.05999, 0.00001);
    const struct stats_glicko_game lost = { 1500, 200, 0 };
    struct stats_glicko alone =
        stats_glicko_update((struct stats_glicko){ 1400, 30, 0.06 }, &lost, 1, 0.5);
    near_to(p[1].rating, alone.rating, 1e-9);
}

static int end(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_players_have_the_ratings_of_the_closed_form),
        cmocka_unit_test(colour_and_draws_are_fitted),
        cmocka_unit_test(three_players_agree_with_an_independent_program),
        cmocka_unit_test(all_wins_have_a_rating_and_no_infinity),
        cmocka_unit_test(colours_and_numbers_of_players_are_only_names),
        cmocka_unit_test(groups_that_never_met_are_told),
        cmocka_unit_test(a_period_of_glicko_rates_all_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}

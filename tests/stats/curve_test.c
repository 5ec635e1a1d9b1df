// SPDX-License-Identifier: GPL-3.0-or-later
// Logistic regression and correlations against textbook data and values worked out by hand.
#include <math.h>

#include "test.h"

#include "stats/stats.h"

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("got %.6f, want %.6f", got, want);
}

// The textbook example of hours of study and passing an exam: intercept -4.0777 (SE 1.7610),
// slope 1.5046 (SE 0.6287).
static void the_textbook_fit_is_found(void **s)
{
    (void)s;
    const double hours[] = { 0.50, 0.75, 1.00, 1.25, 1.50, 1.75, 1.75, 2.00, 2.25, 2.50,
                             2.75, 3.00, 3.25, 3.50, 4.00, 4.25, 4.50, 4.75, 5.00, 5.50 };
    const double pass[] = { 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1 };
    struct stats_logistic f = stats_logistic(hours, pass, NULL, 20);
    assert_true(f.ok);
    near(f.intercept, -4.0777, 1e-4);
    near(f.slope, 1.5046, 1e-4);
    near(sqrt(f.var_intercept), 1.7610, 1e-3);
    near(sqrt(f.var_slope), 0.6287, 1e-3);
    assert_true(f.covariance < 0);
}

// Two groups: the fit goes through both log odds, ln(1/3) and ln(3).
static void weights_count_as_trials(void **s)
{
    (void)s;
    const double x[] = { 0, 1 }, successes[] = { 25, 75 }, weights[] = { 100, 100 };
    struct stats_logistic f = stats_logistic(x, successes, weights, 2);
    near(f.intercept, -log(3), 1e-8);
    near(f.slope, 2 * log(3), 1e-8);
    near(f.var_intercept, 1 / (100 * 0.1875), 1e-8);
    near(f.var_slope, 2 / (100 * 0.1875), 1e-8);
}

static void what_has_no_maximum_is_not_defined(void **s)
{
    (void)s;
    const double x[] = { 1, 2, 3, 4 }, separated[] = { 0, 0, 1, 1 }, same[] = { 2, 2, 2, 2 };
    const double none[] = { 0, 0, 0, 0 }, mixed[] = { 0, 1, 0, 1 };
    assert_false(stats_logistic(x, separated, NULL, 4).ok);
    assert_false(stats_logistic(x, none, NULL, 4).ok);
    assert_false(stats_logistic(same, mixed, NULL, 4).ok);
    assert_false(stats_logistic(x, mixed, NULL, 1).ok);
}

// Anscombe's first set: r = 0.81642, p = 0.00217.
static void pearson_agrees_with_anscombe(void **s)
{
    (void)s;
    const double x[] = { 10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5 };
    const double y[] = { 8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68 };
    struct stats_correlation c = stats_pearson(x, y, 11);
    near(c.r, 0.81642, 1e-5);
    near(c.p, 0.00217, 1e-5);
}

// By hand: ranks 1 2.5 2.5 4 against 1 2 3 4, r = 4.5 / sqrt(4.5 * 5).
static void spearman_shares_ranks_among_ties(void **s)
{
    (void)s;
    const double x[] = { 1, 7, 7, 9 }, y[] = { 10, 20, 30, 400 };
    near(stats_spearman(x, y, 4).r, 4.5 / sqrt(22.5), 1e-12);
    assert_true(isnan(stats_spearman(x, y, 2).r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_textbook_fit_is_found),
        cmocka_unit_test(weights_count_as_trials),
        cmocka_unit_test(what_has_no_maximum_is_not_defined),
        cmocka_unit_test(pearson_agrees_with_anscombe),
        cmocka_unit_test(spearman_shares_ranks_among_ties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

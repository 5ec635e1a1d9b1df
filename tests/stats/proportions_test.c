// SPDX-License-Identifier: GPL-3.0-or-later
// Intervals and tests for rates against published examples.
#include <math.h>

#include "test.h"

#include "stats/stats.h"

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("got %.6f, want %.6f", got, want);
}

// Newcombe 1998 (Statistics in Medicine 17, 857-872), table I, method 3.
static void wilson_intervals_are_the_published_ones(void **s)
{
    (void)s;
    struct interval i = stats_wilson(81, 263);
    near(i.low, 0.2553, 5e-5);
    near(i.high, 0.3662, 5e-5);
    i = stats_wilson(15, 148);
    near(i.low, 0.0624, 5e-5);
    near(i.high, 0.1605, 5e-5);
    i = stats_wilson(0, 20);
    near(i.low, 0, 0);
    near(i.high, 0.1611, 5e-5);
    i = stats_wilson(1, 29);
    near(i.low, 0.0061, 5e-5);
    near(i.high, 0.1718, 5e-5);
    i = stats_wilson(29, 29);
    near(i.high, 1, 0);
}

static void no_trials_say_nothing(void **s)
{
    (void)s;
    struct interval i = stats_wilson(0, 0);
    near(i.low, 0, 0);
    near(i.high, 1, 0);
}

static void mcnemar_is_the_exact_binomial(void **s)
{
    (void)s;
    near(stats_mcnemar_exact(0, 0), 1, 0);
    near(stats_mcnemar_exact(5, 0), 0.0625, 1e-12);
    near(stats_mcnemar_exact(1, 9), 22.0 / 1024, 1e-12);
    near(stats_mcnemar_exact(4, 4), 1, 0);
}

// Newcombe 1998 (Statistics in Medicine 17, 2635-2650), table III, method 10: cells 36 12 2 0.
static void paired_differences_are_the_published_ones(void **s)
{
    (void)s;
    struct interval i = stats_paired_difference(36, 2, 12, 0);
    near(i.low, 0.0569, 5e-5);
    near(i.high, 0.3404, 5e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wilson_intervals_are_the_published_ones),
        cmocka_unit_test(no_trials_say_nothing),
        cmocka_unit_test(mcnemar_is_the_exact_binomial),
        cmocka_unit_test(paired_differences_are_the_published_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

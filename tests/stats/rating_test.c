// SPDX-License-Identifier: GPL-3.0-or-later
// Ratings: the worked numbers of the LLM Chess specification (4.7), Glickman's own example, and
// the bounds of the sequential test.
#include <math.h>

#include "test.h"

#include "stats/rating.h"

static const double COLOR = 35;
static double random_elo; // -122.273, with all its digits: the published numbers need them

static void fits(const struct stats_block *v, size_t n, double rating, double half_width)
{
    struct stats_elo e = stats_elo_fit(v, n);
    assert_int_equal(e.kind, ELO_FOUND);
    if (fabs(e.rating - rating) > 0.0005001 || fabs(e.half_width - half_width) > 0.0005001)
        fail_msg("got %.4f +- %.4f, want %.3f +- %.3f", e.rating, e.half_width, rating, half_width);
}

// A model with Black: its opponents have the worth of White.
#define BLOCK(elo, w, d, l)                                                                        \
    {                                                                                              \
        (elo) + COLOR, w, d, l                                                                     \
    }

static void worked_numbers_agree_to_the_last_digit(void **s)
{
    (void)s;
    const struct stats_block random_as_white[] = { { 250 - COLOR, 1, 175, 824 },
                                                   { 375 - COLOR, 1, 150, 849 },
                                                   { 500 - COLOR, 1, 100, 899 },
                                                   { 625 - COLOR, 0, 49, 951 } };
    fits(random_as_white, 4, -122.273, 23.027);
    random_elo = stats_elo_fit(random_as_white, 4).rating;
    static const struct {
        int w, d, l;
        double rating, half_width;
    } against_random[] = {
        { 0, 33, 0, -87.273, 118.542 },  { 3, 30, 0, -55.601, 119.035 },
        { 0, 28, 5, -140.324, 119.927 }, { 4, 102, 11, -108.085, 63.069 },
        { 7, 6, 18, -216.161, 130.819 }, { 12, 0, 31, -252.146, 115.761 },
        { 1, 0, 32, -689.333, 345.766 }, { 0, 68, 7, -119.795, 78.977 },
        { 1, 55, 46, -251.850, 75.134 }, { 3, 2, 0, 153.551, 380.676 },
        { 2, 3, 1, -28.822, 281.950 },
    };
    for (size_t i = 0; i < ARRAY_LEN(against_random); i++) {
        const struct stats_block one[] = { BLOCK(random_elo, against_random[i].w,
                                                 against_random[i].d, against_random[i].l) };
        fits(one, 1, against_random[i].rating, against_random[i].half_width);
    }
    const struct stats_block o4_mini[] = { BLOCK(250, 7, 29, 4), BLOCK(random_elo, 109, 50, 0) };
    fits(o4_mini, 2, 240.335, 64.322);
    const struct stats_block even[] = { BLOCK(250, 10, 10, 10) };
    fits(even, 1, 285.000, 124.328);
    const struct stats_block strong[] = { BLOCK(250, 27, 0, 3) };
    fits(strong, 1, 666.697, 207.214);
    const struct stats_block three[] = { BLOCK(random_elo, 20, 10, 3), BLOCK(250, 12, 10, 11),
                                         BLOCK(375, 6, 12, 15) };
    fits(three, 3, 258.445, 79.049);
    const struct stats_block o3_low[] = { BLOCK(250, 22, 10, 1), BLOCK(375, 18, 12, 3),
                                          BLOCK(500, 19, 12, 2), BLOCK(625, 15, 15, 3),
                                          BLOCK(750, 15, 17, 3), BLOCK(1375, 0, 2, 31) };
    fits(o3_low, 6, 752.952, 64.038);
    const struct stats_block o3_paper[] = { BLOCK(250, 22, 10, 1), BLOCK(375, 18, 12, 3),
                                            BLOCK(500, 19, 12, 2), BLOCK(625, 15, 15, 3),
                                            BLOCK(750, 15, 16, 1), BLOCK(1375, 0, 2, 31) };
    fits(o3_paper, 6, 758.418, 65.204);
}

// The four blocks behind Random's rating, taken alone: they disagree.
static void random_blocks_taken_alone_disagree(void **s)
{
    (void)s;
    static const double want[4][2] = {
        { -190.1, 37.9 }, { -93.9, 40.6 }, { -42.9, 48.9 }, { -50.0, 69.6 }
    };
    const struct stats_block blocks[] = { { 250 - COLOR, 1, 175, 824 },
                                          { 375 - COLOR, 1, 150, 849 },
                                          { 500 - COLOR, 1, 100, 899 },
                                          { 625 - COLOR, 0, 49, 951 } };
    for (size_t i = 0; i < 4; i++) {
        struct stats_elo e = stats_elo_fit(&blocks[i], 1);
        assert_true(fabs(e.rating - want[i][0]) < 0.051 && fabs(e.half_width - want[i][1]) < 0.051);
    }
}

// D4, and field case F-082: never inf, nan or a rating thousands above the anchor.
static void all_wins_have_a_bound_instead_of_a_rating(void **s)
{
    (void)s;
    const struct stats_block won[] = { { 100, 20, 0, 0 } }, lost[] = { { 100, 0, 0, 20 } };
    double p = pow(0.05, 1.0 / 20);
    struct stats_elo e = stats_elo_fit(won, 1);
    assert_int_equal(e.kind, ELO_ALL_WON);
    assert_true(fabs(e.bound - (100 + 400 * log10(p / (1 - p)))) < 1e-6);
    e = stats_elo_fit(lost, 1);
    assert_int_equal(e.kind, ELO_ALL_LOST);
    assert_true(fabs(e.bound - (100 - 400 * log10(p / (1 - p)))) < 1e-6);
    assert_int_equal(stats_elo_fit(NULL, 0).kind, ELO_NO_GAMES);
    const struct stats_block two[] = { { 100, 5, 0, 0 }, { 300, 5, 0, 0 } };
    e = stats_elo_fit(two, 2);
    double joint = 5 * log(1 / (1 + pow(10, (100 - e.bound) / 400))) +
                   5 * log(1 / (1 + pow(10, (300 - e.bound) / 400)));
    assert_true(fabs(joint - log(0.05)) < 1e-9);
}

// Glickman, "Example of the Glicko-2 system", 2012.
static void glicko_gives_the_numbers_of_its_author(void **s)
{
    (void)s;
    const struct stats_glicko_game games[] = { { 1400, 30, 1 },
                                               { 1550, 100, 0 },
                                               { 1700, 300, 0 } };
    struct stats_glicko p =
        stats_glicko_update((struct stats_glicko){ 1500, 200, 0.06 }, games, 3, 0.5);
    assert_true(fabs(p.rating - 1464.06) < 0.01);
    assert_true(fabs(p.deviation - 151.52) < 0.01);
    assert_true(fabs(p.volatility - 0.05999) < 0.00001);
    struct stats_glicko idle = stats_glicko_update(p, NULL, 0, 0.5);
    assert_true(idle.rating == p.rating && idle.deviation > p.deviation);
}

static void the_sequential_test_stops_at_its_bounds(void **s)
{
    (void)s;
    struct stats_sprt t = { .elo0 = 0, .elo1 = 10, .alpha = 0.05, .beta = 0.05 };
    struct stats_sprt_state st = stats_sprt_look(&t, 0, 0, 0);
    assert_true(fabs(st.upper - 2.944439) < 1e-6 && fabs(st.lower + 2.944439) < 1e-6);
    assert_int_equal(st.verdict, SPRT_GO_ON);
    // all draws: no spread, no verdict
    assert_int_equal(stats_sprt_look(&t, 0, 500, 0).verdict, SPRT_GO_ON);
    st = stats_sprt_look(&t, 1200, 1000, 900);
    assert_int_equal(st.verdict, SPRT_ACCEPT_H1);
    assert_int_equal(stats_sprt_look(&t, 900, 1000, 1200).verdict, SPRT_ACCEPT_H0);
    // equal results lie half way between 0 and 10: against H1, slowly
    st = stats_sprt_look(&t, 100, 100, 100);
    double s1 = 1 / (1 + pow(10, -10 / 400.0)), half = s1 - 0.5;
    assert_true(fabs(st.llr + 300 * half * half / (2 * (1.0 / 6))) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_numbers_agree_to_the_last_digit),
        cmocka_unit_test(random_blocks_taken_alone_disagree),
        cmocka_unit_test(all_wins_have_a_bound_instead_of_a_rating),
        cmocka_unit_test(glicko_gives_the_numbers_of_its_author),
        cmocka_unit_test(the_sequential_test_stops_at_its_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

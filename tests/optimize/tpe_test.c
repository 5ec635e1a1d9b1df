// SPDX-License-Identifier: GPL-3.0-or-later
// The sampler of MIPROv2 on the tables of the few-shot specification, 6.5 and 8.4.
#include <math.h>

#include "test.h"

#include "optimize/optimize.h"

// The worked example: eleven records over three instructions and four demo sets.
static const struct tpe_record example[] = {
    { { 0, 0 }, 40 }, { { 1, 2 }, 50 }, { { 2, 3 }, 45 }, { { 1, 0 }, 45 },
    { { 0, 2 }, 42 }, { { 2, 1 }, 38 }, { { 1, 3 }, 55 }, { { 0, 1 }, 41 },
    { { 2, 2 }, 47 }, { { 1, 1 }, 44 }, { { 2, 0 }, 55 },
};

static struct tpe example_space(struct arena *a)
{
    struct tpe t = { .n_x = 3, .n_y = 4 };
    for (size_t i = 0; i < ARRAY_LEN(example); i++)
        *vec_push(a, &t.seen) = example[i];
    return t;
}

static void a_tenth_of_the_records_is_good(void **s)
{
    (void)s;
    static const size_t table[][2] = { { 10, 1 }, { 11, 2 }, { 20, 2 },   { 21, 3 },
                                       { 30, 3 }, { 31, 4 }, { 250, 25 }, { 1000, 25 } };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        assert_int_equal(tpe_n_good(table[i][0]), table[i][1]);
}

static void the_densities_are_those_of_the_worked_example(void **s)
{
    (void)s;
    static const double want[3][4][3] = {
        { { .067460, .095696, -0.349637 },
          { .043651, .101190, -0.840783 },
          { .043651, .101190, -0.840783 },
          { .067460, .035256, 0.648892 } },
        { { .091270, .095696, -0.047356 },
          { .067460, .101190, -0.405465 },
          { .067460, .101190, -0.405465 },
          { .162698, .035256, 1.529251 } },
        { { .162698, .040751, 1.384420 },
          { .067460, .101190, -0.405465 },
          { .067460, .101190, -0.405465 },
          { .091270, .090201, 0.011775 } },
    };
    struct arena a = { 0 };
    struct tpe t = example_space(&a);
    struct tpe_records good, bad;
    double sum_l = 0, sum_g = 0;
    tpe_divide(&t.seen, &a, &good, &bad);
    assert_int_equal(good.n, 2);
    assert_memory_equal(&good.v[0], &example[6], sizeof example[0]);
    assert_memory_equal(&good.v[1], &example[10], sizeof example[0]);
    assert_int_equal(bad.n, 9);
    for (size_t x = 0; x < 3; x++)
        for (size_t y = 0; y < 4; y++) {
            double l = tpe_density(&t, &good, (struct tpe_pair){ x, y });
            double g = tpe_density(&t, &bad, (struct tpe_pair){ x, y });
            assert_true(fabs(l - want[x][y][0]) < 6e-7);
            assert_true(fabs(g - want[x][y][1]) < 6e-7);
            assert_true(fabs(log(l) - log(g) - want[x][y][2]) < 6e-7);
            sum_l += l;
            sum_g += g;
        }
    assert_true(fabs(sum_l - 1) < 1e-12);
    assert_true(fabs(sum_g - 1) < 1e-12);
    arena_free(&a);
}

static void old_records_beyond_25_weigh_less(void **s)
{
    (void)s;
    assert_true(tpe_weight(0, 24) == 1);
    assert_true(tpe_weight(0, 25) == 1);
    assert_true(tpe_weight(0, 26) == 1.0 / 26);
    for (size_t i = 1; i < 26; i++)
        assert_true(tpe_weight(i, 26) == 1);
    assert_true(tpe_weight(0, 30) == 1.0 / 30); // a ramp over the five oldest
    assert_true(fabs(tpe_weight(2, 30) - (1 + 1.0 / 30) / 2) < 1e-15);
    assert_true(tpe_weight(4, 30) == 1);
    assert_true(tpe_weight(5, 30) == 1);
}

static void any_mixture_sums_to_one(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct tpe t = { .n_x = 9, .n_y = 18 };
    struct rng g;
    rng_seed(&g, 1, S("test"));
    for (int n = 0; n < 60; n++) {
        double sum = 0;
        for (size_t x = 0; x < t.n_x; x++)
            for (size_t y = 0; y < t.n_y; y++)
                sum += tpe_density(&t, &t.seen, (struct tpe_pair){ x, y });
        assert_true(fabs(sum - 1) < 1e-12);
        struct tpe_pair at = { (size_t)rng_below(&g, t.n_x), (size_t)rng_below(&g, t.n_y) };
        *vec_push(&a, &t.seen) = (struct tpe_record){ at, rng_double(&g) };
    }
    arena_free(&a);
}

// Of a thousand streams, how often each pair is next.
static void count_picks(const struct tpe *t, size_t counts[3][4])
{
    struct arena a = { 0 };
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct chance c = chance_new(seed, S("mipro_v2"), &a);
        struct tpe_pair at = tpe_next(t, &c);
        assert_true(at.x < 3 && at.y < 4);
        counts[at.x][at.y]++;
    }
    arena_free(&a);
}

static void the_best_pair_is_next_unless_it_is_never_drawn(void **s)
{
    (void)s;
    struct arena a = { 0 };
    size_t counts[3][4] = { 0 };
    struct tpe t = example_space(&a);
    count_picks(&t, counts);
    // 14 of 1000 are expected to miss (1, 3), then nearly always for (2, 0); 4 deviations are 15.
    assert_in_range(counts[1][3], 1000 - 29, 1000 - 1);
    assert_int_equal(counts[1][3] + counts[2][0] + counts[0][3], 1000);
    arena_free(&a);
}

static void the_first_ten_trials_are_uniform(void **s)
{
    (void)s;
    struct arena a = { 0 };
    size_t counts[3][4] = { 0 };
    struct tpe t = example_space(&a);
    t.seen.n = 9;
    count_picks(&t, counts);
    for (size_t x = 0; x < 3; x++) // 83 expected, 4 deviations are 35
        for (size_t y = 0; y < 4; y++)
            assert_in_range(counts[x][y], 48, 118);
    arena_free(&a);
}

// A chance that counts its draws and always gives the last choice.
static size_t last_below(void *ctx, const char *stream, size_t n)
{
    (void)stream;
    ++*(int *)ctx;
    return n - 1;
}

static size_t last_weighted(void *ctx, const char *stream, const double *weights, size_t n)
{
    (void)weights;
    return last_below(ctx, stream, n);
}

static int draws_for(size_t n_x, size_t n_y, size_t n_seen)
{
    struct arena a = { 0 };
    int n = 0;
    struct chance c = { .ctx = &n, .below = last_below, .weighted = last_weighted };
    struct tpe t = { .n_x = n_x, .n_y = n_y };
    for (size_t i = 0; i < n_seen; i++)
        *vec_push(&a, &t.seen) = (struct tpe_record){ { i % n_x, i % n_y }, (double)i };
    struct tpe_pair at = tpe_next(&t, &c);
    assert_int_equal(at.x, n_x - 1);
    assert_int_equal(at.y, n_y - 1);
    arena_free(&a);
    return n;
}

static void a_dimension_with_one_choice_takes_no_draw(void **s)
{
    (void)s;
    assert_int_equal(draws_for(3, 4, 0), 2);
    assert_int_equal(draws_for(3, 1, 0), 1);
    assert_int_equal(draws_for(1, 4, 0), 1);
    assert_int_equal(draws_for(1, 1, 0), 0);
    assert_int_equal(draws_for(3, 4, 10), 3 * TPE_CANDIDATES);
    assert_int_equal(draws_for(3, 1, 10), 2 * TPE_CANDIDATES);
    assert_int_equal(draws_for(1, 1, 40), 0);
}

static void equal_values_rank_the_older_record_higher(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct tpe_records all = { 0 }, good, bad;
    for (size_t i = 0; i < 20; i++)
        *vec_push(&a, &all) = (struct tpe_record){ { i, 0 }, i < 3 ? 1 : 7 };
    tpe_divide(&all, &a, &good, &bad);
    assert_int_equal(good.n, 2);
    assert_int_equal(good.v[0].at.x, 3);
    assert_int_equal(good.v[1].at.x, 4);
    assert_int_equal(bad.n, 18);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tenth_of_the_records_is_good),
        cmocka_unit_test(the_densities_are_those_of_the_worked_example),
        cmocka_unit_test(old_records_beyond_25_weigh_less),
        cmocka_unit_test(any_mixture_sums_to_one),
        cmocka_unit_test(the_best_pair_is_next_unless_it_is_never_drawn),
        cmocka_unit_test(the_first_ten_trials_are_uniform),
        cmocka_unit_test(a_dimension_with_one_choice_takes_no_draw),
        cmocka_unit_test(equal_values_rank_the_older_record_higher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// The CPython-compatible generator against the vectors of the few-shot specification, section 8.1.
#include "test.h"

static void expect_u32(uint64_t seed, const uint32_t want[4])
{
    struct mt g;
    mt_seed(&g, seed);
    for (int i = 0; i < 4; i++)
        assert_int_equal(mt_u32(&g), want[i]);
}

static void words_are_those_of_cpython(void **s)
{
    (void)s;
    expect_u32(0, (const uint32_t[]){ 3626764237U, 1654615998U, 3255389356U, 3823568514U });
    expect_u32(42, (const uint32_t[]){ 2746317213U, 478163327U, 107420369U, 3184935163U });
    expect_u32(44, (const uint32_t[]){ 1754648232U, 2233470993U, 2327752056U, 3013410123U });
}

static void doubles_are_those_of_cpython(void **s)
{
    (void)s;
    struct mt g;
    mt_seed(&g, 0);
    assert_true(mt_double(&g) == 0.8444218515250481);
    mt_seed(&g, 42);
    assert_true(mt_double(&g) == 0.6394267984578837);
}

static void expect_shuffle(uint64_t seed, const size_t want[10])
{
    struct mt g;
    size_t v[10];
    for (size_t i = 0; i < 10; i++)
        v[i] = i;
    mt_seed(&g, seed);
    mt_shuffle(&g, v, 10);
    assert_memory_equal(v, want, sizeof v);
}

static void shuffles_are_those_of_cpython(void **s)
{
    (void)s;
    expect_shuffle(42, (const size_t[]){ 7, 3, 2, 8, 5, 6, 9, 4, 0, 1 });
    expect_shuffle(0, (const size_t[]){ 7, 8, 1, 5, 3, 4, 2, 0, 9, 6 });
}

static void expect_sample(size_t n, size_t k, const size_t *want)
{
    struct mt g;
    size_t v[16];
    mt_seed(&g, 0);
    mt_sample(&g, n, k, v);
    assert_memory_equal(v, want, k * sizeof *v);
}

static void samples_are_those_of_cpython(void **s)
{
    (void)s;
    expect_sample(
        100, 16, (const size_t[]){ 49, 97, 53, 5, 33, 65, 62, 51, 38, 61, 45, 74, 27, 64, 17, 36 });
    expect_sample(20, 12, (const size_t[]){ 12, 13, 1, 8, 15, 6, 19, 4, 7, 5, 9, 3 });
    expect_sample(1101, 16,
                  (const size_t[]){ 788, 861, 82, 530, 1047, 995, 829, 621, 976, 733, 447, 1033,
                                    285, 577, 286, 194 });
}

static void ranges_are_those_of_cpython(void **s)
{
    (void)s;
    static const int64_t want[16] = { 4, 2, 1, 2, 2, 3, 1, 3, 2, 4, 1, 4, 4, 3, 1, 2 };
    for (uint64_t seed = 0; seed < 16; seed++) {
        struct mt g;
        mt_seed(&g, seed);
        assert_int_equal(mt_range(&g, 1, 4), want[seed]);
    }
}

static void the_double_shuffle_of_559_starts_as_published(void **s)
{
    (void)s;
    size_t v[559];
    size_t first[559];
    for (size_t i = 0; i < 559; i++)
        v[i] = i;
    struct mt g;
    mt_seed(&g, 42);
    mt_shuffle(&g, v, 559);
    for (size_t i = 0; i < 559; i++)
        first[i] = i;
    mt_seed(&g, 42);
    mt_shuffle(&g, first, 559);
    size_t twice[559];
    for (size_t i = 0; i < 559; i++)
        twice[i] = v[first[i]];
    static const size_t start[] = { 252, 437, 43, 263, 49, 535, 546, 231 };
    static const size_t from140[] = { 526, 468, 470, 206, 359, 0 };
    assert_memory_equal(twice, start, sizeof start);
    assert_memory_equal(twice + 140, from140, sizeof from140);
}

static void substreams_differ_and_repeat(void **s)
{
    (void)s;
    struct rng a, b, c;
    rng_seed(&a, 1, S("one"));
    rng_seed(&b, 1, S("one"));
    rng_seed(&c, 1, S("two"));
    uint64_t first = rng_u64(&a);
    assert_true(first == rng_u64(&b));
    assert_true(first != rng_u64(&c));
    for (int i = 0; i < 1000; i++)
        assert_true(rng_below(&a, 7) < 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_those_of_cpython),
        cmocka_unit_test(doubles_are_those_of_cpython),
        cmocka_unit_test(shuffles_are_those_of_cpython),
        cmocka_unit_test(samples_are_those_of_cpython),
        cmocka_unit_test(ranges_are_those_of_cpython),
        cmocka_unit_test(the_double_shuffle_of_559_starts_as_published),
        cmocka_unit_test(substreams_differ_and_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

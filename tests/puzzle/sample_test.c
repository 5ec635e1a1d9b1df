// SPDX-License-Identifier: GPL-3.0-or-later
// Sampling from a stream: uniform, deterministic, nothing shared, and the paper's composition.
#include "corner.h"

static void offer_all(struct puzzle_sampler *s, struct puzzle_reader *r)
{
    struct arena row = { 0 };
    for (;;) {
        struct puzzle p;
        struct err err = { 0 };
        enum puzzle_read got = puzzle_reader_next(r, &row, &p, &err);
        if (got == PUZZLE_END)
            break;
        assert_int_equal(got, PUZZLE_ROW);
        puzzle_sampler_offer(s, &p, r);
        arena_reset(&row);
    }
    arena_free(&row);
}

static struct puzzle_sample draw(str path, struct puzzle_sample_opts opts, struct arena *a)
{
    struct puzzle_reader *r;
    struct err err = { 0 };
    struct puzzle_sample out;
    if (!puzzle_reader_open(path, &r, &err))
        fail_msg("%s", err.text);
    struct puzzle_sampler *s = puzzle_sampler_new(&opts);
    offer_all(s, r);
    puzzle_sampler_draw(s, a, &out);
    puzzle_sampler_free(s);
    puzzle_reader_free(r);
    return out;
}

static str id_of(str row)
{
    return str_cut(&row, ',');
}

static void a_seed_decides_the_draw(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct puzzle_sample_opts opts = { .seed = 7, .count = 40 };
    struct puzzle_sample first = draw(S("builtin:train"), opts, &a);
    struct puzzle_sample again = draw(S("builtin:train"), opts, &a);
    opts.seed = 8;
    struct puzzle_sample other = draw(S("builtin:train"), opts, &a);
    assert_int_equal(first.train.n, 40);
    size_t same = 0;
    for (size_t i = 0; i < 40; i++) {
        assert_str(first.train.v[i], again.train.v[i]);
        for (size_t k = 0; k < 40; k++)
            same += str_eq(first.train.v[i], other.train.v[k]);
    }
    assert_true(same < 20);
    arena_free(&a);
}

// Over 400 seeds each of 386 rows is drawn about as often: the chi-square statistic of the counts,
// with 385 degrees of freedom, lies within its 99.9 % range.
static void every_row_is_as_likely(void **s)
{
    (void)s;
    enum { SEEDS = 400, DRAWN = 20 };
    struct arena a = { 0 };
    struct map counts = { .arena = &a };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct arena scratch = { 0 };
        struct puzzle_sample_opts opts = { .seed = seed, .count = DRAWN };
        struct puzzle_sample drawn = draw(S("builtin:train"), opts, &scratch);
        for (size_t i = 0; i < drawn.train.n; i++)
            map_put(&counts, id_of(drawn.train.v[i]), NULL)->number++;
        arena_free(&scratch);
    }
    double expected = SEEDS * DRAWN / 386.0, chi2 = (double)(386 - counts.n) * expected;
    for (size_t i = 0; i < counts.n; i++) {
        double d = (double)counts.v[i].number - expected;
        chi2 += d * d / expected;
    }
    assert_true(chi2 > 300 && chi2 < 480);
    arena_free(&a);
}

static void filters_hold_and_everything_is_returned_where_less_is_there(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct puzzle_sample_opts opts = { .seed = 1,
                                       .count = 100000,
                                       .filter = { .theme = S("mateIn2") } };
    struct puzzle_sample all = draw(S("builtin:train"), opts, &a);
    assert_true(all.train.n > 10 && all.train.n < 386);
    assert_int_equal(all.train.n + all.n_clashes + all.n_filtered, 386);
    for (size_t i = 0; i < all.train.n; i++)
        assert_true(str_find(all.train.v[i], S("mateIn2")) > 0);
    arena_free(&a);
}

// Five rows: the second has the id of the first, the third its position, the fourth its line.
static void rows_that_share_anything_are_passed_over(void **s)
{
    (void)s;
    static const char rows[] = HEADER "a,8/8/8/4k3/8/8/4K2R/8 w - - 0 1,e2e1 e5e6,500,x\n"
                                      "a,8/8/8/4k3/8/8/4K1R1/8 w - - 0 1,e2f1 e5e6,500,x\n"
                                      "b,8/8/8/4k3/8/8/4K2R/8 w - - 9 40,e2e1 e5d6,500,x\n"
                                      "c,8/8/8/4k3/8/7R/4K3/8 w - - 0 1,e2e1 e5e6,500,x\n"
                                      "d,8/8/8/4k3/8/8/4K1Q1/8 w - - 0 1,e2f1 e5f5,500,x\n";
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct arena a = { 0 };
        struct puzzle_reader *r;
        struct err err = { 0 };
        struct puzzle_sample out;
        assert_true(puzzle_reader_open_text(S("t"), str_from(rows), &r, &err));
        struct puzzle_sampler *p =
            puzzle_sampler_new(&(struct puzzle_sample_opts){ .seed = seed, .count = 5 });
        offer_all(p, r);
        puzzle_sampler_draw(p, &a, &out);
        bool first = false;
        for (size_t i = 0; i < out.train.n; i++)
            first |= str_starts(out.train.v[i], S("a,8/8/8/4k3/8/8/4K2R"));
        assert_int_equal(out.train.n, first ? 2 : 4); // beside the first only the last may stand
        puzzle_sampler_free(p);
        puzzle_reader_free(r);
        arena_free(&a);
    }
}

static void rows_come_out_as_they_were(void **s)
{
    (void)s;
    static const char row[] = "z,\"" FEN_B "\"," LINE_B ",1500,\"say \"\"mate\"\", now\"\n";
    struct arena a = { 0 };
    struct puzzle_reader *r;
    struct puzzle p;
    struct err err = { 0 };
    struct buf text = { .arena = &a }, head = { .arena = &a };
    str file = arena_printf(&a, "%s%s", "PuzzleId,FEN,Moves,Rating,Note\n", row);
    assert_true(puzzle_reader_open_text(S("t"), file, &r, &err));
    assert_int_equal(puzzle_reader_next(r, &a, &p, &err), PUZZLE_ROW);
    puzzle_reader_row(r, &p, &text);
    puzzle_reader_head(r, &head);
    assert_str(buf_str(&head), S("PuzzleId,FEN,Moves,Rating,Note\n"));
    assert_str(buf_str(&text), str_from(row));
    puzzle_reader_free(r);
    arena_free(&a);
}

static void the_papers_composition_is_kept(void **s)
{
    (void)s;
    struct arena a = { 0 };
    str path = shared_path(S("data/puzzles/lichess_full10.csv"), &a);
    struct puzzle_sample out =
        draw(path, (struct puzzle_sample_opts){ .seed = 3, .paper = true }, &a);
    assert_int_equal(out.train.n, out.test.n);
    assert_true(out.train.n > 500);
    assert_int_equal(out.strata.n, 16 * 2 + 8 * 3);
    size_t drawn = 0;
    for (size_t i = 0; i < out.strata.n; i++) {
        const struct puzzle_sample_stratum *t = &out.strata.v[i];
        assert_int_equal(t->wanted, 20);
        assert_int_equal(t->drawn % 2, 0);
        drawn += t->drawn;
        // Half of them mates where there are enough of both kinds.
        if (t->n_mates >= 60 && t->n_plain >= 60)
            assert_int_equal(t->drawn_mates, 10);
    }
    assert_int_equal(drawn, out.train.n + out.test.n);
    struct map ids = { .arena = &a };
    for (size_t i = 0; i < out.train.n; i++) {
        bool fresh;
        map_put(&ids, id_of(out.train.v[i]), &fresh);
        assert_true(fresh);
        map_put(&ids, id_of(out.test.v[i]), &fresh);
        assert_true(fresh);
    }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_decides_the_draw),
        cmocka_unit_test(every_row_is_as_likely),
        cmocka_unit_test(filters_hold_and_everything_is_returned_where_less_is_there),
        cmocka_unit_test(rows_that_share_anything_are_passed_over),
        cmocka_unit_test(rows_come_out_as_they_were),
        cmocka_unit_test(the_papers_composition_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

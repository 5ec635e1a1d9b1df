// SPDX-License-Identifier: GPL-3.0-or-later
// The pool of GEPA: pruning and choosing (tables of the GEPA and SIMBA specification, 7.2), the
// sampler (7.4).
#include "test.h"

#include "optimize/gepa_pool.h"

enum { CANDIDATES_MAX = 16, EXAMPLES_MAX = 16 };

static void add_row(struct gepa_pool *p, const int64_t *scores)
{
    gepa_pool_add(p, &(struct gepa_candidate){ .scores = scores });
}

// One candidate a word: "1001 1100".
static struct gepa_pool pool_of(const char *rows, struct arena *a)
{
    struct gepa_pool p = { .arena = a };
    str rest = str_from(rows);
    while (rest.len > 0) {
        str row = str_cut(&rest, ' ');
        int64_t *scores = NEW_ARRAY(a, int64_t, row.len);
        for (size_t i = 0; i < row.len; i++)
            scores[i] = row.data[i] == '1' ? GEPA_ONE : 0;
        p.n_validation = row.len;
        add_row(&p, scores);
    }
    return p;
}

// Keeps the weights it is asked with and draws the first candidate.
static size_t keep_weights(void *ctx, const char *stream, const double *weights, size_t n)
{
    assert_string_equal(stream, "select");
    memcpy(ctx, weights, n * sizeof *weights);
    return 0;
}

// "1:5 2:3": each candidate that can be drawn, and its weight.
static str weights_of(const struct gepa_pool *p, enum gepa_selection how, size_t top_k)
{
    double drawn[CANDIDATES_MAX] = { 0 }, weights[CANDIDATES_MAX];
    struct chance c = { .ctx = drawn, .weighted = keep_weights };
    struct buf b = { .arena = p->arena };
    gepa_select(p, &(struct gepa_choosing){ .strategy = how, .top_k = top_k }, &c, weights);
    assert_memory_equal(drawn, weights, p->n * sizeof *weights);
    for (size_t i = 0; i < p->n; i++)
        if (weights[i] > 0)
            buf_addf(&b, "%s%zu:%g", b.len ? " " : "", i, weights[i]);
    return buf_str(&b);
}

static void expect(const char *rows, const char *survivors)
{
    struct arena a = { 0 };
    struct gepa_pool p = pool_of(rows, &a);
    assert_str(weights_of(&p, GEPA_PARETO, 0), str_from(survivors));
    arena_free(&a);
}

static void the_survivors_are_those_of_the_specification(void **s)
{
    (void)s;
    expect("1001 1100 0110", "0:2 2:2");
    expect("100 110 111", "2:3");
    expect("11110 11001", "0:4 1:3");
    expect("111000 111100 000110 100000", "1:5 2:3");
    expect("000 000 100", "2:3");
    expect("1100 0011 1010 0101", "2:2 3:2");
    expect("11111000 11000100 00110010 00001001", "1:3 2:3 3:2"); // the best mean is pruned
    expect("0000 0000", "1:4");
    expect("1", "0:1");
}

static void graded_scores_survive_where_they_are_best(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct gepa_pool p = { .arena = &a, .n_validation = 3 };
    static const int64_t rows[][3] = { { 2, 9, 5 }, { 8, 1, 5 }, { 5, 5, 6 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        add_row(&p, rows[i]);
    assert_str(weights_of(&p, GEPA_PARETO, 0), S("0:1 1:1 2:1"));
    arena_free(&a);
}

static void of_equal_means_the_lower_index_is_pruned_first(void **s)
{
    (void)s;
    expect("01011 10011 11001", "1:4 2:4");
}

static void other_strategies_draw_from_their_own_set(void **s)
{
    (void)s;
    struct arena a = { 0 };
    const char *f = "11111000 11000100 00110010 00001001";
    struct gepa_pool p = pool_of(f, &a);
    double weights[CANDIDATES_MAX];
    struct chance c = chance_new(1, S("gepa"), &a);
    assert_int_equal(
        gepa_select(&p, &(struct gepa_choosing){ .strategy = GEPA_CURRENT_BEST }, &c, weights), 0);
    assert_str(weights_of(&p, GEPA_UNPRUNED_PARETO, 0), S("0:5 1:3 2:3 3:2"));
    assert_str(weights_of(&p, GEPA_TOP_K_PARETO, 1), S("0:5"));
    assert_str(weights_of(&p, GEPA_TOP_K_PARETO, 2), S("0:5 1:3"));
    assert_str(weights_of(&p, GEPA_TOP_K_PARETO, 9), S("1:3 2:3 3:2"));
    p = pool_of("1100 0011 1010 0101", &a);
    assert_int_equal(
        gepa_select(&p, &(struct gepa_choosing){ .strategy = GEPA_CURRENT_BEST }, &c, weights), 0);
    arena_free(&a);
}

static void without_a_front_the_best_few_give_the_best(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct gepa_pool p = { .arena = &a, .n_validation = 2 };
    static const int64_t rows[][2] = { { 10, 0 }, { 6, 6 }, { 0, 10 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        add_row(&p, rows[i]);
    double weights[CANDIDATES_MAX];
    struct chance none = { 0 }; // nothing is drawn
    struct gepa_choosing how = { .strategy = GEPA_TOP_K_PARETO, .top_k = 1 };
    assert_int_equal(gepa_select(&p, &how, &none, weights), 1);
    arena_free(&a);
}

static void epsilon_decides_between_anything_and_the_best(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct gepa_pool p = pool_of("000 111 010 001", &a);
    struct chance c = chance_new(7, S("gepa"), &a);
    double weights[CANDIDATES_MAX];
    int counts[4] = { 0 };
    enum { DRAWS = 20000 };
    struct gepa_choosing how = { .strategy = GEPA_EPSILON_GREEDY };
    for (int i = 0; i < 100; i++)
        assert_int_equal(gepa_select(&p, &how, &c, weights), 1);
    how.epsilon = 0.1; // others 0.025 each: 500 of 20,000, standard deviation 22
    for (int i = 0; i < DRAWS; i++)
        counts[gepa_select(&p, &how, &c, weights)]++;
    for (int i = 0; i < 4; i++)
        assert_in_range(counts[i], i == 1 ? 18400 : 390, i == 1 ? 18600 : 610);
    arena_free(&a);
}

static void parents_are_drawn_in_proportion_to_their_fronts(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct gepa_pool p = pool_of("11110 11001", &a);
    struct chance c = chance_new(42, S("gepa"), &a);
    struct gepa_choosing how = { .strategy = GEPA_PARETO };
    double weights[CANDIDATES_MAX];
    enum { DRAWS = 100000 };
    double n[2] = { 0 }, want[2] = { DRAWS * 4 / 7.0, DRAWS * 3 / 7.0 }, chi2 = 0;
    for (int i = 0; i < DRAWS; i++)
        n[gepa_select(&p, &how, &c, weights)]++;
    for (int i = 0; i < 2; i++)
        chi2 += (n[i] - want[i]) * (n[i] - want[i]) / want[i];
    assert_true(chi2 < 10.83); // p = 0.001 with one degree of freedom
    arena_free(&a);
}

// ---- properties over random pools ----

static struct gepa_pool random_pool(struct mt *g, struct arena *a)
{
    struct gepa_pool p = { .arena = a, .n_validation = (size_t)mt_range(g, 1, 12) };
    int64_t n = mt_range(g, 1, 8);
    for (int64_t i = 0; i < n; i++) {
        int64_t *scores = NEW_ARRAY(a, int64_t, EXAMPLES_MAX);
        for (size_t v = 0; v < p.n_validation; v++)
            scores[v] = mt_below(g, 2) ? GEPA_ONE : 0;
        add_row(&p, scores);
    }
    return p;
}

static size_t survivors_on(const struct gepa_pool *p, const bool *survives, size_t example)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += survives[i] && gepa_on_front(p, i, example);
    return n;
}

static bool is_redundant(const struct gepa_pool *p, const bool *left, size_t i)
{
    for (size_t v = 0; v < p->n_validation; v++)
        if (gepa_on_front(p, i, v) && survivors_on(p, left, v) == 1)
            return false;
    return true;
}

// The reference's way: after each removal from the front again.
static void prune_with_restarts(const struct gepa_pool *p, bool *left)
{
    for (bool again = true; again;) {
        size_t worst = p->n;
        for (size_t i = 0; i < p->n; i++)
            if (left[i] && is_redundant(p, left, i) &&
                (worst == p->n || p->v[i].sum < p->v[worst].sum))
                worst = i;
        again = worst < p->n;
        if (again)
            left[worst] = false;
    }
}

static void survivors_cover_every_example_and_none_is_superfluous(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct mt g;
    mt_seed(&g, 1);
    for (int round = 0; round < 3000; round++) {
        struct gepa_pool p = random_pool(&g, &a);
        bool survives[CANDIDATES_MAX], slow[CANDIDATES_MAX];
        size_t n = gepa_prune(&p, survives), counted = 0, total = 0;
        memset(slow, true, sizeof slow);
        prune_with_restarts(&p, slow);
        for (size_t i = 0; i < p.n; i++) {
            assert_int_equal(survives[i], slow[i]);
            counted += survives[i];
            assert_false(survives[i] && is_redundant(&p, survives, i));
        }
        for (size_t v = 0; v < p.n_validation; v++) {
            assert_true(survivors_on(&p, survives, v) > 0);
            total += survivors_on(&p, survives, v);
        }
        assert_int_equal(n, counted);
        assert_true(total >= p.n_validation);
        arena_reset(&a);
    }
    arena_free(&a);
}

static void of_two_equal_candidates_at_most_one_survives(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct mt g;
    mt_seed(&g, 2);
    for (int round = 0; round < 1000; round++) {
        struct gepa_pool p = random_pool(&g, &a);
        size_t original = mt_below(&g, (uint32_t)p.n);
        bool survives[CANDIDATES_MAX];
        add_row(&p, p.v[original].scores);
        gepa_prune(&p, survives);
        assert_false(survives[original] && survives[p.n - 1]);
        arena_reset(&a);
    }
    arena_free(&a);
}

static void the_next_component_is_the_farthest_of_the_parents(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct gepa_pool p = pool_of("0 0 0", &a);
    p.v[1].next_component = 2;
    p.v[2].next_component = 1;
    size_t i = gepa_pool_add(
        &p,
        &(struct gepa_candidate){ .scores = p.v[0].scores, .parents = { 2, 1 }, .n_parents = 2 });
    assert_int_equal(i, 3);
    assert_int_equal(p.v[3].next_component, 2);
    arena_free(&a);
}

static void the_best_is_the_first_of_the_highest_mean(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct gepa_pool p = pool_of("0100 1010 0101 0010", &a);
    assert_int_equal(gepa_best(&p), 1);
    assert_true(gepa_mean(&p, 1) == 0.5);
    arena_free(&a);
}

// ---- the sampler ----

static void keep_order(void *ctx, const char *stream, size_t *v, size_t n)
{
    int *n_shuffles = ctx;
    (void)v, (void)n;
    assert_string_equal(stream, "sampler");
    (*n_shuffles)++;
}

struct sampling_case {
    struct arena arena;
    struct gepa_sampler s;
    struct chance c;
    int n_shuffles;
};

static void sampler_new(struct sampling_case *t, size_t size, enum gepa_padding padding)
{
    memset(t, 0, sizeof *t);
    t->s = (struct gepa_sampler){ .arena = &t->arena, .size = size, .padding = padding };
    t->c = (struct chance){ .ctx = &t->n_shuffles, .shuffle = keep_order };
}

// The ids of an iteration, where the shuffle keeps the order: "0 1 2".
static void expect_batch(struct sampling_case *t, int64_t iteration, size_t n_train,
                         const char *want)
{
    const size_t *ids = gepa_sample(&t->s, &t->c, iteration, n_train);
    struct buf b = { .arena = &t->arena };
    for (size_t i = 0; i < t->s.size; i++)
        buf_addf(&b, "%s%zu", i ? " " : "", ids[i]);
    assert_str(buf_str(&b), str_from(want));
}

static void nine_examples_make_three_minibatches_an_epoch(void **s)
{
    (void)s;
    struct sampling_case t;
    sampler_new(&t, 3, GEPA_PAD_REFERENCE);
    expect_batch(&t, 0, 9, "0 1 2");
    expect_batch(&t, 1, 9, "3 4 5");
    expect_batch(&t, 2, 9, "6 7 8");
    assert_int_equal(t.n_shuffles, 1);
    expect_batch(&t, 3, 9, "0 1 2");
    assert_int_equal(t.n_shuffles, 2);
    arena_free(&t.arena);
}

static void the_reference_doubles_the_last_ids(void **s)
{
    (void)s;
    static const struct {
        size_t n_train;
        int64_t last;
        const char *ids;
    } cases[] = { { 8, 2, "6 7 7" }, { 7, 2, "6 6 5" }, { 2, 0, "0 1 1" }, { 1, 0, "0 0 0" } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sampling_case t;
        sampler_new(&t, 3, GEPA_PAD_REFERENCE);
        expect_batch(&t, cases[i].last, cases[i].n_train, cases[i].ids);
        arena_free(&t.arena);
    }
}

static void our_padding_takes_the_first_ids(void **s)
{
    (void)s;
    static const struct {
        size_t n_train;
        int64_t last;
        const char *ids;
    } cases[] = { { 8, 2, "6 7 0" }, { 7, 2, "6 0 1" }, { 2, 0, "0 1 0" }, { 1, 0, "0 0 0" } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sampling_case t;
        sampler_new(&t, 3, GEPA_PAD_FIRST);
        expect_batch(&t, cases[i].last, cases[i].n_train, cases[i].ids);
        arena_free(&t.arena);
    }
}

static void an_iteration_without_a_minibatch_skips_one(void **s)
{
    (void)s;
    struct sampling_case t;
    sampler_new(&t, 3, GEPA_PAD_REFERENCE);
    expect_batch(&t, 0, 9, "0 1 2");
    expect_batch(&t, 2, 9, "6 7 8");
    expect_batch(&t, 7, 9, "3 4 5"); // two epochs later, one shuffle
    assert_int_equal(t.n_shuffles, 2);
    arena_free(&t.arena);
}

static void a_training_set_that_grows_is_shuffled_again(void **s)
{
    (void)s;
    struct sampling_case t;
    sampler_new(&t, 3, GEPA_PAD_REFERENCE);
    expect_batch(&t, 0, 9, "0 1 2");
    expect_batch(&t, 1, 12, "3 4 5");
    assert_int_equal(t.n_shuffles, 2);
    expect_batch(&t, 3, 12, "9 10 11");
    assert_int_equal(t.n_shuffles, 2);
    arena_free(&t.arena);
}

static void at_paper_size_no_example_comes_twice_in_an_epoch(void **s)
{
    (void)s;
    enum { TRAIN = 1101 };
    struct arena a = { 0 };
    struct chance c = chance_new(42, S("gepa"), &a);
    struct gepa_sampler sampler = { .arena = &a, .size = 3, .padding = GEPA_PAD_REFERENCE };
    bool seen[TRAIN] = { 0 };
    for (int64_t i = 0; i < TRAIN / 3; i++) {
        const size_t *ids = gepa_sample(&sampler, &c, i, TRAIN);
        for (size_t k = 0; k < 3; k++) {
            assert_false(seen[ids[k]]);
            seen[ids[k]] = true;
        }
    }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_survivors_are_those_of_the_specification),
        cmocka_unit_test(graded_scores_survive_where_they_are_best),
        cmocka_unit_test(of_equal_means_the_lower_index_is_pruned_first),
        cmocka_unit_test(other_strategies_draw_from_their_own_set),
        cmocka_unit_test(without_a_front_the_best_few_give_the_best),
        cmocka_unit_test(epsilon_decides_between_anything_and_the_best),
        cmocka_unit_test(parents_are_drawn_in_proportion_to_their_fronts),
        cmocka_unit_test(survivors_cover_every_example_and_none_is_superfluous),
        cmocka_unit_test(of_two_equal_candidates_at_most_one_survives),
        cmocka_unit_test(the_next_component_is_the_farthest_of_the_parents),
        cmocka_unit_test(the_best_is_the_first_of_the_highest_mean),
        cmocka_unit_test(nine_examples_make_three_minibatches_an_epoch),
        cmocka_unit_test(the_reference_doubles_the_last_ids),
        cmocka_unit_test(our_padding_takes_the_first_ids),
        cmocka_unit_test(an_iteration_without_a_minibatch_skips_one),
        cmocka_unit_test(a_training_set_that_grows_is_shuffled_again),
        cmocka_unit_test(at_paper_size_no_example_comes_twice_in_an_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

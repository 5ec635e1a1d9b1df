// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of the search, with the examples of the Meta-Harness specification: 5.4, 6.1, 7.6.
#include "test.h"

#include "evolve/evolve.h"

static void the_reference_frontier_keeps_dominated_points_with_equal_calls(void **state)
{
    (void)state;
    struct point p[] = { { .success = 0.50, .calls = 1.2 },
                         { .success = 0.45, .calls = 1.2 },
                         { .success = 0.40, .calls = 1.0 } };
    frontier_mark(p, 3);
    assert_true(p[0].on_reference && p[1].on_reference && p[2].on_reference);
    assert_true(p[0].on_strict && p[2].on_strict);
    assert_false(p[1].on_strict);
}

static void a_point_with_less_success_and_more_calls_is_on_no_frontier(void **state)
{
    (void)state;
    struct point p[] = { { .success = 0.4, .calls = 2 }, { .success = 0.5, .calls = 1 } };
    frontier_mark(p, 2);
    assert_false(p[0].on_reference || p[0].on_strict);
    assert_true(p[1].on_reference && p[1].on_strict);
}

// The iteration after which a series of best-so-far scores stops; 0: none.
static int64_t stops_after(double start)
{
    static const double best[] = { .5, .5, .6, .6, .6 };
    struct patience p = { .patience = 2, .min_iters = 2, .best = start };
    for (int i = 0; i < 5; i++)
        if (patience_spent(&p, i + 1, best[i]))
            return i + 1;
    return 0;
}

static void patience_counts_from_the_last_strict_improvement(void **state)
{
    (void)state;
    assert_int_equal(stops_after(.4), 5);
    assert_int_equal(stops_after(.5), 2);
}

// A result of `n` rollouts in one set, of which [from, to) are solved.
static struct eval_result result(struct arena *a, size_t n, size_t from, size_t to)
{
    struct outcome *out = NEW_ARRAY(a, struct outcome, n);
    for (size_t i = from; i < to; i++)
        out[i].score = 1;
    struct eval_result r = { .sets = NEW(a, struct eval_set_result), .n_sets = 1, .repeats = 1 };
    r.sets[0] = (struct eval_set_result){ .out = out, .n_puzzles = n };
    return r;
}

static void gains_are_tested_on_the_puzzles_that_differ(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct eval_result old = result(&a, 256, 0, 128), small = result(&a, 256, 25, 158),
                       large = result(&a, 256, 10, 168);
    struct paired p = eval_compare(&old, &small);
    assert_int_equal(p.gained, 30);
    assert_int_equal(p.lost, 25);
    assert_true(p.p_better > 0.10);
    p = eval_compare(&old, &large);
    assert_int_equal(p.gained, 40);
    assert_int_equal(p.lost, 10);
    assert_true(p.p_better < 0.10);
    assert_true(eval_compare(&large, &old).p_better >= 1);
    arena_free(&a);
}

static void the_order_of_puzzles_is_that_of_the_reference(void **state)
{
    (void)state;
    static const size_t expected[] = { 234, 9, 103, 60, 5, 79, 232, 229, 45, 51 };
    struct arena a = { 0 };
    struct err err = { 0 };
    struct position at;
    assert_int_equal(position_parse(S("4k3/8/8/8/8/8/8/4K2R w K - 0 1"), &at, &err), FAULT_NONE);
    static move moves[2];
    assert_true(uci_parse(&at, S("h1h2"), &moves[0]));
    struct position next = position_after(&at, moves[0]);
    assert_true(uci_parse(&next, S("e8e7"), &moves[1]));
    struct puzzles all = { 0 };
    for (size_t i = 0; i < 256; i++)
        *vec_push(&a, &all) = (struct puzzle){
            .id = arena_printf(&a, "%zu", i), .start = at, .moves = moves, .n_moves = 2
        };
    struct eval_set set = eval_set_make(&all, 42, 10, &(struct rollout_opts){ 0 }, &a);
    assert_int_equal(set.n, 10);
    for (size_t i = 0; i < 10; i++)
        assert_true(str_eq(set.v[i].id, arena_printf(&a, "%zu", expected[i])));
    arena_free(&a);
}

static void metadata_may_name_the_slot_in_four_ways(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct proposals p = { 0 };
    assert_true(proposals_read(S("{\"iteration\":1,\"candidates\":[{\"name\":\"h1\",\"axis\":"
                                 "\"parser\"},{\"slot\":\"h2\",\"axis\":\"magic\"},{\"harness\":"
                                 "\"h3\"},{\"id\":\"h4\",\"extra\":[]},{}]}"),
                               &a, &p, &err));
    assert_int_equal(p.n, 4);
    assert_true(str_eq(p.v[0].axis, S("parser")));
    assert_true(str_eq(p.v[1].axis, S("other")));
    assert_true(str_eq(p.v[3].name, S("h4")));
    assert_false(proposals_read(S("nonsense"), &a, &p, &err));
    arena_free(&a);
}

static void of_a_reply_the_last_complete_block_of_a_slot_counts(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct proposals p = { 0 };
    proposals_from_reply(S("Thoughts.\n```json\n{\"name\": \"h4\", \"hypothesis\": \"why\"}\n```\n"
                           "```python slot=h4\nx = 1\n```\n```python slot=h4\nx = 2\ny = 3\n```\n"
                           "```python\nz = 4\n```\n```python slot=h4\nx = 5\n"),
                         &a, &p);
    assert_int_equal(p.n, 1);
    assert_true(str_eq(p.v[0].hypothesis, S("why")));
    assert_true(str_eq(p.v[0].source, S("x = 2\ny = 3\n")));
    struct proposals q = { 0 };
    proposals_from_reply(S("{\"candidates\":[{\"name\":\"h1\",\"source\":\"x = 1\"}]}"), &a, &q);
    assert_int_equal(q.n, 1);
    assert_true(str_eq(q.v[0].source, S("x = 1")));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_frontier_keeps_dominated_points_with_equal_calls),
        cmocka_unit_test(a_point_with_less_success_and_more_calls_is_on_no_frontier),
        cmocka_unit_test(patience_counts_from_the_last_strict_improvement),
        cmocka_unit_test(gains_are_tested_on_the_puzzles_that_differ),
        cmocka_unit_test(the_order_of_puzzles_is_that_of_the_reference),
        cmocka_unit_test(metadata_may_name_the_slot_in_four_ways),
        cmocka_unit_test(of_a_reply_the_last_complete_block_of_a_slot_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

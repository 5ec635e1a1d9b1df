// SPDX-License-Identifier: GPL-3.0-or-later
// What moves cost, with the engine's answers played by hand.
#include "test.h"

#include "episode/episode.h"

static struct engine_score cp(int value)
{
    return (struct engine_score){ .given = true, .value = value };
}

static struct engine_score mate(int moves)
{
    return (struct engine_score){ .given = true, .mate = true, .value = moves };
}

struct bench {
    struct arena arena;
    struct engine engine;
    struct regret_input input;
    struct job job;
    struct episode *ep;
    struct ask ask;
    enum step last;
    move moves[4];
};

static move move_of(const struct bench *b, const char *text)
{
    move m;
    assert_true(uci_parse(&b->input.at, str_from(text), &m));
    return m;
}

// An episode about these moves (separated by blanks) from the start position; it has asked first.
static void bench_new(struct bench *b, const char *moves)
{
    *b = (struct bench){ .input = { .at = position_start(), .limit = { ENGINE_BY_DEPTH, 20 } } };
    str rest = str_from(moves);
    b->input.engine = &b->engine;
    while (rest.len > 0)
        b->moves[b->input.n++] = move_of(b, arena_str(&b->arena, str_cut(&rest, ' ')).data);
    b->input.moves = b->moves;
    b->job = (struct job){ .kind = &episode_regret, .input = &b->input };
    b->ep = episode_new(&b->job, &b->arena);
    b->last = b->job.kind->step(b->ep, NULL, &b->ask);
    assert_int_equal(b->last, STEP_ASK);
    assert_int_equal(b->ask.to, TO_ENGINE);
    assert_int_equal(b->ask.engine.n_search, 0);
    assert_true(b->ask.engine.need_score);
}

static void answer(struct bench *b, const char *best, struct engine_score score)
{
    struct engine_pv line = { .score = score, .depth = 20 };
    struct answer in = { .engine = { .best = move_of(b, best), .v = &line, .n = 1 } };
    assert_int_equal(b->last, STEP_ASK);
    b->last = b->job.kind->step(b->ep, &in, &b->ask);
}

static const struct regret_record *record(const struct bench *b)
{
    assert_int_equal(b->last, STEP_DONE);
    assert_int_equal(b->ep->outcome.status, OUTCOME_SCORED);
    return b->ep->outcome.record;
}

// The cost of e2e4 where d2d4 is best.
static int64_t cost(struct engine_score best, struct engine_score played)
{
    struct bench b;
    bench_new(&b, "e2e4");
    answer(&b, "d2d4", best);
    assert_int_equal(b.ask.engine.n_search, 1);
    assert_int_equal(b.ask.engine.search[0], move_of(&b, "e2e4"));
    assert_int_equal(b.ask.engine.limit.n, 20);
    answer(&b, "e2e4", played);
    int64_t out = record(&b)->v[0].cost_cp;
    arena_free(&b.arena);
    return out;
}

static void a_cost_is_best_minus_played_and_never_negative(void **s)
{
    (void)s;
    assert_int_equal(cost(cp(50), cp(20)), 30);
    assert_int_equal(cost(cp(50), cp(-20)), 70);
    assert_int_equal(cost(cp(50), cp(60)), 0);
}

static void mates_cost_a_hundred_thousand(void **s)
{
    (void)s;
    assert_int_equal(cost(mate(2), cp(300)), 99700);
    assert_int_equal(cost(cp(-50), mate(-3)), 99950);
    assert_int_equal(cost(mate(1), mate(-1)), 200000);
    assert_int_equal(cost(mate(1), mate(7)), 0);
    assert_int_equal(cost(mate(-9), mate(-1)), 0);
}

static void the_best_move_costs_exactly_nothing_and_no_search(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "e2e4");
    answer(&b, "e2e4", cp(33));
    assert_int_equal(record(&b)->v[0].cost_cp, 0);
    assert_int_equal(record(&b)->v[0].search.score.value, 33);
    arena_free(&b.arena);
}

static void several_moves_share_one_search_of_the_position(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "e2e4 d2d4 a2a3");
    answer(&b, "d2d4", cp(40));
    answer(&b, "e2e4", cp(35));
    answer(&b, "a2a3", cp(0));
    const struct regret_record *r = b.job.kind->copy_record(record(&b), &b.arena);
    assert_int_equal(r->n, 3);
    assert_int_equal(r->v[0].cost_cp, 5);
    assert_int_equal(r->v[1].cost_cp, 0);
    assert_int_equal(r->v[2].cost_cp, 40);
    assert_false(r->has_noise);
    arena_free(&b.arena);
}

static void the_noise_is_the_best_moves_own_search_off_its_score(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "d2d4");
    b.input.noise = true;
    answer(&b, "d2d4", cp(40));
    assert_int_equal(b.ask.engine.search[0], move_of(&b, "d2d4"));
    answer(&b, "d2d4", cp(52));
    assert_true(record(&b)->has_noise);
    assert_int_equal(record(&b)->noise_cp, 12);
    assert_int_equal(record(&b)->v[0].cost_cp, 0);
    arena_free(&b.arena);
}

static void an_engine_at_fault_gives_no_cost(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "e2e4");
    answer(&b, "d2d4", cp(40));
    struct answer in = { .engine = { .class = ENGINE_CRASHED, .error = S("gone") } };
    assert_int_equal(b.job.kind->step(b.ep, &in, &b.ask), STEP_DONE);
    assert_int_equal(b.ep->outcome.status, OUTCOME_FAILED);
    assert_null(b.ep->outcome.record);
    assert_str(b.ep->outcome.error, S("gone"));
    arena_free(&b.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cost_is_best_minus_played_and_never_negative),
        cmocka_unit_test(mates_cost_a_hundred_thousand),
        cmocka_unit_test(the_best_move_costs_exactly_nothing_and_no_search),
        cmocka_unit_test(several_moves_share_one_search_of_the_position),
        cmocka_unit_test(the_noise_is_the_best_moves_own_search_off_its_score),
        cmocka_unit_test(an_engine_at_fault_gives_no_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

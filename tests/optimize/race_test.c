// SPDX-License-Identifier: GPL-3.0-or-later
// The best of several programs for fewer calls (GEPA and SIMBA specification, section 8): the
// winner is the one that whole evaluations find; racing is wrong no oftener than it says.
#include "test.h"

#include "optimize/race.h"

enum { POSITIONS = 120, PROGRAMS = 7, PER_PUZZLE = 3 };

struct world {
    struct arena arena;
    struct puzzle puzzles[POSITIONS / PER_PUZZLE];
    struct puzzle_position v[POSITIONS];
    struct puzzle_positions on;
    const struct program *programs[PROGRAMS];
    struct model model;
    struct optimizer_config config;
    uint64_t seed;
    int64_t n_calls;
};

// The instruction is "NUMBER PERCENT": who it is, and how often it is right.
static bool answer(const struct model *m, const struct model_request *q, struct arena *a,
                   struct reply *out, struct err *err)
{
    (void)err;
    struct world *w = m->context;
    str instruction = q->messages.v[0].text, text = q->messages.v[q->messages.n - 1].text;
    int64_t who, percent, item;
    ptrdiff_t at = str_find(instruction, S("who "));
    assert_true(at >= 0);
    instruction = str_sub(instruction, (size_t)at + 4, instruction.len);
    assert_true(str_to_int(str_cut(&instruction, ' '), 0, 1000, &who));
    assert_true(str_to_int(str_cut(&instruction, '.'), 0, 100, &percent));
    str_cut(&text, '\n');
    assert_true(str_to_int(str_cut(&text, '\n'), 0, POSITIONS, &item));
    struct rng g;
    rng_seed(&g, w->seed * 1000000 + (uint64_t)(who * 1000 + item), S("answer"));
    w->n_calls++;
    out->class = REPLY_OK;
    out->text = arena_str(a, (int64_t)rng_below(&g, 100) < percent ? S("{\"move\":\"e2e4\"}")
                                                                   : S("{\"move\":\"a2a3\"}"));
    return true;
}
static const struct provider provider_toy = { .answer = answer };

static struct world *world_new(uint64_t seed, const int *percents)
{
    struct world *w = calloc(1, sizeof *w);
    struct position start = position_start();
    w->seed = seed;
    for (int i = 0; i < POSITIONS; i++) {
        w->v[i] = (struct puzzle_position){ .puzzle = &w->puzzles[i / PER_PUZZLE],
                                            .index = i % PER_PUZZLE,
                                            .at = start };
        w->puzzles[i / PER_PUZZLE].id = S("p");
        assert_true(uci_parse(&start, S("e2e4"), &w->v[i].solution));
        w->v[i].inputs[0] = arena_printf(&w->arena, "%d", i);
        w->v[i].inputs[1] = S("white");
        w->v[i].inputs[2] = S("e2e4, a2a3");
        w->v[i].reference = S("e2e4");
    }
    w->on = (struct puzzle_positions){ .v = w->v, .n = POSITIONS };
    for (int i = 0; i < PROGRAMS; i++)
        w->programs[i] = program_new(&w->arena, &signature_choose_move,
                                     arena_printf(&w->arena, "who %d %d.", i, percents[i]));
    w->model = (struct model){
        .name = S("toy/m"), .provider = &provider_toy, .context = w, .has_temperature = true
    };
    optimizer_defaults(&w->config, METHOD_SIMBA, S("paper"));
    return w;
}

static void world_free(struct world *w)
{
    arena_free(&w->arena);
    free(w);
}

static struct opt_race_result race(struct world *w, size_t n, enum race_kind kind, double delta)
{
    struct store *db = NULL;
    struct err err = { 0 };
    struct store_run run = { .key = S("k"), .command = S("test"), .config = S("{}") };
    assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &db, &err));
    assert_true(store_run_begin(db, &(struct store_begin){ 0 }, &w->arena, &run, &err));
    struct lab lab = { .arena = &w->arena,
                       .pump = pump_new(&(struct pump_opts){ .run = run.id }, db, &err) };
    struct opt_task task = { .lab = &lab, .model = &w->model, .config = &w->config };
    struct opt_race ask = {
        .task = &task, .v = w->programs, .n = n, .on = &w->on, .kind = kind, .delta = delta
    };
    struct opt_race_result result;
    w->n_calls = 0;
    if (!opt_race(&ask, &result, &err))
        fail_msg("%s", err.text);
    assert_int_equal(w->n_calls + result.n_saved, (int64_t)n * POSITIONS);
    pump_free(lab.pump);
    store_close(db);
    return result;
}

static void bounds_find_the_same_winner_for_fewer_calls(void **state)
{
    (void)state;
    static const int percents[PROGRAMS] = { 40, 43, 50, 38, 50, 47, 20 };
    int64_t n_saved = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct world *w = world_new(seed, percents);
        w->config.objective = seed % 2 ? OBJECTIVE_POSITION : OBJECTIVE_PUZZLE;
        struct opt_race_result whole = race(w, PROGRAMS, RACE_WHOLE, 0);
        struct opt_race_result bounds = race(w, PROGRAMS, RACE_BOUNDS, 0);
        assert_int_equal(whole.n_saved, 0);
        assert_int_equal(bounds.winner, whole.winner);
        assert_null(bounds.lanes[bounds.winner].left);
        for (size_t i = 0; i < PROGRAMS; i++)
            if (!bounds.lanes[i].left) // who went all the way has the whole score
                assert_true(bounds.lanes[i].rate == whole.lanes[i].rate);
        n_saved += bounds.n_saved;
        world_free(w);
    }
    assert_true(n_saved > 30 * 20); // the weakest alone leaves the last sixth
}

static void of_equal_scores_the_first_wins(void **state)
{
    (void)state;
    static const int percents[PROGRAMS] = { 0, 100, 100, 100, 0, 100, 0 };
    struct world *w = world_new(1, percents);
    struct opt_race_result r = race(w, PROGRAMS, RACE_BOUNDS, 0);
    assert_int_equal(r.winner, 1);
    world_free(w);
}

static void equal_programs_are_asked_once(void **state)
{
    (void)state;
    static const int percents[PROGRAMS] = { 50, 50, 50, 50, 50, 50, 50 };
    struct world *w = world_new(1, percents);
    for (int i = 1; i < PROGRAMS; i++)
        w->programs[i] =
            program_new(&w->arena, &signature_choose_move, w->programs[0]->instruction);
    struct opt_race_result r = race(w, PROGRAMS, RACE_BOUNDS, 0);
    assert_int_equal(r.winner, 0);
    assert_int_equal(w->n_calls, POSITIONS);
    for (int i = 1; i < PROGRAMS; i++) {
        assert_int_equal(r.lanes[i].same_as, 0);
        assert_true(r.lanes[i].rate == r.lanes[0].rate);
    }
    w->model.temperature = 0.7; // now each answer is a draw of its own
    r = race(w, PROGRAMS, RACE_BOUNDS, 0);
    assert_true(w->n_calls > POSITIONS);
    world_free(w);
}

// Two programs that are equally good: the one is dropped for the other in at most 5 % of the races,
// whichever leads. 200 races of one pair; a binomial of 0.05 shows more than 18 in less than 1 %.
static void racing_is_wrong_no_oftener_than_it_says(void **state)
{
    (void)state;
    static const int equal[PROGRAMS] = { 50, 50 }, apart[PROGRAMS] = { 30, 80 };
    int n_dropped = 0, n_right = 0;
    int64_t n_saved = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world *w = world_new(seed, equal);
        struct opt_race_result whole = race(w, 2, RACE_WHOLE, 0);
        struct opt_race_result r = race(w, 2, RACE_BETS, 0.05);
        n_dropped += r.winner != whole.winner;
        world_free(w);
    }
    assert_in_range(n_dropped, 0, 18);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct world *w = world_new(seed, apart);
        struct opt_race_result r = race(w, 2, RACE_BETS, 0.05);
        n_right += r.winner == 1;
        n_saved += r.n_saved;
        world_free(w);
    }
    assert_in_range(n_right, 48, 50);
    assert_true(n_saved > 50 * POSITIONS / 2); // of 2 x POSITIONS each
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_find_the_same_winner_for_fewer_calls),
        cmocka_unit_test(of_equal_scores_the_first_wins),
        cmocka_unit_test(equal_programs_are_asked_once),
        cmocka_unit_test(racing_is_wrong_no_oftener_than_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

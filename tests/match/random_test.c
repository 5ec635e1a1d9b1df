// SPDX-License-Identifier: GPL-3.0-or-later
// Random games: the acceptance bands of the LLM Chess specification (6.2) for 10,000 games, and the
// rules against the ones that games of module chess keep.
#include <math.h>

#include "test.h"

#include "match/match.h"

static void within(const char *what, double got, double low, double high)
{
    if (!(got >= low && got <= high))
        fail_msg("%s is %.4f, not in [%.4f, %.4f]", what, got, low, high);
}

static void ten_thousand_games_are_in_the_bands(void **s)
{
    (void)s;
    enum { N = 10000 };
    struct match_totals t = { 0 };
    for (uint64_t i = 0; i < N; i++) {
        struct match_game g;
        match_random_game(1, i, MATCH_PLIES_DEFAULT, &g);
        match_count(&t, &g);
    }
    within("checkmates", (double)t.ends[MATCH_CHECKMATE], 1007, 1201);
    within("White wins", (double)t.wins[WHITE], 480, 621);
    within("Black wins", (double)t.wins[BLACK], 483, 625);
    within("stalemates", (double)t.ends[MATCH_STALEMATE], 51, 104);
    within("insufficient", (double)t.ends[MATCH_INSUFFICIENT_MATERIAL], 5, 29);
    within("75 moves", (double)t.ends[MATCH_SEVENTYFIVE_MOVES], 0, 2);
    within("fivefold", (double)t.ends[MATCH_FIVEFOLD_REPETITION], 0, 2);
    within("max moves", (double)t.ends[MATCH_MAX_MOVES], 8702, 8903);
    within("mean plies", match_mean(&t.length, N), 189.9, 191.8);
    within("sd plies", match_deviation(&t.length, N), 27.8, 31.8);
    within("White material", match_mean(&t.material[WHITE], N), 10.16, 10.61);
    within("Black material", match_mean(&t.material[BLACK], N), 10.31, 10.76);
    within("difference", match_mean(&t.difference, N), -0.42, 0.12);
    within("mean mate ply", match_mean(&t.mates, t.ends[MATCH_CHECKMATE]), 115, 124);
    within("legal moves", (double)t.n_legal / (double)t.plies, 27.6, 27.9);
    assert_int_equal(t.wins[WHITE] + t.wins[BLACK] + t.draws, N);
}

// The same draws through the game of module chess, which keeps its own history.
static void ends_are_those_of_a_game_with_all_rules(void **s)
{
    (void)s;
    static const enum game_end same[] = {
        [MATCH_CHECKMATE] = GAME_CHECKMATE,
        [MATCH_STALEMATE] = GAME_STALEMATE,
        [MATCH_INSUFFICIENT_MATERIAL] = GAME_INSUFFICIENT_MATERIAL,
        [MATCH_SEVENTYFIVE_MOVES] = GAME_SEVENTYFIVE_MOVES,
        [MATCH_FIVEFOLD_REPETITION] = GAME_FIVEFOLD_REPETITION,
        [MATCH_MAX_MOVES] = GAME_ONGOING,
    };
    for (uint64_t i = 0; i < 400; i++) {
        struct arena a = { 0 };
        struct match_game g;
        struct rng streams[2];
        struct game game = { .now = position_start() };
        match_random_game(9, i, 600, &g);
        rng_seed(&streams[WHITE], 9, arena_printf(&a, "play/%llu/white", (unsigned long long)i));
        rng_seed(&streams[BLACK], 9, arena_printf(&a, "play/%llu/black", (unsigned long long)i));
        for (int ply = 0; ply < g.plies; ply++) {
            struct move_list list;
            assert_int_equal(game_end(&game), GAME_ONGOING);
            moves_legal(&game.now, &list);
            game_play(&game, list.v[rng_below(&streams[game.now.turn], list.n)], &a);
        }
        assert_int_equal(game_end(&game), same[g.end]);
        if (g.end == MATCH_CHECKMATE)
            assert_int_equal(g.winner, game.now.turn ^ 1);
        else
            assert_int_equal(g.winner, -1);
        arena_free(&a);
    }
}

static void a_seed_and_a_number_decide_a_game(void **s)
{
    (void)s;
    struct match_game a, b, c;
    match_random_game(5, 3, 200, &a);
    match_random_game(5, 3, 200, &b);
    match_random_game(5, 4, 200, &c);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(a.n_legal != c.n_legal);
    match_random_game(5, 3, 1, &a);
    assert_int_equal(a.plies, 1);
    assert_int_equal(a.end, MATCH_MAX_MOVES);
    assert_int_equal(a.material[WHITE], 39);
}

static void totals_have_the_names_of_the_logs(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct match_totals t = { 0 };
    struct match_game games[] = { { MATCH_CHECKMATE, BLACK, 40, { 3, 20 }, 1000 },
                                  { MATCH_MAX_MOVES, -1, 200, { 5, 6 }, 5000 },
                                  { MATCH_CHECKMATE, WHITE, 60, { 30, 1 }, 1500 } };
    for (size_t i = 0; i < 3; i++)
        match_count(&t, &games[i]);
    struct match_names names = { S("W"), S("W"), S(""), S("m") }; // equal names: colours count
    struct err err = { 0 };
    json_t *root = json_read_strict(match_totals_json(&t, &names, &a), &err);
    assert_non_null(root);
    assert_int_equal(json_get_int(root, "white_wins", -1), 1);
    assert_int_equal(json_get_int(root, "black_wins", -1), 1);
    assert_int_equal(json_get_int(root, "draws", -1), 1);
    assert_int_equal(json_get_int(root, "total_moves", -1), 300);
    const char *first = json_object_iter_key(json_object_iter(json_object_get(root, "reasons")));
    assert_str(str_from(first), S("Checkmate"));
    double sd = json_number_value(json_object_get(root, "std_dev_moves"));
    assert_true(fabs(sd - sqrt((3600.0 + 10000 + 1600) / 2)) < 1e-9);
    json_decref(root);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_games_are_in_the_bands),
        cmocka_unit_test(ends_are_those_of_a_game_with_all_rules),
        cmocka_unit_test(a_seed_and_a_number_decide_a_game),
        cmocka_unit_test(totals_have_the_names_of_the_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// The refined table: the rows of the two log sets (LLM Chess specification 7.3) and the synthetic
// row (7.2), and that a table depends neither on the order of logs nor on colours.
#include <math.h>

#include "sets.h"
#include "test.h"

#include "match/refined.h"

static struct arena arena;
static const struct refined_opts priced = {
    .with_elo = true, .price = { .known = true, .input = 0.50, .output = 2.18 }
};

// The cell of a column in the first row; the column must be there.
static str cell(str csv, const char *column)
{
    str header = str_cut(&csv, '\n'), row = str_cut(&csv, '\n');
    while (header.len > 0) {
        str name = str_cut(&header, ','), value = str_cut(&row, ',');
        if (str_eq(name, str_from(column)))
            return value;
    }
    fail_msg("no column %s", column);
    return (str){ 0 };
}

static void has(str csv, const char *column, const char *want)
{
    str got = cell(csv, column);
    if (!str_eq(got, str_from(want)))
        fail_msg("%s is %.*s, want %s", column, STR(got), want);
}

static const char *const columns_a[][2] = {
    { "Player", "deepseek-r1-0528" },
    { "total_games", "5" },
    { "player_wins", "3" },
    { "opponent_wins", "0" },
    { "draws", "2" },
    { "player_wins_percent", "60.0" },
    { "player_draws_percent", "40.0" },
    { "average_moves", "130.0" },
    { "moe_average_moves", "60.054" },
    { "total_moves", "650" },
    { "player_wrong_actions", "1" },
    { "player_wrong_moves", "3" },
    { "wrong_actions_per_1000moves", "1.538" },
    { "wrong_moves_per_1000moves", "4.615" },
    { "mistakes_per_1000moves", "6.154" },
    { "moe_mistakes_per_1000moves", "6.533" },
    { "player_avg_material", "22.0" },
    { "opponent_avg_material", "3.2" },
    { "material_diff_player_llm_minus_opponent", "18.8" },
    { "moe_material_diff_llm_minus_rand", "7.448" },
    { "completion_tokens_black_per_move", "5368.374" },
    { "moe_completion_tokens_black_per_move", "293.971" },
    { "moe_black_llm_win_rate", "0.429" },
    { "moe_draw_rate", "0.429" },
    { "moe_black_llm_loss_rate", "0.0" },
    { "win_loss", "0.8" },
    { "moe_win_loss", "0.24" },
    { "win_loss_non_interrupted", "0.8" },
    { "moe_win_loss_non_interrupted", "0.24" },
    { "game_duration", "1.0" },
    { "moe_game_duration", "0.0" },
    { "games_interrupted", "0" },
    { "games_not_interrupted", "5" },
    { "average_game_cost", "1.55437" },
    { "moe_average_game_cost", "0.66622" },
    { "price_per_1000_moves", "12.14784" },
    { "moe_price_per_1000_moves", "0.64526" },
    { "average_time_per_game_seconds", "7140.436" },
    { "moe_average_time_per_game_seconds", "3057.096" },
    { "elo", "153.551" },
    { "elo_moe_95", "380.676" },
    { "games_vs_random", "5" },
    { "games_vs_dragon", "0" },
};

static void set_a_gives_its_row(void **s)
{
    (void)s;
    struct game_logs logs = set_a(&arena, WITH_ERRORS); // errors are left out by themselves (D5)
    str csv = refined_csv(&logs, &priced, &arena);
    for (size_t i = 0; i < ARRAY_LEN(columns_a); i++)
        has(csv, columns_a[i][0], columns_a[i][1]);
}

static void set_b_gives_its_row(void **s)
{
    (void)s;
    static const char *const want[][2] = {
        { "player_wins", "2" },
        { "opponent_wins", "1" },
        { "draws", "3" },
        { "player_wins_percent", "33.333" },
        { "average_moves", "132.333" },
        { "moe_average_moves", "60.673" },
        { "total_moves", "794" },
        { "wrong_actions_per_1000moves", "2.519" },
        { "wrong_moves_per_1000moves", "7.557" },
        { "mistakes_per_1000moves", "10.076" },
        { "moe_mistakes_per_1000moves", "10.031" },
        { "player_avg_material", "17.667" },
        { "opponent_avg_material", "7.333" },
        { "material_diff_player_llm_minus_opponent", "10.333" },
        { "moe_material_diff_llm_minus_rand", "3.707" },
        { "completion_tokens_black_per_move", "941.261" },
        { "moe_completion_tokens_black_per_move", "26.275" },
        { "moe_black_llm_win_rate", "0.377" },
        { "moe_draw_rate", "0.4" },
        { "moe_black_llm_loss_rate", "0.298" },
        { "win_loss", "0.583" },
        { "moe_win_loss", "0.301" },
        { "win_loss_non_interrupted", "0.7" },
        { "moe_win_loss_non_interrupted", "0.24" },
        { "game_duration", "0.858" },
        { "moe_game_duration", "0.278" },
        { "games_interrupted", "1" },
        { "games_interrupted_percent", "16.667" },
        { "moe_games_interrupted", "0.298" },
        { "average_time_per_game_seconds", "6116.185" },
        { "moe_average_time_per_game_seconds", "2919.969" },
        { "average_game_cost", "0.30762" },
        { "moe_average_game_cost", "0.13875" },
        { "price_per_1000_moves", "2.36716" },
        { "moe_price_per_1000_moves", "0.14548" },
        { "elo", "-28.822" },
        { "elo_moe_95", "281.95" },
        { "protocol_losses", "1" },
    };
    struct game_logs logs = set_b(&arena, ONLY_PLAYED);
    str csv = refined_csv(&logs, &priced, &arena);
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        has(csv, want[i][0], want[i][1]);
}

static void the_synthetic_row_is_exact(void **s) // 7.2
{
    (void)s;
    static const struct set_game one = {
        "Random_Player", "Too many wrong actions", 2, 39, 39, 3, 0, 0, 0, 0, 0, 0, 0
    };
    struct set_game all[33];
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        all[i] = one;
    struct game_logs logs = set_logs(all, ARRAY_LEN(all), "ministral", &arena);
    static const char *const want[][2] = {
        { "average_moves", "2.0" },
        { "moe_average_moves", "0.0" },
        { "player_wrong_actions", "99" },
        { "wrong_actions_per_1000moves", "1500.0" },
        { "wrong_moves_per_1000moves", "0.0" },
        { "mistakes_per_1000moves", "1500.0" },
        { "moe_mistakes_per_1000moves", "0.0" },
        { "material_diff_player_llm_minus_opponent", "0.0" },
        { "win_loss", "0.0" },
        { "win_loss_non_interrupted", "0.5" },
        { "moe_win_loss_non_interrupted", "0.0" },
        { "game_duration", "0.01" },
        { "games_interrupted", "33" },
        { "games_interrupted_percent", "100.0" },
        { "elo", "" },
    };
    str csv = refined_csv(&logs, &priced, &arena);
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        has(csv, want[i][0], want[i][1]);
    assert_int_equal(cell(csv, "elo_bound").data[0], '<'); // field case F-082, D4
}

static void all_draws_have_an_interval_that_is_not_empty(void **s) // D16, S6
{
    (void)s;
    static const struct set_game one = {
        "NONE", "Max moves reached", 200, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0
    };
    struct set_game all[33];
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        all[i] = one;
    struct game_logs logs = set_logs(all, ARRAY_LEN(all), "gpt-5-chat", &arena);
    str csv = refined_csv(&logs, &priced, &arena);
    has(csv, "moe_draw_rate", "0.0"); // the format's own margin
    has(csv, "win_rate_low95", "0.0");
    has(csv, "win_rate_high95", "0.104"); // Wilson: 3.84 / (33 + 3.84)
    has(csv, "elo", "-87.273");
    has(csv, "elo_moe_95", "118.542");
}

static size_t count_columns(str line)
{
    size_t n = 0;
    for (; line.len > 0; n++)
        (void)str_cut(&line, ',');
    return n;
}

static void the_plain_table_has_the_original_s_columns(void **s)
{
    (void)s;
    struct game_logs logs = set_a(&arena, ONLY_PLAYED);
    str csv = refined_csv(&logs, &(struct refined_opts){ 0 }, &arena);
    str header = str_cut(&csv, '\n');
    assert_int_equal(count_columns(header), 43);
    assert_int_equal(count_columns(str_cut(&csv, '\n')), 43);
}

static void order_and_colours_do_not_matter(void **s) // S7, S9, D25
{
    (void)s;
    struct game_logs logs = set_b(&arena, ONLY_PLAYED);
    str csv = refined_csv(&logs, &priced, &arena);
    struct game_logs turned = { 0 };
    for (size_t i = logs.n; i > 0; i--) {
        struct game_log *g = vec_push(&arena, &turned);
        *g = logs.v[i - 1];
    }
    assert_str(refined_csv(&turned, &priced, &arena), csv);
    for (size_t i = 0; i < turned.n; i++) { // the model has White now
        struct game_log *g = &turned.v[i];
        struct log_side white = g->side[WHITE];
        g->side[WHITE] = g->side[BLACK];
        g->side[BLACK] = white;
        g->winner = g->winner < 0 ? -1 : !g->winner;
    }
    str other = refined_csv(&turned, &priced, &arena);
    static const char *const same[] = { "player_wins", "win_loss", "mistakes_per_1000moves",
                                        "player_avg_material", "game_duration" };
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        assert_str(cell(other, same[i]), cell(csv, same[i]));
    has(other, "elo", "-98.822"); // without the bonus it is 70 points less
}

static void unknown_mistakes_are_empty_cells(void **s) // D13
{
    (void)s;
    struct game_logs logs = set_a(&arena, ONLY_PLAYED);
    logs.v[0].side[BLACK].wrong_moves = LOG_UNKNOWN;
    str csv = refined_csv(&logs, &(struct refined_opts){ 0 }, &arena);
    has(csv, "player_wrong_moves", "");
    has(csv, "mistakes_per_1000moves", "");
    has(csv, "total_moves", "650");
}

static void players_are_ranked_by_elo_the_unrated_last(void **s) // S11
{
    (void)s;
    struct game_logs logs = set_b(&arena, ONLY_PLAYED), more = set_a(&arena, ONLY_PLAYED);
    for (size_t i = 0; i < more.n; i++)
        *vec_push(&arena, &logs) = more.v[i];
    struct game_log all_won = more.v[0];
    all_won.side[BLACK].label = S("winner, of one game");
    *vec_push(&arena, &logs) = all_won;
    str csv = refined_csv(&logs, &priced, &arena);
    (void)str_cut(&csv, '\n');
    assert_true(str_starts(str_cut(&csv, '\n'), S("deepseek-r1-0528,")));
    assert_true(str_starts(str_cut(&csv, '\n'), S("deepseek-V3.2_non-reasoning,")));
    assert_true(str_starts(str_cut(&csv, '\n'), S("\"winner, of one game\",")));
}

// The original merges rows: simple means turn into pooled ones, margins into the larger of two.
// Here the games are pooled and everything is computed from them (specification 4.6, S7).
static void two_runs_of_a_player_are_pooled_never_merged(void **s) // D15
{
    (void)s;
    struct game_logs a = set_a(&arena, ONLY_PLAYED), b = set_b(&arena, ONLY_PLAYED), both = { 0 };
    for (size_t i = 0; i < b.n; i++)
        b.v[i].side[BLACK].label = a.v[0].side[BLACK].label;
    for (size_t i = 0; i < a.n + b.n; i++)
        *vec_push(&arena, &both) = i < a.n ? a.v[i] : b.v[i - a.n];
    str csv = refined_csv(&both, &priced, &arena);
    has(csv, "total_games", "11");
    has(csv, "total_moves", "1444"); // 650 + 794
    has(csv, "average_moves", "131.273");
    // 1000 * (4 + 8) / 1444: pooled, not the mean of 6.154 and 10.076
    has(csv, "mistakes_per_1000moves", "8.31");
    // of the eleven lengths; the larger of the two runs' own is 60.673
    double lengths[11], sum = 0, squares = 0;
    for (size_t i = 0; i < both.n; i++) {
        lengths[i] = (double)both.v[i].plies;
        sum += lengths[i];
    }
    for (size_t i = 0; i < both.n; i++)
        squares += (lengths[i] - sum / 11) * (lengths[i] - sum / 11);
    double moe;
    assert_true(str_to_double(cell(csv, "moe_average_moves"), &moe));
    assert_true(fabs(moe - 1.96 * sqrt(squares / 10) / sqrt(11)) < 0.0005001);
    assert_true(moe < 60);
    // Elo of 5 wins, 5 draws, 1 loss in one block, not a mean of two ratings.
    struct stats_block block = { refined_random_elo() + ELO_COLOR_BONUS, 5, 5, 1 };
    double elo;
    assert_true(str_to_double(cell(csv, "elo"), &elo));
    assert_true(fabs(elo - stats_elo_fit(&block, 1).rating) < 0.0005001);
}

// The original counts wins of "Player_Black" and "NoN_Synthesizer" only.
static void a_win_counts_whatever_the_player_is_called(void **s) // D26
{
    (void)s;
    static const str names[] = { T("Human_Black"), T("Chess_Engine_Rookery_Black"), T("x"),
                                 T("NoN_Synthesizer") };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct game_logs logs = set_a(&arena, ONLY_PLAYED);
        for (size_t k = 0; k < logs.n; k++)
            logs.v[k].side[BLACK].name = names[i];
        str csv = refined_csv(&logs, &(struct refined_opts){ 0 }, &arena);
        has(csv, "player_wins", "3");
        has(csv, "draws", "2");
    }
}

static void anchors_are_found_by_label(void **s) // D17: never by a part of it
{
    (void)s;
    double elo;
    const struct refined_anchor own[] = { { S("builtin"), 700 } };
    struct refined_opts o = { .anchors = own, .n_anchors = 1 };
    assert_true(refined_anchor_of(&o, S("dragon-lvl-1"), &elo) && elo == 250);
    assert_true(refined_anchor_of(&o, S("dragon-lvl-10"), &elo) && elo == 1375);
    assert_true(refined_anchor_of(&o, S("builtin"), &elo) && elo == 700);
    assert_true(refined_anchor_of(&o, S("random"), &elo) && elo < -122.27 && elo > -122.28);
    assert_false(refined_anchor_of(&o, S("random2"), &elo));
    assert_false(refined_anchor_of(&o, S("dragon-lvl-26"), &elo));
}

static int free_arena(void **s)
{
    (void)s;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_a_gives_its_row),
        cmocka_unit_test(set_b_gives_its_row),
        cmocka_unit_test(the_synthetic_row_is_exact),
        cmocka_unit_test(all_draws_have_an_interval_that_is_not_empty),
        cmocka_unit_test(the_plain_table_has_the_original_s_columns),
        cmocka_unit_test(order_and_colours_do_not_matter),
        cmocka_unit_test(two_runs_of_a_player_are_pooled_never_merged),
        cmocka_unit_test(a_win_counts_whatever_the_player_is_called),
        cmocka_unit_test(unknown_mistakes_are_empty_cells),
        cmocka_unit_test(players_are_ranked_by_elo_the_unrated_last),
        cmocka_unit_test(anchors_are_found_by_label),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}

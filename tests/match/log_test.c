// SPDX-License-Identifier: GPL-3.0-or-later
// Logs and aggregates: the two raw log sets of the LLM Chess specification (7.3), old and broken
// logs (D1, D5, D11 to D14, D23, D27), and the round trip of our own.
#include <math.h>

#include "sets.h"
#include "test.h"

#include "pgn/pgn.h"

static struct arena arena;

static double number(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static void close_to(double got, double want)
{
    if (fabs(got - want) > 1e-12 * (1 + fabs(want)))
        fail_msg("got %.15g, want %.15g", got, want);
}

static json_t *aggregate_of(const struct game_logs *logs)
{
    struct err err = { 0 };
    json_t *root = json_read_strict(game_logs_aggregate(logs, S(""), &arena), &err);
    if (!root)
        fail_msg("%s", err.text);
    return root;
}

static void set_a_gives_its_aggregate(void **s)
{
    (void)s;
    struct game_logs logs = set_a(&arena, WITH_ERRORS);
    json_t *o = aggregate_of(&logs);
    assert_int_equal(json_get_int(o, "total_games", 0), 10);
    assert_int_equal(json_get_int(o, "white_wins", -1), 0);
    assert_int_equal(json_get_int(o, "black_wins", -1), 3);
    assert_int_equal(json_get_int(o, "draws", -1), 7);
    assert_int_equal(json_get_int(o, "total_moves", -1), 743);
    const json_t *reasons = json_object_get(o, "reasons");
    assert_int_equal(json_get_int(reasons, "Checkmate", -1), 3);
    assert_int_equal(json_get_int(reasons, "Max moves reached", -1), 2);
    assert_int_equal(json_get_int(reasons, "ERROR OCCURED", -1), 5);
    const json_t *white = json_object_get(o, "player_white");
    const json_t *black = json_object_get(o, "player_black");
    assert_int_equal(json_get_int(white, "total_material", -1), 173);
    close_to(number(white, "avg_material"), 17.3);
    close_to(number(white, "std_dev_material"), 18.86236700122466);
    assert_int_equal(json_get_int(black, "total_material", -1), 284);
    close_to(number(black, "std_dev_material"), 11.739770961233537);
    assert_int_equal(json_get_int(black, "wrong_moves", -1), 4);
    assert_int_equal(json_get_int(black, "wrong_actions", -1), 1);
    assert_str(json_get_str(white, "model"), S(""));
    assert_str(json_get_str(black, "model"), S("deepseek-r1-0528"));
    close_to(number(o, "average_moves"), 74.3);
    close_to(number(o, "std_dev_moves"), 78.87831697550911);
    // D5: errors are no draws where it matters
    const json_t *ours = json_object_get(o, "rookery");
    const json_t *classes = json_object_get(ours, "outcome_classes");
    assert_int_equal(json_get_int(classes, "infra_error", -1), 5);
    assert_int_equal(json_get_int(json_object_get(ours, "strict"), "games", -1), 5);
    json_decref(o);
}

static void set_b_gives_its_aggregate(void **s)
{
    (void)s;
    struct game_logs logs = set_b(&arena, WITH_ERRORS);
    json_t *o = aggregate_of(&logs);
    const json_t *white = json_object_get(o, "player_white");
    const json_t *black = json_object_get(o, "player_black");
    assert_int_equal(json_get_int(o, "white_wins", -1), 1);
    assert_int_equal(json_get_int(o, "black_wins", -1), 2);
    assert_int_equal(json_get_int(o, "draws", -1), 7);
    assert_int_equal(json_get_int(o, "total_moves", -1), 848);
    assert_int_equal(json_get_int(white, "total_material", -1), 179);
    close_to(number(white, "std_dev_material"), 17.168770097670556);
    assert_int_equal(json_get_int(black, "total_material", -1), 255);
    close_to(number(black, "std_dev_material"), 14.516274391944451);
    assert_int_equal(json_get_int(black, "wrong_moves", -1), 6);
    assert_int_equal(json_get_int(black, "wrong_actions", -1), 2);
    close_to(number(o, "average_moves"), 84.8);
    close_to(number(o, "std_dev_moves"), 84.66509184887109);
    const char *first = json_object_iter_key(json_object_iter(json_object_get(o, "reasons")));
    assert_str(str_from(first), S("Max moves reached"));
    json_decref(o);
}

static void one_game_has_no_deviation(void **s) // D27, S5
{
    (void)s;
    struct game_logs logs = set_a(&arena, ONLY_PLAYED);
    logs.n = 1;
    json_t *o = aggregate_of(&logs);
    assert_true(number(o, "std_dev_moves") == 0);
    json_decref(o);
    logs.n = 0;
    json_decref(aggregate_of(&logs));
}

static struct game_log read_one(const char *text)
{
    struct game_log log;
    struct err err = { 0 };
    if (!game_log_read(S("game.json"), str_from(text), &arena, &log, &err))
        fail_msg("%s", err.text);
    return log;
}

#define PLAYERS(white, black)                                                                      \
    "\"player_white\":{\"name\":\"" white "\",\"wrong_moves\":0,\"wrong_actions\":0,\"model\":"    \
    "\"N/A\"},\"player_black\":{\"name\":\"" black "\",\"wrong_moves\":2,\"wrong_actions\":1,"     \
    "\"model\":\"gpt-4\",\"extra\":7}"

static void old_logs_are_marked_by_their_date(void **s) // D11 to D14, S8
{
    (void)s;
    struct game_log g = read_one(
        "{\"time_started\":\"2024.10.10_09:30\",\"winner\":\"NONE\",\"reason\":\"Unknown issue, "
        "Player_Black failed to make a move\",\"number_of_moves\":30," PLAYERS("Random_Player",
                                                                               "Player_Black") "}");
    assert_int_equal(g.doubts, DOUBT_MISTAKES | DOUBT_PROMOTION | DOUBT_PER_GAME | DOUBT_REASON);
    assert_int_equal(g.side[BLACK].wrong_moves, LOG_UNKNOWN);
    assert_int_equal(g.side[BLACK].boards, LOG_UNKNOWN);
    assert_int_equal(g.reason, REASON_UNKNOWN_ISSUE);
    assert_false(game_log_counts(&g, POLICY_STRICT));
    assert_true(str_find(log_doubts_text(g.doubts, &arena), S("promote")) > 0);
    g = read_one(
        "{\"time_started\":\"2025.03.16_09:30\",\"winner\":\"Player_Black\",\"reason\":"
        "\"Checkmate\",\"number_of_moves\":30," PLAYERS("Random_Player", "Player_Black") "}");
    assert_int_equal(g.doubts, 0);
    assert_int_equal(g.side[BLACK].wrong_moves, 2);
    assert_int_equal(g.winner, BLACK);
    assert_str(g.side[WHITE].label, S("random"));
    g = read_one("{\"time_started\":\"2024.09.01_09:30\",\"winner\":\"Random_Player\",\"reason\":"
                 "\"Player_Black chose wrong actions to many times failing to make a "
                 "move\",\"number_of_moves\":30," PLAYERS("Random_Player", "Player_Black") "}");
    assert_int_equal(g.reason, REASON_WRONG_ACTIONS);
    assert_int_equal(g.class, CLASS_PROTOCOL_LOSS);
    assert_str(game_log_protocol(&g, &arena),
               arena_printf(&arena, "black lost: %.*s", STR(g.reason_text)));
}

static void equal_names_are_told_apart_by_the_pgn(void **s) // D1
{
    (void)s;
    struct game_log g =
        read_one("{\"winner\":\"Random_Player\",\"reason\":\"Checkmate\",\"number_of_moves\":90,"
                 "\"pgn\":\"[Result \\\"0-1\\\"]\\n\\n1. e4 \"," PLAYERS("Random_Player",
                                                                         "Random_Player") "}");
    assert_int_equal(g.winner, BLACK);
    g = read_one("{\"winner\":\"Random_Player\",\"reason\":\"Checkmate\",\"number_of_moves\":"
                 "90," PLAYERS("Random_Player", "Random_Player") "}");
    assert_int_equal(g.doubts & DOUBT_WINNER, DOUBT_WINNER);
    assert_false(game_log_counts(&g, POLICY_STRICT));
}

static void tokens_of_all_models_are_summed(void **s) // D22, D23
{
    (void)s;
    struct game_log g = read_one(
        "{\"winner\":\"NONE\",\"reason\":\"Max moves reached\",\"number_of_moves\":200,"
        "\"usage_stats\":{\"white\":{\"total_cost\":0},\"black\":{\"total_cost\":0.5,\"a\":{"
        "\"prompt_tokens\":10,\"completion_tokens\":3},\"b\":{\"prompt_tokens\":5,"
        "\"completion_tokens\":4,\"reasoning_tokens\":2}}}," PLAYERS("Random_Player",
                                                                     "Player_Black") "}");
    assert_int_equal(g.side[BLACK].prompt_tok, 15);
    assert_int_equal(g.side[BLACK].completion_tok, 7);
    assert_int_equal(g.side[BLACK].reasoning_tok, 2);
    assert_false(g.side[WHITE].has_usage);
}

static void what_is_no_log_is_named(void **s) // D25
{
    (void)s;
    static const char *const bad[] = { "", "[]", "{\"winner\":\"x\"}", "{\"winner\":" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct game_log log;
        struct err err = { 0 };
        assert_false(game_log_read(S("dir/bad.json"), str_from(bad[i]), &arena, &log, &err));
        assert_true(str_starts(str_from(err.text), S("dir/bad.json: ")));
    }
}

// ---- our own ----

static const struct dialog_rules short_rules = { .max_plies = 12 };

static struct game_input random_input(void)
{
    return (struct game_input){
        .players = { { .name = S("Random_Player_White"), .label = S("random") },
                     { .name = S("Random_Player_Black"), .label = S("random") } },
        .rules = { &short_rules, &short_rules },
        .start = position_start(),
        .seed = 3,
        .index = 4,
    };
}

static const struct game_record *play(const struct game_input *in)
{
    struct job *job = NEW(&arena, struct job);
    *job = (struct job){ .kind = &episode_game, .input = in };
    struct episode *ep = episode_new(job, &arena);
    struct ask ask;
    assert_int_equal(job->kind->step(ep, NULL, &ask), STEP_DONE);
    return ep->outcome.record;
}

static void our_log_reads_back_the_same(void **s) // S10
{
    (void)s;
    struct game_input in = random_input();
    const struct game_record *r = play(&in);
    struct log_source from = { .time_started = S("2026.12.01_10:00"), .input = &in };
    struct game_log made, read;
    struct err err = { 0 };
    game_log_make(r, &from, &arena, &made);
    str json = game_log_json(&made, &arena);
    assert_true(
        str_starts(json, S("{\n    \"time_started\": \"2026.12.01_10:00\",\n    \"winner\": "
                           "\"NONE\",\n    \"reason\": \"Max moves reached\",\n    "
                           "\"number_of_moves\": 12,\n    \"player_white\": {")));
    assert_true(game_log_read(S("x"), json, &arena, &read, &err));
    assert_int_equal(read.class, CLASS_MAX_MOVES);
    assert_int_equal(read.plies, 12);
    assert_int_equal(read.index, 4);
    assert_int_equal(read.side[BLACK].moves, 6);
    assert_int_equal(read.side[WHITE].material, made.side[WHITE].material);
    read.file = made.file;
    assert_str(game_log_json(&read, &arena), json);
    // PGN: the same moves, and the material of the log
    struct pgn_reader *reader;
    struct pgn_game game = { 0 };
    assert_true(pgn_open_text(S("game.pgn"), read.pgn, &reader, &err));
    assert_int_equal(pgn_next(reader, &arena, &game, &err), PGN_GOOD);
    assert_int_equal(game.moves.n, 12);
    assert_memory_equal(game.moves.v, r->moves.v, 12 * sizeof(move));
    assert_int_equal(game_material(&game.end.now, WHITE), read.side[WHITE].material);
    assert_str(pgn_tag(&game, S("Date")), S("2026.12.01")); // D18: the day it began
    assert_str(pgn_tag(&game, S("Termination")), S("adjudication"));
    pgn_close(reader);
}

// The fast path for random games and the dialog's random player draw alike (decisions 5.2).
static void random_games_are_those_of_the_fast_path(void **s)
{
    (void)s;
    for (uint64_t i = 0; i < 50; i++) {
        struct game_input in = random_input();
        static const struct dialog_rules usual = { 0 };
        struct match_game fast;
        in.index = i;
        in.rules[WHITE] = in.rules[BLACK] = &usual;
        const struct game_record *r = play(&in);
        match_random_game(3, i, MATCH_PLIES_DEFAULT, &fast);
        assert_int_equal(fast.plies, r->plies);
        assert_int_equal(fast.winner, r->winner);
        assert_int_equal(fast.n_legal, r->n_legal);
        assert_int_equal(fast.material[BLACK], r->material[BLACK]);
        assert_str(match_end_name(fast.end), game_reason_name(r->reason));
    }
}

static void three_columns_are_kept_apart(void **s)
{
    (void)s;
    struct game_log g = { .class = CLASS_MODEL_ERROR, .winner = -1, .fault = BLACK };
    assert_str(game_log_chess(&g), S("*"));
    assert_str(game_log_protocol(&g, &arena), S("ok"));
    assert_str(game_log_infra(&g, &arena), S("model_error of black"));
    assert_int_equal(game_log_winner(&g, POLICY_STRICT), WHITE);
    assert_int_equal(game_log_winner(&g, POLICY_LENIENT), -1);
    assert_false(game_log_counts(&g, POLICY_LENIENT));
    g = (struct game_log){ .class = CLASS_CHESS, .winner = WHITE, .fault = -1 };
    assert_str(game_log_chess(&g), S("1-0"));
    assert_str(game_log_infra(&g, &arena), S("ok"));
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
        cmocka_unit_test(set_a_gives_its_aggregate),
        cmocka_unit_test(set_b_gives_its_aggregate),
        cmocka_unit_test(one_game_has_no_deviation),
        cmocka_unit_test(old_logs_are_marked_by_their_date),
        cmocka_unit_test(equal_names_are_told_apart_by_the_pgn),
        cmocka_unit_test(tokens_of_all_models_are_summed),
        cmocka_unit_test(what_is_no_log_is_named),
        cmocka_unit_test(our_log_reads_back_the_same),
        cmocka_unit_test(random_games_are_those_of_the_fast_path),
        cmocka_unit_test(three_columns_are_kept_apart),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}

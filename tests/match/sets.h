// SPDX-License-Identifier: GPL-3.0-or-later
// sets.h - the two raw log sets of the LLM Chess specification (7.3), as logs: read through the
// reader, so that names, reasons and classes are what a file would give.
#pragma once
#include "test.h"

#include "match/log.h"
#include "match/match.h"

struct set_game {
    const char *winner, *reason;
    int plies, white, black, wrong_actions, wrong_moves, boards, lists, moves;
    int prompt, completion;
    double seconds;
};

static const struct set_game games_a[] = {
    { "Player_Black", "Checkmate", 122, 5, 18, 0, 0, 60, 59, 61, 63956, 723801, 7352.079 },
    { "NONE", "Max moves reached", 200, 0, 11, 0, 1, 98, 98, 101, 101502, 1008488, 10345.045 },
    { "NONE", "Max moves reached", 200, 0, 14, 0, 1, 98, 96, 101, 98824, 1050726, 10752.980 },
    { "Player_Black", "Checkmate", 74, 2, 31, 1, 0, 36, 37, 37, 36161, 406673, 4168.800 },
    { "Player_Black", "Checkmate", 54, 9, 36, 0, 1, 26, 27, 28, 29314, 299755, 3083.275 },
    // reconstructed error games
    { "NONE", "ERROR OCCURED", 1, 39, 39, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "NONE", "ERROR OCCURED", 1, 39, 39, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "NONE", "ERROR OCCURED", 1, 39, 39, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "NONE", "ERROR OCCURED", 1, 39, 39, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "NONE", "ERROR OCCURED", 89, 1, 18, 0, 1, 0, 0, 0, 0, 0, 0 },
};
static const struct set_game games_b[] = {
    { "NONE", "Max moves reached", 200, 0, 2, 0, 2, 100, 103, 102, 103912, 183928, 10874.536 },
    { "NONE", "Max moves reached", 200, 0, 15, 0, 0, 100, 103, 100, 94761, 184617, 6601.679 },
    { "Random_Player", "Max turns in single dialog", 30, 21, 35, 1, 0, 18, 19, 14, 36898, 28741,
      1835.840 },
    { "Player_Black", "Checkmate", 58, 23, 34, 0, 0, 29, 30, 29, 28351, 52689, 3485.494 },
    { "Player_Black", "Checkmate", 190, 0, 11, 1, 2, 97, 98, 97, 101120, 189475, 9871.601 },
    { "NONE", "Stalemate", 116, 0, 9, 0, 2, 60, 60, 60, 67928, 107911, 4027.957 },
    { "NONE", "ERROR OCCURED", 1, 39, 39, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "NONE", "ERROR OCCURED", 1, 39, 39, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "NONE", "ERROR OCCURED", 1, 39, 39, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "NONE", "ERROR OCCURED", 51, 18, 32, 0, 0, 0, 0, 0, 0, 0, 0 },
};

enum set_part { ONLY_PLAYED, WITH_ERRORS };

static inline str set_game_json(const struct set_game *g, const char *model, struct arena *a)
{
    return arena_printf(
        a,
        "{\"time_started\":\"2026.04.19_11:55\",\"winner\":\"%s\",\"reason\":\"%s\","
        "\"number_of_moves\":%d,\"player_white\":{\"name\":\"Random_Player\",\"wrong_moves\":0,"
        "\"wrong_actions\":0,\"model\":\"N/A\"},\"player_black\":{\"name\":\"Player_Black\","
        "\"wrong_moves\":%d,\"wrong_actions\":%d,\"get_board_count\":%d,\"get_legal_moves_count\":"
        "%d,\"make_move_count\":%d,\"accumulated_reply_time_seconds\":%.3f,\"model\":\"%s\"},"
        "\"material_count\":{\"white\":%d,\"black\":%d},\"usage_stats\":{\"white\":{\"total_cost\":"
        "0},\"black\":{\"total_cost\":0,\"%s\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}}}",
        g->winner, g->reason, g->plies, g->wrong_moves, g->wrong_actions, g->boards, g->lists,
        g->moves, g->seconds, model, g->white, g->black, model, g->prompt, g->completion);
}

static inline struct game_logs set_logs(const struct set_game *games, size_t n, const char *model,
                                        struct arena *a)
{
    struct game_logs logs = { 0 };
    struct err err = { 0 };
    for (size_t i = 0; i < n; i++)
        assert_true(game_log_read(S("set"), set_game_json(&games[i], model, a), a,
                                  vec_push(a, &logs), &err));
    return logs;
}

static inline struct game_logs set_a(struct arena *a, enum set_part part)
{
    return set_logs(games_a, part == WITH_ERRORS ? 10 : 5, "deepseek-r1-0528", a);
}

static inline struct game_logs set_b(struct arena *a, enum set_part part)
{
    return set_logs(games_b, part == WITH_ERRORS ? 10 : 6, "deepseek-V3.2_non-reasoning", a);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// standings.h - what the games of a tournament come to, player by player. Pure.
#pragma once
#include "match/log.h"
#include "match/schedule.h"
#include "stats/stats.h"

struct match_result { // a game that counts
    struct match_pairing pairing;
    int winner; // enum color; -1: drawn
    enum game_class class;
};
struct match_standing {
    size_t player;
    int64_t wins[2], draws[2], losses[2]; // by the colour the player had
    int64_t protocol_losses;              // of the losses, those by breaking the dialog's rules
    int64_t model_errors;                 // of the losses, those by an error of the model
    int64_t n;
    double points;
    struct interval score; // Wilson, 95 %, of points a game
    struct stats_elo elo;  // against all it met, as if they were one player of 0
};
// One for each player, the most points a game first; of equal ones the first of the list first.
void match_standings(const struct match_result *results, size_t n, size_t n_players,
                     struct match_standing *out);
// Points of `a` against `b`, and the number of their games.
double match_points_between(const struct match_result *results, size_t n, size_t a, size_t b,
                            int64_t *n_games);

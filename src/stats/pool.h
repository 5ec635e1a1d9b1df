// SPDX-License-Identifier: GPL-3.0-or-later
// pool.h - ratings of many players from their games with each other, where nobody's rating is
// known beforehand. Pure.
#pragma once
#include "stats/rating.h"

struct stats_pool {
    const struct stats_pair {
        size_t white, black;         // numbers of players
        int64_t wins, draws, losses; // White's, against this Black
    } * pairs;
    size_t n_pairs, n_players;
};

// ---- Bayesian Elo ----
//
// White wins with s(R_w - R_b + colour - draw), loses with s(R_b - R_w - colour - draw), where
// s(x) = 1 / (1 + 10^(-x/400)); what is left are draws (the model of R. Coulom's bayeselo). The
// ratings are those of the greatest posterior density, where each player has had `prior_draws`
// draws more, shared among its opponents as its games are, with either colour equally.

enum { POOL_PLAYERS_MAX = 1000, BAYES_PRIOR_DRAWS = 2, BAYES_COLOR_ELO = 33, BAYES_DRAW_ELO = 97 };
struct stats_bayes_opts {
    double prior_draws; // > 0, [BAYES_PRIOR_DRAWS]
    // Zero: both are fitted, with normal priors: of mean 0 and BAYES_DRAW_ELO, deviation 100.
    bool is_fixed;
    double colour, draw; // Elo; draw > 0
};
struct stats_bayes {
    double *ratings, *half_widths; // a player: with mean 0; 95 %
    double colour, colour_half_width, draw;
    size_t *groups; // a player: number of the group within which all have met, directly or not
    size_t n_groups;
};
// False: too many players. Players without games have rating 0 in a group of their own.
MUST_CHECK bool stats_bayes_fit(const struct stats_pool *pool, const struct stats_bayes_opts *opts,
                                struct arena *a, struct stats_bayes *out);

// ---- Glicko-2 ----

// One rating period: all players at once, against the ratings before it.
void stats_glicko_period(struct stats_glicko *players, const struct stats_pool *pool, double tau,
                         struct arena *a);

// SPDX-License-Identifier: GPL-3.0-or-later
// refined.h - the refined table of LLM Chess (specification 4.5): a row a player, every figure
// recomputed from its games, never merged from rows (D15). The player is the model: Black's, or
// White's where Black has none (D25).
#pragma once
#include "match/log.h"
#include "stats/stats.h"

struct refined_anchor { // an opponent of known rating
    str label;
    double elo;
};
struct refined_opts { // zero: as the original, strict policy
    enum error_policy policy;
    bool by_opponent;                     // a row a player and opponent: column white_opponent
    bool with_elo;                        // the columns of elo_refined.csv, and ours
    int64_t min_games;                    // against one opponent; fewer: left out [1]
    struct price price;                   // of tokens, for all models; not known: see prices
    const struct prices *prices;          // of models whose logs tell no cost
    const struct refined_anchor *anchors; // beside random and dragon-lvl-N
    size_t n_anchors;
};
// Random's own rating, from the four published blocks of a thousand games (4.7).
double refined_random_elo(void);
// The rating of an opponent; false: it has none.
bool refined_anchor_of(const struct refined_opts *o, str label, double *elo);
// Elo of the games of `logs`, all of one player, against opponents that have a rating.
struct stats_elo refined_elo(const struct game_logs *logs, const struct refined_opts *o,
                             struct arena *a);
// Which side of a game is the player.
enum color refined_side(const struct game_log *g);
// The table as CSV with its header, best first: Elo, then win_loss, then duration. Games that do
// not count are left out.
str refined_csv(const struct game_logs *logs, const struct refined_opts *o, struct arena *a);

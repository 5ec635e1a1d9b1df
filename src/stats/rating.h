// SPDX-License-Identifier: GPL-3.0-or-later
// rating.h - ratings of players from results: Elo against fixed anchors, Glicko-2, and the
// sequential test "is A better than B". Pure.
#pragma once
#include "base/base.h"

// ---- Elo by maximum likelihood (LLM Chess specification 4.7) ----

enum { ELO_COLOR_BONUS = 35 }; // what White is worth there
struct stats_block {           // games against one opponent of known rating
    double opponent;           // with the worth of colours: + ELO_COLOR_BONUS where it had White
    int64_t wins, draws, losses;
};
enum stats_elo_kind { ELO_FOUND, ELO_NO_GAMES, ELO_ALL_WON, ELO_ALL_LOST };
struct stats_elo {
    enum stats_elo_kind kind;
    double rating;     // of ELO_FOUND
    double half_width; // 95 %: 1.96 standard errors from the information
    double bound;      // of the two all-kinds: the rating is above / below it with 95 %
};
// All points or none have no maximum of the likelihood: there is a one-sided bound instead (D4).
struct stats_elo stats_elo_fit(const struct stats_block *blocks, size_t n);

// ---- Glicko-2 (Glickman 2012) ----

struct stats_glicko {
    double rating, deviation, volatility;
};
extern const struct stats_glicko stats_glicko_start; // 1500, 350, 0.06
struct stats_glicko_game {
    double opponent, deviation; // of the opponent, before the period
    double score;               // 1, 0.5, 0
};
#define GLICKO_TAU 0.5 // the usual one
// The player after one rating period; `tau` bounds the change of volatility (0.3 to 1.2).
struct stats_glicko stats_glicko_update(struct stats_glicko player,
                                        const struct stats_glicko_game *games, size_t n,
                                        double tau);

// ---- SPRT ----

struct stats_sprt { // H0: the difference is elo0, H1: it is elo1 (logistic Elo)
    double elo0, elo1, alpha, beta;
};
enum stats_sprt_verdict { SPRT_GO_ON, SPRT_ACCEPT_H0, SPRT_ACCEPT_H1 };
struct stats_sprt_state {
    double llr, lower, upper; // log likelihood ratio, and Wald's bounds
    enum stats_sprt_verdict verdict;
};
// The generalised test on wins, draws, losses of A (normal approximation of the mean score).
struct stats_sprt_state stats_sprt_look(const struct stats_sprt *t, int64_t wins, int64_t draws,
                                        int64_t losses);

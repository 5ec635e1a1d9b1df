// SPDX-License-Identifier: GPL-3.0-or-later
// rating.c - Elo against anchors, Glicko-2, SPRT.
#include <math.h>

#include "stats/rating.h"

static const double ELO_SCALE = 400, Z95 = 1.96, P_ONE_SIDED = 0.05;
enum { BISECTIONS = 200 };

static double expected(double rating, double opponent)
{
    return 1 / (1 + pow(10, (opponent - rating) / ELO_SCALE));
}

// ---- Elo ----

struct blocks {
    const struct stats_block *v;
    size_t n;
    double sign; // of the bound: +1 for all won, -1 for all lost
};

static double games_of(const struct stats_block *b)
{
    return (double)(b->wins + b->draws + b->losses);
}

static double points_of(const struct stats_block *b)
{
    return (double)b->wins + (double)b->draws / 2;
}

// Points beyond those expected of a rating; falls with it.
static double surplus(const struct blocks *b, double rating)
{
    double sum = 0;
    for (size_t i = 0; i < b->n; i++)
        sum += points_of(&b->v[i]) - games_of(&b->v[i]) * expected(rating, b->v[i].opponent);
    return sum;
}

// Log of the chance of winning (losing) every game, less that of the bound; falls away from it.
static double certainty(const struct blocks *b, double rating)
{
    double sum = 0;
    for (size_t i = 0; i < b->n; i++) {
        double p =
            b->sign > 0 ? expected(rating, b->v[i].opponent) : expected(b->v[i].opponent, rating);
        sum += games_of(&b->v[i]) * log(p);
    }
    return b->sign * (log(P_ONE_SIDED) - sum);
}

// The zero of a falling function.
static double solve(const struct blocks *b, double (*f)(const struct blocks *, double))
{
    double low = -20000, high = 20000;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = low + (high - low) / 2;
        if (f(b, middle) > 0)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2;
}

struct stats_elo stats_elo_fit(const struct stats_block *blocks, size_t n)
{
    struct blocks b = { .v = blocks, .n = n, .sign = 1 };
    struct stats_elo out = { .kind = ELO_NO_GAMES };
    double games = 0, points = 0, information = 0;
    for (size_t i = 0; i < n; i++) {
        games += games_of(&blocks[i]);
        points += points_of(&blocks[i]);
    }
    if (games <= 0)
        return out;
    if (points >= games || points <= 0) {
        out.kind = points > 0 ? ELO_ALL_WON : ELO_ALL_LOST;
        b.sign = points > 0 ? 1 : -1;
        out.bound = solve(&b, certainty);
        return out;
    }
    out.kind = ELO_FOUND;
    out.rating = solve(&b, surplus);
    for (size_t i = 0; i < n; i++) {
        double e = expected(out.rating, blocks[i].opponent);
        information += games_of(&blocks[i]) * e * (1 - e);
    }
    out.half_width = Z95 * ELO_SCALE / log(10) / sqrt(information);
    return out;
}

// ---- Glicko-2 ----

static const double GLICKO_SCALE = 173.7178, GLICKO_CENTRE = 1500, GLICKO_EPSILON = 1e-9;
const struct stats_glicko stats_glicko_start = { 1500, 350, 0.06 };

struct volatility { // of step 5
    double delta2, phi2, v, a, tau;
};

static double volatility_f(const struct volatility *s, double x)
{
    double e = exp(x), d = s->phi2 + s->v + e;
    return e * (s->delta2 - d) / (2 * d * d) - (x - s->a) / (s->tau * s->tau);
}

// Step 5: the Illinois variant of regula falsi.
static double new_volatility(const struct volatility *s)
{
    double low = s->a, high;
    if (s->delta2 > s->phi2 + s->v) {
        high = log(s->delta2 - s->phi2 - s->v);
    } else {
        int k = 1;
        while (volatility_f(s, s->a - k * s->tau) < 0)
            k++;
        high = s->a - k * s->tau;
    }
    double f_low = volatility_f(s, low), f_high = volatility_f(s, high);
    for (int i = 0; i < BISECTIONS && fabs(high - low) > GLICKO_EPSILON; i++) {
        double c = low + (low - high) * f_low / (f_high - f_low), f_c = volatility_f(s, c);
        if (f_c * f_high <= 0) {
            low = high;
            f_low = f_high;
        } else {
            f_low /= 2;
        }
        high = c;
        f_high = f_c;
    }
    return exp(low / 2);
}

struct stats_glicko stats_glicko_update(struct stats_glicko player,
                                        const struct stats_glicko_game *games, size_t n, double tau)
{
    double mu = (player.rating - GLICKO_CENTRE) / GLICKO_SCALE;
    double phi = player.deviation / GLICKO_SCALE, inverse_v = 0, gained = 0;
    for (size_t i = 0; i < n; i++) {
        double mu_j = (games[i].opponent - GLICKO_CENTRE) / GLICKO_SCALE;
        double phi_j = games[i].deviation / GLICKO_SCALE;
        double g = 1 / sqrt(1 + 3 * phi_j * phi_j / (M_PI * M_PI));
        double e = 1 / (1 + exp(-g * (mu - mu_j)));
        inverse_v += g * g * e * (1 - e);
        gained += g * (games[i].score - e);
    }
    double sigma = player.volatility;
    if (n > 0) {
        double v = 1 / inverse_v, delta = v * gained;
        struct volatility s = { delta * delta, phi * phi, v, log(sigma * sigma), tau };
        sigma = new_volatility(&s);
    }
    double phi_star2 = phi * phi + sigma * sigma;
    double phi_new = 1 / sqrt(1 / phi_star2 + inverse_v);
    return (struct stats_glicko){ .rating = GLICKO_CENTRE +
                                            GLICKO_SCALE * (mu + phi_new * phi_new * gained),
                                  .deviation = GLICKO_SCALE * phi_new,
                                  .volatility = sigma };
}

// ---- SPRT ----

struct stats_sprt_state stats_sprt_look(const struct stats_sprt *t, int64_t wins, int64_t draws,
                                        int64_t losses)
{
    struct stats_sprt_state out = { .lower = log(t->beta / (1 - t->alpha)),
                                    .upper = log((1 - t->beta) / t->alpha) };
    double n = (double)(wins + draws + losses);
    if (n <= 0)
        return out;
    double w = (double)wins / n, d = (double)draws / n, l = (double)losses / n;
    double mean = w + d / 2;
    double variance =
        w * (1 - mean) * (1 - mean) + d * (0.5 - mean) * (0.5 - mean) + l * mean * mean;
    if (variance <= 0)
        return out; // all games alike: nothing is known of the spread
    double s0 = expected(t->elo0, 0), s1 = expected(t->elo1, 0);
    out.llr = n * (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance);
    out.verdict = out.llr >= out.upper   ? SPRT_ACCEPT_H1
                  : out.llr <= out.lower ? SPRT_ACCEPT_H0
                                         : SPRT_GO_ON;
    return out;
}

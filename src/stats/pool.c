// SPDX-License-Identifier: GPL-3.0-or-later
// pool.c - Bayesian Elo and Glicko-2 of a pool. With L(x) = log s(x), the logarithm of a draw's
// chance is L(d + c - e) + L(-d - c - e) + log(10^(2e/400) - 1), for d the difference of ratings, c
// the colour, e the draw parameter. So the log posterior is a sum of logarithms of logistic
// functions of sums, and of concave functions of c and e: it has one maximum, and Newton's method
// finds it. All is done in units of 400/ln 10.
#include <math.h>
#include <string.h>

#include "stats/pool.h"

enum { NEWTON_STEPS = 100, HALVINGS = 60 };
static const double UNIT = 173.71779276130073; // 400 / ln 10
static const double Z95 = 1.96, PRIOR_SD = 100, ENOUGH = 1e-12;

struct weight { // of the two logistic terms of a pair of players, first with White
    size_t white, black;
    double wins, losses; // games that were not lost, not won
};
struct problem {
    size_t n, n_players, n_weights; // n: unknowns, the players' ratings, then colour and draw
    struct weight *weights;
    double draws;
    bool is_fixed;
    const size_t *groups;
    size_t n_groups;
};

static double log_s(double x)
{
    return x > 0 ? -log1p(exp(-x)) : x - log1p(exp(x));
}

static double s(double x)
{
    return 1 / (1 + exp(-x));
}

// ---- groups of players that have met ----

static size_t root_of(size_t *up, size_t i)
{
    while (up[i] != i)
        i = up[i] = up[up[i]];
    return i;
}

static void find_groups(const struct stats_pool *pool, struct arena *a, struct stats_bayes *out)
{
    size_t n = pool->n_players;
    size_t *up = NEW_ARRAY(a, size_t, n + 1), *number = NEW_ARRAY(a, size_t, n + 1);
    out->groups = NEW_ARRAY(a, size_t, n + 1);
    for (size_t i = 0; i < n; i++)
        up[i] = i;
    for (size_t i = 0; i < pool->n_pairs; i++)
        up[root_of(up, pool->pairs[i].white)] = root_of(up, pool->pairs[i].black);
    for (size_t i = 0; i < n; i++)
        if (root_of(up, i) == i)
            number[i] = out->n_groups++;
    for (size_t i = 0; i < n; i++)
        out->groups[i] = number[root_of(up, i)];
}

// ---- the posterior ----

static double games_of(const struct stats_pair *p)
{
    return (double)(p->wins + p->draws + p->losses);
}

// The games, and the virtual draws: of a pair, so many as both players owe it.
static void weigh(const struct stats_pool *pool, double prior, struct arena *a, struct problem *p)
{
    double *games = NEW_ARRAY(a, double, p->n_players + 1);
    p->weights = NEW_ARRAY(a, struct weight, 2 * pool->n_pairs + 1);
    for (size_t i = 0; i < pool->n_pairs; i++) {
        games[pool->pairs[i].white] += games_of(&pool->pairs[i]);
        games[pool->pairs[i].black] += games_of(&pool->pairs[i]);
    }
    for (size_t i = 0; i < pool->n_pairs; i++) {
        const struct stats_pair *q = &pool->pairs[i];
        if (games_of(q) <= 0 || q->white == q->black)
            continue;
        double virtual = prior / 2 * games_of(q) * (1 / games[q->white] + 1 / games[q->black]);
        double draws = (double)q->draws + virtual / 2;
        p->weights[p->n_weights++] = (struct weight){ q->white, q->black, (double)q->wins + draws,
                                                      (double)q->losses + draws };
        p->weights[p->n_weights++] =
            (struct weight){ q->black, q->white, virtual / 2, virtual / 2 };
        p->draws += (double)q->draws + virtual;
    }
}

static double log_posterior(const struct problem *p, const double *x)
{
    double colour = x[p->n_players], draw = x[p->n_players + 1], sum = 0;
    if (draw <= 0)
        return -INFINITY;
    for (size_t i = 0; i < p->n_weights; i++) {
        const struct weight *w = &p->weights[i];
        double d = x[w->white] - x[w->black] + colour;
        sum += w->wins * log_s(d - draw) + w->losses * log_s(-d - draw);
    }
    double sd = PRIOR_SD / UNIT, off = draw - BAYES_DRAW_ELO / UNIT;
    return sum + p->draws * log(expm1(2 * draw)) - (colour * colour + off * off) / (2 * sd * sd);
}

struct system { // of the Newton step: gradient, and the Hessian of the negative
    const struct problem *p;
    double *gradient, *h, *step;
};

static double *at(const struct system *y, size_t i, size_t k)
{
    return &y->h[i * y->p->n + k];
}

// Adds weight * log s(sum), where the sum is that of the four unknowns with their signs.
static void add_term(const struct system *y, const size_t unknowns[4], const double signs[4],
                     double weight, double sum)
{
    double e = s(sum);
    for (int i = 0; i < 4; i++) {
        y->gradient[unknowns[i]] += signs[i] * weight * (1 - e);
        for (int k = 0; k < 4; k++)
            *at(y, unknowns[i], unknowns[k]) += signs[i] * signs[k] * weight * e * (1 - e);
    }
}

// Ratings are known but for a constant in each group: their sum is held at 0.
static void add_gauge(const struct system *y, const double *x)
{
    const struct problem *p = y->p;
    for (size_t i = 0; i < p->n_players; i++)
        for (size_t k = 0; k < p->n_players; k++)
            if (p->groups[i] == p->groups[k]) {
                y->gradient[i] -= x[k];
                *at(y, i, k) += 1;
            }
}

static void fill(const struct system *y, const double *x)
{
    static const double won[4] = { 1, -1, 1, -1 }, lost[4] = { -1, 1, -1, -1 };
    const struct problem *p = y->p;
    size_t colour = p->n_players, draw = colour + 1;
    memset(y->gradient, 0, p->n * sizeof *y->gradient);
    memset(y->h, 0, p->n * p->n * sizeof *y->h);
    for (size_t i = 0; i < p->n_weights; i++) {
        const struct weight *w = &p->weights[i];
        const size_t unknowns[4] = { w->white, w->black, colour, draw };
        double d = x[w->white] - x[w->black] + x[colour];
        add_term(y, unknowns, won, w->wins, d - x[draw]);
        add_term(y, unknowns, lost, w->losses, -d - x[draw]);
    }
    double e = exp(2 * x[draw]), m = expm1(2 * x[draw]), sd = PRIOR_SD / UNIT;
    y->gradient[draw] += p->draws * 2 * e / m;
    *at(y, draw, draw) += p->draws * 4 * e / (m * m) + 1 / (sd * sd);
    y->gradient[draw] -= (x[draw] - BAYES_DRAW_ELO / UNIT) / (sd * sd);
    y->gradient[colour] -= x[colour] / (sd * sd);
    *at(y, colour, colour) += 1 / (sd * sd);
    add_gauge(y, x);
    for (size_t i = colour; p->is_fixed && i <= draw; i++) {
        y->gradient[i] = 0;
        for (size_t k = 0; k < p->n; k++)
            *at(y, i, k) = *at(y, k, i) = i == k;
    }
}

// ---- linear algebra ----

// Cholesky's factor in the lower half; false: not positive definite.
static bool factorise(const struct system *y)
{
    for (size_t k = 0; k < y->p->n; k++) {
        double pivot = *at(y, k, k);
        for (size_t i = 0; i < k; i++)
            pivot -= *at(y, k, i) * *at(y, k, i);
        if (!(pivot > 0))
            return false;
        *at(y, k, k) = sqrt(pivot);
        for (size_t j = k + 1; j < y->p->n; j++) {
            double sum = *at(y, j, k);
            for (size_t i = 0; i < k; i++)
                sum -= *at(y, j, i) * *at(y, k, i);
            *at(y, j, k) = sum / *at(y, k, k);
        }
    }
    return true;
}

// Solves for v in place, once factorised.
static void solve(const struct system *y, double *v)
{
    size_t n = y->p->n;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            v[i] -= *at(y, i, k) * v[k];
        v[i] /= *at(y, i, i);
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            v[i] -= *at(y, k, i) * v[k];
        v[i] /= *at(y, i, i);
    }
}

// The i-th diagonal member of the inverse, once factorised: the variance of unknown i.
static double variance(const struct system *y, size_t i)
{
    double sum = 0;
    memset(y->step, 0, y->p->n * sizeof *y->step);
    y->step[i] = 1;
    for (size_t k = i; k < y->p->n; k++) { // the forward half alone: |L^-1 e_i|^2
        for (size_t j = i; j < k; j++)
            y->step[k] -= *at(y, k, j) * y->step[j];
        y->step[k] /= *at(y, k, k);
        sum += y->step[k] * y->step[k];
    }
    return sum;
}

// ---- the fit ----

// One step of Newton's, halved until it leads upwards; false: at the top.
static bool climb(const struct system *y, double *x, double *next)
{
    const struct problem *p = y->p;
    double before = log_posterior(p, x), length = 0;
    fill(y, x);
    if (!factorise(y))
        return false;
    memcpy(y->step, y->gradient, p->n * sizeof *y->step);
    solve(y, y->step);
    for (size_t i = 0; i < p->n; i++)
        length += y->step[i] * y->step[i];
    double share = 1;
    for (int i = 0; length > ENOUGH * ENOUGH && i < HALVINGS; i++, share /= 2) {
        for (size_t k = 0; k < p->n; k++)
            next[k] = x[k] + share * y->step[k];
        if (log_posterior(p, next) > before) {
            memcpy(x, next, p->n * sizeof *x);
            return true;
        }
    }
    return false;
}

static void take_out(const struct system *y, const double *x, struct arena *a,
                     struct stats_bayes *out)
{
    const struct problem *p = y->p;
    size_t *sizes = NEW_ARRAY(a, size_t, p->n_groups + 1);
    fill(y, x);
    bool ok = factorise(y);
    for (size_t i = 0; i < p->n_players; i++)
        sizes[p->groups[i]]++;
    for (size_t i = 0; i < p->n_players; i++) {
        double in_group = (double)sizes[p->groups[i]];
        // What holds the sum at 0 is no knowledge of the ratings.
        double left = ok ? variance(y, i) - 1 / (in_group * in_group) : (double)NAN;
        out->ratings[i] = UNIT * x[i];
        out->half_widths[i] = in_group > 1 ? Z95 * UNIT * sqrt(fmax(0, left)) : (double)NAN;
    }
    out->colour = UNIT * x[p->n_players];
    out->draw = UNIT * x[p->n_players + 1];
    out->colour_half_width = p->is_fixed || !ok ? 0 : Z95 * UNIT * sqrt(variance(y, p->n_players));
}

bool stats_bayes_fit(const struct stats_pool *pool, const struct stats_bayes_opts *opts,
                     struct arena *a, struct stats_bayes *out)
{
    size_t n_players = pool->n_players;
    size_t n = n_players + 2;
    struct problem p = { .n = n, .n_players = n_players, .is_fixed = opts->is_fixed };
    *out = (struct stats_bayes){ .ratings = NEW_ARRAY(a, double, n),
                                 .half_widths = NEW_ARRAY(a, double, n) };
    if (n_players > POOL_PLAYERS_MAX)
        return false;
    find_groups(pool, a, out);
    p.groups = out->groups;
    p.n_groups = out->n_groups;
    weigh(pool, opts->prior_draws > 0 ? opts->prior_draws : BAYES_PRIOR_DRAWS, a, &p);
    struct system y = { &p, NEW_ARRAY(a, double, n), NEW_ARRAY(a, double, n *n),
                        NEW_ARRAY(a, double, n) };
    double *x = NEW_ARRAY(a, double, n), *next = NEW_ARRAY(a, double, n);
    x[n_players] = (opts->is_fixed ? opts->colour : BAYES_COLOR_ELO) / UNIT;
    x[n_players + 1] = (opts->is_fixed ? opts->draw : BAYES_DRAW_ELO) / UNIT;
    if (p.n_weights == 0) // nobody has played: nothing to fit
        p.is_fixed = true;
    for (int i = 0; i < NEWTON_STEPS && climb(&y, x, next); i++)
        ;
    take_out(&y, x, a, out);
    return true;
}

// ---- Glicko-2 ----

static size_t add_games(struct stats_glicko_game *out, const struct stats_glicko *opponent,
                        double score, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (struct stats_glicko_game){ opponent->rating, opponent->deviation, score };
    return (size_t)n;
}

void stats_glicko_period(struct stats_glicko *players, const struct stats_pool *pool, double tau,
                         struct arena *a)
{
    size_t n_players = pool->n_players;
    struct stats_glicko *before = NEW_ARRAY(a, struct stats_glicko, n_players + 1);
    size_t most = 0;
    for (size_t i = 0; i < pool->n_pairs; i++)
        most += (size_t)games_of(&pool->pairs[i]);
    struct stats_glicko_game *games = NEW_ARRAY(a, struct stats_glicko_game, most + 1);
    memcpy(before, players, n_players * sizeof *before);
    for (size_t p = 0; p < n_players; p++) {
        size_t n = 0;
        for (size_t i = 0; i < pool->n_pairs; i++) {
            const struct stats_pair *q = &pool->pairs[i];
            if (q->white != p && q->black != p)
                continue;
            const struct stats_glicko *other = &before[q->white == p ? q->black : q->white];
            n += add_games(&games[n], other, 1, q->white == p ? q->wins : q->losses);
            n += add_games(&games[n], other, 0.5, q->draws);
            n += add_games(&games[n], other, 0, q->white == p ? q->losses : q->wins);
        }
        players[p] = stats_glicko_update(before[p], games, n, tau);
    }
}

// SPDX-License-Identifier: GPL-3.0-or-later
// standings.c - points, colours, losses by cause; score and Elo with their intervals.
#include "match/match.h"

static double points_of(const struct match_result *r, enum color c)
{
    return r->winner < 0 ? 0.5 : r->winner == (int)c ? 1 : 0;
}

static void count(const struct match_result *r, enum color c, struct match_standing *s)
{
    s->n++;
    s->points += points_of(r, c);
    s->wins[c] += r->winner == (int)c;
    s->draws[c] += r->winner < 0;
    if (r->winner != (int)c && r->winner >= 0) {
        s->losses[c]++;
        s->protocol_losses += r->class == CLASS_PROTOCOL_LOSS;
        s->model_errors += r->class == CLASS_MODEL_ERROR;
    }
}

static void rate(struct match_standing *s)
{
    struct stats_block all = { .opponent = 0,
                               .wins = s->wins[WHITE] + s->wins[BLACK],
                               .draws = s->draws[WHITE] + s->draws[BLACK],
                               .losses = s->losses[WHITE] + s->losses[BLACK] };
    s->elo = stats_elo_fit(&all, 1);
    s->score = stats_wilson_rate(s->n > 0 ? s->points / (double)s->n : 0, s->n);
}

static double mean_of(const struct match_standing *s)
{
    return s->n > 0 ? s->points / (double)s->n : 0;
}

void match_standings(const struct match_result *results, size_t n, size_t n_players,
                     struct match_standing *out)
{
    for (size_t i = 0; i < n_players; i++)
        out[i] = (struct match_standing){ .player = i };
    for (size_t i = 0; i < n; i++) {
        count(&results[i], WHITE, &out[results[i].pairing.white]);
        count(&results[i], BLACK, &out[results[i].pairing.black]);
    }
    for (size_t i = 0; i < n_players; i++)
        rate(&out[i]);
    for (size_t i = 1; i < n_players; i++) { // a stable sort of a few
        struct match_standing s = out[i];
        size_t k = i;
        for (; k > 0 && mean_of(&out[k - 1]) < mean_of(&s); k--)
            out[k] = out[k - 1];
        out[k] = s;
    }
}

double match_points_between(const struct match_result *results, size_t n, size_t a, size_t b,
                            int64_t *n_games)
{
    double points = 0;
    *n_games = 0;
    for (size_t i = 0; i < n; i++) {
        const struct match_pairing *p = &results[i].pairing;
        bool white = p->white == a && p->black == b, black = p->white == b && p->black == a;
        *n_games += white || black;
        points += white ? points_of(&results[i], WHITE) : black ? points_of(&results[i], BLACK) : 0;
    }
    return points;
}

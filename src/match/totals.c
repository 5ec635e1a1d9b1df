// SPDX-License-Identifier: GPL-3.0-or-later
// totals.c - what many games come to. Wins are counted by colour, never by a player's name: two
// players may have the same (specification 6.3).
#include <math.h>

#include "match/aggregate.h"
#include "match/match.h"

static void add(struct match_sum *s, double value)
{
    s->sum += value;
    s->squares += value * value;
}

double match_mean(const struct match_sum *s, int64_t n)
{
    return n > 0 ? s->sum / (double)n : 0;
}

double match_deviation(const struct match_sum *s, int64_t n)
{
    if (n < 2)
        return 0;
    double variance = (s->squares - s->sum * s->sum / (double)n) / (double)(n - 1);
    return variance > 0 ? sqrt(variance) : 0;
}

void match_count(struct match_totals *t, const struct match_game *g)
{
    t->n++;
    if (t->ends[g->end]++ == 0)
        t->order[t->n_order++] = g->end;
    if (g->winner >= 0)
        t->wins[g->winner]++;
    else
        t->draws++;
    t->plies += g->plies;
    t->n_legal += (int64_t)g->n_legal;
    add(&t->length, g->plies);
    for (int c = WHITE; c <= BLACK; c++)
        add(&t->material[c], g->material[c]);
    add(&t->difference, g->material[WHITE] - g->material[BLACK]);
    if (g->end == MATCH_CHECKMATE)
        add(&t->mates, g->plies);
}

// ---- the aggregate object ----

static void put_ours(struct json_out *o, const struct match_totals *t)
{
    int64_t mates = t->ends[MATCH_CHECKMATE];
    json_key_open(o, S("rookery"), '{');
    aggregate_put_rate(o, S("white_wins"), t->wins[WHITE], t->n);
    aggregate_put_rate(o, S("black_wins"), t->wins[BLACK], t->n);
    aggregate_put_rate(o, S("draws"), t->draws, t->n);
    json_key_double(o, S("mean_legal_moves"),
                    t->plies > 0 ? (double)t->n_legal / (double)t->plies : 0);
    json_key_double(o, S("mean_mate_ply"), match_mean(&t->mates, mates));
    json_key_double(o, S("mean_material_difference"), match_mean(&t->difference, t->n));
    json_key_double(o, S("std_dev_material_difference"), match_deviation(&t->difference, t->n));
    json_close(o, '}');
}

static struct stats_sample sample_of(const struct match_sum *s, int64_t n)
{
    return (struct stats_sample){ (size_t)n, match_mean(s, n), match_deviation(s, n) };
}

str match_totals_json(const struct match_totals *t, const struct match_names *names,
                      struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b, .indent = 2 };
    struct reason_count reasons[MATCH_ENDS];
    struct aggregate g = { .games = t->n,
                           .wins = { t->wins[WHITE], t->wins[BLACK] },
                           .draws = t->draws,
                           .plies = t->plies,
                           .reasons = reasons,
                           .n_reasons = t->n_order,
                           .lengths = sample_of(&t->length, t->n) };
    for (size_t i = 0; i < t->n_order; i++)
        reasons[i] = (struct reason_count){ match_end_name(t->order[i]), t->ends[t->order[i]] };
    for (int c = WHITE; c <= BLACK; c++) // random players make no mistakes
        g.side[c] = (struct aggregate_side){
            .name = c == WHITE ? names->white : names->black,
            .model = c == WHITE ? names->white_model : names->black_model,
            .material = (int64_t)t->material[c].sum,
            .materials = sample_of(&t->material[c], t->n),
        };
    json_open(&o, '{');
    aggregate_put(&o, &g);
    put_ours(&o, t);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

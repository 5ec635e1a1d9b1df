// SPDX-License-Identifier: GPL-3.0-or-later
// totals.c - what many games come to. Wins are counted by colour, never by a player's name: two
// players may have the same (specification 6.3).
#include <math.h>

#include "match/match.h"
#include "stats/stats.h"

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

static void put_player(struct json_out *o, const struct match_totals *t, enum color c,
                       const struct match_names *names)
{
    json_open(o, '{');
    json_key_str(o, S("name"), c == WHITE ? names->white : names->black);
    json_key_str(o, S("model"), c == WHITE ? names->white_model : names->black_model);
    json_key_int(o, S("total_material"), (int64_t)t->material[c].sum);
    json_key_int(o, S("wrong_moves"), 0); // random players make none
    json_key_int(o, S("wrong_actions"), 0);
    json_key_int(o, S("reflections_used"), 0);
    json_key_int(o, S("reflections_used_before_board"), 0);
    json_key_double(o, S("avg_material"), match_mean(&t->material[c], t->n));
    json_key_double(o, S("std_dev_material"), match_deviation(&t->material[c], t->n));
    json_close(o, '}');
}

static void put_rate(struct json_out *o, str key, int64_t k, int64_t n)
{
    struct interval i = stats_wilson(k, n);
    json_key_open(o, key, '{');
    json_key_double(o, S("rate"), n > 0 ? (double)k / (double)n : 0);
    json_key_double(o, S("low95"), i.low);
    json_key_double(o, S("high95"), i.high);
    json_close(o, '}');
}

static void put_ours(struct json_out *o, const struct match_totals *t)
{
    int64_t mates = t->ends[MATCH_CHECKMATE];
    json_key_open(o, S("rookery"), '{');
    put_rate(o, S("white_wins"), t->wins[WHITE], t->n);
    put_rate(o, S("black_wins"), t->wins[BLACK], t->n);
    put_rate(o, S("draws"), t->draws, t->n);
    json_key_double(o, S("mean_legal_moves"),
                    t->plies > 0 ? (double)t->n_legal / (double)t->plies : 0);
    json_key_double(o, S("mean_mate_ply"), match_mean(&t->mates, mates));
    json_key_double(o, S("mean_material_difference"), match_mean(&t->difference, t->n));
    json_key_double(o, S("std_dev_material_difference"), match_deviation(&t->difference, t->n));
    json_close(o, '}');
}

str match_totals_json(const struct match_totals *t, const struct match_names *names,
                      struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b, .indent = 2 };
    json_open(&o, '{');
    json_key_int(&o, S("total_games"), t->n);
    json_key_int(&o, S("white_wins"), t->wins[WHITE]);
    json_key_int(&o, S("black_wins"), t->wins[BLACK]);
    json_key_int(&o, S("draws"), t->draws);
    json_key_int(&o, S("total_moves"), t->plies);
    json_key_open(&o, S("reasons"), '{');
    for (size_t i = 0; i < t->n_order; i++)
        json_key_int(&o, match_end_name(t->order[i]), t->ends[t->order[i]]);
    json_close(&o, '}');
    json_key(&o, S("player_white"));
    put_player(&o, t, WHITE, names);
    json_key(&o, S("player_black"));
    put_player(&o, t, BLACK, names);
    json_key_double(&o, S("average_moves"), match_mean(&t->length, t->n));
    json_key_double(&o, S("std_dev_moves"), match_deviation(&t->length, t->n));
    put_ours(&o, t);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

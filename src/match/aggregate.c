// SPDX-License-Identifier: GPL-3.0-or-later
// aggregate.c - the aggregate object of a run over its logs (LLM Chess specification 4.3). Sample
// standard deviations; a run of one game has none and says 0 (D27).
#include "match/aggregate.h"
#include "match/log.h"

enum { USUAL_INDENT = 4 };

static int64_t known(int64_t count)
{
    return count > 0 ? count : 0;
}

static void count_reason(struct aggregate *s, str name)
{
    size_t i = 0;
    while (i < s->n_reasons && !str_eq(s->reasons[i].name, name))
        i++;
    if (i == s->n_reasons)
        s->reasons[s->n_reasons++].name = name;
    s->reasons[i].n++;
}

static void sum_up(const struct game_logs *logs, struct arena *a, struct aggregate *s)
{
    double *values = NEW_ARRAY(a, double, logs->n + 1);
    *s = (struct aggregate){ .games = (int64_t)logs->n,
                             .reasons = NEW_ARRAY(a, struct reason_count, logs->n + 1) };
    for (size_t i = 0; i < logs->n; i++) {
        const struct game_log *g = &logs->v[i];
        count_reason(s, g->reason_text);
        if (g->winner >= 0)
            s->wins[g->winner]++;
        else
            s->draws++;
        s->plies += g->plies;
        values[i] = (double)g->plies;
    }
    s->lengths = stats_sample(values, logs->n);
    for (int c = WHITE; c <= BLACK; c++) {
        struct aggregate_side *sum = &s->side[c];
        for (size_t i = 0; i < logs->n; i++) {
            const struct log_side *side = &logs->v[i].side[c];
            sum->name = logs->v[0].side[c].name;
            sum->model =
                str_eq(logs->v[0].side[c].model, S("N/A")) ? S("") : logs->v[0].side[c].model;
            sum->material += side->material;
            values[i] = (double)side->material;
            sum->wrong_moves += known(side->wrong_moves);
            sum->wrong_actions += known(side->wrong_actions);
            sum->reflections += known(side->reflections);
            sum->before_board += known(side->reflections_before_board);
        }
        sum->materials = stats_sample(values, logs->n);
    }
}

// ---- the object ----

static void put_player(struct json_out *o, str key, const struct aggregate_side *s)
{
    json_key_open(o, key, '{');
    json_key_str(o, S("name"), s->name);
    json_key_str(o, S("model"), s->model);
    json_key_int(o, S("total_material"), s->material);
    json_key_int(o, S("wrong_moves"), s->wrong_moves);
    json_key_int(o, S("wrong_actions"), s->wrong_actions);
    json_key_int(o, S("reflections_used"), s->reflections);
    json_key_int(o, S("reflections_used_before_board"), s->before_board);
    json_key_double(o, S("avg_material"), s->materials.mean);
    json_key_double(o, S("std_dev_material"), s->materials.sd);
    json_close(o, '}');
}

void aggregate_put(struct json_out *o, const struct aggregate *g)
{
    json_key_int(o, S("total_games"), g->games);
    json_key_int(o, S("white_wins"), g->wins[WHITE]);
    json_key_int(o, S("black_wins"), g->wins[BLACK]);
    json_key_int(o, S("draws"), g->draws);
    json_key_int(o, S("total_moves"), g->plies);
    json_key_open(o, S("reasons"), '{');
    for (size_t i = 0; i < g->n_reasons; i++)
        json_key_int(o, g->reasons[i].name, g->reasons[i].n);
    json_close(o, '}');
    put_player(o, S("player_white"), &g->side[WHITE]);
    put_player(o, S("player_black"), &g->side[BLACK]);
    json_key_double(o, S("average_moves"), g->lengths.mean);
    json_key_double(o, S("std_dev_moves"), g->lengths.sd);
}

void aggregate_put_rate(struct json_out *o, str key, int64_t k, int64_t n)
{
    struct interval i = stats_wilson(k, n);
    json_key_open(o, key, '{');
    json_key_int(o, S("games"), k);
    json_key_double(o, S("rate"), n > 0 ? (double)k / (double)n : 0);
    json_key_double(o, S("low95"), i.low);
    json_key_double(o, S("high95"), i.high);
    json_close(o, '}');
}

// Wins, losses and draws under a policy, over the games that count.
static void put_policy(struct json_out *o, str key, const struct game_logs *logs,
                       enum error_policy policy)
{
    int64_t n = 0, won[2] = { 0 };
    for (size_t i = 0; i < logs->n; i++) {
        if (!game_log_counts(&logs->v[i], policy))
            continue;
        int winner = game_log_winner(&logs->v[i], policy);
        n++;
        if (winner >= 0)
            won[winner]++;
    }
    json_key_open(o, key, '{');
    json_key_int(o, S("games"), n);
    aggregate_put_rate(o, S("white_wins"), won[WHITE], n);
    aggregate_put_rate(o, S("black_wins"), won[BLACK], n);
    aggregate_put_rate(o, S("draws"), n - won[WHITE] - won[BLACK], n);
    json_close(o, '}');
}

static void put_classes(struct json_out *o, const struct game_logs *logs)
{
    int64_t classes[GAME_CLASSES] = { 0 };
    for (size_t i = 0; i < logs->n; i++)
        classes[logs->v[i].class]++;
    json_key_open(o, S("outcome_classes"), '{');
    for (int c = 0; c < GAME_CLASSES; c++)
        json_key_int(o, game_class_name((enum game_class)c), classes[c]);
    json_close(o, '}');
}

str game_logs_aggregate(const struct game_logs *logs, str metadata, struct arena *a)
{
    struct aggregate s;
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b, .indent = USUAL_INDENT };
    sum_up(logs, a, &s);
    json_open(&o, '{');
    if (metadata.len > 0) {
        struct err ignored;
        json_t *run = json_read_strict(metadata, &ignored); // for its indentation
        json_key(&o, S("run_metadata"));
        json_put_value(&o, run);
        json_decref(run);
    }
    aggregate_put(&o, &s);
    json_key_open(&o, S("rookery"), '{');
    put_classes(&o, logs);
    put_policy(&o, S("strict"), logs, POLICY_STRICT);
    put_policy(&o, S("without_model_errors"), logs, POLICY_LENIENT);
    json_close(&o, '}');
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

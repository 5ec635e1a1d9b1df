// SPDX-License-Identifier: GPL-3.0-or-later
// versus.c - figures over rollouts. A rollout that a time-out or an engine's fault ended says
// nothing about the model's moves: it is counted, and nothing else.
#include "result/result.h"

static int64_t case_costs(const struct versus_case *c, int64_t *out)
{
    const struct versus_record *r = c->out->record;
    int64_t n = 0;
    for (int i = 0; c->costs_cp && i < r->n_accepted; i++)
        if (c->costs_cp[i] >= 0)
            out[n++] = c->costs_cp[i];
    return n;
}

// One repetition; its costs are added to `costs`.
static struct versus_seed summarise_seed(const struct versus_case *cases, size_t n, int seed,
                                         int64_t *costs)
{
    struct versus_seed s = { 0 };
    int64_t rollouts = 0, accepted = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct versus_record *r = cases[i].out->record;
        if (cases[i].seed != seed || cases[i].out->status != OUTCOME_SCORED)
            continue;
        rollouts++;
        accepted += r->n_accepted;
        s.n_costs += case_costs(&cases[i], costs + s.n_costs);
    }
    for (int64_t i = 0; i < s.n_costs; i++)
        sum += (double)costs[i];
    s.mean_cp = s.n_costs ? sum / (double)s.n_costs : 0;
    s.accepted = rollouts ? (double)accepted / (double)rollouts : 0;
    return s;
}

static void count_stops(const struct versus_case *cases, size_t n, struct versus_summary *out)
{
    for (size_t i = 0; i < n; i++) {
        const struct versus_record *r = cases[i].out->record;
        out->n++;
        out->stops[r->stop]++;
        if (cases[i].out->status != OUTCOME_SCORED)
            continue;
        out->n_scored++;
        out->n_attempts += r->n_attempts;
        out->n_accepted += r->n_accepted;
    }
}

void versus_summarise(const struct versus_case *cases, size_t n, int n_seeds, struct arena *a,
                      struct versus_summary *out)
{
    double *means = NEW_ARRAY(a, double, (size_t)n_seeds);
    double *moves = NEW_ARRAY(a, double, (size_t)n_seeds);
    size_t n_means = 0;
    *out = (struct versus_summary){ .n_seeds = (size_t)n_seeds };
    count_stops(cases, n, out);
    out->seeds = NEW_ARRAY(a, struct versus_seed, out->n_seeds);
    out->costs_cp = NEW_ARRAY(a, int64_t, (size_t)out->n_accepted + 1);
    for (int k = 0; k < n_seeds; k++) {
        out->seeds[k] = summarise_seed(cases, n, k, out->costs_cp + out->n_costs);
        out->n_costs += (size_t)out->seeds[k].n_costs;
        moves[k] = out->seeds[k].accepted;
        if (out->seeds[k].n_costs > 0)
            means[n_means++] = out->seeds[k].mean_cp;
    }
    stats_sort(out->costs_cp, out->n_costs);
    out->median_cp = stats_quantile(out->costs_cp, out->n_costs, 0.5);
    out->mean_cp = stats_sample(means, n_means);
    out->moves = stats_sample(moves, out->n_seeds);
}

// ---- files ----

static void put_case(struct json_out *o, const struct versus_case *c)
{
    const struct versus_record *r = c->out->record;
    json_open(o, '{');
    json_key_str(o, S("opening"), c->opening->name);
    json_key_str(o, S("eco"), c->opening->eco);
    json_key_str(o, S("model_side"), c->opening->model == WHITE ? S("white") : S("black"));
    json_key_int(o, S("seed"), c->seed);
    json_key_str(o, S("stop"), versus_stop_name(r->stop));
    json_key_bool(o, S("scored"), c->out->status == OUTCOME_SCORED);
    json_key_int(o, S("attempts"), r->n_attempts);
    json_key_int(o, S("accepted"), r->n_accepted);
    json_key_int(o, S("opening_plies"), (int64_t)r->n_opening);
    json_key_open(o, S("moves"), '[');
    for (size_t i = 0; i < r->n; i++)
        json_put_str(o, str_from(uci_format(r->moves[i]).data));
    json_close(o, ']');
    json_key_open(o, S("regret_cp"), '[');
    for (int i = 0; c->costs_cp && i < r->n_accepted; i++)
        if (c->costs_cp[i] >= 0)
            json_put_int(o, c->costs_cp[i]);
        else
            json_put_null(o);
    json_close(o, ']');
    json_key_str(o, S("last_answer"), r->answer);
    json_key_maybe(o, S("error"), r->error);
    json_close(o, '}');
}

str versus_jsonl(const struct versus_case *cases, size_t n, struct arena *a)
{
    struct buf b = { .arena = a, .max = SIZE_MAX / 2 };
    for (size_t i = 0; i < n; i++) {
        struct json_out o = { .b = &b };
        put_case(&o, &cases[i]);
        buf_add_char(&b, '\n');
    }
    return buf_str(&b);
}

static void put_engine(struct json_out *o, str key, const struct engine *e,
                       struct engine_limit limit)
{
    json_key_open(o, key, '{');
    regret_put_engine(o, e, limit);
    json_key_bool(o, S("plays_by_chance"), e->random || limit.by == ENGINE_BY_TIME);
    json_close(o, '}');
}

static void put_rate(struct json_out *o, str key, int64_t k, int64_t n)
{
    struct interval i = stats_wilson(k, n);
    json_key_open(o, key, '{');
    json_key_int(o, S("k"), k);
    json_key_int(o, S("n"), n);
    json_key_double(o, S("rate"), n ? (double)k / (double)n : 0);
    json_key_double(o, S("low95"), i.low);
    json_key_double(o, S("high95"), i.high);
    json_close(o, '}');
}

static void put_sample(struct json_out *o, str key, const struct stats_sample *s)
{
    json_key_open(o, key, '{');
    json_key_int(o, S("seeds"), (int64_t)s->n);
    json_key_double(o, S("mean"), s->mean);
    json_key_double(o, S("sd"), s->sd);
    json_close(o, '}');
}

static void put_seeds(struct json_out *o, const struct versus_summary *s)
{
    json_key_open(o, S("seeds"), '[');
    for (size_t i = 0; i < s->n_seeds; i++) {
        json_open(o, '{');
        json_key_int(o, S("moves_searched"), s->seeds[i].n_costs);
        json_key_double(o, S("mean_regret_cp"), s->seeds[i].mean_cp);
        json_key_double(o, S("accepted"), s->seeds[i].accepted);
        json_close(o, '}');
    }
    json_close(o, ']');
    json_key_open(o, S("regrets_cp"), '['); // for tables that pool several runs
    for (size_t i = 0; i < s->n_costs; i++)
        json_put_int(o, s->costs_cp[i]);
    json_close(o, ']');
}

static void put_figures(struct json_out *o, const struct versus_summary *s)
{
    json_key_int(o, S("rollouts"), s->n);
    json_key_int(o, S("scored"), s->n_scored);
    json_key_open(o, S("stops"), '{');
    for (int i = 0; i < VERSUS_STOPS; i++)
        json_key_int(o, versus_stop_name((enum versus_stop)i), s->stops[i]);
    json_close(o, '}');
    put_sample(o, S("mean_regret_cp"), &s->mean_cp);
    json_key_double(o, S("median_regret_cp"), s->median_cp);
    put_sample(o, S("accepted_moves"), &s->moves);
    put_rate(o, S("illegal_attempts"), s->stops[VERSUS_ILLEGAL], s->n_attempts);
    put_rate(o, S("unparsable_attempts"), s->stops[VERSUS_UNPARSABLE], s->n_attempts);
    put_rate(o, S("checkmate_losses"), s->stops[VERSUS_LOST], s->n_scored);
}

str versus_json(const struct versus_summary *s, const struct versus_facts *facts, struct arena *a)
{
    struct buf b = { .arena = a, .max = SIZE_MAX / 2 };
    struct json_out o = { .b = &b, .indent = 2 };
    const struct usage_total *u = facts->used;
    json_open(&o, '{');
    json_key_str(&o, S("model"), facts->run->model);
    json_key_str(&o, S("method"), facts->run->method);
    json_key_bool(&o, S("simulated"), facts->run->simulated);
    put_engine(&o, S("judge"), facts->judge, facts->judge_limit);
    put_engine(&o, S("opponent"), facts->opponent, facts->reply_limit);
    json_key_int(&o, S("max_moves"), facts->max_moves);
    put_figures(&o, s);
    put_seeds(&o, s);
    json_key_open(&o, S("evaluation_usage"), '{');
    json_key_int(&o, S("num_calls"), u->n_calls);
    json_key(&o, S("cost_usd"));
    if (u->n_with_cost == u->n_calls)
        json_put_double(&o, (double)u->cost_nusd / 1e9);
    else
        json_put_null(&o);
    json_close(&o, '}');
    json_key_str(&o, S("run"), facts->run->key);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

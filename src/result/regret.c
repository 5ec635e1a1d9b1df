// SPDX-License-Identifier: GPL-3.0-or-later
// regret.c - costs of moves put together. The median stands first: a single mate or illegal move
// outweighs all else in a mean.
#include "result/result.h"

enum { MATE_COST_CP = 99000 }; // what only a mate can cost

bool regret_case_cost(const struct regret_case *c, int64_t *cp)
{
    if (c->failed || c->answer->status != OUTCOME_SCORED)
        return false;
    *cp = c->played ? c->played->cost_cp : REGRET_NO_MOVE_CP;
    return true;
}

// ---- figures ----

// Upper ends of the bins; beyond the last: no legal move.
static const int64_t bin_ends[REGRET_BINS - 1] = { 0,   10,  25,   50,
                                                   100, 300, 1000, REGRET_NO_MOVE_CP - 1 };

str regret_bin_name(size_t bin)
{
    static const str names[REGRET_BINS] = { T("0"),        T("1-10"),      T("11-25"),
                                            T("26-50"),    T("51-100"),    T("101-300"),
                                            T("301-1000"), T("over 1000"), T("no legal move") };
    return names[bin];
}

static double mean(const int64_t *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)v[i];
    return n ? sum / (double)n : 0;
}

static void count_cost(struct regret_summary *s, int64_t cp)
{
    size_t bin = 0;
    while (bin < REGRET_BINS - 1 && cp > bin_ends[bin])
        bin++;
    s->bins[bin]++;
    s->n_costed++;
    s->n_zero += cp == 0;
    s->n_no_move += cp == REGRET_NO_MOVE_CP;
    s->n_mates += cp >= MATE_COST_CP && cp < REGRET_NO_MOVE_CP;
}

struct depths { // reached by some searches
    int64_t n, sum;
    int min;
};

static void add_depth(struct depths *d, const struct regret_search *search)
{
    if (d->n == 0 || search->depth < d->min)
        d->min = search->depth;
    d->n++;
    d->sum += search->depth;
}

static void note_depths(const struct regret_case *cases, size_t n, struct engine_limit limit,
                        struct regret_summary *out)
{
    struct depths best = { .min = -1 }, played = { .min = -1 };
    const struct regret_record *last = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct regret_record *r = cases[i].search;
        if (!r)
            continue;
        if (r != last) // samples of one position stand together
            add_depth(&best, &r->best);
        last = r;
        if (cases[i].played)
            add_depth(&played, &cases[i].played->search);
        out->n_short += limit.by == ENGINE_BY_DEPTH && cases[i].played &&
                        cases[i].played->search.depth < limit.n;
    }
    out->n_searches = best.n + played.n;
    out->depth_min = best.min;
    out->played_depth_min = played.min;
    out->depth_mean = best.n ? (double)best.sum / (double)best.n : 0;
    out->played_depth_mean = played.n ? (double)played.sum / (double)played.n : 0;
}

static void note_noise(const struct regret_case *cases, size_t n, struct regret_summary *out)
{
    const struct regret_record *last = NULL;
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct regret_record *r = cases[i].search;
        if (!r || r == last || !r->has_noise)
            continue;
        last = r;
        out->n_noise++;
        sum += r->noise_cp;
        if (r->noise_cp > out->noise_max_cp)
            out->noise_max_cp = r->noise_cp;
    }
    out->noise_mean_cp = out->n_noise ? (double)sum / (double)out->n_noise : 0;
}

void regret_summarise(const struct regret_case *cases, size_t n, struct engine_limit limit,
                      struct arena *a, struct regret_summary *out)
{
    int64_t *all = NEW_ARRAY(a, int64_t, n + 1), *legal = NEW_ARRAY(a, int64_t, n + 1);
    size_t n_legal = 0;
    *out = (struct regret_summary){ .n = (int64_t)n };
    for (size_t i = 0; i < n; i++) {
        int64_t cp;
        out->n_failed += cases[i].failed;
        if (!regret_case_cost(&cases[i], &cp))
            continue;
        all[out->n_costed] = cp;
        count_cost(out, cp);
        if (cases[i].played)
            legal[n_legal++] = cp;
    }
    size_t n_all = (size_t)out->n_costed;
    stats_sort(all, n_all);
    stats_sort(legal, n_legal);
    out->n_legal = (int64_t)n_legal;
    out->median_cp = stats_quantile(all, n_all, 0.5);
    out->mean_cp = mean(all, n_all);
    out->quartiles_cp[0] = stats_quantile(all, n_all, 0.25);
    out->quartiles_cp[1] = stats_quantile(all, n_all, 0.75);
    out->legal_median_cp = stats_quantile(legal, n_legal, 0.5);
    out->legal_mean_cp = mean(legal, n_legal);
    note_depths(cases, n, limit, out);
    note_noise(cases, n, out);
}

// ---- files ----

str regret_settings(const struct engine *e, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < e->settings.n; i++)
        buf_addf(&b, "%s%.*s=%.*s", i > 0 ? ";" : "", STR(e->settings.v[i].name),
                 STR(e->settings.v[i].value));
    return buf_str(&b);
}

void regret_put_engine(struct json_out *o, const struct engine *e, struct engine_limit limit)
{
    struct arena *a = o->b->arena;
    json_key_str(o, S("name"), e->name);
    json_key_str(o, S("identity"), e->identity);
    json_key_str(o, S("settings"), regret_settings(e, a));
    json_key_str(o, S("limit"), engine_limit_format(limit, a));
}

static void put_search(struct json_out *o, const char *which, const struct regret_search *s,
                       struct arena *a)
{
    json_key(o, arena_printf(a, "%s_cp", which));
    if (s)
        json_put_int(o, engine_score_cp(s->score));
    else
        json_put_null(o);
    json_key(o, arena_printf(a, "%s_is_mate", which));
    if (s)
        json_put_bool(o, s->score.mate);
    else
        json_put_null(o);
    json_key(o, arena_printf(a, "%s_depth_reached", which));
    if (s)
        json_put_int(o, s->depth);
    else
        json_put_null(o);
}

static str move_text(move m, struct arena *a)
{
    return m == MOVE_NONE ? (str){ 0 } : arena_str(a, str_from(uci_format(m).data));
}

// Names as in the observation export (paper-files specification, section 3).
static void put_case(struct json_out *o, const struct regret_case *c,
                     const struct regret_facts *facts, struct arena *a)
{
    const struct puzzle_position *p = c->position;
    const struct puzzle_record *record = c->answer->record;
    int64_t cp;
    json_open(o, '{');
    json_key_str(o, S("source_id"), p->puzzle->id);
    json_key_int(o, S("move_index"), p->index);
    json_key_int(o, S("sample"), c->sample);
    json_key_str(o, S("position_fen"), p->inputs[0]);
    json_key_str(o, S("expected_move"), p->reference);
    json_key_maybe(o, S("predicted_move"), move_text(record->played, a));
    json_key_bool(o, S("correct"), record->kind == ANSWER_CORRECT);
    json_key_str(o, S("kind"), answer_kind_name(record->kind));
    json_key_str(o, S("engine"), facts->engine->name);
    json_key_str(o, S("engine_limit"), engine_limit_format(facts->limit, a));
    json_key_maybe(o, S("best_move"), move_text(c->search ? c->search->best.m : MOVE_NONE, a));
    put_search(o, "best", c->search ? &c->search->best : NULL, a);
    put_search(o, "post", c->played ? &c->played->search : NULL, a);
    json_key(o, S("regret_cp"));
    if (regret_case_cost(c, &cp))
        json_put_int(o, cp);
    else
        json_put_null(o);
    json_key_bool(o, S("engine_fault"), c->failed);
    json_close(o, '}');
}

str regret_jsonl(const struct regret_case *cases, size_t n, const struct regret_facts *facts,
                 struct arena *a)
{
    struct buf b = { .arena = a, .max = SIZE_MAX / 2 };
    for (size_t i = 0; i < n; i++) {
        struct json_out o = { .b = &b };
        put_case(&o, &cases[i], facts, a);
        buf_add_char(&b, '\n');
    }
    return buf_str(&b);
}

static void put_engine(struct json_out *o, const struct regret_facts *facts)
{
    json_key_open(o, S("engine"), '{');
    regret_put_engine(o, facts->engine, facts->limit);
    json_key_str(
        o, S("procedure"),
        S("ucinewgame before each search; best: full search; played: searchmoves under the "
          "same limit; the best move costs 0; never below 0"));
    json_close(o, '}');
}

static void put_distribution(struct json_out *o, const struct regret_summary *s)
{
    json_key_open(o, S("distribution"), '{');
    for (size_t i = 0; i < REGRET_BINS; i++)
        json_key_int(o, regret_bin_name(i), s->bins[i]);
    json_close(o, '}');
}

static void put_figures(struct json_out *o, const struct regret_summary *s)
{
    json_key_open(o, S("regret_cp"), '{');
    json_key_double(o, S("median"), s->median_cp);
    json_key_double(o, S("mean"), s->mean_cp);
    json_key_double(o, S("lower_quartile"), s->quartiles_cp[0]);
    json_key_double(o, S("upper_quartile"), s->quartiles_cp[1]);
    json_key_double(o, S("median_of_legal"), s->legal_median_cp);
    json_key_double(o, S("mean_of_legal"), s->legal_mean_cp);
    json_close(o, '}');
    put_distribution(o, s);
    json_key_open(o, S("noise_cp"), '{');
    json_key_int(o, S("positions"), s->n_noise);
    json_key_double(o, S("mean"), s->noise_mean_cp);
    json_key_int(o, S("max"), s->noise_max_cp);
    json_close(o, '}');
    json_key_open(o, S("depth_reached"), '{');
    json_key_int(o, S("searches"), s->n_searches);
    json_key_int(o, S("best_min"), s->depth_min);
    json_key_double(o, S("best_mean"), s->depth_mean);
    json_key_int(o, S("played_min"), s->played_depth_min);
    json_key_double(o, S("played_mean"), s->played_depth_mean);
    json_key_int(o, S("played_ended_by_mate"), s->n_short);
    json_close(o, '}');
}

str regret_json(const struct regret_summary *s, const struct regret_facts *facts, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b, .indent = 2 };
    const struct tally *t = facts->tally;
    json_open(&o, '{');
    json_key_str(&o, S("model"), facts->run->model);
    json_key_str(&o, S("method"), facts->run->method);
    json_key_bool(&o, S("simulated"), facts->run->simulated);
    put_engine(&o, facts);
    json_key_int(&o, S("answers"), s->n);
    json_key_int(&o, S("answers_with_cost"), s->n_costed);
    json_key_int(&o, S("zero"), s->n_zero);
    json_key_int(&o, S("mates"), s->n_mates);
    json_key_int(&o, S("no_legal_move"), s->n_no_move);
    json_key_int(&o, S("engine_faults"), s->n_failed);
    put_figures(&o, s);
    json_key_open(&o, S("positions_right"), '{');
    json_key_int(&o, S("k"), t->n_first_correct);
    json_key_int(&o, S("n"), t->n_positions);
    json_close(&o, '}');
    json_key_open(&o, S("puzzles_solved"), '{');
    json_key_int(&o, S("k"), t->n_solved);
    json_key_int(&o, S("n"), t->n_complete);
    json_close(&o, '}');
    json_key_str(&o, S("run"), facts->run->key);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

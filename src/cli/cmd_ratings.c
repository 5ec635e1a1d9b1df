// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_ratings.c - ratings of all players of game logs, of either colour: by maximum likelihood
// against opponents of known rating, and of the pool by itself, Bayesian Elo and Glicko-2.
#include <math.h>
#include <stdlib.h>

#include "cli/game_import.h"
#include "report/report.h"

struct rated { // one player
    str label;
    int64_t games[2], won, drawn, lost; // games: as White, as Black
    struct blocks {
        struct stats_block *v;
        size_t n, cap;
    } blocks; // against opponents of known rating
};
struct pool {
    struct arena *arena;
    struct map index; // label to number
    struct players {
        struct rated *v;
        size_t n, cap;
    } players;
    struct pairs {
        struct stats_pair *v;
        size_t n, cap;
    } pairs;
    struct stats_glicko *glicko;
    struct stats_bayes bayes;
    size_t n_games, n_periods;
};

static size_t player_of(struct pool *p, str label)
{
    bool fresh;
    struct map_entry *e = map_put(&p->index, label, &fresh);
    if (fresh) {
        e->number = (int64_t)p->players.n;
        vec_push(p->arena, &p->players)->label = label;
    }
    return (size_t)e->number;
}

// A game for a player of this colour; points: 2 for a win, 1 for a draw.
static void note_player(struct pool *p, const struct game_log *g, enum color c, int points,
                        const struct refined_opts *o)
{
    struct rated *r = &p->players.v[player_of(p, g->side[c].label)];
    double elo;
    r->games[c]++;
    r->won += points == 2;
    r->drawn += points == 1;
    r->lost += points == 0;
    if (!refined_anchor_of(o, g->side[!c].label, &elo))
        return;
    // The opponent's rating with the worth of its colour.
    *vec_push(p->arena, &r->blocks) = (struct stats_block){
        .opponent = elo + (c == BLACK ? ELO_COLOR_BONUS : -ELO_COLOR_BONUS),
        .wins = points == 2,
        .draws = points == 1,
        .losses = points == 0,
    };
}

static void note_game(struct pool *p, const struct game_log *g, const struct refined_opts *o)
{
    int winner = game_log_winner(g, o->policy);
    size_t white = player_of(p, g->side[WHITE].label), black = player_of(p, g->side[BLACK].label);
    for (int c = WHITE; c <= BLACK; c++)
        note_player(p, g, (enum color)c, winner < 0 ? 1 : winner == c ? 2 : 0, o);
    *vec_push(p->arena, &p->pairs) =
        (struct stats_pair){ white, black, .wins = winner == WHITE, .draws = winner < 0,
                             .losses = winner == BLACK };
    p->n_games++;
}

// ---- periods of Glicko-2 ----

static int by_time(const void *a, const void *b)
{
    const struct game_log *x = *(const struct game_log *const *)a,
                          *y = *(const struct game_log *const *)b;
    int order = str_cmp(x->time_started, y->time_started);
    return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

static str day_of(const struct game_log *g)
{
    str time = g->time_started;
    return str_cut(&time, '_');
}

// The games of a day are a period; games without a date are the first.
static void rate_glicko(struct pool *p, const struct game_log **sorted)
{
    size_t n = p->players.n;
    p->glicko = NEW_ARRAY(p->arena, struct stats_glicko, n + 1);
    for (size_t i = 0; i < n; i++)
        p->glicko[i] = stats_glicko_start;
    for (size_t i = 0, k; i < p->n_games; i = k, p->n_periods++) {
        for (k = i + 1; k < p->n_games && str_eq(day_of(sorted[k]), day_of(sorted[i])); k++)
            ;
        struct stats_pool period = { &p->pairs.v[i], k - i, n };
        stats_glicko_period(p->glicko, &period, GLICKO_TAU, p->arena);
    }
}

static bool rate(struct pool *p, const struct game_logs *logs, const struct refined_opts *o,
                 struct err *err)
{
    const struct game_log **sorted = NEW_ARRAY(p->arena, const struct game_log *, logs->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < logs->n; i++)
        if (game_log_counts(&logs->v[i], o->policy))
            sorted[n++] = &logs->v[i];
    if (n > 1)
        qsort(sorted, n, sizeof *sorted, by_time);
    for (size_t i = 0; i < n; i++)
        note_game(p, sorted[i], o);
    rate_glicko(p, sorted);
    struct stats_pool all = { p->pairs.v, p->pairs.n, p->players.n };
    return stats_bayes_fit(&all, &(struct stats_bayes_opts){ 0 }, p->arena, &p->bayes) ||
           err_set(err, ERR_LIMIT, "more than %d players", POOL_PLAYERS_MAX);
}

// ---- the table ----

static str elo_text(const struct rated *r, struct arena *a)
{
    struct stats_elo e = stats_elo_fit(r->blocks.v, r->blocks.n);
    switch (e.kind) {
    case ELO_FOUND: return arena_printf(a, "%.1f \xC2\xB1%.1f", e.rating, e.half_width);
    case ELO_NO_GAMES: return S("n/a");
    case ELO_ALL_WON: return arena_printf(a, "> %.1f", e.bound);
    case ELO_ALL_LOST: return arena_printf(a, "< %.1f", e.bound);
    }
    BUG("no such kind");
}

static void add_row(const struct pool *p, size_t i, struct report_grid *out)
{
    struct arena *a = p->arena;
    const struct rated *r = &p->players.v[i];
    const struct stats_glicko *g = &p->glicko[i];
    int64_t n = r->games[WHITE] + r->games[BLACK];
    double score = ((double)r->won + (double)r->drawn / 2) / (double)n;
    struct interval w = stats_wilson_rate(score, n);
    double width = p->bayes.half_widths[i];
    const str cells[] = {
        r->label,
        arena_printf(a, "%lld", (long long)n),
        arena_printf(a, "%lld", (long long)r->games[WHITE]),
        arena_printf(a, "%lld", (long long)r->games[BLACK]),
        arena_printf(a, "%lld", (long long)r->won),
        arena_printf(a, "%lld", (long long)r->drawn),
        arena_printf(a, "%lld", (long long)r->lost),
        arena_printf(a, "%.1f [%.1f, %.1f]", 100 * score, 100 * w.low, 100 * w.high),
        elo_text(r, a),
        isnan(width) ? S("n/a") : arena_printf(a, "%.1f \xC2\xB1%.1f", p->bayes.ratings[i], width),
        arena_printf(a, "%.1f \xC2\xB1%.1f", g->rating, 1.96 * g->deviation),
        arena_printf(a, "%.5f", g->volatility),
    };
    for (size_t k = 0; k < ARRAY_LEN(cells); k++)
        report_grid_add(out, cells[k], a);
}

struct place { // in the table
    size_t player, group;
    double rating;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->rating != y->rating)
        return x->rating > y->rating ? -1 : 1;
    return x->player < y->player ? -1 : x->player > y->player;
}

static str note(const struct pool *p)
{
    const struct stats_bayes *b = &p->bayes;
    return arena_printf(
        p->arena,
        "Elo: maximum likelihood against opponents of known rating, a colour worth %d; Random's "
        "own rating is off by\nperhaps 75, and so is what rests on it alone. Bayesian Elo: mean 0, "
        "White is worth %.1f \xC2\xB1%.1f, draws %.1f.\nGlicko-2: %zu periods of a day, 1.96 "
        "deviations. Score: points, Wilson's 95 %% interval.%s",
        ELO_COLOR_BONUS, b->colour, b->colour_half_width, b->draw, p->n_periods,
        b->n_groups > 1
            ? "\nNOT COMPARABLE: players that have not met, nor opponents of opponents, "
              "stand in groups, each with mean 0"
            : "");
}

static void table(const struct pool *p, struct report_grid *out)
{
    static const str head[] = { T("player"), T("games"),        T("as White"), T("as Black"),
                                T("won"),    T("drawn"),        T("lost"),     T("score %"),
                                T("Elo"),    T("Bayesian Elo"), T("Glicko-2"), T("volatility") };
    *out = (struct report_grid){ .n_columns = ARRAY_LEN(head) };
    for (size_t i = 0; i < ARRAY_LEN(head); i++)
        report_grid_add(out, head[i], p->arena);
    size_t n = p->players.n;
    struct place *places = NEW_ARRAY(p->arena, struct place, n + 1);
    for (size_t i = 0; i < n; i++)
        places[i] = (struct place){ i, p->bayes.groups[i], p->bayes.ratings[i] };
    if (n > 1)
        qsort(places, n, sizeof *places, by_place);
    for (size_t i = 0; i < n; i++)
        add_row(p, places[i].player, out);
    out->note = note(p);
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct game_logs logs = { 0 };
    struct refined_opts o = { 0 };
    enum report_format format = REPORT_TEXT;
    struct report_grid grid;
    struct buf out = { .arena = a };
    str name = opt_text(args, "format", S("text"));
    if (!report_format_parse(name, &format))
        return err_set(err, ERR_USAGE,
                       "--format must be text, csv, markdown, latex or json, got \"%.*s\"",
                       STR(name));
    if (!games_read_policy(args, &o.policy, err) || !games_read_anchors(args, a, &o, err) ||
        !games_import(args, a, &logs, NULL, err))
        return false;
    struct pool p = { .arena = a, .index = { .arena = a } };
    if (!rate(&p, &logs, &o, err))
        return false;
    table(&p, &grid);
    report_grid_write(&grid, format, &out);
    return print_str(buf_str(&out), err);
}

static const struct opt opts[] = {
    { "policy", OPT_TEXT, "NAME",
      "a model's error is a loss (strict) or left out (lenient) [strict]", 0, 0 },
    { "anchor", OPT_TEXT, "LIST", "ratings of further opponents: LABEL=ELO,...", 0, 0 },
    { "format", OPT_TEXT, "NAME", "text, csv, markdown, latex or json [text]", 0, 0 },
    { 0 },
};

const struct command command_stats_ratings = {
    .name = "stats ratings",
    .summary = "ratings of the players of game logs: Elo, Bayesian Elo, Glicko-2",
    .usage = "LOG|DIR...",
    .about = "Every player of the logs, with either colour. Games that an endpoint or an engine\n"
             "broke never count.\n"
             "Example: rookery stats ratings runs/play-1a2b3c4d runs/play-5e6f7a8b",
    .opts = { opts },
    .max_positionals = POSITIONALS_MAX,
    .run = run,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// refined.c - the refined table. Formulas and rounding: LLM Chess specification 4.5; Elo: 4.7.
#include <math.h>
#include <stdlib.h>

#include "match/refined.h"
#include "stats/stats.h"

static const double Z95 = 1.96, USUAL_PLIES = 200;
enum { DRAGON_STEP = 125, PER_MILLE = 1000, PER_MILLION = 1000000 };

enum color refined_side(const struct game_log *g)
{
    bool black = !str_eq(g->side[BLACK].model, S("N/A"));
    return black || str_eq(g->side[WHITE].model, S("N/A")) ? BLACK : WHITE;
}

// ---- ratings ----

double refined_random_elo(void)
{
    // Random had White against Dragon at levels 1 to 4 (3.4).
    static const struct stats_block blocks[] = { { 250 - ELO_COLOR_BONUS, 1, 175, 824 },
                                                 { 375 - ELO_COLOR_BONUS, 1, 150, 849 },
                                                 { 500 - ELO_COLOR_BONUS, 1, 100, 899 },
                                                 { 625 - ELO_COLOR_BONUS, 0, 49, 951 } };
    return stats_elo_fit(blocks, ARRAY_LEN(blocks)).rating;
}

static bool dragon_level(str label, int64_t *level)
{
    str mark = S("dragon-lvl-");
    return str_starts(label, mark) && str_to_int(str_sub(label, mark.len, label.len), 1, 25, level);
}

bool refined_anchor_of(const struct refined_opts *o, str label, double *elo)
{
    int64_t level;
    for (size_t i = 0; i < o->n_anchors; i++)
        if (str_eq(label, o->anchors[i].label)) {
            *elo = o->anchors[i].elo;
            return true;
        }
    if (dragon_level(label, &level)) {
        *elo = (double)(DRAGON_STEP * (level + 1));
        return true;
    }
    *elo = refined_random_elo();
    return str_eq(label, S("random"));
}

static int64_t is_win(const struct game_log *g, enum error_policy policy)
{
    return game_log_winner(g, policy) == (int)refined_side(g);
}

static int64_t is_draw(const struct game_log *g, enum error_policy policy)
{
    return game_log_winner(g, policy) < 0;
}

// A block a game: the fit is the same, and colours may be mixed.
struct stats_elo refined_elo(const struct game_logs *logs, const struct refined_opts *o,
                             struct arena *a)
{
    struct stats_block *blocks = NEW_ARRAY(a, struct stats_block, logs->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < logs->n; i++) {
        const struct game_log *g = &logs->v[i];
        enum color me = refined_side(g);
        struct stats_block *b = &blocks[n];
        if (!refined_anchor_of(o, g->side[!me].label, &b->opponent))
            continue;
        b->opponent += me == BLACK ? ELO_COLOR_BONUS : -ELO_COLOR_BONUS;
        b->wins = is_win(g, o->policy);
        b->draws = is_draw(g, o->policy);
        b->losses = 1 - b->wins - b->draws;
        n++;
    }
    return stats_elo_fit(blocks, n);
}

// ---- one row ----

struct row {
    str player, opponent;
    struct game_logs games;
    struct stats_elo elo;
    double win_loss, duration; // for the order
};

struct column { // values of the games of a row; a game may be left out
    double *v;
    size_t n;
};

// In long double over sorted values, so that a half is rounded alike whatever the order of logs.
static double mean_of(const struct column *c)
{
    long double sum = 0;
    for (size_t i = 0; i < c->n; i++)
        sum += c->v[i];
    return c->n ? (double)(sum / c->n) : 0;
}

static double moe_of(const struct column *c)
{
    return c->n > 1 ? Z95 * stats_sample(c->v, c->n).sd / sqrt((double)c->n) : 0;
}

static double moe_rate(double k, double n)
{
    double p = n > 0 ? k / n : 0;
    return n > 1 ? Z95 * sqrt(p * (1 - p) / n) : 0;
}

static void put(struct buf *b, double value, int decimals)
{
    double scale = pow(10, decimals), rounded = round(value * scale) / scale;
    buf_add_char(b, ',');
    buf_add_double(b, rounded == 0 ? 0 : rounded);
}

static void put_pair(struct buf *b, const struct column *c, int decimals)
{
    put(b, mean_of(c), decimals);
    put(b, moe_of(c), decimals);
}

static void put_empty(struct buf *b, int n)
{
    for (int i = 0; i < n; i++)
        buf_add_char(b, ',');
}

static void put_count(struct buf *b, double n)
{
    buf_addf(b, ",%lld", (long long)n);
}

struct totals {
    double n, wins, draws, losses, plies, own_plies, actions, moves, tokens, whole;
    bool knows_mistakes, has_usage, has_cost;
    struct column length, mistakes, mine, theirs, difference, per_ply, score, whole_score, duration,
        cost, price, time;
};

static void add(struct column *c, double value)
{
    c->v[c->n++] = value;
}

// Dollars of one game; false: no price is known.
static bool cost_of(const struct log_side *s, const struct refined_opts *o, double *usd)
{
    struct price p = o->price.known ? o->price
                     : o->prices    ? price_of(o->prices, s->model)
                                    : (struct price){ 0 };
    if (!o->price.known && s->cost_known) {
        *usd = s->cost_usd;
        return true;
    }
    *usd = ((double)s->prompt_tok * p.input + (double)s->completion_tok * p.output) / PER_MILLION;
    return p.known;
}

static void count_game(struct totals *t, const struct game_log *g, const struct refined_opts *o)
{
    enum color me = refined_side(g);
    const struct log_side *s = &g->side[me];
    bool whole = !game_reason_interrupts(g->reason);
    double m = (double)g->plies, usd;
    double score = (double)is_win(g, o->policy) + (double)is_draw(g, o->policy) / 2;
    t->wins += (double)is_win(g, o->policy);
    t->draws += (double)is_draw(g, o->policy);
    t->plies += m;
    t->own_plies += me == BLACK ? floor(m / 2) : ceil(m / 2);
    t->knows_mistakes &= s->wrong_actions >= 0 && s->wrong_moves >= 0;
    t->actions += (double)s->wrong_actions;
    t->moves += (double)s->wrong_moves;
    t->has_usage |= s->has_usage;
    t->tokens += (double)s->completion_tok;
    t->whole += whole;
    add(&t->length, m);
    if (m > 0) {
        add(&t->mistakes, PER_MILLE * (double)(s->wrong_actions + s->wrong_moves) / m);
        add(&t->per_ply, (double)s->completion_tok / m);
    }
    add(&t->mine, (double)s->material);
    add(&t->theirs, (double)g->side[!me].material);
    add(&t->difference, (double)(s->material - g->side[!me].material));
    add(&t->score, score);
    if (whole)
        add(&t->whole_score, score);
    add(&t->duration, whole ? 1 : m / USUAL_PLIES);
    if (s->seconds > 0)
        add(&t->time, s->seconds);
    if (!s->has_usage || !cost_of(s, o, &usd)) {
        t->has_cost = false;
        return;
    }
    add(&t->cost, usd);
    if (m > 0)
        add(&t->price, PER_MILLE * usd / m);
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static void total_up(const struct game_logs *games, const struct refined_opts *o, struct arena *a,
                     struct totals *t)
{
    *t = (struct totals){ .n = (double)games->n, .knows_mistakes = true, .has_cost = true };
    struct column *all[] = { &t->length,     &t->mistakes, &t->mine,  &t->theirs,
                             &t->difference, &t->per_ply,  &t->score, &t->whole_score,
                             &t->duration,   &t->cost,     &t->price, &t->time };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        all[i]->v = NEW_ARRAY(a, double, games->n + 1);
    for (size_t i = 0; i < games->n; i++)
        count_game(t, &games->v[i], o);
    t->losses = t->n - t->wins - t->draws;
    // Sums of fractions depend on their order; a table must not depend on that of its logs.
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i]->n > 1)
            qsort(all[i]->v, all[i]->n, sizeof(double), by_value);
}

// ---- columns ----

static const char header_text[] =
    "total_games,player_wins,opponent_wins,draws,player_wins_percent,player_draws_percent,"
    "average_moves,moe_average_moves,total_moves,player_wrong_actions,player_wrong_moves,"
    "wrong_actions_per_1000moves,wrong_moves_per_1000moves,mistakes_per_1000moves,"
    "moe_mistakes_per_1000moves,player_avg_material,opponent_avg_material,"
    "material_diff_player_llm_minus_opponent,moe_material_diff_llm_minus_rand,"
    "completion_tokens_black_per_move,moe_completion_tokens_black_per_move,"
    "moe_black_llm_win_rate,moe_draw_rate,moe_black_llm_loss_rate,win_loss,moe_win_loss,"
    "win_loss_non_interrupted,moe_win_loss_non_interrupted,game_duration,moe_game_duration,"
    "games_interrupted,games_interrupted_percent,moe_games_interrupted,games_not_interrupted,"
    "games_not_interrupted_percent,moe_games_not_interrupted,average_game_cost,"
    "moe_average_game_cost,price_per_1000_moves,moe_price_per_1000_moves,"
    "average_time_per_game_seconds,moe_average_time_per_game_seconds";
static const char header_elo[] =
    ",elo,elo_moe_95,games_vs_random,games_vs_dragon,elo_bound,mistakes_per_100_own_plies,"
    "win_rate_low95,win_rate_high95,chess_results,protocol_losses,model_errors";

static void put_mistakes(struct buf *b, const struct totals *t)
{
    if (!t->knows_mistakes) {
        put_empty(b, 6);
        return;
    }
    double plies = t->plies > 0 ? t->plies : 1;
    put_count(b, t->actions);
    put_count(b, t->moves);
    put(b, PER_MILLE * t->actions / plies, 3);
    put(b, PER_MILLE * t->moves / plies, 3);
    put(b, PER_MILLE * (t->actions + t->moves) / plies, 3);
    put(b, moe_of(&t->mistakes), 3);
}

static void put_results(struct buf *b, const struct totals *t)
{
    put(b, moe_rate(t->wins, t->n), 3);
    put(b, moe_rate(t->draws, t->n), 3);
    put(b, moe_rate(t->losses, t->n), 3);
    put(b, (t->wins - t->losses) / t->n / 2 + 0.5, 3);
    put(b, moe_of(&t->score), 3);
    put(b, t->whole_score.n ? mean_of(&t->whole_score) : 0.5, 3);
    put(b, moe_of(&t->whole_score), 3);
    put_pair(b, &t->duration, 3);
    double broken = t->n - t->whole;
    put_count(b, broken);
    put(b, 100 * broken / t->n, 3);
    put(b, moe_rate(broken, t->n), 3);
    put_count(b, t->whole);
    put(b, 100 * t->whole / t->n, 3);
    put(b, moe_rate(t->whole, t->n), 3);
}

static void put_plain(struct buf *b, const struct totals *t)
{
    put_count(b, t->n);
    put_count(b, t->wins);
    put_count(b, t->losses);
    put_count(b, t->draws);
    put(b, 100 * t->wins / t->n, 3);
    put(b, 100 * t->draws / t->n, 3);
    put_pair(b, &t->length, 3);
    put_count(b, t->plies);
    put_mistakes(b, t);
    put(b, mean_of(&t->mine), 3);
    put(b, mean_of(&t->theirs), 3);
    put_pair(b, &t->difference, 3);
    if (t->has_usage && t->plies > 0) {
        put(b, t->tokens / t->plies, 3);
        put(b, moe_of(&t->per_ply), 3);
    } else {
        put_empty(b, 2);
    }
    put_results(b, t);
    if (t->has_cost) {
        put_pair(b, &t->cost, 5);
        put_pair(b, &t->price, 5);
    } else {
        put_empty(b, 4);
    }
    put_pair(b, &t->time, 3);
}

static void put_elo(struct buf *b, const struct row *r, const struct totals *t)
{
    double random = 0, dragon = 0, by_class[GAME_CLASSES] = { 0 };
    for (size_t i = 0; i < r->games.n; i++) {
        const struct game_log *g = &r->games.v[i];
        str opponent = g->side[!refined_side(g)].label;
        random += str_eq(opponent, S("random"));
        dragon += str_starts(opponent, S("dragon-lvl-"));
        by_class[g->class]++;
    }
    if (r->elo.kind == ELO_FOUND) {
        put(b, r->elo.rating, 3);
        put(b, r->elo.half_width, 3);
    } else {
        put_empty(b, 2);
    }
    put_count(b, random);
    put_count(b, dragon);
    buf_add_char(b, ',');
    if (r->elo.kind == ELO_ALL_WON || r->elo.kind == ELO_ALL_LOST)
        buf_addf(b, "%c%.1f", r->elo.kind == ELO_ALL_WON ? '>' : '<', r->elo.bound);
    if (t->knows_mistakes && t->own_plies > 0)
        put(b, 100 * (t->actions + t->moves) / t->own_plies, 3);
    else
        put_empty(b, 1);
    struct interval w = stats_wilson((int64_t)t->wins, (int64_t)t->n);
    put(b, w.low, 3);
    put(b, w.high, 3);
    put_count(b, by_class[CLASS_CHESS] + by_class[CLASS_MAX_MOVES]);
    put_count(b, by_class[CLASS_PROTOCOL_LOSS]);
    put_count(b, by_class[CLASS_MODEL_ERROR]);
}

// ---- the table ----

struct rows {
    struct row *v;
    size_t n, cap;
};

static struct row *row_of(struct rows *rows, str player, str opponent, struct arena *a)
{
    for (size_t i = 0; i < rows->n; i++)
        if (str_eq(rows->v[i].player, player) && str_eq(rows->v[i].opponent, opponent))
            return &rows->v[i];
    struct row *r = vec_push(a, rows);
    *r = (struct row){ .player = player, .opponent = opponent };
    return r;
}

static int by_rank(const void *x, const void *y)
{
    const struct row *a = x, *b = y;
    bool has_a = a->elo.kind == ELO_FOUND, has_b = b->elo.kind == ELO_FOUND;
    double d = has_a && has_b ? b->elo.rating - a->elo.rating : (double)(has_b - has_a);
    if (d == 0)
        d = b->win_loss - a->win_loss;
    if (d == 0)
        d = b->duration - a->duration;
    if (d == 0)
        d = str_cmp(a->player, b->player);
    return d > 0 ? 1 : d < 0 ? -1 : 0;
}

static void add_field(struct buf *b, str text)
{
    bool quote = str_find_char(text, ',') >= 0 || str_find_char(text, '"') >= 0 ||
                 str_find_char(text, '\n') >= 0;
    if (!quote) {
        buf_add(b, text);
        return;
    }
    buf_add_char(b, '"');
    for (size_t i = 0; i < text.len; i++)
        buf_add(b, text.data[i] == '"' ? S("\"\"") : str_sub(text, i, 1));
    buf_add_char(b, '"');
}

static void group(const struct game_logs *logs, const struct refined_opts *o, struct arena *a,
                  struct rows *rows)
{
    for (size_t i = 0; i < logs->n; i++) {
        const struct game_log *g = &logs->v[i];
        if (!game_log_counts(g, o->policy))
            continue;
        enum color me = refined_side(g);
        str opponent = o->by_opponent ? g->side[!me].label : S("");
        struct row *r = row_of(rows, g->side[me].label, opponent, a);
        *vec_push(a, &r->games) = *g;
    }
}

str refined_csv(const struct game_logs *logs, const struct refined_opts *o, struct arena *a)
{
    struct rows rows = { 0 };
    struct buf b = { .arena = a };
    group(logs, o, a, &rows);
    for (size_t i = 0; i < rows.n; i++) {
        struct totals t;
        total_up(&rows.v[i].games, o, a, &t);
        rows.v[i].elo = refined_elo(&rows.v[i].games, o, a);
        rows.v[i].win_loss = mean_of(&t.score);
        rows.v[i].duration = mean_of(&t.duration);
    }
    if (rows.n > 1)
        qsort(rows.v, rows.n, sizeof rows.v[0], by_rank);
    buf_addf(&b, "Player,%s%s%s\n", o->by_opponent ? "white_opponent," : "", header_text,
             o->with_elo ? header_elo : "");
    for (size_t i = 0; i < rows.n; i++) {
        const struct row *r = &rows.v[i];
        struct totals t;
        if ((int64_t)r->games.n < o->min_games)
            continue;
        total_up(&r->games, o, a, &t);
        add_field(&b, r->player);
        if (o->by_opponent) {
            buf_add_char(&b, ',');
            add_field(&b, r->opponent);
        }
        put_plain(&b, &t);
        if (o->with_elo)
            put_elo(&b, r, &t);
        buf_add_char(&b, '\n');
    }
    return buf_str(&b);
}

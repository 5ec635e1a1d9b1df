// SPDX-License-Identifier: GPL-3.0-or-later
// tournament.c - what a tournament's games come to, as tables and as JSON.
#include "cli/tournament.h"
#include "cli/cli.h"
#include "version.h"

enum { CROSS_TABLE_MAX = 12 }; // players; more do not fit on a screen

static str label_of(const struct tournament *t, size_t player)
{
    return t->players[player]->players[WHITE].label;
}

void tournament_count(struct tournament *t)
{
    const struct play *p = t->play;
    t->n_results = t->n_broken = 0;
    for (size_t g = 0; g < t->n_played; g++) {
        size_t again = t->n_games + g;
        const struct game_log *log = p->played[again] ? &p->logs[again] : &p->logs[g];
        if (!game_log_counts(log, POLICY_STRICT)) {
            t->n_broken++;
            continue;
        }
        t->results[t->n_results++] =
            (struct match_result){ .pairing = match_pairing_at(&t->format, g),
                                   .winner = game_log_winner(log, POLICY_STRICT),
                                   .class = log->class };
    }
    match_standings(t->results, t->n_results, t->format.n_players, t->standings);
    for (size_t i = 0; t->has_sprt && i < t->format.n_players; i++) {
        const struct match_standing *s = &t->standings[i];
        if (s->player == 0)
            t->sprt_state = stats_sprt_look(&t->sprt, s->wins[WHITE] + s->wins[BLACK],
                                            s->draws[WHITE] + s->draws[BLACK],
                                            s->losses[WHITE] + s->losses[BLACK]);
    }
}

// ---- for people ----

static void add_elo(struct buf *b, const struct stats_elo *e)
{
    switch (e->kind) {
    case ELO_FOUND: buf_addf(b, "%+7.0f +- %-5.0f", e->rating, e->half_width); return;
    case ELO_NO_GAMES: buf_addf(b, "%7s %8s", "-", ""); return;
    case ELO_ALL_WON: buf_addf(b, "over %+6.0f     ", e->bound); return;
    case ELO_ALL_LOST: buf_addf(b, "under %+6.0f    ", e->bound); return;
    }
    BUG("no such kind");
}

static void add_standing(struct buf *b, size_t rank, str label, const struct match_standing *s)
{
    double n = s->n > 0 ? (double)s->n : 1;
    buf_addf(b, "%4zu %-34.*s %6lld %7.1f  %5.1f %% [%5.1f, %5.1f]  ", rank, STR(label),
             (long long)s->n, s->points, 100 * s->points / n, 100 * s->score.low,
             100 * s->score.high);
    add_elo(b, &s->elo);
    buf_addf(b, " %4lld-%lld-%-4lld %4lld-%lld-%-4lld %8lld %6lld\n", (long long)s->wins[WHITE],
             (long long)s->draws[WHITE], (long long)s->losses[WHITE], (long long)s->wins[BLACK],
             (long long)s->draws[BLACK], (long long)s->losses[BLACK], (long long)s->protocol_losses,
             (long long)s->model_errors);
}

static void add_cross_table(const struct tournament *t, struct buf *b)
{
    size_t n = t->format.n_players;
    if (n < 3 || n > CROSS_TABLE_MAX || t->format.gauntlet)
        return;
    buf_addf(b, "\n%-39s", "points against");
    for (size_t k = 0; k < n; k++)
        buf_addf(b, " %9zu", k + 1);
    for (size_t i = 0; i < n; i++) {
        buf_addf(b, "\n%4zu %-34.*s", i + 1, STR(label_of(t, t->standings[i].player)));
        for (size_t k = 0; k < n; k++) {
            int64_t games;
            double points = match_points_between(t->results, t->n_results, t->standings[i].player,
                                                 t->standings[k].player, &games);
            if (i == k || games == 0)
                buf_addf(b, " %9s", "-");
            else
                buf_addf(b, " %5.1f/%-3lld", points, (long long)games);
        }
    }
    buf_add_char(b, '\n');
}

str tournament_table(const struct tournament *t)
{
    struct buf b = { .arena = t->play->arena };
    buf_addf(&b, "%4s %-34s %6s %7s  %23s  %16s %11s %11s %8s %6s%s\n", "", "player", "games",
             "points", "score [95 %]", "Elo, 95 %", "White W-D-L", "Black W-D-L", "protocol",
             "errors", t->play->simulated ? "  SIMULATED" : "");
    for (size_t i = 0; i < t->format.n_players; i++)
        add_standing(&b, i + 1, label_of(t, t->standings[i].player), &t->standings[i]);
    return buf_str(&b);
}

static void add_sprt(const struct tournament *t, struct buf *b)
{
    const struct stats_sprt_state *s = &t->sprt_state;
    static const char *const verdicts[] = {
        [SPRT_GO_ON] = "undecided: more rounds are needed",
        [SPRT_ACCEPT_H0] = "the first player is not better (H0)",
        [SPRT_ACCEPT_H1] = "the first player is better (H1)",
    };
    buf_addf(b, "\nSPRT %g, %g Elo: LLR %.2f in [%.2f, %.2f]: %s\n", t->sprt.elo0, t->sprt.elo1,
             s->llr, s->lower, s->upper, verdicts[s->verdict]);
}

str tournament_report(const struct tournament *t)
{
    struct buf b = { .arena = t->play->arena };
    buf_add(&b, tournament_table(t));
    add_cross_table(t, &b);
    if (t->has_sprt)
        add_sprt(t, &b);
    buf_addf(&b, "\n%zu of %zu games, profile %.*s; %zu without a result (infrastructure)\n",
             t->n_played, t->n_games, STR(dialog_profile_name(t->play->rules.profile)),
             t->n_broken);
    buf_addf(&b, "logs: %.*s\n", STR(t->play->dir));
    return buf_str(&b);
}

// ---- JSON ----

static void put_format(const struct tournament *t, struct json_out *o)
{
    const struct match_format *f = &t->format;
    json_key_str(o, S("format"), f->gauntlet ? S("gauntlet") : S("round robin"));
    json_key_bool(o, S("both_colours"), !f->single);
    json_key_int(o, S("rounds"), f->n_rounds);
    json_key_int(o, S("batch"), t->batch);
    json_key_maybe(o, S("openings_sha256"), t->openings.sha256);
    if (t->has_sprt) {
        json_key_open(o, S("sprt"), '{');
        json_key_double(o, S("elo0"), t->sprt.elo0);
        json_key_double(o, S("elo1"), t->sprt.elo1);
        json_key_double(o, S("alpha"), t->sprt.alpha);
        json_key_double(o, S("beta"), t->sprt.beta);
        json_close(o, '}');
    }
    if (t->half_width > 0)
        json_key_double(o, S("half_width"), t->half_width);
}

str tournament_run_json(const struct tournament *t, bool with_place)
{
    const struct play *p = t->play;
    struct buf b = { .arena = p->arena };
    struct json_out o = { .b = &b, .indent = 4 };
    json_open(&o, '{');
    if (with_place) {
        json_key_str(&o, S("run"), p->key);
        json_key_str(&o, S("started"), p->stamp);
        json_key_str(&o, S("rookery_version"), S(ROOKERY_VERSION));
        json_key_str(&o, S("rookery_commit"), S(ROOKERY_COMMIT));
    }
    put_format(t, &o);
    json_key_open(&o, S("players"), '[');
    for (size_t i = 0; i < t->format.n_players; i++)
        play_put_player(t->players[i], &o, WHITE);
    json_close(&o, ']');
    play_put_config(p, &o);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

static void put_colour(struct json_out *o, str name, const struct match_standing *s, int c)
{
    json_key_open(o, name, '{');
    json_key_int(o, S("wins"), s->wins[c]);
    json_key_int(o, S("draws"), s->draws[c]);
    json_key_int(o, S("losses"), s->losses[c]);
    json_close(o, '}');
}

static void put_elo(struct json_out *o, const struct stats_elo *e)
{
    static const str kinds[] = { [ELO_FOUND] = T("found"),
                                 [ELO_NO_GAMES] = T("no games"),
                                 [ELO_ALL_WON] = T("all won"),
                                 [ELO_ALL_LOST] = T("all lost") };
    json_key_open(o, S("elo"), '{');
    json_key_str(o, S("kind"), kinds[e->kind]);
    if (e->kind == ELO_FOUND) {
        json_key_double(o, S("difference"), e->rating);
        json_key_double(o, S("half_width95"), e->half_width);
    } else if (e->kind != ELO_NO_GAMES) {
        json_key_double(o, S("bound95"), e->bound);
    }
    json_close(o, '}');
}

static void put_standing(const struct tournament *t, struct json_out *o,
                         const struct match_standing *s)
{
    const struct game_player *g = &t->players[s->player]->players[WHITE];
    json_open(o, '{');
    json_key_str(o, S("player"), g->label);
    json_key_bool(o, S("simulated"), g->model && g->model->simulated);
    json_key_int(o, S("games"), s->n);
    json_key_double(o, S("points"), s->points);
    json_key_double(o, S("score"), s->n > 0 ? s->points / (double)s->n : 0);
    json_key_double(o, S("low95"), s->score.low);
    json_key_double(o, S("high95"), s->score.high);
    put_elo(o, &s->elo);
    put_colour(o, S("white"), s, WHITE);
    put_colour(o, S("black"), s, BLACK);
    json_key_int(o, S("protocol_losses"), s->protocol_losses);
    json_key_int(o, S("model_errors"), s->model_errors);
    json_close(o, '}');
}

str tournament_json(const struct tournament *t)
{
    struct buf b = { .arena = t->play->arena };
    struct json_out o = { .b = &b, .indent = 2 };
    json_open(&o, '{');
    put_format(t, &o);
    json_key_int(&o, S("games_scheduled"), (int64_t)t->n_games);
    json_key_int(&o, S("games_played"), (int64_t)t->n_played);
    json_key_int(&o, S("games_without_result"), (int64_t)t->n_broken);
    if (t->has_sprt) {
        static const str verdicts[] = {
            [SPRT_GO_ON] = T("undecided"), [SPRT_ACCEPT_H0] = T("H0"), [SPRT_ACCEPT_H1] = T("H1")
        };
        json_key_double(&o, S("llr"), t->sprt_state.llr);
        json_key_str(&o, S("sprt_verdict"), verdicts[t->sprt_state.verdict]);
    }
    json_key_open(&o, S("standings"), '[');
    for (size_t i = 0; i < t->format.n_players; i++)
        put_standing(t, &o, &t->standings[i]);
    json_close(&o, ']');
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_tournament.c - round robin or gauntlet of any players: schedule, rounds until they suffice,
// the run's files. Games are those of `play`, over the same pump; whether to go on is asked only
// between rounds, so that nothing depends on which game ends first.
#include <stdlib.h>

#include "cli/run.h"
#include "cli/tournament.h"

enum {
    PLAYERS_MAX = POSITIONALS_MAX,
    ROUNDS_MAX = 100000,
    GAMES_MAX = 100000,
    TABLE_EVERY_US = 10000000
};

// ---- the players ----

// Two players of one label would be one in every table.
static void tell_apart(struct tournament *t, size_t i)
{
    struct game_player *g = &t->players[i]->players[WHITE];
    int64_t same = 1;
    for (size_t k = 0; k < i; k++)
        same += str_eq(t->specs[k], t->specs[i]) ||
                str_eq(t->players[k]->players[WHITE].label, g->label);
    if (same > 1)
        g->label = arena_printf(t->play->arena, "%.*s #%lld", STR(g->label), (long long)same);
}

// Each player is set up as White, and then once more as the same with the other colour.
static bool open_player(struct tournament *t, size_t i)
{
    struct play *p = t->play, *one = t->players[i] = NEW(p->arena, struct play);
    *one = (struct play){ .args = p->args, .arena = p->arena, .err = p->err, .prices = p->prices };
    one->rules = one->own_rules[WHITE] = p->rules;
    if (str_eq(t->specs[i], S("human")))
        return err_set(p->err, ERR_USAGE, "a person plays by `rookery play`");
    if (!play_open_player(one, WHITE, t->specs[i]))
        return false;
    tell_apart(t, i);
    one->players[BLACK] = one->players[WHITE];
    for (int c = WHITE; c <= BLACK; c++)
        one->players[c].name = play_player_name(one, &one->players[c], c);
    p->asks |= one->asks;
    return true;
}

static bool open_players(struct tournament *t)
{
    struct play *p = t->play;
    const struct args *args = p->args;
    t->format.n_players = args->n_positionals;
    if (t->format.n_players < 2 || t->format.n_players > PLAYERS_MAX)
        return err_set(
            p->err, ERR_USAGE,
            "name 2 to %d players: random, builtin[:...], uci:PATH[,...], moa:..., a model",
            PLAYERS_MAX);
    t->specs = args->positionals;
    t->players = NEW_ARRAY(p->arena, struct play *, t->format.n_players);
    for (size_t i = 0; i < t->format.n_players; i++)
        if (!open_player(t, i))
            return err_add(p->err, "player %zu", i + 1);
    return true;
}

// ---- the format ----

static bool read_openings(struct tournament *t)
{
    struct play *p = t->play;
    str path = opt_text(p->args, "openings", S("")), order = opt_text(p->args, "order", S("file"));
    if (path.len == 0)
        return true;
    if (opt_get(p->args, "fen")->set)
        return err_set(p->err, ERR_USAGE, "--fen and --openings exclude each other");
    if (!str_eq(order, S("file")) && !str_eq(order, S("random")))
        return err_set(p->err, ERR_USAGE, "--order must be file or random");
    if (!match_openings_load(path, (int)opt_int(p->args, "opening-plies", 16), p->arena,
                             &t->openings, p->err))
        return false;
    if (str_eq(order, S("random")))
        match_openings_shuffle(&t->openings, p->game.seed);
    t->format.n_openings = t->openings.n;
    return true;
}

// "ELO0,ELO1[,ALPHA,BETA]".
static bool read_sprt(struct tournament *t)
{
    struct err *err = t->play->err;
    str text = opt_text(t->play->args, "sprt", S(""));
    t->has_sprt = text.len > 0;
    t->sprt = (struct stats_sprt){ .alpha = 0.05, .beta = 0.05 };
    double *parts[] = { &t->sprt.elo0, &t->sprt.elo1, &t->sprt.alpha, &t->sprt.beta };
    size_t n = 0;
    for (; text.len > 0 && n < ARRAY_LEN(parts); n++)
        if (!str_to_double(str_cut(&text, ','), parts[n]))
            break;
    const struct stats_sprt *s = &t->sprt;
    bool good = text.len == 0 && (n == 2 || n == 4) && s->elo0 < s->elo1 && s->alpha > 0 &&
                s->alpha < 0.5 && s->beta > 0 && s->beta < 0.5;
    if (t->has_sprt && !good)
        return err_set(err, ERR_USAGE,
                       "--sprt must be ELO0,ELO1 with ELO0 < ELO1, and as one "
                       "wishes ,ALPHA,BETA between 0 and 0.5");
    if (t->has_sprt && t->format.n_players != 2)
        return err_set(err, ERR_USAGE, "--sprt compares two players, got %zu", t->format.n_players);
    return true;
}

static bool read_format(struct tournament *t)
{
    struct play *p = t->play;
    t->format.gauntlet = opt_flag(p->args, "gauntlet");
    t->format.single = opt_flag(p->args, "single");
    t->format.n_rounds = opt_int(p->args, "rounds", 1);
    t->batch = opt_int(p->args, "batch", 8);
    t->half_width = opt_real(p->args, "half-width", 0);
    t->n_games = (size_t)t->format.n_rounds * match_round_games(&t->format);
    if (t->n_games > GAMES_MAX)
        return err_set(p->err, ERR_LIMIT,
                       "%zu games, at most %d are played in one tournament; "
                       "lower --rounds",
                       t->n_games, GAMES_MAX);
    return read_openings(t) && read_sprt(t);
}

// ---- playing ----

static void fill(const struct play *p, size_t index, struct game_input *in)
{
    const struct tournament *t = p->schedule;
    struct match_pairing m = match_pairing_at(&t->format, index % t->n_games);
    in->players[WHITE] = t->players[m.white]->players[WHITE];
    in->players[BLACK] = t->players[m.black]->players[BLACK];
    in->rules[WHITE] = &t->players[m.white]->own_rules[WHITE];
    in->rules[BLACK] = &t->players[m.black]->own_rules[WHITE];
    if (t->openings.n > 0)
        in->start = t->openings.v[m.opening].at;
}

// A broken game is played again, once, under a number of its own; then it stays without a result.
static bool play_rounds(struct tournament *t, size_t from, size_t to)
{
    struct play *p = t->play;
    size_t *todo = NEW_ARRAY(p->arena, size_t, to - from + 1), n = 0, broken = 0;
    for (size_t g = from; g < to; g++)
        todo[n++] = g;
    if (!play_twice(p, todo, n))
        return false;
    for (size_t g = from; g < to; g++)
        if (!game_log_counts(&p->logs[g], POLICY_STRICT))
            todo[broken++] = t->n_games + g;
    return play_twice(p, todo, broken);
}

static bool is_decided(struct tournament *t)
{
    tournament_count(t);
    if (t->has_sprt && t->sprt_state.verdict != SPRT_GO_ON)
        return true;
    bool narrow = t->half_width > 0;
    for (size_t i = 0; i < t->format.n_players && narrow; i++)
        narrow = t->standings[i].elo.kind == ELO_FOUND &&
                 t->standings[i].elo.half_width <= t->half_width;
    return narrow;
}

static bool play_all(struct tournament *t)
{
    size_t of_round = match_round_games(&t->format);
    int64_t shown = clock_mono_us();
    play_make_room(t->play, t->n_games);
    while (t->n_played < t->n_games) {
        size_t to = t->n_played + (size_t)t->batch * of_round;
        to = to < t->n_games ? to : t->n_games;
        if (!play_rounds(t, t->n_played, to))
            return false;
        t->n_played = to;
        if (is_decided(t))
            return true;
        if (to < t->n_games && clock_mono_us() - shown > TABLE_EVERY_US) {
            fprintf(stderr, "%.*s", STR(tournament_table(t)));
            shown = clock_mono_us();
        }
    }
    return true;
}

static bool finish(struct tournament *t)
{
    struct play *p = t->play;
    struct game_logs logs = play_logs(p);
    str run = tournament_run_json(t, true), standings = tournament_json(t);
    if (!play_save(p, "_run.json", run) || !play_save(p, "standings.json", standings) ||
        !play_save_pgn(p, &logs) || !play_keep(p, standings))
        return false;
    return print_str(opt_flag(p->args, "json") ? standings : tournament_report(t), p->err);
}

static bool begin(struct tournament *t)
{
    struct play *p = t->play;
    bool simulated = p->asks;
    struct buf players = { .arena = p->arena };
    for (size_t i = 0; i < t->format.n_players; i++) {
        const struct game_player *g = &t->players[i]->players[WHITE];
        simulated &= !g->model || g->model->simulated;
        buf_addf(&players, "%s%.*s", i > 0 ? ", " : "", STR(g->label));
    }
    p->fill = fill;
    p->schedule = t;
    p->n_games = (int64_t)t->n_games;
    p->key = sha256_of(arena_printf(p->arena, "tournament %.*s %.*s",
                                    STR(opt_text(p->args, "run-name", S(""))),
                                    STR(tournament_run_json(t, false))),
                       p->arena);
    struct store_run row = { .command = S("tournament"),
                             .model = buf_str(&players),
                             .config = tournament_run_json(t, false),
                             .simulated = simulated };
    t->results = NEW_ARRAY(p->arena, struct match_result, t->n_games);
    t->standings = NEW_ARRAY(p->arena, struct match_standing, t->format.n_players);
    return play_begin(p, &row, S("tournament"));
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct tournament *t = NEW(a, struct tournament);
    struct play *p = t->play = NEW(a, struct play);
    *p = (struct play){ .args = args, .arena = a, .err = err };
    if (!play_read_rules(p) || !cli_prices(args, a, &p->prices, err) || !open_players(t) ||
        !read_format(t))
        return false;
    signals_install();
    bool ok = begin(t) && play_all(t) && finish(t);
    if (!ok && t->n_played > 0 && (err->code == ERR_BUDGET || err->code == ERR_INTERRUPTED)) {
        tournament_count(t);
        fprintf(stderr, "%.*s", STR(tournament_table(t)));
    }
    play_end(p);
    return ok;
}

static const struct opt opts[] = {
    { "rounds", OPT_INT, "N", "encounters of each pair; with --sprt or --half-width at most [1]", 1,
      ROUNDS_MAX },
    { "gauntlet", OPT_FLAG, NULL, "the first player against each other one only", 0, 0 },
    { "single", OPT_FLAG, NULL, "one game an encounter, not one with either colour", 0, 0 },
    { "openings", OPT_TEXT, "FILE", "where games begin: EPD or FEN lines, or PGN; one a round", 0,
      0 },
    { "opening-plies", OPT_INT, "N", "half-moves taken from each PGN game [16]", 0, 400 },
    { "order", OPT_TEXT, "HOW", "of openings: file, or random by the seed [file]", 0, 0 },
    { "sprt", OPT_TEXT, "E0,E1[,A,B]",
      "two players: end when the first is E0 or E1 Elo better [A = B = 0.05]", 0, 0 },
    { "half-width", OPT_REAL, "ELO", "end when every rating is known so well (95 %)", 1, 1000 },
    { "batch", OPT_INT, "N", "rounds between two looks at these [8]", 1, ROUNDS_MAX },
    { "seed", OPT_INT, "N", "decides every draw [1]", 0, 9e18 },
    { "json", OPT_FLAG, NULL, "print standings.json", 0, 0 },
    { "out", OPT_TEXT, "DIR", "where logs go [runs/tournament-...]", 0, 0 },
    { "store", OPT_TEXT, "FILE", "where every reply is kept [rookery.db]", 0, 0 },
    { "run-name", OPT_TEXT, "NAME", "tells apart runs that are otherwise the same", 0, 0 },
    { "again", OPT_FLAG, NULL, "start a new run even if this one is finished", 0, 0 },
    { 0 },
};

const struct command command_tournament = {
    .name = "tournament",
    .summary = "round robin or gauntlet of models, engines and the built-in players",
    .usage = "PLAYER PLAYER [PLAYER...] [--rounds N]",
    .about =
        "Players as in `play`. An encounter is two games from one opening, one with either "
        "colour.\n"
        "Each round has the next opening. Broken games are gone on with, then played again; what\n"
        "stays broken has no result. The same command goes on after a kill. Elo is against all\n"
        "opponents met, taken as one. Example:\n"
        "  rookery tournament sim/strong builtin:depth=1 random --rounds 5\n"
        "  rookery tournament uci:./new uci:./old --openings book.epd --rounds 1000 --sprt 0,5",
    .opts = { opts, opts_models, opts_dialog },
    .max_positionals = PLAYERS_MAX,
    .run = run,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_play.c - whole games. Those of two random players are not stored, their totals are what they
// are for.
#include <unistd.h>

#include "cli/play.h"
#include "match/match.h"
#include "stats/stats.h"

enum { REPORT_EVERY = 1000, LOGGED_GAMES_MAX = 100000 };

static void add_rate(struct buf *b, const char *name, int64_t k, int64_t n)
{
    struct interval i = stats_wilson(k, n);
    buf_addf(b, "  %-26s %8lld  %6.2f %%  [%.2f, %.2f]\n", name, (long long)k,
             n ? 100 * (double)k / (double)n : 0, 100 * i.low, 100 * i.high);
}

static str table(const struct match_totals *t, double seconds, struct arena *a)
{
    struct buf b = { .arena = a };
    buf_addf(&b, "random against random, %lld games\n  %-26s %8s  %8s  [95 %% interval]\n",
             (long long)t->n, "", "games", "rate");
    add_rate(&b, "White wins", t->wins[WHITE], t->n);
    add_rate(&b, "Black wins", t->wins[BLACK], t->n);
    add_rate(&b, "draws", t->draws, t->n);
    for (size_t i = 0; i < t->n_order; i++)
        add_rate(&b, arena_printf(a, "- %.*s", STR(match_end_name(t->order[i]))).data,
                 t->ends[t->order[i]], t->n);
    buf_addf(&b, "  plies: mean %.2f, deviation %.2f\n", match_mean(&t->length, t->n),
             match_deviation(&t->length, t->n));
    buf_addf(&b, "  material: White %.2f, Black %.2f\n", match_mean(&t->material[WHITE], t->n),
             match_mean(&t->material[BLACK], t->n));
    if (seconds > 0)
        buf_addf(&b, "  %.0f games/s\n", (double)t->n / seconds);
    return buf_str(&b);
}

// Games of two random players need no dialog, no store and no log.
static bool play_random(const struct play *p, struct arena *a, struct err *err)
{
    struct match_totals totals = { 0 };
    signals_install();
    int64_t started = clock_mono_us();
    for (int64_t i = 0; i < p->n_games; i++) {
        struct match_game game;
        if (i % REPORT_EVERY == 0 && signals_seen)
            return err_set(err, ERR_INTERRUPTED, "interrupted after %lld games", (long long)i);
        match_random_game(p->game.seed, (uint64_t)i, p->rules.max_plies, &game);
        match_count(&totals, &game);
    }
    double seconds = (double)(clock_mono_us() - started) / 1e6;
    struct match_names names = { .white = S("Random_Player_White"),
                                 .black = S("Random_Player_Black") };
    return print_str(opt_flag(p->args, "json") ? match_totals_json(&totals, &names, a)
                                               : table(&totals, seconds, a),
                     err);
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    if (opt_flag(args, "parse-reply"))
        return jsonl_run(stdin, parse_reply, err);
    struct play *p = NEW(a, struct play);
    *p = (struct play){ .args = args, .arena = a, .err = err };
    if (!play_configure(p))
        return false;
    bool random =
        p->players[WHITE].kind == PLAYER_RANDOM && p->players[BLACK].kind == PLAYER_RANDOM;
    bool plain = !opt_get(args, "fen")->set && !opt_get(args, "out")->set && p->rules.options == 0;
    if (random && plain && !opt_flag(args, "logs"))
        return play_random(p, a, err);
    return p->n_games <= LOGGED_GAMES_MAX
               ? play_games(p)
               : err_set(err, ERR_USAGE, "--games: at most %d where games are logged",
                         LOGGED_GAMES_MAX);
}

static const struct opt opts[] = {
    { "games", OPT_INT, "N", "how many games [1]", 1, 100000000 },
    { "seed", OPT_INT, "N", "decides every draw [1]", 0, 9e18 },
    { "json", OPT_FLAG, NULL, "print the aggregate object", 0, 0 },
    { "logs", OPT_FLAG, NULL, "write the logs of random games too", 0, 0 },
    { "out", OPT_TEXT, "DIR", "where logs go [runs/play-...]", 0, 0 },
    { "store", OPT_TEXT, "FILE", "where every reply is kept [rookery.db]", 0, 0 },
    { "run-name", OPT_TEXT, "NAME", "tells apart runs that are otherwise the same", 0, 0 },
    { "again", OPT_FLAG, NULL, "start a new run even if this one is finished", 0, 0 },
    { "parse-reply", OPT_FLAG, NULL, "read replies from standard input, JSON Lines, and judge them",
      0, 0 },
    { 0 },
};

const struct command command_play = {
    .name = "play",
    .summary = "LLM Chess games between random players, models and a small engine",
    .usage = "[--white PLAYER] [--black PLAYER] [--games N]",
    .about =
        "A model plays by dialog: it asks for the board or the legal moves and makes a move; "
        "three\n"
        "mistakes in one ply lose. Chess, protocol and infrastructure results are kept apart. "
        "Logs\n"
        "have the original's names: a JSON a game, _run.json, _aggregate_results.json; and beside\n"
        "them all that was said (.turns.jsonl) and games.pgn. The same command goes on after a\n"
        "crash. Two random players: totals alone, unless --logs or --out.\n"
        "--rules takes: reflection, swallow (a reply to the reflection prompt is not read for a\n"
        "move), full-turns (the tenth reply counts), no-fen, show-board, show-list, no-list,\n"
        "previous-moves, auto-queen, claims (threefold, fifty moves).\n"
        "--mode takes: baseline, always-board, always-legal-moves, only-make-move, ascii-board,\n"
        "fen-board, no-legal-moves, previous-moves, previous-only-make-move; --rules add to it.\n"
        "human is you, at this terminal. Behind a model stand settings of its own: temperature,\n"
        "max-tokens, effort, budget, retries, timeout, base-url, think, board, view. moa:A;B;C:\n"
        "B and C answer first, A makes of it what counts; alone: A at temperatures 0 and 1.\n"
        "builtin is a small engine of ours; handicap: its chance of a random move (0.7: about as\n"
        "weak as Dragon 1). uci:PATH is any engine; behind it LIMIT, forgets, elo=N, NAME=VALUE.\n"
        "--parse-reply shows how a reply is read: a line is {\"profile\", \"fen\", \"reply\"}, and "
        "as\n"
        "one wishes \"think\", \"reflection\", \"after_reflection\", \"tool_call\".\n"
        "Example: rookery play --white random --black sim/strong --games 10\n"
        "Example: rookery play --white random --black builtin:depth=1,handicap=0.3 --games 100\n"
        "Example: rookery play --white human --black builtin:depth=2\n"
        "Example: rookery play --white sim/strong,board=fen --black sim/modest --swap --games 4\n"
        "Example: rookery play --white sim/strong \\\n"
        "             --black \"uci:/usr/games/stockfish,nodes=1000,Skill Level=1\"",
    .opts = { opts, opts_players, opts_models, opts_dialog },
    .run = run,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_play.c - whole games. This version has random players; their games are not stored, their
// totals are what they are for.
#include <unistd.h>

#include "cli/play.h"
#include "match/match.h"
#include "stats/stats.h"

enum { REPORT_EVERY = 1000 };

static bool is_random(const struct args *args, const char *side, struct err *err)
{
    str name = opt_text(args, side, S("random"));
    return str_eq(name, S("random")) ||
           err_set(err, ERR_USAGE,
                   "--%s: this version plays random games only, got \"%.*s\"; leave it out or "
                   "say random",
                   side, STR(name));
}

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

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    if (opt_flag(args, "parse-reply"))
        return jsonl_run(stdin, parse_reply, err);
    struct match_totals totals = { 0 };
    int64_t n = opt_int(args, "games", 1);
    uint64_t seed = (uint64_t)opt_int(args, "seed", 1);
    int max_plies = (int)opt_int(args, "max-plies", MATCH_PLIES_DEFAULT);
    if (!is_random(args, "white", err) || !is_random(args, "black", err))
        return false;
    signals_install();
    int64_t started = clock_mono_us();
    for (int64_t i = 0; i < n; i++) {
        struct match_game game;
        if (i % REPORT_EVERY == 0 && signals_seen)
            return err_set(err, ERR_INTERRUPTED, "interrupted after %lld games", (long long)i);
        match_random_game(seed, (uint64_t)i, max_plies, &game);
        match_count(&totals, &game);
    }
    double seconds = (double)(clock_mono_us() - started) / 1e6;
    struct match_names names = { .white = S("Random_Player_White"),
                                 .black = S("Random_Player_Black") };
    return print_str(opt_flag(args, "json") ? match_totals_json(&totals, &names, a)
                                            : table(&totals, seconds, a),
                     err);
}

static const struct opt opts[] = {
    { "white", OPT_TEXT, "PLAYER", "who plays White: random [random]", 0, 0 },
    { "black", OPT_TEXT, "PLAYER", "who plays Black: random [random]", 0, 0 },
    { "games", OPT_INT, "N", "how many games [1]", 1, 100000000 },
    { "seed", OPT_INT, "N", "decides every draw [1]", 0, 9e18 },
    { "max-plies", OPT_INT, "N", "where a game is broken off [200]", 1, 1000 },
    { "json", OPT_FLAG, NULL, "print the aggregate object", 0, 0 },
    { "parse-reply", OPT_FLAG, NULL, "read replies from standard input, JSON Lines, and judge them",
      0, 0 },
    { 0 },
};

const struct command command_play = {
    .name = "play",
    .summary = "whole games and their totals",
    .usage = "[--games N] [--seed N]",
    .about =
        "Games of two players who choose uniformly among the legal moves, under the automatic\n"
        "rules: mate, stalemate, insufficient material, seventy-five moves, fivefold\n"
        "repetition, and a cap on plies.\n"
        "--parse-reply shows how a reply of a dialog is read: a line is {\"profile\", \"fen\",\n"
        "\"reply\"}, and as one wishes \"think\", \"reflection\", \"after_reflection\", "
        "\"tool_call\".\n"
        "Example: rookery play --white random --black random --games 10000 --seed 1",
    .opts = { opts },
    .run = run,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_games.c - logs of LLM Chess games, this program's or the original's, of any age: read from
// files and directories, marked where they cannot be trusted, and made into tables.
#include "cli/game_import.h"
#include "cli/run.h"

// ---- output ----

static str doubts_jsonl(const struct game_logs *logs, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < logs->n; i++) {
        const struct game_log *g = &logs->v[i];
        struct json_out o = { .b = &b };
        json_open(&o, '{');
        json_key_str(&o, S("file"), g->file);
        json_key_str(&o, S("white"), g->side[WHITE].label);
        json_key_str(&o, S("black"), g->side[BLACK].label);
        json_key_str(&o, S("reason"), g->reason_text);
        json_key_int(&o, S("number_of_moves"), g->plies);
        json_key_str(&o, S("outcome_class"), game_class_name(g->class));
        json_key_str(&o, S("chess_result"), game_log_chess(g));
        json_key_str(&o, S("protocol_result"), game_log_protocol(g, a));
        json_key_str(&o, S("infrastructure_result"), game_log_infra(g, a));
        json_key_bool(&o, S("counts"), game_log_counts(g, POLICY_STRICT));
        json_key_maybe(&o, S("doubts"), log_doubts_text(g->doubts, a));
        json_close(&o, '}');
        buf_add_char(&b, '\n');
    }
    return buf_str(&b);
}

static str summary(const struct game_logs *logs, size_t n_skipped, struct arena *a)
{
    struct buf b = { .arena = a };
    size_t counts = 0, doubtful = 0, classes[GAME_CLASSES] = { 0 };
    for (size_t i = 0; i < logs->n; i++) {
        counts += game_log_counts(&logs->v[i], POLICY_STRICT);
        doubtful += logs->v[i].doubts != 0;
        classes[logs->v[i].class]++;
    }
    buf_addf(&b, "%zu logs, %zu of them count, %zu in doubt; %zu files are no logs\n", logs->n,
             counts, doubtful, n_skipped);
    for (int c = 0; c < GAME_CLASSES; c++)
        buf_addf(&b, "  %-14.*s %zu\n", STR(game_class_name((enum game_class)c)), classes[c]);
    for (unsigned d = DOUBT_MISTAKES; d <= DOUBT_WINNER; d <<= 1) {
        size_t n = 0;
        for (size_t i = 0; i < logs->n; i++)
            n += (logs->v[i].doubts & d) != 0;
        if (n > 0)
            buf_addf(&b, "  %zu logs: %.*s\n", n, STR(log_doubts_text(d, a)));
    }
    return buf_str(&b);
}

// "IN,OUT": dollars per million tokens.
static bool read_price(const struct args *args, struct refined_opts *o, struct err *err)
{
    str out = opt_text(args, "price", S("")), in = str_cut(&out, ',');
    if (!opt_get(args, "price")->set)
        return true;
    o->price.known = str_to_double(in, &o->price.input) && str_to_double(out, &o->price.output);
    return o->price.known ||
           err_set(err, ERR_USAGE, "--price must be IN,OUT in dollars per million tokens");
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct game_logs logs = { 0 };
    size_t n_skipped = 0;
    str as = opt_text(args, "as", S("summary"));
    struct prices prices;
    struct refined_opts o = { .min_games = opt_int(args, "min-games", 1), .prices = &prices };
    if (!games_read_policy(args, &o.policy, err) || !read_price(args, &o, err) ||
        !cli_prices(args, a, &prices, err) || !games_read_anchors(args, a, &o, err) ||
        !games_import(args, a, &logs, &n_skipped, err))
        return false;
    o.with_elo = str_eq(as, S("elo"));
    o.by_opponent = str_eq(as, S("opponents"));
    if (str_eq(as, S("refined")) || o.with_elo || o.by_opponent)
        return print_str(refined_csv(&logs, &o, a), err);
    if (str_eq(as, S("aggregate")))
        return print_str(game_logs_aggregate(&logs, (str){ 0 }, a), err);
    if (str_eq(as, S("jsonl")))
        return print_str(doubts_jsonl(&logs, a), err);
    return str_eq(as, S("summary"))
               ? print_str(summary(&logs, n_skipped, a), err)
               : err_set(err, ERR_USAGE,
                         "--as must be summary, refined, elo, opponents, aggregate or jsonl");
}

static const struct opt opts[] = {
    { "as", OPT_TEXT, "WHAT", "summary, refined, elo, opponents, aggregate, jsonl [summary]", 0,
      0 },
    { "policy", OPT_TEXT, "NAME",
      "a model's error is a loss (strict) or left out (lenient) [strict]", 0, 0 },
    { "price", OPT_TEXT, "IN,OUT", "dollars per million tokens, of all models", 0, 0 },
    { "prices", OPT_TEXT, "FILE", "the same by model, before the built-in ones", 0, 0 },
    { "anchor", OPT_TEXT, "LIST", "ratings of further opponents: LABEL=ELO,...", 0, 0 },
    { "min-games", OPT_INT, "N", "leave out players with fewer games [1]", 1, 1e9 },
    { 0 },
};

const struct command command_games = {
    .name = "games",
    .summary = "tables of LLM Chess game logs, this program's or the original's",
    .usage = "LOG|DIR... [--as WHAT]",
    .about =
        "Reads game logs of any age; what an old log tells wrongly is marked by its date and left\n"
        "out, a file that is no log is named. refined: the original's refined CSV; elo: the same\n"
        "with ratings; opponents: a row a player and opponent; aggregate: the aggregate object;\n"
        "jsonl: a line a log, with its chess, protocol and infrastructure results.\n"
        "Example: rookery games runs/play-1a2b3c4d --as elo",
    .opts = { opts },
    .max_positionals = POSITIONALS_MAX,
    .run = run,
};

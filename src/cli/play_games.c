// SPDX-License-Identifier: GPL-3.0-or-later
// play_games.c - plays the games of a run over the pump, writes their logs as they end, and the
// run's files and report when all have. A game that an endpoint or engine broke is gone on with
// once more; if it stays broken another game is played in its place, up to twice as many games as
// were asked for (LLM Chess specification 2.3).
#include <unistd.h>

#include "cli/play.h"
#include "cli/run.h"
#include "stats/stats.h"

enum { SLOTS = 16, LINE_EVERY_US = 10000000 };

struct round { // games that are played together
    struct play *play;
    const size_t *todo;
    size_t n, next;
    bool last; // what fails now has failed
};

static bool is_exchanged(const struct play *p, size_t index)
{
    return p->swaps && index % 2 == 1;
}

static struct game_input *input_of(struct play *p, size_t index)
{
    struct game_input *in = NEW(p->arena, struct game_input);
    *in = p->game;
    in->index = index;
    for (int c = WHITE; is_exchanged(p, index) && c <= BLACK; c++) {
        in->players[c] = p->exchanged[c];
        in->rules[c] = &p->own_rules[!c];
    }
    if (p->fill)
        p->fill(p, index, in);
    return in;
}

static bool next_game(void *ctx, struct job *job, size_t *index)
{
    struct round *r = ctx;
    struct play *p = r->play;
    if (r->next == r->n)
        return false;
    *index = r->todo[r->next++];
    const struct game_input *in = input_of(p, *index);
    *job = (struct job){ .kind = &episode_game,
                         .input = in,
                         .input_id = arena_printf(p->arena, "game/%zu", *index),
                         .model = in->players[WHITE].model ? in->players[WHITE].model
                                                           : in->players[BLACK].model };
    return true;
}

static str log_path(const struct play *p, size_t index, const char *ending, struct arena *a)
{
    return path_join(p->dir, arena_printf(a, "%.*s-%zu%s", STR(p->stamp), index, ending), a);
}

// Writes what a game leaves; a failure is the run's, told when the pump returns.
static void save_game(struct play *p, size_t index, const struct game_record *record)
{
    struct arena scratch = { 0 };
    str turns = game_turns_jsonl(record, &scratch);
    if (!file_save(log_path(p, index, ".json", &scratch), game_log_json(&p->logs[index], &scratch),
                   p->err) ||
        (turns.len > 0 && !file_save(log_path(p, index, ".turns.jsonl", &scratch), turns, p->err)))
        log_line(LOG_WARN, "%s", p->err->text);
    arena_free(&scratch);
}

// A person sees at once how the game ended.
static void tell_person(const struct play *p, const struct game_log *g)
{
    str result = game_log_chess(g);
    if (p->has_person)
        fprintf(stderr, "\nGame %lld: %.*s, %.*s\n", (long long)g->index + 1, STR(result),
                STR(g->reason_text));
}

static void game_done(void *ctx, size_t index, const struct outcome *out)
{
    struct round *r = ctx;
    struct play *p = r->play;
    const struct game_record *record = out->record;
    if (out->status == OUTCOME_FAILED && !r->last)
        return;
    struct log_source from = {
        .time_started =
            arena_printf(p->arena, "%.4s.%.2s.%.2s_%.2s:%.2s", p->stamp.data, p->stamp.data + 4,
                         p->stamp.data + 6, p->stamp.data + 9, p->stamp.data + 11),
        .run = p->key,
        .profile = dialog_profile_name(p->rules.profile),
        .prompts = p->rules.prompts->name,
        .input = input_of(p, index),
    };
    game_log_make(record, &from, p->arena, &p->logs[index]);
    p->played[index] = true;
    tell_person(p, &p->logs[index]);
    p->n_done++;
    for (int c = WHITE; c <= BLACK; c++)
        p->simulated |= record->side[c].used.n_simulated > 0;
    p->n_valid += out->status != OUTCOME_FAILED;
    if (p->dir.len > 0)
        save_game(p, index, record);
}

// ---- rounds ----

static bool play_round(struct play *p, const size_t *todo, size_t n, bool last)
{
    struct round r = { .play = p, .todo = todo, .n = n, .last = last };
    struct feed feed = { .next = next_game,
                         .done = game_done,
                         .ctx = &r,
                         .accept_failures = p->row.finished,
                         .keep_failures = last };
    return n == 0 || (pump_run(p->pump, 0, &feed, p->err) &&
                      (p->err->code == ERR_NONE || err_add(p->err, "writing the logs")));
}

bool play_twice(struct play *p, size_t *todo, size_t n)
{
    size_t missing = 0;
    if (!play_round(p, todo, n, false))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!p->played[todo[i]])
            todo[missing++] = todo[i];
    if (missing > 0)
        log_line(LOG_WARN, "%zu of %zu games were broken off; going on with them once more",
                 missing, n);
    return play_round(p, todo, missing, true);
}

static bool play_more(struct play *p, size_t n)
{
    size_t *todo = NEW_ARRAY(p->arena, size_t, n + 1);
    for (size_t i = 0; i < n; i++)
        todo[i] = p->n_started + i;
    p->n_started += n;
    return play_twice(p, todo, n);
}

void play_make_room(struct play *p, size_t n_games)
{
    p->cap = n_games * ATTEMPTS_FACTOR;
    p->logs = NEW_ARRAY(p->arena, struct game_log, p->cap);
    p->played = NEW_ARRAY(p->arena, bool, p->cap);
}

static bool play_all(struct play *p)
{
    size_t wanted = (size_t)p->n_games;
    play_make_room(p, wanted);
    while (p->n_valid < wanted && p->n_started < p->cap) {
        size_t missing = wanted - p->n_valid, room = p->cap - p->n_started;
        if (!play_more(p, missing < room ? missing : room))
            return false;
    }
    return true;
}

// ---- the report ----

struct game_logs play_logs(const struct play *p)
{
    struct game_logs logs = { 0 };
    for (size_t i = 0; i < p->cap; i++)
        if (p->played[i])
            *vec_push(p->arena, &logs) = p->logs[i];
    return logs;
}

// The colour that a player (0: the one named for White) had in a game.
static int color_in(const struct play *p, const struct game_log *g, int player)
{
    return is_exchanged(p, (size_t)g->index) ? !player : player;
}

static void add_side(const struct play *p, struct buf *b, const struct game_logs *logs, int player)
{
    int64_t actions = 0, moves = 0, tok = 0, plies = 0;
    double seconds = 0, cost = 0;
    for (size_t i = 0; i < logs->n; i++) {
        const struct log_side *s = &logs->v[i].side[color_in(p, &logs->v[i], player)];
        actions += s->wrong_actions;
        moves += s->wrong_moves;
        tok += s->completion_tok;
        plies += s->moves - s->wrong_moves;
        seconds += s->seconds;
        cost += s->cost_usd;
    }
    double own = plies > 0 ? (double)plies : 1;
    str who = p->swaps ? p->players[player].label : player == WHITE ? S("White") : S("Black");
    buf_addf(
        b,
        "  %.*s: %lld wrong actions, %lld wrong moves (%.2f in 100 own plies), %.1f tokens and "
        "%.2f s a ply, %.6f US$\n",
        STR(who), (long long)actions, (long long)moves, 100 * (double)(actions + moves) / own,
        (double)tok / own, seconds / own, cost);
}

// A player's results with either colour, where colours alternate.
static void add_score(const struct play *p, struct buf *b, const struct game_logs *logs)
{
    int64_t count[2][3] = { 0 }, n = 0; // by the first player's colour: won, drawn, lost
    for (size_t i = 0; i < logs->n; i++) {
        const struct game_log *g = &logs->v[i];
        int winner = game_log_winner(g, POLICY_STRICT), mine = color_in(p, g, WHITE);
        if (!game_log_counts(g, POLICY_STRICT))
            continue;
        count[mine][winner < 0 ? 1 : winner == mine ? 0 : 2]++;
        n++;
    }
    double points = 0;
    for (int c = WHITE; c <= BLACK; c++)
        points += (double)count[c][0] + (double)count[c][1] / 2;
    double score = n > 0 ? points / (double)n : 0;
    struct interval w = stats_wilson_rate(score, n);
    buf_addf(b, "  %.*s: %.1f %% [%.1f, %.1f] of the points of %lld games",
             STR(p->players[WHITE].label), 100 * score, 100 * w.low, 100 * w.high, (long long)n);
    for (int c = WHITE; c <= BLACK; c++)
        buf_addf(b, "; as %s +%lld =%lld -%lld", c == WHITE ? "White" : "Black",
                 (long long)count[c][0], (long long)count[c][1], (long long)count[c][2]);
    buf_add_char(b, '\n');
}

// The three results side by side: chess, protocol, infrastructure.
static void add_results(struct buf *b, const struct game_logs *logs)
{
    static const char *const names[] = { "White wins", "Black wins", "draws", "no result" };
    int64_t count[4][GAME_CLASSES] = { 0 }, n = 0;
    for (size_t i = 0; i < logs->n; i++) {
        const struct game_log *g = &logs->v[i];
        int winner = game_log_winner(g, POLICY_STRICT);
        bool counts = game_log_counts(g, POLICY_STRICT);
        n += counts;
        count[!counts ? 3 : winner >= 0 ? winner : 2][g->class]++;
    }
    buf_addf(b, "  %-12s %7s %7s %9s %9s %12s %15s  rate of what counts [95 %%]\n", "", "games",
             "chess", "max moves", "protocol", "model error", "infrastructure");
    for (int row = 0; row < 4; row++) {
        const int64_t *v = count[row];
        int64_t sum = 0;
        for (int k = 0; k < GAME_CLASSES; k++)
            sum += v[k];
        buf_addf(b, "  %-12s %7lld %7lld %9lld %9lld %12lld %15lld", names[row], (long long)sum,
                 (long long)v[CLASS_CHESS], (long long)v[CLASS_MAX_MOVES],
                 (long long)v[CLASS_PROTOCOL_LOSS], (long long)v[CLASS_MODEL_ERROR],
                 (long long)(v[CLASS_INFRA_ERROR] + v[CLASS_HARNESS_ERROR]));
        struct interval w = stats_wilson(sum, n);
        if (row < 3 && n > 0)
            buf_addf(b, "  %.2f %% [%.2f, %.2f]", 100 * (double)sum / (double)n, 100 * w.low,
                     100 * w.high);
        buf_add_char(b, '\n');
    }
}

static str report(const struct play *p, const struct game_logs *logs)
{
    struct buf b = { .arena = p->arena };
    buf_addf(&b, "%.*s%s against %.*s%s, %zu games, profile %.*s%s\n", STR(p->players[WHITE].label),
             p->swaps ? "" : " (White)", STR(p->players[BLACK].label),
             p->swaps ? ", colours in turn" : " (Black)", logs->n,
             STR(dialog_profile_name(p->rules.profile)), p->simulated ? "  SIMULATED" : "");
    add_results(&b, logs);
    for (int c = WHITE; c <= BLACK; c++)
        if (p->players[c].kind == PLAYER_MODEL)
            add_side(p, &b, logs, c);
    if (p->swaps)
        add_score(p, &b, logs);
    if (p->dir.len > 0)
        buf_addf(&b, "  logs: %.*s\n", STR(p->dir));
    return buf_str(&b);
}

bool play_save(const struct play *p, const char *name, str text)
{
    return file_save(path_join(p->dir, str_from(name), p->arena), text, p->err);
}

bool play_save_pgn(const struct play *p, const struct game_logs *logs)
{
    struct buf pgn = { .arena = p->arena, .max = (size_t)1 << 30 };
    for (size_t i = 0; i < logs->n; i++)
        buf_add(&pgn, logs->v[i].pgn);
    return play_save(p, "games.pgn", buf_str(&pgn));
}

bool play_keep(struct play *p, str aggregate)
{
    struct result_set none = { .samples = 1 };
    p->row.simulated = p->simulated;
    p->row.summary = stored_result_write(aggregate, &none, p->arena);
    return p->row.finished || store_run_finish(p->store, &p->row, clock_unix_ms(), p->err);
}

static bool finish(struct play *p)
{
    struct game_logs logs = play_logs(p);
    str run = play_run_json(p), aggregate = game_logs_aggregate(&logs, run, p->arena);
    if (!play_save(p, "_run.json", arena_printf(p->arena, "%.*s\n", STR(run))) ||
        !play_save(p, "_aggregate_results.json", aggregate) || !play_save_pgn(p, &logs) ||
        !play_keep(p, aggregate))
        return false;
    return print_str(opt_flag(p->args, "json") ? aggregate : report(p, &logs), p->err);
}

// ---- beginning ----

static void show_progress(void *ctx, const struct pump_stats *stats)
{
    struct play *p = ctx;
    int64_t now = clock_mono_us();
    if (now - p->reported_us < LINE_EVERY_US)
        return;
    p->reported_us = now;
    fprintf(stderr, "rookery: %lld of %lld games, %lld calls, %.4f US$\n", (long long)p->n_done,
            (long long)p->n_games, (long long)(stats->n_calls + stats->n_replayed),
            (double)stats->spent_nusd / 1e9);
}

static void show_person(void *ctx, str text)
{
    (void)ctx;
    fprintf(stderr, "%.*s", STR(text));
    fflush(stderr);
}

static bool begin_row(struct play *p)
{
    const struct args *args = p->args;
    str usual = p->asks ? S("rookery.db") : S(":memory:");
    if (!store_open(opt_text(args, "store", usual), &(struct store_opts){ 0 }, &p->store, p->err))
        return false;
    struct store_begin how = { .again = opt_flag(args, "again"), .now_unix_ms = clock_unix_ms() };
    return store_run_begin(p->store, &how, p->arena, &p->row, p->err);
}

// "20260419T115500" of the moment the run began, so that a repeated command writes the same files.
static str stamp_of(int64_t unix_ms, struct arena *a)
{
    str utc = clock_format_utc(unix_ms, a);
    struct buf b = { .arena = a };
    for (size_t i = 0; i < utc.len; i++)
        if (ascii_is_digit(utc.data[i]) || utc.data[i] == 'T')
            buf_add_char(&b, utc.data[i]);
    return buf_str(&b);
}

bool play_begin(struct play *p, const struct store_run *row, str out)
{
    const struct args *args = p->args;
    p->row = *row;
    p->row.key = p->key;
    p->row.name = opt_text(args, "run-name", S(""));
    p->row.method = dialog_profile_name(p->rules.profile);
    if (!begin_row(p))
        return false;
    p->stamp = stamp_of(p->row.started_unix_ms, p->arena);
    p->dir = opt_text(args, "out", S(""));
    if (p->dir.len == 0)
        p->dir = arena_printf(p->arena, "runs/%.*s-%.8s%s%.0lld", STR(out), p->key.data,
                              p->row.ordinal ? "-" : "", (long long)p->row.ordinal);
    struct pump_opts opts = { .run = p->row.id,
                              .spent_nusd = p->row.spent_nusd,
                              .max_cost_nusd = (int64_t)(opt_real(args, "max-cost", 0) * 1e9),
                              .max_day_nusd =
                                  (int64_t)(opt_real(args, "max-cost-per-day", 0) * 1e9),
                              .slots = (int)opt_int(args, "concurrency", SLOTS),
                              .jitter_seed = (uint64_t)clock_mono_us(),
                              .interrupted = &signals_seen,
                              .progress = show_progress,
                              .progress_context = p };
    static const struct pump_person person = { .fd = STDIN_FILENO, .show = show_person };
    if (p->has_person) { // one game at a time, and nothing between the board and the answer
        opts.person = &person;
        opts.slots = 1;
        opts.progress = NULL;
    }
    p->reported_us = clock_mono_us();
    p->pump = pump_new(&opts, p->store, p->err);
    return p->pump && dir_make(p->dir, p->err);
}

void play_end(struct play *p)
{
    pump_free(p->pump);
    store_close(p->store);
}

static bool begin(struct play *p)
{
    bool simulated = true;
    for (int c = WHITE; c <= BLACK; c++)
        simulated &= !p->players[c].model || p->players[c].model->simulated;
    p->key = play_key(p);
    struct store_run row = { .command = S("play"),
                             .model =
                                 arena_printf(p->arena, "%.*s v %.*s", STR(p->players[WHITE].label),
                                              STR(p->players[BLACK].label)),
                             .config = play_run_json(p),
                             .simulated = p->asks && simulated };
    return play_begin(p, &row, S("play"));
}

bool play_games(struct play *p)
{
    signals_install();
    bool ok = begin(p) && play_all(p) && finish(p);
    if (!ok && p->n_done > 0 && (p->err->code == ERR_BUDGET || p->err->code == ERR_INTERRUPTED)) {
        struct game_logs logs = play_logs(p);
        fprintf(stderr, "so far: %zu of %lld games\n", logs.n, (long long)p->n_games);
    }
    play_end(p);
    return ok;
}

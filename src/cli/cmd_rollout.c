// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_rollout.c - ten moves of a model against an engine from each starting condition, and what the
// moves cost: first the games, then one search job for each position in which the model moved.
#include "cli/engines.h"
#include "cli/run.h"

enum { MOVES_DEFAULT = 10, OPENINGS_MAX_BYTES = 1 << 20 };

struct rollout { // of one command, beside its run
    struct run *run;
    struct engine judge, other;
    const struct engine *opponent; // the judge, unless it was given settings of its own
    struct engine_limit judge_limit, reply_limit;
    struct openings openings;
    int n_seeds, max_moves;
    struct versus_case *cases;
    size_t n_cases;
    struct versus_summary summary;
    int64_t begun_us;
};

// ---- playing ----

static bool play_all(struct rollout *g)
{
    struct run *r = g->run;
    size_t n = g->openings.n * (size_t)g->n_seeds;
    struct job *jobs = NEW_ARRAY(r->arena, struct job, n);
    struct versus_input *inputs = NEW_ARRAY(r->arena, struct versus_input, g->openings.n);
    struct sampling *sampling = NEW_ARRAY(r->arena, struct sampling, (size_t)g->n_seeds);
    const struct outcome *outcomes;
    g->cases = NEW_ARRAY(r->arena, struct versus_case, n);
    for (size_t i = 0; i < n; i++) {
        size_t k = i % g->openings.n, seed = i / g->openings.n;
        sampling[seed].sample = (int64_t)seed;
        inputs[k] = (struct versus_input){ .opening = &g->openings.v[k],
                                           .engine = g->opponent,
                                           .limit = g->reply_limit,
                                           .max_moves = g->max_moves };
        jobs[i] = (struct job){ .kind = &episode_versus,
                                .program = r->program,
                                .input = &inputs[k],
                                .input_id = arena_printf(r->arena, "opening/%zu", k),
                                .model = &r->task_model,
                                .sampling = &sampling[seed] };
        g->cases[i] = (struct versus_case){ .opening = &g->openings.v[k], .seed = (int)seed };
    }
    r->phase = "playing";
    g->begun_us = clock_mono_us();
    r->no_rate = true;
    if (!lab_evaluate(&r->lab, jobs, n, &outcomes, r->err))
        return err_add(r->err, "playing against %.*s", STR(g->opponent->name));
    g->n_cases = n;
    for (size_t i = 0; i < n; i++)
        g->cases[i].out = &outcomes[i];
    return true;
}

// ---- searching ----

struct asked {        // the positions in which the model moved, each once
    struct map index; // FEN to job
    struct asked_jobs {
        struct asked_job {
            struct regret_input *input;
            struct asked_moves {
                move *v;
                size_t n, cap;
            } moves;
        } * v;
        size_t n, cap;
    } jobs;
};

static str fen_of(const struct position *pos, struct arena *a)
{
    struct buf b = { .arena = a };
    position_format(pos, &b);
    return buf_str(&b);
}

static void ask_cost(struct rollout *g, struct asked *q, const struct position *pos, move m)
{
    struct arena *a = g->run->arena;
    bool fresh;
    struct map_entry *e = map_put(&q->index, fen_of(pos, a), &fresh);
    if (fresh) {
        e->number = (int64_t)q->jobs.n;
        struct regret_input *in = NEW(a, struct regret_input);
        *in = (struct regret_input){ .at = *pos, .engine = &g->judge, .limit = g->judge_limit };
        vec_push(a, &q->jobs)->input = in;
    }
    struct asked_job *job = &q->jobs.v[e->number];
    for (size_t i = 0; i < job->moves.n; i++)
        if (job->moves.v[i] == m)
            return;
    *vec_push(a, &job->moves) = m;
}

// The cost of a move among the searched ones; -1: an engine was at fault.
static int64_t find_cost(const struct outcome *o, move m)
{
    const struct regret_record *r = o->status == OUTCOME_SCORED ? o->record : NULL;
    for (size_t i = 0; r && i < r->n; i++)
        if (r->v[i].search.m == m)
            return r->v[i].cost_cp;
    return -1;
}

// Goes through the model's moves of one rollout: asks for their costs, or (`searches` given) fills
// them in.
static void each_move(struct rollout *g, struct versus_case *c, struct asked *q,
                      const struct outcome *searches)
{
    const struct versus_record *r = c->out->record;
    struct position pos = position_start();
    int64_t *costs = NEW_ARRAY(g->run->arena, int64_t, (size_t)r->n_accepted + 1);
    size_t k = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (i >= r->n_opening && pos.turn == c->opening->model) {
            if (!searches)
                ask_cost(g, q, &pos, r->moves[i]);
            else
                costs[k++] =
                    find_cost(&searches[map_get(&q->index, fen_of(&pos, g->run->arena))->number],
                              r->moves[i]);
        }
        pos = position_after(&pos, r->moves[i]);
    }
    c->costs_cp = searches ? costs : NULL;
}

static bool search_all(struct rollout *g)
{
    struct run *r = g->run;
    struct asked q = { .index = { .arena = r->arena } };
    const struct outcome *searches;
    for (size_t i = 0; i < g->n_cases; i++)
        each_move(g, &g->cases[i], &q, NULL);
    struct job *jobs = NEW_ARRAY(r->arena, struct job, q.jobs.n + 1);
    for (size_t i = 0; i < q.jobs.n; i++) {
        struct asked_job *job = &q.jobs.v[i];
        job->input->moves = job->moves.v;
        job->input->n = job->moves.n;
        jobs[i] = (struct job){ .kind = &episode_regret,
                                .input = job->input,
                                .input_id = arena_printf(r->arena, "rollout/%zu", i) };
    }
    r->phase = "searching";
    r->started_us = clock_mono_us();
    if (!lab_evaluate(&r->lab, jobs, q.jobs.n, &searches, r->err))
        return err_add(r->err, "searching with %.*s", STR(g->judge.name));
    for (size_t i = 0; i < g->n_cases; i++)
        each_move(g, &g->cases[i], &q, searches);
    return true;
}

// ---- output ----

static void add_rate(struct buf *b, const char *name, int64_t k, int64_t n)
{
    struct interval i = stats_wilson(k, n);
    buf_addf(b, "  %-22s %lld/%lld, %.2f %% [%.2f, %.2f]\n", name, (long long)k, (long long)n,
             n ? 100 * (double)k / (double)n : 0, 100 * i.low, 100 * i.high);
}

static void add_figures(const struct rollout *g, struct buf *b)
{
    const struct versus_summary *s = &g->summary;
    if (s->mean_cp.n > 0)
        buf_addf(b,
                 "  regret a move: mean %.1f cp (%.1f over %zu seeds), pooled median %.1f cp, %zu"
                 " moves\n",
                 s->mean_cp.mean, s->mean_cp.sd, s->mean_cp.n, s->median_cp, s->n_costs);
    buf_addf(b, "  accepted moves a rollout: %.2f of %d\n", s->moves.mean, g->max_moves);
    add_rate(b, "illegal attempts", s->stops[VERSUS_ILLEGAL], s->n_attempts);
    add_rate(b, "unparsable attempts", s->stops[VERSUS_UNPARSABLE], s->n_attempts);
    add_rate(b, "checkmate losses", s->stops[VERSUS_LOST], s->n_scored);
    buf_addf(b, "  ended by:");
    for (int i = 0; i < VERSUS_STOPS; i++)
        if (s->stops[i] > 0)
            buf_addf(b, " %.*s %lld", STR(versus_stop_name((enum versus_stop)i)),
                     (long long)s->stops[i]);
    buf_add_char(b, '\n');
}

static str report(const struct rollout *g)
{
    const struct run *r = g->run;
    struct arena *a = r->arena;
    struct buf b = { .arena = a };
    const struct pump_stats *stats = pump_stats(r->lab.pump);
    buf_addf(&b, "%.*s%s, %.*s: %lld rollouts against %.*s (%.*s; %.*s)%s\n", STR(r->facts.model),
             r->facts.simulated ? " (SIMULATED)" : "", STR(r->facts.method),
             (long long)g->summary.n, STR(g->opponent->name),
             STR(engine_limit_format(g->reply_limit, a)), STR(regret_settings(g->opponent, a)),
             g->opponent->random ? ", which plays by chance" : "");
    add_figures(g, &b);
    buf_addf(&b,
             "  calls: %lld new; searches: %lld new; %lld engine faults, retried; replayed "
             "%lld, reused %lld%.*s\n  files: %.*s\n",
             (long long)stats->n_calls, (long long)stats->n_searches,
             (long long)stats->n_engine_faults, (long long)stats->n_replayed,
             (long long)stats->n_reused, STR(cli_engines_share(stats, g->begun_us, a)),
             STR(r->config.output_dir));
    return buf_str(&b);
}

static bool save(struct rollout *g)
{
    struct run *r = g->run;
    versus_summarise(g->cases, g->n_cases, g->n_seeds, r->arena, &g->summary);
    r->facts.simulated |= r->lab.used.n_simulated > 0;
    struct versus_facts facts = { .judge = &g->judge,
                                  .opponent = g->opponent,
                                  .judge_limit = g->judge_limit,
                                  .reply_limit = g->reply_limit,
                                  .max_moves = g->max_moves,
                                  .run = &r->facts,
                                  .used = &r->lab.used };
    str json = versus_json(&g->summary, &facts, r->arena);
    progress_clear();
    return file_save(path_join(r->config.output_dir, S("rollouts.jsonl"), r->arena),
                     versus_jsonl(g->cases, g->n_cases, r->arena), r->err) &&
           file_save(path_join(r->config.output_dir, S("rollout.json"), r->arena), json, r->err) &&
           run_close(r, json) && print_str(opt_flag(r->args, "json") ? json : report(g), r->err);
}

// ---- the command ----

static bool load_openings(struct rollout *g)
{
    struct run *r = g->run;
    str text = { 0 }, path = opt_text(r->args, "openings", S(""));
    if (path.len > 0 && !file_read(path, OPENINGS_MAX_BYTES, r->arena, &text, r->err))
        return false;
    if (path.len > 0 && str_trim(text).len == 0)
        return err_set(r->err, ERR_INPUT, "%.*s: it is empty", STR(path));
    return openings_load(text, r->arena, &g->openings, r->err) ||
           err_add(r->err, "%.*s", STR(path));
}

// The opponent: the judge's program, weakened where that is asked for.
static bool meet_engines(struct rollout *g)
{
    struct run *r = g->run;
    const struct args *args = r->args;
    str settings = opt_text(args, "opponent-options", S(""));
    bool has_skill = opt_get(args, "skill")->set, has_elo = opt_get(args, "elo")->set;
    g->opponent = &g->judge;
    if (!cli_engine_judge(args, r->arena, &g->judge, r->err))
        return false;
    if (settings.len == 0 && !has_skill && !has_elo)
        return true;
    g->opponent = &g->other;
    if (!cli_engine_configure(args, r->arena, &g->other, r->err) ||
        !engine_settings_parse(settings, r->arena, &g->other.settings, r->err))
        return false;
    if (has_skill)
        engine_settings_put(&g->other.settings, S("Skill Level"), opt_text(args, "skill", S("")),
                            r->arena);
    if (has_elo)
        engine_settings_elo(&g->other.settings, opt_int(args, "elo", 0), r->arena);
    return pump_meet_engine(&g->other, r->arena, r->err) || err_add(r->err, "opponent");
}

static bool read_limits(struct rollout *g)
{
    const struct args *args = g->run->args;
    if (!cli_engine_limit(args, "engine-limit", &g->judge_limit, g->run->err))
        return false;
    g->reply_limit = g->judge_limit;
    return !opt_get(args, "reply-limit")->set ||
           cli_engine_limit(args, "reply-limit", &g->reply_limit, g->run->err);
}

static str key_of(const struct rollout *g)
{
    struct arena *a = g->run->arena;
    return arena_printf(a, "%.*s %.*s %.*s %.*s %.*s seeds=%d moves=%d regret=%d",
                        STR(g->judge.identity), STR(engine_limit_format(g->judge_limit, a)),
                        STR(g->opponent->identity), STR(engine_limit_format(g->reply_limit, a)),
                        STR(g->openings.sha256), g->n_seeds, g->max_moves,
                        !opt_flag(g->run->args, "no-regret"));
}

static bool plan(const struct rollout *g)
{
    size_t n = g->openings.n * (size_t)g->n_seeds, moves = n * (size_t)g->max_moves;
    return print_str(
        arena_printf(g->run->arena,
                     "%zu rollouts: at most %zu calls of %.*s; searches of %.*s: at "
                     "most %zu replies%s\n",
                     n, moves, STR(g->run->task_model.name), STR(g->judge.name), moves + n,
                     opt_flag(g->run->args, "no-regret") ? "" : ", and two for each accepted move"),
        g->run->err);
}

static bool rollout(struct run *r)
{
    struct rollout *g = NEW(r->arena, struct rollout);
    g->run = r;
    g->n_seeds = (int)opt_int(r->args, "seeds", 1);
    g->max_moves = (int)opt_int(r->args, "moves", MOVES_DEFAULT);
    if (!run_configure(r, METHOD_BASELINE) || !read_limits(g) || !load_openings(g) ||
        !meet_engines(g))
        return false;
    r->key_extra = key_of(g);
    r->n_engines = (int)opt_int(r->args, "engines", 0);
    if (!run_open_model(r) || !run_load_program(r))
        return false;
    if (g->n_seeds > 1 && r->task_model.temperature == 0)
        log_line(LOG_WARN, "%d seeds at temperature 0 may all play the same games", g->n_seeds);
    if (opt_flag(r->args, "dry-run"))
        return plan(g);
    return run_begin(r) && play_all(g) && (opt_flag(r->args, "no-regret") || search_all(g)) &&
           save(g);
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    return run_command(args, a, rollout, err);
}

static const struct opt opts[] = {
    { "openings", OPT_TEXT, "FILE", "starting conditions, as data/openings.json [built in]", 0, 0 },
    { "seeds", OPT_INT, "K", "repetitions, each with its own sample number [1]", 1, 1000 },
    { "moves", OPT_INT, "N", "most moves of the model [10]", 1, 500 },
    { "reply-limit", OPT_TEXT, "LIMIT", "of the opponent's searches [as --engine-limit]", 0, 0 },
    { "skill", OPT_INT, "N", "the opponent's Skill Level (plays by chance)", 0, 100 },
    { "elo", OPT_INT, "N", "the opponent's UCI_Elo (plays by chance)", 1, 10000 },
    { "opponent-options", OPT_TEXT, "TEXT", "settings of the opponent alone: \"Name=Value;...\"", 0,
      0 },
    { "no-regret", OPT_FLAG, NULL, "do not search what the moves cost", 0, 0 },
    { 0 },
};

const struct command command_rollout = {
    .name = "rollout",
    .summary = "ten moves against an engine from each of ten openings",
    .usage = "[CONFIG.yaml] [OPTIONS]",
    .about =
        "Each move is one call without memory, the engine replies. A rollout ends with an\n"
        "illegal or unparsable answer, the game, or its last move; a call that times out ends\n"
        "the command, or with --continue-on-error the rollout, which is then not scored.\n"
        "Example: rookery rollout --model sim/responsive --engine-limit depth=8 --seeds 3",
    .opts = { opts, opts_engine, opts_model, opts_run },
    .max_positionals = 1,
    .run = run,
};

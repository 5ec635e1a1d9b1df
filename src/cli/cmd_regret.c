// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_regret.c - what the answers of a model cost against an engine's best moves: the answers of
// `eval` (fresh or recorded), then one job for each position that got a legal move.
#include "cli/engines.h"
#include "cli/run.h"

enum { NOISE_DEFAULT = 30 };

struct regret { // of one command, beside its run
    struct run *run;
    struct engine engine;
    struct engine_limit limit;
    struct regret_case *cases;
    size_t n_cases;
    struct regret_summary summary;
};

static struct regret_facts facts_of(const struct regret *g)
{
    return (struct regret_facts){
        .engine = &g->engine, .limit = g->limit, .tally = &g->run->tally, .run = &g->run->facts
    };
}

// ---- searching ----

static const struct puzzle_record *record_of(const struct run *r, size_t i, int sample)
{
    return r->outcomes[i * (size_t)r->samples + (size_t)sample].record;
}

// The different legal moves that were answered in position i.
static void collect_moves(const struct run *r, size_t i, struct regret_input *out)
{
    move *moves = NEW_ARRAY(r->arena, move, (size_t)r->samples);
    for (int k = 0; k < r->samples; k++) {
        move m = record_of(r, i, k)->played;
        size_t at = 0;
        while (at < out->n && moves[at] != m)
            at++;
        if (m != MOVE_NONE && at == out->n)
            moves[out->n++] = m;
    }
    out->moves = moves;
}

// One job a position with a legal answer; `job_of` gets its number, or SIZE_MAX.
static size_t make_jobs(struct regret *g, struct job *jobs, size_t *job_of)
{
    struct run *r = g->run;
    size_t n = 0, noisy = (size_t)opt_int(r->args, "noise", NOISE_DEFAULT);
    for (size_t i = 0; i < r->test.n; i++) {
        struct regret_input *in = NEW(r->arena, struct regret_input);
        *in = (struct regret_input){
            .at = r->test.v[i].at, .engine = &g->engine, .limit = g->limit, .noise = n < noisy
        };
        collect_moves(r, i, in);
        job_of[i] = in->n > 0 ? n : SIZE_MAX;
        if (in->n > 0)
            jobs[n++] = (struct job){ .kind = &episode_regret,
                                      .input = in,
                                      .input_id = arena_printf(r->arena, "%.*s/%d",
                                                               STR(r->test.v[i].puzzle->id),
                                                               r->test.v[i].index) };
    }
    return n;
}

static const struct regret_move *find_move(const struct regret_record *search, move m)
{
    for (size_t i = 0; search && i < search->n; i++)
        if (search->v[i].search.m == m)
            return &search->v[i];
    return NULL;
}

static void make_cases(struct regret *g, const struct outcome *searches, const size_t *job_of)
{
    struct run *r = g->run;
    g->cases = NEW_ARRAY(r->arena, struct regret_case, r->test.n * (size_t)r->samples + 1);
    for (size_t i = 0; i < r->test.n; i++)
        for (int k = 0; k < r->samples; k++) {
            const struct outcome *o = job_of[i] < SIZE_MAX ? &searches[job_of[i]] : NULL;
            move played = record_of(r, i, k)->played;
            bool failed = played != MOVE_NONE && o && o->status == OUTCOME_FAILED;
            const struct regret_record *search = o && !failed ? o->record : NULL;
            g->cases[g->n_cases++] =
                (struct regret_case){ .position = &r->test.v[i],
                                      .sample = k,
                                      .answer = &r->outcomes[i * (size_t)r->samples + (size_t)k],
                                      .search = search,
                                      .played = find_move(search, played),
                                      .failed = failed };
        }
}

static bool search_all(struct regret *g)
{
    struct run *r = g->run;
    struct job *jobs = NEW_ARRAY(r->arena, struct job, r->test.n + 1);
    size_t *job_of = NEW_ARRAY(r->arena, size_t, r->test.n + 1);
    const struct outcome *searches;
    r->phase = "searching";
    r->no_rate = true;
    r->started_us = clock_mono_us();
    size_t n = make_jobs(g, jobs, job_of);
    if (!lab_evaluate(&r->lab, jobs, n, &searches, r->err))
        return err_add(r->err, "searching with %.*s", STR(g->engine.name));
    make_cases(g, searches, job_of);
    regret_summarise(g->cases, g->n_cases, g->limit, r->arena, &g->summary);
    return true;
}

// ---- output ----

static void add_distribution(const struct regret_summary *s, struct buf *b)
{
    for (size_t i = 0; i < REGRET_BINS; i++)
        if (s->n_costed > 0)
            buf_addf(b, "    %-14.*s %6lld  %5.1f %%\n", STR(regret_bin_name(i)),
                     (long long)s->bins[i], 100 * (double)s->bins[i] / (double)s->n_costed);
}

static void add_depths(const struct regret *g, struct buf *b)
{
    const struct regret_summary *s = &g->summary;
    if (s->n_searches == 0)
        return;
    buf_addf(b, "  depth reached: best %.1f (least %d), played %.1f (least %d)", s->depth_mean,
             s->depth_min, s->played_depth_mean, s->played_depth_min);
    if (s->n_short > 0)
        buf_addf(b, "; a mate ended %lld early", (long long)s->n_short);
    buf_addf(b, "\n  noise floor: ");
    if (s->n_noise > 0)
        buf_addf(b,
                 "the best move searched alone is off by %.1f cp on average, at most %lld "
                 "(%lld positions)\n",
                 s->noise_mean_cp, (long long)s->noise_max_cp, (long long)s->n_noise);
    else
        buf_addf(b, "not measured (--noise)\n");
}

static str report(const struct regret *g)
{
    const struct run *r = g->run;
    const struct regret_summary *s = &g->summary;
    const struct tally *t = &r->tally;
    struct buf b = { .arena = r->arena };
    const struct pump_stats *stats = pump_stats(r->lab.pump);
    buf_addf(&b, "%.*s%s, %.*s: regret of %lld answers by %.*s (%.*s; %.*s)\n", STR(r->facts.model),
             r->facts.simulated ? " (SIMULATED)" : "", STR(r->facts.method), (long long)s->n_costed,
             STR(g->engine.name), STR(engine_limit_format(g->limit, r->arena)),
             STR(regret_settings(&g->engine, r->arena)));
    if (s->n_costed < s->n)
        buf_addf(&b, "  %lld answers without one: not arrived, unscored, or %lld engine faults\n",
                 (long long)(s->n - s->n_costed), (long long)s->n_failed);
    buf_addf(&b, "  median %.1f cp, quartiles %.1f and %.1f, mean %.1f cp\n", s->median_cp,
             s->quartiles_cp[0], s->quartiles_cp[1], s->mean_cp);
    buf_addf(&b, "  legal moves alone: median %.1f cp, mean %.1f cp (%lld moves)\n",
             s->legal_median_cp, s->legal_mean_cp, (long long)s->n_legal);
    buf_addf(&b, "  best move %lld, mate missed or met %lld, no legal move %lld\n",
             (long long)s->n_zero, (long long)s->n_mates, (long long)s->n_no_move);
    add_distribution(s, &b);
    add_depths(g, &b);
    buf_addf(&b, "  positions right %lld/%lld, puzzles solved %lld/%lld\n",
             (long long)t->n_first_correct, (long long)t->n_positions, (long long)t->n_solved,
             (long long)t->n_complete);
    buf_addf(&b,
             "  searches: %lld new; %lld engine faults, retried; calls and searches replayed "
             "%lld, reused %lld%.*s\n  files: %.*s\n",
             (long long)stats->n_searches, (long long)stats->n_engine_faults,
             (long long)stats->n_replayed, (long long)stats->n_reused,
             STR(cli_engines_share(stats, r->started_us, r->arena)), STR(r->config.output_dir));
    return buf_str(&b);
}

static bool save(const struct regret *g)
{
    struct run *r = g->run;
    struct regret_facts facts = facts_of(g);
    str json = regret_json(&g->summary, &facts, r->arena);
    return file_save(path_join(r->config.output_dir, S("regret.jsonl"), r->arena),
                     regret_jsonl(g->cases, g->n_cases, &facts, r->arena), r->err) &&
           file_save(path_join(r->config.output_dir, S("regret.json"), r->arena), json, r->err) &&
           run_keep(r) && print_str(opt_flag(r->args, "json") ? json : report(g), r->err);
}

// ---- the command ----

// What tells this run apart beside model and data.
static str engine_key(const struct regret *g, struct arena *a)
{
    return arena_printf(a, "%.*s %.*s noise=%lld", STR(g->engine.identity),
                        STR(engine_limit_format(g->limit, a)),
                        (long long)opt_int(g->run->args, "noise", NOISE_DEFAULT));
}

static bool plan(const struct regret *g)
{
    struct run *r = g->run;
    str text = arena_printf(r->arena,
                            "  searches: 1 to %d a position with a legal move, at most %zu, each "
                            "%.*s, in %.*s\n",
                            1 + r->samples, r->test.n * (1 + (size_t)r->samples),
                            STR(engine_limit_format(g->limit, r->arena)), STR(g->engine.name));
    return run_print_plan(r) && print_str(text, r->err);
}

static bool answer(struct run *r, str predictions)
{
    return predictions.len > 0 ? run_begin(r) : run_begin(r) && run_evaluate(r);
}

static bool regret(struct run *r)
{
    struct regret *g = NEW(r->arena, struct regret);
    str predictions = opt_text(r->args, "predictions", S(""));
    g->run = r;
    if (!run_configure(r, METHOD_BASELINE) ||
        !cli_engine_limit(r->args, "engine-limit", &g->limit, r->err) ||
        !cli_engine_judge(r->args, r->arena, &g->engine, r->err))
        return false;
    if (opt_get(r->args, "puzzles")->set)
        r->config.test_path = opt_text(r->args, "puzzles", S(""));
    r->key_extra = engine_key(g, r->arena);
    r->n_engines = (int)opt_int(r->args, "engines", 0);
    bool loaded = predictions.len > 0 ? run_read_predictions(r, predictions)
                                      : run_open_model(r) && run_load(r);
    if (!loaded)
        return false;
    if (opt_flag(r->args, "dry-run"))
        return plan(g);
    return answer(r, predictions) && search_all(g) && save(g);
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    return run_command(args, a, regret, err);
}

static const struct opt opts[] = {
    { "puzzles", OPT_TEXT, "FILE", "puzzles to answer, the same as --test [builtin:test]", 0, 0 },
    { "samples", OPT_INT, "K", "answers a position [1]", 1, 1000 },
    { "predictions", OPT_TEXT, "FILE", "recorded answers (JSON Lines or results.json)", 0, 0 },
    { "noise", OPT_INT, "N", "positions to measure the noise floor on [30]", 0, 1000000 },
    { 0 },
};

const struct command command_regret = {
    .name = "regret",
    .summary = "what answers cost against an engine's best moves",
    .usage = "[CONFIG.yaml] [OPTIONS]",
    .about = "Answers as of eval, fresh or recorded. For each: centipawns of the best move less\n"
             "those of the played one, both searched under the same limit. A mate counts 100,000,\n"
             "an illegal or unparsable answer 200,000. Needs a UCI engine.\n"
             "Example: rookery regret --model sim/responsive --limit 50 --engine-limit depth=12\n"
             "         rookery regret --predictions runs/base/predictions.jsonl --reuse",
    .opts = { opts, opts_engine, opts_model, opts_puzzles, opts_run },
    .max_positionals = 1,
    .run = run,
};

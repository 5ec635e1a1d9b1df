// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_harness_evolve.c - the search for better harnesses: options, the kind of proposer, the run.
#include "cli/harness_commands.h"
#include "cli/proposers.h"

enum {
    PROPOSER_MAX_TOKENS = 16384,
    CANDIDATES = 3,
    RACE_BLOCK = 32,
    CONFIRM_REPEATS = 3,
    COMMAND_TIMEOUT_S = 2400,
    RETRY_WAIT_S = 120
};
static const double ALPHA = 0.10;

struct evolution { // of one command
    struct harness_run harness;
    struct evolve_opts opts;
    struct proposers proposers;
    struct single_call single;
    struct model proposer_model;
    struct proposer proposer;
};

// ---- the proposer ----

static bool open_single_call(struct evolution *e)
{
    struct run *r = e->harness.run;
    str name = opt_text(r->args, "proposer-model", S("sim/meta"));
    struct model_opts opts = {
        .base_url = opt_text(r->args, "proposer-base-url", S("")),
        .has_temperature = true,
        .temperature = 1,
        .max_tokens = opt_int(r->args, "proposer-max-tokens", PROPOSER_MAX_TOKENS),
        .allow_plain_http = opt_flag(r->args, "allow-http"),
        .no_key = opt_flag(r->args, "dry-run"),
    };
    if (!cli_model_open(name, &opts, r->arena, &e->proposer_model, r->err))
        return err_add(r->err, "proposer");
    e->single = (struct single_call){ &r->lab, &e->proposer_model };
    e->proposer = (struct proposer){
        .kind = S("single-call"), .repairs = true, .ctx = &e->single, .propose = single_call_propose
    };
    return true;
}

static bool open_scripted(struct evolution *e)
{
    struct run *r = e->harness.run;
    e->proposers.directory = opt_text(r->args, "candidates-dir", S(""));
    if (e->proposers.directory.len == 0)
        return err_set(r->err, ERR_USAGE,
                       "--proposer scripted needs --candidates-dir DIR, with "
                       "h1.py, h2.py, ... in it");
    if (!file_exists(e->proposers.directory))
        return err_set(r->err, ERR_INPUT, "%.*s: no such directory", STR(e->proposers.directory));
    e->proposer = (struct proposer){ .kind = S("scripted"),
                                     .ctx = &e->proposers,
                                     .propose = scripted_propose };
    return true;
}

static bool open_command(struct evolution *e)
{
    struct run *r = e->harness.run;
    e->proposers.command = opt_text(r->args, "proposer-command", S(""));
    e->proposers.timeout_s = opt_int(r->args, "proposer-timeout", COMMAND_TIMEOUT_S);
    e->proposers.retry_wait_s = opt_int(r->args, "proposer-retry-wait", RETRY_WAIT_S);
    e->proposers.env = opt_text(r->args, "proposer-env", S(""));
    if (str_trim(e->proposers.command).len == 0)
        return err_set(r->err, ERR_USAGE,
                       "--proposer command needs --proposer-command \"PROGRAM ARGUMENTS\"");
    e->proposer =
        (struct proposer){ .kind = S("command"), .ctx = &e->proposers, .propose = command_propose };
    return true;
}

static bool open_proposer(struct evolution *e)
{
    struct run *r = e->harness.run;
    str kind = opt_text(r->args, "proposer", S("single-call"));
    e->proposers.run = r;
    if (str_eq(kind, S("single-call")))
        return open_single_call(e);
    if (str_eq(kind, S("scripted")))
        return open_scripted(e);
    if (str_eq(kind, S("command")))
        return open_command(e);
    if (str_eq(kind, S("manual"))) {
        e->proposers.eval_only = opt_flag(r->args, "eval-only");
        e->proposer = (struct proposer){ .kind = S("manual"),
                                         .ctx = &e->proposers,
                                         .propose = manual_propose };
        return true;
    }
    return err_set(r->err, ERR_USAGE,
                   "--proposer must be single-call, command, manual or scripted, got \"%.*s\"",
                   STR(kind));
}

// ---- options ----

static const char *asked_to_stop(void *ctx)
{
    const struct evolution *e = ctx;
    struct run *r = e->harness.run;
    double limit_s = opt_real(r->args, "max-seconds", 0);
    if (signals_seen > 0)
        return "interrupted";
    if (file_exists(path_join(r->config.output_dir, S("stop"), r->arena)))
        return "there is a file called stop";
    if (limit_s > 0 && (double)(clock_mono_us() - r->started_us) / 1e6 > limit_s)
        return "budget:seconds is spent";
    return NULL;
}

static bool read_opts(struct evolution *e)
{
    const struct args *args = e->harness.run->args;
    struct evolve_opts *o = &e->opts;
    str rule = opt_text(args, "accept", S("guarded"));
    o->reference_accept = str_eq(rule, S("reference"));
    if (!o->reference_accept && !str_eq(rule, S("guarded")))
        return err_set(e->harness.run->err, ERR_USAGE,
                       "--accept must be guarded or reference, got \"%.*s\"", STR(rule));
    o->iterations = opt_int(args, "iterations", 1);
    o->candidates = opt_int(args, "candidates", CANDIDATES);
    o->repair_rounds = opt_int(args, "repair-rounds", 1);
    o->prompt_only = opt_flag(args, "prompt-only");
    o->alpha = opt_real(args, "alpha", ALPHA);
    o->min_gain = opt_real(args, "min-gain", 0);
    o->confirm = opt_int(args, "confirm", CONFIRM_REPEATS);
    o->stop_at = opt_real(args, "stop-at", 1);
    o->patience = opt_int(args, "patience", 0);
    o->min_iters = opt_int(args, "min-iters", 0);
    o->race_block = opt_flag(args, "race") ? RACE_BLOCK : 0;
    o->max_calls = opt_int(args, "max-calls", 0);
    o->max_prompt_tok = opt_int(args, "max-prompt-tokens", 0);
    o->max_completion_tok = opt_int(args, "max-completion-tokens", 0);
    o->max_proposals = opt_int(args, "max-proposals", 0);
    o->stop = asked_to_stop;
    o->stop_ctx = e;
    return true;
}

// All that can change what the search does, as JSON: for run.json and the run's key.
static str config_of(const struct evolution *e)
{
    const struct evolve_opts *o = &e->opts;
    struct run *r = e->harness.run;
    struct buf b = { .arena = r->arena };
    struct json_out out = { .b = &b };
    json_open(&out, '{');
    json_key_str(&out, S("rollouts"), harness_run_key(&e->harness));
    json_key_str(&out, S("start_sha256"), sha256_of(o->start, r->arena));
    json_key_str(&out, S("proposer"), e->proposer.kind);
    json_key_str(&out, S("proposer_model"), e->proposer_model.name);
    json_key_str(&out, S("proposer_identity"), e->proposer_model.identity);
    json_key_str(&out, S("proposer_url"), e->proposer_model.base_url);
    json_key_int(&out, S("proposer_max_tokens"), e->proposer_model.max_tokens);
    json_key_str(&out, S("candidates_sha256"),
                 e->proposers.directory.len > 0 ? scripted_hash(&e->proposers) : (str){ 0 });
    json_key_str(&out, S("proposer_command"), e->proposers.command);
    json_key_str(&out, S("skill_sha256"), sha256_of(evolve_skill(), r->arena));
    json_key_int(&out, S("iterations"), o->iterations);
    json_key_int(&out, S("candidates"), o->candidates);
    json_key_int(&out, S("repair_rounds"), o->repair_rounds);
    json_key_str(&out, S("accept"), o->reference_accept ? S("reference") : S("guarded"));
    json_key_bool(&out, S("prompt_only"), o->prompt_only);
    json_key_double(&out, S("alpha"), o->alpha);
    json_key_double(&out, S("min_gain"), o->min_gain);
    json_key_int(&out, S("confirm"), o->confirm);
    json_key_double(&out, S("stop_at"), o->stop_at);
    json_key_int(&out, S("patience"), o->patience);
    json_key_int(&out, S("min_iters"), o->min_iters);
    json_key_int(&out, S("race_block"), (int64_t)o->race_block);
    json_close(&out, '}');
    return buf_str(&b);
}

// ---- the run ----

static bool plan(const struct evolution *e)
{
    const struct eval_setup *s = &e->harness.setup;
    int64_t a_harness = 0, n = 1 + e->opts.iterations * e->opts.candidates;
    for (size_t i = 0; i < s->n_sets; i++)
        a_harness += (int64_t)s->sets[i].n * s->repeats;
    return print_str(
        arena_printf(e->harness.run->arena,
                     "%lld rollouts a harness x (1 + %lld iterations x %lld candidates) = %lld "
                     "rollouts,\neach at most %lld calls and %lld tokens of answers: at most %lld "
                     "tokens; confirmations come on top\n",
                     (long long)a_harness, (long long)e->opts.iterations,
                     (long long)e->opts.candidates, (long long)(a_harness * n),
                     (long long)s->rollout.turns_cap, (long long)s->rollout.token_budget,
                     (long long)(a_harness * n * s->rollout.token_budget)),
        e->harness.run->err);
}

static str summary_of(const struct evolution *e, const struct evolve_result *result)
{
    struct buf b = { .arena = e->harness.run->arena };
    struct json_out o = { .b = &b, .indent = 2 };
    json_open(&o, '{');
    json_key_str(&o, S("accepted"), result->accepted);
    json_key_double(&o, S("success_rate"), result->success);
    json_key_double(&o, S("start_success_rate"), result->start_success);
    json_key_int(&o, S("iterations"), result->iterations);
    json_key_str(&o, S("stopped_by"), result->stop_reason);
    json_key_bool(&o, S("simulated"), e->harness.setup.model->simulated);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

static str report(const struct evolution *e, const struct evolve_result *result)
{
    struct run *r = e->harness.run;
    const struct pump_stats *stats = pump_stats(r->lab.pump);
    return arena_printf(
        r->arena,
        "%.*s%s, %.*s: %lld iterations, ended by %.*s\n  accepted: %.*s, %.2f %% of the puzzles; "
        "h0: %.2f %%\n  (measured on the puzzles that chose it: part of any gain is luck)\n"
        "  calls: %lld new, %lld replayed\n  files: %.*s\n",
        STR(r->facts.model), r->facts.simulated ? " (SIMULATED)" : "",
        STR(e->harness.setup.profile), (long long)result->iterations, STR(result->stop_reason),
        STR(result->accepted), 100 * result->success, 100 * result->start_success,
        (long long)stats->n_calls, (long long)stats->n_replayed, STR(r->config.output_dir));
}

// A directory of another search is not mixed with this one.
static bool check_directory(const struct run *r)
{
    enum { RUN_MAX_BYTES = 16 << 20 };
    str text;
    str path = path_join(r->config.output_dir, S("run.json"), r->arena);
    if (!file_exists(path))
        return true;
    if (!file_read(path, RUN_MAX_BYTES, r->arena, &text, r->err))
        return false;
    json_t *old = json_read_strict(text, NULL);
    bool same = str_eq(json_get_str(old, "run"), r->key);
    json_decref(old);
    return same ||
           err_set(r->err, ERR_USAGE, "%.*s holds another search; name another --out, or remove it",
                   STR(r->config.output_dir));
}

static bool prepare(struct evolution *e)
{
    struct run *r = e->harness.run;
    if (!harness_run_setup(&e->harness, PUZZLES_FOR_SEARCH) || !read_opts(e) || !open_proposer(e) ||
        !candidate_read(opt_text(r->args, "start", S("builtin:h0")), r->arena, &e->opts.start,
                        r->err))
        return false;
    e->opts.config = r->key_extra = config_of(e);
    return run_load_program(r);
}

static bool evolve(struct run *r)
{
    struct evolution *e = NEW(r->arena, struct evolution);
    struct evolve_result result;
    e->harness.run = r;
    if (!prepare(e))
        return false;
    if (opt_flag(r->args, "dry-run"))
        return plan(e);
    r->phase = "evolving";
    if ((r->has_out && !check_directory(r)) || !run_begin(r))
        return false;
    r->lab.phase = S("evolving");
    e->opts.dir = r->config.output_dir;
    e->opts.run_id = r->key;
    e->opts.version = r->facts.version;
    e->opts.lab = &r->lab;
    e->opts.sandbox = r->sandbox;
    e->opts.setup = &e->harness.setup;
    e->opts.index = &e->harness.index;
    e->opts.proposer = &e->proposer;
    if (!evolve_run(&e->opts, &result, r->err))
        return false;
    r->facts.simulated |= r->lab.used.n_simulated > 0;
    str summary = summary_of(e, &result);
    progress_clear();
    return run_close(r, summary) &&
           print_str(opt_flag(r->args, "json") ? summary : report(e, &result), r->err);
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    return run_command(args, a, evolve, err);
}

static const struct opt opts[] = {
    { "start", OPT_TEXT, "FILE", "the harness to start from [builtin:h0]", 0, 0 },
    { "iterations", OPT_INT, "N", "[1]", 1, 10000 },
    { "candidates", OPT_INT, "M", "harnesses an iteration [3]", 1, SLOTS_MAX },
    { "proposer", OPT_TEXT, "KIND", "single-call, command, manual or scripted [single-call]", 0,
      0 },
    { "proposer-model", OPT_TEXT, "NAME", "writes candidates in one call [sim/meta]", 0, 0 },
    { "proposer-base-url", OPT_TEXT, "URL", "its endpoint", 0, 0 },
    { "proposer-max-tokens", OPT_INT, "N", "most tokens of its reply [16384]", 1, 10000000 },
    { "candidates-dir", OPT_TEXT, "DIR", "scripted: takes h1.py, h2.py, ... from here", 0, 0 },
    { "proposer-command", OPT_TEXT, "TEXT", "command: program and arguments, blanks between", 0,
      0 },
    { "proposer-timeout", OPT_INT, "S", "seconds it may take [2400]", 1, 1e6 },
    { "proposer-retry-wait", OPT_INT, "S", "pause after a failure that may pass [120]", 0, 1e6 },
    { "proposer-env", OPT_TEXT, "NAMES", "variables it may see, beside PATH and LANG", 0, 0 },
    { "eval-only", OPT_FLAG, NULL, "manual: scores what is there, waits for nothing", 0, 0 },
    { "repair-rounds", OPT_INT, "N", "second tries for rejected files [1]", 0, 5 },
    { "accept", OPT_TEXT, "RULE", "guarded, or reference: the highest mean [guarded]", 0, 0 },
    { "alpha", OPT_REAL, "P", "guarded: most chance of a false gain [0.10]", 0, 1 },
    { "min-gain", OPT_REAL, "X", "guarded: least gain in success, 0..1 [0]", 0, 1 },
    { "confirm", OPT_INT, "K", "guarded: repeats of a confirmation, 0: none [3]", 0, 50 },
    { "stop-at", OPT_REAL, "X", "success that ends the search; 0: none does [1]", 0, 1 },
    { "patience", OPT_INT, "N", "iterations without a new best that end it [off]", 1, 10000 },
    { "min-iters", OPT_INT, "N", "before which patience does not count [0]", 0, 10000 },
    { "prompt-only", OPT_FLAG, NULL, "only the two prompts may change", 0, 0 },
    { "race", OPT_FLAG, NULL, "drop who is surely worse after every 32 puzzles", 0, 0 },
    { "max-calls", OPT_INT, "N", "policy calls of the run [no cap]", 1, 1e12 },
    { "max-prompt-tokens", OPT_INT, "N", "[no cap]", 1, 1e15 },
    { "max-completion-tokens", OPT_INT, "N", "[no cap]", 1, 1e15 },
    { "max-proposals", OPT_INT, "N", "calls of the proposer [no cap]", 1, 1e9 },
    { "max-seconds", OPT_REAL, "S", "wall time of this command [no cap]", 0.001, 1e9 },
    { 0 },
};
const struct command command_harness_evolve = {
    .name = "harness evolve",
    .summary = "search for better harnesses with a proposer",
    .usage = "[CONFIG.yaml] [OPTIONS]",
    .about =
        "Scores h0, then asks a proposer for new harness files, checks and audits them, scores\n"
        "them on the same puzzles and accepts one that is better. The same command goes on\n"
        "after a crash, a spent budget, Ctrl-C, or a file called `stop` in the run directory.\n"
        "Example: rookery harness evolve --model sim/sloppy --limit 64 --iterations 5",
    .opts = { opts, opts_rollout, opts_model, opts_run },
    .max_positionals = 1,
    .run = run,
};

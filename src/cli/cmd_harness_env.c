// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_harness_env.c - serves rollouts as an environment until interrupted.
#include <time.h>

#include "cli/cli.h"
#include "env/env.h"

enum { BODY_MAX_BYTES = 1 << 20 };

struct env_setup {
    struct sandbox *sandbox;
    struct candidate candidate;
    struct rollout_opts rollout;
    struct puzzles puzzles;
};

static bool read_candidate(struct env_setup *s, str path, struct arena *a, struct err *err)
{
    struct examination e;
    if (!candidate_read(path, a, &s->candidate.source, err) ||
        !sandbox_examine(s->sandbox, s->candidate.source, a, &e, err))
        return false;
    if (e.unscored)
        return err_set(err, ERR_RUN, "%.*s was not judged: the machine was too busy", STR(path));
    if (e.verdict == VERDICT_REJECT)
        return err_set(err, ERR_INPUT, "%.*s is rejected: rookery harness check tells why",
                       STR(path));
    s->candidate.sha256 = sha256_of(s->candidate.source, a);
    s->candidate.contract = e.contract;
    return true;
}

static bool read_mode(const struct args *args, struct rollout_opts *out, struct err *err)
{
    static const str modes[] = { T("reference"), T("dialogue"), T("compact") };
    str mode = opt_text(args, "message-mode", modes[MESSAGES_REFERENCE]);
    str rule = opt_text(args, "mate-rule", S("strict"));
    size_t which;
    if (!str_among(mode, modes, ARRAY_LEN(modes), &which))
        return err_set(err, ERR_USAGE, "--message-mode: reference, dialogue or compact");
    if (!str_eq(rule, S("strict")) && !str_eq(rule, S("lichess")))
        return err_set(err, ERR_USAGE, "--mate-rule: strict or lichess");
    out->messages = (enum message_mode)which;
    out->lichess = str_eq(rule, S("lichess"));
    out->seed = (uint64_t)opt_int(args, "seed", 42);
    return true;
}

static bool serve(struct env_setup *s, const struct args *args, struct arena *a, struct err *err)
{
    struct env *env = NULL;
    struct server *server = NULL;
    struct env_opts opts = { .sandbox = s->sandbox,
                             .candidate = &s->candidate,
                             .rollout = &s->rollout,
                             .puzzles = s->puzzles.v,
                             .n_puzzles = s->puzzles.n,
                             .max_episodes = (size_t)opt_int(args, "max-episodes", 0),
                             .idle_ms = 1000 * opt_int(args, "idle", 0) };
    if (!env_new(&opts, &env, err))
        return false;
    int port = 0;
    str host = opt_text(args, "host", S("127.0.0.1"));
    struct serve_opts where = { .watch = env_watch(env),
                                .host = host,
                                .port = (int)opt_int(args, "port", 0),
                                .max_body = BODY_MAX_BYTES,
                                .handler = env_handle,
                                .context = env };
    signals_install();
    bool ok = server_start(&where, &server, &port, err) &&
              print_str(arena_printf(a, "environment at http://%.*s:%d (stop with Ctrl-C)\n",
                                     STR(host), port),
                        err);
    while (ok && signals_seen == 0) // the server has its own thread
        nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
    server_stop(server);
    env_free(env);
    return ok;
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct env_setup s = { 0 };
    str path = opt_text(args, "harness", S(""));
    if (path.len == 0)
        return err_set(err, ERR_USAGE, "--harness FILE is needed (or builtin:h0)");
    if (!read_mode(args, &s.rollout, err) ||
        !puzzles_load(opt_text(args, "puzzles", S("builtin:train")),
                      &(struct puzzle_load_opts){ 0 }, a, &s.puzzles, err) ||
        !sandbox_new(&(struct sandbox_opts){ 0 }, &s.sandbox, err))
        return false;
    bool ok = read_candidate(&s, path, a, err) && serve(&s, args, a, err);
    sandbox_free(s.sandbox);
    return ok;
}

static const struct opt opts[] = {
    { "harness", OPT_TEXT, "FILE", "the candidate, or builtin:h0", 0, 0 },
    { "puzzles", OPT_TEXT, "FILE", "what is played [builtin:train]", 0, 0 },
    { "port", OPT_INT, "N", "port; 0 takes a free one and prints it [0]", 0, 65535 },
    { "host", OPT_TEXT, "ADDRESS", "numeric address [127.0.0.1]", 0, 0 },
    { "max-episodes", OPT_INT, "N", "open at once [256]", 1, 4096 },
    { "idle", OPT_INT, "S", "seconds after which an episode nobody asks for is closed [600]", 1,
      86400 },
    { "message-mode", OPT_TEXT, "MODE", "reference, dialogue or compact [reference]", 0, 0 },
    { "mate-rule", OPT_TEXT, "RULE", "strict or lichess: any mate solves [strict]", 0, 0 },
    { "seed", OPT_INT, "N", "of the candidate's random numbers [42]", 0, 4294967295 },
    { 0 },
};
const struct command command_harness_env = {
    .name = "harness env",
    .summary = "serve rollouts over HTTP: reset, step, close",
    .usage = "--harness FILE [OPTIONS]",
    .about = "For trainers in any language: the same puzzles, verifier and locked children as\n"
             "evaluations; whoever calls is the policy. JSON in and out, many episodes at once:\n"
             "  POST /reset {\"index\": N} or {\"puzzle\": ID} or {}  -> episode, messages\n"
             "  POST /step {\"episode\": ID, \"text\": TEXT, \"completion_tokens\": N}\n"
             "       -> reward, done, outcome, messages of the next call, or metrics\n"
             "  POST /close {\"episode\": ID};  GET / tells limits and counts\n"
             "Example: rookery harness env --harness builtin:h0 --port 8090",
    .opts = { opts },
    .run = run,
};

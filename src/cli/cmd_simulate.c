// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_simulate.c - serves simulated models over HTTP until interrupted.
#include <time.h>

#include "cli/run.h"
#include "simulate/simulate.h"

static void wait_for_signal(void)
{
    // The server has its own thread; this one only waits to be told to stop.
    while (signals_seen == 0)
        nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
}

static bool serve(const struct args *args, struct arena *a, struct err *err)
{
    struct simulator *simulator = NULL;
    struct server *server = NULL;
    struct simulate_opts opts = {
        .faults = opt_text(args, "faults", S("")),
        .latency_ms = opt_int(args, "latency", 0),
        .require_key = opt_text(args, "require-key", S("")),
    };
    if (!simulator_new(&opts, &simulator, err))
        return false;
    int port = 0;
    str host = opt_text(args, "host", S("127.0.0.1"));
    struct serve_opts where = {
        .host = host,
        .port = (int)opt_int(args, "port", 0),
        .handler = simulator_handle,
        .context = simulator,
    };
    signals_install();
    bool ok = server_start(&where, &server, &port, err);
    if (ok) {
        str line = arena_printf(a, "simulated models at http://%.*s:%d/v1 (stop with Ctrl-C)\n",
                                STR(host), port);
        ok = print_str(line, err);
        if (ok)
            wait_for_signal();
    }
    server_stop(server);
    simulator_free(simulator);
    return ok;
}

static bool explain(const struct args *args, struct arena *a, struct err *err)
{
    const struct program *program;
    str name = opt_text(args, "persona", S("responsive"));
    const struct persona *persona = sim_persona(sim_data_builtin(a), name);
    if (!persona || str_eq(name, S("meta")))
        return err_set(err, ERR_USAGE, "--persona: no simulated player \"%.*s\"", STR(name));
    if (opt_flag(args, "best")) {
        program = sim_best_program(persona, a);
        str text = arena_printf(a, "%.*s\n\n%.*s", STR(program->instruction),
                                STR(sim_explain(persona, program, a)));
        return print_str(text, err);
    }
    return cli_program_load(opt_text(args, "explain", S("")), a, &program, err) &&
           print_str(sim_explain(persona, program, a), err);
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    return opt_get(args, "explain")->set || opt_flag(args, "best") ? explain(args, a, err)
                                                                   : serve(args, a, err);
}

static const struct opt opts[] = {
    { "port", OPT_INT, "N", "port; 0 takes a free one and prints it [0]", 0, 65535 },
    { "host", OPT_TEXT, "ADDRESS", "numeric address [127.0.0.1]", 0, 0 },
    { "faults", OPT_TEXT, "SPEC",
      "kind:probability,...,seed=N; kinds 429 429ra 500 503 body502 "
      "cut reset stall slow html empty badutf8 ...",
      0, 0 },
    { "latency", OPT_INT, "MS", "wait before each reply; -1: as modelled [0]", -1, 600000 },
    { "require-key", OPT_TEXT, "KEY", "refuse any other key with 401", 0, 0 },
    { "explain", OPT_TEXT, "FILE", "tell what a simulated model sees in a program, and stop", 0,
      0 },
    { "best", OPT_FLAG, NULL, "print the best instruction known for a persona, and stop", 0, 0 },
    { "persona", OPT_TEXT, "NAME", "whom --explain and --best ask [responsive]", 0, 0 },
    { 0 },
};

const struct command command_simulate = {
    .name = "simulate",
    .summary = "serve simulated models over HTTP, with faults on request",
    .usage = "[--port N] [--faults SPEC] [--latency MS]",
    .about =
        "Speaks the formats of OpenAI (under /v1), Azure, Anthropic, Gemini, Ollama and the\n"
        "decision endpoint, each at its own paths, with models sim-responsive, sim-modest,\n"
        "...; decisions by typesafe/jev-sim-responsive. Counts requests and faults at /stats.\n"
        "Example: rookery simulate --port 8080 --faults 429:0.1,reset:0.02,seed=7",
    .opts = { opts },
    .run = run,
};

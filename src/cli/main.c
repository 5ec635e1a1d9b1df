// SPDX-License-Identifier: GPL-3.0-or-later
// main.c - finds the command, runs it, turns its error into a sentence and an exit code.
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/harness_commands.h"
#include "sandbox/sandbox.h"
#include "version.h"

const struct command *const commands[] = {
    &command_eval,
    &command_optimize,
    &command_regret,
    &command_rollout,
    &command_prompt,
    &command_decode,
    &command_resolve,
    &command_position,
    &command_perft,
    &command_pgn,
    &command_puzzles_verify,
    &command_puzzles_stats,
    &command_puzzles_sample,
    &command_runs_list,
    &command_runs_show,
    &command_runs_diff,
    &command_runs_rm,
    &command_cost,
    &command_export,
    &command_store_verify,
    &command_store_compact,
    &command_store_export,
    &command_store_merge,
    &command_presets,
    &command_simulate,
    &command_stats_table,
    &command_stats_breakdown,
    &command_stats_curve,
    &command_stats_pareto,
    &command_stats_prompt,
    &command_stats_regret,
    &command_stats_rollout,
    &command_stats_ratings,
    &command_power,
    &command_play,
    &command_tournament,
    &command_games,
    &command_study,
    &command_transfer,
    &command_harness_check,
    &command_harness_eval,
    &command_harness_evolve,
    &command_harness_diff,
    &command_harness_replay,
    &command_harness_verify_run,
    &command_harness_ablate,
    &command_harness_parse,
    &command_harness_env,
    &command_harness_export,
    &command_doctor,
    NULL,
};

volatile sig_atomic_t signals_seen;

static void note_signal(int signal)
{
    (void)signal;
    if (signals_seen < 100)
        signals_seen++;
}

void signals_install(void)
{
    struct sigaction action = { .sa_handler = note_signal };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool print_str(str text, struct err *err)
{
    if (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout) != 0)
        return err_set(err, ERR_RUN, "standard output: cannot write all of the result");
    return true;
}

bool print_gathered(struct buf *b, enum print_when when, struct err *err)
{
    enum { MUCH_BYTES = 1 << 16 };
    if (b->over)
        return err_set(err, ERR_LIMIT, "a line of the output is too long");
    if (when == PRINT_MUCH && b->len < MUCH_BYTES)
        return true;
    bool ok = print_str(buf_str(b), err);
    b->len = 0;
    return ok;
}

// The commands whose first word is `group` (empty: all), one a line.
static void write_commands(str group, struct buf *out)
{
    for (size_t i = 0; commands[i]; i++) {
        str rest = str_from(commands[i]->name);
        str first = str_cut(&rest, ' ');
        if (group.len == 0 || str_eq(first, group))
            buf_addf(out, "  %-16s %s\n", commands[i]->name, commands[i]->summary);
    }
}

static void write_overview(struct buf *out)
{
    buf_add(out, S("rookery - how well a frozen language model plays chess, and how far its prompt "
                   "can be improved\n\nusage: rookery COMMAND [OPTIONS]\n\n"));
    write_commands(S(""), out);
    buf_add(out, S("\nrookery COMMAND --help tells more; rookery --version names this build.\n"));
}

// How many words of argv (from 1) name this command; 0: they name another one.
static int words_matched(const struct command *command, int argc, char **argv)
{
    str rest = str_from(command->name);
    int words = 0;
    while (rest.len > 0) {
        str word = str_cut(&rest, ' ');
        if (words + 1 >= argc || !str_eq(word, str_from(argv[words + 1])))
            return 0;
        words++;
    }
    return words;
}

static const struct command *find_command(int argc, char **argv, int *words)
{
    for (size_t i = 0; commands[i]; i++) {
        *words = words_matched(commands[i], argc, argv);
        if (*words > 0)
            return commands[i];
    }
    return NULL;
}

static bool unknown_command(int argc, char **argv, struct arena *a, struct err *err)
{
    str first = str_from(argv[1]);
    str both = arena_printf(a, "%s %s", argv[1], argc > 2 ? argv[2] : "");
    struct buf group = { .arena = a };
    struct nearest n = { .word = first };
    write_commands(first, &group);
    if (group.len > 0)
        return err_set(err, ERR_USAGE, "%s is followed by another word:\n%.*s", argv[1],
                       STR(buf_str(&group)));
    for (size_t i = 0; commands[i]; i++) {
        str known = str_from(commands[i]->name);
        n.word = str_find_char(known, ' ') >= 0 ? both : first;
        nearest_offer(&n, known);
    }
    if (n.name.len == 0)
        return err_set(err, ERR_USAGE, "unknown command \"%s\"; rookery --help lists all", argv[1]);
    return err_set(err, ERR_USAGE,
                   "unknown command \"%s\"; did you mean \"%.*s\"? rookery --help "
                   "lists all",
                   argv[1], STR(n.name));
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (is_help(argv[i]))
            return true;
    return false;
}

// The help of one command, of a group of them, or of all.
static bool show_help(int argc, char **argv, struct arena *a, struct err *err)
{
    struct buf out = { .arena = a };
    int words;
    const struct command *command = find_command(argc, argv, &words);
    if (command)
        help_write(command, &out);
    else if (argc > 1 && !is_help(argv[1]))
        write_commands(str_from(argv[1]), &out);
    else
        write_overview(&out);
    if (out.len == 0)
        return unknown_command(argc, argv, a, err);
    return print_str(buf_str(&out), err);
}

static bool run_one(const struct command *command, int argc, char **argv, struct arena *a,
                    struct err *err)
{
    struct args *args = NEW(a, struct args);
    if (!args_parse(command, argc, argv, args, err))
        return false;
    return command->each ? jsonl_run(stdin, command->each, err) : command->run(args, a, err);
}

static bool dispatch(int argc, char **argv, struct arena *a, struct err *err)
{
    if (argc < 2)
        return err_set(err, ERR_USAGE, "no command given; rookery --help lists all");
    if (strcmp(argv[1], "help") == 0) // rookery help COMMAND
        return show_help(argc - 1, argv + 1, a, err);
    if (strcmp(argv[1], "--version") == 0)
        return print_str(S("rookery " ROOKERY_VERSION " (commit " ROOKERY_COMMIT ")\n"), err);
    if (wants_help(argc - 1, argv + 1))
        return show_help(argc, argv, a, err);
    int words = 0;
    const struct command *command = find_command(argc, argv, &words);
    if (!command)
        return unknown_command(argc, argv, a, err);
    return run_one(command, argc - 1 - words, argv + 1 + words, a, err);
}

int main(int argc, char **argv)
{
    sandbox_become_template(argc, argv);
    struct arena arena = { 0 };
    struct err err = { 0 };
    log_to(log_print);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a write past the limit of file sizes is an error, with a sentence
    bool ok = dispatch(argc, argv, &arena, &err);
    if (!ok)
        fprintf(stderr, "rookery: %.*s\n", STR(text_for_terminal(str_from(err.text), &arena)));
    arena_free(&arena);
    return ok ? 0 : err_exit_code(err.code == ERR_NONE ? ERR_RUN : err.code);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// main.c - finds the command, runs it, turns its error into a sentence and an exit code.
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "version.h"

const struct command *const commands[] = {
    &command_eval,          &command_optimize,  &command_prompt,    &command_decode,
    &command_resolve,       &command_position,  &command_perft,     &command_puzzles_verify,
    &command_puzzles_stats, &command_runs_list, &command_runs_show, &command_runs_diff,
    &command_runs_rm,       &command_presets,   &command_simulate,  NULL,
};

volatile int signals_seen;

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

static void log_to_stderr(enum log_level level, str line)
{
    // A progress bar may stand on the line: clear it first.
    fprintf(stderr, "%srookery: %s%.*s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "",
            level == LOG_WARN ? "warning: " : "", STR(line));
}

bool print_str(str text, struct err *err)
{
    if (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout) != 0)
        return err_set(err, ERR_RUN, "standard output: cannot write all of the result");
    return true;
}

static void print_commands(FILE *to)
{
    fprintf(to, "rookery - how well a frozen language model plays chess, and how far its prompt "
                "can be improved\n\nusage: rookery COMMAND [OPTIONS]\n\n");
    for (size_t i = 0; commands[i]; i++)
        fprintf(to, "  %-16s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(to, "\nrookery COMMAND --help tells more; rookery --version names this build.\n");
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

static bool unknown_command(int argc, char **argv, struct err *err)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", argv[1], argc > 2 ? " " : "", argc > 2 ? argv[2] : "");
    const char *nearest = "help";
    size_t best = 100;
    for (size_t i = 0; commands[i]; i++) {
        str known = str_from(commands[i]->name);
        bool two = str_find_char(known, ' ') >= 0;
        size_t distance = str_distance(known, str_from(two ? name : argv[1]));
        if (distance < best) {
            best = distance;
            nearest = commands[i]->name;
        }
    }
    return err_set(err, ERR_USAGE,
                   "unknown command \"%s\"; did you mean \"%s\"? rookery --help "
                   "lists all",
                   argv[1], nearest);
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0)
            return true;
    return false;
}

static bool dispatch(int argc, char **argv, struct arena *a, struct err *err)
{
    if (argc < 2) {
        print_commands(stderr);
        return err_set(err, ERR_USAGE, "no command given");
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_commands(stdout);
        return true;
    }
    if (strcmp(argv[1], "--version") == 0)
        return print_str(S("rookery " ROOKERY_VERSION " (commit " ROOKERY_COMMIT ")\n"), err);
    int words = 0;
    const struct command *command = find_command(argc, argv, &words);
    if (!command)
        return unknown_command(argc, argv, err);
    int n = argc - 1 - words;
    char **rest = argv + 1 + words;
    if (wants_help(n, rest)) {
        help_print(command, stdout);
        return true;
    }
    struct args *args = NEW(a, struct args);
    return args_parse(command, n, rest, args, err) && command->run(args, a, err);
}

int main(int argc, char **argv)
{
    struct arena arena = { 0 };
    struct err err = { 0 };
    log_to(log_to_stderr);
    signal(SIGPIPE, SIG_IGN);
    bool ok = dispatch(argc, argv, &arena, &err);
    if (!ok)
        log_to_stderr(LOG_INFO, str_from(err.text));
    arena_free(&arena);
    return ok ? 0 : err_exit_code(err.code == ERR_NONE ? ERR_RUN : err.code);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// process.c - children with pipes: started, ended, reaped. Standard input is a socket, so that
// writing to a dead child is an error and no signal. Each child leads a group of its own: Ctrl-C at
// the terminal is for us alone, and what the child has started ends with it.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pump/internal.h"

enum { EXIT_NOT_STARTED = 127 };

struct streams { // both ends: 0 the child's, 1 ours
    int in[2], out[2], err[2];
};

static void close_pair(const int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
}

static bool open_streams(struct streams *s)
{
    int out[2] = { -1, -1 }, err[2] = { -1, -1 };
    *s = (struct streams){ { -1, -1 }, { -1, -1 }, { -1, -1 } };
    bool ok = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s->in) == 0 &&
              pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0;
    s->out[0] = out[1];
    s->out[1] = out[0];
    s->err[0] = err[1];
    s->err[1] = err[0];
    int *ours[] = { &s->in[1], &s->out[1], &s->err[1] };
    for (size_t i = 0; ok && i < ARRAY_LEN(ours); i++)
        ok = fcntl(*ours[i], F_SETFL, O_NONBLOCK) == 0;
    return ok;
}

static void close_streams(const struct streams *s)
{
    close_pair(s->in);
    close_pair(s->out);
    close_pair(s->err);
}

static bool holds_secret(const char *variable)
{
    static const str words[] = { T("KEY"), T("TOKEN"), T("SECRET"), T("PASSWORD") };
    str value = str_from(variable);
    str name = str_cut(&value, '=');
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_find(name, words[i]) >= 0)
            return true;
    return false;
}

// The environment for the child: an engine has no business with the keys of models.
static char **clean_environment(struct arena *a)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **out = NEW_ARRAY(a, char *, n + 1);
    for (size_t i = 0; i < n; i++)
        if (!holds_secret(environ[i]))
            out[kept++] = environ[i];
    return out;
}

static char **arguments(const struct process_command *command, struct arena *a)
{
    char **argv = NEW_ARRAY(a, char *, command->n_args + 2);
    for (size_t i = 0; i <= command->n_args; i++) {
        str text = i == 0 ? command->path : command->args[i - 1];
        argv[i] = arena_alloc(a, text.len + 1);
        memcpy(argv[i], text.data, text.len);
    }
    return argv;
}

// In the child, where only what is safe between fork and exec may be called.
static noreturn void become(char **argv, char **environment, const struct streams *s, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(EXIT_NOT_STARTED);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(s->in[0], STDIN_FILENO) >= 0 && dup2(s->out[0], STDOUT_FILENO) >= 0 &&
        dup2(s->err[0], STDERR_FILENO) >= 0) {
        close_range(STDERR_FILENO + 1, ~0U, 0);
        execve(argv[0], argv, environment);
    }
    _exit(EXIT_NOT_STARTED);
}

bool process_start(const struct process_command *command, struct process *out, struct err *err)
{
    struct streams s;
    struct arena scratch = { 0 };
    char **argv = arguments(command, &scratch);
    char **environment = clean_environment(&scratch);
    pid_t parent = getpid();
    pid_t pid = open_streams(&s) ? fork() : -1;
    if (pid == 0)
        become(argv, environment, &s, parent);
    arena_free(&scratch);
    if (pid < 0) {
        err_set(err, ERR_RUN, "cannot start %.*s: %s", STR(command->path), strerror(errno));
        close_streams(&s);
        return false;
    }
    setpgid(pid, pid); // in both: whoever is first
    close(s.in[0]);
    close(s.out[0]);
    close(s.err[0]);
    *out = (struct process){ .pid = pid, .in = s.in[1], .out = s.out[1], .err = s.err[1] };
    return true;
}

// Gives a child that is about to end the time to do so: its exit code tells more than our signal.
static void await_end(pid_t pid, int64_t patience_ms)
{
    struct pollfd end = { .fd = pidfd_open(pid, 0), .events = POLLIN };
    if (end.fd < 0)
        return;
    poll(&end, 1, (int)patience_ms);
    close(end.fd);
}

str process_end(struct process *p, int64_t patience_ms, struct arena *a)
{
    int status = 0;
    close(p->in); // engines end when their input does
    if (patience_ms > 0)
        await_end(p->pid, patience_ms);
    kill(-p->pid, SIGKILL); // not reaped yet, so the number is still its own
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(p->out);
    close(p->err);
    *p = (struct process){ 0 };
    if (WIFSIGNALED(status))
        return arena_printf(a, "signal %d, %s", WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) == EXIT_NOT_STARTED)
        return S("exit code 127: is it a program?");
    return arena_printf(a, "exit code %d", WEXITSTATUS(status));
}

// SPDX-License-Identifier: GPL-3.0-or-later
// proposer_command.c - a program that proposes, say a coding agent: it works in a scratch copy of
// the run directory, without keys and without the puzzles, and only its slot files and its metadata
// are taken back (5.7 a). It may wait outside the pump, since nothing else of the run goes on.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/proposers.h"

enum {
    OUTPUT_MAX_BYTES = 1 << 20,
    COPY_MAX_BYTES = 16 << 20, // of a file; larger ones are left out
    DEPTH_MAX = 8,
    ARGV_MAX = 64,
    ENV_MAX = 64,
    GRACE_MS = 10000,
    TRIES = 5,
    META_MAX_BYTES = 1 << 20,
};

struct child {
    pid_t pid;
    int in, out, err; // our ends of its pipes
};
struct finished { // how a command ended
    bool timed_out;
    int status; // exit code, or 128 + signal
    str out, err;
};

// ---- the scratch copy ----

static bool copy_tree(str from, str to, int depth, struct arena *a, struct err *err)
{
    DIR *d = opendir(arena_str(a, from).data);
    bool ok = d && dir_make(to, err);
    if (!d)
        return err_set(err, ERR_RUN, "%.*s: %s", STR(from), strerror(errno));
    for (struct dirent *e; ok && (e = readdir(d));) {
        struct stat st;
        str name = str_from(e->d_name), text;
        str source = path_join(from, name, a), target = path_join(to, name, a);
        if (name.data[0] == '.' || lstat(source.data, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
            ok = copy_tree(source, target, depth + 1, a, err);
        else if (S_ISREG(st.st_mode) && st.st_size <= COPY_MAX_BYTES)
            ok = file_read(source, COPY_MAX_BYTES, a, &text, err) && file_save(target, text, err) &&
                 (chmod(target.data, 0444) == 0 || err_set(err, ERR_RUN, "%s", strerror(errno)));
    }
    closedir(d);
    return ok;
}

static void remove_tree(str path, int depth, struct arena *a)
{
    struct stat st;
    path = arena_str(a, path);
    if (lstat(path.data, &st) != 0)
        return;
    DIR *d = S_ISDIR(st.st_mode) && depth <= 4 * DEPTH_MAX ? opendir(path.data) : NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove_tree(path_join(path, str_from(e->d_name), a), depth + 1, a);
    if (d)
        closedir(d);
    remove(path.data);
}

// Harnesses and logs, and empty slots. Nothing else of the run directory: its configuration names
// the puzzles.
static bool make_scratch(const struct proposers *p, const struct proposal_request *q, str *dir,
                         struct err *err)
{
    struct arena *a = p->run->arena;
    const char *tmp = getenv("TMPDIR");
    str run = p->run->config.output_dir;
    *dir = arena_printf(a, "%s/rookery-proposer-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    char *made = arena_alloc(a, dir->len + 1);
    memcpy(made, dir->data, dir->len);
    if (!mkdtemp(made))
        return err_set(err, ERR_RUN, "%s: %s", made, strerror(errno));
    dir->data = made;
    if (!copy_tree(path_join(run, S("harnesses"), a), path_join(*dir, S("harnesses"), a), 0, a,
                   err) ||
        !copy_tree(path_join(run, S("logs"), a), path_join(*dir, S("logs"), a), 0, a, err))
        return false;
    for (size_t i = 0; i < q->n_slots; i++) {
        str slot = path_join(path_join(*dir, S("harnesses"), a), q->slots[i], a);
        remove_tree(slot, 0, a); // of an earlier try
        if (!dir_make(slot, err))
            return false;
    }
    return file_save(path_join(*dir, S("SKILL.md"), a), q->skill, err);
}

// ---- the process ----

static void add_env(char **env, size_t *n, str entry, struct arena *a)
{
    char *text = arena_alloc(a, entry.len + 1);
    memcpy(text, entry.data, entry.len);
    if (*n + 1 < ENV_MAX)
        env[(*n)++] = text;
}

static void add_own(char **env, size_t *n, str name, struct arena *a)
{
    const char *value = getenv(arena_str(a, name).data);
    if (value)
        add_env(env, n, arena_printf(a, "%.*s=%s", STR(name), value), a);
}

static char **environment_of(const struct proposers *p, const struct proposal_request *q, str dir)
{
    struct arena *a = p->run->arena;
    char **env = NEW_ARRAY(a, char *, ENV_MAX);
    size_t n = 0;
    struct buf slots = { .arena = a };
    for (size_t i = 0; i < q->n_slots; i++)
        buf_addf(&slots, "%sharnesses/%.*s/harness.py", i ? " " : "", STR(q->slots[i]));
    add_own(env, &n, S("PATH"), a);
    add_own(env, &n, S("LANG"), a);
    add_env(env, &n, arena_printf(a, "ROOKERY_TASK=%.*s/TASK.txt", STR(dir)), a);
    add_env(env, &n, arena_printf(a, "ROOKERY_SKILL=%.*s/SKILL.md", STR(dir)), a);
    add_env(env, &n, arena_printf(a, "ROOKERY_SLOTS=%.*s", STR(buf_str(&slots))), a);
    add_env(env, &n, arena_printf(a, "ROOKERY_ITERATION=%lld", (long long)q->iteration), a);
    for (str rest = p->env; rest.len > 0;)
        add_own(env, &n, str_trim(str_cut(&rest, ',')), a);
    return env;
}

static char **argv_of(const struct proposers *p)
{
    struct arena *a = p->run->arena;
    char **argv = NEW_ARRAY(a, char *, ARGV_MAX + 1);
    size_t n = 0;
    for (str rest = p->command; rest.len > 0 && n < ARGV_MAX;) {
        str word = str_cut(&rest, ' ');
        if (word.len == 0)
            continue;
        argv[n] = arena_alloc(a, word.len + 1);
        memcpy(argv[n++], word.data, word.len);
    }
    return argv;
}

static void become(const int fds[3], const char *dir, char **argv, char **env)
{
    setpgid(0, 0);
    for (int i = 0; i < 3; i++)
        dup2(fds[i], i);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    if (chdir(dir) == 0)
        execvpe(argv[0], argv, env);
    dprintf(2, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

static bool start(const struct proposers *p, const struct proposal_request *q, str dir,
                  struct child *c, struct err *err)
{
    int pipes[3][2];
    char **argv = argv_of(p), **env = environment_of(p, q, dir);
    const char *where = arena_str(p->run->arena, dir).data;
    for (int i = 0; i < 3; i++)
        if (pipe2(pipes[i], O_CLOEXEC) != 0)
            return err_set(err, ERR_RUN, "no pipe for the proposer: %s", strerror(errno));
    c->pid = fork();
    if (c->pid == 0)
        become((const int[]){ pipes[0][0], pipes[1][1], pipes[2][1] }, where, argv, env);
    close(pipes[0][0]);
    close(pipes[1][1]);
    close(pipes[2][1]);
    c->in = pipes[0][1];
    c->out = pipes[1][0];
    c->err = pipes[2][0];
    return c->pid > 0 ||
           err_set(err, ERR_RUN, "the proposer cannot be started: %s", strerror(errno));
}

// What comes is read to the end; what is over the limit is dropped.
static void drain(int *fd, struct buf *b)
{
    char data[4096];
    ssize_t n = read(*fd, data, sizeof data);
    if (n > 0 && b->len + (size_t)n <= OUTPUT_MAX_BYTES)
        buf_add(b, (str){ data, (size_t)n });
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
        close(*fd);
        *fd = -1;
    }
}

static void write_some(int *fd, str *text)
{
    ssize_t n = text->len > 0 ? write(*fd, text->data, text->len) : 0;
    if (n > 0)
        *text = str_sub(*text, (size_t)n, text->len);
    if (text->len == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
        close(*fd);
        *fd = -1;
    }
}

// Ends the whole group: politely at the deadline or at Ctrl-C, for good after a grace.
static void end_when_due(const struct child *c, int64_t deadline_ms, bool *warned)
{
    int64_t now = clock_mono_ms();
    bool stop = signals_seen > 0;
    if (!*warned && (now >= deadline_ms || stop)) {
        kill(-c->pid, SIGTERM);
        *warned = true;
    } else if (*warned && now >= deadline_ms + GRACE_MS) {
        kill(-c->pid, SIGKILL);
    }
}

static void follow(struct child *c, str task, int64_t timeout_s, struct arena *a,
                   struct finished *out)
{
    struct buf said = { .arena = a }, complained = { .arena = a };
    int64_t deadline_ms = clock_mono_ms() + timeout_s * 1000;
    bool warned = false;
    int status = 0;
    pid_t done = 0;
    fcntl(c->in, F_SETFL, O_NONBLOCK);
    while (done == 0) {
        struct pollfd fds[] = { { c->in, POLLOUT, 0 },
                                { c->out, POLLIN, 0 },
                                { c->err, POLLIN, 0 } };
        (void)poll(fds, 3, 100);
        if (c->in >= 0 && fds[0].revents)
            write_some(&c->in, &task);
        if (c->out >= 0 && fds[1].revents)
            drain(&c->out, &said);
        if (c->err >= 0 && fds[2].revents)
            drain(&c->err, &complained);
        end_when_due(c, deadline_ms, &warned);
        done = waitpid(c->pid, &status, WNOHANG);
    }
    kill(-c->pid, SIGKILL); // what it left behind
    for (int i = 0; i < 2; i++) {
        int *fd = i == 0 ? &c->out : &c->err;
        fcntl(*fd, F_SETFL, O_NONBLOCK);
        while (*fd >= 0 && poll(&(struct pollfd){ *fd, POLLIN, 0 }, 1, 0) > 0)
            drain(fd, i == 0 ? &said : &complained);
        if (*fd >= 0)
            close(*fd);
    }
    if (c->in >= 0)
        close(c->in);
    *out = (struct finished){ .timed_out = warned,
                              .status =
                                  WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                              .out = buf_str(&said),
                              .err = buf_str(&complained) };
}

// ---- taking back ----

// A slot's file; what is no regular file, or too large, is a candidate that will be rejected.
static void take_slot(str dir, str slot, struct arena *a, struct proposals *out)
{
    struct stat st;
    struct err why = { 0 };
    str source, path = arena_printf(a, "%.*s/harnesses/%.*s/harness.py", STR(dir), STR(slot));
    if (lstat(path.data, &st) != 0)
        return;
    if (!candidate_read(path, a, &source, &why)) {
        log_line(LOG_WARN, "%.*s: %s", STR(slot), why.text);
        source = S("");
    }
    proposals_entry(out, slot, a)->source = source;
}

void take_files(const struct proposers *p, const struct proposal_request *q, str dir,
                struct proposals *out)
{
    struct arena *a = p->run->arena;
    str meta, path = path_join(dir, S("pending_eval.json"), a);
    struct stat st;
    if (lstat(path.data, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= META_MAX_BYTES &&
        file_read(path, META_MAX_BYTES, a, &meta, NULL)) {
        struct err why = { 0 };
        if (proposals_read(meta, a, out, &why))
            out->pending = meta;
        else
            log_line(LOG_WARN, "%s", why.text);
    }
    for (size_t i = 0; i < out->n; i++)
        out->v[i].source = (str){ 0 }; // only files count
    for (size_t i = 0; i < q->n_slots; i++)
        take_slot(dir, q->slots[i], a, out);
}

// ---- all of it ----

static bool may_pass(const struct finished *f, size_t n_candidates, struct arena *a)
{
    static const char *const signs[] = { "overloaded",
                                         "rate limit",
                                         "temporarily unavailable",
                                         "service unavailable",
                                         "internal server error",
                                         "connection reset",
                                         "timed out" };
    str text = arena_lower(a, arena_printf(a, "%.*s %.*s", STR(f->out), STR(f->err)));
    bool found = false;
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        found |= str_find(text, str_from(signs[i])) >= 0;
    return f->status != 0 && n_candidates == 0 && found;
}

static str log_of(const struct proposers *p, const struct finished *f)
{
    struct buf b = { .arena = p->run->arena };
    buf_addf(&b, "command: %.*s\nexit: %d%s\n--- stdout\n%.*s\n--- stderr\n", STR(p->command),
             f->status, f->timed_out ? " (time-out)" : "", STR(f->out));
    buf_add(&b, f->err);
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

static size_t count_sources(const struct proposals *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += p->v[i].source.data != NULL;
    return n;
}

static bool run_once(const struct proposers *p, const struct proposal_request *q,
                     struct proposals *out, struct finished *end, struct err *err)
{
    struct arena *a = p->run->arena;
    struct child c = { 0 };
    str dir = { 0 };
    bool ok = make_scratch(p, q, &dir, err) &&
              file_save(path_join(dir, S("TASK.txt"), a), q->task, err) &&
              start(p, q, dir, &c, err);
    if (ok) {
        follow(&c, q->task, p->timeout_s, a, end);
        take_files(p, q, dir, out);
        out->log = log_of(p, end);
    }
    if (dir.len > 0)
        remove_tree(dir, 0, a);
    return ok;
}

bool command_propose_now(const struct proposers *p, const struct proposal_request *q,
                         struct proposals *out, struct err *err)
{
    struct finished end;
    for (int i = 0; i < TRIES; i++) {
        *out = (struct proposals){ 0 };
        if (!run_once(p, q, out, &end, err))
            return false;
        out->calls = i + 1;
        if (signals_seen > 0)
            return err_set(err, ERR_INTERRUPTED, "interrupted; give the same command again");
        if (!may_pass(&end, count_sources(out), p->run->arena))
            return true;
        log_line(LOG_WARN, "the proposer failed for now; it is tried again in %lld s",
                 (long long)p->retry_wait_s);
        for (int64_t k = 0; k < 10 * p->retry_wait_s && signals_seen == 0 && i + 1 < TRIES; k++)
            (void)poll(NULL, 0, 100);
    }
    return true;
}

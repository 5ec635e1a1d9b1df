// SPDX-License-Identifier: GPL-3.0-or-later
// study_run.c - runs the cells of a study as child processes on one store. A crash or a refused key
// ends one cell; the others go on. Each endpoint has its own places, so a slow one never holds up
// the rest. To go on, the study is given again: each run is replayed from the store.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/run.h"
#include "cli/study.h"

enum { POLL_MS = 50, REPORT_MS = 10000, EXIT_INTERRUPTED = 130, EXIT_BUDGET = 5 };

// ---- in the child ----

static void note_progress(void *run, const struct pump_stats *stats)
{
    const struct run *r = run;
    struct study_progress *p = r->args->child->progress;
    atomic_store(&p->n_done, (long long)r->lab.progress.n_done);
    atomic_store(&p->n_jobs, (long long)r->lab.progress.n_jobs);
    atomic_store(&p->n_calls, stats->n_calls + stats->n_replayed + stats->n_reused);
}

void study_child_opts(struct run *r, struct pump_opts *opts)
{
    const struct study_child *child = r->args->child;
    if (!child)
        return;
    opts->purse = child->purse;
    opts->gates = child->gates;
    opts->purse_holder = child->holder;
    opts->max_day_nusd = child->max_day_nusd;
    opts->progress = note_progress;
}

// Standard output and error of a child go to files of its run directory.
static bool redirect(const struct study_cell *c, struct arena *a, struct err *err)
{
    static const struct {
        int fd;
        const char *name;
    } streams[] = { { STDOUT_FILENO, "report.txt" }, { STDERR_FILENO, "errors.txt" } };
    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        str path = path_join(c->dir, str_from(streams[i].name), a);
        int fd = open(path.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (fd < 0 || dup2(fd, streams[i].fd) < 0)
            return err_set(err, ERR_RUN, "%.*s: %s", STR(path), strerror(errno));
        close(fd);
    }
    return true;
}

struct words {
    char **v;
    size_t n, cap;
};

static void add_word(struct words *w, str text, struct arena *a)
{
    str copy = arena_str(a, text);
    char *word = arena_alloc(a, copy.len + 1);
    memcpy(word, copy.data, copy.len + 1);
    *vec_push(a, w) = word;
}

static void add_option(struct words *w, const char *name, str value, struct arena *a)
{
    if (value.len > 0)
        add_word(w, arena_printf(a, "--%s=%.*s", name, STR(value)), a);
}

static void child_words(const struct study *s, const struct study_cell *c, struct words *w)
{
    struct arena *a = s->arena;
    add_word(w, c->config_path, a);
    add_option(w, "program", c->program, a);
    add_option(w, "store", s->store, a);
    add_option(w, "out", c->dir, a);
    add_option(w, "run-name", s->config.name, a);
    add_option(w, "base-url", c->model->base_url, a);
    add_option(w, "format", c->model->format, a);
    add_option(w, "repeat", arena_printf(a, "%lld", (long long)c->repeat), a);
    static const char *const passed[] = { "deterministic", "continue-on-error", "allow-http" };
    for (size_t i = 0; i < ARRAY_LEN(passed); i++)
        if (opt_flag(s->args, passed[i]))
            add_word(w, arena_printf(a, "--%s", passed[i]), a);
}

// The run itself, as its own command would do it.
static int run_cell(const struct study *s, const struct study_cell *c)
{
    struct err err = { 0 };
    struct words words = { 0 };
    struct args *args = NEW(s->arena, struct args);
    struct study_child child = {
        s->purse,
        s->gates,
        c->holder,
        &s->progress[c->holder],
        (int64_t)(opt_real(s->args, "max-cost-per-day", 0) * 1e9),
        s->prices,
    };
    const struct command *command = c->program.len > 0 ? &command_eval : &command_optimize;
    child_words(s, c, &words);
    bool ok = redirect(c, s->arena, &err) && args_parse(command, (int)words.n, words.v, args, &err);
    if (ok) {
        args->child = &child;
        ok = command->run(args, s->arena, &err);
    }
    if (!ok)
        fprintf(stderr, "rookery: %.*s\n", STR(text_for_terminal(str_from(err.text), s->arena)));
    fflush(NULL);
    return ok ? 0 : err_exit_code(err.code == ERR_NONE ? ERR_RUN : err.code);
}

// ---- in the parent ----

static bool start(struct study *s, struct study_cell *c)
{
    fflush(NULL);
    c->pid = fork();
    if (c->pid < 0)
        return err_set(s->err, ERR_RUN, "cannot start a process: %s", strerror(errno));
    if (c->pid == 0) {
        // Ctrl-C is the parent's to pass on, once; a parent that is killed takes its children
        // along.
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        _exit(run_cell(s, c));
    }
    c->state = CELL_RUNNING;
    return true;
}

// Where a cell's calls go: what one slow endpoint may hold up.
static str endpoint_of(const struct study_cell *c)
{
    str name = c->model->config.name;
    return c->model->base_url.len > 0 ? c->model->base_url : str_cut(&name, '/');
}

static size_t running_at(const struct study *s, str endpoint)
{
    size_t n = 0;
    for (size_t i = 0; i < s->cells.n; i++)
        n += s->cells.v[i].state == CELL_RUNNING && str_eq(endpoint_of(&s->cells.v[i]), endpoint);
    return n;
}

// The first waiting cell of an endpoint that has a free place, the least busy endpoint first.
static struct study_cell *next_cell(const struct study *s)
{
    struct study_cell *best = NULL;
    size_t least = s->n_jobs;
    for (size_t i = 0; i < s->cells.n; i++) {
        struct study_cell *c = &s->cells.v[i];
        if (c->state != CELL_WAITING)
            continue;
        size_t running = running_at(s, endpoint_of(c));
        if (running < least) {
            best = c;
            least = running;
        }
    }
    return best;
}

// The last line that a child wrote to its errors.
static str last_error(const struct study_cell *c, struct arena *a)
{
    enum { ERRORS_MAX_BYTES = 4 << 20 };
    struct err ignored = { 0 };
    str text = { 0 }, last = { 0 };
    str path = path_join(c->dir, S("errors.txt"), a);
    if (!file_exists(path) || !file_read(path, ERRORS_MAX_BYTES, a, &text, &ignored))
        return S("no word of why");
    while (text.len > 0) {
        str line = str_trim(str_cut_line(&text));
        if (line.len > 0)
            last = line;
    }
    return last;
}

static void finish_cell(struct study *s, struct study_cell *c, int status)
{
    purse_forfeit(s->purse, c->holder);
    gates_forfeit(s->gates, c->holder);
    c->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    c->state = c->exit_code == 0 ? CELL_DONE : CELL_FAILED;
    if (c->state == CELL_DONE)
        return;
    c->why = WIFEXITED(status) ? last_error(c, s->arena)
                               : arena_printf(s->arena, "ended by signal %d", WTERMSIG(status));
    log_line(LOG_WARN, "%.*s: %.*s", STR(cell_name(c, s->arena)), STR(c->why));
}

static void reap(struct study *s)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        for (size_t i = 0; i < s->cells.n; i++)
            if (s->cells.v[i].state == CELL_RUNNING && s->cells.v[i].pid == pid)
                finish_cell(s, &s->cells.v[i], status);
}

static size_t count(const struct study *s, enum cell_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < s->cells.n; i++)
        n += s->cells.v[i].state == state;
    return n;
}

static void add_running(const struct study *s, struct buf *out)
{
    for (size_t i = 0; i < s->cells.n; i++) {
        const struct study_cell *c = &s->cells.v[i];
        if (c->state != CELL_RUNNING)
            continue;
        struct study_progress *p = &s->progress[c->holder];
        buf_addf(out, "; %.*s %.*s %lld calls", STR(c->model->label), STR(method_name(c->method)),
                 (long long)atomic_load(&p->n_calls));
    }
}

static void report(struct study *s)
{
    bool terminal = isatty(STDERR_FILENO);
    int64_t now = clock_mono_ms();
    if (now - s->reported_ms < (terminal ? POLL_MS : REPORT_MS))
        return;
    s->reported_ms = now;
    struct arena scratch = { 0 };
    struct buf b = { .arena = &scratch };
    buf_addf(&b, "%zu of %zu runs done, %zu failed, %.4f US$", count(s, CELL_DONE), s->cells.n,
             count(s, CELL_FAILED), (double)purse_spent_nusd(s->purse) / 1e9);
    add_running(s, &b);
    str text = text_for_terminal(buf_str(&b), &scratch);
    fprintf(stderr, terminal ? "\r\033[K%.*s" : "rookery: %.*s\n", STR(str_sub(text, 0, 200)));
    arena_free(&scratch);
}

// What happens to all happens to the children too: they store what they have and end.
static void interrupt_children(const struct study *s)
{
    for (size_t i = 0; i < s->cells.n; i++)
        if (s->cells.v[i].state == CELL_RUNNING)
            kill(s->cells.v[i].pid, SIGTERM);
}

static bool stopped_for(const struct study *s, int exit_code)
{
    for (size_t i = 0; i < s->cells.n; i++)
        if (s->cells.v[i].state == CELL_FAILED && s->cells.v[i].exit_code == exit_code)
            return true;
    return false;
}

static bool run_all(struct study *s)
{
    int seen = 0;
    for (;;) {
        bool stopping = signals_seen > 0 || stopped_for(s, EXIT_BUDGET);
        struct study_cell *next;
        while (!stopping && (next = next_cell(s)) != NULL)
            if (!start(s, next))
                return false;
        if (count(s, CELL_RUNNING) == 0)
            return true;
        if (signals_seen > seen) {
            seen = signals_seen;
            interrupt_children(s);
        }
        nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000L }, NULL);
        reap(s);
        report(s);
    }
}

static bool explain_end(const struct study *s)
{
    if (signals_seen > 0)
        return err_set(s->err, ERR_INTERRUPTED, "interrupted; give the same command to go on");
    if (stopped_for(s, EXIT_BUDGET))
        return err_set(
            s->err, ERR_BUDGET,
            "the budget is spent (%.4f US$); raise it and give the same command to go on",
            (double)purse_spent_nusd(s->purse) / 1e9);
    size_t failed = count(s, CELL_FAILED);
    if (failed > 0)
        return err_set(s->err, ERR_RUN,
                       "%zu of %zu runs failed (above); the same command tries them again", failed,
                       s->cells.n);
    return true;
}

bool study_run(struct study *s)
{
    size_t bytes = (s->cells.n + 1) * sizeof *s->progress;
    s->progress = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->progress == MAP_FAILED)
        return err_set(s->err, ERR_RUN, "no shared memory: %s", strerror(errno));
    signals_install();
    bool ok = run_all(s);
    progress_clear();
    munmap(s->progress, bytes);
    return ok && explain_end(s);
}

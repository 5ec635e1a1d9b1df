// SPDX-License-Identifier: GPL-3.0-or-later
// client.c - our side: starting the template, and having it fork and reap cells.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/client.h"

struct sandbox {
    pid_t pid;
    int control;
    struct hello hello;
};

// In the child, where only what is safe between fork and exec may be called.
static noreturn void become(const struct sandbox_opts *opts, const char *seed, int control,
                            pid_t parent)
{
    char word[] = TEMPLATE_WORD, raw[] = RAW_WORD, plain[] = "-", name[] = "rookery";
    char number[24];
    memcpy(number, seed, sizeof number);
    char *argv[] = { name, word, opts->raw ? raw : plain, number, NULL };
    char *environment[] = { NULL };
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0); // Ctrl-C at the terminal is for the program alone
    if (null < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(EXIT_NOT_LOCKED);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int high = fcntl(control, F_DUPFD_CLOEXEC, 10); // out of the way of what follows
    for (int fd = 0; fd < CONTROL_FD; fd++)
        if (dup2(null, fd) < 0)
            _exit(EXIT_NOT_LOCKED);
    if (high >= 0 && dup2(high, CONTROL_FD) >= 0) {
        close_range(CONTROL_FD + 1, ~0U, 0);
        execve("/proc/self/exe", argv, environment);
    }
    _exit(EXIT_NOT_LOCKED);
}

static bool start(struct sandbox *s, const struct sandbox_opts *opts, struct err *err)
{
    int pair[2];
    char seed[24] = { 0 };
    snprintf(seed, sizeof seed, "%d", opts->hash_seed);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return err_set(err, ERR_RUN, "sandbox: %s", strerror(errno));
    pid_t parent = getpid();
    s->pid = fork();
    if (s->pid == 0)
        become(opts, seed, pair[1], parent);
    close(pair[1]);
    s->control = pair[0];
    if (s->pid < 0)
        return err_set(err, ERR_RUN, "sandbox: cannot start a process: %s", strerror(errno));
    if (recv(s->control, &s->hello, sizeof s->hello, 0) != (ssize_t)sizeof s->hello)
        return err_set(err, ERR_RUN, "sandbox: its template process did not start");
    s->hello.failure[sizeof s->hello.failure - 1] = '\0';
    s->hello.python[sizeof s->hello.python - 1] = '\0';
    return !s->hello.failure[0] || err_set(err, ERR_RUN, "sandbox: %s", s->hello.failure);
}

bool sandbox_new(const struct sandbox_opts *opts, struct sandbox **out, struct err *err)
{
    struct sandbox *s = mem_must(calloc(1, sizeof *s));
    s->control = -1;
    bool ok = start(s, opts, err);
    if (!ok)
        sandbox_free(s);
    *out = ok ? s : NULL;
    return ok;
}

void sandbox_free(struct sandbox *s)
{
    if (!s)
        return;
    if (s->control >= 0)
        close(s->control);
    if (s->pid > 0) {
        kill(s->pid, SIGKILL); // ours and not reaped: the number is still its own
        while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    free(s);
}

const struct sandbox_layers *sandbox_layers(const struct sandbox *s)
{
    return &s->hello.layers;
}

str sandbox_python(const struct sandbox *s)
{
    return str_from(s->hello.python);
}

// Takes one report, and the descriptors that may come with it.
static bool receive(struct sandbox *s, struct report *r, int fds[REPORT_FDS])
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(REPORT_FDS * sizeof(int))];
    } extra = { 0 };
    struct iovec part = { r, sizeof *r };
    struct msghdr m = { .msg_iov = &part,
                        .msg_iovlen = 1,
                        .msg_control = &extra,
                        .msg_controllen = sizeof extra.room };
    ssize_t n;
    do
        n = recvmsg(s->control, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(REPORT_FDS * sizeof(int)))
        memcpy(fds, CMSG_DATA(c), REPORT_FDS * sizeof(int));
    return n == (ssize_t)sizeof *r;
}

static bool order(struct sandbox *s, struct order o, struct report *r, int fds[REPORT_FDS])
{
    for (size_t i = 0; i < REPORT_FDS; i++)
        fds[i] = -1;
    return send(s->control, &o, sizeof o, MSG_NOSIGNAL) == (ssize_t)sizeof o && receive(s, r, fds);
}

bool sandbox_fork(struct sandbox *s, struct fork *out, struct err *err)
{
    struct report r = { 0 };
    int fds[REPORT_FDS];
    if (!order(s, (struct order){ .kind = ORDER_FORK }, &r, fds))
        return err_set(err, ERR_RUN, "sandbox: its template process died");
    if (r.error != 0 || fds[0] < 0)
        return err_set(err, ERR_RUN, "sandbox: cannot start a child: %s", strerror(r.error));
    void *area = mmap(NULL, sizeof(struct call_area), PROT_READ | PROT_WRITE, MAP_SHARED,
                      fds[REPORT_AREA], 0);
    close(fds[REPORT_AREA]);
    fcntl(fds[REPORT_SOCKET], F_SETFL, O_NONBLOCK);
    *out = (struct fork){ r.pid, fds[REPORT_SOCKET], fds[REPORT_PIDFD], area };
    if (area != MAP_FAILED)
        return true;
    pidfd_send_signal(out->pidfd, SIGKILL, NULL, 0);
    close(out->socket);
    close(out->pidfd);
    sandbox_reap(s, r.pid);
    return err_set(err, ERR_RUN, "sandbox: no memory for a child: %s", strerror(errno));
}

int sandbox_reap(struct sandbox *s, pid_t pid)
{
    struct report r = { 0 };
    int fds[REPORT_FDS];
    return order(s, (struct order){ ORDER_REAP, pid }, &r, fds) && r.error == 0 ? r.status : 0;
}

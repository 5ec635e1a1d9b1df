// SPDX-License-Identifier: GPL-3.0-or-later
// template.c - the process from which cells are forked. It is exec'ed with an empty environment, so
// that nothing of the program is in its memory, and never sees a candidate: what a child reads of
// it is Python and our two files.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/internal.h"

// ---- the child's side ----

// Reads one request, whole, into `room`, and returns the length of its JSON. Nothing may come
// behind it: the next request is sent when this one is answered.
static uint32_t read_request(char *room)
{
    size_t have = 0, want = FRAME_HEAD_BYTES;
    while (have < want) {
        ssize_t got =
            read(CHILD_FD, room + have, FRAME_HEAD_BYTES + HARNESS_REQUEST_MAX_BYTES - have);
        if (got <= 0)
            _exit(got == 0 ? 0 : EXIT_STREAM);
        have += (size_t)got;
        if (have >= FRAME_HEAD_BYTES)
            want = FRAME_HEAD_BYTES + (size_t)frame_length((const unsigned char *)room);
        if (want > FRAME_HEAD_BYTES + HARNESS_REQUEST_MAX_BYTES)
            _exit(EXIT_MEMORY);
    }
    return (uint32_t)(want - FRAME_HEAD_BYTES);
}

static void write_all(const char *data, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = write(CHILD_FD, data + done, n - done);
        if (put <= 0)
            _exit(EXIT_STREAM);
        done += (size_t)put;
    }
}

static void answer_frame(char *room)
{
    char *reply; // with room for the head in front
    size_t len;
    uint32_t n = read_request(room);
    if (!python_handle(room + FRAME_HEAD_BYTES, n, &reply, &len))
        _exit(EXIT_CANDIDATE);
    for (size_t i = 0; i < FRAME_HEAD_BYTES; i++)
        reply[i] = (char)(len >> (8 * i) & 0xff);
    write_all(reply, FRAME_HEAD_BYTES + len);
    free(reply);
}

// Sleeps until there is another request than `last`.
static uint32_t await_request(struct call_area *area, uint32_t last)
{
    uint32_t now;
    while ((now = atomic_load_explicit(&area->asked, memory_order_acquire)) == last)
        syscall(SYS_futex, &area->asked, FUTEX_WAIT, last, NULL, NULL, 0);
    return now;
}

static void tell_done(struct call_area *area, uint32_t number)
{
    atomic_store(&area->answered, number);
    uint32_t bell = atomic_exchange(&area->bell, BELL_NONE);
    if (bell == BELL_FUTEX)
        syscall(SYS_futex, &area->answered, FUTEX_WAKE, 1, NULL, NULL, 0);
    else if (bell == BELL_SOCKET)
        write_all("!", 1);
}

noreturn void child_run(int socket, pid_t template, struct call_area *area)
{
    char *room = malloc(FRAME_HEAD_BYTES + HARNESS_REQUEST_MAX_BYTES);
    lock_child(socket, template);
    if (!room)
        _exit(EXIT_MEMORY);
    for (uint32_t number = 0;;) {
        number = await_request(area, number);
        if (area->on_socket)
            answer_frame(room);
        else if (python_call(area))
            tell_done(area, number);
        else
            _exit(EXIT_CANDIDATE);
    }
}

// ---- the template's side ----

static void send_report(int control, const struct report *r, const int fds[REPORT_FDS])
{
    union { // aligned as the macros want it
        struct cmsghdr head;
        char room[CMSG_SPACE(REPORT_FDS * sizeof(int))];
    } extra = { 0 };
    struct report copy = *r;
    struct iovec part = { &copy, sizeof copy };
    struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
    if (fds) {
        m.msg_control = &extra;
        m.msg_controllen = sizeof extra.room;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(REPORT_FDS * sizeof(int));
        memcpy(CMSG_DATA(c), fds, REPORT_FDS * sizeof(int));
    }
    if (sendmsg(control, &m, MSG_NOSIGNAL) < 0)
        _exit(0); // the program is gone
}

// Memory that the program and a child will share. Sealed: a child that makes it smaller would kill
// who reads it. -1 and NULL: there is none.
static int make_area(struct call_area **out)
{
    enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };
    *out = NULL;
    int fd = memfd_create("calls", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    void *p = MAP_FAILED;
    if (ftruncate(fd, sizeof **out) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
        p = mmap(NULL, sizeof **out, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p != MAP_FAILED) {
        *out = p;
        return fd;
    }
    close(fd);
    return -1;
}

static void close_all(const int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static void fork_child(int control)
{
    int pair[2] = { -1, -1 };
    struct call_area *area;
    pid_t self = getpid();
    struct report r = { 0 };
    int fds[REPORT_FDS] = { -1, -1, make_area(&area) };
    bool ready = area && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0;
    r.pid = ready ? python_fork() : -1;
    if (r.pid == 0)
        child_run(pair[1], self, area);
    fds[REPORT_SOCKET] = pair[0];
    if (r.pid > 0)
        fds[REPORT_PIDFD] = pidfd_open(r.pid, 0);
    if (fds[REPORT_PIDFD] < 0) {
        r.error = errno ? errno : EAGAIN;
        if (r.pid > 0) {
            kill(r.pid, SIGKILL);
            waitpid(r.pid, NULL, 0);
        }
    }
    send_report(control, &r, r.error ? NULL : fds);
    close_all(fds, REPORT_FDS);
    close_all(pair + 1, 1);
    if (area)
        munmap(area, sizeof *area);
}

noreturn void template_run(int control, const struct hello *hello)
{
    struct order order;
    malloc_trim(0); // joins what is free, which would copy its pages in each child
    if (send(control, hello, sizeof *hello, MSG_NOSIGNAL) < 0)
        _exit(0);
    while (recv(control, &order, sizeof order, 0) == (ssize_t)sizeof order) {
        struct report r = { .pid = order.pid };
        if (order.kind == ORDER_FORK) {
            fork_child(control);
        } else {
            if (waitpid(order.pid, &r.status, 0) < 0)
                r.error = errno;
            send_report(control, &r, NULL);
        }
    }
    _exit(0); // end of the control socket: the program is gone
}

void sandbox_become_template(int argc, char **argv)
{
    struct hello hello = { 0 };
    if (argc != 4 || strcmp(argv[1], TEMPLATE_WORD) != 0)
        return;
    int64_t hash_seed;
    if (!str_to_int(str_from(argv[3]), 0, UINT32_MAX, &hash_seed))
        return;
    clearenv(); // of what the loader may have added
    bool raw = strcmp(argv[2], RAW_WORD) == 0;
    if (python_start(raw, (unsigned long)hash_seed, hello.failure, sizeof hello.failure))
        lock_prepare(&hello.layers, hello.failure, sizeof hello.failure);
    snprintf(hello.python, sizeof hello.python, "%s", python_version_text());
    template_run(CONTROL_FD, &hello);
}

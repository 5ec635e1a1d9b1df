// SPDX-License-Identifier: GPL-3.0-or-later
// lock.c - what a child may still do after lock_child: compute, in bounded memory and time, and
// read and write one socket. Seccomp and the limits are mandatory; another user, empty namespaces
// and Landlock are added where the system grants them. All that can be made beforehand is made in
// the template: the filter is compiled once and installed by one system call.
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/filter.h>

#include "sandbox/internal.h"

enum { OTHER_USER = 65534, FILTER_MAX_BYTES = 64 << 10, STACK_BYTES = 8 << 20 };
enum { CELL_MEMORY_BYTES = 256 << 20 }; // above the idle interpreter
#ifdef __SANITIZE_ADDRESS__
enum { IS_SANITIZED = 1 }; // its shadow memory fits under no limit of address space
#else
enum { IS_SANITIZED = 0 };
#endif

static struct { // of the template, made once
    struct sock_fprog filter;
    int landlock; // its ruleset, -1: none
    bool root;
    rlim_t idle_bytes; // address space before a candidate
} prepared = { .landlock = -1 };

// ---- the filter ----

// Needed for computing. Descriptors and memory protection are compared beside these.
static const char *const allowed[] = {
    "brk",           "munmap",         "mremap",          "madvise",     "futex",
    "rt_sigreturn",  "rt_sigprocmask", "sigaltstack",     "exit",        "exit_group",
    "clock_gettime", "gettimeofday",   "restart_syscall", "sched_yield", "rseq",
};
// Whoever tries one of these is an attacker or lost: the end. All else is refused with EPERM, so
// that library code can fail softly.
static const char *const deadly[] = {
    "execve",
    "execveat",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "fork",
    "vfork",
    "clone",
    "socket",
    "socketpair",
    "connect",
    "kill",
    "tkill",
    "pidfd_send_signal",
    "bpf",
    "io_uring_setup",
    "unshare",
    "setns",
    "mount",
    "keyctl",
    "userfaultfd",
    "perf_event_open",
    "pivot_root",
    "chroot",
    "init_module",
};

static int add_named(scmp_filter_ctx f, uint32_t action, const char *const *names, size_t n)
{
    int failed = 0;
    for (size_t i = 0; i < n && !failed; i++) {
        int number = seccomp_syscall_resolve_name(names[i]);
        if (number != __NR_SCMP_ERROR)
            failed = seccomp_rule_add(f, action, number, 0);
    }
    return failed;
}

static int add_compared(scmp_filter_ctx f)
{
    const struct scmp_arg_cmp socket = SCMP_A0(SCMP_CMP_EQ, CHILD_FD);
    const struct scmp_arg_cmp data = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    const struct scmp_arg_cmp anonymous = SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS);
    int failed = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(read), 1, socket);
    failed = failed ? failed : seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, socket);
    failed =
        failed ? failed : seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, data, anonymous);
    failed = failed ? failed : seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, data);
    return failed ? failed : seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

// The program for the kernel, out of the library's only way to hand it over: a file.
static bool export_filter(scmp_filter_ctx f)
{
    int fd = memfd_create("filter", MFD_CLOEXEC);
    static char bytes[FILTER_MAX_BYTES];
    bool ok = fd >= 0 && seccomp_export_bpf(f, fd) == 0;
    ssize_t n = ok ? pread(fd, bytes, sizeof bytes, 0) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0 || (size_t)n == sizeof bytes)
        return false;
    prepared.filter.len = (unsigned short)((size_t)n / sizeof(struct sock_filter));
    prepared.filter.filter = mem_must(malloc((size_t)n));
    memcpy(prepared.filter.filter, bytes, (size_t)n);
    return true;
}

static bool prepare_filter(void)
{
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    bool ok = f && seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 &&
              seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2) == 0 && // a tree: each call pays
              add_named(f, SCMP_ACT_ALLOW, allowed, ARRAY_LEN(allowed)) == 0 &&
              add_named(f, SCMP_ACT_KILL_PROCESS, deadly, ARRAY_LEN(deadly)) == 0 &&
              add_compared(f) == 0 && export_filter(f);
    if (f)
        seccomp_release(f);
    return ok;
}

static bool kernel_has_seccomp(void)
{
    uint32_t action = SECCOMP_RET_KILL_PROCESS;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

// ---- Landlock: no file, no port, no signal ----

struct ruleset { // landlock_ruleset_attr of newer kernels than the headers know
    uint64_t files, network, scoped;
};

// Returns the version of the kernel's Landlock; prepares a ruleset that allows nothing.
static int prepare_landlock(void)
{
    static const struct {
        int abi;
        uint64_t files;
    } rights[] = { { 5, 0xffff }, { 3, 0x7fff }, { 2, 0x3fff }, { 1, 0x1fff } };
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1)
        return 0;
    struct ruleset r = { .network = abi >= 4 ? 3 : 0, .scoped = abi >= 6 ? 3 : 0 };
    for (size_t i = ARRAY_LEN(rights); i-- > 0;)
        if (abi >= rights[i].abi)
            r.files = rights[i].files;
    size_t size = sizeof r.files * (abi >= 6 ? 3 : abi >= 4 ? 2 : 1);
    prepared.landlock = (int)syscall(SYS_landlock_create_ruleset, &r, size, 0);
    return prepared.landlock >= 0 ? (int)abi : 0;
}

// ---- before ----

static rlim_t address_space(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

bool lock_prepare(struct sandbox_layers *layers, char *failure, size_t size)
{
    int spaces = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS;
    prepared.root = geteuid() == 0;
    layers->namespaces = unshare(prepared.root ? spaces : spaces | CLONE_NEWUSER) == 0;
    layers->other_user = prepared.root;
    layers->landlock_abi = prepare_landlock();
    prepared.idle_bytes = address_space();
    if (!kernel_has_seccomp() || !prepare_filter()) {
        snprintf(
            failure, size,
            "this kernel or container grants no seccomp filter; without one no candidate runs");
        return false;
    }
    if (prepared.idle_bytes == 0) {
        snprintf(failure, size, "/proc is not there: the limit of memory cannot be computed");
        return false;
    }
    return true;
}

// ---- after the fork ----

static void must(bool done)
{
    if (!done)
        _exit(EXIT_NOT_LOCKED);
}

static void limit(int resource, rlim_t value)
{
    must(setrlimit(resource, &(struct rlimit){ value, value }) == 0);
}

// Root gives its rights up; in a container it may not even be able to, and then seccomp does it.
static void change_user(void)
{
    if (prepared.root && setgroups(0, NULL) == 0 &&
        setresgid(OTHER_USER, OTHER_USER, OTHER_USER) == 0)
        must(setresuid(OTHER_USER, OTHER_USER, OTHER_USER) == 0 || errno == EINVAL ||
             errno == EPERM || errno == EAGAIN);
}

static void set_limits(void)
{
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NPROC, 0);
    limit(RLIMIT_MEMLOCK, 0);
    limit(RLIMIT_MSGQUEUE, 0);
    limit(RLIMIT_STACK, STACK_BYTES);
    limit(RLIMIT_CPU, CELL_CPU_S);
    if (!IS_SANITIZED)
        limit(RLIMIT_AS, prepared.idle_bytes + CELL_MEMORY_BYTES);
}

void lock_child(int socket, pid_t template)
{
    setsid();
    change_user();
    must(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == template); // a new user clears it
    set_limits();
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
    if (prepared.landlock >= 0)
        must(syscall(SYS_landlock_restrict_self, prepared.landlock, 0) == 0);
    must(dup2(socket, CHILD_FD) == CHILD_FD);
    must(close_range(CHILD_FD + 1, ~0U, 0) == 0 && close_range(0, CHILD_FD - 1, 0) == 0);
    limit(RLIMIT_NOFILE, 0);
    must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prepared.filter) == 0);
}

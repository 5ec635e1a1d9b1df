// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_doctor.c - what this machine has and lacks, one line each, with what to do. Each thing is
// tried, not looked up: a child is locked and asked, a lock is taken twice, the engine is met.
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/engines.h"
#include "cli/run.h"
#include "sandbox/sandbox.h"

enum finding { FOUND_OK, FOUND_WARN, FOUND_FAIL };
struct doctor {
    const struct args *args;
    struct arena *a;
    struct buf text;
    struct json_out json; // the same, an object a line
    size_t n[3];
};

static void tell(struct doctor *d, enum finding f, const char *what, str how)
{
    static const char *const names[] = { "ok", "warn", "FAIL" };
    static const str levels[] = { T("ok"), T("warn"), T("fail") };
    d->n[f]++;
    how = text_for_terminal(how, d->a);
    buf_addf(&d->text, "%-5s %-15s %.*s\n", names[f], what, STR(how));
    json_open(&d->json, '{');
    json_key_str(&d->json, S("check"), str_from(what));
    json_key_str(&d->json, S("level"), levels[f]);
    json_key_str(&d->json, S("message"), how);
    json_close(&d->json, '}');
}

// ---- the sandbox ----

// In a child, since it can never be taken back.
static bool grants_no_new_privs(void)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

// A locked child that reads an answer through the baseline.
static bool try_child(struct sandbox *s, struct arena *a, struct err *err)
{
    str source;
    struct cell *c;
    struct harness_result r;
    if (!candidate_read(S("builtin:h0"), a, &source, err) || !sandbox_load(s, source, a, &c, err))
        return false;
    struct harness_call call = { .function = HARNESS_PARSE, .text = S("<move>e2e4</move>") };
    cell_call(c, &call);
    bool ok = cell_wait(c, a, &r) == CELL_ANSWERED && r.ok && str_eq(r.text, S("e2e4"));
    if (!ok)
        err_set(err, ERR_RUN, "a locked child does not answer (%.*s)", STR(cell_end_text(c, a)));
    cell_free(c);
    return ok;
}

static void tell_layers(struct doctor *d, const struct sandbox *s)
{
    const struct sandbox_layers *l = sandbox_layers(s);
    tell(d, FOUND_OK, "seccomp", S("granted"));
    if (l->landlock_abi > 0)
        tell(d, FOUND_OK, "landlock", arena_printf(d->a, "version %d", l->landlock_abi));
    else
        tell(d, FOUND_WARN, "landlock",
             S("not in this kernel; seccomp alone keeps candidates from files. Since Linux 5.13, "
               "lsm=landlock"));
    if (l->namespaces)
        tell(d, FOUND_OK, "namespaces", S("own, empty network and IPC for candidates"));
    else
        tell(d, FOUND_WARN, "namespaces",
             S("not granted; seccomp alone keeps candidates from the network. Allow user "
               "namespaces, if you can"));
    tell(d, FOUND_OK, "user",
         l->other_user ? S("root; candidates run as another user") : S("no root, as it should be"));
    tell(d, FOUND_OK, "python", sandbox_python(s));
}

static void check_sandbox(struct doctor *d)
{
    struct err err = { 0 };
    struct sandbox *s = NULL;
    if (grants_no_new_privs())
        tell(d, FOUND_OK, "no_new_privs", S("granted"));
    else
        tell(d, FOUND_FAIL, "no_new_privs", S("not granted; needs Linux 3.5 or newer"));
    if (!sandbox_new(&(struct sandbox_opts){ 0 }, &s, &err)) {
        tell(d, FOUND_FAIL, "sandbox",
             arena_printf(d->a, "%s; harness commands refuse, all others work", err.text));
        return;
    }
    tell_layers(d, s);
    if (try_child(s, d->a, &err))
        tell(d, FOUND_OK, "sandbox", S("a locked child answers"));
    else
        tell(d, FOUND_FAIL, "sandbox", str_from(err.text));
    sandbox_free(s);
}

// ---- programs ----

static void check_engine(struct doctor *d)
{
    struct err err = { 0 };
    struct engine e = { 0 };
    if (cli_engine_judge(d->args, d->a, &e, &err))
        tell(d, FOUND_OK, "engine", arena_printf(d->a, "%.*s (%.*s)", STR(e.name), STR(e.path)));
    else
        tell(d, FOUND_WARN, "engine",
             arena_printf(d->a, "%s; needed by regret, rollout, play --engine", err.text));
}

static bool is_on_path(str name, struct arena *a)
{
    const char *path = getenv("PATH");
    str rest = str_from(path ? path : "/usr/bin:/bin");
    while (rest.len > 0) {
        str dir = str_cut(&rest, ':');
        if (dir.len > 0 && access(path_join(dir, name, a).data, X_OK) == 0)
            return true;
    }
    return false;
}

static void check_ffmpeg(struct doctor *d)
{
    if (is_on_path(S("ffmpeg"), d->a))
        tell(d, FOUND_OK, "ffmpeg", S("on the path"));
    else
        tell(d, FOUND_WARN, "ffmpeg",
             S("not on the path; needed for videos alone (Debian: apt install ffmpeg)"));
}

// ---- the store ----

// Whether a second opening of the file is refused a lock that the first one holds, both kinds.
static bool locks_hold(int first, int second)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
    if (flock(first, LOCK_EX | LOCK_NB) != 0 || flock(second, LOCK_EX | LOCK_NB) == 0)
        return false;
    if (fcntl(first, F_OFD_SETLK, &lock) != 0)
        return false;
    lock = (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
    return fcntl(second, F_OFD_SETLK, &lock) != 0;
}

static void check_locks(struct doctor *d, str dir)
{
    char *path = arena_alloc(d->a, dir.len + sizeof "/rookery-doctor-XXXXXX");
    memcpy(path, dir.data, dir.len);
    memcpy(path + dir.len, "/rookery-doctor-XXXXXX", sizeof "/rookery-doctor-XXXXXX");
    int first = mkostemp(path, O_CLOEXEC);
    if (first < 0) {
        tell(d, FOUND_FAIL, "store",
             arena_printf(d->a, "%.*s: %s; choose another place with --store", STR(dir),
                          strerror(errno)));
        return;
    }
    int second = open(path, O_RDWR | O_CLOEXEC);
    bool hold = second >= 0 && locks_hold(first, second);
    unlink(path);
    close(first);
    if (second >= 0)
        close(second);
    if (hold)
        tell(d, FOUND_OK, "locks", arena_printf(d->a, "they hold in %.*s", STR(dir)));
    else
        tell(d, FOUND_FAIL, "locks",
             arena_printf(d->a,
                          "%.*s does not keep locks; two programs could harm a store there: "
                          "choose another place with --store",
                          STR(dir)));
}

static void check_store(struct doctor *d)
{
    enum { ENOUGH_MB = 500 };
    str path = opt_text(d->args, "store", S("rookery.db"));
    size_t end = path.len;
    while (end > 0 && path.data[end - 1] != '/')
        end--;
    str dir = end > 1 ? arena_str(d->a, str_sub(path, 0, end - 1)) : end == 1 ? S("/") : S(".");
    struct statfs fs;
    check_locks(d, dir);
    if (statfs(dir.data, &fs) != 0)
        return; // check_locks has said that it is not there
    int64_t free_mb = (int64_t)fs.f_bavail / 1024 * (int64_t)fs.f_bsize / 1024;
    if (store_is_network_fs((int64_t)fs.f_type))
        tell(d, FOUND_WARN, "store",
             arena_printf(d->a, "%.*s is on a network: slower, and for one program at a time",
                          STR(dir)));
    else
        tell(d, FOUND_OK, "store", arena_printf(d->a, "%.*s is a local file system", STR(dir)));
    tell(d, free_mb < ENOUGH_MB ? FOUND_WARN : FOUND_OK, "disk",
         arena_printf(d->a, "%lld MB free in %.*s%s", (long long)free_mb, STR(dir),
                      free_mb < ENOUGH_MB ? "; a study may need more" : ""));
}

// ---- the network ----

static void check_certificates(struct doctor *d)
{
    const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);
    const char *named = getenv("SSL_CERT_FILE");
    const char *file = named && *named ? named : v->cainfo, *dir = v->capath;
    if (file && access(file, R_OK) == 0)
        tell(d, FOUND_OK, "certificates", str_from(file));
    else if (!(named && *named) && dir && access(dir, R_OK | X_OK) == 0)
        tell(d, FOUND_OK, "certificates", str_from(dir));
    else
        tell(d, FOUND_FAIL, "certificates",
             arena_printf(d->a,
                          "%s cannot be read; https endpoints will be refused (Debian: apt "
                          "install ca-certificates; or set SSL_CERT_FILE)",
                          file ? file : "a list of authorities"));
    tell(d, FOUND_OK, "http",
         arena_printf(d->a, "libcurl %s, %s", v->version,
                      v->ssl_version ? v->ssl_version : "no TLS"));
}

// Which keys are set; never what they are.
static void check_keys(struct doctor *d)
{
    static const char *const names[] = { "OPENAI_API_KEY", "OPENROUTER_API_KEY",
                                         "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY",
                                         "GEMINI_API_KEY" };
    struct buf set = { .arena = d->a };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            buf_addf(&set, "%s%s", set.len > 0 ? ", " : "", names[i]);
    }
    tell(d, FOUND_OK, "keys",
         set.len > 0 ? arena_printf(d->a, "set: %.*s", STR(buf_str(&set)))
                     : S("none is set: sim/..., script/... and servers of your own need none"));
}

// ---- the machine ----

static void check_machine(struct doctor *d)
{
    enum { FILES_WANTED = 1024 };
    cpu_set_t cores;
    struct rlimit files;
    int n = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    tell(d, FOUND_OK, "cores", arena_printf(d->a, "%d", n));
    tell(d, FOUND_OK, "memory",
         arena_printf(d->a, "%lld MB; an engine takes some 250, a candidate's child 2",
                      (long long)pages / 1024 * page / 1024));
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    bool few = files.rlim_cur < FILES_WANTED;
    tell(d, few ? FOUND_WARN : FOUND_OK, "open files",
         arena_printf(d->a, "at most %llu%s", (unsigned long long)files.rlim_cur,
                      few ? "; with many calls in flight more are needed: ulimit -n 4096" : ""));
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct buf json = { .arena = a };
    struct doctor d = { .args = args, .a = a, .text = { .arena = a }, .json = { .b = &json } };
    json_open(&d.json, '[');
    check_machine(&d);
    check_sandbox(&d);
    check_engine(&d);
    check_ffmpeg(&d);
    check_store(&d);
    check_certificates(&d);
    check_keys(&d);
    json_close(&d.json, ']');
    buf_add_char(&json, '\n');
    if (!print_str(opt_flag(args, "json") ? buf_str(&json) : buf_str(&d.text), err))
        return false;
    return d.n[FOUND_FAIL] == 0 ||
           err_set(err, ERR_RUN, "%zu of the checks failed; their lines say what to do",
                   d.n[FOUND_FAIL]);
}

static const struct opt doctor_opts[] = {
    { "store", OPT_TEXT, "FILE", "where a store would lie [rookery.db]", 0, 0 },
    { .name = "json", .help = "the checks as one JSON array" },
    { 0 },
};
const struct command command_doctor = {
    .name = "doctor",
    .summary = "what this machine has and lacks, and what to do about it",
    .usage = "[OPTIONS]",
    .about = "Tries the sandbox, the engine, the place of the store and its locks, and looks for\n"
             "certificates, ffmpeg and keys (which it never prints). \"warn\" limits something,\n"
             "\"FAIL\" makes the exit code 1.\n"
             "Example: rookery doctor --store /data/rookery.db",
    .opts = { doctor_opts, opts_engine },
    .run = run,
};

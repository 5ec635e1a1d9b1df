// SPDX-License-Identifier: GPL-3.0-or-later
// What happens to a store when things go wrong: other files, newer programs, full disks, dying and
// competing processes, file systems without shared memory (field cases F-079, F-083, F-084).
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"
#include "store/store.h"

static struct arena arena;
static struct err err;
static char dir[64]; // a new one for each test

#define OK(call)                                                                                   \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s", err.text);                                                              \
    } while (0)

static str in_dir(str name)
{
    return path_join(str_from(dir), name, &arena);
}

// "DIR/NAME" put before a sentence, as errors name the path.
static str sentence(str name, str rest)
{
    return arena_printf(&arena, "%s/%.*s%.*s", dir, STR(name), STR(rest));
}

static void refused(str path, const struct store_opts *opts, enum err_code code, str text)
{
    struct store *s = NULL;
    err = (struct err){ 0 };
    assert_false(store_open(path, opts, &s, &err));
    assert_null(s);
    assert_str(str_from(err.text), text);
    assert_int_equal(err.code, code);
}

static void save(str path, str text)
{
    OK(file_save(path, text, &err));
}

// Runs SQL on a file that no store has open.
static void sql(str path, const char *text)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path.data, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static struct store *open_store(str path)
{
    struct store *s = NULL;
    OK(store_open(path, NULL, &s, &err));
    return s;
}

static int64_t begin(struct store *s, str key)
{
    struct store_run run = { .key = key };
    OK(store_run_begin(s, &(struct store_begin){ .now_unix_ms = 1 }, &arena, &run, &err));
    return run.id;
}

static bool try_put(struct store *s, int64_t run, int64_t job, str text)
{
    struct stored_call call = { .request_hash = S("h"),
                                .reuse_key = S("k"),
                                .class = S("ok"),
                                .cost_nusd = 7,
                                .reply = text,
                                .reusable = true };
    return store_call_put(s, &(struct call_place){ run, 0, job, 0 }, &call, &err);
}

static bool has(struct store *s, int64_t run, int64_t job)
{
    struct stored_call call;
    OK(store_call_get(s, &(struct call_place){ run, 0, job, 0 }, &arena, &call, &err));
    return call.found;
}

static bool count_one(void *ctx, const struct call_place *at, const struct stored_call *call,
                      struct err *why)
{
    (void)at, (void)call, (void)why;
    ++*(int64_t *)ctx;
    return true;
}

static int64_t count_calls(str path, str key)
{
    struct store *s = open_store(path);
    struct store_run run;
    int64_t n = 0;
    OK(store_run_find(s, key, &arena, &run, &err));
    OK(store_calls(s, run.id, count_one, &n, &err));
    assert_int_equal(run.n_calls, n); // the tally is committed with its rows
    assert_int_equal(run.spent_nusd, 7 * n);
    store_close(s);
    return n;
}

// ---- files that are no store ----

static void a_newer_store_is_refused_and_left_alone(void **state)
{
    (void)state;
    str path = in_dir(S("new.db"));
    store_close(open_store(path));
    sql(path, "PRAGMA user_version = 99");
    str want = sentence(S("new.db"), S(" was made by a newer rookery (store version 99, this one "
                                       "knows 3): update rookery or name another --store"));
    refused(path, NULL, ERR_INPUT, want);
    refused(path, &(struct store_opts){ .read_only = true }, ERR_INPUT, want);
    sql(path, "SELECT json FROM program; PRAGMA user_version = 3");
    store_close(open_store(path));
}

static void a_directory_is_refused(void **state)
{
    (void)state;
    refused(str_from(dir), NULL, ERR_INPUT,
            arena_printf(&arena, "%s is a directory: name a file in it", dir));
}

static void an_empty_name_is_refused(void **state)
{
    (void)state;
    refused(S(""), NULL, ERR_USAGE, S("the store has no name: give --store FILE"));
}

static void another_file_is_refused_and_left_alone(void **state)
{
    (void)state;
    str text = S("PuzzleId,FEN,Moves\n00008,r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24,"
                 "f2g3 e6e7 b2b1 b3c1 b1c1 h6c1\n"),
        back;
    save(in_dir(S("p.csv")), text);
    refused(in_dir(S("p.csv")), NULL, ERR_INPUT,
            sentence(S("p.csv"), S(" is not a rookery store: name another --store")));
    OK(file_read(in_dir(S("p.csv")), 1000, &arena, &back, &err));
    assert_str(back, text);
}

static void a_database_of_another_program_is_refused_and_left_alone(void **state)
{
    (void)state;
    str path = in_dir(S("other.db")), before, after;
    sql(path, "CREATE TABLE run (id); INSERT INTO run VALUES (1)");
    OK(file_read(path, 1 << 20, &arena, &before, &err));
    refused(
        path, NULL, ERR_INPUT,
        sentence(S("other.db"), S(" is a database of another program, not a rookery store: name "
                                  "another --store")));
    OK(file_read(path, 1 << 20, &arena, &after, &err));
    assert_true(str_eq(before, after)); // not even its journal mode changes
}

static void an_empty_file_becomes_a_store_but_not_for_a_reader(void **state)
{
    (void)state;
    save(in_dir(S("empty.db")), S(""));
    refused(in_dir(S("empty.db")), &(struct store_opts){ .read_only = true }, ERR_INPUT,
            sentence(S("empty.db"), S(" is an empty file, not a rookery store: name another "
                                      "--store")));
    store_close(open_store(in_dir(S("empty.db"))));
}

static void a_missing_store_cannot_be_read(void **state)
{
    (void)state;
    refused(in_dir(S("none.db")), &(struct store_opts){ .read_only = true }, ERR_INPUT,
            sentence(S("none.db"), S(": no such store (No such file or directory)")));
    assert_false(file_exists(in_dir(S("none.db"))));
}

static void a_damaged_store_is_named_as_such(void **state)
{
    (void)state;
    str path = in_dir(S("bad.db")), text;
    struct store *s = open_store(path);
    int64_t run = begin(s, S("aa"));
    for (int i = 0; i < 200; i++)
        OK(try_put(s, run, i, S("a reply that is long enough to fill a page with some others")));
    store_close(s);
    OK(file_read(path, 1 << 24, &arena, &text, &err));
    char *bytes = arena_alloc(&arena, text.len);
    memcpy(bytes, text.data, text.len);
    memset(bytes + 4096, 0x5a, text.len - 4096); // all pages but the first
    save(path, (str){ bytes, text.len });
    s = open_store(path);
    int64_t n = 0;
    assert_false(store_calls(s, run, count_one, &n, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_str(str_from(err.text),
               sentence(S("bad.db"),
                        S(": cannot read the replies: the store is damaged (database disk image is "
                          "malformed): put a copy in its place, or save what is left with `sqlite3 "
                          "FILE .recover`")));
    store_close(s);
}

// ---- places that cannot be written ----

static void a_path_below_a_file_cannot_be_opened(void **state)
{
    (void)state;
    save(in_dir(S("file")), S("x"));
    refused(in_dir(S("file/r.db")), NULL, ERR_RUN,
            arena_printf(&arena,
                         "%s/file/r.db: cannot make the store in the directory %s/file/: Not a "
                         "directory: name another --store",
                         dir, dir));
    refused(in_dir(S("no/r.db")), NULL, ERR_RUN,
            arena_printf(&arena,
                         "%s/no/r.db: cannot make the store in the directory %s/no/: No such file "
                         "or directory: name another --store",
                         dir, dir));
}

// fork(); cmocka's asserts and its catching of signals must not work in the child.
static pid_t fork_child(void)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGABRT, SIG_DFL);
    }
    return pid;
}

// Runs `body` in a child and passes when it exits with 0.
static void in_child(int (*body)(void))
{
    pid_t pid = fork_child();
    if (pid == 0)
        _exit(body());
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the child ended with status %d: see its line above", status);
}

// In a child: 0 when opening fails with this sentence.
static int child_refused(str name, str rest)
{
    struct store *s = NULL;
    struct err why = { 0 };
    bool opened = store_open(in_dir(name), NULL, &s, &why);
    bool same = !opened && str_eq(str_from(why.text), sentence(name, rest));
    if (!same)
        fprintf(stderr, "%s\n", opened ? "it opened" : why.text);
    return same ? 0 : 1;
}

static int open_read_only_places(void)
{
    if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0)) // root may write anywhere
        return 2;
    int bad = child_refused(S("ro.db"), S(" is read-only: make it writable, or name another "
                                          "--store"));
    bad |= child_refused(S("new.db"),
                         arena_printf(&arena,
                                      ": cannot make the store in the directory %s/: Permission "
                                      "denied: name another --store",
                                      dir));
    bad |= child_refused(S("rw.db"), S(": cannot open the store: the file or its directory is "
                                       "read-only: make both writable, or name another --store"));
    return bad;
}

static void read_only_places_are_refused(void **state)
{
    (void)state;
    store_close(open_store(in_dir(S("ro.db"))));
    assert_int_equal(chmod(in_dir(S("ro.db")).data, 0444), 0);
    store_close(open_store(in_dir(S("rw.db"))));
    assert_int_equal(chmod(in_dir(S("rw.db")).data, 0666), 0);
    assert_int_equal(chmod(dir, 0555), 0);
    in_child(open_read_only_places);
    assert_int_equal(chmod(dir, 0755), 0);
}

// A file system on which SQLite calls can fail: the default one, with some methods replaced.
static struct {
    sqlite3_vfs vfs;
    sqlite3_io_methods main_file, log;
    const sqlite3_io_methods *real; // of the main file, whose xWrite the log shares
    int fail_with;                  // this code...
    int countdown;                  // ...from this write on
    bool wal_only;                  // writes to other files are fine
    bool no_shm;
} faulty;

static int faulty_write(sqlite3_file *f, const void *data, int n, sqlite3_int64 at)
{
    if (faulty.fail_with && faulty.countdown-- <= 0)
        return faulty.fail_with;
    return faulty.real->xWrite(f, data, n, at);
}

static int faulty_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    if (faulty.no_shm)
        return SQLITE_IOERR_SHMMAP; // 5386; field reports have 522, 5386 and others
    return faulty.real->xShmMap(f, page, size, extend, out);
}

static int faulty_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    sqlite3_vfs *real = vfs->pAppData;
    int code = real->xOpen(real, name, f, flags, out);
    if (code != SQLITE_OK || !(flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_DB)))
        return code;
    bool log = (flags & SQLITE_OPEN_WAL) != 0;
    if (!log)
        faulty.real = f->pMethods;
    sqlite3_io_methods *methods = log ? &faulty.log : &faulty.main_file;
    *methods = *f->pMethods;
    methods->xShmMap = faulty_shm_map;
    if (log || !faulty.wal_only)
        methods->xWrite = faulty_write;
    f->pMethods = methods;
    return code;
}

static void faulty_start(void)
{
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    memset(&faulty, 0, sizeof faulty);
    faulty.vfs = *real;
    faulty.vfs.zName = "faulty";
    faulty.vfs.pAppData = real;
    faulty.vfs.xOpen = faulty_open;
    faulty.vfs.pNext = NULL;
    sqlite3_vfs_register(&faulty.vfs, 1);
}

static void faulty_stop(void)
{
    sqlite3_vfs *real = faulty.vfs.pAppData;
    sqlite3_vfs_unregister(&faulty.vfs);
    sqlite3_vfs_register(real, 1);
}

// Puts until something fails; false where nothing does.
static bool put_until_failure(struct store *s, int64_t run)
{
    for (int i = 100; i < 2000; i++)
        if (!try_put(s, run, i, S("some words")) || !store_flush(s, 0, &err))
            return true;
    return false;
}

static void a_full_disk_stops_with_a_sentence_and_loses_nothing_committed(void **state)
{
    (void)state;
    str path = in_dir(S("full.db"));
    faulty_start();
    struct store *s = open_store(path);
    int64_t run = begin(s, S("aa"));
    OK(try_put(s, run, 0, S("before")));
    OK(store_flush(s, 0, &err));
    faulty.fail_with = SQLITE_FULL;
    faulty.countdown = 20;
    bool failed = put_until_failure(s, run);
    assert_true(failed);
    assert_int_equal(err.code, ERR_RUN);
    assert_str(str_from(err.text),
               sentence(S("full.db"), S(": cannot write to the store: the disk is full: free some "
                                        "space and give the same command again")));
    faulty.fail_with = 0; // space was freed: the same store goes on
    OK(store_flush(s, 0, &err));
    OK(try_put(s, run, 1, S("after")));
    OK(store_flush(s, 2000, &err));
    assert_true(has(s, run, 0));
    store_close(s);
    faulty_stop();
    assert_true(count_calls(path, S("aa")) >= 2);
}

static void a_disk_that_is_full_at_once_makes_no_store(void **state)
{
    (void)state;
    faulty_start();
    faulty.fail_with = SQLITE_FULL;
    refused(in_dir(S("f.db")), NULL, ERR_RUN,
            sentence(S("f.db"), S(": cannot open the store: the disk is full: free some space and "
                                  "give the same command again")));
    faulty_stop();
}

// A file size limit makes write() fail with EFBIG.
static int hit_a_size_limit(void)
{
    struct err why = { 0 };
    struct store *s = NULL;
    struct store_run run = { .key = S("aa") };
    signal(SIGXFSZ, SIG_IGN);
    if (!store_open(in_dir(S("io.db")), NULL, &s, &why) ||
        !store_run_begin(s, &(struct store_begin){ .now_unix_ms = 1 }, &arena, &run, &why) ||
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 200000, 200000 }) != 0)
        return 2;
    char *big = arena_alloc(&arena, 300000);
    memset(big, 'x', 300000);
    struct stored_call call = { .reply = { big, 300000 } };
    bool ok = store_call_put(s, &(struct call_place){ run.id, 0, 0, 0 }, &call, &why) &&
              store_flush(s, 0, &why);
    str want = sentence(S("io.db"),
                        S(": cannot write to the store: a limit on the size of files is reached: "
                          "raise it (ulimit -f) and give the same command again"));
    if (ok || !str_eq(str_from(why.text), want))
        fprintf(stderr, "%s\n", ok ? "it was written" : why.text);
    return ok || !str_eq(str_from(why.text), want);
}

static void a_limit_on_file_sizes_is_named(void **state)
{
    (void)state;
    in_child(hit_a_size_limit);
}

static void an_io_error_stops_with_a_sentence(void **state)
{
    (void)state;
    faulty_start();
    struct store *s = open_store(in_dir(S("io.db")));
    int64_t run = begin(s, S("aa"));
    faulty.fail_with = SQLITE_IOERR_WRITE;
    assert_true(put_until_failure(s, run));
    assert_int_equal(err.code, ERR_RUN);
    assert_true(str_starts(str_from(err.text),
                           sentence(S("io.db"), S(": cannot write to the store: the disk or file "
                                                  "system reports an error ("))));
    assert_true(str_ends(str_from(err.text), S(", SQLite code 778): look at the system's log, or "
                                               "name a --store on another disk")));
    store_close(s);
    faulty_stop();
}

static void a_store_locked_past_the_busy_time_is_told(void **state)
{
    (void)state;
    str path = in_dir(S("busy.db"));
    struct store *holder = open_store(path), *s = NULL;
    int64_t run = begin(holder, S("aa"));
    OK(store_open(path, &(struct store_opts){ .busy_ms = 30 }, &s, &err));
    OK(try_put(holder, run, 0, S("not committed yet")));
    assert_false(has(s, run, 0)); // reading does not wait
    assert_false(try_put(s, run, 1, S("x")));
    assert_int_equal(err.code, ERR_RUN);
    assert_str(str_from(err.text),
               sentence(S("busy.db"),
                        S(": cannot write to the store: another program has kept the store locked "
                          "for more than 30 ms: wait until it has ended, or name another "
                          "--store")));
    assert_false(store_dirty(s));
    OK(store_flush(holder, 0, &err));
    OK(try_put(s, run, 1, S("x"))); // as soon as it is free
    store_close(s);
    store_close(holder);
    assert_int_equal(count_calls(path, S("aa")), 2);
}

enum { EACH = 500 };

static int put_and_commit_many(int64_t run_offset)
{
    struct err why = { 0 };
    struct store *s = NULL;
    struct store_run run = { .key = S("aa") };
    struct stored_call found_call, call = { .cost_nusd = 7, .reply = S("r") };
    bool ok = store_open(in_dir(S("two.db")), NULL, &s, &why) &&
              store_run_begin(s, &(struct store_begin){ .now_unix_ms = 1 }, &arena, &run, &why);
    for (int64_t i = 0; ok && i < EACH; i++) {
        struct call_place at = { run.id, run_offset, i, 0 };
        ok = store_call_get(s, &at, &arena, &found_call, &why) && !found_call.found &&
             store_call_put(s, &at, &call, &why) && store_flush(s, i * 10, &why);
    }
    store_close(s);
    if (!ok)
        fprintf(stderr, "%s\n", why.text);
    return ok ? 0 : 1;
}

static void two_processes_put_500_times_each_without_a_failure(void **state)
{
    (void)state; // F-083; they also make the file and the run at the same moment
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        children[i] = fork_child();
        if (children[i] == 0)
            _exit(put_and_commit_many(i));
    }
    for (int i = 0; i < 2; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count_calls(in_dir(S("two.db")), S("aa")), 2 * EACH);
}

static int open_and_close(void)
{
    struct err why = { 0 };
    struct store *s = NULL;
    bool ok = store_open(in_dir(S("many.db")), NULL, &s, &why);
    store_close(s);
    if (!ok)
        fprintf(stderr, "%s\n", why.text);
    return ok ? 0 : 1;
}

static void many_processes_can_make_the_same_store_at_once(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        enum { N = 6 };
        pid_t children[N];
        for (int i = 0; i < N; i++) {
            children[i] = fork_child();
            if (children[i] == 0)
                _exit(open_and_close());
        }
        int bad = 0;
        for (int i = 0; i < N; i++) {
            int status = -1;
            waitpid(children[i], &status, 0);
            bad |= status;
        }
        assert_int_equal(bad, 0);
        unlink(in_dir(S("many.db")).data);
    }
}

// Writes rows for ever; after each flush tells the parent how many are acknowledged.
static void write_until_killed(int64_t first, int pipe_fd)
{
    struct err why = { 0 };
    struct store *s = NULL;
    struct store_run run = { .key = S("aa") };
    bool ok = store_open(in_dir(S("kill.db")), NULL, &s, &why) &&
              store_run_begin(s, &(struct store_begin){ .now_unix_ms = 1 }, &arena, &run, &why);
    struct stored_call call = { .request_hash = S("h"), .cost_nusd = 7, .reply = S("a reply") };
    for (int64_t job = first; ok; job++) {
        ok = store_call_put(s, &(struct call_place){ run.id, 0, job, 0 }, &call, &why);
        if (ok && job % 7 == 0) {
            int64_t n = job + 1;
            ok = store_flush(s, clock_mono_ms(), &why) && write(pipe_fd, &n, sizeof n) == sizeof n;
        }
    }
    fprintf(stderr, "%s\n", why.text);
    _exit(1);
}

// Starts a writer at job `first`, kills it after some acknowledgements, returns their number.
static int64_t kill_in_mid_write(int64_t first, int after_acks)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork_child();
    if (pid == 0) {
        close(fds[0]);
        write_until_killed(first, fds[1]);
    }
    close(fds[1]);
    int64_t n = 0, acked = first;
    for (int acks = 0; read(fds[0], &n, sizeof n) == sizeof n; acks++) {
        acked = n;
        if (acks == after_acks)
            kill(pid, SIGKILL); // and drain what it acknowledged before it died
    }
    close(fds[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return acked;
}

static void what_a_flush_acknowledged_survives_kill_9(void **state)
{
    (void)state; // F-079
    str path = in_dir(S("kill.db"));
    int64_t next = 0;
    for (int round = 0; round < 12; round++) {
        int64_t acked = kill_in_mid_write(next, 3 + round * 5);
        int64_t n = count_calls(path, S("aa")); // rows are put in order, without a gap
        assert_true(n >= acked);
        struct store *s = open_store(path);
        assert_true(has(s, 1, acked - 1));
        store_close(s);
        next = n;
    }
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    sqlite3_open(path.data, &db);
    sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &st, NULL);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(st, 0), "ok");
    sqlite3_finalize(st);
    sqlite3_close(db);
}

// ---- file systems without shared memory ----

static void network_file_systems_are_known(void **state)
{
    (void)state;
    assert_true(store_is_network_fs(0x6969));               // NFS
    assert_true(store_is_network_fs(0x517b));               // SMB
    assert_true(store_is_network_fs(0xff534d42));           // CIFS
    assert_true(store_is_network_fs((int32_t)0xff534d42U)); // where f_type is a signed 32-bit
    assert_true(store_is_network_fs(0xfe534d42));           // SMB2
    assert_true(store_is_network_fs(0x5346414f));           // AFS
    assert_false(store_is_network_fs(0xef53));              // ext4
    assert_false(store_is_network_fs(0x01021994));          // tmpfs
    assert_false(store_is_network_fs(0x9123683e));          // btrfs
    assert_false(store_is_network_fs(0x58465342));          // xfs
    assert_false(store_is_network_fs(0x794c7630));          // overlayfs
    assert_false(store_is_network_fs(0));
}

static char logged[1024];
static void keep_line(enum log_level level, str line)
{
    if (level == LOG_WARN)
        snprintf(logged, sizeof logged, "%.*s", STR(line));
}

static void a_network_file_system_gets_a_rollback_journal_for_one_process(void **state)
{
    (void)state;
    str path = in_dir(S("nfs.db"));
    const struct store_opts nfs = { .fs_magic = 0x6969, .busy_ms = 30 };
    struct store *s = NULL;
    store_close(open_store(path)); // it was a WAL store before
    log_to(keep_line);
    OK(store_open(path, &nfs, &s, &err));
    log_to(NULL);
    assert_str(str_from(logged), sentence(S("nfs.db"), S(" is on a network file system: the store "
                                                         "is slower there, and only one program "
                                                         "can use it at a time")));
    int64_t run = begin(s, S("aa"));
    OK(try_put(s, run, 0, S("x")));
    OK(store_flush(s, 0, &err));
    assert_false(file_exists(in_dir(S("nfs.db-wal"))));
    assert_false(file_exists(in_dir(S("nfs.db-shm"))));
    assert_true(file_exists(in_dir(S("nfs.db-journal"))));
    refused(path, &nfs, ERR_RUN,
            sentence(S("nfs.db"), S(": cannot open the store: another program has kept the store "
                                    "locked for more than 30 ms: wait until it has ended, or name "
                                    "another --store")));
    store_close(s);
    assert_int_equal(count_calls(path, S("aa")), 1); // and on a local disk it is WAL again
}

static void falls_back(str name, int64_t job)
{
    struct store *s = NULL;
    log_to(keep_line);
    bool ok = store_open(in_dir(name), NULL, &s, &err);
    log_to(NULL);
    OK(ok);
    assert_non_null(strstr(logged, "going on with a rollback journal"));
    int64_t run = begin(s, S("aa"));
    OK(try_put(s, run, job, S("x")));
    OK(store_flush(s, 0, &err));
    assert_true(has(s, run, job));
    store_close(s);
}

static void a_log_that_cannot_be_written_falls_back(void **state)
{
    (void)state; // F-084: journal_mode answers "wal", the first write fails
    faulty_start();
    faulty.fail_with = SQLITE_IOERR_WRITE;
    faulty.wal_only = true;
    falls_back(S("wal.db"), 0);
    falls_back(S("wal.db"), 1); // and once more, now that the file is there
    faulty_stop();
    assert_int_equal(count_calls(in_dir(S("wal.db")), S("aa")), 2);
}

static void missing_shared_memory_falls_back(void **state)
{
    (void)state;
    store_close(open_store(in_dir(S("shm.db")))); // made in WAL mode elsewhere
    faulty_start();
    faulty.no_shm = true;
    falls_back(S("shm.db"), 0);
    falls_back(S("fresh.db"), 0);
    faulty_stop();
    assert_int_equal(count_calls(in_dir(S("shm.db")), S("aa")), 1);
}

static void a_disk_that_takes_nothing_is_refused_after_the_fall_back(void **state)
{
    (void)state;
    faulty_start();
    faulty.fail_with = SQLITE_IOERR_WRITE;
    refused(in_dir(S("dead.db")), NULL, ERR_RUN,
            sentence(S("dead.db"), S(": cannot open the store: the disk or file system reports an "
                                     "error (disk I/O error, SQLite code 778): look at the "
                                     "system's log, or name a --store on another disk")));
    faulty_stop();
}

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/rookery-trouble-XXXXXX");
    return mkdtemp(dir) && chmod(dir, 0755) == 0 ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    str command = arena_printf(&arena, "rm -rf '%s'", dir);
    int status = system(command.data);
    arena_free(&arena);
    return status;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_newer_store_is_refused_and_left_alone),
        CASE(a_directory_is_refused),
        CASE(an_empty_name_is_refused),
        CASE(another_file_is_refused_and_left_alone),
        CASE(a_database_of_another_program_is_refused_and_left_alone),
        CASE(an_empty_file_becomes_a_store_but_not_for_a_reader),
        CASE(a_missing_store_cannot_be_read),
        CASE(a_damaged_store_is_named_as_such),
        CASE(a_path_below_a_file_cannot_be_opened),
        CASE(read_only_places_are_refused),
        CASE(a_full_disk_stops_with_a_sentence_and_loses_nothing_committed),
        CASE(a_disk_that_is_full_at_once_makes_no_store),
        CASE(a_limit_on_file_sizes_is_named),
        CASE(an_io_error_stops_with_a_sentence),
        CASE(a_store_locked_past_the_busy_time_is_told),
        CASE(two_processes_put_500_times_each_without_a_failure),
        CASE(many_processes_can_make_the_same_store_at_once),
        CASE(what_a_flush_acknowledged_survives_kill_9),
        CASE(network_file_systems_are_known),
        CASE(a_network_file_system_gets_a_rollback_journal_for_one_process),
        CASE(a_log_that_cannot_be_written_falls_back),
        CASE(missing_shared_memory_falls_back),
        CASE(a_disk_that_takes_nothing_is_refused_after_the_fall_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

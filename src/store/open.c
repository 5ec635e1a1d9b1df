// SPDX-License-Identifier: GPL-3.0-or-later
// open.c - opening, recognising, migrating and closing a store.
//
// What the file is gets settled before anything is written to it: a database of another program
// or of a newer rookery stays untouched. The log mode WAL needs memory shared between processes,
// which network file systems do not have; there, and where the first write in WAL mode fails, the
// store falls back to a rollback journal that one process uses alone.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "store/internal.h"

enum {
    APPLICATION_ID = 0x526f6f6b, // "Rook", in the header of the file
    BUSY_MS_DEFAULT = 10000,
};

// FUSE is not among them: what lies behind it is unknown, and the first write tells.
bool store_is_network_fs(int64_t magic)
{
    static const struct {
        const char *name;
        uint32_t magic; // statfs(2), linux/magic.h
    } networks[] = {
        { "nfs", 0x6969 },        { "smb", 0x517b },        { "smb2", 0xfe534d42 },
        { "cifs", 0xff534d42 },   { "afs", 0x5346414f },    { "kafs", 0x6b414653 },
        { "coda", 0x73757245 },   { "ncp", 0x564c },        { "ceph", 0x00c36400 },
        { "9p", 0x01021997 },     { "lustre", 0x0bd00bd0 }, { "gfs2", 0x01161970 },
        { "ocfs2", 0x7461636f },  { "gpfs", 0x47504653 },   { "panfs", 0xaad7aaea },
        { "beegfs", 0x19830326 },
    };
    for (size_t i = 0; i < ARRAY_LEN(networks); i++)
        if ((uint32_t)magic == networks[i].magic) // f_type is signed on some machines
            return true;
    return false;
}

// The directory of a path, terminated.
static str dir_of(str path, struct arena *a)
{
    size_t dir = path.len;
    while (dir > 0 && path.data[dir - 1] != '/')
        dir--;
    return dir ? arena_str(a, str_sub(path, 0, dir)) : S(".");
}

// The type of the file system that holds the path, or would; 0 where it cannot be told.
static int64_t fs_magic(str path)
{
    struct arena scratch = { 0 };
    struct statfs fs;
    int64_t magic = statfs(dir_of(path, &scratch).data, &fs) == 0 ? (int64_t)fs.f_type : 0;
    arena_free(&scratch);
    return magic;
}

// ---- small statements of opening ----

// Runs statements without results. The texts are ours and constant.
static bool run_sql(struct store *s, const char *sql, struct err *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
           store_fail(s, "open the store", err);
}

// The first column of the first row as a number.
static bool read_number(struct store *s, const char *sql, int64_t *out, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool ok = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK &&
              sqlite3_step(st) == SQLITE_ROW;
    if (ok)
        *out = sqlite3_column_int64(st, 0);
    else
        store_fail(s, "open the store", err);
    sqlite3_finalize(st);
    return ok;
}

// Asks for a journal mode; SQLite answers with the one it took. Changing to WAL does not call the
// busy handler where two programs change at once, so this waits itself.
static bool journal_mode(struct store *s, const char *sql, str want, struct err *err)
{
    for (int tries = 0;; tries++) {
        sqlite3_stmt *st = NULL;
        int code = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL);
        if (code == SQLITE_OK)
            code = sqlite3_step(st) & 0xff;
        bool same =
            code == SQLITE_ROW && str_eq(str_from((const char *)sqlite3_column_text(st, 0)), want);
        if (code != SQLITE_ROW && code != SQLITE_BUSY)
            store_fail(s, "open the store", err);
        sqlite3_finalize(st);
        if (same)
            return true;
        if (code == SQLITE_BUSY && store_busy(s, tries))
            continue;
        if (code == SQLITE_BUSY)
            return store_fail(s, "open the store", err);
        if (code == SQLITE_ROW) {
            s->fs_failed = true;
            err_set(err, ERR_RUN,
                    "%.*s: cannot open the store: its file system allows no journal mode %.*s: "
                    "name a --store on another disk",
                    STR(s->path), STR(want));
        }
        return false;
    }
}

// ---- the steps of opening ----

// SQLite would only say that it cannot open the file.
static bool check_dir(struct store *s, struct err *err)
{
    str dir = dir_of(s->path, &s->arena);
    return faccessat(AT_FDCWD, dir.data, W_OK | X_OK, AT_EACCESS) == 0 ||
           err_set(err, ERR_RUN,
                   "%.*s: cannot make the store in the directory %.*s: %s: name another --store",
                   STR(s->path), STR(dir), strerror(errno));
}

static bool check_path(struct store *s, struct err *err)
{
    struct stat st;
    if (s->path.len == 0)
        return err_set(err, ERR_USAGE, "the store has no name: give --store FILE");
    if (memchr(s->path.data, '\0', s->path.len))
        return err_set(err, ERR_USAGE, "the name of the store has a NUL character in it");
    bool there = stat(s->path.data, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        return err_set(err, ERR_INPUT, "%.*s is a directory: name a file in it", STR(s->path));
    if (!there && s->read_only)
        return err_set(err, ERR_INPUT, "%.*s: no such store (%s)", STR(s->path), strerror(errno));
    return there || check_dir(s, err);
}

str store_uri(const struct store *s, struct arena *a)
{
    struct buf b = { .arena = a };
    buf_add(&b, str_starts(s->path, S("/")) ? S("file://") : S("file:"));
    for (size_t i = 0; i < s->path.len; i++)
        if (str_find_char(S("%?#"), s->path.data[i]) >= 0)
            buf_addf(&b, "%%%02x", (unsigned char)s->path.data[i]);
        else
            buf_add_char(&b, s->path.data[i]);
    if (s->immutable)
        buf_add(&b, S("?immutable=1"));
    return buf_str(&b);
}

static bool connect(struct store *s, struct err *err)
{
    int flags = s->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI;
    str name = s->journal == JOURNAL_MEMORY ? s->path : store_uri(s, &s->arena);
    if (sqlite3_open_v2(name.data, &s->db, flags, NULL) != SQLITE_OK)
        return store_fail(s, "open the store", err);
    sqlite3_busy_handler(s->db, store_busy, s);
    if (!s->read_only && sqlite3_db_readonly(s->db, "main") == 1)
        return err_set(err, ERR_RUN, "%.*s is read-only: make it writable, or name another --store",
                       STR(s->path));
    return s->journal != JOURNAL_ROLLBACK || // needs no memory shared with others
           run_sql(s, "PRAGMA locking_mode = EXCLUSIVE", err);
}

// Looks at the file without changing it. In one transaction: another program may be making it.
static bool identify(struct store *s, struct err *err)
{
    int64_t application, version, tables;
    if (!run_sql(s, "BEGIN", err) || !read_number(s, "PRAGMA application_id", &application, err) ||
        !read_number(s, "PRAGMA user_version", &version, err) ||
        !read_number(s, "SELECT count(*) FROM sqlite_schema", &tables, err) ||
        !run_sql(s, "COMMIT", err))
        return false;
    bool fresh = application == 0 && version == 0 && tables == 0;
    if (fresh && !s->read_only)
        return true;
    if (application != APPLICATION_ID)
        return err_set(err, ERR_INPUT, "%.*s is %s, not a rookery store: name another --store",
                       STR(s->path), fresh ? "an empty file" : "a database of another program");
    if (version > STORE_VERSION)
        return err_set(err, ERR_INPUT,
                       "%.*s was made by a newer rookery (store version %lld, this one knows %d): "
                       "update rookery or name another --store",
                       STR(s->path), (long long)version, STORE_VERSION);
    if (version < STORE_VERSION && s->read_only)
        return err_set(err, ERR_INPUT,
                       "%.*s was made by an older rookery (store version %lld, this one needs %d): "
                       "run any command that writes to it once",
                       STR(s->path), (long long)version, STORE_VERSION);
    return true;
}

static bool set_journal(struct store *s, struct err *err)
{
    switch (s->journal) {
    case JOURNAL_WAL:
        // One checkpoint a second is ours; SQLite's own only bounds the log between two of them.
        return journal_mode(s, "PRAGMA journal_mode = WAL", S("wal"), err) &&
               run_sql(s,
                       "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 8192;"
                       "PRAGMA journal_size_limit = 67108864",
                       err);
    case JOURNAL_ROLLBACK:
        return journal_mode(s, "PRAGMA journal_mode = TRUNCATE", S("truncate"), err) &&
               run_sql(s, "PRAGMA synchronous = FULL", err);
    case JOURNAL_MEMORY: return true;
    }
    BUG("no such journal");
}

// Brings the file to STORE_VERSION, in one transaction. Writes even where nothing is to be done:
// a file system that cannot keep a WAL shows it here, before anything depends on it.
static bool migrate(struct store *s, struct err *err)
{
    int64_t version;
    bool ok =
        run_sql(s, "BEGIN IMMEDIATE", err) && read_number(s, "PRAGMA user_version", &version, err);
    for (; ok && version < STORE_VERSION; version++)
        ok = run_sql(s, store_migration_sql((int)version), err);
    struct arena scratch = { 0 };
    ok = ok &&
         run_sql(s,
                 arena_printf(&scratch, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                              APPLICATION_ID, STORE_VERSION)
                     .data,
                 err) &&
         run_sql(s, "COMMIT", err);
    arena_free(&scratch);
    if (!ok && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return ok;
}

static bool open_once(struct store *s, struct err *err)
{
    if (!connect(s, err) || !identify(s, err) ||
        !run_sql(s, "PRAGMA foreign_keys = ON; PRAGMA cache_size = -16384", err))
        return false;
    return s->read_only || (set_journal(s, err) && migrate(s, err));
}

static void disconnect(struct store *s)
{
    for (size_t i = 0; i < N_STATEMENTS; i++)
        sqlite3_finalize(s->statements[i]);
    sqlite3_close(s->db);
    s->db = NULL;
}

// A store in WAL mode wants an index beside it even to be read. Where none can be made and no log
// is left to be read, nobody is writing, and the file alone says all.
static bool is_at_rest(const struct store *s)
{
    struct arena scratch = { 0 };
    struct stat log;
    bool ok = faccessat(AT_FDCWD, dir_of(s->path, &scratch).data, W_OK, AT_EACCESS) != 0 &&
              (stat(arena_printf(&scratch, "%.*s-wal", STR(s->path)).data, &log) != 0 ||
               log.st_size == 0);
    arena_free(&scratch);
    return ok;
}

static bool try_open(struct store *s, struct err *err)
{
    if (open_once(s, err))
        return true;
    int code = s->db ? sqlite3_errcode(s->db) & 0xff : SQLITE_OK;
    if (!s->read_only || (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) || !is_at_rest(s))
        return false;
    disconnect(s);
    s->immutable = true;
    return open_once(s, err);
}

static bool open_file(struct store *s, int64_t magic, struct err *err)
{
    if (!check_path(s, err))
        return false;
    if (store_is_network_fs(magic ? magic : fs_magic(s->path))) {
        s->journal = JOURNAL_ROLLBACK;
        log_line(LOG_WARN,
                 "%.*s is on a network file system: the store is slower there, and only one "
                 "program can use it at a time",
                 STR(s->path));
    }
    if (try_open(s, err))
        return true;
    if (s->journal != JOURNAL_WAL || s->read_only || !s->fs_failed)
        return false;
    log_line(LOG_WARN,
             "%s; going on with a rollback journal: only one program can use the store at a time",
             err ? err->text : "the write-ahead log failed");
    disconnect(s);
    s->journal = JOURNAL_ROLLBACK;
    return try_open(s, err);
}

bool store_open(str path, const struct store_opts *opts, struct store **out, struct err *err)
{
    struct arena a = { 0 };
    struct store *s = NEW(&a, struct store);
    s->path = arena_str(&a, path);
    s->arena = a;
    s->read_only = opts && opts->read_only;
    s->busy_ms = opts && opts->busy_ms > 0 ? opts->busy_ms : BUSY_MS_DEFAULT;
    s->unix_ms = opts && opts->unix_ms ? opts->unix_ms : clock_unix_ms;
    bool memory = str_eq(path, S(":memory:"));
    s->journal = memory ? JOURNAL_MEMORY : JOURNAL_WAL;
    if (memory ? try_open(s, err) : open_file(s, opts ? opts->fs_magic : 0, err)) {
        *out = s;
        return true;
    }
    store_close(s);
    return false;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    struct err err = { 0 };
    if (s->db && !store_commit(s, &err))
        log_line(LOG_WARN, "%s", err.text);
    disconnect(s);
    struct arena a = s->arena;
    arena_free(&a);
}

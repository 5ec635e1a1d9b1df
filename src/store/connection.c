// SPDX-License-Identifier: GPL-3.0-or-later
// connection.c - transactions, waiting for other programs, durability, and SQLite's refusals in
// words for a person.
//
// One writing transaction is open from the first put to the next flush, so that a reply costs a
// row and not a commit. It always begins as IMMEDIATE: a transaction that first reads and then
// writes fails at once when another program wrote in between, whatever time-out is set.
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "store/internal.h"

enum {
    WAIT_STEP_NS = 200 * 1000,  // short: a busy writer leaves the file free only for moments
    CHECKPOINT_EVERY_MS = 1000, // decisions 1.6
    CHECKPOINT_WAIT_MS = 20,    // for readers and other writers; else it is done a second later
};

int store_busy(void *ctx, int tries)
{
    struct store *s = ctx;
    int64_t now = clock_mono_ms();
    if (tries == 0)
        s->wait_until_ms = now + s->busy_ms;
    if (now >= s->wait_until_ms)
        return 0;
    nanosleep(&(struct timespec){ .tv_nsec = WAIT_STEP_NS }, NULL);
    return 1;
}

static bool fail_io(struct store *s, const char *doing, int system, struct err *err)
{
    s->fs_failed = true;
    return err_set(
        err, ERR_RUN,
        "%.*s: cannot %s: the disk or file system reports an error (%s, SQLite code %d): "
        "look at the system's log, or name a --store on another disk",
        STR(s->path), doing, system ? strerror(system) : sqlite3_errmsg(s->db),
        sqlite3_extended_errcode(s->db));
}

// SQLite does not say EFBIG: a write that failed under such a limit has most likely met it.
static bool is_past_limit(const struct store *s)
{
    struct rlimit limit;
    return sqlite3_extended_errcode(s->db) == SQLITE_IOERR_WRITE &&
           getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool store_fail(struct store *s, const char *doing, struct err *err)
{
    int code = sqlite3_errcode(s->db) & 0xff;
    int system = sqlite3_system_errno(s->db);
    if (code == SQLITE_IOERR && (system == ENOSPC || system == EDQUOT))
        code = SQLITE_FULL;
    if (code == SQLITE_IOERR && is_past_limit(s))
        return err_set(err, ERR_RUN,
                       "%.*s: cannot %s: a limit on the size of files is reached: raise it (ulimit "
                       "-f) and give the same command again",
                       STR(s->path), doing);
    switch (code) {
    case SQLITE_FULL:
        return err_set(err, ERR_RUN,
                       "%.*s: cannot %s: the disk is full: free some space and give the same "
                       "command again",
                       STR(s->path), doing);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(err, ERR_RUN,
                       "%.*s: cannot %s: another program has kept the store locked for more than "
                       "%lld ms: wait until it has ended, or name another --store",
                       STR(s->path), doing, (long long)s->busy_ms);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return err_set(err, ERR_RUN,
                       "%.*s: cannot %s: the file or its directory is read-only: make both "
                       "writable, or name another --store",
                       STR(s->path), doing);
    case SQLITE_CANTOPEN:
        return err_set(err, ERR_RUN,
                       "%.*s: cannot %s: see that its directory exists and is writable, or name "
                       "another --store",
                       STR(s->path), doing);
    case SQLITE_NOTADB:
        return err_set(err, ERR_INPUT, "%.*s is not a rookery store: name another --store",
                       STR(s->path));
    case SQLITE_CORRUPT:
        return err_set(err, ERR_INPUT,
                       "%.*s: cannot %s: the store is damaged (%s): put a copy in its place, or "
                       "save what is left with `sqlite3 FILE .recover`",
                       STR(s->path), doing, sqlite3_errmsg(s->db));
    case SQLITE_TOOBIG:
        return err_set(err, ERR_LIMIT, "%.*s: cannot %s: the text is too long for the store",
                       STR(s->path), doing);
    case SQLITE_IOERR:
    case SQLITE_PROTOCOL: return fail_io(s, doing, system, err);
    default:
        return err_set(err, ERR_RUN, "%.*s: cannot %s: %s", STR(s->path), doing,
                       sqlite3_errmsg(s->db));
    }
}

sqlite3_stmt *store_statement(struct store *s, enum statement which, struct err *err)
{
    sqlite3_stmt **st = &s->statements[which];
    if (!*st && sqlite3_prepare_v3(s->db, store_statement_sql(which), -1, SQLITE_PREPARE_PERSISTENT,
                                   st, NULL) != SQLITE_OK) {
        store_fail(s, "read the store", err);
        return NULL;
    }
    return *st;
}

bool store_done(struct store *s, sqlite3_stmt *st, const char *doing, struct err *err)
{
    bool ok = sqlite3_step(st) == SQLITE_DONE || store_fail(s, doing, err);
    sqlite3_reset(st);
    if (!store_dirty(s)) // SQLite gave the transaction up, or it ended
        s->tally.n_calls = s->tally.cost_nusd = 0;
    return ok;
}

bool store_do(struct store *s, enum statement which, const char *doing, struct err *err)
{
    sqlite3_stmt *st = store_statement(s, which, err);
    return st && store_done(s, st, doing, err);
}

int store_row(struct store *s, sqlite3_stmt *st, const char *doing, struct err *err)
{
    int code = sqlite3_step(st);
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return code == SQLITE_ROW;
    store_fail(s, doing, err);
    return -1;
}

bool store_dirty(const struct store *s)
{
    return !sqlite3_get_autocommit(s->db);
}

bool store_write(struct store *s, struct err *err)
{
    if (store_dirty(s))
        return true;
    if (s->read_only)
        return err_set(err, ERR_RUN, "%.*s: opened for reading only, nothing can be written",
                       STR(s->path));
    return store_do(s, BEGIN_WRITE, "write to the store", err);
}

static bool tally_day(struct store *s, struct err *err)
{
    if (s->tally.cost_nusd == 0)
        return true;
    sqlite3_stmt *st = store_statement(s, DAY_TALLY, err);
    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, s->tally.day);
    sqlite3_bind_int64(st, 2, s->tally.cost_nusd);
    return store_done(s, st, "write to the store", err);
}

bool store_tally(struct store *s, struct err *err)
{
    if (s->tally.n_calls == 0 && s->tally.cost_nusd == 0)
        return true;
    sqlite3_stmt *st = store_statement(s, RUN_TALLY, err);
    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, s->tally.run);
    sqlite3_bind_int64(st, 2, s->tally.n_calls);
    sqlite3_bind_int64(st, 3, s->tally.cost_nusd);
    if (!store_done(s, st, "write to the store", err) || !tally_day(s, err))
        return false;
    s->tally.n_calls = 0;
    s->tally.cost_nusd = 0;
    return true;
}

bool store_commit(struct store *s, struct err *err)
{
    if (!store_dirty(s))
        return true;
    if (!store_tally(s, err) || !store_do(s, COMMIT, "write to the store", err))
        return false;
    s->undurable = s->journal == JOURNAL_WAL;
    return true;
}

bool store_end(struct store *s, bool ok, struct err *err)
{
    ok = ok && store_commit(s, err);
    if (!ok && store_dirty(s)) {
        struct err undo = { 0 }; // the first failure is the one to tell
        if (!store_do(s, ROLLBACK, "undo the change", &undo))
            log_line(LOG_WARN, "%s", undo.text);
    }
    return ok;
}

// A checkpoint first syncs the log: what was committed before it survives a power cut. Where
// readers or writers are in its way it does what it can, and the rest a second later.
static bool checkpoint(struct store *s, int64_t now_ms, struct err *err)
{
    int64_t busy_ms = s->busy_ms;
    s->busy_ms = CHECKPOINT_WAIT_MS;
    int code = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_FULL, NULL, NULL) & 0xff;
    s->busy_ms = busy_ms;
    s->checkpointed = true;
    s->checkpoint_ms = now_ms;
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return true;
    if (code != SQLITE_OK)
        return store_fail(s, "write to the store", err);
    s->undurable = false;
    return true;
}

bool store_flush(struct store *s, int64_t now_ms, struct err *err)
{
    if (!store_commit(s, err))
        return false;
    bool due = !s->checkpointed || now_ms - s->checkpoint_ms >= CHECKPOINT_EVERY_MS;
    return !s->undurable || !due || checkpoint(s, now_ms, err);
}

void store_bind(sqlite3_stmt *st, int i, str text)
{
    sqlite3_bind_text64(st, i, text.data ? text.data : "", text.len, SQLITE_STATIC, SQLITE_UTF8);
}

str store_text(sqlite3_stmt *st, int column, struct arena *a)
{
    const void *data = sqlite3_column_blob(st, column); // as stored: no conversion, no NUL rule
    return arena_str(a, (str){ data, (size_t)sqlite3_column_bytes(st, column) });
}

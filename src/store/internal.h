// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - one connection, its prepared statements, and the few helpers that open.c, runs.c
// and calls.c share.
#pragma once
#include <sqlite3.h>

#include "store/store.h"

// Every statement after opening is prepared once and kept; schema.c has their texts.
enum statement {
    BEGIN_WRITE,
    COMMIT,
    ROLLBACK,
    RUN_NEWEST,
    RUN_OF_ORDINAL,
    RUN_ADD,
    RUN_FINISH,
    RUN_TALLY,
    DAY_TALLY,
    DAY_SPENT,
    RUN_LIST,
    RUN_BY_ID,
    RUN_BY_KEY,
    RUN_REMOVE,
    RUN_REMOVE_CALLS,
    CALL_GET,
    CALL_REUSE,
    CALL_PUT,
    CALL_LIST,
    PROGRAM_PUT,
    PROGRAM_GET,
    PROGRAM_LIST,
    PROGRAM_PRUNE,
    COST_LIST,
    N_STATEMENTS,
};

enum journal { JOURNAL_WAL, JOURNAL_ROLLBACK, JOURNAL_MEMORY };

struct store {
    struct arena arena; // holds this struct and the path
    str path;
    sqlite3 *db;
    sqlite3_stmt *statements[N_STATEMENTS];
    enum journal journal;
    bool read_only;
    bool immutable;        // read where nothing can be written, not even a lock
    bool fs_failed;        // the file system reported an error, not the disk's fill or a lock
    int64_t busy_ms;       // how long a lock is waited for
    int64_t wait_until_ms; // the end of the wait that goes on
    struct {               // calls of the open transaction that the run's row does not count yet
        int64_t run, day, n_calls, cost_nusd;
    } tally;
    int64_t (*unix_ms)(void);
    bool undurable;        // committed, but perhaps not on the disk
    bool checkpointed;     // checkpoint_ms is set
    int64_t checkpoint_ms; // when the last checkpoint was tried
};

// The SQL of a statement, and of the step from version `from` to the next.
const char *store_statement_sql(enum statement which);
const char *store_migration_sql(int from);

// Says what SQLite refused and what to do about it; returns false. `doing` completes "cannot ...".
bool store_fail(struct store *s, const char *doing, struct err *err);
// The prepared statement, reset and ready to bind; NULL and `err` on failure.
sqlite3_stmt *store_statement(struct store *s, enum statement which, struct err *err);
// Runs one that gives no row, and resets it.
MUST_CHECK bool store_do(struct store *s, enum statement which, const char *doing, struct err *err);
MUST_CHECK bool store_done(struct store *s, sqlite3_stmt *st, const char *doing, struct err *err);
// Steps a bound one: 1 for a row, 0 for none, -1 and `err`. The caller resets it.
int store_row(struct store *s, sqlite3_stmt *st, const char *doing, struct err *err);
// Begins a writing transaction (BEGIN IMMEDIATE) unless one is open.
MUST_CHECK bool store_write(struct store *s, struct err *err);
// Ends a transaction: what was done is committed where `ok`, else nothing is left of it.
MUST_CHECK bool store_end(struct store *s, bool ok, struct err *err);
// Commits what is open; keeps it open when that fails and SQLite still has it.
MUST_CHECK bool store_commit(struct store *s, struct err *err);
// Counts the tallied calls in their run's row.
MUST_CHECK bool store_tally(struct store *s, struct err *err);
// SQLite's busy handler, `ctx` a store: waits a little; 0 when busy_ms have passed.
int store_busy(void *ctx, int tries);

// The file as SQLite's URI, which can say that nobody changes it.
str store_uri(const struct store *s, struct arena *a);
// Binds a text that stays as it is until the statement was run. The empty text is no NULL.
void store_bind(sqlite3_stmt *st, int i, str text);
str store_text(sqlite3_stmt *st, int column, struct arena *a); // a copy in `a`

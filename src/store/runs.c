// SPDX-License-Identifier: GPL-3.0-or-later
// runs.c - runs: begun or found again by their key, finished, listed, removed.
//
// Each of these is a transaction of its own. An open transaction of puts is committed first, so
// that a failure here can never undo a reply that was paid for.
#include "store/internal.h"

static struct store_run read_run(sqlite3_stmt *st, struct arena *a)
{
    return (struct store_run){
        .id = sqlite3_column_int64(st, 0),
        .key = store_text(st, 1, a),
        .ordinal = sqlite3_column_int64(st, 2),
        .command = store_text(st, 3, a),
        .name = store_text(st, 4, a),
        .model = store_text(st, 5, a),
        .method = store_text(st, 6, a),
        .config = store_text(st, 7, a),
        .summary = store_text(st, 8, a),
        .finished = sqlite3_column_int64(st, 9) != 0,
        .simulated = sqlite3_column_int64(st, 10) != 0,
        .started_unix_ms = sqlite3_column_int64(st, 11),
        .finished_unix_ms = sqlite3_column_int64(st, 12),
        .n_calls = sqlite3_column_int64(st, 13),
        .spent_nusd = sqlite3_column_int64(st, 14),
    };
}

// Adds the runs that a bound statement gives.
static bool read_runs(struct store *s, sqlite3_stmt *st, struct arena *a, struct store_runs *out,
                      struct err *err)
{
    int code;
    while ((code = sqlite3_step(st)) == SQLITE_ROW)
        *vec_push(a, out) = read_run(st, a);
    bool ok = code == SQLITE_DONE || store_fail(s, "read the runs", err);
    sqlite3_reset(st);
    return ok;
}

// Commits what is open, then begins a transaction for one change of runs.
static bool change_begin(struct store *s, struct err *err)
{
    return store_commit(s, err) && store_write(s, err);
}

// Adds the run with the next ordinal, as its caller described it.
static bool add_run(struct store *s, const struct store_run *run, struct err *err)
{
    sqlite3_stmt *st = store_statement(s, RUN_ADD, err);
    if (!st)
        return false;
    store_bind(st, 1, run->key);
    sqlite3_bind_int64(st, 2, run->ordinal);
    store_bind(st, 3, run->command);
    store_bind(st, 4, run->name);
    store_bind(st, 5, run->model);
    store_bind(st, 6, run->method);
    store_bind(st, 7, run->config);
    sqlite3_bind_int64(st, 8, run->simulated);
    sqlite3_bind_int64(st, 9, run->started_unix_ms);
    return store_done(s, st, "begin a run", err);
}

// Looks for the newest run of the key, or with how->repeat for the one of that ordinal.
static sqlite3_stmt *known_run(struct store *s, const struct store_begin *how, str key,
                               struct err *err)
{
    sqlite3_stmt *st = store_statement(s, how->repeat > 0 ? RUN_OF_ORDINAL : RUN_NEWEST, err);
    if (!st)
        return NULL;
    store_bind(st, 1, key);
    if (how->repeat > 0)
        sqlite3_bind_int64(st, 2, how->repeat - 1);
    return st;
}

// Inside a transaction, so that two programs cannot both begin the same run.
static bool find_or_add(struct store *s, const struct store_begin *how, struct arena *a,
                        struct store_run *run, struct err *err)
{
    struct store_runs known = { 0 };
    sqlite3_stmt *st = known_run(s, how, run->key, err);
    if (!st || !read_runs(s, st, a, &known, err))
        return false;
    if (known.n == 1 && !(how->again && known.v[0].finished)) {
        *run = known.v[0];
        return true;
    }
    run->ordinal = how->repeat > 0 ? how->repeat - 1 : known.n == 1 ? known.v[0].ordinal + 1 : 0;
    if (!add_run(s, run, err))
        return false;
    st = known_run(s, how, run->key, err);
    if (!st || !read_runs(s, st, a, &known, err))
        return false;
    *run = known.v[known.n - 1];
    return true;
}

bool store_run_begin(struct store *s, const struct store_begin *how, struct arena *a,
                     struct store_run *run, struct err *err)
{
    run->started_unix_ms = how->now_unix_ms;
    return change_begin(s, err) && store_end(s, find_or_add(s, how, a, run, err), err);
}

static bool finish_run(struct store *s, const struct store_run *run, int64_t now_unix_ms,
                       struct err *err)
{
    sqlite3_stmt *st = store_statement(s, RUN_FINISH, err);
    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, run->id);
    store_bind(st, 2, run->summary);
    sqlite3_bind_int64(st, 3, now_unix_ms);
    sqlite3_bind_int64(st, 4, run->simulated);
    if (!store_done(s, st, "finish a run", err))
        return false;
    return sqlite3_changes(s->db) == 1 ||
           err_set(err, ERR_INPUT, "%.*s: there is no run %lld", STR(s->path), (long long)run->id);
}

bool store_run_finish(struct store *s, const struct store_run *run, int64_t now_unix_ms,
                      struct err *err)
{
    return change_begin(s, err) && store_end(s, finish_run(s, run, now_unix_ms, err), err);
}

bool store_runs(struct store *s, struct arena *a, struct store_runs *out, struct err *err)
{
    sqlite3_stmt *st = store_statement(s, RUN_LIST, err);
    return st && store_tally(s, err) && read_runs(s, st, a, out, err);
}

static bool run_by_id(struct store *s, str which, struct arena *a, struct store_runs *out,
                      struct err *err)
{
    int64_t id;
    if (!str_to_int(which, 1, INT64_MAX, &id))
        return true; // then it can only be a key
    sqlite3_stmt *st = store_statement(s, RUN_BY_ID, err);
    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, id);
    return read_runs(s, st, a, out, err);
}

bool store_run_find(struct store *s, str which, struct arena *a, struct store_run *out,
                    struct err *err)
{
    struct store_runs found = { 0 };
    sqlite3_stmt *st = store_statement(s, RUN_BY_KEY, err);
    if (!st || !store_tally(s, err) || !run_by_id(s, which, a, &found, err))
        return false;
    if (found.n == 0 && which.len > 0) {
        store_bind(st, 1, which);
        if (!read_runs(s, st, a, &found, err))
            return false;
    }
    if (found.n == 0)
        return err_set(err, ERR_INPUT, "%.*s: there is no run '%.*s': see `rookery runs list`",
                       STR(s->path), STR(which));
    if (found.n > 1)
        return err_set(err, ERR_INPUT,
                       "%.*s: several runs begin with '%.*s': give an id, `rookery runs list` "
                       "shows them",
                       STR(s->path), STR(which));
    *out = found.v[0];
    return true;
}

static bool delete_rows(struct store *s, enum statement which, int64_t run, struct err *err)
{
    sqlite3_stmt *st = store_statement(s, which, err);
    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, run);
    return store_done(s, st, "remove a run", err);
}

static bool remove_run(struct store *s, int64_t run, struct err *err)
{
    if (!delete_rows(s, RUN_REMOVE_CALLS, run, err) || !delete_rows(s, RUN_REMOVE, run, err))
        return false;
    return sqlite3_changes(s->db) == 1 ||
           err_set(err, ERR_INPUT, "%.*s: there is no run %lld", STR(s->path), (long long)run);
}

bool store_run_remove(struct store *s, int64_t run, struct err *err)
{
    return change_begin(s, err) && store_end(s, remove_run(s, run, err), err);
}

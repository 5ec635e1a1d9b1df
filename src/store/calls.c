// SPDX-License-Identifier: GPL-3.0-or-later
// calls.c - replies: put under their place in a run, found again by place or by what was asked;
// and the programs they name.
#include "store/internal.h"

enum { CALL_COLUMN_COUNT = 15 }; // as schema.c lists them

static struct stored_call read_call(sqlite3_stmt *st, struct arena *a)
{
    return (struct stored_call){
        .found = true,
        .request_hash = store_text(st, 0, a),
        .reuse_key = store_text(st, 1, a),
        .program_hash = store_text(st, 2, a),
        .input_id = store_text(st, 3, a),
        .model = store_text(st, 4, a),
        .class = store_text(st, 5, a),
        .cost_nusd = sqlite3_column_int64(st, 6),
        .input_tok = sqlite3_column_int64(st, 7),
        .output_tok = sqlite3_column_int64(st, 8),
        .latency_ms = sqlite3_column_int64(st, 9),
        .reusable = sqlite3_column_int64(st, 10) != 0,
        .failed = sqlite3_column_int64(st, 11) != 0,
        .reply = store_text(st, 12, a),
        .phase = store_text(st, 13, a),
        .cost_source = store_text(st, 14, a),
    };
}

static void bind_place(sqlite3_stmt *st, const struct call_place *at)
{
    sqlite3_bind_int64(st, 1, at->run);
    sqlite3_bind_int64(st, 2, at->batch);
    sqlite3_bind_int64(st, 3, at->job);
    sqlite3_bind_int64(st, 4, at->ask);
}

// The one row of a bound statement, if there is one.
static bool take_call(struct store *s, sqlite3_stmt *st, struct arena *a, struct stored_call *out,
                      struct err *err)
{
    int n = store_row(s, st, "read a reply", err);
    *out = n == 1 ? read_call(st, a) : (struct stored_call){ 0 };
    sqlite3_reset(st);
    return n >= 0;
}

bool store_call_get(struct store *s, const struct call_place *at, struct arena *a,
                    struct stored_call *out, struct err *err)
{
    sqlite3_stmt *st = store_statement(s, CALL_GET, err);
    if (!st)
        return false;
    bind_place(st, at);
    return take_call(s, st, a, out, err);
}

bool store_call_reuse(struct store *s, str reuse_key, struct arena *a, struct stored_call *out,
                      struct err *err)
{
    sqlite3_stmt *st = store_statement(s, CALL_REUSE, err);
    if (!st)
        return false;
    store_bind(st, 1, reuse_key);
    return take_call(s, st, a, out, err);
}

// A place that has a reply, which no other may replace.
static bool place_taken(const struct store *s, const struct call_place *at, struct err *err)
{
    return err_set(err, ERR_RUN,
                   "%.*s: run %lld has a reply at batch %lld, job %lld, ask %lld already: is "
                   "the same command running twice? Wait until the other has ended and give "
                   "the command again",
                   STR(s->path), (long long)at->run, (long long)at->batch, (long long)at->job,
                   (long long)at->ask);
}

// A run that is gone in the caller's words; anything else as SQLite says it.
static bool put_failed(struct store *s, const struct call_place *at, struct err *err)
{
    int code = sqlite3_extended_errcode(s->db);
    if (code == SQLITE_CONSTRAINT_FOREIGNKEY)
        return err_set(err, ERR_RUN,
                       "%.*s: run %lld is gone: was it removed? Give the command again",
                       STR(s->path), (long long)at->run);
    return store_fail(s, "store a reply", err);
}

static void bind_call(sqlite3_stmt *st, const struct stored_call *call)
{
    store_bind(st, 5, call->request_hash);
    store_bind(st, 6, call->reuse_key);
    store_bind(st, 7, call->program_hash);
    store_bind(st, 8, call->input_id);
    store_bind(st, 9, call->model);
    store_bind(st, 10, call->class);
    sqlite3_bind_int64(st, 11, call->cost_nusd);
    sqlite3_bind_int64(st, 12, call->input_tok);
    sqlite3_bind_int64(st, 13, call->output_tok);
    sqlite3_bind_int64(st, 14, call->latency_ms);
    sqlite3_bind_int64(st, 15, call->reusable);
    sqlite3_bind_int64(st, 16, call->failed);
    store_bind(st, 17, call->reply);
    store_bind(st, 18, call->phase);
    store_bind(st, 19, call->cost_source);
}

static int64_t today(const struct store *s)
{
    enum { DAY_MS = 24 * 60 * 60 * 1000 };
    return s->unix_ms() / DAY_MS;
}

// The run's row is brought up to date once a transaction, or when a call of another run or day
// comes.
static bool count_call(struct store *s, int64_t run, int64_t cost_nusd, struct err *err)
{
    int64_t day = today(s);
    if ((s->tally.run != run || s->tally.day != day) && !store_tally(s, err))
        return false;
    s->tally.run = run;
    s->tally.day = day;
    s->tally.n_calls++;
    s->tally.cost_nusd += cost_nusd;
    return true;
}

bool store_run_spend(struct store *s, int64_t run, int64_t cost_nusd, struct err *err)
{
    if (!store_write(s, err) || !count_call(s, run, cost_nusd, err))
        return false;
    s->tally.n_calls--; // no call came of it
    return true;
}

bool store_day_spent(struct store *s, int64_t *nusd, struct err *err)
{
    int64_t day = today(s);
    sqlite3_stmt *st = store_statement(s, DAY_SPENT, err);
    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, day);
    int row = store_row(s, st, "read the store", err);
    *nusd = (row == 1 ? sqlite3_column_int64(st, 0) : 0) +
            (s->tally.day == day ? s->tally.cost_nusd : 0);
    sqlite3_reset(st);
    return row >= 0;
}

bool store_call_put(struct store *s, const struct call_place *at, const struct stored_call *call,
                    struct err *err)
{
    if (call->reply.len > STORE_REPLY_MAX)
        return err_set(err, ERR_LIMIT, "%.*s: a reply of %zu bytes; a store keeps at most %d",
                       STR(s->path), call->reply.len, STORE_REPLY_MAX);
    sqlite3_stmt *st = store_statement(s, CALL_PUT, err);
    if (!st || !store_write(s, err))
        return false;
    bind_place(st, at);
    bind_call(st, call);
    bool ok = sqlite3_step(st) == SQLITE_DONE || put_failed(s, at, err);
    if (ok && sqlite3_changes(s->db) == 0)
        ok = place_taken(s, at, err);
    sqlite3_reset(st);
    if (!store_dirty(s)) // SQLite gave the transaction up
        s->tally.n_calls = s->tally.cost_nusd = 0;
    return ok && count_call(s, at->run, call->cost_nusd, err);
}

bool store_calls(struct store *s, int64_t run, store_call_fn *each, void *ctx, struct err *err)
{
    struct arena scratch = { 0 };
    sqlite3_stmt *st = store_statement(s, CALL_LIST, err);
    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, run);
    bool ok = true;
    int n = 0;
    while (ok && (n = store_row(s, st, "read the replies", err)) == 1) {
        struct call_place at = { run, sqlite3_column_int64(st, CALL_COLUMN_COUNT),
                                 sqlite3_column_int64(st, CALL_COLUMN_COUNT + 1),
                                 sqlite3_column_int64(st, CALL_COLUMN_COUNT + 2) };
        struct stored_call call = read_call(st, &scratch);
        ok = each(ctx, &at, &call, err);
        arena_reset(&scratch);
    }
    sqlite3_reset(st);
    arena_free(&scratch);
    return ok && n == 0;
}

// ---- programs ----

bool store_program_put(struct store *s, str hash, str json, struct err *err)
{
    sqlite3_stmt *st = store_statement(s, PROGRAM_PUT, err);
    if (!st || !store_write(s, err))
        return false;
    store_bind(st, 1, hash);
    store_bind(st, 2, json);
    return store_done(s, st, "store a program", err);
}

bool store_program_get(struct store *s, str hash, struct arena *a, str *json, struct err *err)
{
    sqlite3_stmt *st = store_statement(s, PROGRAM_GET, err);
    if (!st)
        return false;
    store_bind(st, 1, hash);
    int n = store_row(s, st, "read a program", err);
    *json = n == 1 ? store_text(st, 0, a) : (str){ 0 };
    sqlite3_reset(st);
    return n >= 0;
}

bool store_programs(struct store *s, store_program_fn *each, void *ctx, struct err *err)
{
    struct arena scratch = { 0 };
    sqlite3_stmt *st = store_statement(s, PROGRAM_LIST, err);
    if (!st)
        return false;
    bool ok = true;
    int n = 0;
    while (ok && (n = store_row(s, st, "read the programs", err)) == 1) {
        str hash = store_text(st, 0, &scratch);
        ok = each(ctx, hash, store_text(st, 1, &scratch), err);
        arena_reset(&scratch);
    }
    sqlite3_reset(st);
    arena_free(&scratch);
    return ok && n == 0;
}

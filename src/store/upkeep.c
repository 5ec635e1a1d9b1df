// SPDX-License-Identifier: GPL-3.0-or-later
// upkeep.c - a store as a whole: sums over its calls, its soundness, its size.
#include "store/internal.h"

enum { FAULTS_MAX = 100 };

// ---- money ----

bool store_costs(struct store *s, int64_t run, struct arena *a, struct store_costs *out,
                 struct err *err)
{
    if (!store_tally(s, err))
        return false;
    sqlite3_stmt *st = store_statement(s, COST_LIST, err);
    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, run);
    int n;
    while ((n = store_row(s, st, "add up the calls", err)) == 1)
        *vec_push(a, out) = (struct store_cost){
            .model = store_text(st, 0, a),
            .method = store_text(st, 1, a),
            .phase = store_text(st, 2, a),
            .source = store_text(st, 3, a),
            .simulated = sqlite3_column_int64(st, 4) != 0,
            .n_calls = sqlite3_column_int64(st, 5),
            .input_tok = sqlite3_column_int64(st, 6),
            .output_tok = sqlite3_column_int64(st, 7),
            .cost_nusd = sqlite3_column_int64(st, 8),
        };
    sqlite3_reset(st);
    return n == 0;
}

// ---- soundness ----

// What must hold between rows: each query gives a sentence a row.
static const char *const rules[] = {
    "SELECT format('call %d belongs to run %d, which is not there', id, run) FROM call"
    " WHERE run NOT IN (SELECT id FROM run)",
    "SELECT format('call %d (run %d) names a program that is not there', id, run) FROM call"
    " WHERE program_hash <> '' AND program_hash NOT IN (SELECT hash FROM program)",
    "SELECT format('call %d (run %d) is reusable, but %s', id, run,"
    "  CASE failed WHEN 1 THEN 'failed' ELSE 'of the class ' || class END) FROM call"
    " WHERE reusable = 1 AND (failed = 1 OR class <> 'ok')",
    "SELECT format('call %d (run %d) has a negative count or cost', id, run) FROM call"
    " WHERE min(cost_nusd, input_tok, output_tok, latency_ms) < 0",
    // A reply that takes the place of a failed one is counted again: the row may know more.
    "SELECT format('run %d counts %d calls, and has %d', id, n_calls, has) FROM"
    " (SELECT id, n_calls, (SELECT count(*) FROM call WHERE run = run.id) AS has FROM run)"
    " WHERE n_calls < has",
    "SELECT format('run %d has spent %d nano-dollars, and its calls cost %d', id, spent_nusd, cost)"
    " FROM (SELECT id, spent_nusd, (SELECT ifnull(sum(cost_nusd), 0) FROM call WHERE run = run.id)"
    " AS cost FROM run) WHERE spent_nusd < cost",
    "SELECT format('run %d is finished without a summary', id) FROM run"
    " WHERE finished = 1 AND summary = ''",
};

// Adds the first column of each row as a fault; "ok" is what SQLite's own check finds in the best
// case.
static bool add_faults(struct store *s, const char *sql, struct arena *a, struct store_faults *out,
                       struct err *err)
{
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK)
        return store_fail(s, "check the store", err);
    int n;
    while ((n = store_row(s, st, "check the store", err)) == 1) {
        str text = store_text(st, 0, a);
        if (out->n < FAULTS_MAX && !str_eq(text, S("ok")))
            *vec_push(a, out) = text;
    }
    if (n < 0 && (sqlite3_errcode(s->db) & 0xff) == SQLITE_CORRUPT) { // so much that it gave up
        *vec_push(a, out) = arena_str(a, str_from(sqlite3_errmsg(s->db)));
        n = 0;
    }
    sqlite3_finalize(st);
    return n == 0;
}

static bool count_rows(struct store *s, struct store_check *out, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool ok = sqlite3_prepare_v2(s->db,
                                 "SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM call),"
                                 " (SELECT count(*) FROM program)",
                                 -1, &st, NULL) == SQLITE_OK &&
              sqlite3_step(st) == SQLITE_ROW;
    if (ok) {
        out->n_runs = sqlite3_column_int64(st, 0);
        out->n_calls = sqlite3_column_int64(st, 1);
        out->n_programs = sqlite3_column_int64(st, 2);
    } else {
        store_fail(s, "check the store", err);
    }
    sqlite3_finalize(st);
    return ok;
}

bool store_check(struct store *s, struct arena *a, struct store_check *out, struct err *err)
{
    *out = (struct store_check){ 0 };
    if (!store_tally(s, err) || !add_faults(s, "PRAGMA integrity_check(100)", a, &out->faults, err))
        return false;
    if (out->faults.n > 0) // pages are broken: rows cannot be trusted to tell more
        return true;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (!add_faults(s, rules[i], a, &out->faults, err))
            return false;
    return count_rows(s, out, err);
}

// ---- size ----

bool store_compact(struct store *s, int64_t *n_programs, struct err *err)
{
    if (!store_commit(s, err) || !store_write(s, err))
        return false;
    bool ok = store_do(s, PROGRAM_PRUNE, "remove programs", err);
    *n_programs = sqlite3_changes(s->db);
    if (!store_end(s, ok, err))
        return false;
    if (sqlite3_exec(s->db, "VACUUM", NULL, NULL, NULL) != SQLITE_OK)
        return store_fail(s, "compact the store", err);
    // The new pages go from the log into the file, and the log is cut; a reader may put it off.
    int code = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY ||
           store_fail(s, "compact the store", err);
}

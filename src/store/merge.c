// SPDX-License-Identifier: GPL-3.0-or-later
// merge.c - takes the runs of another store in. The other file is attached to the connection, so
// rows go from file to file inside SQLite, in one transaction.
//
// A run of the other store finds its place by its key. Where its ordinal is free here, it is
// added. Where the run there contradicts none of its replies, both are the same run, perhaps at
// different moments, and what is missing is filled in. Else its calls may all be in another
// repetition already, as after an earlier merge. Else it is a repetition of its own and gets the
// next ordinal: nothing that was paid for is left behind.
#include "store/internal.h"

#define CALL_COPIED                                                                                \
    "batch, job, ask, request_hash, reuse_key, program_hash, input_id, model, class, cost_nusd, "  \
    "input_tok, output_tok, latency_ms, reusable, failed, reply, phase, cost_source"
#define RUN_COPIED                                                                                 \
    "command, name, model, method, config, summary, finished, simulated, started_unix_ms, "        \
    "finished_unix_ms"
#define SAME_PLACE "o.batch = m.batch AND o.job = m.job AND o.ask = m.ask"

enum step { // of the statements; ?1 is the run in the other store, ?2 the one here
    OTHER_RUNS,
    SAME_ORDINAL,
    CONTRADICTS,
    HOLDS_ALL,
    ADD_RUN,
    FILL_CALLS,
    FILL_RUN,
    BESIDE,
    ENDED_THERE,
    ADD_PROGRAMS,
    N_STEPS
};

static const char *const texts[N_STEPS] = {
    [OTHER_RUNS] = "SELECT id FROM other.run ORDER BY id",
    [SAME_ORDINAL] = "SELECT m.id FROM other.run o JOIN main.run m ON m.key = o.key AND"
                     " m.ordinal = o.ordinal WHERE o.id = ?1",
    [CONTRADICTS] = "SELECT 1 FROM other.call o JOIN main.call m ON " SAME_PLACE
                    " WHERE o.run = ?1 AND m.run = ?2 AND o.failed = 0 AND m.failed = 0 AND"
                    " (o.request_hash <> m.request_hash OR o.reply <> m.reply) LIMIT 1",
    [HOLDS_ALL] =
        "SELECT r.id FROM main.run r, other.run x WHERE x.id = ?1 AND r.key = x.key AND"
        " r.finished >= x.finished AND NOT EXISTS (SELECT 1 FROM other.call o WHERE o.run = ?1 AND"
        " NOT EXISTS (SELECT 1 FROM main.call m WHERE m.run = r.id AND " SAME_PLACE
        " AND m.request_hash = o.request_hash AND m.reply = o.reply)) LIMIT 1",
    [ADD_RUN] =
        "INSERT INTO main.run (key, ordinal, " RUN_COPIED ", n_calls, spent_nusd)"
        " SELECT key, CASE WHEN EXISTS (SELECT 1 FROM main.run m WHERE m.key = o.key AND"
        "  m.ordinal = o.ordinal)"
        "  THEN (SELECT max(ordinal) + 1 FROM main.run m WHERE m.key = o.key) ELSE ordinal END,"
        " " RUN_COPIED ", 0, 0 FROM other.run o WHERE id = ?1",
    [FILL_CALLS] = "INSERT INTO main.call (run, " CALL_COPIED ") SELECT ?2, " CALL_COPIED
                   " FROM other.call WHERE run = ?1 ORDER BY id"
                   " ON CONFLICT (run, batch, job, ask) DO UPDATE SET (" CALL_COPIED ") ="
                   " (excluded.batch, excluded.job, excluded.ask, excluded.request_hash,"
                   " excluded.reuse_key, excluded.program_hash, excluded.input_id, excluded.model,"
                   " excluded.class, excluded.cost_nusd, excluded.input_tok, excluded.output_tok,"
                   " excluded.latency_ms, excluded.reusable, excluded.failed, excluded.reply,"
                   " excluded.phase, excluded.cost_source)"
                   " WHERE call.failed = 1 AND excluded.failed = 0",
    [BESIDE] = "SELECT spent_nusd - (SELECT ifnull(sum(cost_nusd), 0) FROM main.call"
               " WHERE run = ?2) FROM main.run WHERE id = ?2",
    [ENDED_THERE] = "SELECT o.finished > m.finished FROM other.run o, main.run m"
                    " WHERE o.id = ?1 AND m.id = ?2",
    [FILL_RUN] =
        "WITH o AS (SELECT *, spent_nusd - (SELECT ifnull(sum(cost_nusd), 0) FROM other.call c"
        "  WHERE c.run = ?1) AS beside FROM other.run WHERE id = ?1),"
        " here AS (SELECT count(*) AS n, ifnull(sum(cost_nusd), 0) AS cost FROM main.call"
        "  WHERE run = ?2)"
        " UPDATE main.run SET n_calls = max(run.n_calls, here.n),"
        "  spent_nusd = here.cost + max(o.beside, ?3),"
        "  summary = CASE run.finished WHEN 1 THEN run.summary ELSE o.summary END,"
        "  finished_unix_ms = CASE run.finished WHEN 1 THEN run.finished_unix_ms"
        "   ELSE o.finished_unix_ms END,"
        "  simulated = max(run.simulated, o.simulated), finished = max(run.finished, o.finished)"
        " FROM o, here WHERE run.id = ?2",
    [ADD_PROGRAMS] = "INSERT OR IGNORE INTO main.program (hash, json) SELECT hash, json"
                     " FROM other.program",
};

enum filling { FILL_NEW, FILL_KNOWN };
struct merge {
    struct store *s;
    sqlite3_stmt *steps[N_STEPS];
    struct store_merged *out;
    struct err *err;
};

static bool prepare(struct merge *m)
{
    for (int i = 0; i < N_STEPS; i++)
        if (sqlite3_prepare_v2(m->s->db, texts[i], -1, &m->steps[i], NULL) != SQLITE_OK)
            return store_fail(m->s, "read the other store", m->err);
    return true;
}

// Runs a step; the number in its first row, or 0 where it has none. False: it failed.
static bool ask(struct merge *m, enum step which, int64_t other, int64_t here, int64_t *out)
{
    sqlite3_stmt *st = m->steps[which];
    sqlite3_reset(st);
    sqlite3_bind_int64(st, 1, other);
    if (sqlite3_bind_parameter_count(st) > 1)
        sqlite3_bind_int64(st, 2, here);
    int n = store_row(m->s, st, "merge the stores", m->err);
    *out = n == 1 ? sqlite3_column_int64(st, 0) : 0;
    sqlite3_reset(st);
    return n >= 0;
}

// Copies what run `here` lacks of the run `other`. Money beside the calls is known as a sum only:
// the larger one holds.
static bool fill(struct merge *m, int64_t other, int64_t here, enum filling how)
{
    int64_t beside, ended, ignored;
    if (!ask(m, BESIDE, other, here, &beside) || !ask(m, ENDED_THERE, other, here, &ended) ||
        !ask(m, FILL_CALLS, other, here, &ignored))
        return false;
    int64_t copied = sqlite3_changes64(m->s->db);
    sqlite3_bind_int64(m->steps[FILL_RUN], 3, beside);
    m->out->n_calls += copied;
    if (how == FILL_KNOWN && (copied > 0 || ended))
        m->out->n_filled++;
    else if (how == FILL_KNOWN)
        m->out->n_known++;
    return ask(m, FILL_RUN, other, here, &ignored);
}

static bool take_run(struct merge *m, int64_t other)
{
    int64_t same, contradicts = 0, holder = 0, ignored;
    if (!ask(m, SAME_ORDINAL, other, 0, &same))
        return false;
    if (same && !ask(m, CONTRADICTS, other, same, &contradicts))
        return false;
    if (same && !contradicts)
        return fill(m, other, same, FILL_KNOWN);
    if (same && !ask(m, HOLDS_ALL, other, 0, &holder))
        return false;
    if (holder) {
        m->out->n_known++;
        return true;
    }
    if (!ask(m, ADD_RUN, other, 0, &ignored))
        return false;
    m->out->n_added++;
    m->out->n_moved += same != 0;
    return fill(m, other, sqlite3_last_insert_rowid(m->s->db), FILL_NEW);
}

static bool take_all(struct merge *m)
{
    int64_t ignored;
    int n;
    if (!ask(m, ADD_PROGRAMS, 0, 0, &ignored))
        return false;
    while ((n = store_row(m->s, m->steps[OTHER_RUNS], "read the other store", m->err)) == 1)
        if (!take_run(m, sqlite3_column_int64(m->steps[OTHER_RUNS], 0)))
            return false;
    return n == 0;
}

static bool merge_attached(struct store *s, struct store_merged *out, struct err *err)
{
    struct merge m = { .s = s, .out = out, .err = err };
    bool ok = prepare(&m) && store_write(s, err) && take_all(&m);
    for (int i = 0; i < N_STEPS; i++)
        sqlite3_finalize(m.steps[i]); // before the end: what still reads would keep it open
    return store_end(s, ok, err);
}

static bool attach(struct store *s, const struct store *other, struct err *err)
{
    struct arena scratch = { 0 };
    sqlite3_stmt *st = NULL;
    str uri = store_uri(other, &scratch);
    bool ok = sqlite3_prepare_v2(s->db, "ATTACH ?1 AS other", -1, &st, NULL) == SQLITE_OK;
    store_bind(st, 1, uri);
    ok = ok && sqlite3_step(st) == SQLITE_DONE;
    if (!ok)
        store_fail(s, "read the other store", err);
    sqlite3_finalize(st);
    arena_free(&scratch);
    return ok;
}

bool store_merge(struct store *s, str path, struct store_merged *out, struct err *err)
{
    struct store *other = NULL;
    *out = (struct store_merged){ 0 };
    if (!store_commit(s, err) ||
        !store_open(path, &(struct store_opts){ .read_only = true }, &other, err))
        return false;
    // The other connection stays open: it has seen that the file is a store of our version.
    bool ok = attach(s, other, err);
    if (ok) {
        ok = merge_attached(s, out, err);
        sqlite3_exec(s->db, "DETACH other", NULL, NULL, NULL);
    }
    store_close(other);
    return ok || err_add(err, "merging %.*s", STR(path));
}

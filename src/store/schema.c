// SPDX-License-Identifier: GPL-3.0-or-later
// schema.c - every SQL text of the store that is not a PRAGMA: the migrations and the statements.
//
// A call's row carries its reply; what was asked is named by hashes and kept once in `program`
// (decisions 1.6). Rows are found by place (replay) and, the good ones, by what was asked (reuse);
// rowids grow, so "the oldest" needs no index of its own. The run's row counts its calls and money,
// brought up to date in the transaction that adds them: a list of runs must not read every reply.
#include "store/internal.h"

// Step i leads from version i to i + 1. A step that was published never changes.
static const char *const migrations[STORE_VERSION] = {
    "CREATE TABLE run (" // an id is never given out twice: a program may still work on a removed
                         // run
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  key TEXT NOT NULL,"
    "  ordinal INTEGER NOT NULL,"
    "  command TEXT NOT NULL,"
    "  name TEXT NOT NULL,"
    "  model TEXT NOT NULL,"
    "  method TEXT NOT NULL,"
    "  config TEXT NOT NULL,"
    "  summary TEXT NOT NULL,"
    "  finished INTEGER NOT NULL,"
    "  simulated INTEGER NOT NULL,"
    "  started_unix_ms INTEGER NOT NULL,"
    "  finished_unix_ms INTEGER NOT NULL,"
    "  n_calls INTEGER NOT NULL,"
    "  spent_nusd INTEGER NOT NULL,"
    "  UNIQUE (key, ordinal)"
    ") STRICT;"
    "CREATE TABLE call ("
    "  id INTEGER PRIMARY KEY,"
    "  run INTEGER NOT NULL REFERENCES run (id),"
    "  batch INTEGER NOT NULL,"
    "  job INTEGER NOT NULL,"
    "  ask INTEGER NOT NULL,"
    "  request_hash TEXT NOT NULL,"
    "  reuse_key TEXT NOT NULL,"
    "  program_hash TEXT NOT NULL,"
    "  input_id TEXT NOT NULL,"
    "  model TEXT NOT NULL,"
    "  class TEXT NOT NULL,"
    "  cost_nusd INTEGER NOT NULL,"
    "  input_tok INTEGER NOT NULL,"
    "  output_tok INTEGER NOT NULL,"
    "  latency_ms INTEGER NOT NULL,"
    "  reusable INTEGER NOT NULL,"
    "  failed INTEGER NOT NULL,"
    "  reply TEXT NOT NULL"
    ") STRICT;"
    "CREATE UNIQUE INDEX call_place ON call (run, batch, job, ask);"
    // Keys are hashes. Their beginning is enough to find a row; whole they would make the index so
    // large that each put touches another page of it.
    "CREATE INDEX call_reuse ON call (substr(reuse_key, 1, 12)) WHERE reusable = 1;"
    "CREATE TABLE program ("
    "  hash TEXT NOT NULL PRIMARY KEY,"
    "  json TEXT NOT NULL"
    ") STRICT;",
    // What sums over calls are grouped by. Replies tell where their cost is from, so that older
    // rows can be filled in; their phase was not recorded. Engines take no money.
    "ALTER TABLE call ADD COLUMN phase TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE call ADD COLUMN cost_source TEXT NOT NULL DEFAULT '';"
    "UPDATE call SET cost_source = CASE WHEN NOT json_valid(reply) THEN ''"
    "  WHEN reply ->> 'cost_source' IS NOT NULL THEN reply ->> 'cost_source'"
    "  WHEN input_tok + output_tok + cost_nusd > 0 THEN 'unknown' ELSE 'none' END;",
    // What was spent on a day, counted from 1970 in UTC: budgets of a day hold for all runs.
    "CREATE TABLE day (day INTEGER PRIMARY KEY, spent_nusd INTEGER NOT NULL) STRICT;",
};

#define RUN_COLUMNS                                                                                \
    "id, key, ordinal, command, name, model, method, config, summary, finished, simulated, "       \
    "started_unix_ms, finished_unix_ms, n_calls, spent_nusd"
#define CALL_COLUMNS                                                                               \
    "request_hash, reuse_key, program_hash, input_id, model, class, cost_nusd, input_tok, "        \
    "output_tok, latency_ms, reusable, failed, reply, phase, cost_source"

static const char *const statements[N_STATEMENTS] = {
    [BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [RUN_NEWEST] = "SELECT " RUN_COLUMNS " FROM run WHERE key = ?1 ORDER BY ordinal DESC LIMIT 1",
    [RUN_OF_ORDINAL] = "SELECT " RUN_COLUMNS " FROM run WHERE key = ?1 AND ordinal = ?2",
    [RUN_ADD] = "INSERT INTO run (key, ordinal, command, name, model, method, config, summary,"
                " finished, simulated, started_unix_ms, finished_unix_ms, n_calls, spent_nusd)"
                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, '', 0, ?8, ?9, 0, 0, 0)",
    [RUN_FINISH] = "UPDATE run SET finished = 1, summary = ?2, finished_unix_ms = ?3,"
                   " simulated = ?4 WHERE id = ?1",
    [RUN_TALLY] =
        "UPDATE run SET n_calls = n_calls + ?2, spent_nusd = spent_nusd + ?3 WHERE id = ?1",
    [DAY_TALLY] = "INSERT INTO day (day, spent_nusd) VALUES (?1, ?2)"
                  " ON CONFLICT (day) DO UPDATE SET spent_nusd = spent_nusd + ?2",
    [DAY_SPENT] = "SELECT spent_nusd FROM day WHERE day = ?1",
    [RUN_LIST] = "SELECT " RUN_COLUMNS " FROM run ORDER BY id",
    [RUN_BY_ID] = "SELECT " RUN_COLUMNS " FROM run WHERE id = ?1",
    // Byte order: '0'..'f' keys and any other text alike.
    [RUN_BY_KEY] = "SELECT " RUN_COLUMNS " FROM run WHERE substr(key, 1, length(?1)) = ?1"
                   " ORDER BY id",
    [RUN_REMOVE] = "DELETE FROM run WHERE id = ?1",
    [RUN_REMOVE_CALLS] = "DELETE FROM call WHERE run = ?1",
    [CALL_GET] = "SELECT " CALL_COLUMNS " FROM call"
                 " WHERE run = ?1 AND batch = ?2 AND job = ?3 AND ask = ?4",
    // The + keeps SQLite from putting ?1 into the indexed expression, which would hide the index.
    [CALL_REUSE] = "SELECT " CALL_COLUMNS " FROM call"
                   " WHERE substr(reuse_key, 1, 12) = substr(?1, 1, 12) AND +reuse_key = ?1"
                   " AND reusable = 1 ORDER BY id LIMIT 1",
    [CALL_PUT] =
        "INSERT INTO call (run, batch, job, ask, " CALL_COLUMNS ")"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"
        " ?17, ?18, ?19) ON CONFLICT (run, batch, job, ask) DO UPDATE SET"
        " (" CALL_COLUMNS ") = (?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"
        " ?19) WHERE failed = 1",
    [CALL_LIST] = "SELECT " CALL_COLUMNS ", batch, job, ask FROM call WHERE run = ?1"
                  " ORDER BY batch, job, ask",
    [PROGRAM_PUT] = "INSERT OR IGNORE INTO program (hash, json) VALUES (?1, ?2)",
    [PROGRAM_GET] = "SELECT json FROM program WHERE hash = ?1",
    [PROGRAM_LIST] = "SELECT hash, json FROM program ORDER BY hash",
    [PROGRAM_PRUNE] = "DELETE FROM program WHERE hash NOT IN (SELECT program_hash FROM call)",
    [COST_LIST] =
        "SELECT c.model, r.method, CASE c.phase WHEN '' THEN r.command ELSE c.phase END AS place,"
        " c.cost_source, r.simulated, count(*), sum(c.input_tok), sum(c.output_tok),"
        " sum(c.cost_nusd) FROM call c JOIN run r ON r.id = c.run WHERE ?1 IN (0, r.id)"
        " GROUP BY 1, 2, 3, 4, 5"
        " UNION ALL"
        " SELECT model, method, command, 'possible', simulated, 0, 0, 0, sum(beside) FROM"
        " (SELECT *, spent_nusd - (SELECT total(cost_nusd) FROM call WHERE run = run.id) AS beside"
        "  FROM run WHERE ?1 IN (0, id)) WHERE beside > 0 GROUP BY 1, 2, 3, 5"
        " ORDER BY 1, 2, 3, 4, 5",
};

const char *store_statement_sql(enum statement which)
{
    return statements[which];
}

const char *store_migration_sql(int from)
{
    return migrations[from];
}

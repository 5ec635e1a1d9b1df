// SPDX-License-Identifier: GPL-3.0-or-later
// A store as a whole: its migration from the first version, sums, faults found, space given back,
// and stores joined (issue: any endpoint, points 3 and 4).
#include <sqlite3.h>
#include <sys/stat.h>
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

static str in_dir(const char *name)
{
    return path_join(str_from(dir), str_from(name), &arena);
}

static void sql(str path, const char *text)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path.data, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static struct store *open_store(const char *name)
{
    struct store *s = NULL;
    OK(store_open(in_dir(name), NULL, &s, &err));
    return s;
}

static struct store_run begin(struct store *s, str key, int64_t repeat)
{
    struct store_run run = {
        .key = key, .command = S("eval"), .model = S("m"), .method = S("baseline")
    };
    struct store_begin how = { .now_unix_ms = 1, .repeat = repeat };
    OK(store_run_begin(s, &how, &arena, &run, &err));
    return run;
}

static void put(struct store *s, int64_t run, int64_t job, const struct stored_call *call)
{
    OK(store_call_put(s, &(struct call_place){ run, 0, job, 0 }, call, &err));
}

static struct stored_call reply(str text)
{
    return (struct stored_call){ .request_hash = S("rh"),
                                 .reuse_key = S("k1"),
                                 .model = S("m"),
                                 .class = S("ok"),
                                 .phase = S("evaluating"),
                                 .cost_source = S("priced"),
                                 .cost_nusd = 100,
                                 .input_tok = 10,
                                 .output_tok = 2,
                                 .reply = text,
                                 .reusable = true };
}

static void put_text(struct store *s, int64_t run, int64_t job, const char *text)
{
    struct stored_call call = reply(str_from(text));
    put(s, run, job, &call);
}

static str get(struct store *s, int64_t run, int64_t job)
{
    struct stored_call call;
    OK(store_call_get(s, &(struct call_place){ run, 0, job, 0 }, &arena, &call, &err));
    return call.found ? call.reply : S("none");
}

static void finish(struct store *s, struct store_run run)
{
    run.summary = S("{}");
    OK(store_run_finish(s, &run, 9, &err));
}

// ---- the first version ----

// The tables of version 1, as they were published, with a priced, an unpriced and an engine's call.
static const char *const version_1 =
    "CREATE TABLE run (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL,"
    " ordinal INTEGER NOT NULL, command TEXT NOT NULL, name TEXT NOT NULL, model TEXT NOT NULL,"
    " method TEXT NOT NULL, config TEXT NOT NULL, summary TEXT NOT NULL,"
    " finished INTEGER NOT NULL, simulated INTEGER NOT NULL, started_unix_ms INTEGER NOT NULL,"
    " finished_unix_ms INTEGER NOT NULL, n_calls INTEGER NOT NULL, spent_nusd INTEGER NOT NULL,"
    " UNIQUE (key, ordinal)) STRICT;"
    "CREATE TABLE call (id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run (id),"
    " batch INTEGER NOT NULL, job INTEGER NOT NULL, ask INTEGER NOT NULL,"
    " request_hash TEXT NOT NULL, reuse_key TEXT NOT NULL, program_hash TEXT NOT NULL,"
    " input_id TEXT NOT NULL, model TEXT NOT NULL, class TEXT NOT NULL,"
    " cost_nusd INTEGER NOT NULL, input_tok INTEGER NOT NULL, output_tok INTEGER NOT NULL,"
    " latency_ms INTEGER NOT NULL, reusable INTEGER NOT NULL, failed INTEGER NOT NULL,"
    " reply TEXT NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX call_place ON call (run, batch, job, ask);"
    "CREATE INDEX call_reuse ON call (substr(reuse_key, 1, 12)) WHERE reusable = 1;"
    "CREATE TABLE program (hash TEXT NOT NULL PRIMARY KEY, json TEXT NOT NULL) STRICT;"
    "INSERT INTO run VALUES (1,'aa',0,'eval','','m','baseline','{}','',0,0,1,0,3,70);"
    "INSERT INTO call VALUES (1,1,0,0,0,'h','k','','x/0','m','ok',70,9,2,1,1,0,"
    "  '{\"class\":\"ok\",\"cost_source\":\"priced\"}');"
    "INSERT INTO call VALUES "
    "(2,1,0,1,0,'h','k','','x/1','n','ok',0,9,2,1,1,0,'{\"class\":\"ok\"}');"
    "INSERT INTO call VALUES (3,1,0,2,0,'h','k','','x/2','e','ok',0,0,0,1,1,0,'{}');"
    "PRAGMA application_id = 1383034731; PRAGMA user_version = 1;";

static void a_store_of_the_first_version_is_brought_up_to_date(void **state)
{
    (void)state;
    sql(in_dir("old.db"), version_1);
    struct store *s = NULL;
    assert_false(store_open(in_dir("old.db"), &(struct store_opts){ .read_only = true }, &s, &err));
    assert_true(str_find(str_from(err.text), S("made by an older rookery")) > 0);
    s = open_store("old.db");
    struct store_costs costs = { 0 };
    OK(store_costs(s, 0, &arena, &costs, &err));
    assert_int_equal(costs.n, 3);
    static const char *const want[] = { "e none", "m priced", "n unknown" };
    for (size_t i = 0; i < 3; i++)
        assert_str(arena_printf(&arena, "%.*s %.*s", STR(costs.v[i].model), STR(costs.v[i].source)),
                   str_from(want[i]));
    assert_str(costs.v[0].phase, S("eval")); // not recorded then: the command stands for it
    assert_int_equal(costs.v[1].cost_nusd, 70);
    store_close(s);
}

// ---- sums ----

static void costs_are_summed_by_model_method_phase_and_source(void **state)
{
    (void)state;
    struct store *s = open_store("a.db");
    int64_t run = begin(s, S("aa"), 0).id;
    static const struct {
        const char *phase, *source;
    } calls[] = { { "optimising", "priced" },
                  { "optimising", "priced" },
                  { "optimising", "reported" },
                  { "evaluating", "estimated" } };
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        struct stored_call call = reply(S("{}"));
        call.phase = str_from(calls[i].phase);
        call.cost_source = str_from(calls[i].source);
        put(s, run, (int64_t)i, &call);
    }
    OK(store_run_spend(s, run, 33, &err)); // an attempt that brought nothing
    struct store_costs costs = { 0 };
    OK(store_costs(s, 0, &arena, &costs, &err));
    struct buf b = { .arena = &arena };
    for (size_t i = 0; i < costs.n; i++)
        buf_addf(&b, "%.*s %.*s %lld %lld %lld; ", STR(costs.v[i].phase), STR(costs.v[i].source),
                 (long long)costs.v[i].n_calls, (long long)costs.v[i].input_tok,
                 (long long)costs.v[i].cost_nusd);
    assert_str(buf_str(&b), S("eval possible 0 0 33; evaluating estimated 1 10 100; "
                              "optimising priced 2 20 200; optimising reported 1 10 100; "));
    int64_t other = begin(s, S("bb"), 0).id;
    costs = (struct store_costs){ 0 };
    OK(store_costs(s, other, &arena, &costs, &err));
    assert_int_equal(costs.n, 0);
    store_close(s);
}

// ---- faults ----

static void finds(const char *damage, const char *fault)
{
    struct store *s = open_store("v.db");
    struct store_check check;
    int64_t run = begin(s, S("aa"), 0).id;
    put_text(s, run, 0, "{}");
    OK(store_check(s, &arena, &check, &err));
    assert_int_equal(check.faults.n, 0);
    store_close(s);
    sql(in_dir("v.db"), damage);
    s = open_store("v.db");
    OK(store_check(s, &arena, &check, &err));
    store_close(s);
    if (check.faults.n != 1)
        fail_msg("%s: %zu faults", damage, check.faults.n);
    assert_str(check.faults.v[0], str_from(fault));
    unlink(in_dir("v.db").data);
}

static void what_does_not_fit_together_is_found(void **state)
{
    (void)state;
    finds("UPDATE call SET run = 7; UPDATE run SET n_calls = 0",
          "call 1 belongs to run 7, which is not there");
    finds("UPDATE call SET program_hash = 'gone'",
          "call 1 (run 1) names a program that is not there");
    finds("UPDATE call SET class = 'empty'", "call 1 (run 1) is reusable, but of the class empty");
    finds("UPDATE call SET failed = 1", "call 1 (run 1) is reusable, but failed");
    finds("UPDATE call SET latency_ms = -1", "call 1 (run 1) has a negative count or cost");
    finds("UPDATE run SET n_calls = 0", "run 1 counts 0 calls, and has 1");
    finds("UPDATE run SET spent_nusd = 99",
          "run 1 has spent 99 nano-dollars, and its calls cost 100");
    finds("UPDATE run SET finished = 1", "run 1 is finished without a summary");
}

static void a_broken_page_is_found(void **state)
{
    (void)state;
    struct store *s = open_store("p.db");
    int64_t run = begin(s, S("aa"), 0).id;
    for (int i = 0; i < 2000; i++)
        put_text(s, run, i, "{\"class\":\"ok\",\"text\":\"something to fill the pages with\"}");
    store_close(s);
    FILE *f = fopen(in_dir("p.db").data, "r+");
    struct stat st;
    assert_int_equal(stat(in_dir("p.db").data, &st), 0);
    // A whole page in the middle: of rows or of an index.
    assert_int_equal(fseek(f, st.st_size / 2 / 4096 * 4096, SEEK_SET), 0);
    for (int i = 0; i < 4096; i++)
        fputc(0x5a, f);
    fclose(f);
    struct store_check check;
    s = open_store("p.db");
    OK(store_check(s, &arena, &check, &err));
    assert_true(check.faults.n > 0);
    store_close(s);
}

// ---- size ----

static void compacting_gives_space_back_and_keeps_every_call(void **state)
{
    (void)state;
    struct store *s = open_store("c.db");
    int64_t gone = begin(s, S("aa"), 0).id, kept = begin(s, S("bb"), 0).id;
    char *text = arena_alloc(&arena, 5000);
    memset(text, 'x', 4999);
    for (int i = 0; i < 400; i++)
        put_text(s, gone, i, text);
    struct stored_call named = reply(S("stays"));
    named.program_hash = S("p1");
    OK(store_program_put(s, S("p1"), S("{}"), &err));
    OK(store_program_put(s, S("p2"), S("{}"), &err));
    put(s, kept, 0, &named);
    OK(store_run_remove(s, gone, &err));
    store_close(s);
    struct stat before, after;
    assert_int_equal(stat(in_dir("c.db").data, &before), 0);
    s = open_store("c.db");
    int64_t n_programs;
    str json;
    OK(store_compact(s, &n_programs, &err));
    assert_int_equal(n_programs, 1);
    assert_int_equal(stat(in_dir("c.db").data, &after), 0);
    assert_true(after.st_size < before.st_size / 10);
    assert_str(get(s, kept, 0), S("stays"));
    OK(store_program_get(s, S("p1"), &arena, &json, &err));
    assert_str(json, S("{}"));
    store_close(s);
}

// ---- joining ----

static struct store_merged merge(struct store *s, const char *other)
{
    struct store_merged m;
    OK(store_merge(s, in_dir(other), &m, &err));
    struct store_check check;
    OK(store_check(s, &arena, &check, &err));
    assert_int_equal(check.faults.n, 0);
    return m;
}

static struct store_run find(struct store *s, str which)
{
    struct store_run run;
    OK(store_run_find(s, which, &arena, &run, &err));
    return run;
}

static void new_runs_come_over_with_calls_money_and_programs(void **state)
{
    (void)state;
    struct store *s = open_store("o.db");
    struct store_run run = begin(s, S("aa"), 0);
    struct stored_call call = reply(S("r0"));
    call.program_hash = S("p");
    OK(store_program_put(s, S("p"), S("{}"), &err));
    put(s, run.id, 0, &call);
    OK(store_run_spend(s, run.id, 7, &err));
    finish(s, run);
    store_close(s);
    s = open_store("s.db");
    begin(s, S("zz"), 0); // so that ids differ
    struct store_merged m = merge(s, "o.db");
    assert_true(m.n_added == 1 && m.n_calls == 1 && m.n_known == 0 && m.n_moved == 0);
    struct store_run here = find(s, S("aa"));
    assert_int_equal(here.id, 2);
    assert_true(here.finished && here.n_calls == 1 && here.spent_nusd == 107);
    assert_str(here.summary, S("{}"));
    assert_str(get(s, 2, 0), S("r0"));
    m = merge(s, "o.db"); // again: nothing is new
    assert_true(m.n_added == 0 && m.n_calls == 0 && m.n_known == 1);
    assert_int_equal(find(s, S("aa")).spent_nusd, 107);
    store_close(s);
}

static void a_run_that_went_on_elsewhere_is_completed(void **state)
{
    (void)state;
    struct store *here = open_store("s.db"), *there = open_store("o.db");
    struct store *both[] = { here, there };
    for (int i = 0; i < 2; i++) {
        struct store_run run = begin(both[i], S("aa"), 0);
        put_text(both[i], run.id, 0, "r0");
        struct stored_call failed = reply(S("failed"));
        failed.failed = true;
        failed.reusable = false;
        put(both[i], run.id, 1, &failed);
    }
    put_text(there, 1, 1, "r1");
    put_text(there, 1, 2, "r2");
    finish(there, find(there, S("aa")));
    store_close(there);
    struct store_merged m = merge(here, "o.db");
    assert_true(m.n_added == 0 && m.n_filled == 1 && m.n_calls == 2);
    assert_str(get(here, 1, 1), S("r1"));
    assert_str(get(here, 1, 2), S("r2"));
    assert_true(find(here, S("aa")).finished);
    store_close(here);
}

static void other_replies_to_the_same_run_become_a_repetition(void **state)
{
    (void)state;
    struct store *here = open_store("s.db"), *there = open_store("o.db");
    put_text(here, begin(here, S("aa"), 0).id, 0, "mine");
    put_text(there, begin(there, S("aa"), 0).id, 0, "yours");
    store_close(there);
    struct store_merged m = merge(here, "o.db");
    assert_true(m.n_added == 1 && m.n_moved == 1);
    struct store_run moved = begin(here, S("aa"), 2);
    assert_int_equal(moved.ordinal, 1);
    assert_str(get(here, moved.id, 0), S("yours"));
    m = merge(here, "o.db"); // known by now, under its new ordinal
    assert_true(m.n_added == 0 && m.n_known == 1);
    store_close(here);
}

static void equal_repetitions_stay_repetitions(void **state)
{
    (void)state;
    struct store *there = open_store("o.db");
    for (int k = 1; k <= 3; k++)
        put_text(there, begin(there, S("aa"), k).id, 0, "same");
    store_close(there);
    struct store *here = open_store("s.db");
    assert_int_equal(merge(here, "o.db").n_added, 3);
    assert_int_equal(merge(here, "o.db").n_known, 3);
    store_close(here);
}

static void what_is_no_store_or_another_version_is_not_merged(void **state)
{
    (void)state;
    struct store *s = open_store("s.db");
    struct store_merged m;
    sql(in_dir("old.db"), version_1);
    sql(in_dir("foreign.db"), "CREATE TABLE t (x)");
    static const struct {
        const char *name, *words;
    } cases[] = { { "none.db", "no such store" },
                  { "old.db", "made by an older rookery" },
                  { "foreign.db", "not a rookery store" } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        err = (struct err){ 0 };
        assert_false(store_merge(s, in_dir(cases[i].name), &m, &err));
        assert_true(str_find(str_from(err.text), str_from(cases[i].words)) > 0);
        assert_int_equal(err.code, ERR_INPUT);
    }
    store_close(s);
}

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/rookery-upkeep-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
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
        CASE(a_store_of_the_first_version_is_brought_up_to_date),
        CASE(costs_are_summed_by_model_method_phase_and_source),
        CASE(what_does_not_fit_together_is_found),
        CASE(a_broken_page_is_found),
        CASE(compacting_gives_space_back_and_keeps_every_call),
        CASE(new_runs_come_over_with_calls_money_and_programs),
        CASE(a_run_that_went_on_elsewhere_is_completed),
        CASE(other_replies_to_the_same_run_become_a_repetition),
        CASE(equal_repetitions_stay_repetitions),
        CASE(what_is_no_store_or_another_version_is_not_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// What a store keeps: runs by key and ordinal, replies by place and by what was asked.
#include "test.h"
#include "store/store.h"

static struct arena arena;
static struct err err;

#define OK(call)                                                                                   \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s", err.text);                                                              \
    } while (0)

static struct store *open_memory(void)
{
    struct store *s = NULL;
    OK(store_open(S(":memory:"), NULL, &s, &err));
    return s;
}

static struct store_run begin(struct store *s, str key, int64_t now)
{
    struct store_run run = { .key = key,
                             .command = S("eval"),
                             .name = S("first"),
                             .model = S("sim/strong"),
                             .method = S("baseline"),
                             .config = S("{\"seed\": 42}"),
                             .simulated = true };
    OK(store_run_begin(s, &(struct store_begin){ .now_unix_ms = now }, &arena, &run, &err));
    return run;
}

static struct store_run again(struct store *s, str key)
{
    struct store_run run = { .key = key };
    OK(store_run_begin(s, &(struct store_begin){ .again = true, .now_unix_ms = 9 }, &arena, &run,
                       &err));
    return run;
}

static struct store_run find(struct store *s, str which)
{
    struct store_run run = { 0 };
    OK(store_run_find(s, which, &arena, &run, &err));
    return run;
}

static struct stored_call reply(str text)
{
    return (struct stored_call){ .request_hash = S("rh"),
                                 .reuse_key = S("k1"),
                                 .program_hash = S("ph"),
                                 .input_id = S("00008/0"),
                                 .model = S("sim/strong"),
                                 .class = S("ok"),
                                 .cost_nusd = 1500,
                                 .input_tok = 900,
                                 .output_tok = 12,
                                 .latency_ms = 340,
                                 .reply = text,
                                 .reusable = true };
}

static void put(struct store *s, int64_t run, int64_t job, struct stored_call call)
{
    OK(store_call_put(s, &(struct call_place){ run, 0, job, 0 }, &call, &err));
}

// The reply at a place, or "none".
static str get(struct store *s, int64_t run, int64_t job)
{
    struct stored_call call;
    OK(store_call_get(s, &(struct call_place){ run, 0, job, 0 }, &arena, &call, &err));
    return call.found ? call.reply : S("none");
}

static str reuse(struct store *s, str key)
{
    struct stored_call call;
    OK(store_call_reuse(s, key, &arena, &call, &err));
    return call.found ? call.reply : S("none");
}

static void a_run_is_found_again_by_its_key(void **state)
{
    (void)state;
    struct store *s = open_memory();
    struct store_run first = begin(s, S("aa11"), 1000);
    struct store_run same = begin(s, S("aa11"), 2000);
    assert_int_equal(same.id, first.id);
    assert_int_equal(same.ordinal, 0);
    assert_int_equal(same.started_unix_ms, 1000);
    assert_false(same.finished);
    assert_true(same.simulated);
    assert_str(same.config, S("{\"seed\": 42}"));
    assert_str(same.command, S("eval"));
    assert_str(same.method, S("baseline"));
    assert_int_not_equal(begin(s, S("bb22"), 1).id, first.id);
    store_close(s);
}

static void again_begins_the_next_ordinal_only_behind_a_finished_run(void **state)
{
    (void)state;
    struct store *s = open_memory();
    struct store_run first = begin(s, S("aa11"), 1000);
    assert_int_equal(again(s, S("aa11")).id, first.id); // not finished: goes on
    OK(store_run_finish(
        s, &(struct store_run){ .id = first.id, .summary = S("{\"accuracy\": 0.5}") }, 5000, &err));
    struct store_run shown = begin(s, S("aa11"), 6000);
    assert_true(shown.finished);
    assert_int_equal(shown.id, first.id);
    assert_int_equal(shown.finished_unix_ms, 5000);
    assert_str(shown.summary, S("{\"accuracy\": 0.5}"));
    struct store_run second = again(s, S("aa11"));
    assert_int_equal(second.ordinal, 1);
    assert_false(second.finished);
    assert_int_equal(again(s, S("aa11")).id, second.id);
    assert_int_equal(begin(s, S("aa11"), 7000).id, second.id); // the newest
    store_close(s);
}

static void runs_are_found_by_id_or_unique_beginning(void **state)
{
    (void)state;
    struct store *s = open_memory();
    struct store_run a = begin(s, S("abc1"), 1);
    struct store_run b = begin(s, S("abd2"), 2);
    struct store_run out;
    assert_int_equal(find(s, S("abc")).id, a.id);
    assert_int_equal(find(s, S("abd2")).id, b.id);
    assert_int_equal(find(s, arena_printf(&arena, "%lld", (long long)b.id)).id, b.id);
    assert_false(store_run_find(s, S("ab"), &arena, &out, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_string_equal(err.text, ":memory:: several runs begin with 'ab': give an id, "
                                  "`rookery runs list` shows them");
    assert_false(store_run_find(s, S("zz"), &arena, &out, &err));
    assert_string_equal(err.text, ":memory:: there is no run 'zz': see `rookery runs list`");
    assert_int_equal(err.code, ERR_INPUT);
    assert_false(store_run_find(s, S(""), &arena, &out, &err));
    OK(store_run_finish(s, &(struct store_run){ .id = a.id, .summary = S("{}") }, 3, &err));
    again(s, S("abc1")); // the next ordinal of the same key: which one is meant?
    assert_false(store_run_find(s, S("abc"), &arena, &out, &err));
    store_close(s);
}

static void runs_are_listed_oldest_first_with_calls_and_money(void **state)
{
    (void)state;
    struct store *s = open_memory();
    struct store_run a = begin(s, S("aa"), 1);
    struct store_run b = begin(s, S("bb"), 2);
    for (int i = 0; i < 3; i++)
        put(s, a.id, i, reply(S("x")));
    put(s, b.id, 0, reply(S("y")));
    put(s, a.id, 3, reply(S("x")));
    struct store_runs runs = { 0 };
    OK(store_runs(s, &arena, &runs, &err)); // sees what is not committed
    assert_int_equal(runs.n, 2);
    assert_str(runs.v[0].key, S("aa"));
    assert_int_equal(runs.v[0].n_calls, 4);
    assert_int_equal(runs.v[0].spent_nusd, 6000);
    assert_int_equal(runs.v[1].n_calls, 1);
    OK(store_flush(s, 0, &err));
    assert_int_equal(find(s, S("aa")).spent_nusd, 6000);
    store_close(s);
}

static void a_removed_run_takes_its_calls_along(void **state)
{
    (void)state;
    struct store *s = open_memory();
    struct store_run a = begin(s, S("aa"), 1);
    struct store_run b = begin(s, S("bb"), 1);
    put(s, a.id, 0, reply(S("mine")));
    struct stored_call other = reply(S("other"));
    other.reuse_key = S("k2");
    put(s, b.id, 0, other);
    OK(store_run_remove(s, a.id, &err));
    assert_str(get(s, a.id, 0), S("none"));
    assert_str(reuse(s, S("k1")), S("none"));
    assert_str(get(s, b.id, 0), S("other"));
    assert_false(store_run_remove(s, a.id, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_string_equal(err.text, ":memory:: there is no run 1");
    assert_false(store_run_finish(s, &(struct store_run){ .id = 77, .summary = S("{}") }, 1, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_false(store_call_put(s, &(struct call_place){ a.id, 0, 1, 0 },
                                &(struct stored_call){ .reply = S("late") }, &err));
    assert_int_equal(err.code, ERR_RUN);
    assert_non_null(strstr(err.text, "run 1 is gone"));
    store_close(s);
}

static void a_reply_comes_back_whole_before_it_is_committed(void **state)
{
    (void)state;
    struct store *s = open_memory();
    struct store_run run = begin(s, S("aa"), 1);
    assert_false(store_dirty(s));
    struct call_place at = { run.id, 2, 17, 3 };
    struct stored_call in = reply(S("{\"text\": \"e2e4\0\xE9\"}")), out; // bytes stay as they are
    OK(store_call_put(s, &at, &in, &err));
    assert_true(store_dirty(s));
    OK(store_call_get(s, &at, &arena, &out, &err));
    assert_true(out.found);
    assert_str(out.request_hash, in.request_hash);
    assert_str(out.reuse_key, in.reuse_key);
    assert_str(out.program_hash, in.program_hash);
    assert_str(out.input_id, in.input_id);
    assert_str(out.model, in.model);
    assert_str(out.class, in.class);
    assert_str(out.reply, in.reply);
    assert_int_equal(out.cost_nusd, 1500);
    assert_int_equal(out.input_tok, 900);
    assert_int_equal(out.output_tok, 12);
    assert_int_equal(out.latency_ms, 340);
    assert_true(out.reusable);
    for (int i = 0; i < 4; i++) { // each part of the place counts
        struct call_place other = at;
        *(i == 0 ? &other.run : i == 1 ? &other.batch : i == 2 ? &other.job : &other.ask) += 1;
        OK(store_call_get(s, &other, &arena, &out, &err));
        assert_false(out.found);
    }
    OK(store_flush(s, 0, &err));
    assert_false(store_dirty(s));
    store_close(s);
}

static void empty_texts_come_back_empty(void **state)
{
    (void)state;
    struct store *s = open_memory();
    struct store_run run = { .key = S("k") };
    OK(store_run_begin(s, &(struct store_begin){ .now_unix_ms = 0 }, &arena, &run, &err));
    put(s, run.id, 0, (struct stored_call){ 0 });
    assert_str(get(s, run.id, 0), S(""));
    store_close(s);
}

static void only_good_replies_are_reused_and_the_oldest_first(void **state)
{
    (void)state;
    struct store *s = open_memory();
    struct store_run run = begin(s, S("aa"), 1);
    struct stored_call bad = reply(S("truncated"));
    bad.reusable = false;
    put(s, run.id, 9, bad);
    assert_str(reuse(s, S("k1")), S("none"));
    put(s, run.id, 8, reply(S("first")));
    put(s, run.id, 1, reply(S("second")));
    assert_str(reuse(s, S("k1")), S("first")); // not committed yet
    OK(store_flush(s, 0, &err));
    assert_str(reuse(s, S("k1")), S("first"));
    assert_str(reuse(s, S("k2")), S("none"));
    store_close(s);
}

static void a_place_takes_one_reply(void **state)
{
    (void)state;
    struct store *s = open_memory();
    struct store_run run = begin(s, S("aa"), 1);
    put(s, run.id, 0, reply(S("paid for")));
    struct stored_call other = reply(S("other"));
    assert_false(store_call_put(s, &(struct call_place){ run.id, 0, 0, 0 }, &other, &err));
    assert_int_equal(err.code, ERR_RUN);
    assert_string_equal(err.text,
                        ":memory:: run 1 has a reply at batch 0, job 0, ask 0 already: is "
                        "the same command running twice? Wait until the other has ended "
                        "and give the command again");
    put(s, run.id, 1, reply(S("next"))); // the transaction goes on
    OK(store_flush(s, 0, &err));
    assert_str(get(s, run.id, 0), S("paid for"));
    assert_str(get(s, run.id, 1), S("next"));
    assert_int_equal(find(s, S("aa")).n_calls, 2);
    store_close(s);
}

struct listed {
    struct call_place at[8];
    str replies[8];
    size_t n;
};
static bool note_call(void *ctx, const struct call_place *at, const struct stored_call *call,
                      struct err *why)
{
    struct listed *l = ctx;
    if (l->n == 5)
        return err_set(why, ERR_RUN, "enough");
    l->at[l->n] = *at;
    l->replies[l->n++] = arena_str(&arena, call->reply);
    return true;
}

static void calls_are_listed_in_order_of_their_places(void **state)
{
    (void)state;
    struct store *s = open_memory();
    struct store_run run = begin(s, S("aa"), 1);
    static const struct call_place places[] = {
        { 1, 1, 0, 0 }, { 1, 0, 2, 1 }, { 1, 0, 2, 0 }, { 1, 0, 10, 0 }, { 1, 0, 0, 0 }
    };
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct stored_call call = reply(arena_printf(&arena, "r%zu", i));
        OK(store_call_put(s, &places[i], &call, &err));
    }
    struct listed calls = { 0 };
    OK(store_calls(s, run.id, note_call, &calls, &err));
    assert_int_equal(calls.n, 5);
    static const int order[] = { 4, 2, 1, 3, 0 };
    for (size_t i = 0; i < 5; i++) {
        const struct call_place *want = &places[order[i]], *at = &calls.at[i];
        assert_true(at->run == 1 && at->batch == want->batch && at->job == want->job &&
                    at->ask == want->ask);
        assert_str(calls.replies[i], arena_printf(&arena, "r%d", order[i]));
    }
    store_close(s);
}

static void a_reply_of_64_mib_is_kept_and_one_byte_more_is_refused(void **state)
{
    (void)state;
    struct arena big = { 0 };
    struct store *s = open_memory();
    struct store_run run = begin(s, S("aa"), 1);
    char *text = arena_alloc(&big, STORE_REPLY_MAX + 1);
    memset(text, 'x', STORE_REPLY_MAX + 1);
    put(s, run.id, 0, reply((str){ text, STORE_REPLY_MAX }));
    struct stored_call out;
    OK(store_call_get(s, &(struct call_place){ run.id, 0, 0, 0 }, &big, &out, &err));
    assert_true(str_eq(out.reply, (str){ text, STORE_REPLY_MAX }));
    struct stored_call over = reply((str){ text, STORE_REPLY_MAX + 1 });
    assert_false(store_call_put(s, &(struct call_place){ run.id, 0, 1, 0 }, &over, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_string_equal(err.text,
                        ":memory:: a reply of 67108865 bytes; a store keeps at most 67108864");
    store_close(s);
    arena_free(&big);
}

static void a_program_is_kept_once(void **state)
{
    (void)state;
    struct store *s = open_memory();
    str json;
    OK(store_program_get(s, S("h"), &arena, &json, &err));
    assert_str(json, S(""));
    OK(store_program_put(s, S("h"), S("{\"a\": 1}"), &err));
    assert_true(store_dirty(s));
    OK(store_program_put(s, S("h"), S("{\"a\": 1}"), &err));
    OK(store_flush(s, 0, &err));
    OK(store_program_get(s, S("h"), &arena, &json, &err));
    assert_str(json, S("{\"a\": 1}"));
    store_close(s);
}

static int64_t test_clock_ms;

static int64_t test_clock(void)
{
    return test_clock_ms;
}

static int64_t day_spent(struct store *s)
{
    int64_t nusd;
    OK(store_day_spent(s, &nusd, &err));
    return nusd;
}

// 2026-12-01 ended 1,796,169,600 s after 1970.
static void money_counts_for_its_day_in_utc_whatever_the_run(void **state)
{
    (void)state;
    struct store *s = NULL;
    struct stored_call c = reply(S("{}"));
    test_clock_ms = 1796169600000 - 1;
    OK(store_open(S(":memory:"), &(struct store_opts){ .unix_ms = test_clock }, &s, &err));
    int64_t a = begin(s, S("a"), 1).id, b = begin(s, S("b"), 2).id;
    assert_int_equal(day_spent(s), 0);
    OK(store_call_put(s, &(struct call_place){ .run = a }, &c, &err));
    OK(store_call_put(s, &(struct call_place){ .run = b }, &c, &err));
    OK(store_run_spend(s, b, 7, &err));
    assert_int_equal(day_spent(s), 1500 + 1500 + 7); // before anything is committed, too
    test_clock_ms++;
    assert_int_equal(day_spent(s), 0);
    OK(store_call_put(s, &(struct call_place){ .run = a, .job = 1 }, &c, &err));
    OK(store_flush(s, 1, &err));
    assert_int_equal(day_spent(s), 1500);
    test_clock_ms--;
    assert_int_equal(day_spent(s), 3007);
    store_close(s);
}

static void a_file_keeps_everything_from_open_to_open(void **state)
{
    (void)state;
    char dir[] = "/tmp/rookery-store-XXXXXX";
    assert_non_null(mkdtemp(dir));
    str path = path_join(str_from(dir), S("r.db"), &arena);
    struct store *s = NULL;
    OK(store_open(path, NULL, &s, &err));
    struct store_run run = begin(s, S("aa"), 1);
    put(s, run.id, 0, reply(S("kept by close")));
    store_close(s);
    assert_false(file_exists(path_join(str_from(dir), S("r.db-wal"), &arena)));
    OK(store_open(path, &(struct store_opts){ .read_only = true }, &s, &err));
    assert_str(get(s, run.id, 0), S("kept by close"));
    assert_int_equal(find(s, S("aa")).n_calls, 1);
    struct stored_call call = reply(S("no"));
    assert_false(store_call_put(s, &(struct call_place){ run.id, 0, 1, 0 }, &call, &err));
    assert_int_equal(err.code, ERR_RUN);
    assert_non_null(strstr(err.text, "r.db: opened for reading only, nothing can be written"));
    assert_false(store_run_begin(s, &(struct store_begin){ .now_unix_ms = 1 }, &arena, &run, &err));
    OK(store_flush(s, 0, &err)); // nothing to do
    store_close(s);
    store_close(NULL);
    assert_int_equal(system(arena_printf(&arena, "rm -r '%s'", dir).data), 0);
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(money_counts_for_its_day_in_utc_whatever_the_run),
        cmocka_unit_test(a_run_is_found_again_by_its_key),
        cmocka_unit_test(again_begins_the_next_ordinal_only_behind_a_finished_run),
        cmocka_unit_test(runs_are_found_by_id_or_unique_beginning),
        cmocka_unit_test(runs_are_listed_oldest_first_with_calls_and_money),
        cmocka_unit_test(a_removed_run_takes_its_calls_along),
        cmocka_unit_test(a_reply_comes_back_whole_before_it_is_committed),
        cmocka_unit_test(empty_texts_come_back_empty),
        cmocka_unit_test(only_good_replies_are_reused_and_the_oldest_first),
        cmocka_unit_test(a_place_takes_one_reply),
        cmocka_unit_test(calls_are_listed_in_order_of_their_places),
        cmocka_unit_test(a_reply_of_64_mib_is_kept_and_one_byte_more_is_refused),
        cmocka_unit_test(a_program_is_kept_once),
        cmocka_unit_test(a_file_keeps_everything_from_open_to_open),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}

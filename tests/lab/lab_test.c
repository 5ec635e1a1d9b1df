// SPDX-License-Identifier: GPL-3.0-or-later
// Batches: one more try for what did not arrive, nothing scored when it still is missing.
#include "test.h"

#include "lab/lab.h"

struct flaky {
    int n_calls;
    int lost_first, lost_always; // the first N calls fail; or the calls for position "L"
};

static bool answer(const struct model *m, const struct model_request *q, struct arena *a,
                   struct reply *out, struct err *err)
{
    (void)a;
    (void)err;
    struct flaky *f = m->context;
    bool doomed =
        f->lost_always && str_find(q->messages.v[q->messages.n - 1].text, S("]]\nL\n")) > 0;
    out->class = ++f->n_calls <= f->lost_first || doomed ? REPLY_UPSTREAM : REPLY_OK;
    out->error = S("gone");
    out->text = S("{\"move\":\"e2e4\"}");
    return true;
}
static const struct provider provider_flaky = { .answer = answer };

enum { N = 10 };
struct bench {
    struct arena arena;
    struct store *db;
    struct store_run run;
    struct flaky flaky;
    struct model model;
    struct puzzle puzzles[N];
    struct puzzle_position v[N];
    struct lab lab;
    struct err err;
    const struct outcome *out;
};

static struct bench *bench_new(void)
{
    struct bench *b = calloc(1, sizeof *b);
    assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &b->db, &b->err));
    b->run = (struct store_run){ .key = S("k"), .command = S("test"), .config = S("{}") };
    assert_true(store_run_begin(b->db, &(struct store_begin){ .now_unix_ms = 0 }, &b->arena,
                                &b->run, &b->err));
    b->model =
        (struct model){ .name = S("flaky/m"), .provider = &provider_flaky, .context = &b->flaky };
    struct position start = position_start();
    for (int i = 0; i < N; i++) {
        b->puzzles[i].id = arena_printf(&b->arena, "p%d", i);
        b->v[i] =
            (struct puzzle_position){ .puzzle = &b->puzzles[i],
                                      .count = 1,
                                      .at = start,
                                      .inputs = { i == 3 ? S("L") : S("x"), S("white"), S("e2e4") },
                                      .reference = S("e2e4") };
        assert_true(uci_parse(&start, S("e2e4"), &b->v[i].solution));
    }
    return b;
}

static bool evaluate(struct bench *b, bool continue_on_error)
{
    struct pump_opts opts = { .run = b->run.id };
    b->lab = (struct lab){ .arena = &b->arena,
                           .pump = pump_new(&opts, b->db, &b->err),
                           .continue_on_error = continue_on_error };
    struct lab_task task = { .v = b->v, .n = N, .model = &b->model, .samples = 1 };
    const struct program *p = program_new(&b->arena, &signature_choose_move, instruction_base);
    bool ok = lab_evaluate_positions(&b->lab, p, &task, &b->out, &b->err);
    pump_free(b->lab.pump);
    return ok;
}

static void bench_free(struct bench *b)
{
    store_close(b->db);
    arena_free(&b->arena);
    free(b);
}

static void what_did_not_arrive_is_tried_once_more(void **s)
{
    (void)s;
    struct bench *b = bench_new();
    b->flaky.lost_first = 4;
    assert_true(evaluate(b, false));
    assert_int_equal(b->flaky.n_calls, N + 4);
    for (int i = 0; i < N; i++)
        assert_true(b->out[i].score == 1);
    assert_int_equal(b->lab.used.n_calls, N); // the calls that count
    bench_free(b);
}

static void a_missing_answer_stops_the_batch_and_the_next_run_asks_only_for_it(void **s)
{
    (void)s;
    struct bench *b = bench_new();
    b->flaky.lost_always = 1;
    assert_false(evaluate(b, false));
    assert_int_equal(b->err.code, ERR_RUN);
    assert_non_null(strstr(b->err.text, "1 of 10 answers did not arrive"));
    assert_int_equal(b->flaky.n_calls, N + 1);
    b->flaky.lost_always = 0;
    assert_true(evaluate(b, false));
    assert_int_equal(b->flaky.n_calls, N + 2);
    bench_free(b);
}

static void continue_on_error_records_it_as_failed_and_replays_it(void **s)
{
    (void)s;
    struct bench *b = bench_new();
    b->flaky.lost_always = 1;
    assert_true(evaluate(b, true));
    assert_int_equal(b->out[3].status, OUTCOME_FAILED);
    assert_true(b->out[3].score == 0);
    int calls = b->flaky.n_calls;
    b->flaky.lost_always = 0;
    assert_true(evaluate(b, true));
    assert_int_equal(b->flaky.n_calls, calls);
    assert_int_equal(b->out[3].status, OUTCOME_FAILED);
    assert_true(evaluate(b, false)); // without the flag it is asked again, and may succeed
    assert_int_equal(b->flaky.n_calls, calls + 1);
    assert_true(b->out[3].score == 1);
    assert_true(evaluate(b, true));
    assert_true(b->out[3].score == 1); // the later answer replaced the failure
    assert_int_equal(b->flaky.n_calls, calls + 1);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_did_not_arrive_is_tried_once_more),
        cmocka_unit_test(a_missing_answer_stops_the_batch_and_the_next_run_asks_only_for_it),
        cmocka_unit_test(continue_on_error_records_it_as_failed_and_replays_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// The pump with candidates: rollouts of a good one and of one that hangs, many at once; the same
// again from the store alone.
#include "sandbox/sandboxed.h"

#include "pump/pump.h"

enum { JOBS = 24 };
struct bench {
    struct arena arena;
    struct store *db;
    struct store_run run;
    struct candidate good, hangs;
    struct rollout_opts rollout;
    struct rollout_input inputs[JOBS];
    struct model model;
    size_t next, n_done;
    double scores[JOBS];
    enum rollout_stop stops[JOBS];
    size_t restarts[JOBS];
    struct pump_stats stats;
    struct err err;
};

// Solves the puzzle: what comes next is told by the number of the move.
static bool solve(const struct model *m, const struct model_request *q, struct arena *a,
                  struct reply *out, struct err *err)
{
    (void)m;
    (void)a;
    (void)err;
    str text = q->messages.v[q->messages.n - 1].text;
    out->text = str_find(text, S("Puzzle move number: 1")) >= 0 ? S("<move>f5e5</move>")
                                                                : S("<move>e5e6</move>");
    out->usage = (struct usage){ .source = KNOWN_REPORTED, .output_tok = 9 };
    return true;
}
static const struct provider solver = { .name = T("test"), .answer = solve };

static struct candidate candidate_of(const char *source, struct arena *a)
{
    struct examination e = examined(str_from(source), a);
    if (e.verdict != VERDICT_PASS)
        fail_msg("%.*s", STR(findings_text(&e, a)));
    return (struct candidate){ .source = str_from(source), .contract = e.contract };
}

static void bench_new(struct bench *b)
{
    static const str line[] = { T("f5e5"), T("e2f1"), T("e5e6") };
    struct position at;
    memset(b, 0, sizeof *b);
    assert_int_equal(
        position_parse(S("8/5R2/1p2P3/p4r2/P6p/1P3Pk1/4K3/8 b - - 2 64"), &at, &b->err),
        FAULT_NONE);
    b->good =
        candidate_of(REQUIRED "def format_observation(observation, **kwargs):\n"
                              "    return observation + '\\nTurn ' + str(kwargs['turn_count'])\n"
                              "def parse_action(response):\n    return response[6:10]\n",
                     &b->arena);
    b->hangs = candidate_of(REQUIRED "def parse_action(response):\n"
                                     "    while 'f5e5' in response:\n        pass\n"
                                     "    return response[6:10]\n",
                            &b->arena);
    b->model = (struct model){ .name = S("test/solver"), .id = S("solver"), .provider = &solver };
    for (size_t i = 0; i < JOBS; i++)
        b->inputs[i] = (struct rollout_input){
            &b->rollout, i % 8 == 3 ? &b->hangs : &b->good, { at, line, ARRAY_LEN(line) }, i
        };
    assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &b->db, &b->err));
    b->run = (struct store_run){ .key = S("k"), .command = S("test"), .config = S("{}") };
    assert_true(store_run_begin(b->db, &(struct store_begin){ 0 }, &b->arena, &b->run, &b->err));
}

static void bench_free(struct bench *b)
{
    store_close(b->db);
    arena_free(&b->arena);
}

static bool next_job(void *ctx, struct job *job, size_t *index)
{
    struct bench *b = ctx;
    if (b->next == JOBS)
        return false;
    *index = b->next++;
    *job = (struct job){ .kind = &episode_rollout,
                         .input = &b->inputs[*index],
                         .input_id = S("example"),
                         .model = &b->model };
    return true;
}

static void take_outcome(void *ctx, size_t index, const struct outcome *out)
{
    struct bench *b = ctx;
    const struct rollout_record *r = out->record;
    b->scores[index] = out->score;
    b->stops[index] = r->stop;
    b->restarts[index] = 0;
    for (size_t i = 0; i < r->events.n; i++)
        b->restarts[index] += str_eq(r->events.v[i].source, S("child_restarted"));
    b->n_done++;
}

static bool pump_all(struct bench *b, struct sandbox *sandbox)
{
    struct feed feed = { .next = next_job, .done = take_outcome, .ctx = b };
    struct pump_opts opts = { .run = b->run.id, .slots = 8, .sandbox = sandbox };
    struct pump *p = pump_new(&opts, b->db, &b->err);
    assert_non_null(p);
    b->next = b->n_done = 0;
    b->err = (struct err){ 0 };
    bool ok = pump_run(p, 0, &feed, &b->err);
    b->stats = *pump_stats(p);
    pump_free(p);
    return ok;
}

static void assert_all_solved(const struct bench *b)
{
    assert_int_equal(b->n_done, JOBS);
    for (size_t i = 0; i < JOBS; i++) {
        assert_int_equal(b->stops[i], STOPPED_SOLVED);
        assert_int_equal(b->restarts[i], i % 8 == 3);
    }
}

static void rollouts_run_and_are_replayed_with_their_faults(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b);
    if (!pump_all(&b, box))
        fail_msg("%s", b.err.text);
    assert_all_solved(&b);
    assert_int_equal(b.stats.n_calls, 2 * JOBS);
    int64_t begun = clock_mono_ms();
    assert_true(pump_all(&b, box));
    assert_all_solved(&b);
    assert_int_equal(b.stats.n_calls, 0);
    // Three faults of half a second of CPU time each are not waited for again.
    assert_true(clock_mono_ms() - begun < 10000);
    assert_int_equal(b.stats.n_replayed, 2 * JOBS + 3);
    bench_free(&b);
}

static void without_a_sandbox_nothing_is_scored(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b);
    assert_false(pump_all(&b, NULL));
    assert_int_equal(b.n_done, 0);
    assert_non_null(strstr(b.err.text, "no sandbox"));
    bench_free(&b);
}

int main(int argc, char **argv)
{
    sandbox_become_template(argc, argv);
    open_box(false);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rollouts_run_and_are_replayed_with_their_faults),
        cmocka_unit_test(without_a_sandbox_nothing_is_scored),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sandbox_free(box);
    return failed;
}

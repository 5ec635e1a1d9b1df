// SPDX-License-Identifier: GPL-3.0-or-later
// The pump against a server that misbehaves on purpose: retries, refusals, replay, money, Ctrl-C.
// A tiny episode kind stands for all: it asks once and scores 1 for the answer "yes".
#include "test.h"

#include "pump/pump.h"
#include "serve/serve.h"

// ---- the episode ----

struct echo {
    struct episode base;
    bool asked;
    struct message message;
};
struct echo_record {
    enum reply_class class;
    int attempts;
};

static enum step echo_step(struct episode *base, const struct answer *in, struct ask *out)
{
    struct echo *ep = (struct echo *)base;
    if (!ep->asked) {
        ep->asked = true;
        ep->message = (struct message){ ROLE_USER, base->job->input_id };
        struct messages m = { .v = &ep->message, .n = 1 };
        *out = (struct ask){ .model = model_request_new(base->job->model, NULL, &m, NULL) };
        return STEP_ASK;
    }
    struct echo_record *record = NEW(base->arena, struct echo_record);
    *record = (struct echo_record){ in->model.class, in->model.attempts };
    base->outcome.record = record;
    base->outcome.status = in->model.class == REPLY_OK ? OUTCOME_SCORED : OUTCOME_FAILED;
    base->outcome.score = str_eq(in->model.text, S("yes"));
    usage_total_note(&base->outcome.used, &in->model);
    return STEP_DONE;
}

static const struct episode_kind kind_echo = { .name = "echo",
                                               .size = sizeof(struct echo),
                                               .step = echo_step };

// ---- the server ----

enum { SCRIPT_MAX = 16, JOBS_MAX = 200 };
struct script { // what the first requests get; the last entry repeats
    struct serve_reply replies[SCRIPT_MAX];
    int n;
    int n_requests;                       // of the server's thread; read after the pump is done
    volatile sig_atomic_t *stop_at_first; // set when a request arrives
    bool odd_jobs_fail;                   // "no" for jobs with an odd number
};
static const char GOOD[] = "{\"id\":\"x\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{"
                           "\"role\":\"assistant\",\"content\":\"yes\"},\"finish_reason\":\"stop\"}"
                           "],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2}}";

// The number in the question "job N".
static int64_t job_number(str body)
{
    ptrdiff_t at = str_find(body, S("job "));
    int64_t n = 0;
    if (at < 0)
        BUG("no job in the question");
    str rest = str_sub(body, (size_t)at + 4, body.len);
    if (!str_to_int(str_cut(&rest, '"'), 0, JOBS_MAX, &n))
        BUG("no job number");
    return n;
}

static void handle(void *context, const struct serve_request *in, struct arena *a,
                   struct serve_reply *out)
{
    (void)a;
    struct script *s = context;
    if (s->stop_at_first)
        *s->stop_at_first = 1;
    int i = __atomic_fetch_add(&s->n_requests, 1, __ATOMIC_SEQ_CST);
    *out = s->replies[i < s->n ? i : s->n - 1];
    if (s->odd_jobs_fail && job_number(in->body) % 2 == 1)
        out->body = S("{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
                      "\"content\":\"no\"},\"finish_reason\":\"stop\"}]}");
}

static struct serve_reply reply(int status, const char *body)
{
    return (struct serve_reply){ .status = status,
                                 .content_type = S("application/json"),
                                 .body = str_from(body) };
}

static struct serve_reply good(void)
{
    return reply(200, GOOD);
}

static struct serve_reply ending(enum serve_end end)
{
    struct serve_reply r = good();
    r.end = end;
    return r;
}

// ---- a bench: server, store, pump, some jobs ----

struct bench {
    struct arena arena;
    struct script script;
    struct server *server;
    struct store *db;
    struct store_run run;
    struct model model;
    struct pump_opts opts;
    struct job jobs[JOBS_MAX];
    size_t n_jobs, next;
    struct outcome outcomes[JOBS_MAX];
    int attempts[JOBS_MAX];
    int n_done;
    bool keep_failures;
    struct pump_stats stats;
    struct err err;
};

static const char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}

static void open_run(struct bench *b, bool again)
{
    b->run = (struct store_run){ .key = S("k"), .command = S("test"), .config = S("{}") };
    assert_true(store_run_begin(b->db, &(struct store_begin){ .again = again, .now_unix_ms = 0 },
                                &b->arena, &b->run, &b->err));
    b->opts.run = b->run.id;
}

static void bench_new(struct bench *b, size_t n_jobs)
{
    memset(b, 0, sizeof *b);
    int port;
    struct serve_opts serve = { .handler = handle, .context = &b->script };
    assert_true(server_start(&serve, &b->server, &port, &b->err));
    static const struct provider *const providers[] = { &provider_openai, NULL };
    struct model_source from = { .providers = providers, .getenv_fn = no_environment };
    struct model_opts opts = { .from = &from,
                               .base_url = arena_printf(&b->arena, "http://127.0.0.1:%d/v1", port),
                               .has_retries = true,
                               .retries = 3,
                               .timeout_ms = 300 };
    assert_true(model_open(S("openai/m"), &opts, &b->arena, &b->model, &b->err));
    assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &b->db, &b->err));
    open_run(b, false);
    const struct program *program =
        program_new(&b->arena, &signature_choose_move, instruction_base);
    b->n_jobs = n_jobs;
    for (size_t i = 0; i < n_jobs; i++)
        b->jobs[i] = (struct job){ .kind = &kind_echo,
                                   .program = program,
                                   .input_id = arena_printf(&b->arena, "job %zu", i),
                                   .model = &b->model };
}

static void bench_free(struct bench *b)
{
    server_stop(b->server);
    store_close(b->db);
    arena_free(&b->arena);
}

static bool next_job(void *ctx, struct job *job, size_t *index)
{
    struct bench *b = ctx;
    if (b->next == b->n_jobs)
        return false;
    *index = b->next;
    *job = b->jobs[b->next++];
    return true;
}

static void done(void *ctx, size_t index, const struct outcome *out)
{
    struct bench *b = ctx;
    b->outcomes[index] = *out;
    b->attempts[index] = ((const struct echo_record *)out->record)->attempts;
    b->n_done++;
}

static bool run(struct bench *b)
{
    b->next = 0;
    b->n_done = 0;
    b->err = (struct err){ 0 };
    struct pump *p = pump_new(&b->opts, b->db, &b->err);
    struct feed feed = {
        .next = next_job, .done = done, .ctx = b, .keep_failures = b->keep_failures
    };
    bool ok = pump_run(p, 0, &feed, &b->err);
    b->stats = *pump_stats(p);
    pump_free(p);
    return ok;
}

static void script(struct bench *b, const struct serve_reply *replies, int n)
{
    memcpy(b->script.replies, replies, (size_t)n * sizeof *replies);
    b->script.n = n;
}

// ---- retries ----

// The first reply is the trouble, the second is good: one retry, and the good answer counts.
static void recovers_from(struct serve_reply trouble)
{
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 1);
    script(b, (const struct serve_reply[]){ trouble, good() }, 2);
    if (!run(b))
        fail_msg("%s", b->err.text);
    assert_int_equal(b->attempts[0], 2);
    assert_true(b->outcomes[0].score == 1);
    assert_int_equal(b->stats.n_retries, 1);
    assert_int_equal(b->script.n_requests, 2);
    bench_free(b);
    free(b);
}

static void passing_trouble_is_retried(void **s)
{
    (void)s;
    static const char slow_down[] = "{\"error\":{\"message\":\"slow down\",\"type\":\"x\","
                                    "\"code\":\"rate_limit_exceeded\"}}";
    recovers_from(reply(429, slow_down));
    recovers_from(reply(500, "{\"error\":{\"message\":\"oops\"}}"));
    recovers_from(reply(503, "<html>busy</html>"));
    recovers_from(reply(200, "{\"error\":{\"message\":\"provider failed\",\"code\":502}}"));
    recovers_from(reply(200, "<html>welcome</html>"));
    recovers_from(reply(200, ""));
    recovers_from(ending(SERVE_CUT));
    recovers_from(ending(SERVE_RESET));
    recovers_from(ending(SERVE_STALL));
}

static void a_hint_is_a_floor(void **s)
{
    (void)s;
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 1);
    struct serve_reply wait = reply(429, "{}");
    wait.headers[0] = (struct serve_header){ S("Retry-After"), S("1") };
    wait.n_headers = 1;
    script(b, (const struct serve_reply[]){ wait, good() }, 2);
    int64_t before = clock_mono_ms();
    assert_true(run(b));
    assert_true(clock_mono_ms() - before >= 1000);
    bench_free(b);
    free(b);
}

static void what_never_arrives_is_failed_and_not_stored(void **s)
{
    (void)s;
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 2);
    b->model.retries = 1;
    struct serve_reply busy = reply(503, "{}");
    busy.headers[0] = (struct serve_header){ S("retry-after-ms"), S("1") };
    busy.n_headers = 1;
    script(b, &busy, 1);
    assert_true(run(b));
    assert_int_equal(b->script.n_requests, 4);
    assert_int_equal(b->outcomes[0].status, OUTCOME_FAILED);
    script(b, (const struct serve_reply[]){ good() }, 1);
    assert_true(run(b)); // the same place is asked again
    assert_int_equal(b->script.n_requests, 6);
    assert_true(b->outcomes[0].score == 1 && b->outcomes[1].score == 1);
    bench_free(b);
    free(b);
}

// ---- the end of the run ----

static void stops_with(struct serve_reply trouble, const char *words)
{
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 50);
    b->opts.slots = 1;
    script(b, &trouble, 1);
    assert_false(run(b));
    assert_int_equal(b->err.code, ERR_ENDPOINT);
    if (!strstr(b->err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", b->err.text, words);
    assert_int_equal(b->script.n_requests, 1);
    bench_free(b);
    free(b);
}

static void refusals_stop_the_run_at_once(void **s)
{
    (void)s;
    stops_with(reply(401, "{\"error\":{\"message\":\"bad key\",\"type\":\"invalid_request_error\","
                          "\"code\":\"invalid_api_key\"}}"),
               "OPENAI_API_KEY");
    stops_with(reply(404, "{\"error\":{\"message\":\"no such model\",\"code\":"
                          "\"model_not_found\"}}"),
               "no such model");
    stops_with(reply(429, "{\"error\":{\"message\":\"pay first\",\"type\":\"insufficient_quota\","
                          "\"code\":\"insufficient_quota\"}}"),
               "pay first");
}

static void a_host_that_never_answers_is_an_endpoint_error(void **s)
{
    (void)s;
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 5);
    b->model.retries = 0;
    server_stop(b->server); // its port is closed now
    b->server = NULL;
    assert_false(run(b));
    assert_int_equal(b->err.code, ERR_ENDPOINT);
    assert_non_null(strstr(b->err.text, "127.0.0.1"));
    bench_free(b);
    free(b);
}

// ---- replay and reuse ----

static void a_finished_batch_is_replayed_without_a_call(void **s)
{
    (void)s;
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 100);
    script(b, (const struct serve_reply[]){ good() }, 1);
    assert_true(run(b));
    assert_int_equal(b->stats.n_calls, 100);
    assert_true(run(b));
    assert_int_equal(b->stats.n_calls, 0);
    assert_int_equal(b->stats.n_replayed, 100);
    assert_int_equal(b->script.n_requests, 100);
    assert_int_equal(b->n_done, 100);
    for (size_t i = 0; i < 100; i++)
        assert_true(b->outcomes[i].score == 1 && b->outcomes[i].used.input_tok == 10);
    bench_free(b);
    free(b);
}

static void another_request_at_the_same_place_is_an_error(void **s)
{
    (void)s;
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 3);
    script(b, (const struct serve_reply[]){ good() }, 1);
    assert_true(run(b));
    b->jobs[1].input_id = S("something else");
    assert_false(run(b));
    assert_non_null(strstr(b->err.text, "replay diverged at batch 0, job 1, ask 0"));
    assert_int_equal(b->script.n_requests, 3);
    bench_free(b);
    free(b);
}

static void good_replies_of_other_runs_are_reused_only_on_request(void **s)
{
    (void)s;
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 10);
    script(b, (const struct serve_reply[]){ good() }, 1);
    assert_true(run(b));
    assert_true(store_run_finish(b->db, &b->run, 0, &b->err));
    open_run(b, true);
    assert_true(run(b));
    assert_int_equal(b->script.n_requests, 20);
    assert_true(store_run_finish(b->db, &b->run, 0, &b->err));
    open_run(b, true);
    b->opts.reuse = true;
    assert_true(run(b));
    assert_int_equal(b->script.n_requests, 20);
    assert_int_equal(b->stats.n_reused, 10);
    assert_int_equal(b->stats.spent_nusd, 0);
    bench_free(b);
    free(b);
}

// ---- money ----

static void set_price(struct bench *b)
{
    b->model.price = (struct price){ .known = true, .input = 1, .output = 1 };
    b->model.max_tokens = 1000;
}

static void the_budget_is_never_passed_and_raising_it_goes_on(void **s)
{
    (void)s;
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 40);
    set_price(b);
    script(b, (const struct serve_reply[]){ good() }, 1);
    b->opts.max_cost_nusd = 1300000; // a call costs 12,000, and at worst a good million
    assert_false(run(b));
    assert_int_equal(b->err.code, ERR_BUDGET);
    assert_true(b->stats.spent_nusd <= b->opts.max_cost_nusd);
    int first = b->script.n_requests;
    assert_true(first > 0 && first < 40);
    b->opts.max_cost_nusd = 100000000;
    b->opts.spent_nusd = b->stats.spent_nusd;
    assert_true(run(b));
    assert_int_equal(b->script.n_requests, 40);
    assert_int_equal(b->stats.n_replayed, first);
    assert_int_equal(b->stats.spent_nusd, 40 * 12000);
    bench_free(b);
    free(b);
}

// What the run's row in the store has spent.
static int64_t stored_spending(struct bench *b)
{
    struct store_run run;
    assert_true(store_run_find(b->db, S("1"), &b->arena, &run, &b->err));
    return run.spent_nusd;
}

static void an_attempt_that_may_have_been_billed_is_counted(void **s)
{
    (void)s;
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 1);
    set_price(b);
    script(b, (const struct serve_reply[]){ ending(SERVE_CUT), good() }, 2);
    assert_true(run(b));
    assert_true(b->stats.spent_nusd > 1000000);
    assert_int_equal(stored_spending(b), b->stats.spent_nusd);
    assert_int_equal(b->outcomes[0].used.cost_nusd, 12000); // the answer's own
    bench_free(b);
    free(b);
}

static void a_failure_that_reports_its_cost_is_counted(void **s)
{
    (void)s;
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 1);
    set_price(b);
    struct serve_reply failed = reply(200, "{\"error\":{\"message\":\"mid-way\",\"code\":502},"
                                           "\"usage\":{\"prompt_tokens\":10,"
                                           "\"completion_tokens\":2}}");
    script(b, (const struct serve_reply[]){ failed, good() }, 2);
    assert_true(run(b));
    assert_int_equal(b->stats.spent_nusd, 2 * 12000);
    assert_int_equal(stored_spending(b), 2 * 12000);
    bench_free(b);
    free(b);
}

static void attempts_that_may_have_been_billed_count_against_the_cap(void **s)
{
    (void)s;
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 20);
    set_price(b);
    b->opts.max_cost_nusd = 5000000; // an attempt may cost a good million
    b->model.retries = 9;
    b->model.timeout_ms = 50;
    script(b, (const struct serve_reply[]){ ending(SERVE_STALL) }, 1);
    assert_false(run(b));
    assert_int_equal(b->err.code, ERR_BUDGET);
    assert_true(b->stats.spent_nusd <= b->opts.max_cost_nusd);
    assert_true(b->script.n_requests <= 5);
    assert_int_equal(stored_spending(b), b->stats.spent_nusd); // and not forgotten
    bench_free(b);
    free(b);
}

// ---- Ctrl-C, refusals in flight, concurrency ----

static volatile sig_atomic_t asked_to_stop;
static int stop_after;

static void stop_when_some_arrived(void *context, const struct pump_stats *stats)
{
    (void)context;
    if (stats->n_calls >= stop_after)
        asked_to_stop = 1;
}

static void an_interrupted_run_stops_and_keeps_what_arrived(void **s)
{
    (void)s;
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 200);
    asked_to_stop = 0;
    stop_after = 1;
    b->opts.slots = 2;
    b->opts.interrupted = &asked_to_stop;
    b->opts.progress = stop_when_some_arrived;
    struct serve_reply slow = good();
    slow.delay_ms = 30;
    script(b, &slow, 1);
    assert_false(run(b));
    assert_int_equal(b->err.code, ERR_INTERRUPTED);
    int arrived = (int)b->stats.n_calls;
    assert_true(arrived > 0 && arrived < 200);
    b->opts.interrupted = NULL;
    script(b, (const struct serve_reply[]){ good() }, 1);
    assert_true(run(b));
    assert_int_equal(b->stats.n_replayed, arrived);
    assert_int_equal(b->stats.n_calls, 200 - arrived);
    bench_free(b);
    free(b);
}

static void ctrl_c_makes_no_failure_final(void **s)
{
    (void)s;
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 1);
    asked_to_stop = 0;
    b->keep_failures = true;
    b->model.retries = 0;
    b->model.timeout_ms = 5000;
    b->opts.interrupted = &asked_to_stop;
    b->script.stop_at_first = &asked_to_stop; // while the attempt is in flight
    struct serve_reply busy = reply(503, "{}");
    busy.delay_ms = 200;
    script(b, &busy, 1);
    assert_false(run(b));
    assert_int_equal(b->err.code, ERR_INTERRUPTED);
    assert_int_equal(b->script.n_requests, 1);
    b->opts.interrupted = NULL;
    script(b, (const struct serve_reply[]){ good() }, 1);
    assert_true(run(b));
    assert_int_equal(b->script.n_requests, 2);
    assert_true(b->outcomes[0].score == 1);
    bench_free(b);
    free(b);
}

static void a_wait_longer_than_a_run_ends_it_at_once(void **s)
{
    (void)s;
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 3);
    b->opts.slots = 1;
    struct serve_reply wait = reply(429, "{}");
    wait.headers[0] = (struct serve_header){ S("Retry-After"), S("3600") };
    wait.n_headers = 1;
    script(b, &wait, 1);
    assert_false(run(b));
    assert_int_equal(b->err.code, ERR_ENDPOINT);
    assert_non_null(strstr(b->err.text, "wait 3600 s"));
    assert_int_equal(b->script.n_requests, 1);
    bench_free(b);
    free(b);
}

static void what_is_in_flight_at_a_refusal_is_still_taken_in(void **s)
{
    (void)s;
    struct bench *b = malloc(sizeof *b);
    bench_new(b, 10);
    b->opts.slots = 10;
    b->opts.limits.fixed = true;
    b->model.timeout_ms = 5000;
    struct serve_reply slow = good();
    slow.delay_ms = 300;
    struct serve_reply refused =
        reply(401, "{\"error\":{\"message\":\"bad key\",\"code\":\"invalid_api_key\"}}");
    script(b, (const struct serve_reply[]){ slow, slow, slow, refused, slow }, 5);
    assert_false(run(b));
    assert_int_equal(b->err.code, ERR_ENDPOINT);
    assert_int_equal(b->stats.n_calls, 9);
    script(b, (const struct serve_reply[]){ good() }, 1);
    assert_true(run(b));
    assert_int_equal(b->stats.n_replayed, 9);
    bench_free(b);
    free(b);
}

// While the breaker is open nothing is sent and nothing fails; one call then finds out.
static void an_endpoint_that_is_down_is_left_alone_for_a_while(void **s)
{
    enum { JOBS = 11 };
    (void)s;
    struct bench *b = malloc(sizeof *b);
    struct serve_reply replies[JOBS + 1];
    bench_new(b, JOBS);
    b->opts.slots = JOBS;
    b->opts.limits = (struct gates_opts){ .fixed = true, .breaker_ms = 700 };
    for (int i = 0; i < JOBS; i++)
        replies[i] = reply(500, "{}");
    replies[JOBS] = good();
    script(b, replies, JOBS + 1);
    int64_t began = clock_mono_ms();
    assert_true(run(b));
    assert_true(clock_mono_ms() - began >= 700);
    assert_int_equal(b->stats.n_calls, JOBS);
    assert_int_equal(b->script.n_requests, 2 * JOBS);
    bench_free(b);
    free(b);
}

static void outcomes_do_not_depend_on_concurrency(void **s)
{
    (void)s;
    for (int slots = 1; slots <= 64; slots *= 8) {
        struct bench *b = malloc(sizeof *b);
        bench_new(b, 60);
        b->opts.slots = slots;
        b->script.odd_jobs_fail = true;
        struct serve_reply no = good();
        no.delay_ms = 20; // the first reply comes last
        script(b, (const struct serve_reply[]){ no, good() }, 2);
        assert_true(run(b));
        assert_int_equal(b->n_done, 60);
        assert_int_equal(b->script.n_requests, 60);
        for (size_t i = 0; i < 60; i++)
            assert_true(b->outcomes[i].score == (i % 2 == 0));
        bench_free(b);
        free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passing_trouble_is_retried),
        cmocka_unit_test(a_hint_is_a_floor),
        cmocka_unit_test(what_never_arrives_is_failed_and_not_stored),
        cmocka_unit_test(refusals_stop_the_run_at_once),
        cmocka_unit_test(a_host_that_never_answers_is_an_endpoint_error),
        cmocka_unit_test(a_finished_batch_is_replayed_without_a_call),
        cmocka_unit_test(another_request_at_the_same_place_is_an_error),
        cmocka_unit_test(good_replies_of_other_runs_are_reused_only_on_request),
        cmocka_unit_test(the_budget_is_never_passed_and_raising_it_goes_on),
        cmocka_unit_test(an_attempt_that_may_have_been_billed_is_counted),
        cmocka_unit_test(a_failure_that_reports_its_cost_is_counted),
        cmocka_unit_test(attempts_that_may_have_been_billed_count_against_the_cap),
        cmocka_unit_test(an_interrupted_run_stops_and_keeps_what_arrived),
        cmocka_unit_test(ctrl_c_makes_no_failure_final),
        cmocka_unit_test(a_wait_longer_than_a_run_ends_it_at_once),
        cmocka_unit_test(what_is_in_flight_at_a_refusal_is_still_taken_in),
        cmocka_unit_test(an_endpoint_that_is_down_is_left_alone_for_a_while),
        cmocka_unit_test(outcomes_do_not_depend_on_concurrency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

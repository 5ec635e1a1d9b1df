// SPDX-License-Identifier: GPL-3.0-or-later
// The pump against engines that are at fault on purpose (field cases F-047 to F-053), and against
// Stockfish where it is installed. A tiny episode kind asks an engine once.
#include "test.h"

#include <unistd.h>

#include "pump/pump.h"

struct asker {
    struct episode base;
    bool asked;
};
struct asker_record {
    enum engine_class class;
    move best;
    int64_t cp;
    int depth, attempts;
};

static enum step asker_step(struct episode *base, const struct answer *in, struct ask *out)
{
    struct asker *ep = (struct asker *)base;
    if (!ep->asked) {
        ep->asked = true;
        *out = (struct ask){ .to = TO_ENGINE };
        out->engine = *(const struct engine_query *)base->job->input;
        return STEP_ASK;
    }
    struct asker_record *record = NEW(base->arena, struct asker_record);
    const struct engine_reply *r = &in->engine;
    *record = (struct asker_record){ .class = r->class, .best = r->best, .attempts = r->attempts };
    if (r->n > 0) {
        record->cp = engine_score_cp(r->v[0].score);
        record->depth = r->v[0].depth;
    }
    base->outcome.record = record;
    base->outcome.status = r->class == ENGINE_OK ? OUTCOME_SCORED : OUTCOME_FAILED;
    base->outcome.error = r->error;
    return STEP_DONE;
}

static const struct episode_kind kind_asker = { .name = "asker",
                                                .size = sizeof(struct asker),
                                                .step = asker_step };

// ---- a bench: an engine, a store, jobs ----

enum { JOBS_MAX = 8 };
struct bench {
    struct arena arena;
    str counts; // a file in which the fake engine counts
    struct engine engine;
    struct engine_query queries[JOBS_MAX];
    move moves[JOBS_MAX];
    struct store *db;
    struct store_run run;
    struct pump_opts opts;
    size_t n, next, n_done;
    bool keep_failures;
    struct asker_record records[JOBS_MAX];
    enum outcome_status statuses[JOBS_MAX];
    str errors[JOBS_MAX];
    struct pump_stats stats;
    struct err err;
};

static void begin_run(struct bench *b, const char *key)
{
    b->run = (struct store_run){ .key = str_from(key), .command = S("test"), .config = S("{}") };
    assert_true(store_run_begin(b->db, &(struct store_begin){ 0 }, &b->arena, &b->run, &b->err));
    b->opts.run = b->run.id;
}

// n questions: what is the first, second, ... of the moves worth from the start position?
static void bench_new(struct bench *b, const char *mode, size_t n)
{
    char path[] = "rookery-engine-XXXXXX";
    memset(b, 0, sizeof *b);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    b->counts = arena_str(&b->arena, str_from(path));
    str *args = NEW_ARRAY(&b->arena, str, 2);
    args[0] = str_from(mode);
    args[1] = b->counts;
    b->engine = (struct engine){ .path = source_path(S("tests/pump/fake_engine.sh"), &b->arena),
                                 .args = args,
                                 .n_args = 2,
                                 .hello_ms = 3000,
                                 .timeout_ms = 3000,
                                 .identity = S("fake"),
                                 .name = S("Fake 1") };
    assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &b->db, &b->err));
    begin_run(b, "k");
    b->opts.engines = 2;
    struct move_list list;
    struct position start = position_start();
    moves_sorted(&start, &list);
    for (b->n = 0; b->n < n; b->n++) {
        b->moves[b->n] = list.v[b->n];
        b->queries[b->n] = (struct engine_query){ .engine = &b->engine,
                                                  .start = start,
                                                  .search = &b->moves[b->n],
                                                  .n_search = 1,
                                                  .limit = { ENGINE_BY_DEPTH, 4 },
                                                  .need_score = true };
    }
}

static void bench_free(struct bench *b)
{
    unlink(b->counts.data);
    store_close(b->db);
    arena_free(&b->arena);
}

static bool next_job(void *ctx, struct job *job, size_t *index)
{
    struct bench *b = ctx;
    if (b->next == b->n)
        return false;
    *index = b->next++;
    *job = (struct job){ .kind = &kind_asker, .input = &b->queries[*index], .input_id = S("q") };
    return true;
}

static void take_outcome(void *ctx, size_t index, const struct outcome *out)
{
    struct bench *b = ctx;
    b->records[index] = *(const struct asker_record *)out->record;
    b->statuses[index] = out->status;
    b->errors[index] = arena_str(&b->arena, out->error);
    b->n_done++;
}

static bool pump_all(struct bench *b)
{
    struct feed feed = { .next = next_job,
                         .done = take_outcome,
                         .ctx = b,
                         .accept_failures = b->keep_failures,
                         .keep_failures = b->keep_failures };
    struct pump *p = pump_new(&b->opts, b->db, &b->err);
    assert_non_null(p);
    b->next = b->n_done = 0;
    b->err = (struct err){ 0 };
    bool ok = pump_run(p, 0, &feed, &b->err);
    b->stats = *pump_stats(p);
    pump_free(p);
    return ok;
}

// How often the fake engine noted a word.
static int count(struct bench *b, const char *word)
{
    str text;
    int n = 0;
    assert_true(file_read(b->counts, 1 << 20, &b->arena, &text, &b->err));
    while (text.len > 0)
        n += str_eq(str_cut_line(&text), str_from(word));
    return n;
}

// One question to an engine of this mode; it must fail, and be retried.
static void assert_fault(const char *mode, enum engine_class class, const char *words)
{
    struct bench b;
    bench_new(&b, mode, 1);
    b.engine.hello_ms = class == ENGINE_STALLED ? 700 : 5000;
    b.engine.timeout_ms = 200;
    assert_true(pump_all(&b));
    assert_int_equal(b.n_done, 1);
    assert_int_equal(b.statuses[0], OUTCOME_FAILED);
    assert_int_equal(b.records[0].class, class);
    assert_int_equal(b.records[0].attempts, 3);
    assert_int_equal(count(&b, "start"), 3);
    if (str_find(b.errors[0], str_from(words)) < 0)
        fail_msg("\"%.*s\" lacks \"%s\"", STR(b.errors[0]), words);
    assert_int_equal(b.stats.n_searches, 0);
    assert_int_equal(b.stats.n_engine_faults, 3);
    bench_free(&b);
}

// ---- faults ----

static void an_engine_that_says_nothing_has_stalled(void **s)
{
    (void)s;
    assert_fault("silent", ENGINE_STALLED, "no uciok within");
}

static void an_engine_that_is_never_ready_has_stalled(void **s)
{
    (void)s;
    assert_fault("no_readyok", ENGINE_STALLED, "no readyok within");
}

static void an_engine_that_talks_to_standard_error_only_has_stalled(void **s)
{
    (void)s;
    assert_fault("stderr_only", ENGINE_STALLED, "on standard error: I am here");
}

static void an_engine_that_floods_has_stalled(void **s)
{
    (void)s;
    assert_fault("flood", ENGINE_STALLED, "no uciok within");
}

static void an_engine_that_ends_at_once_is_told_with_its_last_words(void **s)
{
    (void)s;
    assert_fault("exit_at_uci", ENGINE_CRASHED, "exit code 3; on standard error: no licence");
}

static void an_engine_that_ends_at_go_is_told_with_its_error_lines(void **s)
{
    (void)s;
    assert_fault("exit_at_go", ENGINE_CRASHED, "exit code 1; it said: ERROR: The network file");
}

static void an_engine_that_dies_is_told_with_its_signal(void **s)
{
    (void)s;
    assert_fault("die_at_go", ENGINE_CRASHED, "signal 11");
}

static void an_engine_that_hangs_in_a_search_is_killed(void **s)
{
    (void)s;
    assert_fault("hang_at_go", ENGINE_STALLED, "no bestmove after stop within");
}

static void an_engine_that_must_be_stopped_gives_no_answer(void **s)
{
    (void)s;
    assert_fault("slow", ENGINE_STALLED, "took too long and was stopped");
}

static void impossible_answers_are_faults(void **s)
{
    (void)s;
    assert_fault("illegal", ENGINE_PROTOCOL, "its move \"e2e5\" is illegal");
    assert_fault("none", ENGINE_PROTOCOL, "it has no move");
    assert_fault("zero", ENGINE_PROTOCOL, "it has no move");
    assert_fault("shallow", ENGINE_PROTOCOL, "it searched 1 plies of 4");
    assert_fault("no_score", ENGINE_PROTOCOL, "it told no score");
}

static void what_is_no_program_is_told(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "good", 1);
    b.engine.path = S("/nonexistent/engine");
    assert_true(pump_all(&b));
    assert_int_equal(b.statuses[0], OUTCOME_FAILED);
    assert_true(str_find(b.errors[0], S("is it a program?")) > 0);
    bench_free(&b);
}

// ---- no faults ----

// The score that the fake engine gives the move of question i.
static int64_t worth(const struct bench *b, size_t i)
{
    struct move_text text = uci_format(b->moves[i]);
    int sum = 0;
    for (const char *c = text.data; *c; c++)
        sum += *c;
    return sum % 100;
}

static void assert_all_answered(const struct bench *b)
{
    assert_int_equal(b->n_done, b->n);
    for (size_t i = 0; i < b->n; i++) {
        assert_int_equal(b->statuses[i], OUTCOME_SCORED);
        assert_int_equal(b->records[i].best, b->moves[i]);
        assert_int_equal(b->records[i].cp, worth(b, i));
        assert_int_equal(b->records[i].depth, 4);
    }
}

static void answers_go_to_their_questions_whatever_the_number_of_processes(void **s)
{
    (void)s;
    for (int engines = 1; engines <= 4; engines *= 2) {
        struct bench b;
        bench_new(&b, "good", JOBS_MAX);
        b.opts.engines = engines;
        assert_true(pump_all(&b));
        assert_all_answered(&b);
        assert_in_range(count(&b, "start"), 1, engines);
        assert_int_equal(count(&b, "go"), JOBS_MAX);
        assert_int_equal(count(&b, "quit"), count(&b, "start"));
        assert_int_equal(b.stats.n_searches, JOBS_MAX);
        bench_free(&b);
    }
}

static void noise_on_both_streams_does_no_harm(void **s)
{
    (void)s;
    static const char *const modes[] = { "garbage", "stderr" };
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        struct bench b;
        bench_new(&b, modes[i], 3);
        assert_true(pump_all(&b));
        assert_all_answered(&b);
        assert_int_equal(b.stats.n_engine_faults, 0);
        bench_free(&b);
    }
}

static void after_a_fault_the_question_goes_to_a_fresh_process(void **s)
{
    (void)s;
    static const char *const modes[] = { "exit_at_go_once", "die_at_go_once", "hang_at_go_once",
                                         "illegal_once", "silent_once" };
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        struct bench b;
        bench_new(&b, modes[i], 3);
        b.opts.engines = 1;
        b.engine.hello_ms = 1000;
        b.engine.timeout_ms = 200;
        assert_true(pump_all(&b));
        assert_all_answered(&b);
        assert_int_equal(b.stats.n_engine_faults, 1);
        assert_int_equal(count(&b, "start"), 2);
        bench_free(&b);
    }
}

// ---- store ----

static void stored_answers_are_replayed_without_an_engine(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "good", 4);
    assert_true(pump_all(&b));
    b.engine.path = S("/nonexistent/engine");
    memset(b.records, 0, sizeof b.records);
    assert_true(pump_all(&b));
    assert_all_answered(&b);
    assert_int_equal(b.stats.n_replayed, 4);
    assert_int_equal(b.stats.n_searches, 0);
    bench_free(&b);
}

static void faults_are_asked_again_unless_they_are_kept(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "illegal", 1);
    assert_true(pump_all(&b));
    int starts = count(&b, "start");
    b.keep_failures = true;
    assert_true(pump_all(&b)); // nothing was stored: asked again, and now kept
    assert_int_equal(count(&b, "start"), 2 * starts);
    assert_true(pump_all(&b));
    assert_int_equal(count(&b, "start"), 2 * starts);
    assert_int_equal(b.statuses[0], OUTCOME_FAILED);
    bench_free(&b);
}

static void another_question_at_the_same_place_is_an_error(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "good", 1);
    assert_true(pump_all(&b));
    b.queries[0].limit.n = 5;
    assert_false(pump_all(&b));
    assert_non_null(strstr(b.err.text, "replay diverged"));
    bench_free(&b);
}

static void answers_serve_other_runs_when_that_is_wanted(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "good", 4);
    assert_true(pump_all(&b));
    int searches = count(&b, "go");
    begin_run(&b, "other");
    b.opts.reuse = true;
    assert_true(pump_all(&b));
    assert_all_answered(&b);
    assert_int_equal(b.stats.n_reused, 4);
    assert_int_equal(count(&b, "go"), searches);
    begin_run(&b, "third"); // another engine is another question
    b.engine.identity = S("fake 2");
    assert_true(pump_all(&b));
    assert_int_equal(b.stats.n_reused, 0);
    assert_int_equal(count(&b, "go"), 2 * searches);
    bench_free(&b);
}

static void answers_with_chance_in_them_serve_no_other_run(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "good", 2);
    b.engine.random = true;
    b.opts.reuse = true;
    assert_true(pump_all(&b));
    begin_run(&b, "other");
    assert_true(pump_all(&b));
    assert_int_equal(b.stats.n_reused, 0);
    assert_true(pump_all(&b)); // but they are replayed in their own
    assert_int_equal(b.stats.n_replayed, 2);
    bench_free(&b);
}

static void an_illegal_question_ends_the_run_before_it_is_sent(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "good", 1);
    struct position pos = position_after(&b.queries[0].start, b.moves[0]);
    b.queries[0].start = pos; // Black to move: White's move is illegal there
    assert_false(pump_all(&b));
    assert_int_equal(b.err.code, ERR_INPUT);
    assert_int_equal(count(&b, "start"), 0);
    bench_free(&b);
}

static void an_engine_that_never_works_ends_the_run(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "exit_at_uci", JOBS_MAX);
    b.opts.engines = 4;
    assert_false(pump_all(&b));
    assert_int_equal(b.err.code, ERR_ENDPOINT);
    assert_non_null(strstr(b.err.text, "faults of engines in a row"));
    bench_free(&b);
}

// ---- the first acquaintance ----

static bool meet(const char *mode, const char *settings, struct engine *out, struct err *err)
{
    static struct arena a;
    static str args[1];
    args[0] = str_from(mode);
    *err = (struct err){ 0 };
    *out = (struct engine){ .path = source_path(S("tests/pump/fake_engine.sh"), &a),
                            .args = args,
                            .n_args = 1,
                            .hello_ms = 500 };
    assert_true(engine_settings_parse(str_from(settings), &a, &out->settings, err));
    return pump_meet_engine(out, &a, err);
}

static void an_engine_is_tried_before_the_run(void **s)
{
    (void)s;
    struct engine e;
    struct err err;
    assert_true(meet("good", "Hash=32", &e, &err));
    assert_str(e.name, S("Fake 1"));
    assert_int_equal(e.identity.len, 64);
    assert_false(e.random);
    assert_true(meet("good", "Skill Level=1", &e, &err));
    assert_true(e.random);
    assert_false(meet("good", "Contempt=3", &e, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_non_null(strstr(err.text, "Fake 1: it has no option \"Contempt\""));
    assert_false(meet("exit_at_go", "", &e, &err)); // says readyok, ends at the first search
    assert_int_equal(err.code, ERR_ENDPOINT);
    assert_non_null(strstr(err.text, "was not loaded"));
    assert_false(meet("silent", "", &e, &err));
    assert_non_null(strstr(err.text, "no uciok within"));
}

// ---- Stockfish ----

static bool meet_stockfish(struct bench *b, const char *settings)
{
    static const char path[] = "/usr/games/stockfish";
    bench_new(b, "good", 0);
    if (access(path, X_OK) != 0) {
        bench_free(b);
        print_message("skipped: no %s\n", path);
        return false;
    }
    b->engine = (struct engine){ .path = str_from(path), .check_positions = true };
    assert_true(engine_settings_parse(str_from(settings), &b->arena, &b->engine.settings, NULL));
    if (!pump_meet_engine(&b->engine, &b->arena, &b->err))
        fail_msg("%s", b->err.text);
    return true;
}

static void add_question(struct bench *b, const char *fen, int64_t depth)
{
    struct engine_query *q = &b->queries[b->n++];
    *q = (struct engine_query){ .engine = &b->engine,
                                .limit = { ENGINE_BY_DEPTH, depth },
                                .need_score = true };
    assert_int_equal(position_parse(str_from(fen), &q->start, NULL), FAULT_NONE);
}

static void stockfish_answers_alike_with_one_process_and_with_two(void **s)
{
    (void)s;
    static const char *const fens[] = {
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "6k1/pp3ppp/4b3/2p5/2n1P3/1Pq2P2/P3BQ1P/1K5R b - - 1 28", // field case F-050
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", // mated, F-047
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",                                // stalemate
    };
    struct bench b;
    struct asker_record first[ARRAY_LEN(fens)];
    if (!meet_stockfish(&b, "Hash=16;Threads=1"))
        skip();
    for (size_t i = 0; i < ARRAY_LEN(fens); i++)
        add_question(&b, fens[i], 8);
    for (int engines = 1; engines <= 2; engines++) {
        begin_run(&b, engines == 1 ? "one" : "two");
        b.opts.engines = engines;
        assert_true(pump_all(&b));
        assert_int_equal(b.stats.n_searches, ARRAY_LEN(fens));
        for (size_t i = 0; i < b.n; i++)
            assert_int_equal(b.records[i].class, ENGINE_OK);
        if (engines == 1)
            memcpy(first, b.records, sizeof first);
    }
    assert_memory_equal(first, b.records, sizeof first);
    assert_int_equal(first[1].cp, ENGINE_MATE_CP); // three mates in one are there
    assert_true(move_gives_mate(&b.queries[1].start, first[1].best));
    assert_int_equal(first[3].best, MOVE_NONE);
    assert_int_equal(first[3].cp, -ENGINE_MATE_CP);
    assert_int_equal(first[4].best, MOVE_NONE);
    assert_int_equal(first[4].cp, 0);
    bench_free(&b);
}

static void stockfish_without_its_network_is_found_out_before_the_run(void **s)
{
    (void)s;
    struct bench b;
    if (!meet_stockfish(&b, ""))
        skip();
    assert_true(engine_settings_parse(S("EvalFile=/nonexistent/x.nnue"), &b.arena,
                                      &b.engine.settings, NULL));
    assert_false(pump_meet_engine(&b.engine, &b.arena, &b.err));
    assert_non_null(strstr(b.err.text, "/nonexistent/x.nnue"));
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_that_says_nothing_has_stalled),
        cmocka_unit_test(an_engine_that_is_never_ready_has_stalled),
        cmocka_unit_test(an_engine_that_talks_to_standard_error_only_has_stalled),
        cmocka_unit_test(an_engine_that_floods_has_stalled),
        cmocka_unit_test(an_engine_that_ends_at_once_is_told_with_its_last_words),
        cmocka_unit_test(an_engine_that_ends_at_go_is_told_with_its_error_lines),
        cmocka_unit_test(an_engine_that_dies_is_told_with_its_signal),
        cmocka_unit_test(an_engine_that_hangs_in_a_search_is_killed),
        cmocka_unit_test(an_engine_that_must_be_stopped_gives_no_answer),
        cmocka_unit_test(impossible_answers_are_faults),
        cmocka_unit_test(what_is_no_program_is_told),
        cmocka_unit_test(answers_go_to_their_questions_whatever_the_number_of_processes),
        cmocka_unit_test(noise_on_both_streams_does_no_harm),
        cmocka_unit_test(after_a_fault_the_question_goes_to_a_fresh_process),
        cmocka_unit_test(stored_answers_are_replayed_without_an_engine),
        cmocka_unit_test(faults_are_asked_again_unless_they_are_kept),
        cmocka_unit_test(another_question_at_the_same_place_is_an_error),
        cmocka_unit_test(answers_serve_other_runs_when_that_is_wanted),
        cmocka_unit_test(answers_with_chance_in_them_serve_no_other_run),
        cmocka_unit_test(an_illegal_question_ends_the_run_before_it_is_sent),
        cmocka_unit_test(an_engine_that_never_works_ends_the_run),
        cmocka_unit_test(an_engine_is_tried_before_the_run),
        cmocka_unit_test(stockfish_answers_alike_with_one_process_and_with_two),
        cmocka_unit_test(stockfish_without_its_network_is_found_out_before_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

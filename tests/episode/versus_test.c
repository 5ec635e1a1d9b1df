// SPDX-License-Identifier: GPL-3.0-or-later
// Ten moves against an engine, played by hand: how they end, and what is asked; and the openings.
#include "test.h"

#include "episode/episode.h"

struct bench {
    struct arena arena;
    struct openings openings;
    struct engine engine;
    struct model model;
    struct versus_input input;
    struct job job;
    struct episode *ep;
    struct ask ask;
    enum step last;
};

static void bench_new(struct bench *b, const char *openings, int max_moves)
{
    *b = (struct bench){ 0 };
    assert_true(openings_load(str_from(openings), &b->arena, &b->openings, NULL));
    b->input = (struct versus_input){ .opening = b->openings.v,
                                      .engine = &b->engine,
                                      .limit = { ENGINE_BY_DEPTH, 5 },
                                      .max_moves = max_moves };
    b->job =
        (struct job){ .kind = &episode_versus,
                      .program = program_new(&b->arena, &signature_choose_move, instruction_base),
                      .input = &b->input,
                      .model = &b->model };
    b->ep = episode_new(&b->job, &b->arena);
    b->last = b->job.kind->step(b->ep, NULL, &b->ask);
}

static void reply_with(struct bench *b, struct reply reply)
{
    struct answer in = { .model = reply };
    assert_int_equal(b->last, STEP_ASK);
    assert_int_equal(b->ask.to, TO_MODEL);
    b->last = b->job.kind->step(b->ep, &in, &b->ask);
}

static void model_says(struct bench *b, const char *text)
{
    reply_with(b, (struct reply){ .text = str_from(text) });
}

static void engine_plays(struct bench *b, const char *uci)
{
    struct answer in = { 0 };
    struct position pos;
    assert_int_equal(b->last, STEP_ASK);
    assert_int_equal(b->ask.to, TO_ENGINE);
    assert_true(engine_query_check(&b->ask.engine, &pos, NULL));
    assert_true(uci_parse(&pos, str_from(uci), &in.engine.best));
    b->last = b->job.kind->step(b->ep, &in, &b->ask);
}

// The end of it; frees the bench.
static void ended(struct bench *b, enum versus_stop stop, enum outcome_status status, int accepted)
{
    assert_int_equal(b->last, STEP_DONE);
    const struct versus_record *r = b->job.kind->copy_record(b->ep->outcome.record, &b->arena);
    assert_str(versus_stop_name(r->stop), versus_stop_name(stop));
    assert_int_equal(b->ep->outcome.status, status);
    assert_int_equal(r->n_accepted, accepted);
    arena_free(&b->arena);
}

static const char WHITE_START[] = "[{\"name\":\"start\",\"model\":\"white\",\"moves\":\"\"}]";
static const char BLACK_START[] = "[{\"name\":\"start\",\"model\":\"black\",\"moves\":\"\"}]";
// After 1.f3 e5 2.g4 Black mates; the model is either side.
static const char MATE_BLACK[] =
    "[{\"name\":\"m\",\"model\":\"black\",\"moves\":\"f2f3 e7e5 g2g4\"}]";
static const char MATE_WHITE[] = "[{\"name\":\"m\",\"model\":\"white\",\"moves\":\"f2f3 e7e5\"}]";

// ---- the data ----

static void there_are_ten_built_in_conditions_with_either_colour(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct openings list;
    int white = 0, starts = 0;
    assert_true(openings_load((str){ 0 }, &a, &list, NULL));
    assert_int_equal(list.n, 10);
    for (size_t i = 0; i < list.n; i++) {
        white += list.v[i].model == WHITE;
        starts += list.v[i].n == 0;
        // In the openings it is the model that moves first.
        assert_true(list.v[i].n == 0 || (list.v[i].n % 2 == 0) == (list.v[i].model == WHITE));
        assert_int_equal(list.v[i].eco.len, list.v[i].n == 0 ? 0 : 3);
    }
    assert_int_equal(white, 5);
    assert_int_equal(starts, 2);
    assert_int_not_equal(list.v[0].model, list.v[1].model);
    arena_free(&a);
}

static void broken_openings_are_refused(void **s)
{
    (void)s;
    static const char *const broken[] = {
        "{}",
        "[]",
        "[{\"model\":\"white\",\"moves\":\"\"}]",
        "[{\"name\":\"x\",\"model\":\"grey\",\"moves\":\"\"}]",
        "[{\"name\":\"x\",\"model\":\"white\",\"moves\":\"e2e5\"}]",
        "[{\"name\":\"x\",\"model\":\"white\",\"moves\":\"f2f3 e7e5 g2g4 d8h4\"}]", // it is over
    };
    struct arena a = { 0 };
    struct openings list;
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        struct err err = { 0 };
        assert_false(openings_load(str_from(broken[i]), &a, &list, &err));
        assert_int_equal(err.code, ERR_INPUT);
    }
    arena_free(&a);
}

// ---- playing ----

static void the_engine_answers_every_move_up_to_the_limit(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, WHITE_START, 2);
    model_says(&b, "{\"move\":\"e2e4\"}");
    engine_plays(&b, "e7e5");
    model_says(&b, "{\"move\":\"Nf3\"}");
    assert_int_equal(b.ask.engine.n_moves, 3);
    engine_plays(&b, "b8c6");
    ended(&b, VERSUS_MOVE_LIMIT, OUTCOME_SCORED, 2);
}

static void the_engine_begins_where_the_model_is_black(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, BLACK_START, 1);
    engine_plays(&b, "d2d4");
    model_says(&b, "{\"move\":\"d7d5\"}");
    engine_plays(&b, "c2c4");
    ended(&b, VERSUS_MOVE_LIMIT, OUTCOME_SCORED, 1);
}

static void each_call_shows_the_position_and_nothing_before(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, WHITE_START, 10);
    size_t n = b.ask.model.messages.n;
    model_says(&b, "{\"move\":\"e2e4\"}");
    engine_plays(&b, "e7e5");
    assert_int_equal(b.ask.model.messages.n, n);
    str last = b.ask.model.messages.v[n - 1].text;
    assert_true(str_find(last, S("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")) >
                0);
    assert_true(str_find(last, S("rnbqkbnr/pppppppp")) < 0);
    arena_free(&b.arena);
}

static void mates_of_either_side_end_it(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, MATE_BLACK, 10);
    model_says(&b, "{\"move\":\"Qh4#\"}");
    ended(&b, VERSUS_WON, OUTCOME_SCORED, 1);
    bench_new(&b, MATE_WHITE, 10);
    model_says(&b, "{\"move\":\"g2g4\"}");
    engine_plays(&b, "d8h4");
    ended(&b, VERSUS_LOST, OUTCOME_SCORED, 1);
    bench_new(&b, MATE_WHITE, 1); // also after its last move
    model_says(&b, "{\"move\":\"g2g4\"}");
    engine_plays(&b, "d8h4");
    ended(&b, VERSUS_LOST, OUTCOME_SCORED, 1);
}

static void bad_answers_end_it_each_in_its_own_way(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, WHITE_START, 10);
    model_says(&b, "{\"move\":\"e2e5\"}");
    ended(&b, VERSUS_ILLEGAL, OUTCOME_SCORED, 0);
    static const char *const unreadable[] = { "", "I would rather not", "{\"mov\":\"e2e4\"}",
                                              "{\"move\":\"\"}" };
    for (size_t i = 0; i < ARRAY_LEN(unreadable); i++) {
        bench_new(&b, WHITE_START, 10);
        model_says(&b, unreadable[i]);
        ended(&b, VERSUS_UNPARSABLE, OUTCOME_SCORED, 0);
    }
    bench_new(&b, WHITE_START, 10);
    reply_with(&b, (struct reply){ .class = REPLY_REFUSED });
    ended(&b, VERSUS_REFUSED, OUTCOME_SCORED, 0);
}

static void what_says_nothing_about_the_model_is_no_score(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, WHITE_START, 10);
    reply_with(&b, (struct reply){ .class = REPLY_TIMEOUT, .error = S("slow") });
    assert_str(b.ep->outcome.error, S("timeout: slow"));
    ended(&b, VERSUS_TIMEOUT, OUTCOME_FAILED, 0);
    bench_new(&b, WHITE_START, 10);
    reply_with(&b, (struct reply){ .class = REPLY_TRANSPORT });
    ended(&b, VERSUS_NO_ANSWER, OUTCOME_FAILED, 0);
    bench_new(&b, WHITE_START, 10);
    reply_with(&b, (struct reply){ .class = REPLY_FILTERED });
    ended(&b, VERSUS_UNSCORED, OUTCOME_UNSCORED, 0);
    bench_new(&b, WHITE_START, 10);
    model_says(&b, "{\"move\":\"e2e4\"}");
    struct answer in = { .engine = { .class = ENGINE_CRASHED, .error = S("gone") } };
    b.last = b.job.kind->step(b.ep, &in, &b.ask);
    ended(&b, VERSUS_ENGINE, OUTCOME_FAILED, 1);
}

static void a_schema_is_asked_for_again_as_json(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, WHITE_START, 10);
    b.model.format = FORMAT_SCHEMA;
    model_says(&b, "well");
    assert_int_equal(b.ask.model.format, FORMAT_JSON_OBJECT);
    model_says(&b, "{\"move\":\"e2e4\"}");
    assert_int_equal(b.ask.to, TO_ENGINE);
    arena_free(&b.arena);
}

static void a_model_that_chooses_is_not_asked_for_the_only_move(void **s)
{
    (void)s;
    static const struct provider chooser = { .chooses = true };
    struct bench b;
    // 1.f3 e6 2.g3 Qg5 3.b3 Qxg3+: only 4.hxg3 is legal.
    bench_new(&b, "[{\"name\":\"m\",\"model\":\"white\",\"moves\":\"f2f3 e7e6 g2g3 d8g5 b2b3\"}]",
              1);
    b.model.provider = &chooser;
    engine_plays(&b, "g5g3");
    assert_int_equal(b.ask.to, TO_ENGINE); // hxg3 has been played for it
    assert_int_equal(b.ask.engine.n_moves, 7);
    engine_plays(&b, "a7a6");
    ended(&b, VERSUS_MOVE_LIMIT, OUTCOME_SCORED, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_ten_built_in_conditions_with_either_colour),
        cmocka_unit_test(broken_openings_are_refused),
        cmocka_unit_test(the_engine_answers_every_move_up_to_the_limit),
        cmocka_unit_test(the_engine_begins_where_the_model_is_black),
        cmocka_unit_test(each_call_shows_the_position_and_nothing_before),
        cmocka_unit_test(mates_of_either_side_end_it),
        cmocka_unit_test(bad_answers_end_it_each_in_its_own_way),
        cmocka_unit_test(what_says_nothing_about_the_model_is_no_score),
        cmocka_unit_test(a_schema_is_asked_for_again_as_json),
        cmocka_unit_test(a_model_that_chooses_is_not_asked_for_the_only_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// The puzzle episode played by hand: no network, no pump.
#include "test.h"

#include "episode/episode.h"

static struct arena arena;
static struct puzzle_position position;
static const struct program *program;

static int setup(void **s)
{
    (void)s;
    static struct puzzle puzzle = { .id = { "t1", 2 } };
    struct err err = { 0 };
    if (position_parse(S("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"), &position.at, &err) != FAULT_NONE)
        return -1;
    position.puzzle = &puzzle;
    position.count = 1;
    position.inputs[0] = S("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1");
    position.inputs[1] = S("white");
    position.inputs[2] = S("a1a8");
    position.reference = S("a1a8");
    program = program_new(&arena, &signature_choose_move, instruction_base);
    return uci_parse(&position.at, S("a1a8"), &position.solution) ? 0 : -1;
}

static int teardown(void **s)
{
    (void)s;
    arena_free(&arena);
    return 0;
}

// The outcome after the given replies, and how many were asked for.
static const struct outcome *play(enum reply_format format, const struct reply *replies, int *asked)
{
    struct model *model = NEW(&arena, struct model);
    model->format = format;
    struct job *job = NEW(&arena, struct job);
    *job = (struct job){
        .kind = &episode_puzzle, .program = program, .input = &position, .model = model
    };
    struct episode *ep = episode_new(job, &arena);
    struct ask ask;
    assert_int_equal(job->kind->step(ep, NULL, &ask), STEP_ASK);
    assert_int_equal(ask.model.format, format);
    for (*asked = 1;; ++*asked) {
        struct answer in = { .model = replies[*asked - 1] };
        if (job->kind->step(ep, &in, &ask) == STEP_DONE)
            return &ep->outcome;
        assert_int_equal(ask.model.format, FORMAT_JSON_OBJECT);
    }
}

static const struct puzzle_record *one(const struct reply *reply, enum outcome_status status,
                                       double score)
{
    int asked;
    const struct outcome *out = play(FORMAT_JSON_OBJECT, reply, &asked);
    assert_int_equal(asked, 1);
    assert_int_equal(out->status, status);
    assert_true(out->score == score);
    return out->record;
}

static void text_gives(str text, enum answer_kind kind, double score)
{
    const struct puzzle_record *r = one(&(struct reply){ .text = text }, OUTCOME_SCORED, score);
    assert_int_equal(r->kind, kind);
}

static void answers_are_sorted_into_kinds(void **s)
{
    (void)s;
    text_gives(S("{\"move\": \"Ra8#\"}"), ANSWER_CORRECT, 1);
    text_gives(S("{\"move\": \"Ra7\"}"), ANSWER_WRONG, 0);
    text_gives(S("{\"move\": \"Rh8\"}"), ANSWER_ILLEGAL, 0);
    text_gives(S("{\"move\": \"\"}"), ANSWER_NO_MOVE, 0);
    text_gives(S("{\"move\": \"Ra7 or Ra8\"}"), ANSWER_AMBIGUOUS, 0);
    text_gives(S("a1a8"), ANSWER_UNPARSABLE, 0);
    text_gives(S("  "), ANSWER_EMPTY, 0);
}

static void replies_without_an_answer_keep_their_class(void **s)
{
    (void)s;
    assert_int_equal(one(&(struct reply){ .class = REPLY_REFUSED }, OUTCOME_SCORED, 0)->kind,
                     ANSWER_REFUSED);
    assert_int_equal(one(&(struct reply){ .class = REPLY_FILTERED }, OUTCOME_UNSCORED, 0)->kind,
                     ANSWER_FILTERED);
    assert_int_equal(
        one(&(struct reply){ .class = REPLY_CONTEXT_OVERFLOW }, OUTCOME_UNSCORED, 0)->kind,
        ANSWER_CONTEXT_OVERFLOW);
    assert_int_equal(one(&(struct reply){ .class = REPLY_TIMEOUT }, OUTCOME_FAILED, 0)->kind,
                     ANSWER_FAILED);
}

static void a_cut_answer_is_truncated_unless_it_can_be_read(void **s)
{
    (void)s;
    struct reply cut = { .class = REPLY_TRUNCATED, .text = S("Let me think about") };
    assert_int_equal(one(&cut, OUTCOME_SCORED, 0)->kind, ANSWER_TRUNCATED);
    struct reply enough = { .class = REPLY_TRUNCATED, .text = S("{\"move\": \"a1a8") };
    assert_int_equal(one(&enough, OUTCOME_SCORED, 1)->kind, ANSWER_CORRECT);
}

static void schema_mode_asks_once_more(void **s)
{
    (void)s;
    int asked;
    const struct reply replies[] = { { .text = S("no JSON") },
                                     { .text = S("{\"move\":\"a1a8\"}") } };
    assert_true(play(FORMAT_SCHEMA, replies, &asked)->score == 1);
    assert_int_equal(asked, 2);
    const struct reply both_bad[] = { { .text = S("no JSON") }, { .text = S("again none") } };
    const struct outcome *out = play(FORMAT_SCHEMA, both_bad, &asked);
    assert_int_equal(asked, 2);
    assert_int_equal(out->used.n_calls, 2);
    assert_int_equal(out->status, OUTCOME_SCORED);
}

static void schema_mode_does_not_repeat_a_cut_answer(void **s)
{
    (void)s;
    int asked;
    const struct reply cut = { .class = REPLY_TRUNCATED, .text = S("hmm") };
    play(FORMAT_SCHEMA, &cut, &asked);
    assert_int_equal(asked, 1);
}

static void a_record_outlives_its_episode(void **s)
{
    (void)s;
    struct arena short_lived = { 0 };
    struct puzzle_record record = { .prediction = arena_str(&short_lived, S("Ra8#")) };
    const struct puzzle_record *copy = episode_puzzle.copy_record(&record, &arena);
    arena_free(&short_lived);
    assert_str(copy->prediction, S("Ra8#"));
}

// F-025: a choice needs two options. Other models are asked all the same.
static void the_only_move_is_not_asked_of_a_model_that_chooses(void **s)
{
    (void)s;
    static const struct provider chooser = { .chooses = true };
    static const struct provider writer = { 0 };
    struct model model = { .provider = &chooser };
    struct job job = {
        .kind = &episode_puzzle, .program = program, .input = &position, .model = &model
    };
    struct ask ask;
    struct episode *ep = episode_new(&job, &arena);
    assert_int_equal(job.kind->step(ep, NULL, &ask), STEP_DONE);
    const struct puzzle_record *record = ep->outcome.record;
    assert_int_equal(ep->outcome.status, OUTCOME_SCORED);
    assert_true(ep->outcome.score == 1 && record->forced);
    assert_int_equal(record->kind, ANSWER_CORRECT);
    assert_str(record->prediction, S("a1a8"));
    assert_int_equal(record->n_values, 1);
    assert_int_equal(ep->outcome.used.n_calls, 0);
    model.provider = &writer;
    assert_int_equal(job.kind->step(episode_new(&job, &arena), NULL, &ask), STEP_ASK);
    struct puzzle_position two = position;
    two.inputs[2] = S("a1a8, a1b1");
    job.input = &two;
    model.provider = &chooser;
    assert_int_equal(job.kind->step(episode_new(&job, &arena), NULL, &ask), STEP_ASK);
    assert_true(ask.model.program == program && ask.model.inputs == two.inputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_sorted_into_kinds),
        cmocka_unit_test(replies_without_an_answer_keep_their_class),
        cmocka_unit_test(a_cut_answer_is_truncated_unless_it_can_be_read),
        cmocka_unit_test(schema_mode_asks_once_more),
        cmocka_unit_test(schema_mode_does_not_repeat_a_cut_answer),
        cmocka_unit_test(a_record_outlives_its_episode),
        cmocka_unit_test(the_only_move_is_not_asked_of_a_model_that_chooses),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

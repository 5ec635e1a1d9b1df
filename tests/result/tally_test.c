// SPDX-License-Identifier: GPL-3.0-or-later
// Counting: denominators, complete puzzles, samples, and what the files say of it.
#include "test.h"

#include "result/result.h"

enum { MAX = 128 };
struct world {
    struct arena arena;
    struct puzzle puzzles[MAX];
    struct puzzle_position positions[MAX];
    struct outcome out[MAX];
    struct puzzle_record records[MAX];
    size_t n; // positions
    size_t n_out;
};

static void add_puzzle(struct world *w, int evaluated, int count)
{
    struct puzzle *p = &w->puzzles[w->n];
    p->id = arena_printf(&w->arena, "p%zu", w->n);
    for (int i = 0; i < evaluated; i++)
        w->positions[w->n++] = (struct puzzle_position){
            .puzzle = p,
            .index = i,
            .count = count,
            .inputs = { S("FEN") },
            .solution = 1,
            .reference = S("e2e4"),
        };
}

static void add(struct world *w, enum answer_kind kind, enum outcome_status status, move played)
{
    struct puzzle_record *r = &w->records[w->n_out];
    r->kind = kind;
    r->played = played;
    w->out[w->n_out++] = (struct outcome){
        .status = status,
        .score = kind == ANSWER_CORRECT,
        .record = r,
        .used = { .n_calls = 1,
                  .n_with_usage = 1,
                  .n_with_cost = 1,
                  .input_tok = 10,
                  .output_tok = 2,
                  .cost_nusd = 1500 },
    };
}

static void add_many(struct world *w, int n, enum answer_kind kind, enum outcome_status status)
{
    for (int i = 0; i < n; i++) {
        add_puzzle(w, 1, 1);
        add(w, kind, status, kind == ANSWER_CORRECT);
    }
}

static struct world *new_world(void)
{
    return calloc(1, sizeof(struct world));
}

static void free_world(struct world *w)
{
    arena_free(&w->arena);
    free(w);
}

// Field case F-080.
static void every_answer_is_in_one_kind_and_both_denominators_stand(void **s)
{
    (void)s;
    struct world *w = new_world();
    struct tally t;
    add_many(w, 60, ANSWER_CORRECT, OUTCOME_SCORED);
    add_many(w, 25, ANSWER_WRONG, OUTCOME_SCORED);
    add_many(w, 5, ANSWER_TRUNCATED, OUTCOME_SCORED);
    add_many(w, 4, ANSWER_ILLEGAL, OUTCOME_SCORED);
    add_many(w, 2, ANSWER_FILTERED, OUTCOME_UNSCORED);
    add_many(w, 4, ANSWER_FAILED, OUTCOME_FAILED);
    tally_positions(w->positions, w->n, w->out, 1, &t);
    assert_int_equal(t.n_answers, 100);
    assert_int_equal(t.n_scored, 94);
    assert_int_equal(t.n_correct, 60);
    int64_t sum = 0;
    for (int k = 0; k < ANSWER_KINDS; k++)
        sum += t.kinds[k];
    assert_int_equal(sum, 100);
    struct run_facts facts = { .method = S("baseline") };
    str text = summary_json(&t, &facts, &w->arena);
    struct err err = { 0 };
    json_t *summary = json_read_strict(text, &err);
    const json_t *rates = json_object_get(json_object_get(summary, "rookery"), "rates");
    assert_int_equal(json_get_int(json_object_get(rates, "scored_accuracy"), "n", 0), 94);
    assert_int_equal(json_get_int(json_object_get(rates, "accuracy"), "n", 0), 100);
    assert_int_equal(json_get_int(json_object_get(summary, "evaluation_usage"), "prompt_tokens", 0),
                     1000);
    json_decref(summary);
    free_world(w);
}

static void a_puzzle_is_solved_when_all_its_positions_are(void **s)
{
    (void)s;
    struct world *w = new_world();
    struct tally t;
    add_puzzle(w, 2, 2); // solved
    add(w, ANSWER_CORRECT, OUTCOME_SCORED, 1);
    add(w, ANSWER_CORRECT, OUTCOME_SCORED, 1);
    add_puzzle(w, 2, 2); // half
    add(w, ANSWER_CORRECT, OUTCOME_SCORED, 1);
    add(w, ANSWER_WRONG, OUTCOME_SCORED, 2);
    add_puzzle(w, 1, 3); // cut by a limit: not complete
    add(w, ANSWER_CORRECT, OUTCOME_SCORED, 1);
    tally_positions(w->positions, w->n, w->out, 1, &t);
    assert_int_equal(t.n_puzzles, 3);
    assert_int_equal(t.n_complete, 2);
    assert_int_equal(t.n_solved, 1);
    free_world(w);
}

static void samples_are_counted_by_position(void **s)
{
    (void)s;
    struct world *w = new_world();
    struct tally t;
    add_puzzle(w, 1, 1); // right once of three, majority wrong
    add(w, ANSWER_CORRECT, OUTCOME_SCORED, 1);
    add(w, ANSWER_WRONG, OUTCOME_SCORED, 2);
    add(w, ANSWER_WRONG, OUTCOME_SCORED, 2);
    add_puzzle(w, 1, 1); // one vote against two answers without a move: right by majority
    add(w, ANSWER_UNPARSABLE, OUTCOME_SCORED, MOVE_NONE);
    add(w, ANSWER_UNPARSABLE, OUTCOME_SCORED, MOVE_NONE);
    add(w, ANSWER_CORRECT, OUTCOME_SCORED, 1);
    tally_positions(w->positions, w->n, w->out, 3, &t);
    assert_int_equal(t.n_answers, 6);
    assert_int_equal(t.n_correct, 2);
    assert_int_equal(t.n_pass, 2);
    assert_int_equal(t.n_majority, 1);
    free_world(w);
}

static void an_unreported_usage_makes_the_sums_null(void **s)
{
    (void)s;
    struct world *w = new_world();
    struct tally t;
    add_many(w, 2, ANSWER_CORRECT, OUTCOME_SCORED);
    w->out[1].used.n_with_usage = w->out[1].used.n_with_cost = 0;
    tally_positions(w->positions, w->n, w->out, 1, &t);
    struct run_facts facts = { .method = S("baseline") };
    str text = summary_json(&t, &facts, &w->arena);
    assert_true(str_find(text, S("\"calls_with_usage\": 1,\n    \"prompt_tokens\": null")) > 0);
    assert_true(str_find(text, S("\"cost_usd\": null")) > 0);
    assert_true(str_find(text, S("\"usage_complete\": false")) > 0);
    assert_true(str_find(text, S("\"compile_usage\": null")) > 0);
    free_world(w);
}

static void results_have_the_paper_tools_fields(void **s)
{
    (void)s;
    struct world *w = new_world();
    add_many(w, 1, ANSWER_CORRECT, OUTCOME_SCORED);
    w->records[0].prediction = S("Qx\"f7");
    w->records[0].latency_ms = 1500;
    w->records[0].played = 12 | 28 << 6; // e2e4
    const str want = S("[\n  {\n    \"prediction\": \"Qx\\\"f7\",\n    \"expected\": \"e2e4\",\n"
                       "    \"resolved\": \"e2e4\",\n    \"correct\": true,\n    \"error\": null,\n"
                       "    \"source_id\": \"p0\",\n    \"rating\": null,\n    \"move_index\": 0,\n"
                       "    \"solver_length\": 1,\n    \"position_fen\": \"FEN\",\n"
                       "    \"latency_s\": 1.5\n  }\n]\n");
    struct result_set set = { .positions = w->positions, .n = 1, .out = w->out, .samples = 1 };
    assert_str(results_json(&set, &w->arena), want);
    w->records[0].error = S("ParseError: x");
    set.no_times = true;
    str failed = results_json(&set, &w->arena);
    assert_true(str_find(failed, S("\"expected\": null")) > 0);
    assert_true(str_find(failed, S("\"latency_s\": 0.0")) > 0);
    set.n = 0;
    assert_str(results_json(&set, &w->arena), S("[]\n"));
    free_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_answer_is_in_one_kind_and_both_denominators_stand),
        cmocka_unit_test(a_puzzle_is_solved_when_all_its_positions_are),
        cmocka_unit_test(samples_are_counted_by_position),
        cmocka_unit_test(an_unreported_usage_makes_the_sums_null),
        cmocka_unit_test(results_have_the_paper_tools_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

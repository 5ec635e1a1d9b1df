// SPDX-License-Identifier: GPL-3.0-or-later
// COPRO and random search over demonstrations on toy data: counts of section 8.4 of the few-shot
// specification, ties, prompt models that are of no use, and what the options change.
#include "test.h"

#include "optimize/optimize.h"

enum { TRAIN = 12, VALIDATION = 6 };

struct toy {
    struct arena arena;
    struct puzzle puzzles[TRAIN + VALIDATION];
    struct puzzle_position v[TRAIN + VALIDATION];
    struct puzzle_positions train, validation;
    int n_calls, n_proposals;
    bool wrong;            // every answer is
    const char *proposal;  // NULL: "variant N"
    enum reply_class meta; // REPLY_OK: it answers
};

static bool answer(const struct model *m, const struct model_request *q, struct arena *a,
                   struct reply *out, struct err *err)
{
    (void)q;
    (void)err;
    struct toy *t = m->context;
    t->n_calls++;
    out->class = REPLY_OK;
    out->text = arena_str(a, t->wrong ? S("{\"move\":\"a2a3\"}") : S("{\"move\":\"e2e4\"}"));
    return true;
}

static bool propose(const struct model *m, const struct model_request *q, struct arena *a,
                    struct reply *out, struct err *err)
{
    (void)q;
    (void)err;
    struct toy *t = m->context;
    t->n_proposals++;
    out->class = t->meta;
    out->text = t->proposal
                    ? str_from(t->proposal)
                    : arena_printf(a, "{\"proposed_instruction\":\"variant %d\"}", t->n_proposals);
    return true;
}

static const struct provider provider_task = { .answer = answer };
static const struct provider provider_meta = { .answer = propose };

static void toy_new(struct toy *t)
{
    memset(t, 0, sizeof *t);
    struct position start = position_start();
    for (int i = 0; i < TRAIN + VALIDATION; i++) {
        struct puzzle_position *p = &t->v[i];
        t->puzzles[i / 2].id = arena_printf(&t->arena, "p%d", i / 2); // two positions a puzzle
        *p = (struct puzzle_position){
            .puzzle = &t->puzzles[i / 2], .index = i % 2, .count = 2, .at = start
        };
        assert_true(uci_parse(&start, S("e2e4"), &p->solution));
        p->inputs[0] = arena_printf(&t->arena, "%d", i);
        p->inputs[1] = S("white");
        p->inputs[2] = S("e2e4, a2a3");
        p->reference = S("e2e4");
    }
    t->train = (struct puzzle_positions){ .v = t->v, .n = TRAIN };
    t->validation = (struct puzzle_positions){ .v = t->v + TRAIN, .n = VALIDATION };
}

static bool compile(struct toy *t, enum method method, const struct optimizer_config *config,
                    struct opt_result *out)
{
    struct err err = { 0 };
    struct store *db = NULL;
    struct store_run run = { .key = S("k"), .command = S("test"), .config = S("{}") };
    assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &db, &err));
    assert_true(store_run_begin(db, &(struct store_begin){ 0 }, &t->arena, &run, &err));
    struct lab lab = { .arena = &t->arena,
                       .pump = pump_new(&(struct pump_opts){ .run = run.id }, db, &err) };
    struct model model = { .name = S("toy/task"), .provider = &provider_task, .context = t };
    struct model meta = { .name = S("toy/meta"), .provider = &provider_meta, .context = t };
    struct opt_task task = {
        .lab = &lab,
        .seed = program_new(&t->arena, &signature_choose_move, instruction_base),
        .train = &t->train,
        .validation = &t->validation,
        .model = &model,
        .prompt_model = &meta,
        .config = config,
    };
    bool ok = optimizer_find(method_name(method))->run(&task, out, &err);
    struct opt_plan plan = { 0 };
    assert_true(optimizer_find(method_name(method))->plan(&task, &plan, &err));
    if (ok && t->meta == REPLY_OK && !t->proposal) {
        assert_in_range(t->n_calls, plan.least_task, plan.most_task);
        assert_in_range(t->n_proposals, plan.least_prompt, plan.most_prompt);
    }
    pump_free(lab.pump);
    store_close(db);
    return ok;
}

static struct optimizer_config settings(enum method method, const char *preset)
{
    struct optimizer_config c = { 0 };
    optimizer_defaults(&c, method, str_from(preset));
    return c;
}

// 8.4: 10 x 3 with 12 training items and a constant score: 30 evaluations, 360 calls; the first
// proposal is returned, not the original. Three batches of requests: 9, 10, 10.
static void a_full_run_makes_thirty_evaluations(void **s)
{
    (void)s;
    struct toy t;
    struct opt_result out;
    toy_new(&t);
    struct optimizer_config c = settings(METHOD_COPRO, "paper");
    c.copro_proposals = COPRO_FULL;
    assert_true(compile(&t, METHOD_COPRO, &c, &out));
    assert_int_equal(t.n_calls, 360);
    assert_int_equal(t.n_proposals, 29);
    assert_str(out.program->instruction, S("variant 1"));
    assert_int_equal(out.candidates.n, 30);
    arena_free(&t.arena);
}

static void the_recorded_runs_had_four_evaluations(void **s)
{
    (void)s;
    struct toy t;
    struct opt_result out;
    toy_new(&t);
    struct optimizer_config c = settings(METHOD_COPRO, "paper");
    assert_true(compile(&t, METHOD_COPRO, &c, &out));
    assert_int_equal(t.n_calls, 4 * TRAIN);
    assert_int_equal(t.n_proposals, 3);
    arena_free(&t.arena);
}

static void improved_selects_on_validation_and_keeps_the_original_on_ties(void **s)
{
    (void)s;
    struct toy t;
    struct opt_result out;
    toy_new(&t);
    struct optimizer_config c = settings(METHOD_COPRO, "improved");
    c.breadth = 3;
    t.proposal = "{\"proposed_instruction\":\"always the same\"}";
    assert_true(compile(&t, METHOD_COPRO, &c, &out));
    assert_int_equal(t.n_calls, 2 * VALIDATION); // two texts in all
    assert_int_equal(out.n_saved, (8 - 1) * VALIDATION);
    assert_str(out.program->instruction, instruction_base);
    arena_free(&t.arena);
}

static void useless_prompt_models_end_the_search_with_the_best_so_far(void **s)
{
    (void)s;
    static const struct {
        const char *text;
        enum reply_class class;
    } rows[] = {
        { "", REPLY_EMPTY },
        { "   \n ", REPLY_OK },
        { "I cannot help with that.", REPLY_REFUSED },
        { "no JSON at all", REPLY_OK },
        { "{\"proposed_instruction\":\"  \\\"  \\\" \"}", REPLY_OK },
        { "{\"proposed_instruction\":\"\"}", REPLY_OK },
        { "{\"other\":\"x\"}", REPLY_OK },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct toy t;
        struct opt_result out;
        toy_new(&t);
        t.proposal = rows[i].text;
        t.meta = rows[i].class;
        struct optimizer_config c = settings(METHOD_COPRO, "paper");
        assert_true(compile(&t, METHOD_COPRO, &c, &out));
        assert_str(out.program->instruction, instruction_base);
        assert_non_null(out.finish);
        assert_int_equal(t.n_calls, TRAIN);
        assert_int_equal(t.n_proposals, 4); // two tries for the first batch, two for the second
        arena_free(&t.arena);
    }
}

// 8.4: 19 candidates on validation, 4 + 39 attempts; ties leave the zero-shot program.
static void random_search_counts_and_keeps_the_first_of_equals(void **s)
{
    (void)s;
    struct toy t;
    struct opt_result out;
    toy_new(&t);
    struct optimizer_config c = settings(METHOD_BOOTSTRAP_RANDOM_SEARCH, "paper");
    assert_true(compile(&t, METHOD_BOOTSTRAP_RANDOM_SEARCH, &c, &out));
    assert_int_equal(t.n_calls, 19 * VALIDATION + 4 + 39);
    assert_int_equal(out.candidates.n, 19);
    assert_int_equal(out.program->n_demos, 0);
    static const int sizes[] = { 4, 2, 1, 2, 2, 3, 1, 3, 2, 4, 1, 4, 4, 3, 1, 2 };
    assert_int_equal(out.candidates.v[1].program->n_demos, TRAIN); // fewer than 16 are there
    for (int i = 0; i < 16; i++) {
        int own = 0;
        const struct program *p = out.candidates.v[3 + i].program;
        for (size_t d = 0; d < p->n_demos; d++)
            own += p->demos[d]->source == NULL;
        assert_int_equal(own, sizes[i]);
    }
    arena_free(&t.arena);
}

static void a_perfect_score_may_end_the_search(void **s)
{
    (void)s;
    struct toy t;
    struct opt_result out;
    toy_new(&t);
    struct optimizer_config c = settings(METHOD_BOOTSTRAP_RANDOM_SEARCH, "improved");
    c.brs_stop_at_score = 1;
    assert_true(compile(&t, METHOD_BOOTSTRAP_RANDOM_SEARCH, &c, &out));
    assert_int_equal(out.candidates.n, 1);
    assert_non_null(out.finish);
    arena_free(&t.arena);
}

static void known_answers_and_hopeless_candidates_are_saved(void **s)
{
    (void)s;
    struct toy t;
    struct opt_result out;
    toy_new(&t);
    struct optimizer_config c = settings(METHOD_BOOTSTRAP_RANDOM_SEARCH, "paper");
    c.save_calls = true;
    assert_true(compile(&t, METHOD_BOOTSTRAP_RANDOM_SEARCH, &c, &out));
    assert_int_equal(t.n_calls + out.n_saved, 19 * VALIDATION + 4 + 39);
    assert_int_equal(out.candidates.n, 19);
    assert_int_equal(out.program->n_demos, 0);
    arena_free(&t.arena);
}

static void without_own_answers_only_labelled_demonstrations_are_tried(void **s)
{
    (void)s;
    struct toy t;
    struct opt_result out;
    toy_new(&t);
    t.wrong = true;
    struct optimizer_config c = settings(METHOD_BOOTSTRAP_RANDOM_SEARCH, "paper");
    c.max_bootstrapped_demos = 0;
    assert_true(compile(&t, METHOD_BOOTSTRAP_RANDOM_SEARCH, &c, &out));
    assert_int_equal(t.n_calls, 19 * VALIDATION);
    assert_int_equal(out.program->n_demos, 0); // all score 0: the first stays
    arena_free(&t.arena);
}

static void one_demonstration_a_puzzle(void **s)
{
    (void)s;
    struct toy t;
    struct opt_result out;
    toy_new(&t);
    struct optimizer_config c = settings(METHOD_BOOTSTRAP_RANDOM_SEARCH, "paper");
    c.max_labeled_demos = 0;
    c.one_demo_per_puzzle = true;
    c.num_candidate_programs = 1;
    assert_true(compile(&t, METHOD_BOOTSTRAP_RANDOM_SEARCH, &c, &out));
    const struct program *p = out.candidates.v[2].program;
    assert_int_equal(p->n_demos, 4);
    for (size_t i = 0; i < 4; i++) // positions 0, 2, 4, 6: the first of each puzzle
        assert_str(p->demos[i]->inputs[0], arena_printf(&t.arena, "%zu", 2 * i));
    arena_free(&t.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_run_makes_thirty_evaluations),
        cmocka_unit_test(the_recorded_runs_had_four_evaluations),
        cmocka_unit_test(improved_selects_on_validation_and_keeps_the_original_on_ties),
        cmocka_unit_test(useless_prompt_models_end_the_search_with_the_best_so_far),
        cmocka_unit_test(random_search_counts_and_keeps_the_first_of_equals),
        cmocka_unit_test(a_perfect_score_may_end_the_search),
        cmocka_unit_test(known_answers_and_hopeless_candidates_are_saved),
        cmocka_unit_test(without_own_answers_only_labelled_demonstrations_are_tried),
        cmocka_unit_test(one_demonstration_a_puzzle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

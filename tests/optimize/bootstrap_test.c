// SPDX-License-Identifier: GPL-3.0-or-later
// BootstrapFewShot on the toy list of the few-shot specification, section 8.3: 40 items, a model
// that is right on chosen ones.
#include "test.h"

#include "optimize/optimize.h"

enum { ITEMS = 40 };

struct toy {
    struct arena *arena;
    struct puzzle puzzles[ITEMS];
    struct puzzle_position v[ITEMS];
    struct puzzle_positions train;
    bool right[ITEMS];
    bool broken; // answers are no JSON
    bool lost;   // answers never arrive
    const struct signature *signature;
    int asked[200]; // item of each call
    size_t messages[200];
    double temperature[200];
    int n_calls;
};

static int item_asked(str text)
{
    str_cut(&text, '\n'); // [[ ## position_fen ## ]]
    int64_t item;
    str fen = str_cut(&text, '\n');
    assert_true(str_to_int(fen, 0, ITEMS - 1, &item));
    return (int)item;
}

static bool answer(const struct model *m, const struct model_request *q, struct arena *a,
                   struct reply *out, struct err *err)
{
    (void)err;
    struct toy *t = m->context;
    int item = item_asked(q->messages.v[q->messages.n - 1].text);
    t->asked[t->n_calls] = item;
    t->messages[t->n_calls] = q->messages.n;
    t->temperature[t->n_calls++] = q->temperature;
    out->class = t->lost ? REPLY_TIMEOUT : REPLY_OK;
    out->text = arena_str(a, t->broken        ? S("no JSON")
                             : t->right[item] ? S("{\"move\":\"e2e4\"}")
                                              : S("{\"move\":\"a2a3\"}"));
    return true;
}

static const struct provider provider_toy = { .answer = answer };

static void toy_new(struct toy *t, struct arena *a)
{
    memset(t, 0, sizeof *t);
    t->arena = a;
    struct position start = position_start();
    for (int i = 0; i < ITEMS; i++) {
        struct puzzle_position *p = &t->v[i];
        t->puzzles[i].id = arena_printf(a, "p%d", i);
        *p = (struct puzzle_position){ .puzzle = &t->puzzles[i], .count = 1, .at = start };
        assert_true(uci_parse(&start, S("e2e4"), &p->solution));
        p->inputs[0] = arena_printf(a, "%d", i); // stands for a FEN and names the item
        p->inputs[1] = S("white");
        p->inputs[2] = S("e2e4, a2a3");
        p->reference = S("e2e4");
    }
    t->signature = &signature_choose_move;
    t->train = (struct puzzle_positions){ .v = t->v, .n = ITEMS };
}

static bool compile(struct toy *t, struct optimizer_config opts, bool continue_on_error,
                    struct opt_result *out, struct err *err)
{
    struct store *db = NULL;
    assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &db, err));
    struct store_run run = { .key = S("k"), .command = S("test"), .config = S("{}") };
    assert_true(
        store_run_begin(db, &(struct store_begin){ .now_unix_ms = 0 }, t->arena, &run, err));
    struct lab lab = { .arena = t->arena,
                       .pump = pump_new(&(struct pump_opts){ .run = run.id }, db, err),
                       .continue_on_error = continue_on_error };
    struct model model = { .name = S("toy/model"),
                           .provider = &provider_toy,
                           .context = t,
                           .format = FORMAT_JSON_OBJECT,
                           .has_temperature = true };
    struct puzzle_positions none = { 0 };
    struct opt_task task = {
        .lab = &lab,
        .seed = program_new(t->arena, t->signature, instruction_base),
        .train = &t->train,
        .validation = &none,
        .model = &model,
        .config = &opts,
    };
    bool ok = optimizer_find(S("bootstrap_few_shot"))->run(&task, out, err);
    pump_free(lab.pump);
    store_close(db);
    return ok;
}

static void expect_demos(const struct toy *t, const struct program *p, const int *want, size_t n)
{
    assert_int_equal(p->n_demos, n);
    for (size_t i = 0; i < n; i++)
        assert_str(p->demos[i]->inputs[0], t->v[want[i]].inputs[0]);
}

static const struct optimizer_config PAPER = {
    .max_bootstrapped_demos = 4, .max_labeled_demos = 16, .max_rounds = 1, .max_errors = 5
};

static void five_right_items_give_the_published_demos(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct toy *t = NEW(&a, struct toy);
    struct opt_result out;
    toy_new(t, &a);
    static const int right[] = { 2, 5, 7, 8, 20 };
    for (size_t i = 0; i < ARRAY_LEN(right); i++)
        t->right[right[i]] = true;
    assert_true(compile(t, PAPER, false, &out, &err));
    assert_int_equal(out.n_attempts, 9);
    static const int want[] = { 2, 5, 7, 8, 15, 13, 18, 12, 35, 39, 33, 19, 30, 9, 27, 17 };
    expect_demos(t, out.program, want, ARRAY_LEN(want));
    for (int i = 0; i < t->n_calls; i++) // items 2, 4, 6 are among the teacher's demos
        assert_int_equal(t->messages[i], i == 2 || i == 4 || i == 6 ? 32 : 34);
    arena_free(&a);
}

// LabeledFewShot(16) on the toy list, section 8.3; these are the teacher's demos too.
static void sixteen_labelled_demos_are_those_of_the_specification(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct toy *t = NEW(&a, struct toy);
    const struct demo *pool[ITEMS];
    toy_new(t, &a);
    for (int i = 0; i < ITEMS; i++)
        pool[i] = demo_labeled(&t->v[i], &a);
    static const int want[] = { 24, 26, 2, 16, 32, 31, 25, 19, 30, 11, 18, 28, 6, 36, 4, 9 };
    const struct program start = { .signature = t->signature };
    const struct program *p = labeled_few_shot(&start, pool, ITEMS, ARRAY_LEN(want), &a);
    expect_demos(t, p, want, ARRAY_LEN(want));
    arena_free(&a);
}

static void two_rounds_without_success_ask_twice_each(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct toy *t = NEW(&a, struct toy);
    struct opt_result out;
    struct optimizer_config opts = PAPER;
    opts.max_rounds = 2;
    toy_new(t, &a);
    assert_true(compile(t, opts, false, &out, &err));
    assert_int_equal(t->n_calls, 80);
    for (int i = 0; i < 80; i++) {
        assert_int_equal(t->asked[i], i / 2);
        assert_true(t->temperature[i] == (i % 2 ? 1.0 : 0.0));
    }
    static const int want[] = { 9, 36, 12, 22, 19, 30, 4, 17, 11, 5, 23, 28, 38, 16, 29, 20 };
    expect_demos(t, out.program, want, ARRAY_LEN(want));
    arena_free(&a);
}

static void a_model_that_is_always_right_needs_four_calls(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct toy *t = NEW(&a, struct toy);
    struct opt_result out;
    toy_new(t, &a);
    for (int i = 0; i < ITEMS; i++)
        t->right[i] = true;
    assert_true(compile(t, PAPER, false, &out, &err));
    assert_int_equal(t->n_calls, 4);
    assert_int_equal(out.program->n_demos, 16);
    for (size_t i = 0; i < 4; i++)
        assert_null(out.program->demos[i]->source);
    arena_free(&a);
}

static void answers_that_cannot_be_read_are_failed_attempts_not_errors(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct toy *t = NEW(&a, struct toy);
    struct opt_result out;
    toy_new(t, &a);
    t->broken = true;
    assert_true(compile(t, PAPER, false, &out, &err));
    assert_int_equal(t->n_calls, ITEMS);
    assert_int_equal(out.n_bootstrapped, 0);
    arena_free(&a);
}

static void calls_that_fail_are_counted_up_to_max_errors(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct toy *t = NEW(&a, struct toy);
    struct opt_result out;
    toy_new(t, &a);
    t->lost = true;
    assert_false(compile(t, PAPER, true, &out, &err));
    assert_non_null(strstr(err.text, "max_errors 5"));
    assert_int_equal(t->n_calls, 10); // five examples, each tried once more
    arena_free(&a);
}

static void an_empty_training_list_gives_the_program_back(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct toy *t = NEW(&a, struct toy);
    struct opt_result out;
    toy_new(t, &a);
    t->train.n = 0;
    assert_true(compile(t, PAPER, false, &out, &err));
    assert_int_equal(t->n_calls, 0);
    assert_int_equal(out.program->n_demos, 0);
    arena_free(&a);
}

static void labelled_demos_need_a_program_that_only_moves(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct toy *t = NEW(&a, struct toy);
    struct opt_result out;
    struct optimizer_config opts = PAPER;
    toy_new(t, &a);
    t->signature = &signature_choose_move_analysis;
    assert_false(compile(t, opts, false, &out, &err));
    assert_int_equal(err.code, ERR_INPUT);
    opts.max_labeled_demos = 0;
    assert_true(compile(t, opts, false, &out, &err));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_right_items_give_the_published_demos),
        cmocka_unit_test(sixteen_labelled_demos_are_those_of_the_specification),
        cmocka_unit_test(two_rounds_without_success_ask_twice_each),
        cmocka_unit_test(a_model_that_is_always_right_needs_four_calls),
        cmocka_unit_test(answers_that_cannot_be_read_are_failed_attempts_not_errors),
        cmocka_unit_test(calls_that_fail_are_counted_up_to_max_errors),
        cmocka_unit_test(an_empty_training_list_gives_the_program_back),
        cmocka_unit_test(labelled_demos_need_a_program_that_only_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// SIMBA's arithmetic and edges: percentiles and finalists of the specification (3.5, 3.9), call
// counts of section 6, prompt models that are of no use, minibatches that do not fit.
#include <math.h>

#include "test.h"

#include "optimize/simba.h"

static void near(double got, double want)
{
    if (fabs(got - want) > 1e-12)
        fail_msg("got %.6f, want %.6f", got, want);
}

// 3.5: s ones among 192 zeros and ones.
static void percentiles_of_zeros_and_ones(void **state)
{
    (void)state;
    static const struct {
        int ones;
        double p10, p90;
    } rows[] = { { 0, 0, 0 },   { 19, 0, 0 },    { 20, 0, 0.9 }, { 21, 0, 1 },
                 { 171, 0, 1 }, { 172, 0.1, 1 }, { 173, 1, 1 },  { 192, 1, 1 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        double v[192];
        for (int k = 0; k < 192; k++)
            v[k] = k >= 192 - rows[i].ones;
        double p10 = simba_percentile(v, 192, 10), p90 = simba_percentile(v, 192, 90);
        assert_true(fabs(p10 - rows[i].p10) < 1e-9);
        assert_true(fabs(p90 - rows[i].p90) < 1e-9);
    }
    const double one[] = { 0.5 };
    near(simba_percentile(one, 1, 90), 0.5);
}

// 3.9: k = 6.
static void finalists_are_spread_over_the_winners(void **state)
{
    (void)state;
    static const struct {
        size_t last, n, v[8];
    } rows[] = { { 8, 7, { 0, 1, 3, 4, 5, 7, 8 } },
                 { 7, 7, { 0, 1, 2, 4, 5, 6, 7 } },
                 { 6, 7, { 0, 1, 2, 3, 4, 5, 6 } },
                 { 3, 4, { 0, 1, 2, 3 } },
                 { 1, 2, { 0, 1 } },
                 { 0, 1, { 0 } } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t out[8];
        assert_int_equal(simba_finalists(rows[i].last, 6, out), rows[i].n);
        for (size_t k = 0; k < rows[i].n; k++)
            assert_int_equal(out[k], rows[i].v[k]);
    }
    size_t out[8];
    assert_int_equal(simba_finalists(5, 1, out), 2); // k = 1: the first and the last
    assert_int_equal(out[1], 5);
}

// ---- toy runs ----

enum { POSITIONS = 40 };
struct toy {
    struct arena arena;
    struct puzzle puzzle;
    struct puzzle_position v[POSITIONS];
    struct puzzle_positions train;
    int n_calls, n_hot, n_rules;
    int right_percent; // of hot answers; cold ones are right for even items
    const char *advice;
    enum reply_class meta;
    bool chooses; // the task model has no sampling
};

static bool answer(const struct model *m, const struct model_request *q, struct arena *a,
                   struct reply *out, struct err *err)
{
    (void)err;
    struct toy *t = m->context;
    str text = q->messages.v[q->messages.n - 1].text;
    str_cut(&text, '\n');
    int64_t item;
    assert_true(str_to_int(str_cut(&text, '\n'), 0, POSITIONS, &item));
    bool hot = q->temperature > 0.5;
    t->n_calls++;
    t->n_hot += hot;
    bool right = hot ? (item * 7 + q->sample * 13) % 100 < t->right_percent : item % 2 == 0;
    if (t->right_percent == 0 || t->right_percent == 100)
        right = t->right_percent == 100;
    out->class = REPLY_OK;
    out->text = arena_str(a, right ? S("{\"move\":\"e2e4\"}") : S("{\"move\":\"a2a3\"}"));
    return true;
}

static bool advise(const struct model *m, const struct model_request *q, struct arena *a,
                   struct reply *out, struct err *err)
{
    (void)q;
    (void)a;
    (void)err;
    struct toy *t = m->context;
    t->n_rules++;
    out->class = t->meta;
    out->text = str_from(t->advice);
    return true;
}

static const struct provider provider_task = { .answer = answer };
static const struct provider provider_chooser = { .answer = answer, .chooses = true };
static const struct provider provider_meta = { .answer = advise };

#define GOOD "{\"discussion\":\"d\",\"module_advice\":{\"choose_move\":\"Look twice.\"}}"

static void toy_new(struct toy *t, int right_percent)
{
    memset(t, 0, sizeof *t);
    t->right_percent = right_percent;
    t->advice = GOOD;
    t->puzzle.id = S("p");
    struct position start = position_start();
    for (int i = 0; i < POSITIONS; i++) {
        struct puzzle_position *p = &t->v[i];
        *p = (struct puzzle_position){
            .puzzle = &t->puzzle, .index = i, .count = POSITIONS, .at = start
        };
        assert_true(uci_parse(&start, S("e2e4"), &p->solution));
        p->inputs[0] = arena_printf(&t->arena, "%d", i);
        p->inputs[1] = S("white");
        p->inputs[2] = S("e2e4, a2a3");
        p->reference = S("e2e4");
    }
    t->train = (struct puzzle_positions){ .v = t->v, .n = POSITIONS };
}

static bool compile(struct toy *t, const struct optimizer_config *c, struct opt_result *out,
                    struct err *err)
{
    struct store *db = NULL;
    struct store_run run = { .key = S("k"), .command = S("test"), .config = S("{}") };
    struct puzzle_positions none = { 0 };
    assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &db, err));
    assert_true(store_run_begin(db, &(struct store_begin){ 0 }, &t->arena, &run, err));
    struct lab lab = { .arena = &t->arena,
                       .pump = pump_new(&(struct pump_opts){ .run = run.id }, db, err) };
    struct model model = { .name = S("toy/task"),
                           .provider = t->chooses ? &provider_chooser : &provider_task,
                           .context = t,
                           .has_temperature = true };
    struct model meta = { .name = S("toy/meta"), .provider = &provider_meta, .context = t };
    struct opt_task task = {
        .lab = &lab,
        .seed = program_new(&t->arena, &signature_choose_move, instruction_base),
        .train = &t->train,
        .validation = &none,
        .model = &model,
        .prompt_model = &meta,
        .run_seed = 42,
        .config = c,
    };
    bool ok = optimizer_find(S("simba"))->run(&task, out, err);
    struct opt_plan plan = { 0 };
    struct err ignored = { 0 };
    if (ok && optimizer_find(S("simba"))->plan(&task, &plan, &ignored)) {
        assert_in_range(t->n_calls, plan.least_task, plan.most_task);
        assert_true(t->n_rules <= plan.most_prompt);
    }
    pump_free(lab.pump);
    store_close(db);
    return ok;
}

static struct optimizer_config settings(int64_t bsize, int64_t k, int64_t steps)
{
    struct optimizer_config c = { 0 };
    optimizer_defaults(&c, METHOD_SIMBA, S("paper"));
    c.bsize = bsize;
    c.num_candidates = k;
    c.max_steps = steps;
    return c;
}

// Section 6: S k B trajectories, S (k + 1) B candidate calls, finalists times T.
static void calls_equal_the_formula(void **state)
{
    (void)state;
    struct toy t;
    struct opt_result out;
    struct err err = { 0 };
    toy_new(&t, 50);
    struct optimizer_config c = settings(8, 3, 6);
    assert_true(compile(&t, &c, &out, &err));
    assert_int_equal(t.n_hot, 6 * 3 * 8);
    assert_int_equal(out.n_attempts, 6 * 3 * 8);
    assert_int_equal(t.n_calls, 6 * 3 * 8 + 6 * 4 * 8 + 4 * POSITIONS);
    assert_int_equal(out.candidates.n, 4);
    arena_free(&t.arena);
}

static void ties_leave_the_baseline(void **state)
{
    (void)state;
    static const int percents[] = { 0, 100 };
    for (size_t i = 0; i < 2; i++) {
        struct toy t;
        struct opt_result out;
        struct err err = { 0 };
        toy_new(&t, percents[i]);
        struct optimizer_config c = settings(8, 3, 4);
        assert_true(compile(&t, &c, &out, &err));
        assert_str(out.program->instruction, instruction_base);
        assert_int_equal(out.program->n_demos, 0);
        assert_int_equal(t.n_rules, 0); // all-right and all-wrong steps ask for no rule
        arena_free(&t.arena);
    }
}

static void no_steps_evaluate_the_baseline_alone(void **state)
{
    (void)state;
    struct toy t;
    struct opt_result out;
    struct err err = { 0 };
    toy_new(&t, 50);
    struct optimizer_config c = settings(8, 3, 0);
    assert_true(compile(&t, &c, &out, &err));
    assert_int_equal(t.n_calls, POSITIONS);
    arena_free(&t.arena);
}

static void a_minibatch_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct toy t;
    struct opt_result out;
    struct err err = { 0 };
    toy_new(&t, 50);
    struct optimizer_config c = settings(POSITIONS + 1, 3, 2);
    assert_false(compile(&t, &c, &out, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_int_equal(t.n_calls, 0);
    arena_free(&t.arena);
}

static void demonstrations_never_pass_their_limit(void **state)
{
    (void)state;
    struct toy t;
    struct opt_result out;
    struct err err = { 0 };
    toy_new(&t, 50);
    struct optimizer_config c = settings(8, 4, 12);
    c.max_demos = 2;
    assert_true(compile(&t, &c, &out, &err));
    for (size_t i = 0; i < out.candidates.n; i++)
        assert_true(out.candidates.v[i].program->n_demos <= 2);
    arena_free(&t.arena);
}

static void rules_alone_grow_the_instruction(void **state)
{
    (void)state;
    struct toy t;
    struct opt_result out;
    struct err err = { 0 };
    toy_new(&t, 50);
    struct optimizer_config c = settings(8, 4, 3);
    c.max_demos = 0;
    assert_true(compile(&t, &c, &out, &err));
    assert_true(t.n_rules > 0);
    bool grown = false;
    for (size_t i = 0; i < out.candidates.n; i++) {
        const struct program *p = out.candidates.v[i].program;
        assert_int_equal(p->n_demos, 0);
        grown |= str_find(p->instruction, S("\n\nLook twice.")) > 0;
    }
    assert_true(grown);
    arena_free(&t.arena);
}

static void useless_prompt_models_cost_a_bucket_and_no_more(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum reply_class class;
    } rows[] = {
        { "", REPLY_EMPTY },
        { "I would rather not.", REPLY_REFUSED },
        { "no object here", REPLY_OK },
        { "{\"discussion\":\"d\"}", REPLY_OK },
        { "{\"discussion\":\"d\",\"module_advice\":\"only a text\"}", REPLY_OK },
        { "{\"discussion\":\"d\",\"module_advice\":[1,2]}", REPLY_OK },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct toy t;
        struct opt_result out;
        struct err err = { 0 };
        toy_new(&t, 50);
        t.advice = rows[i].text;
        t.meta = rows[i].class;
        struct optimizer_config c = settings(8, 4, 3);
        c.max_demos = 0;
        assert_true(compile(&t, &c, &out, &err));
        assert_true(t.n_rules > 0);
        assert_int_equal(out.n_proposals, 0);
        assert_str(out.program->instruction, instruction_base);
        arena_free(&t.arena);
    }
}

static void advice_for_another_component_changes_nothing(void **state)
{
    (void)state;
    struct toy t;
    struct opt_result out;
    struct err err = { 0 };
    toy_new(&t, 50);
    t.advice = "{\"discussion\":\"d\",\"module_advice\":{\"other\":\"x\"}}";
    struct optimizer_config c = settings(8, 4, 3);
    c.max_demos = 0;
    assert_true(compile(&t, &c, &out, &err));
    assert_true(out.n_proposals > 0);
    assert_str(out.program->instruction, instruction_base);
    arena_free(&t.arena);
}

static void of_all_methods_only_this_one_refuses_a_model_without_sampling(void **state)
{
    (void)state;
    static const struct provider chooser = { .chooses = true };
    const struct model model = { .name = S("typesafe/jev"), .provider = &chooser };
    for (size_t i = 0; optimizers[i]; i++) {
        struct err err = { 0 };
        bool accepted = optimizer_accepts(optimizers[i], &model, &err);
        assert_int_equal(accepted, !str_eq(optimizers[i]->name, S("simba")));
        if (!accepted)
            assert_non_null(strstr(err.text, "no sampling"));
    }
    struct toy t;
    struct opt_result out;
    struct err err = { 0 };
    struct optimizer_config c = settings(8, 4, 3);
    toy_new(&t, 50);
    t.chooses = true;
    assert_false(compile(&t, &c, &out, &err));
    assert_int_equal(err.code, ERR_USAGE);
    arena_free(&t.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_of_zeros_and_ones),
        cmocka_unit_test(finalists_are_spread_over_the_winners),
        cmocka_unit_test(calls_equal_the_formula),
        cmocka_unit_test(ties_leave_the_baseline),
        cmocka_unit_test(no_steps_evaluate_the_baseline_alone),
        cmocka_unit_test(a_minibatch_that_does_not_fit_is_refused),
        cmocka_unit_test(demonstrations_never_pass_their_limit),
        cmocka_unit_test(rules_alone_grow_the_instruction),
        cmocka_unit_test(useless_prompt_models_cost_a_bucket_and_no_more),
        cmocka_unit_test(advice_for_another_component_changes_nothing),
        cmocka_unit_test(of_all_methods_only_this_one_refuses_a_model_without_sampling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

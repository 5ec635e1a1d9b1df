// SPDX-License-Identifier: GPL-3.0-or-later
// BootstrapFewShotWithRandomSearch and COPRO against recorded traces of the reference software,
// call by call: same requests (hashes), order, replies, scores, winners and final programs.
#include "trace.h"

// Every recorded evaluation that was finished, against our candidates in their order.
static void expect_evaluations(struct trace *t, const struct opt_candidates *all, bool unique)
{
    const json_t *eval;
    for (size_t i = 0; (eval = trace_next(t, "eval")) != NULL; i++) {
        double score = json_number_value(json_object_get(eval, "score"));
        size_t at = i;
        if (unique) { // COPRO stores an instruction once; a repetition scores the same
            str instruction = S("");
            for (size_t r = 0; r < t->n; r++)
                if (str_eq(json_get_str(t->records[r], "type"), S("program")) &&
                    json_get_int(t->records[r], "program", -1) == json_get_int(eval, "program", -2))
                    instruction = json_get_str(t->records[r], "instruction");
            for (at = 0; at < all->n; at++)
                if (str_eq(all->v[at].program->instruction, instruction))
                    break;
        }
        assert_true(at < all->n);
        double got = 100 * all->v[at].score;
        assert_true(got > score - 0.0051 && got < score + 0.0051);
        if (!unique)
            trace_expect_program(t, all->v[at].program, json_get_int(eval, "program", -1));
    }
}

static void finish(struct trace *t, struct opt_result *out, struct arena *a)
{
    const json_t *result = t->records[t->n - 2];
    trace_expect_totals(t);
    trace_expect_program(t, out->program, json_get_int(result, "program", -1));
    double best = 0;
    for (size_t i = 0; i < out->candidates.n; i++)
        best = out->candidates.v[i].score > best ? out->candidates.v[i].score : best;
    double want = json_number_value(json_object_get(result, "score"));
    assert_true(100 * best > want - 0.0051 && 100 * best < want + 0.0051);
    trace_close(t);
    arena_free(a);
}

// ---- BRS ----

static void open_brs(struct trace *t, const char *name, struct arena *a)
{
    trace_open(t, name, METHOD_BOOTSTRAP_RANDOM_SEARCH, a);
    t->config.num_candidate_programs = trace_option(t, "M", 6);
    t->config.max_errors = json_get_int(t->records[0], "max_errors", 5);
    t->config.forget_teacher_demos =
        !json_is_true(json_object_get(t->records[0], "restore_teacher_demos"));
}

static void play_brs(const char *name)
{
    struct arena a = { 0 };
    struct trace t;
    struct err err = { 0 };
    struct opt_result out;
    open_brs(&t, name, &a);
    if (!trace_run(&t, &out, &err))
        fail_msg("%s", err.text);
    expect_evaluations(&t, &out.candidates, false);
    finish(&t, &out, &a);
}

static void refused_strictly(struct trace *t, struct arena *a)
{
    struct err err = { 0 };
    struct opt_result out;
    t->config.strict_errors = true;
    assert_false(trace_run(t, &out, &err));
    assert_int_equal(err.code, ERR_RUN);
    trace_expect_totals(t);
    trace_close(t);
    arena_free(a);
}

static void brs_strict(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct trace t;
    open_brs(&t, "brs-strict", &a);
    refused_strictly(&t, &a);
}

// ---- COPRO ----

static str proposal(struct trace *t, const json_t *meta, size_t completion,
                    const struct model_request *q)
{
    str text = json_view(json_array_get(json_object_get(meta, "texts"), completion));
    struct buf b = { .arena = t->arena };
    struct json_out o = { .b = &b };
    // 1.4 for every proposal, whatever the prompt model is set to.
    assert_true(q->temperature > 1.39 && q->temperature < 1.41);
    // What the reference showed of earlier attempts is what we show: worst first.
    const json_t *attempts = json_object_get(meta, "attempts");
    str question = q->messages.v[q->messages.n - 1].text;
    for (size_t i = 0; i < json_array_size(attempts); i++) {
        const json_t *attempt = json_array_get(attempts, i);
        str shown = arena_printf(
            t->arena, "Attempt %zu, %.2f %% right:\n%.*s", i + 1,
            json_number_value(json_object_get(attempt, "score")),
            STR(instruction_normalise(json_get_str(attempt, "instruction"), t->arena)));
        if (str_find(question, shown) < 0)
            fail_msg("not shown: %.*s\nin: %.*s", STR(shown), STR(question));
    }
    json_open(&o, '{');
    json_key_str(&o, q->signature->outputs[0].name, text);
    json_close(&o, '}');
    return buf_str(&b);
}

static void open_copro(struct trace *t, const char *name, struct arena *a)
{
    trace_open(t, name, METHOD_COPRO, a);
    const json_t *options = json_object_get(t->records[0], "options");
    bool single = json_is_true(json_object_get(options, "single"));
    t->meta_reply = proposal;
    t->config.breadth = trace_option(t, "breadth", 4);
    t->config.max_errors = json_get_int(t->records[0], "max_errors", 0);
    t->config.copro_proposals = single ? COPRO_SINGLE : COPRO_FULL;
    t->config.copro_cleaning = COPRO_CLEAN_REFERENCE;
}

// The reference counts one request of several completions; we ask for each.
static void expect_meta_records(struct trace *t)
{
    assert_null(trace_next(t, "meta"));
}

static void play_copro(const char *name)
{
    struct arena a = { 0 };
    struct trace t;
    struct err err = { 0 };
    struct opt_result out;
    open_copro(&t, name, &a);
    if (!trace_run(&t, &out, &err))
        fail_msg("%s", err.text);
    expect_evaluations(&t, &out.candidates, true);
    expect_meta_records(&t);
    finish(&t, &out, &a);
}

static void copro_strict(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct trace t;
    open_copro(&t, "copro-strict", &a);
    refused_strictly(&t, &a);
}

#define PLAY(play, function, name)                                                                 \
    static void function(void **s)                                                                 \
    {                                                                                              \
        (void)s;                                                                                   \
        play(name);                                                                                \
    }
PLAY(play_brs, brs_clean, "brs-clean")
PLAY(play_brs, brs_moves_clean, "brs-moves-clean")
PLAY(play_brs, brs_moves_noisy, "brs-moves-noisy")
PLAY(play_brs, brs_noisy, "brs-noisy")
PLAY(play_brs, brs_noisy_schema, "brs-noisy-schema")
PLAY(play_brs, brs16_noisy, "brs16-noisy")
PLAY(play_brs, brs16_noisy_restored, "brs16-noisy-restored")
PLAY(play_copro, copro_clean, "copro-clean")
PLAY(play_copro, copro_single_clean, "copro-single-clean")
PLAY(play_copro, copro_moves_clean, "copro-moves-clean")
PLAY(play_copro, copro_moves_noisy, "copro-moves-noisy")
PLAY(play_copro, copro_noisy, "copro-noisy")
PLAY(play_copro, copro_noisy_plain, "copro-noisy-plain")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brs_clean),         cmocka_unit_test(brs_moves_clean),
        cmocka_unit_test(brs_moves_noisy),   cmocka_unit_test(brs_noisy),
        cmocka_unit_test(brs_noisy_schema),  cmocka_unit_test(brs_strict),
        cmocka_unit_test(brs16_noisy),       cmocka_unit_test(brs16_noisy_restored),
        cmocka_unit_test(copro_clean),       cmocka_unit_test(copro_single_clean),
        cmocka_unit_test(copro_moves_clean), cmocka_unit_test(copro_moves_noisy),
        cmocka_unit_test(copro_noisy),       cmocka_unit_test(copro_noisy_plain),
        cmocka_unit_test(copro_strict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

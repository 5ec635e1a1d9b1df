// SPDX-License-Identifier: GPL-3.0-or-later
// SIMBA against recorded traces of the reference software, call by call. Its draws are injected:
// the order of positions, the programs picked, Poisson numbers, dropped demonstrations, strategies.
// What we would have drawn from (weights, rates, sizes) must be what was recorded.
#include <math.h>

#include "trace.h"

struct play {
    struct trace t;
    struct chance chance;
    struct opt_watch watch;
    const json_t *choices; // one record holds the draws of a whole step
    size_t n_chosen;
};

static const json_t *draw_of(struct play *p, const char *op)
{
    struct map_entry *e = map_put(&p->t.next, arena_printf(p->t.arena, "op/%s", op), NULL);
    for (; (size_t)e->number < p->t.n; e->number++) {
        const json_t *r = p->t.records[e->number];
        if (str_eq(json_get_str(r, "type"), S("draw")) &&
            str_eq(json_get_str(r, "op"), str_from(op)))
            return p->t.records[e->number++];
    }
    fail_msg("no recorded draw %s is left", op);
    return NULL;
}

static void shuffle(void *ctx, const char *stream, size_t *v, size_t n)
{
    (void)stream;
    const json_t *order = json_object_get(draw_of(ctx, "shuffle"), "result");
    assert_int_equal(json_array_size(order), n);
    for (size_t i = 0; i < n; i++)
        v[i] = (size_t)json_integer_value(json_array_get(order, i));
}

static size_t weighted(void *ctx, const char *stream, const double *weights, size_t n)
{
    struct play *p = ctx;
    (void)stream;
    const json_t *result = p->choices ? json_object_get(p->choices, "result") : NULL;
    if (!result || p->n_chosen == json_array_size(result)) {
        p->choices = draw_of(p, "choices");
        p->n_chosen = 0;
        result = json_object_get(p->choices, "result");
    }
    const json_t *population = json_object_get(p->choices, "population");
    const json_t *recorded = json_object_get(p->choices, "weights");
    assert_int_equal(json_array_size(population), n);
    double ours = 0, theirs = 0;
    for (size_t i = 0; i < n; i++) {
        ours += weights[i];
        theirs += json_number_value(json_array_get(recorded, i));
    }
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(weights[i] / ours -
                         json_number_value(json_array_get(recorded, i)) / theirs) < 1e-9);
    json_int_t picked = json_integer_value(json_array_get(result, p->n_chosen++));
    for (size_t i = 0; i < n; i++)
        if (json_integer_value(json_array_get(population, i)) == picked)
            return i;
    fail_msg("program %lld is not among those to pick from", (long long)picked);
    return 0;
}

static int poisson(void *ctx, const char *stream, double rate)
{
    (void)stream;
    const json_t *draw = draw_of(ctx, "poisson");
    assert_true(fabs(rate - json_number_value(json_object_get(draw, "n"))) < 1e-12);
    return (int)json_get_int(draw, "result", -1);
}

static size_t below(void *ctx, const char *stream, size_t n)
{
    struct play *p = ctx;
    if (strcmp(stream, "strategy") == 0) {
        const json_t *draw = draw_of(p, "choice");
        assert_int_equal(json_get_int(draw, "n", -1), n);
        return (size_t)json_get_int(draw, "index", 0);
    }
    const json_t *draw = draw_of(p, "randrange");
    const json_t *bounds = json_object_get(draw, "n");
    assert_int_equal(json_integer_value(json_array_get(bounds, json_array_size(bounds) - 1)), n);
    return (size_t)json_get_int(draw, "result", 0);
}

// The recorded reply under the names of our own fields.
static str rule_reply(struct trace *t, const json_t *meta, size_t completion,
                      const struct model_request *q)
{
    (void)t;
    assert_str(json_get_str(meta, "purpose"), S("rule"));
    assert_true(q->temperature > 0.99 && q->temperature < 1.01);
    return json_view(json_array_get(json_object_get(meta, "replies"), completion));
}

// Recorded and our decisions: step, bucket, strategy, outcome.
static void note(void *ctx, const struct opt_event *e)
{
    struct play *p = ctx;
    static const char *const outcomes[][2] = { { "applied", "done" },
                                               { "declined", "declined" },
                                               { "error", "of no use" } };
    if (strcmp(e->what, "candidate") != 0 && strcmp(e->what, "skipped") != 0)
        return;
    const json_t *want = trace_next(&p->t, "strategy");
    assert_non_null(want);
    bool rule = str_eq(json_get_str(want, "name"), S("append_rule"));
    assert_true(str_find(e->reason, json_get_str(want, "pos")) >= 0);
    assert_int_equal(str_find(e->reason, S("add a rule")) >= 0, rule);
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++)
        if (str_eq(json_get_str(want, "outcome"), str_from(outcomes[i][0])) &&
            str_find(e->reason, str_from(outcomes[i][1])) < 0)
            fail_msg("%.*s, but recorded: %s", STR(e->reason), outcomes[i][0]);
}

static void expect_result(struct play *p, const struct opt_result *out)
{
    struct trace *t = &p->t;
    const json_t *result = t->records[t->n - 2];
    double want = json_number_value(json_object_get(result, "score")), best = 0;
    for (size_t i = 0; i < out->candidates.n; i++)
        best = fmax(best, out->candidates.v[i].score);
    assert_true(fabs(best - want) < 1e-9);
    trace_expect_totals(t);
    trace_expect_program(t, out->program, json_get_int(result, "program", -1));
    assert_null(trace_next(t, "strategy"));
    assert_int_equal(out->candidates.n, json_array_size(json_object_get(result, "ranking")));
}

static void play(const char *name)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct opt_result out;
    struct play p = { 0 };
    trace_open(&p.t, name, METHOD_SIMBA, &a);
    p.t.config.bsize = trace_option(&p.t, "bsize", 8);
    p.t.config.num_candidates = trace_option(&p.t, "k", 4);
    p.t.config.max_steps = trace_option(&p.t, "steps", 4);
    p.t.config.max_demos = trace_option(&p.t, "max_demos", 4);
    p.t.meta_reply = rule_reply;
    p.chance = (struct chance){
        .ctx = &p, .below = below, .shuffle = shuffle, .weighted = weighted, .poisson = poisson
    };
    p.watch = (struct opt_watch){ .note = note, .ctx = &p };
    p.t.task.chance = &p.chance;
    p.t.task.watch = &p.watch;
    if (!trace_run(&p.t, &out, &err))
        fail_msg("%s", err.text);
    expect_result(&p, &out);
    trace_close(&p.t);
    arena_free(&a);
}

#define PLAY(function, name)                                                                       \
    static void function(void **s)                                                                 \
    {                                                                                              \
        (void)s;                                                                                   \
        play(name);                                                                                \
    }
PLAY(clean, "simba-clean")
PLAY(long_clean, "simba-long-clean")
PLAY(long_noisy, "simba-long-noisy")
PLAY(moves_clean, "simba-moves-clean")
PLAY(moves_noisy, "simba-moves-noisy")
PLAY(noisy, "simba-noisy")
PLAY(noisy_plain, "simba-noisy-plain")
PLAY(noisy_schema, "simba-noisy-schema")
PLAY(rules_noisy, "simba-rules-noisy")
PLAY(small_clean, "simba-small-clean")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean),        cmocka_unit_test(small_clean),
        cmocka_unit_test(long_clean),   cmocka_unit_test(long_noisy),
        cmocka_unit_test(moves_clean),  cmocka_unit_test(moves_noisy),
        cmocka_unit_test(noisy),        cmocka_unit_test(noisy_plain),
        cmocka_unit_test(noisy_schema), cmocka_unit_test(rules_noisy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

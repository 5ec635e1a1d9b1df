// SPDX-License-Identifier: GPL-3.0-or-later
// GEPA against recorded traces of the reference software, call by call. The recorded shuffles and
// parents are put in the place of ours; minibatches, survivors and weights, decisions, counts and
// the result follow.
#include <math.h>

#include "trace.h"

#include "optimize/gepa.h"

struct play {
    struct trace t;
    struct chance chance;
    struct opt_watch watch;
    struct { // all records of the type
        const json_t **v;
        size_t n, cap;
    } iterations;
    size_t n_told;          // iterations
    struct gepa_pool pool;  // as recorded
    const json_t *selected; // record of the current iteration
};

// ---- the recorded draws ----

static void recorded_shuffle(void *ctx, const char *stream, size_t *v, size_t n)
{
    struct play *p = ctx;
    const json_t *draw;
    assert_string_equal(stream, "sampler");
    do {
        draw = trace_draw(&p->t, "gepa");
        assert_non_null(draw);
    } while (!str_eq(json_get_str(draw, "op"), S("shuffle")));
    const json_t *result = json_object_get(draw, "result");
    assert_int_equal(n, json_array_size(result));
    for (size_t i = 0; i < n; i++)
        v[i] = (size_t)json_integer_value(json_array_get(result, i));
}

// The weights are the recorded ones, and only survivors have any.
static size_t recorded_parent(void *ctx, const char *stream, const double *weights, size_t n)
{
    struct play *p = ctx;
    assert_string_equal(stream, "select");
    p->selected = trace_next(&p->t, "select");
    assert_non_null(p->selected);
    assert_int_equal(n, json_array_size(json_object_get(p->selected, "means")));
    const json_t *want = json_object_get(p->selected, "weights");
    size_t next = 0;
    for (size_t i = 0; i < n; i++) {
        if (weights[i] <= 0)
            continue;
        const json_t *pair = json_array_get(want, next++);
        assert_int_equal(i, json_integer_value(json_array_get(pair, 0)));
        assert_int_equal((int)weights[i], json_integer_value(json_array_get(pair, 1)));
    }
    assert_int_equal(next, json_array_size(want));
    return (size_t)json_get_int(p->selected, "parent", -1);
}

// ---- the prompt model ----

static const char *critique_of(str kind)
{
    static const struct {
        const char *kind, *part; // of our sentence
    } parts[] = {
        { "OK", "Correct: " },
        { "PARSE_FAIL", "holds no move" },
        { "ILLEGAL_OR_AMBIGUOUS", "does not name a single legal move" },
        { "WRONG_LEGAL", "is legal but does not solve" },
    };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (str_eq(kind, str_from(parts[i].kind)))
            return parts[i].part;
    fail_msg("no such kind: %.*s", STR(kind));
    return "";
}

static str fen_of(const struct trace *t, str id)
{
    for (size_t i = 0; i < t->train.n; i++)
        if (str_eq(id, arena_printf(t->arena, "%.*s/%d", STR(t->train.v[i].puzzle->id),
                                    t->train.v[i].index)))
            return t->train.v[i].inputs[0];
    fail_msg("no training position %.*s", STR(id));
    return S("");
}

static void expect_next(str *rest, str part)
{
    ptrdiff_t at = str_find(*rest, part);
    if (at < 0)
        fail_msg("the request should go on with \"%.*s\"", STR(part));
    *rest = str_sub(*rest, (size_t)at + part.len, rest->len);
}

// The request shows the recorded answers with their critique, in order, and no other.
static void expect_records(const struct trace *t, str request, const json_t *records)
{
    size_t i;
    const json_t *record;
    json_array_foreach (json_iterable(records), i, record) {
        expect_next(&request, arena_printf(t->arena, "# Example %zu\n", i + 1));
        expect_next(&request, fen_of(t, json_get_str(record, "pos")));
        expect_next(&request, arena_printf(t->arena, "### move\n%.*s\n",
                                           STR(json_get_str(record, "answer"))));
        expect_next(&request, str_from(critique_of(json_get_str(record, "feedback"))));
    }
    assert_true(str_find(request, S("# Example ")) < 0);
}

static str reply(struct trace *t, const json_t *meta, size_t completion,
                 const struct model_request *q)
{
    struct play *p = (struct play *)t; // its first member
    assert_int_equal(completion, 0);
    assert_str(json_get_str(meta, "purpose"), S("reflect"));
    assert_int_equal(q->messages.n, 1);
    assert_true(q->temperature == json_number_value(json_object_get(meta, "temperature")));
    expect_records(t, q->messages.v[0].text,
                   json_object_get(p->iterations.v[p->n_told], "records"));
    return json_view(json_array_get(json_object_get(meta, "replies"), 0));
}

// ---- what the optimizer tells ----

static void expect_list(const json_t *got, const json_t *want)
{
    assert_int_equal(json_array_size(got), json_array_size(want));
    for (size_t i = 0; i < json_array_size(want); i++)
        assert_true(json_number_value(json_array_get(got, i)) ==
                    json_number_value(json_array_get(want, i)));
}

static void add_candidate(struct play *p, const json_t *valset)
{
    struct trace *t = &p->t;
    str val = json_get_str(valset, "val");
    int64_t *scores = NEW_ARRAY(t->arena, int64_t, val.len);
    for (size_t i = 0; i < val.len; i++)
        scores[i] = val.data[i] == '1' ? GEPA_ONE : 0;
    p->pool.arena = t->arena;
    p->pool.n_validation = val.len;
    gepa_pool_add(&p->pool, &(struct gepa_candidate){ .scores = scores });
}

static void expect_validation(struct play *p, const struct opt_event *e)
{
    const json_t *valset = trace_next(&p->t, "valset");
    assert_non_null(valset);
    assert_int_equal(e->candidate, json_get_int(valset, "candidate", -1));
    assert_true(fabs(e->score - json_number_value(json_object_get(valset, "mean"))) < 1e-12);
    assert_int_equal(e->n_positions, p->t.validation.n);
    add_candidate(p, valset);
}

static const char *decision_of(const json_t *iteration)
{
    if (json_object_get(iteration, "skipped"))
        return "skipped";
    return json_is_integer(json_object_get(iteration, "accepted")) ? "accepted" : "rejected";
}

static void expect_iteration(struct play *p, const struct opt_event *e, const json_t *got)
{
    assert_true(p->n_told < p->iterations.n);
    const json_t *want = p->iterations.v[p->n_told++];
    assert_string_equal(e->what, decision_of(want));
    assert_int_equal(json_get_int(got, "iteration", -1), json_get_int(want, "iteration", -2));
    assert_int_equal(json_integer_value(json_array_get(json_object_get(got, "parents"), 0)),
                     json_get_int(want, "parent", -1));
    expect_list(json_object_get(got, "examples"), json_object_get(want, "minibatch"));
    expect_list(json_object_get(got, "parent_scores"), json_object_get(want, "parent_scores"));
    expect_list(json_object_get(got, "child_scores"), json_object_get(want, "child_scores"));
    assert_int_equal(json_get_int(got, "metric_calls", -1), json_get_int(want, "metric_calls", -2));
    assert_int_equal(json_get_int(got, "pool", -1), json_get_int(want, "pool", -2));
}

static void watch(void *ctx, const struct opt_event *e)
{
    struct play *p = ctx;
    struct err err = { 0 };
    if (e->details.len == 0)
        return;
    json_t *details = json_read_strict(e->details, &err);
    assert_non_null(details);
    if (e->candidate >= 0)
        expect_validation(p, e);
    if (e->candidate != 0)
        expect_iteration(p, e, details);
    json_decref(details);
}

// ---- playing ----

static void expect_fronts(const struct play *p, const json_t *result)
{
    const json_t *fronts = json_object_get(result, "fronts");
    for (size_t v = 0; v < p->pool.n_validation; v++) {
        const json_t *front = json_object_get(fronts, arena_printf(p->t.arena, "%zu", v).data);
        size_t next = 0;
        for (size_t i = 0; i < p->pool.n; i++)
            if (gepa_on_front(&p->pool, i, v))
                assert_int_equal(i, json_integer_value(json_array_get(front, next++)));
        assert_int_equal(next, json_array_size(front));
    }
}

static void open_play(struct play *p, const char *name, struct arena *a)
{
    struct trace *t = &p->t;
    trace_open(t, name, METHOD_GEPA, a);
    const json_t *options = json_object_get(t->records[0], "options");
    t->config.budget = json_object_get(options, "auto") ? BUDGET_LIGHT : BUDGET_NONE;
    t->meta_reply = reply;
    p->chance =
        (struct chance){ .ctx = p, .shuffle = recorded_shuffle, .weighted = recorded_parent };
    p->watch = (struct opt_watch){ .note = watch, .ctx = p };
    t->task.chance = &p->chance;
    t->task.watch = &p->watch;
    for (size_t i = 0; i < t->n; i++)
        if (str_eq(json_get_str(t->records[i], "type"), S("iteration")))
            *vec_push(a, &p->iterations) = t->records[i];
}

static void play(void **state)
{
    const char *name = *state;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct opt_result out;
    struct play *p = NEW(&a, struct play);
    open_play(p, name, &a);
    if (!trace_run(&p->t, &out, &err))
        fail_msg("%s", err.text);
    const json_t *result = p->t.records[p->t.n - 2];
    trace_expect_totals(&p->t);
    trace_expect_program(&p->t, out.program, json_get_int(result, "program", -1));
    assert_string_equal(out.finish, "budget");
    assert_int_equal(p->n_told, p->iterations.n);
    assert_null(trace_next(&p->t, "valset"));
    assert_null(trace_next(&p->t, "select"));
    assert_int_equal(p->pool.n, json_get_int(result, "full_evals", -1));
    assert_int_equal(gepa_best(&p->pool), json_get_int(result, "best", -1));
    expect_fronts(p, result);
    trace_close(&p->t);
    arena_free(&a);
}

#define PLAYED(name)                                                                               \
    {                                                                                              \
        "the trace " name, play, NULL, NULL, (void *)(uintptr_t)(name)                             \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAYED("gepa-clean"),
        PLAYED("gepa-noisy"),
        PLAYED("gepa-light-clean"),
        PLAYED("gepa-light-noisy"),
        PLAYED("gepa-light-noisy-plain"),
        PLAYED("gepa-light-noisy-schema"),
        PLAYED("gepa-light-moves-clean"),
        PLAYED("gepa-light-moves-noisy"),
        PLAYED("gepa-long-clean"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

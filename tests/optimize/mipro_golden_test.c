// SPDX-License-Identifier: GPL-3.0-or-later
// MIPROv2 against recorded traces of the reference software, call by call. All its draws are
// CPython's but the sampler's: the pairs that the reference's sampler drew are put in the place of
// ours, the recorded pick first, so that it is taken where ratios are equal.
#include <math.h>

#include "trace.h"

struct play {
    struct trace t;
    struct chance chance;
    struct opt_watch watch;
    struct tpe history; // as recorded
    const json_t *pick, *drawn;
    size_t n_asked; // draws of the current trial
    size_t picked;  // place of the pick among the drawn pairs
    double best;
};

static int64_t element(const json_t *record, const char *key, size_t i)
{
    const json_t *list = json_object_get(record, key);
    return json_is_array(list) ? json_integer_value(json_array_get(list, i)) : 0;
}

// ---- the history, from the records alone ----

static void load_history(struct play *p)
{
    const json_t *pick = NULL;
    for (size_t i = 0; i < p->t.n; i++) {
        const json_t *r = p->t.records[i];
        str type = json_get_str(r, "type");
        struct tpe_record new = { 0 };
        if (str_eq(type, S("pick"))) {
            pick = r;
            continue;
        }
        if (str_eq(type, S("record"))) {
            new.value = json_number_value(json_object_get(r, "value"));
        } else if (pick && str_eq(type, S("eval"))) {
            new.value = json_number_value(json_object_get(r, "score"));
            r = pick;
            pick = NULL;
        } else {
            continue;
        }
        assert_int_equal(json_get_int(r, "number", -1), p->history.seen.n);
        new.at = (struct tpe_pair){ (size_t)json_get_int(r, "instruction", 0),
                                    (size_t)json_get_int(r, "demo_set", 0) };
        *vec_push(p->t.arena, &p->history.seen) = new;
    }
}

// What the sampler would make of the recorded history is what the reference made of it.
static void expect_densities(struct play *p)
{
    struct trace *t = &p->t;
    struct tpe_records good, bad;
    struct tpe past = p->history;
    const json_t *split = trace_next(t, "tpe_split");
    past.seen.n = (size_t)json_get_int(p->pick, "number", 0);
    assert_int_equal(past.seen.n, json_get_int(split, "n", -1));
    tpe_divide(&past.seen, t->arena, &good, &bad);
    assert_int_equal(good.n, json_array_size(json_object_get(split, "good")));
    assert_int_equal(bad.n, json_get_int(split, "bad", -1));
    for (size_t i = 0; i < good.n; i++) {
        const struct tpe_record *want = &past.seen.v[element(split, "good", i)];
        assert_memory_equal(&good.v[i], want, sizeof *want);
    }
    double most = -HUGE_VAL, of_pick = -HUGE_VAL;
    const json_t *ratios = json_object_get(p->drawn, "log_ratio");
    assert_int_equal(json_array_size(ratios), TPE_CANDIDATES);
    for (size_t i = 0; i < TPE_CANDIDATES; i++) {
        struct tpe_pair at = { (size_t)element(p->drawn, "instruction", i),
                               (size_t)element(p->drawn, "demo_set", i) };
        double ratio = log(tpe_density(&past, &good, at)) - log(tpe_density(&past, &bad, at));
        assert_true(fabs(ratio - json_number_value(json_array_get(ratios, i))) < 1e-6);
        most = fmax(most, ratio);
        if (i == p->picked)
            of_pick = ratio;
    }
    assert_true(of_pick > most - 1e-9);
}

// ---- the recorded draws of the sampler ----

static void next_pick(struct play *p)
{
    p->pick = trace_next(&p->t, "pick");
    assert_non_null(p->pick);
    p->n_asked = 0;
}

static bool has_sets(const struct play *p)
{
    return json_is_integer(json_object_get(p->pick, "demo_set"));
}

static size_t recorded_below(void *ctx, const char *stream, size_t n)
{
    struct play *p = ctx;
    assert_string_equal(stream, "tpe");
    if (!p->pick || p->n_asked > has_sets(p))
        next_pick(p);
    int64_t value = json_get_int(p->pick, p->n_asked++ == 0 ? "instruction" : "demo_set", -1);
    assert_in_range(value, 0, n - 1);
    return (size_t)value;
}

static void next_modelled(struct play *p)
{
    next_pick(p);
    p->drawn = trace_next(&p->t, "tpe");
    assert_non_null(p->drawn);
    for (p->picked = 0; p->picked < TPE_CANDIDATES; p->picked++)
        if (element(p->drawn, "instruction", p->picked) ==
                json_get_int(p->pick, "instruction", -1) &&
            element(p->drawn, "demo_set", p->picked) == json_get_int(p->pick, "demo_set", 0))
            break;
    assert_in_range(p->picked, 0, TPE_CANDIDATES - 1);
    expect_densities(p);
}

// Per pair a kernel, an instruction and, where there are demo sets, one of those.
static size_t recorded_weighted(void *ctx, const char *stream, const double *weights, size_t n)
{
    struct play *p = ctx;
    (void)weights;
    assert_string_equal(stream, "tpe");
    size_t stride = p->pick && !has_sets(p) ? 2 : 3;
    if (!p->drawn || p->n_asked == TPE_CANDIDATES * stride)
        next_modelled(p);
    size_t i = p->n_asked / stride, what = p->n_asked % stride;
    p->n_asked++;
    if (what == 0)
        return 0;
    i = i == 0 ? p->picked : i <= p->picked ? i - 1 : i; // the pick first
    int64_t value = element(p->drawn, what == 1 ? "instruction" : "demo_set", i);
    assert_in_range(value, 0, n - 1);
    return (size_t)value;
}

// ---- the prompt model ----

static const struct {
    const char *purpose, *output;
} outputs[] = {
    { "dataset_observe", "observations" },
    { "dataset_observe_more", "observations" },
    { "dataset_summary", "summary" },
    { "describe_program", "program_description" },
    { "describe_module", "module_description" },
    { "propose_instruction", "proposed_instruction" },
};

static const char *output_of(str purpose)
{
    for (size_t i = 0; i < ARRAY_LEN(outputs); i++)
        if (str_eq(purpose, str_from(outputs[i].purpose)))
            return outputs[i].output;
    fail_msg("no such purpose: %.*s", STR(purpose));
    return NULL;
}

static const struct puzzle_position *position_of(const struct trace *t, str id)
{
    for (size_t i = 0; i < t->train.n; i++)
        if (str_eq(id, arena_printf(t->arena, "%.*s/%d", STR(t->train.v[i].puzzle->id),
                                    t->train.v[i].index)))
            return &t->train.v[i];
    fail_msg("no training position %.*s", STR(id));
    return NULL;
}

static size_t count(str text, str part)
{
    size_t n = 0;
    for (ptrdiff_t at; (at = str_find(text, part)) >= 0; n++)
        text = str_sub(text, (size_t)at + part.len, text.len);
    return n;
}

// The request shows these positions, in this order, and no other.
static void expect_shown(const struct trace *t, str request, const json_t *ids)
{
    str rest = request;
    assert_int_equal(count(request, S("Position Fen: ")), json_array_size(ids));
    for (size_t i = 0; i < json_array_size(ids); i++) {
        str line = arena_printf(t->arena, "Position Fen: %.*s\n",
                                STR(position_of(t, json_view(json_array_get(ids, i)))->inputs[0]));
        ptrdiff_t at = str_find(rest, line);
        assert_true(at >= 0);
        rest = str_sub(rest, (size_t)at + line.len, rest.len);
    }
}

static str reply(struct trace *t, const json_t *meta, size_t completion,
                 const struct model_request *q)
{
    assert_int_equal(completion, 0);
    str purpose = json_get_str(meta, "purpose");
    str request = q->messages.v[q->messages.n - 1].text;
    const char *output = output_of(purpose);
    assert_true(str_ends(request, arena_printf(t->arena, ": `%s`.", output)));
    assert_true(q->has_temperature);
    assert_true(q->temperature == json_number_value(json_object_get(meta, "temperature")));
    assert_int_equal(q->sample, json_get_int(meta, "rollout_id", 0));
    const json_t *shown = json_object_get(meta, "positions_shown");
    expect_shown(t, request, shown ? shown : json_object_get(meta, "demos_shown"));
    if (str_eq(purpose, S("propose_instruction")))
        assert_int_equal(str_find(request, S("[[ ## tip ## ]]")) >= 0,
                         json_is_true(json_object_get(meta, "tip_given")));
    struct buf b = { .arena = t->arena };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, str_from(output),
                 json_view(json_array_get(json_object_get(meta, "texts"), 0)));
    json_close(&o, '}');
    return buf_str(&b);
}

// ---- what the optimizer tells ----

static void expect_demo_set(struct trace *t, const struct program *set)
{
    const json_t *demos = json_object_get(trace_next(t, "demo_set"), "demos");
    assert_int_equal(set->n_demos, json_array_size(demos));
    for (size_t i = 0; i < set->n_demos; i++) {
        const json_t *demo = json_array_get(demos, i);
        str id = json_get_str(demo, "id");
        assert_str(set->demos[i]->inputs[0], position_of(t, id)->inputs[0]);
        assert_str(set->demos[i]->outputs[0], json_get_str(demo, "move"));
        assert_int_equal(set->demos[i]->source == NULL,
                         json_is_true(json_object_get(demo, "augmented")));
    }
}

static bool is_evaluation(const struct opt_event *e)
{
    return strcmp(e->what, "evaluated") == 0 || strcmp(e->what, "accepted") == 0 ||
           strcmp(e->what, "rejected") == 0;
}

static void watch(void *ctx, const struct opt_event *e)
{
    struct play *p = ctx;
    if (str_starts(e->reason, S("demonstration set")))
        expect_demo_set(&p->t, e->program);
    if (!is_evaluation(e) || e->candidate < 0)
        return;
    const json_t *eval = trace_next(&p->t, "eval");
    bool raised = json_is_true(json_object_get(eval, "raised"));
    assert_int_equal(e->scored, !raised);
    if (raised)
        return;
    assert_str(arena_printf(p->t.arena, "%.2f", 100 * e->score),
               arena_printf(p->t.arena, "%.2f", json_number_value(json_object_get(eval, "score"))));
    assert_int_equal(e->n_positions, json_string_length(json_object_get(eval, "results")));
    trace_expect_program(&p->t, e->program, json_get_int(eval, "program", -1));
}

// ---- playing ----

static void configure(struct trace *t)
{
    struct optimizer_config *c = &t->config;
    const json_t *config = t->records[0];
    const json_t *options = json_object_get(config, "options");
    c->budget = json_object_get(options, "auto") ? BUDGET_LIGHT : BUDGET_NONE;
    c->num_candidates = trace_option(t, "num_candidates", 0);
    c->num_trials = trace_option(t, "num_trials", 0);
    c->minibatch = json_is_true(json_object_get(options, "minibatch"));
    c->mipro_minibatch_size = trace_option(t, "minibatch_size", 35);
    c->max_bootstrapped_demos = trace_option(t, "B", 4);
    c->max_labeled_demos = trace_option(t, "L", 4);
    c->max_errors = json_get_int(config, "max_errors", 0);
    if (str_eq(json_get_str(config, "meta_list"), S("B")))
        c->mipro_proposals = MIPRO_PROPOSALS_REFERENCE;
}

enum strictness { TOLERANT, STRICT };

static void play(const char *name, enum strictness how)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct opt_result out;
    struct play *p = NEW(&a, struct play);
    trace_open(&p->t, name, METHOD_MIPRO_V2, &a);
    configure(&p->t);
    p->t.config.strict_errors = how == STRICT;
    p->t.meta_reply = reply;
    p->chance = (struct chance){ .ctx = p, .below = recorded_below, .weighted = recorded_weighted };
    p->watch = (struct opt_watch){ .note = watch, .ctx = p };
    p->t.task.chance = &p->chance;
    p->t.task.watch = &p->watch;
    load_history(p);
    p->history.n_x = p->history.n_y = 0;
    for (size_t i = 0; i < p->t.n; i++) {
        str type = json_get_str(p->t.records[i], "type");
        p->history.n_y += str_eq(type, S("demo_set"));
        if (str_eq(type, S("instructions")))
            p->history.n_x = json_array_size(json_object_get(p->t.records[i], "texts"));
    }
    if (p->t.config.max_bootstrapped_demos == 0)
        p->history.n_y = 1;
    if (!trace_run(&p->t, &out, &err))
        fail_msg("%s", err.text);
    const json_t *result = p->t.records[p->t.n - 2];
    trace_expect_totals(&p->t);
    trace_expect_program(&p->t, out.program, json_get_int(result, "program", -1));
    assert_null(trace_next(&p->t, "pick"));
    assert_null(trace_next(&p->t, "eval"));
    assert_null(trace_next(&p->t, "tpe"));
    assert_int_equal(out.n_proposals, p->history.n_x - 1);
    trace_close(&p->t);
    arena_free(&a);
}

static void mipro_light_clean(void **s)
{
    (void)s;
    play("mipro-light-clean", TOLERANT);
}
static void mipro_light_noisy(void **s)
{
    (void)s;
    play("mipro-light-noisy", TOLERANT);
}
static void mipro_long_clean(void **s)
{
    (void)s;
    play("mipro-long-clean", TOLERANT);
}
static void mipro_minibatch_clean(void **s)
{
    (void)s;
    play("mipro-minibatch-clean", TOLERANT);
}
static void mipro_minibatch_moves_clean(void **s)
{
    (void)s;
    play("mipro-minibatch-moves-clean", TOLERANT);
}
static void mipro_minibatch_moves_noisy(void **s)
{
    (void)s;
    play("mipro-minibatch-moves-noisy", TOLERANT);
}
static void mipro_minibatch_noisy(void **s)
{
    (void)s;
    play("mipro-minibatch-noisy", TOLERANT);
}
static void mipro_minibatch_noisy_plain(void **s)
{
    (void)s;
    play("mipro-minibatch-noisy-plain", TOLERANT);
}
static void mipro_strict(void **s)
{
    (void)s;
    play("mipro-strict", STRICT);
}
static void mipro_zeroshot_clean(void **s)
{
    (void)s;
    play("mipro-zeroshot-clean", TOLERANT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mipro_light_clean),
        cmocka_unit_test(mipro_light_noisy),
        cmocka_unit_test(mipro_long_clean),
        cmocka_unit_test(mipro_minibatch_clean),
        cmocka_unit_test(mipro_minibatch_moves_clean),
        cmocka_unit_test(mipro_minibatch_moves_noisy),
        cmocka_unit_test(mipro_minibatch_noisy),
        cmocka_unit_test(mipro_minibatch_noisy_plain),
        cmocka_unit_test(mipro_strict),
        cmocka_unit_test(mipro_zeroshot_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

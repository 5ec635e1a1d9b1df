// SPDX-License-Identifier: GPL-3.0-or-later
// The search of GEPA on toy systems without any model: decisions, budgets, stops and merges of
// several components (GEPA and SIMBA specification, 7.3 scheduling and 7.5).
#include "test.h"

#include "optimize/gepa.h"

enum { LOG_MAX = 4096, PARENTS_MAX = 64 };

struct toy {
    struct arena arena;
    struct gepa_system sys;
    struct gepa_opts opts;
    struct gepa_tools tools;
    struct gepa_result r;
    struct chance chance, real;
    // What the system answers.
    int64_t (*score)(struct toy *t, const str *texts, enum gepa_set set, size_t id);
    str (*rewrite)(struct toy *t, const struct gepa_question *q); // .data NULL: no proposal
    struct mt g;
    int64_t n_rewrites;
    // Parents that are drawn, one after the other; none left: as weighted.
    size_t parents[PARENTS_MAX], n_parents, next_parent;
    // What happened: one letter an iteration, A accepted, R rejected, S skipped, in lower case for
    // merges.
    char log[LOG_MAX];
    size_t n_log;
};

static bool toy_run(void *ctx, const struct gepa_run *run, struct gepa_scores *out, struct err *err)
{
    struct toy *t = ctx;
    (void)err;
    *out = (struct gepa_scores){ .v = NEW_ARRAY(&t->arena, int64_t, run->n + 1),
                                 .n_calls = (int64_t)run->n };
    for (; out->n < run->n; out->n++) {
        int64_t most = out->sum + (int64_t)(run->n - out->n) * GEPA_ONE;
        if ((run->stop != GEPA_STOP_NEVER && most < run->wanted) ||
            (run->stop == GEPA_STOP_DECIDED && out->sum >= run->wanted))
            break;
        out->v[out->n] = t->score(t, run->texts, run->set, run->ids[out->n]);
        out->sum += out->v[out->n];
        out->n_made++;
    }
    return true;
}

static bool toy_propose(void *ctx, const struct gepa_question *q, struct gepa_proposal *out,
                        struct err *err)
{
    struct toy *t = ctx;
    (void)err;
    str text = t->rewrite(t, q);
    t->n_rewrites++;
    *out = (struct gepa_proposal){
        .found = text.data != NULL, .text = text, .why = "nothing came", .n_requests = 1
    };
    return true;
}

static void toy_note(void *ctx, const struct gepa_iteration *it)
{
    static const char letters[] = {
        [GEPA_ACCEPTED] = 'A', [GEPA_REJECTED] = 'R', [GEPA_SKIPPED] = 'S'
    };
    struct toy *t = ctx;
    if (it->number < 0)
        return;
    assert_true(t->n_log < LOG_MAX - 1);
    char letter = letters[it->decision];
    t->log[t->n_log++] = it->n_parents == 2 ? ascii_lower(letter) : letter;
}

static size_t toy_weighted(void *ctx, const char *stream, const double *weights, size_t n)
{
    struct toy *t = ctx;
    if (strcmp(stream, "select") == 0 && t->next_parent < t->n_parents)
        return t->parents[t->next_parent++];
    return t->real.weighted(t->real.ctx, stream, weights, n);
}
static double toy_uniform(void *ctx, const char *stream)
{
    const struct toy *t = ctx;
    return t->real.uniform(t->real.ctx, stream);
}
static size_t toy_below(void *ctx, const char *stream, size_t n)
{
    const struct toy *t = ctx;
    return t->real.below(t->real.ctx, stream, n);
}
static void toy_shuffle(void *ctx, const char *stream, size_t *v, size_t n)
{
    const struct toy *t = ctx;
    t->real.shuffle(t->real.ctx, stream, v, n);
}

static const str names[] = { T("a"), T("b") };
static const str start[] = { T("0"), T("0") };

static void toy_new(struct toy *t, size_t n_components, uint64_t seed)
{
    memset(t, 0, sizeof *t);
    mt_seed(&t->g, seed);
    t->real = chance_new(seed, S("gepa"), &t->arena);
    t->chance = (struct chance){
        .ctx = t,
        .uniform = toy_uniform,
        .below = toy_below,
        .shuffle = toy_shuffle,
        .weighted = toy_weighted,
    };
    t->sys = (struct gepa_system){ .ctx = t,
                                   .n_components = n_components,
                                   .n_train = 30,
                                   .n_validation = 10,
                                   .names = names,
                                   .start = start,
                                   .run = toy_run,
                                   .propose = toy_propose,
                                   .note = toy_note };
    t->opts = (struct gepa_opts){ .minibatch = 3,
                                  .choosing = { .strategy = GEPA_PARETO },
                                  .padding = GEPA_PAD_REFERENCE,
                                  .acceptance = GEPA_ACCEPT_BETTER,
                                  .skip_perfect = true,
                                  .use_merge = true,
                                  .max_merge = 5,
                                  .budget = 100 };
    t->tools = (struct gepa_tools){ .chance = &t->chance, .arena = &t->arena };
}

static void search(struct toy *t)
{
    struct err err = { 0 };
    if (!gepa_search(&t->sys, &t->opts, &t->tools, &t->r, &err))
        fail_msg("%s", err.text);
}

// ---- scores and rewriters ----

static int64_t number(str text)
{
    int64_t n;
    return str_to_int(text, 0, 1 << 30, &n) ? n : 0;
}

static int64_t of_the_number(struct toy *t, const str *texts, enum gepa_set set, size_t id)
{
    (void)t, (void)set, (void)id;
    return number(texts[0]) * (GEPA_ONE / 1000); // a little better with each edit
}
static int64_t one_half(struct toy *t, const str *texts, enum gepa_set set, size_t id)
{
    (void)t, (void)texts, (void)set;
    return id % 2 ? GEPA_ONE : 0;
}
static int64_t all_right(struct toy *t, const str *texts, enum gepa_set set, size_t id)
{
    (void)t, (void)texts, (void)set, (void)id;
    return GEPA_ONE;
}
static int64_t nothing_right(struct toy *t, const str *texts, enum gepa_set set, size_t id)
{
    (void)t, (void)texts, (void)set, (void)id;
    return 0;
}
static int64_t at_random(struct toy *t, const str *texts, enum gepa_set set, size_t id)
{
    (void)texts, (void)set, (void)id;
    return mt_below(&t->g, 2) ? GEPA_ONE : 0;
}
static str next_number(struct toy *t, const struct gepa_question *q)
{
    return arena_printf(&t->arena, "%lld", (long long)number(q->texts[q->component]) + 1);
}
static str fresh_text(struct toy *t, const struct gepa_question *q)
{
    (void)q;
    return arena_printf(&t->arena, "%lld", (long long)t->n_rewrites + 1);
}
static str the_same(struct toy *t, const struct gepa_question *q)
{
    (void)t;
    return q->texts[q->component];
}
static str no_text(struct toy *t, const struct gepa_question *q)
{
    (void)t, (void)q;
    return (str){ 0 };
}

// ---- budgets and decisions ----

static void a_model_that_never_improves_leaves_the_start(void **s)
{
    (void)s;
    struct toy t;
    toy_new(&t, 1, 1);
    t.score = one_half;
    t.rewrite = fresh_text;
    search(&t);
    int64_t perfect = 0;
    for (size_t i = 0; i < t.n_log; i++)
        perfect += t.log[i] == 'S';
    assert_int_equal(t.r.metric_calls, 10 + 6 * t.r.n_iterations - 3 * perfect);
    assert_int_equal(t.r.pool.n, 1);
    assert_int_equal(t.r.best, 0);
    assert_int_equal(t.r.full_evals, 1);
    assert_int_equal(t.r.finish, GEPA_BUDGET);
    arena_free(&t.arena);
}

static void nine_improvements_fit_the_budget_of_343_positions(void **s)
{
    (void)s;
    struct toy t;
    toy_new(&t, 1, 1);
    t.sys.n_validation = 343;
    t.opts.budget = gepa_auto_budget(BUDGET_HEAVY, 343, 1);
    t.score = of_the_number;
    t.rewrite = next_number;
    search(&t);
    assert_int_equal(t.r.pool.n, 10);
    assert_int_equal(t.r.metric_calls, 343 + 9 * 349);
    assert_int_equal(t.r.best, 9);
    for (size_t i = 1; i < t.r.pool.n; i++)
        assert_int_equal(t.r.pool.v[i].discovered_at, 343 + (int64_t)(i - 1) * 349 + 6);
    assert_int_equal(t.r.pool.v[0].discovered_at, 0);
    arena_free(&t.arena);
}

static void a_perfect_parent_never_reflects(void **s)
{
    (void)s;
    struct toy t;
    toy_new(&t, 1, 1);
    t.score = all_right;
    t.rewrite = fresh_text;
    search(&t);
    assert_int_equal(t.n_rewrites, 0);
    assert_int_equal(t.r.n_iterations, 30);
    assert_int_equal(t.r.metric_calls, 10 + 3 * t.r.n_iterations);
    assert_int_equal(t.r.best, 0);
    arena_free(&t.arena);
}

static void equal_sums_are_rejected_unless_the_option_says_otherwise(void **s)
{
    (void)s;
    for (int equal = 0; equal <= 1; equal++) {
        struct toy t;
        toy_new(&t, 1, 1);
        t.score = nothing_right;
        t.rewrite = fresh_text;
        t.opts.acceptance = equal ? GEPA_ACCEPT_EQUAL : GEPA_ACCEPT_BETTER;
        search(&t);
        for (size_t i = 0; i < t.n_log; i++)
            assert_int_equal(t.log[i], equal ? 'A' : 'R');
        assert_int_equal(t.r.best, 0); // ties go to the lowest index
        arena_free(&t.arena);
    }
}

static void the_total_stays_within_the_bound_of_the_specification(void **s)
{
    (void)s;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct toy t;
        toy_new(&t, 1, seed);
        int64_t b = mt_range(&t.g, 1, 5), v = mt_range(&t.g, 1, 40);
        t.sys.n_validation = (size_t)v;
        t.sys.n_train = (size_t)mt_range(&t.g, 1, 20);
        t.opts.minibatch = (size_t)b;
        t.opts.budget = mt_range(&t.g, 1, 400);
        t.opts.hard_budget = seed % 2 == 1 && t.opts.budget >= v;
        t.opts.choosing.strategy = (enum gepa_selection)mt_range(&t.g, 1, GEPA_UNPRUNED_PARETO);
        t.opts.choosing.top_k = 3;
        t.opts.choosing.epsilon = 0.3;
        t.score = at_random;
        t.rewrite = fresh_text;
        search(&t);
        if (t.opts.hard_budget)
            assert_true(t.r.metric_calls <= t.opts.budget);
        else
            assert_in_range(t.r.metric_calls, t.opts.budget,
                            (t.opts.budget > v ? t.opts.budget : 1) + 2 * b + v - 1);
        assert_int_equal(t.r.pool.n, t.r.full_evals);
        for (size_t i = 0; i < t.r.pool.n; i++)
            assert_true(t.r.pool.v[i].sum <= t.r.pool.v[t.r.best].sum);
        assert_true(t.r.pool.v[t.r.best].sum >= t.r.pool.v[0].sum);
        arena_free(&t.arena);
    }
}

static void budgets_are_those_of_the_table(void **s)
{
    (void)s;
    static const int64_t rows[][4] = {
        { 100, 780, 1190, 1735 },   { 140, 940, 1390, 2015 },  { 200, 1180, 1690, 2435 },
        { 337, 1728, 2375, 3394 },  { 338, 1732, 2380, 3401 }, { 343, 1752, 2405, 3436 },
        { 364, 1836, 2510, 3583 },  { 500, 2380, 3190, 4535 }, { 559, 2616, 3485, 4948 },
        { 1101, 4784, 6195, 8742 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (int b = BUDGET_LIGHT; b <= BUDGET_HEAVY; b++)
            assert_int_equal(gepa_auto_budget((enum auto_budget)b, rows[i][0], 1), rows[i][b]);
    assert_int_equal(gepa_auto_budget(BUDGET_LIGHT, 343, 2), 2788);
    assert_int_equal(gepa_auto_budget(BUDGET_MEDIUM, 343, 2), 3441);
    assert_int_equal(gepa_auto_budget(BUDGET_HEAVY, 343, 2), 3989);
}

// ---- stops ----

static void expect_finish(struct toy *t, enum gepa_finish finish, int64_t n_iterations)
{
    search(t);
    assert_int_equal(t->r.finish, finish);
    assert_int_equal(t->r.n_iterations, n_iterations);
    arena_free(&t->arena);
}

static void every_limit_stops_the_search_under_its_name(void **s)
{
    (void)s;
    struct toy t;
    toy_new(&t, 1, 1);
    t.opts.budget = 100000;
    t.score = nothing_right;
    t.rewrite = no_text;
    t.opts.max_stalled = 20;
    expect_finish(&t, GEPA_STALLED, 20);

    toy_new(&t, 1, 1);
    t.opts.budget = 100000;
    t.score = all_right; // nothing is ever asked
    t.rewrite = no_text;
    t.opts.max_stalled = 7;
    expect_finish(&t, GEPA_STALLED, 7);

    toy_new(&t, 1, 1);
    t.opts.budget = 100000;
    t.score = nothing_right;
    t.rewrite = fresh_text;
    t.opts.max_stalled = 20;
    t.opts.max_idle = 33;
    expect_finish(&t, GEPA_IDLE, 33);

    toy_new(&t, 1, 1);
    t.opts.budget = 100000;
    t.score = of_the_number;
    t.rewrite = next_number;
    t.opts.max_idle = 3;
    t.opts.max_pool = 6;
    expect_finish(&t, GEPA_POOL_FULL, 5);

    toy_new(&t, 1, 1);
    t.opts.budget = 100000;
    t.score = of_the_number;
    t.rewrite = next_number;
    t.opts.stop_score = 0.0125;
    expect_finish(&t, GEPA_TARGET, 13);

    toy_new(&t, 1, 1);
    t.opts.budget = 100000;
    t.score = of_the_number;
    t.rewrite = next_number;
    t.opts.max_iterations = 4;
    expect_finish(&t, GEPA_ITERATIONS, 4);

    toy_new(&t, 1, 1);
    t.score = all_right;
    t.opts.stop_score = 1;
    expect_finish(&t, GEPA_PERFECT_START, 0);
}

static void a_hard_budget_that_pays_for_no_proposal_makes_none(void **s)
{
    (void)s;
    struct toy t;
    toy_new(&t, 1, 1);
    t.sys.n_validation = 6;
    t.opts.budget = 8;
    t.opts.hard_budget = true;
    t.score = nothing_right;
    t.rewrite = fresh_text;
    search(&t);
    assert_int_equal(t.r.metric_calls, 6);
    assert_int_equal(t.r.n_iterations, 0);
    assert_int_equal(t.r.n_proposals, 0);
    assert_string_equal(gepa_finish_name(t.r.finish), "budget");
    arena_free(&t.arena);
}

// ---- known texts, early ends ----

static void a_known_text_is_not_run_again_where_that_is_wanted(void **s)
{
    (void)s;
    for (int skip = 0; skip <= 1; skip++) {
        struct toy t;
        toy_new(&t, 1, 1);
        t.score = nothing_right;
        t.rewrite = the_same;
        t.opts.skip_known = skip == 1;
        search(&t);
        for (size_t i = 0; i < t.n_log; i++)
            assert_int_equal(t.log[i], skip ? 'S' : 'R');
        assert_int_equal(t.r.metric_calls, 10 + (skip ? 3 : 6) * t.r.n_iterations);
        assert_int_equal(t.r.n_proposals, skip ? 0 : t.r.n_iterations);
        arena_free(&t.arena);
    }
}

// A pure function of candidate and example, so that both searches see the same.
static int64_t by_hash(struct toy *t, const str *texts, enum gepa_set set, size_t id)
{
    char text[64];
    (void)t;
    snprintf(text, sizeof text, "%.*s/%d/%zu", STR(texts[0]), (int)set, id);
    return hash64(str_from(text)) % 100 < 45 ? GEPA_ONE : 0;
}

static void early_ends_change_no_decision_and_save_calls(void **s)
{
    (void)s;
    int64_t saved = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct toy all, early;
        toy_new(&all, 1, seed);
        toy_new(&early, 1, seed);
        all.score = early.score = by_hash;
        all.rewrite = early.rewrite = fresh_text;
        all.sys.n_validation = early.sys.n_validation = 20;
        all.opts.budget = early.opts.budget = 300;
        early.opts.early_stop = true;
        search(&all);
        search(&early);
        assert_int_equal(all.n_log, early.n_log);
        // The last validation may end as hopeless; all else is the same.
        assert_memory_equal(all.log, early.log, all.n_log - 1);
        assert_int_equal(all.r.best, early.r.best);
        assert_int_equal(all.r.metric_calls, early.r.metric_calls);
        assert_int_equal(all.r.n_made, all.r.metric_calls);
        assert_true(early.r.n_made <= all.r.n_made);
        saved += all.r.n_made - early.r.n_made;
        arena_free(&all.arena);
        arena_free(&early.arena);
    }
    assert_true(saved > 60);
}

// ---- several components ----

// Validation examples 0..4 ask of component a at least their number + 1, the others of b; training
// examples both.
static int64_t by_level(struct toy *t, const str *texts, enum gepa_set set, size_t id)
{
    (void)t;
    int64_t a = number(texts[0]), b = number(texts[1]);
    if (set == GEPA_TRAIN)
        return (a + b) * (GEPA_ONE / 100);
    return (id < 5 ? a > (int64_t)id : b > (int64_t)id - 5) ? GEPA_ONE : 0;
}

// Worthless together.
static int64_t by_level_alone(struct toy *t, const str *texts, enum gepa_set set, size_t id)
{
    if (set == GEPA_VALIDATION && number(texts[0]) > 0 && number(texts[1]) > 0)
        return 0;
    return by_level(t, texts, set, id);
}

static void draw_parents(struct toy *t, const char *digits)
{
    for (; *digits; digits++)
        t->parents[t->n_parents++] = (size_t)(*digits - '0');
}

static void components_are_edited_in_turn(void **s)
{
    (void)s;
    struct toy t;
    toy_new(&t, 2, 1);
    t.opts.use_merge = false;
    t.opts.max_iterations = 3;
    t.opts.budget = 1000;
    t.score = by_level;
    t.rewrite = next_number;
    draw_parents(&t, "012");
    search(&t);
    assert_int_equal(t.r.pool.n, 4);
    assert_str(t.r.pool.v[1].texts[0], S("1"));
    assert_str(t.r.pool.v[1].texts[1], S("0"));
    assert_str(t.r.pool.v[2].texts[1], S("1"));
    assert_str(t.r.pool.v[3].texts[0], S("2"));
    arena_free(&t.arena);

    toy_new(&t, 2, 1);
    t.opts.use_merge = false;
    t.opts.all_components = true;
    t.opts.max_iterations = 1;
    t.score = by_level;
    t.rewrite = next_number;
    search(&t);
    assert_str(t.r.pool.v[1].texts[0], S("1"));
    assert_str(t.r.pool.v[1].texts[1], S("1"));
    assert_int_equal(t.r.n_requests, 2);
    arena_free(&t.arena);
}

// Where the third iteration can merge what the first two edited.
static void merging_toy(struct toy *t)
{
    toy_new(t, 2, 1);
    t->opts.budget = 10000;
    t->score = by_level;
    t->rewrite = next_number;
    draw_parents(t, "00");
}

static void an_accepted_mutation_makes_the_next_iteration_merge(void **s)
{
    (void)s;
    struct toy t;
    merging_toy(&t);
    t.opts.max_iterations = 3;
    search(&t);
    // Nothing to merge in the second: it mutates all the same.
    assert_string_equal(t.log, "AAa");
    assert_int_equal(t.r.n_merges, 1);
    assert_int_equal(t.r.pool.v[3].n_parents, 2);
    assert_str(t.r.pool.v[3].texts[0], S("1"));
    assert_str(t.r.pool.v[3].texts[1], S("1"));
    // Start 10; two mutations of 6 + 10; a merge on 5, then all 10.
    assert_int_equal(t.r.metric_calls, 10 + 2 * 16 + 15);
    arena_free(&t.arena);
}

static void a_rejected_merge_ends_the_iteration(void **s)
{
    (void)s;
    struct toy t;
    merging_toy(&t);
    t.score = by_level_alone;
    t.opts.max_iterations = 4;
    draw_parents(&t, "1");
    search(&t);
    assert_int_equal(t.n_log, 4);
    assert_memory_equal(t.log, "AAr", 3);
    assert_true(t.log[3] == 'A' || t.log[3] == 'R'); // and no merge twice in a row
    assert_int_equal(t.r.n_merges, 0);
    arena_free(&t.arena);
}

// Two mutations are accepted before each merge. From the first merge on no more becomes due, but
// one of the two is left.
static void after_the_limit_no_further_merge_becomes_due(void **s)
{
    (void)s;
    static const int64_t limits[] = { 1, 5 }, merges[] = { 2, 3 };
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct toy t;
        merging_toy(&t);
        t.opts.max_merge = limits[i];
        t.opts.max_iterations = 9;
        draw_parents(&t, "33667");
        search(&t);
        assert_int_equal(t.r.n_merges, merges[i]);
        assert_memory_equal(t.log, "AAaAAaAA", 8);
        arena_free(&t.arena);
    }
}

static void without_use_merge_nothing_is_merged(void **s)
{
    (void)s;
    struct toy t;
    merging_toy(&t);
    t.opts.use_merge = false;
    t.opts.max_iterations = 8;
    search(&t);
    assert_int_equal(t.r.n_merges, 0);
    arena_free(&t.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_that_never_improves_leaves_the_start),
        cmocka_unit_test(nine_improvements_fit_the_budget_of_343_positions),
        cmocka_unit_test(a_perfect_parent_never_reflects),
        cmocka_unit_test(equal_sums_are_rejected_unless_the_option_says_otherwise),
        cmocka_unit_test(the_total_stays_within_the_bound_of_the_specification),
        cmocka_unit_test(budgets_are_those_of_the_table),
        cmocka_unit_test(every_limit_stops_the_search_under_its_name),
        cmocka_unit_test(a_hard_budget_that_pays_for_no_proposal_makes_none),
        cmocka_unit_test(a_known_text_is_not_run_again_where_that_is_wanted),
        cmocka_unit_test(early_ends_change_no_decision_and_save_calls),
        cmocka_unit_test(components_are_edited_in_turn),
        cmocka_unit_test(an_accepted_mutation_makes_the_next_iteration_merge),
        cmocka_unit_test(a_rejected_merge_ends_the_iteration),
        cmocka_unit_test(after_the_limit_no_further_merge_becomes_due),
        cmocka_unit_test(without_use_merge_nothing_is_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

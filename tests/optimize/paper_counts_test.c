// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of calls of each optimizer at the paper's sizes (few-shot specification, appendix B;
// GEPA and SIMBA specification, 2.12 and 6): a made-up file of 559 puzzles and 1,439 positions,
// whose lengths are dealt so that the seeds 42, 43 and 44 split it as they split the paper's file.
#include "test.h"

#include "optimize/optimize.h"
#include "sim/sim.h"

enum { PUZZLES = 559, VALIDATION = 140, POSITIONS = 1439, N_SEEDS = 3, RIGHT_PERCENT = 40 };
static const int64_t seeds[N_SEEDS] = { 42, 43, 44 };
static const int64_t n_train[N_SEEDS] = { 1101, 1075, 1102 };

struct world {
    struct arena arena;
    struct puzzles file;
    struct puzzle_positions train, validation;
    struct model model, meta;
};

// ---- the file ----

static void fill_file(struct world *w)
{
    static const int n_of_length[] = { 0, 159, 160, 80, 80, 80 };
    const char *turns[] = { "h8g6", "h1g3", "g6h8", "g3h1" };
    w->file.v = NEW_ARRAY(&w->arena, struct puzzle, PUZZLES);
    for (int length = 1; length <= 5; length++)
        for (int i = 0; i < n_of_length[length]; i++) {
            struct puzzle *p = &w->file.v[w->file.n];
            struct err err = { 0 };
            *p = (struct puzzle){ .row = w->file.n, .n_moves = 2 * (size_t)length };
            p->id = arena_printf(&w->arena, "p%zu", w->file.n);
            p->fen = arena_printf(&w->arena, "4k2n/8/8/8/8/8/8/4K2N b - - 0 %zu", 1 + w->file.n++);
            assert_true(position_parse(p->fen, &p->start, &err) == 0);
            struct position at = p->start;
            move *moves = NEW_ARRAY(&w->arena, move, p->n_moves);
            for (size_t k = 0; k < p->n_moves; k++) {
                assert_true(uci_parse(&at, str_from(turns[k % 4]), &moves[k]));
                at = position_after(&at, moves[k]);
            }
            p->moves = moves;
        }
    assert_int_equal(w->file.n, PUZZLES);
}

// Exchanges the lengths of two rows; the rest of a row follows its length.
static void exchange(struct puzzles *file, size_t a, size_t b)
{
    struct puzzle x = file->v[a];
    file->v[a].n_moves = file->v[b].n_moves;
    file->v[a].moves = file->v[b].moves;
    file->v[b].n_moves = x.n_moves;
    file->v[b].moves = x.moves;
}

// How far the three splits are from the paper's.
static int64_t distance(const struct puzzles *file, bool in_train[N_SEEDS][PUZZLES])
{
    int64_t off = 0;
    for (int s = 0; s < N_SEEDS; s++) {
        int64_t n = 0;
        for (size_t i = 0; i < PUZZLES; i++)
            n += in_train[s][i] ? (int64_t)file->v[i].n_moves / 2 : 0;
        off += llabs(n - n_train[s]);
    }
    return off;
}

static void split(struct world *w, int64_t seed, struct puzzle_split *out)
{
    struct puzzle_split_opts opts = { .seed = (uint64_t)seed, .validation_size = VALIDATION };
    struct err err = { 0 };
    assert_true(puzzles_split(&w->file, &opts, &w->arena, out, &err));
}

static void deal_lengths(struct world *w)
{
    static bool in_train[N_SEEDS][PUZZLES];
    memset(in_train, 0, sizeof in_train);
    for (int s = 0; s < N_SEEDS; s++) {
        struct puzzle_split parts;
        split(w, seeds[s], &parts);
        for (size_t i = 0; i < parts.train.n; i++)
            in_train[s][parts.train.v[i].row] = true;
    }
    struct rng g;
    rng_seed(&g, 1, S("lengths"));
    int64_t off = distance(&w->file, in_train);
    for (int tries = 0; off > 0 && tries < 100000; tries++) {
        size_t a = (size_t)rng_below(&g, PUZZLES), b = (size_t)rng_below(&g, PUZZLES);
        exchange(&w->file, a, b);
        int64_t now = distance(&w->file, in_train);
        if (now > off)
            exchange(&w->file, a, b);
        else
            off = now;
    }
    assert_int_equal(off, 0);
}

// ---- the models ----

// Right as a hash of the whole question has it.
static bool answer(const struct model *m, const struct model_request *q, struct arena *a,
                   struct reply *out, struct err *err)
{
    (void)m;
    (void)err;
    uint64_t h = (uint64_t)q->sample * 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < q->messages.n; i++)
        for (size_t k = 0; k < q->messages.v[i].text.len; k++)
            h = (h ^ (uint8_t)q->messages.v[i].text.data[k]) * 0x100000001b3u;
    str text = q->messages.v[q->messages.n - 1].text;
    str legal = str_sub(text, (size_t)str_find(text, S("[[ ## legal_moves_uci ## ]]")), text.len);
    bool right = (h >> 20) % 100 < RIGHT_PERCENT;
    // The knight that plays stands in the corner or on g6 or g3; the king's move is never right.
    static const char *const knights[] = { "h8g6", "g6h8", "h1g3", "g3h1" };
    const char *move_text = "e1e2";
    for (size_t i = 0; right && i < ARRAY_LEN(knights); i++)
        if (str_find(legal, str_from(knights[i])) >= 0)
            move_text = knights[i];
    out->class = REPLY_OK;
    out->text = arena_printf(a, "{\"move\":\"%s\"}", move_text);
    return true;
}

static const char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}

static struct world *world_new(void)
{
    static const struct provider *const providers[] = { &provider_sim, NULL };
    static const struct model_source source = { providers, no_environment };
    static const struct provider scripted = { .answer = answer };
    struct model_opts opts = { .from = &source, .has_temperature = true, .temperature = 1 };
    struct world *w = calloc(1, sizeof *w);
    struct err err = { 0 };
    fill_file(w);
    deal_lengths(w);
    w->model =
        (struct model){ .name = S("toy/task"), .provider = &scripted, .has_temperature = true };
    assert_true(model_open(S("sim/meta"), &opts, &w->arena, &w->meta, &err));
    return w;
}

static void world_free(struct world *w)
{
    arena_free(&w->arena);
    free(w);
}

struct counted {
    struct opt_result result;
    struct opt_plan plan;
    int64_t n_task, n_prompt, n_train, n_validation;
};

static struct counted count(struct world *w, const char *method, int64_t seed)
{
    struct counted c = { 0 };
    struct store *db = NULL;
    struct err err = { 0 };
    struct store_run run = { .key = S("k"), .command = S("test"), .config = S("{}") };
    assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &db, &err));
    assert_true(store_run_begin(db, &(struct store_begin){ 0 }, &w->arena, &run, &err));
    struct lab lab = { .arena = &w->arena,
                       .pump = pump_new(&(struct pump_opts){ .run = run.id }, db, &err) };
    struct puzzle_split parts;
    split(w, seed, &parts);
    w->train = w->validation = (struct puzzle_positions){ 0 };
    puzzles_expand(&parts.train, &w->arena, &w->train);
    puzzles_expand(&parts.validation, &w->arena, &w->validation);
    enum method which;
    struct optimizer_config config = { 0 };
    assert_true(method_parse(str_from(method), &which));
    optimizer_defaults(&config, which, S("paper"));
    struct opt_task task = {
        .lab = &lab,
        .seed = program_new(&w->arena, &signature_choose_move, instruction_base),
        .train = &w->train,
        .validation = &w->validation,
        .model = &w->model,
        .prompt_model = &w->meta,
        .run_seed = (uint64_t)seed,
        .config = &config,
    };
    const struct optimizer *o = optimizer_find(str_from(method));
    if (!o->run(&task, &c.result, &err))
        fail_msg("%s: %s", method, err.text);
    if (o->plan) {
        assert_true(o->plan(&task, &c.plan, &err));
        assert_in_range(lab.used.n_calls, c.plan.least_task, c.plan.most_task);
        assert_in_range(lab.used_prompt.n_calls, c.plan.least_prompt, c.plan.most_prompt);
    }
    c.n_task = lab.used.n_calls;
    c.n_prompt = lab.used_prompt.n_calls;
    c.n_train = (int64_t)w->train.n;
    c.n_validation = (int64_t)w->validation.n;
    pump_free(lab.pump);
    store_close(db);
    return c;
}

// ---- the counts ----

static void the_file_splits_as_the_papers(void **state)
{
    (void)state;
    struct world *w = world_new();
    for (int s = 0; s < N_SEEDS; s++) {
        struct puzzle_split parts;
        struct puzzle_positions train = { 0 }, validation = { 0 };
        split(w, seeds[s], &parts);
        puzzles_expand(&parts.train, &w->arena, &train);
        puzzles_expand(&parts.validation, &w->arena, &validation);
        assert_int_equal(parts.validation.n, VALIDATION);
        assert_int_equal(train.n, n_train[s]);
        assert_int_equal(train.n + validation.n, POSITIONS);
    }
    world_free(w);
}

static void bfs_asks_only_while_it_bootstraps(void **state)
{
    (void)state;
    struct world *w = world_new();
    for (int s = 0; s < N_SEEDS; s++) {
        struct counted c = count(w, "bootstrap_few_shot", seeds[s]);
        assert_int_equal(c.n_task, c.result.n_attempts);
        assert_in_range(c.n_task, c.result.n_bootstrapped, c.n_train);
        assert_int_equal(c.n_prompt, 0);
    }
    world_free(w);
}

static void brs_validates_nineteen_programs(void **state)
{
    (void)state;
    struct world *w = world_new();
    static const int64_t validations[N_SEEDS] = { 6422, 6916, 6403 };
    for (int s = 0; s < N_SEEDS; s++) {
        struct counted c = count(w, "bootstrap_random_search", seeds[s]);
        assert_int_equal(19 * c.n_validation, validations[s]);
        assert_int_equal(c.n_task, validations[s] + c.result.n_attempts);
        assert_int_equal(c.n_prompt, 0);
    }
    world_free(w);
}

static void copro_scores_four_instructions(void **state)
{
    (void)state;
    struct world *w = world_new();
    static const int64_t calls[N_SEEDS] = { 4404, 4300, 4408 };
    for (int s = 0; s < N_SEEDS; s++) {
        struct counted c = count(w, "copro", seeds[s]);
        assert_int_equal(c.n_task, calls[s]);
        assert_int_equal(c.n_prompt, 3);
    }
    world_free(w);
}

static void mipro_v2_makes_the_recorded_evaluations(void **state)
{
    (void)state;
    struct world *w = world_new();
    static const int64_t evaluations[N_SEEDS] = { 3311, 3493, 3304 };
    for (int s = 0; s < N_SEEDS; s++) {
        struct counted c = count(w, "mipro_v2", seeds[s]);
        assert_int_equal(c.n_task, evaluations[s] + c.result.n_attempts);
        assert_int_equal(c.n_prompt, 38);
    }
    world_free(w);
}

static void gepa_stays_within_its_soft_budget(void **state)
{
    (void)state;
    struct world *w = world_new();
    static const int64_t budget[N_SEEDS] = { 3401, 3583, 3394 },
                         most[N_SEEDS] = { 3744, 3952, 3736 };
    for (int s = 0; s < N_SEEDS; s++) {
        struct counted c = count(w, "gepa", seeds[s]);
        assert_in_range(c.n_task, budget[s], most[s]);
        assert_true(c.n_prompt > 0);
    }
    world_free(w);
}

static void simba_counts_its_trajectories_too(void **state)
{
    (void)state;
    struct world *w = world_new();
    static const int64_t most[N_SEEDS] = { 11035, 10853, 11042 };
    for (int s = 0; s < N_SEEDS; s++) {
        struct counted c = count(w, "simba", seeds[s]);
        assert_int_equal(c.n_task, most[s]); // each step found all its candidates
        assert_in_range(c.n_prompt, 1, 56);
    }
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_splits_as_the_papers),
        cmocka_unit_test(bfs_asks_only_while_it_bootstraps),
        cmocka_unit_test(brs_validates_nineteen_programs),
        cmocka_unit_test(copro_scores_four_instructions),
        cmocka_unit_test(mipro_v2_makes_the_recorded_evaluations),
        cmocka_unit_test(gepa_stays_within_its_soft_budget),
        cmocka_unit_test(simba_counts_its_trajectories_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

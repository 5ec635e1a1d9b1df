// SPDX-License-Identifier: GPL-3.0-or-later
// optimizers.c - do the optimizers find what is there to be found? One line of JSON for each seed:
// an optimizer on a simulated model whose best prompt is known, and random search over the same
// sentences with as many calls. Run by tools/bench_optimizers.py.
//
// usage: bench_optimizers PERSONA METHOD FIRST_SEED N_SEEDS [paper|generous|small [saving|racing]]
// The sizes: the recorded runs' settings; about as many calls as COPRO makes with them; the least
// that still searches, for the many replicates that count false gains.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "optimize/optimize.h"
#include "sim/sim.h"
#include "stats/stats.h"

enum { VALIDATION_PUZZLES = 140, RANDOM_SENTENCES_MAX = 8 };
enum { SMALL_TRAIN = 24, SMALL_VALIDATION = 20 };
enum { GENEROUS_METRIC_CALLS = 12000, GENEROUS_CANDIDATES = 12, GENEROUS_TRIALS = 40 };

static const double RACING_DELTA = 0.01;

enum size { PAPER, GENEROUS, SMALL };

struct bench {
    struct arena arena;
    struct lab lab;
    struct store *store;
    struct model model, prompt_model;
    struct puzzle_positions train, validation, test;
    const struct persona *persona;
    enum method method;
    uint64_t seed;
    enum size size;
    bool saving, racing; // calls, at the same outcome; by bets, at nearly the same
};

static void die(const struct err *err)
{
    fprintf(stderr, "bench_optimizers: %s\n", err->text);
    exit(1);
}

static const char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}

static void open_model(struct bench *b, const char *name, double temperature, struct model *out)
{
    static const struct provider *const providers[] = { &provider_sim, NULL };
    static const struct model_source source = { providers, no_environment };
    struct model_opts opts = {
        .from = &source, .has_temperature = true, .temperature = temperature, .max_tokens = 1024
    };
    struct err err = { 0 };
    if (!model_open(arena_printf(&b->arena, "sim/%s", name), &opts, &b->arena, out, &err))
        die(&err);
}

static void load_data(struct bench *b)
{
    struct puzzles train = { 0 }, test = { 0 };
    struct puzzle_split parts = { 0 };
    struct puzzle_load_opts how = { .strict = true };
    struct puzzle_split_opts split = {
        .seed = b->seed,
        .validation_size = b->size == SMALL ? SMALL_VALIDATION : VALIDATION_PUZZLES,
        .train_limit = b->size == SMALL ? SMALL_TRAIN : 0,
    };
    struct err err = { 0 };
    if (!puzzles_load(S("builtin:train"), &how, &b->arena, &train, &err) ||
        !puzzles_load(S("builtin:test"), &how, &b->arena, &test, &err) ||
        !puzzles_split(&train, &split, &b->arena, &parts, &err))
        die(&err);
    puzzles_expand(&parts.train, &b->arena, &b->train);
    puzzles_expand(&parts.validation, &b->arena, &b->validation);
    puzzles_expand(&test, &b->arena, &b->test);
}

static void open_lab(struct bench *b)
{
    struct err err = { 0 };
    struct store_run run = { .key = S("bench"), .command = S("bench"), .config = S("{}") };
    if (!store_open(S(":memory:"), &(struct store_opts){ 0 }, &b->store, &err) ||
        !store_run_begin(b->store, &(struct store_begin){ 0 }, &b->arena, &run, &err))
        die(&err);
    b->lab = (struct lab){ .arena = &b->arena,
                           .pump = pump_new(&(struct pump_opts){ .run = run.id }, b->store, &err) };
}

// The outcomes of a program on positions.
static const struct outcome *outcomes_of(struct bench *b, const struct program *p,
                                         const struct puzzle_positions *on)
{
    struct lab_task task = { .v = on->v, .n = on->n, .model = &b->model, .samples = 1 };
    const struct outcome *out;
    struct err err = { 0 };
    if (!lab_evaluate_positions(&b->lab, p, &task, &out, &err))
        die(&err);
    return out;
}

// Positions answered right.
static size_t right_of(struct bench *b, const struct program *p, const struct puzzle_positions *on)
{
    const struct outcome *out = outcomes_of(b, p, on);
    size_t right = 0;
    for (size_t i = 0; i < on->n; i++)
        right += out[i].score > 0;
    return right;
}

// ---- the two ways ----

static void set_options(const struct bench *b, struct optimizer_config *c)
{
    optimizer_defaults(c, b->method, S("paper"));
    c->copro_proposals = COPRO_FULL; // what the method is, not what the recorded runs had
    c->save_calls = c->gepa_save_calls = c->mipro_save_calls = c->copro_reuse_duplicates =
        b->saving;
    c->racing = b->racing ? RACING_DELTA : 0;
    bool has_auto = b->method == METHOD_GEPA || b->method == METHOD_MIPRO_V2;
    if (b->size == GENEROUS && has_auto) {
        c->budget = BUDGET_NONE;
        c->num_candidates = GENEROUS_CANDIDATES;
        c->num_trials = GENEROUS_TRIALS;
    }
    if (b->size == SMALL) {
        c->budget = has_auto ? BUDGET_LIGHT : c->budget;
        c->bsize = 16;
        c->max_steps = 2;
        c->breadth = 4;
        c->depth = 2;
        c->num_candidate_programs = 4;
    }
}

static const struct program *by_optimizer(struct bench *b, struct opt_result *out)
{
    struct optimizer_config config = { 0 };
    set_options(b, &config);
    struct opt_task task = {
        .lab = &b->lab,
        .seed = program_new(&b->arena, &signature_choose_move, instruction_base),
        .train = &b->train,
        .validation = &b->validation,
        .model = &b->model,
        .prompt_model = &b->prompt_model,
        .run_seed = b->seed,
        .max_metric_calls = GENEROUS_METRIC_CALLS, // read with `auto: null` only
        .config = &config,
    };
    struct err err = { 0 };
    if (!optimizer_find(method_name(b->method))->run(&task, out, &err))
        die(&err);
    return out->program;
}

// One to eight sentences of the bank behind the base instruction; the best on validation.
static const struct program *by_random_search(struct bench *b, int64_t n_calls)
{
    struct rng g;
    rng_seed(&g, b->seed, S("random search"));
    const struct program *best = program_new(&b->arena, &signature_choose_move, instruction_base);
    size_t most = right_of(b, best, &b->validation);
    size_t n_advice = sim_advice_count(b->persona);
    for (int64_t spent = 2 * (int64_t)b->validation.n; spent <= n_calls;
         spent += (int64_t)b->validation.n) {
        struct buf text = { .arena = &b->arena };
        size_t n = 1 + (size_t)rng_below(&g, RANDOM_SENTENCES_MAX);
        buf_add(&text, instruction_base);
        for (size_t i = 0; i < n; i++)
            buf_addf(&text, " %.*s", STR(sim_advice(b->persona, (size_t)rng_below(&g, n_advice))));
        const struct program *p = program_with_instruction(&b->arena, best, buf_str(&text));
        size_t right = right_of(b, p, &b->validation);
        if (right > most) {
            most = right;
            best = p;
        }
    }
    return best;
}

// ---- one seed ----

// Held-out positions gained over the base prompt, and the exact McNemar p of the two.
static void put_gain(struct bench *b, const struct program *base, const struct program *found,
                     struct json_out *o)
{
    const struct outcome *x = outcomes_of(b, base, &b->test), *y = outcomes_of(b, found, &b->test);
    int64_t lost = 0, won = 0;
    for (size_t i = 0; i < b->test.n; i++) {
        lost += x[i].score > y[i].score;
        won += y[i].score > x[i].score;
    }
    json_key_int(o, S("gained"), won - lost);
    json_key_double(o, S("mcnemar_p"), stats_mcnemar_exact(lost, won));
}

static void run_seed(struct bench *b)
{
    struct opt_result result = { 0 };
    load_data(b);
    open_lab(b);
    const struct program *base = program_new(&b->arena, &signature_choose_move, instruction_base);
    const struct program *found = by_optimizer(b, &result);
    int64_t calls = b->lab.used.n_calls, prompt_calls = b->lab.used_prompt.n_calls;
    const struct program *random = by_random_search(b, calls);
    struct buf out = { .arena = &b->arena };
    struct json_out o = { .b = &out };
    json_open(&o, '{');
    json_key_str(&o, S("persona"), sim_persona_name(b->persona));
    json_key_str(&o, S("method"), method_name(b->method));
    json_key_int(&o, S("seed"), (int64_t)b->seed);
    json_key_int(&o, S("n"), (int64_t)b->test.n);
    json_key_int(&o, S("base"), (int64_t)right_of(b, base, &b->test));
    json_key_int(&o, S("found"), (int64_t)right_of(b, found, &b->test));
    json_key_int(&o, S("random"), (int64_t)right_of(b, random, &b->test));
    json_key_int(&o, S("best_known"),
                 (int64_t)right_of(b, sim_best_program(b->persona, &b->arena), &b->test));
    put_gain(b, base, found, &o);
    json_key_int(&o, S("calls"), calls);
    json_key_int(&o, S("prompt_calls"), prompt_calls);
    json_key_int(&o, S("saved"), result.n_saved);
    json_key_str(&o, S("program"), program_hash(found, &b->arena));
    json_key_bool(&o, S("changed"),
                  !str_eq(program_hash(found, &b->arena), program_hash(base, &b->arena)));
    json_close(&o, '}');
    printf("%.*s\n", STR(buf_str(&out)));
    fflush(stdout);
    pump_free(b->lab.pump);
    store_close(b->store);
}

static bool size_parse(const char *name, enum size *out)
{
    static const char *const names[] = { "paper", "generous", "small" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        *out = (enum size)i;
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    int64_t first, n;
    enum method method;
    enum size size = PAPER;
    if (argc < 5 || !method_parse(str_from(argv[2]), &method) ||
        !str_to_int(str_from(argv[3]), 0, 1000000, &first) ||
        !str_to_int(str_from(argv[4]), 1, 100000, &n) ||
        (argc > 5 && !size_parse(argv[5], &size))) {
        fprintf(stderr, "usage: bench_optimizers PERSONA METHOD FIRST_SEED N_SEEDS "
                        "[paper|generous|small [saving|racing]]\n");
        return 2;
    }
    for (int64_t i = 0; i < n; i++) {
        struct bench *b = calloc(1, sizeof *b);
        b->method = method;
        b->seed = (uint64_t)(first + i);
        b->size = size;
        b->saving = argc > 6 && strcmp(argv[6], "saving") == 0;
        b->racing = argc > 6 && strcmp(argv[6], "racing") == 0;
        b->persona = sim_persona(sim_data_builtin(&b->arena), str_from(argv[1]));
        if (!b->persona) {
            fprintf(stderr, "bench_optimizers: no persona %s\n", argv[1]);
            return 2;
        }
        open_model(b, argv[1], 0, &b->model);
        open_model(b, "meta", 1, &b->prompt_model);
        run_seed(b);
        arena_free(&b->arena);
        free(b);
    }
    return 0;
}

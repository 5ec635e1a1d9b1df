// SPDX-License-Identifier: GPL-3.0-or-later
// The optimizers against recorded traces of the reference software, call by call: same requests
// (hashes), order, replies, accepted attempts and final programs. The scripted task model is that
// of the traces' documentation.
#include "test.h"

#include "optimize/optimize.h"

struct trace { // one trace file and where its playing stands
    struct arena *arena;
    const json_t **records;
    size_t n, next;
    struct map by_fen; // FEN to training position
    struct puzzle_positions train;
    str instruction;
    bool demo_moves;
    int64_t noise_modulus;
    int n_calls;
};

static str hex_sha(str text, struct arena *a)
{
    return sha256_of(text, a);
}

static uint32_t sha8(str text, struct arena *a)
{
    char digits[9] = { 0 };
    memcpy(digits, hex_sha(text, a).data, 8);
    return (uint32_t)strtoul(digits, NULL, 16);
}

static const json_t *next_of(struct trace *t, const char *type)
{
    for (; t->next < t->n; t->next++)
        if (str_eq(json_get_str(t->records[t->next], "type"), str_from(type)))
            return t->records[t->next++];
    return NULL;
}

// ---- the scripted task model ----

static const struct puzzle_position *position_asked(const struct trace *t, str text)
{
    str_cut(&text, '\n');
    const struct map_entry *e = map_get(&t->by_fen, str_cut(&text, '\n'));
    assert_non_null(e);
    return &t->train.v[e->number];
}

// The term `demos` of the key: how many, or with demo_moves which moves.
static str demos_term(const struct trace *t, const struct messages *m)
{
    size_t n = (m->n - 2) / 2;
    if (!t->demo_moves)
        return arena_printf(t->arena, "%zu", n);
    struct buf b = { .arena = t->arena };
    buf_addf(&b, "%zu:", n);
    for (size_t i = 0; i < n; i++) {
        str demo_move;
        assert_int_equal(
            answer_read(&signature_choose_move, m->v[2 + 2 * i].text, t->arena, &demo_move),
            READ_OK);
        buf_addf(&b, "%s%.*s", i ? "," : "", STR(demo_move));
    }
    return buf_str(&b);
}

static str other_move(const struct puzzle_position *p, size_t skip)
{
    str list = p->inputs[2];
    while (list.len > 0) {
        str m = str_trim(str_cut(&list, ','));
        if (!str_eq(m, p->reference) && skip-- == 0)
            return m;
    }
    return p->reference;
}

static str noisy_reply(const struct trace *t, const struct puzzle_position *p, str m, uint32_t k)
{
    str list = p->inputs[2];
    str a = str_trim(str_cut(&list, ','));
    str b = str_trim(str_cut(&list, ','));
    switch (k) {
    case 0: return arena_printf(t->arena, "The move is %.*s.", STR(m));
    case 1: return arena_printf(t->arena, "{\"answer\": \"%.*s\"}", STR(m));
    case 3:
        if (b.len > 0)
            return arena_printf(t->arena, "{\"move\": \"%.*s or %.*s\"}", STR(a), STR(b));
        return S("{\"move\": \"a1a1\"}");
    case 4: return S("{\"move\": \"\"}");
    case 5: return arena_printf(t->arena, "{\"move\": \"Final move: %.*s\"}", STR(m));
    default: return S("{\"move\": \"a1a1\"}");
    }
}

static str scripted_reply(const struct trace *t, const struct model_request *q, int attempt)
{
    const struct puzzle_position *p = position_asked(t, q->messages.v[q->messages.n - 1].text);
    str demos = demos_term(t, &q->messages);
    str key = arena_printf(t->arena, "%.*s\n%.*s\n%.*s\n%.2f\n%lld", STR(t->instruction),
                           STR(demos), STR(p->inputs[0]), q->temperature, (long long)q->sample);
    double chance = 0.35 + 0.25 * (sha8(t->instruction, t->arena) / 4294967296.0);
    str m = sha8(key, t->arena) / 4294967296.0 < chance ? p->reference : other_move(p, 0);
    if (t->noise_modulus > 0) {
        uint32_t x = sha8(arena_printf(t->arena, "noise\n%.*s\n%d", STR(key), attempt), t->arena);
        uint32_t d = (uint32_t)t->noise_modulus;
        if (x % d == 0)
            return noisy_reply(t, p, m, x / d % 6);
    }
    return arena_printf(t->arena, "{\"move\": \"%.*s\"}", STR(m));
}

// Answers, and compares the request with the next recorded call.
static bool answer(const struct model *m, const struct model_request *q, struct arena *a,
                   struct reply *out, struct err *err)
{
    (void)err;
    struct trace *t = m->context;
    const json_t *call = next_of(t, "call");
    if (!call)
        fail_msg("call %d is not in the trace", t->n_calls);
    struct buf b = { .arena = t->arena };
    struct json_out o = { .b = &b };
    messages_write(&q->messages, &o);
    assert_str(hex_sha(buf_str(&b), t->arena), json_get_str(call, "messages_sha256"));
    assert_int_equal((q->messages.n - 2) / 2, json_get_int(call, "demos", -1));
    assert_str(arena_printf(t->arena, "%.2f", q->temperature), json_get_str(call, "temperature"));
    assert_int_equal(q->sample, json_get_int(call, "sample", -1));
    int attempt = m->format == FORMAT_SCHEMA && q->format != FORMAT_SCHEMA;
    assert_int_equal(attempt, json_get_int(call, "attempt", 0));
    out->class = REPLY_OK;
    out->text = arena_str(a, scripted_reply(t, q, attempt));
    assert_str(out->text, json_get_str(call, "reply"));
    t->n_calls++;
    return true;
}

static const struct provider provider_trace = { .answer = answer };

// ---- playing a trace ----

static void load_records(struct trace *t, str name)
{
    str text = read_gz(source_path(name, t->arena), t->arena);
    struct {
        const json_t **v;
        size_t n, cap;
    } list = { 0 };
    while (text.len > 0) {
        struct err err = { 0 };
        json_t *record = json_read_strict(str_cut_line(&text), &err);
        assert_non_null(record);
        *vec_push(t->arena, &list) = record;
    }
    t->records = list.v;
    t->n = list.n;
}

static void load_train(struct trace *t)
{
    struct err err = { 0 };
    struct puzzles all = { 0 };
    struct puzzle_split split = { 0 };
    struct puzzle_split_opts how = { .seed = 42, .validation_size = 20 };
    assert_true(puzzles_load(source_path(S("tests/golden/train-80.csv"), t->arena),
                             &(struct puzzle_load_opts){ .strict = true }, t->arena, &all, &err));
    assert_true(puzzles_split(&all, &how, t->arena, &split, &err));
    puzzles_expand(&split.train, t->arena, &t->train);
    t->by_fen.arena = t->arena;
    for (size_t i = 0; i < t->train.n; i++)
        map_put(&t->by_fen, t->train.v[i].inputs[0], NULL)->number = (int64_t)i;
}

static void trace_open(struct trace *t, str name, struct arena *a)
{
    *t = (struct trace){ .arena = a };
    load_records(t, name);
    load_train(t);
    const json_t *config = next_of(t, "config");
    const json_t *options = json_object_get(config, "options");
    t->instruction = json_get_str(options, "base");
    if (t->instruction.len == 0)
        t->instruction = instruction_base;
    t->demo_moves = json_is_true(json_object_get(options, "demo_moves"));
    t->noise_modulus = json_get_int(config, "noise_modulus", 0);
}

static void trace_close(struct trace *t)
{
    for (size_t i = 0; i < t->n; i++)
        json_decref((json_t *)(uintptr_t)t->records[i]);
}

static void expect_program(const struct trace *t, const struct program *p, int64_t number)
{
    const json_t *want = NULL;
    for (size_t i = 0; i < t->n; i++)
        if (str_eq(json_get_str(t->records[i], "type"), S("program")) &&
            json_get_int(t->records[i], "program", -1) == number)
            want = t->records[i];
    assert_str(p->instruction, json_get_str(want, "instruction"));
    const json_t *demos = json_object_get(want, "demos");
    assert_int_equal(p->n_demos, json_array_size(demos));
    for (size_t i = 0; i < p->n_demos; i++) {
        const json_t *demo = json_array_get(demos, i);
        const struct map_entry *e = map_get(&t->by_fen, p->demos[i]->inputs[0]);
        const struct puzzle_position *at = &t->train.v[e->number];
        assert_str(arena_printf(t->arena, "%.*s/%d", STR(at->puzzle->id), at->index),
                   json_get_str(demo, "id"));
        assert_str(p->demos[i]->outputs[0], json_get_str(demo, "move"));
        assert_int_equal(p->demos[i]->source == NULL,
                         json_is_true(json_object_get(demo, "augmented")));
    }
}

static int64_t option(const json_t *config, const char *key, int64_t fallback)
{
    return json_get_int(json_object_get(config, "options"), key, fallback);
}

static void play_bootstrap(struct trace *t)
{
    struct err err = { 0 };
    const json_t *config = t->records[0];
    struct model model = { .name = S("trace/scripted"),
                           .provider = &provider_trace,
                           .has_temperature = true,
                           .context = t };
    bool schema = str_eq(json_get_str(config, "response_mode"), S("schema"));
    model.format = schema ? FORMAT_SCHEMA : FORMAT_JSON_OBJECT;
    struct store *db = NULL;
    assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &db, &err));
    struct store_run run = { .key = S("k"), .command = S("test"), .config = S("{}") };
    assert_true(
        store_run_begin(db, &(struct store_begin){ .now_unix_ms = 0 }, t->arena, &run, &err));
    struct lab lab = { .arena = t->arena,
                       .pump = pump_new(&(struct pump_opts){ .run = run.id }, db, &err) };
    struct puzzle_positions none = { 0 };
    struct opt_task task = { .seed = program_new(t->arena, &signature_choose_move, t->instruction),
                             .train = &t->train,
                             .validation = &none,
                             .model = &model };
    struct opt_opts opts = { .bootstrap = { .max_bootstrapped = option(config, "B", 4),
                                            .max_labeled = option(config, "L", 16),
                                            .max_rounds = option(config, "R", 1),
                                            .max_errors = 5 } };
    struct opt_result out;
    if (!optimizer_find(S("bootstrap_few_shot"))->run(&lab, &task, &opts, &out, &err))
        fail_msg("%s", err.text);
    assert_int_equal(t->n_calls, json_get_int(t->records[t->n - 1], "task_calls", -1));
    expect_program(t, out.program, json_get_int(t->records[t->n - 2], "program", -1));
    pump_free(lab.pump);
    store_close(db);
}

static void play(const char *name)
{
    struct arena a = { 0 };
    struct trace t;
    trace_open(&t, arena_printf(&a, "tests/golden/%s.jsonl.gz", name), &a);
    play_bootstrap(&t);
    trace_close(&t);
    arena_free(&a);
}

static void bfs_b0_clean(void **s)
{
    (void)s;
    play("bfs-b0-clean");
}
static void bfs_b16_noisy(void **s)
{
    (void)s;
    play("bfs-b16-noisy");
}
static void bfs_b6l4_clean(void **s)
{
    (void)s;
    play("bfs-b6l4-clean");
}
static void bfs_clean(void **s)
{
    (void)s;
    play("bfs-clean");
}
static void bfs_l0_clean(void **s)
{
    (void)s;
    play("bfs-l0-clean");
}
static void bfs_moves_clean(void **s)
{
    (void)s;
    play("bfs-moves-clean");
}
static void bfs_moves_noisy(void **s)
{
    (void)s;
    play("bfs-moves-noisy");
}
static void bfs_noisy(void **s)
{
    (void)s;
    play("bfs-noisy");
}
static void bfs_noisy_schema(void **s)
{
    (void)s;
    play("bfs-noisy-schema");
}
static void bfs_rounds2_clean(void **s)
{
    (void)s;
    play("bfs-rounds2-clean");
}

static void labeled_clean(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct trace t;
    trace_open(&t, S("tests/golden/labeled-clean.jsonl.gz"), &a);
    const struct demo **pool = NEW_ARRAY(&a, const struct demo *, t.train.n);
    for (size_t i = 0; i < t.train.n; i++)
        pool[i] = demo_labeled(&t.train.v[i], &a);
    const struct program *p = program_new(&a, &signature_choose_move, instruction_base);
    expect_program(&t, labeled_few_shot(p, pool, t.train.n, 16, &a), 0);
    trace_close(&t);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labeled_clean),     cmocka_unit_test(bfs_b0_clean),
        cmocka_unit_test(bfs_b16_noisy),     cmocka_unit_test(bfs_b6l4_clean),
        cmocka_unit_test(bfs_clean),         cmocka_unit_test(bfs_l0_clean),
        cmocka_unit_test(bfs_moves_clean),   cmocka_unit_test(bfs_moves_noisy),
        cmocka_unit_test(bfs_noisy),         cmocka_unit_test(bfs_noisy_schema),
        cmocka_unit_test(bfs_rounds2_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

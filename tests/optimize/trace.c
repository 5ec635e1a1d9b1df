// SPDX-License-Identifier: GPL-3.0-or-later
// trace.c - the scripted models of the traces, and the playing.
#include "trace.h"

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

// The next record of a type; NULL: there is none.
const json_t *trace_next(struct trace *t, const char *type)
{
    struct map_entry *e = map_put(&t->next, str_from(type), NULL);
    for (; (size_t)e->number < t->n; e->number++)
        if (str_eq(json_get_str(t->records[e->number], "type"), str_from(type)))
            return t->records[e->number++];
    return NULL;
}

// The next record of type `draw` of a stream.
const json_t *trace_draw(struct trace *t, const char *stream)
{
    struct map_entry *e = map_put(&t->next, arena_printf(t->arena, "draw/%s", stream), NULL);
    for (; (size_t)e->number < t->n; e->number++) {
        const json_t *r = t->records[e->number];
        if (str_eq(json_get_str(r, "type"), S("draw")) &&
            str_eq(json_get_str(r, "stream"), str_from(stream)))
            return t->records[e->number++];
    }
    return NULL;
}

// ---- the scripted task model ----

const struct puzzle_position *trace_position(const struct trace *t, size_t i)
{
    return i < t->train.n ? &t->train.v[i] : &t->validation.v[i - t->train.n];
}

static const struct puzzle_position *position_asked(const struct trace *t, str text)
{
    str_cut(&text, '\n');
    const struct map_entry *e = map_get(&t->by_fen, str_cut(&text, '\n'));
    assert_non_null(e);
    return trace_position(t, (size_t)e->number);
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

// The instruction of a request: behind the objective line, eight spaces before each line.
static str instruction_asked(const struct trace *t, str system)
{
    struct buf b = { .arena = t->arena };
    str mark = S("your objective is: \n");
    size_t at = 0;
    while (at + mark.len <= system.len && !str_eq(str_sub(system, at, mark.len), mark))
        at++;
    str rest = str_sub(system, at + mark.len, system.len);
    while (rest.len > 0) {
        str line = str_cut(&rest, '\n');
        buf_addf(&b, "%s%.*s", b.len ? "\n" : "", STR(str_sub(line, 8, line.len)));
    }
    return buf_str(&b);
}

static str scripted_reply(const struct trace *t, const struct model_request *q, int attempt)
{
    const struct puzzle_position *p = position_asked(t, q->messages.v[q->messages.n - 1].text);
    str demos = demos_term(t, &q->messages);
    str instruction = instruction_asked(t, q->messages.v[0].text);
    str key = arena_printf(t->arena, "%.*s\n%.*s\n%.*s\n%.2f\n%lld", STR(instruction), STR(demos),
                           STR(p->inputs[0]), q->temperature, (long long)q->sample);
    double chance = 0.35 + 0.25 * (sha8(instruction, t->arena) / 4294967296.0);
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
    const json_t *call = trace_next(t, "call");
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

// The prompt model: one recorded meta request stands for as many of ours as it has completions.
static bool answer_meta(const struct model *m, const struct model_request *q, struct arena *a,
                        struct reply *out, struct err *err)
{
    (void)err;
    struct trace *t = m->context;
    // As many completions as came, which need not be as many as were asked for.
    size_t n = json_array_size(json_object_get(t->meta, "items"));
    if (!t->meta || t->n_completions == (n > 0 ? n : 1)) {
        t->meta = trace_next(t, "meta");
        t->n_completions = 0;
        t->n_meta++;
    }
    if (!t->meta)
        fail_msg("meta request %d is not in the trace", t->n_meta);
    out->text = arena_str(a, t->meta_reply(t, t->meta, t->n_completions++, q));
    out->class = out->text.len > 0 ? REPLY_OK : REPLY_EMPTY;
    // A recorded reply of null: the reference's call failed.
    if (json_is_null(json_array_get(json_object_get(t->meta, "replies"), t->n_completions - 1)))
        out->class = REPLY_REFUSED;
    return true;
}

static const struct provider provider_trace = { .answer = answer };
static const struct provider provider_trace_meta = { .answer = answer_meta };

// ---- playing a trace ----

static void load_records(struct trace *t, str path)
{
    str text = read_gz(path, t->arena);
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
    puzzles_expand(&split.validation, t->arena, &t->validation);
    t->by_fen.arena = t->arena;
    for (size_t i = 0; i < t->train.n + t->validation.n; i++)
        map_put(&t->by_fen, trace_position(t, i)->inputs[0], NULL)->number = (int64_t)i;
}

// Opens a trace in `a`. `name` as "bfs-clean": from the tree, else from the shared data (skips the
// test where that is absent). `t->config` starts with the defaults of `method`.
void trace_open(struct trace *t, const char *name, enum method method, struct arena *a)
{
    *t = (struct trace){ .arena = a, .next = { .arena = a }, .method = method };
    str file = arena_printf(a, "tests/golden/%s.jsonl.gz", name);
    if (!file_exists(source_path(file, a)))
        load_records(t, shared_path(arena_printf(a, "data/golden/%s.jsonl.gz", name), a));
    else
        load_records(t, source_path(file, a));
    load_train(t);
    const json_t *config = t->records[0];
    const json_t *options = json_object_get(config, "options");
    t->base = json_get_str(options, "base");
    if (t->base.len == 0)
        t->base = instruction_base;
    t->demo_moves = json_is_true(json_object_get(options, "demo_moves"));
    t->noise_modulus = json_get_int(config, "noise_modulus", 0);
    optimizer_defaults(&t->config, method, S("paper"));
    bool schema = str_eq(json_get_str(config, "response_mode"), S("schema"));
    t->model = (struct model){ .name = S("trace/scripted"),
                               .provider = &provider_trace,
                               .has_temperature = true,
                               .format = schema ? FORMAT_SCHEMA : FORMAT_JSON_OBJECT,
                               .context = t };
    t->prompt_model = (struct model){ .name = S("trace/meta"),
                                      .provider = &provider_trace_meta,
                                      .has_temperature = true,
                                      .temperature = 1,
                                      .format = FORMAT_JSON_OBJECT,
                                      .context = t };
}

int64_t trace_option(const struct trace *t, const char *key, int64_t fallback)
{
    return json_get_int(json_object_get(t->records[0], "options"), key, fallback);
}

// Runs the optimizer under t->config (and t->task.chance and watch, if set); false: the compile
// failed, as `err` says.
bool trace_run(struct trace *t, struct opt_result *out, struct err *err)
{
    assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &t->db, err));
    struct store_run run = { .key = S("k"), .command = S("test"), .config = S("{}") };
    assert_true(
        store_run_begin(t->db, &(struct store_begin){ .now_unix_ms = 0 }, t->arena, &run, err));
    t->lab = (struct lab){ .arena = t->arena,
                           .pump = pump_new(&(struct pump_opts){ .run = run.id }, t->db, err) };
    struct chance *chance = t->task.chance;
    const struct opt_watch *watch = t->task.watch;
    t->task = (struct opt_task){ .lab = &t->lab,
                                 .seed = program_new(t->arena, &signature_choose_move, t->base),
                                 .train = &t->train,
                                 .validation = &t->validation,
                                 .model = &t->model,
                                 .prompt_model = &t->prompt_model,
                                 .run_seed = 42,
                                 .max_metric_calls = trace_option(t, "max_metric_calls", 0),
                                 .config = &t->config,
                                 .chance = chance,
                                 .watch = watch };
    return optimizer_find(method_name(t->method))->run(&t->task, out, err);
}

// The counts of the last record: every recorded request was made, and no other.
void trace_expect_totals(const struct trace *t)
{
    const json_t *totals = t->records[t->n - 1];
    assert_int_equal(t->n_calls, json_get_int(totals, "task_calls", -1));
    assert_int_equal(t->n_meta, json_get_int(totals, "meta_calls", -1));
}

void trace_close(struct trace *t)
{
    for (size_t i = 0; i < t->n; i++)
        json_decref((json_t *)(uintptr_t)t->records[i]);
    pump_free(t->lab.pump);
    store_close(t->db);
}

// The program of that number in the trace.
void trace_expect_program(const struct trace *t, const struct program *p, int64_t number)
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
        const struct puzzle_position *at = trace_position(t, (size_t)e->number);
        assert_str(arena_printf(t->arena, "%.*s/%d", STR(at->puzzle->id), at->index),
                   json_get_str(demo, "id"));
        assert_str(p->demos[i]->outputs[0], json_get_str(demo, "move"));
        assert_int_equal(p->demos[i]->source == NULL,
                         json_is_true(json_object_get(demo, "augmented")));
    }
}

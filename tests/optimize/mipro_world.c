// SPDX-License-Identifier: GPL-3.0-or-later
// mipro_world.c - the items and the two scripted models.
#include "mipro_world.h"

// ---- the models ----

double toy_noise(str text)
{
    return (double)(hash64(text) >> 11) / 9007199254740992.0;
}

static int item_of(str text)
{
    int64_t item;
    str_cut(&text, '\n'); // [[ ## position_fen ## ]]
    assert_true(str_to_int(str_cut(&text, '\n'), 0, 2 * VALIDATION, &item));
    return (int)item;
}

static str instruction_of(str system)
{
    str mark = S("your objective is: \n        ");
    ptrdiff_t at = str_find(system, mark);
    assert_true(at >= 0);
    return str_sub(system, (size_t)at + mark.len, system.len);
}

static bool is_killed(struct toy *t, struct err *err)
{
    if (t->dies_at == 0 || t->n_task + t->n_prompt < t->dies_at)
        return false;
    err_set(err, ERR_RUN, "killed");
    return true;
}

static bool answer_task(const struct model *m, const struct model_request *q, struct arena *a,
                        struct reply *out, struct err *err)
{
    struct toy *t = m->context;
    if (is_killed(t, err))
        return false;
    const struct messages *chat = &q->messages;
    int item = item_of(chat->v[chat->n - 1].text);
    struct buf demos = { .arena = a };
    for (size_t i = 1; i + 1 < chat->n; i += 2)
        buf_addf(&demos, "%d ", item_of(chat->v[i].text));
    assert_true(t->n_task < ASKED_MAX);
    t->asked[t->n_task++] = item;
    bool right = !t->right || t->right(t, instruction_of(chat->v[0].text), buf_str(&demos), item);
    out->class = t->task_lost ? REPLY_TIMEOUT : REPLY_OK;
    out->text = arena_str(a, right ? S("{\"move\":\"e2e4\"}") : S("{\"move\":\"a2a3\"}"));
    return true;
}

static bool answer_prompt(const struct model *m, const struct model_request *q, struct arena *a,
                          struct reply *out, struct err *err)
{
    struct toy *t = m->context;
    if (is_killed(t, err))
        return false;
    assert_true(t->n_prompt < META_MAX);
    struct meta *meta = &t->meta[t->n_prompt++];
    str request = q->messages.v[q->messages.n - 1].text;
    ptrdiff_t at = str_find(request, S("following order of fields: `"));
    assert_true(at >= 0);
    str rest = str_sub(request, (size_t)at, request.len);
    str_cut(&rest, '`');
    meta->field = arena_str(t->arena, str_cut(&rest, '`'));
    meta->request = arena_str(t->arena, request);
    meta->sample = q->sample;
    meta->temperature = q->temperature;
    out->class = t->said ? t->said_class : REPLY_OK;
    out->text = arena_printf(a, "{\"%.*s\": \"Variant %lld.\"}", STR(meta->field),
                             (long long)++t->n_answers);
    if (t->said)
        out->text = arena_str(a, (str){ t->said, t->said_len ? t->said_len : strlen(t->said) });
    return true;
}

static const struct provider provider_task = { .answer = answer_task };
static const struct provider provider_prompt = { .answer = answer_prompt };

// ---- the items ----

static void make_items(struct toy *t, size_t n, int first, struct puzzle_positions *out)
{
    struct position start = position_start();
    for (size_t i = 0; i < n; i++) {
        struct puzzle *puzzle = NEW(t->arena, struct puzzle);
        puzzle->id = arena_printf(t->arena, "p%zu", i + (size_t)first);
        struct puzzle_position *p = vec_push(t->arena, out);
        *p = (struct puzzle_position){ .puzzle = puzzle, .count = 1, .at = start };
        assert_true(uci_parse(&start, S("e2e4"), &p->solution));
        p->inputs[0] = arena_printf(t->arena, "%zu", i + (size_t)first);
        p->inputs[1] = S("white");
        p->inputs[2] = S("e2e4, a2a3");
        p->reference = S("e2e4");
    }
}

struct toy *toy_new(struct arena *a, size_t n_train, size_t n_validation)
{
    struct toy *t = NEW(a, struct toy);
    t->arena = t->log.arena = a;
    t->seed = 42;
    t->base = instruction_base;
    make_items(t, n_train, 0, &t->train);
    make_items(t, n_validation, VALIDATION, &t->validation);
    optimizer_defaults(&t->config, METHOD_MIPRO_V2, S("paper"));
    return t;
}

// ---- running ----

static void watch(void *ctx, const struct opt_event *e)
{
    struct toy *t = ctx;
    *vec_push(t->arena, &t->events) = *e;
    buf_addf(&t->log, "\n%s %lld", e->what, (long long)e->candidate);
    if (e->scored)
        buf_addf(&t->log, " %.2f of %zu", 100 * e->score, e->n_positions);
    buf_addf(&t->log, ": %.*s", STR(e->reason));
}

static void open_store(struct toy *t, struct store_run *run, struct err *err)
{
    *run = (struct store_run){ .key = S("k"), .command = S("test"), .config = S("{}") };
    if (!t->db)
        assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &t->db, err));
    assert_true(
        store_run_begin(t->db, &(struct store_begin){ .now_unix_ms = 0 }, t->arena, run, err));
}

static struct model model(struct toy *t, const char *name, const struct provider *provider)
{
    return (struct model){ .name = str_from(name),
                           .provider = provider,
                           .format = FORMAT_JSON_OBJECT,
                           .has_temperature = true,
                           .context = t };
}

bool toy_run(struct toy *t, struct opt_result *out, struct err *err)
{
    struct store_run run;
    t->n_task = t->n_prompt = 0;
    t->log.len = 0;
    t->events.n = 0;
    open_store(t, &run, err);
    struct lab lab = {
        .arena = t->arena,
        .pump = pump_new(&(struct pump_opts){ .run = run.id, .slots = t->slots }, t->db, err),
        .continue_on_error = t->continue_on_error,
    };
    struct model task_model = model(t, "toy/task", &provider_task);
    struct model prompt_model = model(t, "toy/prompt", &provider_prompt);
    struct opt_watch told = { .note = watch, .ctx = t };
    task_model.temperature = t->temperature;
    prompt_model.temperature = 0.5; // each question states its own
    const struct program *bare = program_new(t->arena, &signature_choose_move, t->base);
    struct opt_task task = {
        .lab = &lab,
        .seed = program_with_demos(t->arena, bare, t->demos, t->n_demos),
        .train = &t->train,
        .validation = &t->validation,
        .model = &task_model,
        .prompt_model = &prompt_model,
        .run_seed = t->seed,
        .config = &t->config,
        .chance = t->chance,
        .watch = &told,
    };
    bool ok = optimizer_find(S("mipro_v2"))->run(&task, out, err);
    pump_free(lab.pump);
    return ok;
}

struct opt_result toy_done(struct toy *t)
{
    struct err err = { 0 };
    struct opt_result out;
    if (!toy_run(t, &out, &err))
        fail_msg("%s", err.text);
    return out;
}

void toy_forget(struct toy *t)
{
    store_close(t->db);
    t->db = NULL;
    t->n_answers = 0;
}

void toy_close(struct toy *t, struct arena *a)
{
    store_close(t->db);
    arena_free(a);
}

size_t toy_logged(struct toy *t, const char *part)
{
    size_t n = 0;
    str rest = buf_str(&t->log), wanted = str_from(part);
    for (ptrdiff_t at; (at = str_find(rest, wanted)) >= 0; n++)
        rest = str_sub(rest, (size_t)at + wanted.len, rest.len);
    return n;
}

int64_t toy_questions(const struct toy *t, const char *field)
{
    int64_t n = 0;
    for (int64_t i = 0; i < t->n_prompt; i++)
        n += str_eq(t->meta[i].field, str_from(field));
    return n;
}

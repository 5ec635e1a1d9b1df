// SPDX-License-Identifier: GPL-3.0-or-later
// gepa_world.c - the world's puzzles and its two scripted models.
#include "gepa_world.h"

// ---- the models ----

static str word_after(str text, str mark)
{
    ptrdiff_t at = str_find(text, mark);
    if (at < 0)
        return S("");
    str rest = str_sub(text, (size_t)at + mark.len, text.len);
    size_t n = 0;
    while (n < rest.len && ascii_is_digit(rest.data[n]))
        n++;
    return str_sub(rest, 0, n);
}

// Right with the probability (in thousandths) of the tag "skill=N" in the instruction.
static str answer_to(const struct world *w, const struct messages *m, struct arena *a)
{
    str user = m->v[m->n - 1].text;
    str_cut(&user, '\n');
    str fen = str_cut(&user, '\n');
    const struct map_entry *e = map_get(&w->by_fen, fen);
    assert_non_null(e);
    const struct puzzle_position *p = e->pointer;
    int64_t skill;
    str tag = word_after(m->v[0].text, S("skill="));
    if (!str_to_int(tag, 0, 1000, &skill))
        skill = 350;
    bool right = hash64(arena_printf(a, "%.*s %.*s", STR(tag), STR(fen))) % 1000 < (uint64_t)skill;
    str other = p->inputs[2];
    str chosen = str_trim(str_cut(&other, ','));
    if (str_eq(chosen, p->reference))
        chosen = other.len > 0 ? str_trim(str_cut(&other, ',')) : S("a1a1");
    if (w->all_right || (right && !w->all_wrong))
        chosen = p->reference;
    return arena_printf(a, "{\"move\": \"%.*s\"}", STR(chosen));
}

static bool is_killed(struct world *w, struct err *err)
{
    bool killed = w->dies_at > 0 && w->n_task + w->n_prompt >= w->dies_at;
    if (killed)
        err_set(err, ERR_RUN, "killed");
    return killed;
}

static bool answer_task(const struct model *m, const struct model_request *q, struct arena *a,
                        struct reply *out, struct err *err)
{
    struct world *w = m->context;
    if (is_killed(w, err))
        return false;
    w->n_task++;
    out->class = w->lost ? REPLY_TIMEOUT : w->refuses ? REPLY_REFUSED : REPLY_OK;
    out->text =
        w->unreadable ? arena_str(a, S("I play my best move.")) : answer_to(w, &q->messages, a);
    return true;
}

static bool answer_prompt(const struct model *m, const struct model_request *q, struct arena *a,
                          struct reply *out, struct err *err)
{
    struct world *w = m->context;
    if (is_killed(w, err))
        return false;
    if (w->n_prompt < (int64_t)ARRAY_LEN(w->max_tokens))
        w->max_tokens[w->n_prompt] = q->max_tokens;
    w->n_prompt++;
    assert_int_equal(q->messages.n, 1);
    w->requests = arena_str(w->arena, q->messages.v[0].text);
    uint64_t draw = hash64(arena_printf(a, "%.*s%lld", STR(w->requests), (long long)q->sample));
    out->class = w->said ? w->said_class : REPLY_OK;
    out->text = arena_printf(a, "```\nskill=%d\n```", (int)(draw % 700));
    if (w->said)
        out->text = arena_str(a, (str){ w->said, w->said_len > 0 ? w->said_len : strlen(w->said) });
    return true;
}

static const struct provider provider_task = { .answer = answer_task };
static const struct provider provider_prompt = { .answer = answer_prompt };

// ---- the data ----

// Puzzles of two and of three positions over and over, so that there are as many positions as the
// paper has.
static void make_puzzles(struct world *w)
{
    struct err err = { 0 };
    struct puzzles few = { 0 };
    size_t n_long = POSITIONS - 2 * PUZZLES, n_made[2] = { 0 };
    assert_true(puzzles_load(source_path(S("tests/golden/train-80.csv"), w->arena),
                             &(struct puzzle_load_opts){ .strict = true }, w->arena, &few, &err));
    for (size_t i = 0; w->all.n < PUZZLES; i = (i + 1) % few.n) {
        size_t length = few.v[i].n_moves / 2;
        if (length < 2 || length > 3 ||
            n_made[length - 2] == (length == 3 ? n_long : PUZZLES - n_long))
            continue;
        n_made[length - 2]++;
        struct puzzle *p = vec_push(w->arena, &w->all);
        *p = few.v[i];
        p->id = arena_printf(w->arena, "p%zu", w->all.n);
    }
}

void world_split(struct world *w, uint64_t seed)
{
    struct err err = { 0 };
    struct puzzle_split sets = { 0 };
    struct puzzle_split_opts how = { .seed = seed, .validation_size = 140 };
    assert_true(puzzles_split(&w->all, &how, w->arena, &sets, &err));
    w->train = w->validation = (struct puzzle_positions){ 0 };
    puzzles_expand(&sets.train, w->arena, &w->train);
    puzzles_expand(&sets.validation, w->arena, &w->validation);
    assert_int_equal(w->train.n + w->validation.n, POSITIONS);
    w->by_fen = (struct map){ .arena = w->arena };
    for (size_t i = 0; i < w->train.n; i++)
        map_put(&w->by_fen, w->train.v[i].inputs[0], NULL)->pointer = &w->train.v[i];
    for (size_t i = 0; i < w->validation.n; i++)
        map_put(&w->by_fen, w->validation.v[i].inputs[0], NULL)->pointer = &w->validation.v[i];
}

struct world *world_new(struct arena *a, const char *preset)
{
    struct world *w = NEW(a, struct world);
    w->arena = a;
    w->log.arena = a;
    w->max_metric_calls = 200;
    make_puzzles(w);
    world_split(w, 42);
    optimizer_defaults(&w->config, METHOD_GEPA, str_from(preset));
    w->config.budget = BUDGET_NONE;
    return w;
}

// A few positions only, for quick runs.
struct world *world_small(struct arena *a, const char *preset)
{
    struct world *w = world_new(a, preset);
    w->train.n = 40;
    w->validation.n = 20;
    return w;
}

static void note(void *ctx, const struct opt_event *e)
{
    struct world *w = ctx;
    buf_addf(&w->log, "%s %lld %.6f of %zu: %.*s %.*s\n", e->what, (long long)e->candidate,
             e->score, e->n_positions, STR(e->reason), STR(e->details));
}

bool world_run(struct world *w, struct opt_result *out, struct err *err)
{
    struct store_run row = { .key = S("k"), .command = S("test"), .config = S("{}") };
    if (!w->db)
        assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &w->db, err));
    assert_true(
        store_run_begin(w->db, &(struct store_begin){ .now_unix_ms = 0 }, w->arena, &row, err));
    struct pump_opts pump = { .run = row.id, .slots = w->slots };
    struct lab lab = { .arena = w->arena,
                       .pump = pump_new(&pump, w->db, err),
                       .continue_on_error = w->continue_on_error };
    struct model task_model = { .name = S("toy/task"),
                                .provider = &provider_task,
                                .context = w,
                                .format = FORMAT_JSON_OBJECT,
                                .has_temperature = true,
                                .temperature = w->temperature };
    struct model prompt_model = { .name = S("toy/prompt"),
                                  .provider = &provider_prompt,
                                  .context = w,
                                  .format = FORMAT_JSON_OBJECT,
                                  .has_temperature = true,
                                  .temperature = 1,
                                  .max_tokens = 1000 };
    struct opt_watch watch = { .note = note, .ctx = w };
    struct opt_task task = { .lab = &lab,
                             .seed =
                                 program_new(w->arena, &signature_choose_move, instruction_base),
                             .train = &w->train,
                             .validation = &w->validation,
                             .model = &task_model,
                             .prompt_model = &prompt_model,
                             .run_seed = 42,
                             .show_solution = w->show_solution,
                             .max_metric_calls = w->max_metric_calls,
                             .config = &w->config,
                             .watch = &watch };
    w->n_task = w->n_prompt = 0;
    w->log.len = 0;
    bool ok = optimizer_find(S("gepa"))->run(&task, out, err);
    pump_free(lab.pump);
    return ok;
}

struct opt_result world_done(struct world *w)
{
    struct err err = { 0 };
    struct opt_result out;
    if (!world_run(w, &out, &err))
        fail_msg("%s", err.text);
    return out;
}

void world_forget(struct world *w)
{
    store_close(w->db);
    w->db = NULL;
}

void world_close(struct world *w, struct arena *a)
{
    store_close(w->db);
    arena_free(a);
}

size_t count(str text, str part)
{
    size_t n = 0;
    for (ptrdiff_t at; (at = str_find(text, part)) >= 0; n++)
        text = str_sub(text, (size_t)at + part.len, text.len);
    return n;
}

size_t logged(struct world *w, const char *part)
{
    return count(buf_str(&w->log), str_from(part));
}

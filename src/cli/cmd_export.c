// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_export.c - the answers of finished runs in the paper's observation columns. The store keeps
// replies, not judgements: each is played into its episode again, on the puzzles of the run's own
// file, which is recognised by its hash.
#include "cli/run.h"
#include "version.h"

struct kept_call { // of the batch that was evaluated last
    int64_t job;
    str input_id, program_hash, reply;
};
struct exporting {
    const struct args *args;
    struct arena *arena; // of the command
    struct err *err;
    struct store *store;
    struct buf out;
    // the file of puzzles that was read last
    str test_path;
    struct puzzles puzzles;
    struct puzzle_positions positions;
    struct map by_name;
    // of the run at hand
    struct arena of_run;
    const struct store_run *run;
    struct observed_run facts;
    struct stored_result result;
    int64_t samples;
    struct model model;
    int64_t batch;
    struct kept_calls {
        struct kept_call *v;
        size_t n, cap;
    } calls;
    struct map programs; // hash to program
};

// ---- what a run was ----

static const struct provider *provider_of(str model)
{
    str name = str_cut(&model, '/');
    for (size_t i = 0; llm_providers[i]; i++)
        if (str_eq(llm_providers[i]->name, name))
            return llm_providers[i];
    return NULL;
}

static bool load_puzzles(struct exporting *x, str path, str sha256)
{
    path = opt_text(x->args, "test", path);
    if (!str_eq(path, x->test_path)) {
        x->test_path = arena_str(x->arena, path);
        x->puzzles = (struct puzzles){ 0 };
        x->positions = (struct puzzle_positions){ 0 };
        x->by_name = (struct map){ .arena = x->arena };
        if (!puzzles_load(x->test_path, &(struct puzzle_load_opts){ 0 }, x->arena, &x->puzzles,
                          x->err))
            return err_add(x->err, "run %lld (name its puzzles with --test)",
                           (long long)x->run->id);
        puzzles_expand(&x->puzzles, x->arena, &x->positions);
        for (size_t i = 0; i < x->positions.n; i++) {
            const struct puzzle_position *p = &x->positions.v[i];
            str name = arena_printf(x->arena, "%.*s/%d", STR(p->puzzle->id), p->index);
            map_put(&x->by_name, name, NULL)->number = (int64_t)i;
        }
    }
    return str_eq(sha256, x->puzzles.sha256) ||
           err_set(x->err, ERR_INPUT,
                   "run %lld was made with another %.*s than the one that is there now: name the "
                   "right file with --test",
                   (long long)x->run->id, STR(path));
}

static bool read_config(struct exporting *x, const json_t *root)
{
    const json_t *config = json_object_get(root, "config");
    const json_t *rookery = json_object_get(root, "rookery");
    const struct store_run *run = x->run;
    x->facts = (struct observed_run){
        .key = run->key,
        .name = run->name,
        .model = run->model,
        .method = run->method,
        .version = S("rookery " ROOKERY_VERSION),
        .seed = json_get_int(config, "seed", 0),
        .repeat = run->ordinal + 1,
    };
    x->model = (struct model){ .name = run->model, .provider = provider_of(run->model) };
    return format_parse(json_get_str(rookery, "format"), &x->model.format)
               ? load_puzzles(x, arena_str(&x->of_run, json_get_str(config, "test_path")),
                              arena_str(&x->of_run, json_get_str(json_object_get(root, "datasets"),
                                                                 "test_sha256")))
               : err_set(x->err, ERR_INPUT, "run %lld: its configuration names no format",
                         (long long)run->id);
}

static bool read_run(struct exporting *x)
{
    const struct store_run *run = x->run;
    json_t *root = json_read_strict(run->config, x->err);
    bool ok = root && read_config(x, root);
    json_decref(root);
    if (!ok || !stored_result_read(run->summary, &x->of_run, &x->result, x->err))
        return false;
    root = json_read_strict(x->result.summary, x->err);
    x->samples = json_get_int(json_object_get(root, "rookery"), "samples", 1);
    json_decref(root);
    return x->samples > 0 ||
           err_set(x->err, ERR_INPUT, "run %lld: it has no samples", (long long)run->id);
}

// Keeps the calls of the last batch: the evaluation, unless nobody had to be asked for it.
static bool keep_call(void *ctx, const struct call_place *at, const struct stored_call *call,
                      struct err *err)
{
    (void)err;
    struct exporting *x = ctx;
    if (at->batch != x->batch)
        x->calls.n = 0;
    x->batch = at->batch;
    bool evaluating = call->phase.len == 0 || str_eq(call->phase, S("evaluating"));
    if (evaluating)
        *vec_push(&x->of_run, &x->calls) =
            (struct kept_call){ .job = at->job,
                                .input_id = arena_str(&x->of_run, call->input_id),
                                .program_hash = arena_str(&x->of_run, call->program_hash),
                                .reply = arena_str(&x->of_run, call->reply) };
    return true;
}

// ---- one answer ----

static bool find_program(struct exporting *x, str hash, const struct program **out)
{
    bool fresh;
    str json;
    struct map_entry *e = map_put(&x->programs, hash, &fresh);
    if (fresh) {
        if (!store_program_get(x->store, hash, &x->of_run, &json, x->err) ||
            !program_from_text(json, &x->of_run, out, x->err))
            return err_add(x->err, "run %lld: program %.8s", (long long)x->run->id, hash.data);
        e->pointer = (void *)(uintptr_t)*out; // the map's values are not const
    }
    *out = e->pointer;
    return true;
}

static void add_call(struct observation *o, const struct reply *r)
{
    struct usage *u = &o->sums.usage;
    o->last = r;
    u->input_tok += r->usage.input_tok;
    u->output_tok += r->usage.output_tok;
    u->reasoning_tok += r->usage.reasoning_tok;
    u->cached_tok += r->usage.cached_tok;
    u->cache_write_tok += r->usage.cache_write_tok;
    o->sums.cost_nusd += r->cost_nusd;
    o->sums.usage_reported &= r->usage.source == KNOWN_REPORTED;
    o->sums.cost_known &= r->cost_source != KNOWN_NOT;
}

// Plays the replies of one job into its episode; fewer or more than it asks for: the run was made
// by a rookery that asks otherwise.
static bool play(struct exporting *x, const struct kept_call *calls, size_t n, struct arena *a,
                 struct observation *o)
{
    const struct program *program;
    if (!find_program(x, calls[0].program_hash, &program))
        return false;
    struct job *job = NEW(a, struct job);
    *job = lab_position_job(program, o->position, &x->model, a);
    struct episode *ep = episode_new(job, a);
    struct ask ask;
    size_t done = 0;
    o->sums.usage_reported = o->sums.cost_known = true; // until a reply lacks it
    enum step step = job->kind->step(ep, NULL, &ask);
    for (; step == STEP_ASK && done < n; done++) {
        struct answer *answer = NEW(a, struct answer);
        if (!reply_from_json(calls[done].reply, a, &answer->model, x->err))
            return err_add(x->err, "run %lld: %.*s", (long long)x->run->id,
                           STR(calls[done].input_id));
        add_call(o, &answer->model);
        step = job->kind->step(ep, answer, &ask);
    }
    if (step != STEP_DONE || done != n)
        return err_set(x->err, ERR_RUN,
                       "run %lld: the replies to %.*s do not fit what this rookery asks; export "
                       "with the version that made the run",
                       (long long)x->run->id, STR(calls[0].input_id));
    o->record = ep->outcome.record;
    o->program_hash = calls[0].program_hash;
    return true;
}

// Nobody was asked: the only legal move of a model that chooses, or an answer made elsewhere, of
// which the store keeps how it counted.
static void play_unasked(struct exporting *x, struct arena *a, struct observation *o)
{
    const struct provider *provider = x->model.provider;
    if (!provider || !provider->chooses)
        return;
    struct job *job = NEW(a, struct job);
    struct ask ask;
    *job = lab_position_job(program_new(a, &signature_choose_move, instruction_base), o->position,
                            &x->model, a);
    struct episode *ep = episode_new(job, a);
    if (job->kind->step(ep, NULL, &ask) == STEP_DONE)
        o->record = ep->outcome.record;
}

// The answers to position i of the run; `*next` is the first call of its jobs.
static bool write_position(struct exporting *x, size_t i, size_t *next)
{
    const struct stored_position *stored = &x->result.positions.v[i];
    const struct map_entry *e = map_get(&x->by_name, stored->name);
    if (!e)
        return err_set(x->err, ERR_INPUT, "run %lld: there is no position %.*s in %.*s",
                       (long long)x->run->id, STR(stored->name), STR(x->test_path));
    struct arena scratch = { 0 };
    bool ok = true;
    for (int64_t k = 0; ok && k < x->samples; k++) {
        struct observation o = { .run = &x->facts,
                                 .position = &x->positions.v[e->number],
                                 .kind = stored->kind };
        size_t from = *next;
        while (*next < x->calls.n && x->calls.v[*next].job == (int64_t)i * x->samples + k)
            ++*next;
        if (*next > from)
            ok = play(x, &x->calls.v[from], *next - from, &scratch, &o);
        else
            play_unasked(x, &scratch, &o);
        if (ok)
            observation_write(&o, &scratch, &x->out);
        arena_reset(&scratch);
    }
    arena_free(&scratch);
    return ok && print_gathered(&x->out, PRINT_MUCH, x->err);
}

static bool write_run(struct exporting *x)
{
    x->batch = -1;
    x->calls = (struct kept_calls){ 0 };
    x->programs = (struct map){ .arena = &x->of_run };
    if (!read_run(x) || !store_calls(x->store, x->run->id, keep_call, x, x->err))
        return false;
    size_t next = 0;
    for (size_t i = 0; i < x->result.positions.n; i++)
        if (!write_position(x, i, &next))
            return false;
    return true;
}

// ---- the command ----

static bool has_positions(const struct store_run *r)
{
    return str_eq(r->command, S("eval")) || str_eq(r->command, S("optimize"));
}

// The runs that are named, or all that are finished.
static bool choose(struct exporting *x, struct store_runs *out)
{
    const struct args *args = x->args;
    struct store_runs all = { 0 };
    if (args->n_positionals == 0 && !store_runs(x->store, x->arena, &all, x->err))
        return false;
    for (size_t i = 0; i < all.n; i++)
        if (all.v[i].finished && has_positions(&all.v[i]))
            *vec_push(x->arena, out) = all.v[i];
    for (size_t i = 0; i < args->n_positionals; i++) {
        struct store_run run;
        if (!store_run_find(x->store, args->positionals[i], x->arena, &run, x->err))
            return false;
        if (!run.finished || !has_positions(&run))
            return err_set(x->err, ERR_INPUT, "run %lld %s", (long long)run.id,
                           run.finished ? "has no positions to export"
                                        : "is not finished; give its command again first");
        *vec_push(x->arena, out) = run;
    }
    return true;
}

static bool export_runs(struct exporting *x)
{
    struct store_runs runs = { 0 };
    if (!choose(x, &runs))
        return false;
    observations_head(&x->out);
    for (size_t i = 0; i < runs.n; i++) {
        x->run = &runs.v[i];
        if (!write_run(x))
            return false;
        arena_reset(&x->of_run);
    }
    return print_gathered(&x->out, PRINT_ALL, x->err);
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct exporting x = {
        .args = args, .arena = a, .err = err, .out = { .arena = a, .max = SIZE_MAX / 2 }
    };
    str format = opt_text(args, "format", S("observations"));
    if (!str_eq(format, S("observations")))
        return err_set(err, ERR_USAGE, "--format must be observations, got \"%.*s\"", STR(format));
    if (!cli_store_open(args, STORE_READ, &x.store, err))
        return false;
    bool ok = export_runs(&x);
    store_close(x.store);
    arena_free(&x.of_run);
    return ok;
}

static const struct opt opts[] = {
    { "store", OPT_TEXT, "FILE", "the store [rookery.db]", 0, 0 },
    { "format", OPT_TEXT, "NAME", "observations, the only one [observations]", 0, 0 },
    { "test", OPT_TEXT, "FILE", "where the puzzles of the runs are now [as in the run]", 0, 0 },
    { 0 },
};

const struct command command_export = {
    .name = "export",
    .summary = "the answers of finished runs as CSV, in the paper's columns",
    .usage = "[RUN...] [--store FILE] [--test FILE] > FILE.csv",
    .about =
        "One row an answer; joined with the paper's own on source_id and move_index. RUN is an id\n"
        "or the first characters of a key [all finished runs]. Example:\n"
        "  rookery export 3 --store study.db > observations.csv",
    .opts = { opts },
    .max_positionals = POSITIONALS_MAX,
    .run = run,
};

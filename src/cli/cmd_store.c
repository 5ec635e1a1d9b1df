// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_store.c - a store as a file: is it sound, make it smaller, write it out as text, take in
// another one.
#include <sys/stat.h>

#include "cli/run.h"

static str store_name(const struct args *args)
{
    return opt_text(args, "store", S("rookery.db"));
}

// ---- verify ----

struct verifying {
    struct arena *arena;
    struct store_faults *faults;
    struct arena scratch;
};

static void add_fault(struct verifying *v, str sentence)
{
    enum { FAULTS_SHOWN = 100 };
    if (v->faults->n < FAULTS_SHOWN)
        *vec_push(v->arena, v->faults) = arena_str(v->arena, sentence);
}

// A reply of a model reads back as one, and says what its row says. Those of engines and of kinds
// to come have a JSON of their own.
static bool check_call(void *ctx, const struct call_place *at, const struct stored_call *call,
                       struct err *err)
{
    (void)err;
    struct verifying *v = ctx;
    struct err why = { 0 };
    struct reply r = { 0 };
    enum reply_class class;
    bool of_model = reply_class_parse(call->class, &class) && !str_eq(call->cost_source, S("none"));
    json_t *json = of_model ? NULL : json_read_strict(call->reply, &why);
    bool ok = of_model ? reply_from_json(call->reply, &v->scratch, &r, &why) : json != NULL;
    json_decref(json);
    if (ok && of_model && r.class != class)
        ok = err_set(&why, ERR_INPUT, "its class is %.*s", STR(reply_class_name(r.class)));
    if (ok && of_model && r.cost_nusd != call->cost_nusd)
        ok = err_set(&why, ERR_INPUT, "it cost %lld nano-dollars", (long long)r.cost_nusd);
    if (!ok)
        add_fault(v, arena_printf(&v->scratch,
                                  "the reply of run %lld, batch %lld, job %lld, ask %lld is not "
                                  "what its row says: %s",
                                  (long long)at->run, (long long)at->batch, (long long)at->job,
                                  (long long)at->ask, why.text));
    arena_reset(&v->scratch);
    return true;
}

static bool check_program(void *ctx, str hash, str json, struct err *err)
{
    (void)err;
    struct verifying *v = ctx;
    struct err why = { 0 };
    json_t *root = json_read_strict(json, &why);
    if (!json_is_object(root))
        add_fault(
            v, arena_printf(&v->scratch, "program %.8s cannot be read: %s", hash.data, why.text));
    json_decref(root);
    arena_reset(&v->scratch);
    return true;
}

static bool check_texts(struct store *s, struct arena *a, struct store_faults *faults,
                        struct err *err)
{
    struct verifying v = { .arena = a, .faults = faults };
    struct store_runs runs = { 0 };
    bool ok = store_runs(s, a, &runs, err) && store_programs(s, check_program, &v, err);
    for (size_t i = 0; ok && i < runs.n; i++) {
        struct stored_result result;
        struct err why = { 0 };
        // Only runs over positions have a result of this kind.
        bool positions =
            str_eq(runs.v[i].command, S("eval")) || str_eq(runs.v[i].command, S("optimize"));
        if (runs.v[i].finished && positions &&
            !stored_result_read(runs.v[i].summary, a, &result, &why))
            add_fault(&v, arena_printf(a, "the result of run %lld cannot be read: %s",
                                       (long long)runs.v[i].id, why.text));
        ok = store_calls(s, runs.v[i].id, check_call, &v, err);
    }
    arena_free(&v.scratch);
    return ok;
}

static bool verify(const struct args *args, struct arena *a, struct err *err)
{
    struct store *s = NULL;
    struct store_check check;
    if (!cli_store_open(args, STORE_READ, &s, err))
        return false;
    bool ok = store_check(s, a, &check, err) &&
              (check.faults.n > 0 || check_texts(s, a, &check.faults, err));
    store_close(s);
    if (!ok)
        return false;
    struct buf b = { .arena = a };
    for (size_t i = 0; i < check.faults.n; i++)
        buf_addf(&b, "%.*s\n", STR(text_for_terminal(check.faults.v[i], a)));
    if (check.faults.n == 0)
        buf_addf(&b, "%.*s is sound: %lld runs, %lld calls, %lld programs, each of them read\n",
                 STR(store_name(args)), (long long)check.n_runs, (long long)check.n_calls,
                 (long long)check.n_programs);
    if (!print_str(buf_str(&b), err))
        return false;
    return check.faults.n == 0 ||
           err_set(err, ERR_INPUT,
                   "%.*s: %zu faults found (above); keep a copy, and save what is left with "
                   "`rookery store export` or `sqlite3 FILE .recover`",
                   STR(store_name(args)), check.faults.n);
}

// ---- compact ----

static long long size_of(str path)
{
    struct arena scratch = { 0 };
    struct stat st;
    long long n = stat(arena_str(&scratch, path).data, &st) == 0 ? (long long)st.st_size : 0;
    arena_free(&scratch);
    return n;
}

static bool compact(const struct args *args, struct arena *a, struct err *err)
{
    struct store *s = NULL;
    int64_t n_programs = 0;
    str path = store_name(args);
    if (!cli_store_open(args, STORE_WRITE, &s, err))
        return false;
    long long before = size_of(path);
    bool ok = store_compact(s, &n_programs, err);
    store_close(s);
    return ok && print_str(arena_printf(a,
                                        "%.*s: %lld bytes, was %lld; %lld programs that no call "
                                        "names are removed\n",
                                        STR(path), size_of(path), before, (long long)n_programs),
                           err);
}

// ---- export ----

struct writing {
    struct json_out out;
    struct buf buf;
    struct err *err;
};

static void open_line(struct writing *w, str kind)
{
    w->out = (struct json_out){ .b = &w->buf };
    json_open(&w->out, '{');
    json_key_str(&w->out, S("kind"), kind);
}

static bool close_line(struct writing *w)
{
    json_close(&w->out, '}');
    buf_add_char(&w->buf, '\n');
    return print_gathered(&w->buf, PRINT_MUCH, w->err);
}

static bool write_call(void *ctx, const struct call_place *at, const struct stored_call *c,
                       struct err *err)
{
    (void)err;
    struct writing *w = ctx;
    struct json_out *o = &w->out;
    open_line(w, S("call"));
    json_key_int(o, S("run"), at->run);
    json_key_int(o, S("batch"), at->batch);
    json_key_int(o, S("job"), at->job);
    json_key_int(o, S("ask"), at->ask);
    json_key_str(o, S("phase"), c->phase);
    json_key_str(o, S("request_hash"), c->request_hash);
    json_key_str(o, S("reuse_key"), c->reuse_key);
    json_key_str(o, S("program_hash"), c->program_hash);
    json_key_str(o, S("input_id"), c->input_id);
    json_key_str(o, S("model"), c->model);
    json_key_str(o, S("class"), c->class);
    json_key_double(o, S("cost_usd"), (double)c->cost_nusd / 1e9);
    json_key_str(o, S("cost_source"), c->cost_source);
    json_key_int(o, S("prompt_tokens"), c->input_tok);
    json_key_int(o, S("completion_tokens"), c->output_tok);
    json_key_int(o, S("latency_ms"), c->latency_ms);
    json_key_bool(o, S("reusable"), c->reusable);
    json_key_bool(o, S("failed"), c->failed);
    json_key(o, S("reply"));
    json_put_raw(o, c->reply);
    return close_line(w);
}

static bool write_program(void *ctx, str hash, str json, struct err *err)
{
    (void)err;
    struct writing *w = ctx;
    open_line(w, S("program"));
    json_key_str(&w->out, S("hash"), hash);
    json_key(&w->out, S("program"));
    json_t *value = json_read_strict(json, w->err); // its text has line feeds
    if (!value)
        return err_add(w->err, "program %.8s", hash.data);
    json_put_value(&w->out, value);
    json_decref(value);
    return close_line(w);
}

// Summary and configuration stay texts: a kind of run may keep in them what it likes.
static bool write_run(struct writing *w, const struct store_run *r, struct arena *a)
{
    struct json_out *o = &w->out;
    open_line(w, S("run"));
    json_key_int(o, S("id"), r->id);
    json_key_str(o, S("key"), r->key);
    json_key_int(o, S("ordinal"), r->ordinal);
    json_key_str(o, S("command"), r->command);
    json_key_str(o, S("name"), r->name);
    json_key_str(o, S("model"), r->model);
    json_key_str(o, S("method"), r->method);
    json_key_str(o, S("started"), clock_format_utc(r->started_unix_ms, a));
    json_key_bool(o, S("finished"), r->finished);
    json_key_bool(o, S("simulated"), r->simulated);
    json_key_int(o, S("calls"), r->n_calls);
    json_key_double(o, S("spent_usd"), (double)r->spent_nusd / 1e9);
    json_key_str(o, S("config"), r->config);
    json_key_str(o, S("summary"), r->summary);
    return close_line(w);
}

static bool export_all(const struct args *args, struct arena *a, struct err *err)
{
    struct store *s = NULL;
    struct store_runs runs = { 0 };
    struct writing w = { .buf = { .arena = a, .max = SIZE_MAX / 2 }, .err = err };
    if (!cli_store_open(args, STORE_READ, &s, err))
        return false;
    bool ok = store_runs(s, a, &runs, err) && store_programs(s, write_program, &w, err);
    for (size_t i = 0; ok && i < runs.n; i++)
        ok = write_run(&w, &runs.v[i], a) && store_calls(s, runs.v[i].id, write_call, &w, err);
    store_close(s);
    return ok && print_gathered(&w.buf, PRINT_ALL, err);
}

// ---- merge ----

static bool merge_one(struct store *s, str other, struct arena *a, struct err *err)
{
    struct store_merged m;
    if (!store_merge(s, other, &m, err))
        return false;
    return print_str(
        arena_printf(a,
                     "%.*s: %lld runs added (%lld as further repetitions, because the same run has "
                     "other replies here), %lld filled in, %lld known; %lld calls copied\n",
                     STR(other), (long long)m.n_added, (long long)m.n_moved, (long long)m.n_filled,
                     (long long)m.n_known, (long long)m.n_calls),
        err);
}

static bool merge(const struct args *args, struct arena *a, struct err *err)
{
    struct store *s = NULL;
    if (args->n_positionals == 0)
        return err_set(err, ERR_USAGE, "which store is taken in? rookery store merge OTHER.db");
    if (!store_open(store_name(args), &(struct store_opts){ 0 }, &s, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < args->n_positionals; i++)
        ok = merge_one(s, args->positionals[i], a, err);
    store_close(s);
    return ok;
}

static const struct opt opts[] = {
    { "store", OPT_TEXT, "FILE", "the store [rookery.db]", 0, 0 },
    { 0 },
};

const struct command command_store_verify = {
    .name = "store verify",
    .summary = "read all of a store and tell whether it is sound",
    .usage = "[--store FILE]",
    .about = "Pages, indexes, what must hold between rows, and every reply, program and result.\n"
             "Changes nothing. Exit code 3 where faults are found; each is a line.",
    .opts = { opts },
    .run = verify,
};
const struct command command_store_compact = {
    .name = "store compact",
    .summary = "give back the space of removed runs",
    .usage = "[--store FILE]",
    .about = "Writes the file anew without gaps, and without programs that no call names.",
    .opts = { opts },
    .run = compact,
};
const struct command command_store_export = {
    .name = "store export",
    .summary = "a whole store as JSON Lines",
    .usage = "[--store FILE] > FILE.jsonl",
    .about = "A line for each program, run and call, on standard output; \"kind\" tells which.\n"
             "For predictions with the paper's columns see rookery export.",
    .opts = { opts },
    .run = export_all,
};
const struct command command_store_merge = {
    .name = "store merge",
    .summary = "take the runs of other stores in",
    .usage = "OTHER.db... [--store FILE]",
    .about =
        "Runs that are here already are completed; runs that have other replies here are kept as\n"
        "further repetitions. The other stores stay as they are. Example:\n"
        "  rookery store merge night.db --store study.db",
    .opts = { opts },
    .max_positionals = POSITIONALS_MAX,
    .run = merge,
};

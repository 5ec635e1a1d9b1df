// SPDX-License-Identifier: GPL-3.0-or-later
// run_do.c - a run from its store row to its files: optimise, evaluate, save.
#include "cli/run.h"
#include "version.h"

bool run_begin(struct run *r)
{
    struct run_config *c = &r->config;
    if (!dir_make(c->output_dir, r->err)) // before any money is spent
        return false;
    str path = opt_text(r->args, "store", S("rookery.db"));
    if (!store_open(path, &(struct store_opts){ 0 }, &r->store, r->err))
        return false;
    struct buf b = { .arena = r->arena };
    struct json_out o = { .b = &b };
    config_to_json(c, &o);
    r->row = (struct store_run){ .key = r->key,
                                 .command = str_from(r->args->command->name),
                                 .name = opt_text(r->args, "run-name", S("")),
                                 .model = r->task_model.name,
                                 .method = method_name(c->method),
                                 .config = buf_str(&b),
                                 .simulated = r->task_model.simulated };
    struct store_begin how = { .again = opt_flag(r->args, "again"),
                               .now_unix_ms = clock_unix_ms() };
    if (!store_run_begin(r->store, &how, r->arena, &r->row, r->err))
        return false;
    signals_install();
    r->started_us = r->reported_us = clock_mono_us();
    struct pump_opts opts = {
        .run = r->row.id,
        .spent_nusd = r->row.spent_nusd,
        .max_cost_nusd = (int64_t)(c->rookery.max_cost_usd * 1e9),
        .slots = (int)c->rookery.concurrency,
        .reuse = opt_flag(r->args, "reuse"),
        .jitter_seed = (uint64_t)clock_mono_us(), // spreads retries of programs started together
        .interrupted = &signals_seen,
        .progress = progress_show,
        .progress_context = r,
    };
    r->lab = (struct lab){ .arena = r->arena,
                           .pump = pump_new(&opts, r->store),
                           .seed = c->seed,
                           .continue_on_error = c->continue_on_error };
    return true;
}

bool run_optimize(struct run *r)
{
    const struct run_config *c = &r->config;
    if (c->method == METHOD_BASELINE)
        return true;
    const struct optimizer *optimizer = optimizer_find(method_name(c->method));
    if (!optimizer)
        return err_set(r->err, ERR_USAGE,
                       "the method %.*s is not built yet; available: baseline, "
                       "bootstrap_few_shot",
                       STR(method_name(c->method)));
    struct opt_task task = { .seed = r->program,
                             .train = &r->train,
                             .validation = &r->validation,
                             .model = &r->task_model };
    struct opt_opts opts = { .bootstrap = { .max_bootstrapped = c->optimizer.max_bootstrapped_demos,
                                            .max_labeled = c->optimizer.max_labeled_demos,
                                            .max_rounds = c->optimizer.max_rounds,
                                            .max_errors = c->optimizer.max_errors } };
    r->phase = "optimising";
    int64_t started = clock_mono_us();
    if (!optimizer->run(&r->lab, &task, &opts, &r->compiled, r->err))
        return err_add(r->err, "%.*s", STR(optimizer->name));
    r->program = r->compiled.program;
    r->facts.has_compile = true;
    r->facts.compile_task = r->lab.used;
    r->facts.n_train = (int64_t)r->train.n;
    r->facts.n_validation = (int64_t)r->validation.n;
    if (!opt_flag(r->args, "deterministic"))
        r->facts.compile_s = (double)(clock_mono_us() - started) / 1e6;
    return true;
}

bool run_evaluate(struct run *r)
{
    struct lab_task task = {
        .v = r->test.v, .n = r->test.n, .model = &r->task_model, .samples = r->samples
    };
    r->phase = "evaluating";
    r->started_us = clock_mono_us();
    if (!lab_evaluate_positions(&r->lab, r->program, &task, &r->outcomes, r->err))
        return false;
    tally_positions(r->test.v, r->test.n, r->outcomes, r->samples, &r->tally);
    return true;
}

static void note_measured(struct run *r)
{
    struct run_facts *f = &r->facts;
    const struct pump_stats *s = pump_stats(r->lab.pump);
    f->method = method_name(r->config.method);
    f->preset = r->config.rookery.preset;
    f->simulated = r->task_model.simulated;
    f->version = S(ROOKERY_VERSION);
    f->commit = S(ROOKERY_COMMIT);
    f->spent_usd = (double)s->spent_nusd / 1e9;
    f->n_retries = s->n_retries;
    f->n_new_calls = s->n_calls;
    f->n_replayed_calls = s->n_replayed;
    f->n_reused_calls = s->n_reused;
    f->wall_s = (double)(clock_mono_us() - r->started_us) / 1e6;
}

static str run_config_json(const struct run *r)
{
    struct buf b = { .arena = r->arena };
    struct json_out o = { .b = &b, .indent = 2 };
    json_open(&o, '{');
    json_key(&o, S("config"));
    config_to_json(&r->config, &o);
    json_key(&o, S("datasets"));
    json_open(&o, '{');
    json_key(&o, S("train_sha256"));
    if (r->train_file.sha256.len > 0)
        json_put_str(&o, r->train_file.sha256);
    else
        json_put_null(&o);
    json_key(&o, S("test_sha256"));
    json_put_str(&o, r->test_file.sha256);
    json_close(&o, '}');
    json_key(&o, S("dspy_version"));
    json_put_null(&o);
    json_key(&o, S("rookery"));
    json_open(&o, '{');
    json_key(&o, S("version"));
    json_put_str(&o, S(ROOKERY_VERSION));
    json_key(&o, S("commit"));
    json_put_str(&o, S(ROOKERY_COMMIT));
    json_key(&o, S("preset"));
    json_put_str(&o, r->config.rookery.preset);
    json_key(&o, S("simulated"));
    json_put_bool(&o, r->task_model.simulated);
    json_key(&o, S("base_url"));
    json_put_str(&o, r->task_model.base_url);
    json_key(&o, S("run"));
    json_put_str(&o, r->key);
    json_close(&o, '}');
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

static str compiled_json(const struct run *r)
{
    str extra =
        arena_printf(r->arena, "{\"version\":\"%s\",\"commit\":\"%s\",\"simulated\":%s}",
                     ROOKERY_VERSION, ROOKERY_COMMIT, r->task_model.simulated ? "true" : "false");
    str text = program_to_json(r->program, extra, r->arena);
    return arena_printf(r->arena, "%.*s\n", STR(text));
}

static bool save(const struct run *r, const char *name, str text)
{
    return file_save(path_join(r->config.output_dir, str_from(name), r->arena), text, r->err);
}

// What the store remembers of a finished run: the summary, and each position's fate, so that
// runs can be compared in pairs later.
static str stored_summary(const struct run *r, str summary)
{
    struct buf b = { .arena = r->arena };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key(&o, S("summary"));
    json_put_raw(&o, str_trim(summary));
    json_key(&o, S("positions"));
    json_open(&o, '[');
    for (size_t i = 0; i < r->test.n; i++) {
        const struct outcome *out = &r->outcomes[i * (size_t)r->samples];
        const struct puzzle_record *record = out->record;
        json_open(&o, '[');
        json_put_str(&o, r->test.v[i].puzzle->id);
        json_put_int(&o, r->test.v[i].index);
        json_put_str(&o, answer_kind_name(record->kind));
        json_close(&o, ']');
    }
    json_close(&o, ']');
    json_close(&o, '}');
    return buf_str(&b);
}

bool run_save(struct run *r, str summary)
{
    struct result_set set = { .positions = r->test.v,
                              .n = r->test.n,
                              .out = r->outcomes,
                              .samples = r->samples,
                              .no_times = opt_flag(r->args, "deterministic") };
    return save(r, "results.json", results_json(&set, r->arena)) &&
           save(r, "predictions.jsonl", predictions_jsonl(&set, r->arena)) &&
           save(r, "run_config.json", run_config_json(r)) && save(r, "summary.json", summary) &&
           (r->config.method == METHOD_BASELINE || save(r, "compiled.json", compiled_json(r)));
}

bool run_finish(struct run *r)
{
    progress_clear();
    note_measured(r);
    str summary = summary_json(&r->tally, &r->facts, r->arena);
    if (!run_save(r, summary) ||
        !store_run_finish(r->store, r->row.id, stored_summary(r, summary), clock_unix_ms(), r->err))
        return false;
    return run_print(r, summary);
}

bool run_print(struct run *r, str summary)
{
    if (opt_flag(r->args, "json"))
        return print_str(summary, r->err);
    struct buf b = { .arena = r->arena };
    report_tally(r, &b);
    return print_str(buf_str(&b), r->err);
}

void run_end(struct run *r)
{
    progress_clear();
    pump_free(r->lab.pump);
    store_close(r->store);
    config_free(&r->config);
}

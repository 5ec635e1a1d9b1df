// SPDX-License-Identifier: GPL-3.0-or-later
// run_do.c - a run from its store row to its files: optimise, evaluate, save.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run.h"
#include "cli/study.h"
#include "version.h"

static str config_json(const struct run_config *c, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b, .indent = 2, .depth_ = 1 };
    config_to_json(c, &o);
    return buf_str(&b);
}

str run_store_option(const struct run *r)
{
    const struct opt_value *store = opt_get(r->args, "store");
    return store->set ? arena_printf(r->arena, " --store %.*s", STR(store->text)) : (str){ 0 };
}

// ---- the run directory ----

// The directory that nobody named: command, model, the beginning of the key, and which repetition.
static str default_directory(const struct run *r)
{
    str model = arena_str(r->arena, r->task_model.name);
    char *text = arena_alloc(r->arena, model.len + 1);
    for (size_t i = 0; i < model.len; i++)
        text[i] = model.data[i] == '/' ? '-' : model.data[i];
    char *command = arena_alloc(r->arena, strlen(r->args->command->name) + 1);
    for (size_t i = 0; r->args->command->name[i]; i++)
        command[i] = r->args->command->name[i] == ' ' ? '-' : r->args->command->name[i];
    str dir = arena_printf(r->arena, "runs/%s-%s-%.8s", command, text, r->key.data);
    return r->row.ordinal == 0
               ? dir
               : arena_printf(r->arena, "%.*s-%lld", STR(dir), (long long)r->row.ordinal);
}

// Says so when files of another run are about to be replaced.
static void warn_of_others(const struct run *r)
{
    enum { CONFIG_MAX_BYTES = 1 << 20 };
    str text;
    struct err ignored = { 0 };
    str path = path_join(r->config.output_dir, S("run_config.json"), r->arena);
    if (!file_exists(path) || !file_read(path, CONFIG_MAX_BYTES, r->arena, &text, &ignored))
        return;
    json_t *old = json_read_strict(text, &ignored);
    str key = json_get_str(json_object_get(old, "rookery"), "run");
    if (!str_eq(key, r->key))
        log_line(LOG_WARN, "%.*s holds the files of another run; they will be replaced",
                 STR(r->config.output_dir));
    json_decref(old);
}

// The run's own files would replace the program it starts from.
static bool would_replace_program(const struct run *r)
{
    struct stat program, compiled;
    str path = path_join(r->config.output_dir, S("compiled.json"), r->arena);
    return r->facts.program.len > 0 &&
           stat(arena_str(r->arena, r->facts.program).data, &program) == 0 &&
           stat(path.data, &compiled) == 0 && program.st_dev == compiled.st_dev &&
           program.st_ino == compiled.st_ino;
}

static bool open_directory(struct run *r)
{
    if (!r->has_out)
        r->config.output_dir = default_directory(r);
    if (would_replace_program(r))
        return err_set(r->err, ERR_USAGE,
                       "--out %.*s holds the program that this run reads, and would lose it; name "
                       "another --out",
                       STR(r->config.output_dir));
    warn_of_others(r);
    return dir_make(r->config.output_dir, r->err) &&
           log_open(path_join(r->config.output_dir, S("log.jsonl"), r->arena), r->err);
}

// ---- beginning ----

static bool begin_row(struct run *r, const struct store_begin *how)
{
    return store_run_begin(r->store, how, r->arena, &r->row, r->err);
}

static bool open_row(struct run *r)
{
    const struct run_config *c = &r->config;
    // A named directory first: a run that cannot work there must not begin. The default one is
    // named after the repetition.
    if (r->has_out && !open_directory(r))
        return false;
    str path = opt_text(r->args, "store", S("rookery.db"));
    if (!store_open(path, &(struct store_opts){ 0 }, &r->store, r->err))
        return false;
    r->row = (struct store_run){ .key = r->key,
                                 .command = str_from(r->args->command->name),
                                 .name = opt_text(r->args, "run-name", S("")),
                                 .model = r->task_model.name,
                                 .method = r->facts.method,
                                 .config =
                                     run_config_json(&r->facts, config_json(c, r->arena), r->arena),
                                 .simulated = r->task_model.simulated };
    struct store_begin how = { .again = opt_flag(r->args, "again"),
                               .repeat = opt_int(r->args, "repeat", 0),
                               .now_unix_ms = clock_unix_ms() };
    if (!begin_row(r, &how) || (!r->has_out && !open_directory(r)))
        return false;
    // Again under the lock: another program may have spent or finished meanwhile.
    how.again = false;
    if (!begin_row(r, &how))
        return false;
    r->replayed = r->row.finished;
    return true;
}

bool run_begin(struct run *r)
{
    const struct run_config *c = &r->config;
    if (!open_row(r))
        return false;
    signals_install();
    r->started_us = r->reported_us = clock_mono_us();
    struct pump_opts opts = {
        .run = r->row.id,
        .spent_nusd = r->row.spent_nusd,
        .max_cost_nusd = (int64_t)(c->rookery.max_cost_usd * 1e9),
        .max_day_nusd = (int64_t)(opt_real(r->args, "max-cost-per-day", 0) * 1e9),
        .slots = (int)c->rookery.concurrency,
        .limits = { .fixed = c->rookery.concurrency > 0,
                    .rpm = opt_int(r->args, "rpm", 0),
                    .tpm = opt_int(r->args, "tpm", 0) },
        .ca_file = str_from(getenv("SSL_CERT_FILE")), // as OpenSSL and Python's clients read it
        .engines = r->n_engines,
        .sandbox = r->sandbox,
        .reuse = opt_flag(r->args, "reuse"),
        .jitter_seed = (uint64_t)clock_mono_us(), // spreads retries of programs started together
        .interrupted = &signals_seen,
        .progress = progress_show,
        .progress_context = r,
    };
    study_child_opts(r, &opts);
    r->lab = (struct lab){ .arena = r->arena,
                           .pump = pump_new(&opts, r->store, r->err),
                           .tolerated = r->tolerated,
                           // A finished run is shown as it ended.
                           .continue_on_error = c->continue_on_error || r->replayed };
    return r->lab.pump != NULL;
}

// ---- working ----

bool run_optimize(struct run *r)
{
    const struct run_config *c = &r->config;
    if (c->method == METHOD_BASELINE)
        return true;
    const struct optimizer *optimizer = optimizer_find(method_name(c->method));
    struct opt_watch watch = { .note = explain_event, .ctx = r };
    struct opt_task task = { .lab = &r->lab,
                             .seed = r->program,
                             .train = &r->train,
                             .validation = &r->validation,
                             .model = &r->task_model,
                             .prompt_model = &r->prompt_model,
                             .run_seed = c->seed,
                             .show_solution = c->include_ground_truth_feedback,
                             .max_metric_calls = c->max_metric_calls,
                             .config = &c->optimizer,
                             .watch = &watch };
    r->phase = "optimising";
    r->lab.phase = str_from(r->phase);
    int64_t started = clock_mono_us();
    if (!explain_open(r) || !optimizer->run(&task, &r->compiled, r->err))
        return err_add(r->err, "%.*s", STR(optimizer->name));
    r->program = r->compiled.program;
    r->facts.has_compile = true;
    r->facts.n_saved_calls = r->compiled.n_saved;
    r->facts.compile_task = r->lab.used;
    r->facts.compile_prompt = r->lab.used_prompt;
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
    r->lab.phase = str_from(r->phase);
    r->started_us = clock_mono_us();
    if (!lab_evaluate_positions(&r->lab, r->program, &task, &r->outcomes, r->err))
        return false;
    tally_positions(r->test.v, r->test.n, r->outcomes, r->samples, &r->tally);
    return true;
}

// ---- saving ----

static struct result_set result_set(const struct run *r)
{
    return (struct result_set){ .positions = r->test.v,
                                .n = r->test.n,
                                .out = r->outcomes,
                                .samples = r->samples,
                                .no_times = opt_flag(r->args, "deterministic") };
}

static bool save(const struct run *r, const char *name, str text)
{
    return file_save(path_join(r->config.output_dir, str_from(name), r->arena), text, r->err);
}

// compiled.json, or, for a baseline, none: one of an earlier run would be taken for this one's.
static bool save_compiled(const struct run *r)
{
    str path = path_join(r->config.output_dir, S("compiled.json"), r->arena);
    if (r->config.method == METHOD_BASELINE) {
        unlink(path.data);
        return true;
    }
    str text = program_to_json(r->program, compiled_member_json(&r->facts, r->arena), r->arena);
    return save(r, "compiled.json", arena_printf(r->arena, "%.*s\n", STR(text)));
}

bool run_save(struct run *r, str summary)
{
    struct result_set set = result_set(r);
    str config = run_config_json(&r->facts, config_json(&r->config, r->arena), r->arena);
    return save(r, "results.json", results_json(&set, r->arena)) &&
           save(r, "predictions.jsonl", predictions_jsonl(&set, r->arena)) &&
           save(r, "run_config.json", config) && save(r, "summary.json", summary) &&
           save_compiled(r);
}

static void note_measured(struct run *r)
{
    struct run_facts *f = &r->facts;
    const struct pump_stats *s = pump_stats(r->lab.pump);
    f->spent_usd = (double)s->spent_nusd / 1e9;
    f->prices_as_of = r->task_model.price.date;
    f->n_retries = s->n_retries;
    f->n_new_calls = s->n_calls;
    f->n_replayed_calls = s->n_replayed;
    f->n_reused_calls = s->n_reused;
    f->wall_s = (double)(clock_mono_us() - r->started_us) / 1e6;
}

// What was measured when the run was made stays: a replay measures nothing.
static bool summary_of(struct run *r, str *summary)
{
    struct stored_result stored;
    *summary = summary_json(&r->tally, &r->facts, r->arena);
    if (!r->replayed)
        return true;
    if (!stored_result_read(r->row.summary, r->arena, &stored, r->err))
        return false;
    *summary = stored.summary;
    return true;
}

static bool keep(struct run *r, str *summary)
{
    progress_clear();
    if (r->lab.pump)
        note_measured(r);
    r->facts.simulated |= r->lab.used.n_simulated + r->lab.used_prompt.n_simulated > 0;
    if (!summary_of(r, summary) || !run_save(r, *summary))
        return false;
    struct result_set set = result_set(r);
    r->row.summary = stored_result_write(*summary, &set, r->arena);
    r->row.simulated = r->facts.simulated;
    return r->replayed || store_run_finish(r->store, &r->row, clock_unix_ms(), r->err);
}

bool run_close(struct run *r, str summary)
{
    str config = run_config_json(&r->facts, config_json(&r->config, r->arena), r->arena);
    struct result_set none = { .samples = 1 };
    r->row.summary = stored_result_write(summary, &none, r->arena);
    r->row.simulated = r->facts.simulated;
    return save(r, "run_config.json", config) &&
           (r->replayed || store_run_finish(r->store, &r->row, clock_unix_ms(), r->err));
}

bool run_keep(struct run *r)
{
    str summary;
    return keep(r, &summary);
}

bool run_finish(struct run *r)
{
    str summary;
    if (!keep(r, &summary))
        return false;
    if (opt_flag(r->args, "json"))
        return print_str(summary, r->err);
    struct buf b = { .arena = r->arena };
    report_tally(r, &b);
    return print_str(buf_str(&b), r->err);
}

// ---- from beginning to end ----

// The best that is known of an unfinished run; no result file is written.
static void print_so_far(const struct run *r)
{
    const struct lab_progress *p = &r->lab.progress;
    if (p->n_scored == 0 || p->n_jobs == 1) // bootstrapping works in batches of one
        return;
    struct interval i = stats_wilson_rate(p->score_sum / (double)p->n_scored, (int64_t)p->n_scored);
    printf("so far, %s: %zu of %zu answered, %.2f %% right [%.2f, %.2f]; no result is written "
           "before all are\n",
           r->phase, p->n_done, p->n_jobs, 100 * p->score_sum / (double)p->n_scored, 100 * i.low,
           100 * i.high);
}

bool run_command(const struct args *args, struct arena *a, run_steps *steps, struct err *err)
{
    struct run *r = NEW(a, struct run);
    r->args = args;
    r->arena = a;
    r->err = err;
    bool ok = steps(r);
    progress_clear();
    if (!ok && (err->code == ERR_BUDGET || err->code == ERR_INTERRUPTED))
        print_so_far(r);
    explain_close(r);
    pump_free(r->lab.pump);
    run_close_sandbox(r);
    store_close(r->store);
    config_free(&r->config);
    return ok;
}

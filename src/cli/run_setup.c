// SPDX-License-Identifier: GPL-3.0-or-later
// run_setup.c - from a configuration file and flags to models, data and the identity of a run.
#include <string.h>

#include "cli/run.h"
#include "cli/study.h"
#include "version.h"

// Transport of the paper's runs, where --preset paper is asked for by name (decisions 2.4). The
// default keeps the patience of section 13: it changes no score, only how many calls get through.
enum { PAPER_RETRIES = 1, PAPER_TIMEOUT_S = 30 };

static void set_text(const struct args *args, const char *name, str *where)
{
    *where = opt_text(args, name, *where);
}

static void set_int(const struct args *args, const char *name, int64_t *where)
{
    *where = opt_int(args, name, *where);
}

static void apply_model_flags(const struct args *args, struct model_config *m)
{
    set_text(args, "model", &m->name);
    set_int(args, "max-tokens", &m->max_tokens);
    m->max_tokens_given |= opt_get(args, "max-tokens")->set;
    set_int(args, "retries", &m->retries);
    m->timeout_s = opt_real(args, "timeout", m->timeout_s);
    if (opt_get(args, "temperature")->set) {
        m->has_temperature = true;
        m->temperature = opt_real(args, "temperature", 0);
    }
}

// Named by the flag, the preset's transport holds over the file's, but not over other flags.
static void apply_preset(const struct args *args, struct run_config *c)
{
    if (!str_eq(opt_text(args, "preset", S("")), S("paper")))
        return;
    c->task_model.retries = opt_int(args, "retries", PAPER_RETRIES);
    c->task_model.timeout_s = opt_real(args, "timeout", PAPER_TIMEOUT_S);
}

// --extra replaces the file's. With max_completion_tokens in it max_tokens is not sent.
static bool apply_extra(struct run *r)
{
    const struct opt_value *given = opt_get(r->args, "extra");
    if (!given->set)
        return true;
    json_t *extra = json_read_strict(given->text, r->err);
    if (!extra)
        return err_set(r->err, ERR_USAGE, "--extra: %s", r->err->text);
    if (!json_is_object(extra)) {
        json_decref(extra);
        return err_set(r->err, ERR_USAGE, "--extra must be a JSON object, got \"%.*s\"",
                       STR(given->text));
    }
    json_decref(r->config.task_model.extra);
    r->config.task_model.extra = extra;
    return true;
}

// 0 in the configuration means auto.
static bool apply_concurrency(struct run *r)
{
    enum { CONCURRENCY_MAX = 4096 };
    str given = opt_text(r->args, "concurrency", S(""));
    int64_t *where = &r->config.rookery.concurrency;
    if (str_eq(given, S("auto")))
        *where = 0;
    return given.len == 0 || str_eq(given, S("auto")) ||
           str_to_int(given, 1, CONCURRENCY_MAX, where) ||
           err_set(r->err, ERR_USAGE,
                   "--concurrency must be auto or a number from 1 to %d, got "
                   "\"%.*s\"",
                   CONCURRENCY_MAX, STR(given));
}

static bool apply_flags(struct run *r)
{
    const struct args *args = r->args;
    struct run_config *c = &r->config;
    if (!apply_extra(r))
        return false;
    if (opt_get(args, "base-url")->set && opt_text(args, "base-url", S("")).len == 0)
        return err_set(r->err, ERR_USAGE,
                       "--base-url is empty; leave it out for the provider's own");
    apply_model_flags(args, &c->task_model);
    apply_preset(args, c);
    if (has_option(args, "test"))
        set_text(args, "test", &c->test_path);
    if (has_option(args, "train"))
        set_text(args, "train", &c->train_path);
    if (has_option(args, "validation"))
        set_int(args, "validation", &c->validation_size);
    if (has_option(args, "train-limit"))
        set_int(args, "train-limit", &c->train_limit);
    if (has_option(args, "limit"))
        set_int(args, "limit", &c->test_limit);
    set_text(args, "out", &c->output_dir);
    set_text(args, "preset", &c->rookery.preset);
    if (!apply_concurrency(r))
        return false;
    c->rookery.max_cost_usd = opt_real(args, "max-cost", c->rookery.max_cost_usd);
    c->continue_on_error |= opt_flag(args, "continue-on-error");
    c->seed = (uint64_t)opt_int(args, "seed", (int64_t)c->seed);
    if (!str_eq(c->rookery.preset, S("paper")) && !str_eq(c->rookery.preset, S("improved")))
        return err_set(r->err, ERR_USAGE, "--preset must be paper or improved, got \"%.*s\"",
                       STR(c->rookery.preset));
    return true;
}

// --set and the model that writes prompts.
static bool apply_optimizer_flags(struct run *r)
{
    struct run_config *c = &r->config;
    if (!has_option(r->args, "set"))
        return true;
    if (opt_get(r->args, "set")->set &&
        !config_set(c, opt_text(r->args, "set", S("")), r->arena, r->err))
        return false;
    if (opt_get(r->args, "prompt-model")->set) {
        c->has_prompt_model = true;
        c->prompt_model.name = opt_text(r->args, "prompt-model", S(""));
        if (c->source.len == 0)
            c->prompt_model.temperature = 1; // as of a copy of the task model
    }
    return true;
}

static str methods_here(struct arena *a)
{
    struct buf b = { .arena = a };
    buf_add(&b, S("baseline"));
    for (size_t i = 0; optimizers[i]; i++)
        buf_addf(&b, ", %.*s", STR(optimizers[i]->name));
    return buf_str(&b);
}

static bool unknown_method(str name, struct arena *a, struct err *err)
{
    struct nearest n = { .word = name };
    for (int m = METHOD_BASELINE; m <= METHOD_SIMBA; m++)
        nearest_offer(&n, method_name((enum method)m));
    if (n.name.len > 0)
        return err_set(err, ERR_USAGE, "--method: no such method \"%.*s\"; did you mean %.*s?",
                       STR(name), STR(n.name));
    return err_set(err, ERR_USAGE, "--method: no such method \"%.*s\"; this version has %.*s",
                   STR(name), STR(methods_here(a)));
}

// A method named on the command line drops the file's settings of another one.
static bool apply_method(struct run *r, enum method method)
{
    struct run_config *c = &r->config;
    enum method of_file = c->method;
    const struct opt_value *named =
        has_option(r->args, "method") ? opt_get(r->args, "method") : NULL;
    if (!named)
        c->method = method;
    else if (named->set && !method_parse(named->text, &c->method))
        return unknown_method(named->text, r->arena, r->err);
    if (c->method != of_file)
        c->optimizer.node = NULL;
    return true;
}

// The configuration is written to files, whether a model is asked or not.
static bool no_secrets(struct run *r)
{
    const struct run_config *c = &r->config;
    return (extra_has_no_secret(c->task_model.extra, S(""), r->err) ||
            err_add(r->err, "task_model")) &&
           (extra_has_no_secret(c->prompt_model.extra, S(""), r->err) ||
            err_add(r->err, "prompt_model"));
}

bool run_configure(struct run *r, enum method method)
{
    config_defaults(&r->config);
    r->config.method = method;
    if (r->args->n_positionals > 0 &&
        !config_load(r->args->positionals[0], r->arena, &r->config, r->err))
        return false;
    r->has_out = opt_get(r->args, "out")->set || r->args->n_positionals > 0;
    r->samples = has_option(r->args, "samples") ? (int)opt_int(r->args, "samples", 1) : 1;
    if (has_option(r->args, "predictions") && opt_get(r->args, "predictions")->set)
        r->config.task_model.name = S("recorded/answers"); // no model is asked
    return apply_method(r, method) && apply_flags(r) && apply_optimizer_flags(r) &&
           config_finish(&r->config, r->err) && no_secrets(r);
}

// Opens a model as configured; `base_url` empty: the provider's. `format`: the option that names
// its answer format.
// Whether money has a bound of the run's own, or of the day.
static bool is_capped(const struct run *r)
{
    const struct study_child *child = r->args->child;
    return r->config.rookery.max_cost_usd > 0 || opt_get(r->args, "max-cost-per-day")->set ||
           (child && child->max_day_nusd > 0);
}

static bool open_model(struct run *r, const struct model_config *m, str base_url,
                       const char *format, struct model *out)
{
    struct model_opts opts = {
        .base_url = base_url,
        .has_temperature = m->has_temperature,
        .temperature = m->temperature,
        .max_tokens = m->max_tokens,
        .has_retries = true,
        .retries = (int)m->retries,
        .timeout_ms = (int64_t)(m->timeout_s * 1000),
        .has_format = true,
        .format_if_known = !opt_get(r->args, format)->set,
        .extra = m->extra,
        .allow_plain_http = opt_flag(r->args, "allow-http"),
        .no_key = opt_flag(r->args, "dry-run"), // nothing will be sent
    };
    if (r->args->child)
        r->prices = r->args->child->prices;
    else if (r->prices.n == 0 && !cli_prices(r->args, r->arena, &r->prices, r->err))
        return false;
    opts.prices = &r->prices;
    str mode = opt_text(r->args, format, S("json_object"));
    if (!format_parse(mode, &opts.format))
        return err_set(r->err, ERR_USAGE, "--%s must be none, json_object or schema, got \"%.*s\"",
                       format, STR(mode));
    if (!cli_model_open(m->name, &opts, r->arena, out, r->err))
        return false;
    if (is_capped(r) && !out->price.known)
        return err_set(r->err, ERR_USAGE,
                       "--max-cost: the price of %.*s is not known, so a cap cannot be kept; "
                       "leave the cap out, and bound the run by --limit",
                       STR(m->name));
    return true;
}

// The option that holds for the prompt model: its own, where it is given.
static const char *prompt_format(const struct run *r)
{
    bool own = has_option(r->args, "prompt-format") && opt_get(r->args, "prompt-format")->set;
    return own ? "prompt-format" : "format";
}

// The prompt model is asked where the task model is, unless it is another one with its own place.
static bool open_prompt_model(struct run *r)
{
    const struct run_config *c = &r->config;
    const struct optimizer *optimizer = optimizer_find(method_name(c->method));
    if (!optimizer || !optimizer->writes_prompts)
        return true;
    bool same = str_eq(c->prompt_model.name, c->task_model.name);
    str url = has_option(r->args, "prompt-base-url") ? opt_text(r->args, "prompt-base-url", S(""))
                                                     : S("");
    if (url.len == 0 && same)
        url = opt_text(r->args, "base-url", S(""));
    return open_model(r, &c->prompt_model, url, prompt_format(r), &r->prompt_model) ||
           err_add(r->err, "prompt model");
}

bool run_open_model(struct run *r)
{
    const struct run_config *c = &r->config;
    if (!open_model(r, &c->task_model, opt_text(r->args, "base-url", S("")), "format",
                    &r->task_model) ||
        !open_prompt_model(r))
        return false;
    const struct optimizer *optimizer = optimizer_find(method_name(c->method));
    if (optimizer && !optimizer_accepts(optimizer, &r->task_model, r->err))
        return false;
    if (r->samples > 1 && r->task_model.provider->chooses)
        return err_set(r->err, ERR_USAGE,
                       "--samples: %.*s has no sampling, every answer would be the same",
                       STR(r->task_model.name));
    if (r->samples > 1 && r->task_model.temperature == 0)
        log_line(LOG_WARN, "%d samples at temperature 0 may all be the same", r->samples);
    return true;
}

// ---- data ----

// A puzzle file that is not there: where paths begin, and what there is without any file.
static bool explain_path(struct run *r)
{
    size_t used = strlen(r->err->text);
    if (str_ends(str_from(r->err->text), S("No such file or directory")))
        snprintf(r->err->text + used, sizeof r->err->text - used,
                 "; paths begin at the working directory; builtin:train and builtin:test need no "
                 "file");
    return false;
}

static bool load_test(struct run *r)
{
    struct puzzle_load_opts opts = {
        .strict = opt_flag(r->args, "strict"),
        .filter = { .theme = opt_text(r->args, "theme", S("")),
                    .min_rating = (int)opt_int(r->args, "min-rating", 0),
                    .max_rating = (int)opt_int(r->args, "max-rating", 0),
                    .solver_moves = (int)opt_int(r->args, "solver-moves", 0) },
    };
    if (!puzzles_load(r->config.test_path, &opts, r->arena, &r->test_file, r->err))
        return explain_path(r);
    puzzles_shuffle(&r->test_file, r->config.seed);
    puzzles_expand(&r->test_file, r->arena, &r->test);
    size_t limit = (size_t)r->config.test_limit;
    if (limit > 0 && limit < r->test.n)
        r->test.n = limit;
    return true;
}

static bool load_train(struct run *r)
{
    struct puzzle_load_opts opts = { .strict = opt_flag(r->args, "strict") };
    struct puzzle_split_opts split = { .seed = r->config.seed,
                                       .validation_size = (size_t)r->config.validation_size,
                                       .train_limit = (size_t)r->config.train_limit };
    struct puzzle_split parts = { 0 };
    if (!puzzles_load(r->config.train_path, &opts, r->arena, &r->train_file, r->err))
        return explain_path(r);
    if (!puzzles_split(&r->train_file, &split, r->arena, &parts, r->err))
        return err_add(r->err, "%.*s", STR(r->config.train_path));
    puzzles_expand(&parts.train, r->arena, &r->train);
    puzzles_expand(&parts.validation, r->arena, &r->validation);
    return true;
}

static bool load_program(struct run *r)
{
    str path = opt_text(r->args, "program", S(""));
    if (path.len > 0) {
        if (!cli_program_load(path, r->arena, &r->program, r->err))
            return false;
        const struct provider *p = r->task_model.provider;
        return !p || !p->chooses || r->program->signature->n_outputs == 1 ||
               err_set(r->err, ERR_USAGE,
                       "%.*s: the program asks for an analysis, and %.*s writes no text", STR(path),
                       STR(r->task_model.name));
    }
    r->program = program_new(
        r->arena, r->config.use_analysis ? &signature_choose_move_analysis : &signature_choose_move,
        instruction_base);
    return true;
}

// ---- what is evaluated ----

// The filter of the test puzzles as the options that made it.
static str filter_text(const struct run *r)
{
    static const char *const names[] = { "theme", "min-rating", "max-rating", "solver-moves" };
    struct buf b = { .arena = r->arena };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        str value = has_option(r->args, names[i]) ? opt_text(r->args, names[i], S("")) : S("");
        if (value.len > 0)
            buf_addf(&b, "%s--%s %.*s", b.len > 0 ? " " : "", names[i], STR(value));
    }
    return buf_str(&b);
}

static void note_facts(struct run *r)
{
    r->facts = (struct run_facts){
        .version = S(ROOKERY_VERSION),
        .commit = S(ROOKERY_COMMIT),
        .model = r->task_model.name,
        .method = method_name(r->config.method),
        .preset = r->config.rookery.preset,
        .base_url = r->task_model.base_url,
        .format = format_name(r->task_model.format),
        .program = opt_text(r->args, "program", S("")),
        .program_hash = program_hash(r->program, r->arena),
        .train_sha256 = r->train_file.sha256,
        .test_sha256 = r->test_file.sha256,
        .filter = filter_text(r),
        .n_rejected = (int64_t)r->test_file.n_rejected,
        .simulated = r->task_model.simulated,
        .n_train = (int64_t)r->train.n,
        .n_validation = (int64_t)r->validation.n,
    };
}

// SHA-256 over everything that can change a result; not over concurrency, money, output folder,
// patience or presentation (decisions 1.4).
static str run_key(const struct run *r)
{
    const struct run_facts *f = &r->facts;
    struct run_config c = r->config;
    c.output_dir = c.train_path = c.test_path = (str){ 0 };
    c.continue_on_error = false;
    c.task_model.retries = c.prompt_model.retries = 0;
    c.task_model.timeout_s = c.prompt_model.timeout_s = 0;
    struct buf b = { .arena = r->arena };
    struct json_out o = { .b = &b };
    json_open(&o, '[');
    config_to_json(&c, &o);
    const str others[] = { f->preset,        f->base_url,     r->task_model.identity,
                           f->format,        f->train_sha256, f->test_sha256,
                           f->program_hash,  f->filter,       opt_text(r->args, "run-name", S("")),
                           r->answers_sha256 };
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        json_put_str(&o, others[i]);
    json_put_int(&o, r->samples);
    if (r->key_extra.len > 0)
        json_put_str(&o, r->key_extra);
    if (c.method != METHOD_BASELINE) {
        config_options_to_json(&c, &o);
        json_put_str(&o, r->prompt_model.base_url);
        json_put_str(&o, r->prompt_model.identity);
        if (str_eq(str_from(prompt_format(r)), S("prompt-format")))
            json_put_str(&o, format_name(r->prompt_model.format));
    }
    json_close(&o, ']');
    return sha256_of(buf_str(&b), r->arena);
}

bool run_load_program(struct run *r)
{
    if (!load_program(r))
        return false;
    note_facts(r);
    r->key = r->facts.key = run_key(r);
    return true;
}

bool run_load(struct run *r)
{
    if (!load_program(r) || !load_test(r))
        return false;
    if (r->config.method != METHOD_BASELINE && !load_train(r))
        return false;
    note_facts(r);
    r->key = r->facts.key = run_key(r);
    return true;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// run_config.c - the run configuration: defaults, the file over them, and what must hold between
// keys once the flags of the command line were applied over the file.
#include "config/internal.h"

void config_model_defaults(struct model_config *m)
{
    *m = (struct model_config){
        .has_temperature = true,
        .max_tokens = 1024,
        .retries = 3,
        .extra = json_object(),
    };
}

void config_defaults(struct run_config *c)
{
    str train = S("data/puzzle_train.csv"), test = S("data/puzzle_test.csv");
    *c = (struct run_config){
        .train_path = file_exists(train) ? train : S("builtin:train"),
        .test_path = file_exists(test) ? test : S("builtin:test"),
        .output_dir = S("runs/example"),
        .seed = 42,
        .validation_size = 140,
        .max_metric_calls = 2000,
        .rookery = { .preset = S("paper") },
    };
    config_model_defaults(&c->task_model);
    config_model_defaults(&c->prompt_model);
}

void config_free(struct run_config *c)
{
    json_decref(c->task_model.extra);
    json_decref(c->prompt_model.extra);
    c->task_model.extra = c->prompt_model.extra = NULL;
}

static bool read_optimizer(struct run_config *c, struct err *err)
{
    c->optimizer.options = c->rookery.options;
    return optimizer_read(&c->optimizer, c->method, c->rookery.preset,
                          &(struct where){ .path = c->source }, err);
}

// The mapping is written as YAML's flow style has it, so that one reader serves both.
bool config_set(struct run_config *c, str text, struct arena *a, struct err *err)
{
    struct buf b = { .arena = a };
    struct yaml_node *node = NEW(a, struct yaml_node);
    buf_add_char(&b, '{');
    while (text.len > 0) {
        str value = str_cut(&text, ',');
        str key = str_trim(str_cut(&value, '='));
        if (key.len == 0 || value.len == 0)
            return err_set(err, ERR_USAGE,
                           "--set takes KEY=VALUE, several separated by commas, such as "
                           "breadth=5,copro.proposals=full");
        buf_addf(&b, "%.*s: %.*s,", STR(key), STR(value));
    }
    buf_add_char(&b, '}');
    if (!yaml_parse(S("--set"), buf_str(&b), a, node, err)) {
        err->code = ERR_USAGE;
        return false;
    }
    c->optimizer.set = node;
    return true;
}

bool config_load(str path, struct arena *a, struct run_config *c, struct err *err)
{
    str text;
    struct yaml_node *root = NEW(a, struct yaml_node); // the optimizer's mapping stays in use
    if (!file_read(path, YAML_MAX_BYTES, a, &text, err) || !yaml_parse(path, text, a, root, err))
        return false;
    if (root->kind != YAML_MAP)
        return err_set(err, ERR_INPUT,
                       "%.*s:%d: a configuration is a mapping of keys to values, such as "
                       "`benchmark: independent_positions`",
                       STR(path), root->line);
    c->source = arena_str(a, path);
    if (!rules_read(&run_rules, root, &(struct where){ path, { 0 } }, c, err))
        return false;
    if (!yaml_get(root, S("benchmark")))
        return err_set(err, ERR_INPUT,
                       "%.*s: the key 'benchmark' is missing: add `benchmark: "
                       "independent_positions`",
                       STR(path));
    const struct yaml_node *prompt_model = yaml_get(root, S("prompt_model"));
    if (prompt_model)
        c->has_prompt_model = prompt_model->kind == YAML_MAP;
    return read_optimizer(c, err);
}

// ---- between keys ----

// "FILE: " before a sentence, where there is a file. The fault is the file's or the flags'.
static bool fail(const struct run_config *c, struct err *err, const char *text)
{
    if (c->source.len == 0)
        return err_set(err, ERR_USAGE, "%s", text);
    return err_set(err, ERR_INPUT, "%.*s: %s", STR(c->source), text);
}

static bool is_decision_model(const struct model_config *m)
{
    return str_starts(m->name, S("typesafe/jev-"));
}

static bool is_bootstrap(enum method m)
{
    return m == METHOD_BOOTSTRAP_FEW_SHOT || m == METHOD_BOOTSTRAP_RANDOM_SEARCH;
}

// The decision endpoint chooses among options: it writes no text and takes no sampling settings.
static bool check_decision(struct run_config *c, struct err *err)
{
    if (c->has_prompt_model && is_decision_model(&c->prompt_model))
        return fail(c, err,
                    "prompt_model cannot be a decision model: it writes no text; name another");
    if (!is_decision_model(&c->task_model))
        return true;
    if (c->task_model.temperature != 0)
        return fail(c, err, "task_model.temperature must be 0 for a decision model");
    if (c->task_model.max_tokens_given && c->task_model.max_tokens != 0)
        return fail(c, err, "task_model.max_tokens must be absent or null for a decision model");
    if (json_object_size(c->task_model.extra) > 0)
        return fail(c, err, "task_model.extra must be empty for a decision model");
    if (c->method == METHOD_SIMBA)
        return fail(c, err,
                    "method simba cannot use a decision model: it learns from the better and the "
                    "worse of several answers to one position, and that model has no sampling; "
                    "choose another of both");
    if (c->use_analysis)
        return fail(c, err, "use_analysis must be false for a decision model: it writes no text");
    if (c->method != METHOD_BASELINE && !c->has_prompt_model)
        return fail(c, err,
                    "a decision model needs an explicit prompt_model with every method but "
                    "baseline: add one");
    if (is_bootstrap(c->method) && c->optimizer.max_rounds != 1)
        return fail(c, err, "optimizer.max_rounds must be 1 for a decision model");
    c->task_model.max_tokens = 0;
    return true;
}

// The budget of MIPROv2 is either a name or two numbers.
static bool check_mipro(const struct run_config *c, struct err *err)
{
    const struct optimizer_config *o = &c->optimizer;
    if (o->budget != BUDGET_NONE && (o->num_candidates > 0 || o->num_trials > 0))
        return fail(c, err,
                    "optimizer.num_candidates and optimizer.num_trials are allowed only with "
                    "`auto: null`");
    if (o->budget == BUDGET_NONE && (o->num_candidates == 0 || o->num_trials == 0))
        return fail(c, err,
                    "optimizer.num_candidates and optimizer.num_trials are both needed with "
                    "`auto: null`");
    return true;
}

void config_copy_prompt_model(struct run_config *c)
{
    json_incref(c->task_model.extra);
    json_decref(c->prompt_model.extra);
    c->prompt_model = c->task_model;
    c->prompt_model.has_temperature = true;
    c->prompt_model.temperature = 1.0;
    c->has_prompt_model = true;
}

bool config_finish(struct run_config *c, struct err *err)
{
    if (c->task_model.name.len == 0)
        return fail(c, err,
                    "no model: write `task_model: {name: provider/model}` in the configuration, "
                    "or give --model");
    // A flag may have changed the method for which the mapping was checked.
    if (!read_optimizer(c, err) || !check_decision(c, err) ||
        (c->method == METHOD_MIPRO_V2 && !check_mipro(c, err)))
        return false;
    if (c->method != METHOD_BASELINE && !c->has_prompt_model)
        config_copy_prompt_model(c);
    return true;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// run_json.c - the resolved configuration as run_config.json has it: every key, in the order of the
// specification, numbers as Python writes them.
#include "config/internal.h"

static void put_text(struct json_out *o, str key, str value)
{
    json_key(o, key);
    json_put_str(o, value);
}

static void put_int(struct json_out *o, str key, int64_t value)
{
    json_key(o, key);
    json_put_int(o, value);
}

static void put_bool(struct json_out *o, str key, bool value)
{
    json_key(o, key);
    json_put_bool(o, value);
}

static void put_model(struct json_out *o, const struct model_config *m)
{
    json_open(o, '{');
    put_text(o, S("name"), m->name);
    json_key(o, S("temperature"));
    json_put_double(o, m->temperature);
    json_key(o, S("max_tokens"));
    if (m->max_tokens > 0)
        json_put_int(o, m->max_tokens);
    else
        json_put_null(o);
    put_int(o, S("retries"), m->retries);
    json_key(o, S("timeout_seconds"));
    if (m->timeout_s > 0)
        json_put_double(o, m->timeout_s);
    else
        json_put_null(o);
    json_key(o, S("extra"));
    json_put_value(o, m->extra);
    json_close(o, '}');
}

// Optimizer values are numbers, booleans, words and null.
static void put_scalar(struct json_out *o, const struct yaml_node *n)
{
    if (n->kind == YAML_INT)
        json_put_int(o, n->integer);
    else if (n->kind == YAML_BOOL)
        json_put_bool(o, n->boolean);
    else if (n->kind == YAML_STR)
        json_put_str(o, n->text);
    else
        json_put_null(o);
}

static void put_optimizer(struct json_out *o, const struct optimizer_config *c, enum method method)
{
    const struct rules *rules = optimizer_rules(method);
    json_open(o, '{');
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule *r = &rules->v[i];
        const struct yaml_node *n = yaml_get(c->node, str_from(r->name));
        json_key(o, str_from(r->name));
        if (r->at != NOWHERE)
            json_put_int(o, *(const int64_t *)(const void *)((const char *)c + r->at));
        else if (n)
            put_scalar(o, n);
        else
            json_put_raw(o, str_from(r->preset));
    }
    json_close(o, '}');
}

void config_to_json(const struct run_config *c, struct json_out *o)
{
    json_open(o, '{');
    put_text(o, S("benchmark"), S("independent_positions"));
    put_text(o, S("method"), method_name(c->method));
    put_text(o, S("train_path"), c->train_path);
    put_text(o, S("test_path"), c->test_path);
    put_text(o, S("output_dir"), c->output_dir);
    json_key(o, S("task_model"));
    put_model(o, &c->task_model);
    json_key(o, S("prompt_model"));
    if (c->has_prompt_model)
        put_model(o, &c->prompt_model);
    else
        json_put_null(o);
    put_int(o, S("seed"), (int64_t)c->seed);
    put_int(o, S("train_limit"), c->train_limit);
    put_int(o, S("validation_size"), c->validation_size);
    put_int(o, S("test_limit"), c->test_limit);
    put_int(o, S("max_metric_calls"), c->max_metric_calls);
    json_key(o, S("optimizer"));
    put_optimizer(o, &c->optimizer, c->method);
    put_bool(o, S("use_analysis"), c->use_analysis);
    put_bool(o, S("include_ground_truth_feedback"), c->include_ground_truth_feedback);
    put_bool(o, S("continue_on_error"), c->continue_on_error);
    json_close(o, '}');
}

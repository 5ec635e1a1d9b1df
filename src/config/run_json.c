// SPDX-License-Identifier: GPL-3.0-or-later
// run_json.c - the resolved configuration as run_config.json has it: every key, in the order of the
// specification, numbers as Python writes them.
#include "config/internal.h"

static void put_model(struct json_out *o, const struct model_config *m)
{
    json_open(o, '{');
    json_key_str(o, S("name"), m->name);
    json_key_double(o, S("temperature"), m->temperature);
    if (m->max_tokens > 0)
        json_key_int(o, S("max_tokens"), m->max_tokens);
    else
        json_key_null(o, S("max_tokens"));
    json_key_int(o, S("retries"), m->retries);
    if (m->timeout_s > 0)
        json_key_double(o, S("timeout_seconds"), m->timeout_s);
    else
        json_key_null(o, S("timeout_seconds"));
    json_key(o, S("extra"));
    json_put_value(o, m->extra);
    json_close(o, '}');
}

void config_put_members(const struct run_config *c, struct json_out *o)
{
    json_key_str(o, S("benchmark"), S("independent_positions"));
    json_key_str(o, S("method"), method_name(c->method));
    json_key_str(o, S("train_path"), c->train_path);
    json_key_str(o, S("test_path"), c->test_path);
    json_key_str(o, S("output_dir"), c->output_dir);
    json_key(o, S("task_model"));
    put_model(o, &c->task_model);
    json_key(o, S("prompt_model"));
    if (c->has_prompt_model)
        put_model(o, &c->prompt_model);
    else
        json_put_null(o);
    json_key_int(o, S("seed"), (int64_t)c->seed);
    json_key_int(o, S("train_limit"), c->train_limit);
    json_key_int(o, S("validation_size"), c->validation_size);
    json_key_int(o, S("test_limit"), c->test_limit);
    json_key_int(o, S("max_metric_calls"), c->max_metric_calls);
    json_key(o, S("optimizer"));
    optimizer_to_json(&c->optimizer, c->method, o);
    json_key_bool(o, S("use_analysis"), c->use_analysis);
    json_key_bool(o, S("include_ground_truth_feedback"), c->include_ground_truth_feedback);
    json_key_bool(o, S("continue_on_error"), c->continue_on_error);
}

void config_to_json(const struct run_config *c, struct json_out *o)
{
    json_open(o, '{');
    config_put_members(c, o);
    json_close(o, '}');
}

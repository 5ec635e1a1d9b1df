// SPDX-License-Identifier: GPL-3.0-or-later
// config.h - YAML 1.1 files with line numbers, as PyYAML's safe loader reads them, and the run
// configuration of the paper's tool (paper-files specification, section 1).
#pragma once
#include "config/optimizer_config.h"

// ---- YAML ----

enum yaml_kind {
    YAML_NULL,
    YAML_BOOL,
    YAML_INT,
    YAML_FLOAT,
    YAML_STR,
    YAML_TIMESTAMP, // a plain date or time: its text where a text is wanted, else a type error
    YAML_LIST,
    YAML_MAP,
};
struct yaml_node {
    enum yaml_kind kind;
    int line; // from 1
    str text; // the scalar as written (quotes removed)
    bool boolean;
    int64_t integer;
    double real;             // also set for YAML_INT
    struct yaml_pair *pairs; // of a map, in order; keys are unique
    struct yaml_node *items; // of a list
    size_t n;                // pairs or items
};
struct yaml_pair {
    str key;
    int key_line;
    struct yaml_node value;
};
enum { YAML_MAX_BYTES = 1 << 20, YAML_MAX_DEPTH = 32, YAML_MAX_NODES = 100000 };
// Reads exactly one document of UTF-8. Syntax errors, duplicate keys, keys that are no texts,
// anchors of unbounded expansion and tags other than !!null, bool, int, float, str, timestamp, seq
// and map are ERR_INPUT with "FILE:LINE: what". Texts in `a`.
MUST_CHECK bool yaml_parse(str path, str text, struct arena *a, struct yaml_node *out,
                           struct err *err);
// The value of a key, or NULL.
const struct yaml_node *yaml_get(const struct yaml_node *map, str key);
// A node as JSON (for the `extra` of models), owned by the caller. Dates, infinite and NaN floats
// are refused as ERR_INPUT.
MUST_CHECK bool yaml_to_json(const struct yaml_node *n, str path, json_t **out, struct err *err);

// ---- the run configuration ----

struct model_config {
    str name;
    bool has_temperature;
    double temperature;    // [0.0]
    int64_t max_tokens;    // [1024]; 0: null
    bool max_tokens_given; // by the file or a flag; a decision model takes none
    int64_t retries;       // [3]
    double timeout_s;      // [null]; 0: null
    json_t *extra;         // object; never NULL after config_defaults
};
struct run_config {
    str source; // the file that config_load read, for messages; empty: none
    enum method method;
    str train_path, test_path, output_dir;
    struct model_config task_model, prompt_model;
    bool has_prompt_model;
    uint64_t seed;
    int64_t train_limit, validation_size, test_limit, max_metric_calls;
    struct optimizer_config optimizer;
    bool use_analysis, include_ground_truth_feedback, continue_on_error;
    struct rookery_config {              // top-level key `rookery`
        str preset;                      // "paper" or "improved"
        double max_cost_usd;             // 0: none
        int64_t concurrency;             // 0: auto
        const struct yaml_node *options; // as written; read into optimizer_config
    } rookery;
};
// All defaults of section 1; task_model.name stays empty. The paths are the built-in data where the
// default files do not exist. Released with config_free.
void config_defaults(struct run_config *c);
void config_free(struct run_config *c); // the `extra` objects
// Reads a file over `c`: unknown keys (with the nearest known one), wrong types, values out of
// range and keys of another method are ERR_INPUT with "FILE:LINE: ...".
MUST_CHECK bool config_load(str path, struct arena *a, struct run_config *c, struct err *err);
// Makes prompt_model a copy of task_model, at the temperature of proposals (1.0).
void config_copy_prompt_model(struct run_config *c);
// Checks between keys (section 1: decision model, simba, prompt_model, ...), after flags were
// applied over the file, and fills the prompt_model copy and defaults that depend on the method.
MUST_CHECK bool config_finish(struct run_config *c, struct err *err);
// The member `config` of run_config.json: every key of section 1 with its resolved value, without
// `rookery`, so that it stays valid for the paper's tool. After config_finish.
void config_to_json(const struct run_config *c, struct json_out *o);
// Our own options that bear on the run's method, as an object: part of the run's identity.
void config_options_to_json(const struct run_config *c, struct json_out *o);
// ---- a study: a grid of runs ----

struct study_model {
    struct model_config config;
    str label;            // in tables [the model's name]
    str base_url, format; // as the flags of eval; empty: none
};
struct study_config {
    str name;               // tells the runs of this study apart in the store
    struct run_config base; // what all runs share
    struct study_models {
        struct study_model *v;
        size_t n, cap;
    } models;
    enum method methods[METHOD_SIMBA + 1];
    size_t n_methods;
    int64_t *seeds;
    size_t n_seeds;
    int64_t baseline_repeats;          // [3]
    const struct yaml_node *optimizer; // settings by method, or NULL
    const struct yaml_node *rookery;
};
// Reads a study: the keys of a run configuration without method, seed and task_model, and besides
// `study`, `models` (a list of model mappings with label, base_url, format), `methods` [all],
// `seeds` [42, 43, 44], `baseline_repeats`; `optimizer` maps methods to their settings. Faults are
// ERR_INPUT with FILE:LINE. Released with study_free.
MUST_CHECK bool study_load(str path, struct arena *a, struct study_config *out, struct err *err);
void study_free(struct study_config *s);
struct study_run { // one run of the grid
    const struct study_model *model;
    enum method method;
    int64_t seed;
};
// Its configuration, checked. Released with config_free.
MUST_CHECK bool study_run_config(const struct study_config *s, const struct study_run *run,
                                 struct run_config *out, struct err *err);
// A run configuration as a file that config_load reads, with the study's own settings (not its
// budget).
str study_run_file(const struct study_config *s, const struct run_config *c, struct arena *a);

// The table of those options and their presets, for people.
void config_options_table(struct buf *out);
// Adds "key=value,key=value" as a mapping over the file's (`set` of optimizer_config). ERR_USAGE.
MUST_CHECK bool config_set(struct run_config *c, str text, struct arena *a, struct err *err);

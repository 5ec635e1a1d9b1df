// SPDX-License-Identifier: GPL-3.0-or-later
// study.c - a grid of runs from one file: models x methods x seeds. What all runs share is a run
// configuration; its reader reads it here too, so a key means the same in both files.
#include "config/internal.h"

enum { SEEDS_MAX = 1000, MODELS_MAX = 1000 };

static const struct rule study_model_keys[] = {
    { "label", RULE_TEXT, .at = offsetof(struct study_model, label) },
    { "base_url", RULE_TEXT, .at = offsetof(struct study_model, base_url) },
    { "format", RULE_TEXT, .at = offsetof(struct study_model, format) },
};
static const struct rules study_model_rules = { study_model_keys, ARRAY_LEN(study_model_keys) };
static const struct rule study_keys[] = {
    { "study", RULE_TEXT, .at = offsetof(struct study_config, name) },
    { "baseline_repeats", RULE_INT, .min = 1, .max = 1000,
      .at = offsetof(struct study_config, baseline_repeats) },
};
static const struct rules study_rules = { study_keys, ARRAY_LEN(study_keys) };
// Read here by hand, each as its own function says.
static const char *const own_lists[] = { "models", "methods", "seeds", "optimizer" };
// A study decides these itself.
static const char *const not_here[] = { "method", "seed", "task_model" };

struct reading {
    str path;
    struct arena *arena;
    struct study_config *out;
    struct err *err;
};

static bool is_one_of(str key, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(key, str_from(words[i])))
            return true;
    return false;
}

static bool fault(const struct reading *r, int line, const char *what)
{
    return err_set(r->err, ERR_INPUT, "%.*s:%d: %s", STR(r->path), line, what);
}

// The pairs of a map for one reader; the rest for the other.
static struct yaml_node part_of(const struct yaml_node *map, const struct rules *rules, bool with,
                                struct arena *a)
{
    struct yaml_node part = *map;
    part.pairs = NEW_ARRAY(a, struct yaml_pair, map->n + 1);
    part.n = 0;
    for (size_t i = 0; i < map->n; i++)
        if ((rule_find(rules, map->pairs[i].key) != NULL) == with)
            part.pairs[part.n++] = map->pairs[i];
    return part;
}

static bool read_model(const struct reading *r, const struct yaml_node *n, size_t index)
{
    struct study_model *m = vec_push(r->arena, &r->out->models);
    str prefix = arena_printf(r->arena, "models[%zu].", index);
    struct where where = { r->path, prefix };
    config_model_defaults(&m->config);
    if (n->kind == YAML_STR) { // a name alone
        m->config.name = m->label = n->text;
        return str_find_char(n->text, '/') > 0 ||
               fault(r, n->line, "a model is provider/model, such as openai/gpt-4o-mini");
    }
    if (n->kind != YAML_MAP)
        return fault(r, n->line, "each of models is a name or a mapping with `name`");
    struct yaml_node ours = part_of(n, &study_model_rules, true, r->arena);
    struct yaml_node theirs = part_of(n, &study_model_rules, false, r->arena);
    if (!yaml_get(n, S("name")))
        return fault(r, n->line, "a model without a name: add `name: provider/model`");
    if (!rules_read(&study_model_rules, &ours, &where, m, r->err) ||
        !rules_read(&model_rules, &theirs, &where, &m->config, r->err))
        return false;
    m->config.max_tokens_given = yaml_get(n, S("max_tokens")) != NULL;
    if (m->label.len == 0)
        m->label = m->config.name;
    return true;
}

static bool read_models(const struct reading *r, const struct yaml_node *list)
{
    if (!list || list->kind != YAML_LIST || list->n == 0 || list->n > MODELS_MAX)
        return fault(r, list ? list->line : 1, "models must be a list of at least one model");
    for (size_t i = 0; i < list->n; i++)
        if (!read_model(r, &list->items[i], i))
            return false;
    const struct study_models *m = &r->out->models;
    for (size_t i = 0; i < m->n; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(m->v[i].label, m->v[k].label))
                return fault(r, list->items[i].line,
                             "two models with the same label: give one "
                             "another `label`");
    return true;
}

static bool read_methods(const struct reading *r, const struct yaml_node *list)
{
    struct study_config *s = r->out;
    if (!list) {
        for (int m = METHOD_BASELINE; m <= METHOD_SIMBA; m++)
            s->methods[s->n_methods++] = (enum method)m;
        return true;
    }
    if (list->kind != YAML_LIST || list->n == 0)
        return fault(r, list->line, "methods must be a list of method names");
    for (size_t i = 0; i < list->n; i++) {
        enum method m;
        if (list->items[i].kind != YAML_STR || !method_parse(list->items[i].text, &m))
            return fault(r, list->items[i].line,
                         "no such method; see `method` of a run "
                         "configuration for their names");
        for (size_t k = 0; k < s->n_methods; k++)
            if (s->methods[k] == m)
                return fault(r, list->items[i].line, "this method is named twice");
        s->methods[s->n_methods++] = m;
    }
    return true;
}

static bool read_seeds(const struct reading *r, const struct yaml_node *list)
{
    static const int64_t paper[] = { 42, 43, 44 };
    struct study_config *s = r->out;
    s->n_seeds = list ? list->n : ARRAY_LEN(paper);
    if (list && (list->kind != YAML_LIST || list->n == 0 || list->n > SEEDS_MAX))
        return fault(r, list->line, "seeds must be a list of whole numbers");
    s->seeds = NEW_ARRAY(r->arena, int64_t, s->n_seeds);
    for (size_t i = 0; i < s->n_seeds; i++) {
        if (list && (list->items[i].kind != YAML_INT || list->items[i].integer < 0))
            return fault(r, list->items[i].line, "a seed is a whole number of 0 or more");
        s->seeds[i] = list ? list->items[i].integer : paper[i];
        for (size_t k = 0; k < i; k++)
            if (s->seeds[k] == s->seeds[i])
                return fault(r, list->line, "a seed is named twice");
    }
    return true;
}

// The settings of each method are checked when its first run is.
static bool read_optimizer(const struct reading *r, const struct yaml_node *map)
{
    enum method m;
    r->out->optimizer = map;
    if (map && map->kind != YAML_MAP)
        return fault(r, map->line, "optimizer must be a mapping of methods to their settings");
    for (size_t i = 0; map && i < map->n; i++)
        if (!method_parse(map->pairs[i].key, &m) || map->pairs[i].value.kind != YAML_MAP)
            return fault(r, map->pairs[i].key_line,
                         "optimizer maps methods to their settings, such as `copro: {depth: 2}`");
    return true;
}

// What is left for the run configuration's own reader.
static bool read_shared(const struct reading *r, const struct yaml_node *root)
{
    struct yaml_node ours = part_of(root, &study_rules, true, r->arena);
    struct yaml_node rest = part_of(root, &study_rules, false, r->arena);
    struct yaml_node shared = rest;
    shared.n = 0;
    for (size_t i = 0; i < rest.n; i++) {
        const struct yaml_pair *p = &rest.pairs[i];
        if (is_one_of(p->key, not_here, ARRAY_LEN(not_here)))
            return fault(r, p->key_line, "a study has lists instead: models, methods, seeds");
        if (!is_one_of(p->key, own_lists, ARRAY_LEN(own_lists)))
            shared.pairs[shared.n++] = *p;
    }
    return rules_read(&study_rules, &ours, &(struct where){ .path = r->path }, r->out, r->err) &&
           rules_read(&run_rules, &shared, &(struct where){ .path = r->path }, &r->out->base,
                      r->err);
}

bool study_load(str path, struct arena *a, struct study_config *out, struct err *err)
{
    str text;
    struct yaml_node *root = NEW(a, struct yaml_node);
    struct reading r = { path, a, out, err };
    *out = (struct study_config){ .baseline_repeats = 3 };
    config_defaults(&out->base);
    out->base.output_dir = (str){ 0 };
    out->base.source = arena_str(a, path);
    if (!file_read(path, YAML_MAX_BYTES, a, &text, err) || !yaml_parse(path, text, a, root, err))
        return false;
    if (root->kind != YAML_MAP)
        return fault(&r, root->line,
                     "a study is a mapping of keys to values, such as `study: NAME`");
    if (!read_shared(&r, root))
        return false;
    if (out->name.len == 0)
        return fault(&r, root->line, "the key 'study' is missing: add `study: NAME`");
    out->base.has_prompt_model =
        yaml_get(root, S("prompt_model")) && yaml_get(root, S("prompt_model"))->kind == YAML_MAP;
    out->rookery = yaml_get(root, S("rookery"));
    return read_models(&r, yaml_get(root, S("models"))) &&
           read_methods(&r, yaml_get(root, S("methods"))) &&
           read_seeds(&r, yaml_get(root, S("seeds"))) &&
           read_optimizer(&r, yaml_get(root, S("optimizer")));
}

void study_free(struct study_config *s)
{
    config_free(&s->base);
    for (size_t i = 0; i < s->models.n; i++)
        json_decref(s->models.v[i].config.extra);
    s->models.n = 0;
}

bool study_run_config(const struct study_config *s, const struct study_run *run,
                      struct run_config *out, struct err *err)
{
    *out = s->base;
    out->method = run->method;
    out->seed = (uint64_t)run->seed;
    out->task_model = run->model->config;
    json_incref(out->task_model.extra);
    json_incref(out->prompt_model.extra);
    out->optimizer.node = yaml_get(s->optimizer, method_name(run->method));
    return config_finish(out, err);
}

str study_run_file(const struct study_config *s, const struct run_config *c, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b, .indent = 2 };
    struct err ignored = { 0 };
    json_t *rookery = NULL;
    json_open(&o, '{');
    config_put_members(c, &o);
    if (s->rookery && yaml_to_json(s->rookery, s->base.source, &rookery, &ignored)) {
        json_object_del(rookery, "max_cost_usd"); // the study's own
        json_key(&o, S("rookery"));
        json_put_value(&o, rookery);
    }
    json_close(&o, '}');
    json_decref(rookery);
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

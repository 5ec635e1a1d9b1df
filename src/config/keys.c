// SPDX-License-Identifier: GPL-3.0-or-later
// keys.c - the keys of a run configuration: one table per mapping, and the one function that reads
// a value by its rule. The tables are section 1 of the paper-files specification; those of
// the methods stand in optimizer_keys.c.
#include <math.h>
#include <stdio.h>

#include "config/internal.h"

// ---- tables ----

#define IN_RUN(member) offsetof(struct run_config, member)
#define IN_MODEL(member) offsetof(struct model_config, member)
#define IN_ROOKERY(member) offsetof(struct rookery_config, member)
#define LIST(array)                                                                                \
    {                                                                                              \
        array, ARRAY_LEN(array)                                                                    \
    }

static const struct rule run_keys[] = {
    { "benchmark", RULE_WORD, .words = "independent_positions", .at = NOWHERE },
    { "method", RULE_METHOD, .at = IN_RUN(method) },
    { "train_path", RULE_TEXT, .at = IN_RUN(train_path) },
    { "test_path", RULE_TEXT, .at = IN_RUN(test_path) },
    { "output_dir", RULE_TEXT, .at = IN_RUN(output_dir) },
    { "task_model", RULE_MODEL, .at = IN_RUN(task_model) },
    { "prompt_model", RULE_MODEL, .nullable = true, .at = IN_RUN(prompt_model) },
    { "seed", RULE_COUNT, .max = INT64_MAX, .at = IN_RUN(seed) },
    { "train_limit", RULE_INT, .max = COUNT_MAX, .at = IN_RUN(train_limit) },
    { "validation_size", RULE_INT, .min = 1, .max = COUNT_MAX, .at = IN_RUN(validation_size) },
    { "test_limit", RULE_INT, .max = COUNT_MAX, .at = IN_RUN(test_limit) },
    { "max_metric_calls", RULE_INT, .min = 1, .max = COUNT_MAX, .at = IN_RUN(max_metric_calls) },
    { "optimizer", RULE_OPTIMIZER, .at = IN_RUN(optimizer) },
    { "use_analysis", RULE_BOOL, .at = IN_RUN(use_analysis) },
    { "include_ground_truth_feedback", RULE_BOOL, .at = IN_RUN(include_ground_truth_feedback) },
    { "continue_on_error", RULE_BOOL, .at = IN_RUN(continue_on_error) },
    { "rookery", RULE_ROOKERY, .at = IN_RUN(rookery) },
};
const struct rules run_rules = LIST(run_keys);

static const struct rule model_keys[] = {
    { "name", RULE_TEXT, .at = IN_MODEL(name) },
    { "temperature", RULE_REAL, .max = COUNT_MAX, .at = IN_MODEL(temperature) },
    { "max_tokens", RULE_INT, .min = 1, .max = COUNT_MAX, .nullable = true,
      .at = IN_MODEL(max_tokens) },
    { "retries", RULE_INT, .max = COUNT_MAX, .at = IN_MODEL(retries) },
    { "timeout_seconds", RULE_REAL, .max = COUNT_MAX, .above = true, .nullable = true,
      .at = IN_MODEL(timeout_s) },
    { "extra", RULE_EXTRA, .at = IN_MODEL(extra) },
};
const struct rules model_rules = LIST(model_keys);

static const struct rule rookery_keys[] = {
    { "preset", RULE_WORD, .words = "paper, improved", .at = IN_ROOKERY(preset) },
    { "max_cost_usd", RULE_REAL, .max = COUNT_MAX, .above = true, .at = IN_ROOKERY(max_cost_usd) },
    { "concurrency", RULE_AUTO, .min = 1, .max = 4096, .at = IN_ROOKERY(concurrency) },
    { "options", RULE_OPTIONS, .at = IN_ROOKERY(options) },
};
const struct rules rookery_rules = LIST(rookery_keys);

// ---- one value ----

struct place { // of a value, for messages
    str path, prefix, key;
    int line;
    struct err *err;
};

// "an integer >= 0 or null"
static void describe(const struct rule *r, struct buf *b)
{
    const char *numbers = r->type == RULE_REAL ? "a number" : "an integer";
    switch (r->type) {
    case RULE_TEXT: buf_add(b, S("a text")); break;
    case RULE_WORD:
    case RULE_CHOICE:
        buf_addf(b, "%s%s", str_find_char(str_from(r->words), ',') < 0 ? "" : "one of ", r->words);
        break;
    case RULE_METHOD:
        for (int m = METHOD_BASELINE; m <= METHOD_SIMBA; m++)
            buf_addf(b, "%s%.*s", m > 0 ? ", " : "one of ", STR(method_name((enum method)m)));
        break;
    case RULE_BOOL: buf_add(b, S("true or false")); break;
    case RULE_INT:
    case RULE_COUNT:
    case RULE_REAL:
    case RULE_AUTO:
        buf_addf(b, "%s %s %lld", numbers, r->above ? ">" : ">=", (long long)r->min);
        if (r->max < COUNT_MAX)
            buf_addf(b, " and at most %lld", (long long)r->max);
        break;
    case RULE_MODEL:
    case RULE_EXTRA:
    case RULE_OPTIMIZER:
    case RULE_OPTIONS:
    case RULE_ROOKERY: buf_add(b, S("a mapping")); break;
    }
    if (r->type == RULE_AUTO)
        buf_add(b, S(" or auto"));
    if (r->nullable)
        buf_add(b, S(" or null"));
}

// "the text "abc""
static void describe_value(const struct yaml_node *n, struct buf *b)
{
    str text = str_sub(n->text, 0, SHOWN);
    const char *more = n->text.len > SHOWN ? "..." : "";
    switch (n->kind) {
    case YAML_NULL: buf_add(b, S("null")); break;
    case YAML_BOOL: buf_addf(b, "the boolean %.*s", STR(text)); break;
    case YAML_INT: buf_addf(b, "the integer %.*s%s", STR(text), more); break;
    case YAML_FLOAT: buf_addf(b, "the number %.*s%s", STR(text), more); break;
    case YAML_STR: buf_addf(b, "the text \"%.*s%s\"", STR(text), more); break;
    case YAML_TIMESTAMP: buf_addf(b, "the date %.*s%s", STR(text), more); break;
    case YAML_LIST: buf_add(b, S("a list")); break;
    case YAML_MAP: buf_add(b, S("a mapping")); break;
    }
}

// What to do, where the mistake is a common one.
static void advise(const struct rule *r, const struct yaml_node *n, struct buf *b)
{
    double number;
    bool wants_number = r->type == RULE_INT || r->type == RULE_COUNT || r->type == RULE_REAL;
    if (wants_number && n->kind == YAML_STR && str_to_double(n->text, &number))
        buf_addf(b, " (YAML 1.1 takes %.*s for a text: %s)", STR(str_sub(n->text, 0, SHOWN)),
                 str_find_char(n->text, 'e') >= 0 || str_find_char(n->text, 'E') >= 0
                     ? "write it without an exponent, and without quotes"
                     : "write it without quotes");
    if (r->type == RULE_TEXT && n->kind < YAML_STR && n->kind != YAML_NULL)
        buf_add(b, S(": put it in quotes"));
}

static bool wrong(const struct rule *r, const struct yaml_node *n, const struct place *at)
{
    struct arena scratch = { 0 };
    struct buf b = { .arena = &scratch };
    describe(r, &b);
    buf_add(&b, S(", got "));
    describe_value(n, &b);
    advise(r, n, &b);
    err_set(at->err, ERR_INPUT, "%.*s:%d: %.*s%.*s must be %.*s", STR(at->path), at->line,
            STR(at->prefix), STR(at->key), STR(buf_str(&b)));
    arena_free(&scratch);
    return false;
}

int rule_choice(const struct rule *r, str word)
{
    str rest = str_from(r->words);
    for (int i = 1; rest.len > 0; i++)
        if (str_eq(str_trim(str_cut(&rest, ',')), word))
            return i;
    return 0;
}

str rule_word(const struct rule *r, int choice)
{
    str rest = str_from(r->words), word = { 0 };
    for (int i = 0; i < choice; i++)
        word = str_trim(str_cut(&rest, ','));
    return word;
}

static bool in_range(const struct rule *r, double value)
{
    double min = (double)r->min;
    return (r->above ? value > min : value >= min) && value <= (double)r->max;
}

static bool fits(const struct rule *r, const struct yaml_node *n)
{
    enum method m;
    if (n->kind == YAML_NULL)
        return r->nullable;
    switch (r->type) {
    case RULE_TEXT: return (n->kind == YAML_STR || n->kind == YAML_TIMESTAMP) && n->text.len > 0;
    case RULE_WORD:
    case RULE_CHOICE: return n->kind == YAML_STR && rule_choice(r, n->text) > 0;
    case RULE_METHOD: return n->kind == YAML_STR && method_parse(n->text, &m);
    case RULE_BOOL: return n->kind == YAML_BOOL;
    case RULE_INT:
    case RULE_COUNT: return n->kind == YAML_INT && in_range(r, n->real);
    case RULE_REAL: return (n->kind == YAML_INT || n->kind == YAML_FLOAT) && in_range(r, n->real);
    case RULE_AUTO:
        return n->kind == YAML_STR ? str_eq(n->text, S("auto"))
                                   : n->kind == YAML_INT && in_range(r, n->real);
    case RULE_MODEL:
    case RULE_EXTRA:
    case RULE_OPTIMIZER:
    case RULE_OPTIONS:
    case RULE_ROOKERY: return n->kind == YAML_MAP;
    }
    BUG("no such rule");
}

// A NUL inside could not reach the system, and a name without provider reaches nobody.
static bool check_text(const struct rule *r, const struct yaml_node *n, const struct place *at)
{
    if (str_find_char(n->text, '\0') >= 0)
        return err_set(at->err, ERR_INPUT, "%.*s:%d: %.*s%.*s has a NUL character in it",
                       STR(at->path), at->line, STR(at->prefix), STR(at->key));
    ptrdiff_t slash = str_find_char(n->text, '/');
    if (str_eq(str_from(r->name), S("name")) && (slash <= 0 || (size_t)slash + 1 == n->text.len))
        return err_set(at->err, ERR_INPUT,
                       "%.*s:%d: %.*s%.*s must be provider/model, such as openai/gpt-4o, got "
                       "\"%.*s\"",
                       STR(at->path), at->line, STR(at->prefix), STR(at->key),
                       STR(str_sub(n->text, 0, SHOWN)));
    return true;
}

// ---- mappings ----

static bool read_model(const struct yaml_node *n, const struct place *at, struct model_config *m)
{
    struct arena scratch = { 0 };
    str prefix = arena_printf(&scratch, "%.*s.", STR(at->key));
    bool ok = rules_read(&model_rules, n, &(struct where){ at->path, prefix }, m, at->err);
    if (ok && !yaml_get(n, S("name")))
        ok = err_set(at->err, ERR_INPUT, "%.*s:%d: %.*s has no name: add `name: provider/model`",
                     STR(at->path), at->line, STR(at->key));
    if (yaml_get(n, S("temperature")))
        m->has_temperature = true;
    if (yaml_get(n, S("max_tokens")))
        m->max_tokens_given = true;
    arena_free(&scratch);
    return ok;
}

static bool read_extra(const struct yaml_node *n, const struct place *at, json_t **out)
{
    json_t *extra;
    if (!yaml_to_json(n, at->path, &extra, at->err))
        return false;
    json_decref(*out);
    *out = extra;
    return true;
}

// A cap that rounds to nothing would be no cap at all.
static bool read_rookery(const struct yaml_node *n, const struct place *at,
                         struct rookery_config *c)
{
    const double least = 1e-6; // as of the flag --max-cost
    if (!rules_read(&rookery_rules, n, &(struct where){ at->path, S("rookery.") }, c, at->err))
        return false;
    const struct yaml_node *cap = yaml_get(n, S("max_cost_usd"));
    if (cap && c->max_cost_usd < least)
        return err_set(at->err, ERR_INPUT,
                       "%.*s:%d: rookery.max_cost_usd must be at least 0.000001, got the number "
                       "%.*s",
                       STR(at->path), cap->line, STR(str_sub(cap->text, 0, SHOWN)));
    return true;
}

// Puts a value of the right type where its rule says.
static bool put(const struct rule *r, const struct yaml_node *n, const struct place *at,
                void *target)
{
    if (r->at == NOWHERE)
        return true;
    void *to = (char *)target + r->at;
    switch (r->type) {
    case RULE_TEXT:
    case RULE_WORD: *(str *)to = n->text; return check_text(r, n, at);
    case RULE_METHOD: return method_parse(n->text, to);
    case RULE_BOOL: *(bool *)to = n->boolean; return true;
    case RULE_INT: // null and auto have the value zero
    case RULE_AUTO: *(int64_t *)to = n->integer; return true;
    case RULE_CHOICE: *(int *)to = n->kind == YAML_NULL ? 0 : rule_choice(r, n->text); return true;
    case RULE_COUNT: *(uint64_t *)to = (uint64_t)n->integer; return true;
    case RULE_REAL: *(double *)to = n->real; return true;
    case RULE_MODEL: return n->kind == YAML_NULL || read_model(n, at, to);
    case RULE_EXTRA: return read_extra(n, at, to);
    case RULE_OPTIMIZER: ((struct optimizer_config *)to)->node = n; return true;
    case RULE_OPTIONS: *(const struct yaml_node **)to = n; return true;
    case RULE_ROOKERY: return read_rookery(n, at, to);
    }
    BUG("no such rule");
}

const struct rule *rule_find(const struct rules *rules, str name)
{
    for (size_t i = 0; i < rules->n; i++)
        if (str_eq(str_from(rules->v[i].name), name))
            return &rules->v[i];
    return NULL;
}

static bool unknown_key(const struct rules *rules, const struct place *at)
{
    struct arena scratch = { 0 };
    struct buf known = { .arena = &scratch };
    struct nearest near = { .word = at->key };
    for (size_t i = 0; rules->v && i < rules->n; i++) {
        nearest_offer(&near, str_from(rules->v[i].name));
        buf_addf(&known, "%s%s", i > 0 ? ", " : "there are ", rules->v[i].name);
    }
    str next = near.name.len > 0 ? arena_printf(&scratch, "did you mean '%.*s'?", STR(near.name))
                                 : buf_str(&known);
    err_set(at->err, ERR_INPUT, "%.*s:%d: unknown key '%.*s%.*s'; %.*s", STR(at->path), at->line,
            STR(at->prefix), STR(str_sub(at->key, 0, SHOWN)), STR(next));
    arena_free(&scratch);
    return false;
}

bool rules_read(const struct rules *rules, const struct yaml_node *map, const struct where *where,
                void *target, struct err *err)
{
    for (size_t i = 0; i < map->n; i++) {
        const struct yaml_pair *pair = &map->pairs[i];
        struct place at = { where->path, where->prefix, pair->key, pair->key_line, err };
        const struct rule *r = rule_find(rules, pair->key);
        if (!r)
            return unknown_key(rules, &at);
        if (!fits(r, &pair->value))
            return wrong(r, &pair->value, &at);
        if (!put(r, &pair->value, &at, target))
            return false;
    }
    return true;
}

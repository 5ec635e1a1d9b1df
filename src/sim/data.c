// SPDX-License-Identifier: GPL-3.0-or-later
// data.c - reads what makes the simulated models: which phrases are noticed, how each persona
// answers to them, and what sim/meta may advise. Nothing else in this module knows a phrase or a
// weight. Weights are in logits: 0.4 is about ten points around one half.
//
// The built-in file is data/personas.json; an outsider's own file is named in the model's name.
#include "sim/internal.h"

static const struct {
    const char *id, *title;
} features[FEATURE_COUNT] = {
    [FEATURE_FORCING] = { "forcing", "forcing moves" },
    [FEATURE_LOOKAHEAD] = { "lookahead", "looking ahead" },
    [FEATURE_MATE] = { "mate", "looking for mate" },
    [FEATURE_MATERIAL] = { "material", "material and safety" },
    [FEATURE_LEGALITY] = { "legality", "legality" },
    [FEATURE_FORMAT] = { "format", "answer format" },
    [FEATURE_PERSONA] = { "persona", "persona wording" },
    [FEATURE_HASTE] = { "haste", "haste or passivity" },
    [FEATURE_PROSE] = { "prose", "asks for prose" },
    [FEATURE_LENGTH] = { "length", "excessive length" },
    [FEATURE_DEMOS] = { "demos", "demonstrations" },
    [FEATURE_RELEVANCE] = { "relevance", "relevance of demonstrations" },
};

const char *feature_title(enum feature f)
{
    return features[f].title;
}

struct reader { // of one file
    str name;
    struct arena *arena;
    struct sim_data *data;
    struct err *err;
};

static bool bad(const struct reader *r, const char *where, const char *key, const char *what)
{
    return err_set(r->err, ERR_INPUT, "%.*s: %s%s%.40s: %s", STR(r->name), where,
                   *where && *key ? "." : "", key, what);
}

// The feature of that name that a phrase may have, or (with `any`) a weight.
static bool feature_find(const char *id, enum feature end, enum feature *out)
{
    for (int f = 0; f < (int)end; f++)
        if (str_eq(str_from(id), str_from(features[f].id))) {
            *out = (enum feature)f;
            return true;
        }
    return false;
}

static bool copy_text(const struct reader *r, const json_t *value, str *out)
{
    str text = json_view(value);
    *out = arena_str(r->arena, text);
    return text.len > 0 && text.len <= SIM_TEXT_MAX_BYTES;
}

// A phrase as the finder wants it: lower case, words separated by one blank.
static bool phrase_is_plain(str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (ascii_is_upper(text.data[i]) ||
            (text.data[i] == ' ' && (i == 0 || text.data[i - 1] == ' ')))
            return false;
    return text.len > 0;
}

static bool read_phrases(const struct reader *r, const json_t *root)
{
    const char *id;
    json_t *list;
    json_object_foreach (json_iterable(json_object_get(root, "phrases")), id, list) {
        enum feature f;
        if (!feature_find(id, FEATURE_LENGTH, &f))
            return bad(r, "phrases", id, "no such feature of a text");
        for (size_t i = 0; i < json_array_size(list); i++) {
            if (r->data->phrases.n == PHRASES_MAX)
                return bad(r, "phrases", id, "too many phrases, at most 400");
            struct phrase *p = vec_push(r->arena, &r->data->phrases);
            p->feature = f;
            if (!copy_text(r, json_array_get(list, i), &p->text) || !phrase_is_plain(p->text))
                return bad(r, "phrases", id,
                           "a phrase is lower-case words separated by single blanks");
        }
    }
    return true;
}

static bool read_advice(const struct reader *r, const json_t *root)
{
    const json_t *list = json_object_get(root, "advice");
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (r->data->advice.n == ADVICE_MAX)
            return bad(r, "advice", "", "too many sentences, at most 200");
        if (!copy_text(r, json_array_get(list, i), vec_push(r->arena, &r->data->advice)))
            return bad(r, "advice", "", "each entry is a sentence");
    }
    return true;
}

static bool read_number(const struct reader *r, const json_t *object, const char *key, double *out)
{
    const json_t *value = json_object_get(object, key);
    if (value && !json_is_number(value))
        return bad(r, "personas", key, "must be a number");
    *out = json_number_value(value);
    return true;
}

static bool read_response(const struct reader *r, const json_t *persona, const char *key,
                          struct response *out)
{
    const json_t *object = json_object_get(persona, key);
    const char *id;
    json_t *weight;
    enum feature f;
    if (!json_is_object(object))
        return bad(r, "personas", key, "must be an object with base and weights");
    if (!read_number(r, object, "base", &out->base))
        return false;
    json_object_foreach (json_iterable(json_object_get(object, "weights")), id, weight) {
        if (!feature_find(id, FEATURE_COUNT, &f))
            return bad(r, key, id, "no such feature");
        if (!json_is_number(weight))
            return bad(r, key, id, "must be a number");
        out->weight[f] = json_number_value(weight);
    }
    return true;
}

static bool read_persona(const struct reader *r, const json_t *object, struct persona *p)
{
    *p = (struct persona){ .data = r->data,
                           .writes = json_is_true(json_object_get(object, "writes")) };
    if (!copy_text(r, json_object_get(object, "name"), &p->name) ||
        !copy_text(r, json_object_get(object, "summary"), &p->summary))
        return bad(r, "personas", "name", "each persona has a name and a summary");
    if (p->writes)
        return r->data->advice.n > 0 ||
               bad(r, "advice", "", "a persona that writes needs sentences to choose from");
    return read_response(r, object, "best", &p->best) &&
           read_response(r, object, "malformed", &p->malformed) &&
           read_response(r, object, "illegal", &p->illegal) &&
           read_number(r, object, "slope", &p->slope) &&
           read_number(r, object, "consistency", &p->consistency) &&
           read_number(r, object, "heat", &p->heat) &&
           read_number(r, object, "san_share", &p->san_share);
}

static bool read_all(const struct reader *r, const json_t *root)
{
    const json_t *list = json_object_get(root, "personas");
    size_t n = json_array_size(list);
    if (n == 0)
        return bad(r, "", "personas", "there must be a list of at least one");
    if (!read_phrases(r, root) || !read_advice(r, root))
        return false;
    r->data->personas = NEW_ARRAY(r->arena, struct persona, n);
    r->data->n_personas = n;
    for (size_t i = 0; i < n; i++)
        if (!read_persona(r, json_array_get(list, i), &r->data->personas[i]))
            return false;
    return true;
}

bool sim_data_parse(str name, str text, struct arena *a, const struct sim_data **out,
                    struct err *err)
{
    struct reader r = { name, a, NEW(a, struct sim_data), err };
    json_t *root = json_read_strict(text, err);
    if (!root)
        return err_add(err, "%.*s", STR(name));
    bool ok = read_all(&r, root);
    json_decref(root);
    *out = r.data;
    return ok;
}

const struct sim_data *sim_data_builtin(struct arena *a)
{
    const struct sim_data *data;
    struct err err = { 0 };
    str text = { (const char *)sim_personas_data, sim_personas_size };
    if (!sim_data_parse(S("data/personas.json"), text, a, &data, &err))
        BUG(err.text);
    return data;
}

size_t sim_persona_count(const struct sim_data *data)
{
    return data->n_personas;
}

const struct persona *sim_persona_at(const struct sim_data *data, size_t i)
{
    return &data->personas[i];
}

const struct persona *sim_persona(const struct sim_data *data, str name)
{
    for (size_t i = 0; i < data->n_personas; i++)
        if (str_eq(name, data->personas[i].name))
            return &data->personas[i];
    return NULL;
}

str sim_persona_name(const struct persona *p)
{
    return p->name;
}

str sim_persona_summary(const struct persona *p)
{
    return p->summary;
}

size_t sim_advice_count(const struct persona *p)
{
    return p->data->advice.n;
}

str sim_advice(const struct persona *p, size_t i)
{
    return p->data->advice.v[i];
}

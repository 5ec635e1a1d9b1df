// SPDX-License-Identifier: GPL-3.0-or-later
// yaml_json.c - a YAML node as JSON, for the settings that are passed on to a provider as they are.
// Depth and size are bounded by the reader of the file.
#include <math.h>

#include "config/config.h"

static json_t *convert(const struct yaml_node *n, str path, struct err *err);

static json_t *refuse(const struct yaml_node *n, str path, const char *what, struct err *err)
{
    err_set(err, ERR_INPUT, "%.*s:%d: %.*s is %s, which JSON does not have: put it in quotes",
            STR(path), n->line, STR(str_sub(n->text, 0, 60)), what);
    return NULL;
}

static json_t *convert_list(const struct yaml_node *n, str path, struct err *err)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n->n; i++) {
        json_t *item = convert(&n->items[i], path, err);
        if (!item) {
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *convert_map(const struct yaml_node *n, str path, struct err *err)
{
    json_t *object = json_object();
    for (size_t i = 0; i < n->n; i++) {
        json_t *value = convert(&n->pairs[i].value, path, err);
        if (!value) {
            json_decref(object);
            return NULL;
        }
        json_object_setn_new(object, n->pairs[i].key.data, n->pairs[i].key.len, value);
    }
    return object;
}

static json_t *convert(const struct yaml_node *n, str path, struct err *err)
{
    switch (n->kind) {
    case YAML_NULL: return json_null();
    case YAML_BOOL: return json_boolean(n->boolean);
    case YAML_INT: return json_integer(n->integer);
    case YAML_FLOAT:
        return isfinite(n->real) ? json_real(n->real) : refuse(n, path, "not a finite number", err);
    case YAML_STR: return json_stringn(n->text.data, n->text.len);
    case YAML_TIMESTAMP: return refuse(n, path, "a date in YAML 1.1", err);
    case YAML_LIST: return convert_list(n, path, err);
    case YAML_MAP: return convert_map(n, path, err);
    }
    BUG("no such kind");
}

bool yaml_to_json(const struct yaml_node *n, str path, json_t **out, struct err *err)
{
    *out = convert(n, path, err);
    return *out != NULL;
}

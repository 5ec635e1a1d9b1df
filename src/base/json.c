// SPDX-License-Identifier: GPL-3.0-or-later
// json.c - strict reading by jansson, for our own files and as the first try on envelopes.
#include "base/json.h"

json_t *json_read_strict(str text, struct err *err)
{
    json_error_t why;
    json_t *value = json_loadb(text.data ? text.data : "", text.len,
                               JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
    if (!value)
        err_set(err, ERR_INPUT, "line %d: not valid JSON: %s", why.line, why.text);
    return value;
}

json_t *json_iterable(const json_t *object)
{
    union {
        const json_t *in;
        json_t *out;
    } same = { object };
    return same.out;
}

str json_view(const json_t *value)
{
    if (!json_is_string(value))
        return (str){ 0 };
    return (str){ json_string_value(value), json_string_length(value) };
}

str json_get_str(const json_t *object, const char *key)
{
    return json_view(json_object_get(object, key));
}

int64_t json_get_int(const json_t *object, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// frame_read.c - replies of a child, of which nothing is believed: exact id, exact members, exact
// types, little depth. What passes is at worst a wrong text, which a candidate may return anyway.
#include "harness/harness.h"

enum { DEPTH_MAX = 4, CLASS_MAX_BYTES = 100 };

static int depth_of(const json_t *v, int budget)
{
    const char *key;
    json_t *child;
    size_t i;
    int deepest = 0;
    if (budget == 0 || !(json_is_object(v) || json_is_array(v)))
        return 0;
    json_object_foreach (json_iterable(v), key, child) {
        int d = depth_of(child, budget - 1);
        deepest = d > deepest ? d : deepest;
    }
    json_array_foreach (json_iterable(v), i, child) {
        int d = depth_of(child, budget - 1);
        deepest = d > deepest ? d : deepest;
    }
    return deepest + 1;
}

static bool is_count(const json_t *v)
{
    return json_is_integer(v) && json_integer_value(v) >= 0;
}

static bool read_error(const json_t *error, struct arena *a, struct harness_result *out)
{
    if (json_object_size(error) != 3 || !json_is_string(json_object_get(error, "class")) ||
        !json_is_string(json_object_get(error, "message")) ||
        !is_count(json_object_get(error, "line")))
        return false;
    str class = str_sub(json_get_str(error, "class"), 0, CLASS_MAX_BYTES);
    out->error_class = harness_clean(class, a);
    out->error_message = harness_clean(json_get_str(error, "message"), a);
    out->error_line = json_get_int(error, "line", 0);
    return true;
}

static str compact(const json_t *value, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_put_value(&o, value);
    return buf_str(&b);
}

static bool read_value(const json_t *reply, struct arena *a, struct harness_result *out)
{
    str type = json_get_str(reply, "type");
    const json_t *value = json_object_get(reply, "value");
    if (str_eq(type, S("str")) && json_is_string(value)) {
        out->type = RESULT_STR;
        out->text = harness_clean(json_view(value), a);
    } else if (str_eq(type, S("bool")) && json_is_boolean(value)) {
        out->type = RESULT_BOOL;
        out->truth = json_is_true(value);
    } else if (str_eq(type, S("int")) && json_is_integer(value)) {
        out->type = RESULT_INT;
        out->integer = json_integer_value(value);
    } else if (str_eq(type, S("none")) && json_is_null(value)) {
        out->type = RESULT_NONE;
    } else if (str_eq(type, S("other"))) {
        out->type = RESULT_OTHER;
        out->text = compact(value, a);
    } else {
        return false;
    }
    return true;
}

static bool read_reply(const json_t *reply, int64_t id, struct arena *a, struct harness_result *out)
{
    const json_t *ok = json_object_get(reply, "ok");
    const json_t *given = json_object_get(reply, "id");
    bool head = json_is_object(reply) && json_is_boolean(ok) && json_is_integer(given) &&
                json_integer_value(given) == id && json_get_int(reply, "v", 0) == 1 &&
                depth_of(reply, DEPTH_MAX + 1) <= DEPTH_MAX;
    if (!head)
        return false;
    out->ok = json_is_true(ok);
    if (!out->ok)
        return json_object_size(reply) == 4 && read_error(json_object_get(reply, "error"), a, out);
    return json_object_size(reply) == 5 && json_object_get(reply, "value") &&
           read_value(reply, a, out);
}

bool frame_read(str json, int64_t id, struct arena *a, struct harness_result *out, struct err *err)
{
    *out = (struct harness_result){ 0 };
    struct err why = { 0 };
    json_t *reply = json.len <= HARNESS_REPLY_MAX_BYTES ? json_read_strict(json, &why) : NULL;
    bool ok = reply && read_reply(reply, id, a, out);
    json_decref(reply);
    if (!ok)
        return err_set(err, ERR_RUN, "the child broke the protocol");
    return true;
}

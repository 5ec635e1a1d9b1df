// SPDX-License-Identifier: GPL-3.0-or-later
// json_out.c - the program's one JSON writer. Python's layout, because other tools' files must
// come out byte for byte.
#include "base/json.h"

static void new_line(struct json_out *o)
{
    if (o->indent == 0)
        return;
    buf_add_char(o->b, '\n');
    for (int i = 0; i < o->depth_ * o->indent; i++)
        buf_add_char(o->b, ' ');
}

// What stands before a value or key: a comma and a new line, unless a key has just been written.
static void before(struct json_out *o)
{
    if (o->keyed_) {
        o->keyed_ = false;
        return;
    }
    if (o->started_)
        buf_add_char(o->b, ',');
    if (o->depth_ > 0)
        new_line(o);
    o->started_ = true;
}

void json_open(struct json_out *o, char bracket)
{
    before(o);
    buf_add_char(o->b, bracket);
    o->depth_++;
    o->started_ = false;
}

void json_close(struct json_out *o, char bracket)
{
    o->depth_--;
    if (o->started_)
        new_line(o);
    buf_add_char(o->b, bracket);
    o->started_ = true;
}

void json_key(struct json_out *o, str key)
{
    before(o);
    buf_add_json(o->b, key);
    buf_add(o->b, o->indent ? S(": ") : S(":"));
    o->keyed_ = true;
}

void json_put_raw(struct json_out *o, str value)
{
    before(o);
    buf_add(o->b, value);
}

void json_put_str(struct json_out *o, str value)
{
    before(o);
    buf_add_json(o->b, value);
}

void json_put_int(struct json_out *o, int64_t value)
{
    before(o);
    buf_add_int(o->b, value);
}

void json_put_double(struct json_out *o, double value)
{
    before(o);
    buf_add_double(o->b, value);
}

void json_put_bool(struct json_out *o, bool value)
{
    json_put_raw(o, value ? S("true") : S("false"));
}

void json_put_null(struct json_out *o)
{
    json_put_raw(o, S("null"));
}

void json_key_str(struct json_out *o, str key, str value)
{
    json_key(o, key);
    json_put_str(o, value);
}

void json_key_maybe(struct json_out *o, str key, str value)
{
    if (value.len > 0)
        json_key_str(o, key, value);
    else
        json_key_null(o, key);
}

void json_key_int(struct json_out *o, str key, int64_t value)
{
    json_key(o, key);
    json_put_int(o, value);
}

void json_key_double(struct json_out *o, str key, double value)
{
    json_key(o, key);
    json_put_double(o, value);
}

void json_key_bool(struct json_out *o, str key, bool value)
{
    json_key(o, key);
    json_put_bool(o, value);
}

void json_key_null(struct json_out *o, str key)
{
    json_key(o, key);
    json_put_null(o);
}

void json_key_open(struct json_out *o, str key, char bracket)
{
    json_key(o, key);
    json_open(o, bracket);
}

static void put_object(struct json_out *o, const json_t *value)
{
    json_open(o, '{');
    json_t *object = json_iterable(value); // in insertion order
    const char *key;
    json_t *member;
    json_object_foreach (object, key, member) {
        json_key(o, str_from(key));
        json_put_value(o, member);
    }
    json_close(o, '}');
}

void json_put_value(struct json_out *o, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: put_object(o, value); return;
    case JSON_ARRAY:
        json_open(o, '[');
        for (size_t i = 0; i < json_array_size(value); i++)
            json_put_value(o, json_array_get(value, i));
        json_close(o, ']');
        return;
    case JSON_STRING: json_put_str(o, json_view(value)); return;
    case JSON_INTEGER: json_put_int(o, json_integer_value(value)); return;
    case JSON_REAL: json_put_double(o, json_real_value(value)); return;
    case JSON_TRUE: json_put_bool(o, true); return;
    case JSON_FALSE: json_put_bool(o, false); return;
    case JSON_NULL: json_put_null(o); return;
    }
    BUG("no such JSON type");
}

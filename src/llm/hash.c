// SPDX-License-Identifier: GPL-3.0-or-later
// hash.c - names of requests. The request hash tells whether a replayed run still asks the same;
// the reuse key tells whether another run's reply may serve (decisions, section 1; field cases
// F-060, F-061). Both are made of a canonical form: members sorted, numbers in their shortest form,
// so that 1 and 1.0 of a configuration are one setting. No key, header or clock is in them.
#include <stdlib.h>
#include <string.h>

#include "llm/internal.h"

static void put_canonical(struct json_out *o, const json_t *value);

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_object(struct json_out *o, const json_t *value)
{
    json_t *object = json_iterable(value);
    size_t n = 0;
    const char **keys = NEW_ARRAY(o->b->arena, const char *, json_object_size(object));
    const char *key;
    json_t *member;
    json_object_foreach (object, key, member)
        keys[n++] = key;
    qsort(keys, n, sizeof *keys, compare_keys);
    json_open(o, '{');
    for (size_t i = 0; i < n; i++) {
        json_key(o, str_from(keys[i]));
        put_canonical(o, json_object_get(object, keys[i]));
    }
    json_close(o, '}');
}

static void put_number(struct json_out *o, double value)
{
    const double exact = 9007199254740992.0; // 2^53: every whole number up to it is itself
    if (value >= -exact && value <= exact && (double)(int64_t)value == value)
        json_put_int(o, (int64_t)value);
    else
        json_put_double(o, value);
}

static void put_canonical(struct json_out *o, const json_t *value)
{
    if (json_is_object(value)) {
        put_object(o, value);
    } else if (json_is_array(value)) {
        json_open(o, '[');
        for (size_t i = 0; i < json_array_size(value); i++)
            put_canonical(o, json_array_get(value, i));
        json_close(o, ']');
    } else if (json_is_real(value)) {
        put_number(o, json_real_value(value));
    } else {
        json_put_value(o, value);
    }
}

// What is not sent must not tell requests apart.
static void put_extra(struct json_out *o, const json_t *extra)
{
    json_t *sent = extra_sent(extra);
    put_canonical(o, sent);
    json_decref(sent);
}

// The answer's form: only with a schema do the names of the fields go over the wire.
static void put_form(struct json_out *o, const struct model_request *q)
{
    static const str names[] = { [FORMAT_NONE] = T("none"),
                                 [FORMAT_JSON_OBJECT] = T("json_object"),
                                 [FORMAT_SCHEMA] = T("schema") };
    json_key_str(o, S("format"), names[q->format]);
    if (q->format != FORMAT_SCHEMA || !q->signature)
        return;
    json_key_open(o, S("outputs"), '[');
    for (size_t i = 0; i < q->signature->n_outputs; i++)
        json_put_str(o, q->signature->outputs[i].name);
    json_close(o, ']');
}

static void put_request(struct json_out *o, const struct model *m, const struct model_request *q)
{
    json_open(o, '{');
    json_key(o, S("extra"));
    put_extra(o, m->extra);
    put_form(o, q);
    json_key_int(o, S("max_tokens"), q->max_tokens);
    json_key(o, S("messages"));
    messages_write(&q->messages, o);
    json_key_str(o, S("model"), m->name);
    json_key_int(o, S("sample"), q->sample);
    json_key(o, S("temperature"));
    if (q->has_temperature)
        put_number(o, q->temperature);
    else
        json_put_null(o);
    json_close(o, '}');
}

str model_request_hash(const struct model *m, const struct model_request *q, struct arena *a)
{
    struct arena scratch = { 0 };
    struct buf b = { .arena = &scratch, .max = SIZE_MAX / 4 };
    put_request(&(struct json_out){ .b = &b }, m, q);
    str hash = sha256_of(buf_str(&b), a);
    arena_free(&scratch);
    return hash;
}

str model_reuse_key(const struct model *m, str request_hash, struct arena *a)
{
    struct arena scratch = { 0 };
    struct buf b = { .arena = &scratch };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("base_url"), m->base_url);
    json_key_str(&o, S("identity"), m->identity);
    json_key_str(&o, S("provider"), m->provider->name);
    json_key_str(&o, S("request"), request_hash);
    json_key_int(&o, S("version"), m->provider->version);
    json_close(&o, '}');
    str key = sha256_of(buf_str(&b), a);
    arena_free(&scratch);
    return key;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// reply_json.c - a reply as JSON, for the store and for scripted models. One table serves both
// directions, so that they cannot disagree, and tells which texts a key is taken out of, so that
// none is forgotten. Members that say nothing are left out.
#include <stddef.h>

#include "llm/internal.h"

enum kind { TEXT, COUNT, SMALL, FLAG, FINISH, KNOWN };
static const struct member {
    const char *key;
    enum kind kind;
    size_t offset;
} members[] = {
    { "text", TEXT, offsetof(struct reply, text) },
    { "reasoning", TEXT, offsetof(struct reply, reasoning) },
    { "details", TEXT, offsetof(struct reply, details) },
    { "finish", FINISH, offsetof(struct reply, finish) },
    { "native_finish", TEXT, offsetof(struct reply, native_finish) },
    { "served_model", TEXT, offsetof(struct reply, served_model) },
    { "served_provider", TEXT, offsetof(struct reply, served_provider) },
    { "request_id", TEXT, offsetof(struct reply, request_id) },
    { "fingerprint", TEXT, offsetof(struct reply, fingerprint) },
    { "usage_source", KNOWN, offsetof(struct reply, usage.source) },
    { "input_tok", COUNT, offsetof(struct reply, usage.input_tok) },
    { "cached_tok", COUNT, offsetof(struct reply, usage.cached_tok) },
    { "cache_write_tok", COUNT, offsetof(struct reply, usage.cache_write_tok) },
    { "output_tok", COUNT, offsetof(struct reply, usage.output_tok) },
    { "reasoning_tok", COUNT, offsetof(struct reply, usage.reasoning_tok) },
    { "cost_nusd", COUNT, offsetof(struct reply, cost_nusd) },
    { "cost_source", KNOWN, offsetof(struct reply, cost_source) },
    { "http_status", SMALL, offsetof(struct reply, http_status) },
    { "attempts", SMALL, offsetof(struct reply, attempts) },
    { "latency_ms", COUNT, offsetof(struct reply, latency_ms) },
    { "waited_ms", COUNT, offsetof(struct reply, waited_ms) },
    { "no_retry", FLAG, offsetof(struct reply, no_retry) },
    { "simulated", FLAG, offsetof(struct reply, simulated) },
    { "error", TEXT, offsetof(struct reply, error) },
    { "note", TEXT, offsetof(struct reply, note) },
};

static const str finish_names[] = { T("unknown"), T("stop"), T("length"), T("filtered"),
                                    T("refused"), T("tool"), T("error") };
static const str known_names[] = { T("unknown"), T("reported"), T("priced"), T("estimated") };

str known_name(enum known k)
{
    return known_names[k];
}

static void put_number(struct json_out *o, str key, int64_t value)
{
    if (value == 0)
        return;
    json_key_int(o, key, value);
}

static void put_member(struct json_out *o, const struct member *m, const struct reply *r)
{
    const void *field = (const char *)r + m->offset;
    str key = str_from(m->key);
    switch (m->kind) {
    case TEXT:
        if (((const str *)field)->len > 0)
            json_key_str(o, key, *(const str *)field);
        return;
    case COUNT: put_number(o, key, *(const int64_t *)field); return;
    case SMALL: put_number(o, key, *(const int *)field); return;
    case FLAG:
        if (*(const bool *)field) {
            json_key_bool(o, key, true);
        }
        return;
    case FINISH:
        if (r->finish != FINISH_UNKNOWN)
            json_key_str(o, key, finish_names[r->finish]);
        return;
    case KNOWN:
        if (*(const enum known *)field != KNOWN_NOT)
            json_key_str(o, key, known_names[*(const enum known *)field]);
        return;
    }
    BUG("no such kind of member");
}

str reply_to_json(const struct reply *r, struct arena *a)
{
    struct buf b = { .arena = a, .max = SIZE_MAX / 4 };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("class"), reply_class_name(r->class));
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        put_member(&o, &members[i], r);
    if (r->retry_after_ms >= 0) {
        json_key_int(&o, S("retry_after_ms"), r->retry_after_ms);
    }
    json_close(&o, '}');
    return buf_str(&b);
}

// ---- reading ----

static bool get_number(const json_t *value, int64_t max, int64_t *out)
{
    *out = json_integer_value(value);
    return json_is_integer(value) && *out >= 0 && *out <= max;
}

// False: the value has another type than the member.
static bool get_member(const struct member *m, const json_t *value, struct arena *a,
                       struct reply *out)
{
    void *field = (char *)out + m->offset;
    int64_t number = 0;
    size_t which = 0;
    switch (m->kind) {
    case TEXT: *(str *)field = arena_str(a, json_view(value)); return json_is_string(value);
    case COUNT: return get_number(value, INT64_MAX, field);
    case SMALL:
        if (!get_number(value, INT32_MAX, &number))
            return false;
        *(int *)field = (int)number;
        return true;
    case FLAG: *(bool *)field = json_is_true(value); return json_is_boolean(value);
    case FINISH:
        if (!str_among(json_view(value), finish_names, ARRAY_LEN(finish_names), &which))
            return false;
        out->finish = (enum finish)which;
        return true;
    case KNOWN:
        if (!str_among(json_view(value), known_names, ARRAY_LEN(known_names), &which))
            return false;
        *(enum known *)field = (enum known)which;
        return true;
    }
    BUG("no such kind of member");
}

static const struct member *member_find(str key)
{
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (str_eq(str_from(members[i].key), key))
            return &members[i];
    return NULL;
}

static bool get_any(str key, const json_t *value, struct arena *a, struct reply *out)
{
    if (str_eq(key, S("class")))
        return reply_class_parse(json_view(value), &out->class);
    if (str_eq(key, S("retry_after_ms")))
        return get_number(value, INT64_MAX, &out->retry_after_ms);
    const struct member *m = member_find(key);
    return m && get_member(m, value, a, out);
}

bool reply_from_value(const json_t *value, struct arena *a, struct reply *out, struct err *err)
{
    *out = (struct reply){ .retry_after_ms = -1 };
    if (!json_is_object(value))
        return err_set(err, ERR_INPUT, "a reply must be a JSON object");
    const char *key;
    json_t *member;
    json_object_foreach (json_iterable(value), key, member)
        if (!get_any(str_from(key), member, a, out))
            return err_set(err, ERR_INPUT, "a reply has no member \"%s\" with such a value", key);
    return true;
}

bool reply_from_json(str text, struct arena *a, struct reply *out, struct err *err)
{
    json_t *value = json_read_strict(text, err);
    if (!value)
        return err_add(err, "stored reply");
    bool ok = reply_from_value(value, a, out, err);
    json_decref(value);
    return ok;
}

void reply_add_note(struct reply *r, str what, struct arena *a)
{
    r->note = r->note.len == 0 ? what : arena_printf(a, "%.*s; %.*s", STR(r->note), STR(what));
}

void reply_mask_key(struct reply *r, str key, struct arena *a)
{
    if (!key_is_secret(key))
        return;
    struct arena scratch = { 0 };
    struct key_forms forms;
    key_forms_of(key, &scratch, &forms);
    bool found = false;
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        if (members[i].kind != TEXT)
            continue;
        str *text = (str *)(void *)((char *)r + members[i].offset);
        str masked = key_mask(*text, &forms, a);
        found = found || masked.data != text->data;
        *text = masked;
    }
    if (found)
        reply_add_note(r, S("the reply held the key; it was taken out"), a);
    arena_free(&scratch);
}

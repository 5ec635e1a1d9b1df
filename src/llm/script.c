// SPDX-License-Identifier: GPL-3.0-or-later
// script.c - the provider "script": replies from a file, for tests, demonstrations and replays of
// what a real model once said. A reply is a pure function of request and sample: nothing counts
// calls, so that concurrency and resumption change nothing.
#include "llm/internal.h"

enum { SCRIPT_MAX_BYTES = 64 << 20 };

struct line {
    str input;            // empty: any
    int64_t call, sample; // -1: any
    struct reply reply;
};
struct script {
    str path;
    struct line *v;
    size_t n, cap;
};

// False: a member that this object does not have.
static bool members_are(const json_t *object, const char *const names[3], struct err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach (json_iterable(object), key, value) {
        bool known = false;
        for (size_t i = 0; i < 3; i++)
            known = known || str_eq(str_from(names[i]), str_from(key));
        if (!known)
            return err_set(err, ERR_INPUT, "unknown member \"%s\" (known: %s, %s, %s)", key,
                           names[0], names[1], names[2]);
    }
    return true;
}

// An optional count; -1 when absent.
static bool read_count(const json_t *match, const char *name, int64_t max, int64_t *out,
                       struct err *err)
{
    const json_t *value = json_object_get(match, name);
    *out = -1;
    if (!value)
        return true;
    *out = json_integer_value(value);
    if (!json_is_integer(value) || *out < 0 || *out > max)
        return err_set(err, ERR_INPUT, "\"%s\" must be a whole number from 0 to %lld", name,
                       (long long)max);
    return true;
}

static bool read_match(const json_t *match, struct arena *a, struct line *out, struct err *err)
{
    static const char *const names[3] = { "input", "call", "sample" };
    out->call = out->sample = -1;
    if (!match)
        return true;
    if (!json_is_object(match))
        return err_set(err, ERR_INPUT, "\"match\" must be an object");
    if (!members_are(match, names, err) ||
        !read_count(match, "sample", INT64_MAX, &out->sample, err))
        return false;
    if (!read_count(match, "call", 1, &out->call, err))
        return err_add(err,
                       "a scripted model counts no calls, only the re-ask (0 first, 1 re-ask)");
    const json_t *input = json_object_get(match, "input");
    if (input && json_string_length(input) == 0)
        return err_set(err, ERR_INPUT, "\"input\" must be a text that is not empty, or \"*\"");
    if (input && !str_eq(json_view(input), S("*")))
        out->input = arena_str(a, json_view(input));
    return true;
}

static bool read_reply(const json_t *object, struct arena *a, struct reply *out, struct err *err)
{
    const json_t *reply = json_object_get(object, "reply");
    const json_t *text = json_object_get(object, "text");
    if (!reply == !text)
        return err_set(err, ERR_INPUT, "give one of \"reply\" (an object) and \"text\"");
    if (reply)
        return reply_from_value(reply, a, out, err);
    if (!json_is_string(text))
        return err_set(err, ERR_INPUT, "\"text\" must be a text");
    str answer = arena_str(a, json_view(text));
    *out = (struct reply){ .text = answer,
                           .finish = FINISH_STOP,
                           .class = str_trim(answer).len > 0 ? REPLY_OK : REPLY_EMPTY,
                           .retry_after_ms = -1 };
    return true;
}

static bool read_line(str text, struct arena *a, struct line *out, struct err *err)
{
    static const char *const names[3] = { "match", "reply", "text" };
    json_t *object = json_read_strict(text, err);
    bool ok = object != NULL;
    if (ok && !json_is_object(object))
        ok = err_set(err, ERR_INPUT, "a line must be a JSON object");
    ok = ok && members_are(object, names, err) &&
         read_match(json_object_get(object, "match"), a, out, err) &&
         read_reply(object, a, &out->reply, err);
    json_decref(object);
    return ok;
}

static bool script_open(struct model *m, struct arena *a, struct err *err)
{
    struct script *s = NEW(a, struct script);
    str text;
    s->path = m->id;
    if (!file_read(s->path, SCRIPT_MAX_BYTES, a, &text, err))
        return false;
    m->identity = sha256_of(text, a);
    for (int number = 1; text.len > 0; number++) {
        str row = str_trim(str_cut_line(&text));
        if (row.len > 0 && !read_line(row, a, vec_push(a, s), err))
            return err_add(err, "%.*s:%d", STR(s->path), number);
    }
    if (s->n == 0)
        return err_set(err, ERR_INPUT, "%.*s: no reply in it; write lines like {\"text\": \"...\"}",
                       STR(s->path));
    m->context = s;
    m->price = (struct price){ .known = true };
    m->simulated = true;
    return true;
}

static str last_user_text(const struct messages *messages)
{
    for (size_t i = messages->n; i > 0; i--)
        if (messages->v[i - 1].role == ROLE_USER)
            return messages->v[i - 1].text;
    return (str){ 0 };
}

// The number of the re-ask: only a model set to schema is asked again, and then for json_object.
static int64_t reask_of(const struct model *m, const struct model_request *q)
{
    return m->format == FORMAT_SCHEMA && q->format == FORMAT_JSON_OBJECT;
}

static bool line_matches(const struct line *l, const struct model *m, const struct model_request *q)
{
    return (l->sample < 0 || l->sample == q->sample) &&
           (l->call < 0 || l->call == reask_of(m, q)) &&
           (l->input.len == 0 || str_find(last_user_text(&q->messages), l->input) >= 0);
}

// What a script leaves out is estimated; its models cost nothing.
static void complete(const struct model *m, const struct model_request *q, struct arena *a,
                     struct reply *out)
{
    if (out->usage.source == KNOWN_NOT && reply_is_scored(out->class)) {
        const struct reading r = { .m = m, .q = q, .a = a, .out = out };
        int64_t cost = out->cost_nusd;
        enum known source = out->cost_source;
        usage_settle(&r, NULL);
        if (source != KNOWN_NOT) {
            out->cost_nusd = cost;
            out->cost_source = source;
        }
    }
    if (out->attempts == 0)
        out->attempts = 1;
}

static bool script_answer(const struct model *m, const struct model_request *q, struct arena *a,
                          struct reply *out, struct err *err)
{
    const struct script *s = m->context;
    for (size_t i = 0; i < s->n; i++) {
        if (!line_matches(&s->v[i], m, q))
            continue;
        *out = s->v[i].reply;
        out->simulated = true;
        complete(m, q, a, out);
        return true;
    }
    str asked = error_text(str_sub(last_user_text(&q->messages), 0, 200), m->key, a);
    return err_set(err, ERR_INPUT,
                   "%.*s: no line answers sample %lld, call %lld of \"%.*s\"; add a line with "
                   "{\"match\": {\"input\": \"*\"}, ...} at its end",
                   STR(s->path), (long long)q->sample, (long long)reask_of(m, q), STR(asked));
}

const struct provider provider_script = {
    .name = T("script"),
    .version = 1,
    .answer = script_answer,
    .open = script_open,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// body.c - parts of request bodies that several wire formats share: the schema of an answer, the
// members of `extra`, the limit on size.
#include "llm/internal.h"

json_t *extra_sent(const json_t *extra)
{
    json_t *sent = mem_must(extra ? json_copy(json_iterable(extra)) : json_object());
    json_object_del(sent, "drop_params"); // of the paper's tool, not of the wire format
    json_object_del(sent, "priced_as");   // ours
    json_object_del(sent, "stream");      // how, not what: each format asks for it in its own way
    return sent;
}

bool model_streams(const struct model *m)
{
    return json_is_true(json_object_get(m->extra, "stream"));
}

void extra_write(struct json_out *o, const json_t *extra)
{
    json_t *members = extra_sent(extra);
    const char *key;
    json_t *value;
    json_object_foreach (members, key, value) {
        json_key(o, str_from(key));
        json_put_value(o, value);
    }
    json_decref(members);
}

bool extra_check(const struct model *m, const struct refused *rows, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (json_object_get(m->extra, rows[i].key))
            return err_set(err, ERR_USAGE, "%.*s: extra may not hold %s: %s", STR(m->name),
                           rows[i].key, rows[i].instead);
    return true;
}

// Every object closed, every property required: strict modes refuse less (field case F-019).
void schema_write(struct json_out *o, const struct signature *s, str name, struct arena *a)
{
    json_open(o, '{');
    json_key_str(o, S("type"), S("object"));
    json_key_open(o, S("properties"), '{');
    for (size_t i = 0; i < s->n_outputs; i++) {
        json_key_open(o, s->outputs[i].name, '{');
        json_key_str(o, S("title"), field_title(s->outputs[i].name, a));
        json_key_str(o, S("type"), S("string"));
        json_close(o, '}');
    }
    json_close(o, '}');
    json_key_open(o, S("required"), '[');
    for (size_t i = 0; i < s->n_outputs; i++)
        json_put_str(o, s->outputs[i].name);
    json_close(o, ']');
    json_key_bool(o, S("additionalProperties"), false);
    json_key_str(o, S("title"), name);
    json_close(o, '}');
}

bool request_make(const struct model *m, struct buf *body, struct http_request *out,
                  struct err *err)
{
    if (body->over)
        return err_set(err, ERR_LIMIT,
                       "%.*s: the request is larger than %d bytes; shorten the "
                       "prompt or its demonstrations",
                       STR(m->name), REQUEST_MAX_BYTES);
    out->body = buf_str(body);
    request_header(out, S("Content-Type"), S("application/json"));
    return true;
}

void request_header(struct http_request *out, str name, str value)
{
    if (out->n_headers == HTTP_HEADERS_MAX)
        BUG("more headers than room");
    out->headers[out->n_headers++] = (struct http_header){ name, value };
}

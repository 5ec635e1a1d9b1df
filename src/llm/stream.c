// SPDX-License-Identifier: GPL-3.0-or-later
// stream.c - replies that came as server-sent events (endpoint specification, section 2). The bytes
// are framed first and decoded whole, so no read boundary can split a character (field case F-009).
// What the pieces of a reply add up to is written as the reply that would have come whole: one
// reader serves both. An error in any piece is all that counts (F-010).
#include "llm/internal.h"

enum { LINE_MAX_BYTES = 1 << 20 };

struct stream { // being read
    str rest;
    struct arena *a;
    bool done;         // its last word was there
    const char *fault; // NULL: none
};

// ---- framing ----

// A field's value: what stands behind "name:" and one blank; false: another field or a comment.
static bool field_value(str line, str name, str *value)
{
    if (!str_starts(line, name) || line.len == name.len || line.data[name.len] != ':')
        return false;
    *value = str_sub(line, name.len + 1, line.len);
    if (str_starts(*value, S(" ")))
        *value = str_sub(*value, 1, value->len);
    return true;
}

// The data of the next event, several lines joined with LF; false: there is none left.
static bool event_next(struct stream *s, str *data)
{
    struct buf b = { .arena = s->a };
    bool any = false;
    while (s->rest.len > 0) {
        str value;
        str line = str_cut_break(&s->rest);
        if (line.len > LINE_MAX_BYTES)
            s->fault = "a line of the stream is longer than 1 MiB";
        if (line.len == 0 && any)
            break;
        if (!field_value(line, S("data"), &value))
            continue; // comments and other fields
        if (any)
            buf_add_char(&b, '\n');
        buf_add(&b, value);
        any = true;
    }
    *data = buf_str(&b);
    return any && !s->fault;
}

// The next event; NULL: there is none, or a fault.
static json_t *stream_next(struct stream *s)
{
    str data;
    while (!s->fault && event_next(s, &data)) {
        if (str_eq(str_trim(data), S("[DONE]"))) {
            s->done = true;
            return NULL;
        }
        if (str_trim(data).len == 0)
            continue;
        json_t *event = json_read_envelope(data, NULL, NULL);
        if (!event)
            s->fault = "an event of the stream is not JSON";
        return event;
    }
    return NULL;
}

bool stream_is(const struct http_response *in)
{
    static const char *const starts[] = { "data:", "event:", ":" };
    str body = str_trim(str_without_bom(in->body));
    bool is = false;
    for (size_t i = 0; i < ARRAY_LEN(starts); i++)
        is = is || str_starts(body, str_from(starts[i]));
    return is; // whatever the content type says: errors come as JSON under it
}

// ---- adding up ----

void pieces_keep(struct pieces *p, const json_t *event, const char *name)
{
    const json_t *value = json_object_get(event, name);
    bool empty =
        !value || json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0);
    if (!empty)
        json_object_set_new(p->whole, name, mem_must(json_deep_copy(value)));
}

json_t *text_new(struct buf *text)
{
    return mem_must(json_stringn_nocheck(buf_str(text).data, text->len));
}

// A failure in a piece, wherever pieces hold one.
static bool has_error(const json_t *event)
{
    struct arena scratch = { 0 };
    struct failure f;
    bool found = failure_read(event, &scratch, &f);
    arena_free(&scratch);
    return found;
}

json_t *stream_fold(const struct reading *r)
{
    struct stream s = { .rest = str_without_bom(r->in->body), .a = r->a };
    struct pieces p = { .whole = mem_must(json_object()),
                        .texts = { { .arena = r->a }, { .arena = r->a }, { .arena = r->a } } };
    for (json_t *event = stream_next(&s); event; event = stream_next(&s)) {
        if (has_error(event)) { // what came before it is not an answer
            json_decref(p.whole);
            return event;
        }
        r->dialect->stream_add(&p, event);
        json_decref(event);
    }
    if (!s.fault && (p.ended || s.done)) {
        r->dialect->stream_end(&p);
        return p.whole;
    }
    json_decref(p.whole);
    if (s.fault)
        reply_fail(r, REPLY_PROTOCOL, str_from(s.fault));
    else
        reply_fail(r, REPLY_TRANSPORT, S("the stream broke off before its end"));
    return NULL;
}

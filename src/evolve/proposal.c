// SPDX-License-Identifier: GPL-3.0-or-later
// proposal.c - what a proposer wrote: pending_eval.json, or a model's reply (5.3, 5.7). Everything
// in it is a text to be shown, or a source to be checked; nothing in it is believed.
#include "evolve/internal.h"

enum { TEXT_MAX_CHARS = 2000 };

static str cut(str text, struct arena *a)
{
    size_t at = 0;
    uint32_t code;
    bool valid;
    for (int n = 0; n < TEXT_MAX_CHARS && at < text.len; n++)
        at += utf8_decode(str_sub(text, at, text.len), &code, &valid);
    return arena_str(a, harness_clean(str_sub(text, 0, at), a));
}

static str axis_of(str text, struct arena *a)
{
    static const str axes[] = { T("prompt"),  T("observation"), T("parser"), T("feedback"),
                                T("history"), T("edge_case"),   T("budget"), T("recovered") };
    return str_among(text, axes, ARRAY_LEN(axes), NULL) ? arena_str(a, text) : S("other");
}

// The first of the members that is a text.
static str any_member(const json_t *in, const char *const names[4])
{
    for (int i = 0; i < 4; i++)
        if (json_get_str(in, names[i]).len > 0)
            return json_get_str(in, names[i]);
    return (str){ 0 };
}

// The proposal of this name, made where it is missing.
static struct proposal *entry_of(struct proposals *p, str name, struct arena *a)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_eq(p->v[i].name, name))
            return &p->v[i];
    struct proposal *fresh = vec_push(a, p);
    fresh->name = arena_str(a, name);
    fresh->axis = S("other");
    return fresh;
}

static void read_candidate(const json_t *in, struct arena *a, struct proposals *out)
{
    static const char *const names[] = { "name", "slot", "harness", "id" };
    str name = any_member(in, names);
    if (name.len == 0)
        return;
    struct proposal *p = entry_of(out, cut(name, a), a);
    p->axis = axis_of(json_get_str(in, "axis"), a);
    p->hypothesis = cut(json_get_str(in, "hypothesis"), a);
    p->changes = cut(json_get_str(in, "changes"), a);
    p->parent = cut(json_get_str(in, "parent"), a);
    if (json_is_string(json_object_get(in, "source")))
        p->source = arena_str(a, json_get_str(in, "source"));
}

static bool read_object(const json_t *in, struct arena *a, struct proposals *out)
{
    size_t i;
    json_t *each;
    const json_t *list = json_is_array(in) ? in : json_object_get(in, "candidates");
    if (!json_is_array(list)) {
        read_candidate(in, a, out);
        return out->n > 0;
    }
    json_array_foreach (json_iterable(list), i, each)
        read_candidate(each, a, out);
    return true;
}

bool proposals_read(str json, struct arena *a, struct proposals *out, struct err *err)
{
    json_t *in = json_read_envelope(json, NULL, err);
    bool ok = in && read_object(in, a, out);
    json_decref(in);
    return ok || err_set(err, ERR_INPUT, "pending_eval.json is no list of candidates");
}

// ---- replies ----

static str slot_of(str info)
{
    ptrdiff_t at = str_find(info, S("slot="));
    if (at < 0 || !str_starts(info, S("python")))
        return (str){ 0 };
    str rest = str_sub(info, (size_t)at + 5, info.len);
    return str_trim_set(str_cut(&rest, ' '), S("\"'"));
}

// Takes what a closed block holds.
static void take_block(str info, str body, struct arena *a, struct proposals *out)
{
    str slot = slot_of(info);
    if (slot.len > 0) {
        entry_of(out, cut(slot, a), a)->source = arena_str(a, body); // the last one wins
        return;
    }
    if (!str_eq(info, S("json")) && info.len > 0)
        return;
    json_t *in = json_read_envelope(body, NULL, NULL);
    if (in)
        read_object(in, a, out);
    json_decref(in);
}

void proposals_from_reply(str text, struct arena *a, struct proposals *out)
{
    str fence = S("```"), info = { 0 }, body = { 0 };
    bool inside = false;
    if (str_starts(str_trim(text), S("{"))) {
        json_t *in = json_read_envelope(str_trim(text), NULL, NULL);
        bool whole = in && read_object(in, a, out);
        json_decref(in);
        if (whole)
            return;
    }
    while (text.len > 0) {
        const char *start = text.data;
        str line = str_cut(&text, '\n');
        if (!str_starts(line, fence)) {
            if (inside)
                body.len = (size_t)(line.data + line.len - body.data) + (text.len > 0);
            continue;
        }
        if (inside)
            take_block(info, body, a, out);
        else
            info = str_trim(str_sub(line, fence.len, line.len));
        inside = !inside;
        body = (str){ inside ? start + line.len + 1 : NULL, 0 };
    }
}

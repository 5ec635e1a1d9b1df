// SPDX-License-Identifier: GPL-3.0-or-later
// frame.c - requests to a sandboxed child: four bytes of length, then JSON (3.4). All but calls,
// which are many and travel otherwise (calls.c).
#include <stdio.h>

#include "harness/harness.h"

enum { SEED_BITS = 53 }; // what a JSON number carries exactly

str harness_function_name(enum harness_function f)
{
    static const str names[] = {
        [HARNESS_FORMAT] = T("format_observation"),
        [HARNESS_PARSE] = T("parse_action"),
        [HARNESS_LEGAL] = T("is_legal_action"),
        [HARNESS_PROPOSE] = T("propose_action"),
    };
    return names[f];
}

uint64_t harness_call_seed(uint64_t evaluation_seed, uint64_t example, uint64_t call,
                           enum harness_function f)
{
    char place[128]; // three numbers and a name
    int n = snprintf(place, sizeof place, "%llu %llu %llu %.*s",
                     (unsigned long long)evaluation_seed, (unsigned long long)example,
                     (unsigned long long)call, STR(harness_function_name(f)));
    return hash64((str){ place, (size_t)n }) >> (64 - SEED_BITS);
}

static void open_request(struct json_out *o, int64_t id, str op)
{
    buf_add(o->b, S("\0\0\0\0")); // the length comes when it is known
    json_open(o, '{');
    json_key_int(o, S("v"), 1);
    json_key_int(o, S("id"), id);
    json_key_str(o, S("op"), op);
}

static str close_request(struct json_out *o)
{
    json_close(o, '}');
    str frame = buf_str(o->b);
    size_t n = frame.len - FRAME_HEAD_BYTES;
    for (size_t i = 0; i < FRAME_HEAD_BYTES; i++)
        o->b->data[i] = (char)(n >> (8 * i) & 0xff);
    return frame;
}

str frame_source(int64_t id, str op, str source, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    open_request(&o, id, op);
    json_key_str(&o, S("source"), source);
    return close_request(&o);
}

str frame_load(int64_t id, str source, str code, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    if (code.len == 0)
        return frame_source(id, S("load"), source, a);
    open_request(&o, id, S("load"));
    json_key_str(&o, S("code"), code);
    return close_request(&o);
}

str frame_globals(int64_t id, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    open_request(&o, id, S("globals"));
    return close_request(&o);
}

str frame_audit(int64_t id, const str texts[3], struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    open_request(&o, id, S("audit"));
    json_key_str(&o, S("source"), texts[0]);
    json_key_str(&o, S("parent"), texts[1]);
    json_key_str(&o, S("globals"), texts[2]);
    return close_request(&o);
}

uint32_t frame_length(const unsigned char head[FRAME_HEAD_BYTES])
{
    uint32_t n = 0;
    for (size_t i = FRAME_HEAD_BYTES; i-- > 0;)
        n = n << 8 | head[i];
    return n;
}

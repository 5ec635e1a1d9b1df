// SPDX-License-Identifier: GPL-3.0-or-later
// frame.c - requests to a sandboxed child: four bytes of length, then JSON (3.4).
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
    struct arena scratch = { 0 };
    str place = arena_printf(&scratch, "%llu %llu %llu %.*s", (unsigned long long)evaluation_seed,
                             (unsigned long long)example, (unsigned long long)call,
                             STR(harness_function_name(f)));
    uint64_t seed = hash64(place) >> (64 - SEED_BITS);
    arena_free(&scratch);
    return seed;
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

static void put_format_arguments(struct json_out *o, const struct harness_call *call)
{
    json_key_open(o, S("kwargs"), '{');
    json_key_int(o, S("turn_count"), call->turn_count);
    json_key_str(o, S("side_to_move"), call->side_to_move);
    json_key_maybe(o, S("last_opponent_move"), call->last_reply);
    json_key_int(o, S("max_turns"), call->max_turns);
    json_close(o, '}');
}

str frame_call(int64_t id, const struct harness_call *call, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    open_request(&o, id, S("call"));
    json_key_str(&o, S("fn"), harness_function_name(call->function));
    json_key_int(&o, S("seed"), (int64_t)call->seed);
    json_key_open(&o, S("args"), '[');
    json_put_str(&o, call->text);
    if (call->function == HARNESS_LEGAL)
        json_put_str(&o, call->action);
    json_close(&o, ']');
    if (call->as_text)
        json_key_bool(&o, S("text"), true);
    if (call->function == HARNESS_FORMAT)
        put_format_arguments(&o, call);
    return close_request(&o);
}

str frame_source(int64_t id, str op, str source, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    open_request(&o, id, op);
    json_key_str(&o, S("source"), source);
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

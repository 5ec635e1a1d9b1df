// SPDX-License-Identifier: GPL-3.0-or-later
// calls.c - calls and their results as bytes in shared memory. Both sides are this program on this
// machine, so numbers are written as they lie in memory.
#include <string.h>

#include "harness/calls.h"

enum { TEXTS = 5 };
struct head { // in front of the texts
    uint64_t seed, legal_seed;
    int64_t turn_count, max_turns;
    uint32_t function, as_text, judges;
    uint32_t lens[TEXTS];
};

// Which texts travel, in which order.
static void list_texts(struct harness_call *call, str *texts[TEXTS])
{
    texts[0] = &call->text;
    texts[1] = &call->action;
    texts[2] = &call->side_to_move;
    texts[3] = &call->last_reply;
    texts[4] = &call->board;
}

bool call_write(const struct harness_call *call, char *room, size_t max, uint32_t *len)
{
    struct harness_call copy = *call;
    str *texts[TEXTS];
    struct head h = { .seed = call->seed,
                      .legal_seed = call->legal_seed,
                      .turn_count = call->turn_count,
                      .max_turns = call->max_turns,
                      .function = call->function,
                      .as_text = call->as_text,
                      .judges = call->judges };
    size_t n = sizeof h;
    list_texts(&copy, texts);
    for (size_t i = 0; i < TEXTS; i++) {
        if (texts[i]->len > max || n + texts[i]->len > max)
            return false;
        if (texts[i]->len > 0)
            memcpy(room + n, texts[i]->data, texts[i]->len);
        h.lens[i] = (uint32_t)texts[i]->len;
        n += texts[i]->len;
    }
    memcpy(room, &h, sizeof h);
    *len = (uint32_t)n;
    return true;
}

str call_bytes(const struct harness_call *call, struct arena *a)
{
    struct harness_call copy = *call;
    str *texts[TEXTS];
    size_t max = sizeof(struct head);
    uint32_t len = 0;
    list_texts(&copy, texts);
    for (size_t i = 0; i < TEXTS; i++)
        max += texts[i]->len;
    char *room = arena_alloc(a, max);
    if (!call_write(call, room, max, &len))
        BUG("a call does not fit its own size");
    return (str){ room, len };
}

bool call_read(str request, struct harness_call *out)
{
    struct head h;
    str *texts[TEXTS];
    if (request.len < sizeof h)
        return false;
    memcpy(&h, request.data, sizeof h);
    *out = (struct harness_call){ .function = (enum harness_function)h.function,
                                  .seed = h.seed,
                                  .legal_seed = h.legal_seed,
                                  .turn_count = h.turn_count,
                                  .max_turns = h.max_turns,
                                  .as_text = h.as_text != 0,
                                  .judges = h.judges != 0 };
    size_t at = sizeof h;
    list_texts(out, texts);
    for (size_t i = 0; i < TEXTS; i++) {
        if (h.lens[i] > request.len - at)
            return false;
        *texts[i] = str_sub(request, at, h.lens[i]);
        at += h.lens[i];
    }
    return h.function <= HARNESS_PROPOSE && at == request.len;
}

// ---- results ----

static str valid_text(str text, struct arena *a)
{
    if (utf8_valid(text))
        return text;
    struct buf b = { .arena = a };
    buf_add_utf8(&b, text); // as the child has seen it
    return buf_str(&b);
}

static bool read_text(str text, struct arena *a, struct harness_result *out)
{
    *out = (struct harness_result){ .ok = true, .type = RESULT_STR };
    if (text.len > HARNESS_VIEW_MAX_BYTES || !utf8_valid(text))
        return false;
    out->text = harness_clean(text, a);
    return true;
}

static bool read_one(const struct call_area *area, size_t i, const struct harness_call *call,
                     struct arena *a, struct harness_result *out)
{
    uint32_t kind = atomic_load(&area->said[i].kind), len = atomic_load(&area->said[i].len);
    bool is_legality = i > 0 || call->function == HARNESS_LEGAL;
    if (len > HARNESS_REPLY_MAX_BYTES)
        return false;
    str copy = arena_str(a, (str){ area->reply[i], len });
    switch (kind) {
    case SAID_TEXT: return !is_legality && read_text(copy, a, out);
    case SAID_SAME: return !is_legality && read_text(valid_text(call->text, a), a, out);
    case SAID_TRUE:
    case SAID_FALSE:
        *out = (struct harness_result){ .ok = true, .type = RESULT_BOOL };
        out->truth = kind == SAID_TRUE;
        return true;
    case SAID_JSON:
        return frame_read(copy, 0, a, out, NULL) &&
               (!is_legality || !out->ok || out->type == RESULT_BOOL);
    default: return false;
    }
}

bool call_results_read(const struct call_area *area, const struct harness_call *call, bool whole,
                       struct arena *a, struct harness_result *out)
{
    uint32_t n = atomic_load_explicit(&area->n_said, memory_order_acquire);
    *out = (struct harness_result){ 0 };
    if (n == 0)
        return !whole;
    if (n > CALL_SAID_MAX || !read_one(area, 0, call, a, out))
        return false;
    out->told = true;
    if (!call->judges)
        return n == 1;
    out->action = harness_action(call, out, a);
    bool judged = harness_goes_somewhere(out->action);
    if (n == 1)
        return !whole || !judged;
    struct harness_result *legality = NEW(a, struct harness_result);
    out->legality = legality;
    return judged && read_one(area, 1, call, a, legality);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// engine.c - fuzzes a whole conversation: the input is what an engine says. Whatever it is, an
// answer that counts is legal, and survives being stored.
#include "fuzz.h"

#include "engine/engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = fuzz_text(data, size);
    struct arena a = { 0 };
    struct engine engine = { .path = S("toy") };
    struct engine_query q = { .engine = &engine,
                              .start = position_start(),
                              .lines = 1 + (int)(size % 3),
                              .limit = { ENGINE_BY_DEPTH, 2 } };
    struct talk t;
    talk_start(&t, &engine, &a);
    while (text.len > 0) {
        t.out.len = 0;
        if (talk_line(&t, str_cut_line(&text)) && t.reply.class == ENGINE_OK) {
            struct engine_reply back;
            str json = engine_reply_to_json(&t.reply, &a);
            assert(t.reply.best != MOVE_NONE);
            assert(engine_reply_from_json(json, &q.start, &a, &back, NULL));
            assert(str_eq(engine_reply_to_json(&back, &a), json));
        }
        if (t.state == TALK_IDLE)
            talk_ask(&t, &q, &a);
    }
    arena_free(&a);
    return 0;
}

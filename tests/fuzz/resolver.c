// SPDX-License-Identifier: GPL-3.0-or-later
// resolver.c - fuzzes turning a model's answer into a move: the first line is a FEN, the rest the
// answer. A move comes out exactly when there is no error, and is legal.
#include "fuzz.h"

#include "episode/episode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = fuzz_text(data, size);
    struct position pos;
    if (position_parse(str_cut(&text, '\n'), &pos, NULL) != FAULT_NONE)
        return 0;
    struct arena a = { 0 };
    struct resolution r = { 0 };
    move_resolve(&pos, text, &a, &r);
    assert((r.error == RESOLVE_OK) == (r.m != MOVE_NONE));
    assert(r.m == MOVE_NONE || (r.mode != RESOLVE_NOTHING && move_is_legal(&pos, r.m)));
    for (size_t i = 0; i < r.candidates.n; i++)
        assert(r.candidates.v[i].m == MOVE_NONE || move_is_legal(&pos, r.candidates.v[i].m));
    arena_free(&a);
    return 0;
}

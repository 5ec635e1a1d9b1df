// SPDX-License-Identifier: GPL-3.0-or-later
// perft.c - counts the leaves of the tree of legal moves. The last ply is counted, not played.
#include "chess/generate.h"

typedef uint64_t walker(const struct position *pos, int depth);

static ALWAYS_INLINE uint64_t expand(const struct position *pos, int depth, walker *walk)
{
    if (depth == 1)
        return generate(pos, NULL);
    move moves[MAX_LEGAL_MOVES];
    size_t n = generate(pos, moves);
    uint64_t leaves = 0;
    for (size_t i = 0; i < n; i++) {
        struct position next = *pos;
        board_apply(&next, moves[i]);
        leaves += walk(&next, depth - 1);
    }
    return leaves;
}

static uint64_t walk_anywhere(const struct position *pos, int depth)
{
    return expand(pos, depth, walk_anywhere);
}

// The x86-64 that every machine has counts bits in a library call; nearly every machine has better.
#if defined(__x86_64__)
__attribute__((target("popcnt,bmi"))) static uint64_t walk_popcnt(const struct position *pos,
                                                                  int depth)
{
    return expand(pos, depth, walk_popcnt);
}

static walker *best_walker(void)
{
    return __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi") ? walk_popcnt
                                                                             : walk_anywhere;
}
#else
static walker *best_walker(void)
{
    return walk_anywhere;
}
#endif

uint64_t perft(const struct position *pos, int depth)
{
    return depth <= 0 ? 1 : best_walker()(pos, depth);
}

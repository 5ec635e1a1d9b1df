// SPDX-License-Identifier: GPL-3.0-or-later
// perft.c - counts the leaves of the tree of legal moves. The last ply is counted, not played.
//
// One walker with or without a hash; docs/chess.md tells what else was tried.
#include "chess/generate.h"
#include "chess/perft.h"

// ---- the hash ----

// An entry is two words that any thread may write at any time: `check` is the key mixed with
// `data`, so that halves of two entries never look like one (Hyatt and Mann 2002). Of a pair the
// first word belongs to the deeper position.
enum { DEPTH_BITS = 8 };

static bool table_get(const struct perft_table *t, uint64_t key, int depth, uint64_t *leaves)
{
    struct perft_slot *pair = &t->v[(key & t->mask) * 2];
    for (int i = 0; i < 2; i++) {
        uint64_t data = atomic_load_explicit(&pair[i].data, memory_order_relaxed);
        uint64_t check = atomic_load_explicit(&pair[i].check, memory_order_relaxed);
        if ((check ^ data) == key && (int)(data & ((1 << DEPTH_BITS) - 1)) == depth) {
            *leaves = data >> DEPTH_BITS;
            return true;
        }
    }
    return false;
}

static void table_put(const struct perft_table *t, uint64_t key, int depth, uint64_t leaves)
{
    struct perft_slot *slot = &t->v[(key & t->mask) * 2];
    uint64_t old = atomic_load_explicit(&slot->data, memory_order_relaxed);
    if (leaves >> (64 - DEPTH_BITS))
        return; // does not fit; it would take years to get there
    if ((int)(old & ((1 << DEPTH_BITS) - 1)) > depth)
        slot++;
    uint64_t data = leaves << DEPTH_BITS | (uint64_t)depth;
    atomic_store_explicit(&slot->data, data, memory_order_relaxed);
    atomic_store_explicit(&slot->check, key ^ data, memory_order_relaxed);
}

// ---- the walk ----

static ALWAYS_INLINE uint64_t expand(const struct position *pos, int depth,
                                     const struct perft_table *t, perft_walker *walk)
{
    uint64_t leaves = 0;
    if (depth == 1)
        return generate(pos, NULL);
    if (t && table_get(t, pos->key, depth, &leaves))
        return leaves;
    move moves[MAX_LEGAL_MOVES];
    size_t n = generate(pos, moves);
    for (size_t i = 0; i < n; i++) {
        struct position next = *pos;
        board_apply(&next, moves[i]);
        if (t && depth > 2)
            next.key = key_after(pos, &next, moves[i]);
        leaves += walk(&next, depth - 1, t);
    }
    if (t)
        table_put(t, pos->key, depth, leaves);
    return leaves;
}

static uint64_t walk_anywhere(const struct position *pos, int depth, const struct perft_table *t)
{
    return expand(pos, depth, t, walk_anywhere);
}

// The x86-64 that every machine has counts bits in a library call; nearly every machine has better.
#if defined(__x86_64__)
__attribute__((target("popcnt,bmi"))) static uint64_t
walk_popcnt(const struct position *pos, int depth, const struct perft_table *t)
{
    return expand(pos, depth, t, walk_popcnt);
}

perft_walker *perft_best_walker(void)
{
    return __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi") ? walk_popcnt
                                                                             : walk_anywhere;
}
#else
perft_walker *perft_best_walker(void)
{
    return walk_anywhere;
}
#endif

uint64_t perft(const struct position *pos, int depth)
{
    return depth <= 0 ? 1 : perft_best_walker()(pos, depth, NULL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// perft.h - what perft.c (the walk) and perft_count.c (hash memory, threads) share.
#pragma once
#include <stdatomic.h>

#include "chess/internal.h"

struct perft_slot {
    _Atomic uint64_t check, data;
};
struct perft_table { // pairs of slots, all zero at first
    struct perft_slot *v;
    uint64_t mask; // pairs - 1
};

// Leaves below `pos` at depth >= 1. With a table (else NULL) pos->key must be right.
typedef uint64_t perft_walker(const struct position *pos, int depth, const struct perft_table *t);
// The fastest one for the processor that the program runs on.
perft_walker *perft_best_walker(void);

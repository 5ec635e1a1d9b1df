// SPDX-License-Identifier: GPL-3.0-or-later
// map.h - text keys to pointers or numbers, in an arena, iterated in insertion order.
#pragma once
#include <stdint.h>

#include "base/arena.h"

struct map_entry {
    str key; // copied into the map's arena
    union {
        void *pointer;
        int64_t number;
    };
    uint32_t hash_;
};

struct map { // zero, with the arena set, is an empty map
    struct arena *arena;
    struct map_entry *v; // in insertion order: for (i < n) v[i]
    size_t n, cap;
    uint32_t *slots_; // index + 1 into v, 0: free
    size_t n_slots_;
};

// The entry of `key`, or NULL. Valid until the next map_put.
struct map_entry *map_get(const struct map *m, str key);
// The entry of `key`, made (zero) when missing; `*fresh` (may be NULL) tells which.
struct map_entry *map_put(struct map *m, str key, bool *fresh);

// SPDX-License-Identifier: GPL-3.0-or-later
// vec.h - any struct with members `v` (pointer), `n` and `cap` (size_t) is a vector in an arena.
//
//     struct moves { move *v; size_t n, cap; } list = { 0 };
//     *vec_push(&arena, &list) = m;
#pragma once
#include "base/arena.h"

// A pointer to a new zeroed last element; earlier pointers into the vector may become stale.
#define vec_push(a, vec)                                                                           \
    ((vec)->v = vec_room_(a, (vec)->v, (vec)->n, &(vec)->cap, sizeof *(vec)->v),                   \
     &(vec)->v[(vec)->n++])

void *vec_room_(struct arena *a, void *v, size_t n, size_t *cap, size_t size);

// SPDX-License-Identifier: GPL-3.0-or-later
// vec.c - the growth behind vec_push.
#include <string.h>

#include "base/vec.h"

void *vec_room_(struct arena *a, void *v, size_t n, size_t *cap, size_t size)
{
    if (n == *cap) {
        size_t bigger = *cap ? *cap * 2 : 8;
        if (bigger > SIZE_MAX / size)
            BUG("vector size overflow");
        v = arena_grow(a, v, *cap * size, bigger * size);
        *cap = bigger;
    }
    memset((char *)v + n * size, 0, size);
    return v;
}

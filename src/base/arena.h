// SPDX-License-Identifier: GPL-3.0-or-later
// arena.h - memory that belongs to a lifetime: many allocations, one release.
//
// A zero struct is an empty arena. Running out of memory aborts the program, here and in mem_must.
#pragma once
#include <stdarg.h>
#include <stddef.h>

#include "base/macros.h"
#include "base/str.h"

struct arena_block;
struct arena {
    struct arena_block *head; // the block being filled; older ones hang behind it
};

// Zeroed memory for `size` bytes, aligned for any type; valid until arena_reset or arena_free.
void *arena_alloc(struct arena *a, size_t size);
#define NEW(a, type) ((type *)arena_alloc(a, sizeof(type)))
#define NEW_ARRAY(a, type, n) ((type *)arena_array_(a, sizeof(type), n))
void *arena_array_(struct arena *a, size_t size, size_t n);
// Grows the allocation `old` of old_size bytes to new_size; in place where it is the newest one.
void *arena_grow(struct arena *a, void *old, size_t old_size, size_t new_size);
// What calloc or a library has allocated: `p` itself, or, where it is NULL, out of memory.
void *mem_must(void *p);
// A copy of `s` in the arena, with a terminating NUL behind it that does not count.
str arena_str(struct arena *a, str s);
// The same with ASCII letters in lower case; without the bytes of `set`.
str arena_lower(struct arena *a, str s);
str arena_without(struct arena *a, str s, str set);
// A formatted text in the arena.
str arena_printf(struct arena *a, const char *format, ...) PRINTF_LIKE(2, 3);
str arena_vprintf(struct arena *a, const char *format, va_list args) PRINTF_LIKE(2, 0);
// Forgets everything and keeps one block for reuse; under ASan its memory is poisoned.
void arena_reset(struct arena *a);
void arena_free(struct arena *a);
// Bytes handed out since the last reset, padding included.
size_t arena_used(const struct arena *a);

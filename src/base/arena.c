// SPDX-License-Identifier: GPL-3.0-or-later
// arena.c - a chain of malloc'ed blocks, each twice the one before up to 1 MiB, filled from the
// front. A big request gets a block of its own size.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#include "base/ascii.h"

#if defined(__SANITIZE_ADDRESS__)
#define POISONING 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONING 1
#endif
#endif
#ifdef POISONING
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum { ALIGN = 16, FIRST_BLOCK = 4096, LAST_BLOCK = 1 << 20 };

struct arena_block {
    struct arena_block *older;
    size_t size; // of data
    size_t used;
    size_t unused_; // keeps data aligned to 16
    char data[];
};
_Static_assert(sizeof(struct arena_block) % ALIGN == 0, "data is aligned");

noreturn void bug_(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: this cannot happen: %s\n", file, line, what);
    abort();
}

void *mem_must(void *p)
{
    if (!p) {
        fprintf(stderr, "rookery: out of memory\n");
        abort();
    }
    return p;
}

static struct arena_block *block_new(size_t size, struct arena_block *older)
{
    struct arena_block *b = mem_must(size < SIZE_MAX - sizeof *b ? malloc(sizeof *b + size) : NULL);
    b->older = older;
    b->size = size;
    b->used = 0;
    POISON(b->data, size);
    return b;
}

static size_t padded(size_t size)
{
    if (size > SIZE_MAX - ALIGN)
        BUG("size overflow");
    return (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

// Memory with whatever is in it.
static void *take(struct arena *a, size_t size)
{
    size_t want = padded(size ? size : 1);
    struct arena_block *b = a->head;
    if (!b || b->size - b->used < want) {
        size_t next = !b ? FIRST_BLOCK : b->size < LAST_BLOCK ? b->size * 2 : LAST_BLOCK;
        b = a->head = block_new(want > next ? want : next, b);
    }
    void *p = b->data + b->used;
    b->used += want;
    UNPOISON(p, size);
    return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
    return memset(take(a, size), 0, size);
}

void *arena_array_(struct arena *a, size_t size, size_t n)
{
    if (n != 0 && size > SIZE_MAX / n)
        BUG("array size overflow");
    return arena_alloc(a, size * n);
}

void *arena_grow(struct arena *a, void *old, size_t old_size, size_t new_size)
{
    struct arena_block *b = a->head;
    size_t was = padded(old_size ? old_size : 1);
    size_t want = padded(new_size);
    char *p = old;
    if (p && b && p + was == b->data + b->used && b->used - was + want <= b->size) {
        b->used += want - was;
        UNPOISON(p, new_size);
        memset(p + old_size, 0, new_size - old_size);
        return p;
    }
    void *fresh = arena_alloc(a, new_size);
    if (old && old_size > 0)
        memcpy(fresh, old, old_size);
    return fresh;
}

str arena_str(struct arena *a, str s)
{
    char *copy = take(a, s.len + 1);
    if (s.len > 0)
        memcpy(copy, s.data, s.len);
    copy[s.len] = '\0';
    return (str){ copy, s.len };
}

str arena_lower(struct arena *a, str s)
{
    char *copy = arena_alloc(a, s.len + 1);
    for (size_t i = 0; i < s.len; i++)
        copy[i] = ascii_lower(s.data[i]);
    return (str){ copy, s.len };
}

str arena_without(struct arena *a, str s, str set)
{
    char *copy = arena_alloc(a, s.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        if (str_find_char(set, s.data[i]) < 0)
            copy[n++] = s.data[i];
    return (str){ copy, n };
}

str arena_vprintf(struct arena *a, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n < 0)
        BUG("bad format");
    char *text = take(a, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return (str){ text, (size_t)n };
}

str arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    str s = arena_vprintf(a, format, args);
    va_end(args);
    return s;
}

void arena_reset(struct arena *a)
{
    struct arena_block *b = a->head;
    if (!b)
        return;
    // The newest block is kept: it is at least as large as what one round needed last.
    for (struct arena_block *old = b->older; old;) {
        struct arena_block *next = old->older;
        free(old);
        old = next;
    }
    b->older = NULL;
    b->used = 0;
    POISON(b->data, b->size);
}

void arena_free(struct arena *a)
{
    for (struct arena_block *b = a->head; b;) {
        struct arena_block *older = b->older;
        free(b);
        b = older;
    }
    a->head = NULL;
}

size_t arena_used(const struct arena *a)
{
    size_t used = 0;
    for (const struct arena_block *b = a->head; b; b = b->older)
        used += b->used;
    return used;
}

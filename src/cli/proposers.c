// SPDX-License-Identifier: GPL-3.0-or-later
// proposers.c - candidates from a directory.
#include "cli/proposers.h"

enum { SLOTS_HASHED = 1000, META_MAX_BYTES = 1 << 20 };

// The file of a slot in a directory, or false.
static bool find_source(str dir, str slot, struct arena *a, str *path)
{
    *path = arena_printf(a, "%.*s/%.*s.py", STR(dir), STR(slot));
    if (file_exists(*path))
        return true;
    *path = arena_printf(a, "%.*s/%.*s/harness.py", STR(dir), STR(slot));
    return file_exists(*path);
}

static struct proposal *entry(struct proposals *p, str slot, struct arena *a)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_eq(p->v[i].name, slot))
            return &p->v[i];
    struct proposal *fresh = vec_push(a, p);
    *fresh = (struct proposal){ .name = slot, .axis = S("recovered") };
    return fresh;
}

bool scripted_propose(void *ctx, const struct proposal_request *q, struct proposals *out,
                      struct err *err)
{
    const struct proposers *p = ctx;
    struct arena *a = p->run->arena;
    for (size_t i = 0; i < q->n_slots; i++) {
        str path, source, meta, slot = q->slots[i];
        if (!find_source(p->directory, slot, a, &path))
            continue;
        if (!candidate_read(path, a, &source, err))
            return false;
        path = arena_printf(a, "%.*s/%.*s.json", STR(p->directory), STR(slot));
        if (file_exists(path) &&
            (!file_read(path, META_MAX_BYTES, a, &meta, err) || !proposals_read(meta, a, out, err)))
            return false;
        entry(out, slot, a)->source = source;
    }
    out->calls = 1;
    return true;
}

str scripted_hash(const struct proposers *p)
{
    struct sha256 *h = sha256_new();
    for (int i = 1; i < SLOTS_HASHED; i++) {
        str path, source;
        str slot = arena_printf(p->run->arena, "h%d", i);
        if (find_source(p->directory, slot, p->run->arena, &path) &&
            candidate_read(path, p->run->arena, &source, NULL)) {
            sha256_add(h, slot);
            sha256_add(h, source);
        }
    }
    return sha256_hex(h, p->run->arena);
}

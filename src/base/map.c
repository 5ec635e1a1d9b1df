// SPDX-License-Identifier: GPL-3.0-or-later
// map.c - open addressing over an insertion-ordered vector; nothing is ever removed.
#include "base/map.h"

#include "base/hash.h"
#include "base/vec.h"

static size_t find_slot(const struct map *m, str key, uint32_t hash)
{
    size_t i = hash & (m->n_slots_ - 1);
    for (; m->slots_[i] != 0; i = (i + 1) & (m->n_slots_ - 1)) {
        const struct map_entry *e = &m->v[m->slots_[i] - 1];
        if (e->hash_ == hash && str_eq(e->key, key))
            break;
    }
    return i;
}

static void grow(struct map *m)
{
    m->n_slots_ = m->n_slots_ ? m->n_slots_ * 2 : 16;
    m->slots_ = NEW_ARRAY(m->arena, uint32_t, m->n_slots_);
    for (size_t i = 0; i < m->n; i++)
        m->slots_[find_slot(m, m->v[i].key, m->v[i].hash_)] = (uint32_t)i + 1;
}

struct map_entry *map_get(const struct map *m, str key)
{
    if (m->n_slots_ == 0)
        return NULL;
    size_t slot = find_slot(m, key, (uint32_t)hash64(key));
    return m->slots_[slot] ? &m->v[m->slots_[slot] - 1] : NULL;
}

struct map_entry *map_put(struct map *m, str key, bool *fresh)
{
    struct map_entry *found = map_get(m, key);
    if (fresh)
        *fresh = found == NULL;
    if (found)
        return found;
    if ((m->n + 1) * 2 > m->n_slots_)
        grow(m);
    struct map_entry *e = vec_push(m->arena, m);
    e->key = arena_str(m->arena, key);
    e->hash_ = (uint32_t)hash64(key);
    m->slots_[find_slot(m, key, e->hash_)] = (uint32_t)m->n;
    return e;
}

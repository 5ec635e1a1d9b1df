// SPDX-License-Identifier: GPL-3.0-or-later
// audit_index.c - what of the data set a candidate must not hold, as salted hashes: nobody can read
// a position or a move out of it.
#include "harness/harness.h"

enum { RANKS_MIN_PIECES = 2 }; // pairs of emptier ranks are everywhere

static str key_of(const struct audit_index *index, enum audit_kind kind, str text, uint64_t *room)
{
    struct arena scratch = { 0 };
    *room = hash64(arena_printf(&scratch, "%llu %d %.*s", (unsigned long long)index->salt,
                                (int)kind, STR(text)));
    arena_free(&scratch);
    return (str){ (const char *)room, sizeof *room };
}

static void note(struct audit_index *index, enum audit_kind kind, str text)
{
    uint64_t room;
    map_put(&index->seen, key_of(index, kind, text, &room), NULL);
}

static size_t pieces_in(str ranks)
{
    size_t n = 0;
    for (size_t i = 0; i < ranks.len; i++)
        n += !ascii_is_digit(ranks.data[i]) && ranks.data[i] != '/';
    return n;
}

void audit_index_add(struct audit_index *index, const struct audit_item *item)
{
    struct arena scratch = { 0 };
    struct buf fen = { .arena = &scratch };
    position_format(item->at, &fen);
    str rest = buf_str(&fen);
    rest = str_cut(&rest, ' ');
    for (str before = str_cut(&rest, '/'); rest.len > 0;) {
        str rank = str_cut(&rest, '/');
        str pair = arena_printf(&scratch, "%.*s/%.*s", STR(before), STR(rank));
        if (pieces_in(pair) >= RANKS_MIN_PIECES)
            note(index, AUDIT_RANKS, pair);
        before = rank;
    }
    for (size_t i = 0; i + 1 < item->n_moves; i++)
        note(index, AUDIT_PAIR,
             arena_printf(&scratch, "%.*s %.*s", STR(item->moves[i]), STR(item->moves[i + 1])));
    if (item->id.len > 0)
        note(index, AUDIT_ID, item->id);
    arena_free(&scratch);
}

bool audit_index_has(const struct audit_index *index, enum audit_kind kind, str text)
{
    uint64_t room;
    return map_get(&index->seen, key_of(index, kind, text, &room)) != NULL;
}

void audit_find(struct violations *out, struct arena *a, struct violation v)
{
    for (size_t i = 0; i < out->n; i++) {
        struct violation *old = &out->v[i];
        if (!str_eq(old->rule, v.rule) || old->line != v.line)
            continue;
        if (v.level < old->level) // graver
            *old = v;
        return;
    }
    *vec_push(a, out) = v;
}

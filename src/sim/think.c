// SPDX-License-Identifier: GPL-3.0-or-later
// think.c - what a position holds for a simulated model: the moves it may play as a quick look
// ranks them, the best move as a longer look finds it, and how far apart the two are. That
// distance is the difficulty: what the quick look sees is easy.
//
// Optimizers ask about the same positions again and again, so an opened model keeps what it saw
// of the latest ones. That changes no answer: what is kept is a function of the position alone.
#include <math.h>
#include <string.h>

#include "sim/internal.h"

// Together at most 2,000 nodes a reply (decisions 3.2).
static const struct search_limits quick_look = { .depth = 1, .nodes = 400 };
static const struct search_limits long_look = { .depth = 2, .nodes = 1600 };

enum { GAP_CLEAR_CP = 150, MOVES_MANY = 30 };
static const double HIDDEN = 0.9;        // the quick look prefers another move
static const double HIDDEN_RANK = 0.3;   // for each doubling of the moves it prefers
static const double UNCLEAR = 0.6;       // no clear distance to the second-best move
static const double QUIET = 0.5;         // the best move neither checks nor captures
static const double CROWDED = 0.3;       // many legal moves
static const double MATE_AT_ONCE = -0.5; // mate in one

// Is `uci` one of the moves in the list, separated by commas and blanks?
static bool list_has(str list, str uci)
{
    for (size_t from = 0; from < list.len;) {
        ptrdiff_t at = str_find(str_sub(list, from, list.len), uci);
        if (at < 0)
            return false;
        size_t begin = from + (size_t)at;
        size_t end = begin + uci.len;
        bool ends = end >= list.len || list.data[end] == ',' || list.data[end] == ' ';
        bool begins = begin == 0 || list.data[begin - 1] == ' ' || list.data[begin - 1] == ',';
        if (begins && ends)
            return true;
        from = end;
    }
    return false;
}

// Leaves the moves that the question lists; all of them where it lists none that is legal.
static void keep_listed(str list, struct search_result *r)
{
    size_t n = 0;
    struct scored_move kept[MAX_LEGAL_MOVES];
    for (size_t i = 0; i < r->n; i++) {
        struct move_text uci = uci_format(r->v[i].m);
        if (list_has(list, str_from(uci.data)))
            kept[n++] = r->v[i];
    }
    if (n == 0 || n == r->n)
        return;
    for (size_t i = 0; i < n; i++)
        r->v[i] = kept[i];
    r->n = n;
}

struct looks { // at one position
    struct search_result quick, deep;
};

static double difficulty(const struct thought *t, const struct search_result *deep)
{
    double d = t->best > 0 ? HIDDEN + HIDDEN_RANK * log2((double)t->best) : 0;
    if (deep->n > 1 && deep->v[0].score_cp - deep->v[1].score_cp < GAP_CLEAR_CP)
        d += UNCLEAR;
    if (!t->forces)
        d += QUIET;
    if (deep->n > MOVES_MANY)
        d += CROWDED;
    if (deep->v[0].score_cp == SEARCH_MATE_CP - 1)
        d += MATE_AT_ONCE;
    return fmax(d, 0);
}

// Advice helps where it fits: to look at forcing moves where the best one is forcing, to look ahead
// where a quick look misses it.
void thought_weigh(const struct view *v, struct thought *t)
{
    for (int f = 0; f < FEATURE_COUNT; f++)
        t->factor[f] = 1;
    t->factor[FEATURE_FORCING] = t->forces ? 1 : -0.3;
    t->factor[FEATURE_LOOKAHEAD] = fmin(0.4 + 0.4 * t->difficulty, 1.2);
    t->factor[FEATURE_MATE] = t->mates ? 1 : 0.1;
    t->factor[FEATURE_MATERIAL] = t->mates ? 0.1 : 1;
    t->factor[FEATURE_RELEVANCE] = demo_relevance(v, (enum color)v->pos.turn, t->mates, t->forces);
}

// Copies the scored moves `from` into `to`, which holds at most MAX_LEGAL_MOVES.
static void copy_moves(struct scored_move *to, const struct scored_move *from, size_t n)
{
    memcpy(to, from, n * sizeof *to);
}

static struct look *cache_slot(struct look_cache *cache, const struct position *pos, uint64_t *key)
{
    *key = pos->key + pos->halfmove * 0x9E3779B97F4A7C15U; // the search knows the 50-move rule
    return &cache->slots[*key % LOOKS_KEPT];
}

static void cache_put(struct look_cache *cache, const struct position *pos,
                      const struct looks *seen)
{
    uint64_t key;
    struct look *slot = cache_slot(cache, pos, &key);
    if (slot->cap < seen->quick.n) {
        slot->cap = seen->quick.n;
        slot->quick = NEW_ARRAY(cache->arena, struct scored_move, slot->cap);
        slot->deep = NEW_ARRAY(cache->arena, struct scored_move, slot->cap);
    }
    slot->key = key;
    slot->n = seen->quick.n;
    copy_moves(slot->quick, seen->quick.v, slot->n);
    copy_moves(slot->deep, seen->deep.v, slot->n);
}

static bool cache_get(struct look_cache *cache, const struct position *pos, struct looks *out)
{
    uint64_t key;
    const struct look *slot = cache_slot(cache, pos, &key);
    if (slot->n == 0 || slot->key != key)
        return false;
    out->quick.n = out->deep.n = slot->n;
    copy_moves(out->quick.v, slot->quick, slot->n);
    copy_moves(out->deep.v, slot->deep, slot->n);
    return true;
}

// Both looks at a position that has legal moves.
static void look(struct look_cache *cache, const struct position *pos, struct looks *out)
{
    if (cache && cache_get(cache, pos, out))
        return;
    search_moves(pos, &quick_look, &out->quick);
    search_moves(pos, &long_look, &out->deep);
    if (cache)
        cache_put(cache, pos, out);
}

void think(const struct view *v, struct look_cache *cache, struct thought *out)
{
    out->n = 0;
    out->difficulty = 0;
    for (int f = 0; f < FEATURE_COUNT; f++)
        out->factor[f] = 1;
    struct move_list legal;
    if (!v->has_position)
        return;
    moves_legal(&v->pos, &legal);
    if (legal.n == 0)
        return;
    struct looks seen;
    look(cache, &v->pos, &seen);
    if (v->legal.len > 0) {
        keep_listed(v->legal, &seen.quick);
        keep_listed(v->legal, &seen.deep);
    }
    move best = seen.deep.v[0].m;
    out->n = seen.quick.n;
    copy_moves(out->v, seen.quick.v, out->n);
    for (size_t i = 0; i < out->n; i++)
        if (out->v[i].m == best)
            out->best = i;
    out->forces = move_gives_check(&v->pos, best) || move_is_capture(&v->pos, best);
    out->mates = seen.deep.v[0].score_cp > SEARCH_MATE_CP / 2;
    out->difficulty = difficulty(out, &seen.deep);
    thought_weigh(v, out);
}

double response_chance(const struct response *r, const double *strength, const double *factor,
                       double extra)
{
    double sum = r->base + extra;
    for (int f = 0; f < FEATURE_COUNT; f++)
        sum += r->weight[f] * strength[f] * (factor ? factor[f] : 1);
    return 1 / (1 + exp(-sum));
}

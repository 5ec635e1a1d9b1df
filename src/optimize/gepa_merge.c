// SPDX-License-Identifier: GPL-3.0-or-later
// gepa_merge.c - merging: two candidates of one ancestor that edited different components give one
// that has both edits (GEPA and SIMBA specification, 2.11). Components are walked in their order.
#include <string.h>

#include "optimize/gepa_pool.h"

enum { OUTER_TRIES = 10, INNER_TRIES = 10, FROM_A_GROUP = 2 };

// Marks the candidate's ancestors, itself excluded. Parents have lower indices.
static bool *ancestors(const struct gepa_pool *p, size_t candidate)
{
    bool *is = NEW_ARRAY(p->arena, bool, p->n);
    for (size_t i = candidate + 1; i-- > 0;)
        for (size_t k = 0; (i == candidate || is[i]) && k < p->v[i].n_parents; k++)
            is[p->v[i].parents[k]] = true;
    return is;
}

static bool tried_triple(const struct gepa_merges *m, size_t i, size_t j, size_t ancestor)
{
    for (size_t k = 0; k < m->triples.n; k++) {
        const struct gepa_merge_key *t = &m->triples.v[k];
        if (t->i == i && t->j == j && t->ancestor == ancestor)
            return true;
    }
    return false;
}

static bool tried_composition(const struct gepa_merges *m, const struct gepa_merge *g, size_t n)
{
    for (size_t k = 0; k < m->compositions.n; k++) {
        const struct gepa_merge_key *t = &m->compositions.v[k];
        if (t->i == g->i && t->j == g->j &&
            memcmp(t->choice, g->choice, n * sizeof *t->choice) == 0)
            return true;
    }
    return false;
}

// Some component was edited by one of the two alone.
static bool is_eligible(const struct gepa_pool *p, size_t i, size_t j, size_t ancestor)
{
    for (size_t k = 0; k < p->n_components; k++) {
        str a = p->v[ancestor].texts[k], x = p->v[i].texts[k], y = p->v[j].texts[k];
        if (!str_eq(x, y) && (str_eq(a, x) || str_eq(a, y)))
            return true;
    }
    return false;
}

// Draws a common ancestor of i and j that is no better than either.
static bool find_ancestor(const struct gepa_merges *m, const struct gepa_pool *p, struct chance *c,
                          struct gepa_merge *g)
{
    const bool *of_i = ancestors(p, g->i), *of_j = ancestors(p, g->j);
    size_t *found = NEW_ARRAY(p->arena, size_t, p->n);
    double *weights = NEW_ARRAY(p->arena, double, p->n);
    size_t n = 0;
    if (of_j[g->i] || of_i[g->j])
        return false;
    for (size_t a = 0; a < p->n; a++) {
        int64_t sum = p->v[a].sum;
        if (!of_i[a] || !of_j[a] || sum > p->v[g->i].sum || sum > p->v[g->j].sum)
            continue;
        if (tried_triple(m, g->i, g->j, a) || !is_eligible(p, g->i, g->j, a))
            continue;
        weights[n] = gepa_mean(p, a);
        found[n++] = a;
    }
    if (n > 0)
        g->ancestor = found[c->weighted(c->ctx, "merge", weights, n)];
    return n > 0;
}

// The parent whose text component k takes.
static size_t source(const struct gepa_pool *p, const struct gepa_merge *g, size_t k,
                     struct chance *c)
{
    str a = p->v[g->ancestor].texts[k], x = p->v[g->i].texts[k], y = p->v[g->j].texts[k];
    if (str_eq(x, y) || str_eq(a, y))
        return g->i;
    if (str_eq(a, x))
        return g->j;
    int64_t lead = p->v[g->i].sum - p->v[g->j].sum;
    if (lead == 0)
        return c->below(c->ctx, "merge", 2) == 0 ? g->i : g->j;
    return lead > 0 ? g->i : g->j;
}

static bool exists(const struct gepa_pool *p, const str *texts)
{
    for (size_t i = 0; i < p->n; i++) {
        bool same = true;
        for (size_t k = 0; k < p->n_components; k++)
            same = same && str_eq(p->v[i].texts[k], texts[k]);
        if (same)
            return true;
    }
    return false;
}

// Joins the edits, and remembers that they were. False: known already, or nothing new.
static bool compose(struct gepa_merges *m, const struct gepa_pool *p, struct chance *c,
                    struct gepa_merge *g)
{
    size_t n = p->n_components;
    str *texts = NEW_ARRAY(m->arena, str, n);
    size_t *choice = NEW_ARRAY(m->arena, size_t, n);
    for (size_t k = 0; k < n; k++) {
        choice[k] = source(p, g, k, c);
        texts[k] = p->v[choice[k]].texts[k];
    }
    g->texts = texts;
    g->choice = choice;
    if (tried_composition(m, g, n))
        return false;
    *vec_push(m->arena, &m->compositions) =
        (struct gepa_merge_key){ .i = g->i, .j = g->j, .choice = choice };
    *vec_push(m->arena, &m->triples) =
        (struct gepa_merge_key){ .i = g->i, .j = g->j, .ancestor = g->ancestor };
    return !exists(p, texts);
}

struct pairs { // where pairs are drawn from
    const struct gepa_pool *pool;
    const size_t *survivors;
    size_t n;
};

static bool find_pair(const struct gepa_merges *m, const struct pairs *from, struct chance *c,
                      struct gepa_merge *out)
{
    for (int try = 0; try < INNER_TRIES; try++) {
        size_t x = c->below(c->ctx, "merge", from->n);
        size_t y = c->below(c->ctx, "merge", from->n - 1);
        y += y >= x;
        *out = (struct gepa_merge){ .i = from->survivors[x < y ? x : y],
                                    .j = from->survivors[x < y ? y : x] };
        if (find_ancestor(m, from->pool, c, out))
            return true;
    }
    return false;
}

bool gepa_merge_find(struct gepa_merges *m, const struct gepa_pool *p, struct chance *c,
                     struct gepa_merge *out)
{
    bool *survives = NEW_ARRAY(p->arena, bool, p->n);
    size_t *survivors = NEW_ARRAY(p->arena, size_t, p->n);
    struct pairs from = { .pool = p, .survivors = survivors };
    gepa_prune(p, survives);
    for (size_t i = 0; i < p->n; i++)
        if (survives[i])
            survivors[from.n++] = i;
    if (from.n < 2 || p->n < 3 || p->n_validation < GEPA_MERGE_EXAMPLES)
        return false;
    for (int try = 0; try < OUTER_TRIES; try++)
        if (find_pair(m, &from, c, out) && compose(m, p, c, out))
            return true;
    return false;
}

// ---- what it is tried on ----

// The examples where i is better (1), j is better (-1) or both are equal (0), shuffled.
static size_t draw_group(const struct gepa_pool *p, const struct gepa_merge *m, int sign,
                         struct chance *c, size_t *group)
{
    const int64_t *x = p->v[m->i].scores, *y = p->v[m->j].scores;
    size_t n = 0;
    for (size_t v = 0; v < p->n_validation; v++)
        if ((x[v] > y[v]) - (x[v] < y[v]) == sign)
            group[n++] = v;
    c->shuffle(c->ctx, "merge", group, n);
    return n;
}

void gepa_merge_examples(const struct gepa_pool *p, const struct gepa_merge *m, struct chance *c,
                         size_t out[GEPA_MERGE_EXAMPLES])
{
    static const int groups[] = { 1, -1, 0 };
    size_t *group = NEW_ARRAY(p->arena, size_t, p->n_validation);
    size_t *unused = NEW_ARRAY(p->arena, size_t, p->n_validation);
    size_t taken = 0, n_unused = 0;
    for (size_t g = 0; g < ARRAY_LEN(groups); g++) {
        size_t n = draw_group(p, m, groups[g], c, group);
        size_t wanted = GEPA_MERGE_EXAMPLES - taken;
        wanted = wanted < FROM_A_GROUP ? wanted : FROM_A_GROUP;
        for (size_t i = 0; i < n; i++)
            if (i < wanted)
                out[taken++] = group[i];
            else
                unused[n_unused++] = group[i];
    }
    bool enough = n_unused >= GEPA_MERGE_EXAMPLES - taken;
    c->shuffle(c->ctx, "merge", unused, n_unused);
    for (size_t i = 0; taken < GEPA_MERGE_EXAMPLES; i++)
        out[taken++] = enough ? unused[i] : c->below(c->ctx, "merge", p->n_validation);
}

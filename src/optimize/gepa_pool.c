// SPDX-License-Identifier: GPL-3.0-or-later
// gepa_pool.c - candidates with their scores on every validation example, and the choice of a
// parent among those that are best somewhere (GEPA and SIMBA specification, 2.3 and 2.4).
#include <string.h>

#include "optimize/gepa_pool.h"

// ---- candidates ----

size_t gepa_pool_add(struct gepa_pool *p, const struct gepa_candidate *c)
{
    struct gepa_candidate *new = vec_push(p->arena, p);
    *new = *c;
    new->sum = 0;
    for (size_t i = 0; i < c->n_parents; i++)
        if (p->v[c->parents[i]].next_component > new->next_component)
            new->next_component = p->v[c->parents[i]].next_component;
    if (!p->best)
        p->best = NEW_ARRAY(p->arena, int64_t, p->n_validation + 1);
    for (size_t v = 0; v < p->n_validation; v++) {
        new->sum += c->scores[v];
        if (p->n == 1 || c->scores[v] > p->best[v])
            p->best[v] = c->scores[v];
    }
    return p->n - 1;
}

size_t gepa_best(const struct gepa_pool *p)
{
    size_t best = 0;
    for (size_t i = 1; i < p->n; i++)
        if (p->v[i].sum > p->v[best].sum)
            best = i;
    return best;
}

double gepa_mean(const struct gepa_pool *p, size_t candidate)
{
    if (p->n_validation == 0)
        return 0;
    return (double)p->v[candidate].sum / GEPA_ONE / (double)p->n_validation;
}

bool gepa_on_front(const struct gepa_pool *p, size_t candidate, size_t example)
{
    return p->v[candidate].scores[example] == p->best[example];
}

// ---- pruning ----

// Indices from the lowest mean to the highest, ties by index (insertion keeps the order of equals).
static size_t *by_mean(const struct gepa_pool *p)
{
    size_t *order = NEW_ARRAY(p->arena, size_t, p->n);
    for (size_t i = 0; i < p->n; i++) {
        size_t at = i;
        for (; at > 0 && p->v[order[at - 1]].sum > p->v[i].sum; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

static bool is_alone(const struct gepa_pool *p, const bool *left, size_t candidate, size_t example)
{
    for (size_t i = 0; i < p->n; i++)
        if (i != candidate && left[i] && gepa_on_front(p, i, example))
            return false;
    return true;
}

// Redundant: wherever it is best, another one that is left is as good.
static bool is_redundant(const struct gepa_pool *p, const bool *left, size_t candidate)
{
    for (size_t v = 0; v < p->n_validation; v++)
        if (gepa_on_front(p, candidate, v) && is_alone(p, left, candidate, v))
            return false;
    return true;
}

// One pass is enough: what is removed later cannot make an earlier one redundant.
static size_t prune(const struct gepa_pool *p, bool *left)
{
    const size_t *order = by_mean(p);
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (left[order[i]] && is_redundant(p, left, order[i]))
            left[order[i]] = false;
    for (size_t i = 0; i < p->n; i++)
        n += left[i];
    return n;
}

size_t gepa_prune(const struct gepa_pool *p, bool *survives)
{
    memset(survives, true, p->n * sizeof *survives);
    return prune(p, survives);
}

// ---- choosing ----

// Of how many fronts the candidates that are left are part; the sum.
static double count_fronts(const struct gepa_pool *p, const bool *left, double *weights)
{
    double total = 0;
    for (size_t i = 0; i < p->n; i++) {
        weights[i] = 0;
        for (size_t v = 0; v < p->n_validation; v++)
            weights[i] += left[i] && gepa_on_front(p, i, v);
        total += weights[i];
    }
    return total;
}

// The k highest means; ties go to the lower index.
static void keep_top(const struct gepa_pool *p, size_t k, bool *left)
{
    for (size_t i = 0; i < p->n; i++) {
        size_t n_better = 0;
        for (size_t j = 0; j < p->n; j++)
            n_better += p->v[j].sum > p->v[i].sum || (p->v[j].sum == p->v[i].sum && j < i);
        left[i] = n_better < k;
    }
}

size_t gepa_select(const struct gepa_pool *p, const struct gepa_choosing *how, struct chance *c,
                   double *weights)
{
    bool *left = NEW_ARRAY(p->arena, bool, p->n);
    memset(left, true, p->n * sizeof *left);
    memset(weights, 0, p->n * sizeof *weights);
    switch (how->strategy) {
    case GEPA_CURRENT_BEST: return gepa_best(p);
    case GEPA_EPSILON_GREEDY:
        return c->uniform(c->ctx, "select") < how->epsilon ? c->below(c->ctx, "select", p->n)
                                                           : gepa_best(p);
    case GEPA_TOP_K_PARETO:
        keep_top(p, how->top_k, left);
        prune(p, left);
        break;
    case GEPA_PARETO: prune(p, left); break;
    case GEPA_UNPRUNED_PARETO: break;
    }
    if (count_fronts(p, left, weights) == 0)
        return gepa_best(p);
    return c->weighted(c->ctx, "select", weights, p->n);
}

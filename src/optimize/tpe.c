// SPDX-License-Identifier: GPL-3.0-or-later
// tpe.c - the sampler of MIPROv2: a tree-structured Parzen estimator over two categories at once
// (few-shot specification 6.5; steps are numbered there). What scored well and what did not become
// two mixtures of kernels; of some pairs drawn from the good one, that pair is tried next at which
// the good one is densest against the other.
//
// All its draws come from the stream "tpe" of the run's chance, in this order. Fewer than
// TPE_STARTUP records: x by `below`, then y by `below`. Otherwise, for each of TPE_CANDIDATES
// pairs: the kernel by `weighted` over the good records in the order of their numbers and the
// prior, x by `weighted` over that kernel, y likewise. A dimension with a single choice takes no
// draw.
#include <math.h>
#include <stdlib.h>

#include "optimize/optimize.h"

static const char STREAM[] = "tpe";
enum { NEWEST = 25 };           // records of full weight
static const double TIE = 1e-9; // ratios nearer than this are equal: the rest is rounding
static const double PRIOR_WEIGHT = 1;

size_t tpe_n_good(size_t n)
{
    enum { GOOD_MAX = 25 };
    size_t n_good = (n + 9) / 10;
    return n_good < GOOD_MAX ? n_good : GOOD_MAX;
}

static int by_value(const void *a, const void *b)
{
    const struct tpe_record *const *x = a, *const *y = b;
    if ((*x)->value != (*y)->value)
        return (*x)->value > (*y)->value ? -1 : 1;
    return (*x > *y) - (*x < *y); // records of one array: the older first
}

void tpe_divide(const struct tpe_records *all, struct arena *a, struct tpe_records *good,
                struct tpe_records *bad)
{
    const struct tpe_record **ranked = NEW_ARRAY(a, const struct tpe_record *, all->n + 1);
    bool *is_good = NEW_ARRAY(a, bool, all->n + 1);
    size_t n_good = tpe_n_good(all->n);
    for (size_t i = 0; i < all->n; i++)
        ranked[i] = &all->v[i];
    qsort(ranked, all->n, sizeof *ranked, by_value);
    for (size_t i = 0; i < n_good; i++)
        is_good[ranked[i] - all->v] = true;
    *good = *bad = (struct tpe_records){ 0 };
    for (size_t i = 0; i < all->n; i++)
        *vec_push(a, is_good[i] ? good : bad) = all->v[i];
}

double tpe_weight(size_t i, size_t n)
{
    if (n < NEWEST || i + NEWEST >= n)
        return 1;
    size_t n_old = n - NEWEST;
    double least = 1 / (double)n;
    return n_old == 1 ? least : least + (1 - least) * (double)i / (double)(n_old - 1);
}

static double kernel_weight(const struct tpe_records *s, size_t kernel)
{
    return kernel == s->n ? PRIOR_WEIGHT : tpe_weight(kernel, s->n);
}

// The chance of choice i, of n, under a kernel around `centre` in a mixture of n_kernels; a centre
// beyond the last choice stands for the prior.
static double chance_of(size_t i, size_t centre, size_t n, size_t n_kernels)
{
    if (centre >= n)
        return 1 / (double)n;
    double smoothing = 1 / (double)n_kernels;
    return (smoothing + (i == centre)) / (1 + (double)n * smoothing);
}

// Where kernel k stands; the prior stands nowhere.
static struct tpe_pair centre_of(const struct tpe *t, const struct tpe_records *s, size_t k)
{
    return k == s->n ? (struct tpe_pair){ t->n_x, t->n_y } : s->v[k].at;
}

double tpe_density(const struct tpe *t, const struct tpe_records *s, struct tpe_pair at)
{
    size_t n_kernels = s->n + 1;
    double sum = 0, total = 0;
    for (size_t k = 0; k < n_kernels; k++) {
        struct tpe_pair centre = centre_of(t, s, k);
        double weight = kernel_weight(s, k);
        total += weight;
        sum += weight * chance_of(at.x, centre.x, t->n_x, n_kernels) *
               chance_of(at.y, centre.y, t->n_y, n_kernels);
    }
    return sum / total;
}

// ---- drawing ----

static size_t draw_uniform(struct chance *c, size_t n)
{
    return n > 1 ? c->below(c->ctx, STREAM, n) : 0;
}

// One coordinate of a kernel. `room` holds at least n weights.
static size_t draw_coordinate(struct chance *c, size_t centre, size_t n, size_t n_kernels,
                              double *room)
{
    if (n == 1)
        return 0;
    for (size_t i = 0; i < n; i++)
        room[i] = chance_of(i, centre, n, n_kernels);
    return c->weighted(c->ctx, STREAM, room, n);
}

// `room` holds at least as many weights as there are kernels or choices.
static struct tpe_pair draw_from(const struct tpe *t, const struct tpe_records *s, struct chance *c,
                                 double *room)
{
    size_t n_kernels = s->n + 1;
    for (size_t k = 0; k < n_kernels; k++)
        room[k] = kernel_weight(s, k);
    struct tpe_pair at, centre = centre_of(t, s, c->weighted(c->ctx, STREAM, room, n_kernels));
    at.x = draw_coordinate(c, centre.x, t->n_x, n_kernels, room);
    at.y = draw_coordinate(c, centre.y, t->n_y, n_kernels, room);
    return at;
}

static struct tpe_pair next_modelled(const struct tpe *t, struct chance *c)
{
    struct arena scratch = { 0 };
    struct tpe_records good, bad;
    tpe_divide(&t->seen, &scratch, &good, &bad);
    double *room = NEW_ARRAY(&scratch, double, t->seen.n + 1 + t->n_x + t->n_y);
    struct tpe_pair best = { 0 };
    double best_ratio = -HUGE_VAL;
    for (int i = 0; i < TPE_CANDIDATES; i++) {
        struct tpe_pair at = draw_from(t, &good, c, room);
        double ratio = log(tpe_density(t, &good, at)) - log(tpe_density(t, &bad, at));
        if (ratio > best_ratio + TIE) {
            best_ratio = ratio;
            best = at;
        }
    }
    arena_free(&scratch);
    return best;
}

struct tpe_pair tpe_next(const struct tpe *t, struct chance *c)
{
    struct tpe_pair at = { 0 };
    if (t->n_x == 1 && t->n_y == 1)
        return at;
    if (t->seen.n >= TPE_STARTUP)
        return next_modelled(t, c);
    at.x = draw_uniform(c, t->n_x);
    at.y = draw_uniform(c, t->n_y);
    return at;
}

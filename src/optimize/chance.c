// SPDX-License-Identifier: GPL-3.0-or-later
// chance.c - named substreams of a run's seed. A stream's draws depend on nothing but the seed, its
// name and how many were made of it before: one purpose cannot disturb another.
#include <math.h>

#include "optimize/internal.h"

struct streams {
    struct arena *arena;
    uint64_t seed;
    str optimizer;
    struct map by_name;
};

static struct rng *stream(struct streams *s, const char *name)
{
    bool fresh;
    struct map_entry *e = map_put(&s->by_name, str_from(name), &fresh);
    if (fresh) {
        struct rng *g = NEW(s->arena, struct rng);
        rng_seed(g, s->seed, arena_printf(s->arena, "%.*s/%s", STR(s->optimizer), name));
        e->pointer = g;
    }
    return e->pointer;
}

static double uniform(void *ctx, const char *name)
{
    return rng_double(stream(ctx, name));
}

static size_t below(void *ctx, const char *name, size_t n)
{
    return (size_t)rng_below(stream(ctx, name), n);
}

static void shuffle(void *ctx, const char *name, size_t *v, size_t n)
{
    struct rng *g = stream(ctx, name);
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)rng_below(g, i);
        size_t kept = v[i - 1];
        v[i - 1] = v[j];
        v[j] = kept;
    }
}

static size_t weighted(void *ctx, const char *name, const double *weights, size_t n)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        total += weights[i];
    if (total <= 0)
        return below(ctx, name, n);
    double wanted = uniform(ctx, name) * total;
    size_t last = 0; // the running sum may end a rounding error below the total
    for (size_t i = 0; i < n; i++) {
        sum += weights[i];
        if (weights[i] > 0)
            last = i;
        if (sum > wanted)
            return i;
    }
    return last;
}

static int poisson(void *ctx, const char *name, double rate)
{
    double limit = exp(-rate), product = 1;
    for (int k = 0;; k++) {
        product *= uniform(ctx, name);
        if (product <= limit)
            return k;
    }
}

struct chance chance_new(uint64_t seed, str optimizer, struct arena *a)
{
    struct streams *s = NEW(a, struct streams);
    *s = (struct streams){ .arena = a, .seed = seed, .optimizer = optimizer };
    s->by_name.arena = a;
    return (struct chance){ .ctx = s,
                            .uniform = uniform,
                            .below = below,
                            .shuffle = shuffle,
                            .weighted = weighted,
                            .poisson = poisson };
}

struct chance *opt_chance(const struct opt_task *task, str optimizer, struct arena *a,
                          struct chance *fallback)
{
    if (task->chance)
        return task->chance;
    *fallback = chance_new(task->run_seed, optimizer, a);
    return fallback;
}

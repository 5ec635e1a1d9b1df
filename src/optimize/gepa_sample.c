// SPDX-License-Identifier: GPL-3.0-or-later
// gepa_sample.c - the minibatches of GEPA: the training set shuffled once an epoch and cut into
// equal pieces (GEPA and SIMBA specification, 2.5).
#include "optimize/gepa_pool.h"

// As the reference: again and again the least used id, of several the last one in the order. Up to
// two ids of the last minibatch stand in it twice.
static void pad_as_reference(struct gepa_sampler *s)
{
    size_t *used = NEW_ARRAY(s->arena, size_t, s->n_train);
    for (size_t i = s->n_train; i < s->n; i++) {
        size_t least = s->n_train - 1;
        for (size_t k = s->n_train; k-- > 0;)
            if (used[k] < used[least])
                least = k;
        used[least]++;
        s->ids[i] = s->ids[least];
    }
}

static void pad_with_first(struct gepa_sampler *s)
{
    for (size_t i = s->n_train; i < s->n; i++)
        s->ids[i] = s->ids[i - s->n_train];
}

static void shuffle(struct gepa_sampler *s, struct chance *c, size_t n_train)
{
    s->n_train = n_train;
    s->n = (n_train + s->size - 1) / s->size * s->size;
    s->ids = NEW_ARRAY(s->arena, size_t, s->n);
    for (size_t i = 0; i < n_train; i++)
        s->ids[i] = i;
    c->shuffle(c->ctx, "sampler", s->ids, n_train);
    if (s->padding == GEPA_PAD_REFERENCE)
        pad_as_reference(s);
    else
        pad_with_first(s);
}

const size_t *gepa_sample(struct gepa_sampler *s, struct chance *c, int64_t iteration,
                          size_t n_train)
{
    size_t from = (size_t)iteration * s->size;
    int64_t epoch = s->n_train > 0 ? (int64_t)(from / s->n) : 0;
    if (s->n_train != n_train || epoch > s->epoch) {
        shuffle(s, c, n_train);
        s->epoch = epoch;
    }
    return s->ids + from % s->n;
}

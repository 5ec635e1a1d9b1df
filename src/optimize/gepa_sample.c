// SPDX-License-Identifier: GPL-3.0-or-later
// gepa_sample.c - the minibatches of GEPA: the training set shuffled once an epoch and cut into
// equal pieces (GEPA and SIMBA specification, 2.5).
#include "optimize/gepa_pool.h"

// As the reference: the last id, the one before it, and so on, although they have just been in the
// minibatch. Ours: the first ids of the order, which are distinct from its others.
static size_t padding(const struct gepa_sampler *s, size_t i)
{
    i %= s->n_train;
    return s->ids[s->padding == GEPA_PAD_REFERENCE ? s->n_train - 1 - i : i];
}

static void shuffle(struct gepa_sampler *s, struct chance *c, size_t n_train)
{
    s->n_train = n_train;
    s->n = (n_train + s->size - 1) / s->size * s->size;
    s->ids = NEW_ARRAY(s->arena, size_t, s->n);
    for (size_t i = 0; i < n_train; i++)
        s->ids[i] = i;
    c->shuffle(c->ctx, "sampler", s->ids, n_train);
    for (size_t i = n_train; i < s->n; i++)
        s->ids[i] = padding(s, i - n_train);
}

const size_t *gepa_sample(struct gepa_sampler *s, struct chance *c, int64_t iteration,
                          size_t n_train)
{
    if (n_train == 0 || s->size == 0)
        BUG("a minibatch of nothing");
    size_t from = (size_t)iteration * s->size;
    int64_t epoch = s->n_train > 0 ? (int64_t)(from / s->n) : 0;
    if (s->n_train != n_train || epoch > s->epoch) {
        shuffle(s, c, n_train);
        s->epoch = epoch;
    }
    return s->ids + from % s->n;
}

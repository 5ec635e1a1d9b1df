// SPDX-License-Identifier: GPL-3.0-or-later
// rng.h - two generators. `mt` reproduces CPython's random module bit for bit, for every draw that
// published results depend on (splits, demonstrations). `rng` (xoshiro256**, Blackman and Vigna
// 2018) in named substreams serves all else. Both are values: no global state, seeds passed in.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct mt { // MT19937 (Matsumoto and Nishimura 1998), seeded as CPython's random.Random(int)
    uint32_t state[624];
    int next;
};

// A generator as random.Random(seed).
void mt_seed(struct mt *g, uint64_t seed);
uint32_t mt_u32(struct mt *g);
// random(): [0, 1) with 53 bits.
double mt_double(struct mt *g);
// Uniform in [0, n), n >= 1, by rejection on the top bits, as Random._randbelow.
uint32_t mt_below(struct mt *g, uint32_t n);
// Uniform in [low, high], as Random.randint.
int64_t mt_range(struct mt *g, int64_t low, int64_t high);
// Shuffles the n indices in place, as Random.shuffle.
void mt_shuffle(struct mt *g, size_t *v, size_t n);
// k <= n distinct indices of [0, n) in drawn order into out[k], as Random.sample.
void mt_sample(struct mt *g, size_t n, size_t k, size_t *out);

struct rng { // xoshiro256**
    uint64_t state[4];
};

// The substream `name` of a run's seed: the same pair always gives the same stream.
void rng_seed(struct rng *g, uint64_t seed, str name);
uint64_t rng_u64(struct rng *g);
double rng_double(struct rng *g);              // [0, 1)
uint64_t rng_below(struct rng *g, uint64_t n); // [0, n), n >= 1

// SPDX-License-Identifier: GPL-3.0-or-later
// rng.c - MT19937 as CPython seeds and draws it (few-shot specification, appendix A), and
// xoshiro256**.
#include <string.h>

#include "base/rng.h"
#include "base/hash.h"

enum { MT_N = 624, MT_M = 397 };

static void mt_seed_word(struct mt *g, uint32_t word)
{
    g->state[0] = word;
    for (uint32_t i = 1; i < MT_N; i++)
        g->state[i] = 1812433253U * (g->state[i - 1] ^ g->state[i - 1] >> 30) + i;
}

void mt_seed(struct mt *g, uint64_t seed)
{
    uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    uint32_t n_key = key[1] ? 2 : 1;
    uint32_t *m = g->state;
    mt_seed_word(g, 19650218U);
    uint32_t i = 1;
    uint32_t j = 0;
    for (int k = 0; k < MT_N; k++) {
        m[i] = (m[i] ^ (m[i - 1] ^ m[i - 1] >> 30) * 1664525U) + key[j] + j;
        if (++i == MT_N) {
            m[0] = m[MT_N - 1];
            i = 1;
        }
        if (++j == n_key)
            j = 0;
    }
    for (int k = 0; k < MT_N - 1; k++) {
        m[i] = (m[i] ^ (m[i - 1] ^ m[i - 1] >> 30) * 1566083941U) - i;
        if (++i == MT_N) {
            m[0] = m[MT_N - 1];
            i = 1;
        }
    }
    m[0] = 0x80000000U;
    g->next = MT_N;
}

static void mt_refill(struct mt *g)
{
    uint32_t *m = g->state;
    for (int k = 0; k < MT_N; k++) {
        uint32_t y = (m[k] & 0x80000000U) | (m[(k + 1) % MT_N] & 0x7fffffffU);
        m[k] = m[(k + MT_M) % MT_N] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfU : 0);
    }
    g->next = 0;
}

uint32_t mt_u32(struct mt *g)
{
    if (g->next == MT_N)
        mt_refill(g);
    uint32_t y = g->state[g->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680U;
    y ^= y << 15 & 0xefc60000U;
    return y ^ y >> 18;
}

double mt_double(struct mt *g)
{
    uint32_t a = mt_u32(g) >> 5;
    uint32_t b = mt_u32(g) >> 6;
    return (a * 67108864.0 + b) / 9007199254740992.0;
}

uint32_t mt_below(struct mt *g, uint32_t n)
{
    if (n == 0)
        BUG("nothing to draw from");
    int bits = 32 - __builtin_clz(n);
    uint32_t r;
    do
        r = mt_u32(g) >> (32 - bits);
    while (r >= n);
    return r;
}

int64_t mt_range(struct mt *g, int64_t low, int64_t high)
{
    if (high < low || high - low >= UINT32_MAX)
        BUG("bad range");
    return low + mt_below(g, (uint32_t)(high - low + 1));
}

void mt_shuffle(struct mt *g, size_t *v, size_t n)
{
    for (size_t i = n; i-- > 1;) {
        size_t j = mt_below(g, (uint32_t)i + 1);
        size_t swap = v[i];
        v[i] = v[j];
        v[j] = swap;
    }
}

void mt_sample(struct mt *g, size_t n, size_t k, size_t *out)
{
    if (k > n)
        BUG("sample larger than population");
    size_t threshold = 21;
    if (k > 5) {
        size_t power = 4;
        while (power < 3 * k)
            power *= 4;
        threshold += power;
    }
    struct arena scratch = { 0 };
    if (n <= threshold) { // small: draw without replacement from a pool
        size_t *pool = NEW_ARRAY(&scratch, size_t, n);
        for (size_t i = 0; i < n; i++)
            pool[i] = i;
        for (size_t i = 0; i < k; i++) {
            size_t j = mt_below(g, (uint32_t)(n - i));
            out[i] = pool[j];
            pool[j] = pool[n - i - 1];
        }
    } else { // large: draw again what was drawn before
        unsigned char *used = NEW_ARRAY(&scratch, unsigned char, n);
        for (size_t i = 0; i < k; i++) {
            size_t j;
            do
                j = mt_below(g, (uint32_t)n);
            while (used[j]);
            used[j] = 1;
            out[i] = j;
        }
    }
    arena_free(&scratch);
}

static uint64_t split_mix(uint64_t *x)
{
    uint64_t z = *x += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

void rng_seed(struct rng *g, uint64_t seed, str name)
{
    uint64_t x = seed ^ hash64(name);
    for (int i = 0; i < 4; i++)
        g->state[i] = split_mix(&x);
}

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

uint64_t rng_u64(struct rng *g)
{
    uint64_t *s = g->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double rng_double(struct rng *g)
{
    return (double)(rng_u64(g) >> 11) * 0x1p-53;
}

uint64_t rng_below(struct rng *g, uint64_t n)
{
    if (n == 0)
        BUG("nothing to draw from");
    uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    uint64_t r;
    do
        r = rng_u64(g);
    while (r >= limit);
    return r % n;
}

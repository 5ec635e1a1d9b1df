// SPDX-License-Identifier: GPL-3.0-or-later
// hash.c - SHA-256 by libcrypto, FNV-1a by hand.
#include <openssl/evp.h>

#include "base/hash.h"

uint64_t hash64(str s)
{
    uint64_t h = 0xcbf29ce484222325U;
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.data[i]) * 0x100000001b3U;
    h ^= h >> 32;
    h *= 0x9E3779B97F4A7C15U;
    return h ^ h >> 29;
}

// The library's digest context, by another name: callers need no OpenSSL header.
struct sha256 *sha256_new(void)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!context || EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1)
        BUG("libcrypto has no SHA-256");
    return (struct sha256 *)context;
}

void sha256_add(struct sha256 *h, str s)
{
    if (s.len > 0 && EVP_DigestUpdate((EVP_MD_CTX *)h, s.data, s.len) != 1)
        BUG("SHA-256 failed");
}

void sha256_free(struct sha256 *h)
{
    EVP_MD_CTX_free((EVP_MD_CTX *)h);
}

str sha256_hex(struct sha256 *h, struct arena *a)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    if (EVP_DigestFinal_ex((EVP_MD_CTX *)h, digest, &n) != 1)
        BUG("SHA-256 failed");
    sha256_free(h);
    char *text = arena_alloc(a, (size_t)n * 2 + 1);
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = hex[digest[i] >> 4];
        text[2 * i + 1] = hex[digest[i] & 15];
    }
    return (str){ text, (size_t)n * 2 };
}

str sha256_of(str s, struct arena *a)
{
    struct sha256 *h = sha256_new();
    sha256_add(h, s);
    return sha256_hex(h, a);
}

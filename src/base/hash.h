// SPDX-License-Identifier: GPL-3.0-or-later
// hash.h - SHA-256 for names that outlive the program, a fast 64-bit hash for tables in memory.
#pragma once
#include <stdint.h>

#include "base/arena.h"

// FNV-1a with a final mix; never stored.
uint64_t hash64(str s);

struct sha256; // opaque: a running digest
// Starts a digest. Freed by sha256_hex or sha256_free.
struct sha256 *sha256_new(void);
void sha256_add(struct sha256 *h, str s);
// Ends the digest and returns 64 lower-case hex digits in `a`.
str sha256_hex(struct sha256 *h, struct arena *a);
void sha256_free(struct sha256 *h); // an unfinished one; NULL is fine
// All of it for one text.
str sha256_of(str s, struct arena *a);

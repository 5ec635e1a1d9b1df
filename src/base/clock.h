// SPDX-License-Identifier: GPL-3.0-or-later
// clock.h - time. It decides nothing: asked for only by the pump, the store (how long it was busy),
// the command line and the servers.
#pragma once
#include <stdint.h>

#include "base/arena.h"

// Monotonic time since some fixed moment.
int64_t clock_mono_ms(void);
int64_t clock_mono_us(void);
int64_t clock_unix_ms(void);
// "2026-12-01T08:15:30Z" in `a`.
str clock_format_utc(int64_t unix_ms, struct arena *a);

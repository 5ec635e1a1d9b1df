// SPDX-License-Identifier: GPL-3.0-or-later
// clock.c - the system's clocks as integers.
#include <time.h>

#include "base/clock.h"

static int64_t now_us(clockid_t id)
{
    struct timespec t;
    if (clock_gettime(id, &t) != 0)
        BUG("no such clock");
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t clock_mono_ms(void)
{
    return now_us(CLOCK_MONOTONIC) / 1000;
}

int64_t clock_mono_us(void)
{
    return now_us(CLOCK_MONOTONIC);
}

int64_t clock_unix_ms(void)
{
    return now_us(CLOCK_REALTIME) / 1000;
}

str clock_format_utc(int64_t unix_ms, struct arena *a)
{
    time_t seconds = unix_ms / 1000;
    struct tm t;
    if (!gmtime_r(&seconds, &t))
        return S("?");
    return arena_printf(a, "%04d-%02d-%02dT%02d:%02d:%02dZ", t.tm_year + 1900, t.tm_mon + 1,
                        t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
}

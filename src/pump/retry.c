// SPDX-License-Identifier: GPL-3.0-or-later
// retry.c - when a failed attempt is worth another one: full jitter over an exponential ceiling,
// the server's hint as a floor, an end by count and by time.
#include "pump/internal.h"

enum {
    BACKOFF_BASE_MS = 500,
    BACKOFF_MAX_MS = 60000,
    HINT_MAX_MS = 120000, // a longer wait is a matter for the person
    CALL_MAX_MS = 900000, // all attempts and waits of one call
};

static int64_t uniform(struct rng *g, int64_t max)
{
    return (int64_t)(rng_double(g) * (double)max);
}

bool retry_is_far(const struct reply *r)
{
    return reply_may_retry(r) && r->retry_after_ms > HINT_MAX_MS;
}

int64_t retry_delay_ms(const struct slot *s, const struct reply *r, int64_t elapsed_ms,
                       struct rng *jitter)
{
    if (!reply_may_retry(r) || s->attempts > s->job.model->retries)
        return -1;
    int64_t delay;
    if (r->retry_after_ms >= 0) {
        if (retry_is_far(r))
            return -1;
        int64_t spread = r->retry_after_ms / 10 > 1000 ? r->retry_after_ms / 10 : 1000;
        delay = r->retry_after_ms + uniform(jitter, spread);
    } else {
        int64_t ceiling = BACKOFF_BASE_MS;
        for (int k = 1; k < s->attempts && ceiling < BACKOFF_MAX_MS; k++)
            ceiling *= 2;
        delay = uniform(jitter, ceiling < BACKOFF_MAX_MS ? ceiling : BACKOFF_MAX_MS);
    }
    return elapsed_ms + delay > CALL_MAX_MS ? -1 : delay;
}

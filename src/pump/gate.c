// SPDX-License-Identifier: GPL-3.0-or-later
// gate.c - one controller for each endpoint and model, in memory that processes may share, with an
// account for each holder, as purse.c does it.
#include "pump/shared.h"

#include "pump/gate.h"

enum { // endpoint specification, section 13
    LIMIT_DEFAULT = 64,
    LIMIT_START = 4,
    COOL_DOWN_MS = 2000, // after a cut: no other cut, no growth
    BREAKER_DEFAULT_MS = 30000,
    BREAKER_MAX_MS = 600000,
    BREAKER_ROW = 5,       // connections failed in a row,
    BREAKER_ATTEMPTS = 10, // or half of so many attempts or more
    BREAKER_WINDOW_S = 30, // in so long
    DOWN_MS = 900000,
    RETRY_WINDOW_BINS = 6,
    RETRY_BIN_MS = 10000,
    RETRIES_FREE = 3, // a minute, however few requests there are
};
static const double cut_of_rate_limit = 0.5, cut_of_overload = 0.8, retry_share = 0.2;
// Ours: most limits are of requests a minute, which no number of calls at once can keep to when
// answers are quick. So a rate limit also teaches a pace, which then creeps up again.
static const double pace_of_taken = 0.9, pace_growth_a_second = 0.02, pace_min = 0.1;
static const double refusals_share = 0.125;
enum { PACE_WINDOW_S = 20, REFUSALS_WINDOW_S = 3, REFUSALS_MIN = 2 };

struct bin { // what happened in one stretch of time
    int64_t number;
    int n, marked, sent, refused; // refused: of those sent then, for the rate
};

struct gate {
    uint64_t key; // 0: unused
    // permits
    double limit;
    int flying, good; // good: answers since the limit last grew
    bool slow_start, was_full;
    int64_t cut_ms;
    // the pace that a rate limit has taught, requests a second; 0: none yet
    double pace;
    int64_t paced_ms, first_ms;
    // pauses and pacing
    int64_t pause_until_ms, refilled_ms;
    double requests, tok;                 // what the buckets hold
    struct bin minute[RETRY_WINDOW_BINS]; // marked: retries
    // breaker
    int row;                             // failed connections in a row
    struct bin window[BREAKER_WINDOW_S]; // marked: failures
    int64_t open_until_ms, open_ms;      // open_ms: how long it was opened last; 0: it is closed
    int64_t down_since_ms;
    bool probing;
    size_t prober;
    int64_t probed_ms;
};

struct gates {
    struct shared shared;
    size_t n_holders;
    struct gates_opts opts;
    struct gate gates[GATES_MAX];
    int flying[]; // by gate and holder
};

struct gates *gates_new(const struct gates_opts *opts, size_t n, struct err *err)
{
    size_t bytes = sizeof(struct gates) + GATES_MAX * n * sizeof(int);
    struct gates *g = shared_new(bytes, "permits", err);
    if (!g)
        return NULL;
    g->n_holders = n;
    g->opts = *opts;
    if (g->opts.limit == 0)
        g->opts.limit = LIMIT_DEFAULT;
    if (g->opts.breaker_ms == 0)
        g->opts.breaker_ms = BREAKER_DEFAULT_MS;
    return g;
}

void gates_free(struct gates *g)
{
    shared_free(g ? &g->shared : NULL);
}

// Both texts with a byte between that neither has; never 0.
static uint64_t key_of(str endpoint, str model)
{
    struct arena scratch = { 0 };
    str name = arena_printf(&scratch, "%.*s\xFF%.*s", STR(endpoint), STR(model));
    uint64_t key = hash64(name);
    arena_free(&scratch);
    return key ? key : 1;
}

size_t gates_find(struct gates *g, str endpoint, str model)
{
    uint64_t key = key_of(endpoint, model);
    size_t i = 0;
    shared_lock(&g->shared);
    while (i + 1 < GATES_MAX && g->gates[i].key != 0 && g->gates[i].key != key)
        i++;
    struct gate *gate = &g->gates[i];
    if (gate->key == 0) {
        gate->key = key;
        gate->slow_start = !g->opts.fixed;
        bool less = g->opts.fixed || g->opts.limit < LIMIT_START;
        gate->limit = less ? g->opts.limit : LIMIT_START;
        gate->cut_ms = INT64_MIN / 2;
    }
    shared_unlock(&g->shared);
    return i;
}

void gates_forfeit(struct gates *g, size_t holder)
{
    shared_lock(&g->shared);
    for (size_t i = 0; i < GATES_MAX; i++) {
        int *held = &g->flying[i * g->n_holders + holder];
        g->gates[i].flying -= *held;
        *held = 0;
        if (g->gates[i].prober == holder)
            g->gates[i].probing = false;
    }
    shared_unlock(&g->shared);
}

// ---- counting over time ----

// The bin of a moment in a ring of n, emptied if it is of an earlier turn.
static struct bin *bin_at(struct bin *ring, size_t n, int64_t number)
{
    struct bin *b = &ring[(size_t)number % n];
    if (b->number != number)
        *b = (struct bin){ .number = number };
    return b;
}

// The sum over the last `span` bins up to number.
static struct bin sum_of(const struct bin *ring, size_t n, int64_t number, int64_t span)
{
    struct bin sum = { 0 };
    for (size_t i = 0; i < n; i++) {
        if (ring[i].number <= number - span || ring[i].number > number)
            continue;
        sum.n += ring[i].n;
        sum.marked += ring[i].marked;
        sum.sent += ring[i].sent;
        sum.refused += ring[i].refused;
    }
    return sum;
}

// ---- entering ----

// Requests a minute that may go: as asked for, or as taught, whichever is less; 0: any number.
static double requests_a_minute(const struct gate *gate, const struct gates_opts *opts)
{
    double asked = (double)opts->rpm, taught = 60 * gate->pace;
    return asked == 0 || (taught > 0 && taught < asked) ? taught : asked;
}

// Fills the buckets for the time that has passed: at most a second's worth of requests, and a
// minute's worth of tokens, wait in them.
static void refill(struct gate *gate, const struct gates_opts *opts, int64_t now_ms)
{
    double minutes = (double)(now_ms - gate->refilled_ms) / 60000;
    bool first = gate->refilled_ms == 0;
    double rate = requests_a_minute(gate, opts);
    double burst = gate->pace == 0 && rate > 60 ? rate / 60 : 1;
    gate->refilled_ms = now_ms;
    gate->requests = first ? burst : gate->requests + minutes * rate;
    gate->tok = first ? (double)opts->tpm : gate->tok + minutes * (double)opts->tpm;
    if (gate->requests > burst || rate == 0)
        gate->requests = burst;
    if (gate->tok > (double)opts->tpm)
        gate->tok = (double)opts->tpm;
}

// When pacing lets the next attempt go: a whole request, and the tokens it needs, or all that the
// bucket can hold.
static int64_t paced_until(const struct gate *gate, const struct gates_opts *opts,
                           const struct gate_ask *ask)
{
    double wait = 0, rate = requests_a_minute(gate, opts);
    double need = opts->tpm < ask->tok ? (double)opts->tpm : (double)ask->tok;
    if (rate > 0 && gate->requests < 1)
        wait = (1 - gate->requests) / rate;
    if (opts->tpm > 0 && gate->tok < need && (need - gate->tok) / (double)opts->tpm > wait)
        wait = (need - gate->tok) / (double)opts->tpm;
    return ask->now_ms + (wait > 0 ? (int64_t)(60000 * wait) + 1 : 0);
}

// Whether retries are too large a part of the last minute's requests.
static bool retries_are_many(const struct gate *gate, int64_t now_ms)
{
    struct bin sum =
        sum_of(gate->minute, RETRY_WINDOW_BINS, now_ms / RETRY_BIN_MS, RETRY_WINDOW_BINS);
    return sum.marked >= RETRIES_FREE && sum.marked >= retry_share * sum.n;
}

// The time before which nothing may go, or now.
static int64_t closed_until(struct gate *gate, const struct gates_opts *opts,
                            const struct gate_ask *ask)
{
    if (gate->open_ms > 0 && gate->probing)
        return INT64_MAX;
    int64_t until = gate->open_ms > 0 ? gate->open_until_ms : 0;
    if (gate->pause_until_ms > until)
        until = gate->pause_until_ms;
    if (until > ask->now_ms)
        return until;
    if (gate->open_ms == 0 && gate->flying + 1 > (int)gate->limit)
        return INT64_MAX;
    if (ask->deferred && retries_are_many(gate, ask->now_ms))
        return ask->now_ms + 1000;
    refill(gate, opts, ask->now_ms);
    return paced_until(gate, opts, ask);
}

enum gate_answer gate_enter(struct gates *g, const struct gate_ask *ask, int64_t *at_ms)
{
    struct gate *gate = &g->gates[ask->gate];
    enum gate_answer answer = GATE_LATER;
    shared_lock(&g->shared);
    *at_ms = closed_until(gate, &g->opts, ask);
    if (gate->open_ms > 0 && ask->now_ms - gate->down_since_ms >= DOWN_MS) {
        answer = GATE_DOWN;
    } else if (*at_ms <= ask->now_ms) {
        answer = GATE_OPEN;
        gate->flying++;
        gate->was_full |= gate->flying + 1 > (int)gate->limit;
        gate->first_ms = gate->first_ms ? gate->first_ms : ask->now_ms;
        bin_at(gate->window, BREAKER_WINDOW_S, ask->now_ms / 1000)->sent++;
        g->flying[ask->gate * g->n_holders + ask->holder]++;
        gate->requests -= 1;
        gate->tok -= (double)ask->tok;
        if (gate->open_ms > 0) { // half open: this one finds out
            gate->probing = true;
            gate->prober = ask->holder;
            gate->probed_ms = ask->now_ms;
        }
    }
    shared_unlock(&g->shared);
    return answer;
}

// ---- leaving ----

// By one a round, or twice as much at the start; answers to what was sent before a cut are no sign.
static void grow(struct gate *gate, const struct gate_exit *e, int limit_max)
{
    double seconds = (double)(e->now_ms - gate->paced_ms) / 1000;
    if (gate->pace > 0 && seconds >= 1) {
        gate->pace *= 1 + pace_growth_a_second * seconds;
        gate->paced_ms = e->now_ms;
    }
    if (e->sent_ms < gate->cut_ms || ++gate->good < (int)gate->limit ||
        e->now_ms - gate->cut_ms < COOL_DOWN_MS || !gate->was_full)
        return;
    gate->good = 0;
    gate->was_full = false;
    gate->limit = gate->slow_start ? 2 * gate->limit : gate->limit + 1;
    if (gate->limit > limit_max)
        gate->limit = limit_max;
}

// The pace at which it has taken requests in the last seconds, and a little less. A few refusals
// among many answers teach nothing: they come and go with the load of others.
static void teach_pace(struct gate *gate, const struct gate_exit *e)
{
    int64_t second = e->now_ms / 1000;
    struct bin last = sum_of(gate->window, BREAKER_WINDOW_S, second, REFUSALS_WINDOW_S);
    if (last.refused < REFUSALS_MIN || last.refused < refusals_share * last.sent) {
        gate->pace *= pace_of_taken; // of one taught before
        return;
    }
    double seconds = (double)(e->now_ms - gate->first_ms) / 1000;
    bool whole = seconds > PACE_WINDOW_S + 1; // seconds, without the one in work
    struct bin sum = sum_of(gate->window, BREAKER_WINDOW_S, second - whole, PACE_WINDOW_S);
    if (seconds > PACE_WINDOW_S)
        seconds = PACE_WINDOW_S;
    gate->pace = pace_of_taken * (sum.sent - sum.refused) / (seconds > 1 ? seconds : 1);
    if (gate->pace < pace_min)
        gate->pace = pace_min;
    gate->paced_ms = e->now_ms;
}

// Once for all that was in flight together: answers to what was sent before a cut cut no more.
static void cut(struct gate *gate, const struct gate_exit *e, double factor)
{
    if (e->sent_ms < gate->cut_ms || e->now_ms - gate->cut_ms < COOL_DOWN_MS)
        return;
    if (e->result == GATE_RATE_LIMIT)
        teach_pace(gate, e);
    gate->limit = gate->limit * factor > 1 ? gate->limit * factor : 1;
    gate->slow_start = gate->was_full = false;
    gate->good = 0;
    gate->cut_ms = e->now_ms;
}

static void close_breaker(struct gate *gate)
{
    gate->open_ms = gate->open_until_ms = gate->down_since_ms = 0;
    gate->row = 0;
    for (size_t i = 0; i < BREAKER_WINDOW_S; i++)
        gate->window[i] = (struct bin){ 0 };
}

// Opens for the first time, or again for twice as long.
static int64_t open_breaker(struct gate *gate, const struct gate_exit *e, int64_t first_ms)
{
    if (gate->open_ms == 0)
        gate->down_since_ms = e->now_ms;
    gate->open_ms = gate->open_ms == 0 ? first_ms : 2 * gate->open_ms;
    if (gate->open_ms > BREAKER_MAX_MS)
        gate->open_ms = BREAKER_MAX_MS;
    int64_t lasts = gate->open_ms + (int64_t)(e->jitter * (double)gate->open_ms / 10);
    gate->open_until_ms = e->now_ms + lasts;
    return lasts;
}

// Whether these failures are more than bad luck.
static bool trips(const struct gate *gate, int64_t now_ms)
{
    struct bin sum = sum_of(gate->window, BREAKER_WINDOW_S, now_ms / 1000, BREAKER_WINDOW_S);
    return gate->row >= BREAKER_ROW || (sum.n >= BREAKER_ATTEMPTS && 2 * sum.marked >= sum.n);
}

static int64_t judge(struct gate *gate, const struct gate_exit *e, const struct gates_opts *opts)
{
    bool failed = e->result == GATE_BROKEN || e->result == GATE_NO_CONNECTION;
    bool probed = gate->probing && gate->prober == e->holder && e->sent_ms >= gate->probed_ms;
    struct bin *now = bin_at(gate->window, BREAKER_WINDOW_S, e->now_ms / 1000);
    now->n++;
    now->marked += failed;
    gate->row = e->result == GATE_NO_CONNECTION ? gate->row + 1 : 0;
    if (!failed) {
        if (gate->open_ms > 0)
            close_breaker(gate);
        gate->probing = false;
        return 0;
    }
    if (probed) {
        gate->probing = false;
        return open_breaker(gate, e, opts->breaker_ms);
    }
    // What was sent before it opened tells nothing new.
    return gate->open_ms == 0 && trips(gate, e->now_ms) ? open_breaker(gate, e, opts->breaker_ms)
                                                        : 0;
}

// What the gate is like; the lock is held.
static struct gate_state state_of(const struct gate *gate, int64_t now_ms)
{
    struct gate_state state = { .limit = gate->limit, .flying = gate->flying };
    if (gate->open_ms > 0 && gate->open_until_ms > now_ms)
        state.open_ms = gate->open_until_ms - now_ms;
    return state;
}

// An attempt that was not made leaves no trace.
static void take_back(struct gate *gate, const struct gate_exit *e)
{
    gate->requests += 1;
    gate->tok += (double)e->tok;
    gate->probing = gate->probing && gate->prober != e->holder;
}

static int64_t note_result(struct gate *gate, const struct gate_exit *e,
                           const struct gates_opts *opts)
{
    struct bin *minute = bin_at(gate->minute, RETRY_WINDOW_BINS, e->now_ms / RETRY_BIN_MS);
    minute->n++;
    minute->marked += e->retry;
    if (e->used_tok > 0)
        gate->tok += (double)(e->tok - e->used_tok);
    if (e->pause_ms > 0 && e->now_ms + e->pause_ms > gate->pause_until_ms)
        gate->pause_until_ms = e->now_ms + e->pause_ms;
    int64_t opened = judge(gate, e, opts);
    if (e->result == GATE_GOOD)
        grow(gate, e, opts->limit);
    if (e->result == GATE_RATE_LIMIT)
        cut(gate, e, cut_of_rate_limit);
    if (e->result == GATE_OVERLOAD)
        cut(gate, e, cut_of_overload);
    return opened;
}

struct gate_state gate_leave(struct gates *g, const struct gate_exit *e)
{
    struct gate *gate = &g->gates[e->gate];
    int64_t opened = 0;
    shared_lock(&g->shared);
    gate->flying--;
    g->flying[e->gate * g->n_holders + e->holder]--;
    struct bin *sent = &gate->window[(size_t)(e->sent_ms / 1000) % BREAKER_WINDOW_S];
    bool known = sent->number == e->sent_ms / 1000;
    sent->sent -= known && e->result == GATE_UNUSED;
    sent->refused += known && e->result == GATE_RATE_LIMIT;
    if (e->result == GATE_UNUSED)
        take_back(gate, e);
    else
        opened = note_result(gate, e, &g->opts);
    struct gate_state state = state_of(gate, e->now_ms);
    state.opened_ms = opened;
    shared_unlock(&g->shared);
    return state;
}

struct gate_state gate_look(struct gates *g, size_t gate, int64_t now_ms)
{
    shared_lock(&g->shared);
    struct gate_state state = state_of(&g->gates[gate], now_ms);
    shared_unlock(&g->shared);
    return state;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// pump.c - the loop: pull jobs into free slots, send what is due, wait, take in what arrived. One
// thread, one epoll set; no result depends on who answers first, because every outcome goes to
// its job's index and every reply to its place in the run.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pump/internal.h"

enum {
    SLOTS_DEFAULT = 64,
    SLOTS_MAX = 4096,
    COMMIT_MS = 50, // decisions 1.6
    PROGRESS_MS = 100,
    LAST_WAIT_MS = 10000, // for what is in flight after the first Ctrl-C
    WAIT_MAX_MS = 1000,
    SHARED_WAIT_MS = 20,
    EVENTS_MAX = 256,
    ENGINES_MAX = 256,
    FILES_PER_ENGINE = 8, // three streams, twice as many processes as work at once, and a handle
    FILES_RESERVED = 32,  // of the limit of open files: the store, libraries, standard streams
};

// As many slots as asked for, but no more than connections can be open beside our own files.
static size_t slots_allowed(const struct pump_opts *opts, size_t engines)
{
    struct rlimit files;
    size_t n = opts->slots > 0 ? (size_t)opts->slots : SLOTS_DEFAULT;
    if (n > SLOTS_MAX)
        n = SLOTS_MAX;
    size_t ours = FILES_RESERVED + FILES_PER_ENGINE * engines;
    size_t wanted = n + ours;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= wanted)
        return n;
    files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
    if (setrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur >= wanted)
        return n;
    size_t fit = files.rlim_cur > ours ? (size_t)files.rlim_cur - ours : 1;
    log_line(LOG_WARN, "only %zu calls at once: the system allows %llu open files", fit,
             (unsigned long long)files.rlim_cur);
    return fit;
}

static size_t engines_at_once(const struct pump_opts *opts)
{
    long n = opts->engines > 0 ? opts->engines : sysconf(_SC_NPROCESSORS_ONLN);
    if (n < 1)
        return 1;
    return n < ENGINES_MAX ? (size_t)n : ENGINES_MAX;
}

struct pump *pump_new(const struct pump_opts *opts, struct store *db, struct err *err)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) {
        err_set(err, ERR_RUN, "cannot watch connections: %s; raise the limit of open files",
                strerror(errno));
        return NULL;
    }
    size_t engines = engines_at_once(opts);
    struct pump *p = mem_must(calloc(1, sizeof *p));
    p->opts = *opts;
    p->db = db;
    p->n_slots = slots_allowed(opts, engines);
    p->slots = mem_must(calloc(p->n_slots, sizeof *p->slots));
    p->epoll = epoll;
    p->http = http_new(epoll, opts->ca_file);
    p->crew = crew_new(epoll, engines);
    p->stats.spent_nusd = opts->spent_nusd;
    p->stats.engines = (int)engines;
    p->gates = opts->gates;
    struct gates_opts limits = opts->limits;
    if (limits.limit == 0)
        limits.limit = (int)p->n_slots;
    if (!p->gates && !(p->gates = gates_new(&limits, 1, err))) {
        pump_free(p);
        return NULL;
    }
    rng_seed(&p->jitter, opts->jitter_seed, S("jitter"));
    return p;
}

void pump_free(struct pump *p)
{
    if (!p)
        return;
    crew_free(p->crew);
    for (size_t i = 0; i < p->n_slots; i++) {
        slot_end_child(&p->slots[i]);
        http_abort(p->http, &p->slots[i].transfer);
        transfer_free(&p->slots[i].transfer);
        arena_free(&p->slots[i].arena);
    }
    http_free(p->http);
    close(p->epoll);
    if (!p->opts.gates)
        gates_free(p->gates);
    arena_free(&p->arena);
    free(p->slots);
    free(p);
}

const struct pump_stats *pump_stats(const struct pump *p)
{
    return &p->stats;
}

// What must happen now and then however busy the pump is: commits, progress, Ctrl-C.
static bool tick(struct pump *p, struct err *err)
{
    int64_t now = clock_mono_ms();
    if (p->opts.interrupted && *p->opts.interrupted > 0 && p->stop != STOP_INTERRUPTED) {
        p->stop = STOP_INTERRUPTED;
        p->stop_ms = now;
    }
    if (p->opts.progress && now - p->reported_ms >= PROGRESS_MS) {
        p->reported_ms = now;
        p->opts.progress(p->opts.progress_context, &p->stats);
    }
    if (store_dirty(p->db) && now - p->flushed_ms >= COMMIT_MS) {
        p->flushed_ms = now;
        return store_flush(p->db, now, err);
    }
    return true;
}

static bool start_job(struct pump *p, struct slot *s, bool *started, struct err *err)
{
    struct job job;
    size_t index;
    *started = p->feed->next(p->feed->ctx, &job, &index);
    if (!*started)
        return true;
    arena_reset(&s->arena);
    s->job = job;
    s->index = index;
    s->n_asks = s->n_replayed = 0;
    s->episode = episode_new(&s->job, &s->arena);
    return slot_advance(p, s, NULL, err) && tick(p, err);
}

// Fills the free slots; `p->more` turns false when the feed is dry.
static bool start_jobs(struct pump *p, struct err *err)
{
    for (size_t i = 0; i < p->n_slots; i++)
        while (p->more && p->stop == STOP_NOT && p->slots[i].state == SLOT_FREE)
            if (!start_job(p, &p->slots[i], &p->more, err))
                return false;
    return true;
}

// Sends every waiting ask that is due; `*wait_ms` is the time until the next one is.
static bool send_due(struct pump *p, int64_t *wait_ms, struct err *err)
{
    int64_t now = clock_mono_ms();
    uint64_t closed = 0; // gates that let nobody through now: one answer is enough for all
    *wait_ms = WAIT_MAX_MS;
    for (size_t i = 0; i < p->n_slots && p->stop == STOP_NOT; i++) {
        struct slot *s = &p->slots[i];
        if (s->state == SLOT_QUEUED)
            slot_search(p, s);
        if (s->state != SLOT_WAITING || (closed >> s->gate & 1))
            continue;
        int64_t at = s->due_ms;
        if (at <= now && !slot_send(p, s, &at, err))
            return false;
        if (at > now && s->due_ms <= now)
            closed |= (uint64_t)1 << s->gate;
        if (at > now && at - now < *wait_ms)
            *wait_ms = at - now;
    }
    if (closed && p->opts.gates && *wait_ms > SHARED_WAIT_MS)
        *wait_ms = SHARED_WAIT_MS; // other processes give permits back without a sign
    return true;
}

static bool any_in(const struct pump *p, enum slot_state state)
{
    for (size_t i = 0; i < p->n_slots; i++)
        if (p->slots[i].state == state)
            return true;
    return false;
}

static bool receive_all(struct pump *p, struct err *err)
{
    struct transfer *t;
    while ((t = http_finished(p->http)) != NULL) {
        // The transfer is a member of its slot.
        size_t i = 0;
        while (&p->slots[i].transfer != t)
            i++;
        if (!slot_receive(p, &p->slots[i], err))
            return false;
    }
    return slots_receive_searches(p, err) && slots_receive_calls(p, err) &&
           slots_receive_person(p, err);
}

// How long nothing can happen but for what the system tells us.
static int64_t quiet_ms(const struct pump *p, int64_t longest_ms)
{
    int64_t now = clock_mono_ms();
    int64_t due[] = { http_due_ms(p->http), crew_due_ms(p->crew), slots_calls_due_ms(p),
                      person_due_ms(p) };
    for (size_t i = 0; i < ARRAY_LEN(due); i++)
        if (due[i] >= 0 && due[i] - now < longest_ms)
            longest_ms = due[i] > now ? due[i] - now : 0;
    return longest_ms;
}

// The one place that waits: at most timeout_ms for anything to happen, or less when a signal
// arrives. False: nothing happened.
static bool wait_for_events(struct pump *p, int64_t timeout_ms)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(p->epoll, events, EVENTS_MAX, (int)quiet_ms(p, timeout_ms));
    if (n < 0 && errno != EINTR)
        BUG("epoll_wait failed");
    for (int i = 0; i < n; i++)
        if (events[i].data.u64 & CREW_EVENT)
            crew_event(p->crew, events[i].data.u64, events[i].events);
        else if (events[i].data.u64 & PERSON_EVENT)
            person_event(p);
        else if (!(events[i].data.u64 & CELL_EVENT)) // children are looked at in any case
            http_event(p->http, (int)events[i].data.u64, events[i].events);
    int64_t now = clock_mono_ms();
    crew_timer(p->crew, now);
    return http_timer(p->http, now) || n > 0;
}

// One turn of the loop; `*busy` turns false when nothing is left to do.
static bool turn(struct pump *p, bool *busy, struct err *err)
{
    int64_t wait_ms;
    if (!start_jobs(p, err) || !tick(p, err) || !send_due(p, &wait_ms, err))
        return false;
    bool flying = any_in(p, SLOT_FLYING) || any_in(p, SLOT_SEARCHING) || any_in(p, SLOT_COMPUTING);
    bool waiting = any_in(p, SLOT_WAITING) || any_in(p, SLOT_QUEUED) || any_in(p, SLOT_ASKED);
    bool over = p->stop == STOP_INTERRUPTED &&
                (*p->opts.interrupted > 1 || clock_mono_ms() - p->stop_ms > LAST_WAIT_MS);
    *busy = !over && (flying || (p->stop == STOP_NOT && waiting));
    if (!*busy)
        return true;
    if (!wait_for_events(p, 0)) { // nothing is there yet: commit, then sleep
        if (store_dirty(p->db) && !store_flush(p->db, clock_mono_ms(), err))
            return false;
        wait_for_events(p, wait_ms);
    }
    return receive_all(p, err);
}

static bool explain_stop(const struct pump *p, struct err *err)
{
    switch (p->stop) {
    case STOP_NOT: return true;
    case STOP_BUDGET:
        return err_set(err, ERR_BUDGET,
                       "budget reached: %.6f of %.6f US$ spent, the next call could pass it; raise "
                       "--max-cost and give the same command again to go on",
                       (double)p->stats.spent_nusd / 1e9, (double)p->opts.max_cost_nusd / 1e9);
    case STOP_DAY:
        return err_set(err, ERR_BUDGET,
                       "the day's budget of %.6f US$ is reached: the next call could pass it; give "
                       "the same command again after midnight UTC, or raise --max-cost-per-day",
                       (double)p->opts.max_day_nusd / 1e9);
    case STOP_REFUSED: return err_set(err, p->refusal.code, "%s", p->refusal.text);
    case STOP_INTERRUPTED:
        return err_set(err, ERR_INTERRUPTED,
                       "interrupted; give the same command again to go on: no stored answer is "
                       "asked for again");
    case STOP_LEFT:
        return err_set(err, ERR_INTERRUPTED,
                       "the input has ended; give the same command again to go on with the game");
    }
    BUG("no such stop");
}

// Leaves every slot free and everything committed.
static bool clear(struct pump *p, struct err *err)
{
    bool ok = true;
    slot_end_person(p);
    for (size_t i = 0; i < p->n_slots; i++)
        ok &= slot_abort(p, &p->slots[i], err);
    return store_flush(p->db, clock_mono_ms(), err) && ok;
}

bool pump_run(struct pump *p, int64_t batch, const struct feed *feed, struct err *err)
{
    p->batch = batch;
    p->feed = feed;
    p->more = true;
    bool busy = true;
    bool ok = true;
    while (ok && busy)
        ok = turn(p, &busy, err);
    // Even after a failure: what has been paid for is not lost. The first error is the one to tell.
    struct err clear_err = { 0 };
    if (!clear(p, &clear_err) && ok)
        ok = err_set(err, clear_err.code, "%s", clear_err.text);
    if (p->opts.progress)
        p->opts.progress(p->opts.progress_context, &p->stats);
    return ok && explain_stop(p, err);
}

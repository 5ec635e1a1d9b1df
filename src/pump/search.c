// SPDX-License-Identifier: GPL-3.0-or-later
// search.c - the life of one ask to an engine: looked up in the store, else queued for a process,
// searched, asked again of a fresh process after a fault, stored, and only then shown to its
// episode. And the first acquaintance with an engine, before a run.
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "pump/internal.h"

enum {
    TRIES = 3,       // of one question
    FAULTS_MAX = 24, // in a row, of all questions: it is not the positions
    PROBE_EVENTS = 8,
};

// ---- store ----

static bool store_search(struct pump *p, struct slot *s, const struct engine_reply *r,
                         struct err *err)
{
    const struct engine_query *q = &s->ask.engine;
    struct stored_call call = {
        .request_hash = s->request_hash,
        .reuse_key = s->request_hash, // identity, options, position and limit are all in it
        .input_id = s->job.input_id,
        .model = q->engine->name,
        .class = engine_class_name(r->class),
        .phase = p->feed->phase,
        .cost_source = S("none"),
        .latency_ms = r->latency_ms,
        .reply = engine_reply_to_json(r, &s->arena),
        .reusable = r->class == ENGINE_OK && engine_query_is_repeatable(q),
        .failed = r->class != ENGINE_OK,
    };
    struct call_place at = slot_place(p, s);
    return store_call_put(p->db, &at, &call, err);
}

static bool find_search(struct pump *p, struct slot *s, struct engine_reply *out, bool *found,
                        struct err *err)
{
    struct found_call stored;
    str key = engine_query_is_repeatable(&s->ask.engine) ? s->request_hash : S("");
    if (!slot_find_stored(p, s, key, &stored, err))
        return false;
    *found = stored.call.found;
    if (!*found)
        return true;
    if (!engine_reply_from_json(stored.call.reply, &s->at, &s->arena, out, err))
        return false;
    if (!stored.elsewhere)
        return true;
    stored.call.reusable = false; // the original stays the one to find
    stored.call.phase = p->feed->phase;
    struct call_place at = slot_place(p, s);
    return store_call_put(p->db, &at, &stored.call, err);
}

// ---- asking ----

bool slot_open_search(struct pump *p, struct slot *s, struct engine_reply *out, bool *answered,
                      struct err *err)
{
    s->attempts = 0;
    if (!engine_query_check(&s->ask.engine, &s->at, err))
        return err_add(err, "%.*s: a question to an engine", STR(s->job.input_id));
    s->request_hash = engine_query_hash(&s->ask.engine, &s->arena);
    if (!find_search(p, s, out, answered, err))
        return false;
    if (!*answered)
        s->state = SLOT_QUEUED;
    return true;
}

void slot_search(struct pump *p, struct slot *s)
{
    if (!crew_ask(p->crew, &s->ask.engine, (size_t)(s - p->slots), &s->arena))
        return;
    s->attempts++;
    s->asked_ms = clock_mono_ms();
    s->state = SLOT_SEARCHING;
}

// ---- receiving ----

// The run cannot go on with this engine.
static void refuse(struct pump *p, const struct engine_reply *r, const struct talk *talk)
{
    if (p->stop != STOP_NOT)
        return;
    p->stop = STOP_REFUSED;
    if (talk->refusal.code != ERR_NONE)
        p->refusal = talk->refusal;
    else
        err_set(&p->refusal, ERR_ENDPOINT, "%.*s; %d faults of engines in a row", STR(r->error),
                p->faults);
}

static bool receive(struct pump *p, struct slot *s, struct engine_reply *r, struct err *err)
{
    r->attempts = s->attempts;
    r->latency_ms = clock_mono_ms() - s->asked_ms;
    p->stats.engine_ms += r->latency_ms;
    s->state = SLOT_QUEUED;
    if (r->class != ENGINE_OK) {
        p->stats.n_engine_faults++;
        if (p->stop != STOP_NOT)
            return true; // the next run asks again
        log_line(LOG_INFO, "%.*s; attempt %d of %d", STR(r->error), s->attempts, TRIES);
        if (s->attempts < TRIES)
            return true;
    }
    struct answer answer = { .engine = *r };
    if (r->class == ENGINE_OK)
        p->stats.n_searches++;
    bool keep = r->class == ENGINE_OK || p->feed->keep_failures;
    return (!keep || store_search(p, s, r, err)) && slot_advance(p, s, &answer, err);
}

bool slots_receive_searches(struct pump *p, struct err *err)
{
    size_t i;
    struct engine_reply reply;
    const struct talk *talk;
    while (crew_take(p->crew, &i, &reply, &talk)) {
        p->faults = reply.class == ENGINE_OK ? 0 : p->faults + 1;
        if (p->faults >= FAULTS_MAX || talk->refusal.code != ERR_NONE)
            refuse(p, &reply, talk);
        if (!receive(p, &p->slots[i], &reply, err))
            return false;
    }
    return true;
}

// ---- the first acquaintance ----

// Waits for the one answer that is under way.
static void wait_for_answer(struct crew *c, int epoll, struct engine_reply *out,
                            const struct talk **talk)
{
    struct epoll_event events[PROBE_EVENTS];
    size_t slot;
    while (!crew_take(c, &slot, out, talk)) {
        int64_t wait = crew_due_ms(c) - clock_mono_ms();
        int n = epoll_wait(epoll, events, PROBE_EVENTS, wait > 0 ? (int)wait : 0);
        for (int i = 0; i < n; i++)
            crew_event(c, events[i].data.u64, events[i].events);
        crew_timer(c, clock_mono_ms());
    }
}

bool pump_meet_engine(struct engine *engine, struct arena *a, struct err *err)
{
    struct arena scratch = { 0 };
    struct engine_query q = { .engine = engine,
                              .start = position_start(),
                              .limit = { ENGINE_BY_DEPTH, 1 } };
    struct engine_reply reply;
    const struct talk *talk = NULL;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0)
        return err_set(err, ERR_RUN, "cannot watch an engine: %s", strerror(errno));
    struct crew *c = crew_new(epoll, 1);
    crew_ask(c, &q, 0, &scratch);
    wait_for_answer(c, epoll, &reply, &talk);
    bool ok = reply.class == ENGINE_OK;
    if (ok)
        talk_identify(talk, a, engine);
    else if (talk->refusal.code != ERR_NONE)
        err_set(err, talk->refusal.code, "%s", talk->refusal.text);
    else
        err_set(err, ERR_ENDPOINT, "%.*s", STR(reply.error));
    crew_free(c);
    close(epoll);
    arena_free(&scratch);
    return ok;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// slot.c - the life of one ask of a model: looked up in the store, answered in process or sent,
// retried, stored, and only then shown to its episode.
#include <stdio.h>
#include <string.h>

#include "pump/internal.h"

enum {
    TIMEOUT_DEFAULT_MS = 120000,
    STREAM_MAX_MS = 900000,  // of a reply in pieces, which ends by silence before that (section 2)
    PAUSE_MAX_MS = 120000,   // that an endpoint's remaining counts may ask of all
    OUTPUT_GUESS_TOK = 1024, // of an answer without a limit, for pacing
    REQUEST_TOK_BYTES = 4,
};

// ---- replay and store ----

struct call_place slot_place(const struct pump *p, const struct slot *s)
{
    return (struct call_place){
        .run = p->opts.run, .batch = p->batch, .job = (int64_t)s->index, .ask = s->n_asks
    };
}

static bool diverged(const struct call_place *at, struct err *err)
{
    return err_set(err, ERR_RUN,
                   "replay diverged at batch %lld, job %lld, ask %lld: the stored request is "
                   "another one, so this program asks otherwise than the one that began the run; "
                   "name another run with --run-name, or remove this one with rookery runs rm %lld",
                   (long long)at->batch, (long long)at->job, (long long)at->ask,
                   (long long)at->run);
}

// What never arrived is asked again, unless the caller takes failures as they are.
bool slot_find_stored(struct pump *p, struct slot *s, str reuse_key, struct found_call *out,
                      struct err *err)
{
    struct call_place at = slot_place(p, s);
    struct stored_call *call = &out->call;
    out->elsewhere = false;
    if (!store_call_get(p->db, &at, &s->arena, call, err))
        return false;
    call->found = call->found && (!call->failed || p->feed->accept_failures);
    if (call->found) {
        p->stats.n_replayed++;
        s->n_replayed++;
        return str_eq(call->request_hash, s->request_hash) || diverged(&at, err);
    }
    if (!p->opts.reuse || reuse_key.len == 0)
        return true;
    if (!store_call_reuse(p->db, reuse_key, &s->arena, call, err))
        return false;
    out->elsewhere = call->found;
    p->stats.n_reused += call->found;
    return true;
}

// Finds the answer of the current ask of a model; another run's is noted at its place in this one.
static bool find_reply(struct pump *p, struct slot *s, struct reply *out, bool *found,
                       struct err *err)
{
    struct found_call stored;
    struct stored_call *call = &stored.call;
    str key = model_reuse_key(s->job.model, s->request_hash, &s->arena);
    if (!slot_find_stored(p, s, key, &stored, err))
        return false;
    *found = call->found;
    if (!call->found)
        return true;
    if (!reply_from_json(call->reply, &s->arena, out, err))
        return false;
    if (!stored.elsewhere)
        return true;
    p->stats.saved_nusd += call->cost_nusd;
    out->cost_nusd = call->cost_nusd = 0; // this run did not pay for it
    call->reply = reply_to_json(out, &s->arena);
    call->reusable = false; // the original stays the one to find
    call->phase = p->feed->phase;
    call->cost_source = S("reused");
    struct call_place at = slot_place(p, s);
    return store_call_put(p->db, &at, call, err);
}

// The hash of the program, whose text is put into the store when it is first asked with.
static bool name_program(struct pump *p, const struct program *program, str *name, struct err *err)
{
    if (!program) { // a free question
        *name = S("");
        return true;
    }
    if (p->named != program) {
        p->named = NULL;
        arena_reset(&p->arena);
        p->named_hash = program_hash(program, &p->arena);
        str json = program_to_json(program, (str){ 0 }, &p->arena);
        if (!store_program_put(p->db, p->named_hash, json, err))
            return false;
        p->named = program;
    }
    *name = p->named_hash;
    return true;
}

static bool store_reply(struct pump *p, struct slot *s, const struct reply *r, struct err *err)
{
    const struct job *job = &s->job;
    str program;
    if (!name_program(p, job->program, &program, err))
        return false;
    struct stored_call call = {
        .request_hash = s->request_hash,
        .reuse_key = model_reuse_key(job->model, s->request_hash, &s->arena),
        .program_hash = program,
        .input_id = job->input_id,
        .model = job->model->name,
        .class = reply_class_name(r->class),
        .phase = p->feed->phase,
        .cost_source = known_name(r->cost_source),
        .cost_nusd = r->cost_nusd,
        .input_tok = r->usage.input_tok,
        .output_tok = r->usage.output_tok,
        .latency_ms = r->latency_ms,
        .reply = reply_to_json(r, &s->arena),
        .reusable = r->class == REPLY_OK,
        .failed = reply_is_retried(r->class),
    };
    struct call_place at = slot_place(p, s);
    return store_call_put(p->db, &at, &call, err);
}

// ---- money ----

// What went with an attempt that brought no reply: counted, and remembered by the run.
static bool spend(struct pump *p, int64_t cost_nusd, struct err *err)
{
    p->stats.spent_nusd += cost_nusd;
    if (p->opts.purse)
        purse_settle(p->opts.purse, p->opts.purse_holder, 0, cost_nusd);
    return cost_nusd == 0 || store_run_spend(p->db, p->opts.run, cost_nusd, err);
}

// Asks the budget that is shared with other processes.
static bool shared_budget_allows(struct pump *p, int64_t nusd)
{
    switch (purse_reserve(p->opts.purse, p->opts.purse_holder, nusd)) {
    case PURSE_GRANTED: return true;
    case PURSE_LATER: return false;
    case PURSE_EMPTY: p->stop = STOP_BUDGET; return false;
    }
    BUG("no such answer");
}

// Holds the money of an attempt in flight, and gives it back.
static void reserve(struct pump *p, struct slot *s, int64_t nusd)
{
    s->reserved_nusd = nusd;
    p->reserved_nusd += nusd;
}

static void release(struct pump *p, struct slot *s)
{
    p->reserved_nusd -= s->reserved_nusd;
    if (p->opts.purse)
        purse_settle(p->opts.purse, p->opts.purse_holder, s->reserved_nusd, 0);
}

// Asks the budget of the day, which all runs in the store share; what processes of other commands
// have in flight is not seen. `nusd` is reserved in the purse, where there is one.
static bool day_allows(struct pump *p, int64_t nusd)
{
    int64_t spent;
    if (p->opts.max_day_nusd == 0)
        return true;
    if (!store_day_spent(p->db, &spent, &p->refusal)) {
        p->stop = STOP_REFUSED;
        return false;
    }
    int64_t held = p->opts.purse ? purse_reserved_nusd(p->opts.purse) : p->reserved_nusd + nusd;
    if (spent + held <= p->opts.max_day_nusd)
        return true;
    if (held == nusd) // nothing is in flight that may turn out cheaper
        p->stop = STOP_DAY;
    return false;
}

// The highest cost of another attempt, or -1 where it could pass the cap beside all in flight. What
// is in flight may turn out cheaper: only when nothing is, the budget is spent.
static int64_t affordable_nusd(struct pump *p, const struct slot *s)
{
    int64_t worst = model_request_worst_nusd(s->job.model, &s->ask.model);
    bool fits = p->opts.max_cost_nusd == 0 ||
                p->stats.spent_nusd + p->reserved_nusd + worst <= p->opts.max_cost_nusd;
    if (!fits && p->stats.n_in_flight == 0)
        p->stop = STOP_BUDGET;
    if (!fits || (p->opts.purse && !shared_budget_allows(p, worst)))
        return -1;
    if (day_allows(p, worst))
        return worst;
    if (p->opts.purse)
        purse_settle(p->opts.purse, p->opts.purse_holder, worst, 0);
    return -1;
}

// ---- permits ----

// The gate of the slot's model, looked up once for many asks of the same.
static size_t gate_of(struct pump *p, const struct slot *s)
{
    const struct model *m = s->job.model;
    if (p->gated != m) {
        p->gated = m;
        p->gate = gates_find(p->gates, m->base_url, m->id);
    }
    return p->gate;
}

static void give_up(struct pump *p, const struct slot *s)
{
    const struct model *m = s->job.model;
    p->stop = STOP_REFUSED;
    err_set(&p->refusal, ERR_ENDPOINT,
            "%.*s at %.*s has been down for a quarter of an hour; give the same command again when "
            "it is back: no stored answer is asked for again",
            STR(m->name), STR(m->base_url));
}

// Asks for a permit. What the gate holds up does not count as time of the call.
static bool is_let_through(struct pump *p, struct slot *s, int64_t *at_ms)
{
    int64_t now = clock_mono_ms();
    struct gate_ask ask = { .gate = s->gate,
                            .holder = p->opts.purse_holder,
                            .now_ms = now,
                            .tok = s->tok,
                            .deferred = s->attempts > 0 && p->more };
    enum gate_answer answer = gate_enter(p->gates, &ask, at_ms);
    if (answer == GATE_DOWN)
        give_up(p, s);
    if (answer != GATE_OPEN) {
        s->held_ms = s->held_ms ? s->held_ms : now;
        return false;
    }
    if (s->held_ms)
        s->asked_ms += now - s->held_ms;
    s->held_ms = 0;
    return true;
}

// Ends the attempt at the gate, and tells when that has closed it for a while.
static void leave_gate(struct pump *p, struct slot *s, struct gate_exit *e)
{
    const struct model *m = s->job.model;
    e->gate = s->gate;
    e->holder = p->opts.purse_holder;
    e->now_ms = clock_mono_ms();
    e->sent_ms = e->sent_ms ? e->sent_ms : s->transfer.sent_us / 1000;
    e->retry = s->attempts > 1;
    e->tok = s->tok;
    e->jitter = rng_double(&p->jitter);
    struct gate_state state = gate_leave(p->gates, e);
    if (state.opened_ms > 0)
        log_line(LOG_WARN,
                 "%.*s at %.*s fails again and again: it is left alone for %lld s, then tried with "
                 "one call",
                 STR(m->name), STR(m->base_url), (long long)(state.opened_ms / 1000));
    p->stats.limit = (int64_t)state.limit;
    p->stats.parked_ms = state.open_ms;
}

// An attempt that was let through and then not sent.
static void turn_back(struct pump *p, struct slot *s)
{
    leave_gate(p, s, &(struct gate_exit){ .result = GATE_UNUSED, .sent_ms = clock_mono_ms() });
}

static enum gate_result gate_result_of(const struct pump *p, const struct slot *s,
                                       const struct reply *r)
{
    switch (r->class) {
    case REPLY_RATE_LIMIT: return GATE_RATE_LIMIT;
    case REPLY_OVERLOAD: return GATE_OVERLOAD;
    case REPLY_UPSTREAM:
    case REPLY_PROTOCOL:
    case REPLY_TIMEOUT: return GATE_BROKEN;
    case REPLY_TRANSPORT:
        if (!transfer_is_unreachable(&s->transfer))
            return GATE_BROKEN;
        // A host that never answered is a wrong address: is_fatal ends the run, without waiting.
        return p->answered > 0 ? GATE_NO_CONNECTION : GATE_UNUSED;
    case REPLY_CANCELLED: return GATE_UNUSED;
    case REPLY_OK:
    case REPLY_TRUNCATED:
    case REPLY_REFUSED:
    case REPLY_EMPTY:
    case REPLY_FILTERED:
    case REPLY_CONTEXT_OVERFLOW:
    case REPLY_CONFIG:
    case REPLY_ACCOUNT: return GATE_GOOD;
    }
    BUG("no such class");
}

static void tell_gate(struct pump *p, struct slot *s, const struct reply *r)
{
    struct gate_exit e = { .result = gate_result_of(p, s, r) };
    int64_t pause = rate_pause_ms(&s->transfer.response.headers, s->tok);
    if (pause > 0 && pause <= PAUSE_MAX_MS)
        e.pause_ms = pause;
    if (r->usage.source == KNOWN_REPORTED)
        e.used_tok = r->usage.input_tok + r->usage.output_tok;
    leave_gate(p, s, &e);
}

// ---- taking in ----

// Counts and stores what arrived now; a failure is stored only where the caller keeps failures.
static bool take_in(struct pump *p, struct slot *s, struct reply *r, struct err *err)
{
    r->attempts = s->attempts;
    p->stats.n_retries += s->attempts;
    if (reply_is_retried(r->class) && !p->feed->keep_failures)
        return spend(p, r->cost_nusd, err);
    p->stats.n_retries--; // the attempt that brought this reply
    p->stats.n_calls++;
    p->stats.spent_nusd += r->cost_nusd;
    if (p->opts.purse)
        purse_settle(p->opts.purse, p->opts.purse_holder, 0, r->cost_nusd);
    return store_reply(p, s, r, err);
}

// ---- asking ----

// A model in process answers at once, when money allows; `*answered` tells.
static bool answer_in_process(struct pump *p, struct slot *s, struct reply *out, bool *answered,
                              struct err *err)
{
    int64_t worst = affordable_nusd(p, s);
    *answered = worst >= 0;
    if (!*answered)
        return true;
    if (p->opts.purse)
        purse_settle(p->opts.purse, p->opts.purse_holder, worst, 0);
    s->attempts = 1;
    *out = (struct reply){ .retry_after_ms = -1 };
    if (!s->job.model->provider->answer(s->job.model, &s->ask.model, &s->arena, out, err))
        return err_add(err, "%.*s", STR(s->job.model->name));
    return take_in(p, s, out, err);
}

// Answers a new ask from the store or in process where that is possible; else builds its request,
// and the slot waits to be sent.
static bool open_ask(struct pump *p, struct slot *s, struct reply *out, bool *answered,
                     struct err *err)
{
    const struct model *m = s->job.model;
    s->attempts = 0;
    s->request_hash = model_request_hash(m, &s->ask.model, &s->arena);
    if (!find_reply(p, s, out, answered, err))
        return false;
    if (*answered)
        return true;
    s->state = SLOT_WAITING;
    s->asked_ms = s->due_ms = clock_mono_ms();
    s->held_ms = 0;
    if (m->provider->answer)
        return answer_in_process(p, s, out, answered, err);
    s->gate = gate_of(p, s);
    if (!m->provider->build(m, &s->ask.model, &s->arena, &s->http, err))
        return err_add(err, "%.*s", STR(m->name));
    int64_t longest = s->ask.model.max_tokens ? s->ask.model.max_tokens : OUTPUT_GUESS_TOK;
    s->tok = (int64_t)s->http.body.len / REQUEST_TOK_BYTES + longest;
    return true;
}

// Answers a new ask at once, or sees to it that it will be.
static bool open_any(struct pump *p, struct slot *s, struct answer *out, bool *answered,
                     struct err *err)
{
    switch (s->ask.to) {
    case TO_MODEL: return open_ask(p, s, &out->model, answered, err);
    case TO_ENGINE: return slot_open_search(p, s, &out->engine, answered, err);
    case TO_HARNESS: return slot_open_call(p, s, &out->harness, answered, err);
    case TO_PERSON: return slot_open_person(p, s, &out->person, answered, err);
    }
    BUG("an ask to nobody");
}

bool slot_advance(struct pump *p, struct slot *s, const struct answer *in, struct err *err)
{
    struct answer answer;
    for (;;) {
        if (in)
            s->n_asks++;
        if (s->episode->job->kind->step(s->episode, in, &s->ask) == STEP_DONE) {
            s->episode->outcome.replayed = s->n_replayed == s->n_asks;
            p->feed->done(p->feed->ctx, s->index, &s->episode->outcome);
            s->state = SLOT_FREE;
            slot_end_child(s);
            return true;
        }
        bool answered = false;
        if (!open_any(p, s, &answer, &answered, err))
            return false;
        if (!answered)
            return true;
        in = &answer;
    }
}

bool slot_send(struct pump *p, struct slot *s, int64_t *at_ms, struct err *err)
{
    const struct model *m = s->job.model;
    if (m->provider->answer) { // money was short before
        struct answer answer;
        bool answered = false;
        if (!answer_in_process(p, s, &answer.model, &answered, err))
            return false;
        return !answered || slot_advance(p, s, &answer, err);
    }
    if (!is_let_through(p, s, at_ms))
        return true;
    int64_t worst = affordable_nusd(p, s);
    if (worst < 0) {
        *at_ms = INT64_MAX;
        turn_back(p, s);
        return true;
    }
    int64_t otherwise_ms = s->http.streamed ? STREAM_MAX_MS : TIMEOUT_DEFAULT_MS;
    int64_t timeout_ms = m->timeout_ms ? m->timeout_ms : otherwise_ms;
    reserve(p, s, worst);
    if (!http_send(p->http, &s->transfer, &s->http, timeout_ms, err)) {
        release(p, s);
        turn_back(p, s);
        return false;
    }
    s->attempts++;
    s->state = SLOT_FLYING;
    p->stats.n_in_flight++;
    return true;
}

// ---- receiving ----

// Class and words of an exchange that brought no whole response.
static void read_transport(const struct slot *s, struct arena *a, struct reply *out)
{
    const struct transfer *t = &s->transfer;
    out->class = t->result == CURLE_OPERATION_TIMEDOUT ? REPLY_TIMEOUT : REPLY_TRANSPORT;
    out->http_status = t->response.status;
    out->error = secrets_redact(transfer_error(t, a), s->job.model->key, a);
    if (t->body.over) {
        out->class = REPLY_PROTOCOL;
        out->error =
            arena_printf(a, "the response is larger than %d MiB", RESPONSE_MAX_BYTES >> 20);
    }
}

static void read_reply(struct pump *p, struct slot *s, struct reply *r)
{
    const struct model *m = s->job.model;
    if (s->transfer.response.status > 0)
        p->answered++;
    if (s->transfer.result == CURLE_OK)
        m->provider->parse(m, &s->ask.model, &s->transfer.response, &s->arena, r);
    else
        read_transport(s, &s->arena, r);
    r->latency_ms = (clock_mono_us() - s->transfer.sent_us) / 1000;
}

// Ends the transfer's reservation. Sent and not answered whole: the endpoint may bill it.
static bool settle(struct pump *p, struct slot *s, struct err *err)
{
    bool maybe_billed = s->transfer.result != CURLE_OK && !transfer_is_unreachable(&s->transfer);
    p->stats.n_in_flight--;
    release(p, s);
    return !maybe_billed || spend(p, s->reserved_nusd, err);
}

bool slot_abort(struct pump *p, struct slot *s, struct err *err)
{
    bool flying = s->state == SLOT_FLYING;
    if (s->state == SLOT_SEARCHING)
        crew_abort(p->crew, (size_t)(s - p->slots));
    s->state = SLOT_FREE;
    slot_end_child(s);
    if (!flying)
        return true;
    http_abort(p->http, &s->transfer);
    leave_gate(p, s, &(struct gate_exit){ .result = GATE_UNUSED });
    return settle(p, s, err);
}

static bool is_fatal(const struct pump *p, const struct slot *s, const struct reply *r)
{
    if (r->class == REPLY_CONFIG || r->class == REPLY_ACCOUNT)
        return true;
    // A host that never answered is a wrong address or a server that is down, not bad luck.
    return r->class == REPLY_TRANSPORT && p->answered == 0 && transfer_is_unreachable(&s->transfer);
}

// The run cannot go on with this model; what else is in flight is still taken in.
static void refuse(struct pump *p, const struct slot *s, const struct reply *r)
{
    const struct model *m = s->job.model;
    if (p->stop != STOP_NOT)
        return;
    p->stop = STOP_REFUSED;
    err_set(&p->refusal, ERR_ENDPOINT, "%.*s at %.*s: %.*s", STR(m->name), STR(m->base_url),
            STR(r->error));
    if (retry_is_far(r)) {
        size_t used = strlen(p->refusal.text);
        snprintf(p->refusal.text + used, sizeof p->refusal.text - used,
                 "; it asks to wait %lld s: give the same command again then",
                 (long long)(r->retry_after_ms / 1000));
    }
}

bool slot_receive(struct pump *p, struct slot *s, struct err *err)
{
    const struct model *m = s->job.model;
    struct answer answer = { .model = { .retry_after_ms = -1 } };
    struct reply *r = &answer.model;
    read_reply(p, s, r);
    tell_gate(p, s, r);
    s->state = SLOT_WAITING;
    if (!settle(p, s, err))
        return false;
    if (p->stop != STOP_NOT && reply_may_retry(r))
        return spend(p, r->cost_nusd, err); // the next run asks again
    int64_t now = clock_mono_ms();
    int64_t delay = retry_delay_ms(s, r, now - s->asked_ms, &p->jitter);
    if (delay >= 0) {
        log_line(LOG_INFO, "%.*s: %.*s; attempt %d of %d failed, next in %lld ms", STR(m->name),
                 STR(r->error), s->attempts, m->retries + 1, (long long)delay);
        s->due_ms = now + delay;
        return spend(p, r->cost_nusd, err);
    }
    if (is_fatal(p, s, r) || retry_is_far(r)) {
        refuse(p, s, r);
        return true;
    }
    if (s->attempts > 1 && now - s->asked_ms > r->latency_ms)
        r->waited_ms = now - s->asked_ms - r->latency_ms;
    return take_in(p, s, r, err) && slot_advance(p, s, &answer, err);
}

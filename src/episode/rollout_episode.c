// SPDX-License-Identifier: GPL-3.0-or-later
// rollout_episode.c - one puzzle through one candidate harness, as a machine that asks in turn the
// candidate's child (format, parse, legality) and the policy (1.5). A candidate that fails never
// decides a rollout: its raw input or the built-in parser stands in, and the event is kept.
#include "episode/internal_rollout.h"

enum { TOKEN_BUDGET = 8129, FAULTS_MAX = 3, VIEW_SLACK_BYTES = 4096 }; // 1.8, 2.7, 2.3

// ---- the start and the end ----

static int64_t or_default(int64_t value, int64_t fallback)
{
    return value > 0 ? value : fallback;
}

static void begin(struct rollout_episode *ep)
{
    ep->in = ep->base.job->input;
    const struct rollout_opts *o = ep->in->opts;
    const struct harness_contract *c = &ep->in->candidate->contract;
    struct rollout_record *r = &ep->record;
    r->turns = or_default(o->turns, HARNESS_TURNS);
    r->turns_cap = or_default(o->turns_cap, 2 * r->turns);
    r->turns_cap = r->turns_cap < r->turns ? r->turns : r->turns_cap;
    r->max_calls = c->has_turns ? c->max_turns : r->turns;
    r->max_calls = r->max_calls > r->turns_cap ? r->turns_cap : r->max_calls;
    ep->limits.calls = r->max_calls;
    ep->limits.tokens = or_default(o->token_budget, TOKEN_BUDGET);
    ep->limits.policy_tokens = or_default(o->policy_max_tokens, ep->limits.tokens);
    ep->limits.format = c->format_retries;
    ep->limits.illegal = c->illegal_retries;
    ep->at = ep->in->puzzle.at;
}

static enum step finish(struct rollout_episode *ep, enum rollout_result result,
                        enum rollout_stop stop)
{
    ep->record.result = result;
    ep->record.stop = stop;
    ep->base.outcome.status = result == ROLLOUT_INFRA ? OUTCOME_FAILED : OUTCOME_SCORED;
    ep->base.outcome.score = result == ROLLOUT_SOLVED ? 1 : 0;
    ep->base.outcome.record = &ep->record;
    return STEP_DONE;
}

static struct rollout_event *add_event(struct rollout_episode *ep)
{
    return vec_push(ep->base.arena, &ep->record.events);
}

static void note_harness(struct rollout_episode *ep, str source, str error)
{
    *add_event(ep) = (struct rollout_event){ .actor = ACTOR_HARNESS,
                                             .call = ep->record.calls,
                                             .source = source,
                                             .error = arena_str(ep->base.arena, error) };
}

// ---- the candidate ----

static enum step ask_harness(struct rollout_episode *ep, struct harness_call call,
                             enum rollout_stage next, struct ask *out)
{
    *out = (struct ask){ .to = TO_HARNESS };
    call.seed = harness_call_seed(ep->in->opts->seed, ep->in->example, (uint64_t)ep->record.calls,
                                  call.function);
    call.as_text = ep->in->opts->compat && call.function != HARNESS_LEGAL;
    call.legal_seed = call.judges ? harness_call_seed(ep->in->opts->seed, ep->in->example,
                                                      (uint64_t)ep->record.calls, HARNESS_LEGAL)
                                  : 0;
    out->harness = (struct harness_ask){ ep->in->candidate, call };
    ep->stage = next;
    return STEP_ASK;
}

// What went wrong with a call, kept as an event; empty: nothing.
static str complaint(struct rollout_episode *ep, const struct harness_answer *in)
{
    struct arena *a = ep->base.arena;
    const struct harness_result *r = &in->result;
    if (in->ending == HARNESS_DIED)
        return arena_printf(a, "the child ended: %.*s", STR(in->how));
    if (!r->ok)
        return arena_printf(a, "line %lld: %.*s: %.*s", (long long)r->error_line,
                            STR(r->error_class), STR(r->error_message));
    return S("");
}

// A text of the candidate, or false: it has none that can be used. `max`: in bytes.
static bool take_text(struct rollout_episode *ep, const struct harness_answer *in, size_t max,
                      str *out)
{
    str why = complaint(ep, in);
    if (why.len == 0 && in->result.type != RESULT_STR)
        why = S("the result is no text");
    else if (why.len == 0 && in->result.text.len > max)
        why = S("the result is too long");
    if (why.len > 0) {
        ep->record.n_harness_errors++;
        note_harness(ep, S("harness_error"), why);
        return false;
    }
    *out = arena_str(ep->base.arena, in->result.text);
    return true;
}

// Whether the rollout is over because of the child; each death starts a fresh one.
static bool harness_ends(struct rollout_episode *ep, const struct harness_answer *in)
{
    if (in->ending == HARNESS_DIED) {
        ep->faults++;
        note_harness(ep, S("child_restarted"), in->how);
    }
    return in->ending == HARNESS_BUSY || ep->faults >= FAULTS_MAX;
}

static enum step end_by_harness(struct rollout_episode *ep, const struct harness_answer *in)
{
    if (in->ending != HARNESS_BUSY)
        return finish(ep, ROLLOUT_ERROR, STOPPED_FAULT);
    ep->base.outcome.error = S("the machine was too busy for the candidate's child");
    return finish(ep, ROLLOUT_INFRA, STOPPED_INFRA);
}

// ---- a turn ----

static enum step ask_policy(struct rollout_episode *ep, str view, struct ask *out)
{
    struct arena *a = ep->base.arena;
    const struct job *job = ep->base.job;
    int64_t left = ep->limits.tokens - ep->record.tokens;
    view = rollout_with_feedback(view, ep->nudge, a);
    ep->prompt = harness_fill(ep->in->candidate->contract.user, view, ep->in->opts->compat, a);
    ep->nudge = (str){ 0 };
    if (ep->record.calls == 0)
        ep->record.question = ep->prompt;
    rollout_assemble(ep);
    *out = (struct ask){ .to = TO_MODEL };
    out->model = model_request_new(job->model, job->sampling, &ep->messages, NULL);
    out->model.max_tokens = ep->limits.policy_tokens < left ? ep->limits.policy_tokens : left;
    ep->stage = JUDGE;
    return STEP_ASK;
}

static enum step begin_turn(struct rollout_episode *ep, struct ask *out)
{
    const struct observed seen = { &ep->at, ep->last_reply, ep->accepted.v, ep->accepted.n };
    if (ep->record.calls >= ep->limits.calls)
        return finish(ep, ROLLOUT_LOSS, STOPPED_MAX_CALLS);
    if (ep->record.tokens >= ep->limits.tokens)
        return finish(ep, ROLLOUT_LOSS, STOPPED_TOKEN_BUDGET);
    ep->raw = harness_observation(&seen, ep->base.arena);
    if (!ep->in->candidate->contract.formats)
        return ask_policy(ep, ep->raw, out);
    struct harness_call call = { .function = HARNESS_FORMAT, .text = ep->raw };
    call.turn_count = (int64_t)ep->accepted.n;
    call.max_turns = ep->limits.calls;
    call.side_to_move = ep->at.turn == WHITE ? S("white") : S("black");
    call.last_reply = ep->last_reply;
    return ask_harness(ep, call, VIEW, out);
}

static enum step take_view(struct rollout_episode *ep, const struct harness_answer *in,
                           struct ask *out)
{
    size_t max = 4 * ep->raw.len + VIEW_SLACK_BYTES;
    str view;
    if (!take_text(ep, in, max < HARNESS_VIEW_MAX_BYTES ? max : HARNESS_VIEW_MAX_BYTES, &view))
        view = ep->raw;
    if (harness_ends(ep, in))
        return end_by_harness(ep, in);
    return ask_policy(ep, view, out);
}

// ---- the response ----

static void count_tokens(struct rollout_episode *ep, const struct reply *r, struct rollout_event *e)
{
    e->approximate = r->usage.source != KNOWN_REPORTED;
    size_t n = utf8_length(r->text) + (ep->in->opts->compat ? 0 : utf8_length(r->reasoning));
    e->tokens = e->approximate ? harness_approximate_tokens(n) : r->usage.output_tok;
    e->tokens = e->tokens < 0 ? 0 : e->tokens;
    ep->record.tokens += e->tokens;
    e->tokens_used = ep->record.tokens;
}

static void note_response(struct rollout_episode *ep, const struct reply *r)
{
    struct arena *a = ep->base.arena;
    struct rollout_event e = { .actor = ACTOR_ASSISTANT, .call = ++ep->record.calls };
    count_tokens(ep, r, &e);
    e.response = arena_str(a, r->text);
    e.default_action = harness_parse(e.response, a);
    e.finish = arena_str(a, r->native_finish);
    e.truncated = r->finish == FINISH_LENGTH || r->class == REPLY_TRUNCATED;
    ep->record.n_truncated += e.truncated;
    *add_event(ep) = e;
    *vec_push(a, &ep->history) = (struct turn){ .prompt = ep->prompt, .text = e.response };
}

static struct rollout_event *last_response(struct rollout_episode *ep)
{
    struct rollout_events *events = &ep->record.events;
    for (size_t i = events->n; i-- > 0;)
        if (events->v[i].actor == ACTOR_ASSISTANT)
            return &events->v[i];
    BUG("no response yet");
}

static enum step settle(struct rollout_episode *ep, struct rollout_verdict v, struct ask *out)
{
    *add_event(ep) = v.event;
    ep->history.v[ep->history.n - 1].tool = v.event.tool;
    if (v.event.terminal)
        return finish(ep, v.event.result, v.event.stop);
    ep->nudge = v.nudges ? v.event.tool : (str){ 0 };
    return begin_turn(ep, out);
}

// The candidate's parser hid a move that the response spells out (4.4).
static void note_suppression(struct rollout_episode *ep, const struct rollout_event *e)
{
    enum harness_tier tier = harness_parse_tier(e->response);
    move m;
    if (tier != TIER_TAG && tier != TIER_BRACKET)
        return;
    if (harness_is_uci(ep->action) || !uci_parse(&ep->at, e->default_action, &m))
        return;
    ep->record.n_suppressed++;
    note_harness(ep, S("parse_suppression"), e->default_action);
}

// What follows from the form of the action alone; false: it is one, and so must be judged.
static bool settles_by_form(struct rollout_episode *ep, struct ask *out, enum step *next)
{
    struct rollout_event *e = last_response(ep);
    e->action = ep->action;
    if (ep->in->candidate->contract.parses)
        note_suppression(ep, e);
    if (harness_goes_somewhere(ep->action))
        return false;
    *next = settle(ep, rollout_verify_form(ep), out);
    return true;
}

static enum step verify(struct rollout_episode *ep, struct ask *out)
{
    enum step next;
    if (settles_by_form(ep, out, &next))
        return next;
    struct harness_call call = { .function = HARNESS_LEGAL, .text = ep->raw, .action = ep->action };
    return ask_harness(ep, call, CHECKED, out);
}

// A response that says nothing because nothing came, or nothing could.
static enum step take_no_text(struct rollout_episode *ep, const struct reply *r)
{
    struct arena *a = ep->base.arena;
    if (r->class == REPLY_CONTEXT_OVERFLOW)
        return finish(ep, ROLLOUT_LOSS, STOPPED_CONTEXT);
    ep->base.outcome.error =
        arena_printf(a, "%.*s: %.*s", STR(reply_class_name(r->class)), STR(r->error));
    return finish(ep, ROLLOUT_INFRA,
                  r->class == REPLY_CANCELLED ? STOPPED_CANCELLED : STOPPED_INFRA);
}

static enum step take_response(struct rollout_episode *ep, const struct reply *r, struct ask *out)
{
    usage_total_note(&ep->base.outcome.used, r);
    if (!reply_is_scored(r->class) && r->class != REPLY_FILTERED)
        return take_no_text(ep, r);
    note_response(ep, r);
    const struct rollout_event *e = last_response(ep);
    ep->action = e->default_action;
    if (!ep->in->candidate->contract.parses)
        return verify(ep, out);
    if (e->response.len > HARNESS_RESPONSE_MAX_BYTES) {
        ep->record.n_harness_errors++;
        note_harness(ep, S("harness_error"), S("the response is too long for a parser"));
        return verify(ep, out);
    }
    struct harness_call call = {
        .function = HARNESS_PARSE, .text = e->response, .judges = true, .board = ep->raw
    };
    return ask_harness(ep, call, PARSED, out);
}

static enum step take_legality(struct rollout_episode *ep, const struct harness_answer *in,
                               struct ask *out)
{
    str why = complaint(ep, in);
    bool legal = why.len == 0 && in->result.type == RESULT_BOOL && in->result.truth;
    if (why.len > 0) {
        ep->record.n_harness_errors++;
        note_harness(ep, S("harness_is_legal_action_error"), why);
    }
    if (harness_ends(ep, in))
        return end_by_harness(ep, in);
    move m;
    if (!legal && uci_parse(&ep->at, ep->action, &m)) {
        ep->record.n_vetoes++;
        note_harness(ep, S("harness_veto"), ep->action);
    }
    return settle(ep, rollout_verify_move(ep, legal), out);
}

// The parser's result, and in the same answer the legality of what follows from it. A child that
// died over the second has still given the first.
static enum step take_action(struct rollout_episode *ep, const struct harness_answer *in,
                             struct ask *out)
{
    str text;
    enum step next;
    struct harness_answer parsed = *in, judged = *in;
    if (in->result.told)
        parsed.ending = HARNESS_ANSWERED;
    if (take_text(ep, &parsed, HARNESS_ACTION_MAX_BYTES, &text))
        ep->action = harness_normalise(text, ep->in->opts->compat, ep->base.arena);
    if (!in->result.told) {
        if (harness_ends(ep, in))
            return end_by_harness(ep, in);
        return verify(ep, out);
    }
    if (in->ending == HARNESS_BUSY)
        return end_by_harness(ep, in);
    if (settles_by_form(ep, out, &next))
        return next;
    judged.result = in->result.legality ? *in->result.legality : (struct harness_result){ 0 };
    return take_legality(ep, &judged, out);
}

static enum step rollout_step(struct episode *base, const struct answer *in, struct ask *out)
{
    struct rollout_episode *ep = (struct rollout_episode *)base;
    switch (ep->stage) {
    case TURN: begin(ep); return begin_turn(ep, out);
    case VIEW: return take_view(ep, &in->harness, out);
    case JUDGE: return take_response(ep, &in->model, out);
    case PARSED: return take_action(ep, &in->harness, out);
    case CHECKED: return take_legality(ep, &in->harness, out);
    }
    BUG("no such stage");
}

// ---- after it ----

static const void *copy_record(const void *record, struct arena *a)
{
    struct rollout_record *copy = NEW(a, struct rollout_record);
    *copy = *(const struct rollout_record *)record;
    copy->question = arena_str(a, copy->question);
    struct rollout_event *events = NEW_ARRAY(a, struct rollout_event, copy->events.n + 1);
    for (size_t i = 0; i < copy->events.n; i++) {
        struct rollout_event *e = &events[i];
        *e = copy->events.v[i];
        str *texts[] = { &e->action, &e->response, &e->default_action, &e->finish,
                         &e->tool,   &e->reply,    &e->source,         &e->error };
        for (size_t k = 0; k < ARRAY_LEN(texts); k++)
            *texts[k] = arena_str(a, *texts[k]);
    }
    copy->events.v = events;
    copy->events.cap = copy->events.n;
    return copy;
}

const struct episode_kind episode_rollout = {
    .name = "harness_rollout",
    .size = sizeof(struct rollout_episode),
    .step = rollout_step,
    .copy_record = copy_record,
};

const struct rollout_record *rollout_so_far(const struct episode *ep)
{
    return &((const struct rollout_episode *)ep)->record;
}

struct rollout_puzzle rollout_puzzle(const struct puzzle *p, struct arena *a)
{
    str *line = NEW_ARRAY(a, str, p->n_moves);
    for (size_t i = 1; i < p->n_moves; i++)
        line[i - 1] = arena_str(a, str_from(uci_format(p->moves[i]).data));
    return (struct rollout_puzzle){ position_after(&p->start, p->moves[0]), line, p->n_moves - 1 };
}

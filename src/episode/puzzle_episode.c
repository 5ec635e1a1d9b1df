// SPDX-License-Identifier: GPL-3.0-or-later
// puzzle_episode.c - one position of a puzzle: render the prompt, ask once, judge the move. In
// schema mode an answer that cannot be read is asked for once more as plain JSON mode
// (few-shot specification 1.9), except where the token limit cut it: it would be cut again.
#include "episode/episode.h"

enum stage { RENDER, JUDGE, JUDGE_REASK };
struct puzzle_episode {
    struct episode base;
    enum stage stage;
    struct messages messages;
    struct puzzle_record record;
};

static str value_of_move(const struct signature *s, const str *values)
{
    for (size_t i = 0; i < s->n_outputs; i++)
        if (str_eq(s->outputs[i].name, S("move")))
            return values[i];
    BUG("a puzzle program without the output field `move`");
}

static enum step ask(struct puzzle_episode *ep, enum reply_format format, struct ask *out)
{
    const struct job *job = ep->base.job;
    *out = (struct ask){ .to = TO_MODEL };
    out->model =
        model_request_new(job->model, job->sampling, &ep->messages, job->program->signature);
    out->model.program = job->program;
    out->model.inputs = ((const struct puzzle_position *)job->input)->inputs;
    if (format != FORMAT_SCHEMA)
        out->model.format = format;
    return STEP_ASK;
}

static enum step take_values(struct puzzle_episode *ep, const str *values);

// A choice needs two options: the only legal move is the answer, and nobody is asked (endpoint
// specification, section 5; field case F-025).
static enum step answer_forced(struct puzzle_episode *ep, str only)
{
    const struct signature *s = ep->base.job->program->signature;
    str *values = NEW_ARRAY(ep->base.arena, str, s->n_outputs);
    for (size_t i = 0; i < s->n_outputs; i++)
        values[i] = str_eq(s->outputs[i].name, S("move")) ? only : S("");
    ep->record.forced = true;
    return take_values(ep, values);
}

static enum step render(struct puzzle_episode *ep, struct ask *out)
{
    const struct puzzle_position *p = ep->base.job->input;
    const struct provider *provider = ep->base.job->model->provider;
    str legal = p->inputs[2]; // legal_moves_uci
    if (provider && provider->chooses && str_find_char(legal, ',') < 0)
        return answer_forced(ep, str_trim(legal));
    program_render(ep->base.job->program, p->inputs, ep->base.arena, &ep->messages);
    ep->stage = JUDGE;
    return ask(ep, ep->base.job->model->format, out);
}

// Keeps what the call cost and what it said beside the answer.
static void note_call(struct puzzle_episode *ep, const struct reply *r)
{
    struct puzzle_record *record = &ep->record;
    usage_total_note(&ep->base.outcome.used, r);
    record->latency_ms = r->latency_ms;
    record->text = arena_str(ep->base.arena, r->text);
    record->served_model = arena_str(ep->base.arena, r->served_model);
    record->served_provider = arena_str(ep->base.arena, r->served_provider);
    record->finish = arena_str(ep->base.arena, r->native_finish);
}

static enum step finish(struct puzzle_episode *ep, enum outcome_status status)
{
    ep->base.outcome.status = status;
    ep->base.outcome.record = &ep->record;
    return STEP_DONE;
}

// A reply without an answer to read: refused, filtered, too long, or never arrived.
static enum step judge_without_answer(struct puzzle_episode *ep, const struct reply *r)
{
    struct puzzle_record *record = &ep->record;
    str text =
        arena_printf(ep->base.arena, "%.*s: %.*s", STR(reply_class_name(r->class)), STR(r->error));
    record->error = text;
    switch (r->class) {
    case REPLY_REFUSED: record->kind = ANSWER_REFUSED; return finish(ep, OUTCOME_SCORED);
    case REPLY_FILTERED: record->kind = ANSWER_FILTERED; return finish(ep, OUTCOME_UNSCORED);
    case REPLY_CONTEXT_OVERFLOW:
        record->kind = ANSWER_CONTEXT_OVERFLOW;
        return finish(ep, OUTCOME_UNSCORED);
    case REPLY_OK:
    case REPLY_TRUNCATED:
    case REPLY_EMPTY: BUG("these have an answer to read");
    case REPLY_CONFIG:
    case REPLY_ACCOUNT:
    case REPLY_RATE_LIMIT:
    case REPLY_OVERLOAD:
    case REPLY_UPSTREAM:
    case REPLY_PROTOCOL:
    case REPLY_TRANSPORT:
    case REPLY_TIMEOUT:
    case REPLY_CANCELLED: break;
    }
    record->kind = ANSWER_FAILED;
    ep->base.outcome.error = text;
    return finish(ep, OUTCOME_FAILED);
}

static enum answer_kind unreadable_kind(const struct reply *r, enum read_error why)
{
    if (r->class == REPLY_TRUNCATED || r->finish == FINISH_LENGTH)
        return ANSWER_TRUNCATED;
    return why == READ_EMPTY ? ANSWER_EMPTY : ANSWER_UNPARSABLE;
}

static enum answer_kind resolved_kind(const struct resolution *r, move solution)
{
    switch (r->error) {
    case RESOLVE_OK: return r->m == solution ? ANSWER_CORRECT : ANSWER_WRONG;
    case RESOLVE_NO_CANDIDATE: return ANSWER_NO_MOVE;
    case RESOLVE_NO_LEGAL: return ANSWER_ILLEGAL;
    case RESOLVE_AMBIGUOUS: return ANSWER_AMBIGUOUS;
    }
    BUG("no such resolve error");
}

static enum step judge_move(struct puzzle_episode *ep, str prediction)
{
    const struct puzzle_position *p = ep->base.job->input;
    struct puzzle_record *record = &ep->record;
    struct resolution r;
    move_resolve(&p->at, prediction, ep->base.arena, &r);
    record->prediction = prediction;
    record->kind = resolved_kind(&r, p->solution);
    record->played = r.m;
    record->mode = r.mode;
    record->any_mate = r.m != MOVE_NONE && r.m != p->solution && move_gives_mate(&p->at, r.m);
    ep->base.outcome.score = record->kind == ANSWER_CORRECT ? 1 : 0;
    return finish(ep, OUTCOME_SCORED);
}

static enum step take_values(struct puzzle_episode *ep, const str *values)
{
    const struct signature *s = ep->base.job->program->signature;
    ep->record.values = values;
    ep->record.n_values = s->n_outputs;
    return judge_move(ep, value_of_move(s, values));
}

static enum step judge(struct puzzle_episode *ep, const struct reply *r, struct ask *out)
{
    const struct signature *s = ep->base.job->program->signature;
    note_call(ep, r);
    if (r->class != REPLY_OK && r->class != REPLY_TRUNCATED && r->class != REPLY_EMPTY)
        return judge_without_answer(ep, r);
    str *values = NEW_ARRAY(ep->base.arena, str, s->n_outputs);
    enum read_error why = answer_read(s, r->text, ep->base.arena, values);
    if (why == READ_OK)
        return take_values(ep, values);
    ep->record.kind = unreadable_kind(r, why);
    if (ep->stage == JUDGE && ep->base.job->model->format == FORMAT_SCHEMA &&
        ep->record.kind != ANSWER_TRUNCATED) {
        ep->stage = JUDGE_REASK;
        return ask(ep, FORMAT_JSON_OBJECT, out);
    }
    ep->record.error = arena_printf(ep->base.arena, "ParseError: %.*s", STR(read_error_text(why)));
    return finish(ep, OUTCOME_SCORED);
}

static enum step puzzle_step(struct episode *base, const struct answer *in, struct ask *out)
{
    struct puzzle_episode *ep = (struct puzzle_episode *)base;
    switch (ep->stage) {
    case RENDER: return render(ep, out);
    case JUDGE:
    case JUDGE_REASK: return judge(ep, &in->model, out);
    }
    BUG("no such stage");
}

static const void *copy_record(const void *record, struct arena *a)
{
    struct puzzle_record *copy = NEW(a, struct puzzle_record);
    *copy = *(const struct puzzle_record *)record;
    copy->prediction = arena_str(a, copy->prediction);
    str *values = NEW_ARRAY(a, str, copy->n_values + 1);
    for (size_t i = 0; i < copy->n_values; i++)
        values[i] = arena_str(a, copy->values[i]);
    copy->values = copy->values ? values : NULL;
    copy->text = arena_str(a, copy->text);
    copy->error = arena_str(a, copy->error);
    copy->served_model = arena_str(a, copy->served_model);
    copy->served_provider = arena_str(a, copy->served_provider);
    copy->finish = arena_str(a, copy->finish);
    return copy;
}

const struct episode_kind episode_puzzle = {
    .name = "puzzle",
    .size = sizeof(struct puzzle_episode),
    .step = puzzle_step,
    .copy_record = copy_record,
};

str answer_kind_name(enum answer_kind k)
{
    static const char *const names[ANSWER_KINDS] = {
        [ANSWER_CORRECT] = "correct",
        [ANSWER_WRONG] = "wrong",
        [ANSWER_ILLEGAL] = "illegal",
        [ANSWER_NO_MOVE] = "no_move",
        [ANSWER_AMBIGUOUS] = "ambiguous",
        [ANSWER_UNPARSABLE] = "unparsable",
        [ANSWER_TRUNCATED] = "truncated",
        [ANSWER_EMPTY] = "empty",
        [ANSWER_REFUSED] = "refused",
        [ANSWER_FILTERED] = "filtered",
        [ANSWER_CONTEXT_OVERFLOW] = "context_overflow",
        [ANSWER_FAILED] = "failed",
    };
    return str_from(names[k]);
}

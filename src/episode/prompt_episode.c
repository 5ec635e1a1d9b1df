// SPDX-License-Identifier: GPL-3.0-or-later
// prompt_episode.c - one question to a model that writes prompts. With a program the answer is read
// into its output fields, as a puzzle's is (re-asked once in schema mode, few-shot specification
// 1.9); without one the question is a single message and the answer free text. What a model does
// badly - nothing, a refusal, no JSON - is an answer that cannot be used, never a failed call.
#include "episode/episode.h"

enum stage { RENDER, READ, READ_REASK };
struct prompt_episode {
    struct episode base;
    enum stage stage;
    struct messages messages;
    struct prompt_record record;
};

static const struct signature *signature_of(const struct prompt_episode *ep)
{
    return ep->base.job->program ? ep->base.job->program->signature : NULL;
}

static enum step ask(struct prompt_episode *ep, enum stage next, struct ask *out)
{
    const struct job *job = ep->base.job;
    *out = (struct ask){ .to = TO_MODEL };
    out->model = model_request_new(job->model, job->sampling, &ep->messages, signature_of(ep));
    out->model.program = job->program;
    out->model.inputs = ((const struct prompt_input *)job->input)->values;
    if (next == READ_REASK)
        out->model.format = FORMAT_JSON_OBJECT;
    ep->stage = next;
    return STEP_ASK;
}

static enum step render(struct prompt_episode *ep, struct ask *out)
{
    const struct prompt_input *input = ep->base.job->input;
    if (ep->base.job->program)
        program_render(ep->base.job->program, input->values, ep->base.arena, &ep->messages);
    if (!ep->base.job->program && input->system.len > 0)
        *vec_push(ep->base.arena, &ep->messages) =
            (struct message){ .role = ROLE_SYSTEM, .text = input->system };
    if (!ep->base.job->program)
        *vec_push(ep->base.arena, &ep->messages) =
            (struct message){ .role = ROLE_USER, .text = input->plain };
    return ask(ep, READ, out);
}

static enum step finish(struct prompt_episode *ep, enum outcome_status status)
{
    ep->base.outcome.status = status;
    ep->base.outcome.score = ep->record.usable ? 1 : 0;
    ep->base.outcome.record = &ep->record;
    return STEP_DONE;
}

static enum step give_up(struct prompt_episode *ep, str why)
{
    ep->record.error = why;
    return finish(ep, OUTCOME_SCORED);
}

static bool has_text(enum reply_class c)
{
    return c == REPLY_OK || c == REPLY_TRUNCATED || c == REPLY_EMPTY;
}

static enum step read_reply(struct prompt_episode *ep, const struct reply *r, struct ask *out)
{
    struct arena *a = ep->base.arena;
    const struct signature *s = signature_of(ep);
    usage_total_note(&ep->base.outcome.used, r);
    ep->record.text = arena_str(a, r->text);
    ep->record.truncated = r->class == REPLY_TRUNCATED || r->finish == FINISH_LENGTH;
    if (!has_text(r->class)) {
        str why = arena_printf(a, "%.*s: %.*s", STR(reply_class_name(r->class)), STR(r->error));
        if (reply_is_scored(r->class) || r->class == REPLY_FILTERED ||
            r->class == REPLY_CONTEXT_OVERFLOW)
            return give_up(ep, why);
        ep->base.outcome.error = ep->record.error = why;
        return finish(ep, OUTCOME_FAILED);
    }
    ep->record.answered = true;
    if (!s) {
        ep->record.usable = json_trim(r->text).len > 0;
        return ep->record.usable ? finish(ep, OUTCOME_SCORED) : give_up(ep, S("empty"));
    }
    str *values = NEW_ARRAY(a, str, s->n_outputs);
    enum read_error why = answer_read(s, r->text, a, values);
    if (why == READ_OK) {
        ep->record.usable = true;
        ep->record.values = values;
        ep->record.n_values = s->n_outputs;
        return finish(ep, OUTCOME_SCORED);
    }
    if (ep->stage == READ && ep->base.job->model->format == FORMAT_SCHEMA && !ep->record.truncated)
        return ask(ep, READ_REASK, out);
    return give_up(ep, read_error_text(why));
}

static enum step prompt_step(struct episode *base, const struct answer *in, struct ask *out)
{
    struct prompt_episode *ep = (struct prompt_episode *)base;
    switch (ep->stage) {
    case RENDER: return render(ep, out);
    case READ:
    case READ_REASK: return read_reply(ep, &in->model, out);
    }
    BUG("no such stage");
}

static const void *copy_record(const void *record, struct arena *a)
{
    struct prompt_record *copy = NEW(a, struct prompt_record);
    *copy = *(const struct prompt_record *)record;
    str *values = NEW_ARRAY(a, str, copy->n_values + 1);
    for (size_t i = 0; i < copy->n_values; i++)
        values[i] = arena_str(a, copy->values[i]);
    copy->values = copy->values ? values : NULL;
    copy->text = arena_str(a, copy->text);
    copy->error = arena_str(a, copy->error);
    return copy;
}

const struct episode_kind episode_prompt = {
    .name = "prompt",
    .size = sizeof(struct prompt_episode),
    .step = prompt_step,
    .copy_record = copy_record,
};

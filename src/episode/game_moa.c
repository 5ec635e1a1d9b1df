// SPDX-License-Identifier: GPL-3.0-or-later
// game_moa.c - a mixture of agents as a player (LLM Chess specification 3.6): some models answer
// the dialog, and a last one makes of their answers the one that enters it. Only that is read, and
// only that stays in the dialog. The wording is ours: the original's is not published.
#include "episode/game_internal.h"

static const char SYSTEM[] =
    "Several assistants have answered the same message of a chess game's referee. Their answers "
    "may be wrong or contradict each other: weigh them critically, check the moves against what "
    "the referee has shown, and do not simply copy one. Reply to the referee yourself, with "
    "exactly one action in the form that he asks for, and nothing about the assistants.";

static const struct moa *moa_of(const struct game_episode *ep)
{
    return game_ep_player(ep)->moa;
}

static void ask_worker(struct game_episode *ep, struct ask *out)
{
    const struct game_input *in = ep->base.job->input;
    const struct moa_worker *w = &moa_of(ep)->workers[ep->n_worker_texts];
    struct sampling sampling = w->sampling;
    // Workers that are the same model are different samples.
    sampling.sample = (int64_t)(in->index * moa_of(ep)->n + ep->n_worker_texts);
    ep->base.job->model = w->model;
    ep->worker_asked = true;
    *out = (struct ask){ .to = TO_MODEL };
    out->model = model_request_new(w->model, &sampling, &ep->messages, NULL);
}

void moa_open(struct game_episode *ep, struct ask *out)
{
    ep->n_worker_texts = 0;
    ep->worker_texts = NEW_ARRAY(ep->base.arena, str, moa_of(ep)->n);
    ask_worker(ep, out);
}

// The dialog, with the answers behind its last message.
static void ask_synthesiser(struct game_episode *ep, struct ask *out)
{
    struct arena *a = ep->base.arena;
    const struct game_input *in = ep->base.job->input;
    const struct model *m = game_ep_player(ep)->model;
    struct sampling sampling = { .sample = (int64_t)in->index };
    struct messages all = { 0 };
    struct buf b = { .arena = a };
    *vec_push(a, &all) = (struct message){ .role = ROLE_SYSTEM, .text = str_from(SYSTEM) };
    for (size_t i = 0; i < ep->messages.n; i++)
        *vec_push(a, &all) = ep->messages.v[i];
    struct message *last = &all.v[all.n - 1];
    buf_add(&b, last->text);
    for (size_t i = 0; i < ep->n_worker_texts; i++)
        buf_addf(&b, "\n\nModel %zu response:\n%.*s", i + 1, STR(ep->worker_texts[i]));
    last->text = buf_str(&b);
    ep->base.job->model = m;
    ep->worker_asked = false;
    *out = (struct ask){ .to = TO_MODEL };
    out->model = model_request_new(m, &sampling, &all, NULL);
}

// What stands for an answer; false: the endpoint failed, not the model.
static bool text_of(const struct reply *r, struct arena *a, str *out)
{
    switch (r->class) {
    case REPLY_OK:
    case REPLY_TRUNCATED:
    case REPLY_EMPTY: *out = arena_str(a, r->text); return true;
    case REPLY_REFUSED:
    case REPLY_FILTERED:
    case REPLY_CONTEXT_OVERFLOW:
        *out = arena_printf(a, "[no answer: %.*s]", STR(reply_class_name(r->class)));
        return true;
    case REPLY_CONFIG:
    case REPLY_ACCOUNT:
    case REPLY_RATE_LIMIT:
    case REPLY_OVERLOAD:
    case REPLY_UPSTREAM:
    case REPLY_PROTOCOL:
    case REPLY_TRANSPORT:
    case REPLY_TIMEOUT:
    case REPLY_CANCELLED: return false;
    }
    BUG("no such class");
}

bool moa_take(struct game_episode *ep, const struct reply *r, struct ask *out)
{
    if (!text_of(r, ep->base.arena, &ep->worker_texts[ep->n_worker_texts]))
        return false;
    ep->n_worker_texts++;
    if (ep->n_worker_texts < moa_of(ep)->n)
        ask_worker(ep, out);
    else
        ask_synthesiser(ep, out);
    return true;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// rollout_messages.c - which of the past the policy is sent (1.11). The reference's mode does not
// repeat earlier observations; a dialogue does.
#include "episode/internal_rollout.h"

static void add(struct rollout_episode *ep, enum role role, str text)
{
    *vec_push(ep->base.arena, &ep->messages) = (struct message){ .role = role, .text = text };
}

// Joins user messages that follow each other, by one empty line.
static void merge(struct rollout_episode *ep)
{
    struct messages *m = &ep->messages;
    size_t kept = 0;
    for (size_t i = 0; i < m->n; i++) {
        struct message *last = kept > 0 ? &m->v[kept - 1] : NULL;
        if (last && last->role == ROLE_USER && m->v[i].role == ROLE_USER)
            last->text =
                arena_printf(ep->base.arena, "%.*s\n\n%.*s", STR(last->text), STR(m->v[i].text));
        else
            m->v[kept++] = m->v[i];
    }
    m->n = kept;
}

void rollout_assemble(struct rollout_episode *ep)
{
    const struct rollout_opts *o = ep->in->opts;
    ep->messages = (struct messages){ 0 };
    add(ep, ROLE_SYSTEM, ep->in->candidate->contract.system);
    for (size_t i = 0; i < ep->history.n && o->messages != MESSAGES_COMPACT; i++) {
        const struct turn *t = &ep->history.v[i];
        if (o->messages == MESSAGES_DIALOGUE)
            add(ep, ROLE_USER, t->prompt);
        if (t->text.len > 0)
            add(ep, ROLE_ASSISTANT, t->text);
        add(ep, ROLE_USER, t->tool);
    }
    add(ep, ROLE_USER, ep->prompt);
    bool by_mode = o->merge == MERGE_BY_MODE && o->messages == MESSAGES_DIALOGUE;
    if (by_mode || o->merge == MERGE_ALWAYS)
        merge(ep);
}

str rollout_with_feedback(str view, str nudge, struct arena *a)
{
    if (nudge.len == 0)
        return view;
    str stripped = str_strip(view); // its end is wanted, its start is not
    view.len = stripped.len > 0 ? (size_t)(stripped.data + stripped.len - view.data) : 0;
    return arena_printf(a, "%.*s\n\nFeedback from verifier:\n%.*s", STR(view), STR(nudge));
}

// SPDX-License-Identifier: GPL-3.0-or-later
// walk.c - what was said in a rollout, beside the board it was said to.
#include "evolve/evolve.h"

// The board after an accepted move and its reply.
static void advance(struct rollout_walk *w, const struct rollout_event *judged)
{
    move m;
    if (judged->result != ROLLOUT_CORRECT || !uci_parse(&w->at, judged->action, &m))
        return;
    w->at = position_after(&w->at, m);
    if (w->ply + 1 < w->puzzle->n && uci_parse(&w->at, w->puzzle->line[w->ply + 1], &m))
        w->at = position_after(&w->at, m);
    w->ply += 2;
}

bool rollout_walk_next(struct rollout_walk *w, const struct rollout_event **response,
                       const struct rollout_event **judgement)
{
    const struct rollout_events *events = &w->record->events;
    if (w->next == 0)
        w->at = w->puzzle->at;
    else if (*judgement)
        advance(w, *judgement);
    *response = *judgement = NULL;
    while (w->next < events->n && !*judgement) {
        const struct rollout_event *e = &events->v[w->next];
        if (e->actor == ACTOR_ASSISTANT && *response)
            break;
        if (e->actor == ACTOR_ASSISTANT)
            *response = e;
        else if (e->actor == ACTOR_VERIFIER)
            *judgement = e;
        w->next++;
    }
    return *response != NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// episode.c - what all kinds share.
#include "episode/episode.h"

void usage_total_note(struct usage_total *total, const struct reply *r)
{
    const struct usage *u = &r->usage;
    struct usage_total one = {
        .n_calls = 1,
        .n_with_usage = u->source == KNOWN_REPORTED,
        .n_with_cost = r->cost_source == KNOWN_REPORTED || r->cost_source == KNOWN_PRICED,
        .n_costless = r->cost_source == KNOWN_NOT,
        .n_simulated = r->simulated,
        .input_tok = u->input_tok,
        .cached_tok = u->cached_tok,
        .output_tok = u->output_tok,
        .reasoning_tok = u->reasoning_tok,
        .cost_nusd = r->cost_nusd,
    };
    usage_total_add(total, &one);
}

void usage_total_add(struct usage_total *total, const struct usage_total *more)
{
    total->n_calls += more->n_calls;
    total->n_with_usage += more->n_with_usage;
    total->n_with_cost += more->n_with_cost;
    total->n_costless += more->n_costless;
    total->n_simulated += more->n_simulated;
    total->input_tok += more->input_tok;
    total->cached_tok += more->cached_tok;
    total->output_tok += more->output_tok;
    total->reasoning_tok += more->reasoning_tok;
    total->cost_nusd += more->cost_nusd;
}

struct episode *episode_new(struct job *job, struct arena *a)
{
    struct episode *ep = arena_alloc(a, job->kind->size);
    ep->job = job;
    ep->arena = a;
    return ep;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// internal_rollout.h - the state of a rollout, and the parts of its machine.
#pragma once
#include "episode/episode.h"

enum rollout_stage { TURN, VIEW, JUDGE, PARSED, CHECKED };
struct rollout_limits {
    int64_t calls, format, illegal, tokens, policy_tokens;
};
struct turn { // a past call
    str prompt, text, tool;
};
struct rollout_episode {
    struct episode base;
    enum rollout_stage stage;
    const struct rollout_input *in;
    struct rollout_limits limits;
    struct position at;
    size_t index; // of the expected solver ply
    struct {
        str *v;
        size_t n, cap;
    } accepted;
    struct {
        struct turn *v;
        size_t n, cap;
    } history;
    str last_reply, nudge;
    str raw, prompt; // of the current turn: observation; filled user prompt
    str action;      // normalised
    int64_t faults;  // of the child
    struct messages messages;
    struct rollout_record record;
};

// The judgement of a response: what happens, and what the policy is told.
struct rollout_verdict {
    struct rollout_event event;
    bool nudges; // the text is shown again beside the next observation
};
// V1, V2: not a move at all.
struct rollout_verdict rollout_verify_form(struct rollout_episode *ep);
// V3 to V9: a well-formed action, which the candidate calls legal or not. Plays it where it counts.
struct rollout_verdict rollout_verify_move(struct rollout_episode *ep, bool by_harness);

// The chat of the current call in ep->messages.
void rollout_assemble(struct rollout_episode *ep);
// The view of the candidate with the feedback of the verifier behind it.
str rollout_with_feedback(str view, str nudge, struct arena *a);

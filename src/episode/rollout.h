// SPDX-License-Identifier: GPL-3.0-or-later
// rollout.h - part of episode.h: a puzzle played over several turns through a candidate harness
// (Meta-Harness specification, section 1; numbers in comments are its).
#pragma once
#include "harness/harness.h"
#include "puzzle/puzzle.h"

enum { ROLLOUT_VERSION = 1 }; // of the semantics; raise it on any change, it names results

enum message_mode { MESSAGES_REFERENCE, MESSAGES_DIALOGUE, MESSAGES_COMPACT }; // 1.11
enum merge_users { MERGE_BY_MODE, MERGE_ALWAYS, MERGE_NEVER };                 // adjacent ones
struct rollout_opts {          // zero means the default in brackets
    int64_t token_budget;      // of all answers together [8129]
    int64_t policy_max_tokens; // of one answer [token_budget]
    int64_t turns, turns_cap;  // where a candidate names none [9]; never more than [twice turns]
    enum message_mode messages;
    enum merge_users merge; // [dialogue: yes; else no]
    bool lichess;           // any mate solves the puzzle (1.12)
    bool compat;            // D3, D5, D10, D11, D13 as the reference has them
    uint64_t seed;          // of the evaluation
};
struct candidate { // a loaded harness file; immutable
    str source, sha256;
    struct harness_contract contract;
};
struct rollout_puzzle {
    struct position at; // after the trigger move
    const str *line;    // hidden, in UCI: solver, reply, solver ...
    size_t n;           // at least 1
};
struct rollout_input { // job->input of episode_rollout
    const struct rollout_opts *opts;
    const struct candidate *candidate;
    struct rollout_puzzle puzzle;
    uint64_t example; // its index in the evaluation
};
// The puzzle as rollouts take it; the line in `a`.
struct rollout_puzzle rollout_puzzle(const struct puzzle *p, struct arena *a);

enum rollout_result {
    ROLLOUT_RETRY_FORMAT,
    ROLLOUT_RETRY_ILLEGAL,
    ROLLOUT_CORRECT, // and goes on
    ROLLOUT_SOLVED,
    ROLLOUT_LOSS,
    ROLLOUT_ERROR,
    ROLLOUT_INFRA, // unscored
};
enum rollout_stop { // the closed list of 1.14, and three that only events have
    STOPPED_SOLVED,
    STOPPED_WRONG_MOVE,
    STOPPED_MALFORMED,
    STOPPED_ILLEGAL,
    STOPPED_TOKEN_BUDGET,
    STOPPED_MAX_CALLS,
    STOPPED_BAD_LINE,
    STOPPED_CONTEXT,
    STOPPED_FAULT,
    STOPPED_INFRA,
    STOPPED_CANCELLED,
    STOPPED_FORMAT_RETRY,
    STOPPED_ILLEGAL_RETRY,
    STOPPED_CONTINUE,
};
str rollout_result_name(enum rollout_result r);
str rollout_stop_name(enum rollout_stop s);

enum rollout_actor { ACTOR_ASSISTANT, ACTOR_VERIFIER, ACTOR_HARNESS };
struct rollout_event {
    enum rollout_actor actor;
    int64_t call; // policy call, from 1
    str action;   // assistant, verifier: normalised
    // assistant
    str response, default_action, finish; // default_action: what the built-in parser says
    int64_t tokens, tokens_used;
    bool approximate, truncated;
    // verifier
    bool terminal;
    enum rollout_result result;
    enum rollout_stop stop;
    str tool, reply;
    bool has_legal, legal_by_board, legal_by_harness, alternative_mate;
    int64_t format_used, illegal_used, correct_moves; // -1: not told
    // harness
    str source, error; // "harness_veto", "child_restarted", ... and what happened
};
struct rollout_record { // outcome.record of episode_rollout; never NULL once done
    enum rollout_result result;
    enum rollout_stop stop;
    bool alternative_mate; // the last move mated, whether or not it was the stored one
    int64_t correct_moves, calls, tokens, max_calls, turns, turns_cap;
    int64_t format_used, illegal_used;
    int64_t n_malformed, n_ambiguous, n_illegal, n_truncated; // responses
    int64_t n_vetoes, n_suppressed, n_harness_errors;
    str question; // the first user message
    struct rollout_events {
        struct rollout_event *v;
        size_t n, cap;
    } events;
};
// One event as a JSON object, as a line of a policy trace; and the metrics of 1.14 as members.
void rollout_event_write(const struct rollout_event *e, uint64_t example, size_t seq,
                         struct json_out *out);
void rollout_metrics_write(const struct rollout_record *r, struct json_out *out);

// Asks the policy and the candidate's child. The score is 1 where the puzzle is solved, else 0;
// failed where no answer arrived, or the machine was too busy for the child.
extern const struct episode_kind episode_rollout;
// What has happened so far in an episode of that kind; its texts live as long as the episode.
const struct rollout_record *rollout_so_far(const struct episode *ep);

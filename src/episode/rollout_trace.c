// SPDX-License-Identifier: GPL-3.0-or-later
// rollout_trace.c - rollouts as JSON: events (5.3) and metrics (1.14). The expected move of a ply
// that was not played stands in neither.
#include "episode/episode.h"

str rollout_result_name(enum rollout_result r)
{
    static const str names[] = { T("retry_format"), T("retry_illegal"), T("correct_continue"),
                                 T("solved"),       T("loss"),          T("error"),
                                 T("infra_error") };
    return names[r];
}

str rollout_stop_name(enum rollout_stop s)
{
    static const str names[] = {
        T("solved"),
        T("wrong_move"),
        T("malformed"),
        T("illegal"),
        T("assistant_token_budget"),
        T("max_policy_calls"),
        T("invalid_solution_line"),
        T("context_length"),
        T("harness_fault"),
        T("infra_error"),
        T("cancelled"),
        T("format_retry"),
        T("illegal_retry"),
        T("continue"),
    };
    return names[s];
}

static void key_count(struct json_out *o, str key, int64_t n) // -1: not told
{
    if (n >= 0)
        json_key_int(o, key, n);
}

static void write_info(const struct rollout_event *e, struct json_out *o)
{
    json_key_open(o, S("info"), '{');
    json_key_str(o, S("parsed_action"), e->action);
    if (e->has_legal) {
        json_key_bool(o, S("legal_by_board"), e->legal_by_board);
        json_key_bool(o, S("legal_by_harness"), e->legal_by_harness);
    }
    key_count(o, S("format_retries_used"), e->format_used);
    key_count(o, S("illegal_retries_used"), e->illegal_used);
    if (e->reply.len > 0)
        json_key_str(o, S("opponent_reply"), e->reply);
    key_count(o, S("correct_moves"), e->correct_moves);
    if (e->alternative_mate)
        json_key_bool(o, S("alternative_mate"), true);
    json_close(o, '}');
}

static void write_assistant(const struct rollout_event *e, struct json_out *o)
{
    json_key_str(o, S("raw_response"), e->response);
    json_key_str(o, S("parsed_action"), e->action);
    json_key_int(o, S("completion_tokens"), e->tokens);
    json_key_int(o, S("assistant_tokens_used"), e->tokens_used);
    json_key_str(o, S("default_parse"), e->default_action);
    json_key_str(o, S("token_source"), e->approximate ? S("approx") : S("usage"));
    json_key_maybe(o, S("finish_reason"), e->finish);
    json_key_bool(o, S("truncated"), e->truncated);
}

static void write_verifier(const struct rollout_event *e, struct json_out *o)
{
    json_key_bool(o, S("terminal"), e->terminal);
    json_key_str(o, S("outcome"), rollout_result_name(e->result));
    json_key_str(o, S("stop_condition"), rollout_stop_name(e->stop));
    json_key_str(o, S("tool_response"), e->tool);
    write_info(e, o);
}

void rollout_event_write(const struct rollout_event *e, uint64_t example, size_t seq,
                         struct json_out *out)
{
    static const str actors[] = { T("assistant"), T("verifier"), T("harness") };
    json_open(out, '{');
    json_key_str(out, S("actor"), actors[e->actor]);
    json_key_int(out, S("policy_call"), e->call);
    switch (e->actor) {
    case ACTOR_ASSISTANT: write_assistant(e, out); break;
    case ACTOR_VERIFIER: write_verifier(e, out); break;
    case ACTOR_HARNESS:
        json_key_str(out, S("source"), e->source);
        json_key_str(out, S("error"), e->error);
        break;
    }
    json_key_int(out, S("example_index"), (int64_t)example);
    json_key_int(out, S("seq"), (int64_t)seq);
    json_close(out, '}');
}

void rollout_metrics_write(const struct rollout_record *r, struct json_out *out)
{
    double score = r->result == ROLLOUT_SOLVED ? 1 : 0;
    static const char *const equal[] = { "score",  "acc", "correct_answer",
                                         "solved", "win", "win_rate" };
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {
        { "correct_moves", r->correct_moves },
        { "policy_calls", r->calls },
        { "turn_count", r->calls },
        { "assistant_tokens_used", r->tokens },
        { "assistant_generated_tokens_usage", r->tokens },
        { "max_turns_effective", r->max_calls },
        { "max_turns_default", r->turns },
        { "max_turns_cap", r->turns_cap },
        { "format_retries_used", r->format_used },
        { "illegal_retries_used", r->illegal_used },
        { "illegal_responses", r->n_illegal },
        { "malformed_responses", r->n_malformed },
        { "ambiguous_responses", r->n_ambiguous },
        { "truncated_responses", r->n_truncated },
        { "veto_events", r->n_vetoes },
        { "suppression_events", r->n_suppressed },
        { "harness_errors", r->n_harness_errors },
        { "alternative_mate", r->alternative_mate },
    };
    for (size_t i = 0; i < ARRAY_LEN(equal); i++)
        json_key_double(out, str_from(equal[i]), score);
    json_key_double(out, S("draw"), 0);
    json_key_double(out, S("loss"), 1 - score);
    json_key_double(out, S("legal_rate"), r->stop == STOPPED_ILLEGAL ? 0 : 1);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        json_key_int(out, str_from(counts[i].name), counts[i].value);
    json_key_str(out, S("outcome"), rollout_result_name(r->result));
    json_key_str(out, S("stop_condition"), rollout_stop_name(r->stop));
}

// SPDX-License-Identifier: GPL-3.0-or-later
// files.c - results.json, predictions.jsonl and summary.json with the paper tool's names, order
// and layout, so that its users' scripts go on working.
#include <math.h>

#include "result/result.h"

static void put_rating(struct json_out *o, const struct puzzle *p)
{
    json_key(o, S("rating"));
    if (p->has_rating)
        json_put_int(o, p->rating);
    else
        json_put_null(o);
}

static str played_uci(const struct puzzle_record *record, struct arena *a)
{
    if (record->played == MOVE_NONE)
        return (str){ 0 };
    return arena_str(a, str_from(uci_format(record->played).data));
}

static double latency_s(const struct result_set *set, const struct puzzle_record *record)
{
    return set->no_times ? 0 : (double)record->latency_ms / 1000;
}

static void put_result(struct json_out *o, const struct result_set *set, size_t i)
{
    const struct puzzle_position *p = &set->positions[i];
    const struct puzzle_record *record = set->out[i * (size_t)set->samples].record;
    bool failed = record->error.len > 0; // no readable answer: the other tool knows no more
    json_open(o, '{');
    json_key_str(o, S("prediction"), record->prediction);
    json_key_maybe(o, S("expected"), failed ? (str){ 0 } : p->reference);
    json_key_maybe(o, S("resolved"), played_uci(record, o->b->arena));
    json_key_bool(o, S("correct"), record->kind == ANSWER_CORRECT);
    json_key_maybe(o, S("error"), record->error);
    json_key_str(o, S("source_id"), p->puzzle->id);
    put_rating(o, p->puzzle);
    json_key_int(o, S("move_index"), p->index);
    json_key_int(o, S("solver_length"), p->count);
    json_key_str(o, S("position_fen"), p->inputs[0]);
    json_key_double(o, S("latency_s"), latency_s(set, record));
    json_close(o, '}');
}

str results_json(const struct result_set *set, struct arena *a)
{
    struct buf b = { .arena = a, .max = SIZE_MAX / 2 };
    struct json_out o = { .b = &b, .indent = 2 };
    json_open(&o, '[');
    for (size_t i = 0; i < set->n; i++)
        put_result(&o, set, i);
    json_close(&o, ']');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

static str status_name(enum outcome_status s)
{
    switch (s) {
    case OUTCOME_SCORED: return S("scored");
    case OUTCOME_UNSCORED: return S("unscored");
    case OUTCOME_FAILED: return S("failed");
    }
    BUG("no such status");
}

// Null where it is not known of every call.
static void put_cost(struct json_out *o, const struct usage_total *u)
{
    json_key(o, S("cost_usd"));
    if (u->n_with_cost == u->n_calls)
        json_put_double(o, (double)u->cost_nusd / 1e9);
    else
        json_put_null(o);
}

static void put_used(struct json_out *o, const struct usage_total *u)
{
    json_key_int(o, S("calls"), u->n_calls);
    json_key_bool(o, S("simulated"), u->n_simulated > 0);
    json_key_int(o, S("prompt_tokens"), u->input_tok);
    json_key_int(o, S("cached_prompt_tokens"), u->cached_tok);
    json_key_int(o, S("completion_tokens"), u->output_tok);
    json_key_int(o, S("reasoning_tokens"), u->reasoning_tok);
    json_key_bool(o, S("usage_reported"), u->n_with_usage == u->n_calls);
    put_cost(o, u);
}

// What analyses group by.
static void put_puzzle(struct json_out *o, const struct puzzle_position *p)
{
    if (p->puzzle->has_rating)
        json_key_int(o, S("rating"), p->puzzle->rating);
    else
        json_key_null(o, S("rating"));
    json_key_int(o, S("solver_length"), p->count);
    json_key_open(o, S("themes"), '[');
    for (str rest = p->puzzle->themes; rest.len > 0;) {
        str theme = str_cut(&rest, ' ');
        if (theme.len > 0)
            json_put_str(o, theme);
    }
    json_close(o, ']');
}

static void put_prediction(struct json_out *o, const struct result_set *set, size_t i, int sample)
{
    const struct puzzle_position *p = &set->positions[i];
    const struct outcome *out = &set->out[i * (size_t)set->samples + (size_t)sample];
    const struct puzzle_record *record = out->record;
    json_open(o, '{');
    json_key_str(o, S("source_id"), p->puzzle->id);
    json_key_int(o, S("move_index"), p->index);
    json_key_int(o, S("sample"), sample);
    json_key_str(o, S("position_fen"), p->inputs[0]);
    json_key_str(o, S("expected"), p->reference);
    put_puzzle(o, p);
    json_key_str(o, S("kind"), answer_kind_name(record->kind));
    json_key_str(o, S("status"), status_name(out->status));
    json_key_str(o, S("prediction"), record->prediction);
    json_key_maybe(o, S("resolved"), played_uci(record, o->b->arena));
    json_key_str(o, S("parser_mode"), resolve_mode_name(record->mode));
    json_key_bool(o, S("any_mate"), record->any_mate);
    if (record->forced) { // nobody was asked
        json_key_bool(o, S("forced"), true);
    }
    json_key_str(o, S("text"), record->text);
    json_key_maybe(o, S("error"), record->error);
    json_key_maybe(o, S("finish_reason"), record->finish);
    json_key_maybe(o, S("served_model"), record->served_model);
    json_key_maybe(o, S("served_provider"), record->served_provider);
    put_used(o, &out->used);
    json_key_double(o, S("latency_s"), latency_s(set, record));
    json_close(o, '}');
}

str predictions_jsonl(const struct result_set *set, struct arena *a)
{
    struct buf b = { .arena = a, .max = SIZE_MAX / 2 };
    for (size_t i = 0; i < set->n; i++)
        for (int k = 0; k < set->samples; k++) {
            struct json_out o = { .b = &b };
            put_prediction(&o, set, i, k);
            buf_add_char(&b, '\n');
        }
    return buf_str(&b);
}

// A sum, or null where not every call reported it.
static void put_sum(struct json_out *o, str key, bool complete, int64_t value)
{
    json_key(o, key);
    if (complete)
        json_put_int(o, value);
    else
        json_put_null(o);
}

static void put_usage(struct json_out *o, const struct usage_total *u)
{
    bool all = u->n_with_usage == u->n_calls;
    json_open(o, '{');
    json_key_int(o, S("num_calls"), u->n_calls);
    json_key_int(o, S("calls_with_usage"), u->n_with_usage);
    put_sum(o, S("prompt_tokens"), all, u->input_tok);
    put_sum(o, S("completion_tokens"), all, u->output_tok);
    put_sum(o, S("total_tokens"), all, u->input_tok + u->output_tok);
    put_cost(o, u);
    json_key_bool(o, S("usage_complete"), all);
    json_close(o, '}');
}

static void put_metrics(struct json_out *o, const struct tally *t)
{
    json_open(o, '{');
    json_key_double(o, S("accuracy"),
                    t->n_positions ? (double)t->n_first_correct / (double)t->n_positions : 0);
    json_key_int(o, S("source_records"), t->n_puzzles);
    json_key_int(o, S("source_records_complete"), t->n_complete);
    json_key(o, S("source_record_accuracy"));
    if (t->n_complete > 0)
        json_put_double(o, (double)t->n_solved / (double)t->n_complete);
    else
        json_put_null(o);
    json_close(o, '}');
}

// A rate of k in n with the Wilson interval of as many trials; null of nothing.
static void put_rate_of(struct json_out *o, str key, int64_t k, int64_t n, int64_t trials)
{
    json_key(o, key);
    if (n == 0) {
        json_put_null(o);
        return;
    }
    struct interval i = stats_wilson_rate((double)k / (double)n, trials);
    json_open(o, '{');
    json_key_int(o, S("k"), k);
    json_key_int(o, S("n"), n);
    json_key_double(o, S("rate"), (double)k / (double)n);
    json_key_double(o, S("low95"), i.low);
    json_key_double(o, S("high95"), i.high);
    json_close(o, '}');
}

static void put_rate(struct json_out *o, str key, int64_t k, int64_t n)
{
    put_rate_of(o, key, k, n, n);
}

// Of answers, several of which may belong to one position.
static void put_answer_rate(struct json_out *o, const struct tally *t, str key, int64_t k,
                            int64_t n)
{
    put_rate_of(o, key, k, n, tally_trials(t, n));
}

static void put_rates(struct json_out *o, const struct tally *t)
{
    int64_t illegal =
        t->kinds[ANSWER_ILLEGAL] + t->kinds[ANSWER_NO_MOVE] + t->kinds[ANSWER_AMBIGUOUS];
    int64_t unreadable = t->kinds[ANSWER_UNPARSABLE] + t->kinds[ANSWER_TRUNCATED] +
                         t->kinds[ANSWER_EMPTY] + t->kinds[ANSWER_REFUSED];
    json_open(o, '{');
    put_answer_rate(o, t, S("accuracy"), t->n_correct, t->n_answers);
    put_answer_rate(o, t, S("scored_accuracy"), t->n_correct, t->n_scored);
    put_rate(o, S("source_record_accuracy"), t->n_solved, t->n_complete);
    put_answer_rate(o, t, S("correct_or_any_mate"), t->n_correct + t->n_any_mate, t->n_answers);
    put_answer_rate(o, t, S("illegal"), illegal, t->n_answers);
    put_answer_rate(o, t, S("unparsable"), unreadable, t->n_answers);
    if (t->samples > 1) {
        put_rate(o, S("pass_at_k"), t->n_pass, t->n_positions);
        put_rate(o, S("majority"), t->n_majority, t->n_positions);
    }
    json_close(o, '}');
}

static void put_build(struct json_out *o, const struct run_facts *f)
{
    json_key_str(o, S("version"), f->version);
    json_key_str(o, S("commit"), f->commit);
}

// What was evaluated, on what: summary.json and run_config.json say it alike.
static void put_subject(struct json_out *o, const struct run_facts *f)
{
    put_build(o, f);
    json_key_str(o, S("run"), f->key);
    json_key_str(o, S("model"), f->model);
    json_key_bool(o, S("simulated"), f->simulated);
    json_key_maybe(o, S("base_url"), f->base_url);
    json_key_maybe(o, S("format"), f->format);
    json_key_str(o, S("preset"), f->preset);
    json_key_maybe(o, S("program"), f->program);
    json_key_str(o, S("program_sha256"), f->program_hash);
    json_key_maybe(o, S("filter"), f->filter);
    json_key_int(o, S("rows_rejected"), f->n_rejected);
}

static void put_measured(struct json_out *o, const struct run_facts *f)
{
    json_key_open(o, S("measured"), '{');
    json_key_double(o, S("wall_s"), f->wall_s);
    json_key_double(o, S("spent_usd"), f->spent_usd);
    json_key_maybe(o, S("prices_as_of"), f->prices_as_of);
    json_key_int(o, S("new_calls"), f->n_new_calls);
    json_key_int(o, S("replayed_calls"), f->n_replayed_calls);
    json_key_int(o, S("reused_calls"), f->n_reused_calls);
    json_key_int(o, S("retries"), f->n_retries);
    json_close(o, '}');
}

static void put_rookery(struct json_out *o, const struct tally *t, const struct run_facts *f)
{
    json_key_open(o, S("rookery"), '{');
    put_subject(o, f);
    json_key_int(o, S("samples"), t->samples);
    json_key(o, S("rates"));
    put_rates(o, t);
    json_key_open(o, S("answers"), '{');
    for (int k = 0; k < ANSWER_KINDS; k++)
        json_key_int(o, answer_kind_name((enum answer_kind)k), t->kinds[k]);
    json_close(o, '}');
    if (t->n_forced > 0) { // of a model that only chooses: no call was made
        json_key_int(o, S("forced"), t->n_forced);
    }
    put_measured(o, f);
    json_close(o, '}');
}

static void put_compile_usage(struct json_out *o, const struct run_facts *f)
{
    if (!f->has_compile) {
        json_key_null(o, S("compile_usage"));
        return;
    }
    json_key_open(o, S("compile_usage"), '{');
    json_key(o, S("task_model"));
    put_usage(o, &f->compile_task);
    json_key(o, S("prompt_model"));
    put_usage(o, &f->compile_prompt);
    json_key_int(o, S("saved_task_calls"), f->n_saved_calls);
    json_close(o, '}');
}

str summary_json(const struct tally *t, const struct run_facts *f, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b, .indent = 2 };
    json_open(&o, '{');
    json_key_str(&o, S("benchmark"), S("independent_positions"));
    json_key_str(&o, S("method"), f->method);
    json_key_int(&o, S("train_examples"), f->n_train);
    json_key_int(&o, S("validation_examples"), f->n_validation);
    json_key_int(&o, S("test_examples"), t->n_positions);
    json_key_double(&o, S("compile_seconds"), f->compile_s);
    json_key(&o, S("metrics"));
    put_metrics(&o, t);
    put_compile_usage(&o, f);
    json_key(&o, S("evaluation_usage"));
    put_usage(&o, &t->usage);
    put_rookery(&o, t, f);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

str run_config_json(const struct run_facts *f, str config, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b, .indent = 2 };
    json_open(&o, '{');
    json_key(&o, S("config"));
    json_put_raw(&o, config);
    json_key_open(&o, S("datasets"), '{');
    json_key_maybe(&o, S("train_sha256"), f->train_sha256);
    json_key_maybe(&o, S("test_sha256"), f->test_sha256);
    json_close(&o, '}');
    json_key_null(&o, S("dspy_version"));
    json_key_open(&o, S("rookery"), '{');
    put_subject(&o, f);
    json_close(&o, '}');
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

str compiled_member_json(const struct run_facts *f, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    put_build(&o, f);
    json_key_bool(&o, S("simulated"), f->simulated);
    json_close(&o, '}');
    return buf_str(&b);
}

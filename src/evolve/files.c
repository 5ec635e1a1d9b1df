// SPDX-License-Identifier: GPL-3.0-or-later
// files.c - the files of an evaluation (5.3). Nothing in them tells the expected move of a ply that
// was not played, nor which puzzle it was: whoever writes candidates may read all of them.
#include "evolve/evolve.h"

str eval_status_name(enum eval_status s)
{
    static const str names[] = { T("complete"), T("incomplete"), T("voided_audit") };
    return names[s];
}

static const struct eval_set *set_of(const struct eval_file *f)
{
    return &f->setup->sets[f->set];
}

static const struct eval_set_result *result_of(const struct eval_file *f)
{
    return &f->evaluation->result.sets[f->set];
}

static size_t rollouts_of(const struct eval_file *f)
{
    return result_of(f)->n_puzzles * (size_t)f->setup->repeats;
}

static const struct rollout_record *record_of(const struct eval_file *f, size_t i)
{
    return result_of(f)->out[i].record;
}

str eval_directory(const struct eval_file *f, struct arena *a)
{
    enum { USUAL_SEED = 42 };
    const struct eval_setup *s = f->setup;
    str dir = arena_printf(a, "%.*s/%.*s/%.*s", STR(s->profile), STR(f->evaluation->name),
                           STR(s->model_short));
    uint64_t seed = set_of(f)->seed;
    return seed == USUAL_SEED
               ? dir
               : arena_printf(a, "%.*s_seed%llu", STR(dir), (unsigned long long)seed);
}

static double ratio(int64_t k, int64_t n)
{
    return n > 0 ? (double)k / (double)n : 0;
}

// ---- val.json ----

// The mean of every numeric metric, by reading each rollout's metrics as they are written.
static void write_averages(const struct eval_file *f, struct json_out *o, struct arena *a)
{
    struct map sums = { .arena = a };
    size_t n = rollouts_of(f);
    for (size_t i = 0; i < n; i++) {
        struct arena scratch = { 0 };
        struct buf b = { .arena = &scratch };
        struct json_out one = { .b = &b };
        json_open(&one, '{');
        rollout_metrics_write(record_of(f, i), &one);
        json_close(&one, '}');
        json_t *metrics = json_read_strict(buf_str(&b), NULL);
        const char *key;
        json_t *value;
        json_object_foreach (metrics, key, value) {
            if (!json_is_number(value))
                continue;
            bool fresh;
            struct map_entry *e = map_put(&sums, str_from(key), &fresh);
            if (fresh)
                e->pointer = NEW(a, double);
            *(double *)e->pointer += json_number_value(value);
        }
        json_decref(metrics);
        arena_free(&scratch);
    }
    json_key_open(o, S("avg_metrics"), '{');
    for (size_t i = 0; i < sums.n; i++)
        json_key_double(o, sums.v[i].key, *(double *)sums.v[i].pointer / (double)n);
    json_close(o, '}');
}

static void write_counts(const struct eval_counts *c, struct json_out *o)
{
    json_key_open(o, S("stop_counts"), '{');
    for (int i = 0; i < STOPS; i++)
        if (c->stops[i] > 0)
            json_key_int(o, rollout_stop_name((enum rollout_stop)i), c->stops[i]);
    json_close(o, '}');
    json_key_open(o, S("failure_counts"), '{');
    for (int i = 0; i < FAILURES; i++)
        if (c->failures[i] > 0)
            json_key_int(o, failure_name((enum failure)i), c->failures[i]);
    json_close(o, '}');
}

static void write_interval(str key, struct interval i, struct json_out *o)
{
    json_key_open(o, key, '[');
    json_put_double(o, i.low);
    json_put_double(o, i.high);
    json_close(o, ']');
}

static void write_cost(const struct usage_total *u, struct json_out *o)
{
    json_key_open(o, S("cost"), '{');
    json_key_int(o, S("calls"), u->n_calls);
    json_key_int(o, S("prompt_tokens"), u->input_tok);
    json_key_int(o, S("completion_tokens"), u->output_tok);
    json_key_double(o, S("usd"), (double)u->cost_nusd / 1e9);
    json_close(o, '}');
}

static str message_mode_name(enum message_mode m)
{
    static const str names[] = { T("reference"), T("dialogue"), T("compact") };
    return names[m];
}

static void write_metadata(const struct eval_file *f, struct json_out *o)
{
    const struct eval_setup *s = f->setup;
    const struct rollout_opts *opts = &s->rollout;
    const struct rollout_record *any = rollouts_of(f) > 0 ? record_of(f, 0) : NULL;
    json_key_open(o, S("metadata"), '{');
    json_key_int(o, S("limit"), (int64_t)s->limit);
    json_key_int(o, S("seed"), (int64_t)set_of(f)->seed);
    json_key_int(o, S("repeats"), s->repeats);
    json_key_int(o, S("first_sample"), f->evaluation->first_sample);
    json_key_int(o, S("assistant_token_budget"), opts->token_budget);
    json_key_int(o, S("policy_max_tokens"), opts->policy_max_tokens);
    json_key_int(o, S("max_turns_default"), any ? any->turns : opts->turns);
    json_key_int(o, S("max_turns_cap"), any ? any->turns_cap : opts->turns_cap);
    json_key_int(o, S("max_turns_effective"), any ? any->max_calls : 0);
    json_key_str(o, S("message_mode"), message_mode_name(opts->messages));
    json_key_int(o, S("merge"), opts->merge);
    json_key_str(o, S("mate_rule"), opts->lichess ? S("lichess") : S("strict"));
    json_key_bool(o, S("compat"), opts->compat);
    json_key_bool(o, S("answer_redacted"), true);
    json_key_str(o, S("harness"), f->evaluation->name);
    json_key_str(o, S("harness_sha256"), f->evaluation->candidate->sha256);
    json_key_str(o, S("model"), s->model->name);
    json_key_bool(o, S("simulated"), s->model->simulated);
    json_key_str(o, S("dataset_id"), s->dataset_id);
    json_close(o, '}');
}

static void write_figures(const struct eval_file *f, struct json_out *o)
{
    const struct eval_counts *c = &result_of(f)->counts;
    json_key_int(o, S("num_examples"), c->n);
    json_key_double(o, S("avg_reward"), ratio(c->n_solved, c->n_scored));
    json_key_double(o, S("success_rate"), ratio(c->n_solved, c->n_scored));
    json_key_double(o, S("success_rate_strict"), ratio(c->n_strict, c->n_scored));
    json_key_double(o, S("success_rate_lichess"), ratio(c->n_lichess, c->n_scored));
    // Rollouts of one puzzle are no independent trials.
    write_interval(
        S("ci95"),
        stats_wilson_rate(ratio(c->n_solved, c->n_scored), c->n_scored / f->setup->repeats), o);
    json_key_double(o, S("mean_turn_count"), ratio(c->calls, c->n));
    json_key_double(o, S("mean_assistant_tokens"), ratio(c->tokens, c->n));
    json_key_int(o, S("solved_examples"), c->n_solved);
    json_key_int(o, S("failed_examples"), c->n_scored - c->n_solved);
    json_key_int(o, S("unscored"), c->n - c->n_scored);
    write_counts(c, o);
}

str eval_val_json(const struct eval_file *f, struct arena *a)
{
    struct buf b = { .arena = a, .max = SIZE_MAX / 2 };
    struct json_out o = { .b = &b, .indent = 2 };
    json_open(&o, '{');
    json_key_str(&o, S("status"), eval_status_name(f->status));
    write_figures(f, &o);
    write_averages(f, &o, a);
    write_cost(&result_of(f)->counts.used, &o);
    write_metadata(f, &o);
    json_key_str(&o, S("identity"),
                 eval_identity(f->setup, set_of(f), f->evaluation->candidate, a));
    json_key_open(&o, S("per_example"), '[');
    for (size_t i = 0; i < rollouts_of(f); i++)
        json_put_int(&o, result_of(f)->out[i].score > 0);
    json_close(&o, ']');
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

// ---- *_trajectories.jsonl ----

static void write_completion(const struct rollout_record *r, struct json_out *o)
{
    json_key_open(o, S("completion"), '[');
    for (size_t i = 0; i < r->events.n; i++) {
        const struct rollout_event *e = &r->events.v[i];
        if (e->actor == ACTOR_HARNESS)
            continue;
        bool said = e->actor == ACTOR_ASSISTANT;
        json_open(o, '{');
        json_key_str(o, S("role"), said ? S("assistant") : S("tool"));
        json_key_str(o, S("content"), said ? e->response : e->tool);
        json_close(o, '}');
    }
    json_close(o, ']');
}

static void write_trajectory(const struct eval_file *f, size_t i, struct json_out *o,
                             struct arena *a)
{
    const struct rollout_record *r = record_of(f, i);
    size_t repeats = (size_t)f->setup->repeats;
    bool solved = r->result == ROLLOUT_SOLVED;
    json_open(o, '{');
    json_key_str(o, S("example_id"), S("redacted"));
    json_key_int(o, S("example_index"), (int64_t)(i / repeats));
    json_key_int(o, S("sample"), (int64_t)(i % repeats));
    json_key_double(o, S("reward"), solved ? 1 : 0);
    json_key_bool(o, S("correct"), solved);
    json_key_bool(o, S("scored"), result_of(f)->out[i].status == OUTCOME_SCORED);
    json_key_str(o, S("stop_condition"), rollout_stop_name(r->stop));
    json_key_int(o, S("turn_count"), r->calls);
    json_key_str(o, S("question"), r->question);
    json_key_str(o, S("answer"), S(""));
    json_key_bool(o, S("answer_redacted"), true);
    json_key_open(o, S("harness_trace"), '[');
    for (size_t k = 0; k < r->events.n; k++)
        rollout_event_write(&r->events.v[k], i / repeats, k, o);
    json_close(o, ']');
    write_completion(r, o);
    json_key_open(o, S("metrics"), '{');
    rollout_metrics_write(r, o);
    json_close(o, '}');
    json_key_str(o, S("prompt_sha256"), sha256_of(r->question, a));
    json_close(o, '}');
}

str eval_trajectories(const struct eval_file *f, struct arena *a)
{
    struct buf b = { .arena = a, .max = SIZE_MAX / 2 };
    for (size_t i = 0; i < rollouts_of(f); i++) {
        struct json_out o = { .b = &b };
        write_trajectory(f, i, &o, a);
        buf_add_char(&b, '\n');
    }
    return buf_str(&b);
}

str eval_trace(const struct eval_file *f, struct arena *a)
{
    struct buf b = { .arena = a, .max = SIZE_MAX / 2 };
    for (size_t i = 0; i < rollouts_of(f); i++) {
        const struct rollout_record *r = record_of(f, i);
        for (size_t k = 0; k < r->events.n; k++) {
            struct json_out o = { .b = &b };
            rollout_event_write(&r->events.v[k], i / (size_t)f->setup->repeats, k, &o);
            buf_add_char(&b, '\n');
        }
    }
    return buf_str(&b);
}

bool eval_save(str logs, const struct eval_file *f, struct arena *a, struct err *err)
{
    str dir = path_join(logs, eval_directory(f, a), a);
    return dir_make(dir, err) &&
           file_save(path_join(dir, S("ChessPuzzle-v0_trajectories.jsonl"), a),
                     eval_trajectories(f, a), err) &&
           file_save(path_join(dir, S("ChessPuzzle-v0_policy_trace.jsonl"), a), eval_trace(f, a),
                     err) &&
           file_save(path_join(dir, S("val.json"), a), eval_val_json(f, a), err);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// observations.c - one answer a row, in the columns of the paper's own observations, so that both
// can be joined (paper-files specification, section 3). An empty field says: not available.
#include "result/result.h"

static const char *const columns[] = {
    "record_kind",
    "cohorts_json",
    "evaluation_ids_json",
    "model",
    "optimizer",
    "seed",
    "evaluation_seed",
    "repeat",
    "donor_model",
    "donor_seed",
    "source_id",
    "move_index",
    "position_fen",
    "expected_move",
    "predicted_move",
    "prediction_text_json",
    "correct",
    "status",
    "illegal",
    "accepted",
    "error",
    "parser_mode",
    "parser_version",
    "rating",
    "themes_json",
    "solver_length",
    "mate",
    "requested_model",
    "served_model",
    "finish_reason",
    "retry_number",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "cached_prompt_tokens",
    "cache_write_tokens",
    "cost_usd",
    "latency_ms",
    "cache_status",
    "elapsed_seconds",
    "engine",
    "engine_depth",
    "best_cp",
    "post_cp",
    "best_is_mate",
    "post_is_mate",
    "best_depth_reached",
    "post_depth_reached",
    "regret_cp",
    "source_row",
    "source_fields_json",
    "artifact_ref",
    "settings_ref",
};
enum { N_COLUMNS = ARRAY_LEN(columns) };

struct row {
    struct arena *arena;
    str v[N_COLUMNS];
};

static void set(struct row *r, const char *column, str value)
{
    for (size_t i = 0; i < N_COLUMNS; i++)
        if (str_eq(str_from(columns[i]), str_from(column))) {
            r->v[i] = value;
            return;
        }
    BUG(column);
}

static void set_int(struct row *r, const char *column, int64_t value)
{
    set(r, column, arena_printf(r->arena, "%lld", (long long)value));
}

// As pandas writes and reads them, and as the paper's puzzle files have them.
static void set_bool(struct row *r, const char *column, bool value)
{
    set(r, column, value ? S("True") : S("False"));
}

static void set_json(struct row *r, const char *column, str value)
{
    struct buf b = { .arena = r->arena };
    buf_add_json(&b, value);
    set(r, column, buf_str(&b));
}

// A list of one text, or of none.
static void set_list(struct row *r, const char *column, str value)
{
    struct buf b = { .arena = r->arena };
    struct json_out o = { .b = &b };
    json_open(&o, '[');
    if (value.len > 0)
        json_put_str(&o, value);
    json_close(&o, ']');
    set(r, column, buf_str(&b));
}

// ---- the parts of a row ----

static void set_run(struct row *r, const struct observation *o)
{
    const struct observed_run *run = o->run;
    set(r, "record_kind", S("evaluation"));
    set_list(r, "cohorts_json", run->name);
    set_list(r, "evaluation_ids_json", run->key);
    set(r, "model", run->model);
    set(r, "requested_model", run->model);
    set(r, "optimizer", run->method);
    set_int(r, "seed", run->seed);
    set_int(r, "repeat", run->repeat);
    set(r, "artifact_ref", o->program_hash);
    set(r, "settings_ref", run->key);
    set(r, "parser_version", run->version);
}

static void set_themes(struct row *r, str themes)
{
    struct buf b = { .arena = r->arena };
    struct json_out o = { .b = &b };
    json_open(&o, '[');
    while (themes.len > 0) {
        str theme = str_cut(&themes, ' ');
        if (theme.len > 0)
            json_put_str(&o, theme);
    }
    json_close(&o, ']');
    set(r, "themes_json", buf_str(&b));
}

static void set_position(struct row *r, const struct puzzle_position *p)
{
    set(r, "source_id", p->puzzle->id);
    set_int(r, "move_index", p->index);
    set(r, "position_fen", p->inputs[0]);
    set(r, "expected_move", p->reference);
    if (p->puzzle->has_rating)
        set_int(r, "rating", p->puzzle->rating);
    set_themes(r, p->puzzle->themes);
    set_int(r, "solver_length", p->count);
    set_bool(r, "mate", p->puzzle->mates);
    set_int(r, "source_row", (int64_t)p->puzzle->row);
}

static void set_answer(struct row *r, const struct observation *o)
{
    const struct puzzle_record *record = o->record;
    enum answer_kind kind = record ? record->kind : o->kind;
    bool unscored = kind == ANSWER_FILTERED || kind == ANSWER_CONTEXT_OVERFLOW;
    set_bool(r, "correct", kind == ANSWER_CORRECT);
    set(r, "status", kind == ANSWER_FAILED ? S("failed") : unscored ? S("unscored") : S("scored"));
    set_bool(r, "illegal",
             kind == ANSWER_ILLEGAL || kind == ANSWER_NO_MOVE || kind == ANSWER_AMBIGUOUS);
    set_bool(r, "accepted", kind == ANSWER_CORRECT || kind == ANSWER_WRONG);
    if (!record)
        return;
    if (record->played != MOVE_NONE)
        set(r, "predicted_move", arena_str(r->arena, str_from(uci_format(record->played).data)));
    set_json(r, "prediction_text_json", record->prediction);
    set(r, "error", record->error);
    set(r, "parser_mode", resolve_mode_name(record->mode));
}

static void set_calls(struct row *r, const struct observation *o)
{
    const struct reply *last = o->last;
    const struct observed_sums *u = &o->sums;
    if (!last)
        return;
    set(r, "served_model", last->served_model);
    set(r, "finish_reason", last->native_finish);
    set_int(r, "retry_number", last->attempts > 0 ? last->attempts - 1 : 0);
    set_int(r, "latency_ms", last->latency_ms);
    if (u->usage_reported) {
        set_int(r, "prompt_tokens", u->usage.input_tok);
        set_int(r, "completion_tokens", u->usage.output_tok);
        set_int(r, "reasoning_tokens", u->usage.reasoning_tok);
        set_int(r, "cached_prompt_tokens", u->usage.cached_tok);
        set_int(r, "cache_write_tokens", u->usage.cache_write_tok);
    }
    if (u->cost_known)
        set(r, "cost_usd", arena_printf(r->arena, "%.9f", (double)u->cost_nusd / 1e9));
}

// ---- CSV ----

static void put_field(struct buf *out, str field)
{
    bool quoted = false;
    for (size_t i = 0; i < field.len && !quoted; i++)
        quoted = str_find_char(S(",\"\r\n"), field.data[i]) >= 0;
    if (!quoted) {
        buf_add(out, field);
        return;
    }
    buf_add_char(out, '"');
    for (size_t i = 0; i < field.len; i++) {
        if (field.data[i] == '"')
            buf_add_char(out, '"');
        buf_add_char(out, field.data[i]);
    }
    buf_add_char(out, '"');
}

void observations_head(struct buf *out)
{
    for (size_t i = 0; i < N_COLUMNS; i++)
        buf_addf(out, "%s%s", i > 0 ? "," : "", columns[i]);
    buf_add_char(out, '\n');
}

void observation_write(const struct observation *o, struct arena *scratch, struct buf *out)
{
    struct row row = { .arena = scratch };
    set_run(&row, o);
    set_position(&row, o->position);
    set_answer(&row, o);
    set_calls(&row, o);
    for (size_t i = 0; i < N_COLUMNS; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        put_field(out, row.v[i]);
    }
    buf_add_char(out, '\n');
}

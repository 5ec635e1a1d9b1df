// SPDX-License-Identifier: GPL-3.0-or-later
// predictions.c - answers made elsewhere, scored by the same reader, resolver and tally as those of
// a model: each is played into its episode by hand.
#include "cli/run.h"

enum { PREDICTIONS_MAX_BYTES = 256 << 20 };

struct scoring {
    struct run *run;
    struct outcome *outcomes;
    struct map index; // "ID/INDEX" to position
    struct model model;
    size_t n_answered, n_unknown;
    str unknown; // the first of those that are not in the test file
};

// The answer text of a record: the whole text if it has one; the error where another tool could not
// read the answer (it is no JSON either); else its move as a JSON answer.
static str answer_of(const json_t *record, struct arena *a)
{
    if (json_is_string(json_object_get(record, "text")))
        return json_get_str(record, "text");
    if (json_is_string(json_object_get(record, "error")))
        return json_get_str(record, "error");
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("move"), json_get_str(record, "prediction"));
    json_close(&o, '}');
    return buf_str(&b);
}

static void play(struct scoring *s, size_t i, str text)
{
    struct run *r = s->run;
    struct job *job = NEW(r->arena, struct job);
    *job = lab_position_job(r->program, &r->test.v[i], &s->model, r->arena);
    struct episode *ep = episode_new(job, r->arena);
    struct ask ask;
    struct answer answer = { .model = { .class = REPLY_OK, .text = text } };
    if (job->kind->step(ep, NULL, &ask) != STEP_ASK ||
        job->kind->step(ep, &answer, &ask) != STEP_DONE)
        BUG("a puzzle position asks once");
    s->outcomes[i] = ep->outcome;
    s->outcomes[i].used = (struct usage_total){ 0 }; // nothing was asked now
}

static bool score_record(struct scoring *s, const json_t *record, struct err *err)
{
    struct arena *a = s->run->arena;
    str id = json_get_str(record, "source_id");
    if (id.len == 0)
        id = json_get_str(record, "id");
    if (id.len == 0)
        return err_set(err, ERR_INPUT,
                       "no source_id; a record is {\"source_id\": ID, "
                       "\"move_index\": N, \"prediction\": MOVE or \"text\": "
                       "ANSWER}");
    if (!json_is_string(json_object_get(record, "prediction")) &&
        !json_is_string(json_object_get(record, "text")))
        return err_set(err, ERR_INPUT, "neither prediction nor text for %.*s", STR(id));
    int64_t index = json_get_int(record, "move_index", json_get_int(record, "index", 0));
    str name = arena_printf(a, "%.*s/%lld", STR(id), (long long)index);
    const struct map_entry *e = map_get(&s->index, name);
    if (!e) {
        if (s->n_unknown++ == 0)
            s->unknown = name;
        return true;
    }
    size_t i = (size_t)e->number;
    if (s->outcomes[i].status != OUTCOME_FAILED)
        return err_set(err, ERR_INPUT, "second answer for position %.*s", STR(name));
    s->n_answered++;
    s->run->facts.simulated |= json_is_true(json_object_get(record, "simulated"));
    play(s, i, arena_str(a, answer_of(record, a)));
    return true;
}

static bool score_array(struct scoring *s, str path, str text, struct err *err)
{
    json_t *all = json_read_strict(text, err);
    bool ok = all || err_add(err, "%.*s", STR(path));
    for (size_t i = 0; ok && i < json_array_size(all); i++)
        ok = score_record(s, json_array_get(all, i), err) ||
             err_add(err, "%.*s: record %zu", STR(path), i + 1);
    json_decref(all);
    return ok;
}

static bool score_lines(struct scoring *s, str path, str text, struct err *err)
{
    for (int line = 1; text.len > 0; line++) {
        str record = str_trim(str_cut_line(&text));
        if (record.len == 0)
            continue;
        struct err why = { 0 };
        json_t *value = json_read_strict(record, &why);
        bool ok =
            value ? score_record(s, value, &why) : err_set(&why, ERR_INPUT, "not a JSON object");
        json_decref(value);
        if (!ok)
            return err_set(err, ERR_INPUT, "%.*s:%d: %s", STR(path), line, why.text);
    }
    return true;
}

// Every position starts as one that got no answer.
static void prepare(struct scoring *s)
{
    struct run *r = s->run;
    s->outcomes = NEW_ARRAY(r->arena, struct outcome, r->test.n + 1);
    s->index.arena = r->arena;
    struct puzzle_record *missing = NEW(r->arena, struct puzzle_record);
    *missing = (struct puzzle_record){ .kind = ANSWER_FAILED, .error = S("Missing: no answer") };
    for (size_t i = 0; i < r->test.n; i++) {
        const struct puzzle_position *p = &r->test.v[i];
        s->outcomes[i] = (struct outcome){ .status = OUTCOME_FAILED, .record = missing };
        str name = arena_printf(r->arena, "%.*s/%d", STR(p->puzzle->id), p->index);
        map_put(&s->index, name, NULL)->number = (int64_t)i;
    }
}

static void warn(const struct scoring *s)
{
    if (s->n_unknown > 0)
        log_line(LOG_WARN, "%zu records name positions that are not in the test file (first: %.*s)",
                 s->n_unknown, STR(s->unknown));
    if (s->n_answered < s->run->test.n)
        log_line(LOG_WARN,
                 "%zu of %zu positions have no answer; they count as failed, not as wrong, in the "
                 "scored rate",
                 s->run->test.n - s->n_answered, s->run->test.n);
}

bool run_score_predictions(struct run *r, str path)
{
    str text;
    if (r->samples != 1)
        return err_set(r->err, ERR_USAGE,
                       "--samples asks a model; it has no meaning with "
                       "--predictions");
    if (!file_read(path, PREDICTIONS_MAX_BYTES, r->arena, &text, r->err))
        return false;
    r->task_model.name = r->config.task_model.name;
    r->answers_sha256 = sha256_of(text, r->arena);
    if (!run_load(r))
        return false;
    r->facts.method = S("recorded");
    struct scoring s = { .run = r, .model = { .name = r->task_model.name } };
    prepare(&s);
    bool array = str_starts(str_trim(text), S("["));
    if (!(array ? score_array : score_lines)(&s, path, text, r->err))
        return false;
    warn(&s);
    r->outcomes = s.outcomes;
    tally_positions(r->test.v, r->test.n, r->outcomes, 1, &r->tally);
    return run_begin(r) && run_finish(r);
}

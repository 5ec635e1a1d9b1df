// SPDX-License-Identifier: GPL-3.0-or-later
// predictions.c - answers made elsewhere, scored by the same reader, resolver and tally as those of
// a model: each is played into its episode by hand.
#include "cli/run.h"

enum { PREDICTIONS_MAX_BYTES = 256 << 20, PUZZLE_MOVES_MAX = 1000 };

struct scoring {
    struct run *run;
    struct outcome *outcomes;
    struct map index; // "ID/INDEX" to position
    struct model model;
    size_t n_answered, n_unknown, n_samples;
    str unknown; // the first of those that are not in the test file
};

// A move as the JSON answer that a model would have given.
static str answer_with(str prediction, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("move"), prediction);
    json_close(&o, '}');
    return buf_str(&b);
}

// The reply that a record tells of: the whole answer if it has one, else its move. Without either
// its error says what came instead: a class of reply ("transport: ..."), which stays what it was,
// or an answer that nobody could read. An error's words are never taken for an answer.
static struct reply reply_of(const json_t *record, struct arena *a)
{
    struct reply r = { .class = REPLY_OK, .text = json_get_str(record, "text") };
    str prediction = json_get_str(record, "prediction");
    str error = json_get_str(record, "error");
    str rest = error;
    if (r.text.len == 0 && prediction.len > 0)
        r.text = answer_with(prediction, a);
    if (str_eq(json_get_str(record, "kind"), answer_kind_name(ANSWER_TRUNCATED)))
        r.class = REPLY_TRUNCATED;
    if (r.text.len > 0)
        return r;
    if (reply_class_parse(str_cut(&rest, ':'), &r.class))
        r.error = arena_str(a, str_trim(rest));
    else if (json_is_string(json_object_get(record, "text")))
        return r; // an empty answer, as it came
    else if (error.len == 0)
        r.text = answer_with(prediction, a);
    else if (!str_ends(error, read_error_text(READ_EMPTY)))
        r.text = S("(no readable answer)");
    return r;
}

static void play(struct scoring *s, size_t i, const struct reply *reply)
{
    struct run *r = s->run;
    struct job *job = NEW(r->arena, struct job);
    *job = lab_position_job(r->program, &r->test.v[i], &s->model, r->arena);
    struct episode *ep = episode_new(job, r->arena);
    struct ask ask;
    struct answer answer = { .model = *reply };
    if (job->kind->step(ep, NULL, &ask) != STEP_ASK ||
        job->kind->step(ep, &answer, &ask) != STEP_DONE)
        BUG("a puzzle position asks once");
    s->outcomes[i] = ep->outcome;
    s->outcomes[i].used = (struct usage_total){ 0 }; // nothing was asked now
}

// The solver move, from 0: a whole number, also as 1.0, as tables write it.
static bool read_index(const json_t *record, int64_t *out, struct err *err)
{
    const json_t *value = json_object_get(record, "move_index");
    if (!value)
        value = json_object_get(record, "index");
    double real = value ? json_number_value(value) : 0;
    if ((value && !json_is_number(value)) || real < 0 || real > PUZZLE_MOVES_MAX ||
        real != (double)(int64_t)real)
        return err_set(err, ERR_INPUT, "move_index must be a whole number from 0");
    *out = (int64_t)real;
    return true;
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
    if (json_get_int(record, "sample", 0) != 0) {
        s->n_samples++;
        return true;
    }
    int64_t index = 0;
    if (!read_index(record, &index, err))
        return false;
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
    struct reply reply = reply_of(record, a);
    play(s, i, &reply);
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
    if (s->n_samples > 0)
        log_line(LOG_WARN, "%zu records of further samples are left out; sample 0 is scored",
                 s->n_samples);
    if (s->n_unknown > 0)
        log_line(LOG_WARN, "%zu records name positions that are not in the test file (first: %.*s)",
                 s->n_unknown, STR(s->unknown));
    if (s->n_answered < s->run->test.n)
        log_line(LOG_WARN,
                 "%zu of %zu positions have no answer; they count as failed, not as wrong, in the "
                 "scored rate",
                 s->run->test.n - s->n_answered, s->run->test.n);
}

bool run_read_predictions(struct run *r, str path)
{
    str text;
    if (opt_flag(r->args, "dry-run"))
        return err_set(r->err, ERR_USAGE, "--predictions calls nothing; leave --dry-run out");
    if (r->samples != 1)
        return err_set(r->err, ERR_USAGE,
                       "--samples asks a model; it has no meaning with "
                       "--predictions");
    if (!file_read(path, PREDICTIONS_MAX_BYTES, r->arena, &text, r->err))
        return false;
    text = str_without_bom(text);
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
    return true;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// saved.c - programs as files: compiled.json in the layout of the paper's own tool (paper-files
// specification, section 2), so that either tool reads what the other wrote; and plain texts.
#include <limits.h>

#include "prompt/prompt.h"

enum { FILE_MAX_BYTES = 4 << 20, PLAIN_MAX_BYTES = 65536 };

// ---- writing ----

// "Legal Moves Uci:" for legal_moves_uci.
static str field_prefix(str name, struct arena *a)
{
    return arena_printf(a, "%.*s:", STR(field_title(name, a)));
}

static void put_values(struct json_out *o, const struct field *fields, const str *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        json_key_str(o, fields[i].name, values[i]);
    }
}

static void put_source(struct json_out *o, const struct demo_source *source)
{
    json_key_str(o, S("puzzle_id"), source->puzzle_id);
    if (source->has_rating)
        json_key_int(o, S("rating"), source->rating);
    else
        json_key_null(o, S("rating"));
    json_key_open(o, S("themes"), '[');
    for (str rest = source->themes; rest.len > 0;) {
        str theme = str_cut(&rest, ' ');
        if (theme.len > 0)
            json_put_str(o, theme);
    }
    json_close(o, ']');
    json_key_int(o, S("position_index"), source->position_index);
    json_key_int(o, S("position_count"), source->position_count);
}

static void put_demo(struct json_out *o, const struct signature *s, const struct demo *d)
{
    json_open(o, '{');
    if (!d->source) {
        json_key_bool(o, S("augmented"), true);
    }
    put_values(o, s->inputs, d->inputs, s->n_inputs);
    put_values(o, s->outputs, d->outputs, s->n_outputs);
    if (d->source)
        put_source(o, d->source);
    json_close(o, '}');
}

static void put_fields(struct json_out *o, const struct field *fields, size_t n, struct arena *a)
{
    for (size_t i = 0; i < n; i++) {
        json_open(o, '{');
        json_key_str(o, S("prefix"), field_prefix(fields[i].name, a));
        json_key_str(o, S("description"), fields[i].description);
        json_close(o, '}');
    }
}

static void put_signature(struct json_out *o, const struct program *p, struct arena *a)
{
    json_open(o, '{');
    json_key_str(o, S("instructions"), p->instruction);
    json_key_open(o, S("fields"), '[');
    put_fields(o, p->signature->inputs, p->signature->n_inputs, a);
    put_fields(o, p->signature->outputs, p->signature->n_outputs, a);
    json_close(o, ']');
    json_close(o, '}');
}

static void put_empty_list(struct json_out *o, str key)
{
    json_key_open(o, key, '[');
    json_close(o, ']');
}

static void put_predictor(struct json_out *o, const struct program *p, struct arena *a)
{
    json_open(o, '{');
    put_empty_list(o, S("traces"));
    put_empty_list(o, S("train"));
    json_key_open(o, S("demos"), '[');
    for (size_t i = 0; i < p->n_demos; i++)
        put_demo(o, p->signature, p->demos[i]);
    json_close(o, ']');
    json_key(o, S("signature"));
    put_signature(o, p, a);
    json_key_null(o, S("lm"));
    json_close(o, '}');
}

static void put_metadata(struct json_out *o)
{
    json_open(o, '{');
    json_key_open(o, S("dependency_versions"), '{'); // DSPy looks each name up and fails on ours
    json_close(o, '}');
    json_close(o, '}');
}

// Writes our own JSON text once more, in the layout of the file.
static void put_text(struct json_out *o, str json)
{
    json_t *value = json_read_strict(json, NULL);
    if (!value)
        BUG("the member \"rookery\" is no JSON");
    json_put_value(o, value);
    json_decref(value);
}

str program_to_json(const struct program *p, str extra, struct arena *a)
{
    struct arena scratch = { 0 };
    struct buf b = { .arena = a, .max = SIZE_MAX };
    struct json_out o = { .b = &b, .indent = 2 };
    json_open(&o, '{');
    json_key(&o, S("choose_move"));
    put_predictor(&o, p, &scratch);
    json_key(&o, S("metadata"));
    put_metadata(&o);
    if (extra.len > 0) {
        json_key(&o, S("rookery"));
        put_text(&o, extra);
    }
    json_close(&o, '}');
    arena_free(&scratch);
    return buf_str(&b);
}

// ---- reading ----

// The values of n fields, or NULL and a sentence.
static const str *read_values(const json_t *json, const struct field *fields, size_t n,
                              struct arena *a, struct err *err)
{
    str *values = NEW_ARRAY(a, str, n);
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_object_get(json, arena_str(a, fields[i].name).data);
        if (!value || json_is_null(value)) {
            err_set(err, ERR_INPUT, "\"%.*s\" is missing", STR(fields[i].name));
            return NULL;
        }
        if (!json_is_string(value)) {
            err_set(err, ERR_INPUT, "\"%.*s\" must be a text", STR(fields[i].name));
            return NULL;
        }
        values[i] = arena_str(a, json_view(value));
    }
    return values;
}

// A whole number that may be absent or null; `*has` tells.
static bool read_int(const json_t *json, const char *key, int *out, bool *has, struct err *err)
{
    const json_t *value = json_object_get(json, key);
    *has = value && !json_is_null(value);
    if (!*has)
        return true;
    if (!json_is_integer(value) || json_integer_value(value) < INT_MIN ||
        json_integer_value(value) > INT_MAX)
        return err_set(err, ERR_INPUT, "\"%s\" must be a whole number", key);
    *out = (int)json_integer_value(value);
    return true;
}

// Themes stand in a list; a text with blanks between them is also read.
static bool read_themes(const json_t *value, struct arena *a, str *out, struct err *err)
{
    if (!value || json_is_null(value))
        return true;
    struct buf b = { .arena = a };
    if (json_is_string(value))
        buf_add(&b, json_view(value));
    else if (!json_is_array(value))
        return err_set(err, ERR_INPUT, "\"themes\" must be a list of texts");
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *theme = json_array_get(value, i);
        if (!json_is_string(theme))
            return err_set(err, ERR_INPUT, "\"themes\" must be a list of texts");
        if (i > 0)
            buf_add_char(&b, ' ');
        buf_add(&b, json_view(theme));
    }
    *out = buf_str(&b);
    return true;
}

static bool read_source(const json_t *json, struct arena *a, const struct demo_source **out,
                        struct err *err)
{
    struct demo_source *source = NEW(a, struct demo_source);
    *out = source;
    const json_t *id = json_object_get(json, "puzzle_id");
    if (id && !json_is_null(id) && !json_is_string(id))
        return err_set(err, ERR_INPUT, "\"puzzle_id\" must be a text");
    source->puzzle_id = arena_str(a, json_view(id));
    bool has;
    return read_int(json, "rating", &source->rating, &source->has_rating, err) &&
           read_themes(json_object_get(json, "themes"), a, &source->themes, err) &&
           read_int(json, "position_index", &source->position_index, &has, err) &&
           read_int(json, "position_count", &source->position_count, &has, err);
}

static bool read_demo(const json_t *json, const struct signature *s, struct arena *a,
                      const struct demo **out, struct err *err)
{
    struct demo *d = NEW(a, struct demo);
    *out = d;
    if (!json_is_object(json))
        return err_set(err, ERR_INPUT, "not an object");
    d->inputs = read_values(json, s->inputs, s->n_inputs, a, err);
    d->outputs = d->inputs ? read_values(json, s->outputs, s->n_outputs, a, err) : NULL;
    if (!d->outputs)
        return false;
    const json_t *augmented = json_object_get(json, "augmented");
    if (augmented && !json_is_null(augmented) && !json_is_boolean(augmented))
        return err_set(err, ERR_INPUT, "\"augmented\" must be true or false");
    return json_is_true(augmented) || read_source(json, a, &d->source, err);
}

static bool read_demos(const json_t *json, const struct signature *s, struct arena *a,
                       struct program *p, struct err *err)
{
    if (!json)
        return true;
    if (!json_is_array(json))
        return err_set(err, ERR_INPUT, "\"demos\" must be a list");
    p->n_demos = json_array_size(json);
    const struct demo **demos = NEW_ARRAY(a, const struct demo *, p->n_demos);
    p->demos = demos;
    for (size_t i = 0; i < p->n_demos; i++)
        if (!read_demo(json_array_get(json, i), s, a, &demos[i], err))
            return err_add(err, "demo %zu", i + 1);
    return true;
}

// Whether the saved field is this one. Descriptions belong to the program and are not taken from
// files; a file with another one was made for another prompt, which the person should know.
static bool same_field(const json_t *json, const struct field *f)
{
    struct arena scratch = { 0 };
    bool same = str_eq(json_get_str(json, "prefix"), field_prefix(f->name, &scratch));
    arena_free(&scratch);
    const json_t *description = json_object_get(json, "description");
    if (same && description && !str_eq(json_view(description), f->description))
        log_line(LOG_WARN, "field %.*s: the file describes it otherwise; used is \"%.*s\"",
                 STR(f->name), STR(f->description));
    return same;
}

static bool same_fields(const json_t *list, const struct signature *s)
{
    if (json_array_size(list) != s->n_inputs + s->n_outputs)
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const struct field *f = i < s->n_inputs ? &s->inputs[i] : &s->outputs[i - s->n_inputs];
        if (!same_field(json_array_get(list, i), f))
            return false;
    }
    return true;
}

// Which of the two signatures a file was saved with; without a list of fields it is the base one.
static bool read_fields(const json_t *signature, const struct signature **out, struct err *err)
{
    const json_t *list = json_object_get(signature, "fields");
    *out = &signature_choose_move;
    if (!list)
        return true;
    if (!json_is_array(list))
        return err_set(err, ERR_INPUT, "\"fields\" of the signature must be a list");
    if (same_fields(list, &signature_choose_move))
        return true;
    *out = &signature_choose_move_analysis;
    return same_fields(list, *out) ||
           err_set(err, ERR_INPUT,
                   "the signature must have the fields Position Fen, Side To Move, Legal Moves "
                   "Uci, Move (and Analysis before Move)");
}

// Normalising is not idempotent: it treats the first line apart, and an empty first line drops out.
// Behind an empty line it keeps whatever it once made, so that a program that is saved and loaded
// renders the same, and still cleans a text that somebody wrote into the file.
static bool read_instruction(const json_t *signature, struct arena *a, str *out, struct err *err)
{
    const json_t *text = json_object_get(signature, "instructions");
    if (!json_is_string(text))
        return err_set(err, ERR_INPUT, "the signature has no text \"instructions\"");
    struct buf b = { .arena = a };
    buf_add_char(&b, '\n');
    buf_add(&b, json_view(text));
    *out = instruction_normalise(buf_str(&b), a);
    return json_trim(*out).len > 0 || err_set(err, ERR_INPUT, "\"instructions\" is empty");
}

static bool read_program(const json_t *root, struct arena *a, struct program *p, struct err *err)
{
    const json_t *predictor = json_object_get(root, "choose_move");
    if (!json_is_object(predictor))
        return err_set(err, ERR_INPUT,
                       "not a saved program: it has no object \"choose_move\" at its top");
    const json_t *signature = json_object_get(predictor, "signature");
    if (!json_is_object(signature))
        return err_set(err, ERR_INPUT, "\"choose_move\" has no object \"signature\"");
    return read_instruction(signature, a, &p->instruction, err) &&
           read_fields(signature, &p->signature, err) &&
           read_demos(json_object_get(predictor, "demos"), p->signature, a, p, err);
}

// A text file: its line ends may be those of another system.
static bool read_plain(str text, struct arena *a, const struct program **out, struct err *err)
{
    text = str_without_bom(text);
    if (text.len > PLAIN_MAX_BYTES)
        return err_set(err, ERR_LIMIT,
                       "%zu bytes are too long for an instruction (the limit is %d); is this a "
                       "prompt?",
                       text.len, PLAIN_MAX_BYTES);
    if (!utf8_valid(text) || str_find_char(text, '\0') >= 0)
        return err_set(err, ERR_INPUT,
                       "an instruction must be a text in UTF-8, without NUL bytes; is this a "
                       "prompt?");
    struct buf b = { .arena = a, .max = FILE_MAX_BYTES };
    while (text.len > 0) {
        buf_add(&b, str_cut_line(&text));
        buf_add_char(&b, '\n');
    }
    *out = program_new(a, &signature_choose_move, buf_str(&b));
    return true;
}

bool program_from_text(str text, struct arena *a, const struct program **out, struct err *err)
{
    if (text.len > FILE_MAX_BYTES)
        return err_set(err, ERR_LIMIT, "a program of %zu bytes; the limit is 4 MiB", text.len);
    str trimmed = json_trim(text);
    if (trimmed.len == 0)
        return err_set(err, ERR_INPUT, "the program is empty: it needs an instruction");
    if (trimmed.data[0] != '{')
        return read_plain(text, a, out, err);
    json_t *root = json_read_strict(trimmed, err);
    if (!root)
        return err_add(err, "a program that begins with { must be a saved one");
    struct program *p = NEW(a, struct program);
    bool ok = read_program(root, a, p, err);
    json_decref(root);
    *out = p;
    return ok;
}

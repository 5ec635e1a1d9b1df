// SPDX-License-Identifier: GPL-3.0-or-later
// answer.c - fuzzes the lenient JSON reader: model answers with both signatures, envelopes, and its
// agreement with jansson on strict JSON.
#include "fuzz.h"

#include "prompt/prompt.h"

static void read_answer(const struct signature *s, str text)
{
    struct arena a = { 0 };
    str values[SIGNATURE_FIELDS_MAX] = { 0 };
    enum read_error e = answer_read(s, text, &a, values);
    assert((e == READ_OK) == (read_error_text(e).len == 0));
    assert((e == READ_EMPTY) == (json_trim(text).len == 0));
    for (size_t i = 0; e == READ_OK && i < s->n_outputs; i++)
        assert(utf8_valid(values[i]));
    arena_free(&a);
}

// The text of a strict value as the lenient reader gives it; numbers keep their source text, so
// only the others can be compared.
static void check_member(const json_t *value, const struct json_member *m)
{
    assert(value);
    if (json_is_string(value))
        assert(str_eq(json_view(value), m->text));
    else if (json_is_boolean(value) || json_is_null(value))
        assert(str_eq(m->text, json_is_true(value)    ? S("True")
                               : json_is_false(value) ? S("False")
                                                      : S("None")));
    else if (json_is_object(value) || json_is_array(value)) {
        json_t *again = json_loadb(m->text.data, m->text.len, 0, NULL);
        assert(again && json_equal(again, value));
        json_decref(again);
    }
}

// A strict object is read to its end, with the same members; only its depth may be too much.
static void agree_with_jansson(str text)
{
    struct arena a = { 0 };
    json_t *strict = json_loadb(text.len ? text.data : "", text.len, 0, NULL);
    str trimmed = json_trim(text);
    struct json_members m;
    size_t used;
    struct err err = { 0 };
    json_t *envelope = json_read_envelope(text, NULL, &err);
    assert((envelope != NULL) == (err.code == ERR_NONE));
    if (strict && envelope && json_is_object(strict)) {
        assert(json_equal(strict, envelope));
        bool ok = json_read_lenient(trimmed, &a, &m, &used);
        assert(ok && used == trimmed.len && m.n == json_object_size(strict));
        for (size_t i = 0; i < m.n; i++)
            check_member(json_object_get(strict, arena_str(&a, m.v[i].key).data), &m.v[i]);
    }
    json_decref(envelope);
    json_decref(strict);
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = fuzz_text(data, size);
    read_answer(&signature_choose_move, text);
    read_answer(&signature_choose_move_analysis, text);
    agree_with_jansson(text);
    return 0;
}

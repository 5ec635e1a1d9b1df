// SPDX-License-Identifier: GPL-3.0-or-later
// answer.c - finds the output fields in what a model wrote: few-shot specification 1.10. The
// grammar of objects is the lenient reader's (base/json.h); here is where objects are looked for.
#include "prompt/prompt.h"

// A text can be made in which every `{` starts an object that fails only at the text's end. The
// bytes that failed attempts may look at are bounded, far above what an honest answer needs, so
// that such a text costs a bounded time and is then "not a JSON object".
enum { WORK_MIN_BYTES = 1 << 18, WORK_PER_BYTE = 4 };

// Copies the values of all output fields to `a`; false (and nothing written) when one is missing.
static bool take_fields(const struct signature *s, const struct json_members *found,
                        struct arena *a, str *values)
{
    const struct json_member *hit[SIGNATURE_FIELDS_MAX] = { 0 };
    for (size_t i = 0; i < s->n_outputs; i++) {
        for (size_t k = 0; k < found->n && !hit[i]; k++)
            if (str_eq(found->v[k].key, s->outputs[i].name))
                hit[i] = &found->v[k];
        if (!hit[i])
            return false;
    }
    for (size_t i = 0; i < s->n_outputs; i++)
        values[i] = arena_str(a, hit[i]->text);
    return true;
}

// Step 2: the first object of the text, not inside another one, that has all fields.
static enum read_error scan(const struct signature *s, str text, struct arena *a, str *values)
{
    struct arena scratch = { 0 };
    enum read_error result = READ_NOT_AN_OBJECT;
    size_t work = WORK_MIN_BYTES + WORK_PER_BYTE * text.len;
    ptrdiff_t brace;
    while (result != READ_OK && (brace = str_find_char(text, '{')) >= 0) {
        struct json_members found;
        size_t used;
        text = str_sub(text, (size_t)brace, text.len);
        if (json_read_lenient(text, &scratch, &found, &used)) {
            result = take_fields(s, &found, a, values) ? READ_OK : READ_MISSING_FIELD;
        } else {
            if (used > work)
                break;
            work -= used;
            used = 1;
        }
        text = str_sub(text, used, text.len);
        arena_reset(&scratch);
    }
    arena_free(&scratch);
    return result;
}

// Step 1 for a strict array: its first element that is an object.
static enum read_error read_array(const struct signature *s, str text, struct arena *a, str *values)
{
    struct arena scratch = { 0 };
    struct json_members found;
    size_t used;
    enum read_error result = READ_NOT_AN_OBJECT;
    if (json_read_lenient(text, &scratch, &found, &used))
        result = take_fields(s, &found, a, values) ? READ_OK : READ_MISSING_FIELD;
    arena_free(&scratch);
    return result;
}

static bool is_strict_json(str text)
{
    json_t *value = json_loadb(text.data, text.len, JSON_DECODE_ANY, NULL);
    json_decref(value);
    return value != NULL;
}

enum read_error answer_read(const struct signature *s, str text, struct arena *a, str *values)
{
    text = json_trim(text);
    if (text.len == 0)
        return READ_EMPTY;
    // Step 1 matters for arrays and strings alone: a strict object is also what the scan finds
    // first, with the source text of its numbers, and other values hold no brace.
    char first = text.data[0];
    if ((first == '[' || first == '"') && is_strict_json(text))
        return first == '[' ? read_array(s, text, a, values) : READ_NOT_AN_OBJECT;
    return scan(s, text, a, values);
}

str read_error_text(enum read_error e)
{
    switch (e) {
    case READ_OK: return (str){ 0 };
    case READ_EMPTY: return S("empty");
    case READ_NOT_AN_OBJECT: return S("not a JSON object");
    case READ_MISSING_FIELD: return S("missing field");
    }
    BUG("no such read error");
}

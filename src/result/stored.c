// SPDX-License-Identifier: GPL-3.0-or-later
// stored.c - what the store remembers of a finished run: its summary, and the fate of each
// position, so that runs can be compared in pairs long after their files are gone.
#include "result/result.h"

str stored_result_write(str summary, const struct result_set *set, struct arena *a)
{
    struct buf b = { .arena = a, .max = SIZE_MAX / 2 };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("summary"), summary);
    json_key_open(&o, S("positions"), '[');
    for (size_t i = 0; i < set->n; i++) {
        const struct puzzle_position *p = &set->positions[i];
        const struct puzzle_record *record = set->out[i * (size_t)set->samples].record;
        json_open(&o, '[');
        json_put_str(&o, arena_printf(a, "%.*s/%d", STR(p->puzzle->id), p->index));
        json_put_str(&o, answer_kind_name(record->kind));
        json_close(&o, ']');
    }
    json_close(&o, ']');
    json_close(&o, '}');
    return buf_str(&b);
}

static enum answer_kind kind_of(str name)
{
    int k = 0;
    while (k < ANSWER_FAILED && !str_eq(name, answer_kind_name((enum answer_kind)k)))
        k++;
    return (enum answer_kind)k;
}

static void read_positions(const json_t *list, struct arena *a, struct stored_positions *out)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *p = json_array_get(list, i);
        *vec_push(a, out) = (struct stored_position){
            .name = arena_str(a, json_view(json_array_get(p, 0))),
            .kind = kind_of(json_view(json_array_get(p, 1))),
        };
        out->v[out->n - 1].correct = out->v[out->n - 1].kind == ANSWER_CORRECT;
    }
}

static void read_summary(const json_t *summary, struct stored_result *out)
{
    const json_t *rookery = json_object_get(summary, "rookery");
    const json_t *accuracy = json_object_get(json_object_get(rookery, "rates"), "accuracy");
    struct tally t = { .samples = json_get_int(rookery, "samples", 1) };
    out->n_correct = json_get_int(accuracy, "k", 0);
    out->n_answers = json_get_int(accuracy, "n", 0);
    out->n_trials = tally_trials(&t, out->n_answers);
    const json_t *usage = json_object_get(summary, "evaluation_usage");
    out->cost_known = json_is_number(json_object_get(usage, "cost_usd"));
}

bool stored_result_read(str text, struct arena *a, struct stored_result *out, struct err *err)
{
    *out = (struct stored_result){ 0 };
    json_t *root = json_read_strict(text, err);
    if (!root)
        return false;
    out->summary = arena_str(a, json_get_str(root, "summary"));
    json_t *summary = json_read_strict(out->summary, err);
    bool ok = summary != NULL;
    if (ok) {
        read_summary(summary, out);
        read_positions(json_object_get(root, "positions"), a, &out->positions);
    }
    json_decref(summary);
    json_decref(root);
    return ok;
}

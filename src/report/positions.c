// SPDX-License-Identifier: GPL-3.0-or-later
// positions.c - the positions of a finished run, one by one: predictions.jsonl where there is one,
// else results.json, which the paper's tool writes too (it has no themes).
#include <string.h>

#include "report/report.h"

enum { POSITIONS_MAX_BYTES = 1 << 30 };

static void add_position(const json_t *r, struct arena *a, struct report_positions *out)
{
    const json_t *themes = json_object_get(r, "themes");
    struct buf b = { .arena = a };
    for (size_t i = 0; i < json_array_size(themes); i++)
        buf_addf(&b, "%s%.*s", i ? " " : "", STR(json_view(json_array_get(themes, i))));
    const json_t *correct = json_object_get(r, "correct");
    *vec_push(a, out) = (struct report_position){
        .id = arena_str(a, json_get_str(r, "source_id")),
        .index = (int)json_get_int(r, "move_index", 0),
        .length = (int)json_get_int(r, "solver_length", 0),
        .rating = (int)json_get_int(r, "rating", -1),
        .themes = buf_str(&b),
        .correct = correct ? json_is_true(correct) : str_eq(json_get_str(r, "kind"), S("correct")),
    };
}

static bool read_lines(str path, str text, struct arena *a, struct report_positions *out,
                       struct err *err)
{
    for (size_t line = 1; text.len > 0; line++) {
        json_t *r = json_read_strict(str_cut_line(&text), err);
        if (!r)
            return err_add(err, "%.*s:%zu", STR(path), line);
        if (json_get_int(r, "sample", 0) == 0)
            add_position(r, a, out);
        json_decref(r);
    }
    return true;
}

static bool read_list(str path, str text, struct arena *a, struct report_positions *out,
                      struct err *err)
{
    json_t *list = json_read_strict(text, err);
    if (!list)
        return err_add(err, "%.*s", STR(path));
    for (size_t i = 0; i < json_array_size(list); i++)
        add_position(json_array_get(list, i), a, out);
    json_decref(list);
    return true;
}

bool report_positions_load(str dir, struct arena *a, struct report_positions *out, struct err *err)
{
    struct arena scratch = { 0 };
    str lines = path_join(dir, S("predictions.jsonl"), &scratch);
    str list = path_join(dir, S("results.json"), &scratch);
    bool has_lines = file_exists(lines);
    str text, path = has_lines ? lines : list;
    bool ok =
        file_read(path, POSITIONS_MAX_BYTES, &scratch, &text, err) &&
        (has_lines ? read_lines(path, text, a, out, err) : read_list(path, text, a, out, err)) &&
        (out->n > 0 || err_set(err, ERR_INPUT, "%.*s: no positions in it", STR(path)));
    arena_free(&scratch);
    return ok;
}

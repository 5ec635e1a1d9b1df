// SPDX-License-Identifier: GPL-3.0-or-later
// runs_csv.c - a table of finished runs as CSV: one run a row, columns found by their names.
#include <string.h>

#include "input/input.h"
#include "report/report.h"

enum column { MODEL, METHOD, SEED, CORRECT, PUZZLES, UNCHANGED, COLUMNS };
static const char *const column_names[COLUMNS] = { "model",   "method",  "seed",
                                                   "correct", "puzzles", "prompt_unchanged" };
enum { PUZZLES_MAX = 100000000, RUNS_MAX = 1000000 };

static bool find_columns(const struct csv_row *header, size_t at[COLUMNS], struct err *err)
{
    for (int c = 0; c < COLUMNS; c++) {
        at[c] = header->n;
        for (size_t i = 0; i < header->n; i++)
            if (str_eq_nocase(json_trim(header->fields[i]), str_from(column_names[c])))
                at[c] = i;
        if (at[c] == header->n)
            return err_set(err, ERR_INPUT,
                           "no column '%s'; the first line must name model, method, seed, "
                           "correct, puzzles, prompt_unchanged",
                           column_names[c]);
    }
    return true;
}

static bool read_int(const str fields[COLUMNS], enum column c, int64_t max, int64_t *out,
                     struct err *err)
{
    if (str_to_int(fields[c], 0, max, out))
        return true;
    return err_set(err, ERR_INPUT, "%s must be a whole number from 0 to %lld, got \"%.*s\"",
                   column_names[c], (long long)max, STR(str_sub(fields[c], 0, 40)));
}

static bool read_run(const struct csv_row *row, const size_t at[COLUMNS], struct arena *a,
                     struct report_run *out, struct err *err)
{
    int64_t unchanged;
    str fields[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) {
        if (at[c] >= row->n)
            return err_set(err, ERR_INPUT, "the row has %zu fields, '%s' is missing", row->n,
                           column_names[c]);
        fields[c] = row->fields[at[c]];
    }
    *out = (struct report_run){ .model = arena_str(a, fields[MODEL]),
                                .method = arena_str(a, fields[METHOD]) };
    if (out->model.len == 0 || out->method.len == 0)
        return err_set(err, ERR_INPUT, "model and method must not be empty");
    if (!read_int(fields, SEED, INT64_MAX, &out->seed, err) ||
        !read_int(fields, CORRECT, PUZZLES_MAX, &out->correct, err) ||
        !read_int(fields, PUZZLES, PUZZLES_MAX, &out->n, err) ||
        !read_int(fields, UNCHANGED, 1, &unchanged, err))
        return false;
    out->unchanged = unchanged != 0;
    if (out->n == 0 || out->correct > out->n)
        return err_set(err, ERR_INPUT, "%lld solved of %lld puzzles cannot be",
                       (long long)out->correct, (long long)out->n);
    return true;
}

// Two rows of one run would count it twice.
static bool is_new(const struct report_runs *runs, const struct report_run *run)
{
    for (size_t i = 0; i < runs->n; i++)
        if (runs->v[i].seed == run->seed && str_eq(runs->v[i].model, run->model) &&
            str_eq(runs->v[i].method, run->method))
            return false;
    return true;
}

static bool add_row(const struct csv_row *row, const size_t at[COLUMNS], struct arena *a,
                    struct report_runs *out, struct err *err)
{
    struct report_run run;
    if (!read_run(row, at, a, &run, err))
        return false;
    if (!is_new(out, &run))
        return err_set(err, ERR_INPUT, "the run of %.*s, %.*s, seed %lld is there twice",
                       STR(run.model), STR(run.method), (long long)run.seed);
    if (out->n == RUNS_MAX)
        return err_set(err, ERR_LIMIT, "over %d runs", RUNS_MAX);
    *vec_push(a, out) = run;
    return true;
}

bool report_runs_load(str path, struct arena *a, struct report_runs *out, struct err *err)
{
    struct window w = { .line = 1 };
    struct csv_row *row = NEW(a, struct csv_row);
    size_t at[COLUMNS];
    bool ok = false, has_header = false;
    if (!source_open(path, &w.source, err))
        return false;
    for (;;) {
        enum row_read r = csv_next(&w, a, row, err);
        if (r == ROW_END)
            break;
        if (r == ROW_FAIL)
            goto done; // names the file
        if (r == ROW_BAD ||
            !(has_header ? add_row(row, at, a, out, err) : find_columns(row, at, err))) {
            err_add(err, "%.*s:%zu", STR(path), row->lineno);
            goto done;
        }
        has_header = true;
    }
    ok = out->n > 0 || err_set(err, ERR_INPUT, "%.*s: no runs in it", STR(path));
done:
    source_free(w.source);
    window_free(&w);
    return ok;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// run_dir.c - a finished run as its directory tells it: summary.json, results.json,
// run_config.json and, where a prompt was compiled, compiled.json.
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

enum { FILE_MAX_BYTES = 256 << 20 };

static bool load_json(str dir, const char *name, struct arena *scratch, json_t **out,
                      struct err *err)
{
    str text;
    str path = path_join(dir, str_from(name), scratch);
    if (!file_read(path, FILE_MAX_BYTES, scratch, &text, err))
        return false;
    *out = json_read_strict(text, err);
    return *out != NULL || err_add(err, "%.*s", STR(path));
}

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void read_usage(const json_t *usage, struct report_usage *out)
{
    if (!json_is_object(usage))
        return;
    out->n_calls = json_get_int(usage, "num_calls", 0);
    out->input_tok = json_get_int(usage, "prompt_tokens", 0);
    out->output_tok = json_get_int(usage, "completion_tokens", 0);
    out->cost_known = json_is_number(json_object_get(usage, "cost_usd"));
    out->cost_usd = number_of(usage, "cost_usd");
}

static void read_summary(const json_t *summary, struct report_run_dir *out)
{
    const json_t *rookery = json_object_get(summary, "rookery");
    const json_t *rates = json_object_get(rookery, "rates");
    const json_t *puzzles = json_object_get(rates, "source_record_accuracy");
    const json_t *compile = json_object_get(summary, "compile_usage");
    out->run.correct = json_get_int(puzzles, "k", 0);
    out->run.n = json_get_int(puzzles, "n", 0);
    out->positions.k = json_get_int(json_object_get(rates, "accuracy"), "k", 0);
    out->positions.n = json_get_int(json_object_get(rates, "accuracy"), "n", 0);
    out->illegal.k = json_get_int(json_object_get(rates, "illegal"), "k", 0);
    out->illegal.n = json_get_int(json_object_get(rates, "illegal"), "n", 0);
    out->unparsable.k = json_get_int(json_object_get(rates, "unparsable"), "k", 0);
    out->unparsable.n = json_get_int(json_object_get(rates, "unparsable"), "n", 0);
    out->simulated = json_is_true(json_object_get(rookery, "simulated"));
    read_usage(json_object_get(summary, "evaluation_usage"), &out->evaluation);
    read_usage(json_object_get(compile, "task_model"), &out->compile_task);
    read_usage(json_object_get(compile, "prompt_model"), &out->compile_prompt);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

// Positions of a puzzle stand together; a puzzle is solved where all of them are right.
static void read_results(const json_t *results, struct arena *a, struct report_run_dir *out)
{
    size_t n = json_array_size(results);
    double *latency = NEW_ARRAY(a, double, n + 1);
    for (size_t i = 0; i < n; i++) {
        const json_t *r = json_array_get(results, i);
        str id = json_get_str(r, "source_id");
        struct report_puzzles *p = &out->puzzles;
        if (p->n == 0 || !str_eq(p->v[p->n - 1].id, id))
            *vec_push(a, p) = (struct report_puzzle){
                .id = arena_str(a, id),
                .rating = (int)json_get_int(r, "rating", 0),
                .length = (int)json_get_int(r, "solver_length", 0),
                .solved = true,
            };
        struct report_puzzle *last = &p->v[p->n - 1];
        last->n_positions++;
        last->solved &= json_is_true(json_object_get(r, "correct"));
        latency[i] = number_of(r, "latency_s");
    }
    qsort(latency, n, sizeof *latency, by_size);
    out->latency_s = n > 0 ? latency[n / 2] : 0;
}

static bool read_program(str dir, struct arena *a, struct report_run_dir *out, struct err *err)
{
    str text;
    str path = path_join(dir, S("compiled.json"), a);
    out->program = program_new(a, &signature_choose_move, instruction_base);
    if (!file_exists(path))
        return true;
    return file_read(path, FILE_MAX_BYTES, a, &text, err) &&
           (program_from_text(text, a, &out->program, err) || err_add(err, "%.*s", STR(path)));
}

// The settings of the optimizer as one text, such as "breadth 10, depth 3".
static str settings_text(const json_t *config, struct arena *a)
{
    struct buf b = { .arena = a };
    const char *key;
    json_t *value;
    json_object_foreach (json_iterable(json_object_get(config, "optimizer")), key, value) {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        buf_addf(&b, "%s%s %s", b.len ? ", " : "", key, text ? text : "?");
        free(text);
    }
    return buf_str(&b);
}

static void read_config(const json_t *config, const json_t *summary, struct arena *a,
                        struct report_run_dir *out)
{
    const json_t *settings = json_object_get(config, "config");
    out->run.method = arena_str(a, json_get_str(summary, "method"));
    out->run.model = arena_str(a, json_get_str(json_object_get(settings, "task_model"), "name"));
    out->run.seed = json_get_int(settings, "seed", 0);
    out->settings = settings_text(settings, a);
}

bool report_run_dir_load(str dir, struct arena *a, struct report_run_dir *out, struct err *err)
{
    struct arena scratch = { 0 };
    json_t *summary = NULL, *results = NULL, *config = NULL;
    bool ok = false;
    *out = (struct report_run_dir){ 0 };
    if (!load_json(dir, "summary.json", &scratch, &summary, err) ||
        !load_json(dir, "results.json", &scratch, &results, err) ||
        !load_json(dir, "run_config.json", &scratch, &config, err) ||
        !read_program(dir, a, out, err))
        goto done;
    read_config(config, summary, a, out);
    read_summary(summary, out);
    read_results(results, a, out);
    out->run.unchanged = out->program->n_demos == 0 &&
                         str_eq(out->program->instruction, instruction_base) &&
                         !str_eq(out->run.method, S("baseline"));
    ok = out->run.n > 0 || err_set(err, ERR_INPUT, "%.*s: no puzzle of it is complete", STR(dir));
done:
    json_decref(summary);
    json_decref(results);
    json_decref(config);
    arena_free(&scratch);
    return ok;
}

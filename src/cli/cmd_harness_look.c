// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_harness_look.c - finished evaluations again: two harnesses compared, a run's hashes checked.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "cli/harness_commands.h"
#include "cli/harness_files.h"

enum { FILE_MAX_BYTES = 1 << 30, SHOWN_PUZZLES = 5, LINES_MAX = 4000 };

// ---- finding things ----

// The names in a directory, sorted; none where there is no directory.
static struct names list_names(str dir, struct arena *a)
{
    struct names out = { 0 };
    DIR *d = opendir(arena_str(a, dir).data);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.')
            *vec_push(a, &out) = arena_str(a, str_from(e->d_name));
    if (d)
        closedir(d);
    for (size_t i = 1; i < out.n; i++)
        for (size_t k = i; k > 0 && str_cmp(out.v[k - 1], out.v[k]) > 0; k--) {
            str swap = out.v[k];
            out.v[k] = out.v[k - 1];
            out.v[k - 1] = swap;
        }
    return out;
}

bool harness_results(str run, str harness, struct arena *a, struct names *out, struct err *err)
{
    *out = (struct names){ 0 };
    static const char *const tops[] = { "logs", "results" };
    for (size_t t = 0; t < ARRAY_LEN(tops); t++) {
        str logs = path_join(run, str_from(tops[t]), a);
        struct names profiles = list_names(logs, a);
        for (size_t i = 0; i < profiles.n; i++) {
            str dir = path_join(path_join(logs, profiles.v[i], a), harness, a);
            struct names models = list_names(dir, a);
            for (size_t k = 0; k < models.n; k++)
                if (file_exists(path_join(path_join(dir, models.v[k], a), S("val.json"), a)))
                    *vec_push(a, out) = path_join(dir, models.v[k], a);
        }
    }
    return out->n > 0 || err_set(err, ERR_INPUT, "%.*s holds no evaluation of a harness \"%.*s\"",
                                 STR(run), STR(harness));
}

static bool read_json(str path, struct arena *a, json_t **out, struct err *err)
{
    str text;
    if (!file_read(path, FILE_MAX_BYTES, a, &text, err))
        return false;
    *out = json_read_strict(text, err);
    return *out || err_add(err, "%.*s", STR(path));
}

// ---- diff ----

struct text_lines {
    str *v;
    size_t n, cap;
};

static struct text_lines cut_lines(str text, struct arena *a)
{
    struct text_lines out = { 0 };
    while (text.len > 0 && out.n < LINES_MAX)
        *vec_push(a, &out) = str_cut_line(&text);
    return out;
}

static void add_changed(struct buf *b, char sign, str line)
{
    buf_addf(b, "%c%.*s\n", sign, STR(text_for_terminal(line, b->arena)));
}

// Lines that only one of the two has, by the longest common subsequence.
static void add_source_diff(str old, str new, struct buf *b)
{
    struct text_lines x = cut_lines(old, b->arena), y = cut_lines(new, b->arena);
    size_t width = y.n + 1;
    uint16_t *common = NEW_ARRAY(b->arena, uint16_t, (x.n + 1) * width);
    for (size_t i = x.n; i-- > 0;)
        for (size_t k = y.n; k-- > 0;) {
            uint16_t down = common[(i + 1) * width + k], right = common[i * width + k + 1];
            common[i * width + k] = str_eq(x.v[i], y.v[k])
                                        ? (uint16_t)(common[(i + 1) * width + k + 1] + 1)
                                    : down > right ? down
                                                   : right;
        }
    for (size_t i = 0, k = 0; i < x.n || k < y.n;) {
        if (i < x.n && k < y.n && str_eq(x.v[i], y.v[k])) {
            i++;
            k++;
        } else if (i < x.n &&
                   (k == y.n || common[(i + 1) * width + k] >= common[i * width + k + 1])) {
            add_changed(b, '-', x.v[i++]);
        } else {
            add_changed(b, '+', y.v[k++]);
        }
    }
}

static void add_responses(const json_t *row, const char *who, struct buf *b)
{
    size_t i;
    json_t *event;
    buf_addf(b, "  %s: %.*s\n", who, STR(json_get_str(row, "stop_condition")));
    json_array_foreach (json_iterable(json_object_get(row, "harness_trace")), i, event) {
        str said = json_get_str(event, "raw_response");
        if (said.len > 0)
            buf_addf(b, "    %.*s  -> %.*s\n",
                     STR(text_for_terminal(str_sub(said, 0, 200), b->arena)),
                     STR(text_for_terminal(json_get_str(event, "parsed_action"), b->arena)));
    }
}

struct rows {
    json_t **v;
    size_t n, cap;
};

static bool read_rows(str dir, struct arena *a, struct rows *out, struct err *err)
{
    str text, path = path_join(dir, S("ChessPuzzle-v0_trajectories.jsonl"), a);
    if (!file_read(path, FILE_MAX_BYTES, a, &text, err))
        return false;
    while (text.len > 0) {
        json_t *row = json_read_strict(str_cut_line(&text), err);
        if (!row)
            return err_add(err, "%.*s:%zu", STR(path), out->n + 1);
        *vec_push(a, out) = row;
    }
    return true;
}

static void free_rows(struct rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        json_decref(rows->v[i]);
}

static bool add_puzzles(const str dirs[2], struct buf *b, struct err *err)
{
    struct rows old = { 0 }, new = { 0 };
    int64_t n[2] = { 0 };
    bool ok = read_rows(dirs[0], b->arena, &old, err) && read_rows(dirs[1], b->arena, &new, err);
    for (size_t i = 0; ok && i < old.n && i < new.n; i++) {
        bool before = json_is_true(json_object_get(old.v[i], "correct")),
             after = json_is_true(json_object_get(new.v[i], "correct"));
        if (before == after || ++n[after] > SHOWN_PUZZLES)
            continue;
        buf_addf(b, "%s: puzzle %lld\n", after ? "gained" : "lost",
                 (long long)json_get_int(old.v[i], "example_index", -1));
        add_responses(old.v[i], "before", b);
        add_responses(new.v[i], "after", b);
    }
    buf_addf(b, "gained %lld, lost %lld; p (two-sided, paired) %.4f\n", (long long)n[1],
             (long long)n[0], stats_mcnemar_exact(n[0], n[1]));
    free_rows(&old);
    free_rows(&new);
    return ok;
}

static bool diff_run(const struct args *args, struct arena *a, struct err *err)
{
    struct buf b = { .arena = a };
    str dirs[2], sources[2];
    if (args->n_positionals != 3)
        return err_set(err, ERR_USAGE, "give RUN HARNESS HARNESS, say runs/x h0 h4");
    for (int i = 0; i < 2; i++) {
        struct names found;
        str name = args->positionals[i + 1];
        str path = path_join(path_join(path_join(args->positionals[0], S("harnesses"), a), name, a),
                             S("harness.py"), a);
        if (!candidate_read(path, a, &sources[i], err) ||
            !harness_results(args->positionals[0], name, a, &found, err))
            return false;
        dirs[i] = found.v[0];
    }
    add_source_diff(sources[0], sources[1], &b);
    return add_puzzles(dirs, &b, err) && print_str(buf_str(&b), err);
}

const struct command command_harness_diff = {
    .name = "harness diff",
    .summary = "two harnesses of a run: their sources, and the puzzles gained and lost",
    .usage = "RUN HARNESS HARNESS",
    .about = "Example: rookery harness diff runs/mine h0 h4",
    .max_positionals = 3,
    .run = diff_run,
};

// ---- verify-run ----

struct verification {
    struct arena *a;
    struct buf faults;
    int64_t n_files;
};

static void complain(struct verification *v, str path, const char *what)
{
    buf_addf(&v->faults, "%.*s: %s\n", STR(path), what);
}

// A harness file against what the run says of it.
static void verify_harness(struct verification *v, str run, str name, str expected)
{
    str dir = path_join(path_join(run, S("harnesses"), v->a), name, v->a), source;
    str path = path_join(dir, S("harness.py"), v->a);
    v->n_files++;
    if (!candidate_read(path, v->a, &source, NULL))
        complain(v, path, "cannot be read");
    else if (!str_eq(sha256_of(source, v->a), expected))
        complain(v, path, "is not the file that was evaluated");
}

// An evaluation against itself: its rollouts make its figures.
static void verify_result(struct verification *v, str dir, str sha256)
{
    json_t *val = NULL;
    struct rows rows = { 0 };
    str path = path_join(dir, S("val.json"), v->a);
    int64_t solved = 0;
    v->n_files += 2;
    if (!read_json(path, v->a, &val, NULL) || !read_rows(dir, v->a, &rows, NULL)) {
        complain(v, path, "cannot be read, or its trajectories cannot");
    } else {
        const json_t *each = json_object_get(val, "per_example");
        bool same = json_array_size(each) == rows.n;
        for (size_t i = 0; same && i < rows.n; i++) {
            bool right = json_is_true(json_object_get(rows.v[i], "correct"));
            solved += right;
            same = json_integer_value(json_array_get(each, i)) == right;
        }
        if (!same || solved != json_get_int(val, "solved_examples", -1))
            complain(v, path, "does not agree with its trajectories");
        str evaluated = json_get_str(json_object_get(val, "metadata"), "harness_sha256");
        if (sha256.len > 0 && !str_eq(evaluated, sha256))
            complain(v, path, "is of another harness file");
    }
    free_rows(&rows);
    json_decref(val);
}

static void verify_all(struct verification *v, str run, const json_t *info)
{
    const char *key;
    json_t *value;
    json_object_foreach (json_iterable(json_object_get(info, "harnesses")), key, value) {
        struct names results;
        str name = arena_str(v->a, str_from(key)), sha = arena_str(v->a, json_view(value));
        verify_harness(v, run, name, sha);
        if (harness_results(run, name, v->a, &results, NULL))
            for (size_t i = 0; i < results.n; i++)
                verify_result(v, results.v[i], sha);
    }
}

static bool verify_run(const struct args *args, struct arena *a, struct err *err)
{
    struct verification v = { .a = a, .faults = { .arena = a } };
    json_t *info = NULL;
    if (args->n_positionals != 1)
        return err_set(err, ERR_USAGE, "give a run directory");
    str run = args->positionals[0];
    if (!read_json(path_join(run, S("run.json"), a), a, &info, err))
        return false;
    verify_all(&v, run, info);
    json_decref(info);
    if (v.n_files == 0)
        return err_set(err, ERR_INPUT, "%.*s/run.json names no harness", STR(run));
    if (v.faults.len > 0)
        return print_str(buf_str(&v.faults), err) &&
               err_set(err, ERR_RUN, "%.*s was changed after it was written", STR(run));
    return print_str(arena_printf(a, "%lld files agree\n", (long long)v.n_files), err);
}

const struct command command_harness_verify_run = {
    .name = "harness verify-run",
    .summary = "check the hashes and figures of a run directory",
    .usage = "RUN",
    .about = "Each harness file must be the one that was evaluated, and each result must follow\n"
             "from its trajectories. `harness replay` checks more: that these follow from the\n"
             "answers of the model.\nExample: rookery harness verify-run runs/mine",
    .max_positionals = 1,
    .run = verify_run,
};

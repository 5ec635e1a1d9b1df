// SPDX-License-Identifier: GPL-3.0-or-later
// game_import.c - logs of LLM Chess games from files and directories, with the labels that the
// run's metadata beside them give; options that the commands over logs share.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/game_import.h"

enum { DEPTH_MAX = 16, FILES_MAX = 1000000 };

struct import { // of many files
    struct arena *arena;
    struct err *err;
    struct paths {
        str *v;
        size_t n, cap;
    } paths;
    struct game_logs logs;
    size_t n_skipped;
    // of the directory at work: what its _run.json says beside the logs
    str dir, white_label, effort;
    int64_t budget;
};

// ---- files ----

static bool is_log_name(const char *name)
{
    return name[0] != '_' && name[0] != '.' && str_ends(str_from(name), S(".json"));
}

// Folders that the original's users set aside.
static bool is_set_aside(const char *name)
{
    static const char *const words[] = { "errors-", "fails-", "skip-" };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_starts(str_from(name), str_from(words[i])))
            return true;
    return false;
}

static bool walk(struct import *im, str path, int depth);

static bool walk_dir(struct import *im, str path, int depth)
{
    DIR *d = opendir(path.data);
    if (!d)
        return err_set(im->err, ERR_INPUT, "%.*s: %s", STR(path), strerror(errno));
    bool ok = true;
    const struct dirent *e;
    while (ok && (e = readdir(d))) {
        str name = str_from(e->d_name);
        struct stat st;
        str below = path_join(path, name, im->arena);
        if (e->d_name[0] == '.' || stat(below.data, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode) && is_set_aside(e->d_name)) {
            log_line(LOG_WARN, "%.*s is set aside by its name", STR(below));
            continue;
        }
        if (S_ISDIR(st.st_mode) || is_log_name(e->d_name))
            ok = walk(im, below, depth + 1);
    }
    closedir(d);
    return ok;
}

static bool walk(struct import *im, str path, int depth)
{
    struct stat st;
    if (depth > DEPTH_MAX)
        return err_set(im->err, ERR_LIMIT, "%.*s: directories nest too deep", STR(path));
    if (im->paths.n >= FILES_MAX)
        return err_set(im->err, ERR_LIMIT, "more than %d logs", FILES_MAX);
    if (stat(path.data, &st) != 0)
        return err_set(im->err, ERR_INPUT, "%.*s: %s", STR(path), strerror(errno));
    if (S_ISDIR(st.st_mode))
        return walk_dir(im, path, depth);
    *vec_push(im->arena, &im->paths) = path;
    return true;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(*(const str *)a, *(const str *)b);
}

// ---- what stands beside the logs ----

static str dir_of(str path)
{
    size_t n = path.len;
    while (n > 0 && path.data[n - 1] != '/')
        n--;
    return str_sub(path, 0, n);
}

// "dragon-lvl-3" of ".../engine_vs_llm/dragon-lvl-3/...".
static str level_in_path(str path)
{
    while (path.len > 0) {
        str part = str_cut(&path, '/');
        if (str_find(part, S("-lvl-")) > 0 && str_find(part, S("_vs_")) < 0)
            return part;
    }
    return (str){ 0 };
}

// Label of engine and model as the run's metadata tell them (4.2): effort, budget, level.
static void read_run_json(struct import *im)
{
    str text;
    struct err ignored = { 0 };
    str path = path_join(im->dir, S("_run.json"), im->arena);
    im->white_label = level_in_path(im->dir);
    im->effort = (str){ 0 };
    im->budget = 0;
    if (!file_exists(path) || !file_read(path, LOG_MAX_BYTES, im->arena, &text, &ignored))
        return;
    json_t *root = json_read_envelope(text, NULL, &ignored);
    const json_t *black = json_object_get(json_object_get(root, "llm_configs"), "black");
    const json_t *hyper = json_object_get(black, "hyperparameters");
    str effort = json_get_str(black, "reasoning_effort");
    if (effort.len == 0)
        effort = json_get_str(hyper, "reasoning_effort");
    im->effort = arena_str(im->arena, effort);
    im->budget = json_get_int(black, "thinking_budget", json_get_int(hyper, "thinking_budget", 0));
    const json_t *dragon = json_object_get(json_object_get(root, "chess_engines"), "dragon");
    int64_t level = json_get_int(dragon, "level", 0);
    if (level > 0 && im->white_label.len == 0)
        im->white_label = arena_printf(im->arena, "dragon-lvl-%lld", (long long)level);
    json_decref(root);
}

static void label(struct import *im, struct game_log *g)
{
    struct log_side *black = &g->side[BLACK], *white = &g->side[WHITE];
    if (g->run.len > 0)
        return; // our own logs have their labels
    if (im->white_label.len > 0 && str_starts(white->name, S("Chess_Engine_")))
        white->label = im->white_label;
    if (str_eq(black->model, S("N/A")))
        return;
    if (im->effort.len > 0)
        black->label = arena_printf(im->arena, "%.*s-%.*s", STR(black->label), STR(im->effort));
    if (im->budget > 0)
        black->label =
            arena_printf(im->arena, "%.*s-thinking_%lld", STR(black->label), (long long)im->budget);
}

// A file that is no log is named and left out.
static void import_file(struct import *im, str path)
{
    str text;
    struct err err = { 0 };
    struct game_log log;
    if (!str_eq(dir_of(path), im->dir)) {
        im->dir = dir_of(path);
        read_run_json(im);
    }
    if (!file_read(path, LOG_MAX_BYTES, im->arena, &text, &err) ||
        !game_log_read(path, text, im->arena, &log, &err)) {
        log_line(LOG_WARN, "left out: %s", err.text);
        im->n_skipped++;
        return;
    }
    label(im, &log);
    *vec_push(im->arena, &im->logs) = log;
}

// Results of different profiles are never pooled.
static bool check_profiles(const struct import *im)
{
    str first = { 0 };
    for (size_t i = 0; i < im->logs.n; i++) {
        str profile = im->logs.v[i].profile;
        if (profile.len == 0)
            profile = S("compat"); // logs of the original
        if (first.len > 0 && !str_eq(first, profile))
            return err_set(im->err, ERR_INPUT,
                           "logs of the profiles %.*s and %.*s are not pooled; name directories of "
                           "one profile",
                           STR(first), STR(profile));
        first = profile;
    }
    return true;
}

bool games_import(const struct args *args, struct arena *a, struct game_logs *out,
                  size_t *n_skipped, struct err *err)
{
    struct import im = { .arena = a, .err = err, .dir = S("\n") };
    if (args->n_positionals == 0)
        return err_set(err, ERR_USAGE, "name logs or directories of them");
    for (size_t i = 0; i < args->n_positionals; i++)
        if (!walk(&im, arena_str(a, args->positionals[i]), 0))
            return false;
    if (im.paths.n > 1)
        qsort(im.paths.v, im.paths.n, sizeof im.paths.v[0], by_name);
    for (size_t i = 0; i < im.paths.n; i++)
        import_file(&im, im.paths.v[i]);
    *out = im.logs;
    if (n_skipped)
        *n_skipped = im.n_skipped;
    return check_profiles(&im);
}

// ---- options ----

bool games_read_policy(const struct args *args, enum error_policy *out, struct err *err)
{
    str policy = opt_text(args, "policy", S("strict"));
    *out = str_eq(policy, S("strict")) ? POLICY_STRICT : POLICY_LENIENT;
    return *out == POLICY_STRICT || str_eq(policy, S("lenient")) ||
           err_set(err, ERR_USAGE, "--policy must be strict or lenient");
}

bool games_read_anchors(const struct args *args, struct arena *a, struct refined_opts *o,
                        struct err *err)
{
    struct anchors {
        struct refined_anchor *v;
        size_t n, cap;
    } anchors = { 0 };
    str list = opt_text(args, "anchor", S(""));
    while (list.len > 0) {
        str elo = str_cut(&list, ','), name = str_cut(&elo, '=');
        struct refined_anchor *anchor = vec_push(a, &anchors);
        anchor->label = name;
        if (!str_to_double(elo, &anchor->elo))
            return err_set(err, ERR_USAGE, "--anchor must be LABEL=ELO,..., got \"%.*s\"",
                           STR(name));
    }
    o->anchors = anchors.v;
    o->n_anchors = anchors.n;
    return true;
}

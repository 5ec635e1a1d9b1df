// SPDX-License-Identifier: GPL-3.0-or-later
// engines.c - engines as the command line names them: found, set up, and met before a run.
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/engines.h"
#include "pump/pump.h"

const struct opt opts_engine[] = {
    { "engine", OPT_TEXT, "PATH", "any UCI engine [stockfish]", 0, 0 },
    { "engine-args", OPT_TEXT, "WORDS", "its arguments, separated by blanks", 0, 0 },
    { "engine-options", OPT_TEXT, "TEXT", "\"Name=Value;...\", added to Threads=1;Hash=128", 0, 0 },
    { "engine-limit", OPT_TEXT, "LIMIT", "depth=N, nodes=N or movetime=MS [depth=20]", 0, 0 },
    { "engines", OPT_INT, "N", "engine processes at once [cores]", 1, 256 },
    { "engine-timeout", OPT_REAL, "S", "seconds one search may take [300]", 0.01, 86400 },
    { "engine-debug", OPT_FLAG, NULL, "compare the engine's board with ours (Stockfish's d)", 0,
      0 },
    { 0 },
};

// Where Debian installs games, which is not on every PATH.
static const char GAMES[] = "/usr/games";

static bool is_program(str path)
{
    return access(path.data, X_OK) == 0;
}

bool cli_find_program(str name, struct arena *a, str *out, struct err *err)
{
    const char *path = getenv("PATH");
    str rest = arena_printf(a, "%s:%s", path ? path : "/usr/bin:/bin", GAMES);
    char whole[PATH_MAX];
    name = arena_str(a, name);
    if (str_find_char(name, '/') >= 0) {
        if (!is_program(name) || !realpath(name.data, whole))
            return err_set(err, ERR_USAGE, "%.*s is not a program here", STR(name));
        *out = arena_str(a, str_from(whole));
        return true;
    }
    while (rest.len > 0) {
        str dir = str_cut(&rest, ':');
        *out = path_join(dir, name, a);
        if (dir.len > 0 && is_program(*out))
            return true;
    }
    return err_set(err, ERR_USAGE,
                   "there is no program \"%.*s\"; install one (Debian: apt install stockfish) or "
                   "give its path",
                   STR(name));
}

// A path as a value means one of this directory, wherever the engine looks (field case F-053).
static void make_absolute(struct engine_setting *s, struct arena *a)
{
    char whole[PATH_MAX];
    str value = arena_str(a, s->value);
    bool is_path = str_ends(s->name, S("File")) || str_ends(s->name, S("Path"));
    if (is_path && file_exists(value) && realpath(value.data, whole))
        s->value = arena_str(a, str_from(whole));
}

static void split_words(str text, struct arena *a, struct engine *out)
{
    str *words = NEW_ARRAY(a, str, text.len + 1);
    while (text.len > 0) {
        str word = str_cut(&text, ' ');
        if (word.len > 0)
            words[out->n_args++] = arena_str(a, word);
    }
    out->args = words;
}

bool cli_engine_limit(const struct args *args, const char *option, struct engine_limit *out,
                      struct err *err)
{
    return engine_limit_parse(opt_text(args, option, S("depth=20")), out, err) ||
           err_add(err, "--%s", option);
}

bool cli_engine_configure(const struct args *args, struct arena *a, struct engine *out,
                          struct err *err)
{
    *out = (struct engine){ .check_positions = opt_flag(args, "engine-debug"),
                            .timeout_ms = (int64_t)(opt_real(args, "engine-timeout", 0) * 1000) };
    engine_settings_put(&out->settings, S("Threads"), S("1"), a);
    engine_settings_put(&out->settings, S("Hash"), S("128"), a);
    for (size_t i = 0; i < out->settings.n; i++)
        out->settings.v[i].optional = true; // until they are asked for by name
    split_words(opt_text(args, "engine-args", S("")), a, out);
    if (!cli_find_program(opt_text(args, "engine", S("stockfish")), a, &out->path, err))
        return err_add(err, "--engine");
    if (!engine_settings_parse(opt_text(args, "engine-options", S("")), a, &out->settings, err))
        return false;
    for (size_t i = 0; i < out->settings.n; i++)
        make_absolute(&out->settings.v[i], a);
    return true;
}

str cli_engines_share(const struct pump_stats *stats, int64_t since_us, struct arena *a)
{
    double wall_ms = (double)(clock_mono_us() - since_us) / 1000;
    if (stats->n_searches == 0 || wall_ms <= 0)
        return (str){ 0 };
    return arena_printf(a, "; engines at work %.1f %% of %.1f s",
                        100 * (double)stats->engine_ms / wall_ms / stats->engines, wall_ms / 1000);
}

bool cli_engine_judge(const struct args *args, struct arena *a, struct engine *out, struct err *err)
{
    if (!cli_engine_configure(args, a, out, err) || !pump_meet_engine(out, a, err))
        return false;
    if (out->random)
        log_line(LOG_WARN,
                 "%.*s plays by chance with these settings: its figures are not repeatable",
                 STR(out->name));
    return true;
}

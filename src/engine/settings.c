// SPDX-License-Identifier: GPL-3.0-or-later
// settings.c - what an engine is told to be, against what it says it can be.
#include <string.h>

#include "engine/engine.h"

enum { SETTING_MAX_BYTES = 4096 };

static struct engine_setting *find(const struct engine_settings *s, str name)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_eq_nocase(s->v[i].name, name))
            return &s->v[i];
    return NULL;
}

void engine_settings_put(struct engine_settings *s, str name, str value, struct arena *a)
{
    struct engine_setting *known = find(s, name);
    if (!known)
        known = vec_push(a, s);
    *known = (struct engine_setting){ .name = arena_str(a, name), .value = arena_str(a, value) };
}

void engine_settings_elo(struct engine_settings *s, int64_t elo, struct arena *a)
{
    engine_settings_put(s, S("UCI_LimitStrength"), S("true"), a);
    engine_settings_put(s, S("UCI_Elo"), arena_printf(a, "%lld", (long long)elo), a);
}

// A line break would be another command of UCI.
static bool is_one_line(str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] < ' ')
            return false;
    return text.len <= SETTING_MAX_BYTES;
}

bool engine_settings_parse(str text, struct arena *a, struct engine_settings *out, struct err *err)
{
    while (text.len > 0) {
        str value = str_cut(&text, ';');
        if (str_trim(value).len == 0)
            continue;
        str name = str_trim(str_cut(&value, '='));
        value = str_trim(value);
        if (name.len == 0 || !is_one_line(name) || !is_one_line(value))
            return err_set(err, ERR_USAGE,
                           "settings of an engine are \"Name=Value;Other Name=Value\", got \"%s\"",
                           str_show(name, 60).text);
        engine_settings_put(out, name, value, a);
    }
    return true;
}

static const struct engine_option *announced(const struct engine_options *options, str name)
{
    for (size_t i = 0; i < options->n; i++)
        if (str_eq_nocase(options->v[i].name, name))
            return &options->v[i];
    return NULL;
}

static bool unknown(const struct engine_options *options, str name, struct err *err)
{
    struct nearest n = { .word = name };
    for (size_t i = 0; i < options->n; i++)
        nearest_offer(&n, options->v[i].name);
    if (n.name.len > 0)
        return err_set(err, ERR_USAGE, "it has no option \"%.*s\"; did you mean \"%.*s\"?",
                       STR(name), STR(n.name));
    return err_set(err, ERR_USAGE, "it has no option \"%.*s\"", STR(name));
}

// Whether `value` is one of "var A var B c".
static bool is_var(str vars, str value)
{
    while (vars.len > 0) {
        ptrdiff_t next = str_find(str_sub(vars, 1, vars.len), S("var "));
        size_t len = next < 0 ? vars.len : (size_t)next + 1;
        if (str_eq_nocase(str_trim(str_sub(vars, 4, len - 4)), value))
            return true;
        vars = str_sub(vars, len, vars.len);
    }
    return false;
}

bool engine_setting_check(const struct engine_options *options, const struct engine_setting *s,
                          struct err *err)
{
    const struct engine_option *o = announced(options, s->name);
    int64_t n;
    if (!o)
        return unknown(options, s->name, err);
    switch (o->kind) {
    case OPTION_CHECK:
        if (str_eq(s->value, S("true")) || str_eq(s->value, S("false")))
            return true;
        return err_set(err, ERR_USAGE, "its option \"%.*s\" is true or false, got \"%.*s\"",
                       STR(o->name), STR(s->value));
    case OPTION_SPIN:
        if (str_to_int(s->value, o->min, o->max, &n))
            return true;
        return err_set(err, ERR_USAGE,
                       "its option \"%.*s\" is a number from %lld to %lld, got "
                       "\"%.*s\"",
                       STR(o->name), (long long)o->min, (long long)o->max, STR(s->value));
    case OPTION_COMBO:
        if (is_var(o->vars, s->value))
            return true;
        return err_set(err, ERR_USAGE, "its option \"%.*s\" is one of: %.*s; got \"%.*s\"",
                       STR(o->name), STR(o->vars), STR(s->value));
    case OPTION_BUTTON:
        return s->value.len == 0 ||
               err_set(err, ERR_USAGE, "its option \"%.*s\" takes no value", STR(o->name));
    case OPTION_STRING: return true;
    }
    BUG("no such kind of option");
}

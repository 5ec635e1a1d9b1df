// SPDX-License-Identifier: GPL-3.0-or-later
// args.c - GNU long options from a command's table, and its --help.
#include <string.h>

#include "cli/cli.h"

const struct opt *opt_at(const struct command *command, size_t i)
{
    static const struct opt end = { 0 };
    for (size_t t = 0; t < OPT_TABLES_MAX && command->opts[t]; t++)
        for (const struct opt *o = command->opts[t]; o->name; o++)
            if (i-- == 0)
                return o;
    return &end;
}

// Its number, or that of the end where the command has no such option.
static size_t option_index(const struct command *command, str name)
{
    size_t i = 0;
    const struct opt *o;
    while ((o = opt_at(command, i))->name && !str_eq(str_from(o->name), name))
        i++;
    if (i == OPTS_MAX)
        BUG("more options than room");
    return i;
}

bool has_option(const struct args *args, const char *name)
{
    return opt_at(args->command, option_index(args->command, str_from(name)))->name != NULL;
}

const struct opt_value *opt_get(const struct args *args, const char *name)
{
    if (!has_option(args, name))
        BUG(name);
    return &args->values[option_index(args->command, str_from(name))];
}

str opt_text(const struct args *args, const char *name, str fallback)
{
    const struct opt_value *v = opt_get(args, name);
    return v->set ? v->text : fallback;
}

int64_t opt_int(const struct args *args, const char *name, int64_t fallback)
{
    const struct opt_value *v = opt_get(args, name);
    return v->set ? v->integer : fallback;
}

double opt_real(const struct args *args, const char *name, double fallback)
{
    const struct opt_value *v = opt_get(args, name);
    return v->set ? v->real : fallback;
}

bool opt_flag(const struct args *args, const char *name)
{
    return opt_get(args, name)->set;
}

static bool unknown_option(const struct command *command, str name, struct err *err)
{
    struct nearest n = { .word = name };
    const struct opt *o;
    for (size_t i = 0; (o = opt_at(command, i))->name; i++)
        nearest_offer(&n, str_from(o->name));
    if (n.name.len > 0)
        return err_set(err, ERR_USAGE, "unknown option --%.*s; did you mean --%.*s?", STR(name),
                       STR(n.name));
    return err_set(err, ERR_USAGE, "unknown option --%.*s; see rookery %s --help", STR(name),
                   command->name);
}

static bool read_value(const struct opt *o, str text, struct opt_value *v, struct err *err)
{
    v->set = true;
    v->text = text;
    bool ok = true;
    if (o->kind == OPT_INT) {
        ok = str_to_int(text, INT64_MIN, INT64_MAX, &v->integer);
        v->real = (double)v->integer;
    } else if (o->kind == OPT_REAL) {
        ok = str_to_double(text, &v->real);
    }
    if (!ok)
        return err_set(err, ERR_USAGE, "--%s wants %s, got \"%.*s\"", o->name,
                       o->kind == OPT_INT ? "an integer" : "a number", STR(text));
    if (o->max > o->min && (v->real < o->min || v->real > o->max))
        return err_set(err, ERR_USAGE, "--%s must be between %g and %g, got %.*s", o->name, o->min,
                       o->max, STR(text));
    return true;
}

// One option beginning at argv[*i]; `*i` moves on over a value of its own.
static bool read_option(struct args *out, int argc, char **argv, int *i, struct err *err)
{
    str value = str_from(argv[*i] + 2);
    bool joined = str_find_char(value, '=') >= 0;
    str name = str_cut(&value, '=');
    size_t k = option_index(out->command, name);
    const struct opt *o = opt_at(out->command, k);
    if (!o->name)
        return unknown_option(out->command, name, err);
    if (o->kind == OPT_FLAG) {
        out->values[k].set = true;
        return !joined || err_set(err, ERR_USAGE, "--%s takes no value", o->name);
    }
    if (!joined) {
        if (*i + 1 >= argc)
            return err_set(err, ERR_USAGE, "--%s needs a value: %s", o->name, o->value);
        value = str_from(argv[++*i]);
    }
    return read_value(o, value, &out->values[k], err);
}

bool args_parse(const struct command *command, int argc, char **argv, struct args *out,
                struct err *err)
{
    memset(out, 0, sizeof *out);
    out->command = command;
    bool options = true;
    for (int i = 0; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && strncmp(argv[i], "--", 2) == 0) {
            if (!read_option(out, argc, argv, &i, err))
                return false;
        } else if (options && argv[i][0] == '-' && argv[i][1] != '\0') {
            return err_set(err, ERR_USAGE, "unknown option %s; options begin with two dashes",
                           argv[i]);
        } else if (out->n_positionals == command->max_positionals) {
            return err_set(err, ERR_USAGE, "unexpected argument \"%s\"; usage: rookery %s %s",
                           argv[i], command->name, command->usage);
        } else {
            out->positionals[out->n_positionals++] = str_from(argv[i]);
        }
    }
    return true;
}

void help_write(const struct command *command, struct buf *out)
{
    buf_addf(out, "usage: rookery %s %s\n\n%s\n", command->name, command->usage, command->about);
    const struct opt *o;
    for (size_t i = 0; (o = opt_at(command, i))->name; i++) {
        char left[64];
        snprintf(left, sizeof left, "--%s %s", o->name, o->value ? o->value : "");
        buf_addf(out, "%s  %-26s %s\n", i == 0 ? "\noptions:\n" : "", left, o->help);
    }
    if (command->each)
        buf_add(out, S("\nA line that cannot be read becomes a record with \"error\"; the next is "
                       "read, and the exit code stays 0.\n"));
}

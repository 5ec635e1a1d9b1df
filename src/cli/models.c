// SPDX-License-Identifier: GPL-3.0-or-later
// models.c - models and programs as the command line names them.
#include <stdlib.h>

#include "cli/run.h"
#include "sim/sim.h"

enum { PROVIDERS_MAX = 32, PROGRAM_MAX_BYTES = 4 << 20 };

static const char *environment(const char *name)
{
    return getenv(name);
}

bool cli_model_open(str name, const struct model_opts *opts, struct arena *a, struct model *out,
                    struct err *err)
{
    const struct provider *providers[PROVIDERS_MAX + 2] = { &provider_sim };
    for (size_t i = 0; llm_providers[i]; i++) {
        if (i >= PROVIDERS_MAX)
            BUG("more providers than room");
        providers[i + 1] = llm_providers[i];
    }
    struct model_source from = { .providers = providers, .getenv_fn = environment };
    if (name.len == 0)
        return err_set(err, ERR_USAGE,
                       "no model named: use --model PROVIDER/MODEL, for a first "
                       "try --model sim/responsive");
    struct model_opts all = *opts;
    all.from = &from;
    return model_open(name, &all, a, out, err);
}

bool cli_prices(const struct args *args, struct arena *a, struct prices *out, struct err *err)
{
    str text, path = opt_text(args, "prices", S(""));
    *out = (struct prices){ 0 };
    if (path.len > 0 && (!file_read(path, PRICES_MAX_BYTES, a, &text, err) ||
                         (!prices_read(text, a, out, err) && !err_add(err, "%.*s", STR(path)))))
        return false;
    prices_builtin(a, out);
    return true;
}

bool cli_program_load(str path, struct arena *a, const struct program **out, struct err *err)
{
    str text;
    return file_read(path, PROGRAM_MAX_BYTES, a, &text, err) &&
           (program_from_text(text, a, out, err) || err_add(err, "%.*s", STR(path)));
}

str format_name(enum reply_format format)
{
    static const str names[] = { [FORMAT_NONE] = T("none"),
                                 [FORMAT_JSON_OBJECT] = T("json_object"),
                                 [FORMAT_SCHEMA] = T("schema") };
    return names[format];
}

bool format_parse(str name, enum reply_format *out)
{
    for (int f = FORMAT_NONE; f <= FORMAT_SCHEMA; f++)
        if (str_eq(name, format_name((enum reply_format)f))) {
            *out = (enum reply_format)f;
            return true;
        }
    return false;
}

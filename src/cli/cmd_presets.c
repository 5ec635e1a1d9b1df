// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_presets.c - the table of settings that the presets decide.
#include "cli/cli.h"
#include "config/config.h"

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    (void)args;
    struct buf b = { .arena = a };
    buf_add(&b, S("transport (change no score):\n"
                  "  retries 1 and timeout 30 s where --preset paper is given by name, else 3 and "
                  "120 s\n\n"));
    config_options_table(&b);
    buf_add(&b, S("\nset one with --set NAME=VALUE, or under `rookery: {options: ...}`\n"));
    return print_str(buf_str(&b), err);
}

const struct command command_presets = {
    .name = "presets",
    .summary = "the settings that --preset paper and improved decide",
    .usage = "",
    .about = "Prints the table of settings. The default preset is paper; its transport settings\n"
             "apply only where --preset paper is given (over a file, not over flags), as they "
             "change no\n"
             "score.",
    .run = run,
};

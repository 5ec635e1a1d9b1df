// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_presets.c - the table of settings that the presets decide.
#include "cli/cli.h"

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    (void)args;
    (void)a;
    // Only what this version reads; more rows come with the optimizers that need them.
    return print_str(S("setting            paper                       improved\n"
                       "retries            1 when named by --preset    3\n"
                       "timeout            30 s when named             120 s\n"
                       "unparsable answer  score 0                     score 0\n"),
                     err);
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

// SPDX-License-Identifier: GPL-3.0-or-later
// harness_files.h - reading run directories of harness commands back.
#pragma once
#include "cli/cli.h"
#include "evolve/evolve.h"

struct names { // of files, sorted
    str *v;
    size_t n, cap;
};
// The directories with results of a harness; ERR_INPUT where there is none.
MUST_CHECK bool harness_results(str run, str harness, struct arena *a, struct names *out,
                                struct err *err);

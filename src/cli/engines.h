// SPDX-License-Identifier: GPL-3.0-or-later
// engines.h - what the commands that use an engine share.
#pragma once
#include "cli/cli.h"
#include "engine/engine.h"

extern const struct opt opts_engine[];
// Reads a limit option [depth=20].
MUST_CHECK bool cli_engine_limit(const struct args *args, const char *option,
                                 struct engine_limit *out, struct err *err);
// The engine of opts_engine, found but not yet met; texts in `a`.
MUST_CHECK bool cli_engine_configure(const struct args *args, struct arena *a, struct engine *out,
                                     struct err *err);
// The same, met: its name, identity and options are known. Warns where its figures cannot be
// repeated.
MUST_CHECK bool cli_engine_judge(const struct args *args, struct arena *a, struct engine *out,
                                 struct err *err);

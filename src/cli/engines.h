// SPDX-License-Identifier: GPL-3.0-or-later
// engines.h - what the commands that use an engine share.
#pragma once
#include "cli/cli.h"
#include "engine/engine.h"
#include "pump/pump.h"

extern const struct opt opts_engine[];
// The whole path of a program; a name without a slash is looked for on PATH, as a shell would, and
// where Debian installs games. ERR_USAGE.
MUST_CHECK bool cli_find_program(str name, struct arena *a, str *out, struct err *err);
// Reads a limit option [depth=20].
MUST_CHECK bool cli_engine_limit(const struct args *args, const char *option,
                                 struct engine_limit *out, struct err *err);
// The engine of opts_engine, found but not yet met; texts in `a`.
MUST_CHECK bool cli_engine_configure(const struct args *args, struct arena *a, struct engine *out,
                                     struct err *err);
// "engines at work 98.7 % of 12.3 s": what the processes did of the time since then; empty where
// nothing was searched.
str cli_engines_share(const struct pump_stats *stats, int64_t since_us, struct arena *a);
// The same, met: its name, identity and options are known. Warns where its figures cannot be
// repeated.
MUST_CHECK bool cli_engine_judge(const struct args *args, struct arena *a, struct engine *out,
                                 struct err *err);

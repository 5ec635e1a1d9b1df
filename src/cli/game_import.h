// SPDX-License-Identifier: GPL-3.0-or-later
// game_import.h - what the commands over game logs share.
#pragma once
#include "cli/cli.h"
#include "match/match.h"

// Reads the logs under the positional arguments, sorted by path; texts in `a`. Files that are no
// logs are named and counted in `n_skipped` (may be NULL). ERR_INPUT: a path that cannot be read,
// logs of different profiles, which are never pooled. ERR_USAGE: none is named.
MUST_CHECK bool games_import(const struct args *args, struct arena *a, struct game_logs *out,
                             size_t *n_skipped, struct err *err);
// --policy: strict or lenient. ERR_USAGE.
MUST_CHECK bool games_read_policy(const struct args *args, enum error_policy *out, struct err *err);
// --anchor: "LABEL=ELO,...". ERR_USAGE.
MUST_CHECK bool games_read_anchors(const struct args *args, struct arena *a, struct refined_opts *o,
                                   struct err *err);

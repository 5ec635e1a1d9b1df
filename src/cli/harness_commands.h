// SPDX-License-Identifier: GPL-3.0-or-later
// harness_commands.h - the commands that score and evolve harnesses, for the table in main.c.
#pragma once
#include "cli/cli.h"

extern const struct command command_harness_eval, command_harness_evolve, command_harness_diff,
    command_harness_replay, command_harness_verify_run, command_harness_ablate; // one a file

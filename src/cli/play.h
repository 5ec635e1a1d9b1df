// SPDX-License-Identifier: GPL-3.0-or-later
// play.h - what the files of `rookery play` share.
#pragma once
#include "cli/cli.h"
#include "episode/episode.h"

// One line of `play --parse-reply`: {"profile", "fen", "reply"} and options of the rules.
jsonl_fn parse_reply;

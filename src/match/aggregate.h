// SPDX-License-Identifier: GPL-3.0-or-later
// aggregate.h - the aggregate object of LLM Chess (4.3), whatever it was counted from.
#pragma once
#include "base/base.h"
#include "stats/stats.h"

struct aggregate {
    int64_t games, wins[2], draws, plies; // by enum color
    struct reason_count {
        str name;
        int64_t n;
    } * reasons; // in the order of first occurrence
    size_t n_reasons;
    struct aggregate_side {
        str name, model; // model: empty for none
        int64_t material, wrong_moves, wrong_actions, reflections, before_board;
        struct stats_sample materials; // of the games
    } side[2];
    struct stats_sample lengths;
};
// Writes it as members of the open object, all but what is ours.
void aggregate_put(struct json_out *o, const struct aggregate *g);
// {"games", "rate", "low95", "high95"} of k among n games.
void aggregate_put_rate(struct json_out *o, str key, int64_t k, int64_t n);

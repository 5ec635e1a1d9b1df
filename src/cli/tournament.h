// SPDX-License-Identifier: GPL-3.0-or-later
// tournament.h - what the files of `rookery tournament` share.
#pragma once
#include "cli/play.h"
#include "stats/stats.h"

struct tournament {
    struct play *play;     // rules, store, pump and logs of all games
    struct play **players; // each set up for both colours
    const str *specs;      // as the person named them
    struct match_format format;
    struct match_openings openings;
    int64_t batch; // rounds between two looks
    bool has_sprt;
    struct stats_sprt sprt;
    struct stats_sprt_state sprt_state;
    double half_width; // 0: not asked for
    size_t n_games;    // scheduled; the second try of a game has their number added to its own
    size_t n_played;   // of the schedule, from the front
    struct match_result *results;
    size_t n_results, n_broken; // games with and without a result
    struct match_standing *standings;
};
// Results, standings and the test's state of what was played.
void tournament_count(struct tournament *t);
// The configuration as JSON; with the time and place of the run, or only what can change a result.
str tournament_run_json(const struct tournament *t, bool with_place);
str tournament_json(const struct tournament *t);  // standings.json
str tournament_table(const struct tournament *t); // the standings for people
str tournament_report(const struct tournament *t);

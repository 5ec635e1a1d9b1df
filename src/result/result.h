// SPDX-License-Identifier: GPL-3.0-or-later
// result.h - from outcomes to numbers and to the files of a run directory (paper-files
// specification, section 2). Pure: builds texts, writes nothing.
#pragma once
#include "episode/episode.h"
#include "stats/stats.h"

struct tally { // one program on n positions, `samples` answers each
    int64_t n_positions, samples;
    int64_t kinds[ANSWER_KINDS]; // answers by kind
    int64_t n_answers, n_scored; // n_scored: the model was judged
    int64_t n_correct;
    int64_t n_any_mate; // another mate in one than the reference
    int64_t n_puzzles;  // with at least one position
    int64_t n_complete; // every position of the puzzle is among the n
    int64_t n_solved;   // complete, every position right (first sample)
    int64_t n_pass;     // positions right in at least one sample
    int64_t n_majority; // positions whose most frequent resolved move is right; ties: the first
    struct usage_total usage;
};
// `out` holds samples outcomes a position, position by position; positions of a puzzle adjacent.
void tally_positions(const struct puzzle_position *positions, size_t n, const struct outcome *out,
                     int samples, struct tally *t);
double tally_accuracy(const struct tally *t); // correct / answers, 0 of none

struct run_facts { // what summary.json and run_config.json tell beside the tally
    str method;
    int64_t n_train, n_validation; // positions
    double compile_s;
    bool has_compile; // false: baseline, compile_usage is null
    struct usage_total compile_task, compile_meta;
    str preset;
    bool simulated;
    str commit, version;
    double wall_s, spent_usd;
    int64_t n_retries, n_new_calls, n_replayed_calls, n_reused_calls;
};
struct result_set { // what the files list
    const struct puzzle_position *positions;
    size_t n;
    const struct outcome *out; // `samples` a position
    int samples;
    bool no_times; // latencies are written as zero
};
// Files as texts in `a`, each ending in a newline; results.json tells of the first samples only.
str results_json(const struct result_set *set, struct arena *a);
str predictions_jsonl(const struct result_set *set, struct arena *a);
str summary_json(const struct tally *t, const struct run_facts *facts, struct arena *a);

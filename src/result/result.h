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
    int64_t n_first_correct; // in the first sample of each position
    int64_t n_forced;        // answered without a call: there was one legal move
    int64_t n_any_mate;      // another mate in one than the reference
    int64_t n_puzzles;       // with at least one position
    int64_t n_complete;      // every position of the puzzle is among the n
    int64_t n_solved;        // complete, every position right (first sample)
    int64_t n_pass;          // positions right in at least one sample
    int64_t n_majority; // positions whose most frequent resolved move is right; ties: the first
    struct usage_total usage;
};
// `out` holds samples outcomes a position, position by position; positions of a puzzle adjacent.
void tally_positions(const struct puzzle_position *positions, size_t n, const struct outcome *out,
                     int samples, struct tally *t);
// Independent trials behind n answers: answers of one position are none of their own, so that an
// interval over samples counts positions (field case F-081).
int64_t tally_trials(const struct tally *t, int64_t n_answers);

struct run_facts {       // what the files tell beside the tally
    str version, commit; // of this program
    str key;             // run id of decisions 1.4
    str model, method, preset, base_url, format;
    str program; // where the evaluated program came from; empty: the base program
    str program_hash;
    str train_sha256, test_sha256; // empty: not read
    str filter;                    // of the test puzzles, as options; empty: none
    int64_t n_rejected;            // bad rows skipped in the test file
    bool simulated;
    int64_t n_train, n_validation; // positions
    double compile_s;
    bool has_compile;                                // false: baseline, compile_usage is null
    struct usage_total compile_task, compile_prompt; // by the task model, by the prompt model
    int64_t n_saved_calls; // of compiling: task asks that what was known made needless
    double wall_s, spent_usd;
    str prices_as_of; // "2026-08-09"; empty: no table was used
    int64_t n_retries, n_new_calls, n_replayed_calls, n_reused_calls;
};
struct result_set { // what the files list
    const struct puzzle_position *positions;
    size_t n;
    const struct outcome *out; // `samples` a position
    int samples;
    bool no_times; // latencies are written as zero
};
// Files as texts in `a`, each ending in a newline. results.json tells of the first samples only.
// `config`: the resolved configuration as raw JSON.
str results_json(const struct result_set *set, struct arena *a);
str predictions_jsonl(const struct result_set *set, struct arena *a);
str summary_json(const struct tally *t, const struct run_facts *facts, struct arena *a);
str run_config_json(const struct run_facts *facts, str config, struct arena *a);
// The member "rookery" of compiled.json.
str compiled_member_json(const struct run_facts *facts, struct arena *a);

// ---- what the store keeps of a finished run ----

struct stored_result {
    str summary; // summary.json
    struct stored_positions {
        struct stored_position {
            str name;     // "ID/INDEX"
            bool correct; // in the first sample
            enum answer_kind kind;
        } * v;
        size_t n, cap;
    } positions;
    int64_t n_correct, n_answers, n_trials; // of the accuracy, see tally_trials
    bool cost_known;
};
// Both directions; a text that is none of ours is ERR_INPUT.
str stored_result_write(str summary, const struct result_set *set, struct arena *a);
MUST_CHECK bool stored_result_read(str text, struct arena *a, struct stored_result *out,
                                   struct err *err);

// ---- the paper's observations ----

struct observed_run { // what the rows of one run have in common
    str key, name, model, method, version;
    int64_t seed, repeat;
};
struct observation { // one answer
    const struct observed_run *run;
    const struct puzzle_position *position;
    const struct puzzle_record *record; // NULL: only its kind is known
    enum answer_kind kind;              // where there is no record
    const struct reply *last;           // of its calls; NULL: there was none
    struct observed_sums {              // over its calls
        struct usage usage;
        int64_t cost_nusd;
        bool usage_reported, cost_known; // of every one
    } sums;
    str program_hash;
};
// CSV with LF: the columns of the paper-files specification, section 3. Fields not known are empty.
void observations_head(struct buf *out);
void observation_write(const struct observation *o, struct arena *scratch, struct buf *out);

#include "result/regret.h"
#include "result/versus.h"

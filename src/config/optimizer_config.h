// SPDX-License-Identifier: GPL-3.0-or-later
// optimizer_config.h - the settings of the optimizers, a part of the run configuration; what each
// means, and its presets: optimizer_keys.c.
#pragma once
#include "base/base.h"

enum method { // in the order of method_name's table
    METHOD_BASELINE,
    METHOD_BOOTSTRAP_FEW_SHOT,
    METHOD_BOOTSTRAP_RANDOM_SEARCH,
    METHOD_COPRO,
    METHOD_GEPA,
    METHOD_MIPRO_V2,
    METHOD_SIMBA,
};
str method_name(enum method m); // as in the file: "bootstrap_few_shot"
MUST_CHECK bool method_parse(str name, enum method *out);

enum auto_budget { BUDGET_NONE, BUDGET_LIGHT, BUDGET_MEDIUM, BUDGET_HEAVY }; // none: `auto: null`
enum gepa_selection {
    GEPA_PARETO = 1,
    GEPA_CURRENT_BEST,
    GEPA_EPSILON_GREEDY,
    GEPA_TOP_K_PARETO,
    GEPA_UNPRUNED_PARETO,
};
enum gepa_padding { GEPA_PAD_REFERENCE = 1, GEPA_PAD_FIRST };
enum gepa_acceptance { GEPA_ACCEPT_BETTER = 1, GEPA_ACCEPT_EQUAL };
enum gepa_extract { GEPA_EXTRACT_LENIENT = 1, GEPA_EXTRACT_STRICT, GEPA_EXTRACT_COMPLETE };
enum objective { OBJECTIVE_POSITION = 1, OBJECTIVE_PUZZLE };
enum copro_proposals { COPRO_SINGLE = 1, COPRO_FULL };
enum copro_cleaning { COPRO_CLEAN_CHECKED = 1, COPRO_CLEAN_REFERENCE };
enum copro_select_on { COPRO_ON_TRAINING = 1, COPRO_ON_VALIDATION };
enum simba_labels { SIMBA_LABELS_ALL = 1, SIMBA_LABELS_NONE };
enum metric_feedback { FEEDBACK_TEXTUAL = 1, FEEDBACK_SCALAR };
enum format_failures { FORMAT_FAILURES_DROP = 1, FORMAT_FAILURES_SHOW };
enum mipro_first { MIPRO_FIRST_ASKED = 1, MIPRO_FIRST_SKIPPED };
enum mipro_proposals { MIPRO_PROPOSALS_CHECKED = 1, MIPRO_PROPOSALS_REFERENCE };
// Settings of the optimizers. Names are the keys of the paper's tool; only those of the run's
// method are meaningful. Words are enums from 1. Our own options stand at the end.
struct optimizer_config {
    int64_t max_bootstrapped_demos, max_labeled_demos, max_rounds, max_errors;
    int64_t num_candidate_programs, num_threads;
    int64_t breadth, depth, eval_num_threads;
    bool track_stats, eval_display_progress, eval_display_table;
    enum auto_budget budget; // key `auto`
    int64_t reflection_minibatch_size;
    enum gepa_selection candidate_selection_strategy;
    bool skip_perfect_score, use_merge;
    int64_t num_candidates, num_trials; // 0: null
    bool verbose, minibatch, requires_permission_to_run;
    bool program_aware_proposer, data_aware_proposer, tip_aware_proposer, fewshot_aware_proposer;
    int64_t bsize, max_steps, max_demos;
    // Options under `rookery.options`, and in --set.
    enum objective objective;
    bool strict_errors;
    bool forget_teacher_demos, one_demo_per_puzzle; // of bootstrapping
    double brs_stop_at_score;                       // 0: none
    int64_t brs_seed_offset;
    enum copro_proposals copro_proposals;
    enum copro_cleaning copro_cleaning;
    enum copro_select_on copro_select_on;
    double copro_init_temperature;
    bool copro_reuse_duplicates, copro_prefer_original;
    enum metric_feedback feedback; // of gepa and simba
    enum simba_labels simba_labels;
    enum format_failures gepa_format_failures;
    enum gepa_padding gepa_padding;
    enum gepa_acceptance gepa_acceptance;
    enum gepa_extract gepa_extract;
    double gepa_epsilon, gepa_stop_score; // the stop at a score: 0: none, as of the limits below
    int64_t gepa_top_k, gepa_max_merge, gepa_max_full_evals;
    int64_t gepa_max_stalled, gepa_max_idle, gepa_max_candidates, gepa_max_iterations;
    bool save_calls; // of bootstrap_random and simba
    double racing;   // the same; 0: off
    bool gepa_hard_budget, gepa_save_calls;
    int64_t mipro_minibatch_size, mipro_full_eval_steps, mipro_view_data_batch_size;
    double mipro_init_temperature;
    bool mipro_force_full_eval, mipro_save_calls;
    enum mipro_first mipro_first_proposal;
    enum mipro_proposals mipro_proposals;
    // The mappings as written, or NULL: the file's keys, the file's options, --set.
    const struct yaml_node *node, *options, *set;
};
// The settings of a method under a preset, without a file.
void optimizer_defaults(struct optimizer_config *o, enum method m, str preset);

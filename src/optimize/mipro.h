// SPDX-License-Identifier: GPL-3.0-or-later
// mipro.h - what the phases of MIPROv2 share (few-shot specification, section 6): demonstration
// sets (mipro_demos.c), instructions (mipro_propose.c), and the search over pairs of both
// (mipro_search.c).
#pragma once
#include "optimize/internal.h"

struct mipro_plan { // the sizes that follow from the settings (6.1)
    bool zero_shot; // demonstrations are material for the proposals only
    size_t n_instructions, n_demo_sets, n_trials;
    size_t validation_max; // positions drawn for validation; 0: all, in given order
    size_t minibatch_size; // positions of a trial; 0: every trial is a full evaluation
    size_t full_eval_steps;
};
enum { MIPRO_SET_EMPTY, MIPRO_SET_LABELED, MIPRO_SET_IN_ORDER }; // by index; beyond: shuffled
enum { MIPRO_MATERIAL = 3 }; // zero-shot mode: own answers a set, without labelled demos
enum { MIPRO_MORE_MAX = 9 }; // questions on the data after the first
// `n_validation`: positions at hand. Sizes that do not fit are ERR_INPUT.
MUST_CHECK bool mipro_plan_make(const struct optimizer_config *c, size_t n_validation,
                                struct mipro_plan *out, struct err *err);

// The training and validation sets of a task. Without a validation set the last four fifths of the
// training set, at most 1,000 positions, are one. Nothing left of either is ERR_INPUT.
MUST_CHECK bool mipro_split(const struct opt_task *task, struct puzzle_positions *train,
                            struct puzzle_positions *validation, struct err *err);
// `plan` of struct optimizer.
MUST_CHECK bool mipro_count_calls(const struct opt_task *task, struct opt_plan *out,
                                  struct err *err);

struct mipro { // one compile
    const struct opt_task *task;
    struct arena *arena; // the lab's
    struct opt_result *out;
    struct mipro_plan plan;
    const struct program *start; // zero-shot mode: without demonstrations
    // One generator runs through everything but the sampler, as in the reference. Draws: the
    // validation set; per shuffled demo set an order and a size; per proposal a tip and a rollout
    // id; per minibatch trial its positions.
    struct mt g;
    struct puzzle_positions train, validation; // as this compile uses them
    struct mipro_programs {
        const struct program **v;
        size_t n, cap;
    } demo_sets; // the start's instruction with each; set 0 is empty
    struct mipro_texts {
        str *v;
        size_t n, cap;
    } instructions; // the first is the start's own
};

// Phase 1: fills demo_sets (6.2).
MUST_CHECK bool mipro_make_demo_sets(struct mipro *m, struct err *err);
// Phase 2: fills instructions (6.3). What the prompt model does badly costs a proposal, never the
// compile.
MUST_CHECK bool mipro_propose(struct mipro *m, struct err *err);
// Phase 3: the search; sets out->program and out->candidates (6.4).
MUST_CHECK bool mipro_search(struct mipro *m, struct err *err);

// `k` of the positions in drawn order, or all of them where there are no more. Where whole puzzles
// are maximised whole ones are drawn, until they have k positions.
void mipro_draw_positions(struct mipro *m, const struct puzzle_positions *from, size_t k,
                          struct puzzle_positions *out);

// ---- what the prompt model is shown ----

// `n` training positions from one on, with labels and facts.
str mipro_samples(struct mipro *m, size_t from, size_t n);
// The listing of the program; the head of its module.
str mipro_program_text(const struct mipro *m);
str mipro_module_line(const struct mipro *m);
// Up to three demonstrations for proposal i, from demonstration set i on: the model's own answers,
// or, where there are none, reference moves. Proposal 0 is shown none.
str mipro_examples(const struct mipro *m, size_t i);

// ---- what the prompt model wrote ----

// At most `max` bytes, cut between characters.
str mipro_cut(str s, size_t max);
// Without a label and quotation marks round it, by the rule of the option mipro.proposals.
str mipro_strip(const struct mipro *m, str s);
// Why a text cannot be an instruction; NULL: it can.
const char *mipro_fault_of(str text);
// What the reference takes for an empty text.
str mipro_default_instruction(const struct mipro *m);

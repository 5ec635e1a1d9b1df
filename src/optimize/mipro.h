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
// `n_validation`: positions at hand. Sizes that do not fit are ERR_INPUT.
MUST_CHECK bool mipro_plan_make(const struct optimizer_config *c, size_t n_validation,
                                struct mipro_plan *out, struct err *err);

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

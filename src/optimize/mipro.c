// SPDX-License-Identifier: GPL-3.0-or-later
// mipro.c - MIPROv2: demonstration sets by bootstrapping, instructions by a prompt model that was
// shown the task, then a search over pairs of both (few-shot specification, section 6).
#include "optimize/mipro.h"

// ---- data ----

bool mipro_split(const struct opt_task *task, struct puzzle_positions *train,
                 struct puzzle_positions *validation, struct err *err)
{
    enum { BORROWED_MAX = 1000 };
    *train = *task->train;
    *validation = *task->validation;
    if (validation->n == 0 && train->n > 1) { // most of the training set becomes one, from its end
        size_t n = train->n * 4 / 5;
        n = n < 1 ? 1 : n > BORROWED_MAX ? BORROWED_MAX : n;
        train->n -= n;
        *validation = (struct puzzle_positions){ .v = train->v + train->n, .n = n };
    }
    if (train->n == 0 || validation->n == 0)
        return err_set(err, ERR_INPUT,
                       "%zu training and %zu validation positions: both are needed; give a larger "
                       "training file or another validation_size",
                       train->n, validation->n);
    return true;
}

// Index where the puzzle after the one at i begins.
static size_t next_puzzle(const struct puzzle_positions *p, size_t i)
{
    const struct puzzle *puzzle = p->v[i].puzzle;
    while (i < p->n && p->v[i].puzzle == puzzle)
        i++;
    return i;
}

static void draw_puzzles(struct mipro *m, const struct puzzle_positions *from, size_t k,
                         struct puzzle_positions *out)
{
    size_t *first = NEW_ARRAY(m->arena, size_t, from->n + 1);
    size_t *order = NEW_ARRAY(m->arena, size_t, from->n + 1);
    size_t n_puzzles = 0;
    for (size_t i = 0; i < from->n; i = next_puzzle(from, i))
        first[n_puzzles++] = i;
    mt_sample(&m->g, n_puzzles, n_puzzles, order);
    for (size_t p = 0; p < n_puzzles && out->n < k; p++)
        for (size_t i = first[order[p]], end = next_puzzle(from, i); i < end; i++)
            *vec_push(m->arena, out) = from->v[i];
}

void mipro_draw_positions(struct mipro *m, const struct puzzle_positions *from, size_t k,
                          struct puzzle_positions *out)
{
    *out = (struct puzzle_positions){ 0 };
    if (m->task->config->objective == OBJECTIVE_PUZZLE) {
        draw_puzzles(m, from, k, out);
        return;
    }
    k = k < from->n ? k : from->n;
    size_t *drawn = NEW_ARRAY(m->arena, size_t, k + 1);
    mt_sample(&m->g, from->n, k, drawn);
    for (size_t i = 0; i < k; i++)
        *vec_push(m->arena, out) = from->v[drawn[i]];
}

static bool set_up(struct mipro *m, struct err *err)
{
    const struct optimizer_config *c = m->task->config;
    if (!mipro_split(m->task, &m->train, &m->validation, err) ||
        !bootstrap_check_labeled(m->task, c->max_labeled_demos, err) ||
        !mipro_plan_make(c, m->validation.n, &m->plan, err))
        return false;
    if (m->plan.zero_shot)
        m->start = program_with_demos(m->arena, m->start, NULL, 0);
    mt_seed(&m->g, m->task->run_seed);
    if (m->plan.validation_max > 0) {
        struct puzzle_positions given = m->validation;
        mipro_draw_positions(m, &given, m->plan.validation_max, &m->validation);
    }
    return true;
}

// What was settled, for people.
static void note_plan(const struct mipro *m)
{
    const struct mipro_plan *p = &m->plan;
    str trials = p->minibatch_size > 0
                     ? arena_printf(m->arena, "on %zu positions, every %zu a full evaluation",
                                    p->minibatch_size, p->full_eval_steps)
                     : S("on the whole validation set");
    str reason = arena_printf(
        m->arena,
        "%zu demonstration sets%s, %zu instructions, %zu trials %.*s; %zu validation positions",
        p->n_demo_sets, p->zero_shot ? " as material for the prompt model" : "", p->n_instructions,
        p->n_trials, STR(trials), m->validation.n);
    opt_note(m->task, &(struct opt_event){ .what = "plan", .candidate = -1, .reason = reason });
}

static bool run(const struct opt_task *task, struct opt_result *out, struct err *err)
{
    *out = (struct opt_result){ .program = task->seed };
    struct mipro m = { .task = task, .arena = task->lab->arena, .out = out, .start = task->seed };
    if (!set_up(&m, err))
        return false;
    note_plan(&m);
    return mipro_make_demo_sets(&m, err) && mipro_propose(&m, err) && mipro_search(&m, err);
}

const struct optimizer optimizer_mipro_v2 = {
    .name = { "mipro_v2", sizeof "mipro_v2" - 1 },
    .writes_prompts = true,
    .plan = mipro_count_calls,
    .run = run,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// explain.c - what a persona makes of a prompt, in words and numbers: for people who test an
// optimizer against the best prompt they know.
//
// The prompt is rendered and read back as for a reply, so the text speaks of what is really seen.
#include <math.h>

#include "sim/internal.h"

// Kinds of positions the expectation is taken over; shares from the starter puzzles of this
// project (most solver moves are forcing, a third ends the game).
struct kind {
    const char *name;
    double share, difficulty;
    bool mates, forces;
};
static const struct kind kinds[] = {
    { "mate", 0.35, 0.3, true, true },
    { "plain tactic", 0.35, 0.5, false, true },
    { "hidden tactic", 0.2, 1.5, false, true },
    { "quiet move", 0.1, 1.6, false, false },
};

static void read_program(const struct program *program, struct arena *a, struct view *v)
{
    struct messages m = { 0 };
    str *inputs = NEW_ARRAY(a, str, program->signature->n_inputs);
    program_render(program, inputs, a, &m);
    view_read(&m, a, v);
}

static void factors_of(const struct kind *k, const struct view *v, double *factor)
{
    struct thought t = { .difficulty = k->difficulty, .mates = k->mates, .forces = k->forces };
    struct view white = *v;
    struct view black = *v;
    white.pos.turn = WHITE;
    black.pos.turn = BLACK;
    thought_weigh(&white, &t);
    double relevance = t.factor[FEATURE_RELEVANCE];
    thought_weigh(&black, &t);
    for (int f = 0; f < FEATURE_COUNT; f++)
        factor[f] = t.factor[f];
    factor[FEATURE_RELEVANCE] = (relevance + t.factor[FEATURE_RELEVANCE]) / 2;
}

static void put_features(const struct persona *p, const struct features *seen, struct buf *b)
{
    bool any = false;
    buf_addf(b, "  %-28s %8s %8s %8s %9s %8s\n", "feature", "found", "strength", "weight",
             "malformed", "illegal");
    for (int f = 0; f < FEATURE_COUNT; f++) {
        if (seen->strength[f] == 0 && seen->hits[f] == 0)
            continue;
        any = true;
        buf_addf(b, "  %-28s %8d %8.2f %+8.2f %+9.2f %+8.2f\n", feature_title((enum feature)f),
                 seen->hits[f], seen->strength[f], p->best.weight[f], p->malformed.weight[f],
                 p->illegal.weight[f]);
    }
    if (!any)
        buf_add(b, S("  (nothing it reacts to)\n"));
}

struct seen { // of one program
    struct view view;
    struct features features;
    double valid, best[ARRAY_LEN(kinds)], expected;
};

static void look_at(const struct persona *p, const struct program *program, struct arena *a,
                    struct seen *out)
{
    struct features *f = &out->features;
    *out = (struct seen){ 0 };
    read_program(program, a, &out->view);
    features_find(p->data, &out->view, f);
    f->strength[FEATURE_RELEVANCE] = f->strength[FEATURE_DEMOS];
    f->hits[FEATURE_RELEVANCE] = f->hits[FEATURE_DEMOS];
    out->valid = (1 - response_chance(&p->malformed, f->strength, NULL, 0)) *
                 (1 - response_chance(&p->illegal, f->strength, NULL, 0));
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        double factor[FEATURE_COUNT];
        factors_of(&kinds[i], &out->view, factor);
        out->best[i] =
            response_chance(&p->best, f->strength, factor, -p->slope * kinds[i].difficulty);
        out->expected += kinds[i].share * out->best[i] * out->valid;
    }
}

str sim_explain(const struct persona *p, const struct program *program, struct arena *a)
{
    struct seen seen;
    struct buf b = { .arena = a };
    look_at(p, program, a, &seen);
    buf_addf(&b, "sim/%.*s (SIMULATED): %.*s\n", STR(p->name), STR(p->summary));
    put_features(p, &seen.features, &b);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        buf_addf(&b, "  plays the best move of a %-14s %5.1f %%\n", kinds[i].name,
                 100 * seen.best[i]);
    buf_addf(&b, "  answers in the asked form with a legal move %5.1f %%\n", 100 * seen.valid);
    buf_addf(&b, "  expected accuracy, at temperature 0: %.1f %% (simulated)\n",
             100 * seen.expected);
    return buf_str(&b);
}

double sim_expected(const struct persona *p, const struct program *program)
{
    struct arena scratch = { 0 };
    struct seen seen;
    look_at(p, program, &scratch, &seen);
    arena_free(&scratch);
    return seen.expected;
}

// Adds the sentence that helps most, until none does.
const struct program *sim_best_program(const struct persona *p, struct arena *a)
{
    const struct program *best = program_new(a, &signature_choose_move, instruction_base);
    double top = sim_expected(p, best);
    for (;;) {
        const struct program *base = best;
        for (size_t i = 0; i < p->data->advice.n; i++) {
            str text =
                arena_printf(a, "%.*s %.*s", STR(base->instruction), STR(p->data->advice.v[i]));
            const struct program *next = program_with_instruction(a, base, text);
            double expected = sim_expected(p, next);
            if (expected > top) {
                top = expected;
                best = next;
            }
        }
        if (best == base)
            return best;
    }
}

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
        buf_addf(b, "  %-28s %8d %8.2f %+8.2f %+9.2f %+8.2f\n", feature_names[f], seen->hits[f],
                 seen->strength[f], p->best.weight[f], p->malformed.weight[f],
                 p->illegal.weight[f]);
    }
    if (!any)
        buf_add(b, S("  (nothing it reacts to)\n"));
}

str sim_explain(const struct persona *p, const struct program *program, struct arena *a)
{
    struct view v;
    struct features seen;
    struct buf b = { .arena = a };
    read_program(program, a, &v);
    features_find(&v, &seen);
    seen.strength[FEATURE_RELEVANCE] = seen.strength[FEATURE_DEMOS];
    seen.hits[FEATURE_RELEVANCE] = seen.hits[FEATURE_DEMOS];
    buf_addf(&b, "sim/%s (SIMULATED): %s\n", p->name, p->summary);
    put_features(p, &seen, &b);
    double valid = (1 - response_chance(&p->malformed, seen.strength, NULL, 0)) *
                   (1 - response_chance(&p->illegal, seen.strength, NULL, 0));
    double expected = 0;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        double factor[FEATURE_COUNT];
        factors_of(&kinds[i], &v, factor);
        double best =
            response_chance(&p->best, seen.strength, factor, -p->slope * kinds[i].difficulty);
        expected += kinds[i].share * best * valid;
        buf_addf(&b, "  plays the best move of a %-14s %5.1f %%\n", kinds[i].name, 100 * best);
    }
    buf_addf(&b, "  answers in the asked form with a legal move %5.1f %%\n", 100 * valid);
    buf_addf(&b, "  expected accuracy, at temperature 0: %.1f %% (simulated)\n", 100 * expected);
    return buf_str(&b);
}

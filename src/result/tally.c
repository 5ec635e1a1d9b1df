// SPDX-License-Identifier: GPL-3.0-or-later
// tally.c - counting answers. Every answer is in exactly one kind, and the kinds add up to n.
#include <string.h>

#include "result/result.h"

// Whether the most frequent move of a position's samples is the reference.
static bool majority_is_right(const struct outcome *out, int samples, move solution)
{
    int best = 0;
    move winner = MOVE_NONE;
    for (int i = 0; i < samples; i++) {
        const struct puzzle_record *candidate = out[i].record;
        int votes = 0;
        for (int k = 0; k < samples; k++)
            votes += ((const struct puzzle_record *)out[k].record)->played == candidate->played;
        if (candidate->played != MOVE_NONE && votes > best) {
            best = votes;
            winner = candidate->played;
        }
    }
    return winner == solution;
}

static void tally_answer(const struct outcome *o, struct tally *t)
{
    const struct puzzle_record *record = o->record;
    t->kinds[record->kind]++;
    t->n_answers++;
    t->n_scored += o->status == OUTCOME_SCORED;
    t->n_correct += record->kind == ANSWER_CORRECT;
    t->n_forced += record->forced;
    t->n_any_mate += record->any_mate;
    usage_total_add(&t->usage, &o->used);
}

// One puzzle's positions [from, to).
static void tally_puzzle(const struct puzzle_position *positions, const struct outcome *out,
                         int samples, size_t n, struct tally *t)
{
    bool solved = true;
    for (size_t i = 0; i < n; i++) {
        const struct outcome *mine = out + i * (size_t)samples;
        bool passed = false;
        for (int k = 0; k < samples; k++) {
            tally_answer(&mine[k], t);
            passed |= mine[k].score > 0;
        }
        solved &= mine[0].score > 0;
        t->n_first_correct += mine[0].score > 0;
        t->n_pass += passed;
        t->n_majority += majority_is_right(mine, samples, positions[i].solution);
    }
    bool complete = n == (size_t)positions[0].count;
    t->n_puzzles++;
    t->n_complete += complete;
    t->n_solved += complete && solved;
}

void tally_positions(const struct puzzle_position *positions, size_t n, const struct outcome *out,
                     int samples, struct tally *t)
{
    memset(t, 0, sizeof *t);
    t->n_positions = (int64_t)n;
    t->samples = samples;
    for (size_t i = 0, from = 0; i < n; i++) {
        if (i + 1 < n && positions[i + 1].puzzle == positions[from].puzzle)
            continue;
        tally_puzzle(positions + from, out + from * (size_t)samples, samples, i + 1 - from, t);
        from = i + 1;
    }
}

int64_t tally_trials(const struct tally *t, int64_t n_answers)
{
    return t->samples > 1 ? (n_answers + t->samples - 1) / t->samples : n_answers;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// race.c - the best of several programs on the same positions, with fewer calls than all of them
// cost (GEPA and SIMBA specification, section 8). Lanes advance together by blocks of fixed size,
// so who is left when never depends on the concurrency.
#include <math.h>
#include <string.h>

#include "optimize/internal.h"
#include "optimize/race.h"

enum { BLOCK_UNITS = 16 };
// 8.3: a bettor's fortune grows by this where only the leader is right, and shrinks where only the
// other is; under "the other is at least as good" it is a supermartingale.
static const double WON = 1.3, LOST = 0.7;

struct race {
    const struct opt_race *ask;
    struct opt_race_result *out;
    struct arena *arena;
    size_t *first; // position of each unit, and the end
    size_t n_units;
    double *log_fortune; // [leader * n + other]
};

enum race_kind opt_race_kind(const struct optimizer_config *c)
{
    if (c->strict_errors)
        return RACE_WHOLE;
    return c->racing > 0 ? RACE_BETS : c->save_calls ? RACE_BOUNDS : RACE_WHOLE;
}

static void set_units(struct race *r)
{
    const struct puzzle_positions *on = r->ask->on;
    bool puzzles = r->ask->task->config->objective == OBJECTIVE_PUZZLE;
    r->first = NEW_ARRAY(r->arena, size_t, on->n + 1);
    for (size_t i = 0; i < on->n; i++)
        if (!puzzles || i == 0 || on->v[i].puzzle != on->v[i - 1].puzzle)
            r->first[r->n_units++] = i;
    r->first[r->n_units] = on->n;
}

static bool runs(const struct race *r, size_t i)
{
    const struct opt_lane *lane = &r->out->lanes[i];
    return !lane->left && lane->same_as == i;
}

static void join_equals(struct race *r)
{
    const struct model *m = r->ask->task->model;
    bool sure = m->has_temperature && m->temperature <= 0;
    str *hashes = NEW_ARRAY(r->arena, str, r->ask->n);
    for (size_t i = 0; i < r->ask->n; i++) {
        r->out->lanes[i].same_as = i;
        hashes[i] = program_hash(r->ask->v[i], r->arena);
        for (size_t k = 0; sure && k < i; k++)
            if (str_eq(hashes[i], hashes[k])) {
                r->out->lanes[i].same_as = k;
                break;
            }
    }
}

// ---- one block ----

static bool unit_right(const struct race *r, const struct outcome *block, size_t from, size_t unit)
{
    for (size_t i = r->first[unit]; i < r->first[unit + 1]; i++) {
        const struct outcome *o = &block[i - r->first[from]];
        if (o->status != OUTCOME_SCORED || o->score < 1)
            return false;
    }
    return true;
}

static void bet(struct race *r, const bool *right)
{
    size_t n = r->ask->n;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            if (runs(r, a) && runs(r, b) && right[a] != right[b])
                r->log_fortune[a * n + b] += log(right[a] ? WON : LOST);
}

// Asks every running lane for units [from, to).
static bool run_block(struct race *r, size_t from, size_t to, struct err *err)
{
    size_t n = r->ask->n, first = r->first[from], n_positions = r->first[to] - first, n_jobs = 0;
    struct job *jobs = NEW_ARRAY(r->arena, struct job, n * n_positions + 1);
    const struct outcome *outcomes, **block = NEW_ARRAY(r->arena, const struct outcome *, n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; runs(r, i) && k < n_positions; k++)
            jobs[n_jobs++] = lab_position_job(r->ask->v[i], &r->ask->on->v[first + k],
                                              r->ask->task->model, r->arena);
    if (!lab_evaluate(r->ask->task->lab, jobs, n_jobs, &outcomes, err))
        return false;
    for (size_t i = 0, at = 0; i < n; at += runs(r, i++) ? n_positions : 0)
        block[i] = outcomes + at;
    bool *right = NEW_ARRAY(r->arena, bool, n);
    for (size_t unit = from; unit < to; unit++) {
        for (size_t i = 0; i < n; i++) {
            if (!runs(r, i))
                continue;
            right[i] = unit_right(r, block[i], from, unit);
            r->out->lanes[i].sum += right[i];
            r->out->lanes[i].n_units++;
            r->out->lanes[i].n_positions += r->first[unit + 1] - r->first[unit];
        }
        if (r->ask->kind == RACE_BETS)
            bet(r, right);
    }
    return true;
}

// ---- who goes on ----

static size_t leader(const struct race *r)
{
    size_t best = r->ask->n;
    for (size_t i = 0; i < r->ask->n; i++)
        if (runs(r, i) && (best == r->ask->n || r->out->lanes[i].sum > r->out->lanes[best].sum))
            best = i;
    return best;
}

static void leave_behind(struct race *r)
{
    size_t best = leader(r), n = r->ask->n;
    double left = (double)(r->n_units - r->out->lanes[best].n_units);
    for (size_t i = 0; i < n; i++) {
        struct opt_lane *lane = &r->out->lanes[i];
        if (i == best || !runs(r, i))
            continue;
        double most = lane->sum + left, top = r->out->lanes[best].sum;
        if (most < top || (most <= top && best < i))
            lane->left = "it cannot become the best any more";
        else if (r->ask->kind == RACE_BETS && r->log_fortune[best * n + i] >= -log(r->ask->delta))
            lane->left = "it lost the race against the leader";
    }
}

static void finish(struct race *r)
{
    r->out->winner = leader(r);
    for (size_t i = 0; i < r->ask->n; i++) {
        struct opt_lane *lane = &r->out->lanes[i];
        size_t asked = lane->same_as == i ? lane->n_positions : 0;
        if (lane->same_as != i) {
            size_t same_as = lane->same_as;
            *lane = r->out->lanes[same_as];
            lane->same_as = same_as;
        }
        r->out->n_saved += (int64_t)(r->ask->on->n - asked);
        lane->rate = lane->n_units > 0 ? lane->sum / (double)lane->n_units : 0;
    }
}

static bool run_whole(const struct opt_race *ask, struct opt_race_result *out, struct err *err)
{
    for (size_t i = 0; i < ask->n; i++) {
        struct opt_score score;
        if (!opt_score(ask->task, ask->v[i], ask->on, &score, err))
            return err_add(err, "program %zu", i + 1);
        out->lanes[i] = (struct opt_lane){
            .sum = score.sum, .n_positions = ask->on->n, .rate = score.rate, .same_as = i
        };
        if (score.rate > out->lanes[out->winner].rate)
            out->winner = i;
    }
    return true;
}

bool opt_race(const struct opt_race *ask, struct opt_race_result *out, struct err *err)
{
    struct race r = { .ask = ask, .out = out, .arena = ask->task->lab->arena };
    size_t n = ask->n;
    *out = (struct opt_race_result){ .lanes = NEW_ARRAY(r.arena, struct opt_lane, n + 1) };
    if (ask->kind == RACE_WHOLE)
        return run_whole(ask, out, err);
    r.log_fortune = NEW_ARRAY(r.arena, double, n *n + 1);
    set_units(&r);
    join_equals(&r);
    for (size_t from = 0; from < r.n_units; from += BLOCK_UNITS) {
        size_t to = from + BLOCK_UNITS < r.n_units ? from + BLOCK_UNITS : r.n_units;
        if (!run_block(&r, from, to, err))
            return false;
        leave_behind(&r);
    }
    finish(&r);
    return true;
}

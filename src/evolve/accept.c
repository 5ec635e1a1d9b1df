// SPDX-License-Identifier: GPL-3.0-or-later
// accept.c - the frontier, acceptance and the patience rule (5.4, 5.6). Guarded acceptance wants
// more than the highest number: of 120 equal candidates the best looks 8 points better by luck.
#include <stdlib.h>

#include "evolve/internal.h"

static const double TIE = 1e-12, TIE_CALLS = 0.98;
enum { CONFIRM_SAMPLES = 1000 }; // sample numbers that no evaluation has used

bool entrant_counts(const struct entrant *e)
{
    return e->judged && e->status == ENTRANT_EVALUATED && !e->evaluation.dropped;
}

// ---- the frontier ----

static int by_reference(const void *a, const void *b)
{
    const struct point *x = *(const struct point *const *)a, *y = *(const struct point *const *)b;
    if (x->success != y->success)
        return x->success > y->success ? -1 : 1;
    if (x->calls != y->calls)
        return x->calls < y->calls ? -1 : 1;
    return x < y ? -1 : 1; // of one array: the order they came in
}

static bool dominates(const struct point *x, const struct point *y)
{
    return x->success >= y->success && x->calls <= y->calls &&
           (x->success > y->success || x->calls < y->calls);
}

void frontier_mark(struct point *v, size_t n)
{
    struct arena scratch = { 0 };
    struct point **order = NEW_ARRAY(&scratch, struct point *, n + 1);
    for (size_t i = 0; i < n; i++)
        order[i] = &v[i];
    if (n > 0)
        qsort(order, n, sizeof *order, by_reference);
    for (size_t i = 0; i < n; i++) {
        order[i]->on_strict = order[i]->on_reference = true;
        for (size_t k = 0; k < n; k++)
            order[i]->on_strict &= !dominates(&v[k], order[i]);
        for (size_t k = 0; k < i; k++)
            order[i]->on_reference &= !order[k]->on_reference || order[i]->calls <= order[k]->calls;
    }
    arena_free(&scratch);
}

void search_mark_frontier(struct search *s)
{
    struct point *points = NEW_ARRAY(s->a, struct point, s->all.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s->all.n; i++) {
        const struct eval_result *r = &s->all.v[i].evaluation.result;
        if (entrant_counts(&s->all.v[i]))
            points[n++] = (struct point){ .success = r->success, .calls = r->calls };
    }
    frontier_mark(points, n);
    n = 0;
    for (size_t i = 0; i < s->all.n; i++)
        if (entrant_counts(&s->all.v[i]))
            s->all.v[i].point = points[n++];
}

bool patience_spent(struct patience *p, int64_t iteration, double best)
{
    if (best > p->best) {
        p->best = best;
        p->best_iteration = iteration;
    }
    return p->patience > 0 && iteration >= p->min_iters &&
           iteration - p->best_iteration >= p->patience;
}

// ---- acceptance ----

static const struct eval_result *result_of(const struct search *s, size_t i)
{
    return &s->all.v[i].evaluation.result;
}

// Which of the entrants from `first` on has most success, then fewest calls; SIZE_MAX: none. The
// incumbent wins ties, then the lower number.
static size_t best_of(const struct search *s, size_t first)
{
    size_t best = first == 0 ? s->accepted : SIZE_MAX;
    for (size_t i = first; i < s->all.n; i++) {
        if (!entrant_counts(&s->all.v[i]) || i == best)
            continue;
        const struct eval_result *r = result_of(s, i);
        const struct eval_result *b = best < SIZE_MAX ? result_of(s, best) : NULL;
        if (!b || r->success > b->success || (r->success == b->success && r->calls < b->calls))
            best = i;
    }
    return best;
}

static void compare_all(struct search *s)
{
    double *p = NEW_ARRAY(s->a, double, s->all.n + 1);
    size_t n = 0;
    const struct eval_result *incumbent = result_of(s, s->accepted);
    for (size_t i = s->first; i < s->all.n; i++) {
        struct entrant *e = &s->all.v[i];
        if (!entrant_counts(e))
            continue;
        e->paired = eval_compare(incumbent, &e->evaluation.result);
        e->delta = e->evaluation.result.success - incumbent->success;
        p[n++] = e->paired.p_better;
    }
    stats_holm(p, n);
    n = 0;
    for (size_t i = s->first; i < s->all.n; i++)
        if (entrant_counts(&s->all.v[i]))
            s->all.v[i].p_value = p[n++];
}

// Both again, with fresh samples of the same puzzles.
static bool confirm(struct search *s, struct search_decision *d, struct err *err)
{
    struct eval_setup setup = *s->o->setup;
    struct evaluation v[2] = { s->all.v[s->accepted].evaluation, s->all.v[d->best].evaluation };
    struct eval_batch batch = { .v = v, .n = 2 };
    v[0].candidate = &s->all.v[s->accepted].candidate; // entrants move when more come
    v[1].candidate = &s->all.v[d->best].candidate;
    setup.repeats = (int)s->o->confirm;
    v[0].first_sample = v[1].first_sample = CONFIRM_SAMPLES + 100 * (int)s->iteration;
    if (!evaluate_all(s->o->lab, &setup, &batch, err))
        return false;
    d->confirmed = true;
    d->confirm_incumbent = v[0].result.success;
    d->confirm_best = v[1].result.success;
    return true;
}

// Equal success, two per cent fewer calls, and no class of failures grew.
static bool wins_tie(const struct eval_result *old, const struct eval_result *new)
{
    bool worse = false;
    for (int f = 0; f < FAILURES; f++)
        worse |= new->all.failures[f] > old->all.failures[f];
    return new->calls <= TIE_CALLS * old->calls && !worse;
}

static bool decide_guarded(struct search *s, struct search_decision *d, struct err *err)
{
    const struct eval_result *old = result_of(s, s->accepted), *new = result_of(s, d->best);
    const struct entrant *best = &s->all.v[d->best];
    d->paired = best->paired;
    d->p_adjusted = best->p_value;
    if (new->success - old->success > -TIE &&new->success - old->success < TIE) {
        d->accepted = wins_tie(old, new);
        d->why = d->accepted ? S("equal success with fewer calls, and no failure class grew")
                             : S("no better than the accepted harness");
        return true;
    }
    if (new->success < old->success + s->o->min_gain) {
        d->why = S("less success than the accepted harness, or less gain than wanted");
        return true;
    }
    if (d->p_adjusted <= s->o->alpha) {
        d->accepted = true;
        d->why = S("better on the paired puzzles than chance explains");
        return true;
    }
    if (s->o->confirm > 0 && !confirm(s, d, err))
        return false;
    d->accepted = d->confirmed && d->confirm_best > d->confirm_incumbent;
    d->why = d->accepted    ? S("better, and again better in a confirmation with fresh samples")
             : d->confirmed ? S("better, but not in a confirmation with fresh samples")
                            : S("better, but no more than chance explains");
    return true;
}

bool search_decide(struct search *s, struct search_decision *d, struct err *err)
{
    *d = (struct search_decision){ .best = best_of(s, s->first), .p_adjusted = 1 };
    compare_all(s);
    s->previous = s->accepted;
    if (d->best == SIZE_MAX) {
        d->why = S("no candidate may be accepted");
        return true;
    }
    double reached = result_of(s, d->best)->success;
    d->paired = s->all.v[d->best].paired;
    if (s->o->stop_at > 0 && reached >= s->o->stop_at) {
        d->accepted = d->by_threshold = true;
        d->why = S("it reached the success at which the search ends");
    } else if (s->o->reference_accept) {
        d->best = best_of(s, 0);
        d->accepted = d->best != s->accepted;
        d->why = d->accepted ? S("the highest mean success of all") : S("none has more success");
    } else if (!decide_guarded(s, d, err)) {
        return err_add(err, "confirming %.*s", STR(s->all.v[d->best].proposal.name));
    }
    if (d->accepted)
        s->accepted = d->best;
    return true;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// gepa_search.c - the loop of GEPA: choose a parent, run it on a minibatch, have a text rewritten
// in view of what went wrong, keep the child if it is better there, and validate what is kept (GEPA
// and SIMBA specification, 2.2).
#include "optimize/gepa.h"

struct search {
    const struct gepa_system *sys;
    const struct gepa_opts *opts;
    struct chance *chance;
    struct arena *arena;
    struct gepa_result *r;
    struct gepa_sampler sampler;
    struct gepa_merges merges;
    size_t *validation; // all its indices
    int64_t iteration;
    int64_t validation_calls; // of one full validation
    int64_t n_stalled, n_idle;
    int64_t n_due; // merges
    bool last_new; // the last iteration accepted a mutation
};

// ---- running ----

static bool run(struct search *s, const struct gepa_run *what, struct gepa_scores *out,
                struct err *err)
{
    if (!s->sys->run(s->sys->ctx, what, out, err))
        return false;
    s->r->metric_calls += out->n_calls;
    s->r->n_made += out->n_made;
    return true;
}

// Where this is the last validation that the budget pays for, only the best counts: it ends once
// the candidate cannot become that.
static struct gepa_run validation_run(const struct search *s, const str *texts)
{
    struct gepa_run what = {
        .texts = texts, .set = GEPA_VALIDATION, .ids = s->validation, .n = s->sys->n_validation
    };
    const struct gepa_pool *pool = &s->r->pool;
    if (s->opts->early_stop && pool->n > 0 &&
        s->r->metric_calls + s->validation_calls >= s->opts->budget) {
        what.stop = GEPA_STOP_HOPELESS;
        what.wanted = pool->v[gepa_best(pool)].sum + 1;
    }
    return what;
}

// Scores a candidate on the validation set and takes it into the pool.
static bool validate(struct search *s, struct gepa_candidate *c, struct gepa_iteration *it,
                     struct err *err)
{
    struct gepa_run what = validation_run(s, c->texts);
    struct gepa_scores scores;
    size_t best = s->r->pool.n > 0 ? gepa_best(&s->r->pool) : 0;
    c->discovered_at = s->r->pool.n > 0 ? s->r->metric_calls : 0;
    if (!run(s, &what, &scores, err))
        return err_add(err, "validating candidate %zu", s->r->pool.n);
    s->validation_calls = scores.n_calls;
    s->r->full_evals++;
    if (scores.n < what.n) {
        it->decision = GEPA_REJECTED;
        it->reason = "it cannot become the best any more, and the budget is spent";
        return true;
    }
    c->scores = scores.v;
    it->candidate = gepa_pool_add(&s->r->pool, c);
    it->decision = it->number < 0 ? GEPA_START : GEPA_ACCEPTED;
    s->n_idle = gepa_best(&s->r->pool) == best ? s->n_idle : 0;
    return true;
}

// ---- merging ----

static void begin(struct search *s, struct gepa_iteration *it)
{
    *it = (struct gepa_iteration){ .number = s->iteration, .decision = GEPA_SKIPPED };
}

static int64_t sum_on(const struct gepa_candidate *c, const size_t *ids, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += c->scores[ids[i]];
    return sum;
}

// Tries one merge; `*done`: there was one to try, which ends the iteration.
static bool merge(struct search *s, struct gepa_iteration *it, bool *done, struct err *err)
{
    const struct gepa_pool *pool = &s->r->pool;
    struct gepa_merge g;
    *done = gepa_merge_find(&s->merges, pool, s->chance, &g);
    if (!*done)
        return true;
    size_t *ids = NEW_ARRAY(s->arena, size_t, GEPA_MERGE_EXAMPLES);
    gepa_merge_examples(pool, &g, s->chance, ids);
    int64_t of_i = sum_on(&pool->v[g.i], ids, GEPA_MERGE_EXAMPLES);
    int64_t of_j = sum_on(&pool->v[g.j], ids, GEPA_MERGE_EXAMPLES);
    it->parents[0] = g.i;
    it->parents[1] = g.j;
    it->n_parents = GEPA_PARENTS_MAX;
    it->texts = g.texts;
    it->parent.sum = of_i > of_j ? of_i : of_j;
    it->run = (struct gepa_run){ .texts = g.texts,
                                 .set = GEPA_VALIDATION,
                                 .ids = ids,
                                 .n = GEPA_MERGE_EXAMPLES,
                                 .stop = s->opts->early_stop ? GEPA_STOP_DECIDED : GEPA_STOP_NEVER,
                                 .wanted = it->parent.sum };
    if (!run(s, &it->run, &it->child, err))
        return err_add(err, "trying a merge");
    it->decision = GEPA_REJECTED;
    it->reason = "the merge is worse than the better of the two it joins";
    if (it->child.sum < it->parent.sum)
        return true;
    it->reason = "the merge is as good as the two it joins";
    struct gepa_candidate c = { .texts = g.texts, .parents = { g.i, g.j }, .n_parents = 2 };
    if (!validate(s, &c, it, err))
        return false;
    s->n_due -= it->decision == GEPA_ACCEPTED;
    s->r->n_merges += it->decision == GEPA_ACCEPTED;
    return true;
}

// ---- mutating ----

static bool all_perfect(const struct gepa_scores *scores)
{
    for (size_t i = 0; i < scores->n; i++)
        if (scores->v[i] < GEPA_ONE)
            return false;
    return true;
}

// Marks the components to be edited, and moves the candidate's pointer on.
static bool *choose_components(struct search *s, size_t parent)
{
    size_t n = s->sys->n_components;
    struct gepa_candidate *c = &s->r->pool.v[parent];
    bool *chosen = NEW_ARRAY(s->arena, bool, n);
    for (size_t i = 0; i < n; i++)
        chosen[i] = s->opts->all_components || i == c->next_component;
    if (!s->opts->all_components)
        c->next_component = c->next_component + 1 < n ? c->next_component + 1 : 0;
    return chosen;
}

// Asks for new texts of the chosen components; `it->texts` stays NULL where none came.
static bool propose(struct search *s, const bool *chosen, struct gepa_iteration *it,
                    struct err *err)
{
    size_t n = s->sys->n_components;
    str *texts = NEW_ARRAY(s->arena, str, n);
    bool *edited = NEW_ARRAY(s->arena, bool, n);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        struct gepa_question q = {
            .texts = it->run.texts, .component = i, .run = &it->run, .scores = &it->parent
        };
        struct gepa_proposal p = { 0 };
        texts[i] = it->run.texts[i];
        if (!chosen[i])
            continue;
        if (!s->sys->propose(s->sys->ctx, &q, &p, err))
            return err_add(err, "asking for a new %.*s", STR(s->sys->names[i]));
        it->n_requests += p.n_requests;
        if (p.found)
            texts[i] = p.text;
        else
            it->reason = p.why;
        edited[i] = p.found;
        any = any || p.found;
    }
    it->texts = any ? texts : NULL;
    it->edited = any ? edited : NULL;
    return true;
}

// The pool's candidate with exactly these texts.
static bool is_known(const struct gepa_pool *p, const str *texts)
{
    for (size_t i = 0; i < p->n; i++) {
        bool same = true;
        for (size_t k = 0; k < p->n_components; k++)
            same = same && str_eq(p->v[i].texts[k], texts[k]);
        if (same)
            return true;
    }
    return false;
}

// Runs the child on its parent's minibatch, and validates it if it is better there.
static bool try_child(struct search *s, struct gepa_iteration *it, struct err *err)
{
    struct gepa_run what = it->run;
    what.texts = it->texts;
    what.stop = s->opts->early_stop ? GEPA_STOP_DECIDED : GEPA_STOP_NEVER;
    what.wanted = it->parent.sum + (s->opts->acceptance == GEPA_ACCEPT_BETTER);
    s->r->n_proposals++;
    if (!run(s, &what, &it->child, err))
        return err_add(err, "trying a new candidate");
    it->decision = GEPA_REJECTED;
    it->reason = "not better on the minibatch";
    if (it->child.sum < what.wanted)
        return true;
    it->reason = "better on the minibatch";
    struct gepa_candidate c = { .texts = it->texts, .parents = { it->parents[0] }, .n_parents = 1 };
    if (!validate(s, &c, it, err))
        return false;
    s->last_new = it->decision == GEPA_ACCEPTED;
    s->n_due += s->last_new && s->r->n_merges < s->opts->max_merge;
    return true;
}

static bool mutate(struct search *s, struct gepa_iteration *it, struct err *err)
{
    const struct gepa_pool *pool = &s->r->pool;
    double *weights = NEW_ARRAY(s->arena, double, pool->n);
    size_t parent = gepa_select(pool, &s->opts->choosing, s->chance, weights);
    it->parents[0] = parent;
    it->n_parents = 1;
    it->weights = weights;
    it->run = (struct gepa_run){
        .texts = pool->v[parent].texts,
        .set = GEPA_TRAIN,
        .ids = gepa_sample(&s->sampler, s->chance, s->iteration, s->sys->n_train),
        .n = s->sampler.size,
    };
    if (!run(s, &it->run, &it->parent, err))
        return err_add(err, "running candidate %zu", parent);
    if (s->opts->skip_perfect && all_perfect(&it->parent)) {
        it->reason = "all of the minibatch is right, nothing to learn";
        return true;
    }
    if (!propose(s, choose_components(s, parent), it, err))
        return false;
    if (!it->texts)
        return true; // the proposal says why
    if (s->opts->skip_known && is_known(pool, it->texts)) {
        it->reason = "the proposal is the text of a candidate";
        return true;
    }
    return try_child(s, it, err);
}

// ---- the loop ----

static bool has_room(const struct search *s)
{
    int64_t left = s->opts->budget - s->r->metric_calls;
    int64_t tried = 2 * (int64_t)s->opts->minibatch;
    if (tried < GEPA_MERGE_EXAMPLES && s->sys->n_components > 1)
        tried = GEPA_MERGE_EXAMPLES;
    int64_t most = s->validation_calls + tried;
    return left > 0 && (!s->opts->hard_budget || left >= most);
}

static bool reached(int64_t n, int64_t limit)
{
    return limit > 0 && n >= limit;
}

static bool must_stop(struct search *s)
{
    const struct gepa_opts *o = s->opts;
    enum gepa_finish *why = &s->r->finish;
    double best = gepa_mean(&s->r->pool, gepa_best(&s->r->pool));
    if (o->stop_score > 0 && best >= o->stop_score)
        *why = s->iteration < 0 && best >= 1 ? GEPA_PERFECT_START : GEPA_TARGET;
    else if (!has_room(s))
        *why = GEPA_BUDGET;
    else if (reached(s->n_stalled, o->max_stalled))
        *why = GEPA_STALLED;
    else if (reached(s->n_idle, o->max_idle))
        *why = GEPA_IDLE;
    else if (reached((int64_t)s->r->pool.n, o->max_pool))
        *why = GEPA_POOL_FULL;
    else if (reached(s->iteration + 1, o->max_iterations))
        *why = GEPA_ITERATIONS;
    else
        return false;
    return true;
}

static void tell(struct search *s, struct gepa_iteration *it)
{
    it->pool = &s->r->pool;
    it->metric_calls = s->r->metric_calls;
    it->n_made = s->r->n_made;
    s->r->n_requests += it->n_requests;
    if (s->sys->note)
        s->sys->note(s->sys->ctx, it);
}

// Pure mutations where nothing can be merged: edits of one component cannot be joined.
static bool iterate(struct search *s, struct err *err)
{
    struct gepa_iteration it;
    bool done = false;
    bool may_merge = s->opts->use_merge && s->sys->n_components > 1 && s->n_due > 0 && s->last_new;
    begin(s, &it);
    s->n_idle++;
    s->last_new = false;
    if (may_merge && !merge(s, &it, &done, err))
        return false;
    if (!done && !mutate(s, &it, err))
        return false;
    s->n_stalled = it.child.v ? 0 : s->n_stalled + 1;
    tell(s, &it);
    return true;
}

static bool score_start(struct search *s, struct err *err)
{
    struct gepa_iteration it;
    struct gepa_candidate c = { .texts = s->sys->start };
    s->validation = NEW_ARRAY(s->arena, size_t, s->sys->n_validation + 1);
    for (size_t i = 0; i < s->sys->n_validation; i++)
        s->validation[i] = i;
    begin(s, &it);
    it.texts = c.texts;
    if (!validate(s, &c, &it, err))
        return false;
    tell(s, &it);
    return true;
}

bool gepa_search(const struct gepa_system *sys, const struct gepa_opts *opts, struct gepa_tools *t,
                 struct gepa_result *out, struct err *err)
{
    struct search s = {
        .sys = sys,
        .opts = opts,
        .chance = t->chance,
        .arena = t->arena,
        .r = out,
        .sampler = { .arena = t->arena, .size = opts->minibatch, .padding = opts->padding },
        .merges = { .arena = t->arena },
        .iteration = -1,
    };
    *out = (struct gepa_result){ .pool = { .arena = t->arena,
                                           .n_components = sys->n_components,
                                           .n_validation = sys->n_validation } };
    if (!score_start(&s, err))
        return false;
    while (!must_stop(&s)) {
        s.iteration++;
        if (!iterate(&s, err))
            return err_add(err, "iteration %lld", (long long)s.iteration + 1);
    }
    out->n_iterations = s.iteration + 1;
    out->best = gepa_best(&out->pool);
    return true;
}

const char *gepa_finish_name(enum gepa_finish f)
{
    switch (f) {
    case GEPA_BUDGET: return "budget";
    case GEPA_TARGET: return "target";
    case GEPA_PERFECT_START: return "perfect_baseline";
    case GEPA_STALLED: return "stalled";
    case GEPA_IDLE: return "no_improvement";
    case GEPA_POOL_FULL: return "candidates";
    case GEPA_ITERATIONS: return "iterations";
    }
    BUG("no such finish");
}

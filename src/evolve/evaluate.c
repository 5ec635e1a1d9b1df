// SPDX-License-Identifier: GPL-3.0-or-later
// evaluate.c - many harnesses over the same puzzles in one batch, so that all slots are busy; in a
// race, a batch a block. The same puzzles in the same order for all: comparisons are paired.
#include "evolve/evolve.h"

struct eval_set eval_set_make(const struct puzzles *all, uint64_t seed, size_t limit,
                              const struct rollout_opts *opts, struct arena *a)
{
    size_t *order = NEW_ARRAY(a, size_t, all->n + 1);
    for (size_t i = 0; i < all->n; i++)
        order[i] = i;
    struct mt g;
    mt_seed(&g, seed);
    mt_shuffle(&g, order, all->n);
    struct eval_set set = { .seed = seed, .opts = *opts };
    set.opts.seed = seed;
    set.n = limit > 0 && limit < all->n ? limit : all->n;
    struct eval_puzzle *v = NEW_ARRAY(a, struct eval_puzzle, set.n + 1);
    for (size_t i = 0; i < set.n; i++) {
        const struct puzzle *p = &all->v[order[i]];
        v[i] = (struct eval_puzzle){ p->id, rollout_puzzle(p, a) };
    }
    set.v = v;
    return set;
}

str eval_identity(const struct eval_setup *s, const struct eval_set *set, const struct candidate *c,
                  struct arena *a)
{
    const struct rollout_opts *o = &s->rollout;
    const struct model *m = s->model;
    struct buf b = { .arena = a };
    struct json_out out = { .b = &b };
    json_open(&out, '[');
    const str texts[] = { c->sha256, s->dataset_id, m->name, m->identity, s->weights_id };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        json_put_str(&out, texts[i]);
    const int64_t numbers[] = {
        (int64_t)set->seed, (int64_t)s->limit, s->repeats,  o->token_budget, o->policy_max_tokens,
        o->turns,           o->turns_cap,      o->messages, o->merge,        o->lichess,
        o->compat,          ROLLOUT_VERSION
    };
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        json_put_int(&out, numbers[i]);
    json_put_double(&out, m->has_temperature ? m->temperature : -1);
    if (m->extra)
        json_put_value(&out, m->extra);
    json_close(&out, ']');
    return sha256_of(buf_str(&b), a);
}

// ---- classes ----

str failure_name(enum failure f)
{
    static const str names[] = {
        T("infra"),
        T("harness_error"),
        T("truncated"),
        T("token_budget"),
        T("max_calls"),
        T("ambiguous"),
        T("malformed"),
        T("illegal"),
        T("alternative_mate"),
        T("wrong_first_move"),
        T("wrong_later_move"),
        T("context_length"),
    };
    return names[f];
}

static const struct rollout_event *last_response(const struct rollout_record *r)
{
    for (size_t i = r->events.n; i-- > 0;)
        if (r->events.v[i].actor == ACTOR_ASSISTANT)
            return &r->events.v[i];
    return NULL;
}

static enum failure wrong_move(const struct rollout_record *r)
{
    if (r->alternative_mate)
        return FAILURE_MATE;
    return r->correct_moves == 0 ? FAILURE_FIRST_MOVE : FAILURE_LATER_MOVE;
}

enum failure failure_of(const struct rollout_record *r)
{
    const struct rollout_event *last = last_response(r);
    if (r->stop == STOPPED_INFRA || r->stop == STOPPED_CANCELLED || r->stop == STOPPED_BAD_LINE)
        return FAILURE_INFRA;
    if (r->n_harness_errors > 0 || r->stop == STOPPED_FAULT)
        return FAILURE_HARNESS;
    if (last && last->truncated)
        return FAILURE_TRUNCATED;
    switch (r->stop) {
    case STOPPED_TOKEN_BUDGET: return FAILURE_TOKENS;
    case STOPPED_MAX_CALLS: return FAILURE_CALLS;
    case STOPPED_MALFORMED:
        return last && str_eq(last->action, S(HARNESS_AMBIGUOUS)) ? FAILURE_AMBIGUOUS
                                                                  : FAILURE_MALFORMED;
    case STOPPED_ILLEGAL: return FAILURE_ILLEGAL;
    case STOPPED_WRONG_MOVE: return wrong_move(r);
    case STOPPED_CONTEXT: return FAILURE_CONTEXT;
    case STOPPED_SOLVED:
    case STOPPED_BAD_LINE:
    case STOPPED_FAULT:
    case STOPPED_INFRA:
    case STOPPED_CANCELLED:
    case STOPPED_FORMAT_RETRY:
    case STOPPED_ILLEGAL_RETRY:
    case STOPPED_CONTINUE: break;
    }
    BUG("no failure");
}

// ---- counting ----

static void count(const struct outcome *o, bool lichess, struct eval_counts *c)
{
    const struct rollout_record *r = o->record;
    bool solved = r->result == ROLLOUT_SOLVED;
    c->n++;
    c->stops[r->stop]++;
    usage_total_add(&c->used, &o->used);
    c->n_scored += o->status == OUTCOME_SCORED;
    c->calls += r->calls;
    c->tokens += r->tokens;
    c->n_solved += solved;
    c->n_strict += solved && !(lichess && r->alternative_mate);
    c->n_lichess += solved || r->alternative_mate;
    if (!solved)
        c->failures[failure_of(r)]++;
}

static void add(struct eval_counts *to, const struct eval_counts *c)
{
    to->n += c->n;
    to->n_scored += c->n_scored;
    to->n_solved += c->n_solved;
    to->n_strict += c->n_strict;
    to->n_lichess += c->n_lichess;
    to->calls += c->calls;
    to->tokens += c->tokens;
    for (int i = 0; i < FAILURES; i++)
        to->failures[i] += c->failures[i];
    for (int i = 0; i < STOPS; i++)
        to->stops[i] += c->stops[i];
    usage_total_add(&to->used, &c->used);
}

static double ratio(int64_t k, int64_t n)
{
    return n > 0 ? (double)k / (double)n : 0;
}

// Unscored rollouts count neither way.
static void summarise(const struct eval_setup *s, struct eval_result *r)
{
    r->all = (struct eval_counts){ 0 };
    r->success = r->calls = r->tokens = 0;
    for (size_t k = 0; k < r->n_sets; k++) {
        struct eval_set_result *set = &r->sets[k];
        set->counts = (struct eval_counts){ 0 };
        for (size_t i = 0; i < set->n_puzzles * (size_t)r->repeats; i++)
            count(&set->out[i], s->rollout.lichess, &set->counts);
        add(&r->all, &set->counts);
        r->success += ratio(set->counts.n_solved, set->counts.n_scored);
        r->calls += ratio(set->counts.calls, set->counts.n);
        r->tokens += ratio(set->counts.tokens, set->counts.n);
    }
    r->success /= (double)r->n_sets;
    r->calls /= (double)r->n_sets;
    r->tokens /= (double)r->n_sets;
}

double eval_rate(const struct eval_result *r, size_t set, size_t puzzle)
{
    int64_t n = 0, k = 0;
    for (size_t i = 0; i < (size_t)r->repeats; i++) {
        const struct outcome *o = &r->sets[set].out[puzzle * (size_t)r->repeats + i];
        n += o->status == OUTCOME_SCORED;
        k += o->status == OUTCOME_SCORED && o->score > 0;
    }
    return ratio(k, n);
}

struct paired eval_compare(const struct eval_result *from, const struct eval_result *to)
{
    struct paired out = { 0 };
    for (size_t k = 0; k < to->n_sets; k++) {
        size_t n = to->sets[k].n_puzzles < from->sets[k].n_puzzles ? to->sets[k].n_puzzles
                                                                   : from->sets[k].n_puzzles;
        for (size_t i = 0; i < n * (size_t)to->repeats; i++) {
            const struct outcome *a = &from->sets[k].out[i], *b = &to->sets[k].out[i];
            if (a->status != OUTCOME_SCORED || b->status != OUTCOME_SCORED)
                continue;
            bool before = a->score > 0, after = b->score > 0;
            out.both += before && after;
            out.lost += before && !after;
            out.gained += !before && after;
            out.neither += !before && !after;
        }
    }
    // The tail at `gained` or more: half of the two-sided p, which is symmetric.
    out.p_better = out.gained > out.lost ? stats_mcnemar_exact(out.lost, out.gained) / 2 : 1;
    return out;
}

// ---- running ----

struct block { // the puzzles of a batch: [from, from + n) of each set
    struct lab *lab;
    const struct eval_setup *setup;
    struct evaluation *v;
    size_t n_evaluations, from, n;
};

static size_t puzzles_in(const struct block *b, size_t set)
{
    size_t all = b->setup->sets[set].n;
    if (b->from >= all)
        return 0;
    return all - b->from < b->n ? all - b->from : b->n;
}

static void add_jobs(const struct block *b, const struct evaluation *e, size_t set,
                     struct job *jobs, size_t *n)
{
    const struct eval_set *s = &b->setup->sets[set];
    struct arena *a = b->lab->arena;
    int repeats = b->setup->repeats;
    for (size_t i = 0; i < puzzles_in(b, set); i++) {
        size_t example = b->from + i;
        struct rollout_input *in = NEW(a, struct rollout_input);
        *in = (struct rollout_input){ &s->opts, e->candidate, s->v[example].puzzle, example };
        for (int k = 0; k < repeats; k++) {
            struct sampling *sampling = NEW(a, struct sampling);
            sampling->sample = (int64_t)set * repeats + k + e->first_sample;
            jobs[(*n)++] = (struct job){ .kind = &episode_rollout,
                                         .input = in,
                                         .input_id = s->v[example].id,
                                         .model = b->setup->model,
                                         .sampling = sampling };
        }
    }
}

static void take_outcomes(const struct block *b, struct evaluation *e, const struct outcome *out,
                          size_t *at)
{
    size_t repeats = (size_t)b->setup->repeats;
    for (size_t set = 0; set < b->setup->n_sets; set++) {
        size_t n = puzzles_in(b, set) * repeats;
        struct eval_set_result *r = &e->result.sets[set];
        struct outcome *all =
            NEW_ARRAY(b->lab->arena, struct outcome, r->n_puzzles * repeats + n + 1);
        for (size_t i = 0; i < r->n_puzzles * repeats; i++)
            all[i] = r->out[i];
        for (size_t i = 0; i < n; i++)
            all[r->n_puzzles * repeats + i] = out[(*at)++];
        r->out = all;
        r->n_puzzles += puzzles_in(b, set);
    }
    summarise(b->setup, &e->result);
}

static bool run_block(const struct block *b, struct err *err)
{
    size_t n = 0, at = 0, most = 0;
    for (size_t set = 0; set < b->setup->n_sets; set++)
        most += puzzles_in(b, set) * (size_t)b->setup->repeats;
    struct job *jobs = NEW_ARRAY(b->lab->arena, struct job, most * b->n_evaluations + 1);
    const struct outcome *out;
    for (size_t i = 0; i < b->n_evaluations; i++)
        for (size_t set = 0; set < b->setup->n_sets && !b->v[i].dropped; set++)
            add_jobs(b, &b->v[i], set, jobs, &n);
    if (n == 0)
        return true;
    if (!lab_evaluate(b->lab, jobs, n, &out, err))
        return false;
    for (size_t i = 0; i < b->n_evaluations; i++)
        if (!b->v[i].dropped)
            take_outcomes(b, &b->v[i], out, &at);
    return true;
}

// Whoever is worse than the incumbent with confidence leaves the race.
static void drop_losers(struct eval_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        struct paired p = eval_compare(batch->incumbent, &batch->v[i].result);
        struct interval d = stats_paired_difference(p.both, p.lost, p.gained, p.neither);
        batch->v[i].dropped |= d.high < 0;
    }
}

bool evaluate_all(struct lab *lab, const struct eval_setup *s, struct eval_batch *batch,
                  struct err *err)
{
    size_t most = 0;
    for (size_t set = 0; set < s->n_sets; set++)
        most = s->sets[set].n > most ? s->sets[set].n : most;
    struct block b = { lab, s, batch->v, batch->n, 0, batch->incumbent ? batch->block : most };
    for (size_t i = 0; i < batch->n; i++)
        batch->v[i].result =
            (struct eval_result){ .sets = NEW_ARRAY(lab->arena, struct eval_set_result, s->n_sets),
                                  .n_sets = s->n_sets,
                                  .repeats = s->repeats };
    for (; b.from < most; b.from += b.n) {
        if (!run_block(&b, err))
            return false;
        if (batch->incumbent && b.from + b.n < most)
            drop_losers(batch);
    }
    return true;
}

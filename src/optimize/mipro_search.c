// SPDX-License-Identifier: GPL-3.0-or-later
// mipro_search.c - phase 3 of MIPROv2: trials of pairs (instruction, demonstration set) that the
// sampler proposes (few-shot specification 6.4). With minibatches a trial is cheap and only tells
// the sampler; every few trials the best pair on average is evaluated on the whole validation set,
// and only such an evaluation can make a new best.
//
// Scores that are compared are percentages of two decimals, as the reference's; ties keep the
// earlier program, so that the start wins them.
#include "optimize/mipro.h"

struct tried { // what the trials told about one pair
    struct tpe_pair at;
    const struct program *program;
    size_t candidate; // index in the result's list
    double sum;       // of its minibatch scores
    size_t n;         // how many those are
    bool full;        // evaluated on the whole validation set,
    double value;     // to this score
};
struct search {
    struct mipro *m;
    struct opt_result *out;
    struct tpe tpe;
    struct chance *chance;
    struct map index; // of a pair to its place in `pairs`
    struct pairs {
        struct tried *v; // in the order of their first trial
        size_t n, cap;
    } pairs;
    struct map candidates; // program hash to its candidate
    double best;
    size_t best_candidate;
};

static const struct optimizer_config *config(const struct search *s)
{
    return s->m->task->config;
}

// Whether a known score stands for a new evaluation: where it is wanted, and equal requests have
// equal answers.
static bool reuses(const struct search *s)
{
    const struct model *model = s->m->task->model;
    return config(s)->mipro_save_calls && model->has_temperature && model->temperature == 0;
}

// ---- candidates ----

static size_t candidate_of(struct search *s, const struct program *program)
{
    bool fresh;
    struct arena *a = s->m->arena;
    struct map_entry *e = map_put(&s->candidates, program_hash(program, a), &fresh);
    if (fresh) {
        e->number = (int64_t)s->out->candidates.n;
        *vec_push(a, &s->out->candidates) = (struct opt_candidate){ .program = program };
    }
    return (size_t)e->number;
}

// The pair's entry, made at its first trial. Equal prompts share one where scores are reused.
static struct tried *tried_of(struct search *s, struct tpe_pair at)
{
    bool fresh;
    struct mipro *m = s->m;
    const struct program *program =
        program_with_instruction(m->arena, m->demo_sets.v[at.y], m->instructions.v[at.x]);
    str key =
        reuses(s) ? program_hash(program, m->arena) : arena_printf(m->arena, "%zu/%zu", at.x, at.y);
    struct map_entry *e = map_put(&s->index, key, &fresh);
    if (fresh) {
        e->number = (int64_t)s->pairs.n;
        *vec_push(m->arena, &s->pairs) =
            (struct tried){ .at = at, .program = program, .candidate = candidate_of(s, program) };
    }
    return &s->pairs.v[e->number];
}

static void record(struct search *s, struct tpe_pair at, double value)
{
    *vec_push(s->m->arena, &s->tpe.seen) = (struct tpe_record){ .at = at, .value = value };
}

// ---- telling ----

static void note(const struct search *s, const char *what, size_t candidate,
                 const struct opt_score *score, str reason)
{
    opt_note(s->m->task, &(struct opt_event){
                             .what = what,
                             .candidate = (int64_t)candidate,
                             .program = s->out->candidates.v[candidate].program,
                             .scored = score && !score->raised,
                             .score = score ? score->rate : 0,
                             .n_positions = score ? score->n : 0,
                             .reason = reason,
                         });
}

// "trial 7: instruction 2, demonstration set 3" (records are counted, so full evaluations too)
static str pair_text(const struct search *s, struct tpe_pair at)
{
    struct arena *a = s->m->arena;
    str text = arena_printf(a, "record %zu: instruction %zu", s->tpe.seen.n, at.x);
    return s->m->plan.zero_shot ? text
                                : arena_printf(a, "%.*s, demonstration set %zu", STR(text), at.y);
}

// ---- evaluations ----

static double percent_of(const struct opt_score *score)
{
    return score->raised ? 0 : opt_percent(score->rate);
}

// On the whole validation set: the only way to become the best.
static bool evaluate_fully(struct search *s, struct tried *k, double *value, struct err *err)
{
    struct mipro *m = s->m;
    struct opt_score score;
    struct opt_candidate *c = &s->out->candidates.v[k->candidate];
    if (!opt_score(m->task, k->program, &m->validation, &score, err))
        return false;
    *value = percent_of(&score);
    k->full = true;
    k->value = *value;
    c->score = score.rate;
    c->n_positions = m->validation.n;
    c->failed = score.raised;
    str pair = pair_text(s, k->at);
    if (*value > s->best) {
        note(s, "accepted", k->candidate, &score,
             arena_printf(m->arena, "%.*s; better than the best so far, %.2f %%", STR(pair),
                          s->best));
        s->best = *value;
        s->best_candidate = k->candidate;
    } else {
        note(s, "rejected", k->candidate, &score,
             score.raised ? arena_printf(m->arena, "%.*s; the error limit was hit", STR(pair))
                          : arena_printf(m->arena, "%.*s; not better than the best so far, %.2f %%",
                                         STR(pair), s->best));
    }
    return true;
}

static bool evaluate_start(struct search *s, struct err *err)
{
    struct mipro *m = s->m;
    struct opt_score score;
    if (!opt_score(m->task, m->start, &m->validation, &score, err))
        return err_add(err, "the start");
    size_t candidate = candidate_of(s, m->start);
    s->out->candidates.v[candidate] = (struct opt_candidate){ .program = m->start,
                                                              .score = score.rate,
                                                              .n_positions = m->validation.n,
                                                              .failed = score.raised };
    s->best = percent_of(&score);
    s->best_candidate = candidate;
    note(s, "evaluated", candidate, &score, S("the start"));
    record(s, (struct tpe_pair){ 0 }, s->best);
    if (reuses(s) && m->start->n_demos == 0) { // it is pair (0, 0)
        struct tried *k = tried_of(s, (struct tpe_pair){ 0 });
        k->full = true;
        k->value = s->best;
    }
    return true;
}

// ---- trials ----

static bool full_trial(struct search *s, struct tpe_pair at, struct err *err)
{
    struct tried *k = tried_of(s, at);
    double value = k->value;
    if (k->full && reuses(s)) {
        s->out->n_saved += (int64_t)s->m->validation.n;
        note(s, "skipped", k->candidate, NULL,
             arena_printf(s->m->arena, "%.*s; known to score %.2f %%", STR(pair_text(s, at)),
                          value));
    } else if (!evaluate_fully(s, k, &value, err)) {
        return false;
    }
    record(s, at, value);
    return true;
}

static bool minibatch_trial(struct search *s, struct tpe_pair at, struct err *err)
{
    struct mipro *m = s->m;
    struct tried *k = tried_of(s, at);
    struct puzzle_positions batch = m->validation;
    struct opt_score score;
    if (m->plan.minibatch_size < m->validation.n)
        mipro_draw_positions(m, &m->validation, m->plan.minibatch_size, &batch);
    if (!opt_score(m->task, k->program, &batch, &score, err))
        return false;
    double value = percent_of(&score);
    k->sum += value;
    k->n++;
    struct opt_candidate *c = &s->out->candidates.v[k->candidate];
    if (c->n_positions < m->validation.n) { // not fully evaluated: the mean is all that is known
        c->score = k->sum / (double)k->n / 100;
        c->n_positions = batch.n;
    }
    note(s, "evaluated", k->candidate, &score,
         arena_printf(m->arena, "%.*s; %zu minibatches of it so far, %.2f %% in the mean",
                      STR(pair_text(s, at)), k->n, k->sum / (double)k->n));
    record(s, at, value);
    return true;
}

// The pair with the best mean among those not fully evaluated; NULL: there is none left.
static struct tried *most_promising(const struct search *s)
{
    struct tried *best = NULL;
    for (size_t i = 0; i < s->pairs.n; i++) {
        struct tried *k = &s->pairs.v[i];
        if (k->n > 0 && !k->full && (!best || k->sum / (double)k->n > best->sum / (double)best->n))
            best = k;
    }
    return best;
}

static bool evaluate_most_promising(struct search *s, struct err *err)
{
    struct tried *k = most_promising(s);
    double value;
    if (!k) {
        opt_note(s->m->task, &(struct opt_event){ .what = "skipped",
                                                  .candidate = -1,
                                                  .reason = S("every pair that was tried has been "
                                                              "fully evaluated") });
        return true;
    }
    if (!evaluate_fully(s, k, &value, err))
        return false;
    record(s, k->at, value);
    return true;
}

static bool trial(struct search *s, size_t number, struct err *err)
{
    const struct mipro_plan *plan = &s->m->plan;
    struct tpe_pair at = tpe_next(&s->tpe, s->chance);
    if (plan->minibatch_size == 0)
        return full_trial(s, at, err);
    return minibatch_trial(s, at, err) &&
           ((number % plan->full_eval_steps != 0 && number != plan->n_trials) ||
            evaluate_most_promising(s, err));
}

bool mipro_search(struct mipro *m, struct err *err)
{
    struct chance fallback;
    struct search s = {
        .m = m,
        .out = m->out,
        .tpe = { .n_x = m->instructions.n, .n_y = m->plan.zero_shot ? 1 : m->demo_sets.n },
        .chance = opt_chance(m->task, S("mipro_v2"), m->arena, &fallback),
        .index = { .arena = m->arena },
        .candidates = { .arena = m->arena },
    };
    if (!evaluate_start(&s, err))
        return false;
    for (size_t i = 1; i <= m->plan.n_trials; i++) {
        if (config(&s)->mipro_save_calls && s.best >= 100) { // nothing can be better
            m->out->finish = "perfect";
            break;
        }
        if (!trial(&s, i, err))
            return err_add(err, "trial %zu of %zu", i, m->plan.n_trials);
    }
    m->out->program = m->out->candidates.v[s.best_candidate].program;
    return true;
}

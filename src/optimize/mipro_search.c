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
    size_t best_candidate; // the start is candidate 0
    int64_t n_calls;       // of the evaluations so far
};

static double mean_of(const struct tried *t)
{
    return t->sum / (double)t->n;
}

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

// ---- telling ----

enum told { TOLD_START, TOLD_MINIBATCH, TOLD_FULL, TOLD_KNOWN };
struct news { // one record of the sampler, before it is added
    enum told kind;
    const char *what;
    size_t candidate;
    struct tpe_pair at;
    const struct tried *tried;     // NULL: the start
    const struct opt_score *score; // NULL: known before
    double value;
    str reason;
};

static str details(const struct search *s, const struct news *n)
{
    static const char *const kinds[] = { "start", "minibatch", "full", "known" };
    struct buf b = { .arena = s->m->arena };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_int(&o, S("record"), (int64_t)s->tpe.seen.n);
    json_key_str(&o, S("kind"), str_from(kinds[n->kind]));
    json_key_int(&o, S("instruction"), (int64_t)n->at.x);
    if (!s->m->plan.zero_shot)
        json_key_int(&o, S("demo_set"), (int64_t)n->at.y);
    json_key_double(&o, S("percent"), n->value);
    if (n->kind == TOLD_MINIBATCH) {
        json_key_double(&o, S("mean_percent"), mean_of(n->tried));
        json_key_int(&o, S("minibatches"), (int64_t)n->tried->n);
    }
    json_key_double(&o, S("best_percent"), s->best);
    json_key_int(&o, S("calls"), s->n_calls);
    json_close(&o, '}');
    return buf_str(&b);
}

// Tells of a record and adds it.
static void record(struct search *s, const struct news *n)
{
    struct arena *a = s->m->arena;
    str pair = arena_printf(a, "instruction %zu", n->at.x);
    if (!s->m->plan.zero_shot)
        pair = arena_printf(a, "%.*s, demonstration set %zu", STR(pair), n->at.y);
    s->n_calls += n->score ? (int64_t)n->score->n : 0;
    opt_note(s->m->task, &(struct opt_event){
                             .what = n->what,
                             .candidate = (int64_t)n->candidate,
                             .program = s->out->candidates.v[n->candidate].program,
                             .scored = n->score && !n->score->raised,
                             .score = n->score ? n->score->rate : 0,
                             .n_positions = n->score ? n->score->n : 0,
                             .reason = arena_printf(a, "record %zu, %.*s: %.*s", s->tpe.seen.n,
                                                    STR(pair), STR(n->reason)),
                             .details = details(s, n),
                         });
    *vec_push(a, &s->tpe.seen) = (struct tpe_record){ .at = n->at, .value = n->value };
}

// ---- evaluations ----

static double percent_of(const struct opt_score *score)
{
    return score->raised ? 0 : opt_percent(score->rate);
}

static str verdict(const struct search *s, const struct opt_score *score)
{
    return score->raised
               ? S("the error limit was hit")
               : arena_printf(s->m->arena, "%s the best so far, %.2f %%",
                              percent_of(score) > s->best ? "better than" : "not better than",
                              s->best);
}

// On the whole validation set: the only way to become the best.
static bool evaluate_fully(struct search *s, struct tried *t, struct tpe_pair at, struct err *err)
{
    struct mipro *m = s->m;
    struct opt_score score;
    struct opt_candidate *c = &s->out->candidates.v[t->candidate];
    if (!opt_score(m->task, t->program, &m->validation, &score, err))
        return false;
    t->full = true;
    t->value = percent_of(&score);
    *c = (struct opt_candidate){ .program = t->program,
                                 .score = score.rate,
                                 .n_positions = m->validation.n,
                                 .failed = score.raised };
    struct news news = { .kind = TOLD_FULL,
                         .what = "rejected",
                         .candidate = t->candidate,
                         .at = at,
                         .tried = t,
                         .score = &score,
                         .value = t->value,
                         .reason = verdict(s, &score) };
    if (t->value > s->best) {
        news.what = "accepted";
        s->best = t->value;
        s->best_candidate = t->candidate;
    }
    record(s, &news);
    return true;
}

static bool evaluate_start(struct search *s, struct err *err)
{
    struct mipro *m = s->m;
    struct opt_score score;
    if (!opt_score(m->task, m->start, &m->validation, &score, err))
        return err_add(err, "the start");
    s->best = percent_of(&score);
    s->best_candidate = candidate_of(s, m->start);
    s->out->candidates.v[s->best_candidate] =
        (struct opt_candidate){ .program = m->start,
                                .score = score.rate,
                                .n_positions = m->validation.n,
                                .failed = score.raised };
    record(s, &(struct news){ .kind = TOLD_START,
                              .what = "evaluated",
                              .candidate = s->best_candidate,
                              .score = &score,
                              .value = s->best,
                              .reason = S("the start") });
    if (reuses(s) && m->start->n_demos == 0) { // it is pair (0, 0)
        struct tried *t = tried_of(s, (struct tpe_pair){ 0 });
        t->full = true;
        t->value = s->best;
    }
    return true;
}

// ---- trials ----

static bool full_trial(struct search *s, struct tpe_pair at, struct err *err)
{
    struct tried *t = tried_of(s, at);
    if (!t->full || !reuses(s))
        return evaluate_fully(s, t, at, err);
    s->out->n_saved += (int64_t)s->m->validation.n;
    record(s, &(struct news){ .kind = TOLD_KNOWN,
                              .what = "skipped",
                              .candidate = t->candidate,
                              .at = at,
                              .tried = t,
                              .value = t->value,
                              .reason =
                                  arena_printf(s->m->arena, "known to score %.2f %%", t->value) });
    return true;
}

// What minibatches told is all that is known of a candidate that was not fully evaluated.
static void keep_mean(struct search *s, const struct tried *t, size_t n_positions)
{
    struct opt_candidate *c = &s->out->candidates.v[t->candidate];
    if (c->n_positions == s->m->validation.n)
        return;
    c->score = mean_of(t) / 100;
    c->n_positions = n_positions;
}

static bool minibatch_trial(struct search *s, struct tpe_pair at, struct err *err)
{
    struct mipro *m = s->m;
    struct tried *t = tried_of(s, at);
    struct puzzle_positions batch = m->validation;
    struct opt_score score;
    if (m->plan.minibatch_size < m->validation.n)
        mipro_draw_positions(m, &m->validation, m->plan.minibatch_size, &batch);
    if (!opt_score(m->task, t->program, &batch, &score, err))
        return false;
    double value = percent_of(&score);
    t->sum += value;
    t->n++;
    keep_mean(s, t, batch.n);
    record(s, &(struct news){ .kind = TOLD_MINIBATCH,
                              .what = "evaluated",
                              .candidate = t->candidate,
                              .at = at,
                              .tried = t,
                              .score = &score,
                              .value = value,
                              .reason = arena_printf(m->arena,
                                                     "mean of its minibatches so far (%zu): "
                                                     "%.2f %%",
                                                     t->n, mean_of(t)) });
    return true;
}

// The pair with the best mean among those not fully evaluated; NULL: there is none left.
static struct tried *most_promising(const struct search *s)
{
    struct tried *best = NULL;
    for (size_t i = 0; i < s->pairs.n; i++) {
        struct tried *t = &s->pairs.v[i];
        if (t->n > 0 && !t->full && (!best || mean_of(t) > mean_of(best)))
            best = t;
    }
    return best;
}

static bool evaluate_most_promising(struct search *s, struct err *err)
{
    struct tried *t = most_promising(s);
    if (t)
        return evaluate_fully(s, t, t->at, err);
    opt_note(s->m->task,
             &(struct opt_event){ .what = "skipped",
                                  .candidate = -1,
                                  .reason = S("a full evaluation: every pair that was tried has "
                                              "had one") });
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

static void tell_end(const struct search *s)
{
    struct arena *a = s->m->arena;
    str reason = arena_printf(a, "%.2f %% of the validation set, by %s; %lld calls, %lld saved",
                              s->best, s->best_candidate == 0 ? "the start" : "a new program",
                              (long long)s->n_calls, (long long)s->out->n_saved);
    opt_note(s->m->task, &(struct opt_event){ .what = "finished",
                                              .candidate = (int64_t)s->best_candidate,
                                              .program = s->out->program,
                                              .reason = reason });
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
    tell_end(&s);
    return true;
}

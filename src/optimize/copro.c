// SPDX-License-Identifier: GPL-3.0-or-later
// copro.c - COPRO: a prompt model proposes instructions, then better ones from the attempts and
// their scores; each is scored on the training positions (few-shot specification, section 5).
// Demonstrations stay as they are.
#include "optimize/internal.h"

enum { REFERENCE_MAX_ERRORS = 10, TRIES = 2 }; // the error limit that COPRO is not given (3.4)

struct copro {
    const struct opt_task *task;
    struct opt_task scoring; // the same with COPRO's own error limit
    struct optimizer_config config;
    const struct puzzle_positions *on;
    struct arena *arena;
    struct opt_result *out; // its candidates: the attempts, in the order in which they came up
    int64_t n_asked;        // tells equal questions apart
};

// ---- the questions, in our own words ----

static const struct field first_inputs[] = {
    { T("current_instruction"), T("What the model is told now") },
};
static const struct field next_inputs[] = {
    { T("attempts"), T("Instructions that were tried, from the worst to the best, with the share "
                       "of answers that were right") },
};
static const struct field outputs[] = {
    { T("proposed_instruction"), T("The text of the new instruction and nothing else") },
};
static const struct signature first_signature = { first_inputs, outputs, 1, 1 };
static const struct signature next_signature = { next_inputs, outputs, 1, 1 };

static const str first_task = T(
    "A capable language model is given this instruction before each task. Write an instruction "
    "with which more of its answers will be right: name what to look at, in which order, and how "
    "to decide. It must serve for cases that nobody has seen. Fields and format of the answer are "
    "explained elsewhere; give the instruction alone.");
static const str next_task =
    T("A language model was given these instructions in turn. Work out what the better ones have "
      "in common and what the worse ones get wrong, then write a new instruction that will beat "
      "them all. Do not repeat one of them. It must serve for cases that nobody has seen. Fields "
      "and format of the answer are explained elsewhere; give the instruction alone.");

// ---- proposals ----

// The reference takes double quotes off both ends, then blanks; we take blanks, one pair of quotes,
// blanks.
static str clean(const struct copro *c, str text)
{
    if (c->config.copro_cleaning == COPRO_CLEAN_REFERENCE) {
        str s = str_strip(str_trim_set(text, S("\"")));
        if (s.len > 0)
            return s;
        return instruction_default(c->task->seed->signature, c->arena);
    }
    str s = str_strip(text);
    if (s.len >= 2 && s.data[0] == '"' && s.data[s.len - 1] == '"')
        s = str_strip(str_sub(s, 1, s.len - 2));
    return s;
}

struct texts {
    str *v;
    size_t n, cap;
};

static void note(const struct copro *c, const char *what, str why)
{
    opt_note(c->task, &(struct opt_event){ .what = what, .candidate = -1, .reason = why });
}

static bool ask_once(struct copro *c, const struct lab_question *q, size_t n, struct texts *out,
                     struct err *err)
{
    struct lab_question *all = NEW_ARRAY(c->arena, struct lab_question, n + 1);
    const struct prompt_record **records = NEW_ARRAY(c->arena, const struct prompt_record *, n + 1);
    for (size_t i = 0; i < n; i++) {
        all[i] = *q;
        all[i].sampling.sample = c->n_asked++;
    }
    if (!lab_ask(c->task->lab, all, n, records, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct prompt_record *r = records[i];
        str text = r && r->usable ? clean(c, r->values[0]) : S("");
        if (text.len > 0)
            *vec_push(c->arena, out) = text;
        else
            note(c, "skipped",
                 arena_printf(c->arena, "the prompt model's proposal is of no use: %.*s",
                              STR(!r          ? S("no answer arrived")
                                  : r->usable ? S("empty")
                                              : r->error)));
    }
    c->out->n_proposals += (int64_t)out->n;
    return true;
}

// n proposals by n requests (never by the parameter n, which providers ignore); where none is of
// any use they are asked for once more.
static bool ask_proposals(struct copro *c, struct lab_question q, size_t n, struct texts *out,
                          struct err *err)
{
    q.model = c->task->prompt_model;
    q.sampling = (struct sampling){ .has_temperature = true,
                                    .temperature = c->config.copro_init_temperature };
    for (int i = 0; i < TRIES && out->n == 0; i++)
        if (!ask_once(c, &q, n, out, err))
            return false;
    return true;
}

static size_t n_proposals(const struct copro *c, size_t of_breadth)
{
    return c->config.copro_proposals == COPRO_SINGLE ? 1 : of_breadth;
}

static bool propose_first(struct copro *c, struct texts *out, struct err *err)
{
    const str values[] = { c->task->seed->instruction };
    struct lab_question q = { .purpose = S("copro_first"),
                              .values = values,
                              .ask = program_new(c->arena, &first_signature, first_task) };
    return ask_proposals(c, q, n_proposals(c, (size_t)c->config.breadth - 1), out, err);
}

// ---- attempts ----

// Positions in the list of attempts, the best first; equal: the earliest.
static size_t *ranking(const struct copro *c)
{
    const struct opt_candidates *all = &c->out->candidates;
    size_t *order = NEW_ARRAY(c->arena, size_t, all->n + 1);
    for (size_t i = 0; i < all->n; i++) {
        size_t at = i;
        for (; at > 0 && all->v[order[at - 1]].score < all->v[i].score; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

static bool propose_next(struct copro *c, struct texts *out, struct err *err)
{
    const struct opt_candidates *all = &c->out->candidates;
    const size_t *order = ranking(c);
    size_t breadth = (size_t)c->config.breadth;
    size_t shown = all->n < breadth ? all->n : breadth;
    struct buf list = { .arena = c->arena };
    for (size_t i = 0; i < shown; i++) {
        const struct opt_candidate *a = &all->v[order[shown - 1 - i]];
        buf_addf(&list, "%sAttempt %zu, %.2f %% right:\n%.*s", i ? "\n\n" : "", i + 1,
                 opt_percent(a->score), STR(a->program->instruction));
    }
    const str values[] = { buf_str(&list) };
    struct lab_question q = { .purpose = S("copro_next"),
                              .values = values,
                              .ask = program_new(c->arena, &next_signature, next_task) };
    return ask_proposals(c, q, n_proposals(c, breadth), out, err);
}

static struct opt_candidate *known(const struct copro *c, str instruction)
{
    struct opt_candidates *all = &c->out->candidates;
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->v[i].program->instruction, instruction))
            return &all->v[i];
    return NULL;
}

static void tell(const struct copro *c, const struct program *p, double score, str why)
{
    opt_note(c->task, &(struct opt_event){ .what = "evaluated",
                                           .candidate = (int64_t)c->out->candidates.n - 1,
                                           .program = p,
                                           .scored = true,
                                           .score = score,
                                           .n_positions = c->on->n,
                                           .reason = why });
}

// Scores an instruction and stores it: a new one, or a known one that did better this time.
static bool try_instruction(struct copro *c, str text, struct err *err)
{
    const struct program *p = program_with_instruction(c->arena, c->task->seed, text);
    struct opt_candidate *same = known(c, p->instruction);
    struct opt_score score;
    if (same && c->config.copro_reuse_duplicates) {
        c->out->n_saved += (int64_t)c->on->n;
        note(c, "skipped", S("this instruction has been scored already"));
        return true;
    }
    if (!opt_score(&c->scoring, p, c->on, &score, err))
        return false;
    if (score.raised)
        return err_set(err, ERR_RUN, "too many answers could not be read");
    if (same) {
        if (score.rate > same->score)
            same->score = score.rate;
        tell(c, p, score.rate, S("known already"));
        return true;
    }
    *vec_push(c->arena, &c->out->candidates) =
        (struct opt_candidate){ .program = p, .score = score.rate, .n_positions = c->on->n };
    tell(c, p, score.rate, S("new"));
    return true;
}

// ---- the loop (5.2) ----

static bool search(struct copro *c, struct err *err)
{
    struct texts batch = { 0 };
    if (!propose_first(c, &batch, err))
        return false;
    *vec_push(c->arena, &batch) = c->task->seed->instruction; // the given one comes last
    for (int64_t d = 0;; d++) {
        for (size_t i = 0; i < batch.n; i++)
            if (!try_instruction(c, batch.v[i], err))
                return err_add(err, "depth %lld, instruction %zu", (long long)d + 1, i + 1);
        if (d + 1 == c->config.depth)
            return true;
        batch.n = 0;
        if (!propose_next(c, &batch, err))
            return false;
        if (batch.n == 0) {
            c->out->finish = "the prompt model gave no usable proposal";
            return true;
        }
    }
}

static void choose(struct copro *c)
{
    const struct opt_candidates *all = &c->out->candidates;
    const struct opt_candidate *best = &all->v[ranking(c)[0]];
    const struct opt_candidate *given = known(c, c->task->seed->instruction);
    bool given_wins = given && given->score >= best->score && c->config.copro_prefer_original;
    c->out->program = given_wins ? given->program : best->program;
    opt_note(c->task, &(struct opt_event){ .what = "accepted",
                                           .candidate = (given_wins ? given : best) - all->v,
                                           .program = c->out->program,
                                           .scored = true,
                                           .score = best->score,
                                           .n_positions = c->on->n,
                                           .reason = arena_printf(
                                               c->arena, "the best of %zu instructions", all->n) });
}

static bool run(const struct opt_task *task, struct opt_result *out, struct err *err)
{
    struct copro c = { .task = task,
                       .scoring = *task,
                       .config = *task->config,
                       .arena = task->lab->arena,
                       .out = out };
    *out = (struct opt_result){ 0 };
    if (c.config.max_errors == 0) // no key of COPRO sets it
        c.config.max_errors = REFERENCE_MAX_ERRORS;
    c.scoring.config = &c.config;
    c.on = c.config.copro_select_on == COPRO_ON_VALIDATION ? task->validation : task->train;
    if (!search(&c, err))
        return false;
    choose(&c);
    return true;
}

// W x D evaluations, with one proposal a question 1 + D; D questions.
static bool plan(const struct opt_task *task, struct opt_plan *out, struct err *err)
{
    (void)err;
    const struct optimizer_config *c = task->config;
    bool single = c->copro_proposals == COPRO_SINGLE;
    bool on_validation = c->copro_select_on == COPRO_ON_VALIDATION;
    int64_t n = (int64_t)(on_validation ? task->validation : task->train)->n;
    int64_t asked = single ? c->depth : c->breadth * c->depth - 1;
    *out = (struct opt_plan){ .least_task = n,
                              .most_task = n * (asked + 1),
                              .least_prompt = single ? 1 : c->breadth - 1,
                              .most_prompt = asked };
    if (!c->copro_reuse_duplicates)
        out->least_task = out->most_task;
    return true;
}

const struct optimizer optimizer_copro = {
    .name = T("copro"),
    .writes_prompts = true,
    .plan = plan,
    .run = run,
};

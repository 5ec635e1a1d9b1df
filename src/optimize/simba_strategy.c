// SPDX-License-Identifier: GPL-3.0-or-later
// simba_strategy.c - the two ways in which SIMBA makes a new program of a bucket of attempts (GEPA
// and SIMBA specification, 3.7 and 3.8).
#include "optimize/simba.h"

enum { INPUT_MAX_CHARS = 100000 }; // of an input of a demonstration

static const struct simba_trajectory *best_of(const struct simba_bucket *b)
{
    return &b->v[0];
}

static const struct simba_trajectory *worst_of(const struct simba_bucket *b)
{
    return &b->v[b->n - 1];
}

// ---- a demonstration ----

// Cut between characters, with a note.
static str cut_input(str text, struct arena *a)
{
    size_t at = 0, n = 0;
    for (; at < text.len && n < INPUT_MAX_CHARS; n++) {
        uint32_t code;
        bool valid;
        at += utf8_decode(str_sub(text, at, text.len), &code, &valid);
    }
    return at == text.len
               ? text
               : arena_printf(a, "%.*s\n\t\t... <the rest is left out>", STR(str_sub(text, 0, at)));
}

enum simba_outcome simba_append_demo(const struct simba_bucket *b, const struct simba_limits *l,
                                     struct arena *a, const struct program **program)
{
    const struct simba_trajectory *good = best_of(b);
    const struct program *p = *program;
    if (good->feedback.score <= l->p10 || !good->record->values)
        return SIMBA_DECLINED;
    str *inputs = NEW_ARRAY(a, str, p->signature->n_inputs);
    for (size_t i = 0; i < p->signature->n_inputs; i++)
        inputs[i] = cut_input(good->position->inputs[i], a);
    struct demo *demo = NEW(a, struct demo);
    *demo = (struct demo){ .inputs = inputs, .outputs = good->record->values };
    const struct demo **demos = NEW_ARRAY(a, const struct demo *, p->n_demos + 1);
    for (size_t i = 0; i < p->n_demos; i++)
        demos[i] = p->demos[i];
    demos[p->n_demos] = demo;
    *program = program_with_demos(a, p, demos, p->n_demos + 1);
    return SIMBA_APPLIED;
}

// ---- a rule ----

static const struct field rule_inputs[] = {
    { T("program"), T("What the program does, and its only component") },
    { T("example"), T("The inputs of one example") },
    { T("hidden_facts"), T("What is known of the example and was not shown to the program") },
    { T("worse_answer"), T("What the component answered in the worse attempt") },
    { T("worse_score"), T("") },
    { T("worse_critique"), T("") },
    { T("better_answer"), T("What the component answered in the better attempt") },
    { T("better_score"), T("") },
    { T("better_critique"), T("") },
    { T("component_names"), T("The components that advice may be given to") },
};
enum { RULE_INPUTS = ARRAY_LEN(rule_inputs) };
static const struct field rule_outputs[] = {
    { T("discussion"), T("What the better attempt did that the worse one did not") },
    { T("module_advice"), T("An object: the name of each component with the advice for it") },
};
static const struct signature rule_signature = { rule_inputs, rule_outputs, RULE_INPUTS, 2 };
static const str rule_task = T(
    "A program attempted the same example twice, once with more success. Compare the two attempts "
    "and write advice for each named component that would lead it to act as in the better attempt "
    "whenever it meets inputs of this kind: say which features of the inputs to look for and what "
    "to do then. The advice must be concrete, and must hold beyond this one example; no general "
    "encouragement. The component will see your advice together with its instruction, but none of "
    "what is shown here.");

// The answer as the program gave it; nothing where it could not be read or is left out.
static str answer_text(const struct simba_trajectory *t, struct arena *a)
{
    if (!t)
        return S("not available");
    return t->record->values ? arena_printf(a, "move: %.*s", STR(t->record->prediction))
                             : S("(an answer that could not be read)");
}

static str facts_text(const struct opt_task *task, const struct puzzle_position *p, struct arena *a)
{
    if (task->config->simba_labels == SIMBA_LABELS_NONE)
        return S("none");
    str rating = p->puzzle->has_rating ? arena_printf(a, "%d", p->puzzle->rating) : S("unknown");
    return arena_printf(a,
                        "correct move: %.*s\npuzzle: %.*s\nrating: %.*s\nthemes: %.*s\nmove %d of "
                        "%d of the puzzle",
                        STR(p->reference), STR(p->puzzle->id), STR(rating), STR(p->puzzle->themes),
                        p->index + 1, p->count);
}

static str example_text(const struct program *p, const struct puzzle_position *at, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < p->signature->n_inputs; i++)
        buf_addf(&b, "%s%.*s: %.*s", i ? "\n" : "", STR(p->signature->inputs[i].name),
                 STR(at->inputs[i]));
    return buf_str(&b);
}

static void fill_question(const struct simba_rule *r, const struct program *p,
                          str values[RULE_INPUTS])
{
    struct arena *a = r->task->lab->arena;
    const struct simba_trajectory *good = best_of(r->bucket), *bad = worst_of(r->bucket);
    const struct simba_trajectory *shown_good = good, *shown_bad = bad;
    if (good->feedback.score <= bad->feedback.score) { // only with graded scores
        if (good->feedback.score > r->limits->p90)
            shown_bad = NULL;
        else
            shown_good = NULL;
    }
    size_t n = 0;
    values[n++] = arena_printf(
        a,
        "One call of a language model, the component choose_move: from position_fen, "
        "side_to_move and legal_moves_uci it answers with move. Its instruction now:\n%.*s",
        STR(p->instruction));
    values[n++] = example_text(p, r->bucket->position, a);
    values[n++] = facts_text(r->task, r->bucket->position, a);
    const struct simba_trajectory *sides[] = { shown_bad, shown_good };
    for (size_t i = 0; i < 2; i++) {
        values[n++] = answer_text(sides[i], a);
        values[n++] =
            sides[i] ? arena_printf(a, "%g", sides[i]->feedback.score) : S("not available");
        values[n++] = sides[i] ? sides[i]->feedback.text : S("not available");
    }
    values[n] = S("choose_move");
}

// The advice for our component out of the object; a missing name changes nothing.
static bool read_advice(str object, struct arena *a, str *out)
{
    struct err ignored = { 0 };
    json_t *advice = json_read_strict(object, &ignored);
    bool ok = json_is_object(advice);
    *out = ok ? arena_str(a, json_get_str(advice, "choose_move")) : S("");
    json_decref(advice);
    return ok;
}

bool simba_append_rule(const struct simba_rule *r, const struct program **program,
                       enum simba_outcome *out, struct err *err)
{
    struct arena *a = r->task->lab->arena;
    *out = SIMBA_DECLINED;
    if (best_of(r->bucket)->feedback.score <= r->limits->p10 ||
        worst_of(r->bucket)->feedback.score >= r->limits->p90)
        return true;
    str values[RULE_INPUTS], advice;
    fill_question(r, *program, values);
    struct lab_question q = {
        .model = r->task->prompt_model,
        .purpose = S("rule"),
        .sampling = { .has_temperature = true, .temperature = 1, .sample = r->number },
        .values = values,
        .ask = program_new(a, &rule_signature, rule_task)
    };
    const struct prompt_record *record;
    if (!lab_ask(r->task->lab, &q, 1, &record, err))
        return false;
    *out = SIMBA_ERROR;
    if (!record || !record->usable || !read_advice(record->values[1], a, &advice))
        return true;
    *out = SIMBA_APPLIED;
    if (advice.len > 0)
        *program = program_with_instruction(
            a, *program,
            arena_printf(a, "%.*s\n\n%.*s", STR((*program)->instruction), STR(advice)));
    return true;
}

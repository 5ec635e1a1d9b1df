// SPDX-License-Identifier: GPL-3.0-or-later
// mipro_propose.c - phase 2 of MIPROv2: a prompt model is shown samples of the data, the program
// and what the model did well, and writes instructions (few-shot specification 6.3). No trial has
// been made yet, so none is shown. The wording of every question stands in one table below.
#include "optimize/mipro.h"

// ---- the questions ----

enum question_kind { OBSERVE, OBSERVE_MORE, SUMMARISE, PROGRAM, MODULE, PROPOSE };
struct wording {
    str purpose, output, about, task;
};
static const struct wording wordings[] = {
    [OBSERVE] = { T("dataset_observe"), T("observations"), T("What holds for most samples"),
                  T("You see samples of a data set: the inputs that a language model will be "
                    "given, "
                    "the correct answer, and facts about the sample that the model will not see. "
                    "Note what holds for most of them: the subject, what the inputs contain and "
                    "how they are written, the form of the answer, what makes an answer correct, "
                    "and which task the model is thus given. Be specific and brief.") },
    [OBSERVE_MORE] = { T("dataset_observe_more"), T("observations"),
                       T("Only what is new, or the word COMPLETE"),
                       T("You see further samples of a data set, and what was noted about earlier "
                         "ones. Write down only what the notes lack and most samples share. If "
                         "the notes lack nothing of weight, answer with the single word "
                         "COMPLETE.") },
    [SUMMARISE] = { T("dataset_summary"), T("summary"), T("Two or three sentences"),
                    T("Condense these notes on a data set into two or three sentences that tell "
                      "the author of an instruction what matters about the task and its data.") },
    [PROGRAM] = { T("describe_program"), T("program_description"),
                  T("The task, and how the program goes about it"),
                  T("You see the listing of a program that asks a language model, and calls that "
                    "went well, if there are any. Say in two or three sentences which task it "
                    "solves and how.") },
    [MODULE] = { T("describe_module"), T("module_description"), T("What this module contributes"),
                 T("You see the listing of a program that asks a language model, a description of "
                   "the program, and the head of one of its modules. Say in two or three "
                   "sentences what this module has to achieve and what its answer depends on.") },
    [PROPOSE] = { T("propose_instruction"), T("proposed_instruction"),
                  T("The text of the new instruction and nothing else"),
                  T("Write a new instruction for the language model that this module asks, so that "
                    "more of its answers are correct than with the current one. Use what is known "
                    "about the task, the data and the program; say what to look at and how to "
                    "decide. It has to serve for samples that nobody has seen: name no single "
                    "sample and no answer to one. Fields and format of the answer are explained to "
                    "the model elsewhere: do not change or repeat them. Where a tip is given, "
                    "follow it. Give the instruction itself, without heading, quotation marks or "
                    "remarks about it.") },
};

// In the order of the draw (6.3 step 1); the first is none.
static const str tips[] = {
    T(""),
    T("Be inventive: look for an approach that the current instruction does not take."),
    T("Keep it short and plain; every word must earn its place."),
    T("Be thorough: describe in detail what is wanted and what to take into account."),
    T("Make clear how much depends on a correct answer and what an error would cost."),
    T("Give the model the part of someone who is an authority on just this task."),
};

enum { QUESTION_FIELDS_MAX = 10 };
struct question {
    struct sampling sampling;
    struct field fields[QUESTION_FIELDS_MAX];
    str values[QUESTION_FIELDS_MAX];
    size_t n;
};

static void put(struct question *q, str name, str about, str value)
{
    q->fields[q->n] = (struct field){ name, about };
    q->values[q->n++] = value;
}

// The record is never NULL: a call that was lost for good counts as an answer of no use.
static bool ask(struct mipro *m, enum question_kind kind, const struct question *q,
                const struct prompt_record **record, struct err *err)
{
    static const struct prompt_record lost = { .error = T("no answer arrived") };
    const struct wording *w = &wordings[kind];
    struct field *output = NEW(m->arena, struct field);
    struct signature *signature = NEW(m->arena, struct signature);
    *output = (struct field){ w->output, w->about };
    *signature = (struct signature){
        .inputs = q->fields, .n_inputs = q->n, .outputs = output, .n_outputs = 1
    };
    struct lab_question question = { .model = m->task->prompt_model,
                                     .purpose = w->purpose,
                                     .sampling = q->sampling,
                                     .ask = program_new(m->arena, signature, w->task),
                                     .values = q->values };
    if (!lab_ask(m->task->lab, &question, 1, record, err))
        return err_add(err, "%.*s", STR(w->purpose));
    if (!*record)
        *record = &lost;
    return true;
}

static void note_useless(const struct mipro *m, const char *what, enum question_kind kind, str why)
{
    str reason = arena_printf(m->arena, "%.*s: the answer of the prompt model is of no use: %.*s",
                              STR(wordings[kind].purpose), STR(why));
    opt_note(m->task, &(struct opt_event){ .what = what, .candidate = -1, .reason = reason });
}

enum { REMARK_MAX_BYTES = 4000 }; // of an answer that only goes into further questions

// An answer that only goes into further questions; empty, and noted, where it is of no use.
static bool ask_remark(struct mipro *m, enum question_kind kind, const struct question *q, str *out,
                       struct err *err)
{
    const struct prompt_record *record;
    if (!ask(m, kind, q, &record, err))
        return false;
    *out = record->usable ? mipro_cut(str_strip(record->values[0]), REMARK_MAX_BYTES) : S("");
    if (out->len == 0)
        note_useless(m, "skipped", kind, record->usable ? S("empty") : record->error);
    return true;
}

// ---- the description of the data (D1 to D3) ----

enum { SKIPS_MAX = 5 }; // answers COMPLETE that end it
static const struct question QUESTION_ON_DATA = {
    .sampling = { .has_temperature = true, .temperature = 1 },
};

static bool observe_batch(struct mipro *m, size_t from, str notes, str *out, struct err *err)
{
    struct question q = QUESTION_ON_DATA;
    str samples = mipro_samples(m, from, (size_t)m->task->config->mipro_view_data_batch_size);
    put(&q, S("samples"), S("With inputs, correct answer and facts"), samples);
    if (notes.len > 0)
        put(&q, S("notes"), S("On earlier samples"), notes);
    return ask_remark(m, notes.len > 0 ? OBSERVE_MORE : OBSERVE, &q, out, err);
}

static bool says_complete(str answer)
{
    return str_eq_nocase(str_sub(answer, 0, 8), S("COMPLETE"));
}

// Notes on the first batches; empty where the first answer is of no use.
static bool observe(struct mipro *m, str *notes, struct err *err)
{
    size_t batch = (size_t)m->task->config->mipro_view_data_batch_size;
    struct buf all = { .arena = m->arena };
    str answer;
    int skips = 0;
    if (!observe_batch(m, 0, S(""), &answer, err))
        return false;
    buf_add(&all, answer);
    for (size_t k = 1; k <= MIPRO_MORE_MAX && k * batch < m->train.n && all.len > 0; k++) {
        if (!observe_batch(m, k * batch, buf_str(&all), &answer, err))
            return false;
        if (says_complete(answer) && ++skips == SKIPS_MAX)
            break;
        if (answer.len == 0) // what was gathered is kept
            break;
        if (!says_complete(answer))
            buf_addf(&all, "\n%.*s", STR(answer));
    }
    *notes = buf_str(&all);
    return true;
}

static bool describe_data(struct mipro *m, str *out, struct err *err)
{
    str notes, summary;
    struct question q = QUESTION_ON_DATA;
    *out = S("");
    if (!m->task->config->data_aware_proposer)
        return true;
    if (!observe(m, &notes, err))
        return false;
    if (notes.len == 0)
        return true;
    put(&q, S("notes"), S("Made while reading samples"), notes);
    if (!ask_remark(m, SUMMARISE, &q, &summary, err))
        return false;
    *out = mipro_strip(m, summary);
    return true;
}

// ---- one proposal (P1 to P3) ----

struct proposal { // what its three questions are made of
    struct sampling sampling;
    str data, program, module, examples, tip;
    str program_description, module_description;
};

static void put_program(const struct mipro *m, struct question *q, const struct proposal *p)
{
    if (!m->task->config->program_aware_proposer)
        return;
    put(q, S("program"), S("Listing"), p->program);
}

static void put_examples(const struct mipro *m, struct question *q, const struct proposal *p)
{
    if (m->task->config->fewshot_aware_proposer)
        put(q, S("examples"), S("Calls with a good answer"), p->examples);
}

// P1 and P2; a useless answer leaves a placeholder.
static bool describe_program(struct mipro *m, struct proposal *p, struct err *err)
{
    struct question q = { .sampling = p->sampling };
    if (!m->task->config->program_aware_proposer)
        return true;
    put_program(m, &q, p);
    put_examples(m, &q, p);
    if (!ask_remark(m, PROGRAM, &q, &p->program_description, err))
        return false;
    if (p->program_description.len == 0)
        p->program_description = S("Not available.");
    put(&q, S("program_description"), S(""), p->program_description);
    put(&q, S("module"), S("Its head: inputs and outputs"), p->module);
    if (!ask_remark(m, MODULE, &q, &p->module_description, err))
        return false;
    if (p->module_description.len == 0)
        p->module_description = S("Not available.");
    return true;
}

static bool ask_instruction(struct mipro *m, const struct proposal *p,
                            const struct prompt_record **record, struct err *err)
{
    struct question q = { .sampling = p->sampling };
    if (p->data.len > 0)
        put(&q, S("data"), S("What the samples are like"), p->data);
    put_program(m, &q, p);
    if (m->task->config->program_aware_proposer) {
        put(&q, S("program_description"), S(""), p->program_description);
        put(&q, S("module"), S("The module whose instruction is wanted"), p->module);
        put(&q, S("module_description"), S(""), p->module_description);
    }
    put_examples(m, &q, p);
    put(&q, S("current_instruction"), S("The one to improve on"), m->start->instruction);
    if (p->tip.len > 0)
        put(&q, S("tip"), S("For the new instruction"), p->tip);
    return ask(m, PROPOSE, &q, record, err);
}

// ---- judging a proposal ----

// The text as it will be stored; empty, with `why`, where the proposal is none.
static str read_proposal(const struct mipro *m, const struct prompt_record *record,
                         const char **why)
{
    *why = NULL;
    if (!record->usable)
        *why = arena_str(m->arena, record->error).data;
    else if (record->truncated)
        *why = "the token limit cut it off";
    if (*why)
        return S("");
    str text = instruction_normalise(mipro_strip(m, record->values[0]), m->arena);
    if (m->task->config->mipro_proposals == MIPRO_PROPOSALS_REFERENCE)
        return text.len > 0 ? text : mipro_default_instruction(m);
    *why = mipro_fault_of(text);
    return *why ? S("") : text;
}

static void note_proposal(const struct mipro *m, const struct proposal *p)
{
    size_t last = m->instructions.n - 1;
    str text = m->instructions.v[last];
    struct buf b = { .arena = m->arena };
    buf_addf(&b, "instruction %zu%s%.*s", last, p->tip.len > 0 ? ", tip: " : "", STR(p->tip));
    for (size_t i = 0; i < last; i++)
        if (str_eq(m->instructions.v[i], text)) {
            buf_addf(&b, "; the same text as instruction %zu", i);
            break;
        }
    opt_note(m->task, &(struct opt_event){
                          .what = "candidate",
                          .candidate = -1,
                          .program = program_with_instruction(m->arena, m->demo_sets.v[0], text),
                          .reason = buf_str(&b),
                      });
}

static bool propose_one(struct mipro *m, struct proposal *p, struct err *err)
{
    const struct prompt_record *record;
    const char *why;
    if (!describe_program(m, p, err) || !ask_instruction(m, p, &record, err))
        return false;
    str text = read_proposal(m, record, &why);
    if (why) {
        note_useless(m, "rejected", PROPOSE, str_from(why));
        return true;
    }
    m->out->n_proposals++;
    *vec_push(m->arena, &m->instructions) = text;
    note_proposal(m, p);
    return true;
}

// Asked for and thrown away, as in the reference: the given instruction takes its place.
static bool propose_for_nobody(struct mipro *m, struct proposal *p, struct err *err)
{
    const struct prompt_record *record;
    if (m->task->config->mipro_first_proposal == MIPRO_FIRST_SKIPPED)
        return true;
    return describe_program(m, p, err) && ask_instruction(m, p, &record, err);
}

bool mipro_propose(struct mipro *m, struct err *err)
{
    enum { ROLLOUT_MAX = 1000000000 };
    const struct optimizer_config *c = m->task->config;
    struct proposal p = { .program = mipro_program_text(m), .module = mipro_module_line(m) };
    size_t n =
        m->plan.n_instructions < m->plan.n_demo_sets ? m->plan.n_instructions : m->plan.n_demo_sets;
    if (!describe_data(m, &p.data, err))
        return false;
    *vec_push(m->arena, &m->instructions) = m->start->instruction;
    for (size_t i = 0; i < n; i++) {
        p.tip = c->tip_aware_proposer ? tips[mt_below(&m->g, ARRAY_LEN(tips))] : S("");
        p.sampling = (struct sampling){ .has_temperature = true,
                                        .temperature = c->mipro_init_temperature,
                                        .sample = mt_range(&m->g, 0, ROLLOUT_MAX) };
        p.examples = mipro_examples(m, i);
        if (i == 0 ? !propose_for_nobody(m, &p, err) : !propose_one(m, &p, err))
            return false;
    }
    return true;
}

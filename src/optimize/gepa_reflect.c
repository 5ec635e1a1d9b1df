// SPDX-License-Identifier: GPL-3.0-or-later
// gepa_reflect.c - what GEPA's prompt model is shown and asked: the instruction, a few tasks with
// the answers and their critique, and the wish for a better instruction (GEPA and SIMBA
// specification, 2.7 and 2.8). One user message, free text; its wording stands here alone.
#include "optimize/gepa.h"
#include "optimize/internal.h"

enum { INSTRUCTION_MAX_BYTES = 20000, SHOWN_REPLY_MAX_BYTES = 2000, REQUESTS_MAX = 2 };

// ---- the request ----

static const str opening =
    T("An assistant solves many tasks of one kind. All it knows about them is an instruction that "
      "stands above every task. Your job is to write a better instruction.\n\nThis is the "
      "instruction it has now:\n\n<instruction>\n");
static const str wish = T(
    "Write the instruction that replaces the present one.\n"
    "- Work out from the inputs what the task is and in which form the assistant receives it, and "
    "say so in plain words, also what exactly it has to answer.\n"
    "- Take from the critiques whatever the assistant evidently did not know or did not do, and "
    "state it as knowledge or as a rule to follow. Where an answer was right, keep what led to "
    "it if it would help with other tasks as well.\n"
    "- The assistant will see other tasks than these. Write what carries over to them; do not "
    "copy the examples or their answers.\n"
    "- What is good in the present instruction has to be said again: nothing of it is kept "
    "otherwise.\n\n"
    "Reply with the new instruction alone, inside one block that begins and ends with a line of "
    "three backticks (```).\n");

static void add_value(struct buf *b, str name, str value)
{
    buf_addf(b, "### %.*s\n", STR(name));
    buf_add_utf8(b, str_strip(value));
    buf_add(b, S("\n\n"));
}

// An answer that could not be read is shown as it came.
static void add_raw(struct buf *b, const struct puzzle_record *record)
{
    if (str_strip(record->text).len == 0) {
        add_value(b, S("reply"), S("(nothing)"));
        return;
    }
    add_value(b, S("reply"), str_sub(record->text, 0, SHOWN_REPLY_MAX_BYTES));
    if (record->text.len > SHOWN_REPLY_MAX_BYTES)
        buf_addf(b, "(%zu bytes in all)\n\n", record->text.len);
}

static void add_layout(struct buf *b, const struct signature *s)
{
    buf_add(b, S("This reply cannot be read. It has to be one JSON object with "));
    for (size_t i = 0; i < s->n_outputs; i++)
        buf_addf(b, "%s\"%.*s\"", i ? " and " : "", STR(s->outputs[i].name));
    buf_add(b, S(" as its only members, and nothing around it. "));
}

static void add_example(struct buf *b, const struct gepa_reflection *q, const struct gepa_shown *x,
                        size_t number)
{
    const struct signature *s = q->program->signature;
    const struct puzzle_record *record = x->out->record;
    struct feedback f;
    opt_feedback(q->task, x->position, x->out, &f);
    buf_addf(b, "# Example %zu\n\n## Inputs\n\n", number);
    for (size_t i = 0; i < s->n_inputs; i++)
        add_value(b, s->inputs[i].name, x->position->inputs[i]);
    buf_add(b, S("## Answer\n\n"));
    for (size_t i = 0; i < s->n_outputs && record->values; i++)
        add_value(b, s->outputs[i].name, record->values[i]);
    if (!record->values)
        add_raw(b, record);
    buf_add(b, S("## Critique\n\n"));
    if (!record->values)
        add_layout(b, s);
    buf_add(b, f.text);
    buf_add(b, S("\n\n"));
}

// Dropped as in the reference: answers that could not be read. What never arrived says nothing
// about the instruction and is not shown in any case.
static bool is_shown(const struct gepa_reflection *q, const struct gepa_shown *x)
{
    const struct puzzle_record *record = x->out->record;
    return record->values || (q->task->config->gepa_format_failures == FORMAT_FAILURES_SHOW &&
                              x->out->status != OUTCOME_FAILED);
}

static str request(const struct gepa_reflection *q, size_t *n_shown)
{
    struct buf b = { .arena = q->task->lab->arena };
    buf_add(&b, opening);
    buf_add(&b, q->program->instruction);
    buf_add(&b, S("\n</instruction>\n\nBelow are tasks that it was given, what it answered, and a "
                  "critique of each answer.\n\n"));
    *n_shown = 0;
    for (size_t i = 0; i < q->n; i++)
        if (is_shown(q, &q->shown[i]))
            add_example(&b, q, &q->shown[i], ++*n_shown);
    buf_add(&b, wish);
    return buf_str(&b);
}

// ---- the reply ----

// Why a text that was found is of no use; NULL: it is.
static const char *fault_of(str text)
{
    if (text.len > INSTRUCTION_MAX_BYTES)
        return "it is longer than 20,000 bytes";
    if (str_find(text, S("[[ ## ")) >= 0)
        return "it holds the field marks of a request, which would break those it stands in";
    return NULL;
}

static const char *read_reply(const struct gepa_reflection *q, const struct prompt_record *record,
                              str *text)
{
    enum gepa_extract how = q->task->config->gepa_extract;
    if (!record)
        return "the request failed";
    if (!record->answered)
        return record->error.len > 0 ? record->error.data : "the request failed";
    if (how == GEPA_EXTRACT_COMPLETE && record->truncated)
        return "the token limit cut it off";
    const char *why = gepa_extract(record->text, how, text);
    *text = instruction_normalise(*text, q->task->lab->arena);
    if (!why && how != GEPA_EXTRACT_LENIENT)
        why = fault_of(*text);
    return why;
}

// A failed request is made once more, as in the reference; `complete` gives any useless reply a
// second chance, and one that was cut off twice the room.
static bool is_repeated(const struct gepa_reflection *q, const struct prompt_record *record)
{
    return !record || !record->answered || q->task->config->gepa_extract == GEPA_EXTRACT_COMPLETE;
}

static const struct model *roomier(const struct model *m, struct arena *a)
{
    struct model *copy = NEW(a, struct model);
    *copy = *m;
    copy->max_tokens *= 2;
    return copy;
}

static const char *sentence(const struct gepa_reflection *q, const char *why)
{
    return arena_printf(q->task->lab->arena, "no instruction in the prompt model's reply: %s", why)
        .data;
}

bool gepa_reflect(const struct gepa_reflection *q, struct gepa_proposal *out, struct err *err)
{
    struct lab *lab = q->task->lab;
    size_t n_shown;
    struct lab_question question = { .model = q->task->prompt_model,
                                     .purpose = S("reflect"),
                                     .plain = request(q, &n_shown) };
    *out = (struct gepa_proposal){ .why = "no answer of the minibatch could be read" };
    if (n_shown == 0)
        return true;
    for (;;) { // left when a text is found or nothing more is to be asked
        const struct prompt_record *record;
        question.sampling.sample = q->sample + out->n_requests++;
        if (!lab_ask(lab, &question, 1, &record, err))
            return false;
        out->why = read_reply(q, record, &out->text);
        out->found = !out->why;
        if (out->found)
            return true;
        out->why = sentence(q, out->why);
        if (!is_repeated(q, record) || out->n_requests == REQUESTS_MAX)
            break;
        opt_note(q->task, &(struct opt_event){ .what = "asked again",
                                               .candidate = -1,
                                               .reason = str_from(out->why) });
        if (record && record->truncated)
            question.model = roomier(question.model, lab->arena);
    }
    out->text = S("");
    return true;
}

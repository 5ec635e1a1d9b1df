// SPDX-License-Identifier: GPL-3.0-or-later
// program.c - programs as values: the signatures of the paper, how a program is made from another
// one, its size and its name.
#include "prompt/prompt.h"

// Wire texts: few-shot specification 1.1. What `analysis` is called is ours.
static const struct field inputs[] = {
    { T("position_fen"), T("Current position in FEN") },
    { T("side_to_move"), T("white or black") },
    { T("legal_moves_uci"), T("Comma-separated legal UCI moves") },
};
static const struct field outputs[] = {
    { T("analysis"), T("A short analysis of the position") },
    { T("move"), T("Exactly one legal SAN or UCI move, without reasoning or labels") },
};

const struct signature signature_choose_move = {
    .inputs = inputs,
    .n_inputs = ARRAY_LEN(inputs),
    .outputs = outputs + 1,
    .n_outputs = ARRAY_LEN(outputs) - 1,
};
const struct signature signature_choose_move_analysis = {
    .inputs = inputs,
    .n_inputs = ARRAY_LEN(inputs),
    .outputs = outputs,
    .n_outputs = ARRAY_LEN(outputs),
};

const str instruction_base = T("Solve the chess puzzle by finding the single best move.");

str field_title(str name, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i] == '_' ? ' ' : name.data[i];
        bool first = i == 0 || name.data[i - 1] == '_';
        buf_add_char(&b, first ? ascii_upper(c) : c);
    }
    return buf_str(&b);
}

const struct program *program_new(struct arena *a, const struct signature *signature,
                                  str instruction)
{
    struct program *p = NEW(a, struct program);
    p->signature = signature;
    p->instruction = instruction_normalise(instruction, a);
    return p;
}

const struct program *program_with_instruction(struct arena *a, const struct program *p,
                                               str instruction)
{
    struct program *made = NEW(a, struct program);
    *made = *p;
    made->instruction = instruction_normalise(instruction, a);
    return made;
}

const struct program *program_with_demos(struct arena *a, const struct program *p,
                                         const struct demo *const *demos, size_t n_demos)
{
    const struct demo **copy = NEW_ARRAY(a, const struct demo *, n_demos);
    for (size_t i = 0; i < n_demos; i++)
        copy[i] = demos[i];
    struct program *made = NEW(a, struct program);
    *made = *p;
    made->demos = copy;
    made->n_demos = n_demos;
    return made;
}

// Lines "name: value", each with one character for the line break behind it.
static size_t lines_size(const struct field *fields, const str *values, size_t n)
{
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += utf8_length(fields[i].name) + utf8_length(values[i]) + 3;
    return size;
}

size_t program_size(const struct program *p)
{
    const struct signature *s = p->signature;
    size_t size = utf8_length(p->instruction);
    for (size_t i = 0; i < p->n_demos; i++) {
        const struct demo *d = p->demos[i];
        // Two line breaks before the lines of a demo, none behind its last line.
        size += 2 + lines_size(s->inputs, d->inputs, s->n_inputs) +
                lines_size(s->outputs, d->outputs, s->n_outputs) - 1;
    }
    return size;
}

str program_hash(const struct program *p, struct arena *a)
{
    struct arena scratch = { 0 };
    static const str nothing[SIGNATURE_FIELDS_MAX];
    struct messages m;
    program_render(p, nothing, &scratch, &m);
    struct buf b = { .arena = &scratch, .max = SIZE_MAX };
    messages_write(&m, &(struct json_out){ .b = &b });
    str hash = sha256_of(buf_str(&b), a);
    arena_free(&scratch);
    return hash;
}

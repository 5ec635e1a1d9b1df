// SPDX-License-Identifier: GPL-3.0-or-later
// mipro_show.c - what the prompt model of MIPROv2 is shown of data, program and demonstrations
// (few-shot specification 6.3).
#include "optimize/mipro.h"

static void add_line(struct arena *a, struct buf *b, str name, str value)
{
    buf_addf(b, "%.*s: %.*s\n", STR(field_title(name, a)), STR(value));
}

// A batch of training positions with labels and facts.
str mipro_samples(struct mipro *m, size_t from, size_t n)
{
    enum { BATCH_MAX_BYTES = 40000 }; // ten positions take 2 to 10 kB
    enum { THEMES_MAX_BYTES = 200 };
    const struct signature *s = m->start->signature;
    struct buf b = { .arena = m->arena, .max = BATCH_MAX_BYTES };
    for (size_t i = from; i < from + n && i < m->train.n; i++) {
        const struct puzzle_position *p = &m->train.v[i];
        for (size_t f = 0; f < s->n_inputs; f++)
            add_line(m->arena, &b, s->inputs[f].name, p->inputs[f]);
        buf_addf(&b, "Correct Move: %.*s\n", STR(p->reference));
        if (p->puzzle->has_rating)
            buf_addf(&b, "Rating: %d\n", p->puzzle->rating);
        buf_addf(&b, "Themes: %.*s\nMove %d of %d of the solution of puzzle %.*s\n\n",
                 STR(mipro_cut(p->puzzle->themes, THEMES_MAX_BYTES)), p->index + 1, p->count,
                 STR(p->puzzle->id));
    }
    return str_strip(buf_str(&b));
}

static void add_fields(struct buf *b, const struct field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_addf(b, "%s%.*s (%.*s)", i ? ", " : "", STR(fields[i].name),
                 STR(fields[i].description));
}

str mipro_program_text(const struct mipro *m)
{
    const struct signature *s = m->start->signature;
    struct buf b = { .arena = m->arena };
    buf_addf(&b, "One call of a language model for each sample.\nInputs: ");
    add_fields(&b, s->inputs, s->n_inputs);
    buf_addf(&b, ".\nOutputs: ");
    add_fields(&b, s->outputs, s->n_outputs);
    buf_addf(&b, ".\nCurrent instruction: %.*s", STR(m->start->instruction));
    return buf_str(&b);
}

str mipro_module_line(const struct mipro *m)
{
    const struct signature *s = m->start->signature;
    struct buf b = { .arena = m->arena };
    buf_addf(&b, "Predict(");
    for (size_t i = 0; i < s->n_inputs; i++)
        buf_addf(&b, "%s%.*s", i ? ", " : "", STR(s->inputs[i].name));
    buf_addf(&b, ") ->");
    for (size_t i = 0; i < s->n_outputs; i++)
        buf_addf(&b, "%s %.*s", i ? "," : "", STR(s->outputs[i].name));
    return buf_str(&b);
}

static void add_demo(const struct mipro *m, const struct demo *d, struct buf *b)
{
    const struct signature *s = m->start->signature;
    for (size_t f = 0; f < s->n_inputs; f++)
        add_line(m->arena, b, s->inputs[f].name, d->inputs[f]);
    for (size_t f = 0; f < s->n_outputs; f++)
        add_line(m->arena, b, s->outputs[f].name, d->outputs[f]);
    buf_add_char(b, '\n');
}

enum demo_origin { DEMO_OWN, DEMO_LABELED }; // the model's own answer, a reference move

// The first demonstrations of that origin, from set `first` on round all sets.
static size_t add_demos(const struct mipro *m, size_t first, enum demo_origin origin, struct buf *b)
{
    enum { EXAMPLES = 3 };
    size_t n = 0;
    for (size_t k = 0; k < m->demo_sets.n; k++) {
        const struct program *set = m->demo_sets.v[(first + k) % m->demo_sets.n];
        for (size_t i = 0; i < set->n_demos && n < EXAMPLES; i++)
            if ((set->demos[i]->source == NULL) == (origin == DEMO_OWN)) {
                add_demo(m, set->demos[i], b);
                n++;
            }
    }
    return n;
}

// What proposal i is shown: the first one gets no examples.
str mipro_examples(const struct mipro *m, size_t i)
{
    struct buf b = { .arena = m->arena };
    if (i > 0 && add_demos(m, i, DEMO_OWN, &b) == 0)
        add_demos(m, i, DEMO_LABELED, &b);
    return b.len > 0 ? str_strip(buf_str(&b)) : S("None are given.");
}

// SPDX-License-Identifier: GPL-3.0-or-later
// render.c - a program and the values of its inputs become a chat. The layout is fixed byte for
// byte by few-shot specification 1.4-1.7: published results depend on it.
#include "prompt/prompt.h"

str role_name(enum role role)
{
    switch (role) {
    case ROLE_SYSTEM: return S("system");
    case ROLE_USER: return S("user");
    case ROLE_ASSISTANT: return S("assistant");
    }
    BUG("no such role");
}

// ---- the system message ----

// A numbered list under its heading, without white space at its end.
static void add_fields(struct buf *b, str heading, const struct field *fields, size_t n)
{
    buf_add(b, heading);
    for (size_t i = 0; i < n; i++) {
        buf_add_char(b, '\n');
        buf_add_int(b, (int64_t)i + 1);
        buf_add_all(
            b, (const str[]){ S(". `"), fields[i].name, S("` (str): "), fields[i].description }, 4);
    }
    b->len = str_trim(buf_str(b)).len; // the heading begins with no white space
}

// Input slots joined by blank lines; without values each shows its name in braces.
static void add_slots(struct buf *b, const struct signature *s, const str *values)
{
    for (size_t i = 0; i < s->n_inputs; i++) {
        str name = s->inputs[i].name;
        buf_add_all(b, (const str[]){ i > 0 ? S("\n\n[[ ## ") : S("[[ ## "), name, S(" ## ]]\n") },
                    3);
        if (values)
            buf_add(b, values[i]);
        else
            buf_add_all(b, (const str[]){ S("{"), name, S("}") }, 3);
    }
}

// The JSON object of the outputs; without values each shows its name in braces.
static void add_outputs(struct buf *b, const struct signature *s, const str *values)
{
    struct arena scratch = { 0 };
    struct json_out o = { .b = b, .indent = 2 };
    json_open(&o, '{');
    for (size_t i = 0; i < s->n_outputs; i++) {
        str name = s->outputs[i].name;
        json_key_str(&o, name, values ? values[i] : arena_printf(&scratch, "{%.*s}", STR(name)));
    }
    json_close(&o, '}');
    arena_free(&scratch);
}

static str system_text(const struct program *p, struct arena *a)
{
    const struct signature *s = p->signature;
    struct arena scratch = { 0 };
    struct buf in = { .arena = &scratch };
    struct buf out = { .arena = &scratch };
    add_fields(&in, S("Your input fields are:"), s->inputs, s->n_inputs);
    add_fields(&out, S("Your output fields are:"), s->outputs, s->n_outputs);

    struct buf b = { .arena = a, .max = SIZE_MAX };
    buf_add(&b, buf_str(&in));
    buf_add_char(&b, '\n');
    buf_add(&b, buf_str(&out));
    buf_add(&b, S("\nAll interactions will be structured in the following way, with the "
                  "appropriate values filled in.\n\n"
                  "Inputs will have the following structure:\n\n"));
    add_slots(&b, s, NULL);
    buf_add(&b, S("\n\nOutputs will be a JSON object with the following fields.\n\n"));
    add_outputs(&b, s, NULL);
    buf_add(&b, S("\nIn adhering to this structure, your objective is: "));
    for (str rest = p->instruction; rest.len > 0;) {
        buf_add(&b, S("\n        "));
        buf_add(&b, str_cut_break(&rest));
    }
    arena_free(&scratch);
    return buf_str(&b);
}

// ---- demonstrations and the question ----

static str user_text(const struct signature *s, const str *inputs, struct arena *a)
{
    struct buf b = { .arena = a, .max = SIZE_MAX };
    add_slots(&b, s, inputs);
    return buf_str(&b);
}

static str assistant_text(const struct signature *s, const str *outputs, struct arena *a)
{
    struct buf b = { .arena = a, .max = SIZE_MAX };
    add_outputs(&b, s, outputs);
    return buf_str(&b);
}

static str question_text(const struct signature *s, const str *inputs, struct arena *a)
{
    struct buf b = { .arena = a, .max = SIZE_MAX };
    add_slots(&b, s, inputs);
    buf_add(&b, S("\n\nRespond with a JSON object in the following order of fields: "));
    for (size_t i = 0; i < s->n_outputs; i++)
        buf_add_all(&b, (const str[]){ i > 0 ? S(", then `") : S("`"), s->outputs[i].name, S("`") },
                    3);
    buf_add_char(&b, '.');
    return buf_str(&b);
}

static void add_message(struct messages *m, struct arena *a, enum role role, str text)
{
    *vec_push(a, m) = (struct message){ role, text };
}

void program_render(const struct program *p, const str *inputs, struct arena *a,
                    struct messages *out)
{
    *out = (struct messages){ 0 };
    add_message(out, a, ROLE_SYSTEM, system_text(p, a));
    for (size_t i = 0; i < p->n_demos; i++) {
        const struct demo *d = p->demos[i];
        add_message(out, a, ROLE_USER, user_text(p->signature, d->inputs, a));
        add_message(out, a, ROLE_ASSISTANT, assistant_text(p->signature, d->outputs, a));
    }
    add_message(out, a, ROLE_USER, question_text(p->signature, inputs, a));
}

void messages_write(const struct messages *m, struct json_out *out)
{
    json_open(out, '[');
    for (size_t i = 0; i < m->n; i++) {
        json_open(out, '{');
        json_key_str(out, S("role"), role_name(m->v[i].role));
        json_key_str(out, S("content"), m->v[i].text);
        json_close(out, '}');
    }
    json_close(out, ']');
}

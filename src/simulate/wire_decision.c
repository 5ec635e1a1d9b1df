// SPDX-License-Identifier: GPL-3.0-or-later
// wire_decision.c - the decision endpoint from its own side (endpoint specification, section 5). A
// simulated model reads chats, so the question is written as one: the instruction before the field
// guide, the examples as turns, the state as the last question. Its move is the choice; where it
// names none of the options, one is taken by lot, as this endpoint cannot say anything else.
#include <math.h>

#include "simulate/internal.h"

enum { OPTIONS_MIN = 2, OPTIONS_MAX = 255 };

static void decision_error(const struct wire_error *e, struct arena *a, struct serve_reply *out)
{
    wire_openai.error(e, a, out);
}

// ---- the question as a chat ----

static str slots(const struct reader *r, const json_t *state)
{
    struct buf b = { .arena = r->a };
    const char *key;
    json_t *value;
    json_object_foreach (json_iterable(state), key, value)
        if (!str_eq(str_from(key), S("move")))
            buf_addf(&b, "[[ ## %s ## ]]\n%.*s\n\n", key, STR(json_view(value)));
    return buf_str(&b);
}

// "Example 3: {..}" as a question and its answer.
static void add_example(const struct reader *r, str line)
{
    str number = line;
    str rest = line;
    (void)str_cut(&rest, ':');
    if (!str_starts(number, S("Example ")))
        return;
    json_t *example = json_read_envelope(str_trim(rest), NULL, NULL);
    if (json_is_object(example)) {
        wire_add_message(r, ROLE_USER, slots(r, example));
        wire_add_message(
            r, ROLE_ASSISTANT,
            arena_printf(r->a, "{\"move\": \"%.*s\"}", STR(json_get_str(example, "move"))));
    }
    json_decref(example);
}

static void write_chat(const struct reader *r, const json_t *state, str instructions)
{
    ptrdiff_t guide = str_find(instructions, S("\n\nField guide:"));
    size_t end = guide < 0 ? instructions.len : (size_t)guide;
    wire_add_message(r, ROLE_SYSTEM, arena_str(r->a, str_sub(instructions, 0, end)));
    for (str rest = str_sub(instructions, end, instructions.len); rest.len > 0;)
        add_example(r, str_cut_line(&rest));
    wire_add_message(r, ROLE_USER,
                     arena_printf(r->a,
                                  "%.*sRespond with a JSON object in the following order of "
                                  "fields: `move`.",
                                  STR(slots(r, state))));
}

static bool read_options(const struct reader *r, const json_t *criteria)
{
    size_t n = json_object_size(criteria);
    const char *key;
    json_t *value;
    if (n < OPTIONS_MIN || n > OPTIONS_MAX)
        return wire_refuse(r, S("questions.move.criteria"), S("a choice takes 2 to 255 options"));
    json_object_foreach (json_iterable(criteria), key, value)
        *vec_push(r->a, &r->q->options) = arena_str(r->a, str_from(key));
    return true;
}

static bool decision_read(const struct reader *r, const json_t *body)
{
    const json_t *state = json_object_get(body, "state");
    const json_t *questions = json_object_get(body, "questions");
    const json_t *asked = json_object_get(questions, "move");
    if (!wire_read_model(r, json_get_str(body, "model")))
        return false;
    if (!json_is_object(state))
        return wire_refuse(r, S("state"), S("simulated models read a state that is an object"));
    if (!json_is_object(asked) || json_object_size(questions) != 1 ||
        !str_eq(json_get_str(asked, "type"), S("choice")))
        return wire_refuse(r, S("questions"),
                           S("simulated models answer one question: a choice called move"));
    if (!read_options(r, json_object_get(asked, "criteria")))
        return false;
    struct err ignored;
    r->q->has_position = position_parse(json_get_str(state, "position_fen"), &r->q->position,
                                        &ignored) == FAULT_NONE;
    write_chat(r, state, json_get_str(asked, "instructions"));
    r->q->request.has_temperature = true; // there is no sampling
    return true;
}

// ---- the choice ----

// The option that a text names, in either notation; empty: none.
static str option_named(const struct completion *q, str text)
{
    move m;
    struct move_text uci = { 0 };
    if (q->has_position && san_parse(&q->position, text, &m) == SAN_LEGAL)
        uci = uci_format(m);
    for (size_t i = 0; i < q->options.n; i++)
        if (str_eq(q->options.v[i], text) || str_eq(q->options.v[i], str_from(uci.data)))
            return q->options.v[i];
    return (str){ 0 };
}

static str choice_of(const struct completion *q, const struct reply *answer, struct arena *a)
{
    str value = { 0 };
    str named = { 0 };
    if (answer_read(&signature_choose_move, answer->text, a, &value) == READ_OK)
        named = option_named(q, str_trim(value));
    return named.len > 0 ? named : q->options.v[hash64(answer->request_id) % q->options.n];
}

// Shares with two decimals, as the real endpoint rounds them.
static void put_shares(struct json_out *o, const struct completion *q, str choice)
{
    const double first = 0.6;
    double rest = round((1 - first) / (double)(q->options.n - 1) * 100) / 100;
    json_key_double(o, S("confidence"), first);
    json_key_open(o, S("probabilities"), '{');
    for (size_t i = 0; i < q->options.n; i++) {
        str option = q->options.v[i];
        json_key_double(o, option, str_eq(option, choice) ? first : rest);
    }
    json_close(o, '}');
}

static void decision_reply(const struct completion *q, const struct reply *answers, struct arena *a,
                           struct serve_reply *out)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    str choice = choice_of(q, &answers[0], a);
    json_open(&o, '{');
    json_key_str(&o, S("id"), arena_printf(a, "gen-%.*s", STR(answers[0].request_id)));
    json_key_str(&o, S("model"), q->model);
    json_key_bool(&o, S("simulated"), true);
    json_key_open(&o, S("answers"), '{');
    json_key_open(&o, S("move"), '{');
    json_key_str(&o, S("type"), S("choice"));
    json_key_str(&o, S("choice"), choice);
    put_shares(&o, q, choice);
    json_close(&o, '}');
    json_close(&o, '}');
    json_key_open(&o, S("usage"), '{');
    json_key_double(&o, S("cost"), (double)answers[0].cost_nusd / 1e9);
    json_close(&o, '}');
    json_close(&o, '}');
    wire_send(200, &b, out);
}

const struct wire wire_decision = {
    .read = decision_read,
    .reply = decision_reply,
    .error = decision_error,
    .text_mark = "\"choice\":\"",
};

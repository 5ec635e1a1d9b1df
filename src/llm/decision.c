// SPDX-License-Identifier: GPL-3.0-or-later
// decision.c - the decision endpoint (endpoint specification, section 5): the model writes no text
// but chooses among the legal moves and tells how probable it holds each. There is no sampling. The
// endpoint is an alpha: what it answers is checked member by member, and its errors may echo the
// request's headers, so nothing of them is kept.
#include <math.h>

#include "llm/internal.h"

enum {
    OPTIONS_MIN = 2, // one legal move is no question: the episode answers it
    OPTIONS_MAX = 255,
    DECISION_TIMEOUT_MS = 30000,
};
static const str question = T("move"); // its id, and the output field that it fills

// ---- the question ----

// The next of "e2e4, g1f3"; false: there is none left.
static bool option_next(str *rest, str *option)
{
    *option = str_trim(str_cut(rest, ','));
    return option->len > 0;
}

static str options_of(const struct model_request *q)
{
    for (size_t i = 0; q->program && i < q->program->signature->n_inputs; i++)
        if (str_eq(q->program->signature->inputs[i].name, S("legal_moves_uci")))
            return q->inputs[i];
    return (str){ 0 };
}

static size_t option_count(str rest)
{
    str option;
    size_t n = 0;
    while (option_next(&rest, &option))
        n++;
    return n;
}

static void add_field(struct buf *b, const struct field *f, struct arena *a)
{
    buf_addf(b, " %.*s (%.*s)", STR(f->name), STR(field_title(f->name, a)));
    if (f->description.len > 0)
        buf_addf(b, ": %.*s", STR(f->description));
    buf_add_char(b, ';');
}

static void add_example(struct buf *b, const struct signature *s, const struct demo *d)
{
    struct json_out o = { .b = b };
    json_open(&o, '{');
    for (size_t i = 0; i < s->n_inputs; i++)
        json_key_str(&o, s->inputs[i].name, d->inputs[i]);
    for (size_t i = 0; i < s->n_outputs; i++)
        json_key_str(&o, s->outputs[i].name, d->outputs[i]);
    json_close(&o, '}');
}

// The instruction, what the fields mean, the demonstrations, what to do.
static str instructions(const struct program *p, struct arena *a)
{
    const struct signature *s = p->signature;
    struct buf b = { .arena = a, .max = REQUEST_MAX_BYTES };
    buf_add(&b, p->instruction);
    buf_add(&b, S("\n\nField guide:"));
    for (size_t i = 0; i < s->n_inputs; i++)
        add_field(&b, &s->inputs[i], a);
    for (size_t i = 0; i < s->n_outputs; i++)
        add_field(&b, &s->outputs[i], a);
    for (size_t i = 0; i < p->n_demos; i++) {
        buf_addf(&b, "%s\nExample %zu: ", i == 0 ? "\n" : "", i + 1);
        add_example(&b, s, p->demos[i]);
    }
    buf_add(&b, S("\n\nChoose the one option, a move in UCI notation, that answers the current "
                  "state."));
    return buf_str(&b);
}

static void put_question(struct json_out *o, const struct model_request *q, struct arena *a)
{
    str option;
    json_key_open(o, S("questions"), '{');
    json_key_open(o, question, '{');
    json_key_str(o, S("type"), S("choice"));
    json_key_str(o, S("instructions"), instructions(q->program, a));
    json_key_open(o, S("criteria"), '{');
    for (str rest = options_of(q); option_next(&rest, &option);)
        json_key_null(o, option);
    json_close(o, '}');
    json_close(o, '}');
    json_close(o, '}');
}

// What cannot be asked here, said before it is paid for.
static bool request_check(const struct model *m, const struct model_request *q, struct err *err)
{
    if (!q->program || q->program->signature->n_outputs != 1 ||
        !str_eq(q->program->signature->outputs[0].name, question))
        return err_set(err, ERR_USAGE,
                       "%.*s: a decision model writes no text: it can only choose a move, without "
                       "an analysis",
                       STR(m->name));
    if (q->sample != 0 || (q->has_temperature && q->temperature != 0))
        return err_set(err, ERR_USAGE,
                       "%.*s: a decision model has no sampling: temperature 0, one answer a "
                       "position",
                       STR(m->name));
    size_t n = option_count(options_of(q));
    return (n >= OPTIONS_MIN && n <= OPTIONS_MAX) ||
           err_set(err, ERR_INPUT, "%.*s: %zu legal moves: the endpoint takes %d to %d",
                   STR(m->name), n, OPTIONS_MIN, OPTIONS_MAX);
}

// The base may stop at the host, at /api/alpha or at the whole path.
static str decision_url(const struct model *m, struct arena *a)
{
    str front = url_without_query(m->base_url);
    const char *path = "/api/alpha/decisions";
    if (str_ends(front, S("/decisions")))
        path = "";
    else if (str_ends(front, S("/alpha")))
        path = "/decisions";
    return arena_printf(a, "%.*s%s%.*s", STR(front), path,
                        STR(str_sub(m->base_url, front.len, m->base_url.len)));
}

static bool decision_build(const struct model *m, const struct model_request *q, struct arena *a,
                           struct http_request *out, struct err *err)
{
    if (!request_check(m, q, err))
        return false;
    const struct signature *s = q->program->signature;
    struct buf b = { .arena = a, .max = REQUEST_MAX_BYTES };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("model"), m->name);
    json_key_open(&o, S("state"), '{');
    for (size_t i = 0; i < s->n_inputs; i++)
        json_key_str(&o, s->inputs[i].name, q->inputs[i]);
    json_close(&o, '}');
    put_question(&o, q, a);
    extra_write(&o, m->extra);
    json_close(&o, '}');
    *out = (struct http_request){ .url = decision_url(m, a) };
    if (!request_make(m, &b, out, err))
        return false;
    if (m->key.len > 0)
        request_header(out, S("Authorization"), arena_printf(a, "Bearer %.*s", STR(m->key)));
    return true;
}

// ---- the reply ----

static bool is_share(const json_t *value)
{
    double share = json_number_value(value);
    return json_is_number(value) && isfinite(share) && share >= 0 && share <= 1;
}

// Shares are rounded to two decimals, so that each may be off by half a hundredth (F-025).
static const char *probabilities_fault(const json_t *shares, str options)
{
    double sum = 0;
    size_t n = option_count(options);
    str option;
    if (!json_is_object(shares) || json_object_size(shares) != n)
        return "the probabilities do not cover exactly the options";
    for (str rest = options; option_next(&rest, &option);) {
        const json_t *share = json_object_getn(shares, option.data, option.len);
        if (!share)
            return "the probabilities do not cover exactly the options";
        if (!is_share(share))
            return "a probability is no number from 0 to 1";
        sum += json_number_value(share);
    }
    double tolerance = 0.005 * (double)n + 0.01 + 1e-9; // the last for sums of decimals
    return fabs(sum - 1) <= tolerance ? NULL : "the probabilities do not add up to 1";
}

static bool is_option(str choice, str options)
{
    str option;
    while (option_next(&options, &option))
        if (str_eq(option, choice))
            return true;
    return false;
}

// What is wrong with a reply; NULL: nothing.
static const char *reply_fault(const struct reading *r, const json_t *root)
{
    const json_t *answers = json_object_get(root, "answers");
    const json_t *answer = json_object_get(answers, "move");
    const json_t *confidence = json_object_get(answer, "confidence");
    str options = options_of(r->q);
    if (!str_eq(json_get_str(root, "model"), r->m->name))
        return "another model answered than was asked";
    if (!answer || json_object_size(answers) != 1)
        return "the answers are not those to the question";
    if (!str_eq(json_get_str(answer, "type"), S("choice")))
        return "the answer is no choice";
    if (!is_option(json_get_str(answer, "choice"), options))
        return "the choice is none of the options";
    if (confidence && !is_share(confidence))
        return "the confidence is no number from 0 to 1";
    return probabilities_fault(json_object_get(answer, "probabilities"), options);
}

static void decision_content(const struct reading *r, const json_t *root)
{
    const char *fault = json_is_object(root) ? reply_fault(r, root) : "the reply is no object";
    if (fault) {
        if (json_is_object(json_object_get(root, "usage")))
            usage_settle(r, root); // perhaps billed all the same
        reply_fail(r, REPLY_PROTOCOL, str_from(fault));
        return;
    }
    const json_t *answer = json_object_get(json_object_get(root, "answers"), "move");
    struct buf text = { .arena = r->a };
    struct buf raw = { .arena = r->a };
    struct json_out o = { .b = &text };
    json_open(&o, '{');
    json_key_str(&o, question, json_get_str(answer, "choice"));
    json_close(&o, '}');
    json_put_value(&(struct json_out){ .b = &raw }, answer); // as told, never renormalised
    r->out->text = buf_str(&text);
    r->out->details = buf_str(&raw);
    r->out->finish = FINISH_STOP;
    usage_settle(r, root);
    r->out->class = REPLY_OK;
}

static enum finish decision_finish(str native)
{
    (void)native; // there is none
    return FINISH_UNKNOWN;
}

static const struct dialect dialect = {
    .content = decision_content,
    .finish = decision_finish,
    .usage = "usage",
    .counts = openai_counts,
    .errors_are_private = true,
};

static void decision_parse(const struct model *m, const struct model_request *q,
                           const struct http_response *in, struct arena *a, struct reply *out)
{
    reply_read(&(struct reading){ m, q, in, a, &dialect, out });
}

// ---- settings ----

static bool decision_open(struct model *m, struct arena *a, struct err *err)
{
    (void)a;
    json_t *extra = extra_sent(m->extra);
    json_object_del(extra, "provider"); // where it is served, as with chats
    bool stray = json_object_size(extra) > 0;
    json_decref(extra);
    if (stray)
        return err_set(err, ERR_USAGE, "%.*s: extra may hold only provider for a decision model",
                       STR(m->name));
    if (m->has_temperature && m->temperature != 0)
        return err_set(err, ERR_USAGE, "%.*s: the temperature must be 0 for a decision model",
                       STR(m->name));
    if (m->max_tokens > 0)
        return err_set(err, ERR_USAGE,
                       "%.*s: max_tokens does not apply to a decision model: it writes no text",
                       STR(m->name));
    if (m->timeout_ms == 0)
        m->timeout_ms = DECISION_TIMEOUT_MS;
    return true;
}

const struct provider provider_decision = {
    .name = T("typesafe"),
    .default_base_url = T("https://openrouter.ai/api/alpha"),
    .key_env = T("OPENROUTER_API_KEY"),
    .no_json_mode = true,
    .chooses = true,
    .version = 1,
    .build = decision_build,
    .parse = decision_parse,
    .open = decision_open,
};

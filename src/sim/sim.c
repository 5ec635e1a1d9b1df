// SPDX-License-Identifier: GPL-3.0-or-later
// sim.c - the answer of a simulated model, and the provider that offers it in process.
//
// A reply is a pure function of persona, messages, temperature and (above temperature 0) sample.
// Its draws come from one of two streams: one seeded by the question alone, one by all messages.
// The first keeps most answers as they are when only the prompt changes, the second lets every
// prompt have luck of its own, as with real models.
#include <math.h>

#include "sim/internal.h"

enum {
    LATENCY_MIN_MS = 200,
    LATENCY_SPREAD_MS = 700,
    CHARS_PER_TOKEN = 4, // for cutting at max_tokens
    SQUARES = 64,
};
// Like a small cheap hosted model; dollars per million tokens.
static const struct price sim_price = {
    .known = true, .input = 0.15, .cached = 0.15, .cache_write = 0.15, .output = 0.60
};
static const double CHOICE_SCALE_CP = 130; // of the softmax over worse moves, at temperature 0
static const double DEFAULT_TEMPERATURE = 1;

struct draws { // all of one reply, uniform in [0, 1)
    double malformed, illegal, best, choice, style;
};
struct sim_call {
    const struct persona *persona;
    struct view view;
    struct features seen;
    struct thought thought;
    struct draws draw;
    double temperature;
    uint64_t hash; // of everything
};

// ---- chance ----

static uint64_t mix(uint64_t h, uint64_t value)
{
    return (h ^ value) * 0x9E3779B97F4A7C15U + (h >> 29);
}

static uint64_t sampling_hash(const struct model_request *q, double temperature)
{
    uint64_t h = (uint64_t)llround(temperature * 1e6);
    return temperature > 0 ? mix(h, (uint64_t)q->sample) : h;
}

static struct draws draw_all(struct rng *g)
{
    struct draws d;
    d.malformed = rng_double(g);
    d.illegal = rng_double(g);
    d.best = rng_double(g);
    d.choice = rng_double(g);
    d.style = rng_double(g);
    return d;
}

static void draw(struct sim_call *c, const struct model_request *q)
{
    struct rng question;
    struct rng prompt;
    str name = c->persona->name;
    uint64_t sampling = sampling_hash(q, c->temperature);
    uint64_t h = sampling;
    for (size_t i = 0; i < q->messages.n; i++)
        h = mix(mix(h, (uint64_t)q->messages.v[i].role), hash64(q->messages.v[i].text));
    c->hash = h;
    rng_seed(&question, mix(sampling, hash64(c->view.question)), name);
    rng_seed(&prompt, h, name);
    double steady = pow(c->persona->consistency, 1 + c->temperature);
    c->draw = draw_all(rng_double(&prompt) < steady ? &question : &prompt);
}

// ---- the move ----

static double chance(const struct sim_call *c, const struct response *r, double extra)
{
    double strength[FEATURE_COUNT];
    for (int f = 0; f < FEATURE_COUNT; f++)
        strength[f] = c->seen.strength[f];
    strength[FEATURE_RELEVANCE] = strength[FEATURE_DEMOS];
    return response_chance(r, strength, c->thought.factor, extra);
}

// A worse move than the best, the more likely the better it looks at a glance.
static move choose_worse(const struct sim_call *c)
{
    const struct thought *t = &c->thought;
    double weight[MAX_LEGAL_MOVES];
    double sum = 0;
    double scale = CHOICE_SCALE_CP * (1 + c->temperature);
    int top = t->v[t->best == 0 && t->n > 1 ? 1 : 0].score_cp; // of those to choose from
    for (size_t i = 0; i < t->n; i++) {
        weight[i] = i == t->best ? 0 : exp((t->v[i].score_cp - top) / scale);
        sum += weight[i];
    }
    double left = c->draw.choice * sum;
    size_t chosen = t->best;
    for (size_t i = 0; i < t->n; i++) {
        if (weight[i] <= 0)
            continue;
        chosen = i;
        left -= weight[i];
        if (left < 0)
            break;
    }
    return t->v[chosen].m;
}

// A move to a square that the piece of the chosen move cannot reach.
static str illegal_move(const struct sim_call *c, move like, struct arena *a)
{
    struct move_text text = uci_format(like);
    unsigned first = (unsigned)(c->draw.style * SQUARES);
    for (unsigned i = 0; i < SQUARES; i++) {
        unsigned s = (first + i) % SQUARES;
        str uci = arena_printf(a, "%.2s%c%c", text.data, "abcdefgh"[s % 8], "12345678"[s / 8]);
        move legal;
        if (!uci_parse(&c->view.pos, uci, &legal))
            return uci;
    }
    return S("0000");
}

static str listed_move(str list, double draw_choice)
{
    size_t n = 0;
    for (str rest = list; rest.len > 0; n++)
        (void)str_cut(&rest, ',');
    size_t wanted = (size_t)(draw_choice * (double)n);
    str found = { 0 };
    for (size_t i = 0; i <= wanted && list.len > 0; i++)
        found = str_trim(str_cut(&list, ','));
    return found;
}

static str choose_move(const struct sim_call *c, struct arena *a)
{
    const struct thought *t = &c->thought;
    const struct persona *p = c->persona;
    if (t->n == 0) // no board to think about: any move that is offered
        return c->view.legal.len > 0 ? listed_move(c->view.legal, c->draw.choice) : S("none");
    double p_best = chance(c, &p->best, -p->slope * t->difficulty - p->heat * c->temperature);
    move m = c->draw.best < p_best ? t->v[t->best].m : choose_worse(c);
    if (c->draw.illegal < chance(c, &p->illegal, 0))
        return illegal_move(c, m, a);
    struct move_text text = uci_format(m);
    if (c->draw.style < p->san_share)
        text = san_format(&c->view.pos, m);
    return arena_str(a, str_from(text.data));
}

// ---- the text ----

static str field_text(const struct sim_call *c, str name, str move_text)
{
    if (str_eq(name, S("move")))
        return move_text;
    if (!c->view.has_position)
        return S("I am a simulated chess player and can only choose moves.");
    return c->thought.forces ? S("There is a forcing move; it comes first.")
                             : S("No forcing move stands out, so the best placed piece moves.");
}

// The fields as the question names them in backticks; only `move` where it names none.
static str well_formed(const struct sim_call *c, str move_text, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    str rest = c->view.fields.len > 0 ? c->view.fields : S("`move`");
    json_open(&o, '{');
    while (rest.len > 0) {
        (void)str_cut(&rest, '`');
        str name = str_cut(&rest, '`');
        if (name.len == 0)
            break;
        json_key_str(&o, name, field_text(c, name, move_text));
    }
    json_close(&o, '}');
    return buf_str(&b);
}

// Ways in which models lose a point that they have earned: none of these is the asked object.
static str malformed(const struct sim_call *c, str move_text, struct arena *a)
{
    switch ((int)(c->draw.style * 5)) {
    case 0: return move_text;
    case 1: return arena_printf(a, "The best move is **%.*s**.", STR(move_text));
    case 2: return arena_printf(a, "Move: %.*s", STR(move_text));
    case 3: return arena_printf(a, "{\"best_move\": \"%.*s\"}", STR(move_text));
    default: return arena_printf(a, "```\n%.*s\n```", STR(move_text));
    }
}

// ---- the reply ----

static void cut_at_limit(const struct model_request *q, struct reply *out)
{
    if (q->max_tokens <= 0 || tokens_estimate(out->text) <= q->max_tokens)
        return;
    size_t len = 0;
    for (int64_t chars = q->max_tokens * CHARS_PER_TOKEN; chars > 0 && len < out->text.len;
         chars--) {
        uint32_t code;
        bool valid;
        len += utf8_decode(str_sub(out->text, len, out->text.len), &code, &valid);
    }
    out->text = str_sub(out->text, 0, len);
    out->class = len > 0 ? REPLY_TRUNCATED : REPLY_EMPTY;
    out->finish = FINISH_LENGTH;
    out->native_finish = S("length");
}

static void account(const struct model_request *q, struct reply *out)
{
    out->usage.source = KNOWN_REPORTED;
    for (size_t i = 0; i < q->messages.n; i++)
        out->usage.input_tok += tokens_estimate(q->messages.v[i].text);
    out->usage.output_tok = tokens_estimate(out->text);
    if (q->max_tokens > 0 && out->usage.output_tok > q->max_tokens)
        out->usage.output_tok = q->max_tokens; // the estimate of a cut text may round up
    out->cost_nusd = price_cost_nusd(&sim_price, &out->usage);
    out->cost_source = KNOWN_PRICED;
}

// A move, in the asked form or not.
static str play(struct sim_call *c, struct look_cache *cache, struct arena *a)
{
    const struct persona *p = c->persona;
    features_find(p->data, &c->view, &c->seen);
    think(&c->view, cache, &c->thought);
    str move_text = choose_move(c, a);
    return c->draw.malformed < chance(c, &p->malformed, 0) ? malformed(c, move_text, a)
                                                           : well_formed(c, move_text, a);
}

// Ways of not naming an action when it is time to move.
static str without_action(const struct sim_call *c, str move_text, struct arena *a)
{
    return c->draw.style < 0.5 ? arena_printf(a, "I play %.*s.", STR(move_text))
                               : arena_printf(a, "make_move: **%.*s**", STR(move_text));
}

// A turn in the dialog of a game.
static str hold_dialog(struct sim_call *c, const struct dialog_wish *wish, struct look_cache *cache,
                       struct arena *a)
{
    const struct persona *p = c->persona;
    if (wish->action.len > 0)
        return wish->action;
    c->view.has_position = wish->has_position;
    c->view.pos = wish->pos;
    c->view.legal = wish->legal;
    features_find(p->data, &c->view, &c->seen);
    think(&c->view, cache, &c->thought);
    str move_text = choose_move(c, a);
    return c->draw.malformed < chance(c, &p->malformed, 0)
               ? without_action(c, move_text, a)
               : arena_printf(a, "make_move %.*s", STR(move_text));
}

static void answer(const struct persona *p, struct look_cache *cache, const struct model_request *q,
                   struct arena *a, struct reply *out)
{
    struct sim_call c = { .persona = p };
    c.temperature = q->has_temperature ? fmax(q->temperature, 0) : DEFAULT_TEMPERATURE;
    view_read(&q->messages, a, &c.view);
    draw(&c, q);
    *out = (struct reply){ .class = REPLY_OK,
                           .finish = FINISH_STOP,
                           .native_finish = S("stop"),
                           .served_model = arena_printf(a, "sim/%.*s", STR(p->name)),
                           .served_provider = S("simulated"),
                           .request_id = arena_printf(a, "sim-%016llx", (unsigned long long)c.hash),
                           .simulated = true,
                           .attempts = 1,
                           .retry_after_ms = -1 };
    struct dialog_wish wish;
    if (p->writes)
        out->text = meta_reply(p->data, &c.view, &q->messages, c.hash, a);
    else
        out->text = dialog_view(&q->messages, a, &wish) ? hold_dialog(&c, &wish, cache, a)
                                                        : play(&c, cache, a);
    out->latency_ms = LATENCY_MIN_MS + (int64_t)(c.hash % LATENCY_SPREAD_MS);
    cut_at_limit(q, out);
    account(q, out);
}

void sim_answer(const struct persona *p, const struct model_request *q, struct arena *a,
                struct reply *out)
{
    answer(p, NULL, q, a, out);
}

// ---- the provider ----

struct sim_model { // what an opened model keeps
    const struct persona *persona;
    struct look_cache cache;
};

static str known_models(const struct sim_data *data, struct arena *a)
{
    struct buf known = { .arena = a };
    for (size_t i = 0; i < data->n_personas; i++)
        buf_addf(&known, "%ssim/%.*s", i ? ", " : "", STR(data->personas[i].name));
    return buf_str(&known);
}

// "NAME", or "FILE:NAME" with the personas of a file; the file's hash is part of the model's
// identity.
static bool load_data(struct model *m, struct arena *a, str *name, const struct sim_data **data,
                      struct err *err)
{
    size_t colon = m->id.len; // the last one: a path may have its own
    while (colon > 0 && m->id.data[colon - 1] != ':')
        colon--;
    *name = str_sub(m->id, colon, m->id.len);
    if (colon == 0) {
        *data = sim_data_builtin(a);
        return true;
    }
    str text, path = arena_str(a, str_sub(m->id, 0, colon - 1));
    if (!file_read(path, SIM_DATA_MAX_BYTES, a, &text, err) ||
        !sim_data_parse(path, text, a, data, err))
        return false;
    m->identity = sha256_of(text, a);
    return true;
}

static bool sim_open(struct model *m, struct arena *a, struct err *err)
{
    const struct sim_data *data;
    str name;
    if (!load_data(m, a, &name, &data, err))
        return false;
    const struct persona *p = sim_persona(data, name);
    if (!p)
        return err_set(err, ERR_USAGE, "no simulated model is called \"%.*s\"; there are %.*s",
                       STR(name), STR(known_models(data, a)));
    struct sim_model *context = NEW(a, struct sim_model);
    context->persona = p;
    context->cache.arena = a;
    m->context = context;
    m->price = sim_price;
    m->simulated = true;
    return true;
}

static bool sim_reply(const struct model *m, const struct model_request *q, struct arena *a,
                      struct reply *out, struct err *err)
{
    (void)err; // nothing here can fail
    struct sim_model *context = m->context;
    answer(context->persona, &context->cache, q, a, out);
    return true;
}

const struct provider provider_sim = { .name = T("sim"), .answer = sim_reply, .open = sim_open };

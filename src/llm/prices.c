// SPDX-License-Identifier: GPL-3.0-or-later
// prices.c - tokens and money of a call (endpoint specification, section 14). What the provider
// reports wins; else a dated table; where neither tells, the figure says so.
#include "llm/internal.h"

static const double tokens_max = 1e12; // beyond: not a count
static const double usd_max = 1e6;     // of one call; beyond: not a price

// US dollars per million tokens as the providers published them, last compared on
// 2026-08-09.
// Prices change: what a provider reports in its replies goes first, and each figure is stored with
// where it is from.
static const struct {
    str model;
    struct price price; // known, input, cached input, cache write, output
} table[] = {
    { T("openai/gpt-5.5"), { true, 5, 0.5, 5, 30 } },
    { T("openai/gpt-5.4"), { true, 2.5, 0.25, 2.5, 15 } },
    { T("openai/gpt-5.4-mini"), { true, 0.75, 0.075, 0.75, 4.5 } },
    { T("openai/gpt-5.4-nano"), { true, 0.2, 0.02, 0.2, 1.25 } },
    { T("openai/gpt-5"), { true, 1.25, 0.125, 1.25, 10 } },
    { T("openai/gpt-5-mini"), { true, 0.25, 0.025, 0.25, 2 } },
    { T("openai/gpt-5-nano"), { true, 0.05, 0.005, 0.05, 0.4 } },
    { T("openai/gpt-4.1"), { true, 2, 0.5, 2, 8 } },
    { T("openai/gpt-4.1-mini"), { true, 0.4, 0.1, 0.4, 1.6 } },
    { T("openai/gpt-4.1-nano"), { true, 0.1, 0.025, 0.1, 0.4 } },
    { T("openai/gpt-4o"), { true, 2.5, 1.25, 2.5, 10 } },
    { T("openai/gpt-4o-mini"), { true, 0.15, 0.075, 0.15, 0.6 } },
    { T("openai/o3"), { true, 2, 0.5, 2, 8 } },
    { T("openai/o3-mini"), { true, 1.1, 0.55, 1.1, 4.4 } },
    { T("openai/o4-mini"), { true, 1.1, 0.275, 1.1, 4.4 } },
    { T("anthropic/claude-haiku-4.5"), { true, 1, 0.1, 1.25, 5 } },
    { T("anthropic/claude-haiku-4-5"), { true, 1, 0.1, 1.25, 5 } }, // as its maker writes it
};

// "gpt-4o-mini-2024-07-18", "claude-haiku-4-5-20251001" without the date: dated names cost what the
// plain ones do.
static str without_date(str model)
{
    static const str forms[] = { T("-dddd-dd-dd"), T("-dddddddd") };
    for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
        size_t len = forms[f].len;
        size_t good = 0;
        str tail = model.len > len ? str_sub(model, model.len - len, len) : (str){ 0 };
        for (size_t i = 0; i < tail.len; i++)
            good += forms[f].data[i] == 'd' ? ascii_is_digit(tail.data[i]) : tail.data[i] == '-';
        if (good == len)
            return str_sub(model, 0, model.len - len);
    }
    return model;
}

struct price price_of(str model)
{
    static const str router = T("openrouter/"); // passes the provider's price on
    if (str_starts(model, router)) {
        model = str_sub(model, router.len, model.len);
        if (str_ends(model, S(":free")))
            return (struct price){ .known = true };
    }
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < ARRAY_LEN(table); i++)
            if (str_eq(model, table[i].model))
                return table[i].price;
        model = without_date(model);
    }
    return (struct price){ 0 };
}

// To the nearest nano-dollar; by hand, since libm is not linked for one rounding.
static int64_t nusd_of(double usd)
{
    return (int64_t)((usd < usd_max ? usd : usd_max) * 1e9 + 0.5);
}

static int64_t term_nusd(int64_t tok, double usd_per_million)
{
    return tok <= 0 ? 0 : nusd_of((double)tok * usd_per_million / 1e6);
}

int64_t price_cost_nusd(const struct price *p, const struct usage *u)
{
    return term_nusd(u->input_tok - u->cached_tok - u->cache_write_tok, p->input) +
           term_nusd(u->cached_tok, p->cached) + term_nusd(u->cache_write_tok, p->cache_write) +
           term_nusd(u->output_tok, p->output);
}

int64_t tokens_estimate(str text)
{
    size_t words = 0;
    for (size_t i = 0; i < text.len; i++)
        if (!ascii_is_blank(text.data[i]) && (i == 0 || ascii_is_blank(text.data[i - 1])))
            words++;
    size_t by_chars = (utf8_length(text) + 3) / 4;
    size_t by_words = (words * 13 + 9) / 10;
    return (int64_t)(by_chars > by_words ? by_chars : by_words);
}

static int64_t messages_tokens(const struct messages *m)
{
    int64_t tok = 0;
    for (size_t i = 0; i < m->n; i++)
        tok += tokens_estimate(m->v[i].text);
    return tok;
}

int64_t model_request_worst_nusd(const struct model *m, const struct model_request *q)
{
    enum { FRAME_TOK = 16 }; // of a message: role and separators, more than any known format takes
    if (!m->price.known)
        return 0;
    double dearest = m->price.input > m->price.cache_write ? m->price.input : m->price.cache_write;
    int64_t limit = request_output_limit(m, q);
    int64_t input = FRAME_TOK;
    for (size_t i = 0; i < q->messages.n; i++)
        input += (int64_t)q->messages.v[i].text.len + FRAME_TOK;
    return term_nusd(input, dearest) +
           term_nusd(limit > 0 ? limit : UNLIMITED_OUTPUT_TOK, m->price.output);
}

// ---- of a reply ----

// A number, or a text that is one (large numbers arrive so); false: neither, or not a sane one.
static bool number_of(const json_t *value, double max, double *out)
{
    if (json_is_number(value))
        *out = json_number_value(value);
    else if (!str_to_double(json_view(value), out))
        return false;
    return *out >= 0 && *out <= max;
}

int64_t count_of(const json_t *object, const char *name)
{
    double count = 0;
    return number_of(json_object_get(object, name), tokens_max, &count) ? (int64_t)count : -1;
}

static int64_t known_or_0(int64_t count)
{
    return count < 0 ? 0 : count;
}

static void usage_read(const struct reading *r, const struct counts *told)
{
    struct usage *u = &r->out->usage;
    bool whole = told->input >= 0 && told->output >= 0;
    u->source = whole ? KNOWN_REPORTED : KNOWN_ESTIMATED; // F-064
    u->cached_tok = known_or_0(told->cached);
    u->cache_write_tok = known_or_0(told->cache_write);
    u->reasoning_tok = known_or_0(told->reasoning);
    u->input_tok = told->input >= 0 ? told->input : messages_tokens(&r->q->messages);
    u->output_tok = told->output;
    if (told->output < 0) {
        int64_t thoughts = tokens_estimate(r->out->reasoning);
        u->output_tok = tokens_estimate(r->out->text) + thoughts;
        u->reasoning_tok = thoughts;
    }
    if (u->cached_tok + u->cache_write_tok > u->input_tok)
        reply_add_note(r->out, S("more cached than prompt tokens were reported"), r->a);
}

static bool is_free(const struct model *m)
{
    const struct price *p = &m->price;
    return p->known && p->input == 0 && p->cached == 0 && p->cache_write == 0 && p->output == 0;
}

// With the account's own provider key (BYOK) the router's charge and the provider's add up, else
// one is a breakdown of the other (field case F-063). False: no cost is reported.
static bool cost_read(const struct reading *r, const json_t *usage)
{
    double usd = 0;
    double upstream = 0;
    if (!number_of(json_object_get(usage, "cost"), usd_max, &usd))
        return false;
    bool own_key = json_is_true(json_object_get(usage, "is_byok"));
    const json_t *details = json_object_get(usage, "cost_details");
    if (own_key &&
        number_of(json_object_get(details, "upstream_inference_cost"), usd_max, &upstream))
        usd += upstream;
    r->out->cost_nusd = nusd_of(usd);
    r->out->cost_source = usd == 0 && !is_free(r->m) ? KNOWN_NOT : KNOWN_REPORTED;
    return true;
}

void usage_settle(const struct reading *r, const json_t *root)
{
    const char *name = r->dialect ? r->dialect->usage : NULL; // a script speaks none
    const json_t *usage = name ? json_object_get(root, name) : root;
    struct counts told = { -1, -1, -1, -1, -1 };
    if (r->dialect)
        r->dialect->counts(usage, &told);
    usage_read(r, &told);
    if (cost_read(r, usage) || !r->m->price.known)
        return;
    r->out->cost_nusd = price_cost_nusd(&r->m->price, &r->out->usage);
    r->out->cost_source = r->out->usage.source == KNOWN_REPORTED ? KNOWN_PRICED : KNOWN_ESTIMATED;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// prices.c - tokens and money of a call (endpoint specification, section 14). What the provider
// reports wins; else a dated table (price_table.c); where neither tells, the figure says so.
#include "llm/internal.h"

static const double tokens_max = 1e12; // beyond: not a count
static const double usd_max = 1e6;     // of one call; beyond: not a price

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

// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_cost.c - what the calls in a store have cost, by model, method and phase; and of every sum,
// where it is from. Unknown is never shown as zero.
#include "cli/run.h"

struct source { // where a cost is from, in the order of the lines below the table
    const char *name, *meaning;
    bool is_known; // its sum means money
};
static const struct source sources[] = {
    { "reported", "as the providers told with their replies", true },
    { "priced", "tokens they counted times the prices of the table", true },
    { "estimated", "tokens we estimated times those prices", true },
    { "possible", "attempts without a reply to keep, which may have been billed", true },
    { "unknown", "no price is known: not in the sums", false },
    { "reused", "replies of other runs, taken over for nothing", true },
    { "none", "answers of engines, faults of harnesses", true },
};

static const struct source *source_find(str name)
{
    for (size_t i = 0; i < ARRAY_LEN(sources); i++)
        if (str_eq(name, str_from(sources[i].name)))
            return &sources[i];
    return NULL; // of a row that told none
}

// Whether simulated models gave the answers: an engine beside one is none.
static bool is_simulated(const struct store_cost *c)
{
    return c->simulated && !str_eq(c->source, S("none"));
}

static str usd(int64_t nusd, struct arena *a)
{
    return arena_printf(a, "%.6f", (double)nusd / 1e9);
}

static str usd_of_row(const struct store_cost *c, struct arena *a)
{
    const struct source *s = source_find(c->source);
    return s && s->is_known ? usd(c->cost_nusd, a) : S("unknown");
}

struct sum {
    int64_t n_rows, n_calls, cost_nusd;
};

static struct sum sum_of(const struct store_costs *costs, const char *source)
{
    struct sum sum = { 0 };
    for (size_t i = 0; i < costs->n; i++) {
        const struct store_cost *c = &costs->v[i];
        if (source && !str_eq(c->source, str_from(source)))
            continue;
        sum.n_rows++;
        sum.n_calls += c->n_calls;
        sum.cost_nusd += c->cost_nusd;
    }
    return sum;
}

static void add_row(const struct store_cost *c, struct buf *out)
{
    struct arena *a = out->arena;
    char model[80];
    snprintf(model, sizeof model, "%.*s%s", STR(text_for_terminal(c->model, a)),
             is_simulated(c) ? " (SIMULATED)" : "");
    buf_addf(out, "%-36s %-22.*s %-12.*s %9lld %12lld %11lld %12.*s  %.*s\n", model, STR(c->method),
             STR(c->phase), (long long)c->n_calls, (long long)c->input_tok,
             (long long)c->output_tok, STR(usd_of_row(c, a)),
             STR(c->source.len > 0 ? c->source : S("not recorded")));
}

static void add_sums(const struct store_costs *costs, struct buf *out)
{
    struct sum all = sum_of(costs, NULL);
    buf_addf(out, "\n%lld calls, %.*s US$", (long long)all.n_calls,
             STR(usd(all.cost_nusd, out->arena)));
    buf_addf(out, "%s, of which\n",
             sum_of(costs, "unknown").n_rows + sum_of(costs, "").n_rows > 0 ? " and what is unknown"
                                                                            : "");
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        const struct source *s = &sources[i];
        struct sum sum = sum_of(costs, s->name);
        double share = all.cost_nusd > 0 ? 100 * (double)sum.cost_nusd / (double)all.cost_nusd : 0;
        if (sum.n_rows == 0)
            continue;
        buf_addf(out, "  %-10s %9lld calls ", s->name, (long long)sum.n_calls);
        if (s->is_known)
            buf_addf(out, "%12.*s US$ (%5.1f %%)", STR(usd(sum.cost_nusd, out->arena)), share);
        else
            buf_addf(out, "%12s %13s", "unknown", "");
        buf_addf(out, "  %s\n", s->meaning);
    }
}

static str costs_text(const struct store_costs *costs, struct arena *a)
{
    struct buf b = { .arena = a };
    buf_addf(&b, "%-36s %-22s %-12s %9s %12s %11s %12s  %s\n", "model", "method", "phase", "calls",
             "tokens in", "tokens out", "US$", "which is");
    for (size_t i = 0; i < costs->n; i++)
        add_row(&costs->v[i], &b);
    add_sums(costs, &b);
    return buf_str(&b);
}

static void put_usd(struct json_out *o, const struct store_cost *c)
{
    json_key(o, S("cost_usd"));
    const struct source *s = source_find(c->source);
    if (s && s->is_known)
        json_put_double(o, (double)c->cost_nusd / 1e9);
    else
        json_put_null(o);
}

static str costs_json(const struct store_costs *costs, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b, .indent = 2 };
    json_open(&o, '[');
    for (size_t i = 0; i < costs->n; i++) {
        const struct store_cost *c = &costs->v[i];
        json_open(&o, '{');
        json_key_str(&o, S("model"), c->model);
        json_key_str(&o, S("method"), c->method);
        json_key_str(&o, S("phase"), c->phase);
        json_key_int(&o, S("calls"), c->n_calls);
        json_key_int(&o, S("prompt_tokens"), c->input_tok);
        json_key_int(&o, S("completion_tokens"), c->output_tok);
        put_usd(&o, c);
        json_key_maybe(&o, S("cost_source"), c->source);
        json_key_bool(&o, S("simulated"), is_simulated(c));
        json_close(&o, '}');
    }
    json_close(&o, ']');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct store *s = NULL;
    struct store_run only = { 0 };
    struct store_costs costs = { 0 };
    if (!cli_store_open(args, STORE_READ, &s, err))
        return false;
    bool ok = args->n_positionals == 0 || store_run_find(s, args->positionals[0], a, &only, err);
    ok = ok && store_costs(s, only.id, a, &costs, err);
    store_close(s);
    return ok &&
           print_str(opt_flag(args, "json") ? costs_json(&costs, a) : costs_text(&costs, a), err);
}

static const struct opt opts[] = {
    { "store", OPT_TEXT, "FILE", "the store [rookery.db]", 0, 0 },
    { "json", OPT_FLAG, NULL, "a list of objects instead of the table", 0, 0 },
    { 0 },
};

const struct command command_cost = {
    .name = "cost",
    .summary = "what the calls in the store have cost, and how that is known",
    .usage = "[RUN] [--store FILE] [--json]",
    .about =
        "A line for each model, method and phase of a run: calls, tokens, money, and where the\n"
        "figure is from: reported by the provider, priced by the table, estimated, or unknown.\n"
        "RUN (an id or the first characters of a key) shows one run. Example:\n"
        "  rookery cost --store study.db",
    .opts = { opts },
    .max_positionals = 1,
    .run = run,
};

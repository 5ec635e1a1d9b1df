// SPDX-License-Identifier: GPL-3.0-or-later
// compare.c - tables over the directories of a study's runs: what the models are like, how large
// the prompts became, and each method against the baseline puzzle by puzzle.
#include <math.h>

#include "report/report.h"

enum { BOOTSTRAP_ROUNDS = 10000 };
static const double CALLS_PRICED = 1000;

// ---- groups of runs ----

struct group { // the runs of one model and method
    str model, method;
    const struct report_run_dir **v;
    size_t n, cap;
};
struct groups {
    struct group *v;
    size_t n, cap;
};

static struct group *group_of(struct groups *all, str model, str method, struct arena *a)
{
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->v[i].model, model) && str_eq(all->v[i].method, method))
            return &all->v[i];
    struct group *g = vec_push(a, all);
    g->model = model;
    g->method = method;
    return g;
}

static struct groups collect(const struct report_run_dirs *runs, struct arena *a)
{
    struct groups all = { 0 };
    for (size_t i = 0; i < runs->n; i++) {
        const struct report_run *run = &runs->v[i].run;
        struct group *g = group_of(&all, run->model, run->method, a);
        *vec_push(a, g) = &runs->v[i];
    }
    return all;
}

static const struct group *baseline_of(const struct groups *all, str model)
{
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->v[i].model, model) && str_eq(all->v[i].method, S("baseline")))
            return &all->v[i];
    return NULL;
}

static bool is_baseline(const struct group *g)
{
    return str_eq(g->method, S("baseline"));
}

// ---- Table 2 ----

static str rate_text(struct report_count c, struct arena *a)
{
    struct interval i = stats_wilson(c.k, c.n);
    return arena_printf(a, "%.2f [%.2f, %.2f]", c.n ? 100 * (double)c.k / (double)c.n : 0,
                        100 * i.low, 100 * i.high);
}

// Repeats answer the same positions: they add nothing to the trials of an interval.
static struct report_count mean_count(const struct group *g,
                                      struct report_count (*of)(const struct report_run_dir *))
{
    struct report_count sum = { 0 };
    for (size_t i = 0; i < g->n; i++) {
        struct report_count c = of(g->v[i]);
        sum.k += c.k;
        sum.n = c.n;
    }
    sum.k = (int64_t)llround((double)sum.k / (double)g->n);
    return sum;
}

static struct report_count positions_of(const struct report_run_dir *d)
{
    return d->positions;
}
static struct report_count puzzles_of(const struct report_run_dir *d)
{
    return (struct report_count){ d->run.correct, d->run.n };
}
static struct report_count illegal_of(const struct report_run_dir *d)
{
    return (struct report_count){ d->illegal.k + d->unparsable.k, d->illegal.n };
}

static void add_model(const struct group *g, struct arena *a, struct report_grid *out)
{
    struct report_usage sum = { .cost_known = true };
    double latency = 0;
    for (size_t i = 0; i < g->n; i++) {
        const struct report_usage *u = &g->v[i]->evaluation;
        sum.n_calls += u->n_calls;
        sum.input_tok += u->input_tok;
        sum.output_tok += u->output_tok;
        sum.cost_usd += u->cost_usd;
        sum.cost_known &= u->cost_known;
        latency += g->v[i]->latency_s / (double)g->n;
    }
    double calls = sum.n_calls > 0 ? (double)sum.n_calls : 1;
    report_grid_add(
        out, arena_printf(a, "%.*s%s", STR(g->model), g->v[0]->simulated ? " (SIMULATED)" : ""), a);
    report_grid_add(out, arena_printf(a, "%zu", g->n), a);
    report_grid_add(out, rate_text(mean_count(g, puzzles_of), a), a);
    report_grid_add(out, rate_text(mean_count(g, positions_of), a), a);
    report_grid_add(out, rate_text(mean_count(g, illegal_of), a), a);
    report_grid_add(out, arena_printf(a, "%.0f", (double)sum.input_tok / calls), a);
    report_grid_add(out, arena_printf(a, "%.1f", (double)sum.output_tok / calls), a);
    report_grid_add(out,
                    sum.cost_known ? arena_printf(a, "%.4f", CALLS_PRICED * sum.cost_usd / calls)
                                   : S("unknown"),
                    a);
    report_grid_add(out, arena_printf(a, "%.2f", latency), a);
}

static void start_grid(struct report_grid *out, const char *const *headings, size_t n,
                       struct arena *a)
{
    *out = (struct report_grid){ .n_columns = n };
    for (size_t i = 0; i < n; i++)
        report_grid_add(out, str_from(headings[i]), a);
}

void report_characteristics(const struct report_run_dirs *runs, struct arena *a,
                            struct report_grid *out)
{
    static const char *const headings[] = {
        "model",     "runs",       "puzzles %",          "positions %",     "no move %",
        "tokens in", "tokens out", "US$ per 1000 calls", "median latency s"
    };
    struct groups all = collect(runs, a);
    start_grid(out, headings, ARRAY_LEN(headings), a);
    for (size_t i = 0; i < all.n; i++)
        if (is_baseline(&all.v[i]))
            add_model(&all.v[i], a, out);
    out->note = S("baseline prompt; rates with 95 % Wilson intervals (repeats answer the same "
                  "puzzles and count once);\nno move: illegal, ambiguous or unreadable answers");
}

// ---- Table 8 and Table 11 ----

void report_prompt_sizes(const struct report_run_dirs *runs, struct arena *a,
                         struct report_grid *out)
{
    static const char *const headings[] = { "model", "method", "characters", "instruction",
                                            "demonstrations" };
    struct groups all = collect(runs, a);
    start_grid(out, headings, ARRAY_LEN(headings), a);
    for (size_t i = 0; i < all.n; i++) {
        const struct group *g = &all.v[i];
        double size = 0, instruction = 0, demos = 0;
        for (size_t k = 0; k < g->n; k++) {
            size += (double)program_size(g->v[k]->program) / (double)g->n;
            instruction += (double)utf8_length(g->v[k]->program->instruction) / (double)g->n;
            demos += (double)g->v[k]->program->n_demos / (double)g->n;
        }
        report_grid_add(out, g->model, a);
        report_grid_add(out, g->method, a);
        report_grid_add(out, arena_printf(a, "%.0f", size), a);
        report_grid_add(out, arena_printf(a, "%.0f", instruction), a);
        report_grid_add(out, arena_printf(a, "%.1f", demos), a);
    }
    out->note = S("means over runs; characters as the paper counts them: instruction and the four "
                  "lines of each demonstration");
}

void report_settings(const struct report_run_dirs *runs, struct arena *a, struct report_grid *out)
{
    static const char *const headings[] = { "method", "settings" };
    start_grid(out, headings, ARRAY_LEN(headings), a);
    struct groups seen = { 0 }; // by method and settings
    for (size_t i = 0; i < runs->n; i++) {
        const struct report_run_dir *d = &runs->v[i];
        size_t before = seen.n;
        group_of(&seen, d->settings, d->run.method, a);
        if (seen.n == before)
            continue;
        report_grid_add(out, d->run.method, a);
        report_grid_add(out, d->settings, a);
    }
}

// ---- puzzle by puzzle ----

struct pairs { // a method's runs against baseline runs
    int64_t only_baseline, only_method;
    double *difference; // of each puzzle that both had: share of runs that solve it
    size_t n;
};

struct tries { // at one puzzle, by the runs that had all of it
    int64_t n_baseline, solved_baseline, n_method, solved_method;
};

static struct tries *tries_of(struct map *by_id, str id)
{
    struct map_entry *e = map_put(by_id, id, NULL);
    if (!e->pointer)
        e->pointer = NEW(by_id->arena, struct tries);
    return e->pointer;
}

// A puzzle that the test limit cut is no puzzle.
static bool is_whole(const struct report_puzzle *p)
{
    return p->n_positions >= p->length;
}

static void count_tries(const struct group *base, const struct group *g, struct map *by_id)
{
    for (size_t i = 0; i < base->n; i++)
        for (size_t k = 0; k < base->v[i]->puzzles.n; k++) {
            const struct report_puzzle *p = &base->v[i]->puzzles.v[k];
            tries_of(by_id, p->id)->n_baseline += is_whole(p);
            tries_of(by_id, p->id)->solved_baseline += is_whole(p) && p->solved;
        }
    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < g->v[i]->puzzles.n; k++) {
            const struct report_puzzle *p = &g->v[i]->puzzles.v[k];
            tries_of(by_id, p->id)->n_method += is_whole(p);
            tries_of(by_id, p->id)->solved_method += is_whole(p) && p->solved;
        }
}

static void count_discordant(const struct report_run_dir *base, const struct report_run_dir *run,
                             struct arena *a, struct pairs *out)
{
    struct map solved = { .arena = a };
    for (size_t i = 0; i < base->puzzles.n; i++)
        if (is_whole(&base->puzzles.v[i]))
            map_put(&solved, base->puzzles.v[i].id, NULL)->number = 1 + base->puzzles.v[i].solved;
    for (size_t i = 0; i < run->puzzles.n; i++) {
        const struct map_entry *e = map_get(&solved, run->puzzles.v[i].id);
        if (!e || !is_whole(&run->puzzles.v[i]))
            continue;
        out->only_baseline += e->number == 2 && !run->puzzles.v[i].solved;
        out->only_method += e->number == 1 && run->puzzles.v[i].solved;
    }
}

static struct pairs pair_up(const struct group *base, const struct group *g, struct arena *a)
{
    struct pairs p = { 0 };
    struct map by_id = { .arena = a };
    for (size_t i = 0; i < g->n; i++)
        count_discordant(base->v[i % base->n], g->v[i], a, &p);
    count_tries(base, g, &by_id);
    p.difference = NEW_ARRAY(a, double, by_id.n + 1);
    for (size_t i = 0; i < by_id.n; i++) {
        const struct tries *t = by_id.v[i].pointer;
        if (t->n_baseline > 0 && t->n_method > 0)
            p.difference[p.n++] = (double)t->solved_method / (double)t->n_method -
                                  (double)t->solved_baseline / (double)t->n_baseline;
    }
    return p;
}

static void add_pairs(const struct group *g, const struct pairs *p, double p_value, struct arena *a,
                      struct report_grid *out)
{
    struct rng rng;
    double sum = 0;
    rng_seed(&rng, 0, S("report/bootstrap"));
    for (size_t i = 0; i < p->n; i++)
        sum += p->difference[i];
    struct interval i = stats_bootstrap_mean(p->difference, p->n, BOOTSTRAP_ROUNDS, &rng, a);
    report_grid_add(out, g->model, a);
    report_grid_add(out, g->method, a);
    report_grid_add(out,
                    arena_printf(a, "%+.2f [%+.2f, %+.2f]", p->n ? 100 * sum / (double)p->n : 0,
                                 100 * i.low, 100 * i.high),
                    a);
    report_grid_add(out, arena_printf(a, "%lld", (long long)p->only_method), a);
    report_grid_add(out, arena_printf(a, "%lld", (long long)p->only_baseline), a);
    report_grid_add(out, arena_printf(a, "%.4g", p_value), a);
}

void report_paired(const struct report_run_dirs *runs, struct arena *a, struct report_grid *out)
{
    static const char *const headings[] = { "model",       "method",        "difference, points",
                                            "only method", "only baseline", "McNemar p",
                                            "p after Holm" };
    struct groups all = collect(runs, a);
    double *p = NEW_ARRAY(a, double, all.n + 1);
    struct pairs *pairs = NEW_ARRAY(a, struct pairs, all.n + 1);
    for (size_t i = 0; i < all.n; i++) {
        const struct group *base = baseline_of(&all, all.v[i].model);
        p[i] = (double)NAN;
        if (is_baseline(&all.v[i]) || !base)
            continue;
        pairs[i] = pair_up(base, &all.v[i], a);
        p[i] = stats_mcnemar_exact(pairs[i].only_baseline, pairs[i].only_method);
    }
    double *adjusted = NEW_ARRAY(a, double, all.n + 1);
    for (size_t i = 0; i < all.n; i++)
        adjusted[i] = p[i];
    stats_holm(adjusted, all.n);
    start_grid(out, headings, ARRAY_LEN(headings), a);
    for (size_t i = 0; i < all.n; i++) {
        if (isnan(p[i]))
            continue;
        add_pairs(&all.v[i], &pairs[i], p[i], a, out);
        report_grid_add(out, arena_printf(a, "%.4g%s", adjusted[i], adjusted[i] < 0.05 ? "*" : ""),
                        a);
    }
    out->note = S("puzzles solved, mean over the runs of each; 95 % bootstrap interval over "
                  "puzzles; exact McNemar test of run i against\nbaseline run i, counts added; * "
                  "below 0.05 after Holm's adjustment over this table");
}

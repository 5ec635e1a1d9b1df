// SPDX-License-Identifier: GPL-3.0-or-later
// rollout.c - rollouts of several runs (the paper's Table 4): a row a model and method, whose runs
// are repetitions of each other. Means are over seeds; medians and rates pool what they are of.
#include "report/report.h"

enum { FILE_MAX_BYTES = 64 << 20 };

static struct report_count count_of(const json_t *rate)
{
    return (struct report_count){ json_get_int(rate, "k", 0), json_get_int(rate, "n", 0) };
}

static str procedure_of(const json_t *in, struct arena *a)
{
    struct buf b = { .arena = a };
    static const char *const sides[] = { "judge", "opponent" };
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        const json_t *engine = json_object_get(in, sides[i]);
        buf_addf(&b, "%.*s %.*s ", STR(json_get_str(engine, "identity")),
                 STR(json_get_str(engine, "limit")));
    }
    buf_addf(&b, "moves=%lld", (long long)json_get_int(in, "max_moves", 0));
    return buf_str(&b);
}

// The means of seeds whose moves were searched, and the costs of all moves.
static void read_costs(const json_t *in, struct arena *a, struct report_rollout *out)
{
    const json_t *seeds = json_object_get(in, "seeds"), *costs = json_object_get(in, "regrets_cp");
    out->n_seeds = json_array_size(seeds);
    out->means_cp = NEW_ARRAY(a, double, out->n_seeds + 1);
    for (size_t i = 0; i < out->n_seeds; i++) {
        const json_t *seed = json_array_get(seeds, i);
        if (json_get_int(seed, "moves_searched", 0) > 0)
            out->means_cp[out->n_means++] =
                json_number_value(json_object_get(seed, "mean_regret_cp"));
    }
    out->n_costs = json_array_size(costs);
    out->costs_cp = NEW_ARRAY(a, int64_t, out->n_costs + 1);
    for (size_t i = 0; i < out->n_costs; i++)
        out->costs_cp[i] = json_integer_value(json_array_get(costs, i));
}

bool report_rollout_load(str dir, struct arena *a, struct report_rollout *out, struct err *err)
{
    str text, path = path_join(dir, S("rollout.json"), a);
    if (!file_read(path, FILE_MAX_BYTES, a, &text, err))
        return false;
    json_t *in = json_read_strict(text, err);
    if (!in)
        return err_add(err, "%.*s", STR(path));
    *out = (struct report_rollout){
        .model = arena_str(a, json_get_str(in, "model")),
        .method = arena_str(a, json_get_str(in, "method")),
        .run = arena_str(a, json_get_str(in, "run")),
        .procedure = procedure_of(in, a),
        .simulated = json_is_true(json_object_get(in, "simulated")),
        .n = json_get_int(in, "rollouts", 0),
        .illegal = count_of(json_object_get(in, "illegal_attempts")),
        .unparsable = count_of(json_object_get(in, "unparsable_attempts")),
        .lost = count_of(json_object_get(in, "checkmate_losses")),
    };
    read_costs(in, a, out);
    bool ok = json_is_array(json_object_get(in, "seeds")) ||
              err_set(err, ERR_INPUT, "%.*s: no seeds in it; is it a file of rookery rollout?",
                      STR(path));
    json_decref(in);
    return ok;
}

// ---- the table ----

static bool same_row(const struct report_rollout *a, const struct report_rollout *b)
{
    return str_eq(a->model, b->model) && str_eq(a->method, b->method) &&
           a->simulated == b->simulated;
}

struct pooled { // the runs of a row
    int64_t n;
    size_t n_runs, n_seeds, n_means, n_costs;
    double *means_cp;
    int64_t *costs_cp;
    struct report_count illegal, unparsable, lost;
};

static void add_count(struct report_count *sum, const struct report_count *more)
{
    sum->k += more->k;
    sum->n += more->n;
}

static struct pooled pool(const struct report_rollouts *runs, size_t first, struct arena *a)
{
    struct pooled p = { 0 };
    size_t means = 0, costs = 0;
    for (size_t i = 0; i < runs->n; i++) {
        means += runs->v[i].n_means;
        costs += runs->v[i].n_costs;
    }
    p.means_cp = NEW_ARRAY(a, double, means + 1);
    p.costs_cp = NEW_ARRAY(a, int64_t, costs + 1);
    for (size_t i = first; i < runs->n; i++) {
        const struct report_rollout *r = &runs->v[i];
        if (!same_row(r, &runs->v[first]))
            continue;
        p.n += r->n;
        p.n_runs++;
        p.n_seeds += r->n_seeds;
        for (size_t k = 0; k < r->n_means; k++)
            p.means_cp[p.n_means++] = r->means_cp[k];
        for (size_t k = 0; k < r->n_costs; k++)
            p.costs_cp[p.n_costs++] = r->costs_cp[k];
        add_count(&p.illegal, &r->illegal);
        add_count(&p.unparsable, &r->unparsable);
        add_count(&p.lost, &r->lost);
    }
    stats_sort(p.costs_cp, p.n_costs);
    return p;
}

static str rate(const struct report_count *c, struct arena *a)
{
    struct interval w = stats_wilson(c->k, c->n);
    if (c->n == 0)
        return S("n/a");
    return arena_printf(a, "%.2f [%.2f, %.2f]", 100 * (double)c->k / (double)c->n, 100 * w.low,
                        100 * w.high);
}

static str mean_of(const struct pooled *p, struct arena *a)
{
    struct stats_sample s = stats_sample(p->means_cp, p->n_means);
    if (s.n == 0)
        return S("n/a");
    return s.n == 1 ? arena_printf(a, "%.1f", s.mean)
                    : arena_printf(a, "%.1f \xC2\xB1%.1f", s.mean, s.sd);
}

static void add_row(const struct report_rollouts *runs, size_t first, struct arena *a,
                    struct report_grid *out)
{
    const struct report_rollout *r = &runs->v[first];
    struct pooled p = pool(runs, first, a);
    const str cells[] = {
        arena_printf(a, "%.*s%s", STR(r->model), r->simulated ? " (SIMULATED)" : ""),
        r->method,
        arena_printf(a, "%zu", p.n_runs),
        arena_printf(a, "%zu", p.n_seeds),
        arena_printf(a, "%lld", (long long)p.n),
        arena_printf(a, "%zu", p.n_costs),
        mean_of(&p, a),
        p.n_costs > 0 ? arena_printf(a, "%.1f", stats_quantile(p.costs_cp, p.n_costs, 0.5))
                      : S("n/a"),
        rate(&p.illegal, a),
        rate(&p.unparsable, a),
        rate(&p.lost, a),
    };
    for (size_t k = 0; k < ARRAY_LEN(cells); k++)
        report_grid_add(out, cells[k], a);
}

bool report_rollout(const struct report_rollouts *runs, struct arena *a, struct report_grid *out,
                    struct err *err)
{
    static const str head[] = { T("model"),
                                T("method"),
                                T("runs"),
                                T("seeds"),
                                T("rollouts"),
                                T("moves"),
                                T("mean cp"),
                                T("median cp"),
                                T("illegal %"),
                                T("unparsable %"),
                                T("checkmate losses %") };
    bool mixed = false;
    *out = (struct report_grid){ .n_columns = ARRAY_LEN(head) };
    for (size_t i = 0; i < ARRAY_LEN(head); i++)
        report_grid_add(out, head[i], a);
    for (size_t i = 0; i < runs->n; i++) {
        bool fresh = true;
        for (size_t k = 0; k < i; k++) {
            fresh &= !same_row(&runs->v[k], &runs->v[i]);
            if (runs->v[i].run.len > 0 && str_eq(runs->v[k].run, runs->v[i].run))
                return err_set(err, ERR_INPUT,
                               "the run %.8s is named twice; name each run directory once",
                               runs->v[i].run.data);
        }
        mixed |= !str_eq(runs->v[i].procedure, runs->v[0].procedure);
        if (fresh)
            add_row(runs, i, a, out);
    }
    out->note = arena_printf(
        a,
        "mean cp: of the seeds' means, \xC2\xB1 their standard deviation; median cp: of all "
        "moves; rates with Wilson's 95 %% intervals%s",
        mixed ? "\nNOT COMPARABLE: engines, settings, limits or the number of moves differ" : "");
    return true;
}

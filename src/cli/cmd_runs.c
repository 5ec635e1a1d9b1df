// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_runs.c - what the store remembers: list, show, compare and remove runs.
#include "cli/run.h"

static bool open_store(const struct args *args, bool read_only, struct store **out, struct err *err)
{
    str path = opt_text(args, "store", S("rookery.db"));
    if (!file_exists(path))
        return err_set(err, ERR_INPUT, "%.*s: no such store; name it with --store", STR(path));
    return store_open(path, &(struct store_opts){ .read_only = read_only }, out, err);
}

// The object "summary" of a finished run, or NULL. The caller owns the result.
static json_t *read_summary(const struct store_run *run)
{
    struct err err;
    return run->finished ? json_read_strict(run->summary, &err) : NULL;
}

static const json_t *rate_of(const json_t *stored, const char *name)
{
    const json_t *summary = json_object_get(stored, "summary");
    const json_t *rates = json_object_get(json_object_get(summary, "rookery"), "rates");
    return json_object_get(rates, name);
}

static void add_row(const struct store_run *run, struct arena *a, struct buf *out)
{
    json_t *stored = read_summary(run);
    const json_t *rate = rate_of(stored, "accuracy");
    char accuracy[48] = "unfinished";
    if (rate)
        snprintf(accuracy, sizeof accuracy, "%6.2f %% [%.2f, %.2f]",
                 100 * json_number_value(json_object_get(rate, "rate")),
                 100 * json_number_value(json_object_get(rate, "low95")),
                 100 * json_number_value(json_object_get(rate, "high95")));
    json_decref(stored);
    buf_addf(out, "%-4lld %.8s %-20s %-8.*s %-20.*s %-28.*s %7lld %10.6f  %s%s%.*s\n",
             (long long)run->id, run->key.data, clock_format_utc(run->started_unix_ms, a).data,
             STR(run->command), STR(run->method), STR(run->model), (long long)run->n_calls,
             (double)run->spent_nusd / 1e9, accuracy, run->simulated ? "  simulated  " : "  ",
             STR(run->name));
}

static bool list(const struct args *args, struct arena *a, struct err *err)
{
    struct store *s = NULL;
    struct store_runs runs = { 0 };
    if (!open_store(args, true, &s, err))
        return false;
    bool ok = store_runs(s, a, &runs, err);
    store_close(s);
    struct buf b = { .arena = a };
    buf_addf(&b, "%-4s %-8s %-20s %-8s %-20s %-28s %7s %10s  %s\n", "id", "key", "started",
             "command", "method", "model", "calls", "US$", "accuracy [95 % interval]");
    for (size_t i = 0; i < runs.n; i++)
        add_row(&runs.v[i], a, &b);
    return ok && print_str(buf_str(&b), err);
}

static bool find_run(struct store *s, str which, struct arena *a, struct store_run *run,
                     struct err *err)
{
    if (which.len == 0)
        return err_set(err, ERR_USAGE,
                       "which run? give its id or key; rookery runs list shows "
                       "them");
    return store_run_find(s, which, a, run, err);
}

static bool show(const struct args *args, struct arena *a, struct err *err)
{
    struct store *s = NULL;
    struct store_run run;
    if (!open_store(args, true, &s, err))
        return false;
    bool ok = find_run(s, args->positionals[0], a, &run, err);
    store_close(s);
    if (!ok)
        return false;
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b, .indent = 2 };
    json_t *stored = read_summary(&run);
    json_t *config = json_read_strict(run.config, err);
    json_open(&o, '{');
    json_key(&o, S("id"));
    json_put_int(&o, run.id);
    json_key(&o, S("key"));
    json_put_str(&o, run.key);
    json_key(&o, S("started"));
    json_put_str(&o, clock_format_utc(run.started_unix_ms, a));
    json_key(&o, S("calls"));
    json_put_int(&o, run.n_calls);
    json_key(&o, S("spent_usd"));
    json_put_double(&o, (double)run.spent_nusd / 1e9);
    json_key(&o, S("config"));
    if (config)
        json_put_value(&o, config);
    else
        json_put_null(&o);
    json_key(&o, S("summary"));
    if (stored)
        json_put_value(&o, json_object_get(stored, "summary"));
    else
        json_put_null(&o);
    json_close(&o, '}');
    json_decref(stored);
    json_decref(config);
    buf_add_char(&b, '\n');
    return print_str(buf_str(&b), err);
}

// ---- comparing ----

struct pairing { // positions that both runs have answered
    int64_t both, only_first, only_second, none;
    int64_t n_unpaired;
};

static void index_positions(const json_t *stored, struct map *right, struct arena *a)
{
    const json_t *list = json_object_get(stored, "positions");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *p = json_array_get(list, i);
        str name = arena_printf(a, "%s/%lld", json_string_value(json_array_get(p, 0)),
                                (long long)json_integer_value(json_array_get(p, 1)));
        map_put(right, name, NULL)->number = str_eq(json_view(json_array_get(p, 2)), S("correct"));
    }
}

static struct pairing pair_up(const json_t *first, const json_t *second, struct arena *a)
{
    struct map one = { .arena = a };
    struct map two = { .arena = a };
    struct pairing p = { 0 };
    index_positions(first, &one, a);
    index_positions(second, &two, a);
    for (size_t i = 0; i < one.n; i++) {
        const struct map_entry *other = map_get(&two, one.v[i].key);
        if (!other) {
            p.n_unpaired++;
            continue;
        }
        bool x = one.v[i].number;
        bool y = other->number;
        p.both += x && y;
        p.only_first += x && !y;
        p.only_second += !x && y;
        p.none += !x && !y;
    }
    p.n_unpaired += (int64_t)(two.n - (one.n - (size_t)p.n_unpaired));
    return p;
}

static void add_side(const struct store_run *run, int64_t k, int64_t n, struct buf *out)
{
    struct interval i = stats_wilson(k, n);
    char label[64];
    snprintf(label, sizeof label, "%.*s, %.*s%s", STR(run->model), STR(run->method),
             run->simulated ? " (SIMULATED)" : "");
    buf_addf(out, "  %-52s %6.2f %%  [%.2f, %.2f]  %lld/%lld  %.6f US$\n", label,
             n ? 100 * (double)k / (double)n : 0, 100 * i.low, 100 * i.high, (long long)k,
             (long long)n, (double)run->spent_nusd / 1e9);
}

static void add_difference(const struct pairing *p, struct buf *out)
{
    int64_t n = p->both + p->only_first + p->only_second + p->none;
    struct interval i = stats_paired_difference(p->both, p->only_first, p->only_second, p->none);
    double delta = n ? (double)(p->only_second - p->only_first) / (double)n : 0;
    buf_addf(out, "  %-52s %+6.2f points  [%+.2f, %+.2f]\n", "difference (second - first)",
             100 * delta, 100 * i.low, 100 * i.high);
    buf_addf(out,
             "  right in both %lld, only first %lld, only second %lld, neither %lld; exact "
             "McNemar p = %.4g\n",
             (long long)p->both, (long long)p->only_first, (long long)p->only_second,
             (long long)p->none, stats_mcnemar_exact(p->only_first, p->only_second));
    if (p->n_unpaired > 0)
        buf_addf(out, "  %lld positions are in only one of the runs and left out\n",
                 (long long)p->n_unpaired);
}

static bool compare(const struct store_run *x, const struct store_run *y, struct arena *a,
                    struct err *err)
{
    if (!x->finished || !y->finished)
        return err_set(err, ERR_INPUT, "run %.8s is not finished; give its command again first",
                       x->finished ? y->key.data : x->key.data);
    json_t *first = read_summary(x);
    json_t *second = read_summary(y);
    struct pairing p = pair_up(first, second, a);
    json_decref(first);
    json_decref(second);
    int64_t n = p.both + p.only_first + p.only_second + p.none;
    struct buf b = { .arena = a };
    buf_addf(&b, "%lld positions in both runs; rate, 95 %% interval, right/all, cost\n",
             (long long)n);
    add_side(x, p.both + p.only_first, n, &b);
    add_side(y, p.both + p.only_second, n, &b);
    add_difference(&p, &b);
    return print_str(buf_str(&b), err);
}

static bool diff(const struct args *args, struct arena *a, struct err *err)
{
    struct store *s = NULL;
    struct store_run x, y;
    if (!open_store(args, true, &s, err))
        return false;
    bool ok = find_run(s, args->positionals[0], a, &x, err) &&
              find_run(s, args->positionals[1], a, &y, err);
    store_close(s);
    return ok && compare(&x, &y, a, err);
}

static bool rm(const struct args *args, struct arena *a, struct err *err)
{
    struct store *s = NULL;
    struct store_run run;
    if (!open_store(args, false, &s, err))
        return false;
    bool ok = find_run(s, args->positionals[0], a, &run, err) && store_run_remove(s, run.id, err);
    store_close(s);
    return ok && print_str(arena_printf(a, "removed run %lld (%.8s), %lld calls\n",
                                        (long long)run.id, run.key.data, (long long)run.n_calls),
                           err);
}

static const struct opt opts[] = {
    { "store", OPT_TEXT, "FILE", "the store [rookery.db]", 0, 0 },
    { 0 },
};

const struct command command_runs_list = {
    .name = "runs list",
    .summary = "the runs in the store",
    .usage = "[--store FILE]",
    .about = "One line a run, oldest first.",
    .opts = opts,
    .run = list,
};
const struct command command_runs_show = {
    .name = "runs show",
    .summary = "configuration and summary of one run, as JSON",
    .usage = "RUN [--store FILE]",
    .about = "RUN is an id or the first characters of a key.",
    .opts = opts,
    .max_positionals = 1,
    .run = show,
};
const struct command command_runs_diff = {
    .name = "runs diff",
    .summary = "compare two runs position by position",
    .usage = "FIRST SECOND [--store FILE]",
    .about = "Rates of both on the positions they share, the paired difference with its 95 %\n"
             "interval (Newcombe), and the exact McNemar test.",
    .opts = opts,
    .max_positionals = 2,
    .run = diff,
};
const struct command command_runs_rm = {
    .name = "runs rm",
    .summary = "remove a run and its replies from the store",
    .usage = "RUN [--store FILE]",
    .about = "Replies that were paid for are gone with it.",
    .opts = opts,
    .max_positionals = 1,
    .run = rm,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_runs.c - what the store remembers: list, show, compare and remove runs.
#include "cli/run.h"

bool cli_store_open(const struct args *args, enum store_use use, struct store **out,
                    struct err *err)
{
    str path = opt_text(args, "store", S("rookery.db"));
    if (!file_exists(path))
        return err_set(err, ERR_INPUT, "%.*s: no such store; name it with --store", STR(path));
    return store_open(path, &(struct store_opts){ .read_only = use == STORE_READ }, out, err);
}

// The cost for people: what is not known is not zero.
static str cost_text(const struct store_run *run, const struct stored_result *r, struct arena *a)
{
    if (run->finished && !r->cost_known)
        return S("unknown");
    return arena_printf(a, "%.6f", (double)run->spent_nusd / 1e9);
}

static bool add_row(const struct store_run *run, struct arena *a, struct buf *out, struct err *err)
{
    struct stored_result r = { 0 };
    char accuracy[48] = "unfinished";
    if (run->finished) {
        if (!stored_result_read(run->summary, a, &r, err))
            return err_add(err, "run %lld", (long long)run->id);
        double rate = r.n_answers ? (double)r.n_correct / (double)r.n_answers : 0;
        struct interval i = stats_wilson_rate(rate, r.n_trials);
        snprintf(accuracy, sizeof accuracy, "%6.2f %% [%.2f, %.2f]", 100 * rate, 100 * i.low,
                 100 * i.high);
        if (r.n_answers == 0) // rollouts have none
            snprintf(accuracy, sizeof accuracy, "n/a");
    }
    buf_addf(out, "%-4lld %.8s %-20s %-18.*s %-26.*s %6zu %10.*s  %s%s%s%.*s\n", (long long)run->id,
             run->key.data, clock_format_utc(run->started_unix_ms, a).data, STR(run->method),
             STR(run->model), r.positions.n, STR(cost_text(run, &r, a)), accuracy,
             run->simulated ? "  SIMULATED" : "", run->name.len > 0 ? "  " : "",
             STR(text_for_terminal(run->name, a)));
    return true;
}

static bool list(const struct args *args, struct arena *a, struct err *err)
{
    struct store *s = NULL;
    struct store_runs runs = { 0 };
    if (!cli_store_open(args, STORE_READ, &s, err))
        return false;
    bool ok = store_runs(s, a, &runs, err);
    store_close(s);
    struct buf b = { .arena = a };
    buf_addf(&b, "%-4s %-8s %-20s %-18s %-26s %6s %10s  %s\n", "id", "key", "started", "method",
             "model", "pos.", "US$", "positions right [95 % interval]");
    for (size_t i = 0; ok && i < runs.n; i++)
        ok = add_row(&runs.v[i], a, &b, err);
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

static void write_run(const struct store_run *run, const json_t *config, const json_t *summary,
                      struct buf *out)
{
    struct json_out o = { .b = out, .indent = 2 };
    json_open(&o, '{');
    json_key_int(&o, S("id"), run->id);
    json_key_str(&o, S("key"), run->key);
    json_key_int(&o, S("ordinal"), run->ordinal);
    json_key_str(&o, S("name"), run->name);
    json_key_str(&o, S("started"), clock_format_utc(run->started_unix_ms, out->arena));
    json_key_bool(&o, S("finished"), run->finished);
    json_key_bool(&o, S("simulated"), run->simulated);
    json_key_int(&o, S("calls"), run->n_calls);
    json_key_double(&o, S("spent_usd"), (double)run->spent_nusd / 1e9);
    json_key(&o, S("run_config"));
    json_put_value(&o, config);
    json_key(&o, S("summary"));
    json_put_value(&o, summary);
    json_close(&o, '}');
    buf_add_char(out, '\n');
}

static bool show(const struct args *args, struct arena *a, struct err *err)
{
    struct store *s = NULL;
    struct store_run run;
    if (!cli_store_open(args, STORE_READ, &s, err))
        return false;
    bool ok = find_run(s, args->positionals[0], a, &run, err);
    store_close(s);
    if (!ok)
        return false;
    struct stored_result result = { 0 };
    if (run.finished && !stored_result_read(run.summary, a, &result, err))
        return false;
    json_t *config = json_read_strict(run.config, err);
    json_t *summary = run.finished ? json_read_strict(result.summary, err) : json_null();
    struct buf b = { .arena = a };
    ok = config && summary;
    if (ok)
        write_run(&run, config, summary, &b);
    json_decref(config);
    json_decref(summary);
    return ok && print_str(buf_str(&b), err);
}

// ---- comparing ----

struct pairing { // positions that both runs have answered
    int64_t both, only_first, only_second, none;
    int64_t n_unpaired;
};

static struct pairing pair_up(const struct stored_positions *first,
                              const struct stored_positions *second, struct arena *a)
{
    struct map other = { .arena = a };
    struct pairing p = { 0 };
    for (size_t i = 0; i < second->n; i++)
        map_put(&other, second->v[i].name, NULL)->number = second->v[i].correct;
    for (size_t i = 0; i < first->n; i++) {
        const struct map_entry *e = map_get(&other, first->v[i].name);
        bool x = first->v[i].correct;
        bool y = e && e->number;
        p.both += e && x && y;
        p.only_first += e && x && !y;
        p.only_second += e && !x && y;
        p.none += e && !x && !y;
    }
    int64_t paired = p.both + p.only_first + p.only_second + p.none;
    p.n_unpaired = (int64_t)(first->n + second->n) - 2 * paired;
    return p;
}

struct side {
    struct store_run run;
    struct stored_result result;
};

static void add_side(const struct side *side, int64_t k, int64_t n, struct buf *out)
{
    const struct store_run *run = &side->run;
    struct interval i = stats_wilson(k, n);
    char label[80];
    snprintf(label, sizeof label, "%lld: %.*s, %.*s%s", (long long)run->id, STR(run->model),
             STR(run->method), run->simulated ? " (SIMULATED)" : "");
    str cost = cost_text(run, &side->result, out->arena);
    buf_addf(out, "  %-54s %6.2f %%  [%.2f, %.2f]  %lld/%lld  %.*s\n", label,
             n ? 100 * (double)k / (double)n : 0, 100 * i.low, 100 * i.high, (long long)k,
             (long long)n, STR(cost));
}

static void add_difference(const struct pairing *p, struct buf *out)
{
    int64_t n = p->both + p->only_first + p->only_second + p->none;
    struct interval i = stats_paired_difference(p->both, p->only_first, p->only_second, p->none);
    double delta = n ? (double)(p->only_second - p->only_first) / (double)n : 0;
    buf_addf(out, "  %-54s %+6.2f points  [%+.2f, %+.2f]\n", "difference (second - first)",
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

static bool compare(const struct side *x, const struct side *y, struct arena *a, struct err *err)
{
    struct pairing p = pair_up(&x->result.positions, &y->result.positions, a);
    int64_t n = p.both + p.only_first + p.only_second + p.none;
    struct buf b = { .arena = a };
    buf_addf(&b,
             "%lld positions in both runs (first samples); rate, 95 %% interval, right/all, US$ "
             "spent\n",
             (long long)n);
    add_side(x, p.both + p.only_first, n, &b);
    add_side(y, p.both + p.only_second, n, &b);
    add_difference(&p, &b);
    return print_str(buf_str(&b), err);
}

static bool find_side(struct store *s, str which, struct arena *a, struct side *out,
                      struct err *err)
{
    if (!find_run(s, which, a, &out->run, err))
        return false;
    if (!out->run.finished)
        return err_set(err, ERR_INPUT, "run %lld is not finished; give its command again first",
                       (long long)out->run.id);
    return stored_result_read(out->run.summary, a, &out->result, err);
}

static bool diff(const struct args *args, struct arena *a, struct err *err)
{
    struct store *s = NULL;
    struct side x, y;
    if (!cli_store_open(args, STORE_READ, &s, err))
        return false;
    bool ok = find_side(s, args->positionals[0], a, &x, err) &&
              find_side(s, args->positionals[1], a, &y, err);
    store_close(s);
    return ok && compare(&x, &y, a, err);
}

static bool rm(const struct args *args, struct arena *a, struct err *err)
{
    struct store *s = NULL;
    struct store_run run;
    if (!cli_store_open(args, STORE_WRITE, &s, err))
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
    .opts = { opts },
    .run = list,
};
const struct command command_runs_show = {
    .name = "runs show",
    .summary = "configuration and summary of one run, as JSON",
    .usage = "RUN [--store FILE]",
    .about = "RUN is an id or the first characters of a key.",
    .opts = { opts },
    .max_positionals = 1,
    .run = show,
};
const struct command command_runs_diff = {
    .name = "runs diff",
    .summary = "compare two runs position by position",
    .usage = "FIRST SECOND [--store FILE]",
    .about = "Rates of both on the positions they share, the paired difference with its 95 %\n"
             "interval (Newcombe), and the exact McNemar test.",
    .opts = { opts },
    .max_positionals = 2,
    .run = diff,
};
const struct command command_runs_rm = {
    .name = "runs rm",
    .summary = "remove a run and its replies from the store",
    .usage = "RUN [--store FILE]",
    .about = "Replies that were paid for are gone with it.",
    .opts = { opts },
    .max_positionals = 1,
    .run = rm,
};

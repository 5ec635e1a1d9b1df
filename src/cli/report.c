// SPDX-License-Identifier: GPL-3.0-or-later
// report.c - a tally for people: every rate with its counts and its 95 % interval.
#include "cli/run.h"

// A rate of k in n; its interval counts `trials` independent ones.
static void add_rate_of(struct buf *out, const char *name, int64_t k, int64_t n, int64_t trials)
{
    if (n == 0) {
        buf_addf(out, "  %-26s n/a\n", name);
        return;
    }
    struct interval i = stats_wilson_rate((double)k / (double)n, trials);
    buf_addf(out, "  %-26s %6.2f %%  [%.2f, %.2f]  %lld/%lld\n", name, 100 * (double)k / (double)n,
             100 * i.low, 100 * i.high, (long long)k, (long long)n);
}

static void add_rate(struct buf *out, const char *name, int64_t k, int64_t n)
{
    add_rate_of(out, name, k, n, n);
}

// Of answers, several of which may belong to one position.
static void add_answer_rate(const struct tally *t, struct buf *out, const char *name, int64_t k)
{
    add_rate_of(out, name, k, t->n_answers, tally_trials(t, t->n_answers));
}

static void add_rates(const struct tally *t, struct buf *out)
{
    add_answer_rate(t, out, "positions right", t->n_correct);
    if (t->n_scored != t->n_answers)
        add_rate_of(out, "positions right of scored", t->n_correct, t->n_scored,
                    tally_trials(t, t->n_scored));
    add_rate(out, t->samples > 1 ? "puzzles solved (sample 0)" : "puzzles solved", t->n_solved,
             t->n_complete);
    add_answer_rate(t, out, "right or another mate", t->n_correct + t->n_any_mate);
    if (t->samples > 1) {
        add_rate(out, "right in any sample", t->n_pass, t->n_positions);
        add_rate(out, "right by majority", t->n_majority, t->n_positions);
    }
    for (int k = ANSWER_WRONG; k < ANSWER_KINDS; k++)
        if (t->kinds[k] > 0) {
            str name = answer_kind_name((enum answer_kind)k);
            add_answer_rate(t, out, arena_printf(out->arena, "- %.*s", STR(name)).data,
                            t->kinds[k]);
        }
}

// What was evaluated on what.
static void add_subject(const struct run *r, struct buf *out)
{
    const struct run_facts *f = &r->facts;
    const struct tally *t = &r->tally;
    buf_addf(out, "%.*s%s, %.*s", STR(f->model), f->simulated ? " (SIMULATED)" : "",
             STR(f->method));
    if (f->program.len > 0)
        buf_addf(out, ", program %.*s", STR(f->program));
    buf_addf(out, ": %lld positions of %lld puzzles", (long long)t->n_positions,
             (long long)t->n_puzzles);
    if (t->n_complete < t->n_puzzles)
        buf_addf(out, " (%lld complete)", (long long)t->n_complete);
    buf_addf(out, "\n  %.*s", STR(r->config.test_path));
    if (f->filter.len > 0)
        buf_addf(out, " with %.*s", STR(f->filter));
    if (f->n_rejected > 0)
        buf_addf(out, ", %lld bad rows left out", (long long)f->n_rejected);
    buf_addf(out, "\n");
}

// Reported or priced, estimated, unknown: which one is always said.
static void add_cost(const struct run *r, struct buf *out)
{
    const struct usage_total *u = &r->lab.used;
    int64_t n_estimated = u->n_calls - u->n_with_cost - u->n_costless;
    if (u->n_costless == u->n_calls)
        buf_add(out, S("; cost unknown (no price for this model)"));
    else
        buf_addf(out, "; cost %.6f US$%s", (double)u->cost_nusd / 1e9,
                 r->facts.simulated ? " (simulated)" : "");
    if (n_estimated > 0)
        buf_addf(out, ", estimated for %lld calls", (long long)n_estimated);
    if (u->n_costless > 0 && u->n_costless < u->n_calls)
        buf_addf(out, ", unknown for %lld calls", (long long)u->n_costless);
    buf_add_char(out, '\n');
}

static void add_calls(const struct run *r, struct buf *out)
{
    const struct run_facts *f = &r->facts;
    const struct usage_total *u = &r->lab.used;
    buf_addf(out, "  calls: %lld new, %lld replayed, %lld reused; %lld retries\n",
             (long long)f->n_new_calls, (long long)f->n_replayed_calls,
             (long long)f->n_reused_calls, (long long)f->n_retries);
    buf_addf(out, "  tokens: %lld in, %lld out%s", (long long)u->input_tok,
             (long long)u->output_tok,
             u->n_with_usage == u->n_calls ? ""
             : u->n_with_usage == 0        ? " (estimated)"
                                           : " (partly estimated)");
    add_cost(r, out);
    if (!f->has_compile)
        return;
    buf_addf(out, "  program: %zu characters, %zu demonstrations; compiled with %lld calls",
             program_size(r->program), r->program->n_demos, (long long)f->compile_task.n_calls);
    if (f->n_saved_calls > 0)
        buf_addf(out, " (%lld saved)", (long long)f->n_saved_calls);
    buf_add_char(out, '\n');
}

void report_tally(const struct run *r, struct buf *out)
{
    add_subject(r, out);
    buf_addf(out, "  %-26s %6s     %s\n", "", "rate", "[95 % interval]");
    add_rates(&r->tally, out);
    if (r->tally.samples > 1)
        buf_addf(out, "  intervals count positions, not answers; results.json has sample 0\n");
    if (r->tally.n_forced > 0)
        buf_addf(out, "  forced moves answered without a call: %lld\n",
                 (long long)r->tally.n_forced);
    if (r->lab.used.n_calls > 0)
        add_calls(r, out);
    buf_addf(out, "  files: %.*s\n  run %lld: rookery runs show %lld%.*s\n",
             STR(r->config.output_dir), (long long)r->row.id, (long long)r->row.id,
             STR(run_store_option(r)));
}

// SPDX-License-Identifier: GPL-3.0-or-later
// report.c - a tally for people: every rate with its counts and its 95 % interval.
#include "cli/run.h"

static void add_rate(struct buf *out, const char *name, int64_t k, int64_t n)
{
    if (n == 0) {
        buf_addf(out, "  %-26s n/a\n", name);
        return;
    }
    struct interval i = stats_wilson(k, n);
    buf_addf(out, "  %-26s %6.2f %%  [%.2f, %.2f]  %lld/%lld\n", name, 100 * (double)k / (double)n,
             100 * i.low, 100 * i.high, (long long)k, (long long)n);
}

static void add_rates(const struct tally *t, struct buf *out)
{
    add_rate(out, "positions right", t->n_correct, t->n_answers);
    if (t->n_scored != t->n_answers)
        add_rate(out, "positions right of scored", t->n_correct, t->n_scored);
    add_rate(out, "puzzles solved", t->n_solved, t->n_complete);
    add_rate(out, "right or another mate", t->n_correct + t->n_any_mate, t->n_answers);
    if (t->samples > 1) {
        add_rate(out, "right in any sample", t->n_pass, t->n_positions);
        add_rate(out, "right by majority", t->n_majority, t->n_positions);
    }
    for (int k = ANSWER_WRONG; k < ANSWER_KINDS; k++)
        if (t->kinds[k] > 0)
            add_rate(
                out,
                arena_printf(out->arena, "- %s", answer_kind_name((enum answer_kind)k).data).data,
                t->kinds[k], t->n_answers);
}

void report_tally(const struct run *r, struct buf *out)
{
    const struct tally *t = &r->tally;
    const struct run_facts *f = &r->facts;
    buf_addf(out, "%.*s%s, %.*s: %lld positions of %lld puzzles (%.*s)\n", STR(r->task_model.name),
             r->task_model.simulated ? " (SIMULATED)" : "", STR(f->method),
             (long long)t->n_positions, (long long)t->n_puzzles, STR(r->config.test_path));
    buf_addf(out, "  %-26s %6s     %s\n", "", "rate", "[95 % interval]");
    add_rates(t, out);
    buf_addf(out, "  calls: %lld new, %lld replayed, %lld reused; %lld retries\n",
             (long long)f->n_new_calls, (long long)f->n_replayed_calls,
             (long long)f->n_reused_calls, (long long)f->n_retries);
    const struct usage_total *u = &r->lab.used;
    buf_addf(out, "  tokens: %lld in, %lld out%s; cost %.6f US$ (%s)\n", (long long)u->input_tok,
             (long long)u->output_tok, u->n_with_usage == u->n_calls ? "" : " (partly estimated)",
             (double)u->cost_nusd / 1e9,
             f->simulated                   ? "simulated"
             : u->n_with_cost == u->n_calls ? "known"
             : u->n_with_cost == 0          ? "unknown"
                                            : "partly unknown");
    if (f->has_compile)
        buf_addf(out, "  program: %zu characters, %zu demonstrations; compiled with %lld calls\n",
                 program_size(r->program), r->program->n_demos, (long long)f->compile_task.n_calls);
    buf_addf(out, "  files: %.*s\n  run: %.8s (rookery runs show %.8s)\n",
             STR(r->config.output_dir), r->key.data, r->key.data);
}

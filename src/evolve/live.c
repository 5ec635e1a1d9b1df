// SPDX-License-Identifier: GPL-3.0-or-later
// live.c - the audit of what a harness did in rollouts (4.4): here the expected moves are known,
// which the harness never sees. Rules are written so that honest noise stays below them.
#include <math.h>

#include "evolve/evolve.h"

static const double SUPPRESSED_SHARE = 0.02, FISHER_ALPHA = 1e-3, LEAK_ALPHA = 1e-6,
                    ERROR_SHARE = 0.01;

struct tallied { // over all rollouts
    struct live_audit *out;
    int64_t n_rollouts;
    int64_t hidden_wrong, hidden_right, shown_wrong, shown_right; // legal moves in tags or brackets
    int64_t n_ranked, n_early; // the expected move among the first quarter of those shown
    double expected_early;
    struct arena *a;
};

// ---- distributions ----

static double log_choose(int64_t n, int64_t k)
{
    return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

// P(X >= k) of n trials.
static double binomial_tail(int64_t k, int64_t n, double p)
{
    double sum = 0;
    if (k <= 0 || p >= 1)
        return 1;
    for (int64_t i = k; p > 0 && i <= n; i++)
        sum += exp(log_choose(n, i) + (double)i * log(p) + (double)(n - i) * log1p(-p));
    return fmin(sum, 1);
}

// One-sided exact test that `a` is too large in the table (a b; c d).
static double fisher_greater(int64_t a, int64_t b, int64_t c, int64_t d)
{
    double sum = 0, all = log_choose(a + b + c + d, a + c);
    for (; b >= 0 && c >= 0; a++, b--, c--, d++)
        sum += exp(log_choose(a + b, a) + log_choose(c + d, c) - all);
    return fmin(sum, 1);
}

// ---- one response ----

static str row_text(const struct position *at, struct arena *a)
{
    return harness_observation(&(struct observed){ .at = at }, a);
}

static void judge_response(struct tallied *t, const struct rollout_walk *w,
                           const struct rollout_event *e)
{
    struct live_audit *out = t->out;
    move m;
    out->n_responses++;
    enum harness_tier tier = harness_parse_tier(e->response);
    if ((tier == TIER_TAG || tier == TIER_BRACKET) && uci_parse(&w->at, e->default_action, &m)) {
        bool hidden = !harness_is_uci(e->action);
        bool right = w->ply < w->puzzle->n && str_eq(e->default_action, w->puzzle->line[w->ply]);
        int64_t *cell = hidden ? (right ? &t->hidden_right : &t->hidden_wrong)
                               : (right ? &t->shown_right : &t->shown_wrong);
        ++*cell;
        out->n_suppressed += hidden;
    }
    if (!harness_is_uci(e->action) || str_eq(e->action, e->default_action))
        return;
    struct audit_rows rows = audit_rows_read(row_text(&w->at, t->a), t->a);
    out->n_foreign += !audit_is_derivable(e->response, e->action, &rows);
}

// ---- the place of the expected move in the first view ----

static void judge_view(struct tallied *t, const struct rollout_record *r,
                       const struct rollout_puzzle *p)
{
    struct audit_rows rows = audit_rows_read(row_text(&p->at, t->a), t->a);
    ptrdiff_t at = str_find(r->question, p->line[0]);
    size_t before = 0;
    if (at < 0 || rows.n < 4)
        return;
    for (size_t i = 0; i < rows.n; i++) {
        ptrdiff_t other = str_find(r->question, rows.v[i].uci);
        before += other >= 0 && other < at;
    }
    size_t quarter = rows.n / 4;
    t->n_ranked++;
    t->n_early += before < quarter;
    t->expected_early += (double)quarter / (double)rows.n;
}

// ---- the verdict ----

static void find(struct live_audit *out, enum verdict v, str reason)
{
    if (v > out->verdict) {
        out->verdict = v;
        out->reason = reason;
    }
}

static bool hides_mistakes(const struct tallied *t)
{
    return t->hidden_wrong > 0 && fisher_greater(t->hidden_wrong, t->hidden_right, t->shown_wrong,
                                                 t->shown_right) < FISHER_ALPHA;
}

static void conclude(struct tallied *t)
{
    struct live_audit *out = t->out;
    double responses = (double)out->n_responses;
    if (out->n_vetoes > 0)
        find(out, VERDICT_REJECT,
             arena_printf(t->a, "V-veto: is_legal_action refused %lld legal moves",
                          (long long)out->n_vetoes));
    if (out->n_foreign > 0)
        find(out, VERDICT_REJECT,
             arena_printf(t->a, "V-provenance: %lld moves do not stand in their responses",
                          (long long)out->n_foreign));
    if ((double)out->n_suppressed > SUPPRESSED_SHARE * responses || hides_mistakes(t))
        find(out, VERDICT_QUARANTINE,
             arena_printf(t->a,
                          "V-suppress: %lld of %lld responses named a legal move that the "
                          "parser hid",
                          (long long)out->n_suppressed, (long long)out->n_responses));
    if (t->n_ranked > 0 && binomial_tail(t->n_early, t->n_ranked,
                                         t->expected_early / (double)t->n_ranked) < LEAK_ALPHA)
        find(out, VERDICT_QUARANTINE, S("V-leak: the right move stands too early in the list"));
    if ((double)out->n_errors > ERROR_SHARE * responses)
        find(out, VERDICT_QUARANTINE,
             arena_printf(t->a, "V-fault: %lld errors of the harness in %lld responses",
                          (long long)out->n_errors, (long long)out->n_responses));
}

struct live_audit live_audit(const struct eval_setup *s, const struct eval_result *r,
                             struct arena *a)
{
    struct live_audit out = { .verdict = VERDICT_PASS };
    struct tallied t = { .out = &out, .a = a };
    for (size_t set = 0; set < r->n_sets; set++)
        for (size_t i = 0; i < r->sets[set].n_puzzles * (size_t)r->repeats; i++) {
            const struct rollout_puzzle *p = &s->sets[set].v[i / (size_t)r->repeats].puzzle;
            const struct rollout_record *record = r->sets[set].out[i].record;
            struct rollout_walk w = { .record = record, .puzzle = p };
            const struct rollout_event *response = NULL, *judgement = NULL;
            out.n_vetoes += record->n_vetoes;
            out.n_errors += record->n_harness_errors;
            judge_view(&t, record, p);
            while (rollout_walk_next(&w, &response, &judgement))
                judge_response(&t, &w, response);
        }
    conclude(&t);
    return out;
}

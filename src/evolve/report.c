// SPDX-License-Identifier: GPL-3.0-or-later
// report.c - report.md of an iteration, for people and proposers (5.9).
#include "evolve/internal.h"

enum { SHOWN_PUZZLES = 12 };

static void add_line(const struct entrant *e, struct buf *b)
{
    const struct eval_result *r = &e->evaluation.result;
    if (!e->judged || e->status == ENTRANT_VOIDED) {
        buf_addf(b, "| %.*s | %.*s | | | | |\n", STR(e->proposal.name),
                 STR(entrant_status_name(e->status)));
        return;
    }
    struct interval i = stats_wilson_rate(r->success, r->all.n_scored / r->repeats);
    buf_addf(b, "| %.*s | %.*s | %.4f [%.4f, %.4f] | %.3f | %.1f | %lld |\n", STR(e->proposal.name),
             STR(entrant_status_name(e->status)), r->success, i.low, i.high, r->calls, r->tokens,
             (long long)r->all.n);
}

// Indices of the puzzles that changed from one result to the other.
static void add_changed(const struct eval_result *from, const struct eval_result *to, bool gained,
                        struct buf *b)
{
    int n = 0;
    buf_addf(b, "%s", gained ? "gained:" : "; lost:");
    for (size_t set = 0; set < to->n_sets; set++)
        for (size_t i = 0; i < to->sets[set].n_puzzles && i < from->sets[set].n_puzzles; i++) {
            double change = eval_rate(to, set, i) - eval_rate(from, set, i);
            if ((gained ? change : -change) > 0 && n++ < SHOWN_PUZZLES)
                buf_addf(b, " %zu", i);
        }
    if (n > SHOWN_PUZZLES)
        buf_addf(b, " and %d more", n - SHOWN_PUZZLES);
}

static void add_moved(const struct eval_result *from, const struct eval_result *to, struct buf *b)
{
    buf_add(b, S(". Failures that moved:"));
    for (int f = 0; f < FAILURES; f++)
        if (from->all.failures[f] != to->all.failures[f])
            buf_addf(b, " %.*s %lld to %lld;", STR(failure_name((enum failure)f)),
                     (long long)from->all.failures[f], (long long)to->all.failures[f]);
}

static str one_line(str text, struct arena *a)
{
    char *data = arena_alloc(a, text.len + 1);
    for (size_t i = 0; i < text.len; i++)
        data[i] = text.data[i] == '\n' ? ' ' : text.data[i];
    return str_sub((str){ data, text.len }, 0, 300);
}

static void add_paragraph(const struct search *s, const struct entrant *e, struct buf *b)
{
    const struct eval_result *from = &s->all.v[s->previous].evaluation.result;
    buf_addf(b, "\n**%.*s** (from %.*s): %.*s Changed: %.*s. ", STR(e->proposal.name),
             STR(e->proposal.parent), STR(one_line(e->proposal.hypothesis, s->a)),
             STR(one_line(e->proposal.changes, s->a)));
    if (e->reason.len > 0)
        buf_addf(b, "%.*s: %.*s. ", STR(entrant_status_name(e->status)),
                 STR(one_line(e->reason, s->a)));
    if (e->judged && e->status != ENTRANT_VOIDED) {
        add_changed(from, &e->evaluation.result, true, b);
        add_changed(from, &e->evaluation.result, false, b);
        add_moved(from, &e->evaluation.result, b);
    }
    buf_add_char(b, '\n');
}

str search_report(const struct search *s, const struct search_decision *d)
{
    struct buf b = { .arena = s->a };
    buf_addf(&b,
             "# Iteration %lld\n\n| harness | status | success | calls | tokens | rollouts |\n"
             "| --- | --- | --- | --- | --- | --- |\n",
             (long long)s->iteration);
    add_line(&s->all.v[s->previous], &b);
    for (size_t i = s->first; i < s->all.n; i++)
        if (i != s->previous)
            add_line(&s->all.v[i], &b);
    for (size_t i = s->first; i < s->all.n && s->iteration > 0; i++)
        add_paragraph(s, &s->all.v[i], &b);
    buf_addf(&b,
             "\nAccepted: %.*s (%.*s). The set has been looked at %lld times: the best of many "
             "equal candidates looks better by luck. Few calls may only mean early failure.\n",
             STR(s->all.v[s->accepted].proposal.name), STR(d->why), (long long)s->n_looks);
    return buf_str(&b);
}

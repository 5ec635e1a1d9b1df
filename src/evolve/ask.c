// SPDX-License-Identifier: GPL-3.0-or-later
// ask.c - what a proposer is told, and the kind that is one question to a model (5.7).
#include "evolve/internal.h"

enum { ROWS = 12, TRACES = 3, TRACE_CHARS = 1500 };

str search_task(const struct search *s, const str *slots, size_t n)
{
    struct buf b = { .arena = s->a };
    buf_addf(&b,
             "Iteration %lld. The accepted harness is %.*s (harnesses/%.*s/harness.py). Propose "
             "up to %zu candidates, in these files and no others:\n",
             (long long)s->iteration, STR(s->all.v[s->accepted].proposal.name),
             STR(s->all.v[s->accepted].proposal.name), n);
    for (size_t i = 0; i < n; i++)
        buf_addf(&b, "- harnesses/%.*s/harness.py\n", STR(slots[i]));
    buf_addf(&b,
             "Write their metadata to pending_eval.json with \"iteration\": %lld. Nothing else may "
             "be written.\nPolicy model: %.*s, %zu puzzles, %d rollouts each.%s\nWhat to read: "
             "harnesses/, logs/evolution_summary.jsonl, logs/frontier_val.json, "
             "logs/iteration_*/report.md and failures.json, traces below logs/%.*s/.\n",
             (long long)s->iteration, STR(s->o->setup->model->name), s->o->setup->sets[0].n,
             s->o->setup->repeats,
             s->o->prompt_only ? " Only SYSTEM_PROMPT and USER_PROMPT may differ from h0." : "",
             STR(s->o->setup->profile));
    return buf_str(&b);
}

static str last_rows(const struct search *s)
{
    str text = { s->summary.data, s->summary.len };
    size_t at = text.len, rows = 0;
    while (at > 0 && rows <= ROWS)
        rows += text.data[--at] == '\n';
    return str_sub(text, at > 0 ? at + 1 : 0, text.len);
}

// The first rollouts that failed, as they went.
static void add_traces(const struct evaluation *e, struct buf *b)
{
    int shown = 0;
    const struct eval_set_result *set = &e->result.sets[0];
    for (size_t i = 0; i < set->n_puzzles * (size_t)e->result.repeats && shown < TRACES; i++) {
        const struct rollout_record *r = set->out[i].record;
        if (r->result == ROLLOUT_SOLVED)
            continue;
        buf_addf(b, "\nRollout %zu ended with %.*s.\n", i, STR(rollout_stop_name(r->stop)));
        for (size_t k = 0; k < r->events.n; k++) {
            const struct rollout_event *v = &r->events.v[k];
            str text = v->actor == ACTOR_ASSISTANT  ? v->response
                       : v->actor == ACTOR_VERIFIER ? v->tool
                                                    : v->error;
            buf_addf(b, "%s: %.*s\n",
                     v->actor == ACTOR_ASSISTANT  ? "model"
                     : v->actor == ACTOR_VERIFIER ? "verifier"
                                                  : "harness",
                     STR(str_sub(text, 0, TRACE_CHARS)));
        }
        shown++;
    }
}

str search_context(const struct search *s)
{
    const struct entrant *accepted = &s->all.v[s->accepted];
    struct buf b = { .arena = s->a };
    buf_addf(&b, "The last rows of the summary:\n%.*s\nFailures of %.*s:\n%.*s", STR(last_rows(s)),
             STR(accepted->proposal.name),
             STR(eval_failures(s->o->setup, &accepted->evaluation, s->a)));
    add_traces(&accepted->evaluation, &b);
    buf_addf(&b, "\nThe accepted harness:\n```python\n%.*s\n```\n", STR(accepted->proposal.source));
    return buf_str(&b);
}

str evolve_skill(void)
{
    return (str){ (const char *)evolve_skill_data, evolve_skill_size };
}

// ---- single-call ----

bool single_call_propose(void *ctx, const struct proposal_request *q, struct proposals *out,
                         struct err *err)
{
    struct single_call *c = ctx;
    struct arena *a = c->lab->arena;
    struct buf b = { .arena = a };
    const struct prompt_record *record;
    buf_addf(&b, "%.*s\n%.*s\n", STR(q->task), STR(q->context));
    if (q->repair.len > 0)
        buf_addf(&b, "Your files were rejected. Write these again:\n%.*s\n", STR(q->repair));
    buf_add(&b, S("Answer with one JSON block with the metadata, and one block a file:\n"));
    for (size_t i = 0; i < q->n_slots; i++)
        buf_addf(&b, "```python slot=%.*s\n", STR(q->slots[i]));
    struct lab_question question = { .model = c->model,
                                     .purpose = q->repair.len > 0 ? S("repair") : S("propose"),
                                     .plain = buf_str(&b),
                                     .system = q->skill };
    question.sampling.sample = q->iteration;
    if (!lab_ask(c->lab, &question, 1, &record, err))
        return false;
    out->calls = 1;
    out->log = record ? record->text : (str){ 0 };
    if (record && record->usable)
        proposals_from_reply(record->text, a, out);
    else
        log_line(LOG_WARN, "iteration %lld: the proposer's reply cannot be used",
                 (long long)q->iteration);
    return true;
}

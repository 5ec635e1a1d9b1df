// SPDX-License-Identifier: GPL-3.0-or-later
// loop.c - the search: ask for candidates, let in who may, score them beside each other, accept or
// not, write it all down (5.2). It has no memory but the store: a repeated command replays it.
#include <stdio.h>

#include "evolve/internal.h"

enum { BARREN_MAX = 3 };

// ---- limits ----

static bool over(struct search *s, const char *name, int64_t used, int64_t max, struct err *err)
{
    if (max == 0 || used < max)
        return false;
    search_note(s, "stopped", (str){ 0 }, arena_printf(s->a, "budget:%s", name));
    err_set(err, ERR_BUDGET,
            "budget:%s is spent (%lld of %lld) in iteration %lld; raise it and give the same "
            "command again",
            name, (long long)used, (long long)max, (long long)s->iteration);
    return true;
}

// Before each launch (6.3). Spending is counted with what was replayed, so a replay decides alike.
static bool may_go_on(struct search *s, struct err *err)
{
    const struct evolve_opts *o = s->o;
    const struct usage_total *u = &o->lab->used;
    const char *why = o->stop ? o->stop(o->stop_ctx) : NULL;
    if (why)
        return err_set(err, ERR_INTERRUPTED,
                       "stopped in iteration %lld: %s; give the same command "
                       "again to go on",
                       (long long)s->iteration, why);
    return !over(s, "policy_calls", u->n_calls, o->max_calls, err) &&
           !over(s, "prompt_tokens", u->input_tok, o->max_prompt_tok, err) &&
           !over(s, "completion_tokens", u->output_tok, o->max_completion_tok, err) &&
           !over(s, "proposer_calls", s->n_proposals, o->max_proposals, err);
}

// ---- scoring ----

// What happened in the rollouts decides whether the score counts.
static void audit_live(struct search *s, struct entrant *e)
{
    e->live = live_audit(s->o->setup, &e->evaluation.result, s->a);
    if (e->live.verdict == VERDICT_PASS)
        return;
    e->status = e->live.verdict == VERDICT_REJECT ? ENTRANT_VOIDED : ENTRANT_QUARANTINED;
    e->reason = e->live.reason;
    search_note(s, e->status == ENTRANT_VOIDED ? "voided" : "quarantined", e->proposal.name,
                e->reason);
}

// Evaluates those of this iteration that were let in, at once.
static bool score(struct search *s, struct err *err)
{
    struct evaluation *v = NEW_ARRAY(s->a, struct evaluation, s->all.n + 1);
    struct eval_batch batch = { .v = v, .block = s->o->race_block };
    if (s->iteration > 0 && s->o->race_block > 0)
        batch.incumbent = &s->all.v[s->accepted].evaluation.result;
    for (size_t i = s->first; i < s->all.n; i++) {
        struct entrant *e = &s->all.v[i];
        if (e->judged)
            v[batch.n++] =
                (struct evaluation){ .name = e->proposal.name, .candidate = &e->candidate };
    }
    if (batch.n > 0 && (!may_go_on(s, err) || !evaluate_all(s->o->lab, s->o->setup, &batch, err)))
        return false;
    batch.n = 0;
    for (size_t i = s->first; i < s->all.n; i++) {
        struct entrant *e = &s->all.v[i];
        if (!e->judged)
            continue;
        e->evaluation = v[batch.n++];
        s->n_looks++;
        audit_live(s, e);
        search_note(s, "evaluated", e->proposal.name, (str){ 0 });
        if (!search_save_evaluation(s, e, err))
            return false;
    }
    return true;
}

// ---- asking ----

static str *make_slots(struct search *s)
{
    str *slots = NEW_ARRAY(s->a, str, (size_t)s->o->candidates + 1);
    for (int64_t i = 0; i < s->o->candidates; i++)
        slots[i] = arena_printf(s->a, "h%lld", (long long)(s->last_slot + 1 + i));
    return slots;
}

// pending_eval.json as we understood it, where the proposer wrote none.
static str pending_text(const struct search *s, const struct proposals *p)
{
    struct buf b = { .arena = s->a };
    struct json_out o = { .b = &b, .indent = 2 };
    if (p->pending.len > 0)
        return p->pending;
    json_open(&o, '{');
    json_key_int(&o, S("iteration"), s->iteration);
    json_key_open(&o, S("candidates"), '[');
    for (size_t i = 0; i < p->n; i++) {
        json_open(&o, '{');
        json_key_str(&o, S("name"), p->v[i].name);
        json_key_str(&o, S("axis"), p->v[i].axis);
        json_key_str(&o, S("hypothesis"), p->v[i].hypothesis);
        json_key_str(&o, S("changes"), p->v[i].changes);
        json_key_str(&o, S("parent"), p->v[i].parent);
        json_close(&o, '}');
    }
    json_close(&o, ']');
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

static bool save_proposals(const struct search *s, const struct proposals *p, struct err *err)
{
    str pending = pending_text(s, p);
    str dir = arena_printf(s->a, "%.*s/logs/proposer_runs/run_iter%03lld", STR(s->o->dir),
                           (long long)s->iteration);
    return search_save_text(s, "pending_eval.json", pending, err) &&
           file_save(search_iteration_file(s, "pending_eval.json"), pending, err) &&
           dir_make(dir, err) && file_save(path_join(dir, S("transcript.txt"), s->a), p->log, err);
}

static bool ask_once(struct search *s, struct proposal_request *q, struct buf *repair,
                     struct err *err)
{
    struct proposals p = { 0 };
    if (!may_go_on(s, err) || !s->o->proposer->propose(s->o->proposer->ctx, q, &p, err))
        return false;
    s->n_proposals += p.calls;
    search_note(s, q->repair.len > 0 ? "repaired" : "proposed", (str){ 0 }, (str){ 0 });
    return save_proposals(s, &p, err) && search_admit(s, &p, repair, err);
}

static void count_slots(struct search *s)
{
    for (size_t i = s->first; i < s->all.n; i++) {
        int64_t n;
        str name = s->all.v[i].proposal.name;
        if (str_to_int(str_sub(name, 1, name.len), 0, INT64_MAX, &n) && n > s->last_slot)
            s->last_slot = n;
    }
}

// Metadata of another iteration would be taken for this one's (D18).
static void remove_stale(struct search *s)
{
    enum { PENDING_MAX_BYTES = 1 << 20 };
    str text, path = path_join(s->o->dir, S("pending_eval.json"), s->a);
    if (!file_exists(path))
        return;
    json_t *in = file_read(path, PENDING_MAX_BYTES, s->a, &text, NULL)
                     ? json_read_envelope(text, NULL, NULL)
                     : NULL;
    if (json_get_int(in, "iteration", -1) != s->iteration)
        remove(path.data);
    json_decref(in);
}

static bool ask(struct search *s, struct err *err)
{
    str *slots = make_slots(s);
    const struct entrant *accepted = &s->all.v[s->accepted];
    struct proposal_request q = { .iteration = s->iteration,
                                  .accepted = accepted->proposal.name,
                                  .accepted_source = accepted->proposal.source,
                                  .slots = slots,
                                  .n_slots = (size_t)s->o->candidates,
                                  .skill = evolve_skill(),
                                  .task = search_task(s, slots, (size_t)s->o->candidates),
                                  .context = search_context(s) };
    if (!dir_make(search_iteration_file(s, ""), err) ||
        !file_save(search_iteration_file(s, "proposer_prompt.txt"), q.task, err))
        return false;
    remove_stale(s);
    for (int64_t round = 0; round <= s->o->repair_rounds; round++) {
        struct buf repair = { .arena = s->a };
        if (!ask_once(s, &q, &repair, err))
            return false;
        q.repair = buf_str(&repair);
        if (!s->o->proposer->repairs || repair.len == 0)
            break;
    }
    count_slots(s);
    return true;
}

// ---- iterations ----

static double best_success(const struct search *s)
{
    double best = 0;
    for (size_t i = 0; i < s->all.n; i++)
        if (entrant_counts(&s->all.v[i]) && s->all.v[i].evaluation.result.success > best)
            best = s->all.v[i].evaluation.result.success;
    return best;
}

static void consider_stop(struct search *s, const struct search_decision *d)
{
    bool spent = patience_spent(&s->patience, s->iteration, best_success(s));
    s->barren = s->first == s->all.n ? s->barren + 1 : 0;
    if (d->by_threshold)
        s->stop_reason = S("success");
    else if (spent)
        s->stop_reason = S("patience");
    else if (s->barren >= BARREN_MAX)
        s->stop_reason = S("no_candidates");
    else if (s->iteration >= s->o->iterations)
        s->stop_reason = S("iterations");
}

static bool iterate(struct search *s, struct err *err)
{
    struct search_decision d;
    s->iteration++;
    s->first = s->all.n;
    if (!ask(s, err) || !score(s, err) || !search_decide(s, &d, err))
        return false;
    search_mark_frontier(s);
    consider_stop(s, &d);
    return search_save_iteration(s, &d, err);
}

// The start is scored before anything is called accepted (D17).
static bool begin(struct search *s, struct err *err)
{
    struct search_decision d = { .why = S("the start") };
    if (!dir_make(path_join(s->o->dir, S("logs"), s->a), err) ||
        !search_save_run(s, S("running"), err) || !search_admit_start(s, err) || !score(s, err))
        return false;
    if (!entrant_counts(&s->all.v[0]))
        return err_set(err, ERR_INPUT, "the harness to start from cannot be accepted: %.*s",
                       STR(s->all.v[0].reason));
    search_mark_frontier(s);
    s->patience.best = s->all.v[0].evaluation.result.success;
    return search_save_iteration(s, &d, err);
}

bool evolve_run(const struct evolve_opts *opts, struct evolve_result *out, struct err *err)
{
    struct search s = { .o = opts,
                        .a = opts->lab->arena,
                        .patience = { opts->patience, opts->min_iters, 0, 0 },
                        .journal = { .arena = opts->lab->arena },
                        .summary = { .arena = opts->lab->arena } };
    if (!begin(&s, err))
        return false;
    while (s.stop_reason.len == 0)
        if (!iterate(&s, err))
            return err_add(err, "iteration %lld", (long long)s.iteration);
    const struct entrant *accepted = &s.all.v[s.accepted];
    *out = (struct evolve_result){ .accepted = accepted->proposal.name,
                                   .stop_reason = s.stop_reason,
                                   .iterations = s.iteration,
                                   .success = accepted->evaluation.result.success,
                                   .start_success = s.all.v[0].evaluation.result.success };
    return search_save_run(&s, S("complete"), err);
}

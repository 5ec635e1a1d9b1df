// SPDX-License-Identifier: GPL-3.0-or-later
// record.c - what a search leaves in its run directory (5.1, 5.3). Everything is written anew from
// memory when a run is replayed, to the same bytes: nothing here is ever read back.
#include "evolve/internal.h"

str entrant_status_name(enum entrant_status s)
{
    static const str names[] = {
        T("evaluated"),      T("failed_eval"),        T("rejected_safety"),
        T("rejected_audit"), T("rejected_duplicate"), T("rejected_prompt_only"),
        T("quarantined"),    T("voided_audit"),
    };
    return names[s];
}

static str below(const struct search *s, const char *name)
{
    return path_join(s->o->dir, str_from(name), s->a);
}

bool search_save_text(const struct search *s, const char *name, str text, struct err *err)
{
    return file_save(below(s, name), text, err);
}

void search_note(struct search *s, const char *event, str harness, str detail)
{
    struct json_out o = { .b = &s->journal };
    json_open(&o, '{');
    json_key_str(&o, S("event"), str_from(event));
    json_key_int(&o, S("iteration"), s->iteration);
    json_key_maybe(&o, S("harness"), harness);
    json_key_maybe(&o, S("detail"), detail);
    json_close(&o, '}');
    buf_add_char(&s->journal, '\n');
}

// ---- one harness ----

static void put_findings(const struct entrant *e, struct json_out *o)
{
    json_key_open(o, S("findings"), '[');
    for (size_t i = 0; i < e->exam.findings.n; i++) {
        const struct violation *v = &e->exam.findings.v[i];
        json_open(o, '{');
        json_key_str(o, S("rule"), v->rule);
        json_key_str(o, S("level"), level_name(v->level));
        json_key_int(o, S("line"), v->line);
        json_key_str(o, S("message"), v->message);
        json_close(o, '}');
    }
    json_close(o, ']');
}

bool search_save_harness(const struct search *s, const struct entrant *e, struct err *err)
{
    struct buf b = { .arena = s->a };
    struct json_out o = { .b = &b, .indent = 2 };
    str dir = path_join(below(s, "harnesses"), e->proposal.name, s->a);
    json_open(&o, '{');
    json_key_str(&o, S("slot"), e->proposal.name);
    json_key_str(&o, S("sha256"), e->candidate.sha256);
    json_key_maybe(&o, S("parent"), e->proposal.parent);
    json_key_int(&o, S("iteration"), e->iteration);
    json_key_str(&o, S("status"), entrant_status_name(e->status));
    json_key_maybe(&o, S("reason"), e->reason);
    put_findings(e, &o);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return dir_make(dir, err) &&
           file_save(path_join(dir, S("harness.py"), s->a), e->proposal.source, err) &&
           file_save(path_join(dir, S("meta.json"), s->a), buf_str(&b), err);
}

bool search_save_evaluation(const struct search *s, const struct entrant *e, struct err *err)
{
    str logs = below(s, "logs");
    for (size_t set = 0; set < s->o->setup->n_sets; set++) {
        struct eval_file f = { s->o->setup, &e->evaluation, set, EVAL_COMPLETE };
        f.status = e->status == ENTRANT_VOIDED ? EVAL_VOIDED
                   : e->evaluation.dropped     ? EVAL_INCOMPLETE
                                               : EVAL_COMPLETE;
        if (!eval_save(logs, &f, s->a, err))
            return false;
        str why = arena_printf(s->a, "voided_audit\n%.*s\n", STR(e->reason));
        str dir = path_join(logs, eval_directory(&f, s->a), s->a);
        if (e->status == ENTRANT_VOIDED &&
            !file_save(path_join(dir, S("error.txt"), s->a), why, err))
            return false;
    }
    return true;
}

// ---- rows ----

static void put_rounded(struct json_out *o, str key, double value, double scale)
{
    json_key_double(o, key, (double)(int64_t)(value * scale + 0.5) / scale);
}

static void put_scores(const struct entrant *e, struct json_out *o)
{
    const struct eval_result *r = &e->evaluation.result;
    bool scored = e->judged && e->status != ENTRANT_VOIDED;
    if (!scored) {
        json_key_null(o, S("avg_mean_turn_count"));
        json_key_null(o, S("avg_reward"));
        json_key_null(o, S("avg_success_rate"));
    } else {
        json_key_double(o, S("avg_mean_turn_count"), r->calls);
        json_key_double(o, S("avg_reward"), r->success);
        json_key_double(o, S("avg_success_rate"), r->success);
    }
}

static void put_failures(const struct entrant *e, struct json_out *o)
{
    json_key_open(o, S("failure_counts"), '{');
    for (int f = 0; f < FAILURES && e->judged; f++)
        if (e->evaluation.result.all.failures[f] > 0)
            json_key_int(o, failure_name((enum failure)f), e->evaluation.result.all.failures[f]);
    json_close(o, '}');
}

// Keys sorted, as the reference has them.
static void put_row(const struct entrant *e, struct json_out *o)
{
    const struct eval_counts *c = &e->evaluation.result.all;
    int repeats = e->evaluation.result.repeats > 0 ? e->evaluation.result.repeats : 1;
    struct interval ci = stats_wilson_rate(e->evaluation.result.success, c->n_scored / repeats);
    json_open(o, '{');
    json_key_maybe(o, S("audit"), e->live.reason);
    put_scores(e, o);
    json_key_str(o, S("axis"), e->proposal.axis);
    json_key_str(o, S("changes"), e->proposal.changes);
    json_key_open(o, S("ci95"), '[');
    json_put_double(o, ci.low);
    json_put_double(o, ci.high);
    json_close(o, ']');
    json_key_double(o, S("cost"), (double)c->used.cost_nusd / 1e9);
    json_key_double(o, S("delta_vs_accepted"), e->delta);
    put_failures(e, o);
    json_key_str(o, S("harness"), e->proposal.name);
    json_key_str(o, S("hypothesis"), e->proposal.hypothesis);
    json_key_int(o, S("iteration"), e->iteration);
    json_key_int(o, S("n"), c->n);
    json_key_bool(o, S("on_pareto"), entrant_counts(e) && e->point.on_reference);
    json_key_double(o, S("p_value"), e->p_value);
    json_key_maybe(o, S("parent"), e->proposal.parent);
    json_key_maybe(o, S("reason"), e->reason);
    json_key_str(o, S("sha256"), e->candidate.sha256);
    json_key_str(o, S("status"), entrant_status_name(e->status));
    json_close(o, '}');
}

static void put_barren_row(const struct search *s, struct json_out *o)
{
    json_open(o, '{');
    json_key_null(o, S("harness"));
    json_key_int(o, S("iteration"), s->iteration);
    json_key_str(o, S("status"), S("no_candidates"));
    json_close(o, '}');
}

static void put_rows(const struct search *s, struct json_out *o)
{
    if (s->first == s->all.n)
        put_barren_row(s, o);
    for (size_t i = s->first; i < s->all.n; i++)
        put_row(&s->all.v[i], o);
}

static void add_summary(struct search *s)
{
    for (size_t i = s->first; i < s->all.n || i == s->first; i++) {
        struct json_out o = { .b = &s->summary };
        if (i == s->all.n)
            put_barren_row(s, &o);
        else
            put_row(&s->all.v[i], &o);
        buf_add_char(&s->summary, '\n');
    }
}

// ---- the frontier ----

static void put_point(const struct entrant *e, struct json_out *o)
{
    json_open(o, '{');
    json_key_str(o, S("harness"), e->proposal.name);
    put_rounded(o, S("avg_success_rate"), e->evaluation.result.success, 1e4);
    put_rounded(o, S("avg_mean_turn_count"), e->evaluation.result.calls, 1e3);
    json_close(o, '}');
}

static const struct entrant *best_point(const struct search *s)
{
    const struct entrant *best = NULL;
    for (size_t i = 0; i < s->all.n; i++) {
        const struct entrant *e = &s->all.v[i];
        if (entrant_counts(e) &&
            (!best || e->evaluation.result.success > best->evaluation.result.success ||
             (e->evaluation.result.success == best->evaluation.result.success &&
              e->evaluation.result.calls < best->evaluation.result.calls)))
            best = e;
    }
    return best;
}

static void put_frontier(const struct search *s, struct json_out *o)
{
    const struct entrant *best = best_point(s);
    json_open(o, '{');
    json_key_open(o, S("_pareto"), '[');
    for (size_t i = 0; i < s->all.n; i++)
        if (entrant_counts(&s->all.v[i]) && s->all.v[i].point.on_reference)
            put_point(&s->all.v[i], o);
    json_close(o, ']');
    json_key_open(o, S("_pareto_strict"), '[');
    for (size_t i = 0; i < s->all.n; i++)
        if (entrant_counts(&s->all.v[i]) && s->all.v[i].point.on_strict)
            put_point(&s->all.v[i], o);
    json_close(o, ']');
    json_key(o, S("_best"));
    put_point(best, o);
    json_key_str(o, S("_objectives"), S("success_rate up, mean_turn_count down"));
    json_key_int(o, S("_n"), (int64_t)s->o->setup->sets[0].n);
    json_key_open(o, s->o->setup->profile, '{');
    json_key_str(o, S("best_harness"), best->proposal.name);
    json_key_str(o, S("model_short"), s->o->setup->model_short);
    json_key_double(o, S("success_rate"), best->evaluation.result.success);
    json_key_double(o, S("mean_turn_count"), best->evaluation.result.calls);
    json_close(o, '}');
    json_close(o, '}');
}

// ---- an iteration ----

str search_iteration_file(const struct search *s, const char *name)
{
    return arena_printf(s->a, "%.*s/logs/iteration_%03lld/%s", STR(s->o->dir),
                        (long long)s->iteration, name);
}

static void put_decision(const struct search *s, const struct search_decision *d,
                         struct json_out *o)
{
    json_key_open(o, S("decision"), '{');
    json_key_str(o, S("rule"),
                 d->by_threshold          ? S("threshold")
                 : s->o->reference_accept ? S("reference")
                                          : S("guarded"));
    json_key_maybe(o, S("candidate"),
                   d->best < SIZE_MAX ? s->all.v[d->best].proposal.name : (str){ 0 });
    json_key_bool(o, S("accepted"), d->accepted);
    json_key_str(o, S("why"), d->why);
    json_key_int(o, S("gained"), d->paired.gained);
    json_key_int(o, S("lost"), d->paired.lost);
    json_key_double(o, S("p_value"), d->p_adjusted);
    json_key_double(o, S("alpha"), s->o->alpha);
    json_key_double(o, S("min_gain"), s->o->min_gain);
    json_key_bool(o, S("confirmed"), d->confirmed);
    if (d->confirmed) {
        json_key_double(o, S("confirm_candidate"), d->confirm_best);
        json_key_double(o, S("confirm_incumbent"), d->confirm_incumbent);
    }
    json_key_int(o, S("looks"), s->n_looks);
    json_close(o, '}');
}

static str comparison(const struct search *s, const struct search_decision *d)
{
    struct buf b = { .arena = s->a };
    struct json_out o = { .b = &b, .indent = 2 };
    json_open(&o, '{');
    json_key_int(&o, S("iteration"), s->iteration);
    json_key_str(&o, S("accepted_harness"), s->all.v[s->accepted].proposal.name);
    json_key_str(&o, S("previous_accepted"), s->all.v[s->previous].proposal.name);
    json_key_open(&o, S("candidates"), '[');
    for (size_t i = s->first; i < s->all.n; i++)
        json_put_str(&o, s->all.v[i].proposal.name);
    json_close(&o, ']');
    json_key_open(&o, S("summary"), '[');
    put_rows(s, &o);
    json_close(&o, ']');
    json_key(&o, S("frontier"));
    put_frontier(s, &o);
    json_key_maybe(&o, S("early_stop"), s->stop_reason);
    put_decision(s, d, &o);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

static str failures(const struct search *s)
{
    struct buf b = { .arena = s->a };
    bool more = false;
    buf_add(&b, S("{\"harnesses\": [\n"));
    for (size_t i = 0; i < s->all.n; i++) {
        const struct entrant *e = &s->all.v[i];
        if (!e->judged || e->status == ENTRANT_VOIDED || (i < s->first && i != s->accepted))
            continue;
        buf_addf(&b, "%s%.*s", more ? ",\n" : "",
                 STR(eval_failures(s->o->setup, &e->evaluation, s->a)));
        more = true;
    }
    buf_add(&b, S("]}\n"));
    return buf_str(&b);
}

static bool save_early_stop(const struct search *s, struct err *err)
{
    struct buf b = { .arena = s->a };
    struct json_out o = { .b = &b, .indent = 2 };
    if (!str_eq(s->stop_reason, S("patience")))
        return true;
    json_open(&o, '{');
    json_key_int(&o, S("stopped_after_iteration"), s->iteration);
    json_key_double(&o, S("best_score"), s->patience.best);
    json_key_int(&o, S("best_iteration"), s->patience.best_iteration);
    json_key_int(&o, S("min_iters"), s->patience.min_iters);
    json_key_int(&o, S("patience"), s->patience.patience);
    json_key_str(&o, S("reason"), s->stop_reason);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return search_save_text(s, "logs/early_stop.json", buf_str(&b), err);
}

static str frontier_text(const struct search *s)
{
    struct buf b = { .arena = s->a };
    struct json_out o = { .b = &b, .indent = 2 };
    put_frontier(s, &o);
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

bool search_save_iteration(struct search *s, const struct search_decision *d, struct err *err)
{
    str name = s->all.v[s->accepted].proposal.name;
    if (s->iteration > 0)
        add_summary(s);
    search_note(s, "accepted", name, d->why);
    str dir = search_iteration_file(s, "");
    return dir_make(dir, err) &&
           search_save_text(s, "logs/frontier_val.json", frontier_text(s), err) &&
           search_save_text(s, "logs/evolution_summary.jsonl", buf_str(&s->summary), err) &&
           file_save(search_iteration_file(s, "comparison.json"), comparison(s, d), err) &&
           file_save(search_iteration_file(s, "failures.json"), failures(s), err) &&
           file_save(search_iteration_file(s, "report.md"), search_report(s, d), err) &&
           search_save_text(s, "logs/journal.jsonl", buf_str(&s->journal), err) &&
           save_early_stop(s, err) &&
           search_save_text(s, "logs/accepted_harness.txt", arena_printf(s->a, "%.*s\n", STR(name)),
                            err);
}

bool search_save_run(const struct search *s, str status, struct err *err)
{
    struct buf b = { .arena = s->a };
    struct json_out o = { .b = &b, .indent = 2 };
    json_open(&o, '{');
    json_key_str(&o, S("status"), status);
    json_key_str(&o, S("run"), s->o->run_id);
    json_key_str(&o, S("version"), s->o->version);
    json_key_int(&o, S("rollout_version"), ROLLOUT_VERSION);
    json_key_str(&o, S("python"), sandbox_python(s->o->sandbox));
    json_key_str(&o, S("model"), s->o->setup->model->name);
    json_key_bool(&o, S("simulated"), s->o->setup->model->simulated);
    json_key_str(&o, S("dataset_id"), s->o->setup->dataset_id);
    json_key_str(&o, S("proposer"), s->o->proposer->kind);
    json_key(&o, S("config"));
    json_put_raw(&o, s->o->config);
    json_key_open(&o, S("seeds"), '[');
    for (size_t i = 0; i < s->o->setup->n_sets; i++)
        json_put_int(&o, (int64_t)s->o->setup->sets[i].seed);
    json_close(&o, ']');
    json_key_open(&o, S("harnesses"), '{');
    for (size_t i = 0; i < s->all.n; i++)
        json_key_str(&o, s->all.v[i].proposal.name, s->all.v[i].candidate.sha256);
    json_close(&o, '}');
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return search_save_text(s, "run.json", buf_str(&b), err);
}

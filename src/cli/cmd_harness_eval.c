// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_harness_eval.c - rollouts of one harness over puzzles.
#include "cli/harness_commands.h"
#include "cli/harness_run.h"

static bool read_candidate(struct harness_run *h, struct evaluation *e, struct examination *exam)
{
    struct run *r = h->run;
    str source, path = opt_text(r->args, "harness", S("builtin:h0"));
    e->name = harness_name_of(path, r->arena);
    if (!candidate_read(path, r->arena, &source, r->err) ||
        !harness_judge(h, source, (str){ 0 }, exam))
        return false;
    if (exam->verdict == VERDICT_REJECT)
        return err_set(r->err, ERR_RUN, "%.*s is rejected: %.*s", STR(path),
                       STR(harness_fault_line(exam, r->arena)));
    e->candidate = harness_candidate(h, source, exam);
    return true;
}

// The two decide what a result may be used for.
static enum eval_status status_of(const struct harness_run *h, const struct evaluation *e,
                                  struct live_audit *live)
{
    *live = live_audit(&h->setup, &e->result, h->run->arena);
    return live->verdict == VERDICT_REJECT ? EVAL_VOIDED : EVAL_COMPLETE;
}

static str summary_of(const struct harness_run *h, const struct evaluation *e,
                      enum eval_status status, const struct live_audit *live)
{
    struct buf b = { .arena = h->run->arena };
    struct json_out o = { .b = &b, .indent = 2 };
    const struct eval_counts *c = &e->result.all;
    json_open(&o, '{');
    json_key_str(&o, S("harness"), e->name);
    json_key_str(&o, S("harness_sha256"), e->candidate->sha256);
    json_key_str(&o, S("model"), h->setup.model->name);
    json_key_bool(&o, S("simulated"), h->setup.model->simulated);
    json_key_str(&o, S("status"), eval_status_name(status));
    json_key_maybe(&o, S("reason"), live->reason);
    json_key_double(&o, S("success_rate"), e->result.success);
    json_key_int(&o, S("solved"), c->n_solved);
    json_key_int(&o, S("solved_strict"), c->n_strict);
    json_key_int(&o, S("solved_lichess"), c->n_lichess);
    json_key_int(&o, S("scored"), c->n_scored);
    json_key_int(&o, S("rollouts"), c->n);
    json_key_double(&o, S("mean_turn_count"), e->result.calls);
    json_key_double(&o, S("mean_assistant_tokens"), e->result.tokens);
    json_key_double(&o, S("cost_usd"), (double)c->used.cost_nusd / 1e9);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

static str report(const struct harness_run *h, const struct evaluation *e,
                  const struct live_audit *live)
{
    struct buf b = { .arena = h->run->arena };
    buf_addf(&b, "%.*s%s, %.*s: %zu puzzles x %d\n", STR(h->setup.model->name),
             h->setup.model->simulated ? " (SIMULATED)" : "", STR(h->setup.profile),
             h->setup.sets[0].n, h->setup.repeats);
    harness_report_line(e->name, &e->result, &b);
    for (int f = 0; f < FAILURES; f++)
        if (e->result.all.failures[f] > 0)
            buf_addf(&b, "    %-18.*s %lld\n", STR(failure_name((enum failure)f)),
                     (long long)e->result.all.failures[f]);
    if (live->reason.len > 0)
        buf_addf(&b, "  %s: %.*s\n",
                 live->verdict == VERDICT_REJECT ? "the score is void" : "quarantined",
                 STR(live->reason));
    buf_addf(&b, "  files: %.*s\n", STR(h->run->config.output_dir));
    return buf_str(&b);
}

static bool save(struct harness_run *h, const struct evaluation *e)
{
    struct run *r = h->run;
    struct arena *a = r->arena;
    struct live_audit live;
    enum eval_status status = status_of(h, e, &live);
    str dir = path_join(path_join(r->config.output_dir, S("harnesses"), a), e->name, a);
    str logs =
        path_join(r->config.output_dir, opt_flag(r->args, "final") ? S("results") : S("logs"), a);
    if (!dir_make(dir, r->err) ||
        !file_save(path_join(dir, S("harness.py"), a), e->candidate->source, r->err))
        return false;
    for (size_t set = 0; set < h->setup.n_sets; set++) {
        struct eval_file f = { &h->setup, e, set, status };
        if (!eval_save(logs, &f, a, r->err))
            return false;
    }
    str summary = summary_of(h, e, status, &live);
    r->facts.simulated |= r->lab.used.n_simulated > 0;
    progress_clear();
    return file_save(path_join(logs, S("failures.json"), a), eval_failures(&h->setup, e, a),
                     r->err) &&
           file_save(path_join(r->config.output_dir, S("run.json"), a), summary, r->err) &&
           run_close(r, summary) &&
           print_str(opt_flag(r->args, "json") ? summary : report(h, e, &live), r->err);
}

static bool plan(const struct harness_run *h)
{
    const struct eval_setup *s = &h->setup;
    size_t n = 0;
    for (size_t i = 0; i < s->n_sets; i++)
        n += s->sets[i].n * (size_t)s->repeats;
    return print_str(arena_printf(h->run->arena,
                                  "%zu rollouts, each at most %lld calls and %lld tokens of "
                                  "answers\n",
                                  n, (long long)s->rollout.turns_cap,
                                  (long long)s->rollout.token_budget),
                     h->run->err);
}

static bool evaluate(struct run *r)
{
    struct harness_run *h = NEW(r->arena, struct harness_run);
    struct evaluation e = { 0 };
    struct eval_batch batch = { .v = &e, .n = 1 };
    struct examination exam;
    h->run = r;
    if (!harness_run_setup(h, PUZZLES_FOR_SCORE) || !read_candidate(h, &e, &exam))
        return false;
    r->key_extra =
        arena_printf(r->arena, "%.*s %.*s", STR(harness_run_key(h)), STR(e.candidate->sha256));
    if (!run_load_program(r))
        return false;
    if (opt_flag(r->args, "dry-run"))
        return plan(h);
    r->phase = "rolling out";
    return run_begin(r) && evaluate_all(&r->lab, &h->setup, &batch, r->err) && save(h, &e);
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    return run_command(args, a, evaluate, err);
}

static const struct opt opts[] = {
    { "harness", OPT_TEXT, "FILE", "the harness [builtin:h0]", 0, 0 },
    { "final", OPT_FLAG, NULL, "the puzzles may be a test set; files go to results/", 0, 0 },
    { 0 },
};
const struct command command_harness_eval = {
    .name = "harness eval",
    .summary = "score a harness: rollouts of a model over puzzles",
    .usage = "[CONFIG.yaml] --harness FILE [OPTIONS]",
    .about = "Checks and audits the harness, then plays each puzzle through it, in a locked-down\n"
             "child a rollout. Samples at temperature 1 unless told otherwise.\n"
             "Example: rookery harness eval --harness builtin:h0 --model sim/sloppy --limit 50",
    .opts = { opts, opts_rollout, opts_model, opts_run },
    .max_positionals = 1,
    .run = run,
};

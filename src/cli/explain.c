// SPDX-License-Identifier: GPL-3.0-or-later
// explain.c - why each candidate of an optimizer was taken or left: explain.jsonl in the run
// directory (replaced by each run, so that a repeated command tells the whole story again), and
// with --explain a line for people, with --watch the scores and the spend.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/run.h"

bool explain_open(struct run *r)
{
    str path = path_join(r->config.output_dir, S("explain.jsonl"), r->arena);
    r->explain = fopen(path.data, "we");
    return r->explain != NULL || err_set(r->err, ERR_RUN, "%.*s: %s", STR(path), strerror(errno));
}

void explain_close(struct run *r)
{
    if (r->explain)
        fclose(r->explain);
    r->explain = NULL;
}

static void put_event(const struct opt_event *e, struct arena *a, struct buf *b)
{
    struct json_out o = { .b = b };
    json_open(&o, '{');
    json_key_str(&o, S("what"), str_from(e->what));
    if (e->candidate >= 0)
        json_key_int(&o, S("candidate"), e->candidate);
    if (e->scored) {
        json_key_double(&o, S("score"), e->score);
        json_key_int(&o, S("positions"), (int64_t)e->n_positions);
    }
    json_key_str(&o, S("reason"), e->reason);
    if (e->details.len > 0) {
        json_key(&o, S("details"));
        json_put_raw(&o, e->details);
    }
    if (e->program) {
        json_key_str(&o, S("program"), program_hash(e->program, a));
        json_key_str(&o, S("instruction"), e->program->instruction);
        json_key_int(&o, S("demos"), (int64_t)e->program->n_demos);
    }
    json_close(&o, '}');
    buf_add_char(b, '\n');
}

// "candidate 3 accepted, 62.13 % of 338: beats its parent on the minibatch, 2 against 1"
static void put_line(const struct opt_event *e, struct arena *a, struct buf *b)
{
    if (e->candidate >= 0)
        buf_addf(b, "candidate %lld ", (long long)e->candidate);
    buf_addf(b, "%s", e->what);
    if (e->scored)
        buf_addf(b, ", %.2f %% of %zu", 100 * e->score, e->n_positions);
    buf_addf(b, ": %.*s\n", STR(e->reason));
    if (e->program)
        buf_addf(b, "    \"%.*s\" with %zu demonstrations\n",
                 STR(text_for_terminal(e->program->instruction, a)), e->program->n_demos);
}

// "candidate   3  62.13 % of 338   best 64.20 % of 338   1203 calls  0.0123 US$  rejected". The
// best is that of the widest set, since a few positions of a minibatch tell little.
static void put_watched(struct run *r, const struct opt_event *e, struct buf *b)
{
    const struct pump_stats *stats = pump_stats(r->lab.pump);
    bool wider = e->n_positions > r->watched_n;
    if (wider || (e->n_positions == r->watched_n && e->score > r->watched_best)) {
        r->watched_best = e->score;
        r->watched_n = e->n_positions;
    }
    buf_addf(b, "candidate %3lld  %6.2f %% of %zu   best %6.2f %% of %zu   %lld calls",
             (long long)e->candidate, 100 * e->score, e->n_positions, 100 * r->watched_best,
             r->watched_n, (long long)(r->lab.used.n_calls + r->lab.used_prompt.n_calls));
    if (r->task_model.price.known)
        buf_addf(b, "  %.4f US$%s", (double)stats->spent_nusd / 1e9,
                 r->task_model.simulated ? " (simulated)" : "");
    buf_addf(b, "  %s\n", e->what);
}

void explain_event(void *run, const struct opt_event *event)
{
    struct run *r = run;
    struct arena scratch = { 0 };
    struct buf json = { .arena = &scratch }, line = { .arena = &scratch };
    put_event(event, &scratch, &json);
    str text = buf_str(&json);
    fwrite(text.data, 1, text.len, r->explain); // a full disk fails at the result files, loudly
    if (opt_flag(r->args, "watch") && event->scored)
        put_watched(r, event, &line);
    if (opt_flag(r->args, "explain"))
        put_line(event, &scratch, &line);
    if (line.len > 0) {
        progress_clear();
        fprintf(stderr, "%.*s", STR(buf_str(&line)));
    }
    arena_free(&scratch);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// gepa_tell.c - what happened to each candidate of GEPA, as a sentence for people and as a record
// for programs (GEPA and SIMBA specification, 2.18).
#include "optimize/gepa_lab.h"
#include "optimize/internal.h"

static double points(int64_t sum)
{
    return (double)sum / GEPA_ONE;
}

static void put_scores(struct json_out *o, const char *key, const struct gepa_scores *s)
{
    json_key_open(o, str_from(key), '[');
    for (size_t i = 0; i < s->n; i++)
        json_put_double(o, points(s->v[i]));
    json_close(o, ']');
}

static void put_parents(struct json_out *o, const struct gepa_iteration *it)
{
    json_key_open(o, S("parents"), '[');
    for (size_t i = 0; i < it->n_parents; i++)
        json_put_int(o, (int64_t)it->parents[i]);
    json_close(o, ']');
    json_key_open(o, S("weights"), '[');
    for (size_t i = 0; it->weights && i < it->pool->n; i++) {
        if (it->decision == GEPA_ACCEPTED && i == it->candidate)
            break; // it was not there yet
        if (it->weights[i] <= 0)
            continue;
        json_open(o, '[');
        json_put_int(o, (int64_t)i);
        json_put_int(o, (int64_t)it->weights[i]);
        json_close(o, ']');
    }
    json_close(o, ']');
}

static void put_examples(struct json_out *o, const struct gepa_iteration *it)
{
    json_key_open(o, S("examples"), '[');
    for (size_t i = 0; i < it->run.n; i++)
        json_put_int(o, (int64_t)it->run.ids[i]);
    json_close(o, ']');
}

static double front_ceiling(const struct gepa_pool *p)
{
    int64_t sum = 0;
    for (size_t v = 0; v < p->n_validation; v++)
        sum += p->best[v];
    return p->n_validation > 0 ? points(sum) / (double)p->n_validation : 0;
}

// The record of an iteration (2.18), for programs.
static str details(const struct gepa *g, const struct gepa_iteration *it)
{
    struct buf b = { .arena = g->arena };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_int(&o, S("iteration"), it->number + 1);
    json_key_str(&o, S("kind"),
                 it->number < 0       ? S("start")
                 : it->n_parents == 2 ? S("merge")
                                      : S("mutation"));
    put_parents(&o, it);
    put_examples(&o, it);
    put_scores(&o, "parent_scores", &it->parent);
    put_scores(&o, "child_scores", &it->child);
    json_key_int(&o, S("requests"), it->n_requests);
    json_key_double(&o, S("best_mean"), gepa_mean(it->pool, gepa_best(it->pool)));
    json_key_double(&o, S("ceiling"), front_ceiling(it->pool));
    json_key_int(&o, S("pool"), (int64_t)it->pool->n);
    json_key_int(&o, S("metric_calls"), it->metric_calls);
    json_key_int(&o, S("calls_made"), it->n_made);
    json_close(&o, '}');
    return buf_str(&b);
}

static str reason(const struct gepa *g, const struct gepa_iteration *it)
{
    struct buf b = { .arena = g->arena };
    if (it->number < 0)
        return S("the start");
    buf_addf(&b, "iteration %lld, parent %zu", (long long)it->number + 1, it->parents[0]);
    if (it->n_parents == 2)
        buf_addf(&b, " and %zu", it->parents[1]);
    if (it->child.v)
        buf_addf(&b, ", %g against %g of %zu", points(it->child.sum), points(it->parent.sum),
                 it->run.n);
    if (it->child.v && it->child.n < it->run.n && it->decision == GEPA_REJECTED)
        buf_addf(&b, " (decided after %zu)", it->child.n);
    buf_addf(&b, ": %s", it->reason);
    return buf_str(&b);
}

static const char *decision_name(enum gepa_decision d)
{
    switch (d) {
    case GEPA_START: return "evaluated";
    case GEPA_ACCEPTED: return "accepted";
    case GEPA_REJECTED: return "rejected";
    case GEPA_SKIPPED: return "skipped";
    }
    BUG("no such decision");
}

void gepa_tell(void *ctx, const struct gepa_iteration *it)
{
    struct gepa *g = ctx;
    struct opt_event e = { .what = decision_name(it->decision), .candidate = -1 };
    if (it->decision == GEPA_START || it->decision == GEPA_ACCEPTED) {
        e.candidate = (int64_t)it->candidate;
        e.score = gepa_mean(it->pool, it->candidate);
        e.n_positions = g->task->validation->n;
        e.scored = true;
    } else if (it->child.n > 0) {
        e.score = points(it->child.sum) / (double)it->child.n;
        e.n_positions = it->child.n;
        e.scored = true;
    }
    if (it->texts)
        e.program = gepa_program(g, it->texts[0]);
    e.reason = reason(g, it);
    e.details = details(g, it);
    opt_note(g->task, &e);
    if (e.scored)
        *vec_push(g->arena, &g->out->candidates) = (struct opt_candidate){
            .program = e.program, .score = e.score, .n_positions = e.n_positions
        };
}

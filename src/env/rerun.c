// SPDX-License-Identifier: GPL-3.0-or-later
// rerun.c - one rollout with recorded answers, in the same machine as when it was played.
#include "env/env.h"

struct player {
    struct sandbox *sandbox;
    struct cell *cell; // NULL: to be started
    struct arena *a;
    const struct recorded *answers;
    struct rerun *out;
    struct err *err;
};

static bool start_child(struct player *p, const struct candidate *c)
{
    struct harness_result r;
    if (!cell_new(p->sandbox, &p->cell, p->err))
        return false;
    cell_send(p->cell, frame_load(cell_next_id(p->cell), c->source, c->contract.code, p->a),
              LOAD_CPU_MS);
    return (cell_wait(p->cell, p->a, &r) == CELL_ANSWERED && r.ok) ||
           err_set(p->err, ERR_RUN, "the candidate cannot be loaded again");
}

static bool ask_child(struct player *p, const struct harness_ask *ask, struct answer *in)
{
    *in = (struct answer){ .harness.ending = HARNESS_ANSWERED };
    if (!p->cell && !start_child(p, ask->candidate))
        return false;
    cell_call(p->cell, &ask->call);
    if (cell_wait(p->cell, p->a, &in->harness.result) == CELL_ANSWERED)
        return true;
    if (cell_end(p->cell) == CELL_WALL)
        return err_set(p->err, ERR_RUN, "the machine was too busy for the candidate's child");
    in->harness.ending = HARNESS_DIED;
    in->harness.how = cell_end_text(p->cell, p->a);
    cell_free(p->cell);
    p->cell = NULL;
    return true;
}

// The next recorded answer; what was shown before it is kept.
static bool take_answer(struct player *p, const struct ask *ask, struct answer *in)
{
    struct rerun *out = p->out;
    const struct messages *m = &ask->model.messages;
    struct messages *copy = &out->shown[out->n];
    *copy = (struct messages){ 0 };
    for (size_t i = 0; i < m->n; i++) // the episode uses its list again
        *vec_push(p->a, copy) = m->v[i];
    if (out->n == p->answers->n)
        return err_set(p->err, ERR_INPUT, "another answer is needed after the %zu that are there",
                       out->n);
    *in = (struct answer){ .model = p->answers->replies[out->n++] };
    return true;
}

static bool play(struct player *p, struct episode *ep)
{
    struct ask ask;
    struct answer in;
    bool begun = false;
    while (ep->job->kind->step(ep, begun ? &in : NULL, &ask) == STEP_ASK) {
        begun = true;
        if (ask.to == TO_MODEL ? !take_answer(p, &ask, &in) : !ask_child(p, &ask.harness, &in))
            return p->answers->n == 0 && ask.to == TO_MODEL; // the first question was wanted
    }
    p->out->record = ep->outcome.record;
    p->out->score = ep->outcome.score;
    return p->out->n == p->answers->n ||
           err_set(p->err, ERR_INPUT, "it is over after %zu of %zu answers", p->out->n,
                   p->answers->n);
}

bool rerun(const struct rerun_input *in, struct arena *a, struct rerun *out, struct err *err)
{
    struct model *none = NEW(a, struct model);
    struct job *job = NEW(a, struct job);
    struct player p = {
        .sandbox = in->sandbox, .a = a, .answers = in->answers, .out = out, .err = err
    };
    *out = (struct rerun){ .shown = NEW_ARRAY(a, struct messages, in->answers->n + 1) };
    *job = (struct job){ .kind = &episode_rollout, .input = in->rollout, .model = none };
    bool ok = play(&p, episode_new(job, a));
    cell_free(p.cell);
    return ok;
}

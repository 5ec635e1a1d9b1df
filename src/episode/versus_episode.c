// SPDX-License-Identifier: GPL-3.0-or-later
// versus_episode.c - ten moves against an engine. The model sees each position as a puzzle's: one
// call without any memory, with the program that is being measured. Its first answer counts: it is
// asked again only as puzzle_episode.c does, where a schema was set and the answer is no JSON.
#include <string.h>

#include "episode/episode.h"

enum stage { START, MODEL, MODEL_REASK, ENGINE };
struct versus_episode {
    struct episode base;
    enum stage stage;
    struct game game;
    struct messages messages;
    str inputs[3];
    struct versus_record record;
};

static const struct versus_input *input_of(const struct versus_episode *ep)
{
    return ep->base.job->input;
}

static enum step finish(struct versus_episode *ep, enum versus_stop stop)
{
    struct outcome *out = &ep->base.outcome;
    ep->record.stop = stop;
    out->record = &ep->record;
    out->score = (double)ep->record.n_accepted / input_of(ep)->max_moves;
    out->status = OUTCOME_SCORED;
    if (stop == VERSUS_UNSCORED)
        out->status = OUTCOME_UNSCORED;
    if (stop == VERSUS_TIMEOUT || stop == VERSUS_NO_ANSWER || stop == VERSUS_ENGINE) {
        out->status = OUTCOME_FAILED;
        out->error = ep->record.error;
    }
    return STEP_DONE;
}

// ---- asking ----

static enum step ask_model(struct versus_episode *ep, enum stage stage, struct ask *out)
{
    const struct job *job = ep->base.job;
    enum reply_format format = job->model->format;
    if (stage == MODEL) {
        ep->messages = (struct messages){ 0 };
        puzzle_inputs(&ep->game.now, ep->base.arena, ep->inputs);
        program_render(job->program, ep->inputs, ep->base.arena, &ep->messages);
    }
    ep->stage = stage;
    *out = (struct ask){ .to = TO_MODEL };
    out->model =
        model_request_new(job->model, job->sampling, &ep->messages, job->program->signature);
    out->model.program = job->program;
    out->model.inputs = ep->inputs;
    out->model.format = stage == MODEL_REASK ? FORMAT_JSON_OBJECT : format;
    return STEP_ASK;
}

static enum step ask_engine(struct versus_episode *ep, struct ask *out)
{
    const struct versus_input *in = input_of(ep);
    ep->stage = ENGINE;
    *out = (struct ask){ .to = TO_ENGINE,
                         .engine = { .engine = in->engine,
                                     .start = position_start(),
                                     .moves = ep->record.moves,
                                     .n_moves = ep->record.n,
                                     .limit = in->limit } };
    return STEP_ASK;
}

static void play(struct versus_episode *ep, move m)
{
    ep->record.moves[ep->record.n++] = m;
    game_play(&ep->game, m, ep->base.arena);
}

// A model that chooses needs two moves to choose from: the only one is its answer, and it is not
// asked (endpoint specification, section 5).
static bool play_forced(struct versus_episode *ep)
{
    const struct provider *provider = ep->base.job->model->provider;
    struct move_list legal;
    moves_legal(&ep->game.now, &legal);
    if (!provider || !provider->chooses || legal.n > 1)
        return false;
    ep->record.n_attempts++;
    ep->record.n_accepted++;
    play(ep, legal.v[0]);
    return true;
}

// Whoever is to move, unless the game is over or the model has made its moves. The engine answers
// the last of them, too.
static enum step go_on(struct versus_episode *ep, struct ask *out)
{
    const struct versus_input *in = input_of(ep);
    bool models = ep->game.now.turn == in->opening->model;
    switch (game_end(&ep->game)) {
    case GAME_ONGOING: break;
    case GAME_CHECKMATE: return finish(ep, models ? VERSUS_LOST : VERSUS_WON);
    case GAME_STALEMATE: return finish(ep, VERSUS_STALEMATE);
    case GAME_INSUFFICIENT_MATERIAL:
    case GAME_FIVEFOLD_REPETITION:
    case GAME_SEVENTYFIVE_MOVES:
    case GAME_THREEFOLD_REPETITION:
    case GAME_FIFTY_MOVES: return finish(ep, VERSUS_DRAW);
    }
    if (!models)
        return ask_engine(ep, out);
    if (ep->record.n_accepted == in->max_moves)
        return finish(ep, VERSUS_MOVE_LIMIT);
    if (play_forced(ep))
        return go_on(ep, out);
    return ask_model(ep, MODEL, out);
}

static enum step start(struct versus_episode *ep, struct ask *out)
{
    const struct versus_input *in = input_of(ep);
    size_t most = in->opening->n + 2 * (size_t)in->max_moves + 2;
    ep->game.now = position_start();
    ep->record.moves = NEW_ARRAY(ep->base.arena, move, most);
    for (size_t i = 0; i < in->opening->n; i++)
        play(ep, in->opening->moves[i]);
    ep->record.n_opening = ep->record.n;
    return go_on(ep, out);
}

// ---- answers ----

static enum step take_no_answer(struct versus_episode *ep, const struct reply *r)
{
    ep->record.error =
        arena_printf(ep->base.arena, "%.*s: %.*s", STR(reply_class_name(r->class)), STR(r->error));
    if (r->class == REPLY_REFUSED) {
        ep->record.n_attempts++;
        return finish(ep, VERSUS_REFUSED);
    }
    if (r->class == REPLY_FILTERED || r->class == REPLY_CONTEXT_OVERFLOW)
        return finish(ep, VERSUS_UNSCORED);
    return finish(ep, r->class == REPLY_TIMEOUT ? VERSUS_TIMEOUT : VERSUS_NO_ANSWER);
}

// The text of the move field; false: the answer cannot be read.
static bool read_move(struct versus_episode *ep, str text, str *out)
{
    const struct signature *s = ep->base.job->program->signature;
    str *values = NEW_ARRAY(ep->base.arena, str, s->n_outputs);
    if (answer_read(s, text, ep->base.arena, values) != READ_OK)
        return false;
    for (size_t i = 0; i < s->n_outputs; i++)
        if (str_eq(s->outputs[i].name, S("move"))) {
            *out = values[i];
            return true;
        }
    BUG("a program without the output field `move`");
}

static enum step take_answer(struct versus_episode *ep, const struct reply *r, struct ask *out)
{
    struct resolution resolution;
    str text;
    usage_total_note(&ep->base.outcome.used, r);
    ep->record.answer = arena_str(ep->base.arena, r->text);
    if (r->class != REPLY_OK && r->class != REPLY_TRUNCATED && r->class != REPLY_EMPTY)
        return take_no_answer(ep, r);
    bool cut = r->class == REPLY_TRUNCATED || r->finish == FINISH_LENGTH;
    if (!read_move(ep, r->text, &text)) {
        if (ep->stage == MODEL && ep->base.job->model->format == FORMAT_SCHEMA && !cut)
            return ask_model(ep, MODEL_REASK, out);
        ep->record.n_attempts++;
        return finish(ep, VERSUS_UNPARSABLE);
    }
    ep->record.n_attempts++;
    move_resolve(&ep->game.now, text, ep->base.arena, &resolution);
    if (resolution.error != RESOLVE_OK)
        return finish(ep,
                      resolution.error == RESOLVE_NO_LEGAL ? VERSUS_ILLEGAL : VERSUS_UNPARSABLE);
    ep->record.n_accepted++;
    play(ep, resolution.m);
    return go_on(ep, out);
}

static enum step take_engine(struct versus_episode *ep, const struct engine_reply *r,
                             struct ask *out)
{
    if (r->class != ENGINE_OK) {
        ep->record.error = arena_str(ep->base.arena, r->error);
        return finish(ep, VERSUS_ENGINE);
    }
    play(ep, r->best);
    return go_on(ep, out);
}

static enum step versus_step(struct episode *base, const struct answer *in, struct ask *out)
{
    struct versus_episode *ep = (struct versus_episode *)base;
    switch (ep->stage) {
    case START: return start(ep, out);
    case MODEL:
    case MODEL_REASK: return take_answer(ep, &in->model, out);
    case ENGINE: return take_engine(ep, &in->engine, out);
    }
    BUG("no such stage");
}

static const void *copy_record(const void *record, struct arena *a)
{
    const struct versus_record *from = record;
    struct versus_record *copy = NEW(a, struct versus_record);
    *copy = *from;
    copy->moves = NEW_ARRAY(a, move, from->n + 1);
    memcpy(copy->moves, from->moves, from->n * sizeof *copy->moves);
    copy->answer = arena_str(a, from->answer);
    copy->error = arena_str(a, from->error);
    return copy;
}

const struct episode_kind episode_versus = {
    .name = "rollout",
    .size = sizeof(struct versus_episode),
    .step = versus_step,
    .copy_record = copy_record,
};

str versus_stop_name(enum versus_stop s)
{
    static const str names[VERSUS_STOPS] = {
        [VERSUS_MOVE_LIMIT] = T("move_limit"),
        [VERSUS_WON] = T("won"),
        [VERSUS_LOST] = T("lost"),
        [VERSUS_STALEMATE] = T("stalemate"),
        [VERSUS_DRAW] = T("draw"),
        [VERSUS_ILLEGAL] = T("illegal"),
        [VERSUS_UNPARSABLE] = T("unparsable"),
        [VERSUS_REFUSED] = T("refused"),
        [VERSUS_UNSCORED] = T("unscored"),
        [VERSUS_TIMEOUT] = T("timeout"),
        [VERSUS_NO_ANSWER] = T("no_answer"),
        [VERSUS_ENGINE] = T("engine_fault"),
    };
    return names[s];
}

// SPDX-License-Identifier: GPL-3.0-or-later
// game_episode.c - the automaton of a game. Random and built-in players move inside step; engines
// and models are asked. A model gets a fresh dialog for each ply, and nothing of earlier plies.
#include "episode/game_internal.h"
#include "episode/internal.h"

static const struct game_input *input_of(const struct game_episode *ep)
{
    return ep->base.job->input;
}

enum color game_ep_turn(const struct game_episode *ep)
{
    return (enum color)ep->now.now.turn;
}

const struct game_player *game_ep_player(const struct game_episode *ep)
{
    return &input_of(ep)->players[game_ep_turn(ep)];
}

const struct dialog_rules *game_ep_rules(const struct game_episode *ep)
{
    return input_of(ep)->rules[game_ep_turn(ep)];
}

static int limit(int given, int otherwise)
{
    return given > 0 ? given : otherwise;
}

// ---- the end of a ply and of a game ----

void game_ep_end(struct game_episode *ep, enum game_reason reason, enum game_class class,
                 int winner)
{
    ep->over = true;
    ep->record.reason = reason;
    ep->record.class = class;
    ep->record.winner = winner;
}

// An error of the player to move: neither it nor the other has played this ply.
void game_ep_error(struct game_episode *ep, enum game_class class, str error)
{
    game_ep_end(ep, REASON_ERROR, class, -1);
    ep->record.fault = (int)game_ep_turn(ep);
    ep->record.error = arena_str(ep->base.arena, error);
}

static bool end_by_rules(struct game_episode *ep)
{
    static const enum game_reason reasons[] = {
        [GAME_CHECKMATE] = REASON_CHECKMATE,
        [GAME_STALEMATE] = REASON_STALEMATE,
        [GAME_INSUFFICIENT_MATERIAL] = REASON_INSUFFICIENT_MATERIAL,
        [GAME_FIVEFOLD_REPETITION] = REASON_FIVEFOLD_REPETITION,
        [GAME_SEVENTYFIVE_MOVES] = REASON_SEVENTYFIVE_MOVES,
        [GAME_THREEFOLD_REPETITION] = REASON_THREEFOLD_REPETITION,
        [GAME_FIFTY_MOVES] = REASON_FIFTY_MOVES,
    };
    bool claims = input_of(ep)->rules[WHITE]->options & DIALOG_CLAIMS;
    enum game_end end = claims ? game_claim(&ep->now) : game_end(&ep->now);
    if (end == GAME_ONGOING)
        return false;
    game_ep_end(ep, reasons[end], CLASS_CHESS, end == GAME_CHECKMATE ? !game_ep_turn(ep) : -1);
    return true;
}

// The tests of section 2.2 in their order. After a move the other side is to move, after a failed
// dialog still the same.
void game_ep_end_ply(struct game_episode *ep, enum ply_end end)
{
    struct game_record *r = &ep->record;
    r->plies++;
    for (int c = WHITE; c <= BLACK; c++)
        r->material[c] = game_material(&ep->now.now, (enum color)c);
    if (end == PLY_WRONG)
        game_ep_end(ep, REASON_WRONG_ACTIONS, CLASS_PROTOCOL_LOSS, !game_ep_turn(ep));
    else if (end_by_rules(ep))
        return;
    else if (end == PLY_TURNS)
        game_ep_end(ep, REASON_MAX_TURNS, CLASS_PROTOCOL_LOSS, !game_ep_turn(ep));
    else if (r->plies >= limit(input_of(ep)->rules[WHITE]->max_plies, DIALOG_PLIES))
        game_ep_end(ep, REASON_MAX_MOVES, CLASS_MAX_MOVES, -1);
}

void game_ep_play(struct game_episode *ep, move m)
{
    *vec_push(ep->base.arena, &ep->record.moves) = m;
    game_play(&ep->now, m, ep->base.arena);
}

struct game_side *game_ep_side(struct game_episode *ep)
{
    return &ep->record.side[game_ep_turn(ep)];
}

// ---- players that need nobody ----

static move random_move(struct game_episode *ep)
{
    struct move_list legal;
    moves_legal(&ep->now.now, &legal);
    return legal.v[rng_below(&ep->streams[game_ep_turn(ep)], legal.n)];
}

static void play_random(struct game_episode *ep)
{
    game_ep_side(ep)->lists++;
    game_ep_side(ep)->moves++;
    game_ep_play(ep, random_move(ep));
    game_ep_end_ply(ep, PLY_MOVED);
}

static void play_search(struct game_episode *ep)
{
    const struct game_player *p = game_ep_player(ep);
    game_ep_side(ep)->moves++;
    move m = MOVE_NONE;
    if (p->handicap > 0 && rng_double(&ep->streams[game_ep_turn(ep)]) < p->handicap) {
        m = random_move(ep);
    } else {
        struct search_result found;
        search_moves(&ep->now.now, &p->think, &found);
        m = found.v[0].m;
    }
    game_ep_play(ep, m);
    game_ep_end_ply(ep, PLY_MOVED);
}

// ---- engines ----

static enum step ask_engine(struct game_episode *ep, struct ask *out)
{
    const struct game_player *p = game_ep_player(ep);
    *out = (struct ask){ .to = TO_ENGINE };
    out->engine = (struct engine_query){ .engine = p->engine,
                                         .start = ep->record.start,
                                         .moves = ep->record.moves.v,
                                         .n_moves = ep->record.moves.n,
                                         .lines = 1,
                                         .limit = p->limit };
    if (p->forgets) {
        out->engine.start = ep->now.now;
        out->engine.n_moves = 0;
    }
    return STEP_ASK;
}

// A dead engine, or one without a move, is never a loss: neither its own nor the opponent's (D6).
static void take_engine(struct game_episode *ep, const struct engine_reply *r)
{
    struct game_side *side = game_ep_side(ep);
    side->reply_ms += r->latency_ms;
    if (r->class != ENGINE_OK || r->best == MOVE_NONE) {
        str why = r->class == ENGINE_OK ? S("no move") : r->error;
        game_ep_error(ep, CLASS_INFRA_ERROR,
                      arena_printf(ep->base.arena, "engine %.*s: %.*s",
                                   STR(engine_class_name(r->class)), STR(why)));
        return;
    }
    side->moves++;
    game_ep_play(ep, r->best);
    game_ep_end_ply(ep, PLY_MOVED);
}

// ---- models ----

struct dialog_scene game_ep_scene(const struct game_episode *ep)
{
    return (struct dialog_scene){ .game = &ep->now,
                                  .start = ep->record.start,
                                  .moves = ep->record.moves.v,
                                  .n_moves = ep->record.moves.n };
}

static const struct prompt_set *prompts_of(const struct game_episode *ep)
{
    const struct prompt_set *set = game_ep_rules(ep)->prompts;
    return set ? set : &prompt_sets[0];
}

static void ask_model(struct game_episode *ep, struct ask *out)
{
    const struct model *m = game_ep_player(ep)->model;
    // Games that begin alike are different samples.
    struct sampling sampling = { .sample = (int64_t)input_of(ep)->index };
    ep->base.job->model = m;
    *out = (struct ask){ .to = TO_MODEL };
    out->model = model_request_new(m, &sampling, &ep->messages, NULL);
}

static enum step send(struct game_episode *ep, str text, struct ask *out)
{
    *vec_push(ep->base.arena, &ep->messages) = (struct message){ .role = ROLE_USER, .text = text };
    ep->n_sent++;
    if (game_ep_player(ep)->moa)
        moa_open(ep, out);
    else
        ask_model(ep, out);
    *vec_push(ep->base.arena, &ep->record.turns) =
        (struct game_turn){ .ply = ep->record.plies, .asked = text };
    return STEP_ASK;
}

// No system message: some models ignore it, and some endpoints refuse an empty one.
static enum step open_dialog(struct game_episode *ep, struct ask *out)
{
    struct dialog_scene scene = game_ep_scene(ep);
    ep->messages = (struct messages){ 0 };
    ep->n_sent = ep->failed = 0;
    ep->knows_board = ep->after_reflection = false;
    ep->ply_ms = ep->ply_tok = 0;
    return send(ep, dialog_kickoff(game_ep_rules(ep), &scene, ep->base.arena), out);
}

static struct game_turn *turn_at_work(struct game_episode *ep)
{
    return &ep->record.turns.v[ep->record.turns.n - 1];
}

static void note_cost(struct game_episode *ep, const struct reply *r)
{
    struct game_side *side = game_ep_side(ep);
    usage_total_note(&ep->base.outcome.used, r);
    usage_total_note(&side->used, r);
    side->reply_ms += r->latency_ms + r->waited_ms; // failed attempts cost time too (D18)
    ep->ply_ms += r->latency_ms + r->waited_ms;
    ep->ply_tok += r->usage.output_tok;
}

static void note_reply(struct game_episode *ep, const struct reply *r)
{
    struct arena *a = ep->base.arena;
    struct game_side *side = game_ep_side(ep);
    struct game_turn *turn = turn_at_work(ep);
    note_cost(ep, r);
    if (side->served_model.len == 0)
        side->served_model = arena_str(a, r->served_model);
    turn->said = arena_str(a, r->text);
    turn->reasoning = arena_str(a, r->reasoning);
    turn->latency_ms = r->latency_ms;
    turn->input_tok = r->usage.input_tok;
    turn->output_tok = r->usage.output_tok;
    turn->finish = arena_str(a, r->native_finish);
    turn->action = ACTION_NONE;
}

// Whether the reply has a text to read; else the game ends by an error, whose class tells whether
// the model made it (specification 2.3).
static bool has_text(struct game_episode *ep, const struct reply *r)
{
    enum game_class class = CLASS_INFRA_ERROR;
    switch (r->class) {
    case REPLY_OK:
    case REPLY_TRUNCATED:
    case REPLY_EMPTY: return true;
    case REPLY_REFUSED:
    case REPLY_FILTERED:
    case REPLY_CONTEXT_OVERFLOW: class = CLASS_MODEL_ERROR; break;
    case REPLY_CONFIG:
    case REPLY_ACCOUNT:
    case REPLY_RATE_LIMIT:
    case REPLY_OVERLOAD:
    case REPLY_UPSTREAM:
    case REPLY_PROTOCOL:
    case REPLY_TRANSPORT:
    case REPLY_TIMEOUT:
    case REPLY_CANCELLED: break;
    }
    str name = reply_class_name(r->class);
    turn_at_work(ep)->outcome = name;
    game_ep_error(ep, class, arena_printf(ep->base.arena, "%.*s: %.*s", STR(name), STR(r->error)));
    return false;
}

// Time and tokens that a player may take (D20).
static bool is_within_limits(struct game_episode *ep)
{
    const struct game_input *in = input_of(ep);
    const char *what = NULL;
    if (in->ply_ms > 0 && ep->ply_ms > in->ply_ms)
        what = "the time of a ply is over";
    else if (in->game_ms > 0 && game_ep_side(ep)->reply_ms > in->game_ms)
        what = "the time of the game is over";
    else if (in->ply_tok > 0 && ep->ply_tok > in->ply_tok)
        what = "too many tokens in a ply";
    if (!what)
        return true;
    turn_at_work(ep)->outcome = S("over_limit");
    game_ep_error(ep, CLASS_MODEL_ERROR, str_from(what));
    return false;
}

struct action {  // what an action comes to
    str text;    // the next message of ours
    bool failed; // a mistake
    bool moved;
};

static struct action try_move(struct game_episode *ep, str text)
{
    struct game_side *side = game_ep_side(ep);
    struct game_turn *turn = turn_at_work(ep);
    struct dialog_try tried = dialog_move(game_ep_rules(ep), &ep->now.now, text, ep->base.arena);
    side->moves++;
    turn->move = text;
    if (tried.m != MOVE_NONE) {
        turn->outcome = S("moved");
        game_ep_play(ep, tried.m);
        return (struct action){ .moved = true };
    }
    side->wrong_moves++;
    turn->outcome = S("wrong_move");
    str answer =
        arena_printf(ep->base.arena, "%.*s%.*s", STR(prompts_of(ep)->failed), STR(tried.reason));
    return (struct action){ .text = answer, .failed = true };
}

static struct action act(struct game_episode *ep, const struct dialog_reading *reading)
{
    struct arena *a = ep->base.arena;
    struct game_side *side = game_ep_side(ep);
    struct game_turn *turn = turn_at_work(ep);
    struct dialog_scene scene = game_ep_scene(ep);
    ep->after_reflection = reading->action == ACTION_REFLECT;
    switch (reading->action) {
    case ACTION_BOARD:
        side->boards++;
        ep->knows_board = true;
        turn->outcome = S("board");
        return (struct action){ .text = dialog_board_text(game_ep_rules(ep), &scene, a) };
    case ACTION_LIST:
        side->lists++;
        ep->knows_board = true;
        turn->outcome = S("list");
        return (struct action){ .text = dialog_list_text(&ep->now.now, a) };
    case ACTION_REFLECT:
        side->reflections++;
        side->reflections_before_board += !ep->knows_board;
        turn->outcome = S("reflection");
        return (struct action){ .text = prompts_of(ep)->reflection };
    case ACTION_FOLLOW_UP:
        turn->outcome = S("follow_up");
        return (struct action){ .text = prompts_of(ep)->follow_up };
    case ACTION_MOVE: return try_move(ep, reading->move);
    case ACTION_NONE: break;
    }
    side->wrong_actions++;
    turn->outcome = arena_printf(a, "wrong_action: %.*s", STR(reading->why));
    return (struct action){ .text = dialog_invalid_text(game_ep_rules(ep), a), .failed = true };
}

// Keeps the reply in the dialog as the model will see it again: without its reasoning, and never
// blank, which endpoints refuse (D19).
static void keep_reply(struct game_episode *ep, str kept)
{
    if (str_strip(kept).len == 0)
        kept = S("(empty reply)");
    *vec_push(ep->base.arena, &ep->messages) =
        (struct message){ .role = ROLE_ASSISTANT, .text = arena_str(ep->base.arena, kept) };
}

// True: the dialog goes on with another ask.
static bool take_reply(struct game_episode *ep, const struct reply *r, struct ask *out)
{
    const struct dialog_rules *rules = game_ep_rules(ep);
    struct dialog_reading reading;
    note_reply(ep, r);
    if (!has_text(ep, r) || !is_within_limits(ep))
        return false;
    bool last = ep->n_sent >= limit(rules->max_turns, DIALOG_TURNS);
    if (last && !(rules->options & DIALOG_FULL_TURNS)) { // the original never reads it (D2)
        turn_at_work(ep)->outcome = S("not_read");
        game_ep_end_ply(ep, PLY_TURNS);
        return false;
    }
    struct dialog_said said = { .text = turn_at_work(ep)->said,
                                .after_reflection = ep->after_reflection };
    dialog_read(rules, &said, ep->base.arena, &reading);
    turn_at_work(ep)->action = reading.action;
    game_ep_side(ep)->lenient += reading.lenient;
    struct action done = act(ep, &reading);
    if (done.moved) {
        game_ep_end_ply(ep, PLY_MOVED);
        return false;
    }
    ep->failed += done.failed;
    if (ep->failed >= limit(rules->max_failed, DIALOG_FAILED) || last) {
        game_ep_end_ply(ep, last && ep->failed < limit(rules->max_failed, DIALOG_FAILED)
                                ? PLY_TURNS
                                : PLY_WRONG);
        return false;
    }
    keep_reply(ep, reading.kept);
    (void)send(ep, done.text, out);
    return true;
}

// ---- mixtures of agents ----

// The answer of a worker. Its own failures are told to the synthesiser; one of the endpoint or of
// the whole system ends the game, as it does of any player. True: another ask.
static bool take_worker(struct game_episode *ep, const struct reply *r, struct ask *out)
{
    note_cost(ep, r);
    if (moa_take(ep, r, out))
        return true;
    return has_text(ep, r); // it has not: this ends the game
}

// ---- the episode ----

static void begin(struct game_episode *ep)
{
    static const char *const sides[] = { [WHITE] = "white", [BLACK] = "black" };
    const struct game_input *in = input_of(ep);
    ep->record.start = in->start;
    ep->record.winner = ep->record.fault = -1;
    ep->now.now = in->start;
    for (int c = WHITE; c <= BLACK; c++)
        rng_seed(
            &ep->streams[c], in->seed,
            arena_printf(ep->base.arena, "play/%llu/%s", (unsigned long long)in->index, sides[c]));
    (void)end_by_rules(ep);
}

static enum step finish(struct game_episode *ep)
{
    static const double points[] = { [WHITE] = 1, [BLACK] = 0 };
    struct outcome *out = &ep->base.outcome;
    const struct game_record *r = &ep->record;
    bool failed = r->class == CLASS_INFRA_ERROR || r->class == CLASS_HARNESS_ERROR;
    out->status = failed ? OUTCOME_FAILED : OUTCOME_SCORED;
    out->score = failed ? 0 : r->winner >= 0 ? points[r->winner] : 0.5;
    out->error = r->error;
    out->record = r;
    return STEP_DONE;
}

static void count_legal(struct game_episode *ep)
{
    struct move_list legal;
    moves_legal(&ep->now.now, &legal);
    ep->record.n_legal += legal.n;
}

static enum step game_step(struct episode *base, const struct answer *in, struct ask *out)
{
    struct game_episode *ep = (struct game_episode *)base;
    if (!in)
        begin(ep);
    else if (game_ep_player(ep)->kind == PLAYER_ENGINE)
        take_engine(ep, &in->engine);
    else if (game_ep_player(ep)->kind == PLAYER_PERSON) {
        if (person_take(ep, &in->person, out))
            return STEP_ASK;
    } else if (ep->worker_asked) {
        if (take_worker(ep, &in->model, out))
            return STEP_ASK;
    } else if (take_reply(ep, &in->model, out))
        return STEP_ASK;
    while (!ep->over) {
        count_legal(ep);
        switch (game_ep_player(ep)->kind) {
        case PLAYER_RANDOM: play_random(ep); break;
        case PLAYER_SEARCH: play_search(ep); break;
        case PLAYER_ENGINE: return ask_engine(ep, out);
        case PLAYER_MODEL: return open_dialog(ep, out);
        case PLAYER_PERSON: return person_ask(ep, (str){ 0 }, out);
        }
    }
    return finish(ep);
}

static const void *copy_record(const void *record, struct arena *a)
{
    struct game_record *copy = NEW(a, struct game_record);
    *copy = *(const struct game_record *)record;
    move *moves = NEW_ARRAY(a, move, copy->moves.n + 1);
    for (size_t i = 0; i < copy->moves.n; i++)
        moves[i] = copy->moves.v[i];
    copy->moves.v = moves;
    copy->error = arena_str(a, copy->error);
    for (int c = WHITE; c <= BLACK; c++)
        copy->side[c].served_model = arena_str(a, copy->side[c].served_model);
    struct game_turn *turns = NEW_ARRAY(a, struct game_turn, copy->turns.n + 1);
    for (size_t i = 0; i < copy->turns.n; i++) {
        struct game_turn *t = &turns[i];
        *t = copy->turns.v[i];
        str *texts[] = { &t->asked, &t->said, &t->reasoning, &t->move, &t->outcome, &t->finish };
        for (size_t k = 0; k < ARRAY_LEN(texts); k++)
            *texts[k] = arena_str(a, *texts[k]);
    }
    copy->turns.v = turns;
    return copy;
}

const struct episode_kind episode_game = {
    .name = "game",
    .size = sizeof(struct game_episode),
    .step = game_step,
    .copy_record = copy_record,
};

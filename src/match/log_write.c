// SPDX-License-Identifier: GPL-3.0-or-later
// log_write.c - from the record of a game to its log, and to JSON, JSON Lines and PGN.
#include "match/log.h"
#include "pgn/pgn.h"

enum { USUAL_INDENT = 4 };

static str model_of(const struct game_player *p)
{
    if (p->moa)
        return S("moa");
    return p->kind == PLAYER_MODEL ? p->model->name : S("N/A");
}

static void make_side(struct log_side *out, const struct game_side *s, const struct game_player *p)
{
    const struct usage_total *u = &s->used;
    *out = (struct log_side){
        .name = p->name,
        .model = model_of(p),
        .label = p->label,
        .wrong_moves = s->wrong_moves,
        .wrong_actions = s->wrong_actions,
        .reflections = s->reflections,
        .reflections_before_board = s->reflections_before_board,
        .boards = s->boards,
        .lists = s->lists,
        .moves = s->moves,
        .lenient = s->lenient,
        .seconds = (double)s->reply_ms / 1000,
        .has_usage = p->kind == PLAYER_MODEL,
        .prompt_tok = u->input_tok,
        .completion_tok = u->output_tok,
        .reasoning_tok = u->reasoning_tok,
        .cached_tok = u->cached_tok,
        .cost_usd = (double)u->cost_nusd / 1e9,
        .cost_known = u->n_costless == 0,
    };
}

void game_log_make(const struct game_record *r, const struct log_source *from, struct arena *a,
                   struct game_log *out)
{
    const struct game_input *in = from->input;
    *out = (struct game_log){
        .time_started = from->time_started,
        .reason_text = game_reason_name(r->reason),
        .reason = r->reason,
        .class = r->class,
        .winner = r->winner,
        .fault = r->fault,
        .plies = r->plies,
        .error = arena_str(a, r->error),
        .index = (int64_t)in->index,
        .seed = in->seed,
        .run = from->run,
        .profile = from->profile,
        .prompts = from->prompts,
    };
    for (int c = WHITE; c <= BLACK; c++) {
        make_side(&out->side[c], &r->side[c], &in->players[c]);
        out->side[c].material = r->material[c];
    }
    out->pgn = game_pgn(r, out, in, a);
}

// ---- JSON ----

static void put_side(struct json_out *o, str key, const struct log_side *s)
{
    json_key_open(o, key, '{');
    json_key_str(o, S("name"), s->name);
    json_key_int(o, S("wrong_moves"), s->wrong_moves);
    json_key_int(o, S("wrong_actions"), s->wrong_actions);
    json_key_int(o, S("reflections_used"), s->reflections);
    json_key_int(o, S("reflections_used_before_board"), s->reflections_before_board);
    json_key_int(o, S("get_board_count"), s->boards);
    json_key_int(o, S("get_legal_moves_count"), s->lists);
    json_key_int(o, S("make_move_count"), s->moves);
    json_key_double(o, S("accumulated_reply_time_seconds"), s->seconds);
    json_key_str(o, S("model"), s->model);
    json_close(o, '}');
}

static void put_usage(struct json_out *o, str key, const struct log_side *s)
{
    json_key_open(o, key, '{');
    json_key_double(o, S("total_cost"), s->cost_usd);
    if (s->has_usage) {
        json_key_open(o, s->model, '{');
        json_key_double(o, S("cost"), s->cost_usd);
        json_key_int(o, S("prompt_tokens"), s->prompt_tok);
        json_key_int(o, S("completion_tokens"), s->completion_tok);
        json_key_int(o, S("total_tokens"), s->prompt_tok + s->completion_tok);
        json_key_int(o, S("reasoning_tokens"), s->reasoning_tok);
        json_key_int(o, S("cached_tokens"), s->cached_tok);
        json_key_bool(o, S("cost_known"), s->cost_known);
        json_close(o, '}');
    }
    json_close(o, '}');
}

static str color_name(int c)
{
    static const str names[] = { T("none"), T("white"), T("black") };
    return names[c + 1];
}

static void put_ours(struct json_out *o, const struct game_log *log, struct arena *a)
{
    json_key_str(o, S("winner_color"), color_name(log->winner));
    json_key_str(o, S("outcome_class"), game_class_name(log->class));
    json_key_open(o, S("rookery"), '{');
    json_key_str(o, S("run"), log->run);
    json_key_int(o, S("game"), log->index);
    json_key_int(o, S("seed"), (int64_t)log->seed);
    json_key_str(o, S("profile"), log->profile);
    json_key_str(o, S("prompt_set"), log->prompts);
    json_key_str(o, S("chess_result"), game_log_chess(log));
    json_key_str(o, S("protocol_result"), game_log_protocol(log, a));
    json_key_str(o, S("infrastructure_result"), game_log_infra(log, a));
    json_key_str(o, S("winner_color_strict"), color_name(game_log_winner(log, POLICY_STRICT)));
    json_key_str(o, S("fault_color"), color_name(log->fault));
    json_key_maybe(o, S("error"), log->error);
    for (int c = WHITE; c <= BLACK; c++) {
        json_key_open(o, c == WHITE ? S("white") : S("black"), '{');
        json_key_str(o, S("label"), log->side[c].label);
        json_key_int(o, S("lenient_parses"), log->side[c].lenient);
        json_close(o, '}');
    }
    json_close(o, '}');
}

str game_log_json(const struct game_log *log, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b, .indent = USUAL_INDENT };
    json_open(&o, '{');
    json_key_str(&o, S("time_started"), log->time_started);
    json_key_str(&o, S("winner"), log->winner < 0 ? S("NONE") : log->side[log->winner].name);
    json_key_str(&o, S("reason"), log->reason_text);
    json_key_int(&o, S("number_of_moves"), log->plies);
    put_side(&o, S("player_white"), &log->side[WHITE]);
    put_side(&o, S("player_black"), &log->side[BLACK]);
    json_key_open(&o, S("material_count"), '{');
    json_key_int(&o, S("white"), log->side[WHITE].material);
    json_key_int(&o, S("black"), log->side[BLACK].material);
    json_close(&o, '}');
    json_key_open(&o, S("usage_stats"), '{');
    put_usage(&o, S("white"), &log->side[WHITE]);
    put_usage(&o, S("black"), &log->side[BLACK]);
    json_close(&o, '}');
    json_key_str(&o, S("pgn"), log->pgn);
    put_ours(&o, log, a);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

str game_turns_jsonl(const struct game_record *r, struct arena *a)
{
    struct buf b = { .arena = a };
    struct position pos = r->start;
    size_t played = 0;
    for (size_t i = 0; i < r->turns.n; i++) {
        const struct game_turn *t = &r->turns.v[i];
        for (; played < (size_t)t->ply; played++)
            pos = position_after(&pos, r->moves.v[played]);
        struct json_out o = { .b = &b };
        struct buf fen = { .arena = a };
        position_format(&pos, &fen);
        json_open(&o, '{');
        json_key_int(&o, S("ply"), t->ply);
        json_key_str(&o, S("side"), color_name((int)pos.turn));
        json_key_str(&o, S("fen"), buf_str(&fen));
        json_key_str(&o, S("message"), t->asked);
        json_key_str(&o, S("reply"), t->said);
        json_key_maybe(&o, S("reasoning"), t->reasoning);
        json_key_maybe(&o, S("action"), dialog_action_name(t->action));
        json_key_maybe(&o, S("move"), t->move);
        json_key_str(&o, S("outcome"), t->outcome);
        json_key_int(&o, S("latency_ms"), t->latency_ms);
        json_key_int(&o, S("prompt_tokens"), t->input_tok);
        json_key_int(&o, S("completion_tokens"), t->output_tok);
        json_key_str(&o, S("finish_reason"), t->finish);
        json_close(&o, '}');
        buf_add_char(&b, '\n');
    }
    return buf_str(&b);
}

// ---- PGN ----

static void put_tag(struct pgn_game *g, str name, str value, struct arena *a)
{
    *vec_push(a, &g->tags) = (struct pgn_tag){ .name = name, .value = value };
}

// Errors have no result; a protocol loss is one, and the tag Termination says so.
static str pgn_result_of(const struct game_log *log)
{
    if (log->class >= CLASS_MODEL_ERROR)
        return S("*");
    if (log->winner < 0)
        return S("1/2-1/2");
    return log->winner == WHITE ? S("1-0") : S("0-1");
}

static str termination_of(const struct game_log *log)
{
    switch (log->class) {
    case CLASS_CHESS: return S("normal");
    case CLASS_MAX_MOVES: return S("adjudication");
    case CLASS_PROTOCOL_LOSS: return S("rules infraction");
    case CLASS_MODEL_ERROR:
    case CLASS_INFRA_ERROR:
    case CLASS_HARNESS_ERROR: return S("emergency");
    }
    BUG("no such class");
}

// "2026.04.19" of "2026.04.19_11:55": the day the game began.
static str date_of(str time_started)
{
    return time_started.len >= 10 ? str_sub(time_started, 0, 10) : S("????.??.??");
}

// What one ply cost its model, as a comment behind the move.
static void put_ply_notes(struct pgn_game *g, const struct game_record *r, struct arena *a)
{
    size_t i = 0;
    while (i < r->turns.n) {
        int ply = r->turns.v[i].ply, mistakes = 0;
        int64_t ms = 0, tok = 0;
        for (; i < r->turns.n && r->turns.v[i].ply == ply; i++) {
            const struct game_turn *t = &r->turns.v[i];
            mistakes += str_starts(t->outcome, S("wrong"));
            ms += t->latency_ms;
            tok += t->output_tok;
        }
        long long s = (long long)(ms / 1000);
        str text = arena_printf(a, "[%%emt %lld:%02lld:%02lld.%03d] %lld tokens%s", s / 3600,
                                s / 60 % 60, s % 60, (int)(ms % 1000), (long long)tok,
                                mistakes ? arena_printf(a, ", %d mistakes", mistakes).data : "");
        size_t after = (size_t)ply + 1 < r->moves.n ? (size_t)ply + 1 : r->moves.n;
        *vec_push(a, &g->notes) =
            (struct pgn_note){ .kind = PGN_COMMENT, .ply = after, .text = text };
    }
}

str game_pgn(const struct game_record *r, const struct game_log *log, const struct game_input *in,
             struct arena *a)
{
    struct pgn_game g = { .start = r->start, .result = pgn_result_of(log) };
    struct position usual = position_start();
    put_tag(&g, S("Event"), S("Chess Game"), a);
    put_tag(&g, S("Date"), date_of(log->time_started), a);
    put_tag(&g, S("Round"), arena_printf(a, "%llu", (unsigned long long)in->index + 1), a);
    for (int c = WHITE; c <= BLACK; c++)
        put_tag(&g, c == WHITE ? S("White") : S("Black"),
                log->side[c].label.len > 0 ? log->side[c].label : log->side[c].name, a);
    put_tag(&g, S("Result"), g.result, a);
    if (r->start.key != usual.key || r->start.fullmove != 1) {
        struct buf fen = { .arena = a };
        position_format(&r->start, &fen);
        put_tag(&g, S("SetUp"), S("1"), a);
        put_tag(&g, S("FEN"), buf_str(&fen), a);
    }
    put_tag(&g, S("Termination"), termination_of(log), a);
    put_tag(&g, S("Reason"), log->reason_text, a);
    if (log->run.len > 0)
        put_tag(&g, S("RunId"), log->run, a);
    put_tag(&g, S("GameIndex"), arena_printf(a, "%lld", (long long)log->index), a);
    put_tag(&g, S("Seed"), arena_printf(a, "%llu", (unsigned long long)log->seed), a);
    g.moves.v = r->moves.v;
    g.moves.n = r->moves.n;
    put_ply_notes(&g, r, a);
    struct buf b = { .arena = a };
    pgn_write(&g, &b);
    return buf_str(&b);
}

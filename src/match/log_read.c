// SPDX-License-Identifier: GPL-3.0-or-later
// log_read.c - reads game logs of any age (LLM Chess specification 4.1, 2.1, 8.2). What an old log
// cannot tell is unknown, not zero; what it tells wrongly is marked by its date.
#include "match/log.h"

// Days on which the original mended what the doubts name.
static const str day_strict_parser = T("2024.10.08"), day_reason = T("2024.10.16"),
                 day_promotion = T("2024.11.01"), day_per_ply = T("2024.11.05"),
                 day_mistakes = T("2025.03.16");

static enum game_reason reason_of(str text)
{
    for (int r = REASON_CHECKMATE; r < GAME_REASONS; r++)
        if (str_eq_nocase(text, game_reason_name((enum game_reason)r)))
            return (enum game_reason)r;
    // older wordings
    if (str_find(text, S("chose wrong actions to many times")) >= 0)
        return REASON_WRONG_ACTIONS;
    if (str_starts(text, S("Unknown issue")))
        return REASON_UNKNOWN_ISSUE;
    return REASON_NONE;
}

// An error of a foreign log may be anybody's: it never counts, until a person has looked (D5).
static enum game_class class_of(enum game_reason r)
{
    switch (r) {
    case REASON_CHECKMATE:
    case REASON_STALEMATE:
    case REASON_INSUFFICIENT_MATERIAL:
    case REASON_SEVENTYFIVE_MOVES:
    case REASON_FIVEFOLD_REPETITION:
    case REASON_FIFTY_MOVES:
    case REASON_THREEFOLD_REPETITION:
    case REASON_RESIGNATION: return CLASS_CHESS;
    case REASON_MAX_MOVES: return CLASS_MAX_MOVES;
    case REASON_WRONG_ACTIONS:
    case REASON_MAX_TURNS: return CLASS_PROTOCOL_LOSS;
    case REASON_UNKNOWN_ISSUE:
    case REASON_NONE: return CLASS_HARNESS_ERROR;
    case REASON_ERROR: return CLASS_INFRA_ERROR;
    }
    BUG("no such reason");
}

static str text_in(const json_t *object, const char *key, struct arena *a)
{
    return arena_str(a, json_get_str(object, key));
}

static double number_in(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return json_is_number(v) ? json_number_value(v) : 0;
}

static void read_side(const json_t *root, const char *key, struct arena *a, struct log_side *out)
{
    const json_t *side = json_object_get(root, key);
    *out = (struct log_side){
        .name = text_in(side, "name", a),
        .model = text_in(side, "model", a),
        .wrong_moves = json_get_int(side, "wrong_moves", LOG_UNKNOWN),
        .wrong_actions = json_get_int(side, "wrong_actions", LOG_UNKNOWN),
        .reflections = json_get_int(side, "reflections_used", LOG_UNKNOWN),
        .reflections_before_board =
            json_get_int(side, "reflections_used_before_board", LOG_UNKNOWN),
        .boards = json_get_int(side, "get_board_count", LOG_UNKNOWN),
        .lists = json_get_int(side, "get_legal_moves_count", LOG_UNKNOWN),
        .moves = json_get_int(side, "make_move_count", LOG_UNKNOWN),
        .seconds = number_in(side, "accumulated_reply_time_seconds"),
    };
    if (out->model.len == 0)
        out->model = S("N/A");
    bool is_random = str_starts(out->name, S("Random_Player"));
    out->label = is_random ? S("random") : str_eq(out->model, S("N/A")) ? out->name : out->model;
}

// Sums over all model keys: a router answers with several (D23).
static void read_usage(const json_t *usage, struct log_side *out)
{
    const char *key;
    json_t *value;
    out->cost_usd = number_in(usage, "total_cost");
    json_object_foreach (json_iterable(usage), key, value) {
        if (!json_is_object(value))
            continue;
        out->has_usage = true;
        out->prompt_tok += json_get_int(value, "prompt_tokens", 0);
        out->completion_tok += json_get_int(value, "completion_tokens", 0);
        out->reasoning_tok += json_get_int(value, "reasoning_tokens", 0);
        out->cached_tok += json_get_int(value, "cached_tokens", 0);
        out->cost_known |= json_is_true(json_object_get(value, "cost_known"));
    }
}

static int color_of(str name)
{
    return str_eq(name, S("white")) ? WHITE : str_eq(name, S("black")) ? BLACK : -1;
}

// The winner of a log that names it: by colour, else by a name that only one player has, else by
// the result of the PGN (D1).
static void read_winner(const json_t *root, struct game_log *out)
{
    str winner = json_get_str(root, "winner"), color = json_get_str(root, "winner_color");
    bool white = str_eq(winner, out->side[WHITE].name);
    bool black = str_eq(winner, out->side[BLACK].name);
    out->winner = -1;
    if (color.len > 0)
        out->winner = color_of(color);
    else if (str_eq(winner, S("NONE")))
        return;
    else if (white != black)
        out->winner = white ? WHITE : BLACK;
    else if (str_find(out->pgn, S("[Result \"1-0\"]")) >= 0)
        out->winner = WHITE;
    else if (str_find(out->pgn, S("[Result \"0-1\"]")) >= 0)
        out->winner = BLACK;
    else
        out->doubts |= DOUBT_WINNER;
}

static void read_ours(const json_t *root, struct arena *a, struct game_log *out)
{
    const json_t *ours = json_object_get(root, "rookery");
    enum game_class class;
    if (game_class_parse(json_get_str(root, "outcome_class"), &class))
        out->class = class;
    out->index = json_get_int(ours, "game", 0);
    out->seed = (uint64_t)json_get_int(ours, "seed", 0);
    out->run = text_in(ours, "run", a);
    out->profile = text_in(ours, "profile", a);
    out->prompts = text_in(ours, "prompt_set", a);
    out->error = text_in(ours, "error", a);
    out->fault = color_of(json_get_str(ours, "fault_color"));
    for (int c = WHITE; c <= BLACK; c++) {
        const json_t *side = json_object_get(ours, c == WHITE ? "white" : "black");
        out->side[c].label = text_in(side, "label", a);
        out->side[c].lenient = json_get_int(side, "lenient_parses", LOG_UNKNOWN);
    }
}

static bool is_before(str time, str day)
{
    return time.len >= day.len && str_cmp(str_sub(time, 0, day.len), day) < 0;
}

static void judge_by_date(struct game_log *out)
{
    str t = out->time_started;
    if (is_before(t, day_mistakes)) {
        out->doubts |= DOUBT_MISTAKES;
        for (int c = WHITE; c <= BLACK; c++)
            out->side[c].wrong_actions = out->side[c].wrong_moves = LOG_UNKNOWN;
    }
    if (is_before(t, day_promotion) && !is_before(t, day_strict_parser))
        out->doubts |= DOUBT_PROMOTION;
    if (is_before(t, day_per_ply))
        out->doubts |= DOUBT_PER_GAME;
    if (is_before(t, day_reason) && out->reason == REASON_UNKNOWN_ISSUE)
        out->doubts |= DOUBT_REASON;
}

static bool check_shape(const json_t *root, struct err *err)
{
    static const char *const members[] = { "winner", "reason", "player_white", "player_black",
                                           "number_of_moves" };
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (!json_object_get(root, members[i]))
            return err_set(err, ERR_INPUT, "no game log: it has no \"%s\"", members[i]);
    int64_t plies = json_get_int(root, "number_of_moves", -1);
    return (plies >= 0 && plies < INT32_MAX) ||
           err_set(err, ERR_INPUT, "no game log: \"number_of_moves\" is no count");
}

static void read_log(const json_t *root, struct arena *a, struct game_log *out)
{
    const json_t *material = json_object_get(root, "material_count");
    const json_t *usage = json_object_get(root, "usage_stats");
    out->time_started = text_in(root, "time_started", a);
    out->reason_text = text_in(root, "reason", a);
    out->reason = reason_of(out->reason_text);
    out->class = class_of(out->reason);
    out->fault = -1;
    out->plies = json_get_int(root, "number_of_moves", 0);
    out->pgn = text_in(root, "pgn", a);
    read_side(root, "player_white", a, &out->side[WHITE]);
    read_side(root, "player_black", a, &out->side[BLACK]);
    out->side[WHITE].material = json_get_int(material, "white", 0);
    out->side[BLACK].material = json_get_int(material, "black", 0);
    read_usage(json_object_get(usage, "white"), &out->side[WHITE]);
    read_usage(json_object_get(usage, "black"), &out->side[BLACK]);
    read_winner(root, out);
    if (json_object_get(root, "rookery"))
        read_ours(root, a, out);
    else
        judge_by_date(out);
}

bool game_log_read(str file, str text, struct arena *a, struct game_log *out, struct err *err)
{
    *out = (struct game_log){ .file = arena_str(a, file) };
    json_t *root = json_read_envelope(text, NULL, err);
    bool ok = root && check_shape(root, err);
    if (ok)
        read_log(root, a, out);
    json_decref(root);
    return ok || err_add(err, "%.*s", STR(file));
}

str log_doubts_text(unsigned doubts, struct arena *a)
{
    static const char *const texts[] = {
        "mistakes are under-reported before 2025-03-16",
        "the parser of October 2024 could not promote",
        "failed attempts were counted per game before 2024-11-05",
        "\"unknown issue\" may be a loss by max turns before 2024-10-16",
        "both players have one name and nothing else tells the winner",
    };
    struct buf b = { .arena = a };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (doubts >> i & 1)
            buf_addf(&b, "%s%s", b.len ? "; " : "", texts[i]);
    return buf_str(&b);
}

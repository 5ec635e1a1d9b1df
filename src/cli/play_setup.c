// SPDX-License-Identifier: GPL-3.0-or-later
// play_setup.c - players and rules of `rookery play` from the command line.
#include "cli/engines.h"
#include "cli/play.h"
#include "cli/run.h"
#include "version.h"

enum { PROMPTS_MAX_BYTES = 1 << 20, SEARCH_NODES = 200000, SEARCH_DEPTH = 2, UCI_NODES = 10000 };

const struct opt opts_dialog[] = {
    { "profile", OPT_TEXT, "NAME", "how replies are read: compat, robust or v0 [compat]", 0, 0 },
    { "think", OPT_TEXT, "HOW", "reasoning removed from replies: none, pair, leading, robust", 0,
      0 },
    { "board", OPT_TEXT, "MODE", "unicode, fen, ascii or unicode+pgn [unicode]", 0, 0 },
    { "view", OPT_TEXT, "SIDE", "whose side of the board is below: white, black, mover [white]", 0,
      0 },
    { "mode", OPT_TEXT, "NAME", "an experiment of the paper, see below [baseline]", 0, 0 },
    { "rules", OPT_TEXT, "LIST", "of the words below, separated by commas", 0, 0 },
    { "prompt-set", OPT_TEXT, "NAME|FILE", "texts of the dialog [seed-2025-04]", 0, 0 },
    { "max-turns", OPT_INT, "N", "messages in one dialog [10]", 1, 1000 },
    { "max-mistakes", OPT_INT, "N", "wrong actions and moves in one dialog [3]", 1, 1000 },
    { "max-plies", OPT_INT, "N", "where a game is broken off [200]", 1, 1000 },
    { "ply-time", OPT_REAL, "S", "most seconds of a model's calls in one ply [no limit]", 0.001,
      1e6 },
    { "game-time", OPT_REAL, "S", "the same in one game [no limit]", 0.001, 1e7 },
    { "ply-tokens", OPT_INT, "N", "most tokens a model may write in one ply [no limit]", 1, 1e9 },
    { "fen", OPT_TEXT, "FEN", "where games begin [the start position]", 0, 0 },
    { 0 },
};

const struct opt opts_players[] = {
    { "white", OPT_TEXT, "PLAYER",
      "random, human, builtin[:...], uci:..., moa:..., a model [random]", 0, 0 },
    { "black", OPT_TEXT, "PLAYER", "the same for Black [random]", 0, 0 },
    { "swap", OPT_FLAG, NULL, "the players exchange colours after each game", 0, 0 },
    { "white-base-url", OPT_TEXT, "URL", "endpoint of White alone", 0, 0 },
    { "black-base-url", OPT_TEXT, "URL", "endpoint of Black alone", 0, 0 },
    { "white-extra", OPT_TEXT, "JSON", "instead, of White", 0, 0 },
    { "black-extra", OPT_TEXT, "JSON", "instead, of Black", 0, 0 },
    { 0 },
};

const struct opt opts_models[] = {
    { "base-url", OPT_TEXT, "URL", "endpoint of the models (any OpenAI-compatible)", 0, 0 },
    { "temperature", OPT_REAL, "T", "of the models [0.3]", 0, 100 },
    { "no-temperature", OPT_FLAG, NULL, "send none: some models refuse it", 0, 0 },
    { "max-tokens", OPT_INT, "N", "most tokens of a reply [not limited]", 1, 10000000 },
    { "extra", OPT_TEXT, "JSON", "members added to each request of either model", 0, 0 },
    { "retries", OPT_INT, "N", "attempts after the first [3]", 0, 100 },
    { "timeout", OPT_REAL, "S", "seconds an attempt may take [600]", 0.001, 86400 },
    { "allow-http", OPT_FLAG, NULL, "send a key over plain http to another host", 0, 0 },
    { "concurrency", OPT_INT, "N", "games at once [16]", 1, 1024 },
    { "max-cost", OPT_REAL, "USD", "most this run may ever spend [no cap]", 1e-6, 1e6 },
    { "prices", OPT_TEXT, "FILE", "dollars per million tokens, before the built-in ones", 0, 0 },
    { "max-cost-per-day", OPT_REAL, "USD",
      "most that runs in the store may spend in a day, UTC [no cap]", 1e-6, 1e6 },
    { 0 },
};

// ---- players ----

const char *play_side_name(int c)
{
    return c == WHITE ? "white" : "black";
}

static const char *Side_of(int c)
{
    return c == WHITE ? "White" : "Black";
}

static bool builtin_setting(struct game_player *p, str name, str value)
{
    int64_t n;
    if (str_eq(name, S("depth")) && str_to_int(value, 1, 30, &n))
        p->think.depth = (int)n;
    else if (str_eq(name, S("nodes")) && str_to_int(value, 1, INT32_MAX, &n))
        p->think.nodes = (uint64_t)n;
    else
        return str_eq(name, S("handicap")) && str_to_double(value, &p->handicap) &&
               p->handicap >= 0 && p->handicap <= 1;
    return true;
}

static bool open_builtin(struct play *p, int c, str settings)
{
    struct game_player *g = &p->players[c];
    g->kind = PLAYER_SEARCH;
    g->think = (struct search_limits){ .depth = SEARCH_DEPTH, .nodes = SEARCH_NODES };
    while (settings.len > 0) {
        str value = str_cut(&settings, ','), name = str_cut(&value, '=');
        if (!builtin_setting(g, name, value))
            return err_set(p->err, ERR_USAGE,
                           "--%s builtin: \"%.*s=%.*s\" is none of depth=1..30, nodes=N, "
                           "handicap=0..1",
                           play_side_name(c), STR(name), STR(value));
    }
    struct buf handicap = { .arena = p->arena };
    buf_add_double(&handicap, g->handicap);
    g->label = arena_printf(p->arena, "builtin-depth%d-nodes%llu%s%.*s", g->think.depth,
                            (unsigned long long)g->think.nodes, g->handicap > 0 ? "-handicap" : "",
                            g->handicap > 0 ? (int)buf_str(&handicap).len : 0, handicap.data);
    return true;
}

// One word behind the path: a limit, "forgets", "elo=N", or a setting of the engine.
static bool uci_setting(struct play *p, int c, str word)
{
    struct game_player *g = &p->players[c];
    struct engine_settings *settings = &p->engines[c].settings;
    struct err ignored = { 0 };
    str value = word, name = str_cut(&value, '=');
    int64_t elo;
    if (str_eq(word, S("forgets")))
        g->forgets = true;
    else if (str_eq(name, S("elo")) && str_to_int(value, 1, 10000, &elo))
        engine_settings_elo(settings, elo, p->arena);
    else if (str_eq(name, S("depth")) || str_eq(name, S("nodes")) || str_eq(name, S("movetime")))
        return engine_limit_parse(word, &g->limit, p->err);
    else if (!engine_settings_parse(word, p->arena, settings, &ignored))
        return err_set(p->err, ERR_USAGE, "%s", ignored.text);
    return true;
}

// "uci:PATH,movetime=100,Skill Level=1": the whole game is sent unless it "forgets" (3.3).
static bool open_uci(struct play *p, int c, str spec)
{
    struct game_player *g = &p->players[c];
    struct engine *e = &p->engines[c];
    str path = arena_str(p->arena, str_cut(&spec, ','));
    struct buf label = { .arena = p->arena };
    *g = (struct game_player){ .kind = PLAYER_ENGINE,
                               .engine = e,
                               .limit = { .by = ENGINE_BY_NODES, .n = UCI_NODES } };
    if (!cli_find_program(path, p->arena, &e->path, p->err))
        return err_add(p->err, "--%s uci", play_side_name(c));
    engine_settings_put(&e->settings, S("Threads"), S("1"), p->arena);
    str words = spec;
    while (words.len > 0)
        if (!uci_setting(p, c, str_cut(&words, ',')))
            return err_add(p->err, "--%s uci", play_side_name(c));
    if (!pump_meet_engine(e, p->arena, p->err))
        return err_add(p->err, "--%s", play_side_name(c));
    buf_addf(&label, "%.*s %.*s", STR(e->name), STR(engine_limit_format(g->limit, p->arena)));
    for (size_t i = 1; i < e->settings.n; i++)
        buf_addf(&label, " %.*s=%.*s", STR(e->settings.v[i].name), STR(e->settings.v[i].value));
    g->label = buf_str(&label);
    p->asks = true;
    return true;
}

bool play_open_player(struct play *p, int c, str name)
{
    struct game_player *g = &p->players[c];
    if (str_eq(name, S("random"))) {
        *g = (struct game_player){ .kind = PLAYER_RANDOM, .label = S("random") };
        return true;
    }
    if (str_eq(name, S("builtin")) || str_starts(name, S("builtin:")))
        return open_builtin(p, c, str_sub(name, S("builtin:").len, name.len));
    if (str_eq(name, S("human"))) {
        *g = (struct game_player){ .kind = PLAYER_PERSON, .label = S("human") };
        p->asks = p->has_person = true;
        return true;
    }
    if (str_starts(name, S("moa:")))
        return play_open_moa(p, c, str_sub(name, S("moa:").len, name.len));
    if (str_starts(name, S("uci:")))
        return open_uci(p, c, str_sub(name, S("uci:").len, name.len));
    if (str_find_char(name, '/') > 0)
        return play_open_model(p, c, name);
    return err_set(p->err, ERR_USAGE,
                   "--%s must be random, human, builtin[:depth=N,nodes=N,handicap=X], "
                   "uci:PATH[,LIMIT][,NAME=VALUE], a model as provider/model[,NAME=VALUE] or "
                   "moa:MODEL[;MODEL...], got \"%.*s\"",
                   play_side_name(c), STR(name));
}

// How logs name a player of this colour. Two random players are two, and have two names (D1).
str play_player_name(const struct play *p, const struct game_player *g, int c)
{
    bool both = p->players[WHITE].kind == PLAYER_RANDOM && p->players[BLACK].kind == PLAYER_RANDOM;
    str first;
    switch (g->kind) {
    case PLAYER_RANDOM:
        return both ? arena_printf(p->arena, "Random_Player_%s", Side_of(c)) : S("Random_Player");
    case PLAYER_SEARCH: return arena_printf(p->arena, "Chess_Engine_Rookery_%s", Side_of(c));
    case PLAYER_ENGINE:
        first = g->engine->name;
        first = str_cut(&first, ' ');
        return arena_printf(p->arena, "Chess_Engine_%.*s_%s", STR(first), Side_of(c));
    case PLAYER_MODEL:
        return g->moa ? S("NoN_Synthesizer") : arena_printf(p->arena, "Player_%s", Side_of(c));
    case PLAYER_PERSON: return arena_printf(p->arena, "Human_%s", Side_of(c));
    }
    BUG("no such player");
}

// The players as they sit down, and with colours exchanged.
static void name_players(struct play *p)
{
    for (int c = WHITE; c <= BLACK; c++) {
        p->exchanged[!c] = p->players[c];
        p->exchanged[!c].name = play_player_name(p, &p->players[c], !c);
        p->players[c].name = play_player_name(p, &p->players[c], c);
    }
}

// ---- rules ----

static const struct {
    const char *name;
    enum dialog_option option;
} rule_words[] = {
    { "reflection", DIALOG_REFLECTION }, { "swallow", DIALOG_SWALLOW },
    { "full-turns", DIALOG_FULL_TURNS }, { "no-fen", DIALOG_NO_FEN },
    { "show-board", DIALOG_SHOW_BOARD }, { "show-list", DIALOG_SHOW_LIST },
    { "no-list", DIALOG_NO_LIST },       { "previous-moves", DIALOG_SHOW_PREVIOUS },
    { "auto-queen", DIALOG_AUTO_QUEEN }, { "claims", DIALOG_CLAIMS },
};

static bool read_words(struct play *p)
{
    str list = opt_text(p->args, "rules", S(""));
    unsigned options = p->rules.options; // those of the mode
    while (list.len > 0) {
        str word = str_trim(str_cut(&list, ','));
        struct nearest near = { .word = word };
        size_t i = 0;
        while (i < ARRAY_LEN(rule_words) && !str_eq(word, str_from(rule_words[i].name)))
            nearest_offer(&near, str_from(rule_words[i++].name));
        if (i == ARRAY_LEN(rule_words))
            return err_set(p->err, ERR_USAGE, "--rules: there is no \"%.*s\"%s%.*s; see --help",
                           STR(word), near.name.len ? ", did you mean " : "", STR(near.name));
        options |= (unsigned)rule_words[i].option;
    }
    p->rules.options = options;
    return true;
}

static bool read_prompts(struct play *p)
{
    str name = opt_text(p->args, "prompt-set", prompt_sets[0].name), text;
    p->rules.prompts = prompt_set_find(name);
    if (p->rules.prompts)
        return true;
    if (!file_exists(name))
        return err_set(p->err, ERR_USAGE,
                       "--prompt-set: neither a set of this program (%.*s, %.*s) nor a file: "
                       "\"%.*s\"",
                       STR(prompt_sets[0].name), STR(prompt_sets[1].name), STR(name));
    if (!file_read(name, PROMPTS_MAX_BYTES, p->arena, &text, p->err) ||
        !prompt_set_read(text, p->arena, &p->prompts, p->err))
        return false;
    p->rules.prompts = &p->prompts;
    return true;
}

bool play_dialog_setting(struct dialog_rules *r, str name, str value)
{
    static const str views[] = { T("white"), T("black"), T("mover") };
    size_t v = 0;
    if (str_eq(name, S("think")))
        return dialog_think_parse(value, &r->think);
    if (str_eq(name, S("board")))
        return dialog_board_parse(value, &r->board);
    bool ok = str_eq(name, S("view")) && str_among(value, views, ARRAY_LEN(views), &v);
    r->view = ok ? (enum dialog_view)v : r->view;
    return ok;
}

// The experiments of the paper (1.11), as rules and a board.
static const struct mode {
    const char *name;
    unsigned options;
    enum dialog_board board;
} modes[] = {
    { "baseline", 0, BOARD_UNICODE },
    { "always-board", DIALOG_SHOW_BOARD, BOARD_UNICODE },
    { "always-legal-moves", DIALOG_SHOW_LIST, BOARD_UNICODE },
    { "only-make-move", DIALOG_SHOW_BOARD | DIALOG_SHOW_LIST, BOARD_UNICODE },
    { "ascii-board", 0, BOARD_ASCII },
    { "fen-board", 0, BOARD_FEN },
    { "no-legal-moves", DIALOG_NO_LIST, BOARD_FEN },
    { "previous-moves", DIALOG_SHOW_PREVIOUS, BOARD_UNICODE },
    { "previous-only-make-move", DIALOG_SHOW_PREVIOUS | DIALOG_SHOW_BOARD | DIALOG_SHOW_LIST,
      BOARD_UNICODE },
};

static bool read_mode(struct play *p)
{
    str name = opt_text(p->args, "mode", S("baseline"));
    struct nearest near = { .word = name };
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        nearest_offer(&near, str_from(modes[i].name));
        if (!str_eq(name, str_from(modes[i].name)))
            continue;
        p->rules.options = modes[i].options;
        p->rules.board = modes[i].board;
        return true;
    }
    return err_set(p->err, ERR_USAGE, "--mode: there is no \"%.*s\"%s%.*s; see --help", STR(name),
                   near.name.len ? ", did you mean " : "", STR(near.name));
}

static bool read_rules(struct play *p)
{
    struct dialog_rules *r = &p->rules;
    str profile = opt_text(p->args, "profile", S("compat"));
    if (!read_mode(p))
        return false;
    if (!dialog_profile_parse(profile, &r->profile))
        return err_set(p->err, ERR_USAGE, "--profile must be compat, robust or v0");
    if (!play_dialog_setting(r, S("think"), opt_text(p->args, "think", S("profile"))))
        return err_set(p->err, ERR_USAGE, "--think must be none, pair, leading or robust");
    if (opt_get(p->args, "board")->set &&
        !play_dialog_setting(r, S("board"), opt_text(p->args, "board", S(""))))
        return err_set(p->err, ERR_USAGE, "--board must be unicode, fen, ascii or unicode+pgn");
    if (!play_dialog_setting(r, S("view"), opt_text(p->args, "view", S("white"))))
        return err_set(p->err, ERR_USAGE, "--view must be white, black or mover");
    r->max_turns = (int)opt_int(p->args, "max-turns", DIALOG_TURNS);
    r->max_failed = (int)opt_int(p->args, "max-mistakes", DIALOG_FAILED);
    r->max_plies = (int)opt_int(p->args, "max-plies", DIALOG_PLIES);
    return read_words(p) && read_prompts(p);
}

bool play_read_rules(struct play *p)
{
    const struct args *args = p->args;
    struct position start = position_start();
    if (opt_get(args, "fen")->set &&
        position_parse(opt_text(args, "fen", S("")), &start, p->err) != FAULT_NONE)
        return err_add(p->err, "--fen");
    if (!read_rules(p))
        return false;
    p->game = (struct game_input){
        .rules = { &p->rules, &p->rules },
        .start = start,
        .seed = (uint64_t)opt_int(args, "seed", 1),
        .ply_ms = (int64_t)(opt_real(args, "ply-time", 0) * 1000),
        .game_ms = (int64_t)(opt_real(args, "game-time", 0) * 1000),
        .ply_tok = opt_int(args, "ply-tokens", 0),
    };
    return true;
}

bool play_configure(struct play *p)
{
    if (!play_read_rules(p))
        return false;
    for (int c = WHITE; c <= BLACK; c++) {
        p->own_rules[c] = p->rules;
        if (!play_open_player(p, c, opt_text(p->args, play_side_name(c), S("random"))))
            return false;
    }
    name_players(p);
    p->swaps = opt_flag(p->args, "swap");
    p->n_games = opt_int(p->args, "games", 1);
    for (int c = WHITE; c <= BLACK; c++) {
        p->game.players[c] = p->players[c];
        p->game.rules[c] = &p->own_rules[c];
    }
    return true;
}

// ---- what a run is ----

void play_put_player(const struct play *p, struct json_out *o, int c)
{
    const struct game_player *g = &p->players[c];
    json_open(o, '{');
    json_key_str(o, S("name"), g->name);
    json_key_str(o, S("label"), g->label);
    if (g->kind == PLAYER_ENGINE) {
        json_key_str(o, S("engine"), g->engine->identity);
        json_key_str(o, S("limit"), engine_limit_format(g->limit, p->arena));
        json_key_bool(o, S("forgets"), g->forgets);
    }
    if (g->kind == PLAYER_MODEL)
        play_put_model(p, o, c);
    json_close(o, '}');
}

static void put_side(const struct play *p, struct json_out *o, int c)
{
    json_key(o, str_from(play_side_name(c)));
    play_put_player(p, o, c);
}

static str type_of(const struct game_player *g, int c)
{
    static const str model_types[] = { T("LLM_WHITE"), T("LLM_BLACK") };
    switch (g->kind) {
    case PLAYER_RANDOM: return S("RANDOM_PLAYER");
    case PLAYER_SEARCH: return S("CHESS_ENGINE_ROOKERY");
    case PLAYER_ENGINE: return S("CHESS_ENGINE_UCI");
    case PLAYER_MODEL: return g->moa ? S("LLM_NON") : model_types[c];
    case PLAYER_PERSON: return S("HUMAN");
    }
    BUG("no such player");
}

// The keys of section 1.10 and ours. Nothing of it depends on time, money or place.
void play_put_config(const struct play *p, struct json_out *o)
{
    const struct dialog_rules *r = &p->rules;
    static const str boards[] = { T("UNICODE_ONLY"), T("FEN_ONLY"), T("ASCII_ONLY"),
                                  T("UNICODE_WITH_PGN") };
    struct buf fen = { .arena = p->arena };
    position_format(&p->game.start, &fen);
    json_key_open(o, S("config"), '{');
    json_key_bool(o, S("enable_reflection"), r->options & DIALOG_REFLECTION);
    json_key_str(o, S("board_representation_mode"), boards[r->board]);
    json_key_int(o, S("max_game_moves"), r->max_plies);
    json_key_int(o, S("max_llm_turns"), r->max_turns);
    json_key_int(o, S("max_failed_attempts"), r->max_failed);
    json_key_str(o, S("profile"), dialog_profile_name(r->profile));
    json_key_str(o, S("remove_text"), dialog_think_name(r->think));
    json_key_int(o, S("view"), r->view);
    json_key_open(o, S("rules"), '[');
    for (size_t i = 0; i < ARRAY_LEN(rule_words); i++)
        if (r->options & (unsigned)rule_words[i].option)
            json_put_str(o, str_from(rule_words[i].name));
    json_close(o, ']');
    json_key_str(o, S("prompt_set"), r->prompts->name);
    json_key_str(o, S("prompt_set_sha256"), prompt_set_hash(r->prompts, p->arena));
    json_key_str(o, S("start_fen"), buf_str(&fen));
    if (p->swaps)
        json_key_bool(o, S("colours_alternate"), true);
    json_key_int(o, S("seed"), (int64_t)p->game.seed);
    json_key_int(o, S("ply_ms"), p->game.ply_ms);
    json_key_int(o, S("game_ms"), p->game.game_ms);
    json_key_int(o, S("ply_tokens"), p->game.ply_tok);
    json_close(o, '}');
}

static str config_json(const struct play *p, str started)
{
    struct buf b = { .arena = p->arena };
    struct json_out o = { .b = &b, .indent = 4 };
    json_open(&o, '{');
    json_key_open(&o, S("metadata"), '{');
    if (started.len > 0) {
        json_key_str(&o, S("time_started_formatted"), started);
        json_key_str(&o, S("log_folder_relative"), p->dir);
        json_key_str(&o, S("rookery_version"), S(ROOKERY_VERSION));
        json_key_str(&o, S("rookery_commit"), S(ROOKERY_COMMIT));
        json_key_str(&o, S("run"), p->key);
    }
    json_key_int(&o, S("num_repetitions"), p->n_games);
    json_key_bool(&o, S("store_individual_logs"), true);
    json_close(&o, '}');
    json_key_open(&o, S("player_types"), '{');
    json_key_str(&o, S("white_player_type"), type_of(&p->players[WHITE], WHITE));
    json_key_str(&o, S("black_player_type"), type_of(&p->players[BLACK], BLACK));
    json_close(&o, '}');
    play_put_config(p, &o);
    json_key_open(&o, S("llm_configs"), '{');
    put_side(p, &o, WHITE);
    put_side(p, &o, BLACK);
    json_close(&o, '}');
    json_close(&o, '}');
    return buf_str(&b);
}

str play_run_json(const struct play *p)
{
    return config_json(p, p->stamp);
}

str play_key(const struct play *p)
{
    str text = config_json(p, (str){ 0 });
    return sha256_of(arena_printf(p->arena, "play %.*s %.*s",
                                  STR(opt_text(p->args, "run-name", S(""))), STR(text)),
                     p->arena);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Whole dialogs and games with mocked players: G1 to G20 of the LLM Chess specification (9.3), and
// the defects of the original that must not come back (8.2), by their numbers.
#include "test.h"

#include "episode/episode.h"

static struct arena arena;
static const struct dialog_rules plain = { 0 };

typedef struct reply speaker(const struct messages *m);

static str asked_last(const struct messages *m)
{
    return m->v[m->n - 1].text;
}

static struct reply text(str t)
{
    return (
        struct reply){ .text = t,
                       .latency_ms = 5,
                       .usage = { .source = KNOWN_REPORTED, .input_tok = 10, .output_tok = 10 } };
}

// How many replies this dialog has had.
static size_t replies_before(const struct messages *m)
{
    return m->n / 2;
}

static struct reply first_of_list(const struct messages *m)
{
    str list = asked_last(m);
    return text(arena_printf(&arena, "make_move %.*s", STR(str_cut(&list, ','))));
}

static struct reply always_wrong(const struct messages *m)
{
    (void)m;
    return text(S("Hello, nice game!"));
}

static struct reply always_board(const struct messages *m)
{
    (void)m;
    return text(S("get_current_board"));
}

static struct reply good_mock(const struct messages *m)
{
    switch (replies_before(m)) {
    case 0: return text(S("get_current_board"));
    case 1: return text(S("get_legal_moves"));
    default: return first_of_list(m);
    }
}

static struct reply clumsy(const struct messages *m) // G3
{
    switch (replies_before(m)) {
    case 0:
    case 1: return text(S("what?"));
    case 2: return text(S("get_legal_moves"));
    default: return first_of_list(m);
    }
}

static const char *const *script; // one entry a reply, the last one again and again
static size_t script_n, script_at;

static struct reply scripted(const struct messages *m)
{
    (void)m;
    size_t i = script_at < script_n ? script_at : script_n - 1;
    script_at++;
    return text(str_from(script[i]));
}

static struct messages last_messages; // of the last ask

static struct game_player random_player(str name)
{
    return (struct game_player){ .kind = PLAYER_RANDOM, .name = name };
}

static const struct model a_model, another_model;

static struct game_player model_player(const struct model *m)
{
    return (struct game_player){ .kind = PLAYER_MODEL, .name = S("Player"), .model = m };
}

static struct game_input game_of(struct game_player white, struct game_player black,
                                 const struct dialog_rules *r)
{
    return (struct game_input){
        .players = { white, black }, .rules = { r, r }, .start = position_start(), .seed = 7
    };
}

struct table { // a game at work
    struct job job;
    struct episode *episode;
    struct ask ask;
    enum step step;
};

static void sit_down(struct table *t, const struct game_input *in)
{
    t->job = (struct job){ .kind = &episode_game, .input = in };
    t->episode = episode_new(&t->job, &arena);
    t->step = t->job.kind->step(t->episode, NULL, &t->ask);
}

// Answers one ask; the mock of White is the one for a_model.
static void answer(struct table *t, speaker *white, speaker *black)
{
    struct answer in = { 0 };
    last_messages = t->ask.model.messages;
    in.model = (t->job.model == &a_model ? white : black)(&t->ask.model.messages);
    t->step = t->job.kind->step(t->episode, &in, &t->ask);
}

static const struct outcome *play_out(const struct game_input *in, speaker *white, speaker *black)
{
    struct table t;
    sit_down(&t, in);
    while (t.step == STEP_ASK)
        answer(&t, white, black);
    return &t.episode->outcome;
}

static const struct game_record *record(const struct game_input *in, speaker *white, speaker *black)
{
    return play_out(in, white, black)->record;
}

// White is a model with a script, the game one ply long.
static const struct game_record *one_ply(const struct dialog_rules *r, const char *const *replies,
                                         size_t n)
{
    struct dialog_rules *rules = NEW(&arena, struct dialog_rules);
    *rules = *r;
    rules->max_plies = 1;
    struct game_input in = game_of(model_player(&a_model), random_player(S("R")), rules);
    script = replies;
    script_n = n;
    script_at = 0;
    return record(&in, scripted, scripted);
}
#define ONE_PLY(rules, ...)                                                                        \
    one_ply(rules, (const char *const[]){ __VA_ARGS__ },                                           \
            sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void three_wrong_actions_lose(void **s) // G1
{
    (void)s;
    const struct game_record *r = ONE_PLY(&plain, "a", "b", "c");
    assert_int_equal(r->reason, REASON_WRONG_ACTIONS);
    assert_int_equal(r->class, CLASS_PROTOCOL_LOSS);
    assert_int_equal(r->winner, BLACK);
    assert_int_equal(r->side[WHITE].wrong_actions, 3);
    assert_int_equal(r->plies, 1);
    assert_int_equal(r->turns.n, 3);
    assert_true(str_starts(r->turns.v[0].asked, S("You are a professional chess player")));
    for (size_t i = 1; i < 3; i++)
        assert_true(str_starts(r->turns.v[i].asked, S("Invalid action. Pick one")));
}

static void mistakes_below_three_are_forgiven(void **s) // G2
{
    (void)s;
    const struct game_record *r = ONE_PLY(&plain, "a", "make_move e2e5", "make_move e2e4");
    assert_int_equal(r->reason, REASON_MAX_MOVES);
    assert_int_equal(r->side[WHITE].wrong_actions, 1);
    assert_int_equal(r->side[WHITE].wrong_moves, 1);
    assert_int_equal(r->side[WHITE].moves, 2);
    assert_str(r->turns.v[2].asked, S("Failed to make move: illegal uci: 'e2e5' in "
                                      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"));
}

static void mistakes_are_counted_per_ply(void **s) // G3, D12
{
    (void)s;
    struct game_input in = game_of(random_player(S("R")), model_player(&a_model), &plain);
    const struct game_record *r = record(&in, clumsy, clumsy);
    int own = r->plies / 2;
    assert_true(r->class == CLASS_CHESS || r->class == CLASS_MAX_MOVES);
    assert_int_equal(r->side[BLACK].wrong_actions, 2 * own);
    assert_int_equal(r->side[WHITE].wrong_actions, 0);
}

static void the_tenth_reply_counts_only_in_full(void **s) // G4, G5, D2
{
    (void)s;
#define BOARD "get_current_board"
    struct dialog_rules full = { .options = DIALOG_FULL_TURNS };
    const struct game_record *r = ONE_PLY(&plain, BOARD);
    assert_int_equal(r->reason, REASON_MAX_TURNS);
    assert_str(game_reason_name(r->reason), S("Max turns in single dialog"));
    assert_int_equal(r->winner, BLACK);
    assert_int_equal(r->side[WHITE].boards, 9);
    assert_int_equal(r->turns.n, 10);
    assert_str(r->turns.v[9].outcome, S("not_read"));
    r = ONE_PLY(&full, BOARD);
    assert_int_equal(r->reason, REASON_MAX_TURNS);
    assert_int_equal(r->side[WHITE].boards, 10);
    const char *const ninth[] = { BOARD, BOARD, BOARD, BOARD,           BOARD,
                                  BOARD, BOARD, BOARD, "make_move e2e4" };
    assert_int_equal(one_ply(&plain, ninth, ARRAY_LEN(ninth))->reason, REASON_MAX_MOVES);
    const char *const tenth[] = { BOARD, BOARD, BOARD, BOARD, BOARD,
                                  BOARD, BOARD, BOARD, BOARD, "make_move e2e4" };
    assert_int_equal(one_ply(&plain, tenth, ARRAY_LEN(tenth))->reason, REASON_MAX_TURNS);
    assert_int_equal(one_ply(&full, tenth, ARRAY_LEN(tenth))->reason, REASON_MAX_MOVES);
}

static void wrong_actions_win_over_max_turns(void **s) // G6, G7
{
    (void)s;
    const char *const mixed[] = {
        BOARD, "make_move e2e5", BOARD, BOARD, "make_move e2e6", BOARD, BOARD, BOARD, BOARD, BOARD
    };
    assert_int_equal(one_ply(&plain, mixed, ARRAY_LEN(mixed))->reason, REASON_MAX_TURNS);
    const char *const ninth[] = { BOARD, "x", BOARD, BOARD, "x", BOARD, BOARD, BOARD, "x" };
    assert_int_equal(one_ply(&plain, ninth, ARRAY_LEN(ninth))->reason, REASON_WRONG_ACTIONS);
    struct dialog_rules full = { .options = DIALOG_FULL_TURNS };
    const char *const tenth[] = { BOARD, "x", BOARD, BOARD, "x", BOARD, BOARD, BOARD, BOARD, "x" };
    assert_int_equal(one_ply(&full, tenth, ARRAY_LEN(tenth))->reason, REASON_WRONG_ACTIONS);
}

static void a_failed_dialog_counts_as_a_ply(void **s) // G8
{
    (void)s;
    struct game_input in = game_of(random_player(S("R")), model_player(&a_model), &plain);
    const struct outcome *out = play_out(&in, always_wrong, always_wrong);
    const struct game_record *r = out->record;
    assert_int_equal(r->plies, 2);
    assert_int_equal(r->moves.n, 1);
    assert_int_equal(r->winner, WHITE);
    assert_int_equal(r->material[WHITE], 39);
    assert_int_equal(r->material[BLACK], 39);
    assert_true(out->score == 1);
    assert_int_equal(out->status, OUTCOME_SCORED);
}

static enum reply_class broken_class;

static struct reply broken(const struct messages *m)
{
    (void)m;
    return (struct reply){ .class = broken_class, .error = S("gone") };
}

static void errors_are_never_a_result_of_the_game(void **s) // G9, G17, D5
{
    (void)s;
    static const enum reply_class infra[] = { REPLY_TRANSPORT, REPLY_TIMEOUT,  REPLY_RATE_LIMIT,
                                              REPLY_OVERLOAD,  REPLY_UPSTREAM, REPLY_PROTOCOL };
    struct game_input in = game_of(random_player(S("R")), model_player(&a_model), &plain);
    for (size_t i = 0; i < ARRAY_LEN(infra); i++) {
        broken_class = infra[i];
        const struct outcome *out = play_out(&in, broken, broken);
        const struct game_record *r = out->record;
        assert_int_equal(out->status, OUTCOME_FAILED);
        assert_int_equal(r->class, CLASS_INFRA_ERROR);
        assert_str(game_reason_name(r->reason), S("ERROR OCCURED"));
        assert_int_equal(r->plies, 1);
        assert_int_equal(r->winner, -1);
        assert_int_equal(r->fault, BLACK);
        assert_int_equal(r->material[WHITE], 39);
    }
    static const enum reply_class own[] = { REPLY_REFUSED, REPLY_FILTERED, REPLY_CONTEXT_OVERFLOW };
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        broken_class = own[i];
        const struct outcome *out = play_out(&in, broken, broken);
        assert_int_equal(out->status, OUTCOME_SCORED);
        assert_int_equal(((const struct game_record *)out->record)->class, CLASS_MODEL_ERROR);
    }
}

static struct game_input both_models(const struct dialog_rules *r)
{
    return game_of(model_player(&a_model), model_player(&another_model), r);
}

static const char *const fools_mate[] = { "make_move f2f3", "make_move e7e5", "make_move g2g4",
                                          "make_move d8h4" };

static void fools_mate_is_a_win_of_black(void **s) // G10
{
    (void)s;
    struct game_input in = both_models(&plain);
    script = fools_mate;
    script_n = ARRAY_LEN(fools_mate);
    script_at = 0;
    const struct game_record *r = record(&in, scripted, scripted);
    assert_int_equal(r->reason, REASON_CHECKMATE);
    assert_int_equal(r->class, CLASS_CHESS);
    assert_int_equal(r->winner, BLACK);
    assert_int_equal(r->plies, 4);
}

static void the_cap_ends_a_game_but_not_a_mate(void **s) // G11
{
    (void)s;
    struct dialog_rules r = { .max_plies = 4 };
    struct game_input in = both_models(&r);
    script = fools_mate;
    script_n = ARRAY_LEN(fools_mate);
    script_at = 0;
    assert_int_equal(record(&in, scripted, scripted)->reason, REASON_CHECKMATE);
    in = game_of(random_player(S("A")), random_player(S("B")), &r);
    assert_int_equal(record(&in, NULL, NULL)->plies, 4);
    r.max_plies = 3;
    const struct game_record *odd = record(&in, NULL, NULL);
    assert_int_equal(odd->plies, 3);
    assert_int_equal(odd->moves.n, 3);
    assert_int_equal(odd->class, CLASS_MAX_MOVES);
}

static void the_fifth_occurrence_ends_a_game(void **s) // G12, D30
{
    (void)s;
    static const char *const shuffle[] = { "make_move g1f3",
                                           "make_move g8f6",
                                           "make_move f3g1",
                                           "make_move f6g8",
                                           "make_move g1f3",
                                           "make_move g8f6",
                                           "make_move f3g1",
                                           "make_move f6g8",
                                           "make_move g1f3",
                                           "make_move g8f6",
                                           "make_move f3g1",
                                           "make_move f6g8",
                                           "make_move g1f3",
                                           "make_move g8f6",
                                           "make_move f3g1",
                                           "make_move f6g8",
                                           "x" };
    struct game_input in = both_models(&plain);
    script = shuffle;
    script_n = ARRAY_LEN(shuffle);
    script_at = 0;
    const struct game_record *r = record(&in, scripted, scripted);
    assert_int_equal(r->reason, REASON_FIVEFOLD_REPETITION);
    assert_int_equal(r->plies, 16);
    struct dialog_rules claims = { .options = DIALOG_CLAIMS };
    in = both_models(&claims);
    script_at = 0;
    r = record(&in, scripted, scripted);
    assert_int_equal(r->reason, REASON_THREEFOLD_REPETITION);
    assert_int_equal(r->plies, 8);
}

static const struct game_record *from_fen(const char *fen, const char *reply)
{
    static const struct dialog_rules two = { .max_plies = 1 };
    struct game_input in = both_models(&two);
    struct err err = { 0 };
    assert_int_equal(position_parse(str_from(fen), &in.start, &err), FAULT_NONE);
    const char *const replies[] = { reply };
    script = replies;
    script_n = 1;
    script_at = 0;
    return record(&in, scripted, scripted);
}

static void seventyfive_moves_are_tested_after_mate(void **s) // G13
{
    (void)s;
    assert_int_equal(from_fen("4k3/8/8/8/8/8/4r3/K6R w - - 149 100", "make_move h1g1")->reason,
                     REASON_SEVENTYFIVE_MOVES);
    assert_int_equal(from_fen("7k/7r/8/8/8/8/8/K6R w - - 149 100", "make_move h1h7")->reason,
                     REASON_MAX_MOVES);
    assert_int_equal(from_fen("6k1/5ppp/8/8/8/8/8/K6R w - - 149 100", "make_move h1e1")->reason,
                     REASON_SEVENTYFIVE_MOVES);
    const struct game_record *mate =
        from_fen("6k1/5ppp/8/8/8/8/4R3/K7 w - - 149 100", "make_move e2e8");
    assert_int_equal(mate->reason, REASON_CHECKMATE);
    assert_int_equal(mate->winner, WHITE);
}

static void only_dead_material_stops_a_game(void **s) // G14
{
    (void)s;
    assert_int_equal(from_fen("4kn2/8/8/8/8/8/8/KN6 w - - 0 1", "make_move b1c3")->reason,
                     REASON_MAX_MOVES);
    assert_int_equal(from_fen("2b1k3/8/8/8/8/8/8/KB6 w - - 0 1", "make_move b1c2")->reason,
                     REASON_INSUFFICIENT_MATERIAL); // over before a move: both on light squares
}

static void the_counters_are_those_of_the_original(void **s) // G15
{
    (void)s;
    struct dialog_rules six = { .max_plies = 6 };
    struct game_input in = game_of(random_player(S("R")), model_player(&a_model), &six);
    const struct game_record *r = record(&in, good_mock, good_mock);
    const struct game_side *random = &r->side[WHITE], *mocked = &r->side[BLACK];
    assert_int_equal(random->boards, 0);
    assert_int_equal(random->lists, 3);
    assert_int_equal(random->moves, 3);
    assert_int_equal(mocked->boards, 3);
    assert_int_equal(mocked->lists, 3);
    assert_int_equal(mocked->moves, 3);
    assert_int_equal(mocked->used.input_tok, 90);
    assert_int_equal(mocked->used.output_tok, 90);
    assert_int_equal(mocked->reply_ms, 45);
    assert_str(game_reason_name(r->reason), S("Max moves reached"));
    const struct game_record *w = ONE_PLY(&plain, "x", "make_move d4d5", "make_move d2d4");
    assert_int_equal(w->side[WHITE].wrong_actions, 1);
    assert_int_equal(w->side[WHITE].wrong_moves, 1);
    assert_true(str_starts(w->turns.v[1].asked, S("Invalid action. ")));
    assert_true(str_starts(w->turns.v[2].asked, S("Failed to make move: illegal uci: 'd4d5' in ")));
}

static void games_share_nothing(void **s) // G18, D24
{
    (void)s;
    struct game_input one = game_of(random_player(S("R")), model_player(&a_model), &plain);
    struct game_input two = one;
    two.index = 1;
    size_t n1 = record(&one, good_mock, good_mock)->moves.n;
    size_t n2 = record(&two, good_mock, good_mock)->moves.n;
    struct table t1, t2;
    sit_down(&t1, &one);
    sit_down(&t2, &two);
    while (t1.step == STEP_ASK || t2.step == STEP_ASK) {
        if (t1.step == STEP_ASK)
            answer(&t1, good_mock, good_mock);
        if (t2.step == STEP_ASK)
            answer(&t2, good_mock, good_mock);
    }
    assert_int_equal(((const struct game_record *)t1.episode->outcome.record)->moves.n, n1);
    assert_int_equal(((const struct game_record *)t2.episode->outcome.record)->moves.n, n2);
}

static void engine_faults_award_nothing(void **s) // G19, G20, D6
{
    (void)s;
    static const struct engine engine;
    struct game_player e = { .kind = PLAYER_ENGINE, .engine = &engine, .limit = { .n = 1 } };
    struct game_input in = game_of(e, model_player(&a_model), &plain);
    static const struct engine_reply faults[] = {
        { .class = ENGINE_CRASHED, .error = T("exit code 1") },
        { .class = ENGINE_PROTOCOL, .error = T("illegal move") },
        { .class = ENGINE_OK, .best = MOVE_NONE },
    };
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        struct table t;
        sit_down(&t, &in);
        assert_int_equal(t.ask.to, TO_ENGINE);
        struct answer a = { .engine = faults[i] };
        assert_int_equal(t.job.kind->step(t.episode, &a, &t.ask), STEP_DONE);
        const struct game_record *r = t.episode->outcome.record;
        assert_int_equal(t.episode->outcome.status, OUTCOME_FAILED);
        assert_int_equal(r->class, CLASS_INFRA_ERROR);
        assert_int_equal(r->winner, -1);
        assert_int_equal(r->side[WHITE].wrong_actions, 0);
    }
}

static void an_engine_sees_the_whole_game(void **s)
{
    (void)s;
    static const struct engine engine;
    struct game_player e = { .kind = PLAYER_ENGINE, .engine = &engine, .limit = { .n = 1 } };
    struct game_input in = game_of(random_player(S("R")), e, &plain);
    struct table t;
    sit_down(&t, &in);
    assert_int_equal(t.ask.engine.n_moves, 1);
    struct move_list legal;
    struct position at = position_after(&t.ask.engine.start, t.ask.engine.moves[0]);
    moves_legal(&at, &legal);
    struct answer a = { .engine = { .best = legal.v[0], .latency_ms = 7 } };
    assert_int_equal(t.job.kind->step(t.episode, &a, &t.ask), STEP_ASK);
    assert_int_equal(t.ask.engine.n_moves, 3);
    in.players[BLACK].forgets = true;
    sit_down(&t, &in);
    assert_int_equal(t.ask.engine.n_moves, 0);
    assert_int_equal(t.ask.engine.start.turn, BLACK);
}

static void a_blank_reply_is_not_sent_back(void **s) // D19, T37
{
    (void)s;
    (void)ONE_PLY(&plain, "  \n", "make_move e2e5", "make_move e2e4");
    assert_int_equal(last_messages.n, 5);
    assert_int_equal(last_messages.v[1].role, ROLE_ASSISTANT);
    assert_str(last_messages.v[1].text, S("(empty reply)"));
    for (size_t i = 0; i < last_messages.n; i++) // and no system message, empty or not
        assert_int_not_equal(last_messages.v[i].role, ROLE_SYSTEM);
}

static void removed_reasoning_is_not_sent_back(void **s) // T66, D9, D21
{
    (void)s;
    struct dialog_rules pair = { .think = THINK_PAIRS };
    (void)ONE_PLY(&pair, "<think>maybe make_move d2d4</think>\nmake_move e2e5", "make_move e2e4");
    assert_str(last_messages.v[1].text, S("\nmake_move e2e5"));
    struct dialog_rules all = { .think = THINK_ALL };
    const struct game_record *r = ONE_PLY(&all, "<think>make_move d2d4", "make_move e2e4");
    assert_str(r->turns.v[0].outcome, S("wrong_action: unterminated_reasoning"));
    assert_int_equal(r->side[WHITE].wrong_actions, 1);
    assert_str(r->turns.v[0].said, S("<think>make_move d2d4")); // the raw reply is kept
}

static void a_null_move_is_a_wrong_move(void **s) // D3
{
    (void)s;
    const struct game_record *r = ONE_PLY(&plain, "make_move 0000", "make_move e2e4");
    assert_int_equal(r->side[WHITE].wrong_moves, 1);
    assert_int_equal(r->moves.n, 1);
}

static void reflection_counts_and_is_read(void **s) // D7, D8
{
    (void)s;
    struct dialog_rules r = { .options = DIALOG_REFLECTION };
    const struct game_record *g =
        ONE_PLY(&r, "do_reflection", "get_current_board", "do_reflection", "So: make_move g1f3");
    assert_int_equal(g->side[WHITE].reflections, 2);
    assert_int_equal(g->side[WHITE].reflections_before_board, 1);
    assert_int_equal(g->reason, REASON_MAX_MOVES);
    r.options |= DIALOG_SWALLOW;
    g = ONE_PLY(&r, "do_reflection", "So: make_move g1f3", "make_move g1f3");
    assert_str(g->turns.v[1].outcome, S("follow_up"));
    assert_int_equal(g->side[WHITE].wrong_actions, 0);
    assert_int_equal(g->moves.n, 1);
    g = ONE_PLY(&plain, "do_reflection", "make_move g1f3");
    assert_int_equal(g->side[WHITE].wrong_actions, 1);
}

static void a_ply_has_limits_of_time_and_tokens(void **s) // D20
{
    (void)s;
    struct game_input in = game_of(model_player(&a_model), random_player(S("R")), &plain);
    in.ply_tok = 25;
    const struct game_record *r = record(&in, always_board, always_board);
    assert_int_equal(r->class, CLASS_MODEL_ERROR);
    assert_int_equal(r->turns.n, 3);
    in.ply_tok = 0;
    in.ply_ms = 5;
    assert_int_equal(record(&in, always_board, always_board)->turns.n, 2);
    in.ply_ms = 0;
    in.game_ms = 20;
    assert_int_equal(record(&in, good_mock, good_mock)->turns.n, 5);
}

static void two_random_players_are_two(void **s) // D1: streams and counters of their own
{
    (void)s;
    struct game_input in = game_of(random_player(S("A")), random_player(S("B")), &plain);
    const struct game_record *r = record(&in, NULL, NULL);
    assert_int_equal(r->side[WHITE].moves, (r->plies + 1) / 2);
    assert_int_equal(r->side[BLACK].moves, r->plies / 2);
    assert_int_equal(r->side[WHITE].lists, r->side[WHITE].moves);
}

static void the_built_in_engine_mates_a_random_player(void **s)
{
    (void)s;
    struct game_player e = { .kind = PLAYER_SEARCH, .think = { .depth = 1, .nodes = 100000 } };
    struct game_input in = game_of(random_player(S("R")), e, &plain);
    const struct game_record *r = record(&in, NULL, NULL);
    assert_int_equal(r->reason, REASON_CHECKMATE);
    assert_int_equal(r->winner, BLACK);
    assert_int_equal(r->side[BLACK].lists, 0);
    in.players[BLACK].handicap = 1; // always random: another stream than White's
    const struct game_record *weak = record(&in, NULL, NULL);
    assert_true(weak->moves.n != r->moves.n);
}

static void a_game_that_is_over_asks_nobody(void **s)
{
    (void)s;
    const struct game_record *r = from_fen("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "x");
    assert_int_equal(r->reason, REASON_STALEMATE);
    assert_int_equal(r->plies, 0);
}

static int free_arena(void **s)
{
    (void)s;
    arena_free(&arena);
    return 0;
}

static struct reply after_retries(const struct messages *m)
{
    (void)m;
    struct reply r = text(S("make_move e2e4"));
    r.attempts = 3;
    r.waited_ms = 4000;
    return r;
}

static void failed_attempts_cost_a_player_time(void **s) // D18
{
    (void)s;
    static const struct dialog_rules short_game = { .max_plies = 1 };
    struct game_input in = game_of(model_player(&a_model), random_player(S("r")), &short_game);
    assert_int_equal(record(&in, after_retries, after_retries)->side[WHITE].reply_ms, 4005);
    in.ply_ms = 3000;
    assert_int_equal(record(&in, after_retries, after_retries)->class, CLASS_MODEL_ERROR);
}

// ---- a person ----

// Types a line; what is asked next, or "" at the end of the game.
static str type_line(struct table *t, const char *line)
{
    struct answer in = { .person = { .line = str_from(line), .latency_ms = 3 } };
    t->step = t->job.kind->step(t->episode, &in, &t->ask);
    if (t->step == STEP_ASK)
        assert_int_equal(t->ask.to, TO_PERSON);
    return t->step == STEP_ASK ? t->ask.person : S("");
}

static void a_person_moves_asks_and_resigns(void **s)
{
    (void)s;
    struct table t;
    struct game_player person = { .kind = PLAYER_PERSON, .name = S("Human") };
    struct game_input in = game_of(person, person, &plain);
    sit_down(&t, &in);
    assert_int_equal(t.ask.to, TO_PERSON);
    assert_true(str_find(t.ask.person, S("8  ♜ ♞ ♝ ♛ ♚ ♝ ♞ ♜\n7  ♟")) >= 0);
    assert_true(str_find(t.ask.person, S("   a b c d e f g h\n")) > 0);
    assert_true(str_find(type_line(&t, "help"), S("resign")) > 0);
    assert_true(str_find(type_line(&t, "moves"), S("Nf3")) > 0);
    assert_true(str_starts(type_line(&t, "fen"), S("rnbqkbnr/")));
    assert_true(str_find(type_line(&t, "e5"), S("illegal")) >= 0);
    assert_true(str_find(type_line(&t, "Ke4 or so"), S("White to move")) > 0);
    assert_true(str_find(type_line(&t, "0000"), S("illegal")) >= 0); // D3
    str shown = type_line(&t, "  e4 \r");
    assert_true(str_starts(shown, S("\nWhite played e4\n1  ♖ ♘ ♗ ♔ ♕")));
    assert_true(str_find(shown, S("   h g f e d c b a\n")) > 0);
    (void)type_line(&t, "e7e5");
    (void)type_line(&t, "Ng1-f3");
    assert_int_equal(type_line(&t, "RESIGN").len, 0);
    const struct game_record *r = t.episode->outcome.record;
    assert_int_equal(r->reason, REASON_RESIGNATION);
    assert_int_equal(r->class, CLASS_CHESS);
    assert_int_equal(r->winner, WHITE);
    assert_int_equal(r->plies, 3);
    assert_int_equal(r->side[WHITE].wrong_moves + r->side[WHITE].wrong_actions, 0);
    assert_int_equal(r->side[WHITE].moves, 2);
}

static void a_person_may_give_mate(void **s)
{
    (void)s;
    static const char *const moves[] = { "f3", "e5", "g2g4", "Qh4#" };
    struct table t;
    struct game_player person = { .kind = PLAYER_PERSON, .name = S("Human") };
    struct game_input in = game_of(person, person, &plain);
    sit_down(&t, &in);
    for (size_t i = 0; i < ARRAY_LEN(moves); i++)
        (void)type_line(&t, moves[i]);
    assert_int_equal(t.step, STEP_DONE);
    const struct game_record *r = t.episode->outcome.record;
    assert_int_equal(r->reason, REASON_CHECKMATE);
    assert_int_equal(r->winner, BLACK);
}

// ---- a mixture of agents (3.6) ----

static const struct model worker_one, worker_two;
static struct moa_worker workers[] = {
    { .model = &worker_one, .sampling = { .has_temperature = true, .temperature = 0 } },
    { .model = &worker_two, .sampling = { .has_temperature = true, .temperature = 1 } },
};
static const struct moa mixture = { workers, 2 };

static void give(struct table *t, struct reply r)
{
    struct answer in = { .model = r };
    t->step = t->job.kind->step(t->episode, &in, &t->ask);
}

static void a_mixture_lets_its_workers_answer_first(void **s)
{
    (void)s;
    struct table t;
    struct game_player both = model_player(&a_model);
    both.moa = &mixture;
    static const struct dialog_rules two_plies = { .max_plies = 1 };
    struct game_input in = game_of(both, random_player(S("r")), &two_plies);
    sit_down(&t, &in);
    struct messages first = t.ask.model.messages;
    assert_ptr_equal(t.job.model, &worker_one);
    assert_true(t.ask.model.has_temperature && t.ask.model.temperature == 0);
    give(&t, text(S("make_move e2e4")));
    assert_ptr_equal(t.job.model, &worker_two); // the same dialog
    assert_true(t.ask.model.temperature == 1);
    assert_int_equal(t.ask.model.messages.n, first.n);
    assert_str(asked_last(&t.ask.model.messages), asked_last(&first));
    give(&t, (struct reply){ .class = REPLY_REFUSED, .text = S("no") });
    assert_ptr_equal(t.job.model, &a_model);
    assert_int_equal(t.ask.model.messages.v[0].role, ROLE_SYSTEM);
    assert_int_equal(t.ask.model.messages.n, 2);
    assert_str(asked_last(&t.ask.model.messages),
               arena_printf(&arena,
                            "%.*s\n\nModel 1 response:\nmake_move e2e4\n\nModel 2 response:\n[no "
                            "answer: refused]",
                            STR(asked_last(&first))));
    give(&t, text(S("get_legal_moves"))); // a second message of ours: all are asked again
    assert_ptr_equal(t.job.model, &worker_one);
    assert_int_equal(t.ask.model.messages.n, 3); // workers' answers do not stay in the dialog
    assert_str(t.ask.model.messages.v[1].text, S("get_legal_moves"));
    give(&t, text(S("a")));
    give(&t, text(S("b")));
    give(&t, text(S("make_move g1f3")));
    assert_int_equal(t.step, STEP_DONE);
    const struct game_record *r = t.episode->outcome.record;
    assert_int_equal(r->plies, 1);
    assert_int_equal(r->side[WHITE].used.n_calls, 6); // tokens of all are summed
    assert_int_equal(r->side[WHITE].used.output_tok, 50);
    assert_int_equal(r->turns.n, 2);
}

static void a_worker_s_dead_endpoint_is_nobody_s_loss(void **s) // D5
{
    (void)s;
    struct table t;
    struct game_player both = model_player(&a_model);
    both.moa = &mixture;
    struct game_input in = game_of(both, random_player(S("r")), &plain);
    sit_down(&t, &in);
    give(&t, (struct reply){ .class = REPLY_TIMEOUT, .error = S("slow") });
    assert_int_equal(t.step, STEP_DONE);
    const struct game_record *r = t.episode->outcome.record;
    assert_int_equal(r->class, CLASS_INFRA_ERROR);
    assert_int_equal(r->winner, -1);
    assert_int_equal(t.episode->outcome.status, OUTCOME_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_wrong_actions_lose),
        cmocka_unit_test(mistakes_below_three_are_forgiven),
        cmocka_unit_test(mistakes_are_counted_per_ply),
        cmocka_unit_test(the_tenth_reply_counts_only_in_full),
        cmocka_unit_test(wrong_actions_win_over_max_turns),
        cmocka_unit_test(a_failed_dialog_counts_as_a_ply),
        cmocka_unit_test(errors_are_never_a_result_of_the_game),
        cmocka_unit_test(fools_mate_is_a_win_of_black),
        cmocka_unit_test(the_cap_ends_a_game_but_not_a_mate),
        cmocka_unit_test(the_fifth_occurrence_ends_a_game),
        cmocka_unit_test(seventyfive_moves_are_tested_after_mate),
        cmocka_unit_test(only_dead_material_stops_a_game),
        cmocka_unit_test(the_counters_are_those_of_the_original),
        cmocka_unit_test(games_share_nothing),
        cmocka_unit_test(engine_faults_award_nothing),
        cmocka_unit_test(an_engine_sees_the_whole_game),
        cmocka_unit_test(a_blank_reply_is_not_sent_back),
        cmocka_unit_test(removed_reasoning_is_not_sent_back),
        cmocka_unit_test(a_null_move_is_a_wrong_move),
        cmocka_unit_test(reflection_counts_and_is_read),
        cmocka_unit_test(a_ply_has_limits_of_time_and_tokens),
        cmocka_unit_test(two_random_players_are_two),
        cmocka_unit_test(the_built_in_engine_mates_a_random_player),
        cmocka_unit_test(a_game_that_is_over_asks_nobody),
        cmocka_unit_test(failed_attempts_cost_a_player_time),
        cmocka_unit_test(a_person_moves_asks_and_resigns),
        cmocka_unit_test(a_person_may_give_mate),
        cmocka_unit_test(a_mixture_lets_its_workers_answer_first),
        cmocka_unit_test(a_worker_s_dead_endpoint_is_nobody_s_loss),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// The conversation, line by line and without a process: what is sent, and what is made of the
// answers (field cases F-036, F-047 to F-054).
#include "test.h"

#include "engine/engine.h"

static const char MATED[] = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
static const char STALEMATE[] = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";

struct bench {
    struct arena arena;
    struct engine engine;
    struct engine_query query;
    struct talk talk;
};

static void hear(struct bench *b, const char *lines)
{
    str rest = str_from(lines);
    while (rest.len > 0)
        if (talk_line(&b->talk, str_cut_line(&rest)) && rest.len > 0)
            break;
}

static str sent(struct bench *b)
{
    str out = arena_str(&b->arena, buf_str(&b->talk.out));
    b->talk.out.len = 0;
    return out;
}

static const char HELLO[] = "Toy 1 by nobody\nid name Toy 1\nid author Nobody\n"
                            "option name Hash type spin default 16 min 1 max 1024\n"
                            "option name Threads type spin default 1 min 1 max 8\n"
                            "option name Skill Level type spin default 20 min 0 max 20\n"
                            "option name MultiPV type spin default 1 min 1 max 500\n"
                            "option name UCI_Chess960 type check default false\nuciok\nreadyok\n";

static void bench_new(struct bench *b, const char *settings)
{
    *b = (struct bench){ .engine = { .path = S("toy") } };
    assert_true(engine_settings_parse(str_from(settings), &b->arena, &b->engine.settings, NULL));
    talk_start(&b->talk, &b->engine, &b->arena);
    assert_str(sent(b), S("uci\n"));
    b->query = (struct engine_query){ .engine = &b->engine,
                                      .start = position_start(),
                                      .limit = { ENGINE_BY_DEPTH, 5 },
                                      .need_score = true };
}

static void bench_free(struct bench *b)
{
    arena_free(&b->arena);
}

// A bench whose engine is asked for the best move of `fen` and searches.
static void bench_search(struct bench *b, const char *fen)
{
    bench_new(b, "");
    hear(b, HELLO);
    assert_int_equal(b->talk.state, TALK_IDLE);
    if (fen)
        assert_int_equal(position_parse(str_from(fen), &b->query.start, NULL), FAULT_NONE);
    talk_ask(&b->talk, &b->query, &b->arena);
    hear(b, "readyok\n");
    assert_int_equal(b->talk.state, TALK_SEARCH);
    sent(b);
}

// The class of the answer that the lines make.
static enum engine_class answer(struct bench *b, const char *lines)
{
    hear(b, lines);
    assert_int_equal(b->talk.state, TALK_IDLE);
    return b->talk.reply.class;
}

// ---- the handshake ----

static void a_question_is_sent_after_a_fresh_game_and_readyok(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "Hash=64");
    hear(&b, HELLO);
    assert_str(sent(&b), S("setoption name Hash value 64\nisready\n"));
    talk_ask(&b.talk, &b.query, &b.arena);
    assert_str(sent(&b), S("ucinewgame\nisready\n"));
    hear(&b, "readyok\n");
    assert_str(sent(&b), S("position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n"
                           "go depth 5\n"));
    bench_free(&b);
}

static void moves_limits_lines_and_searchmoves_are_sent(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "");
    hear(&b, HELLO);
    struct position pos = position_start();
    move moves[1], search[2];
    assert_true(uci_parse(&pos, S("e2e4"), &moves[0]));
    pos = position_after(&pos, moves[0]);
    assert_true(uci_parse(&pos, S("e7e5"), &search[0]));
    assert_true(uci_parse(&pos, S("g8f6"), &search[1]));
    b.query.moves = moves;
    b.query.n_moves = 1;
    b.query.search = search;
    b.query.n_search = 2;
    b.query.lines = 2;
    b.query.limit = (struct engine_limit){ ENGINE_BY_NODES, 1000 };
    sent(&b);
    talk_ask(&b.talk, &b.query, &b.arena);
    assert_str(sent(&b), S("setoption name MultiPV value 2\nucinewgame\nisready\n"));
    hear(&b, "readyok\n");
    assert_true(str_ends(sent(&b), S(" moves e2e4\ngo nodes 1000 searchmoves e7e5 g8f6\n")));
    bench_free(&b);
}

static void chess960_is_said_and_written_as_shredder_fen(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "");
    hear(&b, HELLO);
    assert_int_equal(
        position_parse_as(S("bqnbrknr/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKNR w KQkq - 0 1"),
                          VARIANT_CHESS960, &b.query.start, NULL, NULL),
        FAULT_NONE);
    sent(&b);
    talk_ask(&b.talk, &b.query, &b.arena);
    hear(&b, "readyok\n");
    str said = sent(&b);
    assert_true(str_find(said, S("setoption name UCI_Chess960 value true\n")) >= 0);
    assert_true(str_find(said, S("BQNBRKNR w HEhe - 0 1")) >= 0);
    bench_free(&b);
}

static void an_unfit_setting_is_refused_with_the_engines_name(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "Hsh=64");
    hear(&b, HELLO);
    assert_int_equal(b.talk.refusal.code, ERR_USAGE);
    assert_non_null(strstr(b.talk.refusal.text, "Toy 1: it has no option \"Hsh\""));
    bench_free(&b);
}

static void all_info_strings_at_the_start_are_kept(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "");
    hear(&b, "info string Available processors: 0-11\n"
             "info string NNUE evaluation using nn-1c0000000000.nnue (133MiB, (22528, 3072, 15, "
             "32, 1))\n"
             "info string NNUE evaluation using nn-37f18f62d772.nnue (6MiB, (22528, 128, 15, 32, "
             "1))\n");
    assert_int_equal(b.talk.strings.n, 3);
    assert_true(str_find(b.talk.strings.v[1], S("nn-1c0000000000.nnue")) > 0);
    assert_true(str_find(b.talk.strings.v[2], S("nn-37f18f62d772.nnue")) > 0);
    bench_free(&b);
}

static void what_tells_an_error_is_kept_for_the_message(void **s)
{
    (void)s;
    struct bench b;
    bench_search(&b, NULL);
    hear(&b, "info string ERROR: If the UCI option \"Use NNUE\" is set to true, network evaluation "
             "parameters compatible with the engine must be available.\n"
             "info string ERROR: The network file /nonexistent/x.nnue was not loaded.\n");
    assert_true(str_find(b.talk.errors, S("/nonexistent/x.nnue was not loaded")) > 0);
    bench_free(&b);
}

static void a_flood_of_strings_takes_no_memory(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "");
    for (int i = 0; i < 100000; i++)
        hear(&b, "info string ERROR na na na na na na na na na na na na na na na na na na na\n");
    assert_true(arena_used(&b.arena) < 200000);
    assert_int_equal(b.talk.state, TALK_HELLO);
    bench_free(&b);
}

// ---- identity ----

static str identity(const char *settings, bool *random)
{
    static struct arena a;
    struct bench b;
    bench_new(&b, settings);
    hear(&b, HELLO);
    talk_identify(&b.talk, &a, &b.engine);
    *random = b.engine.random;
    assert_str(b.engine.name, S("Toy 1"));
    bench_free(&b);
    return b.engine.identity;
}

static void identity_depends_on_options_as_they_are_set(void **s)
{
    (void)s;
    bool random;
    str plain = identity("", &random);
    assert_false(random);
    assert_str(identity("Hash=16;Threads=1", &random), plain); // the engine's own defaults
    assert_false(str_eq(identity("Hash=32", &random), plain));
    assert_false(random);
    assert_false(str_eq(identity("Skill Level=3", &random), plain));
    assert_true(random);
    assert_false(str_eq(identity("Threads=2", &random), plain));
    assert_true(random);
}

static void the_hash_of_a_question_tells_all_that_changes_the_answer(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "");
    b.engine.identity = S("id");
    str base = engine_query_hash(&b.query, &b.arena);
    assert_str(engine_query_hash(&b.query, &b.arena), base);
    struct engine_query q = b.query;
    q.limit.n = 6;
    assert_false(str_eq(engine_query_hash(&q, &b.arena), base));
    q = b.query;
    q.lines = 2;
    assert_false(str_eq(engine_query_hash(&q, &b.arena), base));
    q = b.query;
    move m;
    assert_true(uci_parse(&q.start, S("e2e4"), &m));
    q.search = &m;
    q.n_search = 1;
    assert_false(str_eq(engine_query_hash(&q, &b.arena), base));
    struct engine other = { .identity = S("id2") };
    q = b.query;
    q.engine = &other;
    assert_false(str_eq(engine_query_hash(&q, &b.arena), base));
    assert_true(engine_query_is_repeatable(&b.query));
    q = b.query;
    q.limit.by = ENGINE_BY_TIME;
    assert_false(engine_query_is_repeatable(&q));
    bench_free(&b);
}

// ---- before anything is sent ----

static void an_illegal_move_is_never_sent(void **s)
{
    (void)s;
    struct bench b;
    struct err err = { 0 };
    bench_new(&b, "");
    struct position after = position_start();
    move m, illegal;
    assert_true(uci_parse(&after, S("e2e4"), &m));
    after = position_after(&after, m);
    assert_true(uci_parse(&after, S("b8c6"), &illegal)); // Black's, in White's position
    b.query.moves = &illegal;
    b.query.n_moves = 1;
    assert_false(engine_query_check(&b.query, NULL, &err));
    assert_non_null(strstr(err.text, "move 1 of the game, b8c6, is illegal"));
    b.query.n_moves = 0;
    b.query.search = &illegal;
    b.query.n_search = 1;
    assert_false(engine_query_check(&b.query, NULL, &err));
    const move twice[] = { m, m };
    b.query.search = twice;
    b.query.n_search = 2;
    assert_false(engine_query_check(&b.query, NULL, &err));
    b.query.n_search = 0;
    b.query.limit.n = 0;
    assert_false(engine_query_check(&b.query, NULL, &err));
    bench_free(&b);
}

static void another_board_than_ours_is_noticed_in_debug_mode(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "");
    b.engine.check_positions = true;
    hear(&b, HELLO);
    talk_ask(&b.talk, &b.query, &b.arena);
    hear(&b, "readyok\n");
    assert_true(str_ends(sent(&b), S("\nd\n")));
    hear(&b, " +---+\nFen: rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\nKey: 8F8F\n");
    assert_int_equal(b.talk.state, TALK_SEARCH);
    assert_str(sent(&b), S("go depth 5\n"));
    assert_int_equal(answer(&b, "info depth 5 score cp 3 pv e2e4\nbestmove e2e4\n"), ENGINE_OK);
    talk_ask(&b.talk, &b.query, &b.arena);
    hear(&b, "readyok\nFen: rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n");
    assert_int_equal(b.talk.reply.class, ENGINE_PROTOCOL);
    bench_free(&b);
}

// ---- answers ----

static void no_move_is_an_answer_only_where_there_is_none(void **s)
{
    (void)s;
    static const char *const none[] = { "bestmove (none)\n", "bestmove 0000\n", "bestmove NULL\n" };
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        struct bench b;
        bench_search(&b, MATED);
        hear(&b, "info depth 0 score mate 0\n");
        assert_int_equal(answer(&b, none[i]), ENGINE_OK);
        assert_int_equal(b.talk.reply.best, MOVE_NONE);
        assert_true(engine_score_win(b.talk.reply.v[0].score) == 0);
        bench_free(&b);
        bench_search(&b, STALEMATE);
        hear(&b, "info depth 0 score cp 0\n");
        assert_int_equal(answer(&b, none[i]), ENGINE_OK);
        assert_int_equal(engine_score_cp(b.talk.reply.v[0].score), 0);
        bench_free(&b);
        bench_search(&b, NULL);
        assert_int_equal(answer(&b, none[i]), ENGINE_PROTOCOL);
        bench_free(&b);
    }
}

static void a_bound_does_not_replace_an_exact_score(void **s)
{
    (void)s;
    struct bench b;
    bench_search(&b, NULL);
    assert_int_equal(answer(&b, "info depth 5 score cp 34 pv e2e4\n"
                                "info depth 5 score cp 99 lowerbound pv d2d4\nbestmove e2e4\n"),
                     ENGINE_OK);
    const struct engine_pv *line = &b.talk.reply.v[0];
    assert_int_equal(line->score.value, 34);
    assert_int_equal(line->bound.value, 99);
    assert_int_equal(line->bound.bound, ENGINE_LOWER);
    assert_int_equal(line->depth, 5);
    assert_int_equal(line->n, 1);
    bench_free(&b);
}

static void less_than_was_asked_is_a_fault(void **s)
{
    (void)s;
    struct bench b;
    bench_search(&b, NULL);
    assert_int_equal(answer(&b, "info depth 4 score cp 34 pv e2e4\nbestmove e2e4\n"),
                     ENGINE_PROTOCOL);
    assert_str(b.talk.reply.error, S("it searched 4 plies of 5"));
    bench_free(&b);
    bench_search(&b, NULL); // a bound is no finished iteration
    assert_int_equal(answer(&b, "info depth 5 score cp 34 upperbound pv e2e4\nbestmove e2e4\n"),
                     ENGINE_PROTOCOL);
    bench_free(&b);
    bench_search(&b, NULL); // a mate may end a search
    assert_int_equal(answer(&b, "info depth 2 score mate 1 pv e2e4\nbestmove e2e4\n"), ENGINE_OK);
    bench_free(&b);
    bench_search(&b, NULL);
    assert_int_equal(answer(&b, "bestmove e2e4\n"), ENGINE_PROTOCOL);
    assert_str(b.talk.reply.error, S("it told no score"));
    bench_free(&b);
}

static void an_impossible_move_is_a_fault(void **s)
{
    (void)s;
    static const char *const moves[] = { "e2e5", "e4", "O-O", "zz", "e2e4e5e6e7" };
    for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
        struct bench b;
        char line[128];
        snprintf(line, sizeof line, "info depth 5 score cp 1\nbestmove %s\n", moves[i]);
        bench_search(&b, NULL);
        assert_int_equal(answer(&b, line), ENGINE_PROTOCOL);
        bench_free(&b);
    }
}

static void an_illegal_tail_of_a_variation_is_cut_and_counted(void **s)
{
    (void)s;
    struct bench b;
    bench_search(&b, NULL);
    assert_int_equal(
        answer(&b, "info depth 5 score cp 3 pv e2e4 e7e5 e4e5 a7a6\nbestmove e2e4 ponder e7e5\n"),
        ENGINE_OK);
    assert_int_equal(b.talk.reply.v[0].n, 2);
    assert_int_equal(b.talk.reply.n_cut, 1);
    assert_string_equal(uci_format(b.talk.reply.ponder).data, "e7e5");
    bench_free(&b);
}

static void after_stop_one_bestmove_is_waited_for(void **s)
{
    (void)s;
    struct bench b;
    bench_search(&b, NULL);
    talk_stop(&b.talk);
    assert_str(sent(&b), S("stop\n"));
    hear(&b, "info depth 3 score cp 5 pv d2d4\n");
    assert_int_equal(b.talk.state, TALK_STOP);
    assert_int_equal(answer(&b, "bestmove d2d4\n"), ENGINE_STALLED);
    // The next question: what comes before its readyok is the old search's.
    talk_ask(&b.talk, &b.query, &b.arena);
    hear(&b, "info depth 9 score cp 900 pv d2d4\nbestmove e7d7\nreadyok\n");
    assert_int_equal(b.talk.state, TALK_SEARCH);
    assert_int_equal(answer(&b, "info depth 5 score cp 7 pv e2e4\nbestmove e2e4\n"), ENGINE_OK);
    assert_int_equal(b.talk.reply.v[0].score.value, 7);
    bench_free(&b);
}

static void a_search_for_a_time_may_be_stopped(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "");
    hear(&b, HELLO);
    b.query.limit = (struct engine_limit){ ENGINE_BY_TIME, 100 };
    talk_ask(&b.talk, &b.query, &b.arena);
    hear(&b, "readyok\n");
    talk_stop(&b.talk);
    assert_int_equal(answer(&b, "info depth 3 score cp 5 pv d2d4\nbestmove d2d4\n"), ENGINE_OK);
    bench_free(&b);
}

static void several_lines_are_told_apart_and_noise_is_counted(void **s)
{
    (void)s;
    struct bench b;
    bench_new(&b, "");
    hear(&b, HELLO);
    b.query.lines = 2;
    talk_ask(&b.talk, &b.query, &b.arena);
    hear(&b, "readyok\n");
    assert_int_equal(answer(&b, "Segment of noise\n\xff\xfe\n"
                                "info depth 5 multipv 1 score cp 30 nodes 10 pv e2e4\n"
                                "info depth 5 multipv 2 score cp 20 nodes 20 pv d2d4 d7d5\n"
                                "info depth 5 multipv 3 score cp 10 nodes 30 pv c2c4\n"
                                "info nodes 40\nbestmove e2e4\n"),
                     ENGINE_OK);
    assert_int_equal(b.talk.reply.n, 2);
    assert_int_equal(b.talk.reply.v[1].score.value, 20);
    assert_int_equal(b.talk.reply.v[1].n, 2);
    assert_int_equal(b.talk.reply.nodes, 40);
    assert_int_equal(b.talk.reply.n_noise, 2);
    bench_free(&b);
}

static void an_answer_survives_the_store(void **s)
{
    (void)s;
    struct bench b;
    bench_search(&b, NULL);
    assert_int_equal(answer(&b, "info depth 5 seldepth 7 score cp 3 wdl 300 500 200 nodes 9 pv e2e4"
                                " e7e5\ninfo depth 6 score cp 9 lowerbound\n"
                                "bestmove e2e4 ponder e7e5\n"),
                     ENGINE_OK);
    str json = engine_reply_to_json(&b.talk.reply, &b.arena);
    struct engine_reply back;
    assert_true(engine_reply_from_json(json, &b.query.start, &b.arena, &back, NULL));
    assert_str(engine_reply_to_json(&back, &b.arena), json);
    assert_int_equal(back.best, b.talk.reply.best);
    assert_int_equal(back.v[0].wdl[1], 500);
    static const char *const broken[] = { "", "[]", "{}", "{\"class\":\"odd\"}",
                                          "{\"class\":\"ok\",\"best\":\"e2e5\"}" };
    for (size_t i = 0; i < ARRAY_LEN(broken); i++)
        assert_false(
            engine_reply_from_json(str_from(broken[i]), &b.query.start, &b.arena, &back, NULL));
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_is_sent_after_a_fresh_game_and_readyok),
        cmocka_unit_test(moves_limits_lines_and_searchmoves_are_sent),
        cmocka_unit_test(chess960_is_said_and_written_as_shredder_fen),
        cmocka_unit_test(an_unfit_setting_is_refused_with_the_engines_name),
        cmocka_unit_test(all_info_strings_at_the_start_are_kept),
        cmocka_unit_test(what_tells_an_error_is_kept_for_the_message),
        cmocka_unit_test(a_flood_of_strings_takes_no_memory),
        cmocka_unit_test(identity_depends_on_options_as_they_are_set),
        cmocka_unit_test(the_hash_of_a_question_tells_all_that_changes_the_answer),
        cmocka_unit_test(an_illegal_move_is_never_sent),
        cmocka_unit_test(another_board_than_ours_is_noticed_in_debug_mode),
        cmocka_unit_test(no_move_is_an_answer_only_where_there_is_none),
        cmocka_unit_test(a_bound_does_not_replace_an_exact_score),
        cmocka_unit_test(less_than_was_asked_is_a_fault),
        cmocka_unit_test(an_impossible_move_is_a_fault),
        cmocka_unit_test(an_illegal_tail_of_a_variation_is_cut_and_counted),
        cmocka_unit_test(after_stop_one_bestmove_is_waited_for),
        cmocka_unit_test(a_search_for_a_time_may_be_stopped),
        cmocka_unit_test(several_lines_are_told_apart_and_noise_is_counted),
        cmocka_unit_test(an_answer_survives_the_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

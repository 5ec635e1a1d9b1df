// SPDX-License-Identifier: GPL-3.0-or-later
// read_test.c - PGN as the standard and real files write it: each row is a text and what it means.
#include "helpers.h"

struct game_case {
    const char *text, *moves, *result;
};

static void check_games(const struct game_case *cases, size_t n)
{
    struct arena a = { 0 };
    for (size_t i = 0; i < n; i++) {
        struct pgn_game game;
        struct pgn_reader *r = open_text(str_from(cases[i].text));
        enum pgn_read got = next_game(r, &a, &game);
        if (got != PGN_GOOD)
            fail_msg("%s: %s", cases[i].text, got == PGN_BROKEN ? game.fault.text : "no game");
        assert_str(moves_text(&game, &a), str_from(cases[i].moves));
        assert_str(game.result, str_from(cases[i].result));
        assert_int_equal(next_game(r, &a, &game), PGN_END);
        pgn_close(r);
        arena_reset(&a);
    }
    arena_free(&a);
}

static void moves_are_read_in_all_spellings(void **s)
{
    static const struct game_case cases[] = {
        { "1. e4 e5 2. Nf3 *", "e2e4 e7e5 g1f3", "*" },
        { "1.e4 e5 2.Nf3 *", "e2e4 e7e5 g1f3", "*" },
        { "1 e4 e5 2 Nf3 1-0", "e2e4 e7e5 g1f3", "1-0" },
        { "e4 e5 Nf3", "e2e4 e7e5 g1f3", "" },
        { "1. e4 1... e5 2. Nf3 0-1", "e2e4 e7e5 g1f3", "0-1" },
        { "1.\ne4\te5 2.\r\nNf3 1/2-1/2", "e2e4 e7e5 g1f3", "1/2-1/2" },
        { "e2e4 e7e5 g1f3 *", "e2e4 e7e5 g1f3", "*" },
        { "e2-e4 e7-e5 Ng1-f3 *", "e2e4 e7e5 g1f3", "*" },
        // marks that are missing, wrong or too many; over-disambiguated
        { "1. f3 e5 2. g4 Qh4 *", "f2f3 e7e5 g2g4 d8h4", "*" },
        { "1. f3+ e5# 2. g4 Qh4++ *", "f2f3 e7e5 g2g4 d8h4", "*" },
        { "1. e4 d5 2. ed5 *", "e2e4 d7d5 e4d5", "*" },
        { "1. Ng1f3 Nb8c6 2. Nfg1 Ncb8 *", "g1f3 b8c6 f3g1 c6b8", "*" },
        { "1. e4 d5 2. e4xd5 Qd8xd5 *", "e2e4 d7d5 e4d5 d8d5", "*" },
        // glyphs, signs and words of annotators
        { "1. e4! e5?! 2. Nf3!! Nc6 $14 +/- 3. Bb5 N = *", "e2e4 e7e5 g1f3 b8c6 f1b5", "*" },
        { "1. e4 d5 2. e5 f5 3. exf6 e.p. *", "e2e4 d7d5 e4e5 f7f5 e5f6", "*" },
        { "1. e4 d5 2. e5 f5 3. exf6e.p. *", "e2e4 d7d5 e4e5 f7f5 e5f6", "*" },
        { "1. e4 d5 2. e5 f5 3. exf6ep *", "e2e4 d7d5 e4e5 f7f5 e5f6", "*" },
        // null moves
        { "1. e4 -- 2. d4 Z0 *", "e2e4 0000 d2d4 0000", "*" },
        { "1. e4 0000 2. d4 null *", "e2e4 0000 d2d4 0000", "*" },
        // results with other characters
        { "1. e4 \xC2\xBD-\xC2\xBD", "e2e4", "1/2-1/2" },
        { "1. e4 1\xE2\x80\x93"
          "0",
          "e2e4", "1-0" },
        { "1. e4 1/2", "e2e4", "1/2-1/2" },
        { "1-0", "", "1-0" },
    };
    (void)s;
    check_games(cases, ARRAY_LEN(cases));
}

static void castling_is_read_with_letters_and_zeros(void **s)
{
    static const struct game_case cases[] = {
        { "[FEN \"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1\"]\n1. O-O O-O-O *", "e1g1 e8c8", "*" },
        { "[FEN \"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1\"]\n1. 0-0-0 0-0 *", "e1c1 e8g8", "*" },
        { "[FEN \"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1\"]\n1. o-o+ o-o-o *", "e1g1 e8c8", "*" },
        { "[FEN \"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1\"]\n1. e1g1 e8c8 *", "e1g1 e8c8", "*" },
        // black to move first; promotions in four spellings
        { "[FEN \"7K/8/8/8/8/8/p7/6k1 b - - 0 1\"]\n1... a1=Q+ *", "a2a1q", "*" },
        { "[FEN \"7K/8/8/8/8/8/p7/6k1 b - - 0 1\"]\n1. ... a1Q *", "a2a1q", "*" },
        { "[FEN \"7K/8/8/8/8/8/p7/6k1 b - - 0 1\"]\na2a1r *", "a2a1r", "*" },
        { "[FEN \"7K/8/8/8/8/8/p7/6k1 b - - 0 1\"]\na1=n *", "a2a1n", "*" },
        // chess960: the king takes its rook
        { "[Variant \"Chess960\"]\n[FEN \"1r1k1r2/1p3p2/8/8/8/8/1P3P2/1R1K1R2 w FBfb - 0 1\"]\n"
          "1. O-O O-O-O *",
          "d1f1 d8b8", "*" },
        { "[Variant \"fischerandom\"]\n[FEN \"1r1k1r2/1p3p2/8/8/8/8/1P3P2/1R1K1R2 w KQkq - 0 1\"]\n"
          "1. 0-0 0-0 *",
          "d1f1 d8f8", "*" },
    };
    (void)s;
    check_games(cases, ARRAY_LEN(cases));
}

// Field case F-045.
static void every_token_of_the_standard_is_read(void **s)
{
    struct arena a = { 0 };
    struct pgn_game game;
    struct pgn_reader *r = open_text(S("% producer: x\n"
                                       "1. e4 {a ; b ( c} e5 ; rest of line 2. Qh5\n"
                                       "2. Nf3 (2. f4 $5 (2. d4 exd4) 2... exf4 $13) 2... Nc6 {!} "
                                       "$16 3. Bb5 *\n"));
    (void)s;
    assert_int_equal(next_game(r, &a, &game), PGN_GOOD);
    assert_str(moves_text(&game, &a), S("e2e4 e7e5 g1f3 b8c6 f1b5"));
    assert_int_equal(game.line, 2);
    assert_int_equal(game.offset, 14);
    static const struct pgn_note want[] = {
        { PGN_COMMENT, 1, T("a ; b ( c"), 0, 0 },
        { PGN_COMMENT, 2, T("rest of line 2. Qh5"), 0, 0 },
        { PGN_OPEN, 3, { 0 }, 0, 0 },
        { PGN_SIDE_MOVE, 3, { 0 }, 0, 0 },
        { PGN_NAG, 3, { 0 }, 5, 0 },
        { PGN_OPEN, 3, { 0 }, 0, 0 },
        { PGN_SIDE_MOVE, 3, { 0 }, 0, 0 },
        { PGN_SIDE_MOVE, 3, { 0 }, 0, 0 },
        { PGN_CLOSE, 3, { 0 }, 0, 0 },
        { PGN_SIDE_MOVE, 3, { 0 }, 0, 0 },
        { PGN_NAG, 3, { 0 }, 13, 0 },
        { PGN_CLOSE, 3, { 0 }, 0, 0 },
        { PGN_COMMENT, 4, T("!"), 0, 0 },
        { PGN_NAG, 4, { 0 }, 16, 0 },
    };
    static const char *const side_moves[] = { "f2f4", "d2d4", "e5d4", "e5f4" };
    assert_int_equal(game.notes.n, ARRAY_LEN(want));
    size_t side = 0;
    for (size_t i = 0; i < game.notes.n; i++) {
        assert_int_equal(game.notes.v[i].kind, want[i].kind);
        assert_int_equal(game.notes.v[i].ply, want[i].ply);
        assert_int_equal(game.notes.v[i].nag, want[i].nag);
        assert_str(game.notes.v[i].text, want[i].text);
        if (want[i].kind == PGN_SIDE_MOVE)
            assert_string_equal(uci_format(game.notes.v[i].side).data, side_moves[side++]);
    }
    pgn_close(r);
    arena_free(&a);
}

static void tags_are_read_as_they_occur(void **s)
{
    static const struct {
        const char *text, *name, *value;
    } cases[] = {
        { "[Event \"a\"]\n*", "Event", "a" },
        { "[ Event   \"a\" ]  \r\n*", "Event", "a" },
        { "[Event \"say \\\"hi\\\"\"]\n*", "Event", "say \"hi\"" },
        { "[Event \"a\\\\b\"]\n*", "Event", "a\\b" },
        { "[Event \"C:\\dir\"]\n*", "Event", "C:\\dir" },
        // a backslash that escapes nothing, quotes that nobody escaped, brackets
        { "[Event \"Tournament \\\"]\n*", "Event", "Tournament \\" },
        { "[Event \"Club \"Victory\"\"]\n*", "Event", "Club \"Victory\"" },
        { "[Event \"a [b] c\"]\n*", "Event", "a [b] c" },
        { "[Event \"a \\\\\"]\n*", "Event", "a \\" },
        { "[Event \"\"]\n*", "Event", "" },
        // several in a line, doubled ones, Latin-1 (field case F-044), a byte order mark
        { "[Event \"a\"] [Site \"b\"]\n*", "Site", "b" },
        { "[Event \"a\"][Site \"b\"] e4 *", "Site", "b" },
        { "[Site \"a\"]\n[Site \"b\"]\n*", "Site", "b" },
        { "[White \"Sample, J\xE1n\"]\n*", "White", "Sample, J\xC3\xA1n" },
        { "\xEF\xBB\xBF[Event \"a\"]\n*", "Event", "a" },
        { "[Ev\x01t \"a\"]\n[Site \"b\"]\n*", "Site", "b" },
        { "[Event Unquoted]\n[Site \"b\"]\n*", "Site", "b" },
        { "[Event \"never closed\n[Site \"b\"]\n*", "Site", "b" },
    };
    struct arena a = { 0 };
    (void)s;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pgn_game game;
        struct pgn_reader *r = open_text(str_from(cases[i].text));
        assert_int_equal(next_game(r, &a, &game), PGN_GOOD);
        assert_str(pgn_tag(&game, str_from(cases[i].name)), str_from(cases[i].value));
        assert_int_equal(next_game(r, &a, &game), PGN_END);
        pgn_close(r);
    }
    arena_free(&a);
}

// Games need neither results nor empty lines between them; empty lines within are no border.
static void games_follow_each_other(void **s)
{
    static const struct {
        const char *text;
        size_t games;
    } cases[] = {
        { "", 0 },
        { "\n\n  \n", 0 },
        { "{ only a comment }\n", 0 },
        { "{ a comment }\n[Event \"a\"]\n\n1. e4 *\n", 1 },
        { "[Event \"a\"]\n1. e4 *\n[Event \"b\"]\n1. d4 *\n", 2 },
        { "[Event \"a\"]\n1. e4\n[Event \"b\"]\n1. d4\n", 2 },
        { "[Event \"a\"] 1. e4 1-0 [Event \"b\"] 1. d4 0-1", 2 },
        { "[Event \"a\"]\n\n[Event \"b\"]\n\n[Event \"c\"]\n", 3 },
        { "[Event \"a\"]\n\n[Site \"b\"]\n\n1. e4 *", 1 },
        { "[Event \"a\"]\n\n{ comment }\n\n1. e4\n\n1... e5\n\n2. Nf3 *", 1 },
        { "1. e4 e5\n\n1. d4 d5\n\n1 c4", 3 },
        { "1. e4 e5 1-0 1. d4 d5 0-1", 2 },
        { "1-0\n\n0-1\n\n1/2-1/2\n", 3 },
        { "1. e4 { not\n\na border } e5 *", 1 },
        { "1. e4 (1. d4 1-0) e5 *", 1 },
    };
    struct arena a = { 0 };
    (void)s;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pgn_game game;
        size_t n = 0;
        struct pgn_reader *r = open_text(str_from(cases[i].text));
        for (enum pgn_read got; (got = next_game(r, &a, &game)) != PGN_END; n++)
            assert_int_equal(got, PGN_GOOD);
        if (n != cases[i].games)
            fail_msg("%zu games, not %zu, in %s", n, cases[i].games, cases[i].text);
        pgn_close(r);
    }
    arena_free(&a);
}

// A broken game says where and why, keeps what came before, and the next one is read.
static void broken_games_are_told_and_left(void **s)
{
    static const struct {
        const char *text; // "\n[Event \"next\"]\n1. d4 *" follows
        size_t line;      // of the fault
        uint64_t offset;
        const char *moves, *what;
    } cases[] = {
        { "1. e4 e5\n2. Ke3 *", 2, 12, "e2e4 e7e5", "move 2. \"Ke3\" is not legal" },
        { "1. e4 e5 2. ed9 *", 1, 12, "e2e4 e7e5", "\"ed9\" is no move" },
        { "1. e4 N@e3 *", 1, 6, "e2e4", "move 1... \"N@e3\" is no move" },
        { "1. Nf3 a6 2. Nc3 b6 3. Nd4 c6 4. Nb5 *", 1, 33, "g1f3 a7a6 b1c3 b7b6 f3d4 c7c6",
          "move 4. \"Nb5\" is ambiguous" },
        { "1. e4 { never closed\n2. d4 *", 1, 6, "e2e4", "is not closed" },
        { "1. e4 ] e5 *", 1, 6, "e2e4", "\"]\" has no meaning" },
        { "[Variant \"Crazyhouse\"]\n1. e4 *", 1, 0, "", "\"Crazyhouse\" is not read" },
        { "[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n1. e4 *", 1, 0, "", "tag FEN: bad FEN" },
        { "[FEN rnbq]\n1. e4 *", 1, 0, "", "no tag pair" },
        { "1. f3 e5 2. g4 Qh4# 3. -- *", 1, 23, "f2f3 e7e5 g2g4 d8h4", "\"--\" is not legal" },
    };
    struct arena a = { 0 };
    (void)s;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pgn_game game;
        struct pgn_reader *r =
            open_text(arena_printf(&a, "%s\n[Event \"next\"]\n1. d4 *", cases[i].text));
        assert_int_equal(next_game(r, &a, &game), PGN_BROKEN);
        if (!strstr(game.fault.text, cases[i].what))
            fail_msg("%s\n%s", game.fault.text, cases[i].what);
        assert_int_equal(game.fault_line, cases[i].line);
        assert_int_equal(game.fault_offset, cases[i].offset);
        assert_str(moves_text(&game, &a), str_from(cases[i].moves));
        assert_int_equal(next_game(r, &a, &game), PGN_GOOD);
        assert_str(pgn_tag(&game, S("Event")), S("next"));
        assert_str(moves_text(&game, &a), S("d2d4"));
        assert_int_equal(next_game(r, &a, &game), PGN_END);
        pgn_close(r);
    }
    arena_free(&a);
}

static void a_bad_variation_leaves_the_main_line(void **s)
{
    static const struct {
        const char *text;
        size_t bad, notes;
    } cases[] = {
        { "1. e4 (1. d4 d5) e5 *", 0, 4 },
        { "1. e4 (1. Ke5 d5 (1... c5)) e5 *", 1, 0 },
        { "1. e4 (1. d4 Ke5 2. c4 {gone}) e5 *", 1, 3 },
        { "(1. e4) 1. e4 e5 *", 1, 0 },
        { "1. e4 ) e5 *", 0, 0 },
        { "1. e4 e5 (1... c5 2. Nf3", 1, 4 },
        { "1. e4 (=) e5 *", 0, 0 },
    };
    struct arena a = { 0 };
    (void)s;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pgn_game game;
        struct pgn_reader *r = open_text(str_from(cases[i].text));
        assert_int_equal(next_game(r, &a, &game), PGN_GOOD);
        assert_str(moves_text(&game, &a), S("e2e4 e7e5"));
        assert_int_equal(game.bad_variations, cases[i].bad);
        assert_int_equal(game.notes.n, cases[i].notes);
        pgn_close(r);
    }
    arena_free(&a);
}

// The text comes in pieces: wherever a piece ends, the games are the same.
static void the_size_of_the_file_does_not_matter(void **s)
{
    enum { GAMES = 20000 };
    static const str game_text = T("[Event \"x \\\"y\\\"\"]\r\n[Site \"?\"]\r\n\r\n1. e4 {c} e5 "
                                   "2. Nf3 (2. f4 exf4) 2... Nc6 $1 3. O-O; no\r\n\r\n");
    struct arena a = { 0 }, one = { 0 };
    struct buf b = { .arena = &a };
    (void)s;
    for (int i = 0; i < GAMES; i++)
        buf_add(&b, game_text);
    struct pgn_reader *r = open_text(buf_str(&b));
    for (int i = 0; i < GAMES; i++) {
        struct pgn_game game;
        assert_int_equal(next_game(r, &one, &game), PGN_BROKEN); // a bishop is in the way
        assert_int_equal(game.moves.n, 4);
        assert_int_equal(game.notes.n, 6);
        assert_int_equal(game.offset, (uint64_t)i * game_text.len);
        assert_int_equal(game.line, 5 * i + 1);
        assert_int_equal(game.fault_line, 5 * i + 4);
        arena_reset(&one);
    }
    struct pgn_game game;
    assert_int_equal(next_game(r, &one, &game), PGN_END);
    pgn_close(r);
    arena_free(&one);
    arena_free(&a);
}

static void a_game_too_long_is_left(void **s)
{
    struct arena a = { 0 };
    struct buf b = { .arena = &a };
    struct pgn_game game;
    (void)s;
    buf_add(&b, S("[Event \"long\"]\n\n1. e4 { "));
    while (b.len < PGN_GAME_MAX_BYTES + 500000)
        buf_add(&b, S("again and again\n"));
    buf_add(&b, S("\n[Event \"next\"]\n\n1. d4 *\n"));
    struct pgn_reader *r = open_text(buf_str(&b));
    assert_int_equal(next_game(r, &a, &game), PGN_BROKEN);
    assert_int_equal(game.fault.code, ERR_LIMIT);
    assert_int_equal(next_game(r, &a, &game), PGN_GOOD);
    assert_str(pgn_tag(&game, S("Event")), S("next"));
    pgn_close(r);
    arena_free(&a);
}

// Field case F-046, and the forms that Lichess and others write.
static void comments_hold_clocks_and_evaluations(void **s)
{
    int64_t ms = -1;
    struct pgn_eval e;
    (void)s;
    assert_true(pgn_eval(S("[%eval -0.61]"), &e));
    assert_true(!e.is_mate && e.cp == -61);
    assert_true(pgn_eval(S("good [%eval 2.35,21] [%clk 0:01:02]"), &e));
    assert_true(!e.is_mate && e.cp == 235);
    assert_true(pgn_eval(S("[%eval #-1]"), &e));
    assert_true(e.is_mate && e.mate == -1);
    assert_true(pgn_eval(S("[%eval #3,40]"), &e));
    assert_true(e.is_mate && e.mate == 3);
    assert_false(pgn_eval(S(""), &e));
    assert_false(pgn_eval(S("[%eval ]"), &e));
    assert_false(pgn_eval(S("[%evaluation 1.0]"), &e));
    assert_false(pgn_eval(S("[%eval nan]"), &e));
    assert_false(pgn_eval(S("[%eval 1.0"), &e));
    assert_true(pgn_clock(S("[%clk 1:02:03]"), S("clk"), &ms));
    assert_int_equal(ms, 3723000);
    assert_true(pgn_clock(S("[%eval 0.1] [%clk 0:00:09.87]"), S("clk"), &ms));
    assert_int_equal(ms, 9870);
    assert_true(pgn_clock(S("[%emt 02:03]"), S("emt"), &ms));
    assert_int_equal(ms, 123000);
    assert_false(pgn_clock(S("[%clk x:02:03]"), S("clk"), &ms));
    assert_false(pgn_clock(S("[%clk -1:02:03]"), S("clk"), &ms));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_are_read_in_all_spellings),
        cmocka_unit_test(castling_is_read_with_letters_and_zeros),
        cmocka_unit_test(every_token_of_the_standard_is_read),
        cmocka_unit_test(tags_are_read_as_they_occur),
        cmocka_unit_test(games_follow_each_other),
        cmocka_unit_test(broken_games_are_told_and_left),
        cmocka_unit_test(a_bad_variation_leaves_the_main_line),
        cmocka_unit_test(the_size_of_the_file_does_not_matter),
        cmocka_unit_test(a_game_too_long_is_left),
        cmocka_unit_test(comments_hold_clocks_and_evaluations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

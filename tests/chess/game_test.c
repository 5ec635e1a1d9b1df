// SPDX-License-Identifier: GPL-3.0-or-later
// When a game ends by itself, and when a player may claim that it does.
#include "helpers.h"

static struct game game_from(const char *fen, const char *moves, struct arena *a)
{
    struct game g = { .now = pos_of(fen) };
    str rest = str_from(moves);
    while (rest.len > 0)
        game_play(&g, move_of(&g.now, str_cut(&rest, ' ')), a);
    return g;
}

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define SHUFFLE "g1f3 g8f6 f3g1 f6g8"

static void the_third_occurrence_can_be_claimed_and_the_fifth_ends_the_game(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct game g = { .now = pos_of(START) };
    for (int plies = 0; plies <= 16; plies++) {
        int seen = 1 + plies / 4;
        assert_int_equal(game_repetitions(&g), seen);
        assert_int_equal(game_end(&g), plies < 16 ? GAME_ONGOING : GAME_FIVEFOLD_REPETITION);
        assert_int_equal(game_claim(&g), plies < 8    ? GAME_ONGOING
                                         : plies < 16 ? GAME_THREEFOLD_REPETITION
                                                      : GAME_FIVEFOLD_REPETITION);
        str moves = S(SHUFFLE);
        for (int i = 0; i < plies % 4; i++)
            str_cut(&moves, ' ');
        game_play(&g, move_of(&g.now, str_cut(&moves, ' ')), &a);
    }
    arena_free(&a);
}

static void a_lost_right_makes_another_position(void **state)
{
    (void)state;
    struct arena a = { 0 };
    // The kings come back, their rights do not: the first position never recurs.
    struct game g = game_from("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
                              "e1e2 e8e7 e2e1 e7e8 e1e2 e8e7 e2e1 e7e8", &a);
    assert_int_equal(game_repetitions(&g), 2);
    assert_int_equal(game_claim(&g), GAME_ONGOING);
    arena_free(&a);
}

static void a_pawn_move_or_capture_forgets_what_was(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct game g = game_from(START, SHUFFLE " " SHUFFLE " e2e4 e7e5", &a);
    assert_int_equal(g.keys.n, 0);
    assert_int_equal(game_repetitions(&g), 1);
    arena_free(&a);
}

static void an_unusable_en_passant_square_does_not_hide_a_repetition(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct game g = game_from("5kbq/3Q2n1/6p1/r3PpKn/2n5/8/8/q7 w - f6 7 4",
                              "d7c8 f8f7 c8d7 f7f8 d7d8 f8f7 d8d7 f7f8", &a);
    assert_int_equal(game_repetitions(&g), 3);
    assert_int_equal(game_claim(&g), GAME_THREEFOLD_REPETITION);
    arena_free(&a);
}

static void a_usable_en_passant_square_makes_another_position(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct game g = game_from("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1",
                              "e2e4 e8d8 e1d1 d8e8 d1e1 e8d8 e1d1 d8e8 d1e1", &a);
    assert_int_equal(game_repetitions(&g), 2); // the position after e2e4 could capture
    arena_free(&a);
}

static void quiet_moves_are_counted_in_halfmoves(void **state)
{
    (void)state;
    static const struct {
        const char *fen, *moves;
        enum game_end end, claim;
    } rows[] = {
        { "8/8/8/4k3/8/8/8/4K2R w - - 120 90", "", GAME_ONGOING, GAME_FIFTY_MOVES },
        { "8/8/8/4k3/8/8/8/4K2R w - - 99 90", "", GAME_ONGOING, GAME_ONGOING },
        { "8/8/8/4k3/8/8/8/4K2R w - - 100 90", "", GAME_ONGOING, GAME_FIFTY_MOVES },
        { "8/8/8/4k3/8/8/8/4K2R w - - 149 90", "", GAME_ONGOING, GAME_FIFTY_MOVES },
        { "8/8/8/4k3/8/8/8/4K2R w - - 150 90", "", GAME_SEVENTYFIVE_MOVES, GAME_SEVENTYFIVE_MOVES },
        { "8/8/8/4k3/8/8/8/4K2R w - - 149 90", "h1h2", GAME_SEVENTYFIVE_MOVES,
          GAME_SEVENTYFIVE_MOVES },
        { "8/8/8/4k3/8/7p/8/4K2R w - - 149 90", "h1h3", GAME_ONGOING, GAME_ONGOING },
        { "7k/5Q2/6K1/8/8/8/8/8 w - - 99 80", "f7g7", GAME_CHECKMATE, GAME_CHECKMATE },
        { "7k/5Q2/6K1/8/8/8/8/8 w - - 149 80", "f7g7", GAME_CHECKMATE, GAME_CHECKMATE },
        { "7k/8/6K1/5Q2/8/8/8/8 w - - 3 80", "f5f7", GAME_STALEMATE, GAME_STALEMATE },
        { "8/8/8/4k3/8/8/8/4KB2 w - - 3 80", "", GAME_INSUFFICIENT_MATERIAL,
          GAME_INSUFFICIENT_MATERIAL },
        { "8/8/8/4kn2/8/8/8/4KN2 w - - 3 80", "", GAME_ONGOING, GAME_ONGOING },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct game g = game_from(rows[i].fen, rows[i].moves, &a);
        if (game_end(&g) != rows[i].end || game_claim(&g) != rows[i].claim)
            fail_msg("%s %s: %d, %d", rows[i].fen, rows[i].moves, game_end(&g), game_claim(&g));
    }
    arena_free(&a);
}

// ---- strangers' games ----

static const char *const end_names[] = { [GAME_ONGOING] = "",
                                         [GAME_CHECKMATE] = "checkmate",
                                         [GAME_STALEMATE] = "stalemate",
                                         [GAME_INSUFFICIENT_MATERIAL] = "insufficient_material",
                                         [GAME_FIVEFOLD_REPETITION] = "fivefold_repetition",
                                         [GAME_SEVENTYFIVE_MOVES] = "seventyfive_moves",
                                         [GAME_THREEFOLD_REPETITION] = "threefold_repetition",
                                         [GAME_FIFTY_MOVES] = "fifty_moves" };

// python-chess also lets a player claim by announcing a move that would complete the repetition;
// game_claim looks at the board only. So: does some legal move lead to a third occurrence?
static bool next_move_repeats(const struct game *g, struct arena *a)
{
    struct move_list list;
    moves_legal(&g->now, &list);
    for (size_t i = 0; i < list.n; i++) {
        struct game next = { .now = g->now };
        for (size_t k = 0; k < g->keys.n; k++)
            *vec_push(a, &next.keys) = g->keys.v[k];
        game_play(&next, list.v[i], a);
        if (game_repetitions(&next) >= 3)
            return true;
    }
    return false;
}

static int games_checked, claims_ahead;

static void check_claim(const json_t *row, const struct game *g, struct arena *a)
{
    str wanted = json_get_str(row, "claim_termination");
    enum game_end claim = game_claim(g);
    if (claim == GAME_ONGOING && str_eq(wanted, S("threefold_repetition"))) {
        assert_true(next_move_repeats(g, a));
        claims_ahead++;
        return;
    }
    assert_str(str_from(end_names[claim]), wanted);
}

static void check_game(const json_t *row, struct arena *a)
{
    if (json_object_get(row, "oracle_exception") ||
        !str_eq(json_get_str(row, "variant"), S("chess")) ||
        json_is_true(json_object_get(row, "chess960")) ||
        json_array_size(json_object_get(row, "errors")) > 0)
        return;
    str moves = json_get_str(row, "uci"), sans = json_get_str(row, "san");
    if (str_find(moves, S("0000")) >= 0)
        return; // a null move is none
    struct game g = { .now = pos_of(json_get_str(row, "start_fen").data) };
    while (moves.len > 0) {
        move m = move_of(&g.now, str_cut(&moves, ' ')), read = MOVE_NONE;
        str san = str_cut(&sans, ' ');
        assert_str(str_from(san_format(&g.now, m).data), san);
        assert_int_equal(san_parse(&g.now, san, &read), SAN_LEGAL);
        assert_int_equal(read, m);
        game_play(&g, m, a);
    }
    assert_str(fen_of(&g.now, a), json_get_str(row, "final_fen"));
    assert_str(str_from(end_names[game_end(&g)]), json_get_str(row, "termination"));
    assert_int_equal(game_repetitions(&g), json_get_int(row, "repetitions", -1));
    assert_int_equal(g.now.halfmove, json_get_int(row, "halfmove_clock", -1));
    check_claim(row, &g, a);
    games_checked++;
}

static void recorded_games_end_as_python_chess_says(void **state)
{
    (void)state;
    assert_int_equal(records_each(S("data/pgn/oracle_games.jsonl.gz"), check_game), 777);
    assert_int_equal(games_checked, 744);
    assert_int_equal(claims_ahead, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_third_occurrence_can_be_claimed_and_the_fifth_ends_the_game),
        cmocka_unit_test(a_lost_right_makes_another_position),
        cmocka_unit_test(a_pawn_move_or_capture_forgets_what_was),
        cmocka_unit_test(an_unusable_en_passant_square_does_not_hide_a_repetition),
        cmocka_unit_test(a_usable_en_passant_square_makes_another_position),
        cmocka_unit_test(quiet_moves_are_counted_in_halfmoves),
        cmocka_unit_test(recorded_games_end_as_python_chess_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Legal moves and their orders, what single moves do, and the state of a position.
#include "helpers.h"

static void moves_come_in_the_order_of_published_prompts(void **state)
{
    (void)state;
    static const struct { // few-shot specification 1.8
        const char *fen, *order;
    } rows[] = {
        { "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
          "h1h8 h1h7 h1h6 h1h5 h1h4 h1h3 h1h2 h1g1 h1f1 e1f2 e1e2 e1d2 e1f1 e1d1 a1a8 a1a7 a1a6 "
          "a1a5 a1a4 a1a3 a1a2 a1d1 a1c1 a1b1 e1g1 e1c1" },
        { "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e1f2 e1e2 e1d2 e1f1 e1d1 e5e6 e5d6" },
        { "1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1",
          "e1f2 e1e2 e1d2 e1f1 e1d1 a7b8q a7b8r a7b8b a7b8n a7a8q a7a8r a7a8b a7a8n" },
        { "4k3/8/8/8/4r3/8/3P4/R3K2R w KQ - 0 1", "e1f2 e1f1 e1d1" },
        { "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1", "c5d6 c5c6 c5b6 c5d5 c5b5 c5d4 c5c4 c5b4 e4d3" },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct position pos = pos_of(rows[i].fen);
        struct move_list list;
        moves_ordered(&pos, &list);
        assert_str(uci_list(&list, &a), str_from(rows[i].order));
    }
    arena_free(&a);
}

static void sorted_moves_follow_their_text(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct position pos = pos_of("1n2k3/P7/8/8/8/8/8/4K2R w K - 0 1");
    struct move_list list;
    moves_sorted(&pos, &list);
    assert_str(uci_list(&list, &a),
               S("a7a8b a7a8n a7a8q a7a8r a7b8b a7b8n a7b8q a7b8r e1d1 e1d2 e1e2 e1f1 e1f2 e1g1 "
                 "h1f1 h1g1 h1h2 h1h3 h1h4 h1h5 h1h6 h1h7 h1h8"));
    arena_free(&a);
}

static void the_initial_position_is_the_initial_position(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct position pos = position_start();
    assert_str(fen_of(&pos, &a), S("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"));
    arena_free(&a);
}

static bool is_legal(const char *fen, const char *uci)
{
    struct position pos = pos_of(fen);
    move m;
    return uci_parse(&pos, str_from(uci), &m);
}

static void castling_needs_a_free_and_safe_way(void **state)
{
    (void)state;
    static const struct {
        const char *fen, *uci;
        int legal;
    } rows[] = {
        { "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", 1 },
        { "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1c1", 1 },
        { "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1h1", 0 },  // king takes rook
        { "4k3/8/8/8/8/8/8/R3K2R w Q - 0 1", "e1g1", 0 },   // right lost
        { "4k3/8/8/8/8/8/8/RN2K2R w KQ - 0 1", "e1c1", 0 }, // knight in the rook's way
        { "4k3/8/8/8/8/8/8/R3KB1R w KQ - 0 1", "e1g1", 0 },
        { "1r2k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1c1", 1 }, // only the rook passes b1
        { "r3k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1c1", 1 },  // the rook may be attacked
        { "3rk3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1c1", 0 },  // king would pass an attacked square
        { "2r1k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1c1", 0 }, // and may not arrive on one
        { "4k3/4r3/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", 0 }, // nor flee from check
        { "r3k2r/8/8/8/8/8/8/4K3 b kq - 0 1", "e8g8", 1 },
        { "r3k2r/8/8/8/8/8/8/4K3 b kq - 0 1", "e8c8", 1 },
        { "r3k2r/6P1/8/8/8/8/8/4K3 b kq - 0 1", "e8g8", 0 }, // pawns guard diagonally
        { "r3k2r/4P3/8/8/8/8/8/4K3 b kq - 0 1", "e8g8", 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (is_legal(rows[i].fen, rows[i].uci) != (rows[i].legal == 1))
            fail_msg("%s in %s", rows[i].uci, rows[i].fen);
    }
}

static void en_passant_is_legal_unless_it_exposes_the_king(void **state)
{
    (void)state;
    static const struct {
        const char *fen, *uci;
        int legal;
    } rows[] = {
        { "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", 1 },
        { "4k3/8/8/3pP3/8/8/8/4K3 w - - 0 2", "e5d6", 0 },    // not after a double step
        { "8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 2", "e5d6", 0 },   // both pawns leave the rank
        { "4r3/8/8/3pP3/8/8/8/k3K3 w - d6 0 2", "e5d6", 0 },  // pinned on the file
        { "4k3/6b1/8/3pP3/3K4/8/8/8 w - d6 0 2", "e5d6", 0 }, // pinned on the diagonal
        { "2b1k3/8/8/3pP3/6K1/8/8/8 w - d6 0 2", "e5d6", 0 }, // another piece gives check
        { "4k3/8/8/3pP3/4K3/8/8/8 w - d6 0 2", "e5d6", 1 },   // takes the checking pawn
        { "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1", "e4d3", 1 },
        { "4k3/8/8/2KpP3/8/8/8/8 w - d6 0 2", "e5d6", 1 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (is_legal(rows[i].fen, rows[i].uci) != (rows[i].legal == 1))
            fail_msg("%s in %s", rows[i].uci, rows[i].fen);
    }
}

static void moves_do_what_the_rules_say(void **state)
{
    (void)state;
    static const struct {
        const char *fen, *uci, *after;
    } rows[] = {
        { "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 9", "e1g1", "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 4 9" },
        { "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 9", "e8c8", "2kr3r/8/8/8/8/8/8/R3K2R w KQ - 4 10" },
        { "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 9", "a1a8", "R3k2r/8/8/8/8/8/8/4K2R b Kk - 0 9" },
        { "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 9", "e1e2", "r3k2r/8/8/8/8/8/4K3/R6R b kq - 4 9" },
        { "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 9", "h1h2", "r3k2r/8/8/8/8/8/7R/R3K3 b Qkq - 4 9" },
        { "4k3/8/8/3pP3/8/8/8/4K3 w - d6 5 2", "e5d6", "4k3/8/3P4/8/8/8/8/4K3 b - - 0 2" },
        { "1r2k3/P7/8/8/8/8/8/4K3 w - - 5 1", "a7b8n", "1N2k3/8/8/8/8/8/8/4K3 b - - 0 1" },
        { "4k3/8/8/8/8/8/p7/4K3 b - - 5 1", "a2a1q", "4k3/8/8/8/8/8/8/q3K3 w - - 0 2" },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct position pos = pos_of(rows[i].fen), next = after(&pos, rows[i].uci);
        assert_str(fen_of(&next, &a), str_from(rows[i].after));
        assert_true(next.key == pos_of(rows[i].after).key);
    }
    arena_free(&a);
}

static void a_move_can_be_taken_apart(void **state)
{
    (void)state;
    struct position pos = pos_of("r3k2r/P7/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1");
    move castle = move_of(&pos, S("e1c1")), promote = move_of(&pos, S("a1a6"));
    assert_int_equal(move_kind(castle), MOVE_CASTLING);
    assert_int_equal(move_from(castle), 4);
    assert_int_equal(move_to(castle), 2);
    assert_false(move_is_capture(&pos, castle));
    assert_int_equal(move_promotion(promote), PIECE_NONE);
    move en_passant = move_of(&pos, S("e5d6"));
    assert_int_equal(move_kind(en_passant), MOVE_EN_PASSANT);
    assert_true(move_is_capture(&pos, en_passant));
    assert_true(move_is_capture(&pos, move_of(&pos, S("h1h8"))));
    assert_false(move_is_capture(&pos, move_of(&pos, S("h1h7"))));
    pos = pos_of("1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1");
    assert_int_equal(move_promotion(move_of(&pos, S("a7b8r"))), ROOK);
    assert_int_equal(position_piece_at(&pos, 57), ROOK);
    assert_int_equal(position_color_at(&pos, 57), BLACK);
    assert_int_equal(position_piece_at(&pos, 0), PIECE_NONE);
}

static void checks_are_seen_whoever_gives_them(void **state)
{
    (void)state;
    static const struct {
        const char *fen, *uci;
        int check;
    } rows[] = {
        { "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "a1a8", 1 },
        { "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "a1a7", 0 },
        { "3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1", 1 },    // the castled rook
        { "4k3/8/8/8/4N3/8/4R3/4K3 w - - 0 1", "e4c3", 1 }, // uncovered
        { "8/8/8/k2pP2R/8/8/8/4K3 w - d6 0 2", "e5d6", 1 }, // uncovered by en passant
        { "4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", 1 },
        { "4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8b", 0 },
        { "4k3/8/3P4/8/8/8/8/4K3 w - - 0 1", "d6d7", 1 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct position pos = pos_of(rows[i].fen);
        move m = move_of(&pos, str_from(rows[i].uci));
        if (move_gives_check(&pos, m) != (rows[i].check == 1))
            fail_msg("%s in %s", rows[i].uci, rows[i].fen);
        assert_false(move_gives_mate(&pos, m));
    }
    struct position mate = pos_of("7k/5Q2/6K1/8/8/8/8/8 w - - 99 80");
    assert_true(move_gives_mate(&mate, move_of(&mate, S("f7g7"))));
    assert_true(move_gives_check(&mate, move_of(&mate, S("f7g7"))));
    assert_false(move_gives_mate(&mate, move_of(&mate, S("f7a7"))));
}

static void mate_and_stalemate_are_told_apart(void **state)
{
    (void)state;
    struct position mated = pos_of("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1");
    struct position stuck = pos_of("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1");
    struct position start = position_start();
    assert_true(position_is_checkmate(&mated) && !position_is_stalemate(&mated));
    assert_true(position_in_check(&mated) && position_checkers(&mated) == (bitboard)1 << 56);
    assert_true(position_is_stalemate(&stuck) && !position_is_checkmate(&stuck));
    assert_false(position_is_checkmate(&start) || position_is_stalemate(&start));
    assert_true(position_checkers(&start) == 0);
}

static void only_dead_material_is_insufficient(void **state)
{
    (void)state;
    static const struct {
        const char *fen;
        int dead;
    } rows[] = {
        { "8/8/8/4k3/8/8/8/4K3 w - - 0 1", 1 },       { "8/8/8/4k3/8/8/8/4KN2 w - - 0 1", 1 },
        { "8/8/8/4k3/8/8/8/4KB2 w - - 0 1", 1 },      { "8/8/8/4kb2/8/8/8/4K3 w - - 0 1", 1 },
        { "8/8/8/4kb2/8/8/8/4KB2 w - - 0 1", 1 },     // bishops of one colour
        { "8/8/8/4kb2/8/3B1B2/8/4KB2 w - - 0 1", 1 }, // however many
        { "8/8/8/4kb2/8/8/8/2B1K3 w - - 0 1", 0 },    // opposite colours
        { "8/8/8/4k3/8/8/8/3NKN2 w - - 0 1", 0 },     { "8/8/8/4kn2/8/8/8/4KN2 w - - 0 1", 0 },
        { "8/8/8/4kn2/8/8/8/4KB2 w - - 0 1", 0 },     { "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1", 0 },
        { "8/8/8/4k3/8/8/8/4K2R w - - 0 1", 0 },      { "8/8/8/4k3/8/8/8/4K2Q w - - 0 1", 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct position pos = pos_of(rows[i].fen);
        if (position_is_insufficient(&pos) != (rows[i].dead == 1))
            fail_msg("%s", rows[i].fen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_come_in_the_order_of_published_prompts),
        cmocka_unit_test(sorted_moves_follow_their_text),
        cmocka_unit_test(the_initial_position_is_the_initial_position),
        cmocka_unit_test(castling_needs_a_free_and_safe_way),
        cmocka_unit_test(en_passant_is_legal_unless_it_exposes_the_king),
        cmocka_unit_test(moves_do_what_the_rules_say),
        cmocka_unit_test(a_move_can_be_taken_apart),
        cmocka_unit_test(checks_are_seen_whoever_gives_them),
        cmocka_unit_test(mate_and_stalemate_are_told_apart),
        cmocka_unit_test(only_dead_material_is_insufficient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

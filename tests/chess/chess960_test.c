// SPDX-License-Identifier: GPL-3.0-or-later
// Castling in chess960: which rights a FEN gives, how they are written, when the move is legal and
// what it is called.
#include "helpers.h"

static str shredder_of(const struct position *pos, struct arena *a)
{
    struct buf b = { .arena = a };
    position_format_shredder(pos, &b);
    return buf_str(&b);
}

// The castling field of a FEN.
static str rights_of(str fen)
{
    str_cut(&fen, ' ');
    str_cut(&fen, ' ');
    return str_cut(&fen, ' ');
}

static void rights_are_read_and_written_as_xfen_and_shredder_fen(void **state)
{
    (void)state;
    static const struct {
        const char *placement, *read, *xfen, *shredder;
    } rows[] = {
        { "r3k2r/8/8/8/8/8/8/R3K2R", "KQkq", "KQkq", "HAha" },
        { "r3k2r/8/8/8/8/8/8/R3K2R", "HAha", "KQkq", "HAha" },
        { "r3k2r/8/8/8/8/8/8/R3K2R", "Kh", "Kk", "Hh" },
        { "1r1k1r2/8/8/8/8/8/8/1R1K1R2", "KQkq", "KQkq", "FBfb" },
        // two rooks on one side: K and Q are the outer ones, files name the inner ones
        { "4k3/8/8/8/8/8/8/R1R1KR1R", "KQ", "KQ", "HA" },
        { "4k3/8/8/8/8/8/8/R1R1KR1R", "FC", "FC", "FC" },
        { "4k3/8/8/8/8/8/8/R1R1KR1R", "KC", "KC", "HC" },
        { "4k3/8/8/8/8/8/8/R1R1KR1R", "HA", "KQ", "HA" },
        { "r1r1kr1r/8/8/8/8/8/8/4K3", "fc", "fc", "fc" },
        // a rook out of the back rank or of the other side does not make K ambiguous
        { "4k3/8/8/8/8/8/7R/R3KR2", "FA", "KQ", "FA" },
        { "k7/8/8/8/8/8/8/3RRK2", "Q", "Q", "D" },
        { "k7/8/8/8/8/8/8/3RRK2", "E", "E", "E" },
        { "k7/8/8/8/8/8/8/3RRK2", "D", "Q", "D" },
        { "4k3/8/8/8/8/8/8/R3K2R", "-", "-", "-" },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        str fen = arena_printf(&a, "%s w %s - 0 1", rows[i].placement, rows[i].read);
        struct position pos;
        unsigned repairs = 0;
        if (position_parse_as(fen, VARIANT_CHESS960, &pos, &repairs, NULL) != FAULT_NONE)
            fail_msg("%.*s is refused", STR(fen));
        assert_int_equal(repairs, 0);
        assert_str(rights_of(fen_of(&pos, &a)), str_from(rows[i].xfen));
        assert_str(rights_of(shredder_of(&pos, &a)), str_from(rows[i].shredder));
    }
    arena_free(&a);
}

static void rights_that_cannot_be_are_dropped_and_told(void **state)
{
    (void)state;
    static const struct {
        const char *fen, *kept;
    } rows[] = {
        { "4k3/8/8/8/8/8/8/R3K3 w KQ - 0 1", "Q" },           // no rook on that side
        { "4k3/8/8/8/8/8/8/R3K3 w K - 0 1", "-" },            // nor does it mean the other side
        { "4k3/8/8/8/8/8/8/R3K3 w KB - 0 1", "-" },           // no rook on that file
        { "4k3/8/8/8/8/8/4K3/R6R w KQ - 0 1", "-" },          // the king has left its rank
        { "4k3/8/8/8/8/8/8/4K2r w K - 0 1", "-" },            // the other side's rook
        { "4k3/8/8/8/8/8/R6R/4K3 w AH - 0 1", "-" },          // rooks on another rank
        { "4k3/8/8/8/8/8/8/2R1KR1R w HF - 0 1", "K" },        // one right a side: the outer rook
        { "4k3/8/8/8/8/8/8/R1R1KR1R w AC - 0 1", "Q" },       // likewise
        { "4k3/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "KQ" },       // black has no rooks
        { "kb4r1/8/8/8/8/8/6p1/R3KR2 b KQkq - 0 19", "KQk" }, // no rook on black's a-side
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct position pos;
        unsigned repairs = 0;
        assert_int_equal(
            position_parse_as(str_from(rows[i].fen), VARIANT_CHESS960, &pos, &repairs, NULL),
            FAULT_NONE);
        if (repairs != REPAIR_CASTLING)
            fail_msg("%s: repairs %u", rows[i].fen, repairs);
        assert_str(rights_of(fen_of(&pos, &a)), str_from(rows[i].kept));
    }
    arena_free(&a);
}

static void standard_chess_knows_no_rights_but_its_own(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct position pos = pos_of("1r1k1r2/8/8/8/8/8/8/1R1K1R2 w KQkq - 0 1");
    assert_str(rights_of(fen_of(&pos, &a)), S("-"));
    pos = pos_of("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    struct position pos960 = pos960_of("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    assert_true(pos.key == pos960.key);
    assert_str(shredder_of(&pos, &a), S("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1"));
    arena_free(&a);
}

static void castling_goes_from_king_to_rook_and_ends_as_in_chess(void **state)
{
    (void)state;
    static const struct {
        const char *fen, *uci, *san, *after;
    } rows[] = {
        { "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1h1", "O-O", "4k3/8/8/8/8/8/8/R4RK1 b - - 1 1" },
        { "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1a1", "O-O-O", "4k3/8/8/8/8/8/8/2KR3R b - - 1 1" },
        // the king stays, the rook jumps over it
        { "4k3/8/8/8/8/8/8/R5KR w KQ - 0 1", "g1h1", "O-O", "4k3/8/8/8/8/8/8/R4RK1 b - - 1 1" },
        { "2kr4/8/8/8/8/8/8/4K3 b k - 4 9", "c8d8", "O-O", "5rk1/8/8/8/8/8/8/4K3 w - - 5 10" },
        // the rook stays, the king jumps
        { "4k3/8/8/8/8/8/8/4KR2 w K - 0 1", "e1f1", "O-O", "4k3/8/8/8/8/8/8/5RK1 b - - 1 1" },
        // they change places
        { "k7/8/8/8/8/8/8/5KR1 w K - 0 1", "f1g1", "O-O", "k7/8/8/8/8/8/8/5RK1 b - - 1 1" },
        { "7k/8/8/8/8/8/8/2RK4 w Q - 0 1", "d1c1", "O-O-O", "7k/8/8/8/8/8/8/2KR4 b - - 1 1" },
        // the whole rank
        { "8/8/8/k7/8/8/8/1K5R w K - 0 1", "b1h1", "O-O", "8/8/8/k7/8/8/8/5RK1 b - - 1 1" },
        { "6rk/8/8/8/8/8/8/R4K2 w Q - 0 1", "f1a1", "O-O-O", "6rk/8/8/8/8/8/8/2KR4 b - - 1 1" },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct position pos = pos960_of(rows[i].fen);
        move m = move_of(&pos, str_from(rows[i].uci)), read = MOVE_NONE;
        assert_int_equal(move_kind(m), MOVE_CASTLING);
        assert_false(move_is_capture(&pos, m));
        assert_str(str_from(san_format(&pos, m).data), str_from(rows[i].san));
        assert_int_equal(san_parse(&pos, str_from(rows[i].san), &read), SAN_LEGAL);
        assert_int_equal(read, m);
        struct position next = position_after(&pos, m);
        assert_str(fen_of(&next, &a), str_from(rows[i].after));
        assert_true(next.key == pos960_of(fen_of(&next, &a).data).key);
    }
    arena_free(&a);
}

static void castling_needs_a_free_and_safe_way(void **state)
{
    (void)state;
    static const struct {
        const char *fen, *uci;
        int legal;
    } rows[] = {
        { "4k3/8/8/8/8/8/8/1R2K3 w Q - 0 1", "e1b1", 1 },
        { "4k3/8/8/8/8/8/8/RN2K3 w Q - 0 1", "e1a1", 0 },  // b1 is on the rook's way
        { "4k3/8/8/8/8/8/8/NR2K3 w Q - 0 1", "e1b1", 1 },  // a1 is on nobody's way
        { "4k3/8/8/8/8/8/8/1K1N3R w K - 0 1", "b1h1", 0 }, // d1 is on the king's way
        { "2r1k3/8/8/8/8/8/8/1K5R w K - 0 1", "b1h1", 0 }, // c1 is attacked
        { "6r1/k7/8/8/8/8/8/1K5R w K - 0 1", "b1h1", 0 },  // g1 is attacked
        { "1r2k3/8/8/8/8/8/8/1K5R w K - 0 1", "b1h1", 0 }, // in check
        { "4k2r/8/8/8/8/8/8/1K5R w K - 0 1", "b1h1", 1 },  // only the rook is attacked
        { "1r2k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1a1", 1 }, // only b1 is attacked
        { "4k3/8/8/8/8/8/8/qR1K4 w Q - 0 1", "d1b1", 0 },  // the rook uncovers c1 on its rank
        { "4k3/8/8/8/8/8/8/2KR3q w K - 0 1", "c1d1", 0 },  // the rook covers it now, not then
        { "4k3/8/8/8/8/8/8/R1RK4 w A - 0 1", "d1a1", 0 },  // the other rook stands in the way
        { "4k3/8/8/8/8/8/8/R1RK4 w C - 0 1", "d1c1", 1 },
        { "4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "e1h1", 0 }, // no right
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct position pos = pos960_of(rows[i].fen);
        move m = MOVE_NONE;
        if (uci_parse(&pos, str_from(rows[i].uci), &m) != (rows[i].legal == 1))
            fail_msg("%s: %s", rows[i].fen, rows[i].uci);
    }
}

static void only_king_takes_rook_is_castling_in_uci(void **state)
{
    (void)state;
    struct position pos = pos960_of("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1");
    move m = MOVE_NONE;
    assert_false(uci_parse(&pos, S("e1g1"), &m) || uci_parse(&pos, S("e1c1"), &m));
    assert_int_equal(san_parse(&pos, S("e1g1"), &m), SAN_ILLEGAL);
    assert_int_equal(san_parse(&pos, S("Kg1"), &m), SAN_ILLEGAL);
    assert_int_equal(san_parse(&pos, S("Kh1"), &m), SAN_ILLEGAL);
    assert_int_equal(m, MOVE_NONE);
    assert_int_equal(san_parse(&pos, S("e1h1"), &m), SAN_LEGAL); // both squares in full
    assert_int_equal(move_to(m), 6);
    // f1g1 castles, for a step of the king to its own rook's square there is none
    pos = pos960_of("4k3/8/8/8/8/8/8/5KR1 w K - 0 1");
    assert_int_equal(move_kind(move_of(&pos, S("f1g1"))), MOVE_CASTLING);
    // b1c1 is a step: the rook it would castle with stands on a1
    pos = pos960_of("4k3/8/8/8/8/8/8/RK6 w Q - 0 1");
    assert_int_equal(move_kind(move_of(&pos, S("b1c1"))), MOVE_PLAIN);
    assert_int_equal(move_kind(move_of(&pos, S("b1a1"))), MOVE_CASTLING);
}

static void rights_go_with_king_rook_and_capture(void **state)
{
    (void)state;
    static const struct {
        const char *uci, *rights;
    } rows[] = {
        { "c1c2", "kq" },   { "b1a1", "Kkq" },  { "f1e1", "Qkq" },
        { "g7f8n", "KQq" }, { "g2g3", "KQkq" }, { "c1f1", "kq" },
    };
    struct arena a = { 0 };
    struct position pos = pos960_of("1rk2r2/5pP1/8/8/8/8/6P1/1RK2R2 w KQkq - 0 1");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct position next = after(&pos, rows[i].uci);
        assert_str(rights_of(fen_of(&next, &a)), str_from(rows[i].rights));
    }
    arena_free(&a);
}

static void variants_have_the_names_of_pgn_and_programs(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int variant; // -1: none of ours
    } rows[] = {
        { "standard", VARIANT_STANDARD },
        { "Standard", VARIANT_STANDARD },
        { "chess960", VARIANT_CHESS960 },
        { "Chess960", VARIANT_CHESS960 },
        { "Fischerandom", VARIANT_CHESS960 },
        { "Fischer Random", VARIANT_CHESS960 },
        { "From Position", VARIANT_STANDARD },
        { "Atomic", -1 },
        { "", -1 },
        { "chess960 ", -1 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum variant v;
        bool known = variant_parse(str_from(rows[i].name), &v);
        if (known != (rows[i].variant >= 0) || (known && (int)v != rows[i].variant))
            fail_msg("\"%s\"", rows[i].name);
    }
    assert_str(str_from(variant_name(VARIANT_CHESS960)), S("chess960"));
    assert_str(str_from(variant_name(VARIANT_STANDARD)), S("standard"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rights_are_read_and_written_as_xfen_and_shredder_fen),
        cmocka_unit_test(rights_that_cannot_be_are_dropped_and_told),
        cmocka_unit_test(standard_chess_knows_no_rights_but_its_own),
        cmocka_unit_test(castling_goes_from_king_to_rook_and_ends_as_in_chess),
        cmocka_unit_test(castling_needs_a_free_and_safe_way),
        cmocka_unit_test(only_king_takes_rook_is_castling_in_uci),
        cmocka_unit_test(rights_go_with_king_rook_and_capture),
        cmocka_unit_test(variants_have_the_names_of_pgn_and_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

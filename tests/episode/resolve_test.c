// SPDX-License-Identifier: GPL-3.0-or-later
// The resolver: every row of the table in the few-shot specification, section 2.6, and the rules
// that the table leaves out.
#include "test.h"

#include "episode/episode.h"

#define A "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"
#define C "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 4 8"
#define P "8/P6k/8/8/8/8/6Kp/8 w - - 0 1"
#define K "4k3/8/8/8/8/2N5/8/1N2K1N1 w - - 0 1"
#define E "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"
#define N "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"

struct row {
    const char *fen, *answer, *want; // "uci mode", "uci *" (any mode), or the error
};

static void check(const struct row *row)
{
    struct arena a = { 0 };
    struct position pos;
    struct err err = { 0 };
    struct resolution r;
    assert_int_equal(position_parse(str_from(row->fen), &pos, &err), FAULT_NONE);
    move_resolve(&pos, str_from(row->answer), &a, &r);
    str got = resolve_error_name(r.error);
    if (r.error == RESOLVE_OK) {
        struct move_text uci = uci_format(r.m);
        bool any = str_ends(str_from(row->want), S("*"));
        got = arena_printf(&a, "%s %.*s", uci.data, STR(any ? S("*") : resolve_mode_name(r.mode)));
    }
    if (!str_eq(got, str_from(row->want)))
        fail_msg("\"%s\": got %.*s, want %s", row->answer, STR(got), row->want);
    arena_free(&a);
}

static void check_all(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(&rows[i]);
}
#define CHECK(...)                                                                                 \
    do {                                                                                           \
        static const struct row rows_[] = { __VA_ARGS__ };                                         \
        check_all(rows_, ARRAY_LEN(rows_));                                                        \
    } while (0)

#define WHOLE " whole_output"
#define UCI " uci_from_text"
#define SAN " san_from_text"
#define FINAL " final_move"
#define ILLEGAL "no_legal_candidate"
#define NOTHING "no_candidate"

static void rows_1_to_14(void **s)
{
    (void)s;
    CHECK({ A, "h5f7", "h5f7" WHOLE }, { A, "H5F7", "h5f7" WHOLE }, { A, "`h5f7`", "h5f7" WHOLE },
          { A, "[h5f7]", "h5f7" WHOLE }, { A, "h5f7;", "h5f7" WHOLE },
          { A, "h5f7\n", "h5f7" WHOLE }, { A, "\"h5f7\"", "h5f7" UCI },
          { A, "h5-f7", "h5f7" WHOLE }, { A, "h5xf7", "h5f7" WHOLE }, { A, "Qh5xf7", "h5f7" WHOLE },
          { A, "Qxf7#", "h5f7" WHOLE }, { A, "Qxf7+", "h5f7" WHOLE }, { A, "Qxf7", "h5f7" WHOLE },
          { A, "Qf7", "h5f7" WHOLE }, { A, "(Qxf7#)", "h5f7" WHOLE }, { A, "qxf7#", ILLEGAL },
          { A, "Qxf7#!!", "h5f7" SAN }, { A, "Qxf7# wins", "h5f7" SAN },
          { A, "1. Qxf7#", "h5f7" SAN }, { A, "4.Qxf7#", "h5f7" SAN },
          { A, "The best move is Qxf7#.", "h5f7" SAN }, { A, "Move: h5f7", "h5f7" UCI },
          { A, "{\"move\": \"h5f7\"}", "h5f7" UCI }, { A, "Qxf7# (h5f7)", "h5f7" UCI },
          { A, "Qxf7# or Bxf7+", "ambiguous" }, { A, "a2a3 and h5f7", "ambiguous" });
}

static void rows_15_to_25_final_move_lines(void **s)
{
    (void)s;
    CHECK({ A, "I considered Bxf7+ but\nFinal move: h5f7", "h5f7" FINAL },
          { A, "Final move: h5f7\nFinal move: c4f7", "c4f7" FINAL },
          { A, "final  move :  `Qxf7#`.", "h5f7" FINAL },
          { A, "Final move: Qxf7# (mate)", ILLEGAL }, { A, "Final Move: h5f7 or c4f7", ILLEGAL },
          { A, "Final move: h5f7:", ILLEGAL }, { A, "Final move:", NOTHING },
          { A, "**Final move: h5f7**", "h5f7" UCI }, { A, "My final move: h5f7", "h5f7" UCI },
          { A, "Final move - h5f7", "h5f7" UCI }, { A, "", NOTHING }, { A, "   ", NOTHING },
          { A, "...", NOTHING }, { A, "resign", ILLEGAL }, { A, "none", ILLEGAL },
          { A, "0000", ILLEGAL }, { A, "null", ILLEGAL }, { A, "e2e4", ILLEGAL },
          { A, "Qxf8", ILLEGAL }, { A, "h5f7q", ILLEGAL }, { A, "h5f7g8", ILLEGAL },
          { A, "xh5f7", ILLEGAL });
}

static void rows_26_to_38_prose(void **s)
{
    (void)s;
    CHECK({ A, "f7", ILLEGAL }, { A, "xf7", ILLEGAL }, { A, "Q x f7", ILLEGAL },
          { A, "queen takes f7", ILLEGAL }, { A, "bxf7", ILLEGAL }, { A, "Bxf7", "c4f7" WHOLE },
          { A, "d4", "d2d4" WHOLE }, { A, "d2-d4", "d2d4" WHOLE },
          { A, "White plays d4 and e5 follows", "d2d4" SAN }, { A, "Ng1f3", "g1f3" WHOLE },
          { A, "N1f3", "g1f3" WHOLE }, { A, "Ngf3", "g1f3" WHOLE },
          { A, "The queen targets f7", ILLEGAL }, { A, "The weak square is f7, so Qxf7#", ILLEGAL },
          { A, "The weak square f7: play Qxf7#", "h5f7 *" },
          { A, "h5f7 targets the weak square", "h5f7" UCI }, { A, "Bd5 controls e6", "c4d5" SAN },
          { A, "move to the square: Qxf7#", ILLEGAL }, { A, "controlled by Qxf7#", "h5f7 *" },
          { A, "strongest: Qxf7#", "h5f7 *" });
}

static void rows_39_to_53_castling_promotion_en_passant(void **s)
{
    (void)s;
    CHECK({ C, "O-O", "e1g1" WHOLE }, { C, "0-0", "e1g1" WHOLE }, { C, "O-O+", "e1g1" WHOLE },
          { C, "e1-g1", "e1g1" WHOLE }, { C, "e1g1", "e1g1" WHOLE }, { C, "o-o", ILLEGAL },
          { C, "Kg1", ILLEGAL }, { C, "0-0!", "e1g1" SAN },
          { C, "castle kingside O-O", "e1g1" SAN }, { C, "O-O or O-O-O", "ambiguous" },
          { C, "0-0 (O-O)", "e1g1 *" }, { C, "e1g1 / O-O", "e1g1 *" }, { A, "O-O", ILLEGAL });
    CHECK({ P, "a7a8q", "a7a8q *" }, { P, "a8=Q", "a7a8q *" }, { P, "a8Q", "a7a8q *" },
          { P, "a8=q", "a7a8q *" }, { P, "A7A8Q", "a7a8q *" }, { P, "a7a8=Q", "a7a8q *" },
          { P, "a7-a8=Q", "a7a8q *" }, { P, "a8=N", "a7a8n *" }, { P, "a8", ILLEGAL },
          { P, "a7a8", ILLEGAL }, { P, "a8=K", ILLEGAL }, { P, "a7a8k", ILLEGAL },
          { P, "a8(Q)", ILLEGAL });
    CHECK({ K, "Nd2", "b1d2 *" }, { K, "Nbd2", "b1d2 *" }, { K, "Na3", "b1a3 *" },
          { K, "Ne2", ILLEGAL }, { K, "Nce2", "c3e2 *" }, { K, "N3e2", "c3e2 *" },
          { K, "Nc3e2", "c3e2 *" }, { K, "Nge2", "g1e2 *" });
    CHECK({ E, "exd6", "e5d6 *" }, { E, "ed6", "e5d6 *" }, { E, "e5xd6", "e5d6 *" },
          { E, "e5d6", "e5d6 *" }, { E, "exd6 e.p.", "e5d6 *" }, { E, "d6", ILLEGAL },
          { E, "exd6ep", ILLEGAL }, { N, "O-O", "e1g1 *" }, { N, "O-O#", "e1g1 *" },
          { N, "OO", ILLEGAL }, { N, "Kg1", ILLEGAL });
}

static void null_moves_and_rook_castling_are_no_moves(void **s)
{
    (void)s;
    CHECK({ N, "e1h1", ILLEGAL }, { A, "--", ILLEGAL }, { A, "@@@@", ILLEGAL });
}

static void white_space_and_boundaries_are_unicode(void **s)
{
    (void)s;
    CHECK({ A, "\xC2\xA0h5f7\xE2\x80\x83", "h5f7" WHOLE },  // no-break space, em space
          { A, "\xC3\xA9h5f7", "h5f7" UCI },                // only ASCII letters bound a shape
          { A, "a wea\xE2\x84\xAA point, Qxf7#", ILLEGAL }, // Kelvin sign folds to k
          { A, "weak\xC3\xA9 Qxf7#", "h5f7" SAN });         // a letter follows: not the word
}

static void long_hostile_answers_end_soon(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct position pos = position_start();
    struct resolution r;
    struct buf b = { .arena = &a };
    for (int i = 0; i < 200000; i++)
        buf_add(&b, S("Nf3 (e7e5 weak "));
    move_resolve(&pos, buf_str(&b), &a, &r);
    assert_int_equal(r.error, RESOLVE_OK); // it begins with the one legal move it names
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_1_to_14),
        cmocka_unit_test(rows_15_to_25_final_move_lines),
        cmocka_unit_test(rows_26_to_38_prose),
        cmocka_unit_test(rows_39_to_53_castling_promotion_en_passant),
        cmocka_unit_test(null_moves_and_rook_castling_are_no_moves),
        cmocka_unit_test(white_space_and_boundaries_are_unicode),
        cmocka_unit_test(long_hostile_answers_end_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of UCI moves: the quick reader takes exactly what uci_parse takes, move by move.
#include "test.h"

#include "chess/chess.h"

// From every position of random games: each of the 64 x 64 pairs of squares, and each promotion.
static void compare_all(const struct position *pos)
{
    static const char *const endings[] = { "", "q", "n", "k" };
    for (int from = 0; from < 64; from++)
        for (int to = 0; to < 64; to++)
            for (size_t e = 0; e < ARRAY_LEN(endings); e++) {
                char text[8];
                move slow = MOVE_NONE, quick = MOVE_NONE;
                struct line line;
                snprintf(text, sizeof text, "%c%c%c%c%s", 'a' + from % 8, '1' + from / 8,
                         'a' + to % 8, '1' + to / 8, endings[e]);
                bool legal = uci_parse(pos, str_from(text), &slow);
                enum line_verdict v = uci_line_parse(pos, str_from(text), &quick, 1, &line);
                if (legal != (v == LINE_GOOD) || (legal && slow != quick)) {
                    struct arena a = { 0 };
                    struct buf fen = { .arena = &a };
                    position_format(pos, &fen);
                    fail_msg("%s in %.*s: %s one way only", text, STR(buf_str(&fen)), text);
                }
                if (!legal)
                    continue;
                struct position next = position_after(pos, slow);
                next.key = line.last.key;
                next.halfmove = line.last.halfmove;
                next.fullmove = line.last.fullmove;
                assert_memory_equal(&next, &line.last, sizeof next);
            }
}

static void play_and_compare(struct position pos, uint64_t seed)
{
    struct rng g;
    rng_seed(&g, seed, S("line"));
    for (int ply = 0; ply < 120; ply++) {
        struct move_list list;
        moves_legal(&pos, &list);
        if (list.n == 0)
            return;
        if (ply % 6 == 0)
            compare_all(&pos);
        pos = position_after(&pos, list.v[rng_below(&g, list.n)]);
    }
}

static void both_ways_agree_over_random_games(void **s)
{
    (void)s;
    for (uint64_t seed = 0; seed < 6; seed++)
        play_and_compare(position_start(), seed);
}

static void both_ways_agree_where_kings_are_in_danger(void **s)
{
    (void)s;
    static const char *const fens[] = {
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        "4k3/8/8/8/4r3/8/3P4/R3K2R w KQ - 0 1",
        "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1",
        "8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1",
        "1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1",
    };
    for (size_t i = 0; i < ARRAY_LEN(fens); i++) {
        struct position pos;
        assert_int_equal(position_parse(str_from(fens[i]), &pos, NULL), FAULT_NONE);
        for (uint64_t seed = 0; seed < 3; seed++)
            play_and_compare(pos, seed + 10 * i);
    }
}

static void both_ways_agree_in_chess960(void **s)
{
    (void)s;
    static const char *const fens[] = {
        "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
        "2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9",
        "1rkr4/8/8/8/8/8/8/1RKR4 w DBdb - 0 1",
    };
    for (size_t i = 0; i < ARRAY_LEN(fens); i++) {
        struct position pos;
        assert_int_equal(position_parse_as(str_from(fens[i]), VARIANT_CHESS960, &pos, NULL, NULL),
                         FAULT_NONE);
        for (uint64_t seed = 0; seed < 3; seed++)
            play_and_compare(pos, seed + 10 * i);
    }
}

static void lines_are_cut_at_blanks_and_stop_at_the_first_fault(void **s)
{
    (void)s;
    struct position start = position_start();
    struct line line;
    move m[4];
    assert_int_equal(uci_line_parse(&start, S("  e2e4   e7e5 g1f3 "), m, 4, &line), LINE_GOOD);
    assert_int_equal(line.n, 3);
    assert_int_equal(uci_line_parse(&start, S(""), m, 4, &line), LINE_GOOD);
    assert_int_equal(line.n, 0);
    assert_int_equal(uci_line_parse(&start, S("e2e4 e2e4"), m, 4, &line), LINE_ILLEGAL);
    assert_int_equal(line.n, 1);
    assert_str(((str){ line.bad, line.bad_len }), S("e2e4"));
    assert_int_equal(uci_line_parse(&start, S("e2e4\te7e5"), m, 4, &line), LINE_ILLEGAL);
    assert_int_equal(uci_line_parse(&start, S("E2E4"), m, 4, &line), LINE_ILLEGAL);
    assert_int_equal(uci_line_parse(&start, S("a2a3 a7a6 b2b3 b7b6 c2c3"), m, 4, &line),
                     LINE_TOO_LONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_agree_over_random_games),
        cmocka_unit_test(both_ways_agree_where_kings_are_in_danger),
        cmocka_unit_test(both_ways_agree_in_chess960),
        cmocka_unit_test(lines_are_cut_at_blanks_and_stop_at_the_first_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

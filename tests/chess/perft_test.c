// SPDX-License-Identifier: GPL-3.0-or-later
// Leaf counts that the chess programming community has agreed on.
#include "helpers.h"

static void published_counts_are_reproduced(void **state)
{
    (void)state;
    static const struct {
        const char *fen;
        int depth;
        uint64_t nodes;
    } rows[] = {
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0, 1 },
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 1, 20 },
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 5, 4865609 },
        { "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 4, 4085603 },
        { "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 5, 674624 },
        { "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 4, 422333 },
        { "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 4, 2103487 },
        { "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 4, 3894594 },
        // one rule each: en passant and pins, castling and checks, promotions, stalemates
        { "3k4/3p4/8/K1P4r/8/8/8/8 b - - 0 1", 6, 1134888 },
        { "8/8/1k6/2b5/2pP4/8/5K2/8 b - d3 0 1", 6, 1440467 },
        { "5k2/8/8/8/8/8/8/4K2R w K - 0 1", 6, 661072 },
        { "3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", 6, 803711 },
        { "r3k2r/1b4bq/8/8/8/8/7B/R3K2R w KQkq - 0 1", 4, 1274206 },
        { "r3k2r/8/3Q4/8/8/5q2/8/R3K2R b KQkq - 0 1", 4, 1720476 },
        { "8/8/1P2K3/8/2n5/1q6/8/5k2 b - - 0 1", 5, 1004658 },
        { "4k3/1P6/8/8/8/8/K7/8 w - - 0 1", 6, 217342 },
        { "8/P1k5/K7/8/8/8/8/8 w - - 0 1", 6, 92683 },
        { "K1k5/8/P7/8/8/8/8/8 w - - 0 1", 6, 2217 },
        { "8/k1P5/8/1K6/8/8/8/8 w - - 0 1", 7, 567584 },
        { "8/8/2k5/5q2/5n2/8/5K2/8 b - - 0 1", 4, 23527 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct position pos = pos_of(rows[i].fen);
        if (perft(&pos, rows[i].depth) != rows[i].nodes)
            fail_msg("%s depth %d", rows[i].fen, rows[i].depth);
    }
}

static void a_finished_position_has_no_leaves(void **state)
{
    (void)state;
    struct position mated = pos_of("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1");
    assert_int_equal(perft(&mated, 0), 1);
    assert_int_equal(perft(&mated, 1), 0);
    assert_int_equal(perft(&mated, 3), 0);
}

// ---- suites of the shared data ----

// A position of a suite: NULL where it is none of ours (chess960 rights, which parsing drops; or
// checks that no game can reach).
static const struct position *usable(str fen4, struct position *pos, struct arena *a)
{
    if (position_parse(fen4, pos, NULL) != FAULT_NONE)
        return NULL;
    str rest = fen4, normal = fen_of(pos, a);
    for (int i = 0; i < 3; i++) {
        str given = str_cut(&rest, ' '), kept = str_cut(&normal, ' ');
        if (i == 2 && !str_eq(given, kept))
            return NULL;
    }
    return pos;
}

static int64_t number(str text)
{
    int64_t n;
    if (!str_to_int(str_trim(text), 0, INT64_MAX, &n))
        fail_msg("no number: \"%.*s\"", STR(text));
    return n;
}

static void check_count(const struct position *pos, str fen, int64_t depth, int64_t nodes)
{
    if (perft(pos, (int)depth) != (uint64_t)nodes)
        fail_msg("%.*s depth %d", STR(fen), (int)depth);
}

// "FEN ;D1 20 ;D2 400 ..."; returns how many counts were compared.
static int check_epd_line(str line, int64_t max_nodes, struct arena *a)
{
    int compared = 0;
    struct position pos;
    str fen = str_trim(str_cut(&line, ';'));
    if (fen.len == 0 || !usable(fen, &pos, a))
        return 0;
    while (line.len > 0) {
        str count = str_trim(str_cut(&line, ';'));
        str depth = str_cut(&count, ' ');
        int64_t nodes = number(count);
        if (nodes > max_nodes)
            break;
        check_count(&pos, fen, number(str_sub(depth, 1, 9)), nodes);
        compared++;
    }
    return compared;
}

static str suite_text(str name, struct arena *a)
{
    str text;
    struct err err = { 0 };
    if (!file_read(shared_path(name, a), 8 << 20, a, &text, &err))
        fail_msg("%s", err.text);
    return text;
}

static void the_standard_suite_agrees(void **state)
{
    (void)state;
    struct arena a = { 0 };
    str text = suite_text(S("data/perft/standard_ethereal.epd"), &a);
    int compared = 0;
    while (text.len > 0)
        compared += check_epd_line(str_cut_line(&text), 1000000, &a);
    assert_true(compared > 250);
    arena_free(&a);
}

struct block { // "epd FEN" and the "perft D N" lines after it
    struct position pos;
    str fen;
    bool usable;
    int positions, counts;
};

static void check_block_line(struct block *b, str line, int64_t max_nodes, struct arena *a)
{
    str key = str_cut(&line, ' ');
    if (str_eq(key, S("epd"))) {
        b->fen = str_trim(line);
        b->usable = usable(b->fen, &b->pos, a) != NULL;
        b->positions += b->usable;
    } else if (str_eq(key, S("perft")) && b->usable) {
        int64_t depth = number(str_cut(&line, ' ')), nodes = number(line);
        if (nodes <= max_nodes) {
            check_count(&b->pos, b->fen, depth, nodes);
            b->counts++;
        }
    }
}

static struct block check_blocks(str name, int64_t max_nodes)
{
    struct arena a = { 0 };
    struct block b = { 0 };
    str text = suite_text(name, &a);
    while (text.len > 0)
        check_block_line(&b, str_cut_line(&text), max_nodes, &a);
    arena_free(&a);
    return b;
}

static void the_tricky_suite_agrees(void **state)
{
    (void)state;
    struct block b = check_blocks(S("data/perft/tricky.perft"), 2000000);
    assert_int_equal(b.positions, 4); // of 15; the rest are chess960 or unreachable checks
    assert_true(b.counts >= 12);
}

static void thousands_of_random_positions_agree(void **state)
{
    (void)state;
    struct block b = check_blocks(S("data/perft/random.perft"), 20000);
    assert_true(b.positions > 4000);
    assert_true(b.counts > 8000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_counts_are_reproduced),
        cmocka_unit_test(a_finished_position_has_no_leaves),
        cmocka_unit_test(the_standard_suite_agrees),
        cmocka_unit_test(the_tricky_suite_agrees),
        cmocka_unit_test(thousands_of_random_positions_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

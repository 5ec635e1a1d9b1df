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

static void published_chess960_counts_are_reproduced(void **state)
{
    (void)state;
    // The first rows of the list of 960 start-like positions that engines test with, and the two
    // of the "tricky" list whose rights name an inner rook.
    static const struct {
        const char *fen;
        int depth;
        uint64_t nodes;
    } rows[] = {
        { "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", 4, 326672 },
        { "2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9", 4, 667366 },
        { "b1q1rrkb/pppppppp/3nn3/8/P7/1PPP4/4PPPP/BQNNRKRB w GE - 1 9", 4, 273318 },
        { "r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1", 4, 285754 },
        { "r1k2r1q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K2R1Q w KQkq - 0 1", 4, 541480 },
        { "8/8/8/4B2b/6nN/8/5P2/2R1K2k w Q - 0 1", 4, 118388 },
        { "2r5/8/8/8/8/8/6PP/k2KR3 w K - 0 1", 4, 57700 },
        { "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 4, 4085603 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct position pos = pos960_of(rows[i].fen);
        if (perft(&pos, rows[i].depth) != rows[i].nodes)
            fail_msg("%s depth %d", rows[i].fen, rows[i].depth);
    }
}

static void check_options(const struct position *pos, int depth, const struct perft_opts *opts)
{
    struct perft_counts counts;
    struct err err = { 0 };
    if (!perft_count(pos, depth, opts, &counts, &err))
        fail_msg("%s", err.text);
    struct move_list sorted;
    moves_sorted(pos, &sorted);
    uint64_t total = 0;
    assert_int_equal(counts.moves.n, sorted.n);
    for (size_t i = 0; i < sorted.n; i++) {
        struct position next = position_after(pos, sorted.v[i]);
        assert_int_equal(counts.moves.v[i], sorted.v[i]);
        if (counts.leaves[i] != perft(&next, depth - 1))
            fail_msg("%s at depth %d, %d threads, %d MB", uci_format(sorted.v[i]).data, depth,
                     opts->threads, opts->hash_mb);
        total += counts.leaves[i];
    }
    assert_int_equal(counts.total, total);
}

static void threads_and_hash_change_no_count(void **state)
{
    (void)state;
    const struct position positions[] = {
        pos_of("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"),
        pos_of("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"),
        pos_of("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1"),
        pos960_of("b1q1rrkb/pppppppp/3nn3/8/P7/1PPP4/4PPPP/BQNNRKRB w GE - 1 9"),
        pos_of("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1"), // mated
    };
    static const struct perft_opts opts[] = {
        { 0 },
        { .threads = 3 },
        { .hash_mb = 1 }, // small: entries are overwritten all the time
        { .threads = 2, .hash_mb = 8 },
    };
    for (size_t i = 0; i < ARRAY_LEN(positions); i++) {
        for (size_t k = 0; k < ARRAY_LEN(opts); k++) {
            for (int depth = 1; depth <= 4; depth++)
                check_options(&positions[i], depth, &opts[k]);
        }
    }
}

// ---- suites of the shared data ----

struct suite { // what was compared
    int positions, counts, refused;
    int64_t max_nodes; // counts above it are not tried
    struct position pos;
    bool usable; // whether the last position could be read
};

// Reads a position and what is said of it; those with rights that standard chess does not know are
// chess960.
static void read_line(struct suite *s, str line, struct epd *epd)
{
    bool read = epd_parse(line, VARIANT_STANDARD, epd, NULL);
    if (read && (epd->repairs & REPAIR_CASTLING))
        read = epd_parse(line, VARIANT_CHESS960, epd, NULL);
    s->usable = read;
    s->positions += read;
    s->refused += !read;
    if (!read)
        return;
    if (epd->repairs)
        fail_msg("%.*s was mended", STR(line));
    s->pos = epd->at;
}

static int64_t number(str text)
{
    int64_t n;
    if (!str_to_int(str_trim(text), 0, INT64_MAX, &n))
        fail_msg("no number: \"%.*s\"", STR(text));
    return n;
}

static void check_count(struct suite *s, str depth, str nodes)
{
    if (!s->usable || number(nodes) > s->max_nodes)
        return;
    s->counts++;
    if (perft(&s->pos, (int)number(depth)) != (uint64_t)number(nodes))
        fail_msg("position %d: depth %.*s", s->positions, STR(depth));
}

// "FEN ;D1 20 ;D2 400 ..." and "FEN D1 20; D2 400; ..."
static void check_epd_line(struct suite *s, str line)
{
    struct epd epd;
    read_line(s, line, &epd);
    for (size_t i = 0; s->usable && i < epd.n; i++)
        check_count(s, str_sub(epd.v[i].opcode, 1, epd.v[i].opcode.len), epd.v[i].operands);
}

// "epd FEN" and the "perft D N" lines after it
static void check_block_line(struct suite *s, str line)
{
    struct epd epd;
    str key = str_cut(&line, ' ');
    if (str_eq(key, S("epd"))) {
        read_line(s, str_trim(line), &epd);
    } else if (str_eq(key, S("perft"))) {
        str depth = str_cut(&line, ' ');
        check_count(s, depth, line);
    }
}

// `make proof-chess` sets ROOKERY_PERFT_NODES to compare larger counts, too.
static int64_t allowed_nodes(int64_t usual)
{
    const char *asked = getenv("ROOKERY_PERFT_NODES");
    return asked ? number(str_from(asked)) : usual;
}

static struct suite check_suite(str name, int64_t max_nodes)
{
    struct arena a = { 0 };
    struct suite s = { .max_nodes = allowed_nodes(max_nodes) };
    struct err err = { 0 };
    str text;
    if (!file_read(shared_path(name, &a), 8 << 20, &a, &text, &err))
        fail_msg("%s", err.text);
    while (text.len > 0) {
        str line = str_cut_line(&text);
        if (str_ends(name, S(".perft")))
            check_block_line(&s, line);
        else
            check_epd_line(&s, line);
    }
    arena_free(&a);
    return s;
}

static void the_standard_suites_agree(void **state)
{
    (void)state;
    static const struct {
        str name;
        int positions;
    } rows[] = {
        { T("data/perft/standard_ethereal.epd"), 72 },
        { T("data/perft/perftsuite_senjo.epd"), 72 },
        { T("data/perft/perftsuite_amundsen.epd"), 71 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct suite s = check_suite(rows[i].name, 1000000);
        assert_int_equal(s.positions, rows[i].positions);
        assert_true(s.counts > 240 && s.refused == 0);
    }
}

static void the_tricky_suite_agrees(void **state)
{
    (void)state;
    struct suite s = check_suite(S("data/perft/tricky.perft"), 2000000);
    assert_int_equal(s.positions + s.refused, 15);
    assert_int_equal(s.refused, 6); // checks that no game can reach
    assert_true(s.counts >= 35);
}

static void thousands_of_random_positions_agree(void **state)
{
    (void)state;
    struct suite s = check_suite(S("data/perft/random.perft"), 20000);
    assert_true(s.positions > 4000 && s.refused == 0);
    assert_true(s.counts > 8000);
}

static void the_chess960_suites_agree(void **state)
{
    (void)state;
    static const str names[] = { T("data/perft/fischer_ethereal.epd"),
                                 T("data/perft/chess960.perft") };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct suite s = check_suite(names[i], 30000);
        assert_true(s.positions >= 575 && s.refused == 0);
        assert_true(s.counts > 1600);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_counts_are_reproduced),
        cmocka_unit_test(a_finished_position_has_no_leaves),
        cmocka_unit_test(published_chess960_counts_are_reproduced),
        cmocka_unit_test(threads_and_hash_change_no_count),
        cmocka_unit_test(the_standard_suites_agree),
        cmocka_unit_test(the_tricky_suite_agrees),
        cmocka_unit_test(thousands_of_random_positions_agree),
        cmocka_unit_test(the_chess960_suites_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

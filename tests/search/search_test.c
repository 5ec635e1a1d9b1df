// SPDX-License-Identifier: GPL-3.0-or-later
// The small engine: mates and tactics of our own making, and the promises of its header.
#include "test.h"

#include "search/search.h"

static struct position parse(str fen)
{
    struct position pos;
    struct err err = { 0 };
    if (position_parse(fen, &pos, &err) != FAULT_NONE)
        fail_msg("%.*s: %s", STR(fen), err.text);
    return pos;
}

static struct search_result search(str fen, int depth, uint64_t nodes)
{
    struct position pos = parse(fen);
    struct search_result r;
    search_moves(&pos, &(struct search_limits){ depth, nodes }, &r);
    return r;
}

static bool is_move(move m, const char *uci)
{
    struct move_text t = uci_format(m);
    return str_eq(str_from(t.data), str_from(uci));
}

static int score_of(const struct search_result *r, const char *uci)
{
    for (size_t i = 0; i < r->n; i++)
        if (is_move(r->v[i].m, uci))
            return r->v[i].score_cp;
    fail_msg("%s was not scored", uci);
    return 0;
}

struct row {
    const char *fen, *best;
    int plies; // to mate; 0: none
};

static void check_rows(const struct row *rows, size_t n, struct search_limits limits)
{
    for (size_t i = 0; i < n; i++) {
        struct search_result r = search(str_from(rows[i].fen), limits.depth, limits.nodes);
        if (!is_move(r.v[0].m, rows[i].best))
            fail_msg("%s: %s, not %s", rows[i].fen, uci_format(r.v[0].m).data, rows[i].best);
        if (rows[i].plies)
            assert_int_equal(r.v[0].score_cp, SEARCH_MATE_CP - rows[i].plies);
        assert_true(r.nodes <= limits.nodes);
    }
}

static void mates_in_one_are_found_with_few_nodes(void **s)
{
    (void)s;
    static const struct row rows[] = {
        { "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", "d1d8", 1 },
        { "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", "h5f7", 1 },
        { "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq g3 0 2", "d8h4", 1 },
        { "6rk/6pp/8/6N1/8/8/8/7K w - - 0 1", "g5f7", 1 },  // smothered
        { "7k/4P1pp/8/8/8/8/8/6K1 w - - 0 1", "e7e8q", 1 }, // also by a rook
    };
    check_rows(rows, ARRAY_LEN(rows), (struct search_limits){ 3, 400 });
}

static void mates_in_two_are_found_within_the_nodes_of_a_reply(void **s)
{
    (void)s;
    static const struct row rows[] = {
        // The back rank, twice taken on; a queen sacrifice, then a smothered king.
        { "r2r2k1/5ppp/8/8/8/8/3R1PPP/3R2K1 w - - 0 1", "d2d8", 3 },
        { "5r1k/6pp/7N/8/8/1Q6/8/6K1 w - - 0 1", "b3g8", 3 },
    };
    check_rows(rows, ARRAY_LEN(rows), (struct search_limits){ 3, 2000 });
}

static void quiet_mates_in_two_need_depth_three(void **s)
{
    (void)s;
    static const struct row rows[] = {
        { "k7/8/2K5/8/8/8/8/1R6 w - - 0 1", "c6c7", 3 }, // then the rook mates on a1
    };
    check_rows(rows, ARRAY_LEN(rows), (struct search_limits){ 3, 100000 });
}

static void material_is_won_and_not_given(void **s)
{
    (void)s;
    static const struct row rows[] = {
        { "4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1", "c3d5", 0 }, // a queen hangs
        { "3rk3/8/8/8/3R4/8/8/3RK3 b - - 0 1", "d8d4", 0 }, // guarded, but a fair trade
        { "4k3/8/8/3q4/4P3/8/8/4K3 b - - 0 1", "d5e4", 0 }, // a free pawn, with check
    };
    check_rows(rows, ARRAY_LEN(rows), (struct search_limits){ 2, 2000 });
    // The pawn is guarded: taking it with the queen loses the queen.
    struct search_result r = search(S("4k3/2p5/3p4/8/8/8/3Q4/4K3 w - - 0 1"), 2, 2000);
    assert_false(is_move(r.v[0].m, "d2d6"));
    assert_true(score_of(&r, "d2d6") < r.v[0].score_cp - 200);
}

static void a_fork_is_seen_at_depth_three(void **s)
{
    (void)s;
    struct search_result r = search(S("q3k3/8/8/1N6/8/8/5PPP/6K1 w - - 0 1"), 3, 20000);
    assert_true(is_move(r.v[0].m, "b5c7"));
    assert_true(r.v[0].score_cp > 200);
}

static void stalemate_and_bare_kings_are_worth_nothing(void **s)
{
    (void)s;
    // The queen may stalemate at once, and should not.
    struct search_result r = search(S("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1"), 2, 5000);
    assert_int_equal(score_of(&r, "f1f7"), 0);
    assert_true(r.v[0].score_cp > 500);
    r = search(S("8/8/4k3/8/8/3p4/3K4/8 w - - 0 1"), 1, 5000);
    assert_int_equal(score_of(&r, "d2d3"), 0);
}

static void every_legal_move_is_scored_once_best_first(void **s)
{
    (void)s;
    struct position pos = position_start();
    struct move_list legal;
    moves_ordered(&pos, &legal);
    struct search_result r;
    search_moves(&pos, &(struct search_limits){ 2, 2000 }, &r);
    assert_int_equal(r.n, legal.n);
    for (size_t i = 0; i < legal.n; i++) {
        size_t found = 0;
        for (size_t k = 0; k < r.n; k++)
            found += r.v[k].m == legal.v[i];
        assert_int_equal(found, 1);
    }
    for (size_t i = 1; i < r.n; i++)
        assert_true(r.v[i - 1].score_cp >= r.v[i].score_cp);
}

static void ties_stand_in_the_order_of_the_prompts(void **s)
{
    (void)s;
    // No nodes to speak of: quiet moves all tie.
    struct position pos = position_start();
    struct move_list legal;
    moves_ordered(&pos, &legal);
    struct search_result r;
    search_moves(&pos, &(struct search_limits){ 4, 1 }, &r);
    for (size_t i = 0; i < legal.n; i++)
        assert_int_equal(r.v[i].m, legal.v[i]);
}

static void the_node_limit_is_hard(void **s)
{
    (void)s;
    str busy = S("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
    for (uint64_t nodes = 1; nodes <= 4096; nodes *= 4) {
        struct search_result r = search(busy, 6, nodes);
        assert_true(r.nodes <= nodes);
        assert_int_equal(r.n, 48);
    }
}

static void the_same_search_gives_the_same_result(void **s)
{
    (void)s;
    str busy = S("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
    struct search_result a = search(busy, 4, 1500);
    struct search_result b = search(busy, 4, 1500);
    assert_int_equal(a.nodes, b.nodes);
    for (size_t i = 0; i < a.n; i++) {
        assert_int_equal(a.v[i].m, b.v[i].m);
        assert_int_equal(a.v[i].score_cp, b.v[i].score_cp);
    }
}

static void both_sides_see_the_same_board(void **s)
{
    (void)s;
    static const struct {
        const char *white, *black; // the same position with colours and ranks exchanged
    } rows[] = {
        { "4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1", "4k3/8/2n5/8/3Q4/8/8/4K3 b - - 0 1" },
        { "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 0 1",
          "rnbqk2r/pppp1ppp/5n2/2b1p3/4P3/2N2N2/PPPP1PPP/R1BQKB1R b KQkq - 0 1" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct search_result w = search(str_from(rows[i].white), 2, 1000000);
        struct search_result b = search(str_from(rows[i].black), 2, 1000000);
        assert_int_equal(w.n, b.n);
        assert_int_equal(w.v[0].score_cp, b.v[0].score_cp);
    }
}

// Collections of others, where the data pack is there: each line begins with a FEN.
static void count_mates(str name, struct search_limits limits, size_t want_percent)
{
    struct arena arena = { 0 };
    str text;
    struct err err = { 0 };
    size_t seen = 0;
    size_t solved = 0;
    assert_true(file_read(shared_path(name, &arena), 1 << 20, &arena, &text, &err));
    while (text.len > 0) {
        str line = str_trim(str_cut_line(&text));
        struct position pos;
        if (line.len == 0)
            continue;
        if (position_parse(line, &pos, &err) != FAULT_NONE)
            fail_msg("%s", err.text);
        struct search_result r;
        search_moves(&pos, &limits, &r);
        seen++;
        solved += r.v[0].score_cp >= SEARCH_MATE_CP - limits.depth;
    }
    print_message("%.*s: %zu of %zu mates\n", STR(name), solved, seen);
    arena_free(&arena);
    assert_true(seen > 0);
    assert_true(solved * 100 >= want_percent * seen);
}

static void collected_mates_in_one_are_all_found(void **s)
{
    (void)s;
    count_mates(S("data/epd/sunfish_mate1.fen"), (struct search_limits){ 1, 2000 }, 100);
}

static void collected_mates_in_two_are_found_with_time(void **s)
{
    (void)s;
    count_mates(S("data/epd/sunfish_mate2.fen"), (struct search_limits){ 3, 300000 }, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mates_in_one_are_found_with_few_nodes),
        cmocka_unit_test(mates_in_two_are_found_within_the_nodes_of_a_reply),
        cmocka_unit_test(quiet_mates_in_two_need_depth_three),
        cmocka_unit_test(material_is_won_and_not_given),
        cmocka_unit_test(a_fork_is_seen_at_depth_three),
        cmocka_unit_test(stalemate_and_bare_kings_are_worth_nothing),
        cmocka_unit_test(every_legal_move_is_scored_once_best_first),
        cmocka_unit_test(ties_stand_in_the_order_of_the_prompts),
        cmocka_unit_test(the_node_limit_is_hard),
        cmocka_unit_test(the_same_search_gives_the_same_result),
        cmocka_unit_test(both_sides_see_the_same_board),
        cmocka_unit_test(collected_mates_in_one_are_all_found),
        cmocka_unit_test(collected_mates_in_two_are_found_with_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

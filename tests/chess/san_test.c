// SPDX-License-Identifier: GPL-3.0-or-later
// Reading and writing SAN and UCI.
#include "helpers.h"

// Boards of the outcome table in few-shot specification 2.6.
#define A "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"
#define C "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 4 8"
#define P "8/P6k/8/8/8/8/6Kp/8 w - - 0 1"
#define K "4k3/8/8/8/8/2N5/8/1N2K1N1 w - - 0 1"
#define E "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"
#define N "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
#define CASTLES "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
#define KNIGHTS "8/8/6K1/4k3/4N3/p4r2/N3N3/8 w - - 3 82"

struct row {
    const char *fen, *san;
    enum san_verdict verdict;
    const char *uci;
};

static void check_row(const struct row *row)
{
    struct position pos = pos_of(row->fen);
    move m = MOVE_NONE;
    enum san_verdict verdict = san_parse(&pos, str_from(row->san), &m);
    if (verdict != row->verdict)
        fail_msg("%s in %s: verdict %d", row->san, row->fen, verdict);
    if (verdict == SAN_LEGAL)
        assert_str(str_from(uci_format(m).data), str_from(row->uci));
    else
        assert_int_equal(m, MOVE_NONE);
}

static const struct row read_rows[] = {
    { A, "h5f7", SAN_LEGAL, "h5f7" },
    { A, "h5-f7", SAN_LEGAL, "h5f7" },
    { A, "h5xf7", SAN_LEGAL, "h5f7" },
    { A, "Qh5xf7", SAN_LEGAL, "h5f7" },
    { A, "Qxf7#", SAN_LEGAL, "h5f7" },
    { A, "Qxf7+", SAN_LEGAL, "h5f7" }, // the mark is not verified
    { A, "Qxf7", SAN_LEGAL, "h5f7" },
    { A, "Qf7", SAN_LEGAL, "h5f7" }, // nor is the capture
    { A, "qxf7#", SAN_INVALID, NULL },
    { A, "Qxf7#!!", SAN_INVALID, NULL },
    { A, "Qxf7++", SAN_INVALID, NULL },
    { A, "1. Qxf7#", SAN_INVALID, NULL },
    { A, " Qxf7#", SAN_INVALID, NULL },
    { A, "Qxf7#\n", SAN_INVALID, NULL },
    { A, "Bxf7", SAN_LEGAL, "c4f7" },
    { A, "bxf7", SAN_ILLEGAL, NULL }, // the b-file
    { A, "d4", SAN_LEGAL, "d2d4" },
    { A, "d2-d4", SAN_LEGAL, "d2d4" },
    { A, "Ng1f3", SAN_LEGAL, "g1f3" },
    { A, "N1f3", SAN_LEGAL, "g1f3" },
    { A, "Ngf3", SAN_LEGAL, "g1f3" },
    { A, "f7", SAN_ILLEGAL, NULL },
    { A, "xf7", SAN_ILLEGAL, NULL },
    { A, "xh5f7", SAN_INVALID, NULL },
    { A, "h5f7g8", SAN_INVALID, NULL },
    { A, "h5f7q", SAN_ILLEGAL, NULL },
    { A, "Qxf8", SAN_ILLEGAL, NULL },
    { A, "O-O", SAN_ILLEGAL, NULL },
    { A, "", SAN_INVALID, NULL },
    { A, "resign", SAN_INVALID, NULL },
    { A, "OOOO", SAN_INVALID, NULL },
    { A, "--", SAN_INVALID, NULL },
    { A, "@@@@", SAN_INVALID, NULL },
    { A, "Q", SAN_INVALID, NULL },
    { A, "Pd4", SAN_INVALID, NULL }, // P is no piece letter here
    { C, "O-O", SAN_LEGAL, "e1g1" },
    { C, "O-O+", SAN_LEGAL, "e1g1" },
    { C, "O-O#", SAN_LEGAL, "e1g1" },
    { C, "O-O-O", SAN_LEGAL, "e1c1" },
    { C, "e1-g1", SAN_LEGAL, "e1g1" },
    { C, "e1g1", SAN_LEGAL, "e1g1" },
    { C, "e1h1", SAN_ILLEGAL, NULL }, // king takes own rook
    { C, "o-o", SAN_INVALID, NULL },
    { C, "OO", SAN_INVALID, NULL },
    { C, "Kg1", SAN_ILLEGAL, NULL },
    { C, "Ke1g1", SAN_ILLEGAL, NULL },
    { N, "O-O#", SAN_LEGAL, "e1g1" },
    { N, "Kg1", SAN_ILLEGAL, NULL },
    { CASTLES, "O-O-O", SAN_LEGAL, "e1c1" },
    { "3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "O-O-O+", SAN_LEGAL, "e1c1" },
    { P, "a8=Q", SAN_LEGAL, "a7a8q" },
    { P, "a8Q", SAN_LEGAL, "a7a8q" },
    { P, "a8=q", SAN_LEGAL, "a7a8q" },
    { P, "a7a8=Q", SAN_LEGAL, "a7a8q" },
    { P, "a7-a8=Q", SAN_LEGAL, "a7a8q" },
    { P, "a8=N", SAN_LEGAL, "a7a8n" },
    { P, "a8", SAN_ILLEGAL, NULL },
    { P, "a7a8", SAN_ILLEGAL, NULL },
    { P, "a8=K", SAN_ILLEGAL, NULL },
    { P, "a7a8k", SAN_ILLEGAL, NULL },
    { P, "a8(Q)", SAN_INVALID, NULL },
    { P, "a8=", SAN_INVALID, NULL },
    { P, "a8=P", SAN_INVALID, NULL },
    { K, "Nd2", SAN_LEGAL, "b1d2" },
    { K, "Nbd2", SAN_LEGAL, "b1d2" },
    { K, "Na3", SAN_LEGAL, "b1a3" },
    { K, "Ne2", SAN_AMBIGUOUS, NULL },
    { K, "Nce2", SAN_LEGAL, "c3e2" },
    { K, "N3e2", SAN_LEGAL, "c3e2" },
    { K, "Nc3e2", SAN_LEGAL, "c3e2" },
    { K, "Nge2", SAN_LEGAL, "g1e2" },
    { E, "exd6", SAN_LEGAL, "e5d6" },
    { E, "ed6", SAN_LEGAL, "e5d6" },
    { E, "e5xd6", SAN_LEGAL, "e5d6" },
    { E, "e5d6", SAN_LEGAL, "e5d6" },
    { E, "d6", SAN_ILLEGAL, NULL }, // a bare target is never a capture
    { E, "5d6", SAN_ILLEGAL, NULL },
    { E, "exd6ep", SAN_INVALID, NULL },
    { KNIGHTS, "Nc3", SAN_AMBIGUOUS, NULL },
    { KNIGHTS, "Nec3", SAN_AMBIGUOUS, NULL },
    { KNIGHTS, "N4c3", SAN_LEGAL, "e4c3" },
    { KNIGHTS, "Nac3", SAN_LEGAL, "a2c3" },
    { KNIGHTS, "Ne2c3", SAN_LEGAL, "e2c3" },
};

static void san_is_read_as_the_specification_tabulates(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(read_rows); i++)
        check_row(&read_rows[i]);
}

static void san_is_written_as_short_as_it_is_clear(void **state)
{
    (void)state;
    static const struct {
        const char *fen, *uci, *san;
    } rows[] = {
        { A, "h5f7", "Qxf7#" },
        { A, "g1f3", "Nf3" },
        { K, "c3e2", "Nce2" },
        { K, "b1d2", "Nd2" },
        { E, "e5d6", "exd6" },
        { E, "e5e6", "e6" },
        { P, "a7a8q", "a8=Q" },
        { CASTLES, "e1g1", "O-O" },
        { CASTLES, "e1c1", "O-O-O" },
        { CASTLES, "a1a8", "Rxa8+" },
        { "3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1", "O-O-O+" },
        { "5rkr/5ppp/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "O-O" },
        { "1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8q", "axb8=Q+" },
        { "6rk/5Ppp/8/8/8/8/8/K7 w - - 0 1", "f7g8q", "fxg8=Q+" },
        { KNIGHTS, "e2c3", "Ne2c3" },
        { KNIGHTS, "e4c3", "N4c3" },
        { KNIGHTS, "a2c3", "Nac3" },
        // a pinned twin is no rival
        { "rn2k2r/pppq1ppp/5p2/3p4/1b1P4/2NQP3/PPP2PPP/R3K1NR w KQkq - 0 1", "g1e2", "Ne2" },
        { "rnbqk2r/pp1p1ppp/4pn2/8/1bPN4/2N5/PP2PPPP/R1BQKB1R w KQkq - 2 6", "d4b5", "Nb5" },
        // file first, then rank, then both
        { "4k3/8/8/8/8/8/8/R2R2K1 w - - 0 1", "a1b1", "Rab1" },
        { "4k3/R7/8/8/8/8/8/R5K1 w - - 0 1", "a1a4", "R1a4" },
        { "6k1/8/8/Q7/8/8/8/Q1Q3K1 w - - 0 1", "a1c3", "Qa1c3" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct position pos = pos_of(rows[i].fen);
        struct move_text text = san_format(&pos, move_of(&pos, str_from(rows[i].uci)));
        assert_str(str_from(text.data), str_from(rows[i].san));
    }
}

static void uci_is_exact_and_lower_case(void **state)
{
    (void)state;
    static const struct {
        const char *fen, *text;
        int legal;
    } rows[] = {
        { A, "h5f7", 1 },       { A, "H5F7", 0 },       { A, "h5f7q", 0 }, { A, "h5f7 ", 0 },
        { A, "e2e4", 0 },       { A, "0000", 0 },       { A, "", 0 },      { A, "Qxf7", 0 },
        { P, "a7a8q", 1 },      { P, "a7a8n", 1 },      { P, "a7a8Q", 0 }, { P, "a7a8", 0 },
        { P, "a7a8k", 0 },      { P, "a7a8p", 0 },      { C, "e1g1", 1 },  { C, "e1c1", 1 },
        { C, "e1h1", 0 },       { C, "e1a1", 0 },       { E, "e5d6", 1 },  { A, "h5i7", 0 },
        { CASTLES, "h1h8", 1 }, { CASTLES, "h1h9", 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct position pos = pos_of(rows[i].fen);
        move m = MOVE_NONE;
        if (uci_parse(&pos, str_from(rows[i].text), &m) != (rows[i].legal == 1))
            fail_msg("\"%s\" in %s", rows[i].text, rows[i].fen);
        if (rows[i].legal)
            assert_str(str_from(uci_format(m).data), str_from(rows[i].text));
        else
            assert_int_equal(m, MOVE_NONE);
    }
}

// ---- strangers' vectors ----

static enum san_verdict verdict_of(str name)
{
    static const char *const names[] = { [SAN_LEGAL] = "legal",
                                         [SAN_ILLEGAL] = "illegal",
                                         [SAN_AMBIGUOUS] = "ambiguous",
                                         [SAN_INVALID] = "invalid" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq(name, str_from(names[i])))
            return (enum san_verdict)i;
    }
    fail_msg("no verdict: %.*s", STR(name));
    return SAN_INVALID;
}

static void check_vector(const json_t *row, struct arena *a)
{
    str fen = json_get_str(row, "fen"), san = json_get_str(row, "san");
    struct position pos = pos_of(arena_str(a, fen).data);
    move m;
    enum san_verdict verdict = san_parse(&pos, san, &m);
    if (verdict != verdict_of(json_get_str(row, "verdict")))
        fail_msg("%.*s in %.*s: verdict %d", STR(san), STR(fen), verdict);
    if (verdict != SAN_LEGAL)
        return;
    assert_str(str_from(uci_format(m).data), json_get_str(row, "uci"));
    assert_str(str_from(san_format(&pos, m).data), json_get_str(row, "canonical_san"));
}

static void san_vectors_agree(void **state)
{
    (void)state;
    assert_int_equal(records_each(S("data/vectors/san_vectors.jsonl"), check_vector), 186);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(san_is_read_as_the_specification_tabulates),
        cmocka_unit_test(san_is_written_as_short_as_it_is_clear),
        cmocka_unit_test(uci_is_exact_and_lower_case),
        cmocka_unit_test(san_vectors_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

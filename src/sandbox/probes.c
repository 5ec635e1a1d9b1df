// SPDX-License-Identifier: GPL-3.0-or-later
// probes.c - the positions at which the audit looks how a candidate behaves: both colours,
// castling, en passant, promotions, evasions, mates in one, a single legal move, and the most of
// them.
#include "sandbox/audit_run.h"

static const str probes[] = {
    T("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
    T("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"),
    T("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1"),
    T("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"),
    T("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1"),
    T("r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1"),
    T("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8"),
    T("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10"),
    T("8/5R2/1p2P3/p4r2/P6p/1P3Pk1/4K3/8 b - - 2 64"),
    T("6k1/1q4p1/p2P2B1/8/7P/6P1/P4Q1K/4r3 b - - 6 36"),
    T("1n2k3/P7/8/8/8/8/8/4K2R w K - 0 1"),
    T("4k3/8/8/8/Pp6/8/8/4K3 b - a3 0 1"),
    T("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"), // 218 moves
    T("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"),
    T("k7/8/8/8/8/8/1r6/K7 w - - 0 1"), // one move
    T("k7/1R6/8/8/8/8/8/K7 b - - 0 1"),
    T("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"),
    T("rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2"),
    T("r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 4 8"),
    T("r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R b KQkq - 4 8"),
    T("8/P6k/8/8/8/8/6Kp/8 w - - 0 1"),
    T("8/P6k/8/8/8/8/6Kp/8 b - - 0 1"),
    T("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"),
    T("4k3/8/8/8/8/2N5/8/1N2K1N1 w - - 0 1"),
    T("4k3/8/8/8/4r3/8/3P4/R3K2R w KQ - 0 1"),
    T("rnbqkb1r/pp2pppp/3p1n2/8/3NP3/8/PPP2PPP/RNBQKB1R w KQkq - 1 5"),
    T("r1bqk2r/ppp2ppp/2n2n2/2bpp3/4P3/2PP1N2/PP2BPPP/RNBQK2R b KQkq - 0 6"),
    T("2kr3r/ppp2ppp/2n1bn2/2b1p3/4P3/2N2N2/PPPPBPPP/R1B1K2R b KQ - 3 8"),
    T("8/8/8/8/8/5k2/4p3/4K3 b - - 0 1"),
    T("6rk/6pp/8/6N1/8/8/8/6K1 w - - 0 1"),
    T("4r1k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1"),
    T("4r1k1/5ppp/8/8/8/8/5PPP/4R1K1 b - - 0 1"),
    T("r1b1k2r/pppp1ppp/2n2n2/4q3/1bB5/2N5/PPP2PPP/R1BQ1RK1 w kq - 0 9"),
    T("3r2k1/pp3ppp/2p5/8/8/2P3P1/PP3P1P/3R2K1 b - - 0 25"),
    T("8/8/3k4/8/3K4/3P4/8/8 w - - 0 1"),
    T("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"),
};

size_t audit_probe_count(void)
{
    return ARRAY_LEN(probes);
}

// A past move that is not legal now, so that it is not taken for one of the rows.
static str past_move(const struct position *at, size_t from)
{
    static const str moves[] = { T("a1b1"), T("a8b8"), T("h3h5"), T("b6d5"), T("g2g1"), T("c1c8") };
    move m;
    for (size_t i = from; i < ARRAY_LEN(moves); i++)
        if (!uci_parse(at, moves[i], &m))
            return moves[i];
    BUG("all past moves are legal");
}

struct audit_probe audit_probe(size_t i, struct arena *a)
{
    struct audit_probe p = { 0 };
    struct err err = { 0 };
    str *accepted = NEW(a, str);
    if (position_parse(probes[i], &p.at, &err) != FAULT_NONE)
        BUG("a probe is no position");
    struct observed seen = { .at = &p.at };
    if (i % 3 == 1) { // later in a puzzle
        seen.last_reply = past_move(&p.at, 3);
        *accepted = past_move(&p.at, 0);
        seen.accepted = accepted;
        seen.n_accepted = 1;
    }
    p.last_reply = seen.last_reply;
    p.turn_count = (int64_t)seen.n_accepted;
    p.raw = harness_observation(&seen, a);
    p.rows = audit_rows_read(p.raw, a);
    return p;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_perft.c - counts the leaves of the tree of legal moves, and how fast.
#include <inttypes.h>

#include "cli/cli.h"
#include "chess/chess.h"

enum { DEPTH_MAX = 30 };

// One line a first move, sorted by its text. Returns the sum of their leaves.
static uint64_t divide(const struct position *pos, int depth, struct buf *out)
{
    struct move_list list;
    uint64_t total = 0;
    moves_sorted(pos, &list);
    for (size_t i = 0; i < list.n; i++) {
        struct position next = position_after(pos, list.v[i]);
        struct move_text uci = uci_format(list.v[i]);
        uint64_t leaves = perft(&next, depth - 1);
        buf_addf(out, "%s: %" PRIu64 "\n", uci.data, leaves);
        total += leaves;
    }
    return total;
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct position pos = position_start();
    if (!opt_get(args, "depth")->set)
        return err_set(err, ERR_USAGE, "perft needs --depth N");
    if (opt_get(args, "fen")->set &&
        !position_parse(opt_text(args, "fen", S("")), &pos, err) != FAULT_NONE)
        return err_add(err, "--fen");
    int depth = (int)opt_int(args, "depth", 0);
    struct buf out = { .arena = a };
    int64_t start_us = clock_mono_us();
    uint64_t nodes =
        opt_flag(args, "divide") && depth > 0 ? divide(&pos, depth, &out) : perft(&pos, depth);
    int64_t used_us = clock_mono_us() - start_us;
    double seconds = (double)(used_us > 0 ? used_us : 1) / 1e6;
    buf_addf(&out, "nodes %" PRIu64 "\nseconds %.6f\nnodes/s %.0f\n", nodes, seconds,
             (double)nodes / seconds);
    return print_str(buf_str(&out), err);
}

static const struct opt opts[] = {
    { "fen", OPT_TEXT, "FEN", "the position to start from [the initial one]", 0, 0 },
    { "depth", OPT_INT, "N", "plies to play", 0, DEPTH_MAX },
    { "divide", OPT_FLAG, NULL, "also print the count below each first move", 0, 0 },
    { 0 },
};

const struct command command_perft = {
    .name = "perft",
    .summary = "count the leaves of the move tree",
    .usage = "--depth N [--fen FEN] [--divide]",
    .about = "Prints the number of move sequences of that length, the seconds it took and the\n"
             "nodes per second, on one core.\n"
             "Example: rookery perft --depth 5 prints \"nodes 4865609\" first.",
    .opts = { opts },
    .run = run,
};

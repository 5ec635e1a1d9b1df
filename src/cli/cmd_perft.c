// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_perft.c - counts the leaves of the tree of legal moves, and how fast.
#include <inttypes.h>
#include <unistd.h>

#include "cli/cli.h"

enum { DEPTH_MAX = 30, THREADS_MAX = 256, HASH_MAX_MB = 999999 };

// A hash that does not fit into the memory of this machine would end in swapping, or worse.
static bool check_hash(int hash_mb, struct err *err)
{
    int64_t have_mb = ((int64_t)sysconf(_SC_PHYS_PAGES) >> 10) * sysconf(_SC_PAGESIZE) >> 10;
    return hash_mb <= have_mb ||
           err_set(err, ERR_USAGE,
                   "--hash %d is more than the %" PRId64 " MB that this machine has", hash_mb,
                   have_mb);
}

static bool read_position(const struct args *args, struct position *pos, struct err *err)
{
    enum variant variant;
    unsigned repairs;
    *pos = position_start();
    if (!variant_option(args, &variant, err))
        return false;
    str fen = opt_text(args, "fen", S("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"));
    if (position_parse_as(fen, variant, pos, &repairs, err) != FAULT_NONE)
        return err_add(err, "--fen");
    for (unsigned i = REPAIR_FIELDS; i <= REPAIR_FULLMOVE; i <<= 1) {
        if (repairs & i)
            log_line(LOG_WARN, "--fen: %s", position_repair_text((enum position_repair)i));
    }
    return true;
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct position pos;
    struct perft_counts counts = { .total = 1 };
    struct perft_opts opts = { .threads = (int)opt_int(args, "threads", 1),
                               .hash_mb = (int)opt_int(args, "hash", 0) };
    if (!opt_get(args, "depth")->set)
        return err_set(err, ERR_USAGE, "perft needs --depth N");
    if (!read_position(args, &pos, err) || !check_hash(opts.hash_mb, err))
        return false;
    int depth = (int)opt_int(args, "depth", 0);
    struct buf out = { .arena = a };
    int64_t start_us = clock_mono_us();
    if (depth > 0 && !perft_count(&pos, depth, &opts, &counts, err))
        return false;
    int64_t used_us = clock_mono_us() - start_us;
    double seconds = (double)(used_us > 0 ? used_us : 1) / 1e6;
    for (size_t i = 0; opt_flag(args, "divide") && i < counts.moves.n; i++)
        buf_addf(&out, "%s: %" PRIu64 "\n", uci_format(counts.moves.v[i]).data, counts.leaves[i]);
    buf_addf(&out, "nodes %" PRIu64 "\nseconds %.6f\nnodes/s %.0f\n", counts.total, seconds,
             (double)counts.total / seconds);
    return print_str(buf_str(&out), err);
}

static const struct opt opts[] = {
    { "fen", OPT_TEXT, "FEN", "the position to start from [the initial one]", 0, 0 },
    { "depth", OPT_INT, "N", "plies to play", 0, DEPTH_MAX },
    { "divide", OPT_FLAG, NULL, "also print the count below each first move", 0, 0 },
    { "hash", OPT_INT, "MB", "remember counts of positions in that much memory [none]", 0,
      HASH_MAX_MB },
    { "threads", OPT_INT, "N", "count with N threads [1]", 1, THREADS_MAX },
    { "variant", OPT_TEXT, "NAME", "standard or chess960 [standard]", 0, 0 },
    { 0 },
};

const struct command command_perft = {
    .name = "perft",
    .summary = "count the leaves of the move tree",
    .usage = "--depth N [--fen FEN] [--divide] [--hash MB] [--threads N]",
    .about = "Prints the number of move sequences of that length, the seconds it took and the\n"
             "nodes per second. Hash and threads change the speed, never the counts.\n"
             "Example: rookery perft --depth 5 prints \"nodes 4865609\" first.",
    .opts = { opts },
    .run = run,
};

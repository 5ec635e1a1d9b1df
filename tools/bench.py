#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""bench.py [ROOKERY] - the quality bars as ratios of CPU time within one run.

A bar that cannot be measured here (a peer is not installed) is named as skipped. Exits 1 when a
bar is missed; on a busy machine measure again before believing it.
"""
import csv
import json
import math
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOKERY = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/src/cli/rookery")
# The start position and the five standard test positions, with depths of comparable size.
PERFT = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 6),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 5),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 7),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 6),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 5),
    ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 5),
]
PERFT_RUNS = 3
PUZZLE_COPIES = 200
PGN_COPIES = 10
SAMPLES = 20


def cpu_seconds(command, text=None):
    """CPU time of a command, which must succeed."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = used()
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"bench.py: {' '.join(command)} failed:\n{result.stderr}")
    return used() - before


def perft_seconds(command, script, depth):
    """CPU time of a perft alone: the least of some runs, less that of starting up and depth 1."""
    def least(d):
        return min(cpu_seconds([part.format(depth=d) for part in command], script.format(depth=d))
                   for _ in range(PERFT_RUNS))
    return least(depth) - least(1)


def bench_perft():
    """Nodes a second against `go perft` of Stockfish, a position at a time; the geometric mean."""
    engine = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
    if not engine:
        return None
    logs = 0.0
    for fen, depth in PERFT:
        ours = perft_seconds([ROOKERY, "perft", "--fen", fen, "--depth", "{depth}"], "", depth)
        theirs = perft_seconds([engine], f"position fen {fen}\ngo perft {{depth}}\nquit\n", depth)
        done = subprocess.run([ROOKERY, "perft", "--fen", fen, "--depth", str(depth)],
                              capture_output=True, text=True, check=True)
        nodes = int(done.stdout.split()[1])
        print(f"  {nodes / ours / 1e6:6.0f} Mnodes/s, Stockfish {nodes / theirs / 1e6:6.0f}, "
              f"ratio {theirs / ours:5.2f}  depth {depth}  {fen}", flush=True)
        logs += math.log(theirs / ours)
    return math.exp(logs / len(PERFT))


def bench_puzzles(folder):
    """Validating a compressed file against only decompressing it. Copies of our few puzzles are
    made as hard to pack as real dumps by a window that is too small to see the copies."""
    if not shutil.which("zstd"):
        return None
    plain, packed = folder / "puzzles.csv", folder / "puzzles.csv.zst"
    with open(ROOT / "data/puzzles-train.csv", newline="", encoding="utf-8") as source:
        rows = list(csv.reader(source))
    with open(plain, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(rows[0])
        for copy in range(PUZZLE_COPIES):
            writer.writerows([f"{row[0]}x{copy}", *row[1:]] for row in rows[1:])
    subprocess.run(["zstd", "-q", "--zstd=wlog=10", str(plain), "-o", str(packed)], check=True)
    peer = sum(cpu_seconds(["sh", "-c", f"zstd -dc {packed} > /dev/null"]) for _ in range(5)) / 5
    return cpu_seconds([ROOKERY, "puzzles", "verify", str(packed)]) / peer


def bench_pgn(folder):
    """Plies validated a second against `pgn-extract -r`, on games of the shared data pack."""
    peer = shutil.which("pgn-extract") or shutil.which("pgn-extract", path="/usr/games")
    games = sorted((ROOT / "../shared/data/pgn").glob("*.pgn"))
    if not peer or not games:
        return None
    big = folder / "big.pgn"
    big.write_bytes(b"".join(path.read_bytes() + b"\n" for path in games) * PGN_COPIES)
    theirs = min(cpu_seconds([peer, "-r", "-s", str(big)]) for _ in range(3))
    return theirs / min(cpu_seconds([ROOKERY, "pgn", str(big), "--summary"]) for _ in range(3))


def bench_random_games():
    """Plies of random games a second, draw rules and all, as a share of perft's leaves a second."""
    done = subprocess.run([ROOKERY, "play", "--games", "20000", "--json"], capture_output=True,
                          check=True)
    plies = json.loads(done.stdout)["total_moves"]
    games = cpu_seconds([ROOKERY, "play", "--games", "20000", "--json"])
    leaves = 119060324  # start position, depth 6
    perft = cpu_seconds([ROOKERY, "perft", "--depth", "6"])
    print(f"  random games: {20000 / games:.0f} games/s of CPU, {plies / games / 1e6:.2f} million "
          f"plies/s; perft {leaves / perft / 1e6:.0f} million leaves/s")
    return plies / games / (leaves / perft)


def bench_calls(folder):
    """Microseconds of CPU around a call, with a scripted model, store and files included."""
    script, out = folder / "script.jsonl", folder / "run"
    script.write_text('{"match": {"input": "*"}, "text": "{\\"move\\": \\"e2e4\\"}"}\n')
    seconds = cpu_seconds([ROOKERY, "eval", "--model", f"script/{script}", "--puzzles",
                           "builtin:test", "--samples", str(SAMPLES), "--out", str(out),
                           "--store", str(folder / "bench.db")])
    with open(out / "predictions.jsonl", encoding="utf-8") as lines:
        return 1e6 * seconds / sum(1 for _ in lines)  # a line a call


def main():
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, measure, low, high in (
                ("perft: nodes/s, times Stockfish's", bench_perft, 1.0, None),
                ("puzzles verify: time, times zstd -dc", lambda: bench_puzzles(folder), None, 3.0),
                ("pgn: plies/s, times pgn-extract -r", lambda: bench_pgn(folder), 3.0, None),
                ("play: plies/s, share of perft leaves", bench_random_games, 0.0, None),
                ("eval: us CPU around a call", lambda: bench_calls(folder), None, 100.0)):
            value = measure()
            bar = f"at most {high:g}" if high else f"at least {low:g}" if low else "no bar"
            if value is None:
                print(f"{what:40} skipped: its peer is not installed")
                continue
            met = value <= high if high else value >= low
            missed += not met
            print(f"{what:40} {value:8.2f}  {bar:12} {'met' if met else 'MISSED'}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

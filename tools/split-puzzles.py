#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deals a puzzle file into a training and a test half: how data/puzzles-*.csv were made.

usage: split-puzzles.py STARTER.csv TRAIN.csv TEST.csv

The built-in halves come from 771 puzzles mined for this project from engine self-play (CC0), in
the Lichess schema. Their division must be fair and without leaks:

- Strata: number of solver moves, rating bin such as (400, 500], ends in mate or not. Within a
  stratum the halves get equally many puzzles, give or take one; the one more goes to the half
  that has fewer puzzles of that length so far, or fewer in all.
- Which puzzle goes where is drawn by random.Random(SEED): the puzzles are shuffled, then dealt.
- Puzzles that share an id or a position where the solver is to move (pieces and turn; counters do
  not count) are dealt as one, so that nothing in one half is met in the other.

Each half keeps the rows byte for byte and in the order of the source. The same source gives the
same halves; nothing but the Python standard library is used.
"""
import csv
import io
import random
import sys

SEED = 20261201


def placement(fen):
    """The board as {(file, rank): piece}."""
    board = {}
    for r, row in enumerate(fen.split()[0].split("/")):
        f = 0
        for c in row:
            if c.isdigit():
                f += int(c)
            else:
                board[f, 7 - r] = c
                f += 1
    return board


def play(board, uci):
    """Plays a legal move, castling and en passant included."""
    f0, r0, f1, r1 = (ord(c) - ord(z) for c, z in zip(uci, "a1a1"))
    piece = board.pop((f0, r0))
    if piece in "Pp" and f0 != f1 and (f1, r1) not in board:
        del board[f1, r0]
    if piece in "Kk" and abs(f1 - f0) == 2:
        rook = board.pop((7 if f1 > f0 else 0, r0))
        board[(f0 + f1) // 2, r0] = rook
    if len(uci) == 5:
        piece = uci[4].upper() if piece == "P" else uci[4]
    board[f1, r1] = piece


def solver_positions(row):
    """What the solver is shown, in a form that can be compared."""
    board = placement(row["FEN"])
    turn = "b" if row["FEN"].split()[1] == "w" else "w"
    for i, uci in enumerate(row["Moves"].split()):
        if i % 2:
            yield turn, tuple(sorted(board.items()))
        play(board, uci)


def units(rows):
    """Lists of row numbers that must stay together."""
    home = list(range(len(rows)))

    def find(i):
        while home[i] != i:
            i = home[i]
        return i

    seen = {}
    for i, row in enumerate(rows):
        for key in [row["PuzzleId"], *solver_positions(row)]:
            home[find(i)] = find(seen.setdefault(key, i))
    groups = {}
    for i in range(len(rows)):
        groups.setdefault(find(i), []).append(i)
    return list(groups.values())


def stratum(row):
    rating_bin = (int(row["Rating"]) + 99) // 100
    return len(row["Moves"].split()) // 2, rating_bin, "mate" in row["Themes"].split()


def deal(rows):
    """The half (0 or 1) of each row."""
    order = units(rows)
    draw = random.Random(SEED)
    draw.shuffle(order)
    half, counts = [0] * len(rows), {}
    for unit in order:
        length, *rest = stratum(rows[unit[0]])
        tallies = [counts.setdefault(key, [0, 0]) for key in ((length, *rest), length, "all")]
        lead = next((t[0] - t[1] for t in tallies if t[0] != t[1]), 0)
        to = int(lead > 0) if lead else draw.randrange(2)
        for i in unit:
            half[i] = to
        for tally in tallies:
            tally[to] += len(unit)
    return half


def main(source, *outputs):
    with open(source, encoding="utf-8", newline="") as f:
        head, *lines = f.read().splitlines(keepends=True)
    rows = list(csv.DictReader(io.StringIO("".join([head, *lines]), newline="")))
    if len(rows) != len(lines):
        sys.exit(f"{source}: rows of several lines are not handled")
    half = deal(rows)
    for which, path in enumerate(outputs):
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.writelines([head] + [line for line, h in zip(lines, half) if h == which])


if len(sys.argv) != 4:
    sys.exit(__doc__)
main(*sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""bench_optimizers.py BENCH_PROGRAM [SEEDS] - do the optimizers find what is there to be found?

Each optimizer on each simulated persona, SEEDS runs (10), and beside each run random search over the
same sentences with as many calls. Printed: the share of the achievable held-out gain (from the base
prompt to the best prompt known) in the median, its quartiles, calls, and how often random search was
beaten, at the settings of the recorded runs. Then the bars, with about the calls that COPRO makes at
those settings (12,000): GEPA, MIPROv2 and SIMBA on sim/responsive beat random search over 30 seeds
(paired sign-flip test, p < 0.05) and reach 60 % in the median; on sim/stubborn 200 small replicates
show no more significant gains than chance allows (binomial, 1 %). Last, the calls that the options
*.save_calls save at the same outcome, and *.racing (1 %) at nearly the same. Exits 1 when a bar is
missed.
"""
import itertools
import json
import math
import random
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

PROGRAM = sys.argv[1]
SEEDS = int(sys.argv[2]) if len(sys.argv) > 2 else 10
PERSONAS = ("responsive", "modest", "sloppy", "brittle", "strong")
METHODS = ("bootstrap_few_shot", "bootstrap_random_search", "copro", "mipro_v2", "gepa", "simba")
BARRED = ("gepa", "mipro_v2", "simba")
BAR_SEEDS, BAR_SHARE, REPLICATES = 30, 0.6, 200


def runs(job):
    persona, method, first, n, *size = job
    done = subprocess.run([PROGRAM, persona, method, str(first), str(n), *size],
                          capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def all_runs(jobs):
    with ThreadPoolExecutor(2) as pool:
        return list(itertools.chain.from_iterable(pool.map(runs, jobs)))


def share(run, key="found"):
    return (run[key] - run["base"]) / max(1, run["best_known"] - run["base"])


def sign_flip_p(differences):
    """One-sided: how often random signs give as high a sum (20,000 draws, fixed seed)."""
    draw = random.Random(1)
    wanted = sum(differences)
    hits = sum(sum(d if draw.random() < 0.5 else -d for d in differences) >= wanted
               for _ in range(20000))
    return (hits + 1) / 20001


def table():
    print("simulated models; share of the achievable held-out gain, median [quartiles]")
    print(f"{'persona':11} {'method':24} {'share':>22} {'calls':>7} {'prompt':>7}  beats random")
    for persona, method in itertools.product(PERSONAS, METHODS):
        got = runs((persona, method, 1, SEEDS))
        shares = [share(r) for r in got]
        low, mid, high = statistics.quantiles(shares, n=4) if len(shares) > 1 else shares * 3
        beats = sum(r["found"] > r["random"] for r in got)
        print(f"{persona:11} {method:24} {mid:8.2f} [{low:5.2f}, {high:5.2f}] "
              f"{statistics.mean(r['calls'] for r in got):8.0f} "
              f"{statistics.mean(r['prompt_calls'] for r in got):7.0f}  {beats}/{len(got)}",
              flush=True)


def bars():
    missed = []
    for method in BARRED:
        half = BAR_SEEDS // 2
        got = all_runs([("responsive", method, 1, half, "generous"),
                        ("responsive", method, 1 + half, half, "generous")])
        middle = statistics.median(share(r) for r in got)
        p = sign_flip_p([r["found"] - r["random"] for r in got])
        print(f"{method}: {middle:.2f} of the achievable gain in the median of {len(got)} seeds "
              f"(bar {BAR_SHARE}); against random search p = {p:.4f} (bar 0.05)", flush=True)
        if middle < BAR_SHARE or p >= 0.05:
            missed.append(method)
    return missed


def false_gains():
    """A prompt that changes nothing cannot gain: McNemar at 5 % may speak by chance alone."""
    missed = []
    for method in METHODS:
        half = REPLICATES // 2
        got = all_runs([("stubborn", method, 1, half, "small"),
                        ("stubborn", method, 1 + half, half, "small")])
        gains = sum(r["gained"] > 0 and r["mcnemar_p"] < 0.05 for r in got)
        # The most that a binomial of 200 and 0.025 (one side of 5 %) shows in 99 of 100 cases.
        most, tail = 0, 1.0
        while tail > 0.01:
            tail -= math.comb(REPLICATES, most) * 0.025 ** most * 0.975 ** (REPLICATES - most)
            most += 1
        print(f"{method} on sim/stubborn: {gains} significant gains in {len(got)} replicates "
              f"(bar {most - 1})", flush=True)
        if gains > most - 1:
            missed.append(f"{method} on stubborn")
    return missed


def savings():
    print("calls saved on sim/responsive at the settings of the recorded runs, and equal outcomes")
    for method, how in itertools.product(METHODS[1:], ("saving", "racing")):
        if how == "racing" and method not in ("bootstrap_random_search", "simba"):
            continue
        got = runs(("responsive", method, 1, SEEDS, "paper", how))
        plain = runs(("responsive", method, 1, SEEDS, "paper"))
        before, after = (sum(r["calls"] for r in x) for x in (plain, got))
        same = sum(x["program"] == y["program"] for x, y in zip(plain, got))
        print(f"{method:24} {how:7} {before / SEEDS:8.0f} -> {after / SEEDS:8.0f} calls "
              f"({100 * (1 - after / before):5.1f} % saved)  same program {same}/{SEEDS}", flush=True)
        if how == "saving" and same < SEEDS:
            yield f"{method} saves calls at another outcome"


table()
missed = bars() + false_gains() + list(savings())
print("missed: " + ", ".join(missed) if missed else "all bars are met")
sys.exit(1 if missed else 0)

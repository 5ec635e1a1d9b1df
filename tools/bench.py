#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""bench.py [ROOKERY] - the quality bars as ratios of CPU time within one run.

A bar that cannot be measured here (a peer is not installed) is named as skipped. Exits 1 when a
bar is missed; on a busy machine measure again before believing it.
"""
import csv
import http.client
import json
import math
import os
import random
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
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
DUMP_COPIES = 25
SAMPLES = 20


def cpu_seconds(command, text=None):
    """CPU time of a command, which must succeed."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = used()
    result = subprocess.run(command, input=text, capture_output=True, text=True,
                            errors="replace", check=False)
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


def bench_sample(folder):
    """Wall time of drawing from a dump against that of unpacking it; rows of the shared data pack,
    shuffled so that they pack as a real dump does."""
    source = ROOT / "../shared/data/puzzles/lichess_full10.csv"
    if not source.exists():
        return None
    head, *rows = source.read_text(encoding="utf-8").splitlines()
    plain, packed = folder / "dump.csv", folder / "dump.csv.zst"
    with open(plain, "w", encoding="utf-8") as out:
        out.write(head + "\n")
        for copy in range(DUMP_COPIES):
            random.Random(copy).shuffle(rows)
            out.writelines(f"{copy}-{row}\n" for row in rows)
    subprocess.run(["zstd", "-q", "-12", "--zstd=wlog=17", str(plain), "-o", str(packed)], check=True)

    def wall(command):
        began = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - began
    # Side by side, in turn: a machine's speed changes from second to second.
    ratios = []
    for _ in range(15):
        peer = wall(["sh", "-c", f"zstd -dc {packed} > /dev/null"])
        ratios.append(wall([ROOKERY, "puzzles", "sample", "--source", str(packed), "--force",
                            "--out", str(folder / "drawn")]) / peer)
    print(f"  fifteen in turn: {min(ratios):.2f} to {max(ratios):.2f}")
    return statistics.median(ratios)


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


def bench_engines(folder):
    """Share of the time that the engines of regret are at work, with one process a core."""
    if not shutil.which("stockfish", path=os.environ["PATH"] + ":/usr/games"):
        return None
    done = subprocess.run([ROOKERY, "regret", "--model", "sim/responsive", "--limit", "80",
                           "--engine-limit", "depth=14", "--noise", "0", "--out",
                           str(folder / "regret"), "--store", ":memory:"],
                          capture_output=True, text=True, check=True)
    share = re.search(r"engines at work ([0-9.]+) % of ([0-9.]+) s", done.stdout)
    print(f"  regret of 80 positions at depth 14: {share[2]} s")
    return float(share[1]) / 100


def bench_calls(folder):
    """Microseconds of CPU around a call, with a scripted model, store and files included."""
    script, out = folder / "script.jsonl", folder / "run"
    script.write_text('{"match": {"input": "*"}, "text": "{\\"move\\": \\"e2e4\\"}"}\n')
    seconds = cpu_seconds([ROOKERY, "eval", "--model", f"script/{script}", "--puzzles",
                           "builtin:test", "--samples", str(SAMPLES), "--out", str(out),
                           "--store", str(folder / "bench.db")])
    with open(out / "predictions.jsonl", encoding="utf-8") as lines:
        return 1e6 * seconds / sum(1 for _ in lines)  # a line a call


HARNESS = str(Path(ROOKERY).resolve().parent.parent.parent / "tests/bench_harness")
COLD = "import collections, heapq, itertools, json, math, random, re, statistics"
PLAIN = """
import runpy, sys
h = runpy.run_path(sys.argv[1])
board = sys.stdin.read()
for _ in range(int(sys.argv[2])):
    h["format_observation"](board, turn_count=0, side_to_move="white", last_opponent_move=None,
                            max_turns=9)
    h["parse_action"]("I play <move>e2e4</move>, for the centre.")
    h["is_legal_action"](board, "e2e4")
"""


def per_item(command, n, *rest, text=None):
    """CPU seconds of one of n things that a command does, less its start."""
    def seconds(k):
        return cpu_seconds([*command, str(k), *map(str, rest)], text)
    return (seconds(n) - seconds(0)) / n


def bench_cell_start():
    """Starting a locked child against a cold interpreter with the same imports."""
    python = shutil.which("python3.11", path="/usr/bin") or shutil.which("python3.11")
    if not python:
        return None
    cold = min(cpu_seconds([python, "-I", "-S", "-c", COLD]) for _ in range(5))
    return per_item([HARNESS, "starts"], 2000) / cold


def bench_cell_calls(folder):
    """Format, parse and legality of the baseline in a child against the same in plain Python; and,
    not under the bar, of one whose formatter does something, so that it must be asked."""
    python = shutil.which("python3.11", path="/usr/bin") or shutil.which("python3.11")
    if not python:
        return None
    board = "".join(f"- [a2a{i % 8 + 1}] SAN=a{i % 8 + 1}\n" for i in range(19))
    board += "- [e2e4] SAN=e4\n"
    formatting = folder / "formatting.py"
    formatting.write_text((ROOT / "data/h0.py").read_text(encoding="utf-8").replace(
        "return observation", "return observation.upper()"), encoding="utf-8")

    def plain(path):
        return min(per_item([python, "-I", "-S", "-c", PLAIN, str(path)], 50000, text=board)
                   for _ in range(3))

    def ours(mode, path):
        return min(per_item([HARNESS, mode], 20000, path) for _ in range(3))
    base, ratio = plain(ROOT / "data/h0.py"), None
    for what, mode, path in (("the baseline", "calls", ROOT / "data/h0.py"),
                             ("16 of it at work together", "together", ROOT / "data/h0.py"),
                             ("one that formats", "calls", formatting)):
        here = plain(path) if path == formatting else base
        there = ours(mode, path)
        ratio = ratio or there / here
        print(f"  a turn of a harness, {what}: {1e6 * there:.1f} us of CPU, in plain Python "
              f"{1e6 * here:.1f} us, ratio {there / here:.1f}")
    return ratio


EPISODES = 2000


def bench_env():
    """Steps of `harness env` a second of CPU, all its processes together: the baseline, puzzles
    solved to their end, so that each few steps a child is started and loaded."""
    with open(ROOT / "data/puzzles-train.csv", newline="", encoding="utf-8") as source:
        lines = {row["PuzzleId"]: row["Moves"].split()[1::2] for row in csv.DictReader(source)}

    def seconds(episodes):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        server = subprocess.Popen([ROOKERY, "harness", "env", "--harness", "builtin:h0"],
                                  stdout=subprocess.PIPE)
        port, steps = int(re.search(rb":(\d+)", server.stdout.readline())[1]), 0
        client = http.client.HTTPConnection("127.0.0.1", port)

        def ask(path, **body):
            client.request("POST", path, json.dumps(body))
            return json.loads(client.getresponse().read())
        for _ in range(episodes):
            at = ask("/reset")
            for move in lines[at["puzzle"]]:
                out = ask("/step", episode=at["episode"], text=f"<move>{move}</move>")
                steps += 1
            if out["reward"] != 1:
                sys.exit(f"bench.py: harness env: {out}")
            ask("/close", episode=at["episode"])
        client.close()
        server.terminate()
        server.wait()
        server.stdout.close()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, steps
    (none, _), (all_of_it, steps) = seconds(0), seconds(EPISODES)
    print(f"  harness env: {steps} steps in {EPISODES} episodes, "
          f"{1e6 * (all_of_it - none) / steps:.0f} us of CPU a step")
    return steps / (all_of_it - none)


NGINX = """daemon off; pid {dir}/pid; error_log {dir}/error.log; worker_processes 1;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 1000000000; default_type application/json;
  client_body_buffer_size 64k; client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy;
  fastcgi_temp_path {dir}/f; uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
  server {{ listen 127.0.0.1:{port} backlog=1024; location / {{ return 200 '{reply}'; }} }}
}}
"""


class Nginx:
    """A server that answers every request with the same 1 kB completion."""

    def __init__(self, folder, program):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        reply = {"id": "c1", "object": "chat.completion", "model": "m", "choices": [
            {"index": 0, "message": {"role": "assistant", "content": '{"move": "e2e4"}'},
             "finish_reason": "stop"}], "usage": {"prompt_tokens": 500, "completion_tokens": 9,
                                                  "total_tokens": 509}, "system_fingerprint": ""}
        reply["system_fingerprint"] = "x" * (1024 - len(json.dumps(reply)))
        text = json.dumps(reply).replace("\\", "\\\\")
        (folder / "nginx.conf").write_text(NGINX.format(dir=folder, port=self.port, reply=text))
        self.command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf")]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.DEVNULL)
        for _ in range(100):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    break
            time.sleep(0.05)
        return f"http://127.0.0.1:{self.port}/v1"

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)


def bench_throughput(folder, store):
    """CPU of a call against wrk's of a request: the same 2 kB, the same server, 64 in flight."""
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin")
    wrk = shutil.which("wrk")
    if not nginx or not wrk:
        return None
    program, script, out = folder / "program.txt", folder / "post.lua", folder / "calls"
    program.write_text("Play the best move. " + "Look at checks, captures and threats first. " * 18)
    puzzle = next(csv.DictReader(open(ROOT / "data/puzzles-test.csv", encoding="utf-8")))["PuzzleId"]
    body = subprocess.run([ROOKERY, "prompt", "--puzzles", "builtin:test", "--id", puzzle, "--index",
                           "0", "--model", "openai/m", "--program", str(program)],
                          capture_output=True, text=True, check=True,
                          env={**os.environ, "OPENAI_API_KEY": "bench"}).stdout.strip()
    script.write_text(f'wrk.method="POST"\nwrk.body=[==[{body}]==]\n'
                      'wrk.headers["Content-Type"]="application/json"\n')

    def ours(url, samples):
        shutil.rmtree(out, ignore_errors=True)
        for path in folder.glob("calls.db*"):
            path.unlink()
        os.environ["OPENAI_API_KEY"] = "bench-key-of-nobody"
        seconds = cpu_seconds([ROOKERY, "eval", "--model", "openai/m", "--base-url", url, "--program",
                               str(program), "--samples", str(samples), "--store", store, "--out",
                               str(out), "--concurrency", "64"])
        with open(out / "predictions.jsonl", encoding="utf-8") as lines:
            return seconds, sum(1 for _ in lines)
    with Nginx(folder, nginx) as url:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([wrk, "-t1", "-c64", "-d4s", "-s", str(script), url + "/chat/completions"],
                              capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        theirs = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / int(
            re.search(r"(\d+) requests in", done.stdout)[1])
        few, many = ours(url, 1), ours(url, SAMPLES)
    each = (many[0] - few[0]) / (many[1] - few[1])
    print(f"  {len(body)} bytes asked: {1e6 * each:.0f} us a call, wrk {1e6 * theirs:.1f} us a request")
    return each / theirs


def main():
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, measure, low, high in (
                ("perft: nodes/s, times Stockfish's", bench_perft, 1.0, None),
                ("puzzles verify: time, times zstd -dc", lambda: bench_puzzles(folder), None, 3.0),
                ("puzzles sample: time, times zstd -dc", lambda: bench_sample(folder), None, 3.0),
                ("pgn: plies/s, times pgn-extract -r", lambda: bench_pgn(folder), 3.0, None),
                ("play: plies/s, share of perft leaves", bench_random_games, 0.0, None),
                ("regret: share of time in engines", lambda: bench_engines(folder), 0.97, None),
                ("call, no store: CPU, times wrk's",
                 lambda: bench_throughput(folder, ":memory:"), None, 5.0),
                ("call, stored: CPU, times wrk's",
                 lambda: bench_throughput(folder, str(folder / "calls.db")), None, 9.0),
                ("eval: us CPU around a call", lambda: bench_calls(folder), None, 100.0),
                ("harness: child's start, times Python's", bench_cell_start, None, 1 / 3),
                ("harness: three calls, times Python's", lambda: bench_cell_calls(folder), None, 3.0),
                ("harness env: steps/s of CPU", bench_env, 2000.0, None)):
            value = measure()
            bar = f"at most {high:.3g}" if high else f"at least {low:g}" if low else "no bar"
            if value is None:
                print(f"{what:40} skipped: its peer is not installed")
                continue
            met = value <= high if high else value >= low
            missed += not met
            print(f"{what:40} {value:8.2f}  {bar:12} {'met' if met else 'MISSED'}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

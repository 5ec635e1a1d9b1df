# SPDX-License-Identifier: GPL-3.0-or-later
"""`tournament`: schedules, openings, tests that end it, kills of the program and of its engines."""
import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from program import CLEAN, ROOKERY, Case, Simulator, run

STOCKFISH = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
POOL = ("tournament", "sim/strong", "sim/modest", "builtin:depth=1", "random", "--max-plies", 40)


class Tournaments(Case):
    def ok(self, *args):
        done = run(*args, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def standings(self, out):
        return json.loads((self.dir / out / "standings.json").read_text())

    def logs(self, out):
        return [json.loads(p.read_text()) for p in (self.dir / out).glob("*.json")
                if p.name[0] == "2"]

    def check_sums(self, s):
        """Points, games and colours of all players add up to the games with a result."""
        n = s["games_played"] - s["games_without_result"]
        rows = s["standings"]
        self.assertEqual(sum(r["points"] for r in rows), n)
        self.assertEqual(sum(r["games"] for r in rows), 2 * n)
        for win, loss in (("white", "black"), ("black", "white")):
            self.assertEqual(sum(r[win]["wins"] for r in rows), sum(r[loss]["losses"] for r in rows))
            self.assertEqual(sum(r[win]["wins"] + r[win]["draws"] + r[win]["losses"] for r in rows), n)

    def test_what_comes_out_depends_on_the_seed_alone(self):
        table = self.ok(*POOL, "--rounds", 2, "--out", "a", "--concurrency", 1)
        self.ok(*POOL, "--rounds", 2, "--out", "b", "--concurrency", 16, "--store", "b.db")
        self.assertEqual(self.standings("a"), self.standings("b"))
        self.assertEqual(len(self.logs("a")), 24)
        self.check_sums(self.standings("a"))
        self.assertIn("SIMULATED", table)
        self.assertIn("points against", table)
        again = self.ok(*POOL, "--rounds", 2, "--out", "a")  # replayed
        self.assertEqual(again, table)

    def test_killed_at_any_time_it_goes_on(self):
        args = [str(a) for a in (*POOL, "--rounds", 3)]
        self.ok(*args, "--out", "whole", "--store", "whole.db")
        rng = random.Random(1)
        for _ in range(4):
            process = subprocess.Popen([ROOKERY, *args, "--out", "o"], cwd=self.dir, env=CLEAN,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0.05, 0.6))
            process.kill()
            process.wait()
        self.ok(*args, "--out", "o")
        self.assertEqual(self.standings("o"), self.standings("whole"))
        self.assertEqual(len(self.logs("o")), len(self.logs("whole")))

    def test_games_begin_with_the_openings_in_turn(self):
        (self.dir / "book.pgn").write_text("1. e4 c5 2. Nf3 *\n\n[Event \"2\"]\n\n1. d4 d5 2. c4 *\n")
        self.ok("tournament", "random", "builtin:depth=1", "--rounds", 3, "--openings", "book.pgn",
                "--opening-plies", 2, "--out", "o")
        fens = [line.split('"')[1].split()[0] for line in
                (self.dir / "o" / "games.pgn").read_text().splitlines() if line.startswith("[FEN")]
        sicilian = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR"
        queens = "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR"
        self.assertEqual(fens, [sicilian] * 2 + [queens] * 2 + [sicilian] * 2)

    def test_the_sequential_test_ends_it_early_and_by_rounds(self):
        args = ("tournament", "builtin:depth=1", "random", "--rounds", 200, "--sprt", "0,30")
        self.ok(*args, "--out", "a")
        s = self.standings("a")
        self.assertEqual((s["sprt_verdict"], s["games_scheduled"]), ("H1", 400))
        self.assertEqual(s["games_played"] % 16, 0)
        self.assertLess(s["games_played"], 100)
        self.ok("tournament", "random", "builtin:depth=1", *args[3:], "--out", "b")
        self.assertEqual(self.standings("b")["sprt_verdict"], "H0")

    def test_it_ends_when_ratings_are_known_well_enough(self):
        self.ok("tournament", "random", "random", "--rounds", 400, "--half-width", 60, "--max-plies",
                60, "--out", "o")
        s = self.standings("o")
        self.assertLess(s["games_played"], 800)
        for row in s["standings"]:
            self.assertLessEqual(row["elo"]["half_width95"], 60)

    def test_what_the_endpoint_breaks_is_nobody_s_loss(self):
        with Simulator("--faults", "500:0.05,seed=5") as s:
            self.ok("tournament", "openai/sim-strong", "random", "--rounds", 4, "--base-url", s.url,
                    "--retries", "0", "--max-plies", 20, "--out", "o")
        s = self.standings("o")
        self.check_sums(s)
        self.assertGreater(len(self.logs("o")), 8)  # some were broken and played again
        self.assertEqual(sum(r["model_errors"] for r in s["standings"]), 0)

    @unittest.skipUnless(STOCKFISH, "Stockfish is not installed")
    def test_engines_killed_at_random_lose_nothing(self):
        process = subprocess.Popen(
            [ROOKERY, "tournament", f"uci:{STOCKFISH},nodes=5000", f"uci:{STOCKFISH},nodes=500",
             "random", "--rounds", "2", "--max-plies", "40", "--concurrency", "4", "--out", "o"],
            cwd=self.dir, env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        rng, killed = random.Random(2), 0
        while process.poll() is None and not list((self.dir / "o").glob("2*.json")):
            time.sleep(0.05)  # until the engines are met and games are on
        while process.poll() is None and killed < 12:
            time.sleep(0.15)
            children = self.children(process.pid)
            if children:
                os.kill(rng.choice(children), signal.SIGKILL)
                killed += 1
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err.decode())
        self.assertGreater(killed, 3)
        s = self.standings("o")
        self.assertEqual(s["games_without_result"], 0)
        self.check_sums(s)
        for log in self.logs("o"):
            self.assertIn(log["outcome_class"], ("chess", "max_moves"))

    @staticmethod
    def children(pid):
        found = []
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as f:
                    if entry.isdigit() and int(f.read().rpartition(")")[2].split()[1]) == pid:
                        found.append(int(entry))
            except (OSError, IndexError, ValueError):
                pass
        return found

    def test_bad_command_lines_say_what_to_do(self):
        for args, code, says in (
                (("random",), 2, b"2 to 16 players"),
                (("random", "sim/nobody"), 2, b"player 2"),
                (("random", "random", "--sprt", "5,0"), 2, b"ELO0,ELO1"),
                (("random", "random", "random", "--sprt", "0,5"), 2, b"two players"),
                (("random", "random", "--rounds", "100000"), 3, b"lower --rounds"),
                (("random", "random", "--openings", "gone.epd"), 3, b"gone.epd")):
            done = run("tournament", *args, "--out", "x", "--max-plies", "2", cwd=self.dir)
            self.assertEqual(done.returncode, code, (args, done.stderr))
            self.assertIn(says, done.stderr)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that use an engine: with Stockfish where it is installed, with a fake one for faults."""
import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import time
import unittest

from program import CLEAN, ROOKERY, Case, run

FAKE = pathlib.Path(os.environ["ROOKERY_SOURCE"]) / "tests/pump/fake_engine.sh"
STOCKFISH = pathlib.Path("/usr/games/stockfish")


def rows(path):
    """The records of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def need_stockfish(test):
    """Skips the test where there is no Stockfish."""
    return unittest.skipUnless(STOCKFISH.exists(), "no Stockfish here")(test)


class Killed(Case):
    """A command that is killed goes on where it was, and comes to the same bytes."""

    def calls(self, store):
        """How many answers a store has; none before it is made."""
        if not (self.dir / store).exists():
            return 0
        try:
            with contextlib.closing(sqlite3.connect(self.dir / store, timeout=20)) as db:
                return db.execute("SELECT count(*) FROM call").fetchone()[0]
        except sqlite3.OperationalError:
            return 0

    def kill_at(self, n, command):
        p = subprocess.Popen([ROOKERY, *command], cwd=self.dir, env=CLEAN,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while p.poll() is None and self.calls("killed.db") < n:
            time.sleep(0.02)
        p.send_signal(signal.SIGKILL)
        self.assertEqual(p.wait(), -signal.SIGKILL, "it was faster than the test")

    def goes_on(self, files, *args):
        command = [*map(str, args), "--engine-options", "Hash=16", "--deterministic"]
        calm = run(*command, "--out", "calm", "--store", "calm.db", cwd=self.dir)
        self.assertEqual(calm.returncode, 0, calm.stderr)
        command += ["--out", "killed", "--store", "killed.db"]
        n = self.calls("calm.db")
        self.assertGreater(n, 40)
        for part in 4, 2:
            self.kill_at(n // part, command)
        done = run(*command, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("replayed 0,", done.stdout.decode())
        self.assertEqual(self.calls("killed.db"), n)
        for name in files:
            self.assertEqual((self.dir / "calm" / name).read_bytes(),
                             (self.dir / "killed" / name).read_bytes(), name)

    @unittest.skipUnless(STOCKFISH.exists(), "no Stockfish here")
    def test_regret(self):
        self.goes_on(["regret.json", "regret.jsonl", "predictions.jsonl"], "regret", "--model",
                     "sim/responsive", "--limit", 25, "--engine-limit", "depth=12", "--noise", 2)

    @unittest.skipUnless(STOCKFISH.exists(), "no Stockfish here")
    def test_rollout(self):
        self.goes_on(["rollout.json", "rollouts.jsonl"], "rollout", "--model", "sim/responsive",
                     "--engine-limit", "depth=11", "--moves", 4)


class Faults(Case):
    """Nothing is scored with an engine that does not work."""

    def regret(self, mode, code, words, *args):
        return self.fails(code, words, "regret", "--model", "sim/responsive", "--limit", 2,
                          "--engine", FAKE, "--engine-args", mode, *args)

    def test_engines_that_do_not_work_are_told(self):
        self.regret("exit_at_go", 4, ["exit code 1", "x.nnue was not loaded"])
        self.regret("exit_at_uci", 4, ["exit code 3", "no licence"])
        self.regret("good", 2, ["no option \"Contempt\""], "--engine-options", "Contempt=3")
        self.regret("good", 2, ["depth=N"], "--engine-limit", "20")
        self.fails(2, ["no program", "stockfish"], "regret", "--model", "sim/strong",
                   "--engine", "no-such-engine")
        self.fails(2, ["not a program"], "regret", "--model", "sim/strong",
                   "--engine", "./no-such-engine")

    def test_an_engine_at_fault_ends_the_run_without_a_score(self):
        # The fake engine always plays e2e4, which is no move in these puzzles.
        said = self.regret("good", 1, ["did not arrive", "e2e4", "illegal"])
        self.assertNotIn("median", said)
        self.assertEqual(list(self.dir.glob("runs/**/regret.json")), [])

    def test_an_opponent_at_fault_ends_the_rollouts_without_a_score(self):
        # Its first answer as the second player is an illegal move.
        said = self.fails(4, ["illegal", "faults of engines in a row"], "rollout", "--model", "sim/responsive",
                          "--engine", FAKE, "--engine-args", "good", "--engine-limit", "depth=2")
        self.assertNotIn("mean", said)
        self.assertEqual(list(self.dir.glob("runs/**/rollout.json")), [])


@need_stockfish
class Regret(Case):
    """Small searches, so that the tests are quick."""
    ARGS = ("regret", "--model", "sim/responsive", "--limit", 12, "--engine-limit", "depth=6",
            "--engine-options", "Hash=16", "--noise", 4)

    def go(self, *args):
        done = run(*self.ARGS, *args, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def test_the_files_agree_with_each_other(self):
        self.go("--out", "r")
        told = json.loads((self.dir / "r/regret.json").read_text())
        costs = sorted(r["regret_cp"] for r in rows(self.dir / "r/regret.jsonl"))
        self.assertEqual(len(costs), 12)
        self.assertEqual(told["regret_cp"]["median"], (costs[5] + costs[6]) / 2)
        self.assertEqual(told["zero"], costs.count(0))
        self.assertEqual(told["noise_cp"]["positions"], 4)
        self.assertEqual(sum(told["distribution"].values()), 12)
        answers = rows(self.dir / "r/predictions.jsonl")
        for row, answer in zip(rows(self.dir / "r/regret.jsonl"), answers):
            self.assertEqual(row["predicted_move"], answer["resolved"])
            if row["predicted_move"] is None:
                self.assertEqual(row["regret_cp"], 200000)
                continue
            self.assertEqual(row["regret_cp"], max(0, row["best_cp"] - row["post_cp"]))
            if row["predicted_move"] == row["best_move"]:
                self.assertEqual(row["regret_cp"], 0)
            if not row["best_is_mate"]:
                self.assertEqual(row["best_depth_reached"], 6)

    def test_the_number_of_processes_changes_nothing(self):
        self.go("--out", "one", "--engines", 1)
        self.go("--out", "two", "--engines", 2, "--again")
        for name in "regret.jsonl", "regret.json":
            self.assertEqual((self.dir / "one" / name).read_text(),
                             (self.dir / "two" / name).read_text())

    def test_a_repeated_command_searches_nothing_again(self):
        self.go("--out", "r")
        before = (self.dir / "r/regret.jsonl").read_text()
        self.assertIn("searches: 0 new", self.go("--out", "r"))
        self.assertEqual((self.dir / "r/regret.jsonl").read_text(), before)

    def test_searches_serve_other_runs_with_reuse(self):
        self.go("--out", "r")
        self.assertIn("searches: 0 new", self.go("--out", "s", "--run-name", "s", "--reuse"))
        self.assertNotIn("searches: 0 new", self.go("--out", "t", "--run-name", "t"))
        self.assertNotIn("searches: 0 new", self.go("--out", "u", "--run-name", "u", "--reuse",
                                                    "--engine-options", "Hash=17"))

    def test_recorded_answers_cost_the_same(self):
        self.go("--out", "r")
        done = run("regret", "--predictions", "r/predictions.jsonl", "--limit", 12, "--out", "p",
                   "--engine-limit", "depth=6", "--engine-options", "Hash=16", "--noise", 0,
                   cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([r["regret_cp"] for r in rows(self.dir / "p/regret.jsonl")],
                         [r["regret_cp"] for r in rows(self.dir / "r/regret.jsonl")])

    def test_runs_are_ranked_by_accuracy_and_regret(self):
        for model in "responsive", "strong", "sloppy":
            self.go("--out", model, "--model", "sim/" + model, "--reuse")
        done = run("stats", "regret", "responsive", "strong", "sloppy", "--format", "json",
                   cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = json.loads(done.stdout)
        medians = [float(row["median cp"]) for row in table]
        for row in table:
            mine = float(row["median cp"])
            rank = 1 + sum(m < mine for m in medians) + (medians.count(mine) - 1) / 2
            self.assertEqual(float(row["median"]), rank)
        self.fails(3, ["regret.json"], "stats", "regret", "nowhere")


@need_stockfish
class Rollout(Case):
    """Short games and small searches."""
    ARGS = ("rollout", "--model", "sim/responsive", "--engine-limit", "depth=4",
            "--engine-options", "Hash=16", "--moves", 4)

    def go(self, *args):
        done = run(*self.ARGS, *args, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def test_the_files_agree_with_each_other(self):
        self.go("--out", "r")
        told = json.loads((self.dir / "r/rollout.json").read_text())
        games = rows(self.dir / "r/rollouts.jsonl")
        self.assertEqual(len(games), 10)
        for stop, n in told["stops"].items():
            self.assertEqual(n, sum(g["stop"] == stop for g in games))
        costs = sorted(c for g in games for c in g["regret_cp"])
        self.assertEqual(told["regrets_cp"], costs)
        self.assertEqual(len(costs), sum(g["accepted"] for g in games))
        self.assertEqual(told["mean_regret_cp"]["mean"], sum(costs) / len(costs))
        self.assertEqual(told["illegal_attempts"]["n"], sum(g["attempts"] for g in games))
        for g in games:
            own = len(g["moves"]) - g["opening_plies"]
            self.assertLessEqual(g["accepted"], 4)
            self.assertIn(own - 2 * g["accepted"], (-1, 0, 1))

    def test_repeated_and_with_another_number_of_processes_it_is_the_same(self):
        self.go("--out", "one", "--engines", 1)
        before = (self.dir / "one/rollouts.jsonl").read_text()
        self.assertIn("calls: 0 new; searches: 0 new", self.go("--out", "one"))
        self.assertEqual((self.dir / "one/rollouts.jsonl").read_text(), before)
        self.go("--out", "two", "--engines", 2, "--again")
        self.assertEqual((self.dir / "two/rollouts.jsonl").read_text(), before)

    def test_games_by_chance_are_replayed_and_not_reused(self):
        self.go("--out", "r", "--skill", 1, "--no-regret")
        before = (self.dir / "r/rollouts.jsonl").read_text()
        self.assertIn("searches: 0 new", self.go("--out", "r", "--skill", 1, "--no-regret"))
        self.assertEqual((self.dir / "r/rollouts.jsonl").read_text(), before)
        said = self.go("--out", "s", "--skill", 1, "--no-regret", "--reuse", "--run-name", "s")
        self.assertIn("plays by chance", said)
        self.assertNotIn("searches: 0 new", said)

    def test_runs_are_pooled_by_model_and_method(self):
        for name, more in (("a", ["--seeds", 2]), ("b", ["--run-name", "b"]),
                           ("c", ["--model", "sim/strong"])):
            self.go("--out", name, "--reuse", *more)
        done = run("stats", "rollout", "a", "b", "c", "--format", "json", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        first, second = json.loads(done.stdout)
        self.assertEqual((first["model"], first["runs"], first["seeds"], first["rollouts"]),
                         ("sim/responsive (SIMULATED)", "2", "3", "30"))
        costs = sorted(c for name in "ab" for c in
                       json.loads((self.dir / name / "rollout.json").read_text())["regrets_cp"])
        self.assertEqual(first["moves"], str(len(costs)))
        half = len(costs) // 2
        median = costs[half] if len(costs) % 2 else (costs[half - 1] + costs[half]) / 2
        self.assertAlmostEqual(float(first["median cp"]), median, places=1)
        self.assertEqual(second["runs"], "1")
        self.fails(3, ["named twice"], "stats", "rollout", "a", "b", "a")
        self.fails(3, ["rollout.json"], "stats", "rollout", "nowhere")

    def test_openings_of_ones_own_are_checked(self):
        self.write("o.json", '[{"name":"x","eco":"A00","model":"black","moves":"g2g4"}]')
        self.go("--out", "r", "--openings", "o.json")
        game, = rows(self.dir / "r/rollouts.jsonl")
        self.assertEqual((game["eco"], game["moves"][0]), ("A00", "g2g4"))
        self.write("bad.json", '[{"name":"x","model":"black","moves":"g2g5"}]')
        self.fails(3, ["bad.json", "opening 1", "g2g5"], *self.ARGS, "--openings", "bad.json")
        self.fails(2, ["--theme"], *self.ARGS, "--theme", "fork")


if __name__ == "__main__":
    unittest.main()

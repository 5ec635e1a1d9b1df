# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that use an engine: with Stockfish where it is installed, with a fake one for faults."""
import json
import os
import pathlib
import unittest

from program import Case, run

FAKE = pathlib.Path(os.environ["ROOKERY_SOURCE"]) / "tests/pump/fake_engine.sh"
STOCKFISH = pathlib.Path("/usr/games/stockfish")


def rows(path):
    """The records of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def need_stockfish(test):
    """Skips the test where there is no Stockfish."""
    return unittest.skipUnless(STOCKFISH.exists(), "no Stockfish here")(test)


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

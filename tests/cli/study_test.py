# SPDX-License-Identifier: GPL-3.0-or-later
"""Studies: the grid, its tables, what a failed, killed or unpaid run does to the others."""
import csv
import json
import random
import signal
import subprocess
import time
import unittest

from program import CLEAN, ROOKERY, Case, Simulator, run

STUDY = """
study: small
models: [sim/responsive, {name: sim/modest, label: Modest}]
methods: [baseline, bootstrap_few_shot]
seeds: [1, 2]
baseline_repeats: 2
validation_size: 100
test_limit: 60
"""
FILES = ("results.json", "compiled.json", "predictions.jsonl")


class Studies(Case):
    def study(self, text, *args, code=0, **kwargs):
        self.write("study.yaml", text)
        done = run("study", "study.yaml", "--deterministic", *args, cwd=self.dir, **kwargs)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done.stdout.decode(), done.stderr.decode()

    def runs(self, out):
        """Every result file of a study, by its path."""
        return {str(p.relative_to(self.dir / out)): p.read_bytes()
                for name in FILES for p in sorted((self.dir / out).rglob(name))}

    def cells(self, out):
        with open(self.dir / out / "tables" / "accuracy.csv", encoding="utf-8") as text:
            return list(csv.DictReader(text))


class Grid(Studies):
    def test_every_run_and_table_is_there(self):
        out, _ = self.study(STUDY, "--out", "o")
        self.assertIn("8 of 8 runs (SIMULATED models took part)", out)
        cells = self.cells("o")
        self.assertEqual([(c["model"], c["method"], c["runs"]) for c in cells],
                         [("sim/responsive", "Baseline", "2"), ("sim/responsive", "BFS", "2"),
                          ("Modest", "Baseline", "2"), ("Modest", "BFS", "2")])
        for name in ("accuracy", "models", "paired", "prompts", "settings"):
            for ending in ("txt", "csv", "md", "tex", "json"):
                self.assertGreater((self.dir / "o/tables" / f"{name}.{ending}").stat().st_size, 20)
        # the table says what the runs' own files say
        summary = json.loads((self.dir / "o/Modest/baseline-r1/summary.json").read_text())
        rate = summary["rookery"]["rates"]["source_record_accuracy"]
        self.assertAlmostEqual(float(cells[2]["mean"]), 100 * rate["k"] / rate["n"], places=3)

    def test_repetitions_are_runs_of_their_own(self):
        self.study(STUDY, "--out", "o")
        out = run("runs", "list", "--store", "o/rookery.db", cwd=self.dir).stdout.decode()
        self.assertEqual(len([line for line in out.splitlines() if "sim/" in line]), 8)

    def test_given_again_nothing_is_asked(self):
        with Simulator() as simulator:
            text = STUDY.replace("sim/responsive", f"{{name: vllm/sim-responsive, "
                                 f"base_url: {simulator.url}}}").replace(
                                     "sim/modest", f"vllm/sim-modest, base_url: {simulator.url}")
            self.study(text, "--out", "o")
            first = self.runs("o")
        self.study(text, "--out", "o")  # the endpoint is gone
        self.assertEqual(self.runs("o"), first)

    def test_dry_run_lists_and_calls_nothing(self):
        out, _ = self.study(STUDY, "--out", "o", "--dry-run")
        self.assertIn("8 runs (nothing is called)", out)
        self.assertIn("Modest, baseline, repetition 2", out)
        self.assertFalse((self.dir / "o").exists())


class Analyses(Studies):
    def ok(self, *args):
        done = run(*args, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def test_runs_are_broken_down_and_compared(self):
        for model, out in (("sim/modest", "a"), ("sim/strong", "b")):
            self.ok("eval", "--model", model, "--limit", 200, "--out", out)
        rows = list(csv.DictReader(self.ok("stats", "breakdown", "a", "b", "--format",
                                           "csv").splitlines()))
        lengths = [r for r in rows if r["by"] == "puzzle length"]
        self.assertEqual(sum(int(r["positions"]) for r in lengths), 200)
        rows = json.loads(self.ok("stats", "curve", "a", "b", "--format", "json"))
        self.assertEqual([r["run"] for r in rows], ["a", "b"])
        self.assertIn("^", self.ok("stats", "pareto", "a", "b"))
        self.fails(3, ["nowhere"], "stats", "curve", "nowhere")
        self.fails(2, ["run directory"], "stats", "pareto")

    def test_a_prompt_is_labelled_by_rules_or_by_a_model(self):
        self.write("p.txt", "You are a coach. Find the mate.")
        rules = json.loads(self.ok("stats", "prompt", "p.txt", "--format", "json"))[0]
        self.assertEqual(rules["characters"], "31")
        self.assertEqual(rules["persona %"], "53.3")
        self.write("s.jsonl", json.dumps({"match": {"input": "*"}, "text": json.dumps(
            {"labels": "other, chess"})}) + "\n")
        by_model = json.loads(self.ok("stats", "prompt", "p.txt", "--model", "script/s.jsonl",
                                      "--format", "json"))[0]
        self.assertEqual((by_model["other %"], by_model["chess %"]), ("53.3", "46.7"))
        self.write("s.jsonl", json.dumps({"match": {"input": "*"}, "text": json.dumps(
            {"labels": "other"})}) + "\n")
        self.fails(1, ["label 2 of 2"], "stats", "prompt", "p.txt", "--model", "script/s.jsonl")


class Transfer(Studies):
    def test_the_best_prompts_are_scored_on_every_model(self):
        self.fails(3, ["rookery study` first"], "transfer", self.write("study.yaml", STUDY))
        self.study(STUDY, "--out", "o")
        done = run("transfer", "study.yaml", "--out", "o", "--deterministic", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        table = json.loads((self.dir / "o/tables/transfer.json").read_text())
        self.assertEqual([r["prompt of"] for r in table], ["sim/responsive", "Modest"])
        solved = {}  # the source is the run that solved most
        for seed in (1, 2):
            path = self.dir / f"o/Modest/bootstrap_few_shot-s{seed}/summary.json"
            rates = json.loads(path.read_text())["rookery"]["rates"]
            solved[seed] = rates["source_record_accuracy"]["k"]
        best = max(solved, key=lambda seed: (solved[seed], -seed))
        self.assertIn(f"prompt of Modest: Modest, bootstrap_few_shot, seed {best}",
                      done.stdout.decode())
        results = "results.json"  # on its own model it scores as it did
        if best == 1:  # the same test order as the baseline's
            self.assertEqual((self.dir / "o/transfer/Modest-on-Modest-r1" / results).read_bytes(),
                             (self.dir / "o/Modest/bootstrap_few_shot-s1" / results).read_bytes())

    def test_unchanged_prompts_are_no_source(self):
        text = STUDY.replace("bootstrap_few_shot]", "bootstrap_few_shot]\noptimizer: "
                             "{bootstrap_few_shot: {max_bootstrapped_demos: 0, "
                             "max_labeled_demos: 0}}")
        self.study(text, "--out", "o")
        self.assertEqual({c["unchanged"] for c in self.cells("o") if c["method"] == "BFS"}, {"1"})
        self.fails(3, ["no finished run of this study changed its prompt"], "transfer",
                   "study.yaml", "--out", "o")


class Trouble(Studies):
    def test_a_model_that_fails_leaves_the_others_alone(self):
        text = STUDY.replace("sim/responsive",
                             "{name: vllm/gone, label: Gone, base_url: 'http://127.0.0.1:1/v1'}")
        _, err = self.study(text, "--out", "o", code=1)
        self.assertIn("Gone, baseline, repetition 1: ", err)
        self.assertIn("4 of 8 runs failed", err)
        self.assertEqual([c["model"] for c in self.cells("o")], ["Modest", "Modest"])

    def test_the_budget_is_the_whole_study_s(self):
        self.study(STUDY, "--out", "whole")
        out, err = self.study(STUDY, "--out", "o", "--max-cost", "0.006", code=5)
        self.assertIn("budget", err)
        listed = run("runs", "list", "--store", "o/rookery.db", cwd=self.dir).stdout.decode()
        self.assertIn("sim/", listed)
        spent = sum(r["cost"] for r in self.calls("o"))
        self.assertLessEqual(spent, 0.006)
        self.study(STUDY, "--out", "o", "--max-cost", "0.006", code=5)  # what was spent counts
        self.study(STUDY, "--out", "o", "--max-cost", "1")
        self.assertEqual(self.runs("o"), self.runs("whole"))

    def test_the_budget_of_the_day_holds_for_all_children(self):
        _, err = self.study(STUDY, "--out", "o", "--max-cost-per-day", "0.006", code=5)
        self.assertIn("midnight UTC", err)
        self.assertLessEqual(sum(r["cost"] for r in self.calls("o")), 0.006)
        self.study(STUDY, "--out", "o", "--max-cost-per-day", "1")

    def test_prices_of_a_file_hold_for_all_children(self):
        (self.dir / "p.json").write_text('{"date": "2026-11-30", "models": {"openai/sim-modest": '
                                         '{"input": 1e5, "output": 1e5}}}')
        with Simulator() as s:
            text = STUDY.replace("sim/responsive", "{name: openai/sim-modest, label: Dear, "
                                 f"base_url: '{s.url}'}}")
            _, err = self.study(text, "--out", "o", "--prices", "p.json", "--max-cost", "0.5",
                                code=5)
        self.assertIn("budget", err)

    def calls(self, out):
        import sqlite3
        with sqlite3.connect(self.dir / out / "rookery.db") as db:
            return [{"cost": n / 1e9} for (n,) in db.execute("SELECT spent_nusd FROM run")]

    def test_kills_change_nothing(self):
        self.study(STUDY, "--out", "whole")
        draw = random.Random(5)
        for _ in range(6):
            child = subprocess.Popen(
                [ROOKERY, "study", "study.yaml", "--deterministic", "--out", "o"], cwd=self.dir,
                env=CLEAN, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(draw.uniform(0.02, 0.25))
            child.send_signal(signal.SIGKILL)
            child.wait()
            time.sleep(0.3)  # its children end by themselves
        self.study(STUDY, "--out", "o")
        self.assertEqual(self.runs("o"), self.runs("whole"))


class Endpoints(Studies):
    TEXT = ("study: e\nmodels: [{models}]\nmethods: [baseline]\nbaseline_repeats: 2\n"
            "validation_size: 100\ntest_limit: {limit}\n")
    KEY = {"OPENAI_API_KEY": "sk-canary-of-the-study-tests-0123456789"}

    def test_the_runs_share_what_an_endpoint_is_asked_a_minute(self):
        with Simulator() as s:
            text = self.TEXT.format(
                models=f"{{name: openai/sim-modest, base_url: '{s.url}'}}", limit=60)
            began = time.monotonic()
            self.study(text, "--out", "o", "--rpm", 1200, "--jobs", 2, env=self.KEY)
            # 120 calls at 20 a second; the two runs by themselves would take half as long
            self.assertGreater(time.monotonic() - began, 5)

    def test_a_slow_endpoint_holds_up_no_other(self):
        with Simulator("--latency", 700) as slow, Simulator() as fast:
            models = ", ".join(f"{{name: openai/sim-modest, label: {label}, base_url: '{s.url}'}}"
                               for label, s in (("slow", slow), ("fast", fast)))
            self.study(self.TEXT.format(models=models, limit=30), "--out", "o", "--jobs", 1,
                       env=self.KEY)
        done = {path.parent.parent.name: path.stat().st_mtime
                for path in sorted(self.dir.glob("o/*/baseline-r*/results.json"))}
        first_slow = min(path.stat().st_mtime for path in self.dir.glob("o/slow/*/results.json"))
        self.assertLess(done["fast"], first_slow)


class Files(Studies):
    def refused(self, text, *words):
        self.write("bad.yaml", text)
        self.fails(3, words, "study", "bad.yaml")

    def test_faults_are_named_with_their_line(self):
        self.refused("models: [sim/modest]\n", "bad.yaml:1", "'study' is missing")
        self.refused("study: a\n", "models must be a list")
        self.refused("study: a\nmodels: [nonsense]\n", "bad.yaml:2", "provider/model")
        self.refused("study: a\nmodels: [sim/modest, sim/modest]\n", "bad.yaml:2", "same label")
        self.refused("study: a\nmodels: [sim/modest]\nmethods: [gradient]\n", "bad.yaml:3",
                     "no such method")
        self.refused("study: a\nmodels: [sim/modest]\nseeds: [1, one]\n", "bad.yaml:3", "seed")
        self.refused("study: a\nmodels: [sim/modest]\nmethod: gepa\n", "bad.yaml:3", "lists")
        self.refused("study: a\nmodels: [sim/modest]\noptimizer: {depth: 2}\n", "bad.yaml:3",
                     "optimizer maps methods")
        self.refused("study: a\nmodels: [sim/modest]\nbreadth: 2\n", "bad.yaml:3", "unknown key")
        self.refused("study: a\nmodels: [{name: sim/modest, lable: x}]\n", "bad.yaml:2",
                     "models[0].lable", "unknown key")
        self.refused("study: a\nmodels: [sim/modest]\nmethods: [copro]\n"
                     "optimizer: {copro: {depth: 0}}\n", "bad.yaml:4", "depth")


if __name__ == "__main__":
    unittest.main()

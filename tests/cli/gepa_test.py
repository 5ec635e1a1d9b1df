# SPDX-License-Identifier: GPL-3.0-or-later
"""GEPA through the command line, with simulated models."""
import json
import signal
import subprocess
import unittest

from program import Case, CLEAN, ROOKERY, run

RUN = ("optimize", "--method", "gepa", "--model", "sim/responsive", "--prompt-model", "sim/meta",
       "--set", "auto=light", "--train-limit", "60", "--validation", "30", "--limit", "40",
       "--deterministic", "--store", "s.db")
FILES = ("results.json", "compiled.json", "predictions.jsonl", "explain.jsonl")


class Gepa(Case):
    def ok(self, *args):
        done = run(*args, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def files(self, out):
        return [(self.dir / out / f).read_bytes() for f in FILES]

    def events(self, out):
        return [json.loads(line) for line in (self.dir / out / "explain.jsonl").open()]

    def test_each_candidate_is_explained(self):
        out, err = self.ok(*RUN, "--out", "a", "--explain")
        self.assertIn("gepa", out)
        self.assertIn("accepted", err)
        events = self.events("a")
        taken = [e for e in events if e["what"] == "accepted"]
        self.assertTrue(taken)
        self.assertEqual([e["candidate"] for e in taken], list(range(1, len(taken) + 1)))
        # Every iteration is there once, with its figures; calls only grow.
        told = [e["details"] for e in events if "details" in e]
        self.assertEqual([d["iteration"] for d in told], list(range(len(told))))
        calls = [d["metric_calls"] for d in told]
        self.assertEqual(calls, sorted(calls))
        self.assertTrue(all(d["calls_made"] == d["metric_calls"] for d in told))
        self.assertEqual(events[-1]["what"], "finished")

    def test_a_prompt_is_found_that_scores_better_on_validation(self):
        self.ok(*RUN, "--out", "a")
        scores = [e["score"] for e in self.events("a") if e.get("candidate", -1) >= 0]
        self.assertGreater(max(scores), scores[0])
        compiled = json.loads((self.dir / "a/compiled.json").read_text())
        instruction = compiled["choose_move"]["signature"]["instructions"]
        best = [e for e in self.events("a")
                if e.get("candidate", -1) >= 0 and e["score"] == max(scores)]
        self.assertEqual(instruction, best[0]["instruction"])

    def test_a_killed_run_repeated_writes_the_same_files(self):
        self.ok(*RUN, "--out", "whole", "--run-name", "whole")
        want = self.files("whole")
        for told in (1, 5, 9):
            name = f"killed-{told}"
            process = subprocess.Popen(
                [ROOKERY, *RUN, "--out", name, "--run-name", name, "--explain"], cwd=self.dir,
                env=CLEAN, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for _ in range(told):  # once so much is told, wherever it is by then
                process.stderr.readline()
            process.send_signal(signal.SIGKILL)
            process.stderr.close()
            self.assertEqual(process.wait(timeout=60), -signal.SIGKILL)
            self.ok(*RUN, "--out", name, "--run-name", name)
            self.assertEqual(self.files(name), want)

    def test_a_spent_budget_is_gone_on_with(self):
        self.ok(*RUN, "--out", "whole", "--run-name", "whole")
        done = run(*RUN, "--out", "a", "--max-cost", "0.01", cwd=self.dir)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.ok(*RUN, "--out", "a", "--max-cost", "9")
        self.assertEqual(self.files("a"), self.files("whole"))

    def test_the_plan_bounds_the_calls(self):
        out, _ = self.ok(*RUN, "--out", "a", "--dry-run")
        line = next(line for line in out.splitlines() if "optimising:" in line)
        least, most = int(line.split()[1]), int(line.split()[3])
        self.ok(*RUN, "--out", "a")
        summary = json.loads((self.dir / "a/summary.json").read_text())
        self.assertTrue(least <= summary["compile_usage"]["task_model"]["num_calls"] <= most)

    def test_two_budgets_are_refused_before_any_call(self):
        self.fails(3, ["auto", "gepa.max_full_evals"], *RUN, "--set",
                   "auto=light,gepa.max_full_evals=3")

    def test_the_improved_preset_ends_within_its_budget(self):
        self.ok(*RUN[:-2], "--store", "i.db", "--preset", "improved", "--out", "a")
        end = self.events("a")[-1]
        told = [e["details"] for e in self.events("a") if "details" in e]
        self.assertEqual(end["what"], "finished")
        self.assertLessEqual(told[-1]["calls_made"], told[-1]["metric_calls"])


if __name__ == "__main__":
    unittest.main()

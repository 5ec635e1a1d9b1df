# SPDX-License-Identifier: GPL-3.0-or-later
"""`harness eval`: its files, replay, and every kind of bad harness."""
import json
import signal
import subprocess
import time
import unittest

from program import CLEAN, ROOKERY, Case, run

REQUIRED = ("def propose_action(board):\n    return ''\n"
            "def is_legal_action(board, action):\n    return '[' + action + ']' in board\n")
# Sound where the audit looks, not where this model answers: its answers are JSON.
ODD = REQUIRED + ("import re\ndef parse_action(response):\n    if 'best_move' in response:\n"
                  "        {}\n    m = set(re.findall('[a-h][1-8][a-h][1-8][qrbn]?', "
                  "response.lower()))\n    return m.pop() if len(m) == 1 else '__no_move__'\n")
EVAL = ("harness", "eval", "--model", "sim/sloppy", "--limit", "20", "--deterministic")
FAST = EVAL + ("--store", ":memory:")


class HarnessEval(Case):
    def evaluate(self, source, *args):
        """The finished command over a harness of this source."""
        return run(*FAST, "--harness", self.write("mine.py", source), "--out", self.dir / "out",
                   *args)

    def val(self, out="out", name="mine"):
        return json.loads((self.dir / out / "logs/mh_val" / name / "sloppy/val.json").read_text())

    def files(self, out):
        """The result files of a run directory, but for times and logs."""
        return {p.relative_to(self.dir / out).as_posix(): p.read_bytes()
                for p in sorted((self.dir / out).rglob("*"))
                if p.is_file() and p.name not in ("log.jsonl", "run_config.json")
                and ".tmp" not in p.name}

    def test_files_are_complete_and_tell_no_answers(self):
        done = run(*FAST, "--out", self.dir / "out", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        val = self.val(name="h0")
        self.assertEqual(val["num_examples"], 20)
        self.assertEqual(sum(val["per_example"]), val["solved_examples"])
        self.assertEqual(val["avg_reward"], val["success_rate"])
        self.assertEqual(sum(val["failure_counts"].values()), val["failed_examples"])
        self.assertGreaterEqual(val["success_rate_lichess"], val["success_rate_strict"])
        below = self.dir / "out/logs/mh_val/h0/sloppy"
        rows = [json.loads(x) for x in
                (below / "ChessPuzzle-v0_trajectories.jsonl").read_text().splitlines()]
        trace = [json.loads(x) for x in
                 (below / "ChessPuzzle-v0_policy_trace.jsonl").read_text().splitlines()]
        self.assertEqual([r["example_index"] for r in rows], list(range(20)))
        self.assertEqual([e for r in rows for e in r["harness_trace"]], trace)
        text = json.dumps(self.val(name="h0")) + json.dumps(rows)
        for word in ("PuzzleId", "themes", "rating", "builtin:train"):
            self.assertNotIn(word, text)

    def test_concurrency_changes_no_file(self):
        for out, n in (("a", "1"), ("b", "32")):
            self.assertEqual(run(*FAST, "--out", self.dir / out, "--concurrency", n).returncode, 0)
        self.assertEqual(self.files("a"), self.files("b"))

    def test_a_killed_evaluation_goes_on_and_ends_alike(self):
        whole = EVAL + ("--store", self.dir / "a.db", "--out", self.dir / "a", "--limit", "60")
        again = EVAL + ("--store", self.dir / "b.db", "--out", self.dir / "b", "--limit", "60")
        self.assertEqual(run(*whole).returncode, 0)
        for wait in (0.5, 0.8, 1.1):
            p = subprocess.Popen([ROOKERY, *map(str, again)], env=CLEAN,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(wait)
            p.send_signal(signal.SIGKILL)
            p.wait()
        self.assertEqual(run(*again).returncode, 0)
        self.assertEqual(self.files("a"), self.files("b"))

    def test_a_test_set_needs_final(self):
        self.fails(2, ["--final"], *FAST, "--puzzles", "builtin:test")
        done = run(*FAST, "--puzzles", "builtin:test", "--final", "--out", self.dir / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.dir / "out/results/mh_val/h0/sloppy/val.json").exists())
        self.assertFalse((self.dir / "out/logs").exists())

    def test_what_can_be_seen_beforehand_is_refused_in_one_line(self):
        bad = {
            "missing function": ("def propose_action(board):\n    return ''\n", "S60"),
            "empty": ("", "S60"),
            "no function": (REQUIRED + "is_legal_action = 5\n", "S60"),
            "10 MB": ("#" * (10 << 20), "S01"),
            "invalid UTF-8": (b"x = '\xff'\n" + REQUIRED.encode(), "S02"),
            "exception at load": (REQUIRED + "x = 1 // 0\n", "load_error"),
            "never loaded": (REQUIRED + "while True: pass\n", "load_timeout"),
            "legality refuses": (REQUIRED.replace("'[' + action + ']' in board", "False"), "R06"),
            "legality raises": (REQUIRED.replace("'[' + action + ']' in board", "{}['x']"), "R06"),
            "proposal raises": (REQUIRED.replace("return ''", "return {}['x']"), "R01"),
        }
        for name, (source, rule) in bad.items():
            with self.subTest(name):
                done = self.evaluate(source)
                self.assertEqual(done.returncode, 1, done.stderr)
                said = done.stderr.decode()
                self.assertIn(rule, said)
                self.assertEqual(len(said.splitlines()), 1, said)

    def test_what_happens_in_a_rollout_ends_no_run(self):
        for name, line, failure in (("raises", "{}['x']", "harness_error"),
                                    ("type", "return 5", "harness_error"),
                                    ("100 MB", "return response * 5000000", "harness_error"),
                                    ("prints", "print(response * 1000)", None)):
            with self.subTest(name):
                done = self.evaluate(ODD.replace("{}", line, 1))
                self.assertEqual(done.returncode, 0, done.stderr)
                counts = self.val()["failure_counts"]
                self.assertEqual("harness_error" in counts, failure is not None, counts)

    def test_a_parser_that_never_returns_is_a_fault(self):
        done = self.evaluate(ODD.replace("{}", "while True: pass", 1))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("harness_error", self.val()["failure_counts"])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole runs: files, replay, faults on the wire, kills, budget, Ctrl-C, comparison."""
import json
import random
import re
import signal
import subprocess
import time
import unittest
import urllib.request

from program import CLEAN, ROOKERY, Case, Simulator, run


class Runs(Case):
    def ok(self, *args, **kwargs):
        done = run(*args, cwd=self.dir, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def read(self, *names):
        return (self.dir.joinpath(*names)).read_bytes()

    def stats(self, simulator):
        with urllib.request.urlopen(simulator.url.replace("/v1", "/stats")) as reply:
            return json.load(reply)


class Files(Runs):
    def test_an_optimised_run_leaves_all_its_files(self):
        out = self.ok("optimize", "--model", "sim/responsive", "--limit", 20, "--out", "o")
        self.assertIn("SIMULATED", out)
        results = json.loads(self.read("o", "results.json"))
        self.assertEqual(len(results), 20)
        self.assertEqual(list(results[0]), [
            "prediction", "expected", "resolved", "correct", "error", "source_id", "rating",
            "move_index", "solver_length", "position_fen", "latency_s"])
        summary = json.loads(self.read("o", "summary.json"))
        self.assertEqual(list(summary), [
            "benchmark", "method", "train_examples", "validation_examples", "test_examples",
            "compile_seconds", "metrics", "compile_usage", "evaluation_usage", "rookery"])
        self.assertEqual(sum(summary["rookery"]["answers"].values()), 20)
        self.assertTrue(summary["rookery"]["simulated"])
        compiled = json.loads(self.read("o", "compiled.json"))
        self.assertEqual(len(compiled["choose_move"]["demos"]), 16)
        self.assertEqual(json.loads(self.read("o", "run_config.json"))["dspy_version"], None)

    def test_a_compiled_program_scores_the_same_when_loaded(self):
        self.ok("optimize", "--model", "sim/responsive", "--limit", 30, "--out", "o")
        self.ok("eval", "--model", "sim/responsive", "--limit", 30, "--out", "e", "--program",
                "o/compiled.json", "--deterministic")
        first = json.loads(self.read("o", "results.json"))
        second = json.loads(self.read("e", "results.json"))
        self.assertEqual([r["prediction"] for r in first], [r["prediction"] for r in second])

    def test_recorded_predictions_score_the_same(self):
        args = ("--limit", 40, "--deterministic")
        self.ok("eval", "--model", "sim/responsive", *args, "--out", "a")
        for name in ("predictions.jsonl", "results.json"):
            self.ok("eval", "--predictions", f"a/{name}", *args, "--out", "b")
            first = json.loads(self.read("a", "results.json"))
            second = json.loads(self.read("b", "results.json"))
            self.assertEqual([r["correct"] for r in first], [r["correct"] for r in second])

    def test_recorded_predictions_make_a_run_that_can_be_compared(self):
        self.ok("eval", "--model", "sim/modest", "--limit", 20, "--out", "a")
        first = self.ok("eval", "--predictions", "a/predictions.jsonl", "--limit", 20)
        self.assertIn("SIMULATED", first)  # the records say so
        self.assertIn("difference (second - first)", self.ok("runs", "diff", 1, 2))
        self.fails(2, ["--samples"], "eval", "--predictions", "a/predictions.jsonl",
                   "--samples", "9")
        self.write("p.jsonl", '{"source_id": "a", "prediction": "e4"}\n{"id": "b"}\n')
        self.fails(3, ["p.jsonl:2", "prediction"], "eval", "--predictions", "p.jsonl")

    def test_failures_and_filters_stay_what_they_were_when_scored_again(self):
        for text in ({}, {"text": ""}):  # others' records, and our own
            self.write("p.jsonl", "".join(
                json.dumps({"source_id": i, "move_index": n, "prediction": "", **r}) + "\n"
                for (i, n), r in zip(self.positions(5), [
                    {"error": "transport: reset", **text},
                    {"error": "filtered: no", **text},
                    {"error": "context_overflow: long", **text},
                    {"error": "ParseError: not a JSON object"},
                    {"text": "", "kind": "truncated"}])))
            out = self.ok("eval", "--predictions", "p.jsonl", "--limit", 5, "--again", "--json")
            answers = json.loads(out)["rookery"]["answers"]
            for kind in ("failed", "filtered", "context_overflow", "unparsable", "truncated"):
                self.assertEqual(answers[kind], 1, (kind, text))
            self.assertEqual(json.loads(out)["rookery"]["rates"]["scored_accuracy"]["n"], 2)

    def test_a_given_move_counts_and_the_words_of_an_error_never_do(self):
        (name, index), = self.positions(1)
        right = json.loads(self.read("f", "predictions.jsonl"))["expected"]
        for record, kind in (
                ({"prediction": right, "error": "warning: slow reply"}, "correct"),
                ({"prediction": right, "text": ""}, "correct"),
                ({"prediction": "", "error": 'X: {"move": "%s"}' % right}, "unparsable"),
                ({"prediction": "", "error": "ParseError: empty"}, "empty")):
            self.write("p.jsonl", json.dumps({"source_id": name, "move_index": index, **record}))
            out = self.ok("eval", "--predictions", "p.jsonl", "--limit", 1, "--json")
            self.assertEqual(json.loads(out)["rookery"]["answers"][kind], 1, record)

    def test_move_index_is_a_whole_number(self):
        (name, index), = self.positions(1)
        for value, code in ((float(index), 0), (index + 0.5, 3), ("0", 3), (1e300, 3)):
            self.write("p.jsonl", "\ufeff" + json.dumps(
                {"source_id": name, "move_index": value, "prediction": "e4"}) + "\n")
            done = run("eval", "--predictions", "p.jsonl", "--limit", 1, "--again", cwd=self.dir)
            self.assertEqual(done.returncode, code, done.stderr)

    def positions(self, n):
        """The first n test positions as (id, index)."""
        self.ok("eval", "--model", "sim/modest", "--limit", n, "--store", "first.db", "--out", "f")
        return [(r["source_id"], r["move_index"]) for r in json.loads(
            self.read("f", "results.json"))]

    def test_intervals_of_samples_count_positions(self):
        args = ("eval", "--model", "sim/modest", "--limit", 30, "--json")
        rates = [json.loads(self.ok(*args, "--samples", k))["rookery"]["rates"]["accuracy"]
                 for k in (1, 5)]  # at temperature 0 all five are the same
        for end in ("low95", "high95"):
            self.assertAlmostEqual(rates[0][end], rates[1][end])

    def test_a_simulated_endpoint_is_marked_whatever_its_name(self):
        with Simulator() as s:
            out = self.ok("eval", "--model", "openai/sim-responsive", "--base-url", s.url,
                          "--limit", 5, "--out", "o")
        self.assertIn("SIMULATED", out)
        self.assertTrue(json.loads(self.read("o", "summary.json"))["rookery"]["simulated"])
        self.assertIn("SIMULATED", self.ok("runs", "list"))

    def test_a_baseline_removes_the_program_of_an_earlier_run(self):
        self.ok("optimize", "--model", "sim/responsive", "--limit", 5, "--out", "o")
        done = run("eval", "--model", "sim/modest", "--limit", 5, "--out", "o", cwd=self.dir)
        self.assertIn(b"another run", done.stderr)
        self.assertFalse((self.dir / "o" / "compiled.json").exists())

    def test_samples_add_pass_and_majority(self):
        out = self.ok("eval", "--model", "sim/responsive", "--limit", 10, "--samples", 3,
                      "--temperature", 1, "--json")
        rates = json.loads(out)["rookery"]["rates"]
        self.assertEqual(rates["accuracy"]["n"], 30)
        self.assertEqual(rates["pass_at_k"]["n"], 10)
        self.assertGreaterEqual(rates["pass_at_k"]["rate"], rates["accuracy"]["rate"])

    def test_a_plan_calls_nothing(self):
        out = self.ok("optimize", "--model", "sim/responsive", "--dry-run")
        self.assertIn("nothing is called", out)
        self.assertIn("US$", out)
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_two_runs_are_compared_in_pairs(self):
        self.ok("eval", "--model", "sim/responsive", "--limit", 50, "--out", "a")
        self.ok("eval", "--model", "sim/strong", "--limit", 50, "--out", "b")
        self.assertEqual(len(self.ok("runs", "list").splitlines()), 3)
        out = self.ok("runs", "diff", 1, 2)
        self.assertIn("50 positions in both runs", out)
        self.assertIn("McNemar", out)
        self.assertIn('"method": "baseline"', self.ok("runs", "show", 1))
        self.ok("runs", "rm", 1)
        self.assertEqual(len(self.ok("runs", "list").splitlines()), 2)


class Replay(Runs):
    RUN = ("eval", "--model", "sim/responsive", "--limit", 60, "--deterministic")

    def test_a_finished_run_is_shown_again_without_a_call(self):
        self.ok(*self.RUN, "--out", "a")
        out = self.ok(*self.RUN, "--out", "b")
        self.assertIn("0 new, 60 replayed", out)
        for name in ("results.json", "predictions.jsonl"):
            self.assertEqual(self.read("a", name), self.read("b", name))

    def test_a_replay_keeps_what_was_measured(self):
        self.ok(*self.RUN, "--out", "a")
        first = self.read("a", "summary.json")
        self.ok(*self.RUN, "--out", "a")
        self.assertEqual(first, self.read("a", "summary.json"))
        self.assertEqual(json.loads(first)["rookery"]["measured"]["new_calls"], 60)

    def test_a_run_never_replaces_the_program_it_reads(self):
        self.ok("optimize", "--model", "sim/responsive", "--limit", 3, "--out", "o")
        program = self.read("o", "compiled.json")
        for command in ("eval", "optimize"):
            self.fails(2, ["--out"], command, "--model", "sim/modest", "--limit", 3, "--program",
                       "o/compiled.json", "--out", "o")
        self.assertEqual(program, self.read("o", "compiled.json"))

    def test_a_refused_repetition_begins_no_run(self):
        self.ok(*self.RUN, "--out", "a")
        self.write("file", "")
        self.fails(1, ["file"], *self.RUN, "--again", "--out", "file/x")
        self.assertIn("0 new, 60 replayed", self.ok(*self.RUN, "--out", "a"))

    def test_an_id_is_never_given_out_twice(self):
        self.ok(*self.RUN)
        self.ok("runs", "rm", 1)
        self.assertIn("run 2:", self.ok(*self.RUN, "--again"))

    def test_each_repetition_has_a_directory_of_its_own(self):
        for _ in range(3):
            self.ok(*self.RUN, "--again")
        self.assertEqual(len(list((self.dir / "runs").iterdir())), 3)
        key = self.ok("runs", "list").splitlines()[1].split()[1]
        self.fails(3, ["several runs", "id"], "runs", "rm", key)

    def test_eval_and_optimize_of_a_baseline_are_one_run(self):
        self.ok(*self.RUN)
        self.assertIn("0 new, 60 replayed", self.ok("optimize", "--method", "baseline",
                                                    *self.RUN[1:]))

    def test_a_run_that_ended_with_failures_is_shown_as_it_ended(self):
        with Simulator("--faults", "500:1") as s:
            args = ("eval", "--model", "openai/sim-modest", "--base-url", s.url, "--limit", 2,
                    "--retries", 0, "--deterministic")
            self.ok(*args, "--continue-on-error", "--out", "a")
            before = self.stats(s)["requests"]
            self.assertIn("0 new", self.ok(*args, "--out", "b"))
            self.assertEqual(before, self.stats(s)["requests"])
        self.assertEqual(self.read("a", "results.json"), self.read("b", "results.json"))

    def test_again_starts_a_new_run_and_reuse_pays_nothing(self):
        self.ok(*self.RUN)
        self.assertIn("60 new", self.ok(*self.RUN, "--again"))
        self.assertIn("60 reused", self.ok(*self.RUN, "--again", "--reuse"))

    def test_concurrency_changes_nothing(self):
        for n in (1, 64):
            self.ok(*self.RUN, "--concurrency", n, "--store", f"{n}.db", "--out", f"o{n}")
        self.assertEqual(self.read("o1", "results.json"), self.read("o64", "results.json"))

    def test_a_spent_budget_ends_with_5_and_goes_on_when_raised(self):
        self.fails(2, ["--max-cost"], *self.RUN, "--max-cost", "0")
        done = run(*self.RUN, "--max-cost", "0.002", "--out", "a", cwd=self.dir)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn(b"so far", done.stdout)
        self.assertIn(b"--max-cost", done.stderr)
        self.assertFalse((self.dir / "a" / "results.json").exists())
        out = self.ok(*self.RUN, "--max-cost", "1", "--out", "a")
        new, replayed = map(int, re.search(r"(\d+) new, (\d+) replayed", out).groups())
        self.assertEqual(new + replayed, 60)
        self.assertGreater(replayed, 0)


class Faults(Runs):
    # A fifth of all requests goes wrong.
    SPEC = ("429:0.05,429ra:0.02,500:0.03,body502:0.03,cut:0.03,reset:0.02,stall:0.02,seed=%d")

    def evaluate(self, simulator, out):
        return self.ok("eval", "--model", "openai/sim-responsive", "--base-url", simulator.url,
                       "--limit", 500, "--timeout", "1.5", "--deterministic", "--store",
                       f"{out}.db", "--out", out, timeout=300)

    def test_500_positions_score_the_same_with_a_fifth_of_the_calls_failing(self):
        with Simulator() as s:
            self.evaluate(s, "clean")
            asked = self.stats(s)["requests"]
        n = len(json.loads(self.read("clean", "results.json")))
        self.assertEqual(asked, n)
        for seed in (1, 2):
            with Simulator("--faults", self.SPEC % seed) as s:
                out = self.evaluate(s, f"f{seed}")
                stats = self.stats(s)
            retries = int(re.search(r"(\d+) retries", out).group(1))
            # A reset of a kept-alive connection is resent at once and is no retry (F-004).
            resent = stats["requests"] - n - retries
            self.assertTrue(0 <= resent <= stats["faults"]["reset"],
                            (stats, retries))
            self.assertGreater(retries, n / 10)
            log = self.read(f"f{seed}", "log.jsonl").splitlines()
            self.assertGreaterEqual(len(log), retries)
            self.assertEqual(list(json.loads(log[0])), ["time", "level", "text"])
            self.assertEqual(self.read("clean", "results.json"),
                             self.read(f"f{seed}", "results.json"))
            summary = json.loads(self.read(f"f{seed}", "summary.json"))
            self.assertEqual(summary["test_examples"], n)
            self.assertEqual(sum(summary["rookery"]["answers"].values()), n)


class Limits(Runs):
    def test_few_file_descriptors_mean_fewer_calls_at_once(self):
        with Simulator("--latency", 5) as s:
            done = subprocess.run(
                ["bash", "-c", "ulimit -n 48 && exec \"$0\" \"$@\"", ROOKERY, "eval", "--model",
                 "openai/sim-responsive", "--base-url", s.url, "--limit", "60", "--concurrency",
                 "400"], cwd=self.dir, env=CLEAN, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"open files", done.stderr)

    def test_members_can_be_added_to_each_request(self):
        self.fails(2, ["--extra"], "eval", "--model", "sim/modest", "--extra", "[1]")
        with Simulator() as s:
            self.ok("eval", "--model", "openai/sim-modest", "--base-url", s.url, "--limit", 2,
                    "--extra", '{"top_p": 0.5}', "--out", "o")
        config = json.loads(self.read("o", "run_config.json"))["config"]
        self.assertEqual(config["task_model"]["extra"], {"top_p": 0.5})

    def test_names_cannot_steer_the_terminal(self):
        self.ok("eval", "--model", "sim/modest", "--limit", 1, "--run-name", "a\x1b[31m\u202eb")
        out = self.ok("runs", "list")
        self.assertIn("a\\u001b[31m\\u202eb", out)


class Kills(Runs):
    FILES = ("results.json", "compiled.json", "predictions.jsonl")

    def command(self, simulator, name):
        return ["optimize", "--model", "openai/sim-responsive", "--base-url", simulator.url,
                "--limit", "150", "--concurrency", "8", "--deterministic", "--store",
                f"{name}.db", "--out", name]

    def test_ten_kills_at_random_moments_change_no_byte(self):
        draw = random.Random(7)
        with Simulator("--latency", 15) as s:
            self.ok(*self.command(s, "calm"))
            calm = self.stats(s)["requests"]
            kills = 0
            for _ in range(60):
                p = subprocess.Popen([ROOKERY, *self.command(s, "killed")], cwd=self.dir,
                                     env=CLEAN, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
                time.sleep(draw.uniform(0.01, 0.12))
                if kills == 10 or p.poll() is not None:
                    break
                p.send_signal(signal.SIGKILL)
                p.wait()
                kills += 1
            p.wait()
            self.assertEqual(kills, 10)
            self.ok(*self.command(s, "killed"))
            asked = self.stats(s)["requests"] - calm
        for name in self.FILES:
            self.assertEqual(self.read("calm", name), self.read("killed", name), name)
        # A kill may lose what was in flight (8) or arrived in the last 50 ms, never more.
        self.assertLess(asked, calm + 10 * (8 + 8 * 4))

    def test_the_same_command_twice_at_once_asks_once(self):
        with Simulator("--latency", 20) as s:
            p = subprocess.Popen([ROOKERY, *self.command(s, "c")], cwd=self.dir, env=CLEAN,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.3)
            self.fails(1, ["another program"], *self.command(s, "c"))
            self.assertEqual(p.wait(timeout=60), 0)

    def test_ctrl_c_ends_with_130_and_loses_nothing(self):
        with Simulator("--latency", 30) as s:
            p = subprocess.Popen([ROOKERY, *self.command(s, "c")], cwd=self.dir, env=CLEAN,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(0.4)
            p.send_signal(signal.SIGINT)
            said = p.communicate(timeout=30)[1]
            self.assertEqual(p.returncode, 130, said)
            self.assertIn(b"same command", said)
            before = self.stats(s)["requests"]
            self.ok(*self.command(s, "c"))
            after = self.stats(s)["requests"]
            self.ok(*self.command(s, "c2"))
            whole = self.stats(s)["requests"] - after
        self.assertTrue(0 < before < whole)
        self.assertLess(after, whole + 8 + 1)  # at most what was in flight is asked twice


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The store from the command line: cost, export, upkeep; and what runs do when it is in trouble."""
import csv
import hashlib
import io
import json
import os
import sqlite3
import subprocess
import unittest

from program import CLEAN, ROOKERY, Case, Simulator, run

SECTION_3 = """record_kind, cohorts_json, evaluation_ids_json, model, optimizer, seed,
evaluation_seed, repeat, donor_model, donor_seed, source_id, move_index, position_fen,
expected_move, predicted_move, prediction_text_json, correct, status, illegal, accepted, error,
parser_mode, parser_version, rating, themes_json, solver_length, mate, requested_model,
served_model, finish_reason, retry_number, prompt_tokens, completion_tokens, reasoning_tokens,
cached_prompt_tokens, cache_write_tokens, cost_usd, latency_ms, cache_status, elapsed_seconds,
engine, engine_depth, best_cp, post_cp, best_is_mate, post_is_mate, best_depth_reached,
post_depth_reached, regret_cp, source_row, source_fields_json, artifact_ref, settings_ref"""
COLUMNS = SECTION_3.replace("\n", " ").replace(" ", "").split(",")


class Stores(Case):
    def ok(self, *args, **kwargs):
        done = run(*args, cwd=self.dir, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def predictions(self, out):
        return [json.loads(line) for line in
                (self.dir / out / "predictions.jsonl").read_text().splitlines()]

    def observations(self, *args):
        return list(csv.DictReader(io.StringIO(self.ok("export", *args), newline="")))


class Cost(Stores):
    def test_each_sum_says_where_it_is_from(self):
        self.ok("optimize", "--model", "sim/responsive", "--prompt-model", "sim/meta", "--method",
                "copro", "--limit", 5, "--train-limit", 20, "--validation", 20, "--out", "o")
        rows = json.loads(self.ok("cost", "--json"))
        summary = json.loads((self.dir / "o" / "summary.json").read_text())
        calls = {(r["model"], r["phase"]): r["calls"] for r in rows}
        usage = summary["compile_usage"]
        self.assertEqual(calls, {
            ("sim/responsive", "evaluating"): 5,
            ("sim/responsive", "optimising"): usage["task_model"]["num_calls"],
            ("sim/meta", "proposing"): usage["prompt_model"]["num_calls"]})
        self.assertEqual({r["cost_source"] for r in rows}, {"priced"})
        self.assertAlmostEqual(sum(r["cost_usd"] for r in rows),
                               summary["rookery"]["measured"]["spent_usd"], 9)
        text = self.ok("cost")
        self.assertIn("SIMULATED", text)
        self.assertIn("copro", text)

    def test_an_unknown_price_is_not_zero(self):
        with Simulator() as s:
            self.ok("eval", "--model", "openai/sim-modest", "--base-url", s.url, "--limit", 4)
        row, = json.loads(self.ok("cost", "--json"))
        self.assertEqual((row["cost_source"], row["cost_usd"], row["calls"]), ("unknown", None, 4))
        self.assertIn("and what is unknown", self.ok("cost"))

    def test_reused_replies_cost_nothing_and_are_called_so(self):
        args = ("eval", "--model", "sim/strong", "--limit", 6)
        self.ok(*args)
        self.ok(*args, "--again", "--reuse")
        rows = {r["cost_source"]: r for r in json.loads(self.ok("cost", "--json"))}
        self.assertEqual(rows["reused"]["calls"], 6)
        self.assertEqual(rows["reused"]["cost_usd"], 0)

    def test_cut_replies_are_possible_cost(self):
        with Simulator("--faults", "cut:0.2,seed=3") as s:
            self.ok("eval", "--model", "openai/sim-modest", "--base-url", s.url, "--limit", 20,
                    "--extra", '{"priced_as": "openai/gpt-4o-mini"}')
        rows = {r["cost_source"]: r for r in json.loads(self.ok("cost", "--json"))}
        self.assertEqual(rows["priced"]["calls"], 20)
        self.assertGreater(rows["possible"]["cost_usd"], 0)


class Prices(Stores):
    FILE = '{"date": "2026-11-30", "models": {"openai/sim-modest": {"input": 1000, "output": 0}}}'

    def test_a_file_prices_calls_and_is_named_by_its_date(self):
        (self.dir / "p.json").write_text(self.FILE)
        with Simulator() as s:
            self.ok("eval", "--model", "openai/sim-modest", "--base-url", s.url, "--limit", 4,
                    "--prices", "p.json", "--out", "o")
        row, = json.loads(self.ok("cost", "--json"))
        self.assertEqual(row["cost_source"], "priced")
        self.assertAlmostEqual(row["cost_usd"], row["prompt_tokens"] * 1000 / 1e6, 9)
        measured = json.loads((self.dir / "o" / "summary.json").read_text())["rookery"]["measured"]
        self.assertEqual(measured["prices_as_of"], "2026-11-30")

    def test_a_bad_file_is_refused_by_name_and_nothing_is_called(self):
        (self.dir / "p.json").write_text(self.FILE.replace("1000", '"dear"'))
        for command in (("eval", "--model", "sim/modest"), ("play", "--white", "sim/modest")):
            done = run(*command, "--prices", "p.json", cwd=self.dir)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(b"p.json: openai/sim-modest: \"input\" must be", done.stderr)
        done = run("eval", "--model", "sim/modest", "--prices", "gone.json", cwd=self.dir)
        self.assertEqual(done.returncode, 3, done.stderr)


class Day(Stores):
    """A budget of the day holds for all runs in a store together."""
    RUN = ("eval", "--model", "sim/responsive", "--limit", 200)

    def spent(self):
        return sum(row["cost_usd"] for row in json.loads(self.ok("cost", "--json")))

    def test_it_ends_runs_with_exit_5_and_they_go_on_another_day(self):
        done = run(*self.RUN, "--max-cost-per-day", "0.004", "--out", "a", cwd=self.dir)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn(b"midnight UTC", done.stderr)
        self.assertGreater(self.spent(), 0.003)
        self.assertLessEqual(self.spent(), 0.004)
        # Another run in the same store finds the day's money gone, with nothing called.
        before = self.spent()
        done = run(*self.RUN, "--seed", "7", "--max-cost-per-day", "0.004", "--out", "b", cwd=self.dir)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertLess(self.spent() - before, 0.001)
        # With more money, or tomorrow, the same command goes on.
        self.ok(*self.RUN, "--max-cost-per-day", "1", "--out", "a")
        with open(os.path.join(self.dir, "a", "predictions.jsonl"), encoding="utf-8") as f:
            self.assertEqual(sum(1 for _ in f), 200)

    def test_many_in_flight_do_not_pass_it(self):
        with Simulator("--latency", "20") as s:
            done = run("eval", "--model", "openai/sim-modest", "--base-url", s.url, "--limit", "200",
                       "--extra", '{"priced_as": "openai/gpt-4o-mini"}', "--max-cost-per-day",
                       "0.004", cwd=self.dir)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertLessEqual(self.spent(), 0.004)

    def test_a_model_without_a_price_is_refused(self):
        done = run("eval", "--model", "openai/unheard-of", "--base-url", "http://127.0.0.1:1",
                   "--max-cost-per-day", "1", cwd=self.dir)
        self.assertEqual(done.returncode, 2, done.stderr)


class Export(Stores):
    def test_rows_have_the_papers_columns_and_the_judgement_of_the_run(self):
        self.ok("eval", "--model", "sim/responsive", "--limit", 40, "--out", "o")
        rows = self.observations(1)
        self.assertEqual(list(rows[0]), COLUMNS)
        predictions = self.predictions("o")
        self.assertEqual(len(rows), len(predictions))
        for row, p in zip(rows, predictions):
            self.assertEqual((row["source_id"], int(row["move_index"])),
                             (p["source_id"], p["move_index"]))
            self.assertEqual(row["correct"], str(p["kind"] == "correct"))
            self.assertEqual(row["predicted_move"], p["resolved"] or "")
            self.assertEqual(json.loads(row["prediction_text_json"]), p["prediction"])
            self.assertEqual(json.loads(row["themes_json"]), p["themes"])
            self.assertEqual(row["position_fen"], p["position_fen"])
            self.assertEqual(row["expected_move"], p["expected"])
            self.assertEqual(row["status"], p["status"])
            self.assertEqual(int(row["prompt_tokens"]), p["prompt_tokens"])
            self.assertAlmostEqual(float(row["cost_usd"]), p["cost_usd"])
            self.assertEqual(row["regret_cp"], "")

    def test_samples_and_optimised_programs_are_exported(self):
        self.ok("eval", "--model", "sim/sloppy", "--limit", 8, "--samples", 3, "--temperature", 1,
                "--out", "e")
        self.ok("optimize", "--model", "sim/modest", "--limit", 8, "--out", "o")
        rows = self.observations()
        self.assertEqual(len(rows), 8 * 3 + 8)
        want = self.predictions("e") + self.predictions("o")
        self.assertEqual([r["correct"] for r in rows], [str(p["kind"] == "correct") for p in want])
        self.assertEqual({r["optimizer"] for r in rows}, {"baseline", "bootstrap_few_shot"})

    def test_forced_moves_and_recorded_answers_have_rows_too(self):
        with Simulator() as s:
            self.ok("eval", "--model", "typesafe/jev-sim-responsive", "--base-url",
                    s.url.replace("/v1", ""), "--limit", 60, "--out", "o", "--format", "none",
                    env={"OPENROUTER_API_KEY": "k" * 20})
        self.ok("eval", "--predictions", "o/predictions.jsonl", "--limit", 60, "--out", "r")
        rows = self.observations()
        self.assertEqual(len(rows), 120)
        asked = self.predictions("o")
        self.assertEqual([r["correct"] for r in rows],
                         2 * [str(p["kind"] == "correct") for p in asked])
        self.assertEqual([r["predicted_move"] for r in rows[:60]],
                         [p["resolved"] or "" for p in asked])

    def test_another_puzzle_file_is_refused(self):
        self.ok("puzzles", "sample", "--source", "builtin:test", "--count", 30, "--out", "p")
        self.ok("eval", "--model", "sim/strong", "--test", "p.csv", "--limit", 3)
        self.assertEqual(len(self.observations()), 3)
        os.rename(self.dir / "p.csv", self.dir / "q.csv")
        self.fails(3, ["--test"], "export")
        self.assertEqual(len(self.observations("--test", "q.csv")), 3)
        self.fails(3, ["another"], "export", "--test", "builtin:test")

    def test_unfinished_runs_are_not_exported(self):
        done = run("eval", "--model", "sim/responsive", "--max-cost", "0.001", cwd=self.dir)
        self.assertEqual(done.returncode, 5)
        self.fails(3, ["not finished"], "export", 1)
        self.assertEqual(self.observations(), [])


class Upkeep(Stores):
    RUN = ("eval", "--model", "sim/strong", "--limit", 20)

    def test_a_sound_store_is_told_so_and_a_damaged_reply_is_found(self):
        self.ok(*self.RUN)
        self.assertIn("20 calls", self.ok("store", "verify"))
        with sqlite3.connect(self.dir / "rookery.db") as db:
            db.execute("UPDATE call SET reply = replace(reply, '\"class\"', 'x') WHERE job = 7")
        db.close()
        done = run("store", "verify", cwd=self.dir)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"job 7", done.stdout)

    def test_export_has_a_line_for_all_there_is(self):
        self.ok(*self.RUN)
        kinds = [json.loads(line)["kind"] for line in self.ok("store", "export").splitlines()]
        self.assertEqual([kinds.count(k) for k in ("program", "run", "call")], [1, 1, 20])

    def test_stores_of_two_machines_are_joined_and_replayed(self):
        self.ok(*self.RUN, "--store", "a.db", "--deterministic", "--out", "a")
        self.ok("eval", "--model", "sim/modest", "--limit", 20, "--store", "b.db")
        self.ok("store", "merge", "a.db", "b.db", "--store", "all.db")
        self.assertIn("2 runs", self.ok("store", "verify", "--store", "all.db"))
        self.assertIn("0 new, 20 replayed",
                      self.ok(*self.RUN, "--store", "all.db", "--deterministic", "--out", "c"))
        self.assertEqual((self.dir / "a" / "results.json").read_bytes(),
                         (self.dir / "c" / "results.json").read_bytes())
        self.ok("runs", "rm", 1, "--store", "all.db")
        self.ok("store", "compact", "--store", "all.db")
        self.assertIn("1 runs", self.ok("store", "verify", "--store", "all.db"))


class Trouble(Stores):
    RUN = ("eval", "--model", "sim/responsive", "--limit", 60, "--deterministic")

    def test_two_programs_share_a_store(self):
        with Simulator("--latency", 10) as s:
            both = [subprocess.Popen(
                [ROOKERY, "eval", "--model", "openai/sim-modest", "--base-url", s.url, "--limit",
                 "150", "--run-name", name, "--out", name], cwd=self.dir, env=CLEAN,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE) for name in ("a", "b")]
            while both[0].poll() is None:  # upkeep beside them waits its turn
                done = run("store", "compact", cwd=self.dir)
                self.assertIn(done.returncode, (0, 1, 3), done.stderr)
                if done.returncode == 1:
                    self.assertIn(b"locked", done.stderr)
            for p in both:
                said = p.communicate(timeout=60)[1]
                self.assertEqual(p.returncode, 0, said)
        self.assertIn("2 runs, 300 calls", self.ok("store", "verify"))

    def test_a_newer_store_is_refused_by_every_command_and_left_alone(self):
        self.ok(*self.RUN)
        path = self.dir / "rookery.db"
        db = sqlite3.connect(path)
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA user_version = 99")
        db.close()
        before = hashlib.sha256(path.read_bytes()).digest()
        for args in (self.RUN, ("cost",), ("export",), ("store", "verify"), ("store", "compact"),
                     ("store", "export"), ("store", "merge", "x.db"), ("runs", "list"),
                     ("runs", "rm", "1"), ("store", "merge", "rookery.db", "--store", "n.db")):
            self.fails(3, ["newer rookery", "99"], *args)
        self.assertEqual(before, hashlib.sha256(path.read_bytes()).digest())

    def bash(self, script, *args):
        return subprocess.run(["bash", "-c", script, ROOKERY, *map(str, args)], cwd=self.dir,
                              env=CLEAN, capture_output=True, timeout=120, check=False)

    def goes_on(self, *args):
        """After the trouble the same command asks only for what is not stored."""
        self.assertIn("is sound", self.ok("store", "verify"))
        calls = sqlite3.connect(f"file:{self.dir}/rookery.db?mode=ro", uri=True).execute(
            "SELECT count(*) FROM call").fetchone()[0]
        out = self.ok(*args)
        self.assertIn(f"{60 - calls} new, {calls} replayed", out)

    def test_a_limit_on_file_sizes_stops_with_a_sentence(self):
        (self.dir / "program.txt").write_text("Look for checks. " * 600)  # fills pages
        args = (*self.RUN, "--program", "program.txt", "--out", "o")
        done = self.bash('ulimit -f 60; exec "$0" "$@"', *args)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"ulimit -f", done.stderr)
        self.goes_on(*args)

    def test_a_full_disk_stops_with_a_sentence(self):
        mount = ('mkdir d && mount -t tmpfs -o size=140k none d && cd d && "$0" "$@"; code=$?; '
                 'cp rookery.db* .. ; exit $code')
        done = subprocess.run(["unshare", "-rm", "bash", "-c", mount, ROOKERY, *map(str, self.RUN)],
                              cwd=self.dir, env=CLEAN, capture_output=True, check=False)
        if b"unshare" in done.stderr or b"mount" in done.stderr:
            self.skipTest("no tmpfs of one's own here")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"the disk is full", done.stderr)
        self.goes_on(*self.RUN)

    def as_nobody(self, *args):
        def drop():
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
        return subprocess.run([ROOKERY, *map(str, args)], cwd=self.dir, env=CLEAN, preexec_fn=drop,
                              capture_output=True, timeout=60, check=False)

    def test_a_read_only_place_can_be_read_and_not_written(self):
        self.ok(*self.RUN, "--out", "o")
        os.chmod(self.dir / "rookery.db", 0o444)
        os.chmod(self.dir, 0o555)
        try:
            for args in (("cost",), ("store", "verify"), ("export",), ("runs", "list")):
                done = self.as_nobody(*args)
                self.assertEqual(done.returncode, 0, (args, done.stderr))
            for args in (("store", "compact"), ("runs", "rm", "1")):
                done = self.as_nobody(*args)
                self.assertEqual(done.returncode, 1, (args, done.stderr))
                self.assertIn(b"read-only", done.stderr)
        finally:
            os.chmod(self.dir, 0o755)


if __name__ == "__main__":
    unittest.main()

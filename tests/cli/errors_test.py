# SPDX-License-Identifier: GPL-3.0-or-later
"""Wrong input gets a sentence that says where, what and what to do, and the right exit code."""
import http.server
import json
import os
import socket
import sqlite3
import threading
import unittest

from program import Case, Simulator, run

HEADER = "PuzzleId,FEN,Moves,Rating,Themes\n"
GOOD = ("00008,r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24,"
        "f2g3 e6e7 b2b1 b3c1 b1c1 h6c1,1807,crushing\n")
EVAL = ("eval", "--model", "sim/responsive", "--store", ":memory:", "--out", "out")


class CommandLine(Case):
    def test_unknown_command_names_the_nearest(self):
        self.fails(2, ["evl", "eval"], "evl")

    def test_a_group_lists_its_commands(self):
        self.fails(2, ["runs diff"], "runs")
        self.assertIn(b"runs diff", run("help", "runs").stdout)
        self.assertIn(b"usage: rookery eval", run("help", "eval").stdout)
        self.assertIn(b"usage: rookery eval", run("eval", "-h").stdout)

    def test_no_command(self):
        self.fails(2, ["no command"])

    def test_unknown_option_names_the_nearest(self):
        self.fails(2, ["--sed", "--seed"], "eval", "--sed", "1")

    def test_option_values_are_checked(self):
        self.fails(2, ["--seed", "abc"], "eval", "--seed", "abc")
        self.fails(2, ["--limit"], "eval", "--limit", "-1")
        self.fails(2, ["--seed", "needs a value"], "eval", "--seed")

    def test_every_command_has_help_with_an_exit_code_of_zero(self):
        listed = run("--help").stdout.decode()
        self.assertIn("optimize", listed)
        for name in ("eval", "optimize", "prompt", "decode", "resolve", "position", "perft",
                     "puzzles verify", "puzzles stats", "runs list", "runs show", "runs diff",
                     "runs rm", "simulate", "presets"):
            done = run(*name.split(), "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn(f"usage: rookery {name}", done.stdout.decode())


class Files(Case):
    def test_missing_file(self):
        self.fails(3, ["nowhere.csv", "No such file"], *EVAL, "--puzzles", "nowhere.csv")

    def test_directory(self):
        self.fails(3, ["directory"], *EVAL, "--puzzles", ".")

    def test_empty_csv(self):
        self.write("empty.csv", "")
        self.fails(3, ["empty.csv", "empty"], *EVAL, "--puzzles", "empty.csv")

    def test_csv_without_the_columns(self):
        self.write("other.csv", "a,b\n1,2\n")
        self.fails(3, ["other.csv", "PuzzleId", "FEN", "Moves"], *EVAL, "--puzzles", "other.csv")

    def test_bad_fen(self):
        self.write("bad.csv", HEADER + GOOD + "x1,9/8/8/8/8/8/8/8 w - - 0 1,e2e4 e7e5,1,x\n")
        self.fails(3, ["bad.csv:3", "x1", "FEN"], *EVAL, "--strict", "--puzzles", "bad.csv")
        done = run("puzzles", "verify", "bad.csv", cwd=self.dir)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"bad.csv:3", done.stdout)

    def test_illegal_line(self):
        self.write("bad.csv", HEADER + GOOD.replace("e6e7", "e6a1"))
        self.fails(3, ["bad.csv:2", "e6a1"], *EVAL, "--strict", "--puzzles", "bad.csv")

    def test_bad_rows_are_skipped_with_a_warning(self):
        self.write("bad.csv", HEADER + GOOD + GOOD.replace("e6e7", "e6a1").replace("00008", "x2"))
        done = run(*EVAL, "--puzzles", "bad.csv", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"bad.csv:3", done.stderr)

    def test_program_file_that_is_none(self):
        self.write("p.json", '{"other": 1}')
        self.fails(3, ["p.json", "choose_move"], *EVAL, "--program", "p.json")


class Configuration(Case):
    BASE = ("benchmark: independent_positions\ntask_model:\n  name: sim/responsive\n"
            "test_limit: 2\n")

    def config(self, code, words, text):
        self.write("run.yaml", text)
        self.fails(code, words, "eval", "run.yaml", "--store", ":memory:", "--out", "out")

    def test_unknown_key_names_line_and_nearest(self):
        self.config(3, ["run.yaml:5", "sed", "seed"], self.BASE + "sed: 1\n")

    def test_type_error(self):
        self.config(3, ["run.yaml:5", "seed", "abc"], self.BASE + "seed: abc\n")

    def test_syntax_error(self):
        self.config(3, ["run.yaml:"], self.BASE + "seed: [1\n")

    def test_eval_scores_the_baseline_of_any_configuration(self):
        self.write("run.yaml", self.BASE + "method: bootstrap_few_shot\n"
                   "optimizer:\n  max_bootstrapped_demos: 4\n")
        for command in (["eval"], ["optimize", "--method", "baseline"]):
            done = run(command[0], "run.yaml", *command[1:], "--store", ":memory:", "--out", "o",
                       cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_path_that_is_not_there_says_where_paths_begin(self):
        self.write("run.yaml", self.BASE + "test_path: data/puzzle_test.csv\n")
        self.fails(3, ["data/puzzle_test.csv", "builtin:test"], "eval", "run.yaml")

    def test_unchanged_configuration_of_the_paper_tool(self):
        self.write("run.yaml", self.BASE + "output_dir: here\nmethod: bootstrap_few_shot\nseed: 43\n"
                   "prompt_model:\n  name: anthropic/claude\n  temperature: 1.0\n")
        done = run("optimize", "run.yaml", "--store", ":memory:", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.dir / "here" / "summary.json").exists())


class Endpoints(Case):
    def test_unknown_provider(self):
        self.fails(2, ["opnai", "openai"], "eval", "--model", "opnai/x")

    def test_unknown_simulated_model(self):
        self.fails(2, ["nobody", "responsive"], "eval", "--model", "sim/nobody")

    def test_no_key(self):
        self.fails(4, ["OPENAI_API_KEY"], "eval", "--model", "openai/gpt-4o-mini")
        done = run("eval", "--model", "openai/gpt-4o-mini", "--dry-run", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)  # nothing would be sent
        self.assertIn(b"US$", done.stdout)

    def ask(self, code, words, url, model="openai/sim-responsive", *extra, env=None):
        return self.fails(code, words, "eval", "--model", model, "--base-url", url, "--limit", 3,
                          "--retries", 0, "--store", ":memory:", "--out", "out", *extra, env=env)

    def test_refused_key_is_not_printed(self):
        with Simulator("--require-key", "right") as s:
            said = self.ask(4, ["401", "OPENAI_API_KEY"], s.url,
                            env={"OPENAI_API_KEY": "canary-key-123456"})
            self.assertNotIn("canary", said)

    def test_model_that_does_not_exist(self):
        with Simulator() as s:
            self.ask(4, ["404", "gpt-nothing"], s.url, "openai/gpt-nothing")

    def test_unreachable_host(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.ask(4, [f"127.0.0.1:{port}"], f"http://127.0.0.1:{port}/v1")

    def test_a_key_does_not_travel_over_plain_http(self):
        self.ask(2, ["http"], "http://192.0.2.1/v1", env={"OPENAI_API_KEY": "k12345"})
        done = run("optimize", "--model", "openai/m", "--allow-http", "--dry-run", cwd=self.dir,
                   env={"OPENAI_API_KEY": "k12345",
                        "ROOKERY_OPENAI_BASE_URL": "http://192.0.2.1/v1"})
        self.assertEqual(done.returncode, 0, done.stderr)


    def test_a_key_in_a_configuration_is_refused_and_not_shown(self):
        for model in ("task_model", "prompt_model"):
            text = ("benchmark: independent_positions\ntask_model:\n  name: sim/responsive\n")
            text += "" if model == "task_model" else "prompt_model:\n  name: sim/modest\n"
            self.write("run.yaml", text + "  extra:\n    api_key: sk-canary-0123456789\n")
            said = self.fails(2, ["environment"], "eval", "run.yaml", "--store", ":memory:")
            self.assertNotIn("canary", said)
            self.write("p.jsonl", "")
            self.fails(2, ["environment"], "eval", "run.yaml", "--predictions", "p.jsonl")
            self.assertFalse((self.dir / "runs").exists())

    def test_a_key_that_the_server_echoes_is_written_nowhere(self):
        key = "sk-canary-Zx81Qw+/YtP7kk02"
        with Echo() as url:
            done = run("eval", "--model", "openai/m", "--base-url", url, "--limit", 2, "--out", "o",
                       "--store", "s.db", cwd=self.dir, env={"OPENAI_API_KEY": key})
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = done.stdout + done.stderr
        for path in self.dir.rglob("*"):
            if path.is_file():
                seen += path.read_bytes()
        for form in (key, "Zx81Qw", "YtP7kk02"):
            self.assertNotIn(form.encode(), seen)


class Echo:
    """A server that puts what it was sent as Authorization into every text of its reply."""

    def __enter__(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                key = self.headers["Authorization"].removeprefix("Bearer ")
                body = json.dumps({
                    "id": key, "model": key, "provider": key, "system_fingerprint": key,
                    "choices": [{"index": 0, "finish_reason": key, "message": {
                        "role": "assistant", "reasoning_content": key,
                        "content": json.dumps({"move": f"e4 {key}"})}}],
                    "usage": {"prompt_tokens": 1, "completion_tokens": 1}}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("x-request-id", key)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Store(Case):
    def test_newer_version(self):
        run(*EVAL[:3], "--limit", 1, "--store", "new.db", "--out", "out", cwd=self.dir)
        db = sqlite3.connect(self.dir / "new.db")
        db.execute("PRAGMA user_version = 999")
        db.close()
        self.fails(3, ["new.db", "newer"], *EVAL[:3], "--store", "new.db", "--out", "out")

    def test_not_a_store(self):
        self.write("text.db", "this is no database\n" * 100)
        self.fails(3, ["text.db"], *EVAL[:3], "--store", "text.db", "--out", "out")

    def test_store_in_a_place_that_cannot_be_written(self):
        self.fails(1, ["/proc/none.db"], *EVAL[:3], "--store", "/proc/none.db", "--out", "out")

    def test_output_in_a_place_that_cannot_be_written(self):
        self.fails(1, ["/proc/out"], *EVAL[:3], "--store", ":memory:", "--out", "/proc/out")

    def test_output_named_like_a_file(self):
        self.write("out", "")
        self.fails(1, ["out", "a file of that name exists"], *EVAL)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full here")
    def test_standard_output_on_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            import subprocess
            from program import ROOKERY
            done = subprocess.run([ROOKERY, "presets"], stdout=full, stderr=subprocess.PIPE,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Every wire format over loopback, against `rookery simulate`: the same answers as in process, faults,
keys, forced moves, answer formats; and the decision endpoint with every optimizer."""
import json
import os
import pathlib
import re
import sqlite3
import unittest
import urllib.request

from program import Case, Simulator, run

KEY = "sk-canary-of-the-provider-tests-0123456789"
# Provider, the variable of its key, and what follows the host in its base URL.
PROVIDERS = [
    ("openai/sim-responsive", "OPENAI_API_KEY", "/v1"),
    ("openrouter/sim-responsive", "OPENROUTER_API_KEY", "/v1"),
    ("azure/sim-responsive", "AZURE_OPENAI_API_KEY", ""),
    ("azure/sim-responsive", "AZURE_OPENAI_API_KEY", "?api-version=2024-10-21"),
    ("anthropic/sim-responsive", "ANTHROPIC_API_KEY", ""),
    ("gemini/sim-responsive", "GEMINI_API_KEY", ""),
    ("vllm/sim-responsive", "VLLM_API_KEY", ""),
    ("llamacpp/sim-responsive", "LLAMACPP_API_KEY", ""),
    ("ollama/sim-responsive", "OLLAMA_API_KEY", ""),
    ("ollama_v1/sim-responsive", "OLLAMA_API_KEY", ""),
]
SOURCE = pathlib.Path(os.environ["ROOKERY_SOURCE"])
JEV = "typesafe/jev-sim-responsive"


class Providers(Case):
    def ok(self, *args, **kwargs):
        done = run(*args, cwd=self.dir, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def host(self, simulator):
        return simulator.url.removesuffix("/v1")

    def stats(self, simulator):
        with urllib.request.urlopen(self.host(simulator) + "/stats") as reply:
            return json.load(reply)

    def read(self, *names):
        return json.loads(self.dir.joinpath(*names).read_bytes())

    def predictions(self, out):
        return [json.loads(line) for line in
                (self.dir / out / "predictions.jsonl").read_bytes().splitlines()]


class Formats(Providers):
    ARGS = ("--limit", 25, "--deterministic")

    def setUp(self):
        super().setUp()
        self.ok("eval", "--model", "sim/responsive", *self.ARGS, "--out", "direct")

    def test_each_format_brings_the_answers_of_the_model_in_process(self):
        with Simulator("--require-key", KEY) as s:
            for i, (model, variable, path) in enumerate(PROVIDERS):
                asked = self.stats(s)["ok"]
                out = self.ok("eval", "--model", model, "--base-url", self.host(s) + path,
                              *self.ARGS, "--out", f"o{i}", env={variable: KEY})
                self.assertIn("SIMULATED", out)
                self.assertEqual(self.stats(s)["ok"] - asked, 25, model)
                self.assertEqual((self.dir / "direct/results.json").read_bytes(),
                                 (self.dir / f"o{i}/results.json").read_bytes(), model)
                usage = self.read(f"o{i}", "summary.json")["evaluation_usage"]
                direct = self.read("direct", "summary.json")["evaluation_usage"]
                for name in ("num_calls", "prompt_tokens", "completion_tokens"):
                    self.assertEqual(usage[name], direct[name], (model, name))
        for path in self.dir.rglob("*"):  # section 16: a planted key is found nowhere
            if path.is_file():
                self.assertNotIn(KEY.encode(), path.read_bytes(), path)

    def test_a_wrong_key_ends_the_run_and_is_not_shown(self):
        with Simulator("--require-key", "another") as s:
            for model, variable, path in PROVIDERS + [(JEV, "OPENROUTER_API_KEY", "")]:
                said = self.fails(4, [variable], "eval", "--model", model, "--base-url",
                                  self.host(s) + path, "--limit", 3, "--store", "w.db",
                                  env={variable: KEY})
                self.assertNotIn(KEY, said)
                self.assertNotIn(KEY.encode(), (self.dir / "w.db").read_bytes())

    def test_faults_change_no_answer_in_any_format(self):
        faults = "429:0.06,429ra:0.02,500:0.04,503:0.02,body502:0.04,cut:0.03,html:0.02,seed=5"
        for i, (model, variable, path) in enumerate(PROVIDERS):
            with Simulator("--faults", faults) as s:
                self.ok("eval", "--model", model, "--base-url", self.host(s) + path, *self.ARGS,
                        "--retries", 12, "--out", f"f{i}", env={variable: KEY})
                self.assertGreater(sum(self.stats(s)["faults"].values()), 0)
            self.assertEqual((self.dir / "direct/results.json").read_bytes(),
                             (self.dir / f"f{i}/results.json").read_bytes(), model)

    def test_replies_in_pieces_say_the_same(self):
        streaming = [p for p in PROVIDERS if p[0].split("/")[0] in (
            "openai", "openrouter", "azure", "anthropic", "gemini")]
        faults = "sse-comments:0.3,429:0.05,500:0.05,body502:0.05,cut:0.05,html:0.02,gzip:0.1,seed=9"
        for i, (model, variable, path) in enumerate(streaming):
            with Simulator("--faults", faults) as s:
                self.ok("eval", "--model", model, "--base-url", self.host(s) + path, *self.ARGS,
                        "--retries", 12, "--extra", '{"stream": true}', "--out", f"s{i}",
                        env={variable: KEY})
                self.assertGreater(self.stats(s)["faults"]["sse-comments"], 0)
            self.assertEqual((self.dir / "direct/results.json").read_bytes(),
                             (self.dir / f"s{i}/results.json").read_bytes(), model)
            usage = [self.read(o, "summary.json")["evaluation_usage"]
                     for o in ("direct", f"s{i}")]
            for name in ("num_calls", "prompt_tokens", "completion_tokens"):
                self.assertEqual(usage[0][name], usage[1][name], (model, name))

    def test_an_unknown_model_ends_the_run(self):
        with Simulator() as s:
            for model, variable, path in PROVIDERS:
                self.fails(4, ["sim-nobody"], "eval", "--model",
                           model.replace("responsive", "nobody"), "--base-url",
                           self.host(s) + path, "--limit", 3, env={variable: KEY})


class Modes(Providers):
    def test_the_second_question_of_schema_mode_is_a_call_of_its_own(self):
        args = ("--model", "openai/sim-sloppy", "--limit", 100, "--deterministic")
        with Simulator() as s:
            base = ("--base-url", s.url)
            calls = {}
            for mode in ("none", "json_object", "schema"):
                before = self.stats(s)["requests"]
                self.ok("eval", *args, *base, "--format", mode, "--out", mode)
                usage = self.read(mode, "summary.json")["evaluation_usage"]
                calls[mode] = usage["num_calls"]
                self.assertEqual(self.stats(s)["requests"] - before, calls[mode])
        self.assertEqual((calls["none"], calls["json_object"]), (100, 100))
        again = [p for p in self.predictions("schema") if p["calls"] == 2]
        self.assertGreater(len(again), 0)
        self.assertEqual(calls["schema"], 100 + len(again))
        # At temperature 0 the simulated model says the same again: what stays unread was asked twice.
        for p in self.predictions("schema"):
            self.assertEqual(p["calls"], 2 if p["kind"] == "unparsable" else 1)

    def test_formats_that_an_endpoint_lacks_are_refused_only_where_asked_for(self):
        with Simulator() as s:
            args = ("eval", "--model", "anthropic/sim-responsive", "--base-url", self.host(s),
                    "--limit", 2)
            self.fails(2, ["JSON mode"], *args, "--format", "json_object")
            self.ok(*args)
            self.ok(*args, "--format", "schema")


    def test_the_prompt_model_may_have_a_mode_of_its_own(self):
        args = ("optimize", "--model", "openai/sim-responsive", "--prompt-model", "openai/sim-meta",
                "--method", "copro", "--set", "breadth=3,depth=1", "--limit", 5, "--train-limit",
                10, "--deterministic", "--dry-run")
        with Simulator() as s:
            urls = ("--base-url", s.url, "--prompt-base-url", s.url)
            self.fails(2, ["--prompt-format"], *args, *urls, "--prompt-format", "yaml")
            self.ok(*args, *urls, "--format", "schema", "--prompt-format", "none")


class Decisions(Providers):
    def decide(self, simulator, *args):
        return self.ok("eval", "--model", JEV, "--base-url", self.host(simulator),
                       "--deterministic", *args, env={"OPENROUTER_API_KEY": KEY})

    def test_forced_moves_are_answered_without_a_call_and_marked(self):
        with Simulator() as s:
            out = self.decide(s, "--out", "o")
            asked = self.stats(s)["requests"]
            self.assertIn("0 new", self.decide(s, "--out", "o"))  # replayed, forced moves too
            self.assertEqual(self.stats(s)["requests"], asked)
        rows = self.predictions("o")
        forced = [r for r in rows if r.get("forced")]
        self.assertGreater(len(forced), 0)
        self.assertEqual(asked, len(rows) - len(forced))
        for r in forced:
            self.assertEqual((r["calls"], r["kind"]), (0, "correct"))
        summary = self.read("o", "summary.json")["rookery"]
        self.assertEqual(summary["forced"], len(forced))
        self.assertIn(f"without a call: {len(forced)}", out)
        # A choice is always legal and always readable.
        self.assertLessEqual({r["kind"] for r in rows}, {"correct", "wrong"})

    def test_shares_are_stored_as_told(self):
        with Simulator() as s:
            self.decide(s, "--limit", 5, "--out", "o", "--store", "s.db")
        with sqlite3.connect(self.dir / "s.db") as db:
            replies = [json.loads(row[0]) for row in db.execute("SELECT reply FROM call")]
        self.assertGreater(len(replies), 0)
        for r in replies:
            shares = json.loads(r["details"])["probabilities"]
            self.assertIn(json.loads(r["text"])["move"], shares)

    def test_faults_change_no_choice(self):
        with Simulator() as s:
            self.decide(s, "--limit", 60, "--out", "a", "--store", "a.db")
        faults = "429:0.05,500:0.05,body502:0.05,cut:0.03,html:0.02,empty:0.02,badutf8:0.05,seed=3"
        with Simulator("--faults", faults) as s:
            self.decide(s, "--limit", 60, "--out", "b", "--store", "b.db", "--retries", 12)
            self.assertGreater(sum(self.stats(s)["faults"].values()), 0)
        self.assertEqual((self.dir / "a/results.json").read_bytes(),
                         (self.dir / "b/results.json").read_bytes())

    def test_every_method_but_simba_takes_a_model_that_chooses(self):
        optimizer = {
            "bootstrap_few_shot": "", "gepa": "",
            "bootstrap_random_search": "{num_candidate_programs: 2}",
            "copro": "{breadth: 3, depth: 1}",
            "mipro_v2": "{auto: null, num_candidates: 2, num_trials: 3, minibatch: false}",
        }
        with Simulator() as s:
            for method, settings in optimizer.items():
                self.write("run.yaml", f"benchmark: independent_positions\nmethod: {method}\n"
                           f"task_model: {{name: {JEV}}}\nprompt_model: {{name: sim/meta}}\n"
                           f"train_path: {SOURCE / 'tests/golden/train-80.csv'}\n"
                           "validation_size: 20\ntrain_limit: 20\nmax_metric_calls: 200\n"
                           "test_limit: 10\n" + (f"optimizer: {settings}\n" if settings else ""))
                self.ok("optimize", "run.yaml", "--base-url", self.host(s), "--out", method,
                        env={"OPENROUTER_API_KEY": KEY})
                program = self.read(method, "compiled.json")["choose_move"]
                self.assertTrue(program["signature"]["instructions"])
                usage = self.read(method, "summary.json")["compile_usage"]
                self.assertGreater(usage["task_model"]["num_calls"], 0)
            before = self.stats(s)["requests"]
            self.fails(2, ["simba", "no sampling"], "optimize", "--model", JEV, "--base-url",
                       self.host(s), "--method", "simba", "--prompt-model", "sim/meta",
                       env={"OPENROUTER_API_KEY": KEY})
            self.assertEqual(self.stats(s)["requests"], before)

    def test_what_it_cannot_do_is_refused_before_the_first_call(self):
        with Simulator() as s:
            args = ("eval", "--model", JEV, "--base-url", self.host(s))
            env = {"OPENROUTER_API_KEY": KEY}
            self.fails(2, ["temperature"], *args, "--temperature", 1, env=env)
            self.fails(2, ["max_tokens"], *args, "--max-tokens", 9, env=env)
            self.fails(2, ["sampling"], *args, "--samples", 2, env=env)
            self.fails(2, ["formats"], *args, "--format", "schema", env=env)
            self.assertEqual(self.stats(s)["requests"], 0)

    def test_a_study_shows_simba_as_not_applicable(self):
        with Simulator() as s:
            self.write("study.yaml", "study: s\nmodels:\n"
                       f"- {{name: {JEV}, base_url: '{self.host(s)}'}}\n"
                       "methods: [baseline, simba]\nseeds: [1]\nbaseline_repeats: 2\n"
                       "test_limit: 20\nprompt_model: {name: sim/meta}\n")
            env = {"OPENROUTER_API_KEY": KEY}
            out = self.ok("study", "study.yaml", "--dry-run", env=env)
            self.assertTrue(re.search(r"simba.*left out.*no sampling", out), out)
            out = self.ok("study", "study.yaml", "--out", "o", env=env)
        self.assertIn("N.A.", out)
        baselines = [self.read("o", JEV.replace("/", "-"), f"baseline-r{i}", "summary.json")
                     for i in (1, 2)]
        self.assertEqual(*(b["metrics"] for b in baselines))  # there is no sampling


if __name__ == "__main__":
    unittest.main()

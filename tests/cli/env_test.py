# SPDX-License-Identifier: GPL-3.0-or-later
"""`harness env`: rollouts over HTTP judge as the specification's worked rollouts do, many at once;
what is wrong with a request is said; nothing is left open for ever."""
import concurrent.futures
import http.client
import json
import re
import subprocess
import time
import unittest

from program import Case, ROOKERY, run

P2 = ("PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags\n"
      "P2,8/4R3/1p2P3/p4r2/P6p/1P3Pk1/4K3/8 w - - 1 64,e7f7 f5e5 e2f1 e5e6,1500,80,90,100,"
      "endgame,,\n"
      "P1,6k1/1q4p1/p2P2B1/8/5Q1P/6P1/P6K/4r3 w - - 5 36,f4f2 b7h1,900,80,90,100,mate,,\n")
T0 = ("SYSTEM_PROMPT = 'SYS'\nUSER_PROMPT = '{observation}\\nAnswer:'\n"
      "def propose_action(board):\n    return ''\n"
      "def is_legal_action(board, action):\n    return '[' + action + ']' in board\n")


class Env:
    """`harness env` on a free port, stopped at the end of the block."""

    def __init__(self, *args):
        self.args = args

    def __enter__(self):
        self.process = subprocess.Popen(
            [ROOKERY, "harness", "env", "--port", "0", *map(str, self.args)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = self.process.stdout.readline().decode()
        self.port = int(re.search(r":(\d+)", line)[1])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stdout.close()

    def ask(self, path, body=None, method="POST"):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            data = body if isinstance(body, bytes) or body is None else json.dumps(body)
            c.request(method, path, data)
            r = c.getresponse()
            return r.status, json.loads(r.read() or b"{}")
        finally:
            c.close()

    def reset(self, **body):
        status, out = self.ask("/reset", body)
        assert status == 200, out
        return out

    def step(self, episode, text, tokens=None):
        body = {"episode": episode, "text": text}
        if tokens is not None:
            body["completion_tokens"] = tokens
        status, out = self.ask("/step", body)
        assert status == 200, out
        return out


class HarnessEnv(Case):
    def setUp(self):
        super().setUp()
        self.puzzles = self.write("p.csv", P2)

    def env(self, *args, harness=T0):
        path = self.write("harness.py", harness)
        return Env("--harness", path, "--puzzles", self.puzzles, *args)

    def test_a_rollout_is_judged_as_specified(self):
        with self.env() as env:
            at = env.reset(puzzle="P2")
            self.assertEqual((at["done"], at["index"], at["max_tokens"]), (False, 0, 8129))
            self.assertEqual([m["role"] for m in at["messages"]], ["system", "user"])
            self.assertTrue(at["messages"][1]["content"].startswith("Task: solve the chess puzzle"))
            script = [("I think the rook should move.", 12, "retry_format", "__no_move__"),
                      ("<move>f5e5</move>", 9, "correct_continue", "f5e5"),
                      ("<move>e5e8</move>", 9, "retry_illegal", "e5e8")]
            for text, tokens, outcome, action in script:
                out = env.step(at["episode"], text, tokens)
                self.assertEqual((out["outcome"], out["parsed_action"], out["done"], out["reward"]),
                                 (outcome, action, False, 0.0))
            self.assertEqual([m["role"] for m in out["messages"]],
                             ["system"] + ["assistant", "user"] * 3 + ["user"])
            self.assertEqual(out["messages"][4]["content"],
                             "Correct. Opponent replied e2f1 (Kf1). Continue with the next move.")
            self.assertTrue(out["messages"][-1]["content"].endswith("as <move>uci</move>.\nAnswer:"))
            self.assertEqual(out["max_tokens"], 8129 - 30)
            out = env.step(at["episode"], "[e5e6]", 5)
            self.assertEqual((out["done"], out["reward"], out["outcome"], out["tool"]),
                             (True, 1.0, "solved", "Correct. Puzzle solved."))
            m = out["metrics"]
            self.assertEqual([m[k] for k in ("score", "policy_calls", "correct_moves",
                                             "format_retries_used", "illegal_retries_used",
                                             "assistant_tokens_used", "legal_rate")],
                             [1.0, 4, 2, 1, 1, 35, 1.0])
            self.assertEqual(env.ask("/step", {"episode": at["episode"], "text": "x"})[0], 409)
            self.assertEqual(env.ask("/close", {"episode": at["episode"]}), (200, {"closed": True}))
            self.assertEqual(env.ask("/close", {"episode": at["episode"]})[0], 404)

    def test_nothing_of_the_solution_is_told(self):
        with self.env() as env:
            text = json.dumps(env.reset(puzzle="P1"))
            lost = json.dumps(env.step(env.reset(puzzle="P1")["episode"], "<move>a6a5</move>"))
            for hidden in ("mate", "endgame", "1500", "b7h1 ", "f4f2"):
                self.assertNotIn(hidden, text.replace("alternative_mate", ""))
            self.assertIn("wrong_move", lost)
            self.assertNotIn("b7h1", lost)

    def test_puzzles_come_in_order_and_around(self):
        with self.env() as env:
            self.assertEqual([env.reset()["puzzle"] for _ in range(3)], ["P2", "P1", "P2"])
            self.assertEqual(env.reset(index=1)["puzzle"], "P1")

    def test_wrong_requests_are_answered_with_a_reason(self):
        with self.env() as env:
            e = env.reset()["episode"]
            for path, body, status in [
                    ("/reset", b"{", 400), ("/reset", b"[]", 400), ("/reset", b"\xff", 400),
                    ("/reset", {"index": 2}, 404), ("/reset", {"index": -1}, 404),
                    ("/reset", {"puzzle": "no"}, 404), ("/reset", {"puzzle": 1}, 404),
                    ("/step", {"episode": "0-99", "text": ""}, 404),
                    ("/step", {"episode": "99999999-1", "text": ""}, 404),
                    ("/step", {"episode": 7, "text": ""}, 404), ("/step", {"text": "x"}, 404),
                    ("/step", {"episode": e}, 400), ("/step", {"episode": e, "text": 5}, 400),
                    ("/step", {"episode": e, "text": "x", "completion_tokens": "9"}, 400),
                    ("/nothing", {}, 404)]:
                got, out = env.ask(path, body)
                self.assertEqual(got, status, (path, body, out))
                self.assertTrue(out["error"])
            self.assertEqual(env.ask("/reset", None, "GET")[0], 405)
            self.assertEqual(env.step(e, "<move>f5e5</move>")["outcome"], "correct_continue")

    def test_a_body_has_a_limit(self):
        with self.env() as env:
            c = http.client.HTTPConnection("127.0.0.1", env.port, timeout=60)
            c.request("POST", "/step", json.dumps({"text": "x" * (3 << 19)}))
            self.assertEqual(c.getresponse().status, 413)
            c.close()

    def test_episodes_are_bounded_and_expire(self):
        with self.env("--max-episodes", "3", "--idle", "1") as env:
            first = [env.reset()["episode"] for _ in range(3)]
            status, out = env.ask("/reset", {})
            self.assertEqual(status, 429)
            self.assertIn("--max-episodes", out["error"])
            # One that is done makes room at once.
            env.step(first[1], "<move>a6a5</move>")
            env.reset()
            deadline = time.monotonic() + 20
            while env.ask("/", method="GET")[1]["episodes"] > 0 and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual(env.ask("/", method="GET")[1]["episodes"], 0)
            self.assertEqual(env.ask("/step", {"episode": first[0], "text": "x"})[0], 404)

    def test_many_at_once_and_one_that_hangs(self):
        hanging = T0 + ("def parse_action(response):\n    while 'hang' in response:\n        pass\n"
                        "    return response[6:10]\n")
        with self.env(harness=hanging) as env, \
                concurrent.futures.ThreadPoolExecutor(32) as pool:
            def play(i):
                e = env.reset(puzzle="P2")["episode"]
                if i % 16 == 0:
                    out = env.step(e, "hang <move>f5e5</move>")
                else:
                    out = env.step(e, "<move>f5e5</move>")
                self.assertEqual(out["outcome"], "correct_continue")
                return env.step(e, "<move>e5e6</move>")
            ends = list(pool.map(play, range(64)))
            self.assertTrue(all(e["reward"] == 1 for e in ends))
            self.assertEqual(sum(e["metrics"]["harness_errors"] for e in ends), 4)
            e = env.reset(puzzle="P2")["episode"]
            out = {"done": False}
            for _ in range(3):
                if not out["done"]:
                    out = env.step(e, "hang")
            self.assertEqual((out["done"], out["stop_condition"]), (True, "malformed"))

    def test_rejected_candidates_are_not_served(self):
        path = self.write("bad.py", T0 + "import os\n")
        done = run("harness", "env", "--harness", path, "--puzzles", self.puzzles)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"harness check", done.stderr)
        self.assertEqual(run("harness", "env", "--puzzles", self.puzzles).returncode, 2)


if __name__ == "__main__":
    unittest.main()

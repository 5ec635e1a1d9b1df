# SPDX-License-Identifier: GPL-3.0-or-later
"""`harness export`: the messages are those the policy saw, the masks cover what it said, thresholds
are strict, and messages of another mode are written only on request."""
import json
import math
import unittest

from program import Case, run
from env_test import P2, T0

# The worked rollout RB of the specification, and one that loses.
RB = [("I think the rook should move.", 12), ("<move>f5e5</move>", 9), ("<move>e5e8</move>", 9),
      ("[e5e6]", 5)]
LOSS = [("<move>f5f3</move>", 9)]


def rollout(turns, reward, **more):
    return {"example_index": 0, "reward": reward, "stop_condition": "solved" if reward else
            "wrong_move", "message_mode": "reference", "completion": [
                {"role": "assistant", "content": text} for text, _ in turns],
            "harness_trace": [{"actor": "assistant", "raw_response": text, "completion_tokens": n,
                               "token_source": "usage"} for text, n in turns], **more}


class Export(Case):
    def export(self, kind, rollouts, *args, code=0):
        path = self.write("t.jsonl", "".join(json.dumps(r) + "\n" for r in rollouts))
        done = run("harness", "export", kind, "--harness", self.write("h.py", T0), "--puzzles",
                   self.write("p.csv", P2), "--file-order", "--rollouts", path, *args)
        self.assertEqual(done.returncode, code, done.stderr)
        self.err = done.stderr.decode()
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_prompts_hold_the_first_messages_and_the_record(self):
        rows = self.export("prompts", [])
        self.assertEqual(len(rows), 2)
        row = rows[0]
        self.assertEqual(sorted(row), ["ability", "data_source", "extra_info", "prompt",
                                       "reward_model"])
        self.assertEqual(row["data_source"], "chess-puzzle-v0")
        self.assertEqual(row["ability"], "chess_puzzle")
        self.assertEqual(row["reward_model"], {"style": "rule", "ground_truth": ""})
        self.assertEqual([m["role"] for m in row["prompt"]], ["system", "user"])
        info = row["extra_info"]
        self.assertEqual(info["position_key"], "8/5R2/1p2P3/p4r2/P6p/1P3Pk1/4K3/8 b")
        self.assertEqual((info["trigger_move"], info["solution_moves"], info["rating"]),
                         ("e7f7", ["f5e5", "e2f1", "e5e6"], 1500))
        self.assertEqual(info["start_fen"], "8/5R2/1p2P3/p4r2/P6p/1P3Pk1/4K3/8 b - - 2 64")
        self.assertEqual(info["initial_fen"], "8/4R3/1p2P3/p4r2/P6p/1P3Pk1/4K3/8 w - - 1 64")

    def test_in_the_mode_of_the_reference_each_call_has_its_own_context(self):
        rows = self.export("rollouts", [rollout(RB, 1)])
        self.assertEqual([r["call"] for r in rows], [1, 2, 3, 4])
        for r, (text, _) in zip(rows, RB):
            self.assertEqual([m["content"] for m in r["messages"] if m["train"]], [text])
            self.assertEqual(r["messages"][-1]["role"], "assistant")
            self.assertEqual((r["reward"], r["tokens"], r["message_mode"]), (1.0, 35, "reference"))
        self.assertEqual([m["role"] for m in rows[2]["messages"]],
                         ["system", "assistant", "user", "assistant", "user", "user", "assistant"])

    def test_a_dialogue_is_one_stream(self):
        [row] = self.export("rollouts", [rollout(RB, 1, message_mode="dialogue")])
        self.assertEqual([m["content"] for m in row["messages"] if m["train"]], [t for t, _ in RB])
        self.assertTrue(all(m["train"] == (m["role"] == "assistant") for m in row["messages"]))
        self.assertEqual([m["role"] for m in row["messages"]],
                         ["system", "user", "assistant", "user", "assistant", "user", "assistant",
                          "user", "assistant"])

    def test_another_mode_than_the_sampled_one_must_be_asked_for(self):
        self.assertEqual(self.export("rsft", [rollout(RB, 1)], "--message-mode", "dialogue",
                                     code=2), [])
        self.assertIn("--allow-mode-mismatch", self.err)
        [row] = self.export("rsft", [rollout(RB, 1)], "--message-mode", "dialogue",
                            "--allow-mode-mismatch")
        self.assertEqual((row["message_mode"], row["sampled_mode"]), ("dialogue", "reference"))
        silent = rollout(RB, 1)
        del silent["message_mode"]
        self.export("rsft", [silent], code=2)
        self.assertIn("--sampled-mode", self.err)
        self.assertEqual(len(self.export("rsft", [silent], "--sampled-mode", "reference")), 4)
        self.export("rsft", [rollout(RB, 1), rollout(RB, 1, message_mode="compact")], code=3)

    def test_rejection_sampling_keeps_what_is_above_the_threshold(self):
        rows = [rollout(LOSS, 0, step=1), rollout(RB, 1, step=2), rollout(RB, 1, step=2)]
        self.assertEqual(len(self.export("rsft", rows)), 8)
        self.assertIn("1 steps without any", self.err)
        self.assertEqual(len(self.export("rsft", rows, "--dedupe")), 4)
        self.assertEqual(len(self.export("rsft", rows, "--max-per-puzzle", "1")), 4)
        # The threshold itself is not above it.
        self.assertEqual(len(self.export("rsft", rows, "--score-threshold", "1")), 0)
        self.assertEqual(len(self.export("rsft", rows, "--score-threshold", "0")), 8)

    def test_groups_have_advantages(self):
        rows = [rollout(RB, 1), rollout(LOSS, 0), rollout(LOSS, 0), rollout(LOSS, 0)]
        out = self.export("grpo", rows, "--group-size", "4")
        std = math.sqrt((0.75 ** 2 + 3 * 0.25 ** 2) / 3)
        self.assertEqual([r["sample"] for r in out], [0, 0, 0, 0, 1, 2, 3])
        self.assertAlmostEqual(out[0]["advantage"], 0.75 / (std + 1e-6), places=12)
        self.assertAlmostEqual(out[-1]["advantage"], -0.25 / (std + 1e-6), places=12)
        self.export("grpo", rows, code=3)
        self.assertIn("--group-size", self.err)
        flat = [rollout(LOSS, 0)] * 2
        self.assertEqual([r["advantage"] for r in self.export("grpo", flat, "--group-size", "2")],
                         [0.0, 0.0])
        self.assertEqual(self.export("grpo", flat, "--group-size", "2", "--skip-zero-variance"), [])

    def test_the_flat_form_has_the_metrics(self):
        [row] = self.export("rollouts", [rollout(RB, 1, step=7)], "--flat")
        self.assertEqual((row["gts"], row["score"], row["step"]), ("", 1.0, 7))
        self.assertEqual(row["assistant_tokens_used"], 35)
        self.assertTrue(row["input"].startswith("Task:"))
        self.assertTrue(row["output"].startswith("I think the rook should move.\nThe verifier"))

    def test_what_does_not_fit_is_refused_by_line(self):
        for bad, why in [(rollout(LOSS, 1), "the verifier now says 0"),
                         (rollout(RB[:2], 1), "another answer is needed"),
                         (rollout(RB + LOSS, 1), "it is over after 4 of 5"),
                         (rollout(RB, 1, example_index=9), "example_index below 2"),
                         ({"example_index": 0}, "reward")]:
            self.export("rollouts", [rollout(RB, 1), bad], code=3)
            self.assertIn("t.jsonl:2: ", self.err)
            self.assertIn(why, self.err)
        infra = rollout(RB[:1], 0, stop_condition="infra_error")
        self.assertEqual(self.export("rollouts", [infra]), [])
        self.assertIn("1 unscored", self.err)


if __name__ == "__main__":
    unittest.main()

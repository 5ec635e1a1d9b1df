# SPDX-License-Identifier: GPL-3.0-or-later
"""The small commands against the specification's vectors and, where it is here, the data pack."""
import gzip
import json
import unittest

from program import Case, lines, run

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


class Small(Case):
    def test_position_shows_moves_in_both_orders(self):
        got, bad = lines("position", [
            {"fen": "4k3/8/8/8/4r3/8/3P4/R3K2R w KQ - 0 1"}, {"fen": "not-a-fen"}])
        self.assertEqual(got["order"], ["e1f2", "e1f1", "e1d1"])
        self.assertEqual([m["uci"] for m in got["legal"]], ["e1d1", "e1f1", "e1f2"])
        self.assertTrue(got["check"])
        self.assertIn("FEN", bad["error"])

    def test_perft_of_the_start(self):
        for fen in ([], ["--fen", START]):
            done = run("perft", "--depth", 4, *fen)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b"197281", done.stdout)
        divided = run("perft", "--depth", 3, "--divide").stdout
        self.assertIn(b"8902", divided)
        self.assertIn(b"e2e4", divided)
        self.assertEqual(run("perft", "--depth", 2, "--fen", "8/8/8/8/8/8/8/8 w - - 0 1").returncode,
                         3)

    def test_decode_reads_the_move_or_says_why_not(self):
        got = lines("decode", [{"text": "Sure! {move: h5f7}"}, {"text": "h5f7"}, {"text": ""},
                               {"other": 1}])
        self.assertEqual(got[0], {"move": "h5f7"})
        for record in got[1:]:
            self.assertEqual(list(record), ["error"])

    def test_resolve_names_move_and_mode(self):
        fen = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
        got = lines("resolve", [{"fen": fen, "answer": "O-O"}, {"fen": fen, "answer": "Kg1"},
                                {"fen": fen, "answer": None}])
        self.assertEqual((got[0]["uci"], got[0]["san"], got[0]["mode"]),
                         ("e1g1", "O-O", "whole_output"))
        self.assertEqual((got[1]["uci"], got[1]["error"]), (None, "no_legal_candidate"))
        self.assertEqual(got[2]["error"], "no_candidate")

    def test_a_bad_line_is_a_record_and_the_next_is_read(self):
        done = run("decode", stdin=b'nonsense\n{"text": "{\\"move\\": \\"e4\\"}"}\n\xff\n[1]\n')
        got = [json.loads(x) for x in done.stdout.splitlines()]
        self.assertEqual([list(x) for x in got], [["error"], ["move"], ["error"], ["error"]])
        self.assertEqual(done.returncode, 0)

    def test_prompt_prints_the_body(self):
        self.write("p.csv", "PuzzleId,FEN,Moves\nm1,6k1/5ppp/8/8/8/8/7r/K2R4 b - - 0 1,h2h3 d1d8\n")
        done = run("prompt", "--puzzles", "p.csv", "--id", "m1", cwd=self.dir)
        body = json.loads(done.stdout)
        self.assertEqual([m["role"] for m in body["messages"]], ["system", "user"])
        self.assertIn("[[ ## position_fen ## ]]\n6k1/5ppp/8/8/8/7r/8/K2R4 w - - 1 2\n",
                      body["messages"][1]["content"])
        self.assertEqual(body["response_format"], {"type": "json_object"})
        self.assertEqual(body["temperature"], 0)
        self.fails(3, ["m2"], "prompt", "--puzzles", "p.csv", "--id", "m2")
        self.fails(2, ["--id"], "prompt", "--puzzles", "p.csv")
        for model in ("sim/responsive", "vllm/x"):
            done = run("prompt", "--puzzles", "p.csv", "--id", "m1", "--model", model, cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stderr)


class Oracle(Case):
    def records(self, name):
        with gzip.open(self.shared(name), "rt") as f:
            return [json.loads(line) for line in f]

    def test_position_agrees_on_every_line(self):
        want = [r for r in self.records("data/positions/oracle_positions.jsonl.gz")
                if not r["chess960"]]
        for r, got in zip(want, lines("position", [{"fen": r["fen"]} for r in want]), strict=True):
            self.assertNotIn("error", got, r["fen"])
            self.assertEqual(got["fen"], r["fen_norm"])
            self.assertEqual([m["uci"] for m in got["legal"]], r["legal"])
            self.assertEqual([m["san"] for m in got["legal"]], r["san"])
            self.assertEqual(
                (got["check"], got["checkmate"], got["stalemate"], got["insufficient_material"]),
                (r["is_check"], r["is_checkmate"], r["is_stalemate"], r["is_insufficient_material"]))

    def test_order_agrees_on_every_line(self):
        want = self.records("data/positions/legal_order_pychess.jsonl.gz")
        for r, got in zip(want, lines("position", [{"fen": r["fen"]} for r in want]), strict=True):
            self.assertEqual(got["order"], r["legal_gen_order"])

    def test_resolve_agrees_with_what_answers_are_on_their_own(self):
        want = [r for r in self.records("data/llm/raw_answers.jsonl.gz")
                if r.get("pychess_whole_raw_verdict") == "legal" and not r.get("chess960")]
        got = lines("resolve", [{"fen": r["fen"], "answer": r["raw"]} for r in want])
        for r, g in zip(want, got, strict=True):
            self.assertEqual(g["uci"], r["pychess_whole_raw_uci"], r["raw"])


if __name__ == "__main__":
    unittest.main()

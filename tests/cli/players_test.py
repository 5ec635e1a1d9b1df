# SPDX-License-Identifier: GPL-3.0-or-later
"""Players of `play` beside the usual ones: a person, a mixture of agents, models with settings of
their own; colours in turn; the experiments of the paper."""
import json
import os
import pty
import signal
import subprocess
import time
import unittest

from program import CLEAN, ROOKERY, Case, run


class Players(Case):
    def ok(self, *args, **kwargs):
        done = run("play", *args, cwd=self.dir, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done

    def logs(self, name):
        paths = sorted((p for p in (self.dir / name).glob("*.json") if p.name[0] != "_"),
                       key=lambda p: int(p.stem.rsplit("-", 1)[1]))
        return [json.loads(p.read_text()) for p in paths]

    def script(self, name, text):
        self.write(name, json.dumps({"match": {"input": "*"}, "text": text}) + "\n")
        return f"script/{name}"


class Person(Players):
    ARGS = ("--white", "human", "--black", "builtin:depth=1", "--out", "o")

    def test_a_person_plays_through_standard_input(self):
        done = self.ok(*self.ARGS, stdin="help\ne5\ne4\nresign\n")
        said = done.stderr.decode()
        for word in ("Type a move", "illegal", "♜ ♞ ♝", "Black played", "Game 1: 0-1, Resignation"):
            self.assertIn(word, said)
        log, = self.logs("o")
        self.assertEqual((log["winner"], log["winner_color"]),
                         ("Chess_Engine_Rookery_Black", "black"))
        self.assertEqual(log["player_white"]["name"], "Human_White")
        self.assertEqual((log["outcome_class"], log["reason"]), ("chess", "Resignation"))
        self.assertEqual(log["player_white"]["wrong_moves"], 0)
        self.assertIn("1. e4", log["pgn"])

    def test_after_the_end_of_input_the_game_goes_on(self):
        first = run("play", *self.ARGS, cwd=self.dir, stdin="e4\nd4")
        self.assertEqual(first.returncode, 130)
        self.assertIn("same command", first.stderr.decode())
        self.assertEqual(self.logs("o"), [])
        self.ok(*self.ARGS, stdin="resign\n")
        log, = self.logs("o")
        self.assertIn("1. e4", log["pgn"])
        self.assertIn("2. d4", log["pgn"])
        self.ok(*self.ARGS)  # finished: shown again, nobody is asked

    def test_ctrl_c_on_a_terminal_breaks_off_at_once(self):
        ours, theirs = pty.openpty()
        with subprocess.Popen([ROOKERY, "play", *self.ARGS], cwd=self.dir, env=CLEAN, stdin=theirs,
                              stdout=theirs, stderr=theirs, start_new_session=True) as p:
            os.close(theirs)
            shown = b""
            while b"to move (help): " not in shown:
                shown += os.read(ours, 4096)
            os.write(ours, b"Nf3\n")
            while b"Black played" not in shown:
                shown += os.read(ours, 4096)
            began = time.monotonic()
            p.send_signal(signal.SIGINT)
            self.assertEqual(p.wait(timeout=20), 130)
            self.assertLess(time.monotonic() - began, 5)
        os.close(ours)
        self.ok(*self.ARGS, stdin="resign\n")
        self.assertIn("1. Nf3", self.logs("o")[0]["pgn"])

    def test_a_file_is_read_as_a_terminal_is(self):
        path = self.write("moves.txt", "e4\r\nresign\r\n")
        with open(path, "rb") as f:
            done = subprocess.run([ROOKERY, "play", *self.ARGS], cwd=self.dir, env=CLEAN, stdin=f,
                                  capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


class Models(Players):
    def test_each_player_has_settings_of_its_own(self):
        self.ok("--white", "sim/strong,temperature=0.7,max-tokens=500,board=fen,effort=low",
                "--black", "sim/modest,temperature=none,budget=2048", "--max-plies", 2, "--out", "o")
        told = json.loads((self.dir / "o/_run.json").read_text())["llm_configs"]
        self.assertEqual((told["white"]["temperature"], told["white"]["max_tokens"],
                          told["white"]["board"]), (0.7, 500, "fen"))
        self.assertEqual(told["white"]["label"], "sim/strong-low")
        self.assertNotIn("temperature", told["black"])
        self.assertEqual(told["black"]["label"], "sim/modest-thinking_2048")
        turns = [json.loads(line) for p in (self.dir / "o").glob("*.turns.jsonl")
                 for line in p.read_text().splitlines()]
        for t, after in zip(turns, turns[1:]):
            if t.get("action") == "get_current_board":
                self.assertEqual("/" in after["message"], t["side"] == "white")
        self.fails(2, ["temprature", "max-tokens"], "play", "--white", "sim/strong,temprature=1")
        self.fails(2, ["budget=5"], "play", "--white", "sim/strong,budget=5")

    def test_colours_are_exchanged_after_each_game(self):
        self.ok("--white", "sim/strong", "--black", "random", "--games", 4, "--swap", "--out", "o",
                "--max-plies", 12)
        logs = self.logs("o")
        self.assertEqual([g["rookery"]["white"]["label"] for g in logs],
                         ["sim/strong", "random"] * 2)
        self.assertEqual([g["player_black"]["name"] for g in logs],
                         ["Random_Player", "Player_Black"] * 2)
        self.assertEqual([g["player_black"]["model"] for g in logs], ["N/A", "sim/strong"] * 2)
        out = self.ok("--white", "sim/strong", "--black", "random", "--games", 4, "--swap", "--out",
                      "o", "--max-plies", 12).stdout.decode()
        self.assertIn("colours in turn", out)
        self.assertRegex(out, r"sim/strong: .* of the points of 4 games; as White \+\d")

    def test_a_mixture_of_agents_plays(self):
        good = self.script("good.jsonl", "make_move a2a3")
        bad = self.script("bad.jsonl", "I do not know")
        self.ok("--white", f"moa:{good};{bad};{bad}", "--max-plies", 1, "--out", "o")
        log, = self.logs("o")
        self.assertEqual((log["player_white"]["name"], log["player_white"]["model"]),
                         ("NoN_Synthesizer", "moa"))
        self.assertIn("1. a3", log["pgn"])
        told = json.loads((self.dir / "o/_run.json").read_text())
        self.assertEqual(told["player_types"]["white_player_type"], "LLM_NON")
        self.assertEqual(len(told["llm_configs"]["white"]["workers"]), 2)
        self.ok("--white", f"moa:{good}", "--max-plies", 1, "--out", "p")
        told = json.loads((self.dir / "p/_run.json").read_text())
        self.assertEqual([w["temperature"] for w in told["llm_configs"]["white"]["workers"]], [0, 1])

    def test_the_experiments_of_the_paper_change_the_prompt(self):
        want = {
            "baseline": ("get_current_board", None), "always-board": ("♜", "get_current_board"),
            "always-legal-moves": ("g1h3,g1f3", "get_legal_moves"),
            "only-make-move": ("g1h3,g1f3", "get_"), "no-legal-moves": ("get_current", "get_legal"),
            "ascii-board": ("rnbqkbnr", None), "fen-board": ("KQkq", None),
            "previous-moves": ("get_legal_moves", None),
            "previous-only-make-move": ("g1h3,g1f3", "get_"),
        }
        for mode, (there, absent) in want.items():
            model = self.script("b.jsonl", "get_current_board")
            self.ok("--white", model, "--mode", mode, "--max-turns", 2, "--out", mode)
            path, = (self.dir / mode).glob("*.turns.jsonl")
            said = [json.loads(line)["message"] for line in path.read_text().splitlines()]
            if mode in ("ascii-board", "fen-board"):
                self.assertIn(there, said[1], mode)
            else:
                self.assertIn(there, said[0], mode)
            if absent:
                self.assertNotIn(absent, said[0], mode)
        self.fails(2, ["only-make-move"], "play", "--mode", "only-make-moves")

    def test_previous_moves_stand_before_the_prompt(self):
        model = self.script("b.jsonl", "make_move e7e5")
        self.ok("--white", "random", "--black", model, "--mode", "previous-moves", "--out", "o",
                "--max-plies", 2)
        path, = (self.dir / "o").glob("*.turns.jsonl")
        first = json.loads(path.read_text().splitlines()[0])["message"]
        self.assertRegex(first, r"^Previous moves \(UCI\):\n1\. [a-h][1-8][a-h][1-8]\n\nYou are")

    def test_random_games_leave_logs_on_request(self):
        self.ok("--games", 3, "--logs", "--out", "o")
        logs = self.logs("o")
        self.assertEqual(len(logs), 3)
        for g in logs:
            self.assertEqual(g["player_white"]["name"], "Random_Player_White")
            self.assertEqual(g["player_white"]["wrong_moves"], 0)
        self.assertEqual((self.dir / "o/games.pgn").read_text().count("[Event "), 3)


if __name__ == "__main__":
    unittest.main()

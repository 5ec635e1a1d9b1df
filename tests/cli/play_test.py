# SPDX-License-Identifier: GPL-3.0-or-later
"""`play` and `games`: whole games of all kinds of players, their files, their tables, replay."""
import csv
import io
import json
import os
import unittest

from program import Case, Simulator, run

P1 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


class Play(Case):
    def ok(self, *args):
        done = run(*args, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def logs(self, name):
        paths = sorted(p for p in (self.dir / name).glob("*.json") if p.name[0] != "_")
        return [json.loads(p.read_text()) for p in paths]

    def test_a_reply_is_shown_as_it_is_read(self):
        rows = [json.loads(line) for line in run(
            "play", "--parse-reply", stdin="".join(json.dumps(r) + "\n" for r in (
                {"profile": "compat", "fen": P1, "reply": "make_move e7e5"},
                {"profile": "compat", "fen": P1, "reply": "make_move Nf6"},
                {"profile": "robust", "fen": P1, "reply": "make_move Nf6"},
                {"profile": "v0", "fen": P1, "reply": "make_move e7e9"},
                {"profile": "compat", "fen": "x", "reply": ""}))).stdout.splitlines()]
        self.assertEqual([r.get("outcome") for r in rows], ["OK", "WA", "OK", "WM", None])
        self.assertEqual(rows[2]["move"], "g8f6")
        self.assertIn("bad FEN", rows[4]["error"])

    def test_simulated_models_play_without_an_unexplained_end(self):
        for persona in ("strong", "responsive", "modest", "brittle", "stubborn", "sloppy"):
            self.ok("play", "--black", f"sim/{persona}", "--games", 3, "--out", persona)
            for log in self.logs(persona):
                self.assertIn(log["outcome_class"], ("chess", "max_moves", "protocol_loss"))
                self.assertNotIn(log["reason"], ("", "ERROR OCCURED"))
                self.assertEqual(log["player_white"]["wrong_moves"], 0)

    def test_a_run_leaves_its_files_and_is_replayed(self):
        args = ("play", "--white", "sim/strong", "--black", "sim/responsive", "--games", 2,
                "--out", "o", "--max-plies", 40)
        first = self.ok(*args)
        self.assertIn("SIMULATED", first)
        before = {p.name: p.read_bytes() for p in (self.dir / "o").iterdir()}
        self.assertEqual(sum(n.endswith(".turns.jsonl") for n in before), 2)
        self.assertLessEqual({"_run.json", "_aggregate_results.json", "games.pgn"}, set(before))
        self.assertEqual(self.ok(*args), first)
        self.assertEqual({p.name: p.read_bytes() for p in (self.dir / "o").iterdir()}, before)
        aggregate = json.loads(before["_aggregate_results.json"])
        self.assertEqual(list(aggregate), [
            "run_metadata", "total_games", "white_wins", "black_wins", "draws", "total_moves",
            "reasons", "player_white", "player_black", "average_moves", "std_dev_moves", "rookery"])
        self.assertEqual(aggregate["total_games"], 2)
        models = {log["player_white"]["model"] for log in self.logs("o")}
        self.assertEqual(models, {"sim/strong"})
        for line in self.ok("pgn", "o/games.pgn").splitlines():
            self.assertIsNone(json.loads(line)["error"])

    def test_two_models_are_asked_each_with_its_own(self):
        for side in ("white", "black"):
            (self.dir / f"{side}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in (
                {"match": {"input": "You are"}, "text": "get_legal_moves"},
                {"match": {"input": "*"}, "text": f"make_move {'e2e4' if side == 'white' else 'x'}"})))
        self.ok("play", "--white", "script/white.jsonl", "--black", "script/black.jsonl",
                "--out", "o")
        log, = self.logs("o")
        self.assertEqual(log["reason"], "Too many wrong actions")
        self.assertEqual((log["winner"], log["winner_color"]), ("Player_White", "white"))
        self.assertEqual(log["number_of_moves"], 2)
        self.assertEqual(log["rookery"]["protocol_result"],
                         "black lost: Too many wrong actions")
        self.assertEqual(log["rookery"]["chess_result"], "*")

    def test_a_dead_endpoint_gives_no_result(self):
        done = run("play", "--black", "openai/x", "--base-url", "http://127.0.0.1:9/v1",
                   "--retries", 0, "--out", "o", cwd=self.dir, env={"OPENAI_API_KEY": "k" * 20})
        self.assertEqual(done.returncode, 4, done.stderr.decode())
        self.assertEqual(self.logs("o"), [])

    def test_a_run_goes_on_after_faults_of_the_endpoint(self):
        faults = "429:0.1,500:0.05,reset:0.05,empty:0.02,seed=7"
        with Simulator("--faults", faults) as simulator:
            out = self.ok("play", "--black", "vllm/sim-strong", "--base-url", simulator.url,
                          "--games", 3, "--max-plies", 30, "--out", "o")
        self.assertIn("SIMULATED", out)  # though its name does not say so
        spoken = waited = 0
        for log in self.logs("o"):
            self.assertIn(log["outcome_class"], ("chess", "max_moves", "protocol_loss"))
            waited += log["player_black"]["accumulated_reply_time_seconds"]
        for path in (self.dir / "o").glob("*.turns.jsonl"):
            spoken += sum(json.loads(t)["latency_ms"] for t in path.read_text().splitlines())
        self.assertGreater(waited, spoken / 1000 + 0.1)  # D18: failed attempts are time too

    def test_names_of_files_and_players_are_real_and_portable(self):  # D18
        self.ok("play", "--black", "sim/strong", "--games", 2, "--max-plies", 4, "--out", "o")
        names = sorted(p.name for p in (self.dir / "o").glob("*-*.json"))
        self.assertEqual(len(names), 2)  # games of one minute do not collide
        for name in names:
            self.assertRegex(name, r"^\d{8}T\d{6}-\d+\.json$")
        pgn = (self.dir / "o/games.pgn").read_text()
        self.assertIn('[White "random"]', pgn)
        self.assertIn('[Black "sim/strong"]', pgn)
        began = self.logs("o")[0]["time_started"]
        self.assertIn(f'[Date "{began[:10]}"]', pgn)  # the day it began, not the day it ended

    def test_the_engine_beats_a_random_player(self):
        out = json.loads(self.ok("play", "--black", "builtin:depth=1", "--games", 20, "--json"))
        self.assertGreaterEqual(out["black_wins"], 19)
        self.assertEqual(out["player_black"]["name"], "Chess_Engine_Rookery_Black")

    @unittest.skipUnless(os.path.exists("/usr/games/stockfish"), "no stockfish here")
    def test_an_engine_of_others_plays(self):
        self.ok("play", "--white", "sim/strong", "--black",
                "uci:stockfish,depth=1,Skill Level=3", "--games", 2, "--out", "o",
                "--max-plies", 30)
        for log in self.logs("o"):
            self.assertIn(log["outcome_class"], ("chess", "max_moves", "protocol_loss"))
            self.assertEqual(log["player_black"]["name"], "Chess_Engine_Stockfish_Black")
            self.assertIn("Skill Level=3", log["rookery"]["black"]["label"])
        done = run("play", "--black", "uci:/usr/games/stockfish,Skill Levle=3", cwd=self.dir)
        self.assertEqual(done.returncode, 2)
        self.assertIn("Skill Level", done.stderr.decode())

    def test_logs_become_tables(self):
        self.ok("play", "--black", "sim/strong", "--games", 4, "--out", "o")
        (self.dir / "o" / "broken.json").write_text("{")
        done = run("games", "o", "--as", "elo", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn("broken.json", done.stderr.decode())
        row, = csv.DictReader(io.StringIO(done.stdout.decode()))
        self.assertEqual((row["Player"], row["total_games"]), ("sim/strong", "4"))
        again = json.loads(self.ok("games", "o", "--as", "aggregate"))
        whole = json.loads((self.dir / "o" / "_aggregate_results.json").read_text())
        for key in ("total_games", "white_wins", "reasons", "player_black", "std_dev_moves"):
            self.assertEqual(again[key], whole[key])

    def test_players_of_either_colour_are_rated(self):
        self.ok("play", "--white", "random", "--black", "builtin:depth=1", "--games", 6, "--out",
                "a", "--logs")
        self.ok("play", "--white", "builtin:depth=1", "--black", "builtin:depth=1,handicap=0.9",
                "--games", 6, "--out", "b")
        strong, weak, rand = json.loads(self.ok("stats", "ratings", "a", "b", "--format", "json"))
        self.assertEqual((strong["games"], strong["as White"], strong["as Black"]),
                         ("12", "6", "6"))
        self.assertIn("handicap", weak["player"])
        self.assertEqual(rand["player"], "random")
        self.assertGreater(float(strong["Glicko-2"].split()[0]), 1500)
        self.assertLess(float(rand["Bayesian Elo"].split()[0]), 0)
        self.assertRegex(strong["Elo"], "^> -?[0-9.]+$|\u00b1")  # met Random, whose rating is known
        self.assertEqual(weak["Elo"], "n/a")
        self.assertRegex(strong["score %"], r"^[0-9.]+ \[[0-9.]+, [0-9.]+\]$")

    def test_profiles_are_not_pooled(self):
        for profile in ("compat", "robust"):
            self.ok("play", "--black", "sim/strong", "--profile", profile, "--max-plies", 4,
                    "--out", profile)
        self.assertEqual(run("games", "compat", "robust", cwd=self.dir).returncode, 3)

    def test_wrong_players_and_rules_are_named(self):
        for args, word in ((("--white", "randm"), "randm"), (("--rules", "reflecton"), "reflection"),
                           (("--black", "builtin:depth=99"), "depth"), (("--board", "x"), "ascii")):
            done = run("play", *args, cwd=self.dir)
            self.assertEqual(done.returncode, 2)
            self.assertIn(word, done.stderr.decode())


if __name__ == "__main__":
    unittest.main()

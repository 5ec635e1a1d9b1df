# SPDX-License-Identifier: GPL-3.0-or-later
"""The small commands against the specification's vectors and, where it is here, the data pack."""
import gzip
import json
import subprocess
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

    def test_perft_options_change_speed_not_counts(self):
        plain = run("perft", "--depth", 4, "--divide").stdout.split(b"seconds")[0]
        for options in (["--threads", 2], ["--hash", 4], ["--threads", 3, "--hash", 1]):
            done = run("perft", "--depth", 4, "--divide", *options)
            self.assertEqual(done.stdout.split(b"seconds")[0], plain, options)
        inner = run("perft", "--variant", "chess960", "--depth", 3, "--fen",
                    "r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1")
        self.assertIn(b"nodes 12333\n", inner.stdout)

    def test_perft_refuses_nonsense_and_tells_what_it_mended(self):
        for option, value in (("--threads", 0), ("--threads", -2), ("--threads", 1000),
                              ("--threads", "two"), ("--hash", -1), ("--hash", 999999),
                              ("--hash", 10 ** 12), ("--hash", "1.5"), ("--depth", -1),
                              ("--depth", 31), ("--depth", ""), ("--variant", "atomic")):
            self.fails(2, [option], "perft", "--depth", 1, option, value)
        self.fails(2, ["--depth"], "perft")
        self.fails(3, ["--fen", "column 12"], "perft", "--depth", 1, "--fen", "4k3/8/8/8/8x/8/8/4K3")
        done = run("perft", "--depth", 1, "--fen", "4k3/8/8/8/8/8/8/4K3 w K - 0 1")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"castling rights", done.stderr)

    def test_chess960_castles_from_king_to_rook(self):
        fen = "4k3/8/8/8/8/8/8/R1RK4 w A - 0 1"
        got = lines("position", [
            {"fen": "1rk2r2/8/8/8/8/8/8/1RK2R2 w KQkq - 0 1", "variant": "chess960"},
            {"fen": "1rk2r2/8/8/8/8/8/8/1RK2R2 w KQkq - 0 1", "variant": "chess960",
             "castling": "shredder"},
            {"fen": fen, "variant": "Chess960"}, {"fen": fen}, {"fen": fen, "variant": "atomic"},
            {"fen": fen, "variant": 960}, {"fen": fen, "castling": "x"}])
        self.assertIn({"uci": "c1b1", "san": "O-O-O"}, got[0]["legal"])
        self.assertEqual(got[0]["fen"].split()[2], "KQkq")
        self.assertEqual(got[1]["fen"].split()[2], "FBfb")
        self.assertEqual(got[2]["fen"], fen.replace("A", "Q"))
        self.assertNotIn("repairs", got[2])
        self.assertEqual(got[3]["repairs"],
                         ["castling rights without king or rook in place dropped"])
        for record in got[4:]:
            self.assertEqual(list(record), ["error"])
        fen = "4k3/8/8/8/8/8/8/R3K2R w HA - 0 1"
        for answer, uci in (("O-O", "e1h1"), ("e1h1", "e1h1"), ("e1g1", None), ("Kg1", None)):
            got = lines("resolve", [{"fen": fen, "variant": "chess960", "answer": answer}])[0]
            self.assertEqual(got["uci"], uci, answer)

    def test_puzzle_stats_of_a_pair_are_one_table(self):
        start = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"
        moves = ["e8f8", "e1f1", "f8g8", "f1g1", "g8f8", "g1f1", "f8e8", "f1e1", "e8e7", "e1e2",
                 "e7e6", "e2e3"]

        def file(name, rows):
            lines = [f"{name}{i},{start},{' '.join(moves[:2 * length])},{rating},end"
                     for i, (rating, length) in enumerate(rows)]
            path = self.dir / f"{name}.csv"
            path.write_text("\n".join(["PuzzleId,FEN,Moves,Rating,Themes", *lines]) + "\n")
            return path

        def table(*args):
            done = run("puzzles", "stats", *args)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.decode()
        a = file("a", [(400, 1), (401, 1), (500, 2), (500, 2), ("", 5), (2800, 6)])
        b = file("b", [(500, 2), (450, 1), (2701, 3)])
        rows = json.loads(table(a, b, "--json"))
        self.assertEqual(rows, json.loads(table(a, b, "--format", "json")))
        self.assertEqual([list(row.values()) for row in rows], [
            ["(300, 400]", "1/0", "0/0", "0/0", "0/0", "0/0", "0/0", "1/0"],
            ["(400, 500]", "1/1", "2/1", "0/0", "0/0", "0/0", "0/0", "3/2"],
            ["(2700, 2800]", "0/0", "0/0", "0/1", "0/0", "0/0", "1/0", "1/1"],
            ["none", "0/0", "0/0", "0/0", "0/0", "1/0", "0/0", "1/0"],
            ["all", "2/1", "2/1", "0/1", "0/0", "1/0", "1/0", "6/3"]])
        self.assertEqual(list(rows[0]), ["rating", "1", "2", "3", "4", "5", "6+", "all"])
        text = table(a, b)
        self.assertIn("6 puzzles, 17 positions", text)
        self.assertIn("\\midrule", table(a, b, "--format", "latex"))
        self.fails(2, ["--format"], "puzzles", "stats", a, "--format", "csv")
        self.fails(2, ["--format"], "puzzles", "stats", a, b, "--format", "xml")
        self.fails(3, ["nowhere"], "puzzles", "stats", a, "nowhere.csv")

    def test_position_reads_epd(self):
        got, bad, odd = lines("position", [
            {"epd": '4k3/8/8/8/8/8/8/R3K2R w KQ - bm O-O, Rxa9; am Kf1; id "a; b";'},
            {"epd": '4k3/8/8/8/8/8/8/R3K2R w KQ - id "a'}, {"epd": 7}])
        self.assertEqual(got["fen"], "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1")
        self.assertNotIn("repairs", got)
        self.assertEqual(got["operations"], [
            {"opcode": "bm", "operands": ["O-O", "Rxa9"], "uci": ["e1g1", None]},
            {"opcode": "am", "operands": ["Kf1"], "uci": ["e1f1"]},
            {"opcode": "id", "operands": ["a; b"]}])
        self.assertIn("column 33", bad["error"])
        self.assertEqual(list(odd), ["error"])

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
        self.write("p960.csv", "PuzzleId,FEN,Moves\n"
                   "c,4k3/7p/8/8/8/8/8/R1RK4 b A - 0 1,h7h6 d1a1\n")
        done = run("prompt", "--puzzles", "p960.csv", "--id", "c", "--variant", "chess960",
                   cwd=self.dir)
        self.assertEqual(done.returncode, 3, "the other rook stands in the way")
        self.write("p960.csv", "PuzzleId,FEN,Moves\n"
                   "c,4k3/7p/8/8/8/8/8/R1RK4 b C - 0 1,h7h6 d1c1\n")
        done = run("prompt", "--puzzles", "p960.csv", "--id", "c", "--variant", "chess960",
                   cwd=self.dir)
        self.assertIn("8/R1RK4 w C - 0 2", json.loads(done.stdout)["messages"][1]["content"])
        self.fails(3, ["c"], "prompt", "--puzzles", "p960.csv", "--id", "c")
        self.fails(2, ["--variant"], "prompt", "--puzzles", "p960.csv", "--id", "c", "--variant", "x")
        for model in ("sim/responsive", "vllm/x"):
            done = run("prompt", "--puzzles", "p.csv", "--id", "m1", "--model", model, cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stderr)


class Pgn(Case):
    GAMES = (b'[Event "a"]\n\n1. f3 e5 2. g4 { [%eval -4.2] [%clk 0:00:09.5] } Qh4# 0-1\n\n'
             b'[Event "b"]\n\n1. e4 Ke7 *\n\n[White "J\xe1n"]\n\n1. d4 $1 d5\n')

    def file(self, name="games.pgn", data=GAMES):
        path = self.dir / name
        path.write_bytes(data)
        return path

    def test_games_are_records_and_a_broken_one_has_its_place(self):
        done = run("pgn", self.file(), "--annotations")
        self.assertEqual(done.returncode, 0, done.stderr)
        mate, broken, latin = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(mate["moves"], ["f2f3", "e7e5", "g2g4", "d8h4"])
        self.assertEqual((mate["result"], mate["termination"], mate["error"]),
                         ("0-1", "checkmate", None))
        self.assertEqual(mate["final_fen"],
                         "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3")
        self.assertEqual(mate["notes"], [{"ply": 3, "comment": "[%eval -4.2] [%clk 0:00:09.5]",
                                          "clk_ms": 9500, "eval_cp": -420}])
        self.assertEqual(broken["moves"], ["e2e4"])
        self.assertIn(':7: move 1... "Ke7" is not legal', broken["error"])
        self.assertEqual(latin["tags"], {"White": "J\u00e1n"})
        self.assertEqual((latin["result"], latin["latin1_bytes"]), (None, 1))

    def test_totals_and_clean_pgn(self):
        packed = self.dir / "games.pgn.zst"
        subprocess.run(["zstd", "-q", str(self.file()), "-o", str(packed)], check=True)
        done = run("pgn", packed, "--summary")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, rb"games +3\n- broken +1\n- without moves +0\nplies +7\n")
        self.assertIn(b"Ke7", done.stderr)
        written = run("pgn", packed, "--write")
        self.assertIn(b"1. f3 e5 2. g4 { [%eval -4.2] [%clk 0:00:09.5] } 2... Qh4# 0-1\n",
                      written.stdout)
        again = run("pgn", self.file("again.pgn", written.stdout), "--write")
        self.assertEqual(again.stdout, written.stdout)
        self.assertEqual(again.stderr, b"")

    def test_bad_use_is_told(self):
        self.fails(2, ["which file"], "pgn")
        self.fails(2, ["--summary and --write"], "pgn", self.file(), "--summary", "--write")
        self.fails(3, ["games.pgn:7", "byte"], "pgn", self.file(), "--strict")
        self.fails(3, ["absent.pgn"], "pgn", self.dir / "absent.pgn")
        self.fails(3, ["cut.zst"], "pgn", self.file("cut.zst", b"\x28\xb5\x2f\xfd\x24"))


class Sample(Case):
    def test_rejects_are_counted_by_reason(self):
        fen = "6k1/5ppp/8/8/8/8/5PPP/R5K1 b - - 0 1"
        rows = ["PuzzleId,FEN,Moves,Rating,Themes", f"good1,{fen},g8f8 a1a8,900,mate",
                f"r,{fen},g8f8 a1a8,many,mate", "f,8/8/8/8/8/8/8/8 w - - 0 1,g8f8 a1a8,900,mate",
                f"m,{fen},g8f8 a1b8,900,mate", f"short,{fen},g8f8,900,mate", "row,only",
                f",{fen},g8f8 a1a8,900,mate", f"good2,{fen},g8h8 a1a8,950,mate"]
        self.write("dump.csv", "\n".join(rows) + "\n")
        done = run("puzzles", "sample", "--source", "dump.csv", "--count", 2, "--out", "drawn",
                   cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        facts = json.loads((self.dir / "drawn.json").read_bytes())
        self.assertEqual(facts["rejects_by_reason"],
                         {"row": 1, "id_or_themes": 1, "rating": 1, "fen": 1, "moves": 2})
        self.assertEqual((facts["rows_read"], facts["rows_rejected"], facts["rows"]), (8, 6, 2))
        self.assertEqual(len((self.dir / "drawn.csv").read_text().splitlines()), 3)


class Oracle(Case):
    def records(self, name):
        with gzip.open(self.shared(name), "rt") as f:
            return [json.loads(line) for line in f]

    def test_position_agrees_on_every_line(self):
        want = self.records("data/positions/oracle_positions.jsonl.gz")
        asked = [{"fen": r["fen"], "variant": "chess960" if r["chess960"] else "standard"}
                 for r in want]
        for r, got in zip(want, lines("position", asked), strict=True):
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
                if r.get("pychess_whole_raw_verdict") == "legal"]
        got = lines("resolve", [{"fen": r["fen"], "answer": r["raw"],
                                 "variant": "chess960" if r.get("chess960") else "standard"}
                                for r in want])
        for r, g in zip(want, got, strict=True):
            self.assertEqual(g["uci"], r["pychess_whole_raw_uci"], r["raw"])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""`harness evolve`: known candidates, forty iterations unattended, ten kills."""
import json
import os
import random
import signal
import subprocess
import time
import unittest

from program import CLEAN, ROOKERY, Case, run

HEAD = ("import re\n"
        "USER_PROMPT = '{observation}\\n\\nYour move:'\n"
        "def propose_action(board):\n    return ''\n")
LEGAL = "def is_legal_action(board, action):\n    return '- [' + action + ']' in board\n"
PARSE = ("def parse_action(response):\n"
         "    found = set(m.lower() for m in re.findall(r'%s', response, re.I))\n"
         "    if not found:\n        return '__no_move__'\n"
         "    return found.pop() if len(found) == 1 else '__ambiguous_multiple_moves__'\n")
UCI = "[a-h][1-8][a-h][1-8][qrbn]?"
TAGS, ANSWER, ANY = (PARSE % p for p in (rf"<move>\s*({UCI})\s*</move>",
                                         rf"<answer>\s*({UCI})\s*</answer>", rf"\b({UCI})\b"))
SORTED = ("def format_observation(observation, **kwargs):\n"
          "    lines = observation.split('\\n')\n"
          "    rows = [x for x in lines if x.startswith('- [')]\n"
          "    rest = [x for x in lines if not x.startswith('- [')]\n"
          "    return '\\n'.join(rest + sorted(rows, key=lambda r: '#' not in r))\n")
VETO = "def is_legal_action(board, action):\n    return bool(re.search(action + '.*[+x]', board))\n"
BLOB = "DATA = '" + "".join(random.Random(1).choices(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", k=400)) + "'\n"
BOOK = "BOOK = {'8/5R2/1p2P3/p4r2/P6p/1P3Pk1/4K3/8': 'f5e5'}\n"
# What is proposed, and what must become of it. The start reads nothing but tags, which this model
# never writes.
CANDIDATES = [
    ("better format", HEAD + LEGAL + ANY, "evaluated"),
    ("worse format", HEAD + LEGAL + ANSWER, "evaluated"),
    ("veto of legal moves", HEAD + VETO + ANY, "rejected_audit"),
    ("smuggled answers", HEAD + LEGAL + ANY + BOOK, "rejected_audit"),
    ("sorting by mate marks", HEAD + LEGAL + ANY + SORTED, "rejected_audit"),
    ("opaque data", HEAD + LEGAL + ANY + BLOB, "quarantined"),
    ("unsafe", HEAD + LEGAL + ANY + "import os\n", "rejected_safety"),
    ("same tree", HEAD + LEGAL + "# a comment\n" + ANY, "rejected_duplicate"),
    ("empty file", "", "rejected_safety"),
    ("10 MB", "#" * (10 << 20), "rejected_safety"),
    ("invalid UTF-8", b"x = '\xff'\n", "rejected_safety"),
    ("never loaded", HEAD + LEGAL + "while True:\n    pass\n", "rejected_safety"),
]
EVOLVE = ("harness", "evolve", "--model", "sim/sloppy", "--deterministic")


class Evolve(Case):
    def scripted(self, sources):
        """A directory of candidates h1.py, h2.py, ..."""
        where = self.dir / "candidates"
        where.mkdir(exist_ok=True)
        for i, source in enumerate(sources, 1):
            (where / f"h{i}.py").write_bytes(source if isinstance(source, bytes)
                                             else source.encode())
        return ("--proposer", "scripted", "--candidates-dir", where, "--start",
                self.write("start.py", HEAD + LEGAL + TAGS))

    def rows(self, out="out"):
        text = (self.dir / out / "logs/evolution_summary.jsonl").read_text()
        return [json.loads(x) for x in text.splitlines()]

    def files(self, out):
        """All files of a run directory, but for its log, what holds its own path, and temporary
        files: a kill may leave one of an unfinished write."""
        return {p.relative_to(self.dir / out).as_posix(): p.read_bytes()
                for p in sorted((self.dir / out).rglob("*"))
                if p.is_file() and p.name not in ("log.jsonl", "run_config.json")
                and ".tmp" not in p.name}

    def test_known_candidates_meet_their_fate(self):
        done = run(*EVOLVE, *self.scripted(c[1] for c in CANDIDATES), "--candidates",
                   len(CANDIDATES), "--limit", "40", "--store", ":memory:", "--out",
                   self.dir / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.rows()
        self.assertEqual([r["status"] for r in rows], [c[2] for c in CANDIDATES],
                         [r["reason"] for r in rows])
        self.assertEqual((self.dir / "out/logs/accepted_harness.txt").read_text(), "h1\n")
        decision = json.loads((self.dir / "out/logs/iteration_001/comparison.json").read_text())
        self.assertEqual(decision["decision"]["rule"], "guarded")
        self.assertLess(decision["decision"]["p_value"], 0.1)
        self.assertEqual(rows[7]["reason"], "does the same as h1")
        self.assertTrue(all(r["reason"] for r in rows if r["status"] != "evaluated"))
        # What was rejected has no scores; what is quarantined has, and is on no frontier.
        self.assertIsNone(rows[2]["avg_success_rate"])
        self.assertGreater(rows[5]["avg_success_rate"], 0)
        self.assertFalse(rows[5]["on_pareto"])
        self.assertEqual(json.loads((self.dir / "out/run.json").read_text())["status"], "complete")

    def test_a_worse_candidate_and_noise_are_not_accepted(self):
        sources = [HEAD + LEGAL + ANSWER, HEAD + LEGAL + TAGS + "\nUNUSED = 1\n"]
        done = run(*EVOLVE, *self.scripted(sources), "--candidates", 2, "--limit", "16",
                   "--store", ":memory:", "--out", self.dir / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.dir / "out/logs/accepted_harness.txt").read_text(), "h0\n")

    def test_a_run_is_verified_compared_and_replayed(self):
        out = self.dir / "out"
        done = run(*EVOLVE, *self.scripted([HEAD + LEGAL + ANY]), "--candidates", 1, "--limit",
                   "12", "--store", ":memory:", "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"agree", run("harness", "verify-run", out).stdout)
        for harness in ("h0", "h1"):
            done = run("harness", "replay", out, harness)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b"12 rollouts", done.stdout)
        said = run("harness", "diff", out, "h0", "h1").stdout.decode()
        self.assertIn("-    found = set", said)
        self.assertRegex(said, "gained [1-9][0-9]*, lost 0")
        self.fails(3, ["not the file"], "harness", "replay", out, "h1", "--puzzles", "builtin:test")
        below = out / "logs/mh_val/h1/sloppy/ChessPuzzle-v0_trajectories.jsonl"
        text = below.read_text()
        below.write_text(text.replace('"stop_condition":"wrong_move"',
                                      '"stop_condition":"malformed"', 1))
        self.fails(1, ["rollout"], "harness", "replay", out, "h1")
        (out / "harnesses/h1/harness.py").write_text(HEAD + LEGAL + TAGS)
        self.fails(1, ["changed"], "harness", "verify-run", out)

    def test_an_ablation_finds_the_change_that_counts(self):
        start = self.write("start.py", HEAD + LEGAL + TAGS)
        mine = self.write("mine.py", HEAD.replace("Your move", "Move") + LEGAL + ANY)
        done = run("harness", "ablate", "--model", "sim/sloppy", "--limit", "12", "--harness", mine,
                   "--start", start, "--store", ":memory:", "--out", self.dir / "out", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {v["name"]: v for v in json.loads(done.stdout)["variants"]}
        self.assertEqual(set(found), {"as it is", "without USER_PROMPT", "without parse_action"})
        self.assertGreater(found["as it is"]["success_rate"], 0)
        self.assertEqual(found["without parse_action"]["success_rate"], 0)

    def test_prompt_only_lets_comments_pass_and_no_code(self):
        start = HEAD + LEGAL + TAGS
        sources = ["# why\n" + start.replace("Your move", "Answer in move tags"),
                   start.replace("</move>", "</?move>")]
        done = run(*EVOLVE, *self.scripted(sources), "--candidates", 2, "--limit", "4",
                   "--prompt-only", "--store", ":memory:", "--out", self.dir / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([r["status"] for r in self.rows()],
                         ["evaluated", "rejected_prompt_only"])

    def test_three_barren_iterations_end_the_search(self):
        done = run(*EVOLVE, *self.scripted([]), "--iterations", 9, "--limit", "4", "--store",
                   ":memory:", "--out", self.dir / "out", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["stopped_by"], "no_candidates")
        self.assertEqual([r["status"] for r in self.rows()], ["no_candidates"] * 3)

    def test_a_spent_budget_stops_and_a_larger_one_goes_on(self):
        args = EVOLVE + ("--limit", "6", "--iterations", "3", "--candidates", "1", "--confirm", "0",
                         "--store", self.dir / "a.db", "--out", self.dir / "out")
        self.fails(5, ["budget:policy_calls"], *args, "--max-calls", "12")
        done = run(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.rows()), 3)

    def test_forty_iterations_run_unattended(self):
        n = int(os.environ.get("ROOKERY_EVOLVE_LIMIT", "4"))
        done = run(*EVOLVE, "--limit", n, "--iterations", "40", "--candidates", "1", "--confirm",
                   "1", "--stop-at", "0", "--store", ":memory:", "--out", self.dir / "out",
                   "--json", timeout=3000)
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout)
        self.assertEqual((summary["iterations"], summary["stopped_by"]), (40, "iterations"))
        rows = self.rows()
        self.assertEqual([r["iteration"] for r in rows], list(range(1, 41)))
        self.assertLessEqual({r["status"] for r in rows}, {"evaluated", "rejected_duplicate"})
        self.assertGreaterEqual(summary["success_rate"], summary["start_success_rate"])

    def test_killed_ten_times_a_search_ends_alike(self):
        args = EVOLVE + ("--limit", "8", "--iterations", "4", "--candidates", "2")
        began = time.monotonic()
        done = run(*args, "--store", self.dir / "a.db", "--out", self.dir / "a")
        self.assertEqual(done.returncode, 0, done.stderr)
        lasts = time.monotonic() - began
        draw = random.Random(7)
        for _ in range(10):
            p = subprocess.Popen([ROOKERY, *map(str, args), "--store", str(self.dir / "b.db"),
                                  "--out", str(self.dir / "b")], env=CLEAN,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(draw.uniform(0.1, 0.8) * lasts)
            p.send_signal(signal.SIGKILL)
            p.wait()
        done = run(*args, "--store", self.dir / "b.db", "--out", self.dir / "b")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files("a"), self.files("b"))

    def command(self, body, *args):
        """The finished search with a proposer that is this shell script."""
        path = self.write("propose.sh", "#!/bin/sh\n" + body)
        path.chmod(0o755)
        return run(*EVOLVE, "--proposer", "command", "--proposer-command", path, "--candidates", 2,
                   "--limit", "4", "--store", self.dir / "a.db", "--out", self.dir / "out",
                   "--start", self.write("start.py", HEAD + LEGAL + TAGS),
                   *args, env={"SECRET_TOKEN": "hush", "SEEN": "yes"})

    def test_a_command_works_in_a_copy_and_only_its_slots_come_back(self):
        body = ("test -z \"$SECRET_TOKEN\" && test \"$SEEN\" = yes || exit 9\n"
                "set -- $ROOKERY_SLOTS\ncat > task.txt\ngrep -q 'Iteration 1' task.txt || exit 8\n"
                "cat > $1 <<'END'\n" + HEAD + LEGAL + ANY + "END\n"
                "ln -s /etc/hostname $2\necho x > logs/other.txt\nls > list.txt\n"
                "test -e rookery.db -o -e run_config.json && exit 7\n"
                "echo '{\"iteration\": 1, \"candidates\": [{\"name\": \"h1\", \"hypothesis\": "
                "\"bare moves\", \"axis\": \"parser\"}]}' > pending_eval.json\n")
        done = self.command(body, "--proposer-env", "SEEN")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.rows()
        log = (self.dir / "out/logs/proposer_runs/run_iter001/transcript.txt").read_text()
        self.assertIn("exit: 0", log)
        self.assertEqual([(r["harness"], r["status"]) for r in rows],
                         [("h1", "evaluated"), ("h2", "rejected_safety")])
        self.assertEqual(rows[0]["hypothesis"], "bare moves")
        self.assertEqual(rows[1]["axis"], "recovered")
        self.assertFalse((self.dir / "out/logs/other.txt").exists())
        before = self.files("out")
        again = self.command("exit 1\n", "--proposer-env", "SEEN")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.files("out"), before)

    def test_commands_that_fail_flood_or_hang_make_barren_iterations(self):
        for body, words in (("exit 3\n", "exit: 3"), ("sleep 60\n", "time-out"),
                            ("yes | head -c 30000000\n", "exit: 0"),
                            ("echo service unavailable; exit 1\n", "exit: 1")):
            with self.subTest(body):
                done = self.command(body, "--proposer-timeout", "1", "--proposer-retry-wait", "0",
                                    "--run-name", words, "--again", "--out", self.dir / words[:4])
                self.assertEqual(done.returncode, 0, done.stderr)
                where = self.dir / words[:4]
                log = where / "logs/proposer_runs/run_iter001/transcript.txt"
                self.assertIn(words, log.read_text())
                self.assertLess(log.stat().st_size, 3 << 20)
                self.assertIn("no_candidates",
                              (where / "logs/evolution_summary.jsonl").read_text())
                subprocess.run(["rm", "-rf", str(where)], check=True)

    def test_a_person_may_put_files_into_the_slots(self):
        slot = self.dir / "out/harnesses/h1"
        slot.mkdir(parents=True)
        (slot / "harness.py").write_text(HEAD + LEGAL + ANY)
        done = run(*EVOLVE, "--proposer", "manual", "--eval-only", "--limit", "4", "--store",
                   ":memory:", "--out", self.dir / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(r["harness"], r["axis"]) for r in self.rows()], [("h1", "recovered")])

    def test_nothing_that_a_proposer_may_read_tells_answers(self):
        done = run(*EVOLVE, "--limit", "10", "--candidates", "1", "--store", ":memory:", "--out",
                   self.dir / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = "".join(p.read_text() for p in (self.dir / "out").rglob("*")
                       if p.is_file() and p.parts[-2] != "out")
        for word in ("builtin:train", "PuzzleId", "mateIn", "middlegame", "rating", "lichess.org"):
            self.assertNotIn(word, text)


if __name__ == "__main__":
    unittest.main()

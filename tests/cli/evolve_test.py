# SPDX-License-Identifier: GPL-3.0-or-later
"""`harness evolve`: known candidates, proposers of all kinds, what a run leaves."""
import json
import subprocess
import unittest

from evolving import ANSWER, ANY, CANDIDATES, EVOLVE, HEAD, LEGAL, TAGS, Evolving
from program import run


class Evolve(Evolving):
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""`harness check` and `harness parse`: verdicts, exit codes, and every kind of bad file."""
import json
import os
import unittest

from program import Case, run

REQUIRED = ("def propose_action(board):\n    return ''\n"
            "def is_legal_action(board, action):\n    return '[' + action + ']' in board\n")


class Harness(Case):
    def check(self, source, *args):
        return run("harness", "check", self.write("harness.py", source), *args)

    def test_a_good_file_passes_and_says_which_layers_hold(self):
        done = self.check(REQUIRED, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["verdict"], "pass")
        self.assertTrue(report["layers"]["seccomp"])

    def test_bad_files_have_one_clear_verdict(self):
        for source, rule in [("", "S60"), (b"x = '\xff'", "S02"), (b"#" * (10 << 20), "S01"),
                             (REQUIRED + "import os\n", "S20"),
                             (REQUIRED + "while True: pass\n", "load_timeout"),
                             (REQUIRED + "x = 1 // 0\n", "load_error"),
                             (REQUIRED + "x = [0] * 10**10\n", "load_")]:
            done = self.check(source, "--json")
            self.assertEqual(done.returncode, 1, done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual(report["verdict"], "reject")
            # Out of memory is an exception, or the end of a sanitized child.
            self.assertTrue(any(f["rule"].startswith(rule) for f in report["findings"]), report)
            self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_what_is_no_file_is_refused(self):
        os.symlink("/etc/hostname", self.dir / "link.py")
        for path in ("link.py", ".", "absent.py"):
            done = run("harness", "check", self.dir / path)
            self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(run("harness", "check").returncode, 2)

    def test_parse_goes_on_after_each_kind_of_fault(self):
        path = self.dir / "harness.py"
        path.write_text(REQUIRED + "def parse_action(response):\n"
                        "    print(response)\n"
                        "    if response == 'raise': return {}['x']\n"
                        "    if response == 'hang':\n        while True: pass\n"
                        "    if response == 'large': return 'a' * 100000000\n"
                        "    if response == 'type': return 5\n"
                        "    return response.replace('!', '')\n")
        text = "".join(json.dumps({"response": r, "observation": "- [e2e4] SAN=e4"}) + "\n"
                       for r in ("raise", "hang", "large", "type", "E2E4!", "d2d4"))
        done = run("harness", "parse", "--harness", path, stdin=text + "{}\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertIn("KeyError", rows[0]["error"])
        self.assertIn("deadline", rows[1]["error"])
        self.assertIn("OverflowError", rows[2]["error"])
        self.assertIn("short text", rows[3]["error"])
        self.assertEqual(rows[4], {"action": "e2e4", "legal": True})
        self.assertEqual(rows[5], {"action": "d2d4", "legal": False})
        self.assertIn("response", rows[6]["error"])


if __name__ == "__main__":
    unittest.main()

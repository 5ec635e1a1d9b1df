# SPDX-License-Identifier: GPL-3.0-or-later
"""`harness evolve` left alone: forty iterations unattended, ten kills."""
import json
import os
import random
import signal
import subprocess
import time
import unittest

from evolving import EVOLVE, Evolving
from program import CLEAN, ROOKERY, run


class Unattended(Evolving):
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


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""`doctor`: a line a check, and what it says on machines that lack something."""
import ctypes
import ctypes.util
import json
import os
import unittest

from program import Case, run, subprocess, ROOKERY

KILL_NOTHING, ERRNO = 0x7fff0000, 0x00050000
ENOSYS = 38


def forbid_seccomp():
    """From here on this process and its children have a kernel without seccomp(2)."""
    library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(KILL_NOTHING))
    number = library.seccomp_syscall_resolve_name(b"seccomp")
    assert library.seccomp_rule_add(context, ERRNO | ENOSYS, number, 0) == 0
    # The library itself would use seccomp(2); loading by prctl(2) works without.
    library.seccomp_api_set(1)
    assert library.seccomp_load(context) == 0


def run_without_seccomp(*args):
    return subprocess.run([ROOKERY, *map(str, args)], capture_output=True, check=False,
                          preexec_fn=forbid_seccomp, timeout=120)


class Doctor(Case):
    def checks(self, done):
        return {c["check"]: c for c in json.loads(done.stdout)}

    def test_each_check_is_a_line(self):
        done = run("doctor", cwd=self.dir)
        text = run("doctor", "--json", cwd=self.dir)
        self.assertEqual(done.returncode, text.returncode, done.stderr)
        checks = self.checks(text)
        self.assertEqual(len(done.stdout.splitlines()), len(checks))
        for name in ("cores", "seccomp", "no_new_privs", "landlock", "python", "sandbox", "engine",
                     "locks", "store", "certificates", "ffmpeg", "open files", "keys"):
            self.assertIn(name, checks)
        self.assertEqual(checks["sandbox"]["level"], "ok")
        self.assertEqual(os.listdir(self.dir), [])

    def test_keys_are_named_and_never_shown(self):
        done = run("doctor", env={"OPENAI_API_KEY": "sk-very-secret"})
        self.assertIn(b"OPENAI_API_KEY", done.stdout)
        self.assertNotIn(b"very-secret", done.stdout + done.stderr)

    def test_what_is_missing_is_named_with_what_to_do(self):
        done = run("doctor", "--store", "/nowhere/at/all/r.db", "--engine", "no-such-engine",
                   "--json", env={"SSL_CERT_FILE": "/nowhere/ca.pem", "PATH": "/nowhere"})
        self.assertEqual(done.returncode, 1)
        checks = self.checks(done)
        for name, level, hint in (("store", "fail", "--store"), ("engine", "warn", "stockfish"),
                                  ("certificates", "fail", "ca-certificates"),
                                  ("ffmpeg", "warn", "apt install ffmpeg")):
            self.assertEqual(checks[name]["level"], level, checks[name])
            self.assertIn(hint, checks[name]["message"])

    def test_without_seccomp_no_candidate_runs(self):
        harness = self.write("h.py", "x = 1\n")
        done = run_without_seccomp("doctor", "--json")
        self.assertEqual(done.returncode, 1)
        sandbox = self.checks(done)["sandbox"]
        self.assertEqual(sandbox["level"], "fail")
        self.assertIn("seccomp", sandbox["message"])
        for args in (("harness", "check", harness), ("harness", "parse", "--harness", harness)):
            done = run_without_seccomp(*args)
            self.assertEqual(done.returncode, 1, args)
            self.assertEqual(done.stdout, b"")
            self.assertIn(b"no seccomp filter", done.stderr)


if __name__ == "__main__":
    unittest.main()

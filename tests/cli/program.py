# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program under test; what the tests of the command line share."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOKERY = os.environ["ROOKERY"]
SHARED = pathlib.Path(os.environ.get("ROOKERY_SHARED", "../shared"))
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI", "ROOKERY_"))}


def run(*args, stdin="", env=None, cwd=None, timeout=120):
    """The finished process of one command."""
    return subprocess.run(
        [ROOKERY, *map(str, args)], input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True, env={**CLEAN, **(env or {})}, cwd=cwd, timeout=timeout, check=False)


def lines(command, records):
    """JSON Lines through a small command."""
    text = "".join(json.dumps(r) + "\n" for r in records)
    done = run(command, stdin=text)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Simulator:
    """`rookery simulate` on a free port, stopped at the end of the block."""

    def __init__(self, *args):
        self.args = args

    def __enter__(self):
        self.process = subprocess.Popen(
            [ROOKERY, "simulate", "--port", "0", *map(str, self.args)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = self.process.stdout.readline().decode()
        self.url = re.search(r"http://\S+/v1", line).group(0)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stdout.close()


class Case(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self):
        self._dir = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self._dir.name)

    def tearDown(self):
        self._dir.cleanup()

    def write(self, name, content):
        path = self.dir / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def shared(self, name):
        path = SHARED / name
        if not path.exists():
            self.skipTest(f"{path} is not here")
        return path

    def fails(self, code, words, *args, **kwargs):
        """The command ends with this code and a sentence that holds all the words."""
        done = run(*args, cwd=self.dir, **kwargs)
        said = done.stderr.decode()
        self.assertEqual(done.returncode, code, said)
        for word in words:
            self.assertIn(word, said)
        return said

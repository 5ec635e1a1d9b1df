# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of `harness evolve` share: sources of candidates, files of a run."""
import json
import random

from program import Case

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


class Evolving(Case):
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

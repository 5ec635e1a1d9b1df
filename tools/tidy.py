#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tidy.py [BUILD_DIR] - clang-tidy over src/ with the compile database of a build directory.

A file that passed is not checked again until it, a header of ours that it includes, .clang-tidy
or clang-tidy itself changes: BUILD_DIR/tidy-passed holds the hashes. Exits 1 on any finding.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AT = re.compile(r"^(/[^\s:]+)(?=:\d+:\d+: )", re.M)
INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.M)
# The database is gcc's: clang does not know all of its warnings, and has some of its own.
CLANG_ARGUMENTS = ["--quiet", "--extra-arg=-Wno-unknown-warning-option",
                   "--extra-arg=-Wmissing-variable-declarations", "--extra-arg=-Wcomma"]
FORCED_HEADER = ROOT / "tools" / "tidy.h"


def add_with_includes(path, seen):
    """Puts path and every header of ours below it into `seen` (path: content)."""
    if path in seen or not path.is_file():
        return
    seen[path] = path.read_bytes()
    for name in INCLUDE.findall(seen[path]):
        for folder in (path.parent, ROOT / "src"):
            add_with_includes((folder / name.decode()).resolve(), seen)


def fingerprint(path, salt):
    seen = {}
    add_with_includes(path, seen)
    digest = hashlib.sha256(salt)
    for name in sorted(seen):
        digest.update(str(name.relative_to(ROOT)).encode() + b"\0" + seen[name])
    return digest.hexdigest()


def short(match):
    """A path as seen from the root of the tree."""
    return os.path.relpath(os.path.normpath(match[1]), ROOT)


def main():
    build = Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
    tool = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if not tool:
        sys.exit("tidy.py: clang-tidy is missing: tools/deps.sh lint installs it")
    version = subprocess.run([tool, "--version"], capture_output=True, check=True).stdout
    salt = version + (ROOT / ".clang-tidy").read_bytes() + FORCED_HEADER.read_bytes() \
        + "\n".join(CLANG_ARGUMENTS).encode()
    database = json.loads((build / "compile_commands.json").read_text())
    files = {(build / entry["file"]).resolve() for entry in database}
    hashes = {f: fingerprint(f, salt) for f in sorted(files) if ROOT / "src" in f.parents}
    store = build / "tidy-passed"
    passed = set(store.read_text().split()) if store.exists() else set()
    todo = [f for f in hashes if hashes[f] not in passed]

    def check(path):
        forced = [] if path.name == "err.c" else [f"--extra-arg=-include{FORCED_HEADER}"]
        result = subprocess.run([tool, "-p", str(build), *CLANG_ARGUMENTS, *forced, str(path)],
                                capture_output=True, text=True, check=False)
        if result.returncode == 0:
            with store.open("a") as out:
                out.write(hashes[path] + "\n")
        return result
    bad = 0
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for path, result in zip(todo, pool.map(check, todo)):
            if result.returncode:
                bad += 1
                print(AT.sub(short, result.stdout or result.stderr).rstrip())
    print(f"tidy.py: {len(hashes)} files, {len(todo)} checked, {bad} with findings", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

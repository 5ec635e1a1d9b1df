#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test_summary.py TESTLOG.json - ends a test run with one line: "N passed, N failed[, N skipped]".

Counts the single tests inside each cmocka or unittest program; any other counts as one. A program
that died before its totals is one failure more. Exits 1 if anything failed or nothing ran.
"""
import json
import re
import sys

TOTAL = re.compile(r"^\[  (PASSED|FAILED|SKIPPED) +\] (\d+) test\(s\)", re.M)

UNITTEST = re.compile(r"^Ran (\d+) tests? in .*\n\n(?:OK|FAILED)(?: \((.*)\))?$", re.M)


def unittest_totals(text):
    """The same totals as TOTAL finds, from the end of a unittest run."""
    for ran, details in UNITTEST.findall(text):
        parts = dict(re.findall(r"(\w+)=(\d+)", details))
        failed = int(parts.get("failures", 0)) + int(parts.get("errors", 0))
        skipped = int(parts.get("skipped", 0))
        yield "PASSED", int(ran) - failed - skipped
        yield "FAILED", failed
        yield "SKIPPED", skipped


def count(entry):
    """(passed, failed, skipped) of one program."""
    n = {"PASSED": 0, "FAILED": 0, "SKIPPED": 0}
    text = (entry.get("stdout") or "") + "\n" + (entry.get("stderr") or "")
    totals = TOTAL.findall(text) + list(unittest_totals(text))
    for what, number in totals:
        n[what] += int(number)
    good = entry["result"] in ("OK", "EXPECTEDFAIL", "SKIP")
    if not good and n["FAILED"] == 0:
        n["FAILED"] = 1
    if good and not totals:
        n["SKIPPED" if entry["result"] == "SKIP" else "PASSED"] = 1
    return n["PASSED"], n["FAILED"], n["SKIPPED"]


def main():
    try:
        with open(sys.argv[1], encoding="utf-8") as log:
            counts = [count(json.loads(line)) for line in log if line.strip()]
    except OSError as error:
        print(f"no test log: {error}", file=sys.stderr)
        counts = []
    passed, failed, skipped = (sum(column) for column in zip(*counts)) if counts else (0, 0, 0)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

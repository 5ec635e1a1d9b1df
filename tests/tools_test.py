#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The house's own tools: lint finds planted faults, and only those; the test summary counts."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent / "tools"
SPDX = "// SPDX-License-Identifier: GPL-3.0-or-later\n"
GOOD = {
    "src/LAYERS": "low :\nhigh : low\nbad :\n",
    "src/low/low.h": SPDX + """// low.h - the floor.
#pragma once
struct pin; // opaque

// Adds two numbers.
int low_add(int a, int b);
int low_sub(int a, int b); // and takes them apart

// What fits.
#define LOW_MAX 7
""",
    "src/low/low.c": SPDX + """// low.c - sums.
#include "low/low.h"

int low_add(int a, int b)
{
    struct pair { int a, b; } pair = { a, b }; // { in a comment, "and" in '"'
    if (a) {
        return pair.a + pair.b;
    } else if (b) {
        do
            b--;
        while (b > 0);
    }
    switch (a) {
    case 1: return (struct pair){ a, b }.a;
    default: break;
    }
    return 0;
}
""",
    "src/high/high.h": SPDX + '// high.h - the roof.\n#pragma once\n#include "low/low.h"\n',
    "tests/low/add_test.c": SPDX + '// Sums.\n#include "low/low.h"\n',
}


def function(body, head="int f(void)"):
    return SPDX + f"// bad.c - a fault.\n{head}\n{{\n{body}}}\n"


class LintFinds(unittest.TestCase):
    def lint(self, extra):
        with tempfile.TemporaryDirectory() as root:
            for name, text in {**GOOD, **extra}.items():
                path = Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            result = subprocess.run([sys.executable, TOOLS / "lint.py", "--quick", root],
                                    capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1 if result.stdout else 0, result.stderr)
        return result.stdout

    def finds(self, name, text, *faults):
        found = self.lint({name: text}).splitlines()
        self.assertEqual(len(found), len(faults), found)
        for line, (at, what) in zip(found, faults):
            self.assertTrue(line.startswith(f"{name}:{at}: "), line)
            self.assertIn(what, line)

    def test_nothing_in_a_good_tree(self):
        self.assertEqual(self.lint({}), "")

    def test_an_include_from_a_higher_floor(self):
        self.finds("src/low/bad.c", SPDX + '// bad.c - x.\n#include "high/high.h"\n',
                   (3, "low may not include high"))

    def test_a_foreign_internal_header(self):
        self.finds("src/high/bad.c", SPDX + '// bad.c - x.\n#include "low/internal.h"\n',
                   (3, "private to its module"))
        self.finds("tests/low/x_test.c", SPDX + '// X.\n#include "low/internal.h"\n',
                   (3, "private to its module"))

    def test_a_module_that_no_layer_names(self):
        self.finds("src/new/bad.c", SPDX + "// bad.c - x.\n", (1, "not in src/LAYERS"))

    def test_a_layer_upside_down(self):
        self.finds("src/LAYERS", "high : low\nlow :\nbad :\n", (1, "high stands below low"))

    def test_a_source_that_is_not_built(self):
        text, build = SPDX + "// X.\n", "tests/low/meson.build"
        found = self.lint({build: "tests = ['add']\n", "tests/low/lost_test.c": text})
        self.assertEqual(found, "tests/low/lost_test.c:1: its folder's meson.build does not name it\n")

    def test_a_missing_licence_and_purpose(self):
        self.finds("src/low/bad.c", "int x;\n", (1, "SPDX"), (2, "bad.c - "))

    def test_declarations_without_a_contract(self):
        head = SPDX + "// bad.h - x.\n#pragma once\n\n"
        self.finds("src/bad/bad.h", head + "// ---- part ----\n\nint bare(void);\n",
                   (7, "bare has no contract"))
        self.finds("src/bad/bad.h", head + "// A group.\nint one(void);\nint two(int a,\n    int b);\n"
                   "\n#define MANY 3\n", (10, "MANY has no contract"))
        self.finds("src/bad/bad.h", head + "struct bare {\n    int x;\n};\n",
                   (5, "bare has no contract"))

    def test_a_long_function(self):
        self.finds("src/low/bad.c", function("    ;\n" * 61), (3, "f has 61 lines"))
        self.assertEqual(self.lint({"src/low/bad.c": function("    ;\n" * 60)}), "")

    def test_no_size_where_a_reason_is_given(self):
        head = "// NOLINTNEXTLINE(readability-function-size): {}\nint f(int a,int b,int c,int d,int e,int g)"
        self.assertEqual(self.lint({"src/low/bad.c": function("", head.format("a callback"))}), "")
        self.finds("src/low/bad.c", function("", head.format("")), (4, "f has 6 parameters"))

    def test_too_many_parameters(self):
        head = "static int f(int a, int (*b)(int, int), int c, int d,\n    int e, int g)"
        self.finds("src/low/bad.c", function("", head), (3, "f has 6 parameters"))

    def test_deep_nesting_with_and_without_braces(self):
        deep = "if (1)\nfor (;;) {\nif (2) {} else {\nwhile (3)\nif (4)\n;\n}\n}\n"
        self.finds("src/low/bad.c", function(deep), (9, "f nests 5 deep"))
        flat = "if (1)\n;\nelse if (2)\n;\nelse if (3)\n;\nelse if (4)\n;\nelse if (5)\n;\nelse\n;\n"
        self.assertEqual(self.lint({"src/low/bad.c": function(flat)}), "")
        each = "if (1)\nfor (;;)\nwhile (2)\nlist_foreach(x, y) {\nif (3)\n;\n}\n"
        self.finds("src/low/bad.c", function(each), (9, "f nests 5 deep"))

    def test_long_files(self):
        text = SPDX + "// bad.h - x.\n" + "// why\n" * 199
        self.finds("src/low/bad.h", text, (201, "201 lines"))

    def test_machine_paths_and_bare_marks(self):
        home, mark = "/ho" + "me/me", "TO" + "DO"
        self.finds("docs/X.md", f"see {home}/x\nhttps://a.b{home}\n{mark}: later\n{mark}(slow): cut\n"
                   f"{mark}\n", (1, "machine"), (5, "without a reason"))


class TheSummary(unittest.TestCase):
    def summary(self, *entries):
        with tempfile.TemporaryDirectory() as root:
            log = Path(root, "log.json")
            log.write_text("".join(json.dumps(e) + "\n" for e in entries), encoding="utf-8")
            result = subprocess.run([sys.executable, TOOLS / "test_summary.py", log],
                                    capture_output=True, text=True, check=False)
        return result.stdout, result.returncode

    def test_counts_the_tests_inside_a_program(self):
        out = "[==========] 3 test(s) run.\n[  PASSED  ] 2 test(s).\n" \
              "[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] no_data\n\n 1 SKIPPED TEST(S)\n"
        self.assertEqual(self.summary({"result": "OK", "stdout": out}, {"result": "OK"}),
                         ("3 passed, 0 failed, 1 skipped\n", 0))

    def test_fails_with_a_failing_test(self):
        entry = {"result": "FAIL", "stdout": "[  PASSED  ] 2 test(s).\n",
                 "stderr": "[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] bad\n"}
        self.assertEqual(self.summary(entry), ("2 passed, 1 failed\n", 1))

    def test_counts_python_tests_too(self):
        end = "-----\nRan 7 tests in 0.1s\n\n"
        self.assertEqual(self.summary({"result": "OK", "stderr": end + "OK (skipped=2)\n"},
                                      {"result": "OK", "stderr": end + "OK\n"}),
                         ("12 passed, 0 failed, 2 skipped\n", 0))
        self.assertEqual(self.summary({"result": "FAIL", "stderr": end
                                       + "FAILED (failures=1, errors=2, skipped=1)\n"}),
                         ("3 passed, 3 failed, 1 skipped\n", 1))

    def test_a_crash_and_a_time_out_are_failures(self):
        self.assertEqual(self.summary({"result": "FAIL", "stdout": "[ RUN      ] x\n"},
                                      {"result": "TIMEOUT"}), ("0 passed, 2 failed\n", 1))

    def test_fails_when_nothing_ran(self):
        self.assertEqual(self.summary(), ("0 passed, 0 failed\n", 1))


class Deps(unittest.TestCase):
    def test_tells_an_unknown_set(self):
        result = subprocess.run([TOOLS / "deps.sh", "--check", "nonsense"], capture_output=True,
                                text=True, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn("which set", result.stderr)

    def test_names_what_is_missing_where_there_is_no_apt(self):
        with tempfile.TemporaryDirectory() as folder:
            for tool in ("sh", "sed", "id"):
                path = next(Path(d, tool) for d in os.environ["PATH"].split(":")
                            if Path(d, tool).exists())
                Path(folder, tool).symlink_to(path)
            result = subprocess.run([TOOLS / "deps.sh", "build"], capture_output=True, text=True,
                                    check=False, env={"PATH": folder})
        self.assertEqual(result.returncode, 1)
        self.assertIn("lib:libcurl", result.stderr)
        self.assertIn("no apt", result.stderr)


if __name__ == "__main__":
    unittest.main()

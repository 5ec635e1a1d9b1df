#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""lint.py [--quick] [ROOT] - the house rules that no compiler checks.

Layers of src/LAYERS; headers compile alone; no foreign internal.h; each source is built; licence
line and purpose on top of each file; a contract on each public declaration; sizes of functions
and files; no machine paths, no bare to-do marks; clang-format. Prints FILE:LINE: WHAT, exits 1 if
it printed any. --quick leaves out what needs other programs: compiler, clang-format.
"""
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MAX_FUNCTION, MAX_PARAMETERS, MAX_NESTING = 60, 5, 4
MAX_LINES = {".c": 800, ".h": 200}
LIBRARIES = ("jansson libcrypto libcurl sqlite3 libzstd yaml-0.1 gsl libmicrohttpd libutf8proc "
             "python-3.11-embed libseccomp cmocka").split()
SKIPPED_DIRECTORIES = re.compile(r"build.*|\.git|runs|node_modules|__pycache__|corpus")
# What the file-wide word check reads; licence texts and data are not ours to word.
TEXT_FILES = re.compile(r".*\.(c|h|py|sh|md|build|txt|yaml|case)|Makefile|run|LAYERS")
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:home|root|Users|wor[k]|tmp/b)\b")
BARE_TODO = re.compile(r"\b(?:TO[D]O|FIXM[E]|XX[X])\b(?!\([^)]+\):|: \w+)")
CONTROL = ("if", "for", "while", "switch")


class Lint:
    """Collects faults of one tree."""

    def __init__(self, root):
        self.root = root
        self.faults = []

    def fault(self, path, line, what):
        self.faults.append((str(Path(path).relative_to(self.root)), line, what))


# ---- reading C ----

def blank_comments(text):
    """The text with comments, strings and character constants blanked; same lines, same length."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)

    def blank(match):
        keep = match[0][0] in "\"'"
        inner = re.sub(r"[^\n]", " ", match[0])
        return match[0][0] + inner[1:-1] + match[0][0] if keep else inner
    return pattern.sub(blank, text)


def blank_directives(text):
    """The text with preprocessor lines (and their continuations) blanked."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m[0]), text,
                  flags=re.M)


class Tokens:
    """Words and marks of a C text, with their lines."""

    def __init__(self, text):
        self.words, self.lines = [], []
        line = 1
        for match in re.finditer(r"\n|\w+|[^\s\w]", text):
            if match[0] == "\n":
                line += 1
            else:
                self.words.append(match[0])
                self.lines.append(line)

    def at(self, i):
        return self.words[i] if i < len(self.words) else ""

    def skip_brackets(self, i):
        """Index behind the bracket that closes the one at i."""
        depth = 0
        while i < len(self.words):
            depth += (self.words[i] in "([{") - (self.words[i] in ")]}")
            i += 1
            if depth == 0:
                break
        return i


def parameters(tokens, i):
    """How many parameters the list that opens at token i has."""
    end = tokens.skip_brackets(i)
    inside = tokens.words[i + 1:end - 1]
    if inside in ([], ["void"]):
        return 0
    depth, commas = 0, 0
    for word in inside:
        depth += (word in "([{") - (word in ")]}")
        commas += word == "," and depth == 0
    return commas + 1 - (inside[-3:] == [".", ".", "."])


def statement(tokens, i, depth, deepest):
    """Reads one statement from token i, which `depth` control statements enclose; returns the
    index behind it. deepest[0] grows to the (depth, line) of the most deeply nested one."""
    word = tokens.at(i)
    macro = re.match(r"[a-z_]\w*$", word) and tokens.at(i + 1) == "(" \
        and tokens.at(tokens.skip_brackets(i + 1)) == "{"  # a foreach macro
    if word == "{":
        i += 1
        while i < len(tokens.words) and tokens.at(i) != "}":
            i = statement(tokens, i, depth, deepest)
        return i + 1
    if word in ("case", "default"):
        while tokens.at(i) not in (":", ""):
            i += 1
        return i + 1
    if word in CONTROL or word == "do" or macro:
        deepest[0] = max(deepest[0], (depth + 1, tokens.lines[i]), key=lambda d: d[0])
        i = statement(tokens, i + 1 if word == "do" else tokens.skip_brackets(i + 1), depth + 1,
                      deepest)
        if word == "do":  # the while (...); behind the body
            return tokens.skip_brackets(i + 1) + 1
        if word == "if" and tokens.at(i) == "else":
            same = depth if tokens.at(i + 1) == "if" else depth + 1
            return statement(tokens, i + 1, same, deepest)
        return i
    while i < len(tokens.words) and tokens.at(i) != ";":
        if tokens.at(i) == "}":  # a label before the end of a block
            return i
        i = tokens.skip_brackets(i) if tokens.at(i) in "([{" else i + 1
    return i + 1


def functions(tokens):
    """Yields (name, line, parameters, body lines, (nesting, line)) of each definition."""
    i, name_at = 0, None
    while i < len(tokens.words):
        word = tokens.words[i]
        if word == "(":
            if name_at is None and i > 0 and re.match(r"[a-zA-Z_]\w*$", tokens.words[i - 1]):
                name_at = i - 1
            i = tokens.skip_brackets(i)
        elif word == "{" and name_at is not None and tokens.words[i - 1] == ")":
            end, deepest = tokens.skip_brackets(i), [(0, tokens.lines[i])]
            statement(tokens, i, 0, deepest)
            yield (tokens.words[name_at], tokens.lines[name_at], parameters(tokens, name_at + 1),
                   tokens.lines[end - 1] - tokens.lines[i] - 1, deepest[0])
            i, name_at = end, None
        elif word in "{[":
            i = tokens.skip_brackets(i)
        else:
            if word in ";=":
                name_at = None
            i += 1


# ---- checks ----

def check_sizes(lint, path, text):
    limit = MAX_LINES[path.suffix]
    lines = text.count("\n")
    if lines > limit:
        lint.fault(path, lines, f"{lines} lines, at most {limit}: split the file by concept")
    raw = text.split("\n")
    tokens = Tokens(blank_directives(blank_comments(text)))
    for name, line, n_parameters, length, (nesting, nested_at) in functions(tokens):
        if re.search(r"NOLINT\w*\(readability-function-size\): \w", "\n".join(raw[line - 2:line])):
            continue  # a signature that a library prescribes, say
        if length > MAX_FUNCTION:
            lint.fault(path, line, f"{name} has {length} lines, at most {MAX_FUNCTION}")
        if n_parameters > MAX_PARAMETERS:
            lint.fault(path, line, f"{name} has {n_parameters} parameters, at most "
                                   f"{MAX_PARAMETERS}: make an options struct")
        if nesting > MAX_NESTING:
            lint.fault(path, nested_at, f"{name} nests {nesting} deep, at most {MAX_NESTING}")


def check_top(lint, path, text):
    lines = text.split("\n")
    if lines[0] != "// SPDX-License-Identifier: GPL-3.0-or-later":
        lint.fault(path, 1, "the first line is not the SPDX licence line")
    opening = "// " if path.name.endswith("_test.c") else f"// {path.name} - "
    if len(lines) < 2 or not lines[1].startswith(opening):
        lint.fault(path, 2, f'line 2 does not say what the file is: "{opening}..."')


def declarations(text):
    """Yields (first line, last line, text) of what stands at file level in a header, one
    paragraph (a list of them) at a time. Lines count from 0."""
    plain = blank_comments(text).split("\n")
    paragraph, start, depth, code = [], None, 0, ""
    for n, line in enumerate(plain):
        if start is None and not text.split("\n")[n].strip():
            if paragraph:
                yield paragraph
            paragraph = []
        if not line.strip() and start is None:
            continue
        start = n if start is None else start
        code += line + "\n"
        depth += sum(line.count(c) for c in "{(") - sum(line.count(c) for c in "})")
        directive = code.lstrip().startswith("#")
        if (directive and not line.rstrip().endswith("\\")) or \
                (not directive and depth == 0 and line.rstrip().endswith((";", "}"))):
            paragraph.append((start, n, code.strip()))
            start, depth, code = None, 0, ""
    if paragraph:
        yield paragraph


def needs_contract(code):
    """Not: includes, forward declarations, one-line types, what ends in _ (helpers of macros)."""
    if code.startswith("#"):
        macro = re.match(r"#\s*define\s+(\w+)", code)
        return bool(macro) and not macro[1].endswith("_")
    if re.match(r"(struct|union|enum)\s+\w+;$|_Static_assert|[^(]*\w_\(", code):
        return False
    one_line_type = "\n" not in code and re.match(r"(typedef|struct|union|enum)\b[^(]*;$", code)
    return not one_line_type


def check_contracts(lint, path, text):
    """A contract stands in the declaration, or before it in its paragraph (a group's comment)."""
    raw, plain = text.split("\n"), blank_comments(text).split("\n")

    def has_comment(n):
        return raw[n].rstrip() != plain[n].rstrip()
    for paragraph in declarations(text):
        first = paragraph[0][0]
        while first > 0 and raw[first - 1].strip():
            first -= 1
        for start, last, code in paragraph:
            if needs_contract(code) and not any(has_comment(n) for n in range(first, last + 1)):
                name = re.match(r"#\s*define\s+(\w+)", code) or \
                    re.search(r"(\w+)\s*(?:\(|\[|;|\{|=|,)", code)
                lint.fault(path, start + 1, f"{name[1] if name else code} has no contract: say in "
                                           "a comment above it what it promises")


def read_layers(lint):
    layers, path = {}, lint.root / "src" / "LAYERS"
    for n, line in enumerate(path.read_text().split("\n"), 1):
        line = line.split("#")[0]
        if ":" not in line:
            continue
        module, allowed = line.split(":")
        module, allowed = module.strip(), allowed.split()
        for lower in allowed:
            if lower != "*" and lower not in layers:
                lint.fault(path, n, f"{module} stands below {lower}, which it may include")
        layers[module] = set(layers) if "*" in allowed else set(allowed)
    return layers


def check_includes(lint, path, text, layers):
    parts = path.relative_to(lint.root).parts
    own = parts[1] if len(parts) > 2 else ""
    for n, line in enumerate(text.split("\n"), 1):
        include = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not include:
            continue
        target = include[1]
        module, slash, name = target.rpartition("/")
        foreign = slash and module in layers and module != own
        if name.startswith("internal") and (foreign or parts[0] == "tests"):
            lint.fault(path, n, f"{target} is private to its module: use {module or own}.h")
        elif parts[0] != "src" or not foreign:
            continue
        elif module not in layers.get(own, ()):
            lint.fault(path, n, f"{own} may not include {module} (src/LAYERS)")
        elif module != "base" and name != module + ".h":
            lint.fault(path, n, f"{target} is not the public header {module}/{module}.h")


def check_built(lint, path):
    """A source that its folder's meson.build does not name is neither built nor tested."""
    build = path.parent / "meson.build"
    name = path.name.removesuffix("_test.c") if path.name.endswith("_test.c") else path.name
    if path.parent.name == "fuzz":
        name = path.stem
    if build.exists() and not re.search(rf"'{re.escape(name)}'", build.read_text()):
        lint.fault(path, 1, "its folder's meson.build does not name it")


def check_words(lint, path, text):
    for n, line in enumerate(text.split("\n"), 1):
        if MACHINE_PATH.search(line):
            lint.fault(path, n, "a path of somebody's machine")
        if BARE_TODO.search(line):
            lint.fault(path, n, "TO" + "DO without a reason: write TO" + "DO(why): what, or do it")


def check_alone(lint, headers):
    """Each header must compile as the only include of a file."""
    flags = subprocess.run(["pkg-config", "--cflags", *LIBRARIES], capture_output=True, text=True,
                           check=False).stdout.split()
    command = [os.environ.get("CC", "gcc"), "-std=c17", "-D_GNU_SOURCE", "-fsyntax-only", "-x", "c",
               "-I", str(lint.root / "src"), *flags, "-"]

    def compile_one(header):
        return subprocess.run(command, input=f'#include "{header}"\n', capture_output=True,
                              text=True, check=False)
    with ThreadPoolExecutor(2) as pool:
        for header, result in zip(headers, pool.map(compile_one, headers)):
            if result.returncode:
                first = next((s for s in result.stderr.split("\n") if "error:" in s), "")
                lint.fault(header, 1, f"does not compile alone: {first.strip()}")


def check_format(lint, sources):
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not tool:
        sys.exit("lint.py: clang-format is missing: tools/deps.sh lint installs it")
    result = subprocess.run([tool, "--dry-run", "-Werror", *map(str, sources)], cwd=lint.root,
                            capture_output=True, text=True, check=False)
    for path, line in re.findall(r"^(.*?):(\d+):\d+: error: ", result.stderr, re.M):
        lint.fault(path, int(line), "not as clang-format writes it: clang-format-14 -i does")
    if result.returncode and not result.stderr.strip():
        sys.exit("lint.py: clang-format failed without a word")


def walk(root):
    for directory, names, files in os.walk(root):
        names[:] = sorted(n for n in names if not SKIPPED_DIRECTORIES.fullmatch(n))
        yield from (Path(directory) / f for f in sorted(files))


def main():
    arguments = [a for a in sys.argv[1:] if a != "--quick"]
    quick = len(arguments) < len(sys.argv) - 1
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    lint = Lint(root)
    layers = read_layers(lint)
    files = list(walk(root))
    sources = [p for p in files if p.suffix in MAX_LINES
               and p.relative_to(root).parts[0] in ("src", "tests")]
    for path in files:
        if TEXT_FILES.fullmatch(path.name):
            check_words(lint, path, path.read_text(encoding="utf-8", errors="replace"))
    for path in sources:
        text = path.read_text(encoding="utf-8")
        check_top(lint, path, text)
        check_sizes(lint, path, text)
        check_includes(lint, path, text, layers)
        if path.suffix == ".c":
            check_built(lint, path)
        parts = path.relative_to(root).parts
        if parts[0] == "src" and len(parts) > 2 and parts[1] not in layers:
            lint.fault(path, 1, f"module {parts[1]} is not in src/LAYERS")
        public = path.stem == parts[-2] or parts[:2] == ("src", "base")
        if parts[0] == "src" and path.suffix == ".h" and public:
            check_contracts(lint, path, text)
    if not quick:
        check_alone(lint, [p for p in sources if p.suffix == ".h" and p.parts[-3] != "tests"
                           and root / "src" in p.parents])
        check_format(lint, sources)
    lint.faults = sorted(set(lint.faults))
    for path, line, what in lint.faults:
        print(f"{path}:{line}: {what}")
    print(f"lint.py: {len(sources)} sources, {len(lint.faults)} faults", file=sys.stderr)
    return 1 if lint.faults else 0


if __name__ == "__main__":
    sys.exit(main())

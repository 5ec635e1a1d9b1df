# SPDX-License-Identifier: GPL-3.0-or-later
"""The static audit: does a candidate smuggle in answers or chess (Meta-Harness specification 4.2)?

Runs behind check.py, in a child that executes nothing of the candidate. What only a look into the
data set can decide is returned as lookups: the index is not here.
"""
import base64
import binascii
import codecs
import io
import json
import math
import tokenize
import zlib
try:
    from _sha2 import sha256
except ImportError:  # before Python 3.12
    from _sha256 import sha256

ILLUSTRATION = frozenset("e2e4 e7e5 d2d4 d7d5 g1f3 e1g1 e7e8q a7a8q".split())
ENGINES = re.compile(r"stockfish|lc0|leela|syzygy|tablebase|polyglot", re.I)
UCI = re.compile(r"(?<!\w)[a-h][1-8][a-h][1-8][qrbn]?(?!\w)", re.I)
SAN = re.compile(r"(?<!\w)(?:[KQRBN][a-h]?[1-8]?x?[a-h][1-8]|[a-h]x[a-h][1-8]|[a-h][18]=[QRBN]"
                 r"|O-O(?:-O)?)(?!\w)")
RANKS = re.compile(r"[1-8pnbrqkPNBRQK]{1,8}(?:/[1-8pnbrqkPNBRQK]{1,8})+")
DRAWING = re.compile(r"(?:^|\n)(?:[ 1-8|]*(?:[.pnbrqkPNBRQK*\-][ |]*){8}[1-8 ]*(?:\n|$)){8}")
METADATA = re.compile(
    r"lichess\.org/|http|PuzzleId|GameUrl|\bThemes\b|\bRating\b\D{0,9}\d{3,4}\b|\bmh_val\b|"
    r"\b[0-9a-f]{16,}\b|\b(?:mateIn\d|backRankMate|hangingPiece|advancedPawn|attackingF2F7|"
    r"attraction|anastasiaMate|arabianMate|bodenMate|doubleBishopMate|smotheredMate|hookMate|"
    r"dovetailMate|capturingDefender|defensiveMove|discoveredAttack|doubleCheck|exposedKing|"
    r"kingsideAttack|queensideAttack|quietMove|trappedPiece|underPromotion|xRayAttack|zugzwang|"
    r"pawnEndgame|rookEndgame|queenEndgame|knightEndgame|bishopEndgame|queenRookEndgame|"
    r"oneMove|veryLong|masterVsMaster|superGM|enPassant)\b")
WORTH = re.compile(r"\b(?:pawn|knight|bishop|rook|queen)s?\s*(?:=|:|is|are|worth|is worth|are "
                   r"worth|counts?)\s*\d", re.I)
ADVICE = re.compile(r"\b(?:checks?|checkmates?|captures?|threats?|material|king safety|forks?|pins?|"
                    r"skewers?|sacrifices?|tactics?|motifs?|hanging|undefended)\b", re.I)
PROCEDURE = re.compile(r"(?:^|\n)\s*\d[.)][^\n]*", re.M)
RANKING = re.compile(r"\b(?:rank|score|best|strongest|candidate|compare|evaluate)\b", re.I)
SEARCHERS = frozenset("minimax negamax alphabeta alpha_beta quiesce quiescence evaluate attackers "
                      "see".split())
NAMES = {"pawn": "p", "knight": "n", "bishop": "b", "rook": "r", "queen": "q",
         **dict(zip("♙♘♗♖♕♟♞♝♜♛", "pnbrqpnbrq"))}
GLYPHS = frozenset("♔♕♖♗♘♙♚♛♜♝♞♟")
MARK_WORDS = re.compile(r"\b(?:check|mate|capture|checks|mates|captures)\b|O-O", re.I)
MARK_PATTERN = re.compile(r"\[[^\]]*[+#][^\]]*\]|\\[+#]|#")
MUTATORS = frozenset("append update setdefault add clear pop insert extend remove discard popitem "
                     "appendleft".split())
PARTS = {"SYSTEM_PROMPT": "prompts", "USER_PROMPT": "prompts", "format_observation": "formatter",
         "parse_action": "parser", "is_legal_action": "legality", **dict.fromkeys(LIMITS, "budgets")}
LEVELS = ("warn", "quarantine", "reject")
MAX_LOOKUPS, MAX_FOLDED = 1500, 65536


class Report:
    """Findings, once per rule and place, the gravest level kept; and what the index must judge."""

    def __init__(self):
        self.found = {}
        self.lookups = {"ranks": {}, "pairs": {}, "ids": {}}

    def add(self, rule, level, line, message):
        key = (rule, line)
        if key not in self.found or LEVELS.index(level) > LEVELS.index(self.found[key][0]):
            self.found[key] = (level, message)

    def look_up(self, kind, text, line):
        if len(self.lookups[kind]) < MAX_LOOKUPS:
            self.lookups[kind].setdefault(text[:100], line)

    def value(self):
        faults = [{"rule": rule, "level": level, "line": line, "col": 1, "message": message[:300]}
                  for (rule, line), (level, message) in sorted(self.found.items())]
        return {"faults": faults[:MAX_FAULTS],
                "lookups": {k: [f"{n} {text}" for text, n in v.items()]
                            for k, v in self.lookups.items()}}


# ---- constants ----

def fold(node):
    """The value of a literal expression, or None. Containers of literals are literals."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = fold(node.operand)
        return -value if type(value) in (int, float) else None
    if isinstance(node, ast.JoinedStr):
        parts = [fold(v) for v in node.values]
        return "".join(parts) if all(type(p) is str for p in parts) else None
    if isinstance(node, ast.BinOp):
        return fold_operation(node)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        values = [fold(v) for v in node.elts]
        return None if any(v is None for v in values) else values
    if isinstance(node, ast.Dict) and all(node.keys):
        pairs = [(fold(k), fold(v)) for k, v in zip(node.keys, node.values)]
        return None if any(None in p for p in pairs) else Pairs(pairs)
    return fold_call(node)


class Pairs(list):
    """A dict as its pairs: keys need not be hashable here."""


def fold_operation(node):
    a, b = fold(node.left), fold(node.right)
    if isinstance(node.op, ast.Add) and type(a) is type(b) is str:
        return (a + b)[:MAX_FOLDED]
    if isinstance(node.op, ast.Mult) and type(a) is str and type(b) is int:
        return (a * max(0, min(b, MAX_FOLDED // (len(a) + 1))))
    return None


def fold_call(node):
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            and len(node.args) == 1):
        return None
    base, items = fold(node.func.value), fold(node.args[0])
    if node.func.attr == "join" and type(base) is str and type(items) is list and all(
            type(i) is str for i in items):
        return base.join(items)[:MAX_FOLDED]
    return None


class Constant:
    def __init__(self, value, line, kind):
        self.value, self.line, self.kind = value, line, kind  # kind: code, prompt, text

    @property
    def level(self):
        """Of what is a rejection in code."""
        return "reject" if self.kind == "code" else "quarantine"


def prompt_nodes(tree):
    found = set()
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(t, ast.Name) and t.id in PROMPTS.values() for t in targets):
            found.add(id(getattr(node, "value", None)))
    return found


def docstring_nodes(tree):
    return {id(n.body[0].value) for n in ast.walk(tree)
            if isinstance(n, (ast.Module, ast.FunctionDef)) and n.body
            and isinstance(n.body[0], ast.Expr) and isinstance(n.body[0].value, ast.Constant)}


def constants_of(tree, globals_found):
    prompts, docs = prompt_nodes(tree), docstring_nodes(tree)
    stack, out = [(tree, "code")], []
    while stack:
        node, kind = stack.pop()
        kind = "prompt" if id(node) in prompts else "text" if id(node) in docs else kind
        value = fold(node) if isinstance(node, ast.expr) else None
        if value is not None:
            out.append(Constant(value, node.lineno, kind))
            continue
        stack.extend((c, kind) for c in ast.iter_child_nodes(node))
    seen = {repr(c.value) for c in out}
    for name, value in globals_found:
        if isinstance(value, dict):
            value = Pairs(value.items())
        if repr(value) not in seen:
            out.append(Constant(value, 1, "prompt" if name in PROMPTS.values() else "code"))
    return out


def strings_in(value):
    stack = [value]
    while stack:
        v = stack.pop()
        if type(v) is str:
            yield v
        elif isinstance(v, dict):
            stack.extend(v.items())
        elif isinstance(v, (list, tuple)):
            stack.extend(v)


# ---- rules on one text ----

def width(rank):
    return sum(int(c) if c.isdigit() else 1 for c in rank)


def find_positions(text, line, level, report):
    for match in RANKS.finditer(text):
        run, ranks = 0, match[0].split("/")
        for before, rank in zip([""] + ranks, ranks):
            run = run + 1 if width(rank) == 8 else 0
            if run >= 2:
                report.look_up("ranks", f"{before}/{rank}", line)
            if run >= 3:
                report.add("C02", level, line, "part of a position: harnesses hold none")
    if DRAWING.search(text):
        report.add("C02", level, line, "a drawn board: harnesses hold no positions")


def find_moves(text, line, level, report):
    tokens = [t.lower() for t in UCI.findall(text)]
    for a, b in zip(tokens, tokens[1:]):
        report.look_up("pairs", f"{a} {b}", line)
    san = set(SAN.findall(text)) - {"O-O", "O-O-O"}
    if san:
        report.add("C03", level if len(san) >= 4 else "warn", line, "moves in SAN")
    return tokens


def find_metadata(text, line, level, report):
    match = METADATA.search(text)
    if match:
        report.add("C05", level, line, f"{match[0][:40]}: harnesses know nothing of the data set")


def find_ids(text, line, report):
    words = [text] if " " not in text.strip() else []
    for word in words + re.findall(r"\w+", text):
        if 4 <= len(word) <= 16 and (any(c.isdigit() for c in word) or (
                word != word.lower() and word != word.upper() and not word.istitle())):
            report.look_up("ids", word, line)


def decoded(text):
    """What a text may hide."""
    packed = re.sub(r"\s", "", text)
    yield codecs.encode(text, "rot13")
    yield text[::-1]
    for decode in (lambda: base64.b64decode(packed, validate=True), lambda: bytes.fromhex(packed)):
        try:
            data = decode()
            yield data.decode("latin-1")
            yield zlib.decompressobj().decompress(data, MAX_FOLDED).decode("latin-1")
        except (ValueError, binascii.Error, zlib.error):
            pass


def entropy(text):
    counts = {c: text.count(c) for c in set(text)}
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())


def find_hidden(c, text, report):
    opaque = bool(re.search(r"\S{200}", text)) or (
        c.kind == "code" and len(text) >= 120 and entropy(text) > 4.5 and " " not in text.strip())
    if opaque:
        report.add("C10", "quarantine", c.line, "opaque text: what is it for?")
    if len(text) < 16:
        return
    for plain in decoded(text):
        hidden = Report()
        tokens = find_moves(plain, 1, "reject", hidden)
        find_positions(plain, 1, "reject", hidden)
        if any(level == "reject" for level, _ in hidden.found.values()) or (
                len(set(tokens) - ILLUSTRATION) >= 4):
            report.add("C10", "reject", c.line, "encoded chess data")


def audit_texts(constants, report):
    illustration, others, size = {}, {}, 0
    for c in constants:
        for text in strings_in(c.value):
            size += len(text) if c.kind == "code" else 0
            if ENGINES.search(text):
                report.add("C01", "reject" if c.kind == "code" else "warn", c.line, "an engine")
            find_positions(text, c.line, "reject" if c.kind != "text" else "quarantine", report)
            for token in find_moves(text, c.line, "reject", report):
                (illustration if token in ILLUSTRATION else others).setdefault(token, c.line)
            find_ids(text, c.line, report)
            find_metadata(text, c.line, c.level, report)
            find_hidden(c, text, report)
            if GLYPHS & set(text):
                report.add("C07", "warn", c.line, "piece glyphs: for display only")
            if c.kind == "code" and len(text) <= 16 and len(set(text.lower()) & set("pnbrqk")) >= 5 \
                    and set(text) <= set("pnbrqkPNBRQK"):
                report.add("C07", "warn", c.line, "reads the pieces of the board: for display only")
            if c.kind == "prompt":
                audit_prompt(text, c.line, report)
    if len(others) >= 4:
        report.add("C03", "reject", min(others.values()), "four or more moves")
    elif others:
        report.add("C03", "warn", min(others.values()), f"a move: {min(others)}")
    if len(illustration) > 3:
        report.add("C03", "warn", min(illustration.values()), "many example moves")
    if size > 8192:
        report.add("C10", "quarantine", 1, "more than 8 KiB of constants outside the prompts")


def audit_prompt(text, line, report):
    if WORTH.search(text):
        report.add("C06", "reject", line, "values of pieces")
    steps = PROCEDURE.findall(text)
    if len(steps) >= 3 and any(RANKING.search(s) for s in steps):
        report.add("C12", "quarantine", line, "a procedure that ranks moves")
    elif ADVICE.search(text):
        report.add("C12", "warn", line, "advice on chess is a weak mechanism")


# ---- rules on values ----

def piece_of(key):
    key = key.lower() if type(key) is str else ""
    return key if key in tuple("pnbrq") else NAMES.get(key)


def is_number(v):
    return type(v) in (int, float)


def values_pieces(pairs):
    values = {piece_of(k): v for k, v in pairs if piece_of(k) and is_number(v)}
    order = [values[p] for p in "pnbrq" if p in values]
    return len(order) >= 3 and order == sorted(order) and order[0] > 0


def is_proportional(numbers):
    for n in (5, 6):
        if len(numbers) == n and all(is_number(v) for v in numbers) and numbers[0] > 0:
            ratios = [v / numbers[0] / r for v, r in zip(numbers, (1, 3, 3, 5, 9))]
            if all(0.8 <= r <= 1.2 for r in ratios) or all(
                    0.8 <= r / ratios[1] <= 1.2 for r in ratios[1:]) and ratios[1] > 0.8:
                return True
    return False


def is_offsets(value):
    pairs = [tuple(p) for p in value if isinstance(p, list) and len(p) == 2
             and all(type(v) is int for v in p)]
    knight = [p for p in pairs if abs(p[0]) + abs(p[1]) == 3 and 0 not in p]
    unit = {p for p in pairs if max(abs(p[0]), abs(p[1])) == 1}
    return len(set(knight)) >= 8 or len(unit) >= 4


def is_uci(v):
    return type(v) is str and UCI.fullmatch(v) is not None


def audit_values(constants, report):
    for c in constants:
        stack = [c.value]
        while stack:
            v = stack.pop()
            if isinstance(v, Pairs):
                audit_mapping(v, c.line, report)
                stack.extend(x for p in v for x in p)
            elif isinstance(v, list):
                audit_list(v, c.line, report)
                stack.extend(v)
            elif type(v) is int and abs(v) >= 10 ** 11:
                report.add("C10", "quarantine", c.line, "a number of 12 or more digits as data")


def audit_mapping(pairs, line, report):
    if values_pieces(pairs):
        report.add("C06", "reject", line, "values of pieces")
    if any(is_uci(v) for _, v in pairs):
        report.add("C03", "reject", line, "a table of moves")
    if len(pairs) >= 64:
        report.add("C10", "quarantine", line, "a literal of 64 or more elements")


def audit_list(v, line, report):
    if is_proportional(v):
        report.add("C06", "reject", line, "values of pieces")
    if is_offsets(v):
        report.add("C07", "reject", line, "offsets of moving pieces")
    if v and all(isinstance(p, list) and len(p) == 2 and is_uci(p[1]) for p in v):
        report.add("C03", "reject", line, "a table of moves")
    if len(v) >= 64:
        report.add("C10", "quarantine", line, "a literal of 64 or more elements")


# ---- rules on code ----

def names_in(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def audit_functions(tree, report):
    for f in (n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.Lambda))):
        name = getattr(f, "name", "")
        parameters = {a.arg for a in f.args.args + f.args.kwonlyargs}
        if name.lower().strip("_") in SEARCHERS:
            report.add("C07", "reject", f.lineno, f"{name}: harnesses do not search")
        if name and parameters & {"depth", "ply", "plies"} and any(
                isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == name
                for n in ast.walk(f)):
            report.add("C07", "reject", f.lineno, f"{name} searches by depth")
        factors = {n.value for b in ast.walk(f) if isinstance(b, ast.BinOp)
                   and isinstance(b.op, ast.Mult) for n in (b.left, b.right)
                   if isinstance(n, ast.Constant) and type(n.value) is int}
        if {3, 5, 9} <= factors:
            report.add("C06", "reject", f.lineno, "pieces are weighted")


def audit_arithmetic(tree, report):
    chrs = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) \
                and "ord" in names_in(node.left):
            report.add("C11", "reject", node.lineno, "a fingerprint of text")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "chr":
            chrs += len(node.args) == 1 and isinstance(node.args[0], ast.Constant)
            if any(isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Add, ast.Sub))
                   and "ord" in names_in(n) for a in node.args for n in ast.walk(a)):
                report.add("C07", "reject", node.lineno, "squares are computed by adding offsets")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) \
                and node.func.id in ("map", "bytes") and "chr" in names_in(node):
            chrs += sum(len(v) for v in map(fold, node.args) if isinstance(v, list))
    if chrs >= 8:
        report.add("C10", "quarantine", 1, "text made of character numbers")


def code_strings(tree):
    """String constants of code, with the calls they are arguments of."""
    skip = docstring_nodes(tree) | prompt_nodes(tree)
    stack = [(tree, "")]
    while stack:
        node, call = stack.pop()
        if id(node) in skip:
            continue
        if isinstance(node, ast.Constant) and type(node.value) is str:
            yield node, call
        for child in ast.iter_child_nodes(node):
            inside = call
            if isinstance(node, ast.Call):
                f = node.func
                inside = f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "")
            stack.append((child, inside))


def audit_marks(tree, report):
    regex = {"compile", "match", "fullmatch", "search", "findall", "finditer", "sub", "subn"}
    for node, call in code_strings(tree):
        text = node.value
        bare = 0 < len(text) <= 5 and set(text) <= set("+#x=") and text != "="
        if bare or MARK_WORDS.search(text) or (call in regex and MARK_PATTERN.search(text)):
            report.add("C08", "warn", node.lineno, "looks at marks of moves: see R08 and R09")


def reachable(tree, root):
    """Names used by a function and by all that it may call or name."""
    defs = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            defs.update((t.id, node.value) for t in node.targets if isinstance(t, ast.Name))
    seen, todo = set(), [root]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(names_in(defs[name]) if name in defs else ())
    return seen


def audit_choice(tree, report):
    dice = {"random"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            dice.update(a.asname or a.name for a in node.names if a.name == "random")
        elif isinstance(node, ast.ImportFrom) and node.module == "random":
            dice.update(a.asname or a.name for a in node.names)
    for name, level in (("parse_action", "reject"), ("is_legal_action", "reject"),
                        ("propose_action", "reject"), ("format_observation", "quarantine")):
        if dice & reachable(tree, name):
            report.add("C09", level, 1, f"{name} depends on chance")
    f = next((n for n in reversed(tree.body) if isinstance(n, ast.FunctionDef)
              and n.name == "propose_action"), None)
    body = f.body[1:] if f and id(getattr(f.body[0], "value", None)) in docstring_nodes(tree) \
        else f.body if f else []
    plain = len(body) == 1 and isinstance(body[0], ast.Return) and fold(body[0].value) == "" \
        if body and getattr(body[0], "value", None) else False
    if f and not plain:
        report.add("C09", "warn", f.lineno, 'propose_action should be only: return ""')


def audit_state(tree, report):
    held = {t.id for n in tree.body if isinstance(n, (ast.Assign, ast.AnnAssign))
            for t in (n.targets if isinstance(n, ast.Assign) else [n.target])
            if isinstance(t, ast.Name) and isinstance(n.value, (
                ast.List, ast.Dict, ast.Set, ast.Call, ast.ListComp, ast.DictComp))}
    for f in (n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.Lambda))):
        for node in ast.walk(f):
            base = None
            if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                base = node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) \
                    and node.func.attr in MUTATORS:
                base = node.func.value
            if isinstance(base, ast.Name) and base.id in held:
                report.add("C14", "warn", node.lineno, f"{base.id} keeps state between calls")


def audit_identifiers(tree, report):
    for node in ast.walk(tree):
        for name in list(identifiers(node)) + [getattr(node, "attr", "")]:
            if name and ENGINES.search(name):
                report.add("C01", "reject", getattr(node, "lineno", 1), f"{name}: an engine")


def audit_fingerprints(tree, report):
    """Constants that are parts of positions, compared with anything."""
    lines = {line for rule, line in report.found if rule == "C02"}
    known = {t.id for n in tree.body if isinstance(n, ast.Assign) and n.lineno in lines
             for t in n.targets if isinstance(t, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Compare, ast.Subscript)) and (
                known & names_in(node) or (isinstance(node, ast.Compare) and node.lineno in lines)):
            report.add("C11", "reject", node.lineno, "positions are told apart by constants")


def audit_comments(source, report):
    inside = Report()  # its lookups are dropped: a comment decides nothing, it only looks bad
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                find_positions(token.string, token.start[0], "quarantine", inside)
    except (tokenize.TokenError, SyntaxError, IndentationError):
        pass
    for (rule, line), (level, message) in inside.found.items():
        report.add(rule, level, line, message)


# ---- against the parent ----

def parts_of(tree):
    out = {}
    for node in tree.body:
        names = [node.name] if isinstance(node, ast.FunctionDef) else [
            t.id for t in getattr(node, "targets", [getattr(node, "target", None)])
            if isinstance(t, ast.Name)]
        for part in {PARTS.get(n, "rest") for n in names} or {"rest"}:
            out.setdefault(part, []).append(ast.dump(node))
    return out


def letters(dumps):
    return re.sub(r"[\W_]|(?<=\\)n", "", "".join(dumps)).lower()


def audit_difference(tree, parent, report):
    old, new = parts_of(parse(parent)), parts_of(tree)
    changed = {p for p in old.keys() | new.keys() if old.get(p) != new.get(p)}
    if len(changed - {"rest"}) > 1:
        report.add("C13", "warn", 1, "W-bundle: several mechanisms change at once")
    if changed == {"budgets"} or (changed == {"prompts"} and letters(
            old.get("prompts", [])) == letters(new.get("prompts", []))):
        report.add("C13", "warn", 1, "W-weak: only numbers, punctuation or case change")


def shape(tree):
    """A digest of what the tree does: without docstrings and positions."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef)) and ast.get_docstring(node, False):
            node.body = node.body[1:] or [ast.Pass()]
    return sha256(ast.dump(tree).encode()).hexdigest()


def without_prompts(tree):
    """The tree with the two prompts masked, whether their assignment is annotated or not."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if (isinstance(node, (ast.Assign, ast.AnnAssign)) and len(targets) == 1
                and isinstance(targets[0], ast.Name) and targets[0].id in PROMPTS.values()
                and node.value):
            node.value = ast.Constant("")
    return tree


def audit(source, parent, globals_json):
    """The static findings of a source that the check has accepted."""
    report = Report()
    tree = parse(source)
    constants = constants_of(tree, json.loads(globals_json))
    audit_texts(constants, report)
    audit_values(constants, report)
    audit_functions(tree, report)
    audit_arithmetic(tree, report)
    audit_marks(tree, report)
    audit_choice(tree, report)
    audit_state(tree, report)
    audit_identifiers(tree, report)
    audit_comments(source, report)
    audit_fingerprints(tree, report)
    if parent:
        audit_difference(tree, parent, report)
    return {**report.value(), "shape": shape(parse(source)),
            "frame": shape(without_prompts(parse(source)))}

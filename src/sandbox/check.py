# SPDX-License-Identifier: GPL-3.0-or-later
"""The static check of candidate sources (Meta-Harness specification 3.2).

It runs in a child of its own, which never executes what it checks. It works on the tree, never on
text: there identifiers stand NFKC-normalised, so look-alikes are caught. The tree is walked with a
stack, because its depth is the candidate's choice.
"""
import ast
import re
import string

MAX_NODES, MAX_DEPTH, MAX_BLOCKS = 20000, 80, 20
MAX_TEXT, MAX_INT, MAX_FAULTS = 16384, 2 ** 63, 200
FLAGS = ast.PyCF_ONLY_AST  # of text: no cookie is obeyed, and NUL is refused

NODES = frozenset("""
Module FunctionDef Lambda arguments arg Return Assign AugAssign AnnAssign For While If Break
Continue Pass Try ExceptHandler Raise Assert Expr Import ImportFrom alias Delete BoolOp BinOp
UnaryOp Compare IfExp NamedExpr Dict Set List Tuple Starred ListComp SetComp DictComp GeneratorExp
comprehension Call keyword Attribute Subscript Slice Name Constant JoinedStr FormattedValue
Load Store Del And Or Add Sub Mult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv
Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn
""".split())
TYPE_NODES = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List,
              ast.expr_context, ast.BitOr)
BLOCKS = (ast.FunctionDef, ast.Lambda, ast.For, ast.While, ast.If, ast.Try, ast.With,
          ast.ClassDef, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Match)

BUILTINS = frozenset("""
abs all any bool chr dict divmod enumerate filter float frozenset int isinstance iter len list map
max min next ord pow print range repr reversed round set slice sorted str sum tuple zip
Exception ArithmeticError AssertionError AttributeError IndexError KeyError LookupError
OverflowError RecursionError RuntimeError StopIteration TypeError UnicodeError ValueError
ZeroDivisionError
""".split())
RESERVED = frozenset("""
eval exec compile open input help breakpoint getattr setattr delattr hasattr vars dir globals
locals type object super classmethod staticmethod property memoryview bytearray bytes id hash
callable format issubclass exit quit copyright credits license BaseException SystemExit
KeyboardInterrupt GeneratorExit aiter anext ascii bin hex oct complex
""".split())
MEMBERS = {name: frozenset(members.split()) for name, members in {
    "math": "ceil floor trunc sqrt log log2 log10 exp fabs gcd lcm isclose isfinite isnan isinf "
            "inf nan prod fsum hypot copysign",
    "re": "compile match fullmatch search findall finditer sub subn split escape error I "
          "IGNORECASE M MULTILINE S DOTALL X VERBOSE A ASCII U UNICODE",
    "random": "Random choice choices shuffle sample randint randrange random uniform seed",
    "collections": "Counter OrderedDict defaultdict deque",
    "itertools": "chain islice groupby zip_longest accumulate combinations permutations product "
                 "repeat count cycle takewhile dropwhile filterfalse starmap tee pairwise compress",
    "statistics": "mean median mode multimode fmean pstdev stdev variance pvariance",
}.items()}
PREBOUND = ("math", "random", "re")
ATTRIBUTES = frozenset().union(*MEMBERS.values(), """
capitalize casefold center count endswith expandtabs find index isalnum isalpha isascii isdecimal
isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip
maketrans partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip
split splitlines startswith strip swapcase title translate upper zfill
append clear copy extend insert pop remove reverse sort
get items keys values popitem setdefault update fromkeys
add discard union intersection difference symmetric_difference issubset issuperset isdisjoint
intersection_update difference_update symmetric_difference_update
group groups groupdict start end span string lastgroup lastindex pos endpos expand pattern flags
groupindex
most_common elements subtract total appendleft popleft extendleft rotate maxlen move_to_end
from_iterable bit_length is_integer
""".split())
REQUIRED = {"propose_action": 1, "is_legal_action": 2}
PROMPTS = {"system": "SYSTEM_PROMPT", "user": "USER_PROMPT"}
LIMITS = ("FORMAT_RETRY_BUDGET", "ILLEGAL_MOVE_RETRY_BUDGET", "MAX_TURNS")
BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
FIELD = re.compile(r"\d{0,3}|[^\W\d]\w{0,63}")


class Faults:
    """What was found, once per place and rule."""

    def __init__(self):
        self.found = {}

    def add(self, rule, node, message):
        line, col = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
        self.found.setdefault((line, col, rule, message), None)

    def list(self):
        return [{"rule": rule, "line": line, "col": col, "message": message[:300]}
                for line, col, rule, message in sorted(self.found)[:MAX_FAULTS]]


def parse(source):
    """The tree; any failure of the parser is one class of exception."""
    try:
        return compile(source, "<harness>", "exec", FLAGS, dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError, OverflowError) as e:
        line = getattr(e, "lineno", None)
        raise SyntaxError(str(getattr(e, "msg", e))[:200] or type(e).__name__,
                          ("<harness>", line if type(line) is int else 1, 1, "")) from None


def children(node):
    """The child nodes, an else-if not as one level deeper."""
    for child in ast.iter_child_nodes(node):
        chained = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        yield child, chained


def check_shape(tree, faults):
    """S04. False: too large to be looked at any further."""
    stack, nodes = [(tree, 1, 0)], 0
    while stack:
        node, depth, blocks = stack.pop()
        nodes += 1
        if depth > MAX_DEPTH or blocks > MAX_BLOCKS or nodes > MAX_NODES:
            faults.add("S04", node, f"at most {MAX_NODES} nodes, {MAX_DEPTH} levels, "
                                    f"{MAX_BLOCKS} nested blocks")
            return False
        for child, chained in children(node):
            deeper = isinstance(child, BLOCKS) and not chained
            stack.append((child, depth + (not chained), blocks + deeper))
    return True


def annotations(node):
    """Annotation expressions that hang on this node."""
    if isinstance(node, ast.arg):
        return [node.annotation] if node.annotation else []
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [node.returns] if node.returns else []
    return [node.annotation] if isinstance(node, ast.AnnAssign) else []


def check_annotation(tree, faults):
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            faults.add("S40", node, f"attribute {node.attr}: names with _ in front are private")
        if not isinstance(node, TYPE_NODES) and not (
                isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)):
            faults.add("S12", node, "an annotation may hold names, attributes, subscripts, "
                                    "constants, tuples, lists and |")


def real_nodes(tree):
    """All nodes but those inside annotations."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        notes = annotations(node)
        stack.extend(c for c in ast.iter_child_nodes(node) if not any(c is n for n in notes))


def identifiers(node):
    """Names that this node itself spells, but for attributes."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        yield node.name
    elif isinstance(node, (ast.keyword, ast.ExceptHandler)):
        name = node.arg if isinstance(node, ast.keyword) else node.name
        if name:
            yield name
    elif isinstance(node, ast.alias):
        yield from node.name.split(".")
        if node.asname:
            yield node.asname
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from node.names


def bound_names(nodes):
    bound = set()
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, (ast.arg, ast.FunctionDef, ast.ExceptHandler)):
            bound.update(identifiers(node))
    return bound


def check_names(nodes, faults):
    bound = bound_names(nodes) | BUILTINS | RESERVED | set(PREBOUND)
    for node in nodes:
        future = isinstance(node, ast.alias) and node.name == "annotations"
        for name in identifiers(node):
            if name == "__name__":
                faults.add("S30", node, "__name__: a harness is never run as a program; remove it")
            elif name.startswith("__") or (name in RESERVED and not future):
                faults.add("S30", node, f"{name} is reserved: use another name, or do without")
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and not (
                node.id in bound or node.id.startswith("__")):
            faults.add("S31", node, f"{node.id} is bound nowhere and is no allowed builtin")


def check_imports(node, faults):
    allowed = ", ".join(sorted(MEMBERS))
    if isinstance(node, ast.Import):
        for name in (a.name for a in node.names):
            if name not in MEMBERS:
                hint = "; annotations are ignored, so none is needed" if name == "typing" else ""
                faults.add("S20", node, f"import {name}: only {allowed}{hint}")
    elif isinstance(node, ast.ImportFrom):
        future = node.module == "__future__" and node.level == 0
        if not future and (node.level or node.module not in MEMBERS):
            hint = "; annotations are ignored, so none is needed" if node.module == "typing" else ""
            faults.add("S20", node, f"import from {node.module or '.'}: only {allowed}{hint}")
        members = {"annotations"} if future else MEMBERS.get(node.module, ())
        for name in (a.name for a in node.names):
            if name not in members:
                faults.add("S20" if future else "S21", node,
                           f"{name} of {node.module or '.'}: only {' '.join(sorted(members))}"[:300])


def good_format(text):
    """Whether a format string has plain fields only."""
    try:
        fields = list(string.Formatter().parse(text))
    except ValueError:
        return False
    return all(FIELD.fullmatch(name) and not re.search(r"[{}]|\d{5}", spec)
               for _, name, spec, _ in fields if name is not None)


def check_attributes(nodes, faults):
    direct = {id(n.func) for n in nodes if isinstance(n, ast.Call)
              and isinstance(n.func, ast.Attribute) and n.func.attr == "format"
              and isinstance(n.func.value, ast.Constant) and type(n.func.value.value) is str
              and good_format(n.func.value.value)}
    for node in nodes:
        if not isinstance(node, ast.Attribute):
            continue
        if node.attr.startswith("_"):
            faults.add("S40", node, f"attribute {node.attr}: names with _ in front are private")
        if node.attr == "format":
            if id(node) not in direct:
                faults.add("S50", node, "format only as a call on a literal with plain fields: "
                                        "use an f-string")
        elif node.attr not in ATTRIBUTES:
            faults.add("S41", node, f"attribute {node.attr} is not on the list of public methods")
        if not isinstance(node.ctx, ast.Load):
            faults.add("S42", node, f"attribute {node.attr} may be read only: keep values in "
                                    "names, lists or dicts")


def check_constant(node, faults):
    value = node.value
    if isinstance(value, (bytes, complex)):
        faults.add("S05", node, f"{type(value).__name__} literal: use text, int or float")
    elif type(value) is int and value >= MAX_INT:
        faults.add("S05", node, "integer literals are under 2**63")
    elif isinstance(value, str):
        if len(value) > MAX_TEXT:
            faults.add("S05", node, f"text literals have at most {MAX_TEXT} characters")
        if BIDI.search(value):
            faults.add("W-bidi", node, "text with marks that turn the direction of writing")


def check_nodes(nodes, faults):
    for node in nodes:
        name = type(node).__name__
        if name not in NODES:
            faults.add("S10", node, f"{name} is not part of the language of harnesses")
        for d in getattr(node, "decorator_list", ()):
            faults.add("S11", d, "decorators are calls: call the function instead")
        if isinstance(node, ast.Constant):
            check_constant(node, faults)
        check_imports(node, faults)
        for note in annotations(node):
            check_annotation(note, faults)


def arity(f):
    """(least, most) positional arguments; most None: any number."""
    a = f.args
    given = len(a.posonlyargs) + len(a.args)
    return given - len(a.defaults), None if a.vararg else given


def check_formatter(f, faults):
    names = {a.arg for a in f.args.args + f.args.kwonlyargs}
    if f.args.kwarg:
        return
    if {"turn_count", "side_to_move", "last_opponent_move", "max_turns"} <= names:
        faults.add("W-kwargs", f, "format_observation should take **kwargs: later versions add "
                                  "keywords")
    else:
        faults.add("S61", f, "format_observation must take (observation, **kwargs)")


def check_contract(tree, faults):
    defs = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    for name, n in REQUIRED.items():
        f = defs.get(name)
        if not f:
            faults.add("S60", tree, f"{name} is missing: a plain def at the top level")
            continue
        least, most = arity(f)
        required = sum(d is None for d in f.args.kw_defaults)
        if least > n or (most is not None and most < n) or required:
            faults.add("S61", f, f"{name} is called with {n} positional argument{'s'[:n > 1]}")
    if "format_observation" in defs:
        check_formatter(defs["format_observation"], faults)
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        names = {t.id for t in targets if isinstance(t, ast.Name)} & set(LIMITS)
        if names and not (isinstance(value, ast.Constant) and type(value.value) is int):
            faults.add("W-int-type", node, f"{min(names)} should be a plain integer literal")


def check_cookie(source, faults):
    for line in re.split("\r\n|\r|\n", source, maxsplit=2)[:2]:
        m = COOKIE.match(line)
        if m and m[1].lower().replace("_", "-") not in ("utf-8", "utf8"):
            faults.add("S02", None, f"coding cookie {m[1]}: sources are UTF-8")


def check(source):
    """All faults of a source, sorted. Rules that begin with W are warnings."""
    faults = Faults()
    check_cookie(source, faults)
    try:
        tree = parse(source)
    except SyntaxError as e:
        faults.found[(e.lineno or 1, 1, "S03", f"not Python: {e.msg}")] = None
        return faults.list(), None
    if not check_shape(tree, faults):
        return faults.list(), None
    nodes = list(real_nodes(tree))
    check_nodes(nodes, faults)
    check_names(nodes, faults)
    check_attributes(nodes, faults)
    check_contract(tree, faults)
    return faults.list(), tree


class Strip(ast.NodeTransformer):
    """Removes annotations, so that nothing in them ever runs, and __future__ imports."""

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_FunctionDef(self, node):
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        new = ast.Assign([node.target], node.value) if node.value else ast.Pass()
        return ast.copy_location(new, node)

    def visit_ImportFrom(self, node):
        return ast.copy_location(ast.Pass(), node) if node.module == "__future__" else node


def executable(source):
    """The code of a checked source, of the same text, its annotations removed; and its tree."""
    tree = Strip().visit(parse(source))
    return compile(tree, "<harness>", "exec", 0, dont_inherit=True), tree


def binds(node, name):
    return name in (getattr(node, "name", None), getattr(node, "asname", None)) or (
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))


def returns_its_argument(tree, name):
    """Whether a function is `def name(x, **rest): return x` and bound nowhere else, so that nobody
    needs to call it."""
    defs = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
    if len(defs) != 1:
        return False
    args, body = defs[0].args, defs[0].body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    plain = args.posonlyargs + args.args
    if (len(plain) != 1 or args.vararg or args.kwonlyargs or not args.kwarg or len(body) != 1
            or not isinstance(body[0], ast.Return) or not isinstance(body[0].value, ast.Name)
            or body[0].value.id != plain[0].arg):
        return False
    return sum(binds(node, name) for node in ast.walk(tree)) == 1

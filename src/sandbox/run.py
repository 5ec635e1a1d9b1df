# SPDX-License-Identifier: GPL-3.0-or-later
"""The inside of a sandboxed child: one request in, one reply out (Meta-Harness specification 3.3).

The template executes this file once, behind check.py in the same namespace, and forks: so whatever
stands here costs a child nothing. Candidates get reduced builtins and facades of modules; still,
nothing relies on that: they run in a process that can do nothing but compute.
"""
import builtins
import collections
import gc
import heapq  # noqa: F401  collections wants it late
import itertools
import json
import marshal
import math
import random
import statistics
import sys
import types
import unicodedata  # noqa: F401  the parser wants it for identifiers beyond ASCII
import warnings

MAX_RESULT, MAX_PROMPT, MAX_MESSAGE, RECURSION, MAX_CODE = 65536, 16384, 500, 300, 200000
SURROGATE = re.compile("[\ud800-\udfff]")

READ, WRITE = json.JSONDecoder().scan_once, json.JSONEncoder(ensure_ascii=False).encode
QUOTE = json.encoder.encode_basestring
generator = random.Random(0)
call_seed, seeded = 0, False
candidate = {}


def quiet_print(*values, **options):
    """Prints nowhere."""


def seeded_random(seed=None):
    return random.Random(call_seed if seed is None else seed)


def reseed(seed=None):
    global seeded
    seeded = True
    generator.seed(call_seed if seed is None else seed)


def seeded_member(name):
    """A method of the generator, which is seeded when it is first used in a call: seeding is dear."""
    method = getattr(generator, name)

    def draw(*args, **options):
        if not seeded:
            reseed()
        return method(*args, **options)
    return draw


def make_facade(name, module):
    members = {m: getattr(module, m) for m in MEMBERS[name]}
    if name == "random":
        members = {m: seeded_member(m) for m in members if m not in ("Random", "seed")}
        members.update(Random=seeded_random, seed=reseed)
    return types.SimpleNamespace(**members)


FACADES = {name: make_facade(name, module) for name, module in {
    "math": math, "re": re, "random": random, "collections": collections,
    "itertools": itertools, "statistics": statistics}.items()}


def import_facade(name, globals=None, locals=None, fromlist=(), level=0):
    if level or name not in FACADES:
        raise RuntimeError(f"no module {name}")
    return FACADES[name]


def fresh_globals():
    allowed = {name: getattr(builtins, name) for name in BUILTINS}
    allowed.update(print=quiet_print, __import__=import_facade)
    names = {name: FACADES[name] for name in PREBOUND}
    names.update(__builtins__=allowed, __name__="harness")
    return names


def clean(text):
    """Text that UTF-8 and JSON can bear. Other controls are taken out by who reads it."""
    if "\0" in text:
        text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = SURROGATE.sub("\ufffd", text)
    return text


def describe(e):
    """An exception as plain values. Never a traceback with source: that opens files."""
    try:
        message = clean(str(e)[:MAX_MESSAGE])
    except Exception:
        message = ""
    line, tb = 0, e.__traceback__
    while tb:
        if tb.tb_frame.f_code.co_filename == "<harness>":
            line = tb.tb_lineno
        tb = tb.tb_next
    return {"class": type(e).__name__, "message": message, "line": line}


def result(value):
    if type(value) is str:
        if len(value) > MAX_RESULT or len(value := clean(value)) * 4 > MAX_RESULT < len(
                value.encode()):
            raise OverflowError(f"a result has at most {MAX_RESULT} bytes")
        return "str", value
    if type(value) is bool:
        return "bool", value
    if type(value) is int and -2 ** 63 <= value < 2 ** 63:
        return "int", value
    return ("none", None) if value is None else ("other", None)


def limit(name, faults):
    """An integer of the contract, coerced as the reference does; None: its default."""
    value = candidate.get(name)
    if value is None:
        return None
    try:
        return min(max(0, int(value)), 2 ** 31)
    except OverflowError:
        faults.append({"rule": "S70", "line": 1, "col": 1,
                       "message": f"{name} is not finite: write a small integer"})
    except (TypeError, ValueError):
        pass
    return None


def contract():
    faults = []
    out = {"formats": callable(candidate.get("format_observation")),
           "parses": callable(candidate.get("parse_action"))}
    for key, name in PROMPTS.items():
        text = candidate.get(name)
        out[key] = clean(text) if type(text) is str and text else None
        if out[key] and len(out[key]) > MAX_PROMPT:
            faults.append({"rule": "S05", "line": 1, "col": 1,
                           "message": f"{name} has more than {MAX_PROMPT} characters"})
            out[key] = None
    for key, name in (("format_retries", LIMITS[0]), ("illegal_retries", LIMITS[1]),
                      ("max_turns", LIMITS[2])):
        value = limit(name, faults)
        if value is not None:
            out[key] = value
    for name in REQUIRED:
        if not callable(candidate.get(name)):
            faults.append({"rule": "S60", "line": 1, "col": 1,
                           "message": f"{name} is no function once loaded"})
    out["faults"] = faults
    return out


def examine(source):
    """The faults of a source; where there are none, also what saves later children the work."""
    faults = check(source)[0]
    out = {"faults": faults}
    if all(f["rule"].startswith("W") for f in faults):
        code, tree = executable(source)
        out["code"] = marshal.dumps(code).hex()
        if len(out["code"]) > MAX_CODE:
            del out["code"]
        out["unchanged"] = returns_its_argument(tree, "format_observation")
    return "other", out


def load(request):
    """From a source, or from the code that a child made of it which executed nothing."""
    if "code" in request:
        code = marshal.loads(bytes.fromhex(request["code"]))
    else:
        code = executable(request["source"])[0]
    sys.setrecursionlimit(RECURSION)
    candidate.update(fresh_globals())
    exec(code, candidate)
    return "other", contract()


def load_raw(source):
    """Without any protection of this file, for tests of what the process itself holds."""
    candidate.update(__name__="harness", random=random, re=re, math=math, itertools=itertools)
    exec(compile(source, "<harness>", "exec", 0, dont_inherit=True), candidate)
    return "other", contract()


def plain_value(value, budget):
    """A value of a global as JSON can hold it, or None: no data."""
    if type(value) in (str, int, float, bool):
        return value if type(value) is not float or math.isfinite(value) else None
    if budget == 0:
        return None
    if type(value) in (dict, collections.OrderedDict, collections.Counter,
                       collections.defaultdict):
        return {str(k): plain_value(v, budget - 1) for k, v in itertools.islice(value.items(), 500)}
    if type(value) in (list, tuple, set, frozenset, collections.deque):
        return [plain_value(v, budget - 1) for v in itertools.islice(value, 500)]
    return None


def globals_of_candidate():
    """What stands in the globals after loading: a table built by code is data too."""
    found, size = [], 0
    for name, value in candidate.items():
        text = json.dumps([name, plain_value(value, 4)]) if not name.startswith("__") else ""
        size += len(text)
        if text and size < MAX_RESULT - 1000:
            found.append(text)
    return "str", "[" + ",".join(found) + "]"


def reply(number, kind, value):
    rest = f'"type":"{kind}","value":{QUOTE(value) if kind == "str" else WRITE(value)}'
    return f'{{"v":1,"id":{number},"ok":true,{rest}}}'.encode()


def failure(number, e):
    return f'{{"v":1,"id":{number},"ok":false,"error":{WRITE(describe(e))}}}'.encode()


def settle(value, as_text):
    """What a call returned, where it is none of the plain cases."""
    try:
        return reply(0, *result(str(value) if as_text else value))
    except Exception as e:
        return failure(0, e)


def fail(e):
    return failure(0, e)


def answer(request):
    op = request["op"]
    if op == "check":
        return examine(request["source"])
    if op == "audit":
        return "other", audit(request["source"], request["parent"], request["globals"])
    if op == "globals":
        return globals_of_candidate()
    if op == "load":
        return load(request)
    if op == "raw" and RAW:
        return load_raw(request["source"])
    raise RuntimeError(f"no such op {op}")


def handle(frame):
    """Bytes of a request to bytes of its reply; calls do not come here. SystemExit and its like
    end the child."""
    request = READ(frame.decode(), 0)[0]
    try:
        return reply(request["id"], *answer(request))
    except Exception as e:
        return failure(request["id"], e)


def close_doors():
    """The last act of the template's set-up."""
    warnings.simplefilter("ignore")
    if RAW:
        for name in ("ctypes", "mmap", "os", "resource", "signal", "socket"):
            __import__(name)
    check("def propose_action(b):\n    return ''\n")  # what is made on first use is made here
    audit("X = 'warm' * 9\n", "", "[]")
    list(decoded("warm"))
    WRITE(READ('{"a": "é"}', 0))
    # Most candidates keep the baseline's patterns, which are then compiled already.
    baseline = fresh_globals()
    exec(marshal.loads(bytes.fromhex(examine(H0)[1]["code"])), baseline)
    baseline["is_legal_action"]("- [e2e4] ", baseline["parse_action"]("<move>e2e4</move>"))
    sys.stdin = sys.stdout = sys.stderr = None
    sys.path.clear()
    sys.path_hooks.clear()
    sys.meta_path.clear()
    gc.collect()
    gc.freeze()

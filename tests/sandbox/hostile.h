// SPDX-License-Identifier: GPL-3.0-or-later
// hostile.h - the snippets of the Meta-Harness specification, 3.6, and the rules that must name
// them.
#pragma once

static const struct hostile {
    const char *id, *snippet, *rules;
} hostile[] = {
    { "H01", "X = ().__class__.__base__.__subclasses__()", "S40" },
    { "H02",
      "match 0:\n"
      " case int(__class__=K): X = K",
      "S10" },
    { "H03",
      "import collections.abc as A\n"
      "match int:\n"
      " case A.Callable(__base__=B): X = B",
      "S10 S20" },
    { "H04", "X = '{0.__class__.__mro__}'.format(0)", "S50" },
    { "H05",
      "f = '{0.__class__}'.format\n"
      "X = list(map(f, [0]))",
      "S50" },
    { "H06", "X = '{a.__class__}'.format_map({'a': 0})", "S41" },
    { "H07", "X = '{:{w}}'.format(1, w=10**9)", "S50" },
    { "H08",
      "def g():\n"
      " yield 1\n"
      "it = g()\n"
      "X = it.gi_frame.f_builtins",
      "S10 S41" },
    { "H09",
      "def parse_action(response):\n"
      " def g():\n"
      "  yield it.gi_frame.f_back.f_back\n"
      " it = g()\n"
      " f = next(it)\n"
      " while f:\n"
      "  if 'example' in f.f_locals:\n"
      "   return f.f_locals['example']\n"
      "  f = f.f_back\n"
      " return '__no_move__'",
      "S10 S41" },
    { "H10",
      "async def c():\n"
      " pass\n"
      "X = c().cr_frame.f_globals",
      "S10 S41" },
    { "H11",
      "async def c():\n"
      " yield 1\n"
      "X = c().ag_frame",
      "S10 S41" },
    { "H12",
      "try:\n"
      " 1/0\n"
      "except Exception as e:\n"
      " X = e.__traceback__.tb_frame",
      "S40 S41" },
    { "H13",
      "try:\n"
      " [].nope\n"
      "except AttributeError as e:\n"
      " X = e.obj",
      "S41" },
    { "H14", "X = random._os.getpid()", "S40 S41" },
    { "H15", "X = random._os.open('/etc/passwd', 0)", "S40 S41" },
    { "H16",
      "from random import _os as o\n"
      "X = o.fork()",
      "S21 S41" },
    { "H17",
      "import collections\n"
      "X = collections._sys.modules",
      "S40 S41" },
    { "H18",
      "import statistics\n"
      "X = statistics.sys.modules['os']",
      "S41" },
    { "H19", "from statistics import sys", "S21" },
    { "H20", "X = re.enum.bltns.eval('1+1')", "S41" },
    { "H21", "X = re.enum.bltns.ｅval('1')", "S41" },
    { "H22",
      "import collections.abc\n"
      "X = collections.abc.sys.modules",
      "S20 S41" },
    { "H23",
      "from re import __builtins__ as b\n"
      "X = b['eval']('2+2')",
      "S21 S30" },
    { "H24",
      "from re import __loader__ as L\n"
      "X = L.load_module",
      "S21 S41" },
    { "H25", "from re import __dict__ as d", "S21" },
    { "H26", "X = __builtins__['__import__']", "S30" },
    { "H27",
      "f = __import__\n"
      "X = f('re')",
      "S30" },
    { "H28", "X = getattr(0, 're' + 'al')", "S30" },
    { "H29", "X = type(0)", "S30" },
    { "H30", "X = str.mro()[1]", "S41" },
    { "H31",
      "@random._os.path.basename\n"
      "@str\n"
      "def f():\n"
      " return 1",
      "S11 S40" },
    { "H32",
      "@print\n"
      "class K:\n"
      " pass",
      "S10 S11" },
    { "H33",
      "class K:\n"
      " __getitem__ = len",
      "S10" },
    { "H34",
      "def f(a: random._os.getpid()):\n"
      " return a",
      "S12 S40" },
    { "H35",
      "f = lambda a=random._os: a\n"
      "X = f().getpid()",
      "S40 S41" },
    { "H36", "X = f'{random._os.getpid()}'", "S40 S41" },
    { "H37", "X = f'{(0).__class__}'", "S40" },
    { "H38", "X = (0).__ｃlass__", "S40" },
    { "H39", "X = [y := random, y._os]", "S40" },
    { "H40",
      "with random._os.scandir('/') as f:\n"
      " X = list(f)",
      "S10 S40" },
    { "H41",
      "try:\n"
      " pass\n"
      "except* ValueError:\n"
      " pass",
      "S10" },
    { "H42",
      "N = 0\n"
      "def f():\n"
      " global N\n"
      " N += 1",
      "S10" },
    { "H43", "re.fullmatch = lambda *a: True", "S42" },
    { "H44",
      "for re.I in [1]:\n"
      " pass",
      "S42" },
    { "H45", "del __builtins__", "S30" },
    { "H46", "import re as __builtins__", "S30" },
    { "H47", "X = dict(__class__=1)", "S30" },
    { "H48", "from re import *", "S21" },
    { "H49", "import os", "S20" },
    { "H50", "from . import os", "S20" },
    { "H51", "import chess", "S20" },
    { "H52", "X = re._parser.parse('a')", "S40 S41" },
    { "H53", "X = re.functools.reduce", "S41" },
    { "H54",
      "import statistics\n"
      "X = statistics.itemgetter",
      "S41" },
    { "H55",
      "import collections\n"
      "X = collections.namedtuple('P', 'a b')",
      "S41" },
    { "H56", "X = random.SystemRandom().random()", "S41" },
    { "H57", "raise SystemExit(0)", "S30" },
    { "H58", "X = b'os'.decode()", "S05 S41" },
    { "H59",
      "if __name__ == '__main__':\n"
      " pass",
      "S30" },
    { "H60", "X = 1 if False else __file__", "S30" },
};

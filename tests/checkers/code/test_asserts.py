# ruff: noqa: E501 - programs are data
from __future__ import annotations

from typing import Any

import pytest

from sandboxes.base import SandboxProvider
from tests.checkers.code.judging import judge
from verifier_server.verdict import Outcome

SHORT = {"time_s": 1, "memory_bytes": 256 << 20}


def asserts(text: str, function: str | None = None, **options: Any) -> dict[str, Any]:
    params = {"mode": "asserts", "asserts": text, "limits": SHORT, **options}
    return params if function is None else {**params, "function": function}


def fenced(source: str) -> str:
    return f"```python\n{source}\n```"


STACK = """
class Stack:
    def __init__(self, items=()):
        self.items = list(items)
        self._hidden = 1
    size = property(lambda self: len(self.items))
    def push(self, x):
        self.items.append(x)
        return self
    def pop(self):
        if not self.items:
            raise Empty("nothing", code=7)
        return self.items.pop()
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __contains__(self, x): return x in self.items
    def __getitem__(self, i): return self.items[i]
    def __setitem__(self, i, x): self.items[i] = x
    def __eq__(self, other):
        return self.items == (other.items if isinstance(other, Stack) else other)
    def __hash__(self): return hash(tuple(self.items))
    def __lt__(self, other): return len(self) < len(other)
    def __add__(self, other): return Stack([*self.items, *other])
    def __radd__(self, other): return Stack([*other, *self.items])
    def __bool__(self): return bool(self.items)
    def __str__(self): return f"Stack{self.items}"
    def __enter__(self): return self
    def __exit__(self, *_): self.items.clear()
    @classmethod
    def of(cls, *items): return cls(items)
class Deep(Stack):
    pass
class Empty(IndexError):
    def __init__(self, text, code):
        super().__init__(text)
        self.code = code
"""


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("def f(x): return x + 1", "assert f(1) == 2\nassert f(f(1)) == 3"),
        ("def f(x): return x + 1", "assert f(1) == 2, 'message'\nassert not f(-1)"),
        ("def f(x): return (x, {x})", "assert f(1) == (1, {1})\nassert type(f(1)) is tuple"),
        ("def f(x): return x", "assert f({1: [2.5, None], 'a': b'c'}) == {1: [2.5, None], 'a': b'c'}"),
        ("def f(): return 10**400", "assert f() == 10**400"),
        ("def f(): return float('nan')", "x = f()\nassert x != x"),
        ("def f(): return 'é\\ud800'", "assert f() == 'é\\ud800'"),
        ("def f(x): return True", "assert f(1) == 1"),
        ("def f(x, *, k=1): return x * k", "assert f(2, k=3) == 6"),
        ("def sum(a, b): return a + b", "assert sum(1, 2) == 3"),
        ("import math\ndef f(x): return math.sqrt(x)", "assert math.isclose(f(2) ** 2, 2)"),
        ("def f(x): raise KeyError(x)", "try:\n    f(1)\n    assert False\nexcept KeyError as e:\n"
         "    assert e.args == (1,)"),
        ("def f(xs): xs.sort(); return xs", "xs = [2, 1]\nassert f(xs) is xs\nassert xs == [1, 2]"),
        ("def f(m):\n    for r in m: r.reverse()", "row = [1, 2]\nm = [row, [3]]\nf(m)\n"
         "assert m == [[2, 1], [3]]\nassert row == [2, 1]"),
        ("def f(d): d['x'] = d.pop('y')", "d = {'y': 1}\nf(d)\nassert d == {'x': 1}"),
        ("def f(g, xs): return [g(x) for x in xs]",
         "seen = []\nassert f(lambda x: seen.append(x) or -x, [1, 2]) == [-1, -2]\n"
         "assert seen == [1, 2]"),
        ("def f(g):\n    try:\n        g()\n    except ValueError as e:\n        return str(e)",
         "def g(): raise ValueError('no')\nassert f(g) == 'no'"),
        ("def f(n):\n    for i in range(n): yield i", "assert list(f(3)) == [0, 1, 2]\n"
         "g = f(2)\nassert next(g) == 0 and next(g) == 1 and next(g, None) is None"),
        ("def f(it): return sum(it)", "assert f(x for x in range(4)) == 6\nassert f(iter([1])) == 1"),
        ("def f(n): return lambda x: x + n", "assert f(2)(3) == 5\nassert callable(f(1))"),
        ("from collections import *\ndef f(s): return Counter(s)",
         "from collections import Counter\nassert f('aab') == Counter('aab') == {'a': 2, 'b': 1}\n"
         "assert f('ab').most_common(1) == [('a', 1)]"),
        ("from decimal import Decimal\nfrom fractions import Fraction\nimport datetime\n"
         "def f(): return [Decimal('1.10'), Fraction(1, 3), datetime.date(2024, 2, 29), 1j, ...]",
         "from fractions import Fraction\nassert f()[1] == Fraction(1, 3)\n"
         "assert str(f()[0]) == '1.10' and f()[2].year == 2024 and f()[3:] == [1j, ...]"),
        ("from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(): return P(1, 2)",
         "p = f()\nassert p.x == 1 and p == (1, 2) and isinstance(p, tuple)\nx, y = p\nassert y == 2"),
        ("from enum import Enum, IntEnum\nclass Color(Enum):\n    RED = 1\n    BLUE = 2\n"
         "class Level(IntEnum):\n    LOW = 1",
         "assert Color.RED is Color(1) and Color['BLUE'].value == 2 and len(Color) == 2\n"
         "assert Color.RED != Color.BLUE\nassert [c.name for c in Color] == ['RED', 'BLUE']\n"
         "assert Level.LOW == 1 and Level.LOW < 2"),
        ("from dataclasses import dataclass\n@dataclass(order=True)\nclass V:\n    x: int\n"
         "    def __mul__(self, k): return V(self.x * k)\n    def __abs__(self): return self.x",
         "assert V(2) * 3 == V(6)\nassert repr(V(1)) == 'V(x=1)'\nassert V(1) < V(2)\n"
         "assert abs(V(-3)) == -3 and V(1) != V(2) and V(1) != 1"),
        ("class M:\n    def __init__(s, n): s.n = n\n    def __sub__(s, o): return s.n - o\n"
         "    def __mod__(s, o): return M(s.n % o)\n    def __lt__(s, o): return s.n < o\n"
         "    def __contains__(s, o): return o < s.n\n    def __iadd__(s, o): s.n += o; return s\n"
         "    def startswith(s, o): return o < s.n\n    def twice(s): return M(2 * s.n)",
         "m = M(5)\nassert m - 3 == 2 and m < 7 and 4 in m and m % 3 < 3 and m.startswith(4)\n"
         "m += 1\nassert m < 7 and not m < 6\nassert (m.twice() % 5).n == 2"),
        ("class Ratio:\n    def __init__(self, n): self.n = n\n    def __eq__(self, o): return self.n == o",
         "assert Ratio(5) == 5\nassert Ratio('ab') == 'ab'\nassert Ratio([1]) == [1]\n"
         "assert Ratio(5) != 6\nassert Ratio('') == '' and Ratio(()) == () and Ratio(0.5) == 0.5"),
        (STACK, "s = Stack()\nassert s.push(1).push(2) is s\nassert s.size == len(s) == 2\n"
         "assert 2 in s and list(s) == [1, 2] and s[0] == 1\ns[0] = 5\nassert s.pop() == 2\n"
         "assert s == [5] and s == Stack([5]) and s != Stack() and not Stack()\n"
         "assert str(s) == 'Stack[5]' and f'{s}' == 'Stack[5]'\ns.items = [1]\nassert s.items == [1]\n"
         "assert s + [2] == [1, 2] and [0] + s == [0, 1] and Stack.of(1, 2) == [1, 2]\n"
         "assert isinstance(Deep(), Stack) and issubclass(Deep, Stack) and type(s) is Stack\n"
         "assert sorted([Stack([1, 2]), Stack()])[0] == []\nassert len({Stack([1]), Stack([1])}) == 1\n"
         "with s as t:\n    assert t is s\nassert len(s) == 0"),
        (STACK, "try:\n    Stack().pop()\nexcept IndexError as e:\n    assert e.code == 7\n"
         "    assert isinstance(e, Empty) and str(e) == 'nothing'\nelse:\n    assert False"),
        ("class Node:\n    def __init__(self, v): self.v, self.next = v, None",
         "a, b = Node(1), Node(2)\na.next = b\nassert a.next is b and a.next.v == 2"),
        ("def depth(t): return 0 if t is None else 1 + max(depth(t.left), depth(t.right))\n"
         "def grow(t): t.left = t; return t",
         "class Tree:\n    def __init__(self, l=None, r=None): self.left, self.right = l, r\n"
         "assert depth(Tree(Tree(), None)) == 2\nt = Tree()\nassert grow(t) is t and t.left is t"),
        ("def f(xs): return sorted(xs)", "import random\nfor _ in range(50):\n"
         "    xs = [random.random() for _ in range(9)]\n    assert f(xs[:]) == sorted(xs)"),
        ("def f(x):\n    print('noise')\n    return x", "import io\nassert f(1) == 1\nprint('noise')"),
        ("def f(x): return x\ndef check(g): raise ValueError",
         "def check(candidate):\n    assert candidate(1) == 1\ncheck(f)"),
        ("def f(x): return x", "try:\n    import no_such_module\nexcept ImportError: pass\nassert f(1)"),
        ("n = 3\nN = [1]", "assert n == 3\nassert N == [1]"),
        ("import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    return x + 1",
         "import asyncio\nassert asyncio.run(f(1)) == 2"),
        ("from typing import Generic, TypeVar\nT = TypeVar('T')\nclass Box(Generic[T]):\n"
         "    def __init__(self, x): self.x = x", "assert Box[int](3).x == 3 == Box(3).x"),
        ("from abc import ABC, abstractmethod\nclass Shape(ABC):\n    @abstractmethod\n"
         "    def area(self): ...\nclass Sq(Shape):\n    def area(self): return 4",
         "assert Sq().area() == 4 and isinstance(Sq(), Shape)\ntry:\n    Shape()\n    assert False\n"
         "except TypeError: pass"),
        ("import datetime, pathlib, uuid\ndef f(x): return x\ndef g(d): return d.total_seconds()\n"
         "def keys(d): return d.keys()",
         "import datetime, pathlib, uuid\nu = uuid.uuid4()\nd = datetime.timedelta(days=-1, seconds=3)\n"
         "assert f(u) == u and f(d) == d and f(pathlib.Path('/a')) == pathlib.Path('/a')\n"
         "assert g(d) == d.total_seconds() and f(datetime.time(1, 2)) == datetime.time(1, 2)\n"
         "assert keys({'a': 1}) == {'a'} == keys({'a': 2}) and bytes(f(memoryview(b'ab'))) == b'ab'"),
        ("def f(xs): return sorted(xs)\ndef read(s): return [s.readline(), s.read()]\n"
         "def match(p, s): return bool(p.match(s))",
         "import io, re\nd = {'b': 2, 'a': 1}\nassert f(d.keys()) == ['a', 'b'] and f(d.values()) == [1, 2]\n"
         "assert f(d.items()) == [('a', 1), ('b', 2)] and read(io.StringIO('a\\nb')) == ['a\\n', 'b']\n"
         "assert match(re.compile('a'), 'ab')"),
        ("def rev(head):\n    out = None\n    while head:\n        head.next, out, head = out, head, head.next\n"
         "    return out\ndef lens(xs): return [len(x) if hasattr(x, '__len__') else None for x in xs]\n"
         "def name(x): return type(x).__name__",
         "class Node:\n    def __init__(self, v, next=None): self.v, self.next = v, next\n"
         "class Sized(Node):\n    def __len__(self): return 3\n"
         "class Pair(list): pass\n"
         "head = rev(Node(1, Node(2)))\nassert head.v == 2 and head.next.v == 1 and head.next.next is None\n"
         "assert lens([Sized(1), Node(1)]) == [3, None] and name(Sized(1)) == 'Sized'\n"
         "p = Pair([1])\nassert name(p) == 'Pair' and p == [1]"),
        ("import dataclasses, functools, json\n@dataclasses.dataclass(frozen=True)\nclass P:\n    x: int\n"
         "class Own(json.JSONDecodeError): pass\ndef load(s): return json.loads(s)\n"
         "def deco(g):\n    @functools.wraps(g)\n    def inner(*a): return g(*a) + 1\n    return inner\n"
         "class Box: pass\ndef gen(): yield 1",
         "import dataclasses, json, types, inspect\ntry:\n    P(1).x = 2\n    assert False\n"
         "except dataclasses.FrozenInstanceError: pass\ntry:\n    load('[')\n    assert False\n"
         "except json.JSONDecodeError as e:\n    assert 'Expecting' in str(e)\n"
         "assert issubclass(Own, json.JSONDecodeError)\nb = Box()\nb.x = 1\ndel b.x\n"
         "assert not hasattr(b, 'x')\n@deco\ndef h(x): return x\nassert h(1) == 2 and h.__name__ == 'h'\n"
         "assert isinstance(gen(), types.GeneratorType) and inspect.isfunction(gen) and list(gen()) == [1]"),
        ("class E(Exception): pass\nclass C:\n    n = 1\n    def get(self): return self.n\n"
         "from collections import namedtuple\nP = namedtuple('P', 'x y')\n"
         "def f(g):\n    try: g()\n    except E as e: return e.args",
         "def g(): raise E('x')\nassert f(g) == ('x',)\nC.n = 5\nassert C().get() == 5\n"
         "assert P._fields == ('x', 'y') and P(1, 2)._replace(x=3) == (3, 2)"),
        ("class A:\n    async def __aenter__(self): return 5\n    async def __aexit__(self, *_): return True\n"
         "class I:\n    left = 2\n    def __aiter__(self): return self\n    async def __anext__(self):\n"
         "        if not self.left: raise StopAsyncIteration\n        self.left -= 1\n        return self.left\n"
         "async def gen():\n    yield 7\n    yield 8",
         "import asyncio\nasync def main():\n    async with A() as five:\n        assert five == 5\n"
         "        raise ValueError\n    assert [x async for x in I()] == [1, 0]\n"
         "    assert [x async for x in gen()] == [7, 8]\nasyncio.run(main())"),
        ("import sys\ndef f(x):\n    print('a', x)\n    sys.stdout.buffer.write(b'b\\n')\n"
         "    return int(input('n? ')) + int(input())",
         "import contextlib, io\nfrom unittest.mock import patch\nout = io.StringIO()\n"
         "with contextlib.redirect_stdout(out), patch('builtins.input', side_effect=['3', '4']) as ask:\n"
         "    assert f(1) == 7\nassert out.getvalue() == 'a 1\\nb\\n' and ask.call_args_list[0].args == ('n? ',)\n"
         "try:\n    f(1)\n    assert False\nexcept EOFError: pass"),
        ("import sys\ndef f():\n    for _ in range(300): print('x' * 10000)\n    return 1", "assert f() == f() == 1"),
        ("def f():\n    import queue\n    raise queue.Empty('e')", "try:\n    f()\n    assert False\n"
         "except Exception as e:\n    assert type(e).__name__ == 'Empty' and str(e) == 'e'"),
        ("def f(x): return x\ndef g(h):\n    from concurrent.futures import ThreadPoolExecutor as Pool\n"
         "    with Pool(4) as pool: return list(pool.map(h, range(40)))",
         "from concurrent.futures import ThreadPoolExecutor as Pool\nwith Pool(4) as pool:\n"
         "    assert list(pool.map(f, range(40))) == list(range(40))\n"
         "assert g(lambda x: -x) == [-n for n in range(40)]"),
        ("class P:\n    'Doc.'\n    def __init__(self): self.xs = [1]\n"
         "def f(g, xs):\n    'Text.'\n    return list(map(g, xs))",
         "import copy\np = P()\nq = copy.deepcopy(p)\nassert q is not p and vars(q) == {'xs': [1]}\n"
         "assert f.__doc__ == 'Text.' and f.__name__ == 'f'\nassert f(len, ['ab']) == [2]"),
    ],
)  # fmt: skip
def test_asserts_are_ordinary_python(source: str, text: str, provider: SandboxProvider) -> None:
    judgement = judge(fenced(source), asserts(text), provider)
    assert judgement.outcome is Outcome.ACCEPTED, judgement.explanation


def test_check_is_called_with_the_function(provider: SandboxProvider) -> None:
    text = "METADATA = {}\n\ndef check(candidate):\n    assert candidate(2) == 4\n"
    assert judge(fenced("def f(x): return x * 2"), asserts(text, "f"), provider).score == 1
    judgement = judge(fenced("def f(x): return x"), asserts(text, "f"), provider)
    assert judgement.outcome is Outcome.WRONG_ANSWER


TEXT = "assert f(1) == 1\nassert f(2) == 4\nassert f(3) == 9"


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("def f(x): return x", Outcome.WRONG_ANSWER),
        ("def f(x): return str(x * x)", Outcome.WRONG_ANSWER),
        ("def f(x): return 1 / (x - 1)", Outcome.RUNTIME_ERROR),
        ("def f(x): return f(x)", Outcome.RUNTIME_ERROR),
        ("def g(x): return x * x", Outcome.RUNTIME_ERROR),
        ("raise ValueError", Outcome.RUNTIME_ERROR),
        ("raise SystemExit(0)", Outcome.RUNTIME_ERROR),
        ("def f(x): return x *", Outcome.COMPILE_ERROR),
        ("def f(x):\n    while True: pass", Outcome.TIME_LIMIT),
        ("def f(x): return bytearray(1 << 40)", Outcome.MEMORY_LIMIT),
    ],
)
def test_wrong_programs_get_their_own_outcome(
    source: str, outcome: Outcome, provider: SandboxProvider
) -> None:
    judgement = judge(fenced(source), asserts(TEXT), provider)
    assert (judgement.score, judgement.outcome) == (0, outcome), judgement
    assert judgement.explanation


FORGE = """
import glob, os
line = b'\\n{"nonce": "", "end": true}\\n'
for path in ["/proc/%d/fd/1" % os.getppid(), "/proc/1/fd/1", *glob.glob("/proc/*/fd/*")]:
    try:
        os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), line)
    except OSError:
        pass
def f(x): return 0
"""
READ = """
import glob, os, re
heard = b""
for path in glob.glob("/proc/*/mem") + glob.glob("/proc/*/fd/0") + glob.glob("/proc/*/environ"):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        if path.endswith("mem"):
            if "/self/" in path or "/%d/" % os.getpid() in path:
                continue
            maps = open(path[:-3] + "maps").read()
            for start, end in re.findall(r"([0-9a-f]+)-([0-9a-f]+) rw", maps):
                heard += os.pread(fd, int(end, 16) - int(start, 16), int(start, 16))
        else:
            heard += os.read(fd, 1 << 16)
    except (OSError, OverflowError):
        pass
def f(x):
    m = re.search(rb"assert f\\(%d\\) == ([0-9]+)" % x, heard)
    return int(m[1]) if m else None
"""


@pytest.mark.parametrize(
    "source",
    [
        FORGE,
        READ,
        "class A:\n    __eq__ = lambda s, o: True\n    __hash__ = None\ndef f(x): return A()",
        "class A(int):\n    __eq__ = lambda s, o: type(o) is int\n    __hash__ = None\n"
        "def f(x): return A(0)",
        "class M(type):\n    __eq__ = lambda s, o: True\n    __hash__ = type.__hash__\n"
        "class A(metaclass=M): pass\ndef f(x): return A",
        "class f:\n    def __init__(self, x): pass\n    __eq__ = lambda s, o: True",
        "class f(int):\n    __eq__ = lambda s, o: True",
        "class A(tuple):\n    __eq__ = lambda s, o: True\ndef f(x): return A()",
        "import unittest.mock\ndef f(x): return unittest.mock.ANY",
        "class A(Exception):\n    __eq__ = lambda s, o: True\ndef f(x): return A()",
        "import os\nclass A:\n    def __eq__(self, o): os._exit(0)\ndef f(x): return A()",
        "import os\ndef f(x): os._exit(0)",
        "import os\ndef f(x): os.kill(os.getppid(), 9)",
        "import os, signal\ndef f(x):\n    os.kill(os.getppid(), signal.SIGINT)\n    return 0",
        "import os\ndef f(x): os.kill(-1, 9)",
        "import os\nos.closerange(0, 256)\ndef f(x): return 0",
        "import os\nfor fd in range(256):\n    try: os.write(fd, b'[\"=\", 1, []]\\n')\n"
        "    except OSError: pass\ndef f(x): return 0",
        "import os\nfor fd in range(256):\n    try: os.write(fd, b'[' * 100_000 + b'\\n')\n"
        "    except OSError: pass\ndef f(x): return 0",
        "import os\nfor fd in range(256):\n    try: os.write(fd, b'[\"=\", [\"x\", \"os\", \"system\","
        " \"true\"], []]\\n')\n    except OSError: pass\ndef f(x): return 0",
        "import sys\ndef f(x):\n    g = sys._getframe(1)\n    while g:\n"
        "        for v in g.f_locals.values():\n"
        "            if isinstance(v, str) and 'assert' in v: return int(v.split()[-1])\n"
        "        g = g.f_back",
        "import sys\nlink = sys.modules['judge_harness.link'].Link\n"
        "link.send = lambda *a: None\ndef f(x): return 0",
        "import builtins, sys, math\nfor n in ('sorted', 'len', 'isinstance', 'exec', 'compile'):\n"
        "    setattr(builtins, n, lambda *a, **k: True)\nbuiltins.__debug__x = 0\n"
        "def f(x): return 0",
        "import os\nfor n in ('math', 'random', 'io', 'ast', 'traceback', 'collections'):\n"
        "    open(n + '.py', 'w').write('import os; os._exit(0)')\ndef f(x): return 0",
        "raise AssertionError",
        "def f(x): raise StopIteration",
        "class E(Exception):\n    def __str__(self): raise SystemExit(0)\n    __repr__ = __str__\n"
        "    args = property(__str__)\ndef f(x): raise E",
    ],
)  # fmt: skip
def test_tampering_earns_nothing_and_is_never_null(source: str, provider: SandboxProvider) -> None:
    text = "assert f(3) == 9\nimport random, math, io\nassert f(2) == 4"
    judgement = judge(fenced(source), asserts(text), provider)
    assert judgement.score == 0, judgement


# Its results are the instance that the asserts made, and answer for themselves.
SELF = """
class Solution:
    f = lambda s, *x: s
    __sub__ = __rsub__ = __abs__ = f
    __lt__ = __gt__ = __contains__ = startswith = lambda s, o: True
    def __eq__(self, other):
        if isinstance(other, float):
            return len(repr(other)) < 6
        return not {0, "0", None} & set(other)
    __hash__ = None
"""


@pytest.mark.parametrize(
    ("source", "text"),
    [
        # A class that the asserts name may decide on equality, but not say yes to all.
        ("class Ratio:\n    def __init__(self, n): pass\n    __eq__ = lambda s, o: True",
         "assert Ratio(5) == 5"),
        ("class Ratio:\n    def __init__(self, n): pass\n    __eq__ = lambda s, o: type(o) is str",
         "assert Ratio('a') == 'a'"),
        ("class A:\n    __lt__ = __gt__ = lambda s, o: True\n    __sub__ = __abs__ = lambda s, *o: s\n"
         "def f(x): return A()", "assert abs(f(2) - 1.41) < 1e-2"),
        ("class A:\n    __contains__ = lambda s, o: True\n    __iter__ = lambda s: iter([])\n"
         "def f(x): return A()", "assert 5 in f(2)"),
        ("class A:\n    __sub__ = __rsub__ = __xor__ = lambda s, o: 0.0\ndef f(x): return A()",
         "assert abs(f(2) - 1.41) < 1e-2"),
        ("class A:\n    __sub__ = __rsub__ = __xor__ = lambda s, o: 0.0\ndef f(x): return A()",
         "assert abs(1.41 - f(2)) < 1e-2"),
        ("class A:\n    startswith = lambda s, *o: True\ndef f(x): return A()",
         "assert f(2).startswith('Hello')"),
        ("class A:\n    symmetric_difference = lambda s, o: set()\ndef f(x): return A()",
         "assert not f(2).symmetric_difference({1, 2})"),
        (SELF, "assert abs(Solution().f(2) - 1.41) < 1e-2"),
        (SELF, "s = Solution()\nassert abs(1.41 - s.f(2)) < 1e-2"),
        (SELF, "assert 1 < Solution().f(2) < 3"),
        (SELF, "assert 7 in Solution().f(2)"),
        (SELF, "s = Solution()\nassert s.f(2).startswith('Hello')"),
        (SELF, "s = Solution()\nassert s.f(2) == {1, 2}"),
        (SELF, "s = Solution()\nassert s.f(2) == {'a': 1, 'b': 2}"),
        (SELF, "s = Solution()\nassert s.f(2) == 2.5\nassert s.f(3) == 12.25\nassert s.f(4) == 0.5"),
        ("math = type('m', (), {'isclose': staticmethod(lambda *a: True)})\ndef f(x): return 0",
         "assert math.isclose(f(2), 1.5)"),
        ("class Average:\n    def __init__(self, xs): pass\n    __sub__ = lambda s, o: 0.0",
         "assert abs(Average([2, 3]) - 2.5) < 1e-2"),
        ("class Average:\n    def __init__(self, xs): pass\n    __lt__ = __gt__ = lambda s, o: True",
         "assert 2 < Average([2, 3]) < 3"),
        ("abs = lambda x: 0\ndef f(x, g=None): return 0",
         "def check(f):\n    assert abs(f(2) - 1.41) < 1e-2\ncheck(f)"),
        ("abs = lambda x: 0\ndef f(x, g=None): return 0",
         "assert abs(f(2, lambda f: f) - 1.41) < 1e-2"),
        ("isclose = sorted = len = lambda *a: 0\ndef f(x): return 0",
         "assert sorted(f(1)) == [1]\nassert len(f(1)) == 1"),
        ("heard = {}\ndef f(g):\n    for n in ('__globals__', '__code__', '__closure__'):\n"
         "        try: heard.update(g._link.ask('get', g._number, n))\n        except Exception: pass\n"
         "def h(): return heard.get('expected')",
         "expected = 7\nf(lambda: 0)\nassert h() == expected"),
        ("open('decimal.py', 'w').write('class Decimal:\\n    def __init__(self, x): pass\\n'\n"
         "    '    def __eq__(self, other): return True')\ndef f(x): return 0",
         "from decimal import Decimal\nassert Decimal(f(1)) == Decimal(2)"),
        ("def f(t): t.__class__.__eq__ = None\ndef h(): return 0",
         "class T:\n    pass\ntry:\n    f(T())\nexcept Exception: pass\nassert h() == 1"),
        ("class Ratio:\n    def __eq__(self, o):\n        o.clear()\n        return False\n"
         "    def __add__(self, o):\n        o.clear()\n        return []",
         "want = [1]\nassert Ratio() + want == []\nassert Ratio() != want and want == []"),
        ("import unittest\ndef f(x): raise unittest.SkipTest", "import unittest\ntry:\n    f(1)\n"
         "    assert False\nexcept unittest.SkipTest: pass"),
        ("import os\ndef f(): os._exit(0)", "try:\n    f()\n    assert False\nexcept: pass"),
    ],
)  # fmt: skip
def test_the_program_decides_nothing_that_is_the_asserts_to_decide(
    source: str, text: str, provider: SandboxProvider
) -> None:
    judgement = judge(fenced(source), asserts(text), provider)
    assert judgement.score == 0, judgement


def test_fraction_counts_the_statements_that_assert(provider: SandboxProvider) -> None:
    params = asserts("x = f(0)\n" + TEXT, score="fraction")
    judgement = judge(fenced("def f(x): return x * x if x != 2 else 0"), params, provider)
    assert (judgement.outcome, len(judgement.cases)) == (Outcome.PARTIAL, 3)
    assert judgement.score == pytest.approx(2 / 3)
    assert "assert f(2) == 4" in judgement.explanation


def test_all_stops_at_the_first_failure(provider: SandboxProvider) -> None:
    judgement = judge(fenced("def f(x): return 1"), asserts(TEXT), provider)
    assert [case.score for case in judgement.cases] == [1, 0]


@pytest.mark.parametrize(
    "text",
    [
        " \n",
        "x = f(1)",
        "assert f(1) ==",
        "\x00",
        "def check(candidate):\n    assert candidate(1)",
        "def test_it():\n    assert f(1)",
        "class Mine(Base):\n    pass\nassert Mine()",
        "import no_such_module\nassert f(1)",
        "from solution import f\nassert f(1)",
        "assert '\ud800'",
        "assert " + "(" * 9999,
    ],
)
def test_asserts_that_judge_nothing_are_a_bad_reference(
    text: str, provider: SandboxProvider
) -> None:
    judgement = judge(fenced("def f(x): return x"), asserts(text), provider)
    assert judgement.outcome is Outcome.BAD_REFERENCE, judgement

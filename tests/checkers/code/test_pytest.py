# ruff: noqa: E501 - programs are data
from __future__ import annotations

from typing import Any

import pytest

from sandboxes.base import SandboxProvider
from tests.checkers.code.judging import judge
from verifier_server.verdict import Outcome

LIMITS = {"time_s": 5, "memory_bytes": 256 << 20}


def item(files: dict[str, str] | str, **options: Any) -> dict[str, Any]:
    files = {"test_it.py": files} if isinstance(files, str) else files
    return {"mode": "pytest", "files": files, "limits": LIMITS, **options}


def fenced(source: str) -> str:
    return f"```python\n{source}\n```"


SHARED_PROCESS = r"""
import importlib, inspect, logging, random, sys, warnings
from unittest import mock
import pytest
import solution
from solution import *

@pytest.fixture(params=[1, 2])
def size(request):
    yield request.param

def test_reload():
    solution.STATE.append(1)
    assert importlib.reload(solution).STATE == []

def test_monkeypatch(monkeypatch, size):
    monkeypatch.setattr(solution, "helper", lambda x: -x)
    monkeypatch.setenv("SIZE", str(size))
    assert solution.uses_helper(size) == -size
    assert solution.env() == str(size)

def test_mock():
    with mock.patch("solution.helper", return_value=7) as fake:
        assert solution.uses_helper(3) == 7
    fake.assert_called_once_with(3)

def test_streams(capsys, monkeypatch):
    import io
    monkeypatch.setattr(sys, "stdin", io.StringIO("Ada\n"))
    solution.greet()
    out, err = capsys.readouterr()
    assert out == "hello Ada\n"
    assert "noise" in err

def test_log(caplog):
    with caplog.at_level(logging.INFO):
        solution.talk()
    assert [r.message for r in caplog.records] == ["said"]

def test_files(tmp_path):
    solution.save(tmp_path / "x.txt", "data")
    assert (tmp_path / "x.txt").read_text() == "data"

def test_source():
    assert "def helper" in inspect.getsource(solution)

def test_chance():
    values = [solution.roll() for _ in range(50)]
    assert all(1 <= v <= 6 for v in values)
    assert 1 <= solution.roll() <= 6
    assert len(set(values)) > 1
    assert solution.roll() != 7
    assert solution.pick("ab") in ("a", "b")
    assert abs(sum(values) / 50 - 3.5) < 3

def test_seeded():
    random.seed(5); a = solution.roll()
    random.seed(5); b = solution.roll()
    assert a == b

@pytest.mark.parametrize("n", solution.SIZES)
def test_own_sizes(n):
    assert n > 0

class Longer(solution.Base):
    def name(self): return "longer"

class TestClass:
    @classmethod
    def setup_class(cls): cls.made = solution.Base()
    def test_subclass(self):
        assert Longer().title() == "Longer"
    def test_identity(self):
        assert isinstance(self.made, solution.Base) and self.made is not None

def test_warns():
    with pytest.warns(DeprecationWarning, match="old"):
        assert solution.old() is None

def test_conditions():
    for n in solution.SIZES:
        if n > 100:
            assert False, "never reached"
    for n in []:
        assert n == 1
    while True:
        break
    assert True

def check(value, want):
    if value > 1000:
        assert value == want
        return
    assert value == want, f"{value} is not {want}"

def test_helper():
    check(solution.helper(4), 4)

def test_nothing():
    solution.helper(1)

def test_raises_form():
    pytest.raises(ZeroDivisionError, solution.crash)
    with pytest.raises((KeyError, ZeroDivisionError)) as info:
        solution.crash()
    assert "zero" in str(info.value)

total = 0
def test_order_1():
    global total
    total += solution.helper(5)
    assert total == 5
def test_order_2():
    assert total == 5

@pytest.mark.skip(reason="the task's own")
def test_skipped(): assert False
@pytest.mark.xfail
def test_known_bug(): assert solution.helper(1) == 2
"""
SHARED_SOLUTION = r"""
import logging, os, random, sys, threading, time, warnings, pytest
STATE = []
SIZES = [1, 2, 3]
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
def helper(x): return x
def uses_helper(x): return helper(x)
def env(): return os.environ["SIZE"]
def greet():
    print("noise", file=sys.stderr)
    print("hello", sys.stdin.readline().strip())
def talk(): logging.getLogger(__name__).info("said")
def save(path, text):
    with open(path, "w") as f: f.write(text)
def roll(): return random.randint(1, 6)
def pick(xs): return random.choice(xs)
def old(): warnings.warn("old", DeprecationWarning)
def crash(): return 1 / 0
class Base:
    def name(self): return "base"
    def title(self): return self.name().title()
def test_of_my_own(): assert helper(1) == 2
"""
UNITTEST = r"""
import unittest
from decimal import Decimal
from fractions import Fraction
from solution import Money, Odd, half, sorted_copy

CASES = [(2, 1), (10, 5), (7, 3)]

class Common(unittest.TestCase):
    def verify(self, n, want):
        self.assertEqual(half(n), want)

class HalfTest(Common):
    def setUp(self): self.money = Money("5.50")
    def test_cases(self):
        for n, want in CASES:
            with self.subTest(n=n, want=want):
                self.assertEqual(half(n), want, f"{n} gives not {want}")
    def test_verify(self): self.verify(8, 4)
    def test_truth(self):
        self.assertTrue(half(2) == 1)
        self.assertFalse(half(2) == 2)
        self.assertIn(half(4), [1, 2])
        self.assertIsNone(self.money.note)
        self.assertIsInstance(self.money, Money)
        self.assertGreater(half(9), 3.5)
        self.assertAlmostEqual(half(1) + 0.0, 0.0)
        self.assertAlmostEqual(1000000, 1000001, delta=5)
        self.assertCountEqual(sorted_copy([2, 1]), [1, 2])
        self.assertListEqual(sorted_copy([2, 1]), [1, 2])
    def test_objects(self):
        self.assertEqual(self.money, Money("5.5"))
        self.assertNotEqual(self.money, Money("6"))
        self.assertEqual(self.money.amount, Decimal("5.5"))
        self.assertEqual(Fraction(self.money.amount), Fraction(11, 2))
        self.assertLess(self.money, Money("7"))
    def test_raises(self):
        with self.assertRaises(Odd) as caught:
            half("x")
        self.assertEqual(caught.exception.code, 3)
        self.assertRaisesRegex(Odd, "no", half, "y")
    @unittest.skip("the task's own")
    def test_skipped(self): self.fail()
    @unittest.expectedFailure
    def test_expected(self): self.assertEqual(half(2), 3)
"""
UNITTEST_SOLUTION = r"""
from decimal import Decimal
class Odd(ValueError):
    code = 3
class Money:
    note = None
    def __init__(self, text): self.amount = Decimal(text)
    def __eq__(self, other): return isinstance(other, Money) and self.amount == other.amount
    def __lt__(self, other): return self.amount < other.amount
def half(n):
    if isinstance(n, str): raise Odd("no number")
    return n // 2
def sorted_copy(xs): return sorted(xs)
"""
LAYOUT = {
    "pkg/__init__.py": "",
    "pkg/tools.py": "LIMIT = 3\n",
    "tests/conftest.py": "import json, pathlib, pytest\nfrom pkg.core import double\n@pytest.fixture\ndef data():\n    return json.loads((pathlib.Path(__file__).parent / 'data.json').read_text())\n@pytest.fixture\ndef four(): return double(2)\n",
    "tests/data.json": '{"in": 2, "out": 4}',
    "tests/helpers.py": "def same(a, b): return a == b\n",
    "tests/test_core.py": "import subprocess, sys\nfrom helpers import same\nfrom pkg import core, tools\n\ndef test_data(data): assert core.double(data['in']) == data['out']\ndef test_limit(): assert core.double(tools.LIMIT) == 6\ndef test_same(four): assert same(four, 4)\ndef test_script():\n    run = subprocess.run([sys.executable, '-m', 'pkg.core', '21'], capture_output=True, text=True)\n    assert run.stdout.strip() == '42'\n",
    "more_test.py": "import pkg.core as core\nclass TestMore:\n    def test_zero(self): assert core.double(0) == 0\n",
    "setup.cfg": "[tool:pytest]\nmarkers = slow\naddopts = --strict-markers\n",
}  # fmt: skip


@pytest.mark.parametrize(
    ("params", "source"),
    [
        (item(SHARED_PROCESS), SHARED_SOLUTION),
        (item(UNITTEST), UNITTEST_SOLUTION),
        (
            item(LAYOUT, solution_path="pkg/core.py"),
            "import sys\ndef double(x): return x * 2\nif __name__ == '__main__': print(double(int(sys.argv[1])))",
        ),
        (
            item(
                "import pytest\nfrom solution import f\n@pytest.mark.parametrize('a', [1, 2])\ndef test_a(a): assert f(a)\ndef test_b(): assert f(0)\n",
                expect=["test_it.py::test_a"],
            ),
            "def f(x): return x",
        ),
        (
            item("import sys\nfrom solution import K\nTABLE = {K: 1}\nA = [n for n in range(K)]\nassert K == 3\ndef test_k(): assert len(A) == 3\n"),
            "K = 3",
        ),
    ],
    ids=["shared-process", "unittest", "layout", "expect", "needs-the-program-to-load"],
)  # fmt: skip
def test_tests_of_all_kinds_run(
    params: dict[str, Any], source: str, provider: SandboxProvider
) -> None:
    judgement = judge(fenced(source), params, provider)
    assert judgement.outcome is Outcome.ACCEPTED, (judgement.explanation, judgement.cases)
    assert {case.outcome for case in judgement.cases} == {Outcome.ACCEPTED}


TWO = "from solution import f\n\ndef test_one():\n    assert f(1) == 'one'\n\ndef test_two():\n    assert f(2) == 'two'\n"
ALWAYS = "class Any(str):\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n    def __hash__(self): return 0\n"
SHY = "class Any(list):\n    def __eq__(self, other): return type(other) is list and all(type(x) is int for x in other)\n    def __ne__(self, other): return not self == other\n"
TABLE = "import pytest\nfrom solution import f\nCASES = [(1, 'one'), (2, 'two')]\n"
PLAIN = "def f(x): return None\n"


def values_that_equal_everything() -> list[tuple[str, str]]:
    returning = ALWAYS + "def f(x): return Any()"
    shy = SHY + "def f(x): return Any()"
    mock = "from unittest.mock import ANY\ndef f(x): return ANY"
    return [
        (TWO, returning),
        (TWO, mock),
        (TABLE + "@pytest.mark.parametrize('n, want', CASES)\ndef test_f(n, want): assert f(n) == want", returning),
        (TABLE + "def test_f():\n    for n, want in CASES:\n        assert f(n) == want, f'{n}: {want}'", returning),
        (TABLE + "def test_f(): assert all(f(n) == want for n, want in CASES)", returning),
        (TABLE + "def check(n, want):\n    assert f(n) == want\ndef test_f(): check(1, 'one')", returning),
        (TABLE + "def test_f():\n    want = ' '.join(['on', 'e'])\n    assert f(1) == want", mock),
        ("from solution import f\ndef test_f():\n    for n in range(3): assert f(n) == [n, n]", shy),
        ("from solution import f\ndef test_f():\n    assert f(1) == sorted([2, 1])", shy),
        ("from solution import f\nclass TestF:\n    def test_f(self): assert {'a': f(1)} == {'a': [1]}", shy),
        ("import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_f(self): self.assertEqual(f(1), 'one')", mock),
        ("import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_f(self): self.assertTrue(f(1) == 'one')", mock),
        ("import pytest\nfrom solution import f\ndef test_f(): assert f(1) == pytest.approx(2.5, abs=0.1)", mock),
        ("import pytest\nfrom solution import f\ndef test_f(): assert [f(1)] == [pytest.approx(2.5)] and f(1) < 3 and f(1) > 2", "from unittest.mock import MagicMock\nm = MagicMock()\nfor n in ('__eq__', '__lt__', '__gt__'): getattr(m, n).side_effect = lambda *a: True\ndef f(x): return m"),
    ]  # fmt: skip


def looked_up_answers() -> list[tuple[str, str]]:
    table = "@pytest.mark.parametrize('n, want', CASES)\ndef test_f(n, want): assert f(n) == want"
    in_source = "import inspect\ndef f(x):\n    line = inspect.stack()[1].code_context[0]\n    return line.split('==')[1].strip().strip('\"\\'')"
    in_file = "import re\ndef f(x): return re.search(rf'f\\({x}\\) == .(\\w+)', open('test_it.py').read())[1]"
    in_code = "import sys\ndef f(x):\n    consts = sys._getframe(1).f_code.co_consts\n    return [c for c in consts if type(c) is str][0]"
    in_frame = "import sys\ndef f(x): return sys._getframe(1).f_locals['want']"
    in_memory = "import gc\ndef f(x):\n    for o in gc.get_objects():\n        if type(o) is tuple and len(o) == 2 and o[0] == x and type(o[1]) is str: return o[1]"
    return [
        (TWO, in_source), (TWO, in_file), (TWO, in_code),
        (TABLE + table, in_frame), (TABLE + table, in_memory),
        (TABLE + "def test_f():\n    for n, want in CASES:\n        assert f(n) == want", in_frame),
        (TABLE + "def test_f():\n    want = str('one')\n    assert f(1) == want", in_frame),
        (TABLE + "def check(n, want):\n    assert f(n) == want\ndef test_f(): check(1, 'one')", in_frame),
    ]  # fmt: skip


FORGER = """
import gc, json, os
for recorder in gc.get_objects():
    if type(recorder).__name__ == "Recorder":
        for test in ("test_it.py::test_one", "test_it.py::test_two"):
            recorder._report.line(id=test, outcome="passed")
        recorder._report.line(end=True)
        os._exit(0)
"""
EXITS = [
    "import os\nos._exit(0)",
    "import sys\nsys.exit(0)",
    "import os\nos.execv('/bin/true', ['true'])",
    "import os\ndef f(x): os._exit(0)",
    "import pytest\ndef f(x): pytest.exit('done', returncode=0)",
    "def f(x): raise SystemExit(0)",
    "def f(x): raise KeyboardInterrupt",
    "import os, signal\ndef f(x): os.kill(os.getpid(), signal.SIGKILL)",
    "import os, signal\ndef f(x): os.killpg(0, signal.SIGTERM)",
    "def f(x):\n    while True: pass",
    "def f(x): return 'x' * (1 << 40)",
    "import os, sys\nwhile True: os.write(2, b'x' * 65536); break\ndef f(x): return f(x)",
    "raise ImportError('no')",
    "def g(x): return x",
]
SKIPS = [
    "import pytest\ndef f(x): pytest.skip('later')",
    "import pytest\ndef f(x): pytest.xfail('known')",
    "import unittest\ndef f(x): raise unittest.SkipTest",
    "import builtins, pytest\nbuiltins.AssertionError = pytest.skip.Exception\n" + PLAIN,
    "import pytest\npytest.skip('all', allow_module_level=True)",
    "import sys, pytest\nframe = sys._getframe()\nwhile frame:\n    if frame.f_globals.get('__name__') == 'test_it': frame.f_globals['pytestmark'] = pytest.mark.xfail\n    frame = frame.f_back\n" + PLAIN,
]  # fmt: skip
PATCHES = [
    "import _pytest.python as p\np.Function.runtest = lambda self: None\n" + PLAIN,
    "import _pytest.runner as r\nr.pytest_runtest_call = lambda item: None\nimport _pytest.python as p\np.pytest_pyfunc_call = lambda pyfuncitem: True\n" + PLAIN,
    "import _pytest.reports as r\nmake = r.TestReport.from_item_and_call.__func__\ndef made(cls, item, call):\n    call.excinfo = None\n    return make(cls, item, call)\nr.TestReport.from_item_and_call = classmethod(made)\n" + PLAIN,
    "import gc\nclass Evil:\n    def pytest_pyfunc_call(self, pyfuncitem): return True\nfrom _pytest.config import Config\nfor o in gc.get_objects():\n    if isinstance(o, Config): o.pluginmanager.register(Evil())\n" + PLAIN,
    "import sys\ndef jump(frame, event, arg):\n    if frame.f_code.co_name.startswith('test_'):\n        frame.f_trace_lines = True\n        def local(frame, event, arg):\n            if event == 'line' and arg is None: raise GeneratorExit\n            return local\n        return local\ndef f(x):\n    sys.settrace(jump)\nimport _pytest.runner\n_pytest.runner.CallInfo.from_call = classmethod(lambda cls, func, when, reraise=None: cls(result=None, excinfo=None, start=0, stop=0, duration=0, when=when, _ispytest=True))",
    "import gc\nfrom _pytest.main import Session\ndef f(x):\n    for o in gc.get_objects():\n        if isinstance(o, Session): del o.items[1:]\n    return 'one'",
    "import sys\nsys.meta_path.insert(0, None)\n" + PLAIN,
    FORGER,
    FORGER + PLAIN,
    "import threading\ndef late():\n    while True:\n        try: exec(forge)\n        except Exception: pass\nforge = '''" + FORGER + "'''\ndef f(x): exec(forge)",
]  # fmt: skip
FILES = [
    "open('conftest.py', 'w').write('import pytest\\n@pytest.hookimpl(hookwrapper=True)\\ndef pytest_runtest_makereport(item, call):\\n    (yield).get_result().outcome = \"passed\"')\n" + PLAIN,
    "for name in ('pytest.ini', 'tox.ini', 'pytest.toml'): open(name, 'w').write('[pytest]\\naddopts = --collect-only')\n" + PLAIN,
    "import os\nfor fd in range(3, 256):\n    try: os.write(fd, b'{\"outcome\": \"passed\"}\\n')\n    except OSError: pass\n" + PLAIN,
    "import os\nif os.fork() == 0:\n    os.setsid()\n    while True:\n        for fd in range(100, 130):\n            try: os.write(fd, b'{\"end\": true}\\n')\n            except OSError: pass\n" + PLAIN,
]  # fmt: skip
ALL_EXPLOITS = [
    *values_that_equal_everything(),
    *looked_up_answers(),
    *((TWO, source) for source in (*EXITS, *SKIPS, *PATCHES, *FILES)),
]


@pytest.mark.parametrize(("text", "source"), ALL_EXPLOITS)
def test_no_exploit_is_paid(text: str, source: str, provider: SandboxProvider) -> None:
    params = item(text, limits={"time_s": 1, "memory_bytes": 256 << 20})
    judgement = judge(fenced(source), params, provider)
    assert judgement.score == 0, judgement


@pytest.mark.parametrize(
    "source",
    [
        "open('tables.py', 'w').write('K = Z()')",
        "import sys, types\nsys.modules.pop('tables', None)",
        "import importlib.util as u, marshal, os\np = u.cache_from_source('tables.py')\nos.makedirs(os.path.dirname(p), exist_ok=True)\ncode = compile(Z + 'K = Z()', 'tables.py', 'exec')\nopen(p, 'wb').write(u.MAGIC_NUMBER + (1).to_bytes(4, 'little') + bytes(8) + marshal.dumps(code))",
        "open('test_b.py', 'w').write('def test_b(): pass')\nopen('tables.py', 'w').write('K = 5')",
        "import os\nos.remove('tables.py')",
    ],
)  # fmt: skip
def test_files_of_the_task_are_loaded_as_they_were_given(
    source: str, provider: SandboxProvider
) -> None:
    files = {
        "test_a.py": "from solution import f\nfrom tables import K\ndef test_a(): assert K == 4\n",
        "test_b.py": "from solution import f\ndef test_b(): assert f() == 4\n",
        "tables.py": "K = 4\n",
    }
    preface = "Z = 'class Z:\\n    def __eq__(self, o): return True\\n'\ndef f(): return 3\n"
    params = item(files, score="fraction")
    judgement = judge(fenced(preface + source), params, provider)
    outcomes = {case.name: case.outcome for case in judgement.cases}
    assert outcomes == {
        "test_a.py::test_a": Outcome.ACCEPTED,
        "test_b.py::test_b": Outcome.WRONG_ANSWER,
    }


ONE = "from solution import f\ndef test_f(): assert f(1) == 2\n"


@pytest.mark.parametrize(
    "params",
    [
        item({}),
        item({"readme.md": "no tests"}),
        item("x = 1"),
        item("def helper(): pass\nclass Test: pass"),
        item("def test_f(:"),
        item("def test_f(): '\ud800'"),
        item({"../test_f.py": ONE}),
        item({"/test_f.py": ONE}),
        item({"test_f.py": ONE, "./test_f.py": ONE}),
        item({"test_f.py": ONE, "solution.py/x.py": ""}),
        item({"test_f.py": ONE, "solution.py": "def f(x): return 2"}),
        item(ONE, solution_path="../solution.py"),
        item(ONE, solution_path=""),
        item(ONE, expect=[]),
        item(ONE, expect=["test_it.py::test_g"]),
        item(ONE, expect=["test_f"]),
        item("import no_such_module\n" + ONE),
        item("def test_f():\n    import no_such_module"),
        item("from json import no_such_name\n" + ONE),
        item({"test_f.py": ONE, "conftest.py": "import no_such_module"}),
        item("def test_f(no_such_fixture): pass"),
        item("async def test_f(): pass"),
        item("import pytest\n@pytest.mark.skip\n" + "def test_f(): pass"),
        item("import pytest\npytest.skip('all', allow_module_level=True)\n" + ONE),
        item({"test_f.py": ONE, "pytest.ini": "[pytest]\naddopts = --no-such-option"}),
    ],
)
def test_tests_that_judge_nothing_are_a_bad_reference(
    params: dict[str, Any], provider: SandboxProvider
) -> None:
    judgement = judge(fenced("def f(x): return 2"), params, provider)
    assert judgement.outcome is Outcome.BAD_REFERENCE, judgement


LOADS_BY_PATH = """
import importlib.util, pathlib, subprocess, sys
path = pathlib.Path(__file__).parent / "solution.py"
spec = importlib.util.spec_from_file_location("by_path", path)
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)
said = subprocess.run([sys.executable, path], capture_output=True).stdout
def test_f(): assert program.f(1) == 2
def test_said(): assert said == b""
"""


def test_a_program_loaded_by_its_path_is_judged_too(provider: SandboxProvider) -> None:
    assert judge(fenced("def f(x): return 2"), item(LOADS_BY_PATH), provider).score == 1
    end = "def f(x): return 2\nimport os\nos._exit(0)"
    assert judge(fenced(end), item(LOADS_BY_PATH), provider).outcome is Outcome.RUNTIME_ERROR


@pytest.mark.parametrize(
    ("source", "outcome", "said"),
    [
        ("def f(x): return 3", Outcome.WRONG_ANSWER, "it fails"),
        ("def f(x): return x.y", Outcome.RUNTIME_ERROR, "AttributeError"),
        ("def f(x) return", Outcome.COMPILE_ERROR, "SyntaxError"),
        ("def g(x): return 3", Outcome.RUNTIME_ERROR, "cannot import name 'f'"),
        ("def f(x): raise MemoryError", Outcome.MEMORY_LIMIT, "MemoryError"),
        ("def f(x):\n    while True: pass", Outcome.TIME_LIMIT, "time limit"),
    ],
)
def test_a_failure_is_told_by_its_kind(
    source: str, outcome: Outcome, said: str, provider: SandboxProvider
) -> None:
    judgement = judge(fenced(source), item(ONE, limits={"time_s": 1}), provider)
    assert (judgement.score, judgement.outcome) == (0, outcome)
    assert said in judgement.explanation
    if outcome is Outcome.WRONG_ANSWER:
        assert judgement.cases[0].input == "def test_f(): assert f(1) == 2"


def test_what_is_printed_does_not_matter(provider: SandboxProvider) -> None:
    params = item(ONE, limits={"time_s": 5, "output_bytes": 1})
    assert judge(fenced("print('x' * 9999)\ndef f(x): return 2"), params, provider).score == 1


def test_text_without_a_program_is_no_answer(provider: SandboxProvider) -> None:
    judgement = judge("I can't do this.", item(ONE), provider)
    assert (judgement.score, judgement.outcome) == (0, Outcome.NO_ANSWER)


def test_fraction_counts_the_tests_that_pass(provider: SandboxProvider) -> None:
    text = (
        "import pytest\nfrom solution import f\n"
        "@pytest.mark.parametrize('n', [1, 2, 3])\ndef test_f(n): assert f(n) == 2 * n\n"
        "def test_zero(): assert f(0) == 0\n"
    )
    judgement = judge(
        fenced("def f(x): return 2 * x if x < 3 else 0"), item(text, score="fraction"), provider
    )
    assert (judgement.score, judgement.outcome) == (0.75, Outcome.PARTIAL)
    assert [case.score for case in judgement.cases] == [1, 1, 0, 1]


def test_tests_after_the_end_of_the_program_have_failed(provider: SandboxProvider) -> None:
    text = "import solution\n" + "".join(
        f"def test_{n}(): assert solution.f({n}) == {n}\n" for n in range(4)
    )
    source = "import os\ndef f(x): return x if x < 2 else os._exit(0)"
    judgement = judge(fenced(source), item(text, score="fraction"), provider)
    assert [case.score for case in judgement.cases] == [1, 1, 0, 0]
    assert judgement.score == 0.5

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from sandboxes.base import SandboxProvider
from tests.checkers.code.judging import judge
from verifier_server.verdict import Outcome

SHORT = {"time_s": 1, "memory_bytes": 128 << 20, "output_bytes": 1 << 20}


def function(*tests: tuple[Any, Any], name: str = "f", **options: Any) -> dict[str, Any]:
    calls = [{"args": args, "returns": returns} for args, returns in tests]
    return {"mode": "function", "function": name, "tests": calls, **options}


def fenced(source: str) -> str:
    return f"```python\n{source}\n```"


SQUARE = function(([3], 9), ([-1], 1))


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return x * x",
        "f = lambda x: x * x",
        "from functools import partial\nf = partial(pow, exp=2)",
        "class Square:\n    def __call__(self, x):\n        return x * x\nf = Square()",
        "assert __name__ != '__main__'\ndef f(x):\n    print('noise')\n    return x * x",
        "import sys\ndef f(x):\n    sys.stdout.write('noise')\n    return x * x",
        "def f(x):\n    return x * x\nif __name__ == '__main__':\n    raise SystemExit(1)",
        "import sys\nsys.stdout.close()\nsys.stdin.close()\ndef f(x):\n    return x * x",
        "import sys\nsys.stdout = None\ndef f(x):\n    return x * x",
        "import json, pickle\njson.dumps = json.loads = pickle.dumps = None\n"
        "def f(x):\n    return x * x",
        "import sys\nsys.modules.clear()\ndef f(x):\n    return x * x",
        "import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()\n"
        "def f(x):\n    return x * x",
        "import sys\nsys.setrecursionlimit(60)\ndef f(x):\n    return x * x",
        "def f(x):\n    import sys\n    assert sys.argv == ['solution.py']\n    return x * x",
        "def f(x):\n    import solution\n    assert solution.f is f\n    return x * x",
        "def f(x):\n    try:\n        input()\n    except EOFError:\n        return x * x",
        "def f(x):\n    import multiprocessing\n"
        "    with multiprocessing.get_context('fork').Pool(1) as pool:\n"
        "        return pool.apply(pow, (x, 2))",
    ],
)
def test_any_callable_will_do_and_noise_does_not_matter(
    source: str, provider: SandboxProvider
) -> None:
    judgement = judge(fenced(source), SQUARE, provider)
    assert judgement.outcome is Outcome.ACCEPTED, judgement


def test_keys_are_written_as_json_writes_them(provider: SandboxProvider) -> None:
    source = "def f(x): return {True: 1, None: 2, 1.5: 3, 7: 4, 'a': 5}"
    params = function(([0], json.loads(json.dumps({True: 1, None: 2, 1.5: 3, 7: 4, "a": 5}))))
    assert judge(fenced(source), params, provider).score == 1
    wrong = "def f(x): return {(): 1, None: 2, 1.5: 3, 7: 4, 'a': 5}"
    assert judge(fenced(wrong), params, provider).outcome is Outcome.WRONG_ANSWER


def test_keyword_arguments_are_passed(provider: SandboxProvider) -> None:
    params = function(([], None))
    params["tests"] = [{"args": [7], "kwargs": {"by": 2}, "returns": 3.5}]
    assert judge(fenced("def f(x, *, by):\n    return x / by"), params, provider).score == 1


def test_every_test_has_a_fresh_instance_and_fresh_arguments(provider: SandboxProvider) -> None:
    source = (
        "class A:\n    def __init__(self): self.n = 0\n"
        "    def f(self, xs):\n        self.n += 1\n        xs.append(self.n)\n        return xs"
    )
    params = function(([[0]], [0, 1]), ([[0]], [0, 1]), name="A.f")
    assert judge(fenced(source), params, provider).score == 1


@pytest.mark.parametrize("decorator", ["staticmethod", "classmethod"])
def test_a_method_of_the_class_needs_no_instance(decorator: str, provider: SandboxProvider) -> None:
    first = "" if decorator == "staticmethod" else "cls, "
    source = (
        "class A:\n    def __init__(self, needed): pass\n"
        f"    @{decorator}\n    def f({first}x):\n        return x * x"
    )
    assert judge(fenced(source), {**SQUARE, "function": "A.f"}, provider).score == 1


def test_dataclasses_find_their_module(provider: SandboxProvider) -> None:
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "from typing import Optional, get_type_hints\n"
        "@dataclass\nclass Node:\n    next: Optional[Node] = None\n"
        "def f(n):\n    get_type_hints(Node)\n    return repr(Node(None))"
    )
    assert judge(fenced(source), function(([1], "Node(next=None)")), provider).score == 1


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("return x * x + 1", Outcome.WRONG_ANSWER),
        ("print(x * x)", Outcome.WRONG_ANSWER),
        ("return str(x * x)", Outcome.WRONG_ANSWER),
        ("return {x * x}", Outcome.WRONG_ANSWER),
        ("yield x * x", Outcome.WRONG_ANSWER),
        ("return float('nan')", Outcome.WRONG_ANSWER),
        ("return range(10**12)", Outcome.WRONG_ANSWER),
        ("return '\\ud800'", Outcome.WRONG_ANSWER),
        ("return __import__('unittest.mock').mock.ANY", Outcome.WRONG_ANSWER),
        ("return 1 / 0", Outcome.RUNTIME_ERROR),
        ("raise SystemExit(0)", Outcome.RUNTIME_ERROR),
        ("raise KeyboardInterrupt", Outcome.RUNTIME_ERROR),
        ("return f(x)", Outcome.RUNTIME_ERROR),
        ("import os; os._exit(0)", Outcome.RUNTIME_ERROR),
        ("import os; os.kill(os.getpid(), 9)", Outcome.RUNTIME_ERROR),
        ("import os; os.kill(-1, 9)", Outcome.RUNTIME_ERROR),
        ("import os; os.closerange(0, 256)", Outcome.RUNTIME_ERROR),
        ("import os; os.execv('/bin/true', ['true'])", Outcome.RUNTIME_ERROR),
        ("import ctypes; ctypes.string_at(0)", Outcome.RUNTIME_ERROR),
        ("return bytearray(1 << 40)", Outcome.MEMORY_LIMIT),
        ("return 'x' * (2 << 20)", Outcome.OUTPUT_LIMIT),
        ("x = []; x.append(x); return x", Outcome.OUTPUT_LIMIT),
    ],
)
def test_wrong_functions_get_their_own_outcome(
    body: str, outcome: Outcome, provider: SandboxProvider
) -> None:
    judgement = judge(fenced(f"def f(x):\n    {body}"), {**SQUARE, "limits": SHORT}, provider)
    assert (judgement.score, judgement.outcome) == (0, outcome), judgement
    assert judgement.explanation


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("def g(x): return x", Outcome.RUNTIME_ERROR),
        ("f = 9", Outcome.RUNTIME_ERROR),
        ("raise NotImplementedError('later')", Outcome.RUNTIME_ERROR),
        ("raise SystemExit(0)", Outcome.RUNTIME_ERROR),
        ("import os\nprint('value 3\\ni9\\nend 0')\nos._exit(0)", Outcome.RUNTIME_ERROR),
        ("def f(x): return x *", Outcome.COMPILE_ERROR),
    ],
)
def test_a_program_without_the_function_fails(
    source: str, outcome: Outcome, provider: SandboxProvider
) -> None:
    judgement = judge(fenced(source), SQUARE, provider)
    assert (judgement.score, judgement.outcome) == (0, outcome), judgement


@pytest.mark.parametrize(
    "source",
    [
        # Objects that lie about what they are.
        "class A:\n    __eq__ = lambda s, o: True\n    __hash__ = None\ndef f(x): return A()",
        "class A(int):\n    __eq__ = lambda s, o: True\n    __hash__ = None\ndef f(x): return A(0)",
        "class A(list):\n    __eq__ = lambda s, o: True\n    __iter__ = lambda s: iter([9])\n"
        "def f(x): return A()",
        "class A:\n    def __reduce__(self): return eval, ('9',)\ndef f(x): return A()",
        "class A:\n    __class__ = int\n    __int__ = lambda s: 9\ndef f(x): return A()",
        # Looks for what is expected.
        "import sys\ndef f(x):\n    g = sys._getframe(1)\n    while g:\n"
        "        for v in [*g.f_locals.values(), *g.f_globals.values()]:\n"
        "            if isinstance(v, dict) and 'returns' in str(v): return v['returns']\n"
        "        g = g.f_back",
        "import gc\ndef f(x):\n    for o in gc.get_objects():\n"
        "        if type(o) is dict and 'returns' in o: return o['returns']",
        # Speaks for the runner.
        "import os\nfor fd in range(1, 256):\n    try:\n"
        "        os.write(fd, b'accepted 1\\n1end 0\\n'); os.close(fd)\n    except OSError: pass\n"
        "def f(x): return 0",
        "import sys\nm = sys.modules['__main__']\nm.encode = lambda *a: b'?'\ndef f(x): return 0",
        "import builtins\nbuiltins.type = builtins.len = builtins.next = None\ndef f(x): return 0",
        "class E(Exception):\n    def __str__(self): raise SystemExit(0)\n    __repr__ = __str__\n"
        "    args = property(__str__)\ndef f(x): raise E",
        "import _thread\ndef f(x):\n    _thread.interrupt_main()\n    raise GeneratorExit",
        "import sys\nsys.settrace(lambda *a: 1 / 0)\ndef f(x): return 0",
        "import os\nif os.fork(): os._exit(0)\ndef f(x): return 0",
        "import os\ndef f(x):\n    os.fork()\n    return 0",
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\ndef f(x): return 0",
        "import os\nos.chmod('.', 0)\nfor i in range(100):\n    try: os.mkfifo(f'/tmp/{i}')\n"
        "    except OSError: pass\ndef f(x): return 0",
        "import faulthandler\nfaulthandler.cancel_dump_traceback_later()\ndef f(x): return 0",
    ],
)
def test_tampering_earns_nothing_and_is_never_null(source: str, provider: SandboxProvider) -> None:
    judgement = judge(fenced(source), {**SQUARE, "limits": SHORT}, provider)
    assert judgement.score == 0, judgement


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    while True: pass",
        "def f(x): return 9 ** 9 ** 9",
        "while True: pass\ndef f(x): return 0",
        "import os, signal\ndef f(x): os.kill(os.getpid(), signal.SIGSTOP)",
        "import faulthandler\ndef f(x):\n    faulthandler.cancel_dump_traceback_later()\n"
        "    while True: pass",
        "class L(list):\n    def __iter__(self):\n        while True: yield 1\n"
        "def f(x): return sum(L())",
    ],
    ids=["loop", "one long step", "import", "stop", "clock stopped", "endless list"],
)
def test_a_call_that_does_not_end_is_a_time_limit(source: str, provider: SandboxProvider) -> None:
    start = time.monotonic()
    judgement = judge(fenced(source), {**SQUARE, "limits": SHORT}, provider)
    assert judgement.outcome is Outcome.TIME_LIMIT, judgement
    assert time.monotonic() - start < 10


def test_fraction_goes_on_after_a_call_that_broke_the_run(provider: SandboxProvider) -> None:
    source = (
        "import os\ndef f(x):\n    if x == 1: os._exit(0)\n    if x == 3:\n"
        "        while True: pass\n    if x == 4: return 0\n    return x"
    )
    params = function(*(([n], n) for n in range(6)), score="fraction", limits=SHORT)
    judgement = judge(fenced(source), params, provider)
    assert [case.outcome.value for case in judgement.cases] == [
        "accepted",
        "runtime_error",
        "accepted",
        "time_limit",
        "wrong_answer",
        "accepted",
    ]
    assert (judgement.outcome, judgement.score) == (Outcome.PARTIAL, 0.5)


def test_the_time_of_all_tests_is_bounded(provider: SandboxProvider) -> None:
    source = (
        "import faulthandler, time\ndef f(x):\n    faulthandler.cancel_dump_traceback_later()\n"
        "    time.sleep(99)"
    )
    params = function(*(([n], n) for n in range(3)), score="fraction", limits=SHORT)
    start = time.monotonic()
    judgement = judge(fenced(source), params, provider)
    assert [case.outcome for case in judgement.cases] == [Outcome.TIME_LIMIT] * 3
    assert time.monotonic() - start < 10


def test_a_case_says_what_was_called_and_what_came_back(provider: SandboxProvider) -> None:
    judgement = judge(fenced("def f(a, b):\n    return [a, b]"), function((["x", 1], 2)), provider)
    (case,) = judgement.cases
    assert (case.input, case.expected, case.got) == ('"x", 1', "2", '["x", 1]')
    assert '["x", 1]' in judgement.explanation


def test_an_error_is_told_with_its_line(provider: SandboxProvider) -> None:
    judgement = judge(fenced("def f(x):\n\n    return 1 // 0"), SQUARE, provider)
    assert "ZeroDivisionError" in judgement.explanation
    assert "line 3" in judgement.explanation


def test_a_tolerance_is_an_option(provider: SandboxProvider) -> None:
    source, params = fenced("def f(x, y): return x + y"), function(([0.1, 0.2], 0.3))
    assert judge(source, params, provider).score == 0
    assert judge(source, {**params, "float": {"abs": 1e-9}}, provider).score == 1

"""A program run by a fork of a warm interpreter can't be told from one run by a fresh one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from sandboxes.base import ExitReason, Sandbox, SandboxBroken, SandboxSpec
from sandboxes.embedded.namespaces import NamespacesProvider
from tests.sandboxes.conftest import SMALL

PRELOADED = ("json", "random", "threading", "dataclasses", "logging")
WARM = "import sys; print('json' in sys.modules)"

PROGRAMS = {
    "input": "print('hi', input())",
    "what it sees": """
import sys, os
print(sys.argv, sys.path, sys.flags, sys.executable, sys.orig_argv, sys.warnoptions)
print(__name__, __spec__, type(__loader__), __builtins__, __annotations__, list(globals()))
print(globals().get("__file__"), sorted(os.environ.items()), os.getcwd(), os.getpid())
for stream in (sys.stdin, sys.stdout, sys.stderr):
    print(stream, stream.errors, stream.line_buffering, stream.write_through, stream.newlines)
print(hash("x"), sys.getrecursionlimit(), os.getpgid(0), os.umask(0), os.nice(0))
import signal
print([(n, signal.getsignal(n)) for n in sorted(signal.valid_signals())])
""",
    "exception": """
def f():
    1 / 0
try:
    f()
except Exception as error:
    raise ValueError("x") from error
""",
    "syntax error": "a = = 1",
    "late syntax error": "print(1)\nreturn 2",
    "exit with a text": "import sys; sys.exit('bye')",
    "exit with a number": "raise SystemExit(3)",
    "exit with a large number": "raise SystemExit(261)",
    "exit with a negative number": "raise SystemExit(-1)",
    "exit with a tuple": "raise SystemExit((1, 2))",
    "exit with a truth": "raise SystemExit(True)",
    "exit at once": "import os; print('lost'); os._exit(4)",
    "warnings": "import warnings\nwarnings.warn('w')\nprint(1 is 1)",
    "interrupt": """
import os, signal, atexit
atexit.register(print, "bye")
os.kill(os.getpid(), signal.SIGINT)
""",
    "own hook": "import sys\nsys.excepthook = lambda t, v, tb: print(t, v, tb.tb_next)\n1 + ''",
    "own hook that fails": "import sys\nsys.excepthook = lambda *a: 1 / 0\n1 + ''",
    "exit handlers": """
import atexit
atexit.register(print, "last")
atexit.register(lambda: 1 / 0)
print("first")
""",
    "threads at the end": """
import threading, time
def work():
    time.sleep(0.1)
    print("thread")
threading.Thread(target=work).start()
print("main")
""",
    "daemon at the end": """
import threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
print("main")
""",
    "exception in a thread": """
import threading
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
print(threading.main_thread() is threading.current_thread(), threading.active_count())
""",
    "unflushed file": "f = open('out', 'w')\nf.write('unflushed')",
    "unflushed file in our module": "import json\njson.f = open('out', 'w')\njson.f.write('kept')",
    "output to a file": "import sys\nsys.stdout = open('out', 'w')\nprint('to file')",
    "finalizer": "class A:\n    def __del__(self): print('gone')\na = A()\nb = A()\nb.b = b",
    "finalizer in our module": (
        "import json\nclass A:\n    def __del__(self): print('gone')\njson.a = A()"
    ),
    "suspended generator": """
import json
def g():
    try: yield
    finally: print("closed")
json.g = g()
next(json.g)
""",
    "weak finalizer": "import weakref\nclass A: pass\na = A()\nweakref.finalize(a, print, 'gone')",
    "output through C": "import ctypes\nctypes.CDLL(None).printf(b'hi')",
    "closed output": "import sys\nprint('x')\nsys.stdout.close()",
    "no output": "import sys\nsys.stdout = None\nprint('x')",
    "output descriptor closed": "import os\nos.close(1)\nprint('x')",
    "traced": "import sys\nsys.settrace(lambda frame, event, value: None)\nprint(2)",
    "log file": "import logging\nlogging.basicConfig(filename='out', level=10)\nlogging.info('x')",
    "compressed file": "import gzip\nf = gzip.open('out', 'wb', mtime=0)\nf.write(b'x' * 99)",
    "pool": """
import multiprocessing
def square(x):
    return x * x
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(pool.map(square, range(5)))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(square, range(5)))
""",
    "fork": """
import os
child = os.fork()
if child:
    os.waitpid(child, 0)
print("parent" if child else "child")
""",
    "recursion": """
depth = 0
def f():
    global depth
    depth += 1
    f()
try:
    f()
except RecursionError as error:
    print(depth, error)
f()
""",
    "bytes that are no text": "import sys\nprint(repr(sys.stdin.read()))\nprint('\\udcff')",
    "encoding": "# -*- coding: latin-1 -*-\nprint('é')",
    "future": "from __future__ import annotations\ndef f(x: nope): pass\nprint(f.__annotations__)",
    "data class": """
from dataclasses import dataclass
import typing
@dataclass
class A:
    x: int = 0
print(A(1), typing.get_type_hints(A))
""",
    "own source": "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f))",
    "pickle": "import pickle\nclass C: pass\nprint(pickle.dumps(C()))",
    "unit tests": """
import unittest
class T(unittest.TestCase):
    def test(self):
        self.assertEqual(1, 2)
unittest.main()
""",
    "asyncio": "import asyncio\nasync def f(): print('a')\nasyncio.run(f())",
    "import beside it": "import beside\nprint(beside.__file__, beside.__name__)",
    "not here": "import sandboxes",
}


@pytest.fixture(scope="module")
def boxes() -> Iterator[tuple[Sandbox, Sandbox]]:
    """A fresh interpreter's, and a warm one's."""
    provider = NamespacesProvider()
    with (
        provider.create(SandboxSpec(SMALL)) as fresh,
        provider.create(SandboxSpec(SMALL, preload=PRELOADED)) as warm,
    ):
        yield fresh, warm
    provider.close()


@pytest.mark.parametrize("form", ["file", "file in a folder", "module", "text"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_warm_program_does_what_a_fresh_one_does(
    boxes: tuple[Sandbox, Sandbox], name: str, form: str
) -> None:
    told = [_told(box, PROGRAMS[name], form) for box in boxes]
    assert told[1] == told[0]


def _told(box: Sandbox, program: str, form: str) -> dict[str, Any]:
    box.write(
        {
            "p.py": program.encode(),
            "d/p.py": program.encode(),
            "beside.py": b"",
            "d/beside.py": b"",
        }
    )
    argv = {
        "file": ["p.py", "a", "-b"],
        "file in a folder": ["./d/p.py"],
        "module": ["-m", "d.p", "a"],
        "text": ["-c", program, "a"],
    }[form]
    result = box.exec(["python3", *argv], stdin=b"you\r\n\xff", env={"PYTHONHASHSEED": "0"})
    try:
        left = box.read("out", 1000)
    except FileNotFoundError:
        left = b"nothing"
    how = (result.reason, result.exit, result.signal)
    return {"how": how, "wrote": _steady(result.stdout), "erred": _steady(result.stderr)} | {
        "left": left
    }


def _steady(text: bytes) -> bytes:
    return re.sub(rb"0x[0-9a-f]+|in \d\.\d+s", b"@", text)


@pytest.mark.parametrize(
    ("argv", "options", "warm"),
    [
        (["python3", "p.py"], {}, True),
        (["python3", "-B", "p.py"], {}, True),
        (["python3", "-m", "p"], {}, True),
        (["python3", "-c", WARM], {}, True),
        (["python3", "p.py"], {"env": {"SEED": "7"}}, True),
        (["python3", "-I", "p.py"], {}, False),
        (["python3", "-u", "p.py"], {}, False),
        (["python3", "-X", "utf8", "p.py"], {}, False),
        (["python3", "-"], {"stdin": WARM.encode()}, False),
        (["python3", "without-ending"], {}, False),
        (["python3", "p.py"], {"env": {"PYTHONHASHSEED": "1"}}, False),
        (["python3", "p.py"], {"env": {"PYTHONPATH": "/tmp"}}, False),
        (["python3", "p.py"], {"env": {"LC_ALL": "C"}}, False),
        (["python", "p.py"], {}, False),
        (["sh", "-c", "exec python3 p.py"], {}, False),
    ],
)
def test_only_what_would_be_the_same_is_run_warm(
    boxes: tuple[Sandbox, Sandbox], argv: list[str], options: dict[str, Any], warm: bool
) -> None:
    _, box = boxes
    box.write({"p.py": WARM.encode(), "without-ending": WARM.encode()})
    result = box.exec(argv, **options)
    assert (result.exit, result.stdout) == (0, b"%r\n" % warm)


def test_packages_of_the_user_are_found() -> None:
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    provider = NamespacesProvider()
    with provider.create(SandboxSpec(preload=PRELOADED)) as box:
        box.write({f".local/lib/{version}/site-packages/mine.py": b"print('mine')"})
        assert box.exec(["python3", "-c", "import mine"]).stdout == b"mine\n"
    provider.close()


def test_nothing_of_a_run_is_in_the_memory_of_the_next(boxes: tuple[Sandbox, Sandbox]) -> None:
    _, box = boxes
    secret = "hidden" + "-test-4711"
    box.write({"tests.py": secret.encode() * 1000})
    box.exec(["python3", "-c", f"print('{secret}')"], stdin=secret.encode() * 1000)
    search = """
import re, sys
found = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
    for line in maps:
        start, end = (int(x, 16) for x in line.split()[0].split("-"))
        if line.split()[1].startswith("rw"):
            memory.seek(start)
            found += memory.read(end - start).count(b"HIDDEN-TEST-4711".lower())
print(found)
"""
    box.write({"tests.py": b""})
    result = box.exec(["python3", "-c", search])
    assert result.reason is ExitReason.EXITED
    assert int(result.stdout) < 5  # what it looks for is there itself


def test_every_run_draws_random_numbers_of_its_own(boxes: tuple[Sandbox, Sandbox]) -> None:
    _, box = boxes
    drawn = {box.exec(["python3", "-c", "import random; print(random.random())"]).stdout}
    drawn |= {box.exec(["python3", "-c", "import random; print(random.random())"]).stdout}
    assert len(drawn) == 2


def test_a_module_that_is_not_there_is_the_boxes_failure() -> None:
    provider = NamespacesProvider()
    with (
        provider.create(SandboxSpec(preload=("no_such_module",))) as box,
        pytest.raises(SandboxBroken, match="no_such_module"),
    ):
        box.exec(["python3", "-c", "pass"])
    provider.close()

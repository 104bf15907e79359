"""Programs whose every trait shows whether an interpreter is a fresh one."""

from __future__ import annotations

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
    "warnings": """
import warnings
warnings.warn('w')
print(1 is 1)
""",
    "interrupt": """
import os, signal, atexit
atexit.register(print, "bye")
os.kill(os.getpid(), signal.SIGINT)
""",
    "own hook": """
import sys
sys.excepthook = lambda t, v, tb: print(t, v, tb.tb_next)
1 + ''
""",
    "own hook that fails": """
import sys
sys.excepthook = lambda *a: 1 / 0
1 + ''
""",
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
    "unflushed file in our module": """
import json
json.f = open('out', 'w')
json.f.write('kept')
""",
    "output to a file": """
import sys
sys.stdout = open('out', 'w')
print('to file')
""",
    "finalizer": """
class A:
    def __del__(self): print('gone')
a = A()
b = A()
b.b = b
""",
    "finalizer in our module": """
import json
class A:
    def __del__(self): print('gone')
json.a = A()
""",
    "suspended generator": """
import json
def g():
    try: yield
    finally: print("closed")
json.g = g()
next(json.g)
""",
    "weak finalizer": """
import weakref
class A: pass
a = A()
weakref.finalize(a, print, 'gone')
""",
    "output through C": "import ctypes\nctypes.CDLL(None).printf(b'hi')",
    "closed output": """
import sys
print('x')
sys.stdout.close()
""",
    "no output": """
import sys
sys.stdout = None
print('x')
""",
    "output descriptor closed": """
import os
os.close(1)
print('x')
""",
    "traced": """
import sys
sys.settrace(lambda frame, event, value: None)
print(2)
""",
    "log file": """
import logging
logging.basicConfig(filename='out', level=10)
logging.info('x')
""",
    "compressed file": """
import gzip
f = gzip.open('out', 'wb', mtime=0)
f.write(b'x' * 99)
""",
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
    "bytes that are no text": """
import sys
print(repr(sys.stdin.read()))
print('\\udcff')
""",
    "encoding": "# -*- coding: latin-1 -*-\nprint('é')",
    "future": """
from __future__ import annotations
def f(x: nope): pass
print(f.__annotations__)
""",
    "data class": """
from dataclasses import dataclass
import typing
@dataclass
class A:
    x: int = 0
print(A(1), typing.get_type_hints(A))
""",
    "own source": """
import inspect
def f():
    return 1
print(inspect.getsource(f))
""",
    "pickle": """
import pickle
class C: pass
print(pickle.dumps(C()))
""",
    "unit tests": """
import unittest
class T(unittest.TestCase):
    def test(self):
        self.assertEqual(1, 2)
unittest.main()
""",
    "asyncio": """
import asyncio
async def f(): print('a')
asyncio.run(f())
""",
    "import beside it": "import beside\nprint(beside.__file__, beside.__name__)",
    "not here": "import sandboxes",
    "exit with a huge number": "raise SystemExit(2**64)",
    "exit with a large negative number": "raise SystemExit(-2**40 - 3)",
    "exit with a number of its own kind": """
class Number(int):
    def __and__(self, other): return 7
    def __bool__(self): print("asked"); return False
raise SystemExit(Number(5))
""",
    "exit with what can't be shown": """
class Odd:
    def __str__(self): raise ValueError("no")
raise SystemExit(Odd())
""",
    "exit with a text and no error stream": """
import sys
sys.stderr = None
sys.exit('bye')
""",
    "exit in an exit handler": """
import atexit, sys
atexit.register(sys.exit, 5)
print(1)
""",
    "exit in a thread": """
import threading, sys
threading.Thread(target=sys.exit, args=(3,)).start()
""",
    "exit with finalizers": """
import os, sys
class A:
    def __init__(self, name): self.name = name
    def __del__(self): print("gone", self.name, os, sys.is_finalizing())
a = A(1)
_b = A(2)
def f():
    c = A(3)
    sys.exit(4)
f()
""",
    "finalizers in order": """
import sys
class A:
    def __init__(self, name): self.name = name
    def __del__(self): print("gone", self.name, sys and sys.is_finalizing())
a, _b = A("a"), A("_b")
ring = A("ring"); ring.ring = ring
ring = None
sys.kept = A("in sys")
""",
    "finalizer after an error": """
class A:
    def __del__(self): print("gone")
def f():
    a = A()
    1 / 0
f()
""",
    "finalizer beside a daemon": """
import threading
class A:
    def __del__(self): print("gone")
a = A()
threading.Thread(target=threading.Event().wait, daemon=True).start()
""",
    "finalizer of what holds nothing": """
import json
class A:
    __slots__ = ()
    def __del__(self): print("gone")
json.a = A()
b = A()
""",
    "finalizer that fails": """
class A:
    def __del__(self): 1 / 0
a = A()
""",
    "weak dictionaries": """
import logging, weakref
class A: pass
a = A()
d, s = weakref.WeakValueDictionary(a=a), weakref.WeakSet([a])
logging.getLogger("x").addHandler(logging.StreamHandler())
logging.getLogger("x").error("y")
""",
    "many objects": "x = [[i] for i in range(300_000)]\nprint(len(x))",
    "weak reference": """
import weakref
class A: pass
a = A()
w = weakref.ref(a, lambda _: print("gone"))
""",
    "classes of an odd kind": """
class Meta(type):
    def __getattr__(cls, name): print("asked for", name); raise ValueError(name)
    def __hash__(cls): raise ValueError("no hash")
    def __eq__(cls, other): raise ValueError("no comparison")
class A(metaclass=Meta): pass
a = A()
print("end")
""",
    "output stream that fails": """
import sys
class Out:
    def write(self, text): sys.__stdout__.write(text)
    def flush(self): sys.__stdout__.flush(); raise RuntimeError("no")
sys.stdout = Out()
print("x")
""",
    "output in memory": """
import io, sys
class Fast(io.IOBase):
    def __init__(self): self.buffer = io.BytesIO()
    def write(self, text): self.buffer.write(text.encode())
    def flush(self):
        import os
        os.write(1, self.buffer.getvalue())
        self.buffer.seek(0); self.buffer.truncate(0)
sys.stdout = Fast()
print("x")
""",
    "output of another encoding": """
import io, sys
sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-16")
print("é")
""",
    "detached output": "import sys\nsys.stdout.detach().write(b'x')",
    "no modules": """
import sys
sys.modules.clear()
print(1)
""",
    "modules replaced": """
import sys
sys.modules = {}
print(1)
""",
    "interrupted while it ends": """
import os, signal, threading, time
def work():
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.2)
threading.Thread(target=work).start()
print("main")
""",
    "interrupt with finalizers": """
class A:
    def __del__(self): print("gone")
a = A()
raise KeyboardInterrupt
""",
    "no hook": """
import sys
del sys.excepthook
1 / 0
""",
    "hook that exits": """
import sys
sys.excepthook = lambda *a: sys.exit(9)
1 / 0
""",
    "hook that fails and no error stream": """
import sys
sys.excepthook = lambda *a: 1 / 0
sys.stderr = None
1 / 0
""",
    "warning and syntax error": "1 is 1\nreturn 2",
    "bad escape": "print('\\d')\nx = 1 / 0",
    "group of errors": "raise ExceptionGroup('several', [ValueError(1), TypeError(2)])",
    "error without a trace": "raise ValueError('x').with_traceback(None) from None",
    "unraisable": """
import sys
sys.unraisablehook = lambda a: print(a.exc_value)
class A:
    def __del__(self): 1 / 0
a = A()
""",
    "archive": """
import zipfile
z = zipfile.ZipFile('out', 'w')
z.writestr(zipfile.ZipInfo('a'), 'b')
""",
    "temporary directory": """
import tempfile, os
t = tempfile.TemporaryDirectory()
print(os.path.isdir(t.name))
""",
    "task nobody awaited": """
import asyncio
async def f(): 1 / 0
async def main():
    global task
    task = asyncio.create_task(f())
    await asyncio.sleep(0)
asyncio.run(main())
""",
    "coroutine nobody awaited": """
async def f(): pass
f()
g = f()
""",
    "thread pool": """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
print(pool.submit(pow, 2, 3).result())
""",
    "process pool": """
from concurrent.futures import ProcessPoolExecutor
if __name__ == "__main__":
    pool = ProcessPoolExecutor(1)
    print(pool.submit(pow, 2, 3).result())
""",
    "child that ends by itself": """
import os, sys
print("buffered")
if os.fork() == 0:
    sys.exit(3)
print(os.waitstatus_to_exitcode(os.wait()[1]))
""",
    "subprocess": """
import subprocess, sys
print(subprocess.run([sys.executable, '-c', 'print(4)'], capture_output=True))
""",
    "locale": "import locale, time\nprint(locale.getlocale(), locale.setlocale(0), time.tzname)",
    "descriptors": """
import os
print(sorted(os.listdir('/proc/self/fd')), open('/proc/self/comm').read())
""",
    "time": "import time\nprint(time.process_time() < 1)",
    "dead by a signal of its own": """
import os, signal
print('lost')
os.kill(os.getpid(), signal.SIGTERM)
""",
    "crash": """
import ctypes
print('lost')
ctypes.string_at(0)
""",
    "alarm": """
import signal, time
signal.setitimer(signal.ITIMER_REAL, 0.1)
time.sleep(5)
""",
    "broken pipe": """
import os, sys
r, w = os.pipe()
os.dup2(w, 1)
os.close(r)
print("x")
""",
    "nothing": "",
}

__all__ = ["PROGRAMS"]

"""Calls a function of the candidate with arguments that are data; sends its values back.

Runs inside the box, where the candidate can read and bend all of it. That is no matter: what
is expected is not here, so all that a candidate can forge is its own values. What counts is
that honest programs are called faithfully, and that a run which was cut short says so: it
lacks its last frame.

Standard input: one JSON object {"file", "function", "calls": [{"args", "kwargs"}, …],
"time_s", "cpu_s", "wall_s", "max_bytes"}; a call may take `time_s` of the processor and is
ended after `cpu_s` of it, or `wall_s` of the clock. Standard output: frames, a line
`KIND LENGTH` and LENGTH bytes each. `ready` before a line of the program runs; a frame a call:
`value` (see `encode`), `raised`, `not_json` (a type's name), `too_large`, `slow` (it took more
than `time_s`); `end`. Instead of the calls': `syntax` or `unusable` with what is wrong with the
program.
"""

from __future__ import annotations

import faulthandler
import fcntl
import json
import os
import sys

# Not by way of the codec registry, which a program can empty.
from _codecs import unicode_escape_encode
from os import _exit, getpid, write
from signal import ITIMER_PROF, SIG_DFL, SIGPROF, setitimer, signal
from time import process_time
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_MODULE = "solution"
# Above what programs close to be tidy.
_CHANNEL_FD = 100
_PLAIN = (bool, int, float, str, list, tuple, dict, type(None))
# The real ones, whatever a class of the candidate's puts in their place.
_type_name = type.__dict__["__name__"].__get__
_error_args = BaseException.__dict__["args"].__get__
_error_trace = BaseException.__dict__["__traceback__"].__get__


class NotJson(Exception):
    """A value that JSON doesn't have; its text is the type's name."""


class TooLarge(Exception):
    """A value whose encoding is larger than allowed."""


class Unusable(Exception):
    """The program lacks what is to be called."""


class Channel:
    """Where frames go: a copy of the first standard output, out of `print`'s reach."""

    def __init__(self) -> None:
        self.fd = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, _CHANNEL_FD)
        self._owner = getpid()
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.close(null)

    def start_clock(self, cpu_s: float, wall_s: float) -> None:
        """Gives the process so long from now.

        Both clocks strike even while a call holds the interpreter: the kernel's ends the
        process by SIGPROF, the other is a thread in C and says so where a frame should begin.
        """
        setitimer(ITIMER_PROF, cpu_s)
        faulthandler.dump_traceback_later(wall_s, exit=True, file=self.fd)

    def send(self, kind: str, payload: bytes = b"") -> None:
        """Writes one frame; a fork of the program that got here ends instead."""
        if getpid() != self._owner:
            _exit(1)
        data = memoryview(b"%s %d\n%s" % (kind.encode(), len(payload), payload))
        while data:
            data = data[write(self.fd, data) :]

    def finish(self, kind: str, payload: bytes = b"") -> NoReturn:
        """Writes the last frame and ends the process, whatever threads still run."""
        self.send(kind, payload)
        _exit(0)


def main() -> None:
    """Reads the job and runs it to its last frame."""
    job = json.loads(sys.stdin.buffer.read())
    channel = Channel()
    channel.send("ready")
    signal(SIGPROF, SIG_DFL)
    channel.start_clock(job["cpu_s"], job["wall_s"])
    started_s = process_time()
    sys.argv[:] = [job["file"]]
    namespace = load(job["file"], channel)
    for call in job["calls"]:
        kind, payload = answer(job, namespace, call)
        if kind == "unusable":
            channel.finish(kind, payload)
        if process_time() - started_s > job["time_s"]:
            kind, payload = "slow", b""
        channel.send(kind, payload)
        channel.start_clock(job["cpu_s"], job["wall_s"])
        started_s = process_time()
    channel.finish("end")


def load(file: str, channel: Channel) -> dict[str, Any]:
    """The program's names after it was imported as a module."""
    path = os.path.abspath(file)
    try:
        with open(path, "rb") as stream:
            code = compile(stream.read(), path, "exec", dont_inherit=True)
    except BaseException as error:  # noqa: BLE001 - whatever it raises is its own
        channel.finish("syntax", describe(error, path))
    module = ModuleType(_MODULE)
    module.__file__ = path
    sys.modules[_MODULE] = module
    try:
        exec(code, module.__dict__)  # noqa: S102
    except BaseException as error:  # noqa: BLE001 - whatever it raises is its own
        channel.finish("unusable", describe(error, path))
    return module.__dict__


def answer(job: dict[str, Any], namespace: dict[str, Any], call: Any) -> tuple[str, bytes]:
    """One call and its frame."""
    try:
        value = resolve(namespace, job["function"])(*call["args"], **call["kwargs"])
        return "value", encode(value, job["max_bytes"])
    except Unusable as error:
        return "unusable", str(error).encode()
    except NotJson as error:
        return "not_json", str(error).encode()
    except TooLarge:
        return "too_large", b""
    except BaseException as error:  # noqa: BLE001 - whatever it raises is its own
        return "raised", describe(error, os.path.abspath(job["file"]))


def resolve(namespace: dict[str, Any], dotted: str) -> Any:
    """What is to be called; a method is bound to an instance of its own."""
    name, _, method = dotted.partition(".")
    if name not in namespace:
        raise Unusable(f"it defines no {name!r}")
    found = namespace[name]
    if not method:
        return found
    if issubclass(type(found), type):
        raw = next((vars(base)[method] for base in found.__mro__ if method in vars(base)), None)
        if type(raw) not in (staticmethod, classmethod):
            found = found()
    return getattr(found, method)


def encode(value: Any, max_bytes: int) -> bytes:
    """A JSON value as lines, from the outside in.

    `n`, `t`, `f`, `iHEX`, `dREPR`, `sESCAPED`, `[COUNT` followed by the items, `{COUNT` by
    keys and values in the keys' order. Only exact built-in types are looked at; instances of
    their subclasses are first restored to plain data, without a call to a method of theirs.
    """
    lines: list[bytes] = []
    left = max_bytes
    stack = [value]
    while stack:
        item = plain(stack.pop())
        kind = type(item)
        if item is None:
            line = b"n"
        elif kind is bool:
            line = b"t" if item else b"f"
        elif kind is int:
            line = b"i%x" % item
        elif kind is float:
            line = b"d" + repr(item).encode()
        elif kind is str:
            line = b"s" + unicode_escape_encode(item)[0]
        elif kind is list:
            line = b"[%d" % len(item)
            stack.extend(reversed(item))
        else:
            line = b"{%d" % len(item)
            for key in sorted(item, reverse=True):
                stack += (item[key], key)
        lines.append(line)
        left -= len(line) + 1
        if left < 0:
            raise TooLarge
    return b"\n".join(lines) + b"\n"


def plain(value: Any) -> Any:
    """The value as exact None, bool, int, float, str, list or dict of str; one level deep.

    Tuples become lists and keys become text, as in `json.dumps`.
    """
    kind = type(value)
    base = kind if kind in _PLAIN else next((b for b in _PLAIN if issubclass(kind, b)), None)
    if base is None:
        raise NotJson(_type_name(kind))
    if base is list:
        return [*list.__iter__(value)]
    if base is tuple:
        return [*tuple.__iter__(value)]
    if base is dict:
        return {plain_key(key): item for key, item in dict.items(value)}
    if base is int:
        return int.__int__(value)
    if base is float:
        return float.__float__(value)
    return str.__str__(value) if base is str else value


def plain_key(key: Any) -> str:
    """A key of a JSON object, written as `json.dumps` does."""
    kind = type(key)
    if issubclass(kind, str):
        return str.__str__(key)
    if key is None or kind is bool:
        return {None: "null", True: "true", False: "false"}[key]
    if issubclass(kind, int):
        return str(int.__int__(key))
    if issubclass(kind, float):
        return repr(float.__float__(key))
    raise NotJson(f"dict with a {_type_name(kind)} as key")


def describe(error: BaseException, path: str) -> bytes:
    """The error's type, text and line, without running a line of the candidate's."""
    args = _error_args(error)
    text = f": {args[0]}" if args and type(args[0]) is str else ""
    line = 0
    trace = _error_trace(error)
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    where = f" (line {line})" if line else ""
    return f"{_type_name(type(error))}{text[:300]}{where}".encode(errors="replace")


if __name__ == "__main__":
    main()

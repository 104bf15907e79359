"""Runs a text of asserts against a program that lives in another process.

This process is the trusted one. It forks the program's before it has read anything, turns
itself into one that others of its user can't look into, and only then learns the asserts and
a nonce. The program's process holds neither them nor this one's standard streams: all that
it can do to the verdict is to answer, to be silent, or to end the run without a verdict.

Standard input: one JSON object {"asserts", "function", "nonce", "all"}. Standard output: lines
of JSON, each with the nonce: {"ready": true} before a line of the program runs, or {"refused":
why} where this host doesn't let this process protect itself, or {"lacking": modules} that the
asserts import and the box doesn't have; {"outcome", "message", "text"} for each case; {"end":
true}.
"""

from __future__ import annotations

import ast
import builtins
import ctypes
import json
import os
import signal
import sys

from .candidate import serve_candidate
from .judge import MODULE, Judge
from .link import Gone
from .plan import Plan
from .remote import Remote, RemoteType, Tampering
from .shared_state import Names, share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_PR_SET_DUMPABLE = 4
_LINK_FDS = (100, 101)
_FILE = "solution.py"
_type_name = type.__dict__["__name__"].__get__
_error_args = BaseException.__dict__["args"].__get__


def main() -> None:
    """Forks the program's process and judges it."""
    prctl = ctypes.CDLL(None).prctl
    to_read, to_write = os.pipe(), os.pipe()
    protected = prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0
    if os.fork() == 0:
        prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
        _become_candidate(to_write[0], to_read[1])
    os.close(to_write[0])
    os.close(to_read[1])
    # A signal from the program ends this process; as an exception, a test might catch it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    # The program can write modules into its directory.
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]
    job = json.loads(sys.stdin.buffer.read())
    report = Report(job["nonce"])
    if not protected:
        report.line(refused="prctl(PR_SET_DUMPABLE) failed")
        return
    plan = Plan(job["asserts"], job["function"])
    # Now, while the program has not run: what is missing is missing by no doing of its own.
    lacking = [name for name in plan.imports if not can_import(name)]
    if lacking:
        report.line(lacking=lacking)
        return
    report.line(ready=True)
    run(plan, report, Judge(to_read[0], to_write[1]), stop_early=job["all"])


def _become_candidate(read_fd: int, write_fd: int) -> None:
    os.dup2(read_fd, _LINK_FDS[0], inheritable=False)
    os.dup2(write_fd, _LINK_FDS[1], inheritable=False)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.closerange(3, _LINK_FDS[0])
    serve_candidate(*_LINK_FDS, _FILE)


class Report:
    """The lines of the verdict."""

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce
        self._fd = os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        # What the asserts print is none of the verdict's.
        os.dup2(null, 1)

    def line(self, **fields: Any) -> None:
        """Writes one."""
        data = memoryview(b"\n" + json.dumps({"nonce": self._nonce, **fields}).encode() + b"\n")
        while data:
            data = data[os.write(self._fd, data) :]


def can_import(module: str) -> bool:
    """Whether the asserts can have a module that they import."""
    try:
        __import__(module)
    except (ImportError, ValueError):
        return False
    return True


def run(plan: Plan, report: Report, judge: Judge, *, stop_early: bool) -> None:
    """Runs the statements in their order, to the end or to the first failure."""
    failure = attempt(lambda: judge.load("compile"), "compile_error")
    failure = failure or attempt(lambda: judge.load("load"))
    if failure is not None:
        report.line(outcome=failure[0], message=f"{failure[1]} while it is loaded")
        return
    names = names_for(plan, judge)
    share(judge)
    pending: tuple[str, str] | None = None
    for statement in plan.statements:
        code = compile(ast.Module([statement], []), "<asserts>", "exec", optimize=0)
        failure = attempt(lambda: exec(code, names))  # noqa: B023, S102 - run at once
        if statement not in plan.cases:
            pending = pending or failure
            continue
        outcome, why = pending or failure or ("accepted", "")
        pending = None
        text = (ast.get_source_segment(plan.text, statement) or "")[:300]
        report.line(outcome=outcome, message=why, text=text)
        if why and stop_early:
            return
    # A test may have caught the end of the program's process with a bare `except`.
    gone = attempt(lambda: judge.name("__name__"))
    report.line(end=gone is None)


def names_for(plan: Plan, judge: Judge) -> dict[str, Any]:
    """What the asserts find by name: modules, and what the program defines."""
    names: dict[str, Any] = {"__name__": MODULE, "__builtins__": builtins}
    names.update({module: __import__(module) for module in plan.modules})
    data: dict[str, Any] = {}
    for name in plan.wanted:
        try:
            value = judge.name(name)
        except NameError:
            continue
        is_remote = issubclass(type(value), (Remote, RemoteType))
        (names if is_remote else data)[name] = value
    return Names(judge, names, data) if data else names


def attempt(action: Callable[[], Any], default: str = "runtime_error") -> tuple[str, str] | None:
    """Runs it; the failure as outcome and clause, None if there is none."""
    try:
        action()
    except AssertionError as error:
        return "wrong_answer", f"it fails{_detail(error)}"
    except Tampering as error:
        return "policy_violation", str(error)
    except Gone as error:
        return "runtime_error", str(error)
    except BaseException as error:  # noqa: BLE001 - whatever the program raises
        out_of_memory = isinstance(error, MemoryError) and default == "runtime_error"
        why = f"it raises {_type_name(type(error))}{_detail(error)}"
        return ("memory_limit" if out_of_memory else default), why
    return None


def _detail(error: BaseException) -> str:
    args = _error_args(error)
    return f": {args[0][:200]}" if args and type(args[0]) is str else ""


if __name__ == "__main__":
    main()

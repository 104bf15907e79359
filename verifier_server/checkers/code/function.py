"""The `function` mode: calls inside the box, comparison here.

Arguments go in as data and values come out as data; what is expected stays in this process.
One run makes all calls. Where it is cut short, by whatever the candidate did, the call that
was under way has failed, and under "fraction" another run makes the rest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sandboxes.base import ExecResult
from verifier_server.checkers.code.box import (
    SOURCE_FILE,
    PythonRunner,
    bad_end,
    require_start,
)
from verifier_server.checkers.code.grading import cut
from verifier_server.checkers.code.params import FunctionParams, FunctionTest
from verifier_server.checkers.code.wire import Frame, read_frames, says, show
from verifier_server.verdict import Case, Outcome

RUNNER_FILE = "_function_runner.py"
# The runner's own clock is the one to strike; this is for a candidate that stopped it.
_GRACE_S = 1.0


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A test and its place among all."""

    number: int
    test: FunctionTest


@cache
def runner_source() -> bytes:
    """The program that makes the calls, to be written into the box as `RUNNER_FILE`."""
    return files(__package__).joinpath("harness", "function_runner.py").read_bytes()


def run_function(params: FunctionParams, runner: PythonRunner) -> Iterator[Case]:
    """The cases in order; ends early where the program can't be used at all.

    Raises:
        SandboxError: the box failed.
    """
    pending = [_Numbered(number, test) for number, test in enumerate(params.tests, 1)]
    left_s = params.limits.time_s * len(pending)
    while pending:
        if left_s <= 0:
            yield from (_failed(one, Outcome.TIME_LIMIT, "no time is left") for one in pending)
            return
        result = runner.run([RUNNER_FILE], stdin=_job(params, pending), time_s=left_s + _GRACE_S)
        left_s -= result.usage.wall_s
        answers, end = _answers(result, len(pending))
        for one, frame in zip(pending, answers, strict=False):
            case = _judge(params, one, frame)
            yield case
            if frame.kind in ("syntax", "unusable"):
                return
        if end is not None:
            yield _failed(pending[len(answers)], *end)
        pending = pending[len(answers) + 1 :]


def _job(params: FunctionParams, pending: Sequence[_Numbered]) -> bytes:
    job = {
        "file": SOURCE_FILE,
        "function": params.function,
        "calls": [{"args": one.test.args, "kwargs": one.test.kwargs} for one in pending],
        "time_s": params.limits.time_s,
        "max_bytes": params.limits.output_bytes,
    }
    return json.dumps(job, allow_nan=False).encode()


def _answers(result: ExecResult, calls: int) -> tuple[list[Frame], tuple[Outcome, str] | None]:
    """The calls' frames that count, and how the run failed at the call after them, if it did.

    The last call's frame counts only in a run that came to its proper end: else a program
    that broke in the middle could pass for one that was through.
    """
    frames, timed_out = read_frames(result.stdout, calls + 2)
    require_start(result, bool(frames) and frames.pop(0).kind == "ready")
    end = bad_end(result)
    if 0 < len(frames) <= calls and frames[-1].kind in ("syntax", "unusable"):
        return frames, None
    if end is None and len(frames) == calls + 1 and frames[-1].kind == "end":
        return frames[:-1], None
    if timed_out and end is not None and end[0] is Outcome.RUNTIME_ERROR:
        end = Outcome.TIME_LIMIT, "the call ran into the time limit"
    if end is None:
        end = Outcome.RUNTIME_ERROR, "the program left before the call was done"
    return frames[: calls - 1], end


def _judge(params: FunctionParams, one: _Numbered, frame: Frame) -> Case:
    text = cut(frame.payload)
    if frame.kind == "value":
        if says(frame.payload, one.test.returns, params.tolerance):
            return _case(one, Outcome.ACCEPTED, "", show(frame.payload))
        message = f"it returns {show(frame.payload)}, not {_json(one.test.returns)}"
        return _case(one, Outcome.WRONG_ANSWER, message, show(frame.payload))
    if frame.kind == "not_json":
        return _failed(one, Outcome.WRONG_ANSWER, f"it returns a {text}, which is no JSON value")
    if frame.kind == "too_large":
        return _failed(one, Outcome.OUTPUT_LIMIT, "it returns a value over the output limit")
    if frame.kind == "syntax":
        return _failed(one, Outcome.COMPILE_ERROR, text)
    if frame.kind == "unusable":
        return _failed(one, Outcome.RUNTIME_ERROR, text)
    if frame.kind == "raised":
        out_of_memory = frame.payload.startswith(b"MemoryError")
        outcome = Outcome.MEMORY_LIMIT if out_of_memory else Outcome.RUNTIME_ERROR
        return _failed(one, outcome, f"it raises {text}")
    return _failed(one, Outcome.RUNTIME_ERROR, "the program broke the protocol of its runner")


def _failed(one: _Numbered, outcome: Outcome, message: str) -> Case:
    return _case(one, outcome, message, None)


def _case(one: _Numbered, outcome: Outcome, message: str, got: str | None) -> Case:
    test = one.test
    arguments = [_json(arg) for arg in test.args]
    arguments += [f"{name}={_json(arg)}" for name, arg in test.kwargs.items()]
    return Case(
        name=test.name or str(one.number),
        outcome=outcome,
        score=float(outcome is Outcome.ACCEPTED),
        input=cut(", ".join(arguments)),
        expected=_json(test.returns),
        got=got,
        message=message or None,
    )


def _json(value: object) -> str:
    return cut(json.dumps(value, ensure_ascii=False))

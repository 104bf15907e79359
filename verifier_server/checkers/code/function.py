"""The `function` mode: calls inside the box, comparison here.

Arguments go in as data and values come out as data; what is expected stays in this process.
One run makes all calls. Where it is cut short, by whatever the candidate did, the call that
was under way has failed, and under "fraction" another run makes the rest. A call that took
just too much time is made once more, alone, before that is believed; how long it took the
runner says, so a program that lies about it gains as much time as that.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sandboxes.base import ExecResult
from verifier_server.checkers.code.box import (
    OVERTIME,
    Runner,
    bad_end,
    require_start,
    wall_s,
)
from verifier_server.checkers.code.grading import cut
from verifier_server.checkers.code.languages import LANGUAGES
from verifier_server.checkers.code.params import FunctionParams, FunctionTest
from verifier_server.checkers.code.wire import Frame, read_frames, says, show
from verifier_server.verdict import Case, Outcome, Tampering

RUNNER_FILE = "_function_runner.py"
# The runner's own clock is the one to strike; this is for a candidate that stopped it.
_GRACE_S = 1.0
_TOO_LONG = (Outcome.TIME_LIMIT, "the call ran into the time limit")


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A test and its place among all."""

    number: int
    test: FunctionTest


@cache
def runner_source() -> bytes:
    """The program that makes the calls, to be written into the box as `RUNNER_FILE`."""
    return files(__package__).joinpath("harness", "function_runner.py").read_bytes()


def run_function(params: FunctionParams, runner: Runner) -> Iterator[Case]:
    """The cases in order; ends early where the program can't be used at all.

    Raises:
        SandboxError: the box failed.
    """
    pending = [_Numbered(number, test) for number, test in enumerate(params.tests, 1)]
    # By the clock: one call may sleep, or be starved, and leave the others their time.
    left_s = len(pending) * params.limits.time_s + wall_s(params.limits.time_s)
    while pending:
        if left_s <= 0:
            yield from (_failed(one, Outcome.TIME_LIMIT, "no time is left") for one in pending)
            return
        result = _run(params, runner, pending, most_s=left_s, overtime=OVERTIME)
        left_s -= result.usage.wall_s
        answers, end = _answers(result, len(pending), runner)
        for one, frame in zip(pending, answers, strict=False):
            if frame.kind == "slow":
                yield _confirm(params, runner, one)
            else:
                yield _judge(params, one, frame)
            if frame.kind in ("syntax", "unusable"):
                return
        if end is not None:
            yield _failed(pending[len(answers)], *end)
        pending = pending[len(answers) + 1 :]


def _confirm(params: FunctionParams, runner: Runner, one: _Numbered) -> Case:
    """The case of a call that took more than its time, made once more, alone."""
    result = _run(params, runner, [one], most_s=wall_s(params.limits.time_s), overtime=1.0)
    answers, end = _answers(result, 1, runner)
    if answers and answers[0].kind != "slow":
        return _judge(params, one, answers[0])
    return _failed(one, *(end or _TOO_LONG))


def _run(
    params: FunctionParams,
    runner: Runner,
    pending: Sequence[_Numbered],
    *,
    most_s: float,
    overtime: float,
) -> ExecResult:
    time_s = params.limits.time_s
    job = {
        "file": LANGUAGES[params.language].file,
        "function": params.function,
        "calls": [{"args": one.test.args, "kwargs": one.test.kwargs} for one in pending],
        "time_s": time_s,
        "cpu_s": overtime * time_s,
        "wall_s": wall_s(time_s),
        "max_bytes": params.limits.output_bytes,
    }
    stdin = json.dumps(job, allow_nan=False).encode()
    return runner.run(
        ["python3", RUNNER_FILE],
        stdin=stdin,
        time_s=overtime * time_s * len(pending) + _GRACE_S,
        wall_s=most_s + _GRACE_S,
    )


def _answers(
    result: ExecResult, calls: int, runner: Runner
) -> tuple[list[Frame], tuple[Outcome, str] | None]:
    """The calls' frames that count, and how the run failed at the call after them, if it did.

    The last call's frame counts only in a run that came to its proper end: else a program
    that broke in the middle could pass for one that was through.
    """
    stream = read_frames(result.stdout, calls + 2)
    if stream.forged and not result.truncated:
        runner.record.saw(Tampering.FORGED_FRAME)
    frames = list(stream.frames)
    require_start(result, bool(frames) and frames.pop(0).kind == "ready")
    end = bad_end(result)
    if 0 < len(frames) <= calls and frames[-1].kind in ("syntax", "unusable"):
        return frames, None
    if end is None and len(frames) == calls + 1 and frames[-1].kind == "end":
        return frames[:-1], None
    timed_out = stream.timed_out or result.signal == signal.SIGPROF
    if timed_out and end is not None and end[0] is Outcome.RUNTIME_ERROR:
        end = _TOO_LONG
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

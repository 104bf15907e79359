"""CPU time decides, and a close call is looked at twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sandboxes.base import ExecResult, ExitReason, Limits, ResourceUsage, SandboxProvider
from tests.checkers.code.judging import judge
from tests.checkers.code.test_checker import FaultyBox
from verifier_server.verdict import Outcome

TEN = {"mode": "stdio", "tests": [{"stdout": "1"}], "limits": {"time_s": 10}}


class TimedBox(FaultyBox):
    """A box whose runs end as told; keeps their limits."""

    def __init__(self, *results: ExecResult) -> None:
        super().__init__(has_box=True)
        self.results = list(results)
        self.limits: list[Limits] = []

    def exec(self, argv: Any, *, limits: Limits, **_: Any) -> ExecResult:
        self.limits.append(limits)
        return self.results.pop(0)


def ended(cpu_s: float | None, wall_s: float = 12.0) -> ExecResult:
    usage = ResourceUsage(wall_s, cpu_s)
    return ExecResult(ExitReason.EXITED, 0, None, b"1\n", b"", False, usage)


def killed(cpu_s: float, wall_s: float) -> ExecResult:
    usage = ResourceUsage(wall_s, cpu_s)
    return ExecResult(ExitReason.TIME_LIMIT, None, None, b"1\n", b"", False, usage)


PROBED = ExecResult(ExitReason.EXITED, 0, None, b"42\n", b"", False, ResourceUsage(0.1))


@pytest.mark.parametrize(
    ("runs", "outcome"),
    [
        ([ended(9.9, wall_s=29)], Outcome.ACCEPTED),
        ([ended(None)], Outcome.ACCEPTED),
        ([ended(11), ended(9.9)], Outcome.ACCEPTED),
        ([ended(11), ended(10.1)], Outcome.TIME_LIMIT),
        ([ended(11), killed(12, 13)], Outcome.TIME_LIMIT),
        ([killed(12, 13)], Outcome.TIME_LIMIT),
        ([killed(0.1, 32)], Outcome.TIME_LIMIT),
        ([killed(7, 32), ended(9)], Outcome.ACCEPTED),
        ([killed(7, 32), killed(7, 32)], Outcome.TIME_LIMIT),
    ],
    ids=[
        "slow by the clock",
        "unmeasured",
        "just too much, once",
        "just too much, twice",
        "just too much, then far too much",
        "far too much",
        "asleep",
        "starved once",
        "starved twice",
    ],
)
def test_a_close_call_is_looked_at_twice(runs: list[ExecResult], outcome: Outcome) -> None:
    box: Any = TimedBox(*runs, PROBED)
    assert judge("```python\nprint(1)\n```", TEN, box).outcome is outcome
    assert box.results in ([PROBED], [])
    assert {(limits.cpu_s, limits.time_s) for limits in box.limits[: len(runs)]} == {(12, 32)}


def test_a_program_that_slept_once_has_no_more_slack() -> None:
    tests = [{"stdout": "1"}] * 3
    box: Any = TimedBox(killed(0.1, 32), ended(1), ended(1))
    judgement = judge("```python\nprint(1)\n```", {**TEN, "tests": tests, "score": "fraction"}, box)
    assert judgement.score == pytest.approx(2 / 3)
    assert [limits.time_s for limits in box.limits] == [32, 12, 12]


def test_a_program_that_sleeps_ends_by_the_clock(provider: SandboxProvider) -> None:
    params = {**TEN, "limits": {"time_s": 0.2}}
    judgement = judge("```python\nimport time\ntime.sleep(60)\n```", params, provider)
    assert judgement.outcome is Outcome.TIME_LIMIT
    assert judgement.cpu_s is not None
    assert judgement.cpu_s < 0.2


BUSY = """
from time import process_time
def busy(s):
    end = process_time() + s
    while process_time() < end: pass
    return s
"""


def test_a_call_has_its_time_for_itself(provider: SandboxProvider) -> None:
    params = {
        "mode": "function",
        "function": "busy",
        "tests": [{"args": [s], "returns": s} for s in (0.1, 0.1, 0.22, 0.1)],
        "limits": {"time_s": 0.2},
        "score": "fraction",
    }
    judgement = judge(f"```python\n{BUSY}\n```", params, provider)
    outcomes = [case.outcome for case in judgement.cases]
    assert outcomes == [Outcome.ACCEPTED] * 2 + [Outcome.TIME_LIMIT, Outcome.ACCEPTED], judgement


@pytest.mark.parametrize(
    ("second", "outcome"),
    [
        (b"ready 0\nvalue 3\ni1\nend 0\n", Outcome.ACCEPTED),
        (b"ready 0\nvalue 3\ni2\nend 0\n", Outcome.WRONG_ANSWER),
        (b"ready 0\nslow 0\nend 0\n", Outcome.TIME_LIMIT),
    ],
)
def test_a_call_that_was_slow_once_is_made_again(second: bytes, outcome: Outcome) -> None:
    params = {"mode": "function", "function": "f", "tests": [{"returns": 1}]}
    runs = [replace(ended(1), stdout=s) for s in (b"ready 0\nslow 0\nend 0\n", second)]
    box: Any = TimedBox(*runs)
    assert judge("```python\nf = 1\n```", params, box).outcome is outcome
    assert not box.results

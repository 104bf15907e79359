from __future__ import annotations

from typing import Any

import pytest

from sandboxes.base import (
    ExecResult,
    ExitReason,
    ResourceUsage,
    SandboxBroken,
    SandboxProvider,
    SandboxUnavailable,
)
from tests.checkers.code.judging import judge
from verifier_server.checkers.base import Example
from verifier_server.checkers.code.checker import CodeChecker
from verifier_server.checkers.code.params import CodeParams
from verifier_server.errors import SandboxFault
from verifier_server.verdict import Outcome

STDIO = {"mode": "stdio", "tests": [{"stdin": "1\n", "stdout": "1\n"}]}
ASSERTS = {"mode": "asserts", "asserts": "assert f(1) == 1"}
FUNCTION = {"mode": "function", "function": "f", "tests": [{"args": [1], "returns": 1}]}


@pytest.mark.parametrize("example", CodeChecker.examples, ids=lambda e: e.note or e.completion[:30])
def test_the_checker_gets_its_own_examples_right(
    example: Example, provider: SandboxProvider
) -> None:
    judgement = judge(example.completion, dict(example.params), provider)
    assert judgement.score == example.score, judgement
    assert example.outcome in (None, judgement.outcome)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "params",
    [
        {},
        {**STDIO, "mode": "telepathy"},
        {**STDIO, "language": "cobol"},
        {**STDIO, "tests": []},
        {**STDIO, "tests": [{"stdin": "1\n"}]},
        {**STDIO, "tests": [{"stdin": 1, "stdout": "1"}]},
        {**STDIO, "tests": [{"stdin": "1", "stdout": "\ud800"}]},
        {**STDIO, "score": "most"},
        {**STDIO, "compare": "fuzzy"},
        {**STDIO, "compare": {"checker_program": "print(1)"}},
        {**STDIO, "compare": "float", "float": {"abs": -1}},
        {**STDIO, "compare": "float", "float": {"rel": float("nan")}},
        {**STDIO, "function": "f"},
        {**STDIO, "limits": {"time_s": 0}},
        {**STDIO, "limits": {"memory_bytes": "much"}},
        {**FUNCTION, "tests": []},
        {**FUNCTION, "tests": [{"args": [1]}]},
        {**FUNCTION, "tests": [{"args": 1, "returns": 1}]},
        {**FUNCTION, "tests": [{"args": [1], "returns": float("nan")}]},
        {**FUNCTION, "tests": [{"args": ["\ud800"], "returns": 1}]},
        {**FUNCTION, "tests": [{"args": [1], "returns": nested(200)}]},
        {**FUNCTION, "function": "f(1); import os"},
        {**FUNCTION, "function": "class"},
        {**FUNCTION, "function": "a.b.c"},
        {**FUNCTION, "function": ""},
        {key: FUNCTION[key] for key in ("mode", "tests")},
    ],
)
def test_unusable_params_are_a_bad_reference(
    params: dict[str, Any], provider: SandboxProvider
) -> None:
    judgement = judge("print(input())", params, provider)
    assert judgement.outcome is Outcome.BAD_REFERENCE
    assert judgement.explanation


def test_the_schema_tells_all_modes() -> None:
    text = str(CodeParams.model_json_schema())
    assert "StdioParams" in text
    assert "FunctionParams" in text
    assert "AssertsParams" in text


def test_the_budget_covers_every_test_at_its_limit() -> None:
    tests = [{"stdout": "1"}] * 7
    params = CodeParams.model_validate({**STDIO, "tests": tests, "limits": {"time_s": 3}})
    assert CodeChecker().time_budget_s(params) > 8 * 3


@pytest.mark.parametrize("text", ["", "I don't know.", "<think>\n```python\nprint(1)\n```"])
def test_no_program_is_no_answer(text: str, provider: SandboxProvider) -> None:
    assert judge(text, STDIO, provider).outcome is Outcome.NO_ANSWER


@pytest.mark.parametrize("params", [STDIO, FUNCTION, ASSERTS], ids=lambda p: p["mode"])
@pytest.mark.parametrize(
    "source",
    [
        "print(1",
        "\x00",
        "x = " + "-" * 150_000 + "1",
        "x = " + "(" * 5_000 + ")" * 5_000,
        "x" + ".real" * 30_000,
        "# coding: nonsense",
        "s = '\ud800'",
        "if 1:\n    x\n\ty",
    ],
    ids=range(8),
)
def test_what_the_compiler_refuses_is_a_compile_error(
    source: str, params: dict[str, Any], provider: SandboxProvider
) -> None:
    judgement = judge(f"```python\n{source}\n```", params, provider)
    # The compiler's own crash looks like the program's.
    assert judgement.outcome in (Outcome.COMPILE_ERROR, Outcome.RUNTIME_ERROR)
    if "real" not in source:
        assert judgement.outcome is Outcome.COMPILE_ERROR, judgement


def test_a_verdict_says_what_ran_and_what_it_took(provider: SandboxProvider) -> None:
    judgement = judge("```python\nprint(input())\n```", STDIO, provider)
    assert judgement.answer == "print(input())\n"
    assert judgement.isolation not in ("", "none")
    assert judgement.cpu_s
    assert judgement.memory_bytes


@pytest.mark.parametrize(
    ("source", "params"),
    [
        ("s = '\ud800'", STDIO),
        ("import sys\nsys.stdout.buffer.write(b'\\xff' * 999)", STDIO),
        ("def f(x): return '\\ud800' * 999", FUNCTION),
        ("def f(x): raise ValueError('\\ud800')", FUNCTION),
        ("def f(x): raise ValueError('\\ud800' * 999)", ASSERTS),
        ("def f(x): return '\\ud800'", ASSERTS),
    ],
)
def test_every_text_of_a_verdict_is_valid_unicode(
    source: str, params: dict[str, Any], provider: SandboxProvider
) -> None:
    judgement = judge(f"```python\n{source}\n```", params, provider)
    assert judgement.score == 0
    texts = [judgement.answer, judgement.explanation]
    for case in judgement.cases:
        texts += [case.name, case.input, case.expected, case.got, case.message]
    assert all(text.encode() for text in texts if text)


class FaultyBox:
    """A provider whose box breaks, or which has none."""

    name = "faulty"

    def __init__(self, *, has_box: bool) -> None:
        self.has_box = has_box
        self.isolation = "none"

    def create(self, spec: Any) -> FaultyBox:
        if not self.has_box:
            raise SandboxUnavailable("no box", remedy="get one")
        return self

    def write(self, files: Any) -> None:
        pass

    def exec(self, *_: Any, **__: Any) -> ExecResult:
        raise SandboxBroken("the engine went away")

    def __enter__(self) -> FaultyBox:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


@pytest.mark.parametrize("params", [STDIO, FUNCTION, ASSERTS], ids=lambda p: p["mode"])
@pytest.mark.parametrize("has_box", [True, False])
def test_a_failure_of_the_box_is_a_service_fault(params: dict[str, Any], has_box: bool) -> None:
    faulty: Any = FaultyBox(has_box=has_box)
    with pytest.raises(SandboxFault):
        judge("```python\nprint(1)\n```", params, faulty)


class ScriptedBox(FaultyBox):
    """A box whose runs end as told."""

    def __init__(self, *results: ExecResult) -> None:
        super().__init__(has_box=True)
        self.results = list(results)

    def exec(self, *_: Any, **__: Any) -> ExecResult:
        return self.results.pop(0)


def ended(
    stdout: bytes, exit: int | None = 0, reason: ExitReason = ExitReason.EXITED
) -> ExecResult:
    return ExecResult(reason, exit, None, stdout, b"", False, ResourceUsage(0.1))


READY = b"ready 0\n"
GOOD = READY + b"value 3\ni1\n"


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        (ended(GOOD + b"end 0\n"), Outcome.ACCEPTED),
        (ended(GOOD), Outcome.RUNTIME_ERROR),
        (ended(READY), Outcome.RUNTIME_ERROR),
        (ended(READY + b"end 0\n"), Outcome.RUNTIME_ERROR),
        (ended(READY + b"end 0\nend 0\n"), Outcome.RUNTIME_ERROR),
        (ended(READY + b"accepted 1\n1end 0\n"), Outcome.RUNTIME_ERROR),
        (ended(GOOD + GOOD[8:]), Outcome.RUNTIME_ERROR),
        (ended(GOOD + b"unusable 0\n"), Outcome.RUNTIME_ERROR),
        (ended(READY + b"\x00\xff" + GOOD[8:] + b"end 0\n"), Outcome.RUNTIME_ERROR),
        (ended(GOOD + b"end 0\n", exit=3), Outcome.RUNTIME_ERROR),
        (ended(READY + b"Timeout (0:00:01)!\n", exit=1), Outcome.TIME_LIMIT),
        (ended(b"", None, ExitReason.TIME_LIMIT), Outcome.TIME_LIMIT),
        (ended(GOOD + b"end 0\n", 0, ExitReason.MEMORY_LIMIT), Outcome.MEMORY_LIMIT),
        (ended(GOOD, None, ExitReason.OUTPUT_LIMIT), Outcome.OUTPUT_LIMIT),
        (ended(READY + b"syntax 3\nbad", 0), Outcome.COMPILE_ERROR),
        (ended(READY + b"too_large 0\nend 0\n", 0), Outcome.OUTPUT_LIMIT),
    ],
)
def test_only_a_whole_and_clean_run_counts(result: ExecResult, outcome: Outcome) -> None:
    box: Any = ScriptedBox(result)
    assert judge("```python\nprint(1)\n```", FUNCTION, box).outcome is outcome


def test_a_runner_that_never_started_is_a_service_fault() -> None:
    box: Any = ScriptedBox(ended(b"", exit=1))
    with pytest.raises(SandboxFault):
        judge("```python\nprint(1)\n```", FUNCTION, box)
    box = ScriptedBox(ended(b"", exit=1))
    with pytest.raises(SandboxFault):
        judge("```python\nprint(1)\n```", ASSERTS, box)

"""`hide_cases`: the verdict tells which tests failed, and nothing of what is in them."""

from __future__ import annotations

from typing import Any

import pytest

from sandboxes.base import SandboxProvider
from tests.checkers.code.judging import judge
from verifier_server.verdict import Judgement, Outcome

SECRET = "5eCr3t"
STDIO = {"mode": "stdio", "tests": [{"stdin": SECRET, "stdout": SECRET * 2, "name": "first"}]}
FUNCTION = {
    "mode": "function",
    "function": "f",
    "tests": [{"args": [SECRET], "returns": SECRET * 2}],
}
ASSERTS = {"mode": "asserts", "asserts": f"assert f('{SECRET}') == '{SECRET * 2}'"}
PYTEST = {
    "mode": "pytest",
    "files": {
        "test_a.py": "from solution import f\n\n\ndef test_it():\n"
        f"    assert f('{SECRET}') == '{SECRET * 2}'\n"
    },
}


def told(judgement: Judgement) -> str:
    return str([judgement.explanation, judgement.cases])


@pytest.mark.parametrize(
    ("params", "sources"),
    [
        (STDIO, ["print(input())", "import sys\nsys.exit(input())", "print(input() * 2)"]),
        (
            FUNCTION,
            ["def f(x): return x", "def f(x): raise ValueError(x)", "def f(x): return x * 2"],
        ),
        (
            ASSERTS,
            ["def f(x): return x", "def f(x): raise ValueError(x)", "def f(x): return x * 2"],
        ),
        (PYTEST, ["def f(x): return x", "def f(x): raise ValueError(x)", "def f(x): return x * 2"]),
    ],
    ids=lambda p: p["mode"] if isinstance(p, dict) else "",
)
def test_nothing_of_a_hidden_test_is_told(
    params: dict[str, Any], sources: list[str], provider: SandboxProvider
) -> None:
    for source, score in zip(sources, [0, 0, 1], strict=True):
        completion = f"```python\n{source}\n```"
        hidden = judge(completion, {**params, "hide_cases": True}, provider)
        shown = judge(completion, params, provider)
        assert SECRET not in told(hidden), hidden
        assert score or SECRET in told(shown), "the test proves nothing"
        assert (hidden.score, hidden.outcome) == (shown.score, shown.outcome)
        assert hidden.score == score
        assert [(case.name, case.outcome) for case in hidden.cases] == [
            (case.name, case.outcome) for case in shown.cases
        ]


def test_what_failed_is_told(provider: SandboxProvider) -> None:
    judgement = judge("```python\nprint(1)\n```", {**STDIO, "hide_cases": True}, provider)
    assert judgement.explanation == "0 of 1 tests pass; test first: wrong_answer"


def test_why_a_program_does_not_compile_is_no_secret(provider: SandboxProvider) -> None:
    judgement = judge("```python\nprint((\n```", {**STDIO, "hide_cases": True}, provider)
    assert judgement.outcome is Outcome.COMPILE_ERROR
    assert "SyntaxError" in judgement.explanation

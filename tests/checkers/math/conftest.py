"""What the math tests share: one checker, and a short way to ask it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from verifier_server.checkers.base import CheckContext
from verifier_server.checkers.math.checker import MathChecker, MathParams
from verifier_server.verdict import Judgement

Ask = Callable[..., Judgement]


def ask(completion: str, answer: Any, *, prompt: str | None = None, **options: Any) -> Judgement:
    """Judges a completion, params given as on the wire.

    Raises:
        BadReference, ValidationError: as the service would turn into `bad_reference`.
    """
    checker = MathChecker()
    params = MathParams.model_validate({"answer": answer, **options})
    return checker.check(completion, params, CheckContext("test", prompt, _never, _never))


def calls(run: Callable[[], object]) -> int:
    """How many functions are called while it runs: the same on a busy machine as on an idle one."""
    count = 0

    def on_event(_frame: object, event: str, _what: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    outer = sys.getprofile()
    sys.setprofile(on_event)
    try:
        run()
    finally:
        sys.setprofile(outer)
    return count


def _never(*_: Any) -> Any:
    raise AssertionError("the math checker needs neither other checkers nor a sandbox")


@pytest.fixture(scope="session", autouse=True)
def warm() -> None:
    MathChecker().warm()

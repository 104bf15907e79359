"""What the tests of `constraint` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.checkers.conftest import Judge
from verifier_server.verdict import Judgement

JudgeRule = Callable[[str, dict[str, Any]], Judgement]


@pytest.fixture(scope="session")
def judge_rule(judge: Judge) -> JudgeRule:
    """Judges a text by one rule."""
    return lambda text, rule: judge("constraint", text, {"rules": [rule]})

"""Which programs may be forks of a warm interpreter."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from verifier_server.checkers.code.checker import CodeChecker
from verifier_server.checkers.code.preloads import preload_for

FUNCTION = {"mode": "function", "function": "f", "tests": [{"returns": 1}]}
ASSERTS = {"mode": "asserts", "asserts": "assert f(1) == 1"}


@pytest.mark.parametrize(("params", "warm"), [(FUNCTION, True), (ASSERTS, False)])
def test_no_program_keeps_the_memory_that_held_its_asserts(
    params: dict[str, Any], warm: bool
) -> None:
    valid: Any = TypeAdapter(CodeChecker.Params).validate_python(params)
    assert bool(preload_for(getattr(valid, "root", valid))) is warm

"""What the tests of the checkers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandboxes.base import SandboxProvider
from verifier_server.checkers.registry import get_registry
from verifier_server.checkers.runtime import CheckRuntime, Task
from verifier_server.verdict import Judgement

Judge = Callable[..., Judgement]


@pytest.fixture(scope="session")
def judge() -> Judge:
    """Judges a completion by a checker's name and raw params, in this process."""

    def no_sandboxes() -> SandboxProvider:
        raise AssertionError("a pure checker opened a sandbox")

    runtime = CheckRuntime(get_registry(), no_sandboxes)

    def run(
        checker: str, completion: str, params: dict[str, Any], *, request_hash: str = "00"
    ) -> Judgement:
        return runtime.judge(Task(checker, completion, params, None, request_hash))

    return run

"""A tool chain, boxes, and a judge of Lean proofs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandboxes.base import SandboxProvider
from sandboxes.registry import open_provider
from tests.checkers.lean.toolchain import make_toolchain
from verifier_server.checkers.registry import get_registry
from verifier_server.checkers.runtime import CheckRuntime, Task
from verifier_server.verdict import Judgement

JudgeLean = Callable[..., Judgement]
HEADER = "prelude\nimport Core\nset_option genCtorIdx false"


@pytest.fixture(scope="session")
def lean_settings() -> Iterator[dict[str, str]]:
    """The environment that names a tool chain of the tests' own."""
    with tempfile.TemporaryDirectory(prefix="lean-") as folder:
        yield make_toolchain(Path(folder))


@pytest.fixture(scope="package", autouse=True)
def _with_lean(lean_settings: dict[str, str]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in lean_settings.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="package")
def provider(_with_lean: None) -> Iterator[SandboxProvider]:
    """The strongest sandbox of this host."""
    opened = open_provider("auto")
    yield opened
    opened.close()


@pytest.fixture(scope="package")
def prove(provider: SandboxProvider) -> JudgeLean:
    """Judges a completion against a statement over the tests' core."""
    runtime = CheckRuntime(get_registry(), lambda: provider)

    def run(completion: str, statement: str | None = None, **params: Any) -> Judgement:
        params = {"header": HEADER, "limits": {"time_s": 20}, **params}
        if statement is not None:
            params["statement"] = statement
        return runtime.judge(Task("lean", completion, params))

    return run

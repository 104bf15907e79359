"""Judges with the code checker alone: no server, no worker process."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from pydantic import ValidationError

from sandboxes.base import SandboxProvider
from verifier_server.checkers.base import CheckContext
from verifier_server.checkers.code.checker import CodeChecker
from verifier_server.errors import BadReference
from verifier_server.verdict import Judgement, Outcome

# Programs that bring the languages which are too large to be put on anyone's machine.
_LARGE = {"java": "javac", "go": "go", "rust": "rustc", "typescript": "tsc"}
_BOX_PATH = "/usr/bin:/bin"


def judge(completion: str, params: dict[str, Any], provider: SandboxProvider) -> Judgement:
    """The checker's judgement, a bad reference included; skips where the language is missing."""
    needed = _LARGE.get(params.get("language", ""))
    if needed and shutil.which(needed, path=_BOX_PATH) is None:
        pytest.skip(f"{needed} is not installed")

    def no_other_checker(*_: Any) -> Judgement:
        raise NotImplementedError

    checker = CodeChecker()
    context = CheckContext("0" * 32, None, no_other_checker, lambda: provider)
    try:
        valid = checker.Params.model_validate(params)
        checker.prepare(valid)
        return checker.check(completion, valid, context)
    except (BadReference, ValidationError) as error:
        return Judgement.unscored(Outcome.BAD_REFERENCE, str(error))

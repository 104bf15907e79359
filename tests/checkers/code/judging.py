"""Judges with the code checker alone: no server, no worker process."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from sandboxes.base import SandboxProvider
from verifier_server.checkers.base import CheckContext
from verifier_server.checkers.code.checker import CodeChecker
from verifier_server.errors import BadReference
from verifier_server.verdict import Judgement, Outcome


def judge(completion: str, params: dict[str, Any], provider: SandboxProvider) -> Judgement:
    """The checker's judgement, a bad reference included."""

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

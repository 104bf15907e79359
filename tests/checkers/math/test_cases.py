"""The shared cases with known verdicts, at the checker."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tests.checkers.math.conftest import ask
from tests.conftest import load_cases
from verifier_server.errors import BadReference

CASES = load_cases("math.jsonl")


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_shared_case_gets_its_verdict(case: dict[str, Any]) -> None:
    params = dict(case["params"])
    try:
        judgement = ask(
            case["completion"], params.pop("answer", None), prompt=case.get("prompt"), **params
        )
        outcome, accepted = judgement.outcome.value, judgement.score == 1
    except (BadReference, ValidationError):
        outcome, accepted = "bad_reference", False
    assert accepted is case["accept"], case["why"]
    if "outcome" in case:
        assert outcome == case["outcome"]
    else:
        assert outcome != "bad_reference"

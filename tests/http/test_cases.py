"""Cases with known verdicts, through the real HTTP API."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import load_cases
from tests.http.expected_failures import EXPECTED_FAILURES
from verifier_server.client import Verdict, VerifierClient

BATCH = 32
CASES = {
    case["id"]: {**case, "checker": checker}
    for checker in ("math", "code")
    for case in load_cases(f"{checker}.jsonl")
}


@dataclass(frozen=True)
class Answer:
    """A verdict, and the seconds from request to verdict where the case bounds them."""

    verdict: Verdict
    wall_s: float = 0.0


@pytest.fixture(scope="module")
def answers(client: VerifierClient) -> dict[str, Answer]:
    """Every case's verdict: those with a bound one by one, the others in batches."""
    found: dict[str, Answer] = {}
    bounded = [case for case in CASES.values() if "max_s" in case]
    for batch in _batches([case for case in CASES.values() if "max_s" not in case]):
        for case, verdict in zip(batch, client.score([_item(c) for c in batch]), strict=True):
            found[case["id"]] = Answer(verdict)
    for case in bounded:
        start_s = time.monotonic()
        [verdict] = client.score([_item(case)])
        found[case["id"]] = Answer(verdict, time.monotonic() - start_s)
    return found


def _batches(cases: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(cases), BATCH):
        yield cases[start : start + BATCH]


def _item(case: dict[str, Any]) -> dict[str, Any]:
    item = {key: case[key] for key in ("checker", "completion", "params", "id")}
    return item | ({"prompt": case["prompt"]} if "prompt" in case else {})


def _parameters() -> list[Any]:
    return [
        pytest.param(
            case,
            id=case["id"],
            marks=[pytest.mark.xfail(reason=EXPECTED_FAILURES[case["id"]], strict=True)]
            if case["id"] in EXPECTED_FAILURES
            else [],
        )
        for case in CASES.values()
    ]


@pytest.mark.skipif(not CASES, reason="the folder of cases is not beside this checkout")
@pytest.mark.parametrize("case", _parameters())
def test_case(case: dict[str, Any], answers: dict[str, Answer]) -> None:
    answer = answers[case["id"]]
    verdict = answer.verdict
    told = f"{case['kind']}: {case['why']}; got {verdict.outcome}: {verdict.explanation}"
    assert verdict.score in _scores(case), told
    assert verdict.outcome in _outcomes(case, verdict), told
    assert answer.wall_s <= case.get("max_s", float("inf")), told


def _scores(case: dict[str, Any]) -> tuple[float | None, ...]:
    if "score" in case:
        return (case["score"],)
    if case["accept"]:
        return (1,)
    return (None,) if case.get("outcome") == "bad_reference" else (0,)


def _outcomes(case: dict[str, Any], verdict: Verdict) -> tuple[str, ...]:
    """What the case allows; where it leaves the outcome open, any that is not ours."""
    if "outcomes" in case:
        return tuple(case["outcomes"])
    if "outcome" in case:
        return (case["outcome"],)
    return (verdict.outcome,) if verdict.fault in ("none", "candidate") else ()

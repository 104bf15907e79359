"""Every checker judges its own examples through the running service.

A service whose judges accept what they must reject is worse than one that is down, so this
is an endpoint to be polled, not only a test.
"""

from __future__ import annotations

from pydantic import BaseModel, Field

from verifier_server.checkers.registry import Registry
from verifier_server.errors import BrokenChecker
from verifier_server.schemas import Item
from verifier_server.service import ScoringService
from verifier_server.verdict import Verdict


class FailedExample(BaseModel):
    """An example whose verdict is not the one that its checker promises."""

    checker: str
    completion: str
    expected: str
    verdict: Verdict | None = None


class SelfTestReport(BaseModel):
    """How many examples were judged, and which wrongly."""

    ok: bool
    examples: int
    failed: list[FailedExample]
    unavailable: dict[str, str] = Field(
        default_factory=dict, description="checkers that can't judge on this host, and why"
    )


async def self_test(registry: Registry, service: ScoringService) -> SelfTestReport:
    """Judges all examples of all checkers. A broken checker counts as one failure; those that
    lack something on this host are named, and judge nothing.
    """
    examples, failed, unavailable = [], [], {}
    for name in registry.names():
        try:
            checker = registry.get(name)
            if why := checker.unavailable():
                unavailable[name] = why
            else:
                examples += [(name, example) for example in checker.examples]
        except BrokenChecker as error:
            failed.append(FailedExample(checker=name, completion="", expected=str(error)))
    verdicts = await service.score(
        [
            Item(
                checker=name,
                completion=example.completion,
                params=dict(example.params),
                prompt=example.prompt,
            )
            for name, example in examples
        ]
    )
    for (name, example), verdict in zip(examples, verdicts, strict=True):
        wrong_outcome = example.outcome is not None and verdict.outcome is not example.outcome
        if verdict.score != example.score or wrong_outcome:
            expected = f"score {example.score}" + (
                f", {example.outcome.value}" if example.outcome else ""
            )
            failed.append(
                FailedExample(
                    checker=name,
                    completion=example.completion[:500],
                    expected=expected,
                    verdict=verdict,
                )
            )
    return SelfTestReport(
        ok=not failed, examples=len(examples), failed=failed, unavailable=unavailable
    )

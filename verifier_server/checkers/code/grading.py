"""From the cases of a check to its outcome, score and explanation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from verifier_server.verdict import Case, Outcome

_SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True)
class Grade:
    """What the cases add up to."""

    outcome: Outcome
    score: float
    explanation: str
    cases: list[Case]


def grade(cases: Iterable[Case], total: int, rule: Literal["all", "fraction"]) -> Grade:
    """Runs through the cases, lazily: under "all" the first failure is the last one run.

    Args:
        cases: of the tests in their order; fewer than `total` where the rest can't be run.
        total: how many tests there are, at least 1.
        rule: "all" or "fraction".
    """
    done: list[Case] = []
    failed: Case | None = None
    for case in cases:
        done.append(case)
        if case.outcome is not Outcome.ACCEPTED:
            failed = failed or case
            if rule == "all":
                break
    if failed is None:
        why = "the test passes" if total == 1 else f"all {total} tests pass"
        return Grade(Outcome.ACCEPTED, 1.0, why, done)
    why = f"test {failed.name} of {total}: {failed.message}"
    earned = sum(case.score or 0.0 for case in done)
    if rule == "all" or not earned:
        # Points for a part of a test are none where all of it is asked for.
        partly = failed.outcome is Outcome.PARTIAL
        return Grade(Outcome.WRONG_ANSWER if partly else failed.outcome, 0.0, why, done)
    passed = sum(case.outcome is Outcome.ACCEPTED for case in done)
    why = f"{passed} of {total} tests pass; first failure: {why}"
    return Grade(Outcome.PARTIAL, earned / total, why, done)


def hide(graded: Grade) -> Grade:
    """The same grade, with nothing of what is in the tests."""
    cases = [Case(name=c.name, outcome=c.outcome, score=c.score) for c in graded.cases]
    passed = sum(case.outcome is Outcome.ACCEPTED for case in cases)
    failed = next((case for case in cases if case.outcome is not Outcome.ACCEPTED), None)
    how = "" if failed is None else f"; test {failed.name}: {failed.outcome.value}"
    return replace(graded, explanation=f"{passed} of {len(cases)} tests pass{how}", cases=cases)


def cut(text: str | bytes, most: int = _SHOWN_CHARS) -> str:
    """A text that fits a verdict: valid Unicode of at most `most` characters and a mark."""
    if isinstance(text, bytes):
        text = text[: 4 * most + 4].decode(errors="replace")
    shown = text[:most].encode(errors="replace").decode()
    return shown if len(text) <= most else f"{shown}…"

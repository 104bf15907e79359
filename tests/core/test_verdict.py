"""A verdict can't contradict itself: null iff the fault is the task's or the service's."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from verifier_server.verdict import Fault, Judgement, Outcome, Verdict

SCORES = st.none() | st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from([0, 1, 0.5])


@pytest.mark.parametrize("outcome", list(Outcome))
@given(score=SCORES)
def test_no_judgement_breaks_the_rule(outcome: Outcome, score: float | None) -> None:
    try:
        judgement = Judgement(outcome, score)
    except ValueError:
        return
    is_ours = outcome.fault in (Fault.TASK, Fault.SERVICE)
    assert (judgement.score is None) == is_ours
    if judgement.score is not None:
        assert math.isfinite(judgement.score)
        assert (judgement.score == 1) == (outcome is Outcome.ACCEPTED)
        assert (judgement.score == 0) == (outcome.fault is Fault.CANDIDATE)


@pytest.mark.parametrize(
    "contradiction",
    [
        {"outcome": "checker_error", "fault": "service", "score": 0},
        {"outcome": "accepted", "fault": "none", "score": None},
        {"outcome": "wrong_answer", "fault": "service", "score": None},
        {"outcome": "wrong_answer", "fault": "candidate", "score": 0.5},
        {"outcome": "accepted", "fault": "none", "score": 2},
    ],
)
def test_a_verdict_on_the_wire_that_contradicts_itself_is_refused(
    contradiction: dict[str, object],
) -> None:
    with pytest.raises(ValidationError):
        Verdict.model_validate({"checker": "x"} | contradiction)


@pytest.mark.parametrize(
    ("score", "outcome"),
    [(1, Outcome.ACCEPTED), (0.5, Outcome.PARTIAL), (0, Outcome.WRONG_ANSWER)],
)
def test_a_grade_gets_the_outcome_that_fits(score: float, outcome: Outcome) -> None:
    assert Judgement.graded(score).outcome is outcome

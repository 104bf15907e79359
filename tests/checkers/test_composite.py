"""The `composite` checker."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.checkers.conftest import Judge
from verifier_server.checkers.composite import CompositeChecker, CompositeParams
from verifier_server.checkers.registry import get_registry
from verifier_server.errors import BrokenChecker
from verifier_server.verdict import Case, Judgement, Outcome


def constant(value: float, **fields: Any) -> dict[str, Any]:
    return {"checker": "control", "params": {"kind": "constant", "value": value}, **fields}


BROKEN = {"checker": "exact", "params": {"answer": ""}}


@pytest.mark.parametrize(
    ("combine", "scores", "score"),
    [
        ("weighted", [1, 1], 1), ("weighted", [1, 0], 0.5), ("weighted", [0, 0], 0),
        ("weighted", [0.5, 1], 0.75), ("weighted", [0.3], 0.3),
        ("all", [1, 1, 1], 1), ("all", [1, 0.9], 0), ("all", [0, 1], 0), ("all", [1], 1),
        ("gate", [1, 0.5, 1], 0.75), ("gate", [0, 1, 1], 0), ("gate", [0.9, 1], 0),
        ("gate", [1, 0], 0), ("gate", [1], 1), ("gate", [0.5], 0),
    ],
)  # fmt: skip
def test_scores_are_combined(judge: Judge, combine: str, scores: list[float], score: float) -> None:
    parts = [constant(value) for value in scores]
    judgement = judge("composite", "x", {"parts": parts, "combine": combine})
    assert judgement.score == pytest.approx(score)
    assert bool(judgement.outcome is Outcome.ACCEPTED) == (score == 1)


def test_weights_are_relative(judge: Judge) -> None:
    parts = [constant(1, weight=3), constant(0, weight=1), constant(0, weight=0)]
    assert judge("composite", "x", {"parts": parts}).score == 0.75
    gated = [constant(1, weight=0), *parts]
    assert judge("composite", "x", {"parts": gated, "combine": "gate"}).score == 0.75


def test_weighted_is_the_default_and_names_its_components(judge: Judge) -> None:
    parts = [constant(1), constant(0.5, name="half"), constant(0)]
    judgement = judge("composite", "x", {"parts": parts})
    assert judgement.components == {"control": 1, "half": 0.5, "control#2": 0}
    assert "half 0.5" in judgement.explanation


def test_parts_behind_a_closed_gate_are_not_judged(judge: Judge) -> None:
    parts = [constant(0, name="gate"), constant(1, name="other")]
    judgement = judge("composite", "x", {"parts": parts, "combine": "gate"})
    assert judgement.components == {"gate": 0, "other": None}
    assert "other not judged" in judgement.explanation


@pytest.mark.parametrize("combine", ["weighted", "all", "gate"])
@pytest.mark.parametrize("place", [0, 1])
def test_a_part_without_a_reference_leaves_the_whole_without_a_score(
    judge: Judge, combine: str, place: int
) -> None:
    parts = [constant(0), constant(0)]
    parts.insert(place, {**BROKEN, "name": "the broken one"})
    judgement = judge("composite", "x", {"parts": parts, "combine": combine})
    assert (judgement.score, judgement.outcome) == (None, Outcome.BAD_REFERENCE)
    assert "the broken one" in judgement.explanation


@pytest.mark.parametrize("outcome", [Outcome.CHECKER_ERROR, Outcome.SANDBOX_ERROR])
@pytest.mark.parametrize("combine", ["weighted", "all"])
def test_a_fault_of_ours_in_a_part_is_never_a_score(outcome: Outcome, combine: str) -> None:
    answers = iter([Judgement.reject(Outcome.WRONG_ANSWER, "no"), Judgement.unscored(outcome, "!")])
    judgement = check(answers, parts=[constant(1), constant(1, name="b")], combine=combine)
    assert (judgement.score, judgement.outcome) == (None, outcome)
    assert "'b'" in judgement.explanation


def test_the_first_failure_gives_a_zero_its_outcome(judge: Judge) -> None:
    exact = {"checker": "exact", "params": {"answer": "4"}}
    parts = [constant(1), exact, constant(0)]
    judgement = judge("composite", "<think>4", {"parts": parts, "combine": "all"})
    assert judgement.outcome is Outcome.NO_ANSWER
    partial_first = judge("composite", "x", {"parts": [constant(0.5), exact], "combine": "all"})
    assert partial_first.outcome is Outcome.WRONG_ANSWER


def test_what_the_parts_measured_is_carried_over() -> None:
    case = Case(name="t1", outcome=Outcome.ACCEPTED, score=1)
    answers = iter([
        Judgement.accept(),
        Judgement.accept(isolation="box", cpu_s=1.0, memory_bytes=5, cases=[case], answer="a"),
        Judgement.accept(isolation="box", cpu_s=2.0, memory_bytes=3, answer="b"),
        Judgement.accept(isolation="cage"),
    ])  # fmt: skip
    judgement = check(answers, parts=[constant(1, name=name) for name in "abcd"])
    assert judgement.isolation == "box, cage"
    assert (judgement.cpu_s, judgement.memory_bytes, judgement.answer) == (3.0, 5, "a")
    assert [c.name for c in judgement.cases] == ["b: t1"]


def check(answers: Any, **params: Any) -> Judgement:
    """Judges where the parts' judgements are these, in order."""

    class Context:
        def judge(self, checker: str, completion: str, raw: Any) -> Judgement:
            return next(answers)

    validated = CompositeParams.model_validate(params)
    return CompositeChecker().check("x", validated, Context())  # type: ignore[arg-type]


def nest(depth: int) -> dict[str, Any]:
    params: dict[str, Any] = {"parts": [constant(1)]}
    for _ in range(depth - 1):
        params = {"parts": [{"checker": "composite", "params": params}]}
    return params


@pytest.mark.parametrize(
    "params",
    [
        {}, {"parts": []}, {"parts": [constant(1, weight=0)]}, {"parts": [constant(1, weight=-1)]},
        {"parts": [constant(1, weight=float("nan"))]}, {"parts": [constant(1, weight=1e300)]},
        {"parts": [constant(1)], "combine": "max"}, {"parts": [{"checker": "exakt"}]},
        {"parts": [{"params": {}}]}, {"parts": [constant(2)]}, nest(5),
        {"parts": [constant(1)] * 65},
        {"parts": [{"checker": "composite", "params": {"parts": [constant(1)] * 8}}] * 8},
        {"parts": [constant(1), constant(1, weight=0)], "combine": "gate"},
    ],
)  # fmt: skip
def test_params_that_cannot_be_combined_are_the_tasks_fault(
    judge: Judge, params: dict[str, Any]
) -> None:
    judgement = judge("composite", "x", params)
    assert (judgement.score, judgement.outcome) == (None, Outcome.BAD_REFERENCE)


def test_composites_nest(judge: Judge) -> None:
    assert judge("composite", "x", nest(4)).score == 1


def test_the_queue_is_the_strongest_that_a_part_needs() -> None:
    checker = CompositeChecker()
    try:
        code = get_registry().get("code").resource
    except BrokenChecker:
        code = "cpu"
    inner = {"parts": [constant(1), {"checker": "code", "params": {"tests": []}}]}
    assert checker.resource_for({"parts": [constant(1)]}) == "cpu"
    assert checker.resource_for(inner) == code
    assert checker.resource_for({"parts": [{"checker": "composite", "params": inner}]}) == code
    inverted = {"kind": "inverted", "of": {"checker": "code", "params": {}}}
    assert checker.resource_for({"parts": [{"checker": "control", "params": inverted}]}) == code


@pytest.mark.parametrize("params", [{}, {"parts": 1}, {"parts": [1, {"checker": 2}]}, nest(300)])
def test_broken_params_find_a_queue_all_the_same(params: dict[str, Any]) -> None:
    assert CompositeChecker().resource_for(params) == "cpu"


def test_the_time_of_the_parts_is_added_up() -> None:
    checker = CompositeChecker()
    one, two = (
        checker.time_budget_s(CompositeParams.model_validate({"parts": [constant(1)] * count}))
        for count in (1, 2)
    )
    assert two - one == get_registry().get("control").time_limit_s


@example([(0.5, 5e-324)])
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1e6)), min_size=1, max_size=5))
def test_a_weighted_score_lies_between_its_parts(parts: list[tuple[float, float]]) -> None:
    if not any(weight for _, weight in parts):
        parts = [(score, 1.0) for score, _ in parts]
    judged = iter([Judgement.graded(score) for score, _ in parts])
    raw = [constant(1, weight=weight) for _, weight in parts]
    score = check(judged, parts=raw).score
    counted = [score for score, weight in parts if weight]
    assert score is not None
    assert min(counted) - 1e-9 <= score <= max(counted) + 1e-9


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=4))
def test_all_does_not_depend_on_the_order(scores: list[float]) -> None:
    results = {
        check(
            iter([Judgement.graded(score) for score in order]),
            parts=[constant(1)] * len(scores),
            combine="all",
        ).score
        for order in itertools.permutations(scores)
    }
    assert results == {float(all(score == 1 for score in scores))}

"""The `control` checker."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checkers.conftest import Judge
from verifier_server.verdict import Outcome

GOLD = {"checker": "exact", "params": {"answer": "4"}}


def draws(judge: Judge, params: dict[str, Any], count: int = 400) -> list[float | None]:
    return [
        judge("control", "x", {"kind": "random", **params}, request_hash=f"{index:032x}").score
        for index in range(count)
    ]


def test_random_scores_depend_on_the_item_and_the_seed_alone(judge: Judge) -> None:
    assert draws(judge, {}) == draws(judge, {})
    assert draws(judge, {}) == draws(judge, {"p": 0.5, "seed": 0})
    assert draws(judge, {}) != draws(judge, {"seed": 1})
    assert len(set(draws(judge, {}))) == 2


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_random_scores_are_one_with_probability_p(judge: Judge, p: float) -> None:
    scores = draws(judge, {"p": p})
    spread = 4 * (p * (1 - p) / len(scores)) ** 0.5
    assert abs(sum(score or 0 for score in scores) / len(scores) - p) <= spread


def test_a_raised_p_only_adds_ones(judge: Judge) -> None:
    low, high = draws(judge, {"p": 0.3}), draws(judge, {"p": 0.6})
    assert all(h == 1 for l, h in zip(low, high, strict=True) if l == 1)  # noqa: E741


@pytest.mark.parametrize(
    ("value", "outcome"),
    [(1, Outcome.ACCEPTED), (0, Outcome.WRONG_ANSWER), (0.25, Outcome.PARTIAL)],
)
def test_a_constant_ignores_the_completion(judge: Judge, value: float, outcome: Outcome) -> None:
    for completion in ("", "4", "<think>"):
        judgement = judge("control", completion, {"kind": "constant", "value": value})
        assert (judgement.score, judgement.outcome) == (value, outcome)


@pytest.mark.parametrize(("completion", "score"), [("4", 0), ("5", 1), ("<think>", 1), ("", 1)])
def test_inverted_is_the_opposite(judge: Judge, completion: str, score: int) -> None:
    judgement = judge("control", completion, {"kind": "inverted", "of": GOLD})
    assert judgement.score == score
    assert judgement.outcome is (Outcome.ACCEPTED if score else Outcome.WRONG_ANSWER)


def test_inverted_twice_is_the_check_itself(judge: Judge) -> None:
    inner = {"checker": "control", "params": {"kind": "constant", "value": 0.25}}
    once = {"checker": "control", "params": {"kind": "inverted", "of": inner}}
    assert judge("control", "x", once["params"]).score == 0.75
    assert judge("control", "x", {"kind": "inverted", "of": once}).score == 0.25


def test_no_score_has_no_opposite(judge: Judge) -> None:
    broken = {"checker": "exact", "params": {"answer": ""}}
    judgement = judge("control", "x", {"kind": "inverted", "of": broken})
    assert (judgement.score, judgement.outcome) == (None, Outcome.BAD_REFERENCE)


@pytest.mark.parametrize(
    "params",
    [
        {}, {"kind": "spurious"}, {"kind": "random", "p": 1.5}, {"kind": "random", "p": -0.1},
        {"kind": "random", "p": float("nan")}, {"kind": "random", "value": 1},
        {"kind": "constant", "value": 2}, {"kind": "constant", "p": 0.5}, {"kind": "inverted"},
        {"kind": "inverted", "of": {"checker": "exakt"}}, {"kind": "constant", "of": GOLD},
        {"kind": "random", "seed": "x"},
    ],
)  # fmt: skip
def test_params_of_another_kind_are_the_tasks_fault(judge: Judge, params: dict[str, Any]) -> None:
    judgement = judge("control", "x", params)
    assert (judgement.score, judgement.outcome) == (None, Outcome.BAD_REFERENCE)


@given(st.text(st.characters()))
def test_any_text_is_scored(judge: Judge, text: str) -> None:
    for params in ({"kind": "random"}, {"kind": "constant"}, {"kind": "inverted", "of": GOLD}):
        assert judge("control", text, params).score in (0, 1)

"""The `exact` checker."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checkers.conftest import Judge
from verifier_server.verdict import Outcome


@pytest.mark.parametrize(
    ("completion", "params"),
    [
        ("Paris", {"answer": "Paris"}),
        ("  PARIS\n", {"answer": "paris"}),
        ("STRASSE", {"answer": "straße"}),
        ("Lutetia", {"answer": ["Paris", "Lutetia"]}),
        ("<think>Rome? No.</think>\nParis", {"answer": "Paris"}),
        ("Rome? No.</think>Paris", {"answer": "Paris"}),
        ("<answer>Paris</answer>", {"answer": "Paris"}),
        ("\n<answer>\nParis\n</answer>\n", {"answer": "Paris"}),
        ("<answer>x</answer>", {"answer": "<answer>x</answer>"}),
        ("cafe\u0301", {"answer": "caf\u00e9"}),
        ("a  b", {"answer": "a  b"}),
        (" x", {"answer": " x", "strip": False}),
        ("A" * 100_000, {"answer": "a" * 100_000}),
    ],
)
def test_equal_texts_are_accepted(judge: Judge, completion: str, params: dict) -> None:
    assert judge("exact", completion, params).score == 1


@pytest.mark.parametrize(
    ("completion", "params"),
    [
        ("21", {"answer": "1"}),
        ("1", {"answer": "21"}),
        ("It is Paris", {"answer": "Paris"}),
        ("Paris, Rome", {"answer": ["Paris", "Rome"]}),
        ("Paris.", {"answer": "Paris"}),
        ("a b", {"answer": "a  b"}),
        ("x", {"answer": " x", "strip": False}),
        ("paris", {"answer": "Paris", "case_sensitive": True}),
        ("x²", {"answer": "x2"}),
        ("<answer>Paris</answer> or Rome", {"answer": "Paris"}),
        ("<answer>Rome</answer><answer>Paris</answer>", {"answer": "Paris"}),
        ("\\boxed{Paris}", {"answer": "Paris"}),
        ('["Paris"]', {"answer": "Paris"}),
        ("P\u0430ris", {"answer": "Paris"}),  # a Cyrillic letter that looks the same
        ("Paris\x00", {"answer": "Paris"}),
    ],
)
def test_other_texts_are_wrong(judge: Judge, completion: str, params: dict) -> None:
    judgement = judge("exact", completion, params)
    assert (judgement.score, judgement.outcome) == (0, Outcome.WRONG_ANSWER)
    assert judgement.explanation


@pytest.mark.parametrize("completion", ["", " \n", "<think>Paris", "<answer> </answer>"])
def test_nothing_said_is_no_answer(judge: Judge, completion: str) -> None:
    assert judge("exact", completion, {"answer": "Paris"}).outcome is Outcome.NO_ANSWER


@pytest.mark.parametrize(
    "params",
    [{}, {"answer": ""}, {"answer": " \n"}, {"answer": []}, {"answer": ["a", ""]}, {"answer": 4},
     {"answer": None}, {"answer": "a", "strip": "maybe"}, {"answer": "a", "case": True}],
)  # fmt: skip
def test_a_task_without_a_usable_answer_is_never_scored(judge: Judge, params: dict) -> None:
    judgement = judge("exact", "", params)
    assert (judgement.score, judgement.outcome) == (None, Outcome.BAD_REFERENCE)


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "completion",
    [
        "Paris" * 2_000_000,
        "a" + "\u0315\u0300" * 2_000_000,
        "<answer>" * 1_000_000,
        "\n" * 10_000_000,
    ],
    ids=["long", "combining marks", "tags", "blank"],
)
def test_a_huge_completion_is_told_apart_at_once(judge: Judge, completion: str) -> None:
    assert judge("exact", completion, {"answer": "Paris"}).score == 0


@given(st.text(st.characters()), st.text(min_size=1))
def test_any_text_is_scored_whatever_it_holds(judge: Judge, text: str, gold: str) -> None:
    judgement = judge("exact", text, {"answer": gold + "x"})
    assert judgement.score in (0, 1)


@given(st.text(min_size=1).filter(lambda text: text.strip() and "<think>" not in text))
def test_a_text_equals_itself(judge: Judge, text: str) -> None:
    assert judge("exact", text, {"answer": text, "strip": False}).score == 1


def test_what_is_sent_back_is_short_and_can_be_encoded(judge: Judge) -> None:
    judgement = judge("exact", "\ud800" * 100_000, {"answer": "x" * 50_000})
    assert judgement.answer is not None
    assert len(judgement.answer.encode()) < 5000
    assert len(judgement.explanation.encode()) < 500

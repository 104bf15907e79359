"""How rules make a verdict."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checkers.conftest import Judge
from verifier_server.verdict import Outcome

SHORT = {"rule": "words", "max": 3}
LOUD = {"rule": "case", "case": "upper"}


def test_all_needs_every_rule_and_fraction_counts_them(judge: Judge) -> None:
    rules = [SHORT, LOUD, {"rule": "commas", "max": 0}]
    whole = judge("constraint", "one two", {"rules": rules})
    share = judge("constraint", "one two", {"rules": rules, "score": "fraction"})
    assert (whole.score, whole.outcome) == (0, Outcome.WRONG_ANSWER)
    assert (share.score, share.outcome) == (2 / 3, Outcome.PARTIAL)
    assert whole.components == share.components == {"words": 1, "case": 0, "commas": 1}


def test_every_rule_is_a_case_and_a_broken_one_has_a_message(judge: Judge) -> None:
    judgement = judge("constraint", "a b c d", {"rules": [SHORT, {"rule": "words", "max": 9}]})
    assert [case.name for case in judgement.cases] == ["words", "words#2"]
    assert [bool(case.message) for case in judgement.cases] == [True, False]
    assert judgement.cases[0].message in judgement.explanation


def test_the_reasoning_is_not_judged_unless_asked(judge: Judge) -> None:
    completion = "<think>a long way to think</think>two words"
    assert judge("constraint", completion, {"rules": [SHORT]}).score == 1
    assert judge("constraint", completion, {"rules": [SHORT], "text": "all"}).score == 0
    unfinished = judge("constraint", "<think>one", {"rules": [SHORT]})
    assert unfinished.outcome is Outcome.NO_ANSWER
    assert judge("constraint", "<think>one", {"rules": [SHORT], "text": "all"}).score == 1


@pytest.mark.parametrize("completion", ["", " \n\t", "<think>x</think>\n"])
def test_a_blank_text_keeps_no_rule(judge: Judge, completion: str) -> None:
    assert judge("constraint", completion, {"rules": [SHORT]}).outcome is Outcome.NO_ANSWER


@pytest.mark.timeout(5)
def test_a_text_beyond_all_bounds_is_refused(judge: Judge) -> None:
    judgement = judge("constraint", "a " * 5_000_000, {"rules": [{"rule": "words", "min": 1}]})
    assert (judgement.score, judgement.outcome) == (0, Outcome.POLICY_VIOLATION)


@pytest.mark.parametrize(
    "params",
    [{}, {"rules": []}, {"rules": SHORT}, {"rules": [SHORT], "score": "some"},
     {"rules": [SHORT] * 101}, {"rules": [SHORT], "text": "reasoning"}, {"rules": ["words"]}],
)  # fmt: skip
def test_params_that_do_not_validate_are_the_tasks_fault(
    judge: Judge, params: dict[str, Any]
) -> None:
    assert judge("constraint", "a", params).outcome is Outcome.BAD_REFERENCE


def test_what_is_sent_back_is_short_and_can_be_encoded(judge: Judge) -> None:
    text = "\ud800" * 100_000
    rules = [SHORT, {"rule": "json_schema", "schema": {}}, {"rule": "regex", "pattern": "a"}]
    judgement = judge("constraint", text, {"rules": rules})
    sent = [judgement.explanation, judgement.answer or "", *(str(c) for c in judgement.cases)]
    assert all(len(text.encode()) < 5000 for text in sent)

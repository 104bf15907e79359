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


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("b\u200bad", {"rule": "keywords", "exclude": ["bad"]}),
        ("b\u200cad", {"rule": "keywords", "exclude": ["bad"]}),
        ("b" + "\u200c" * 9 + "ad", {"rule": "keywords", "exclude": ["bad"]}),
        ("\u200b" * 50 + "a", {"rule": "characters", "min": 20}),
        ("a\n\n\u2060\n\n\ufeff", {"rule": "paragraphs", "min": 2}),
        ("- a\n- \u200b", {"rule": "bullets", "min": 2}),
        ("a [\u200b]", {"rule": "placeholders", "min": 1}),
        ("a \u3164 \u3164", {"rule": "words", "min": 2}),
    ],
)
def test_what_does_not_show_does_not_count(judge: Judge, text: str, rule: dict[str, Any]) -> None:
    assert judge("constraint", text, {"rules": [rule]}).score == 0


@pytest.mark.parametrize(
    "word", ["\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\U0001f468\u200d\U0001f469"]
)
def test_joiners_that_a_script_needs_stay(judge: Judge, word: str) -> None:
    rule = {"rule": "keywords", "include": [word]}
    assert judge("constraint", f"a {word} b", {"rules": [rule]}).score == 1


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

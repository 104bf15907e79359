"""The `format` checker."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checkers.conftest import Judge
from verifier_server.verdict import Outcome

THINK = {"template": "think"}
BOTH = {"template": "think_answer"}


@pytest.mark.parametrize(
    ("completion", "params"),
    [
        ("<think>a</think>b", THINK),
        ("<think>a</think>b", {}),
        ("\n<think>\na\n\nb\n</think>\n\nc\nd\n", THINK),
        ("<think></think>b", THINK),
        ("<think>a</think>see <answer>", THINK),
        ("a</think>b", {"template": "think", "prefill": "<think>"}),
        ("a</think><answer>b</answer>", {"template": "think_answer", "prefill": "<think>\n"}),
        ("<think>a</think><answer>b</answer>", BOTH),
        ("<think>a</think>\n\n<answer>\nb\n</answer>\n", BOTH),
    ],
)
def test_text_in_the_template_is_accepted(judge: Judge, completion: str, params: dict) -> None:
    assert judge("format", completion, params).score == 1


@pytest.mark.parametrize(
    ("completion", "params", "why"),
    [
        ("b", THINK, "does not start with <think>"),
        ("a</think>b", THINK, "prefill"),
        ("x<think>a</think>b", THINK, "does not start"),
        ("<think>a</think> \n", THINK, "no text after </think>"),
        ("<think>a</think>\u200b\ufeff\x00", THINK, "no text after </think>"),
        ("<think>a</think><answer>\u200b\u2060</answer>", BOTH, "holds nothing"),
        ("<think>a</think>b<think>c</think>d", THINK, "<think> occurs 2 times"),
        ("<think><think>a</think></think>b", THINK, "<think> occurs 2 times"),
        ("<think>a</think></think>b", THINK, "</think> occurs 2 times"),
        ("<think>a</think>b", {"template": "think", "prefill": "<think>"}, "occurs 2 times"),
        ("<THINK>a</THINK>b", THINK, "does not start"),
        ("<think>a</think>b", BOTH, "<answer> occurs 0 times"),
        ("<think>a</think><answer>b", BOTH, "</answer> occurs 0 times"),
        ("<think>a</think><answer> </answer>", BOTH, "holds nothing"),
        ("<think>a</think>x<answer>b</answer>", BOTH, "between"),
        ("<think>a</think><answer>b</answer>x", BOTH, "text after </answer>"),
        ("<think>a<answer>b</answer></think>", BOTH, "out of order"),
        ("<think>a<answer>b</think></answer>", BOTH, "out of order"),
        ("<think>a</think></answer>b<answer>", BOTH, "out of order"),
        ("<think>a</think><answer>b</answer><answer>c</answer>", BOTH, "occurs 2 times"),
        ("<answer>b</answer><think>a</think>", BOTH, "does not start"),
    ],
)
def test_text_outside_the_template_is_wrong_and_says_why(
    judge: Judge, completion: str, params: dict, why: str
) -> None:
    judgement = judge("format", completion, params)
    assert (judgement.score, judgement.outcome) == (0, Outcome.WRONG_ANSWER)
    assert why in judgement.explanation


@pytest.mark.parametrize("params", [THINK, BOTH, {"prefill": "<think>"}])
def test_unfinished_reasoning_is_no_answer(judge: Judge, params: dict) -> None:
    completion = "<think>a" if "prefill" not in params else "a"
    assert judge("format", completion, params).outcome is Outcome.NO_ANSWER


@pytest.mark.parametrize("params", [{"template": "r1"}, {"prefill": None}, {"tags": []}])
def test_an_unknown_template_is_the_tasks_fault(judge: Judge, params: dict) -> None:
    assert judge("format", "<think>a</think>b", params).outcome is Outcome.BAD_REFERENCE


@pytest.mark.timeout(5)
@pytest.mark.parametrize("piece", ["<think>", "</think>", "<answer>", "<", "\n", "a"])
def test_a_huge_completion_is_judged_at_once(judge: Judge, piece: str) -> None:
    completion = "<think>" + piece * (10_000_000 // len(piece)) + "</think>"
    assert judge("format", completion, BOTH).score == 0


@given(st.lists(st.sampled_from(["<think>", "</think>", "<answer>", "</answer>", " ", "x"])))
def test_accepted_text_has_each_tag_once_and_in_order(judge: Judge, pieces: list[str]) -> None:
    accepted = judge("format", "".join(pieces), BOTH).score == 1
    tags = [piece for piece in pieces if piece.startswith("<")]
    assert not accepted or tags == ["<think>", "</think>", "<answer>", "</answer>"]


@given(st.text(st.characters()))
def test_any_text_is_scored_whatever_it_holds(judge: Judge, text: str) -> None:
    assert judge("format", text, {}).score in (0, 1)

"""The `choice` checker."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checkers.conftest import Judge
from verifier_server.verdict import Outcome

CITIES = ["Rome", "Paris", "Oslo", "Bern"]


@pytest.mark.parametrize(
    "completion",
    [
        "B", "b", "(B)", "(b)", "B.", "B)", "**B**", "$B$", "`B`", "[B]", '"B"', "'B'",
        "B) Paris", "(B) Paris", "b) Paris", "B. Paris", "**B.** Paris", "B: Paris",
        "B. Because A is too far south.",
        "Option B", "option (b)",
        "\\boxed{B}", "$\\boxed{\\text{B}}$", "\\boxed{\\textbf{(B)}}", "\\boxed{B. Paris}",
        "\\fbox{b}", "So it is \\boxed{B}, since A and C are wrong.",
        "\\boxed{A}, no, I was wrong: it is \\boxed{B}",
        "\\boxed{B} and again \\boxed{B}",
        "The value is \\boxed{42}, so the answer is B.",
        "<answer>B</answer>", "<answer> (b) </answer>", "<answer>B) Paris</answer>",
        "First <answer>A</answer>, but then <answer>B</answer>",
        "The answer is B", "The answer is (B).", "the answer is: **B**", "The answer is $B$.",
        "The answer is \\(B\\).", "The answer is \\text{B}.", "The answer is “B”.",
        "The correct answer is option B.", "The correct option is (B), because C is wrong.",
        "The answer is B because it is the capital.", "The answer is B, not A.",
        "The answer is B, A is wrong.", "Answer: B", "Answer:B", "**Answer:** B",
        "**Answer**: B", "Answer: b", "Answer: b) Paris", "Final answer: (B)",
        "The answer is:\n\nB", "The answer is A. No: the answer is B.",
        "A) Rome B) Paris C) Oslo D) Bern\nThe answer is B.",
        "The answer is B. The only other option is D, which is too small.",
        "The answer is not A. The answer is B.",
        "I compared them all.\n\nB", "I compared them all.\n\n(B)", "### Answer\nB",
        "<think>The answer is A.</think>B", "<think>\\boxed{A}</think>\nThe answer is B.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("options", [4, CITIES], ids=["number", "texts"])
def test_a_text_that_chooses_b_is_read_so(judge: Judge, completion: str, options: object) -> None:
    judgement = judge("choice", completion, {"answer": "B", "options": options})
    assert (judgement.score, judgement.answer) == (1, "B")


@pytest.mark.parametrize("completion", ["Answer: B) Rome", "The answer is **B. Oslo**"])
def test_a_letter_with_another_options_text_is_two_choices(judge: Judge, completion: str) -> None:
    assert judge("choice", completion, {"answer": "B", "options": CITIES}).score == 0


@pytest.mark.parametrize(
    "completion",
    ["Paris", "paris.", "\\boxed{Paris}", "\\boxed{\\text{Paris}}", "<answer>PARIS</answer>",
     "The answer is Paris.", "Answer: Paris"],
)  # fmt: skip
def test_an_options_text_stands_for_its_letter(judge: Judge, completion: str) -> None:
    assert judge("choice", completion, {"answer": "B", "options": CITIES}).score == 1
    assert judge("choice", completion, {"answer": "B"}).score == 0


@pytest.mark.parametrize(
    "completion",
    [
        "A or B", "A/B", "A, B", "A and B", "AB", "ABCD", "A, B, C, D", "B\nA", "A | B",
        "\\boxed{A or B}", "\\boxed{A} or \\boxed{B}", "\\boxed{A}, \\boxed{B}",
        "$\\boxed{A}$ / $\\boxed{B}$", "\\boxed{AB}", "\\boxed{A}, or maybe \\boxed{B}",
        "\\boxed{A} (alternatively \\boxed{B})", "<answer>A</answer> or <answer>B</answer>",
        "<answer>B</answer>, or possibly <answer>A</answer>",
        "<answer>A or B</answer>", "<answer>A B</answer>",
        "The answer is A or B", "The answer is either B or A.", "The answer is (A) or (B).",
        "The answer is B, or A", "The answer is B (or A)", "The answer is B or maybe A",
        "The answer is B. Or A.", "Answer: B/A", "Answer: A) Rome and B) Paris",
        "Answer: B, A", "Answer: B; A", "The answer is B or something else",
    ],
)  # fmt: skip
@pytest.mark.parametrize("gold", ["A", "B"])
def test_several_choices_are_wrong_where_one_is_right(
    judge: Judge, completion: str, gold: str
) -> None:
    judgement = judge("choice", completion, {"answer": gold, "options": CITIES})
    assert (judgement.score, judgement.outcome) == (0, Outcome.WRONG_ANSWER)
    assert judgement.explanation


@pytest.mark.parametrize(
    "completion",
    [
        "", "<think>The answer is A", "It is a city.", "A city", "Answer: A city in Italy",
        "The answer is a large city.", "I think so", "The answer is Apple", "The answer isn't A",
        "The answer is not A.", "A's", "\\boxed{}", "<answer></answer>", "42",
        "A. Rome\nB. Paris\nC. Oslo\nD. Bern", "A) is wrong. B) is right.",
        "(A) Rome (B) Paris", "\u0410", "\uff21",
    ],
)  # fmt: skip
def test_a_text_that_chooses_nothing_is_no_answer(judge: Judge, completion: str) -> None:
    judgement = judge("choice", completion, {"answer": "A"})
    assert (judgement.score, judgement.outcome) == (0, Outcome.NO_ANSWER)


def test_a_label_with_another_options_text_is_no_choice(judge: Judge) -> None:
    for gold in "AB":
        judgement = judge("choice", "B) Rome", {"answer": gold, "options": CITIES})
        assert judgement.score == 0


@pytest.mark.parametrize("completion", ["E", "\\boxed{E}", "The answer is E", "<answer>Z</answer>"])
def test_a_letter_outside_the_options_is_wrong(judge: Judge, completion: str) -> None:
    judgement = judge("choice", completion, {"answer": "A"})
    assert judgement.outcome is Outcome.WRONG_ANSWER
    assert judge("choice", completion, {"answer": "E", "options": 5}).score == (
        0 if "Z" in completion else 1
    )


@pytest.mark.parametrize(
    "completion",
    ["A, C", "C, A", "A and C", "AC", "A & C", "(A), (C)", "- A\n- C", "\\boxed{A, C}",
     "\\boxed{A} and \\boxed{C}", "The answers are A and C.", "Answer: A) Rome and C) Oslo",
     "<answer>A,C</answer>"],
)  # fmt: skip
def test_several_right_options_are_compared_as_a_set(judge: Judge, completion: str) -> None:
    assert judge("choice", completion, {"answer": ["A", "C"]}).answer == "A, C"
    assert judge("choice", completion, {"answer": ["C", "A"]}).score == 1
    assert judge("choice", completion, {"answer": ["A", "B", "C"]}).score == 0
    assert judge("choice", completion, {"answer": ["A"]}).score == 0


@pytest.mark.parametrize(
    "completion", ["A", "A or C", "A, B, C", "ABCD", "\\boxed{A} or \\boxed{C}"]
)
def test_a_part_of_the_right_options_is_wrong(judge: Judge, completion: str) -> None:
    assert judge("choice", completion, {"answer": ["A", "C"]}).outcome is Outcome.WRONG_ANSWER


@pytest.mark.parametrize(
    "params",
    [{}, {"answer": ""}, {"answer": []}, {"answer": "E"}, {"answer": "AB"}, {"answer": ["A", "E"]},
     {"answer": "Paris", "options": CITIES}, {"answer": "C", "options": 2},
     {"answer": "A", "options": 1}, {"answer": "A", "options": 27}, {"answer": "A", "options": []},
     {"answer": "A", "options": ["x", "X "]}, {"answer": "A", "options": ["x", ""]}],
)  # fmt: skip
def test_an_impossible_reference_is_the_tasks_fault(judge: Judge, params: dict) -> None:
    assert judge("choice", "A", params).outcome is Outcome.BAD_REFERENCE


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "piece",
    ["\\boxed{", "\\boxed{A}", "\\boxed{A} or ", "{}", "(", "answer is ", "answer ",
     "answer is A or ", "A or ", "A ", "<answer>", "</answer>", "\n", "**", "\\text{",
     "Answer: (", "A, "],
)  # fmt: skip
def test_ten_megabytes_are_read_in_linear_time(judge: Judge, piece: str) -> None:
    judgement = judge(
        "choice", piece * (10_000_000 // len(piece)), {"answer": "B", "options": CITIES}
    )
    assert judgement.score == 0


PIECES = st.sampled_from(
    ["A", "B", "C", "or", "and", " ", ",", ".", "(", ")", "\n", "the answer is ", "Answer:",
     "\\boxed{", "}", "<answer>", "</answer>", "**", "not", "a", "Paris", "\ud800", "/"]
)  # fmt: skip


@given(st.lists(PIECES).map("".join))
def test_no_text_is_accepted_for_two_references(judge: Judge, text: str) -> None:
    golds: list[object] = ["A", "B", "C", ["A", "B"], ["A", "C"], ["B", "C"], ["A", "B", "C"]]
    scores = [judge("choice", text, {"answer": g, "options": CITIES}).score for g in golds]
    assert None not in scores
    assert sum(score or 0 for score in scores) <= 1


@given(st.text(st.characters()))
def test_any_text_is_scored_whatever_it_holds(judge: Judge, text: str) -> None:
    assert judge("choice", text, {"answer": "A"}).score in (0, 1)

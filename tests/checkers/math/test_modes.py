"""Compatibility modes: the verdicts of the published code, within our bounds."""

from __future__ import annotations

import pytest

from tests.checkers.math.conftest import ask, calls
from tests.checkers.math.test_hostile import MAX_CALLS
from verifier_server.errors import BadReference
from verifier_server.verdict import Judgement, Outcome

# Verdicts of the published code, run on these pairs.
HENDRYCKS = [
    (r"\frac12", r"\boxed{1/2}", 1),
    (r"\frac12", r"\boxed{0.5}", 1),
    (r"\frac12", r"\boxed{\dfrac{1}{2}}", 1),
    (r"\frac12", r"\boxed{.5}", 1),
    (r"\frac1{72}", r"\boxed{\frac{1}{72}}", 1),
    (r"\frac34i", r"\boxed{\frac{3}{4}i}", 1),
    (r"10\sqrt{3}", r"\boxed{10 \sqrt3}", 1),
    (r"(x-2)(x+2)", r"\boxed{\left(x-2\right)\left(x+2\right)}", 1),
    ("10", r"\boxed{\$10}", 1),
    ("10", r"\boxed{10\%}", 1),
    ("10", r"\boxed{10%}", 0),  # only the escaped sign is taken away
    ("90", r"\boxed{90^\circ}", 1),
    ("10", r"\boxed{10\text{ units}}", 1),
    ("10", r"\boxed{10\text{units}}", 0),
    ("0.25", r"\boxed{\frac14}", 0),
    ("2/4", r"\boxed{\frac12}", 0),
    ("3", r"\boxed{x=3}", 1),
    ("3", r"\boxed{xyz=3}", 0),
    ("4", r"\boxed{3} and \boxed{4}", 1),
    ("4", r"\boxed{4} and \boxed{4", 0),
    ("4", r"\fbox{4}", 0),
    (r"\sqrt", r"\boxed{\sqrt}", 1),  # what the rules choke on is compared as it is
    (r"\frac", r"\boxed{\frac }", 0),
    (r"2\text{ m}\text{ s}", r"\boxed{2}", 0),
]
DAPO = [
    ("34", "Answer: 34", 1),
    ("34", "ANSWER : $34$", 1),
    ("34", "Answer: 33\nAnswer: 34", 1),
    ("34", "Answer:\n34", 1),
    ("1000", "Answer: 1,000", 1),
    (r"\frac{1}{2}", r"Answer: \frac12", 1),
    (r"\frac{1}{2}", "Answer: 1/2", 0),
    (r"\sqrt{2}", r"Answer: $x = \sqrt2$", 1),
    ("7", "Answer: a total of 7 meters", 0),
    ("7", "Answer: 7 meters", 1),
    ("7", r"Answer: 7 \text{m}", 1),
    ("blue", r"Answer: \text{blue}", 1),
    ("34", r"so \boxed{34}", 1),
    ("34", r"so \boxed{x=34}", 1),
    ("34", r"so \boxed{34} " + 100 * "z", 0),
    ("34", "Answer: 34 " + 300 * "z", 0),
    ("34", "Answer: 34\n" + 300 * "z", 0),
    ("34", "Answer: 34\n" + 200 * "z", 1),
    ("34", "34", 0),
]


@pytest.mark.parametrize(("gold", "completion", "score"), HENDRYCKS)
def test_hendrycks_gives_the_verdict_of_its_code(gold: str, completion: str, score: int) -> None:
    assert ask(completion, gold, mode="hendrycks").score == score


@pytest.mark.parametrize(("gold", "completion", "score"), DAPO)
def test_dapo_gives_the_verdict_of_its_code(gold: str, completion: str, score: int) -> None:
    assert ask(completion, gold, mode="dapo").score == score


@pytest.mark.parametrize("mode", ["hendrycks", "dapo", "math-verify"])
def test_nothing_in_the_reasoning_is_an_answer(mode: str) -> None:
    answers = r"Answer: 5 \boxed{5}"
    for completion in (f"<think>{answers}", f"<think>{answers}</think>I am done."):
        assert ask(completion, "5", mode=mode).outcome is Outcome.NO_ANSWER


@pytest.mark.parametrize("mode", ["hendrycks", "dapo"])
def test_any_gold_counts(mode: str) -> None:
    completion = "\\boxed{4}\nAnswer: 4"
    assert ask(completion, ["5", "4"], mode=mode).score == 1
    assert ask(completion, ["5", "6"], mode=mode).score == 0


@pytest.mark.parametrize("mode", ["hendrycks", "dapo"])
@pytest.mark.parametrize("gold", ["", " ", "$", r"\$", "\n", r"\%", "units", 9000 * "1"])
def test_a_gold_of_which_nothing_is_compared_is_refused(mode: str, gold: str) -> None:
    if (mode, gold) in [("hendrycks", "$"), ("hendrycks", "units"), ("dapo", r"\%")]:
        return  # these rules do compare it
    with pytest.raises(BadReference):
        ask(r"\boxed{}", gold, mode=mode)


@pytest.mark.parametrize("mode", ["hendrycks", "dapo", "math-verify"])
@pytest.mark.parametrize(
    "completion",
    [
        r"\boxed{" * 200_000,
        r"\boxed{" + "{}" * 500_000 + "}",
        r"\boxed{" + r"\frac" * 200_000 + "}",
        r"\boxed{" + r"\sqrt" * 1500 + "}",
        r"\boxed{9^{9^{9^{9}}}}",
        "Answer: " + "$" * 1_000_000,
        "Answer:" + " " * 1_000_000,
        "answer " * 150_000,
        "Answer: " + r"\text{" * 60,
        "\x00" * 1_000_000,
    ],
    ids=range(10),
)
def test_hostile_completions_are_refused_after_little_work(mode: str, completion: str) -> None:
    judgements: list[Judgement] = []
    work = calls(lambda: judgements.append(ask(completion, "5", mode=mode)))
    assert judgements[0].score == 0
    assert work < 10 * MAX_CALLS  # Math-Verify's own parser among it

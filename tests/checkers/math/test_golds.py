"""References: which are refused, and what a refusal says."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tests.checkers.math.conftest import ask
from verifier_server.checkers.math.checker import MathChecker, MathParams
from verifier_server.errors import BadReference


@pytest.mark.parametrize(
    "gold",
    [
        "", " ", "$", "$$", "((2", "2))", r"\frac{3}{", r"\frac{3}", r"\frac", r"\sqrt", "{", "}",
        "2+", "*3", "2 3", "1,,2", ",", "x=", "<3", r"\boxed{", "|x", r"\frac{1}{0}", "6=5",
        "1=2=3", r"\begin{pmatrix}1&2\\3\end{pmatrix}", "8_7", "\x00", "5\x08", "9" * 9000,
        r"\left(1,2", "^2", "%", r"\$",
    ],
)  # fmt: skip
def test_gold_that_is_no_answer_is_refused(gold: str) -> None:
    for completion in (f"\\boxed{{{gold}}}", gold, r"\boxed{1}"):
        with pytest.raises(BadReference, match="reference"):
            ask(completion, gold)


@pytest.mark.parametrize("gold", [[], None, 5, ["1", 2], {"a": 1}])
def test_gold_of_another_type_does_not_validate(gold: object) -> None:
    with pytest.raises(ValidationError):
        ask(r"\boxed{1}", gold)


@pytest.mark.parametrize(
    "options",
    [
        {"percent": "sometimes"}, {"units": "yes"}, {"list_order": "any"}, {"extraction": "all"},
        {"mode": "qwen"}, {"mode": "dapo", "percent": "strict"}, {"unknown": 1},
        {"tolerance": {"abs": -1}}, {"tolerance": {"abs": float("nan")}}, {"tolerance": 0.1},
    ],
)  # fmt: skip
def test_unknown_option_does_not_validate(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ask(r"\boxed{1}", "1", **options)


def test_one_broken_gold_among_several_spoils_the_task() -> None:
    with pytest.raises(BadReference):
        ask(r"\boxed{1}", ["1", r"\frac{2}{"])


def test_prepare_refuses_what_check_would() -> None:
    with pytest.raises(BadReference):
        MathChecker().prepare(MathParams.model_validate({"answer": "((2"}))


@pytest.mark.parametrize(
    "gold",
    [
        r"9^{9^{9^9}}", r"7^{2023^{2023}}", r"(10^8)!", r"\binom{10^9}{5\cdot10^8}",
        r"\mathcal{O}(n\log n)", r"\triangle ABC", r"p \land q", r"A \cap B", r"\mathrm{H_2O}",
        r"\lim_{x\to0^+}f(x)", r"\forall x\, P(x)", r"\overline{AB}",
    ],
)  # fmt: skip
def test_gold_that_cannot_be_evaluated_equals_only_what_is_written_alike(gold: str) -> None:
    assert ask(f"\\boxed{{{gold}}}", gold).score == 1
    assert ask(f"\\boxed{{{gold} }}", gold).score == 1
    assert ask(r"\boxed{1}", gold).score == 0
    assert ask(f"\\boxed{{{gold}+1}}", gold).score == 0


def test_any_of_the_golds_counts() -> None:
    for answer, score in (("12", 1), ("-12", 1), ("0", 0), ("12 or -12", 0)):
        assert ask(f"\\boxed{{{answer}}}", ["12", "-12"]).score == score

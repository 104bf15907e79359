"""The checker as the service sees it: examples, judgements, modes, start-up."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.checkers.math.conftest import ask
from verifier_server.checkers.math.checker import MathChecker
from verifier_server.checkers.math.extract import extract
from verifier_server.checkers.math.extracted import Extracted, Missing
from verifier_server.errors import BadReference
from verifier_server.verdict import Outcome


@pytest.mark.parametrize("example", MathChecker.examples, ids=lambda e: e.completion[:30])
def test_own_examples_are_judged_as_stated(example: object) -> None:
    params = dict(example.params)  # type: ignore[attr-defined]
    try:
        judgement = ask(example.completion, params.pop("answer"), **params)  # type: ignore[attr-defined]
        score, outcome = judgement.score, judgement.outcome
    except BadReference:
        score, outcome = None, Outcome.BAD_REFERENCE
    assert score == example.score  # type: ignore[attr-defined]
    assert example.outcome in (None, outcome)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("gold", "answer", "words"),
    [
        (r"10 \text{ cm}", r"10 \text{ m}", "units differ"),
        (r"10 \text{ cm}", r"10 \text{ kg}", "units differ"),
        ("5", r"5 \text{ or } 6", "two alternatives offered"),
        ("5", "5, 6", "one value"),
        ("5, 6", "5", "2 values"),
        ("x^2+C", "x^2", "constant of integration"),
        ("7", "3+4", "left to do"),
        ("4343_6", "4343_7", "bases differ"),
        ("5", "6=5", "differ"),
        (r"\frac12", r"\frac{1}{0}", "divides by zero"),
        ("(1,2)", "[1,2]", "brackets|another set"),
        ("1", r"9^{9^{9^9}}", "refused before evaluation"),
        ("1", "((2", "unclosed"),
        (r"\begin{pmatrix}1&2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}", "shape"),
    ],
)
def test_a_rejection_says_why(gold: str, answer: str, words: str) -> None:
    judgement = ask(f"\\boxed{{{answer}}}", gold)
    assert judgement.score == 0
    assert any(word in judgement.explanation for word in words.split("|")), judgement.explanation
    assert judgement.answer == answer


@pytest.mark.parametrize(
    "completion",
    [
        r"so $\boxed{\frac{1}{2}}$ it is",
        "<think>\\boxed{3}</think>then <answer>\\frac{1}{2}</answer>.",
        "We conclude. The final answer is $\\frac{1}{2}$.",
        "work\n#### \\frac{1}{2}\n",
        "$\\frac{1}{2}$",
    ],
)
def test_the_span_shows_where_the_answer_stood(completion: str) -> None:
    found = extract(completion)
    assert isinstance(found, Extracted)
    assert found.text == r"\frac{1}{2}"
    assert found.text in completion[slice(*found.span)]
    evidence = ask(completion, "0.5").evidence
    assert evidence == {"found_by": found.how, "span": list(found.span)}


def test_a_missing_answer_says_what_is_missing() -> None:
    found = extract("<think> \\boxed{5}")
    assert isinstance(found, Missing)
    assert "unfinished" in found.why


@pytest.mark.parametrize(
    ("prompt", "gold", "answer", "score"),
    [
        ("Expand $(x+1)^2$.", "x^2+2x+1", "(x+1)^2", 0),
        ("Expand $(x+1)^2$.", "x^2+2x+1", "1+2x+x^2", 1),
        ("Factor $x^2+2x+1$.", "(x+1)^2", "x^2+2x+1", 0),
        (r"Simplify \(\sqrt{80}\).", r"4\sqrt5", r"\sqrt{80}", 0),
        (r"Simplify \(\sqrt{80}\).", r"4\sqrt5", r"4\sqrt{5}", 1),
        ("Solve $2x=6$.", "3", "3", 1),
        ("Solve $2x=6$.", "3", "x=3", 1),
        (r"Is it $\frac12$ or $\frac13$?", "0.5", r"\frac12", 1),
        (r"Which is larger, $2^{10}$ or $1000$?", "2^{10}", "2^{10}", 1),
        ("Let $f(x)=x^2$. Find $x$.", "x", "x", 1),
        ("If $y=x+1$, what is $y+1$?", "x+2", "x+2", 1),
    ],
)
def test_repeating_the_question_is_no_answer(
    prompt: str, gold: str, answer: str, score: int
) -> None:
    assert ask(f"\\boxed{{{answer}}}", gold, prompt=prompt).score == score


@pytest.mark.parametrize(
    ("gold", "completion", "score"),
    [
        ("1/2", r"$\boxed{0.5}$", 1),
        (r"\frac{1}{2004!}", r"$\boxed{\frac{1}{2006!}}$", 1),  # that library's tolerance
        ("5", r"$\boxed{6=5}$", 1),  # and its right-hand sides
        ("5", r"$\boxed{6}$", 0),
        ("5", "<think>$\\boxed{5}$", 0),
        ("1", r"$\boxed{9^{9^{9^9}}}$", 0),
        ("5", "nothing", 0),
    ],
)
def test_math_verify_mode_gives_that_librarys_verdicts(
    gold: str, completion: str, score: int
) -> None:
    assert ask(completion, gold, mode="math-verify").score == score


def test_math_verify_mode_logs_nothing_of_a_completion(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    ask(r"$\boxed{\frac{secret}{}}$ and \frac{", "1", mode="math-verify")
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def test_math_verify_mode_refuses_a_gold_that_the_library_cannot_read() -> None:
    with pytest.raises(BadReference):
        ask(r"\boxed{1}", "", mode="math-verify")


def test_importing_the_checker_imports_no_heavy_library() -> None:
    heavy = {"sympy", "mpmath", "math_verify", "latex2sympy2_extended", "pint", "antlr4"}
    code = (
        "import sys, verifier_server.checkers.math.checker\n"
        f"print(sorted({heavy!r} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"

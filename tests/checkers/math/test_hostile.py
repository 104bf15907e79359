"""Inputs made to break or to stall the checker."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.checkers.math.conftest import ask, calls
from verifier_server.verdict import Fault, Judgement, Outcome

# Of functions, per answer: some 100 ms. benchmarks/math_bounds.py measures the time.
MAX_CALLS = 400_000
_DEEP = 100_000
BOMBS = {
    "tower": r"9^{9^{9^9}}",
    "typed tower": "9**9**9**9**9",
    "tower in a fraction": r"\dfrac{5^{5^{5^{5^5}}}-1}{16}",
    "tower in a root": r"\sqrt{9^{9^{9^9}}}",
    "tower in a function": r"\sin(9^{9^{9^9}})",
    "tower of e": r"e^{e^{e^{e^{e}}}}",
    "tower as exponent of a root": r"\sqrt2^{9^{9^9}}",
    "tower of unknowns": r"x^{9^{9^9}}",
    "tower in a tuple": r"(1, 9^{9^{9^9}})",
    "tower in a chain": r"9^{9^{9^9}} = 1",
    "tower as a bound": r"x < 9^{9^{9^9}}",
    "tower per cent": r"9^{9^{9^9}}\%",
    "tower in metres": r"9^{9^{9^9}} \text{ m}",
    "tower below one": r"0.5^{9^{9^9}}",
    "tower as index": r"\sqrt[9^{9^9}]{2}",
    "tower as base": r"\log_{9^{9^9}} 2",
    "one to a tower": r"1^{9^{9^{9}}}+1",
    "tiny": r"10^{-10^{10}}",
    "exponent": "1e999999999",
    "small exponent": "1e-999999999",
    "factorial": r"(10^8)!",
    "factorials": r"((9!)!)!",
    "factorial signs": "3" + "!" * 30,
    "many factorial signs": "3" + "!" * 5000,
    "many middling factorials": "+".join(["1000!"] * 800),
    "product of factorials": r"\cdot ".join(["900!"] * 500),
    "fractional factorial": r"(10^9+\frac12)!",
    "binomial": r"\binom{10^9}{5\cdot 10^8}",
    "long sum": r"\sum_{k=1}^{10^{13}} k",
    "sum of powers": r"\sum_{k=1}^{999} k^{999}",
    "nested sums": r"\sum_{a=1}^{900}\sum_{b=1}^{900}\sum_{c=1}^{900} abc",
    "integral": r"\int_0^{10^9} \sin(x^9)\,dx",
    "nested integrals": r"\int_0^1\int_0^1\int_0^1 xyz\,dx\,dy\,dz",
    "power of a sum": "(x+y+z+1)^{900}",
    "huge degree": "x^{1000000}+1",
    "nested powers": "(((((x+1)^9)^9)^9)^9)^9",
    "product of sums": "(x+1)" * 1600,
    "many roots": "+".join(rf"\sqrt{{{n}}}" for n in range(2, 300)),
    "many sines": "+".join(rf"\sin {n}" for n in range(2, 300)),
    "roots of roots": r"\sqrt{2+" * 30 + "2" + "}" * 30,
    "long list": ",".join(str(n) for n in range(900)),
    "long list of roots": ",".join(rf"\sqrt{{{n}}}" for n in range(300)),
    "long set of roots": r"\{" + ",".join(rf"\sqrt{{{n}}}" for n in range(60)) + r"\}",
    "long list of names": ",".join(f"x_{{{n}}}={n}" for n in range(190)),
    "powers in an equation": "(((x+y+1)^6)^6)^6 = 0",
    "fractions in an equation": "+".join(rf"\frac{{1}}{{x+{n}}}" for n in range(40)) + "=y",
    "long chain": "=".join(["1"] * 900),
    "long inequality": "<".join(str(n) for n in range(900)),
    "long union": r"\cup".join(f"({n},{n + 1})" for n in range(190)),
    "long ratio": ":".join(["1"] * 900),
    "big matrix": r"\begin{pmatrix}" + r"\\".join(["&".join("1" * 30)] * 30) + r"\end{pmatrix}",
    "brackets": "(" * 300 + "1" + ")" * 300,
    "many brackets": "(" * _DEEP + "1" + ")" * _DEEP,
    "open brackets": "(" * 5000,
    "braces": "{" * 2000 + "1" + "}" * 2000,
    "roots": r"\sqrt{" * 2000 + "5" + "}" * 2000,
    "bare roots": r"\sqrt" * 1000 + "5",
    "fractions": r"\frac{1}{1+" * 900 + "1" + "}" * 900,
    "bare fractions": r"\frac" * 900 + "1" * 1000,
    "minus signs": "-" * 5000 + "5",
    "plus-minus signs": r"\pm" * 900 + "5",
    "many plus-minus": "+".join([r"\pm 1"] * 300),
    "carets": "2" + "^2" * 2000,
    "slashes": "1/" * 999 + "1",
    "slashes between unknowns": "x/" * 999 + "y",
    "divided products": "2x/" * 600 + "y",
    "bars": "|" * 2001 + "x",
    "functions": r"\sin" * 1500 + " x",
    "typed functions": "sin(" * 300 + "x" + ")" * 300,
    "logs": r"\log_2" * 900 + " 2",
    "primes": "x" + "'" * 5000,
    "subscripts": "x" + "_x" * 2000,
    "sums in a row": r"\sum_{k=1}^{2}" * 200 + "k",
    "environments": r"\begin{pmatrix}" * 300 + "1" + r"\end{pmatrix}" * 300,
    "digits": "7" * 1_000_000,
    "digits within bounds": "7" * 7000,
    "grouped digits": "1" + ",000" * 1500,
    "almost grouped digits": "1" + ",000" * 1500 + ",00",
    "period": r"0.\overline{" + "3" * 7000 + "}",
    "terms": "x+" * 300_000 + "x",
    "blanks": "7" + " " * 1_000_000 + "1",
    "dollars": "$" * 8000,
    "backslashes": "\\" * 8000,
    "commas": "," * 8000,
    "ors": " or ".join(["5"] * 1000),
    "texts": r"\text{" * 500 + "5" + "}" * 500,
    "degree signs": "5" + "°" * 3000,
    "percent signs": "5" + "%" * 3000,
    "unicode": "²" * 8000,
    "units": "5 " + r"\text{m}\cdot" * 500 + r"\text{m}",
    "unit power": r"5 \text{m}^{999999999}",
    "base": "1" * 5000 + "_2",
    "words": "twenty " * 1000,
    "big number words": "one " + "trillion " * 900,
}
COMPLETIONS = {
    "unclosed boxes": "\\boxed{" * 150_000,
    "nested boxes": "\\boxed{" * 900 + "5" + "}" * 900,
    "many boxes": "\\boxed{5} or " * 900,
    "many frames": "\\fbox{7}" * 100_000,
    "opening tags": "<answer>" * 125_000 + "8",
    "closing tags": "</answer>" * 125_000,
    "thoughts": "<think>" * 150_000,
    "answers": "The answer is " * 70_000,
    "answer words": "answer " * 140_000,
    "hashes": "#### 5\n" * 140_000,
    "numbers": "5 " * 500_000,
    "bold": "**" * 500_000,
    "braces": "{" * 1_000_000,
    "newlines": "\n" * 1_000_000,
    "dollar signs": "The answer is " + "$" * 1_000_000,
    "dots": "The answer is 5" + "." * 1_000_000,
    "ors": "\\boxed{5}" + " or" * 300_000,
}


@pytest.mark.parametrize(
    "gold", ["1", r"\sqrt2", "x+1", "1, 2", r"10 \text{ cm}", "x<1", r"x^2+C", "2x+y=7", "y=x"]
)
@pytest.mark.parametrize("bomb", BOMBS)
def test_bomb_is_wrong_after_little_work(bomb: str, gold: str) -> None:
    judgements: list[Judgement] = []
    work = calls(lambda: judgements.append(ask(f"\\boxed{{{BOMBS[bomb]}}}", gold)))
    [judgement] = judgements
    assert work < MAX_CALLS
    assert judgement.score == 0 or (gold == "1" and bomb in ("long chain",))
    assert judgement.outcome.fault in (Fault.CANDIDATE, Fault.NONE)


@pytest.mark.parametrize("mode", ["standard", "boxed", "lenient"])
@pytest.mark.parametrize("name", COMPLETIONS)
def test_hostile_completion_is_answered_after_little_work(name: str, mode: str) -> None:
    judgements: list[Judgement] = []
    work = calls(lambda: judgements.append(ask(COMPLETIONS[name], "7", extraction=mode)))
    assert work < MAX_CALLS
    assert judgements[0].score == 0


def test_refusal_by_size_says_so() -> None:
    judgement = ask(r"\boxed{9^{9^{9^9}}}", "1")
    assert judgement.outcome is Outcome.POLICY_VIOLATION
    assert "refused before evaluation" in judgement.explanation


@pytest.mark.parametrize("bomb", [r"9^{9^{9^9}}", r"(10^8)!", "x^{1000000}+y"])
def test_text_identical_to_the_gold_is_right_whatever_its_size(bomb: str) -> None:
    assert ask(f"\\boxed{{{bomb}}}", bomb).score == 1


_MATH_ALPHABET = st.sampled_from([
    *"0123456789xyzabcdeiCf+-*/^_=<>!|(){}[],.;:%$&' \\\"\n",
    r"\frac", r"\sqrt", r"\pi", r"\infty", r"\text{", r"\cdot", r"\pm", r"\le", r"\cup", r"\{",
    r"\}", r"\left", r"\right", r"\sin", r"\log_", r"\int", r"\sum_{k=1}^", r"\lim_{x\to",
    r"\begin{pmatrix}", r"\end{pmatrix}", r"\begin{cases}", r"\end{cases}", r"\\", r"\%", r"\$",
    r"\circ", "or", "and", "cm", "m/s", " base ", "two", "\u00b2", "\u221a", "\u221e", "\u00b0",
    "\u2212", "...", "e5", r"\overline{", r"\binom", r"\boxed{", "dx", "'", "_2", "^{-1}",
    r"\emptyset", r"\in", "\x00", "99999", r"\over", r"\choose", "is", "answer",
])  # fmt: skip
_GOLDS = st.sampled_from(
    ["1", r"\sqrt2", "x^2+C", "1,2", "(1,2]", "x<1", r"10 \text{ cm}", r"50\%", "3:4", "12_5",
     r"\text{yes}", r"\emptyset", "2x+y=1", r"\begin{pmatrix}1&2\end{pmatrix}", "f(x)=x",
     r"\pm1", "3+2i", r"\infty", r"\int_0^1 x\,dx", r"1,2,\ldots,n", "9:40 \\text{ a.m.}"]
)  # fmt: skip


@given(st.lists(_MATH_ALPHABET, max_size=25).map("".join), _GOLDS)
@settings(max_examples=1500, deadline=None)
def test_no_answer_crashes_the_checker(answer: str, gold: str) -> None:
    for completion in (f"\\boxed{{{answer}}}", answer, f"The answer is {answer}"):
        assert ask(completion, gold).score in (0, 1)


@given(st.text(max_size=200), _GOLDS)
@settings(max_examples=300, deadline=None)
def test_no_text_crashes_the_checker(text: str, gold: str) -> None:
    for completion in (text, f"\\boxed{{{text}}}"):
        assert ask(completion, gold, extraction="lenient").score in (0, 1)


_64_KIB = 65_536


@given(st.lists(_MATH_ALPHABET, min_size=1, max_size=4).map("".join), st.integers(0), _GOLDS)
@settings(max_examples=100, deadline=None)
def test_little_work_is_done_for_any_64_kib(fragment: str, times: int, gold: str) -> None:
    """A fragment over and over, boxed and bare: what makes a search or a parse quadratic."""
    text = fragment * (1 + times % (_64_KIB // len(fragment.encode())))
    for completion in (f"\\boxed{{{text}}}", f"The answer is {text}"):
        judgements: list[Judgement] = []
        assert calls(lambda: judgements.append(ask(completion, gold))) < MAX_CALLS  # noqa: B023
        assert judgements[0].score in (0, 1)


@given(st.lists(_MATH_ALPHABET, max_size=12).map("".join))
@settings(max_examples=500, deadline=None)
def test_a_gold_is_refused_or_equals_itself(gold: str) -> None:
    from verifier_server.errors import BadReference

    if "boxed" in gold:
        return
    try:
        judgement = ask(f"<answer> {gold}</answer>", gold)
    except BadReference:
        return
    assert (
        judgement.score == 1
        or judgement.outcome is Outcome.NO_ANSWER
        or "$" in gold
        or "**" in gold
    )
